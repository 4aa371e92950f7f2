//! Tensor-map operands: matrices in global memory that TMA loads and stores, as kernels take them.

use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::running::Run;
use crate::arch::{bulk, execution};
use crate::element::Element;
use crate::launch::{Fingerprint, Parameter, Parts, Single};
use crate::memory::shared_tile::MOST_COPIED_ROWS;
use crate::registers::PowerOfTwo;
use crate::shape::{Dimension, Shape};
use core::marker::PhantomData;

/// A tensor map for TMA: a `CUtensorMap`, which the driver encodes. Opaque.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct TensorMap([u64; 16]);

/// The layout in memory of a matrix, or of a batch of matrices. The columns of a row are neighbours.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MatrixLayout {
    /// Rows of a matrix.
    pub rows: u32,
    // Each field lies in a word of 64 bits, in which it is passed. The compiler would split two fields in one word.
    after_rows: u32,
    /// Columns of a matrix.
    pub columns: u32,
    after_columns: u32,
    /// Matrices.
    pub batches: u32,
    after_batches: u32,
    /// Distance of neighbouring rows, in elements.
    pub row_pitch: u64,
    /// Distance of neighbouring matrices, in elements.
    pub batch_pitch: u64,
}

impl MatrixLayout {
    /// The layout of `batches` matrices of `rows` rows and `columns` columns, with these distances in elements.
    pub const fn new(rows: u32, columns: u32, batches: u32, row_pitch: u64, batch_pitch: u64) -> Self {
        Self {
            rows,
            after_rows: 0,
            columns,
            after_columns: 0,
            batches,
            after_batches: 0,
            row_pitch,
            batch_pitch,
        }
    }
}

/// The shape of a tile of a matrix: rows and columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of a tile of a matrix",
    label = "expected rows and columns",
    note = "the tiles of `TmaLoad` and `TmaStore` have two axes, also where the tensor is a batch of matrices: `Shape2<128, 64>`"
)]
pub trait MatrixShape: Shape {
    /// Rows of a tile; without padding.
    const ROWS: usize;
    /// Columns of a tile; without padding.
    const COLUMNS: usize;
}

impl<R: Dimension, C: Dimension> MatrixShape for (R, C)
where
    (R, C): Shape,
{
    const ROWS: usize = R::LENGTH;
    const COLUMNS: usize = C::LENGTH;
}

/// The longest row of a box in shared memory, in bytes: the widest swizzle of TMA, with which columns are read without
/// conflicts (PTX ISA, "Swizzling Modes").
const PANEL_BYTES: usize = 128;

/// The rows after which swizzles repeat: boxes of multiples of them lie side by side.
const SWIZZLED_ROWS: usize = 8;

/// The shortest row of a box in shared memory, in bytes: TMA's granularity.
const GRANULE_BYTES: usize = 16;

/// The box of a tensor map: the part of a tile that one TMA instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorBox {
    /// Columns of the box.
    pub columns: u32,
    /// Rows of the box.
    pub rows: u32,
    /// Bytes of a row of the box, within which the swizzle permutes 16-byte chunks: 128, 64 or 32; with 16 it permutes none.
    pub swizzle_bytes: u32,
}

impl TensorBox {
    /// The box of `rows` rows in tiles of `columns` columns. Columns of a tile are whole boxes.
    const fn of(rows: usize, columns: usize, element_bytes: usize) -> Self {
        let row_bytes = columns * element_bytes;
        assert!(
            row_bytes >= GRANULE_BYTES,
            "the rows of a `TmaLoad` or `TmaStore` tile are at least 16 bytes long: use tiles of more columns"
        );
        let bytes = power_of_two_in(row_bytes, PANEL_BYTES);
        Self { columns: (bytes / element_bytes) as u32, rows: rows as u32, swizzle_bytes: bytes as u32 }
    }

    /// The last box of a matrix of so many rows: it has the rows that whole boxes leave. A whole box, if they leave none.
    pub const fn last_of(self, rows: u32) -> Self {
        let left = rows % self.rows;
        if left == 0 { self } else { Self { rows: left, ..self } }
    }
}

