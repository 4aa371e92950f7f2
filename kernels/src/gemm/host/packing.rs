//! Packing: copies of operands that kernels cannot read in their present storage.

use cuda_tiles::element::{Element, Number};
use cuda_tiles_host::{Grid, Launch, Result, Stream, TensorView, TensorViewMut, workspace};

use crate::gemm::pack::{pack, pack_strided, pack_transposed};

/// Rows of an operand that TMA reads begin at multiples of this many bytes.
const ROW_BYTES: usize = 16;
/// Rows of a copy begin at multiples of this many bytes, if padding is a small part of them. TMA takes two requests for other rows.
///
/// *Measured* on an H200: the product of 30693^3 in `f16` takes 150 ms where rows begin beside such places.
pub(super) const LINE_BYTES: usize = 128;
/// The bytes of a sector of the L2 cache.
pub(super) const SECTOR_BYTES: usize = 32;
/// Rows of this many bytes and more are padded to multiples of [`LINE_BYTES`].
const LONG_ROW_BYTES: usize = 512;
/// So are shorter rows of copies of at most this many bytes. All blocks read the rows of such an operand at the same time, and the L2 cache
/// serves their requests for a line one after the other.
const SMALL_COPY_BYTES: usize = 1 << 20;

/// Unsigned integers that hold the bits of an element: `u8`, `u16`, `u32` and `u64`.
pub trait Bits: Number {
    /// Copies `x` to `y`. Both have the same shape, and `y` is row-major.
    #[doc(hidden)]
    fn pack(stream: &Stream, x: TensorView<'_, Self, 3>, y: TensorViewMut<'_, Self, 3>) -> Result<()>;
}

macro_rules! bits {
    ($($type:ident $lanes:literal)*) => { $(
        impl Bits for $type {
            fn pack(stream: &Stream, x: TensorView<'_, Self, 3>, y: TensorViewMut<'_, Self, 3>) -> Result<()> {
                let [batches, rows, columns] = x.shape();
                let [_, down, right] = x.strides();
                let grid = Grid::cover([columns, rows, batches], [128, 32, 1]);
                if right == 1 {
                    return pack::<$type, $lanes>().launch_on(stream, grid, (x, y));
                }
                if down != 1 {
                    return pack_strided::<$type, $lanes>().launch_on(stream, grid, (x, y));
                }
                let (x, grid) = (x.permute([0, 2, 1])?, Grid::cover([columns, rows, batches], [64, 64, 1]));
                match x.is_streamable() {
                    true => pack_transposed::<$type, $lanes, $lanes>().launch_on(stream, grid, (x, y)),
                    false => pack_transposed::<$type, 1, $lanes>().launch_on(stream, grid, (x, y)),
                }
            }
        }
    )* };
}
bits!(u8 16 u16 8 u32 4 u64 2);

/// The requests for a line of an operand whose rows have `row` bytes and begin at multiples of `alignment` bytes, if `loads` tiles load all
/// rows.
///
/// The L2 cache serves them one after the other. *Measured* on an H200: where rows are longer than sectors and begin beside them, a request
/// takes four times as long as others.
pub(super) fn requests_for_a_line(row: usize, alignment: usize, loads: f64) -> f64 {
    let of_row = if row > SECTOR_BYTES && alignment < SECTOR_BYTES { 4.0 } else { 1.0 };
    let rows = if alignment < LINE_BYTES { LINE_BYTES as f64 / row.min(LINE_BYTES) as f64 } else { 1.0 };
    of_row * rows * loads
}

/// Tiles of so many rows or columns share a small operand, about.
const SHARING_TILE: f64 = 128.0;
/// An operand with more requests for a line is packed.
///
/// *Measured* on an H200: 102400 x 64 times 64 x 16 takes 13.6 us in tiles of 144 x 64 with such a row-major operand B, and 10.9 with a
/// K-major one.
const MOST_REQUESTS: f64 = 500.0;

/// A small operand of 16 bits with longer rows that begin beside sectors is packed if it has more requests for a line of each of its rows.
///
/// *Measured* on an H200: 111912 x 464 times 464 x 88 takes 40 us with a packed operand B, and 49 without; 19221 x 168 times 168 x 392, with a
/// sixteenth of the requests, 17.4 and 16.2 in the fastest plans.
const MOST_REQUESTS_OF_ROWS: f64 = 400_000.0;

