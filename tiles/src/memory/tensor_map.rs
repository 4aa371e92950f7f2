//! Matrices, or batches of them, as streamed kernels receive them.

use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::running::Run;
use crate::arch::{bulk, execution};
use crate::element::Element;
use crate::launch::{Fingerprint, Parameter, Parts};
use crate::registers::PowerOfTwo;
use crate::shape::{Dimension, Shape};
use core::marker::PhantomData;

/// What the copy engine of a GPU knows of a tensor: a `CUtensorMap`, which the driver encodes. Opaque.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct TensorMap([u64; 16]);

/// How the elements of a matrix, or of a batch of matrices, lie in memory. The columns of a row are neighbours.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MatrixLayout {
    /// Rows of a matrix.
    pub rows: u32,
    // Each in a word of 64 bits, as which the fields are passed: two in one would be taken apart to registers.
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

/// The shape of a matrix's tiles: two dimensions, rows and columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of a matrix's tiles",
    label = "expected rows and columns",
    note = "streamed tiles have two axes, also where the tensor is a batch of matrices: `Shape2<128, 64>`"
)]
pub trait MatrixShape: Shape {
    /// Rows of a tile.
    const ROWS: usize;
    /// Columns of a tile.
    const COLUMNS: usize;
}

impl<R: Dimension, C: Dimension> MatrixShape for (R, C)
where
    (R, C): Shape,
{
    const ROWS: usize = <R::Count as PowerOfTwo>::COUNT;
    const COLUMNS: usize = <C::Count as PowerOfTwo>::COUNT;
}

/// The rows of a piece in shared memory are at most this long, in bytes: the widest pattern in which the copy engine can lay
/// them out so that columns are read without conflicts (PTX ISA, "Swizzling modes").
const PANEL_BYTES: usize = 128;

/// The rows of a piece in shared memory are at least this long, in bytes: the copy engine's granularity.
const GRANULE_BYTES: usize = 16;

/// What one command to the copy engine moves: a piece of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorBox {
    /// Columns of the piece.
    pub columns: u32,
    /// Rows of the piece.
    pub rows: u32,
    /// Bytes of a row of the piece, within which 16-byte chunks change places: 128, 64 or 32; with 16 none do.
    pub swizzle_bytes: u32,
}

impl TensorBox {
    /// Pieces of at most `most_rows` rows of tiles of `rows` rows and `columns` columns.
    const fn of(rows: usize, columns: usize, element_bytes: usize, most_rows: usize) -> Self {
        let row_bytes = columns * element_bytes;
        assert!(
            row_bytes >= GRANULE_BYTES,
            "the rows of streamed tiles are at least 16 bytes long: use tiles of more columns"
        );
        let bytes = if row_bytes < PANEL_BYTES { row_bytes } else { PANEL_BYTES };
        Self {
            columns: (bytes / element_bytes) as u32,
            rows: if rows < most_rows { rows } else { most_rows } as u32,
            swizzle_bytes: bytes as u32,
        }
    }
}

/// What both kinds of streamed matrices are made of.
pub(crate) struct Matrix<T: Element> {
    /// For the copy engine; null where there is none, or where it cannot reach the elements.
    pub(crate) map: *const TensorMap,
    /// The first element.
    pub(crate) pointer: *mut T::Bits,
    pub(crate) layout: MatrixLayout,
    /// The run of the block that it was made for; of no size on a GPU.
    run: Run,
}

impl<T: Element> Matrix<T> {
    /// Panics unless this thread runs the block that the matrix was made for, in which its elements are valid. Whatever
    /// touches memory through it asks first.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn assert_lent(&self) {
        self.run.assert_lent("a streamed matrix, or a tile of one,");
    }
}

impl<T: Element> Clone for Matrix<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for Matrix<T> {}

/// A matrix, or a batch of matrices, that a kernel reads in tiles of shape `S` through shared memory.
///
/// The launch passes a tensor of two axes, rows and columns, or of three, of which the first counts matrices. Its rows must
/// be contiguous, and begin at multiples of 16 bytes. What lies outside a matrix reads as zero.
///
/// Memory that was written as `f32` and is passed as [`tf32`](crate::element::tf32) is rounded to the nearest number, ties to even, on its
/// way by the copy engine of a GPU; elsewhere the bits that `tf32` does not have are cut off. Numbers that were converted to `tf32` are the
/// same everywhere.
pub struct TmaLoad<T: Element, S: MatrixShape> {
    pub(crate) matrix: Matrix<T>,
    shape: PhantomData<S>,
}

/// A matrix, or a batch of matrices, that a kernel writes in tiles of shape `S`.
///
/// The launch passes a tensor of two axes, rows and columns, or of three, of which the first counts matrices. Its rows must
/// be contiguous; where they also begin at multiples of 16 bytes, the copy engine of a GPU stores tiles, all but the ends of rows
/// that do not fill 16 bytes. What lies outside a matrix is not written.
pub struct TmaStore<T: Element, S: MatrixShape> {
    pub(crate) matrix: Matrix<T>,
    shape: PhantomData<S>,
}

impl<T: Element, S: MatrixShape> Clone for TmaLoad<T, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S: MatrixShape> Copy for TmaLoad<T, S> {}

// SAFETY: it names memory that nothing writes while the kernel runs, of which any thread may know.
unsafe impl<T: Element, S: MatrixShape> Send for TmaLoad<T, S> {}

impl<T: Element, S: MatrixShape> TmaLoad<T, S> {
    /// What its tensor map moves at once.
    pub const BOX: TensorBox = TensorBox::of(S::ROWS, S::COLUMNS, size_of::<T::Bits>(), 256);

