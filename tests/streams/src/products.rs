//! Matrix products: every combination of element types, with each operand K-major or MN-major.

use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::memory::StageLayout;
use cuda_tiles::mma::{Accumulation, KLoopElement};
use cuda_tiles::pipeline::StageLoad;
use cuda_tiles::prelude::*;

/// The body of all these kernels: `store` gets each tile of `c`, and the sums of products that belong there. `steps` counts the tiles
/// along k. `tiles` gives the loads of both operands for a tile of `c`.
#[inline_on_device]
#[allow(clippy::too_many_arguments, reason = "the parts of a pipelined kernel")]
fn multiply<B, R, I, T, U, C, S, O, P, Q, const STAGES: usize>(
    roles: WarpRoles<B>,
    ring: Ring<R, STAGES>,
    steps: u32,
    tiles: impl Fn(u32, u32) -> I + Send + 'static,
    c: TmaStore<O, (P, Q)>,
    product: impl for<'k> Fn(&mut Accumulation<'_, T, U, C, S, B>, R::Tiles<'k>) + Send + 'static,
    mut store: impl FnMut(StoreTile<O, (P, Q)>, Tile<C, S, Accumulators<B>>) + 'static,
) where
    B: Block,
    R: StageLayout,
    I: IntoIterator<Item: StageLoad<R>>,
    T: KLoopElement<U, Accumulator = C>,
    U: Repack,
    C: Number,
    S: Shape,
    O: Element,
    P: Dimension,
    Q: Dimension,
{
    let loads = roles.tile_indices(Grouped::<8>, c.tile_counts()).flat_map(move |[_, i, j]| tiles(i, j));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in c.schedule(cx, Grouped::<8>) {
            let sums = consumer.k_loop(steps).accumulate(|acc, tiles| product(acc, tiles));
            store(tile, sums);
        }
    });
}

