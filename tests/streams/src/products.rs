//! Products of matrices: every combination of types, and both ways in which either factor can lie in memory.

use cuda_tiles::prelude::*;
use cuda_tiles::memory::StageLayout;
use cuda_tiles::mma::{Accumulation, KLoopElement};
use cuda_tiles::pipeline::StageLoad;

/// `c = result(product(a, b))`: the body of all these kernels. `steps` are the tiles along the contracted axis, and `tiles` are both
/// factors' for a tile of `c`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a streamed kernel is made of")]
fn multiply<B, R, I, T, U, C, S, O, P, Q, L, const STAGES: usize, const GROUPS: usize>(
    roles: WarpRoles<B>,
    ring: Ring<R, STAGES>,
    buffer: EpilogueBuffer<GROUPS>,
    steps: u32,
    tiles: impl Fn(u32, u32) -> I + Send + 'static,
    c: TmaStore<O, (P, Q)>,
    product: impl for<'k> Fn(&mut Accumulation<'_, T, U, C, S, B>, R::Tiles<'k>) + Send + 'static,
    result: impl Fn(Tile<C, S, Accumulators<B>>) -> Tile<O, (P, Q), L> + Send + 'static,
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
    L: Layout<Block = B>,
{
    let feed = roles.tile_indices(Grouped::<8>, c.tile_counts()).flat_map(move |[_, i, j]| tiles(i, j));
    roles.pipeline(ring, feed, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in c.schedule(cx, Grouped::<8>) {
            let sums = consumer.k_loop(steps).accumulate(cx, |sums, stages| product(sums, stages));
            tile.store(&mut buffer, result(sums));
        }
    });
}

/// Kernels that multiply matrices of which each lies as it is, or transposed.
macro_rules! products {
    ($(
        $(#[$documentation:meta])*
        $name:ident: $left:ident($depth:tt) [$left_rows:ident, $left_columns:ident] $(.$left_turn:ident)?,
        $right:ident [$right_rows:ident, $right_columns:ident] $(.$right_turn:ident)?,
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
            a: TmaLoad<T, Shape2<$left_rows, $left_columns>>,
            b: TmaLoad<U, Shape2<$right_rows, $right_columns>>,
            c: TmaStore<O, Shape2<M, N>>,
            #[shared] ring: Ring<
                (SharedTile<T, Shape2<$left_rows, $left_columns>>, SharedTile<U, Shape2<$right_rows, $right_columns>>),
                S,
            >,
            #[shared] buffer: EpilogueBuffer<1>,
        ) where
            D<M>: Dimension,
            D<N>: Dimension,
            D<K>: Dimension,
        {
            multiply(
                roles,
                ring,
                buffer,
                a.tile_counts().$depth,
                move |i, j| a.$left(i).zip(b.$right(j)),
                c,
                |sums, (a, b)| sums.mma(a$(.$left_turn())?, b$(.$right_turn())?),
                |sums: Tile<C, _, _>| sums.cast::<O>(),
            );
        }
    )* };
}
products! {
    /// `c = a b`: both factors row-major, the right one read across its rows.
    streamed_nn: row(1) [M, K], column [K, N], (
        <f16, f16, f32, f16, 64, 64, 64, 3>, <f64, f64, f64, f64, 64, 64, 16, 4>, <i8, u8, i32, i32, 64, 64, 64, 2>
    );
    /// `c = a b'`: both factors row-major, the right one transposed.
    streamed_nt: row(1) [M, K], row [N, K].transposed, (
        <bf16, bf16, f32, bf16, 64, 64, 64, 3>, <tf32, tf32, f32, f32, 64, 64, 32, 3>,
        <f8e4m3, f8e4m3, f32, f16, 64, 64, 64, 4>, <f8e5m2, f8e5m2, f32, f32, 64, 64, 32, 0>,
        <i8, i8, i32, i32, 64, 64, 64, 3>, <u8, u8, i32, i32, 128, 32, 128, 2>
    );
    /// `c = a' b`: the left factor transposed, both read across their rows.
    streamed_tn: column(0) [K, M].transposed, column [K, N], (
        <f16, f16, f32, f32, 128, 64, 16, 5>, <tf32, tf32, f32, f32, 64, 32, 32, 2>
    );
    /// `c = a' b'`: both factors transposed.
    streamed_tt: column(0) [K, M].transposed, row [N, K].transposed, (
        <bf16, bf16, f32, f32, 64, 128, 32, 0>, <u8, i8, i32, i32, 64, 64, 32, 3>,
        <tf32, tf32, f32, f32, 64, 64, 32, 3>, <tf32, tf32, f32, f32, 128, 32, 8, 2>
    );
}

/// `c = a b` as the transpose of `b' a'`: both factors row-major.
#[kernel(
    threads = 128,
    producer = 32,
    min_blocks = 1,
    instances(
        <tf32, f32, f32, 128, 64, 32, 3>, <tf32, f32, f16, 64, 128, 16, 2>, <f16, f32, f16, 64, 64, 64, 3>,
        <bf16, f32, f32, 32, 64, 32, 0>, <f64, f64, f64, 64, 64, 16, 2>
    )
)]
pub fn streamed_turned<
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
    #[shared] buffer: EpilogueBuffer<0>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    multiply(
        roles,
        ring,
        buffer,
        a.tile_counts().1,
        move |i, j| a.row(i).zip(b.column(j)),
        c,
        |sums, (a, b)| sums.mma(b.transposed(), a.transposed()),
        |sums: Tile<C, (D<N>, D<M>), _>| sums.transposed_accumulators().cast::<O>(),
    );
}

/// `c = a b'` with sums of all bits of `f32`.
#[kernel(
    threads = 128,
    producer = 32,
    min_blocks = 1,
    instances(<f8e4m3, 64, 64, 64, 3>, <f8e4m3, 64, 32, 64, 2>, <f8e5m2, 128, 32, 32, 0>, <bf16, 64, 64, 64, 2>)
)]
pub fn streamed_precise<
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
    #[shared] buffer: EpilogueBuffer<1>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    multiply(
        roles,
        ring,
        buffer,
        a.tile_counts().1,
        move |i, j| a.row(i).zip(b.row(j)),
        c,
        |sums, (a, b)| sums.mma_promoted(a, b.transposed()),
        |sums| sums,
    );
}
