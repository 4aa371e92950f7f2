//! The body that all matrix multiplications share: a persistent kernel of producer and consumer warps.
//!
//! The producer loads the tiles of operands A and B, one k step after the other. The consumers multiply them and pass the accumulators of
//! each work tile to the epilogue. [`TileScheduler`] says which k steps of which tiles belong to a block.

use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::memory::{SharedOperand, SharedTileRef, StageLayout, Transposed as TransposedStage};
use cuda_tiles::mma::{KLoopElement, OperandA};
use cuda_tiles::pipeline::{LoadTile, StageLoad};
use cuda_tiles::prelude::*;

use super::scheduler::{TileRange, TileScheduler, WorkTile};

/// Rows of tiles in a group of the tile order, for tiles of 128 rows.
///
/// A group has 2048 rows. Blocks that run at the same time then share about as many rows of `a` as columns of `b`. *Measured:* groups
/// twice as high cost 4 % of TF32 products of 8192^3.
pub(super) const GROUP: u32 = 16;
/// The tile order of all kernels but [`swap_ab`](super::swap_ab).
pub(super) const ORDER: Grouped<GROUP> = Grouped;

/// The configuration of a kernel, in constants that the compiler knows.
pub(super) trait Config {
    /// Whether operands A and B are swapped: the accumulators are transposes of the tiles of `c`.
    const SWAP_AB: bool;
    /// Whether accumulation is promoted. Tensor cores then add up the products of one k step, to some 14 bits for 8-bit floats. The
    /// threads add the result to accumulators of the full type.
    const PROMOTED: bool;
    /// The type of the tile order.
    type Order: TileOrder + Send;
    /// The tile order.
    const ORDER: Self::Order;
}

/// A [`Config`] with groups of `GROUP` rows of tiles.
pub(super) struct GemmConfig<const GROUP: u32, const SWAP_AB: bool, const PROMOTED: bool>;

impl<const GROUP: u32, const SWAP_AB: bool, const PROMOTED: bool> Config
    for GemmConfig<GROUP, SWAP_AB, PROMOTED>
{
    const SWAP_AB: bool = SWAP_AB;
    const PROMOTED: bool = PROMOTED;
    type Order = Grouped<GROUP>;
    const ORDER: Grouped<GROUP> = Grouped;
}

/// An operand that memory holds as its transpose: operand A stored K x M, or operand B stored N x K.
///
/// [`product`] takes it in place of the [`TmaLoad`] inside.
#[derive(Clone, Copy)]
pub struct Transposed<X>(pub X);

/// Operand A in memory: a [`TmaLoad`] of tiles of `(M, K)`, or [`Transposed`] of a [`TmaLoad`] of tiles of `(K, M)`.
///
/// [`product`] takes operand A as any type of this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand A in tiles of ({M}, {K})",
    label = "expected a `TmaLoad` of these tiles, or `Transposed` of one of the transposed tiles"
)]
pub trait LoadOperandA<M: Dimension, K: Dimension, B: Block>: Copy + Send + 'static {
    /// The type of its elements.
    type Element: Element;
    /// What one slot of the ring holds of this operand.
    type Stage: StageLayout;
    /// A tile that a producer can load.
    type Tile: StageLoad<Self::Stage>;
    /// A tile in shared memory, as `mma` takes it.
    type Operand<'k>: OperandA<'k, M, K, B, Element = Self::Element>;
    /// The number of matrices.
    fn batches(&self) -> u32;
    /// The number of tiles along M, a partial tile included.
    fn tile_rows(&self) -> u32;
    /// The number of k steps: tiles along K, a partial tile included.
    fn steps(&self) -> u32;
    /// Tile `k` of row `i` of tiles, in matrix `batch`; [`kept`](LoadTile::kept) if its stage has it.
    fn tile(&self, batch: u32, i: u32, k: u32, is_kept: bool) -> Self::Tile;
    /// The tile of the first block of a cluster, of which each row or column of blocks has other rows: see [`LoadTile::for_each_block`].
    fn for_each_block<const BLOCKS: usize>(tile: Self::Tile) -> Self::Tile;
    /// The operand that a stage holds.
    fn operand<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Operand<'k>;
}