/// Kernels that multiply matrices, each either as it is or transposed.
macro_rules! products {
    ($(
        $(#[$documentation:meta])*
        $name:ident: $walk_a:ident($depth:tt) [$rows_a:ident, $columns_a:ident] $(.$transpose_a:ident)?,
        $walk_b:ident [$rows_b:ident, $columns_b:ident] $(.$transpose_b:ident)?,
        $instances:tt;
    )*) => { $(
        $(#[$documentation])*
        #[kernel(threads = 128, producer = 32, min_blocks = 1, instances $instances)]
        pub fn $name<
            B: Block,
            T: KLoopElement<U, Accumulator = C>,
            U: Repack,
            C: Number + Cast<O>,
            O: Element,
            const M: usize,
            const N: usize,
            const K: usize,
            const S: usize,
        >(
            roles: WarpRoles<B>,
            a: TmaLoad<T, Shape2<$rows_a, $columns_a>>,
            b: TmaLoad<U, Shape2<$rows_b, $columns_b>>,
            c: TmaStore<O, Shape2<M, N>>,
            #[shared] ring: Ring<
                (SharedTile<T, Shape2<$rows_a, $columns_a>>, SharedTile<U, Shape2<$rows_b, $columns_b>>),
                S,
            >,
            #[shared] mut buffer: EpilogueBuffer<1>,
        ) where
            D<M>: Dimension,
            D<N>: Dimension,
            D<K>: Dimension,
        {
            multiply(
                roles,
                ring,
                a.tile_counts().$depth,
                move |i, j| a.$walk_a(i).zip(b.$walk_b(j)),
                c,
                |acc, (a, b)| acc.mma(a$(.$transpose_a())?, b$(.$transpose_b())?),
                move |tile, sums: Tile<C, _, _>| tile.store(&mut buffer, sums.cast::<O>()),
            );
        }
    )* };
}
products! {
    /// `c = a b`, both row-major: A is K-major, B is MN-major.
    streamed_nn: row(1) [M, K], column [K, N], (
        <f16, f16, f32, f16, 64, 64, 64, 3>, <f64, f64, f64, f64, 64, 64, 16, 4>, <i8, u8, i32, i32, 64, 64, 64, 2>
    );
    /// `c = a b'`, both row-major: A and B are K-major.
    streamed_nt: row(1) [M, K], row [N, K].transposed, (
        <bf16, bf16, f32, bf16, 64, 64, 64, 3>, <tf32, tf32, f32, f32, 64, 64, 32, 3>,
        <f8e4m3, f8e4m3, f32, f16, 64, 64, 64, 4>, <f8e5m2, f8e5m2, f32, f32, 64, 64, 32, 0>,
        <i8, i8, i32, i32, 64, 64, 64, 3>, <u8, u8, i32, i32, 128, 32, 128, 2>
    );
    /// `c = a' b`, both row-major: A and B are MN-major.
    streamed_tn: column(0) [K, M].transposed, column [K, N], (
        <f16, f16, f32, f32, 128, 64, 16, 5>, <tf32, tf32, f32, f32, 64, 32, 32, 2>
    );
    /// `c = a' b'`, both row-major: A is MN-major, B is K-major.
    streamed_tt: column(0) [K, M].transposed, row [N, K].transposed, (
        <bf16, bf16, f32, f32, 64, 128, 32, 0>, <u8, i8, i32, i32, 64, 64, 32, 3>,
        <tf32, tf32, f32, f32, 64, 64, 32, 3>, <tf32, tf32, f32, f32, 128, 32, 8, 2>
    );
}

/// `c = a b` with A and B swapped: computes `b' a'` and stores the transposed accumulators. Both operands are row-major.
#[kernel(
    threads = 128,
    producer = 32,
    min_blocks = 1,
    instances(
        <tf32, f32, f32, 128, 64, 32, 3>, <tf32, f32, f16, 64, 128, 16, 2>, <f16, f32, f16, 64, 64, 64, 3>,
        <bf16, f32, f32, 32, 64, 32, 0>, <f64, f64, f64, 64, 64, 16, 2>
    )
)]
pub fn streamed_swap_ab<
    B: Block,
    T: KLoopElement<T, Accumulator = C>,
    C: Number + Cast<O>,
    O: Element,
    const M: usize,
    const N: usize,
    const K: usize,
    const S: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<T, Shape2<K, N>>,
    c: TmaStore<O, Shape2<M, N>>,
    #[shared] ring: Ring<(SharedTile<T, Shape2<M, K>>, SharedTile<T, Shape2<K, N>>), S>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    multiply(
        roles,
        ring,
        a.tile_counts().1,
        move |i, j| a.row(i).zip(b.column(j)),
        c,
        |acc, (a, b)| acc.mma(b.transposed(), a.transposed()),
        |tile, sums: Tile<C, (D<N>, D<M>), _>| {
            tile.store_directly(sums.transposed_accumulators().cast::<O>())
        },
    );
}

/// `c = a b'` with promoted accumulation: sums with all bits of `f32`.
#[kernel(
    threads = 128,
    producer = 32,
    min_blocks = 1,
    instances(<f8e4m3, 64, 64, 64, 3>, <f8e4m3, 64, 32, 64, 2>, <f8e5m2, 128, 32, 32, 0>, <bf16, 64, 64, 64, 2>)
)]
pub fn streamed_promoted<
    B: Block,
    T: KLoopElement<T, Accumulator = f32>,
    const M: usize,
    const N: usize,
    const K: usize,
    const S: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<T, Shape2<N, K>>,
    c: TmaStore<f32, Shape2<M, N>>,
    #[shared] ring: Ring<(SharedTile<T, Shape2<M, K>>, SharedTile<T, Shape2<N, K>>), S>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let steps = a.tile_counts().1;
    let loads =
        roles.tile_indices(Grouped::<8>, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in c.schedule(cx, Grouped::<8>) {
            let sums = consumer.k_loop(steps).accumulate_promoted(|acc, (a, b)| acc.mma(a, b.transposed()));
            tile.store(&mut buffer, sums);
        }
    });
}