/// Whether an operand that is not K-major has rows of so few columns, or rows that begin so, and so many rows or columns of the result share
/// them, that a product with its packed transpose is faster. There are `depth` rows, which begin at multiples of `alignment` bytes.
pub(super) fn has_crowded_rows<T: Element>(
    [columns, depth]: [usize; 2],
    alignment: usize,
    sharing: usize,
) -> bool {
    let size = size_of::<T::Bits>();
    let requests = requests_for_a_line((columns * size).max(1), alignment, sharing as f64 / SHARING_TILE);
    if columns * size < LINE_BYTES {
        return columns > 0 && requests > MOST_REQUESTS;
    }
    let is_small = columns * (depth * size).next_multiple_of(LINE_BYTES) <= SMALL_COPY_BYTES;
    size == 2 && is_small && alignment < SECTOR_BYTES && requests * depth as f64 > MOST_REQUESTS_OF_ROWS
}

/// The most bytes of a K-major operand's rows that begin beside sectors, in an operand that is packed as its transpose.
///
/// *Measured* on an H200: 100000 x 248 times 248 x 256 takes 36.5 us with a K-major operand B, and 34.1 with its packed transpose; 34533 x
/// 360 times 360 x 152 takes 21.1 and 22.3.
const MOST_CROWDED_BYTES: usize = 4 * LINE_BYTES;

/// The same for a small operand that is K-major, of `length` rows or columns, whose rows of `depth` elements are short or begin beside sectors.
///
/// The rows of the transpose begin at lines, and have `length` elements: a line and more.
///
/// *Measured* on an H200: 350121 x 24 times 24 x 64 takes 43 us with a K-major operand B, and 28 with its packed transpose; with a depth of
/// 56 37 and 30 us. *Refused:* K-major copies with rows at lines. The products take as long as without them.
pub(super) fn has_crowded_steps<T: Element>(
    [length, depth]: [usize; 2],
    alignment: usize,
    sharing: usize,
) -> bool {
    let [row, of_transpose] = [depth, length].map(|elements| elements * size_of::<T::Bits>());
    let is_small = depth * of_transpose.next_multiple_of(LINE_BYTES) <= SMALL_COPY_BYTES;
    let waits = row < LINE_BYTES || row <= MOST_CROWDED_BYTES && alignment < SECTOR_BYTES;
    let requests = requests_for_a_line(row.max(1), alignment, sharing as f64 / SHARING_TILE);
    of_transpose >= LINE_BYTES && is_small && waits && requests > MOST_REQUESTS
}