/// The largest power of two of which `length` is a multiple, and at most `most`, a power of two.
const fn power_of_two_in(length: usize, most: usize) -> usize {
    let power = 1 << length.trailing_zeros();
    if power < most { power } else { most }
}

/// The rows of a box that is loaded: all, or a divisor that is a multiple of 8, if possible of 32 to 64 rows. Many boxes would take the
/// producer's registers.
const fn rows_of_a_load(rows: usize) -> usize {
    if rows <= MOST_COPIED_ROWS {
        return rows;
    }
    let mut most = MOST_COPIED_ROWS;
    while !rows.is_multiple_of(most) && most > MOST_COPIED_ROWS / 2 {
        most -= SWIZZLED_ROWS;
    }
    if rows.is_multiple_of(most) { most } else { rows / 2 }
}

/// The fields of both kinds of tensor-map operands.
pub(crate) struct Matrix<T: Element> {
    /// For TMA; null if there is no TMA, or if TMA cannot reach the elements.
    pub(crate) map: *const TensorMap,
    /// The first element.
    pub(crate) pointer: *mut T::Bits,
    pub(crate) layout: MatrixLayout,
    /// The run of the block that the operand was made for; zero-sized on a GPU.
    run: Run,
}

impl<T: Element> Matrix<T> {
    /// Panics unless this thread runs the block that the operand was made for, in which its elements are valid. All accesses to
    /// its memory call this first.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn assert_lent(&self) {
        self.run.assert_lent("a tensor-map operand, or a tile of one,");
    }
}

impl<T: Element> Clone for Matrix<T> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for Matrix<T> {}

/// A tensor-map load operand: a matrix, or a batch of matrices, that a kernel reads in tiles of shape `S` through shared
/// memory.
///
/// The launch passes a tensor of two axes, rows and columns, or of three, whose first axis counts matrices. Its rows must be
/// contiguous, and begin at multiples of 16 bytes. Elements outside a matrix read as zero.
///
/// # On a GPU
///
/// TMA loads tiles from compute capability 9.0 on: `cp.async.bulk.tensor` (PTX ISA, "Data Movement and Conversion Instructions:
/// cp.async.bulk.tensor"). Before, threads copy by `cp.async`.
///
/// # Rounding
///
/// If memory that was written as `f32` is passed as [`tf32`](crate::element::tf32), TMA rounds it to the nearest number, ties
/// to even. Elsewhere the bits that `tf32` does not have are truncated. Numbers that were converted to `tf32` are the same
/// everywhere.
#[doc(alias("allow_tma", "make_tensor_descriptor", "make_tma_copy"))]
#[doc(alias("cuTensorMapEncodeTiled"))]
pub struct TmaLoad<T: Element, S: MatrixShape> {
    pub(crate) matrix: Matrix<T>,
    shape: PhantomData<S>,
}

/// A tensor-map store operand: a matrix, or a batch of matrices, that a kernel writes in tiles of shape `S`.
///
/// The launch passes a tensor of two axes, rows and columns, or of three, whose first axis counts matrices. Its rows must be
/// contiguous. Elements outside a matrix are not written.
///
/// # On a GPU
///
/// Where rows also begin at multiples of 16 bytes, TMA stores tiles: `cp.async.bulk.tensor` (PTX ISA, "Data Movement and
/// Conversion Instructions: cp.async.bulk.tensor"). Threads store the ends of rows that do not fill 16 bytes, and all rows
/// elsewhere.
pub struct TmaStore<T: Element, S: MatrixShape> {
    pub(crate) matrix: Matrix<T>,
    shape: PhantomData<S>,
}

impl<T: Element, S: MatrixShape> Clone for TmaLoad<T, S> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S: MatrixShape> Copy for TmaLoad<T, S> {}

// SAFETY: it refers to memory that nothing writes while the kernel runs, and that any thread may read.
unsafe impl<T: Element, S: MatrixShape> Send for TmaLoad<T, S> {}

