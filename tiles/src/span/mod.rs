//! Tensor spans: typed views of tensors in global memory, as kernels receive them.

pub mod extents;
pub mod mapping;

pub(crate) mod access;
mod axes;
mod error;
mod facts;
mod part;
mod permute;

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
pub use part::{Rest, Sliced, WithoutGaps};
pub use permute::{AxisOrder, OrderC, OrderF, Permutation, SwapAxes, Transposed, TransposedAxes};

use crate::arch::messages::Failure;
use crate::arch::partitions::Origin;
use crate::context::Cx;
use crate::debug::protocol::SPAN_AXIS;
use crate::element::Element;
use crate::layout::Block;
use crate::shape::{OfRank, Shape};
use crate::view::{AtElements, AtSteps, NamedBy, PartitionView, Steps, StridedView, TiledView, WindowView};
use core::marker::PhantomData;
use extents::OffsetInteger;

/// A tensor in global memory: where it is, how long each axis is, and where elements lie.
///
/// It owns nothing. Kernels receive spans made from tensors at launch, where everything that the type says
/// about extents, mapping and alignment is checked.
///
/// * `T`: the element type.
/// * `E`: the [`Extents`], slowest axis first: `(u32, D<1024>)`.
/// * `A`: who may touch it: [`ReadOnly`] (from `&tensor`), [`Exclusive`] or [`Atomic`] (from `&mut tensor`).
/// * `M`: the [`Mapping`]: [`Right`] (row-major), [`Left`], [`Pitched`] or [`Strided`].
/// * `G`: the [`Alignment`] of the first element, [`Natural`] or [`Aligned<16>`](Aligned).
///
/// Most kernels write [`Span`] and [`SpanMut`].
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
pub type SpanMut<T, E, M = Right, G = Natural> = TensorSpan<T, E, Exclusive, M, G>;
/// A tensor that blocks share through atomic operations.
pub type SpanAtomic<T, E, M = Right, G = Natural> = TensorSpan<T, E, Atomic, M, G>;