/// Operand B in memory: a [`TmaLoad`] of tiles of `(K, N)`, or [`Transposed`] of a [`TmaLoad`] of tiles of `(N, K)`.
///
/// [`product`] takes operand B as any type of this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand B in tiles of ({K}, {N})",
    label = "expected a `TmaLoad` of these tiles, or `Transposed` of one of the transposed tiles"
)]
pub trait LoadOperandB<K: Dimension, N: Dimension>: Copy + Send + 'static {
    /// The type of its elements.
    type Element: Repack;
    /// What one slot of the ring holds of this operand.
    type Stage: StageLayout;
    /// A tile that a producer can load.
    type Tile: StageLoad<Self::Stage>;
    /// A tile in shared memory, as `mma` takes it.
    type Operand<'k>: SharedOperand<'k, K, N, Element = Self::Element>;
    /// The number of matrices.
    fn batches(&self) -> u32;
    /// The number of tiles along N, a partial tile included.
    fn tile_columns(&self) -> u32;
    /// Tile `k` of column `j` of tiles, in matrix `batch`; [`kept`](LoadTile::kept) if its stage has it.
    fn tile(&self, batch: u32, j: u32, k: u32, is_kept: bool) -> Self::Tile;
    /// The tile of the first block of a cluster, of which each row or column of blocks has other columns: see [`LoadTile::for_each_block`].
    fn for_each_block<const BLOCKS: usize>(tile: Self::Tile) -> Self::Tile;
    /// The operand that a stage holds.
    fn operand<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Operand<'k>;
}

