//! Tensor spans: typed views of tensors in global memory, as kernels receive them.

pub mod extents;
pub mod mapping;

pub(crate) mod access;
mod axes;
mod error;
mod facts;
mod order;
mod parameter;
mod part;
mod permute;

pub use crate::shape::order::{OrderC, OrderF};
pub use access::{
    Access, Aligned, Alignment, Atomic, Concurrent, Exclusive, Natural, ReadOnly, Shareable, Writable,
};
pub use axes::{AxisOf, InsertAxis, RemoveAxis, SliceAxis};
pub use error::SpanError;
pub use extents::{Extent, ExtentError, Extents, Mult};
pub use facts::{Bounded, Divisible, Fact, FactError};
pub use mapping::{
    Left, Mapping, MemoryOrder, PaddedLeft, PaddedRight, Permuted, Pitched, PitchedLeft, Right, Strided,
};
pub use order::{AxisOrder, Permutation};
pub use part::{Rest, Sliced, WithoutGaps};
pub use permute::{SwapAxes, Transposed, TransposedAxes};

use crate::arch::messages::Failure;
use crate::arch::partitions::Origin;
use crate::element::Element;
use crate::protocol::SPAN_AXIS;
use core::marker::PhantomData;
use extents::OffsetInteger;

/// A tensor in global memory: where it is, how long each axis is, and where elements lie.
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let numbers: Vec<i32> = (0..32).collect();
/// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, D<8>)>| {
///     assert_eq!((span.extent(0), span.size()), (4, 32));
///     let row = span.partition(cx, shape![1, 8]).load((2, 0));
///     assert_eq!(row.at([0, 7]), 23);
/// });
/// ```
///
/// Kernels write [`Span`] for a tensor that they read, [`SpanMut`] for one that they write, and [`SpanAtomic`] for one that blocks share.
/// A span owns nothing. The launch makes it from a tensor, and checks all that the type says of extents, mapping and alignment.
///
/// # Parameters
///
/// | parameter | meaning |
/// |---|---|
/// | `T` | the element type |
/// | `E` | the [`Extents`], slowest axis first: `(u32, D<1024>)` |
/// | `A` | the access: [`ReadOnly`] (from `&tensor`), [`Exclusive`] or [`Atomic`] (from `&mut tensor`) |
/// | `M` | the [`Mapping`]: [`Right`] (row-major), [`Left`], [`Pitched`] or [`Strided`] |
/// | `G` | the [`Alignment`] of the first element: [`Natural`] or [`Aligned<16>`](Aligned) |
///
/// # Operations
///
/// ## Size and strides
///
/// | | |
/// |---|---|
/// | lengths | [`extent`](Self::extent) [`extents`](Self::extents) [`size`](Self::size) [`is_empty`](Self::is_empty) |
/// | distances in memory | [`stride`](Self::stride) |
/// | comparison with another span | [`extents_equal`](Self::extents_equal) [`strides_equal`](Self::strides_equal) |
/// | constants | [`RANK`](Self::RANK) [`RANK_DYNAMIC`](Self::RANK_DYNAMIC) [`STATIC_EXTENTS`](Self::STATIC_EXTENTS) |
///
/// ## Tiles
///
/// | | |
/// |---|---|
/// | tiles side by side | [`partition`](Self::partition) |
/// | tiles at steps | [`strided`](Self::strided) |
/// | tiles at any element | [`window`](Self::window) |
/// | tiles of gathered rows | [`gather_scatter_view`](Self::gather_scatter_view) |
/// | one tile, for the loads of a pipeline | [`tile`](Self::tile) |
///
/// ## Parts and other axes
///
/// Nothing is copied.
///
/// | | |
/// |---|---|
/// | a range of an axis | [`slice`](Self::slice) [`narrow`](Self::narrow) [`split_at`](Self::split_at) |
/// | one index of an axis | [`index`](Self::index) |
/// | other axes | [`insert_axis`](Self::insert_axis) [`reshape`](Self::reshape) [`permute`](Self::permute) [`transpose`](Self::transpose) |
/// | known alignment | [`aligned`](Self::aligned) [`assume_aligned`](Self::assume_aligned) |
///
/// ## Single elements
///
/// Loads and stores take tiles of indices. A load reads a [`Span`]. Stores, and loads without a check, are `unsafe`.
///
/// | | |
/// |---|---|
/// | one element, as a number | [`item`](Self::item) |
/// | load | [`gather`](Self::gather) [`gather_masked`](Self::gather_masked) [`gather_unchecked`](Self::gather_unchecked) [`gather_masked_unchecked`](Self::gather_masked_unchecked) |
/// | store | [`scatter`](Self::scatter) [`scatter_masked`](Self::scatter_masked) [`scatter_unchecked`](Self::scatter_unchecked) [`scatter_masked_unchecked`](Self::scatter_masked_unchecked) |
///
/// ## Atomic operations
///
/// A [`SpanAtomic`] has them. An exchange or an update gives the elements as they were before.
///
/// | | |
/// |---|---|
/// | load and store | [`atomic_gather`](Self::atomic_gather) [`atomic_gather_masked`](Self::atomic_gather_masked) [`atomic_scatter`](Self::atomic_scatter) [`atomic_scatter_masked`](Self::atomic_scatter_masked) |
/// | exchange | [`atomic_exchange`](Self::atomic_exchange) [`atomic_exchange_masked`](Self::atomic_exchange_masked) [`atomic_compare_exchange`](Self::atomic_compare_exchange) [`atomic_compare_exchange_masked`](Self::atomic_compare_exchange_masked) |
/// | sum | [`atomic_add`](Self::atomic_add) [`atomic_add_masked`](Self::atomic_add_masked) [`atomic_sub`](Self::atomic_sub) [`atomic_sub_masked`](Self::atomic_sub_masked) |
/// | minimum, maximum | [`atomic_min`](Self::atomic_min) [`atomic_min_masked`](Self::atomic_min_masked) [`atomic_max`](Self::atomic_max) [`atomic_max_masked`](Self::atomic_max_masked) |
/// | bits | [`atomic_and`](Self::atomic_and) [`atomic_and_masked`](Self::atomic_and_masked) [`atomic_or`](Self::atomic_or) [`atomic_or_masked`](Self::atomic_or_masked) [`atomic_xor`](Self::atomic_xor) [`atomic_xor_masked`](Self::atomic_xor_masked) |
///
/// ## Addresses
///
/// | | |
/// |---|---|
/// | from an address | [`try_from_parts`](Self::try_from_parts) |
/// | to an address | [`pointer`](Self::pointer) |
///
/// # On a GPU
///
/// The kernel receives the address and those lengths and strides that its type does not know.
/// [`TiledView`](crate::view::TiledView#on-a-gpu) says which instructions loads and stores of tiles become.
#[doc(alias("Array", "mdspan"))]
pub struct TensorSpan<T: Element, E: Extents, A = ReadOnly, M: Mapping = Right, G = Natural> {
    pub(crate) pointer: *mut T::Bits,
    pub(crate) extents: E,
    pub(crate) mapping: M::Data<E>,
    /// The tensor that this is a part of, and the block that it was made for; parts that unsafe code takes are tensors of
    /// their own.
    pub(crate) origin: Origin,
    access: PhantomData<(A, G)>,
}

