//! The one body of all streamed products.

use cuda_tiles::prelude::*;
use cuda_tiles::stream::{
    Fills, LeftFactor, Message, SinkTile, SourceTile, Stage, StagedFactor, StagedProduct,
    Transposed as TransposedStage,
};

use super::work::{Portion, Share, Work};

/// Rows of tiles in a band of the order in which tiles are dealt out: of some 2048 rows, blocks that work at the same time share about
/// as much of `a` as of `b`. This is for tiles of 128 rows. *Measured:* bands twice as high cost 4 % of TF32 products of 8192^3.
pub(super) const BAND: u32 = 16;
/// The order in which those tiles are dealt out to the blocks.
pub(super) const ORDER: Swizzled<BAND> = Swizzled;

/// How a kernel multiplies, for its constants.
///
/// With `TURNED`, `c` is in tiles of the transposes of the sums: rows of `b` are rows of `c`. With `PRECISE` 1, what tensor cores sum up
/// at once is one step: the products of 8-bit floats, which they sum up to some 14 bits, are then added to sums of the full type.
/// Tiles are dealt out in bands of `BAND` rows of tiles.
pub(super) struct Way<const TURNED: bool, const PRECISE: usize, const BAND: u32>;

/// A source that is read as its transpose: a left factor that is stored K x M, or a right one that is stored N x K.
#[derive(Clone, Copy)]
pub struct Transposed<X>(pub X);

/// A left factor in memory for blocks `B`, M x K in tiles of `(M, K)`: a [`TileSource`] of such tiles, or [`Transposed`] of one of `(K, M)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no left factor in tiles of ({M}, {K})",
    label = "expected a `TileSource` of these tiles, or `Transposed` of one of the transposed tiles"
)]
pub trait LeftSource<M: Dimension, K: Dimension, B: Block>: Copy + Send + 'static {
    /// Its elements.
    type Element: Element;
    /// A tile's stage.
    type Stage: Message;
    /// A tile, named and not loaded.
    type Tile: Fills<Self::Stage>;
    /// A tile as a product takes it.
    type Factor<'k>: LeftFactor<'k, M, K, B, Element = Self::Element>;
    /// Matrices.
    fn batches(&self) -> u32;
    /// Tiles along M, a partial one included.
    fn tile_rows(&self) -> u32;
    /// Tiles along K, a partial one included.
    fn steps(&self) -> u32;
    /// Tile `k` along K of row `i` of tiles of matrix `batch`.
    fn tile(&self, batch: u32, i: u32, k: u32) -> Self::Tile;
    /// The factor in a stage.
    fn factor<'k>(stage: <Self::Stage as Message>::Stages<'k>) -> Self::Factor<'k>;
}

/// A right factor in memory, K x N in tiles of `(K, N)`: a [`TileSource`] of such tiles, or [`Transposed`] of one of `(N, K)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no right factor in tiles of ({K}, {N})",
    label = "expected a `TileSource` of these tiles, or `Transposed` of one of the transposed tiles"
)]
pub trait RightSource<K: Dimension, N: Dimension>: Copy + Send + 'static {
    /// Its elements.
    type Element: Repack;
    /// A tile's stage.
    type Stage: Message;
    /// A tile, named and not loaded.
    type Tile: Fills<Self::Stage>;
    /// A tile as a product takes it.
    type Factor<'k>: StagedFactor<'k, K, N, Element = Self::Element>;
    /// Matrices.
    fn batches(&self) -> u32;
    /// Tiles along N, a partial one included.
    fn tile_columns(&self) -> u32;
    /// Tile `k` along K of column `j` of tiles of matrix `batch`.
    fn tile(&self, batch: u32, j: u32, k: u32) -> Self::Tile;
    /// The factor in a stage.
    fn factor<'k>(stage: <Self::Stage as Message>::Stages<'k>) -> Self::Factor<'k>;
}

