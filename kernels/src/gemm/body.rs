//! The one body of all streamed products.

use cuda_tiles::prelude::*;
use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::memory::{SharedOperand, SharedTileRef, StageLayout, Transposed as TransposedStage};
use cuda_tiles::mma::{KLoopElement, OperandA};
use cuda_tiles::pipeline::{LoadTile, StageLoad};

use super::work::{Portion, Share, Work};

/// Rows of tiles in a band of the order in which tiles are dealt out: of some 2048 rows, blocks that work at the same time share about
/// as much of `a` as of `b`. This is for tiles of 128 rows. *Measured:* bands twice as high cost 4 % of TF32 products of 8192^3.
pub(super) const BAND: u32 = 16;
/// The order in which those tiles are dealt out to the blocks.
pub(super) const ORDER: Grouped<BAND> = Grouped;

/// How a kernel multiplies, for its constants.
///
/// With `TURNED`, `c` is in tiles of the transposes of the sums: rows of `b` are rows of `c`. With `PRECISE` 1, what tensor cores sum up
/// at once is one step: the products of 8-bit floats, which they sum up to some 14 bits, are then added to sums of the full type.
/// Tiles are dealt out in bands of `BAND` rows of tiles.
pub(super) struct Way<const TURNED: bool, const PRECISE: usize, const BAND: u32>;

/// A source that is read as its transpose: a left factor that is stored K x M, or a right one that is stored N x K.
#[derive(Clone, Copy)]
pub struct Transposed<X>(pub X);

/// A left factor in memory for blocks `B`, M x K in tiles of `(M, K)`: a [`TmaLoad`] of such tiles, or [`Transposed`] of one of `(K, M)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no left factor in tiles of ({M}, {K})",
    label = "expected a `TmaLoad` of these tiles, or `Transposed` of one of the transposed tiles"
)]
pub trait LeftSource<M: Dimension, K: Dimension, B: Block>: Copy + Send + 'static {
    /// Its elements.
    type Element: Element;
    /// A tile's stage.
    type Stage: StageLayout;
    /// A tile, named and not loaded.
    type Tile: StageLoad<Self::Stage>;
    /// A tile as a product takes it.
    type Factor<'k>: OperandA<'k, M, K, B, Element = Self::Element>;
    /// Matrices.
    fn batches(&self) -> u32;
    /// Tiles along M, a partial one included.
    fn tile_rows(&self) -> u32;
    /// Tiles along K, a partial one included.
    fn steps(&self) -> u32;
    /// Tile `k` along K of row `i` of tiles of matrix `batch`.
    fn tile(&self, batch: u32, i: u32, k: u32) -> Self::Tile;
    /// The factor in a stage.
    fn factor<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Factor<'k>;
}

/// A right factor in memory, K x N in tiles of `(K, N)`: a [`TmaLoad`] of such tiles, or [`Transposed`] of one of `(N, K)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no right factor in tiles of ({K}, {N})",
    label = "expected a `TmaLoad` of these tiles, or `Transposed` of one of the transposed tiles"
)]
pub trait RightSource<K: Dimension, N: Dimension>: Copy + Send + 'static {
    /// Its elements.
    type Element: Repack;
    /// A tile's stage.
    type Stage: StageLayout;
    /// A tile, named and not loaded.
    type Tile: StageLoad<Self::Stage>;
    /// A tile as a product takes it.
    type Factor<'k>: SharedOperand<'k, K, N, Element = Self::Element>;
    /// Matrices.
    fn batches(&self) -> u32;
    /// Tiles along N, a partial one included.
    fn tile_columns(&self) -> u32;
    /// Tile `k` along K of column `j` of tiles of matrix `batch`.
    fn tile(&self, batch: u32, j: u32, k: u32) -> Self::Tile;
    /// The factor in a stage.
    fn factor<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Factor<'k>;
}