macro_rules! load_operand_a {
    ($source:ty, $shape:ty, $operand:ty, |$self:ident| $tiles:expr, $axis:tt $steps:tt, |$i:ident, $k:ident| ($row:expr, $column:expr), $unset:ident, $wrap:expr) => {
        impl<T: Element, M: Dimension, K: Dimension, B: Block> LoadOperandA<M, K, B> for $source {
            type Element = T;
            type Stage = SharedTile<T, $shape>;
            type Tile = LoadTile<T, $shape>;
            type Operand<'k> = $operand;
            #[inline_on_device]
            fn batches(&$self) -> u32 {
                $tiles.batches()
            }
            #[inline_on_device]
            fn tile_rows(&$self) -> u32 {
                $tiles.tile_counts().$axis
            }
            #[inline_on_device]
            fn steps(&$self) -> u32 {
                $tiles.tile_counts().$steps
            }
            #[inline_on_device]
            fn tile(&$self, batch: u32, $i: u32, $k: u32, is_kept: bool) -> LoadTile<T, $shape> {
                $tiles.tile_of(batch, $row, $column).$unset().kept(is_kept)
            }
            #[inline_on_device]
            fn for_each_block<const BLOCKS: usize>(tile: LoadTile<T, $shape>) -> LoadTile<T, $shape> {
                tile.for_each_block::<BLOCKS, $axis>()
            }
            #[inline_on_device]
            fn operand<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Operand<'k> {
                ($wrap)(stage)
            }
        }
    };
}
load_operand_a!(TmaLoad<T, (M, K)>, (M, K), SharedTileRef<'k, T, (M, K)>, |self| self, 0 1, |i, k| (i, k), unset_outside_rows, |stage| stage);
load_operand_a!(
    Transposed<TmaLoad<T, (K, M)>>,
    (K, M),
    TransposedStage<SharedTileRef<'k, T, (K, M)>>,
    |self| self.0,
    1 0,
    |i, k| (k, i),
    unset_outside_columns,
    SharedTileRef::transposed
);

macro_rules! load_operand_b {
    ($source:ty, $shape:ty, $operand:ty, |$self:ident| $tiles:expr, $axis:tt, |$j:ident, $k:ident| ($row:expr, $column:expr), $unset:ident, $wrap:expr) => {
        impl<T: Repack, K: Dimension, N: Dimension> LoadOperandB<K, N> for $source {
            type Element = T;
            type Stage = SharedTile<T, $shape>;
            type Tile = LoadTile<T, $shape>;
            type Operand<'k> = $operand;
            #[inline_on_device]
            fn batches(&$self) -> u32 {
                $tiles.batches()
            }
            #[inline_on_device]
            fn tile_columns(&$self) -> u32 {
                $tiles.tile_counts().$axis
            }
            #[inline_on_device]
            fn tile(&$self, batch: u32, $j: u32, $k: u32, is_kept: bool) -> LoadTile<T, $shape> {
                $tiles.tile_of(batch, $row, $column).$unset().kept(is_kept)
            }
            #[inline_on_device]
            fn for_each_block<const BLOCKS: usize>(tile: LoadTile<T, $shape>) -> LoadTile<T, $shape> {
                tile.for_each_block::<BLOCKS, $axis>()
            }
            #[inline_on_device]
            fn operand<'k>(stage: <Self::Stage as StageLayout>::Tiles<'k>) -> Self::Operand<'k> {
                ($wrap)(stage)
            }
        }
    };
}
load_operand_b!(TmaLoad<T, (K, N)>, (K, N), SharedTileRef<'k, T, (K, N)>, |self| self, 1, |j, k| (k, j), unset_outside_columns, |stage| stage);
load_operand_b!(
    Transposed<TmaLoad<T, (N, K)>>,
    (N, K),
    TransposedStage<SharedTileRef<'k, T, (N, K)>>,
    |self| self.0,
    0,
    |j, k| (j, k),
    unset_outside_rows,
    SharedTileRef::transposed
);

/// `c = epilogue(a b)`: the body of a persistent kernel of 128 or 256 consumer threads and a producer warp.
///
/// The module's [example](super#a-kernel-of-your-own) is a kernel that calls it. The blocks of the grid share the tiles of `c`. For
/// each tile the epilogue gets the accumulators, in the layout of tensor cores, and the tile of `c` that its result goes to.
/// [`StoreTile::index`] is the position of this tile. [`StoreTile::load`] loads its previous elements.
///
/// # Shapes
///
/// A tile of `a` is `(M, K)`, a tile of `b` is `(K, N)`, and a tile of `c` is `(M, N)`. Each of `a` and `b` is one matrix or a batch of as
/// many matrices as `c`. One matrix serves the whole batch. The accumulators are of type [`AccumulatorOf`].
#[inline_on_device]
pub fn product<B, X, Y, O, M, N, K, E, const STAGES: usize, const WARPGROUPS: usize>(
    roles: WarpRoles<B>,
    a: X,
    b: Y,
    c: TmaStore<O, (M, N)>,
    ring: Ring<(X::Stage, Y::Stage), STAGES>,
    buffer: EpilogueBuffer<WARPGROUPS>,
    epilogue: E,
) where
    B: Block,
    X: LoadOperandA<M, K, B, Element: KLoopElement<Y::Element>>,
    Y: LoadOperandB<K, N>,
    O: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    E: Fn(
            Cx<B>,
            Tile<AccumulatorOf<X::Element, Y::Element>, (M, N), Accumulators<B>>,
            &StoreTile<O, (M, N)>,
        ) -> Tile<O, (M, N), Accumulators<B>>
        + 'static,
{
    let mut buffer = buffer;
    gemm_body(
        roles,
        a,
        b,
        c,
        TileRange::ALL,
        GemmConfig::<GROUP, false, false>,
        ring,
        move |cx, acc, tile| {
            let result = epilogue(cx, acc, &tile);
            tile.store(&mut buffer, result);
        },
    );
}

/// Whether kernels with tiles of this shape and results of so many bytes keep an operand in shared memory.
///
/// Small operands have up to 64 rows or columns. A ring whose number of stages is no constant takes 5 to 10 % of the time of other kernels, or
/// registers that they do not have. Nor have kernels that can store partial sums, whose results have the size of accumulators.
pub(super) const fn keeps(rows: usize, columns: usize, result_bytes: usize) -> bool {
    (rows <= 64 || columns <= 64) && result_bytes <= 2
}

/// The type of the accumulators for operands A and B of these element types.
pub type AccumulatorOf<T, U> = <T as KLoopElement<U>>::Accumulator;

/// As [`product`], for the tiles of `range` and with a configuration. The epilogue stores its result itself.
#[inline_on_device]
#[allow(clippy::too_many_arguments, reason = "the arguments of `product`")]
pub(super) fn gemm_body<B, X, Y, C, O, M, N, P, Q, K, E, const STAGES: usize, G>(
    roles: WarpRoles<B>,
    a: X,
    b: Y,
    c: TmaStore<O, (P, Q)>,
    range: TileRange,
    _config: G,
    ring: Ring<(X::Stage, Y::Stage), STAGES>,
    mut epilogue: E,
) where
    B: Block,
    X: LoadOperandA<M, K, B, Element: KLoopElement<Y::Element, Accumulator = C>>,
    Y: LoadOperandB<K, N>,
    C: Number,
    O: Element,
    M: Dimension,
    N: Dimension,
    P: Dimension,
    Q: Dimension,
    K: Dimension,
    E: FnMut(Cx<B>, Tile<C, (M, N), Accumulators<B>>, StoreTile<O, (P, Q)>) + 'static,
    G: Config,
{
    let range = range.of_kernel::<C, O>(const { <(M, N) as MatrixShape>::COLUMNS });
    let (a_batches, b_batches) = (a.batches(), b.batches());
    let tile_counts = c.tile_counts();
    let tiles = roles.schedule(c, G::ORDER);
    let (steps, blocks, own) = (a.steps(), roles.num_producers(), roles.producer_index());
    let counts = move || {
        let (rows, columns) = (a.tile_rows(), b.tile_columns());
        if G::SWAP_AB { [columns, rows] } else { [rows, columns] }
    };
    let scheduler = TileScheduler::new(range, G::ORDER, counts, steps, [own, blocks]);
    // Stream-K has no clusters. Without the number of their tiles there is a register more: tiles of 160 x 256 take all.
    let scheduler = if const { size_of::<C::Bits>() != size_of::<O::Bits>() && B::CLUSTER[0] * B::CLUSTER[1] > 1 }
    {
        scheduler.of_all_tiles()
    } else {
        scheduler
    };
    // An operand of one row or one column of tiles stays in shared memory, if the ring has a stage for each of its k steps. Kernels of
    // large tiles know at compile time that none does. *Measured* for 8.0 and tiles of 128 x 256: without that, 104 bytes go through local
    // memory.
    let may_keep = const {
        keeps(<(M, N) as MatrixShape>::ROWS, <(M, N) as MatrixShape>::COLUMNS, size_of::<O::Bits>())
    };
    let a_stays = may_keep && range.is_whole() && a_batches == 1 && a.tile_rows() == 1;
    let b_stays = may_keep && range.is_whole() && b_batches == 1 && b.tile_columns() == 1;
    let (ring, round) = if a_stays || b_stays { ring.with_rounds_of(steps) } else { (ring, None) };
    let (mut to_load, has_rounds) = (round.unwrap_or(0), round.is_some());
    let loads = roles.tile_indices(G::ORDER, tile_counts).take(scheduler.tiles).flat_map(move |index| {
        let WorkTile { tile: [batch, i, j], first, count } = scheduler.work_tile(index);
        let (i, j) = if G::SWAP_AB { (j, i) } else { (i, j) };
        let is_there = has_rounds && to_load == 0;
        to_load = to_load.saturating_sub(1);
        let (a_kept, b_kept) = (is_there && a_stays, is_there && b_stays);
        // One matrix serves the whole batch.
        let (a_batch, b_batch) =
            (if a_batches == 1 { 0 } else { batch }, if b_batches == 1 { 0 } else { batch });
        (first..first + count).map(move |k| {
            let (a, b) = (a.tile(a_batch, i, k, a_kept), b.tile(b_batch, j, k, b_kept));
            // Rows of blocks have other rows of `c`, and columns of blocks other columns.
            if const { G::SWAP_AB } {
                (X::for_each_block::<1>(a), Y::for_each_block::<0>(b))
            } else {
                (X::for_each_block::<0>(a), Y::for_each_block::<1>(b))
            }
        })
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in tiles.of(cx).take(scheduler.tiles) {
            let [matrix, ..] = tile.index();
            let steps = consumer.k_loop(scheduler.steps(matrix));
            let acc = if const { G::PROMOTED } {
                steps.accumulate_promoted(|acc, (a, b)| acc.mma(X::operand(a), Y::operand(b)))
            } else {
                steps.accumulate(|acc, (a, b)| acc.mma(X::operand(a), Y::operand(b)))
            };
            epilogue(cx, acc, tile);
        }
    });
}