macro_rules! left {
    ($source:ty, $shape:ty, $factor:ty, |$self:ident| $tiles:expr, $rows:tt $steps:tt, |$i:ident, $k:ident| ($row:expr, $column:expr), $wrap:expr) => {
        impl<T: Element, M: Dimension, K: Dimension, B: Block> LeftSource<M, K, B> for $source {
            type Element = T;
            type Stage = Staged<T, $shape>;
            type Tile = SourceTile<T, $shape>;
            type Factor<'k> = $factor;
            #[inline(always)]
            fn batches(&$self) -> u32 {
                $tiles.batches()
            }
            #[inline(always)]
            fn tile_rows(&$self) -> u32 {
                $tiles.tile_counts().$rows
            }
            #[inline(always)]
            fn steps(&$self) -> u32 {
                $tiles.tile_counts().$steps
            }
            #[inline(always)]
            fn tile(&$self, batch: u32, $i: u32, $k: u32) -> SourceTile<T, $shape> {
                $tiles.tile_of(batch, $row, $column)
            }
            #[inline(always)]
            fn factor<'k>(stage: <Self::Stage as Message>::Stages<'k>) -> Self::Factor<'k> {
                ($wrap)(stage)
            }
        }
    };
}
left!(TileSource<T, (M, K)>, (M, K), Stage<'k, T, (M, K)>, |self| self, 0 1, |i, k| (i, k), |stage| stage);
left!(
    Transposed<TileSource<T, (K, M)>>,
    (K, M),
    TransposedStage<Stage<'k, T, (K, M)>>,
    |self| self.0,
    1 0,
    |i, k| (k, i),
    Stage::transposed
);

macro_rules! right {
    ($source:ty, $shape:ty, $factor:ty, |$self:ident| $tiles:expr, $columns:tt, |$j:ident, $k:ident| ($row:expr, $column:expr), $wrap:expr) => {
        impl<T: Repack, K: Dimension, N: Dimension> RightSource<K, N> for $source {
            type Element = T;
            type Stage = Staged<T, $shape>;
            type Tile = SourceTile<T, $shape>;
            type Factor<'k> = $factor;
            #[inline(always)]
            fn batches(&$self) -> u32 {
                $tiles.batches()
            }
            #[inline(always)]
            fn tile_columns(&$self) -> u32 {
                $tiles.tile_counts().$columns
            }
            #[inline(always)]
            fn tile(&$self, batch: u32, $j: u32, $k: u32) -> SourceTile<T, $shape> {
                $tiles.tile_of(batch, $row, $column)
            }
            #[inline(always)]
            fn factor<'k>(stage: <Self::Stage as Message>::Stages<'k>) -> Self::Factor<'k> {
                ($wrap)(stage)
            }
        }
    };
}
right!(TileSource<T, (K, N)>, (K, N), Stage<'k, T, (K, N)>, |self| self, 1, |j, k| (k, j), |stage| stage);
right!(
    Transposed<TileSource<T, (N, K)>>,
    (N, K),
    TransposedStage<Stage<'k, T, (N, K)>>,
    |self| self.0,
    0,
    |j, k| (j, k),
    Stage::transposed
);

/// `c = epilogue(a b)`: the body of a kernel of 128 or 256 threads and a copying warp.
///
/// The blocks share the tiles of `c`. The epilogue gets each block's tile of sums, in the layout of tensor cores, and the
/// tile of `c` that its result goes to: [`SinkTile::index`] says which it is, [`SinkTile::load`] has what was there before.
/// `a` and `b` are a matrix each, or a batch of as many as `c`; one matrix serves all of a batch. Sums are of type `C`.
///
/// The module's [example](super) is a kernel with an epilogue of its own.
#[inline(always)]
pub fn product<B, X, Y, C, O, M, N, K, E, const STAGES: usize, const GROUPS: usize>(
    block: Split<B>,
    a: X,
    b: Y,
    c: TileSink<O, (M, N)>,
    ring: Ring<(X::Stage, Y::Stage), STAGES>,
    stash: Stash<GROUPS>,
    epilogue: E,
) where
    B: Block,
    X: LeftSource<M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: RightSource<K, N>,
    C: Number,
    O: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    E: Fn(Cx<B>, Tile<C, (M, N), Accumulators<B>>, &SinkTile<O, (M, N)>) -> Tile<O, (M, N), Accumulators<B>>
        + 'static,
{
    parts_of_product(block, a, b, c, Portion::ALL, Way::<false, 0, BAND>, ring, stash, epilogue);
}

/// As [`product`], of which a launch computes the `portion`, in this `way`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "those of `product`")]
pub(super) fn parts_of_product<
    B,
    X,
    Y,
    C,
    O,
    M,
    N,
    P,
    Q,
    K,
    L,
    E,
    const STAGES: usize,
    const GROUPS: usize,
    const TURNED: bool,
    const PRECISE: usize,
    const BAND: u32,
>(
    block: Split<B>,
    a: X,
    b: Y,
    c: TileSink<O, (P, Q)>,
    portion: Portion,
    way: Way<TURNED, PRECISE, BAND>,
    ring: Ring<(X::Stage, Y::Stage), STAGES>,
    stash: Stash<GROUPS>,
    epilogue: E,
) where
    B: Block,
    X: LeftSource<M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: RightSource<K, N>,
    C: Number,
    O: Element,
    M: Dimension,
    N: Dimension,
    P: Dimension,
    Q: Dimension,
    K: Dimension,
    L: Layout<Block = B>,
    E: Fn(Cx<B>, Tile<C, (M, N), Accumulators<B>>, &SinkTile<O, (P, Q)>) -> Tile<O, (P, Q), L> + 'static,
{
    let Way = way;
    let order = Swizzled::<BAND>;
    let portion = portion.of_kernel::<C, O>();
    let (a_batches, b_batches) = (a.batches(), b.batches());
    let tile_counts = c.tile_counts();
    let tiles = block.deal(c, order);
    let (steps, blocks, own) = (a.steps(), block.num_blocks(0), *block.bid::<0>());
    let counts = move || {
        let (rows, columns) = (a.tile_rows(), b.tile_columns());
        if TURNED { [columns, rows] } else { [rows, columns] }
    };
    let work = Work::new(portion, order, counts, steps, [own, blocks]);
    let feed = block.indices(order, tile_counts).take(work.tiles).flat_map(move |index| {
        let Share { tile: [batch, i, j], first, count } = work.share(index);
        let (i, j) = if TURNED { (j, i) } else { (i, j) };
        // One matrix serves the whole batch.
        let (of_a, of_b) = (if a_batches == 1 { 0 } else { batch }, if b_batches == 1 { 0 } else { batch });
        (first..first + count).map(move |k| (a.tile(of_a, i, k), b.tile(of_b, j, k)))
    });
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in tiles.take(work.tiles) {
            let [matrix, ..] = tile.index();
            let sums = receiver.steps(work.steps(matrix)).sum(cx, |sums, (a, b)| {
                let (a, b) = (X::factor(a), Y::factor(b));
                if const { PRECISE == 1 } { sums.mma_precisely(a, b) } else { sums.mma(a, b) }
            });
            let result = epilogue(cx, sums, &tile);
            tile.store(&mut stash, result);
        }
    });
}