/// Calls `body` with matrices that kernels can read: with `x` itself if they can read it, otherwise with a packed copy. The rows of the
/// copy are padded.
pub(super) fn streamable<T: Element<Bits: Bits>, R>(
    stream: &Stream,
    x: TensorView<'_, T, 3>,
    body: impl FnOnce(TensorView<'_, T, 3>) -> Result<R>,
) -> Result<R> {
    if x.is_streamable() {
        return body(x);
    }
    let [batches, rows, columns] = x.shape();
    let bytes = columns * size_of::<T>();
    let in_lines =
        bytes >= LONG_ROW_BYTES || batches * rows * bytes.next_multiple_of(LINE_BYTES) <= SMALL_COPY_BYTES;
    let pitch = columns.next_multiple_of(if in_lines { LINE_BYTES } else { ROW_BYTES } / size_of::<T>());
    workspace::<T::Bits, 3, R>(stream, [batches, rows, pitch], |mut packed| {
        pack_in_parts::<T::Bits>(
            stream,
            x.bitcast(),
            packed.reborrow().slice(2, 0..columns)?,
            MOST_ELEMENTS,
        )?;
        body(packed.as_view().slice(2, 0..columns)?.bitcast())
    })
}

/// Kernels that pack count elements in 32 bits.
pub(super) const MOST_ELEMENTS: usize = u32::MAX as usize;

/// The number of elements from the first one of an array to the last one, those between them included.
pub(super) fn reach(shape: [usize; 3], strides: [usize; 3]) -> usize {
    shape.iter().zip(strides).map(|(&extent, stride)| extent.saturating_sub(1) * stride).sum::<usize>() + 1
}

/// The most matrices and rows that one launch packs: the third axis of its grid has a block for each matrix, the second one for 32 rows at most.
const MOST_AT_ONCE: [usize; 2] = [65_535, 32 * 65_535];

/// Copies `x` to `y`, in halves if one of them reaches over more than `most` elements, or has more matrices or rows than a launch packs.
fn pack_in_parts<T: Bits>(
    stream: &Stream,
    x: TensorView<'_, T, 3>,
    mut y: TensorViewMut<'_, T, 3>,
    most: usize,
) -> Result<()> {
    let shape = x.shape();
    let is_small = |strides| reach(shape, strides) <= most;
    let is_long = [0, 1].map(|axis| shape[axis] > MOST_AT_ONCE[axis]);
    if is_small(x.strides()) && is_small(y.strides()) && is_long == [false; 2] {
        return T::pack(stream, x, y);
    }
    let [_, down, right] = x.strides();
    let axis = if shape[0] > 1 {
        0
    } else if down >= right || !is_small(y.strides()) || is_long[1] {
        1
    } else {
        2
    };
    // Rows of the second half of `y` begin at multiples of the same bytes as rows of `y`.
    let half = if axis == 0 { shape[0] / 2 } else { (shape[axis] / 2).next_multiple_of(ROW_BYTES) };
    pack_in_parts(stream, x.slice(axis, 0..half)?, y.reborrow().slice(axis, 0..half)?, most)?;
    pack_in_parts(stream, x.slice(axis, half..shape[axis])?, y.slice(axis, half..shape[axis])?, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles_host::{Device, Tensor};
    use std::vec::Vec;

    #[test]
    fn a_reach_counts_what_lies_between() {
        assert_eq!(reach([1, 3, 4], [100, 5, 1]), 2 * 5 + 3 + 1);
        assert_eq!(reach([2, 1, 1], [7, 5, 1]), 8);
    }

    #[test]
    fn short_rows_that_many_blocks_share_are_packed() {
        use cuda_tiles::element::f16;
        let is_packed =
            |columns, alignment, sharing| has_crowded_rows::<f16>([columns, 64], alignment, sharing);
        assert!(is_packed(16, 32, 20_000) && !is_packed(16, 32, 10_000));
        // Rows of 80 bytes begin beside sectors, those of 96 do not.
        assert!(is_packed(40, 16, 20_000) && !is_packed(48, 32, 40_000));
        assert!(!is_packed(16, 128, 20_000), "padded rows are lines of their own");
        assert!(!is_packed(64, 128, 1_000_000), "a row is a line");
        assert!(!is_packed(0, 16, 1_000_000), "no rows");

        let is_packed = |shape, alignment| has_crowded_rows::<f16>(shape, alignment, 100_000);
        assert!(is_packed([88, 464], 16) && !is_packed([88, 100], 16), "few rows have few requests");
        assert!(!is_packed([96, 464], 64), "rows begin at sectors");
        assert!(!is_packed([1032, 800], 16), "it is large");
        assert!(!has_crowded_rows::<f32>([88, 464], 16, 100_000), "elements of 32 bits");

        let is_packed =
            |length, depth, alignment, sharing| has_crowded_steps::<f16>([length, depth], alignment, sharing);
        assert!(is_packed(64, 40, 16, 20_000) && !is_packed(64, 40, 16, 5_000));
        assert!(!is_packed(63, 40, 16, 20_000), "rows of the transpose are shorter than a line");
        assert!(is_packed(64, 104, 16, 20_000) && !is_packed(64, 112, 32, 20_000), "rows beside sectors");
        assert!(!is_packed(64, 64, 128, 1_000_000), "a row is a line");
        assert!(!is_packed(64, 264, 16, 1_000_000), "rows are long");
        assert!(!is_packed(16_384, 104, 16, 1_000_000), "it is large");
    }

    #[test]
    fn rows_of_any_number_are_packed() {
        let (device, rows) = (Device::cpu(), MOST_AT_ONCE[1] + 1);
        let values: Vec<u8> = (0..rows).map(|i| (i % 251) as u8).collect();
        let x = Tensor::from_slice(&device, [1, rows, 1], &values).unwrap();
        let mut y = Tensor::<u8, 3>::poisoned(&device, [1, rows, 16]).unwrap();
        let target = y.view_mut().slice(2, 0..1).unwrap();
        pack_in_parts(&device.default_stream(), x.view(), target, MOST_ELEMENTS).unwrap();
        assert_eq!(y.view().slice(2, 0..1).unwrap().to_vec().unwrap(), values);
    }

    #[test]
    fn parts_of_a_matrix_make_the_whole() {
        let device = Device::cpu();
        let [batches, rows, columns] = [2, 70, 100];
        let values: Vec<u8> = (0..batches * rows * columns).map(|i| (i % 251) as u8).collect();
        for transposed in [false, true] {
            let shape = if transposed { [batches, columns, rows] } else { [batches, rows, columns] };
            let x = Tensor::from_slice(&device, shape, &values).unwrap();
            let x = if transposed { x.view().permute([0, 2, 1]).unwrap() } else { x.view() };
            let mut y = Tensor::<u8, 3>::poisoned(&device, [batches, rows, 112]).unwrap();
            let target = y.view_mut().slice(2, 0..columns).unwrap();
            pack_in_parts(&device.default_stream(), x, target, 5000).unwrap();
            assert_eq!(y.view().slice(2, 0..columns).unwrap().to_vec().unwrap(), x.to_vec().unwrap());
        }
    }
}