macro_rules! left {
    ($source:ty, $shape:ty, $factor:ty, |$self:ident| $tiles:expr, $rows:tt $steps:tt, |$i:ident, $k:ident| ($row:expr, $column:expr), $wrap:expr) => {
        impl<T: Element, M: Dimension, K: Dimension, B: Block> LeftSource<M, K, B> for $source {
            type Element = T;
            type Stage = SharedTile<T, $shape>;
            type Tile = LoadTile<T, $shape>;
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
            fn tile(&$self, batch: u32, $i: u32, $k: u32) -> LoadTile<T, $shape> {
                $tiles.tile_of(batch, $row, $column)
            }
            #[inline(always)]
            fn factor<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Factor<'k> {
                ($wrap)(stage)
            }
        }
    };
}
left!(TmaLoad<T, (M, K)>, (M, K), SharedTileRef<'k, T, (M, K)>, |self| self, 0 1, |i, k| (i, k), |stage| stage);
left!(
    Transposed<TmaLoad<T, (K, M)>>,
    (K, M),
    TransposedStage<SharedTileRef<'k, T, (K, M)>>,
    |self| self.0,
    1 0,
    |i, k| (k, i),
    SharedTileRef::transposed
);

macro_rules! right {
    ($source:ty, $shape:ty, $factor:ty, |$self:ident| $tiles:expr, $columns:tt, |$j:ident, $k:ident| ($row:expr, $column:expr), $wrap:expr) => {
        impl<T: Repack, K: Dimension, N: Dimension> RightSource<K, N> for $source {
            type Element = T;
            type Stage = SharedTile<T, $shape>;
            type Tile = LoadTile<T, $shape>;
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
            fn tile(&$self, batch: u32, $j: u32, $k: u32) -> LoadTile<T, $shape> {
                $tiles.tile_of(batch, $row, $column)
            }
            #[inline(always)]
            fn factor<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Factor<'k> {
                ($wrap)(stage)
            }
        }
    };
}
right!(TmaLoad<T, (K, N)>, (K, N), SharedTileRef<'k, T, (K, N)>, |self| self, 1, |j, k| (k, j), |stage| stage);
right!(
    Transposed<TmaLoad<T, (N, K)>>,
    (N, K),
    TransposedStage<SharedTileRef<'k, T, (N, K)>>,
    |self| self.0,
    0,
    |j, k| (j, k),
    SharedTileRef::transposed
);

/// `c = epilogue(a b)`: the body of a kernel of 128 or 256 threads and a copying warp.
///
/// The blocks share the tiles of `c`. The epilogue gets each block's tile of sums, in the layout of tensor cores, and the
/// tile of `c` that its result goes to: [`StoreTile::index`] says which it is, [`StoreTile::load`] has what was there before.
/// `a` and `b` are a matrix each, or a batch of as many as `c`; one matrix serves all of a batch. Sums are of type `C`.
///
/// The module's [example](super) is a kernel with an epilogue of its own.
#[inline(always)]
pub fn product<B, X, Y, C, O, M, N, K, E, const STAGES: usize, const GROUPS: usize>(
    roles: WarpRoles<B>,
    a: X,
    b: Y,
    c: TmaStore<O, (M, N)>,
    ring: Ring<(X::Stage, Y::Stage), STAGES>,
    buffer: EpilogueBuffer<GROUPS>,
    epilogue: E,
) where
    B: Block,
    X: LeftSource<M, K, B, Element: KLoopElement<Y::Element, Accumulator = C>>,
    Y: RightSource<K, N>,
    C: Number,
    O: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    E: Fn(Cx<B>, Tile<C, (M, N), Accumulators<B>>, &StoreTile<O, (M, N)>) -> Tile<O, (M, N), Accumulators<B>>
        + 'static,
{
    parts_of_product(roles, a, b, c, Portion::ALL, Way::<false, 0, BAND>, ring, buffer, epilogue);
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
    roles: WarpRoles<B>,
    a: X,
    b: Y,
    c: TmaStore<O, (P, Q)>,
    portion: Portion,
    way: Way<TURNED, PRECISE, BAND>,
    ring: Ring<(X::Stage, Y::Stage), STAGES>,
    buffer: EpilogueBuffer<GROUPS>,
    epilogue: E,
) where
    B: Block,
    X: LeftSource<M, K, B, Element: KLoopElement<Y::Element, Accumulator = C>>,
    Y: RightSource<K, N>,
    C: Number,
    O: Element,
    M: Dimension,
    N: Dimension,
    P: Dimension,
    Q: Dimension,
    K: Dimension,
    L: Layout<Block = B>,
    E: Fn(Cx<B>, Tile<C, (M, N), Accumulators<B>>, &StoreTile<O, (P, Q)>) -> Tile<O, (P, Q), L> + 'static,
{
    let Way = way;
    let order = Grouped::<BAND>;
    let portion = portion.of_kernel::<C, O>();
    let (a_batches, b_batches) = (a.batches(), b.batches());
    let tile_counts = c.tile_counts();
    let tiles = roles.schedule(c, order);
    let (steps, blocks, own) = (a.steps(), roles.num_blocks(0), *roles.bid::<0>());
    let counts = move || {
        let (rows, columns) = (a.tile_rows(), b.tile_columns());
        if TURNED { [columns, rows] } else { [rows, columns] }
    };
    let work = Work::new(portion, order, counts, steps, [own, blocks]);
    let feed = roles.tile_indices(order, tile_counts).take(work.tiles).flat_map(move |index| {
        let Share { tile: [batch, i, j], first, count } = work.share(index);
        let (i, j) = if TURNED { (j, i) } else { (i, j) };
        // One matrix serves the whole batch.
        let (of_a, of_b) = (if a_batches == 1 { 0 } else { batch }, if b_batches == 1 { 0 } else { batch });
        (first..first + count).map(move |k| (a.tile(of_a, i, k), b.tile(of_b, j, k)))
    });
    roles.pipeline(ring, feed, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in tiles.take(work.tiles) {
            let [matrix, ..] = tile.index();
            let sums = consumer.k_loop(work.steps(matrix)).accumulate(cx, |sums, (a, b)| {
                let (a, b) = (X::factor(a), Y::factor(b));
                if const { PRECISE == 1 } { sums.mma_promoted(a, b) } else { sums.mma(a, b) }
            });
            let result = epilogue(cx, sums, &tile);
            tile.store(&mut buffer, result);
        }
    });
}