    /// The matrix at `pointer`.
    ///
    /// # Safety
    /// - The elements of the layout are valid for reads, and nobody writes them, as long as the matrix is used.
    /// - `map` is null, or the address of a map, in memory of the device, of just these elements with the box
    ///   [`TmaLoad::BOX`].
    #[inline(always)]
    pub unsafe fn new(map: *const TensorMap, pointer: *mut T::Bits, layout: MatrixLayout) -> Self {
        _ = const { Self::BOX };
        Self { matrix: Matrix { map, pointer, layout, run: Run::current() }, shape: PhantomData }
    }
}

impl<T: Element, S: MatrixShape> TmaStore<T, S> {
    /// What its tensor map moves at once.
    pub const BOX: TensorBox = TensorBox::of(S::ROWS, S::COLUMNS, size_of::<T::Bits>(), 64);

    /// The matrix at `pointer`.
    ///
    /// # Safety
    /// - The elements of the layout are initialised, and valid for reads and writes, by this kernel alone, as long as the
    ///   matrix is used, and no two indices share an element. A block makes it once.
    /// - `map` is null, or the address of a map, in memory of the device, of just these elements with the box
    ///   [`TmaStore::BOX`], but for columns at the end of rows that do not fill 16 bytes: the copy engine writes no less.
    #[inline(always)]
    pub unsafe fn new(map: *const TensorMap, pointer: *mut T::Bits, layout: MatrixLayout) -> Self {
        _ = const { Self::BOX };
        Self { matrix: Matrix { map, pointer, layout, run: Run::current() }, shape: PhantomData }
    }
}

macro_rules! streamed {
    ($($matrix:ident)*) => { $(
        impl<T: Element, S: MatrixShape> $matrix<T, S> {
            /// Rows of a matrix.
            #[inline(always)]
            pub fn rows(&self) -> u32 {
                self.matrix.layout.rows
            }

            /// Columns of a matrix.
            #[inline(always)]
            pub fn columns(&self) -> u32 {
                self.matrix.layout.columns
            }

            /// Matrices: 1 for a tensor of two axes.
            #[inline(always)]
            pub fn batches(&self) -> u32 {
                self.matrix.layout.batches
            }
        }

        // SAFETY: the parts are all of its fields, which are pointers and a `repr(C)` struct of integers.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Element, S: MatrixShape> Parameter for $matrix<T, S> {
            type First = *const TensorMap;
            type Second = *mut T::Bits;
            type Third = MatrixLayout;
            const FINGERPRINT: Fingerprint = Fingerprint::EMPTY
                .word(stringify!($matrix))
                .word(T::NAME)
                .numbers(&[S::ROWS as u64, S::COLUMNS as u64]);
            #[inline(always)]
            fn into_parts(self) -> Parts<Self> {
                let Matrix { map, pointer, layout, .. } = self.matrix;
                Parts { first: map, second: pointer, third: layout }
            }
            #[inline(always)]
            unsafe fn from_parts(parts: Parts<Self>) -> Self {
                _ = const { Self::BOX };
                if PRODUCER_WARP && execution::thread() == 0 && !parts.first.is_null() {
                    // SAFETY: a map that is not null is one. The first copy then need not wait for it.
                    unsafe { bulk::prefetch_map(parts.first.cast()) };
                }
                // SAFETY: the parts come from such a matrix.
                unsafe { Self::new(parts.first, parts.second, parts.third) }
            }
        }
    )* };
}
streamed!(TmaLoad TmaStore);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{f8e4m3, f16};
    use crate::shape::Shape2;

    #[test]
    fn boxes_are_panels_of_tiles() {
        let of = |columns, rows, swizzle_bytes| TensorBox { columns, rows, swizzle_bytes };
        assert_eq!(TmaLoad::<f16, Shape2<128, 64>>::BOX, of(64, 128, 128));
        assert_eq!(TmaLoad::<f16, Shape2<512, 256>>::BOX, of(64, 256, 128));
        assert_eq!(TmaLoad::<f32, Shape2<16, 16>>::BOX, of(16, 16, 64));
        assert_eq!(TmaLoad::<f8e4m3, Shape2<64, 32>>::BOX, of(32, 64, 32));
        assert_eq!(TmaLoad::<f64, Shape2<8, 2>>::BOX, of(2, 8, 16));
        assert_eq!(TmaStore::<f32, Shape2<128, 256>>::BOX, of(32, 64, 128));
        assert_eq!(TmaStore::<f16, Shape2<16, 8>>::BOX, of(8, 16, 16));
    }

    #[test]
    fn parts_give_the_matrix_back() {
        let layout = MatrixLayout::new(3, 8, 2, 16, 48);
        let mut elements = [0_u16; 96];
        // SAFETY: the elements are there, and nobody uses them.
        let sink =
            unsafe { TmaStore::<f16, Shape2<16, 8>>::new(core::ptr::null(), elements.as_mut_ptr(), layout) };
        // SAFETY: taken apart just now.
        let sink = unsafe { TmaStore::<f16, Shape2<16, 8>>::from_parts(sink.into_parts()) };
        assert_eq!((sink.rows(), sink.columns(), sink.batches()), (3, 8, 2));
        assert_eq!((sink.matrix.pointer, sink.matrix.layout), (elements.as_mut_ptr(), layout));
    }

    #[test]
    fn the_device_and_the_host_agree_on_sizes() {
        assert_eq!((size_of::<TensorMap>(), align_of::<TensorMap>()), (128, 64));
        assert_eq!((size_of::<MatrixLayout>(), align_of::<MatrixLayout>()), (40, 8));
    }
}