/// A tensor that the kernel reads.
pub type Span<T, E, M = Right, G = Natural> = TensorSpan<T, E, ReadOnly, M, G>;
/// A tensor that the kernel writes, each block its own tiles.
#[doc(alias("PartitionMut", "__restrict__"))]
pub type SpanMut<T, E, M = Right, G = Natural> = TensorSpan<T, E, Exclusive, M, G>;
/// A tensor that blocks share through atomic operations.
pub type SpanAtomic<T, E, M = Right, G = Natural> = TensorSpan<T, E, Atomic, M, G>;

// A span that is not exclusive may be copied freely; of an exclusive one there is one, so that all its tiles
// belong to one partition.
impl<T: Element, E: Extents, A: Shareable, M: Mapping, G> Clone for TensorSpan<T, E, A, M, G> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, E: Extents, A: Shareable, M: Mapping, G> Copy for TensorSpan<T, E, A, M, G> {}

// SAFETY: it refers to memory that nothing writes while the kernel runs, and that any thread of its block may read. All accesses ask whether
// the thread runs this block. The producer warp is the reason to send it.
unsafe impl<T: Element, E: Extents, M: Mapping, G> Send for TensorSpan<T, E, ReadOnly, M, G> {}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// Elements that have no bytes of their own do not lie in memory. Checked where spans are made.
    pub(crate) const IN_MEMORY: () = assert!(
        T::BIT_WIDTH >= 8,
        "a tensor of f4e2m1, i4 or u4 is one of pairs, which share a byte: Span<f4e2m1x2, ...>, Span<i4x2, ...> or Span<u4x2, ...>, and tile.unpack()"
    );

    /// The span of the tensor at `pointer`.
    ///
    /// `lengths` and `strides` (in elements) have one number for each axis.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// let mut numbers = [0_u32, 1, 2, 3, 4, 5];
    /// cuda_tiles::cpu::block(|cx| {
    ///     // SAFETY: the array outlives the span, and nothing else uses it meanwhile.
    ///     let span = unsafe { Span::<u32, (u32, u32)>::try_from_parts(numbers.as_mut_ptr(), &[3, 2], &[2, 1]) };
    ///     let tile = span.unwrap().partition(cx, shape![1, 2]).load((2, 0));
    ///     assert_eq!((tile.at([0, 0]), tile.at([0, 1])), (4, 5));
    /// });
    /// ```
    ///
    /// # Errors
    ///
    /// If a length, a stride, the size or the address contradicts the span's type, or if two elements would share memory.
    ///
    /// # Safety
    ///
    /// For as long as the span or anything made from it is used:
    ///
    /// * Every element is valid for reads, and holds a valid `T`. Nothing else writes it.
    /// * For [`Exclusive`] and [`Atomic`] it is also valid for writes, and nothing else uses it.
    #[doc(alias("from_foreign"))]
    pub unsafe fn try_from_parts(
        pointer: *mut T::Bits,
        lengths: &[u64],
        strides: &[i64],
    ) -> Result<Self, SpanError> {
        error::check_rank(lengths, strides, E::RANK)?;
        let extents = match E::try_new(lengths) {
            Ok(extents) => extents,
            Err((axis, source)) => return Err(SpanError::Extent { axis, length: lengths[axis], source }),
        };
        let strides = error::check_strides(lengths, strides, E::Offset::GREATEST)?;
        if !M::has(extents, &strides[..E::RANK]) {
            return Err(SpanError::Mapping { wanted: M::NAME, strides, rank: E::RANK });
        }
        let mapping = M::from_strides::<E>(strides);
        if pointer.addr() % G::bytes::<T::Bits>() != 0 {
            return Err(SpanError::Alignment { address: pointer.addr(), wanted: G::bytes::<T::Bits>() });
        }
        let origin = Origin::new(pointer.addr());
        Ok(Self { pointer, extents, mapping, origin, access: PhantomData })
    }

    /// The length of axis `axis`: a `u32`, or `u64` where an extent is one.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[0_u8; 32], [4, 8], |_cx, span: Span<u8, (u32, u32)>| {
    ///     assert_eq!((span.extent(0), span.extent(1)), (4, 8));
    ///     assert_eq!((span.stride(0), span.stride(1)), (8, 1));
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If `axis` is not below the rank (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn extent(&self, axis: usize) -> E::Offset {
        if axis >= E::RANK {
            let mut failure = Failure::new("", SPAN_AXIS);
            failure.number(axis as u64);
            failure.number(E::RANK as u64);
            failure.end()
        }
        E::Offset::from_u64(self.extents.get()[axis])
    }

    /// The number of elements between neighbours along `axis`.
    ///
    /// [`extent`](Self::extent) has an example.
    ///
    /// # Panics
    ///
    /// If `axis` is not below the rank (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("strides"))]
    pub fn stride(&self, axis: usize) -> E::Offset {
        if axis >= E::RANK {
            let mut failure = Failure::new("", SPAN_AXIS);
            failure.number(axis as u64);
            failure.number(E::RANK as u64);
            failure.end()
        }
        self.strides()[axis]
    }

    #[inline_on_device]
    pub(crate) fn strides(&self) -> [E::Offset; crate::shape::MAXIMUM_RANK] {
        M::strides::<E>(self.mapping, self.extents)
    }

    /// The span from its kernel parameters.
    ///
    /// # Safety
    /// As for [`TensorSpan::try_from_parts`], with parts of a span that passed its checks; of one with this origin the elements
    /// are valid in the block that the origin names alone.
    #[inline_on_device]
    pub(crate) unsafe fn from_checked(
        pointer: *mut T::Bits,
        extents: E,
        mapping: M::Data<E>,
        origin: Origin,
    ) -> Self {
        Self { pointer, extents, mapping, origin, access: PhantomData }
    }

    /// Panics unless this thread runs the block that the span was made for, in which its elements are valid. Whatever
    /// touches memory through a span or a view asks first.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn assert_lent(&self) {
        self.origin.run().assert_lent("a span, or a view of one,");
    }
}