// A span that is not exclusive may be copied freely; of an exclusive one there is one, so that all its tiles
// belong to one partition.
impl<T: Element, E: Extents, A: Shareable, M: Mapping, G> Clone for TensorSpan<T, E, A, M, G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, E: Extents, A: Shareable, M: Mapping, G> Copy for TensorSpan<T, E, A, M, G> {}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// Elements that have no bytes of their own do not lie in memory. Checked where spans are made.
    pub(crate) const IN_MEMORY: () = assert!(
        T::BIT_WIDTH >= 8,
        "a tensor of f4e2m1 is one of pairs, which share a byte: Span<f4e2m1x2, ...> and tile.unpack()"
    );

    /// The span of the tensor at `pointer`.
    ///
    /// `lengths` and `strides` (in elements) have one number for each axis.
    ///
    /// # Errors
    /// If a length, a stride, the size or the address contradicts the span's type, or if two elements would
    /// share memory.
    ///
    /// # Safety
    /// For as long as the span or anything made from it is used: every element is valid for reads, holds a valid
    /// `T`, and is written by nothing else; for [`Exclusive`] and [`Atomic`] it is also valid for writes and used
    /// by nothing else.
    pub unsafe fn try_from_parts(
        pointer: *mut T::Bits,
        lengths: &[u64],
        strides: &[i64],
    ) -> Result<Self, SpanError> {
        if let Some(found) = [lengths.len(), strides.len()].into_iter().find(|&axes| axes != E::RANK) {
            return Err(SpanError::Rank { found, wanted: E::RANK });
        }
        let extents = E::try_new(lengths).map_err(|(axis, source)| SpanError::Extent {
            axis,
            length: lengths[axis],
            source,
        })?;
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
    /// # Panics
    /// If `axis` is not below the rank (on the device: traps).
    #[inline(always)]
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

    /// Elements between neighbours along `axis`.
    ///
    /// # Panics
    /// If `axis` is not below the rank (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn stride(&self, axis: usize) -> E::Offset {
        if axis >= E::RANK {
            let mut failure = Failure::new("", SPAN_AXIS);
            failure.number(axis as u64);
            failure.number(E::RANK as u64);
            failure.end()
        }
        self.strides()[axis]
    }

    /// The span cut into tiles of `shape`; edge tiles are partial.
    ///
    /// A writable span is consumed: its tiles belong to one partition, so that blocks which own different
    /// tiles own different elements. All blocks make the same one, as they make it while they know the same: at the top of the
    /// kernel, before [`Cx::bid`] and whatever else tells a block what others do not know (tiles that are dealt out, atomic reads,
    /// messages of a pipeline, shared memory). So do [`strided`](Self::strided) and [`window`](Self::window).
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// #[kernel]
    /// fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    ///     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    ///     let i = cx.bid::<0>();
    ///     y.store_masked(x.load_masked(Zero, i) * 2.0, i);
    /// }
    /// ```
    ///
    /// # Panics
    /// If the span is writable and the block knows something of its own, on the CPU; for a GPU such a kernel is not built.
    #[inline(always)]
    #[track_caller]
    pub fn partition<S: Shape + OfRank<E::Rank>, B: Block, N>(
        self,
        cx: Cx<B>,
        shape: S,
    ) -> PartitionView<T, E, A, M, G, S, B, N>
    where
        A: NamedBy<N>,
    {
        let _ = shape;
        TiledView::new(self, cx)
    }

    /// The span cut into tiles of `shape` that start at static steps: CUDA Tile C++'s `strided_view`, cuTile's
    /// `traversal_steps`.
    ///
    /// Steps shorter than the tile make tiles overlap, longer ones leave gaps. Tile `(i, j)` starts at element
    /// `(i * step0, j * step1)`; there are as many tiles along an axis as start inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let view = span.strided(cx, shape![2, 4], steps![1, 3]);
    ///     assert_eq!((view.num_tiles(0), view.num_tiles(1)), (4, 3));
    ///     assert_eq!(view.load((1, 1)).at([0, 0]), 11);
    ///     assert_eq!(view.load_masked(Zero, (3, 2)).at([0, 1]), 31);
    /// });
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn strided<S, P, B, N>(self, cx: Cx<B>, shape: S, steps: P) -> StridedView<T, E, A, M, G, S, P, B, N>
    where
        S: Shape + OfRank<E::Rank>,
        P: Steps + OfRank<S::Rank>,
        B: Block,
        A: NamedBy<N>,
    {
        let _ = (shape, steps, const { P::STEPS });
        TiledView::<T, E, A, M, G, S, B, AtSteps<P>, N>::new(self, cx)
    }

    /// Tiles of `shape` that start at any element: overlapping windows, as stencils and pooling want them.
    ///
    /// The index of a load is that of the tile's first element, and may be negative: a masked load pads what lies before the
    /// tensor as well as what lies beyond it.
    ///
    /// Count it with signed numbers. The difference of unsigned ones wraps below 0 to a number far behind the tensor, where a
    /// masked load finds nothing but padding; builds with overflow checks panic instead.
    /// [`BlockIndex::start`](crate::context::BlockIndex::start) begins with the block's own tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let view = span.window(cx, shape![2, 4]);
    ///     assert_eq!(view.load((1, 3)).at([1, 2]), 21);
    ///     let corner = view.load_masked(Zero, (-1, -2));
    ///     assert_eq!((corner.at([0, 2]), corner.at([1, 1]), corner.at([1, 3])), (0, 0, 1));
    /// });
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn window<S: Shape + OfRank<E::Rank>, B: Block, N>(
        self,
        cx: Cx<B>,
        shape: S,
    ) -> WindowView<T, E, A, M, G, S, B, N>
    where
        A: NamedBy<N>,
    {
        let _ = shape;
        TiledView::<T, E, A, M, G, S, B, AtElements, N>::new(self, cx)
    }

    #[inline(always)]
    pub(crate) fn strides(&self) -> [E::Offset; crate::shape::MAXIMUM_RANK] {
        M::strides::<E>(self.mapping, self.extents)
    }

    /// The span from its kernel parameters.
    ///
    /// # Safety
    /// As for [`TensorSpan::try_from_parts`], with parts of a span that passed its checks; of one with this origin the elements
    /// are valid in the block that the origin names alone.
    #[inline(always)]
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
    #[inline(always)]
    #[track_caller]
    pub(crate) fn assert_lent(&self) {
        self.origin.run().assert_lent("a span, or a view of one,");
    }
}