impl<T: Element, S: MatrixShape> TmaLoad<T, S> {
    /// The box of its tensor map.
    // Its rows have the panels of a `SharedTile`, which has room for padding.
    pub const BOX: TensorBox =
        TensorBox::of(rows_of_a_load(S::ROWS), <S::Columns as PowerOfTwo>::COUNT, size_of::<T::Bits>());

    /// The matrix at `pointer`.
    ///
    /// # Safety
    /// - The elements of the layout are valid for reads, and nobody writes them, as long as the operand is used.
    /// - `map` is null, or the address in device memory of two tensor maps of exactly these elements: with the box [`TmaLoad::BOX`], and
    ///   behind it with the [last box](TensorBox::last_of) of as many rows as the layout has.
    #[inline_on_device]
    pub unsafe fn new(map: *const TensorMap, pointer: *mut T::Bits, layout: MatrixLayout) -> Self {
        _ = const { Self::BOX };
        Self { matrix: Matrix { map, pointer, layout, run: Run::current() }, shape: PhantomData }
    }
}

impl<T: Element, S: MatrixShape> TmaStore<T, S> {
    /// The box of its tensor map.
    // A power of two: the rows of an epilogue buffer are whole boxes.
    pub const BOX: TensorBox =
        TensorBox::of(power_of_two_in(S::ROWS, MOST_COPIED_ROWS), S::COLUMNS, size_of::<T::Bits>());

    /// The matrix at `pointer`.
    ///
    /// # Safety
    /// - The elements of the layout are initialised, and valid for reads and writes, by this kernel alone, as long as the
    ///   operand is used, and no two indices share an element. A block makes it once.
    /// - `map` is null, or the address in device memory of a tensor map of exactly these elements with the box
    ///   [`TmaStore::BOX`]. It leaves out columns at the end of rows that do not fill 16 bytes: TMA writes no less.
    #[inline_on_device]
    pub unsafe fn new(map: *const TensorMap, pointer: *mut T::Bits, layout: MatrixLayout) -> Self {
        _ = const { Self::BOX };
        Self { matrix: Matrix { map, pointer, layout, run: Run::current() }, shape: PhantomData }
    }
}

