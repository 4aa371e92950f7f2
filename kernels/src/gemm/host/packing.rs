//! Packing: copies of operands that kernels cannot read in their present storage.

use cuda_tiles::element::{Element, Number};
use cuda_tiles_host::{Grid, Launch, Result, Stream, TensorView, TensorViewMut, workspace};

use crate::gemm::pack::{pack, pack_strided, pack_transposed};

/// Rows of an operand that TMA reads begin at multiples of this many bytes.
const ROW_BYTES: usize = 16;

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
    let pitch = columns.next_multiple_of(ROW_BYTES / size_of::<T>());
    workspace::<T::Bits, 3, R>(stream, [batches, rows, pitch], |mut packed| {
        T::Bits::pack(stream, x.bitcast(), packed.reborrow().slice(2, 0..columns)?)?;
        body(packed.as_view().slice(2, 0..columns)?.bitcast())
    })
}
