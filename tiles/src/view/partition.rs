//! How a span is cut into tiles.

use super::{AtElements, AtSteps, NamedBy, PartitionView, Steps, StridedView, TiledView, WindowView};
use crate::context::Cx;
use crate::element::Element;
use crate::layout::Block;
use crate::shape::{ALL, OfRank, PADDED_VIEW, Shape, is_padded};
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The span cut into tiles of `shape`, side by side; tiles at the edge are partial.
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
    /// # Writable spans
    ///
    /// A writable span is consumed. Its tiles belong to one partition, so that blocks with different tiles have different elements. All blocks
    /// cut alike, because they cut while they know the same: at the top of the kernel, before [`Cx::bid`] and all else that tells a block
    /// something of its own, such as scheduled tiles, atomic reads, stages of a pipeline and shared memory. [`strided`](Self::strided) and
    /// [`window`](Self::window) have the same rule.
    ///
    /// # Panics
    ///
    /// On the CPU, if the span is writable and the block knows something of its own. For a GPU such a kernel is not built.
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("partition_view", "make_block_ptr", "local_tile"))]
    pub fn partition<S: Shape + OfRank<E::Rank>, B: Block, N>(
        self,
        cx: Cx<B>,
        shape: S,
    ) -> PartitionView<TensorSpan<T, E, A, M, G>, S, B, N>
    where
        A: NamedBy<N>,
    {
        const { assert!(!is_padded::<S>(ALL), "{}", PADDED_VIEW) };
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
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("tiled_view"))]
    pub fn strided<S, P, B, N>(
        self,
        cx: Cx<B>,
        shape: S,
        steps: P,
    ) -> StridedView<TensorSpan<T, E, A, M, G>, S, P, B, N>
    where
        S: Shape + OfRank<E::Rank>,
        P: Steps + OfRank<S::Rank>,
        B: Block,
        A: NamedBy<N>,
    {
        const { assert!(!is_padded::<S>(ALL), "{}", PADDED_VIEW) };
        let _ = (shape, steps, const { P::STEPS });
        TiledView::<TensorSpan<T, E, A, M, G>, S, B, AtSteps<P>, N>::new(self, cx)
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
    #[inline_on_device]
    #[track_caller]
    pub fn window<S: Shape + OfRank<E::Rank>, B: Block, N>(
        self,
        cx: Cx<B>,
        shape: S,
    ) -> WindowView<TensorSpan<T, E, A, M, G>, S, B, N>
    where
        A: NamedBy<N>,
    {
        const { assert!(!is_padded::<S>(ALL), "{}", PADDED_VIEW) };
        let _ = shape;
        TiledView::<TensorSpan<T, E, A, M, G>, S, B, AtElements, N>::new(self, cx)
    }
}