macro_rules! streamed {
    ($($matrix:ident $is_loaded:literal)*) => { $(
        impl<T: Element, S: MatrixShape> $matrix<T, S> {
            /// Rows of a matrix.
            #[inline_on_device]
            pub fn rows(&self) -> u32 {
                self.matrix.layout.rows
            }

            /// Columns of a matrix.
            #[inline_on_device]
            pub fn columns(&self) -> u32 {
                self.matrix.layout.columns
            }

            /// Matrices: 1 for a tensor of two axes.
            #[inline_on_device]
            pub fn batches(&self) -> u32 {
                self.matrix.layout.batches
            }
        }

        // SAFETY: the parts are all fields of it: pointers, and a `repr(C)` struct of integers.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Element, S: MatrixShape> Parameter for $matrix<T, S> {
            type First = *const TensorMap;
            type Second = *mut T::Bits;
            type Third = MatrixLayout;
            type Form = Single;
            const FINGERPRINT: Fingerprint = Fingerprint::EMPTY
                .word(stringify!($matrix))
                .word(T::NAME)
                .numbers(&[S::ROWS as u64, S::COLUMNS as u64]);
            #[inline_on_device]
            fn into_parts(self) -> Parts<Self> {
                let Matrix { map, pointer, layout, .. } = self.matrix;
                Parts { first: map, second: pointer, third: layout }
            }
            #[inline_on_device]
            unsafe fn from_parts(parts: Parts<Self>) -> Self {
                _ = const { Self::BOX };
                if PRODUCER_WARP && execution::thread() == 0 && !parts.first.is_null() {
                    // SAFETY: a map that is not null is a tensor map, and a load's is two. The first copy then need not wait for it.
                    unsafe {
                        bulk::prefetch_map(parts.first.cast());
                        // The last box is the only one of a matrix of few rows.
                        if $is_loaded && parts.third.rows < const { Self::BOX.rows } {
                            bulk::prefetch_map(parts.first.wrapping_add(1).cast());
                        }
                    }
                }
                // SAFETY: the parts come from such an operand.
                unsafe { Self::new(parts.first, parts.second, parts.third) }
            }
        }
    )* };
}
streamed!(TmaLoad true TmaStore false);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{f8e4m3, f16};
    use crate::shape::{D, Padded, Shape2};

    #[test]
    fn boxes_are_panels_of_tiles() {
        let of = |columns, rows, swizzle_bytes| TensorBox { columns, rows, swizzle_bytes };
        assert_eq!(TmaLoad::<f16, Shape2<128, 64>>::BOX, of(64, 64, 128));
        assert_eq!(TmaLoad::<f16, Shape2<512, 256>>::BOX, of(64, 64, 128));
        assert_eq!(TmaLoad::<f32, Shape2<16, 16>>::BOX, of(16, 16, 64));
        assert_eq!(TmaLoad::<f8e4m3, Shape2<64, 32>>::BOX, of(32, 64, 32));
        assert_eq!(TmaLoad::<f64, Shape2<8, 2>>::BOX, of(2, 8, 16));
        assert_eq!(TmaStore::<f32, Shape2<128, 256>>::BOX, of(32, 64, 128));
        assert_eq!(TmaLoad::<f16, (Padded<160>, D<64>)>::BOX, of(64, 40, 128));
        assert_eq!(TmaLoad::<f16, (Padded<192>, D<64>)>::BOX, of(64, 64, 128));
        assert_eq!(TmaLoad::<f16, (D<64>, Padded<160>)>::BOX, of(64, 64, 128));
        assert_eq!(TmaStore::<f16, (D<128>, Padded<160>)>::BOX, of(32, 64, 64));
        assert_eq!(TmaStore::<f16, (D<128>, Padded<192>)>::BOX, of(64, 64, 128));
        assert_eq!(TmaStore::<f16, Shape2<16, 8>>::BOX, of(8, 16, 16));
        assert_eq!(TmaStore::<f16, (Padded<160>, D<128>)>::BOX, of(64, 32, 128));
        assert_eq!(TmaStore::<f16, (Padded<240>, D<128>)>::BOX, of(64, 16, 128));
        assert_eq!(TmaLoad::<f16, (Padded<176>, D<64>)>::BOX, of(64, 88, 128));
    }

    #[test]
    fn the_last_box_has_the_rows_that_are_left() {
        let whole = TmaLoad::<f16, Shape2<128, 64>>::BOX;
        let rows = [1, 63, 64, 65, 127, 128, 1000].map(|rows| whole.last_of(rows).rows);
        assert_eq!(rows, [1, 63, 64, 1, 63, 64, 40]);
        assert_eq!(TensorBox { rows: 64, ..whole.last_of(3) }, whole);
    }

    #[test]
    fn parts_give_the_matrix_back() {
        let layout = MatrixLayout::new(3, 8, 2, 16, 48);
        let mut elements = [0_u16; 96];
        // SAFETY: the elements are there, and nobody uses them.
        let c =
            unsafe { TmaStore::<f16, Shape2<16, 8>>::new(core::ptr::null(), elements.as_mut_ptr(), layout) };
        // SAFETY: the parts come from the line above.
        let c = unsafe { TmaStore::<f16, Shape2<16, 8>>::from_parts(c.into_parts()) };
        assert_eq!((c.rows(), c.columns(), c.batches()), (3, 8, 2));
        assert_eq!((c.matrix.pointer, c.matrix.layout), (elements.as_mut_ptr(), layout));
    }

    #[test]
    fn the_device_and_the_host_agree_on_sizes() {
        assert_eq!((size_of::<TensorMap>(), align_of::<TensorMap>()), (128, 64));
        assert_eq!((size_of::<MatrixLayout>(), align_of::<MatrixLayout>()), (40, 8));
    }
}
