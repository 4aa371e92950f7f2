//! Products in tiles whose columns or rows are no power of two, with every epilogue.

use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{Side, TileSide};

/// Kernels of `c = a b + bias + c` for operands that are stored as they are or transposed.
///
/// Tiles are 64 x `N`, and `K` deep. Where warps multiply, tiles of 160 columns and more would need all registers.
macro_rules! padded {
    ($(
        $(#[$documentation:meta])*
        $name:ident: $walk_a:ident($depth:tt) [$rows_a:ident, $columns_a:ident] $(.$transpose_a:ident)?,
        $walk_b:ident [$rows_b:ident, $columns_b:ident] $(.$transpose_b:ident)?, $accumulate:ident,
        $instances:tt;
    )*) => { $(
        $(#[$documentation])*
        #[kernel(threads = 128, producer = 32, min_blocks = 1, instances $instances)]
        pub fn $name<
            T: KLoopElement<T, Accumulator = C>,
            C: Number + Cast<O>,
            O: Element + Cast<C>,
            const M: usize,
            const N: usize,
            const K: usize,
        >(
            roles: WarpRoles,
            a: TmaLoad<T, (Side<$rows_a>, Side<$columns_a>)>,
            b: TmaLoad<T, (Side<$rows_b>, Side<$columns_b>)>,
            c: TmaStore<O, (Side<M>, Side<N>)>,
            bias: Span<O, (u32,)>,
            directly: u32,
            #[shared] ring: Ring<
                (
                    SharedTile<T, (Side<$rows_a>, Side<$columns_a>)>,
                    SharedTile<T, (Side<$rows_b>, Side<$columns_b>)>,
                ),
                3,
            >,
            #[shared] mut buffer: EpilogueBuffer<1>,
        ) where
            D<M>: TileSide,
            D<N>: TileSide,
            D<K>: TileSide,
        {
            let steps = a.tile_counts().$depth;
            let loads = roles
                .tile_indices(Grouped::<8>, c.tile_counts())
                .flat_map(move |[_, i, j]| a.$walk_a(i).zip(b.$walk_b(j)));
            roles.pipeline(ring, loads, move |cx, mut consumer| {
                for tile in c.schedule(cx, Grouped::<8>) {
                    let sums = consumer
                        .k_loop(steps)
                        .$accumulate(|acc, (a, b)| acc.mma(a$(.$transpose_a())?, b$(.$transpose_b())?));
                    let sums = tile.add_previous(cx, tile.add_row(cx, sums, bias), C::ONE).cast::<O>();
                    if directly == 0 {
                        tile.store(&mut buffer, sums);
                    } else {
                        tile.store_directly(sums);
                    }
                }
            });
        }
    )* };
}
padded! {
    /// A is K-major, B is MN-major.
    padded_nn: row(1) [M, K], column [K, N], accumulate, (
        <f16, f32, f16, 64, 96, 64>, <f16, f32, f32, 64, 160, 64> if warpgroups, <bf16, f32, bf16, 64, 192, 64> if warpgroups
    );
    /// Both operands are K-major.
    padded_nt: row(1) [M, K], row [N, K].transposed, accumulate, (
        <f16, f32, f32, 64, 96, 32>, <bf16, f32, bf16, 64, 160, 64> if warpgroups, <f16, f32, f16, 64, 192, 64> if warpgroups,
        <i8, i32, i8, 64, 96, 64>, <i8, i32, i8, 64, 160, 128> if warpgroups, <i8, i32, i8, 64, 192, 128> if warpgroups
    );
    /// A is MN-major, B is K-major. With `tf32`, A goes through registers.
    padded_tt: column(0) [K, M].transposed, row [N, K].transposed, accumulate, (
        <tf32, f32, f32, 64, 96, 32>, <tf32, f32, f32, 64, 192, 32> if warpgroups, <f16, f32, f16, 128, 96, 64> if warpgroups
    );
    /// Promoted accumulation.
    padded_promoted: row(1) [M, K], row [N, K].transposed, accumulate_promoted, (
        <f8e4m3, f32, f32, 64, 96, 64> if warpgroups, <f8e4m3, f32, bf16, 64, 144, 64> if warpgroups,
        <f8e4m3, f32, f16, 64, 192, 64> if warpgroups
    );
}

/// The elements of the largest tile to which the previous elements of `c` are added.
pub const LARGEST_ADDED: usize = 128 * 128;

/// Kernels of `c = a b + bias + c` with operands swapped: columns of `b` are the rows of the accumulators, and rows of `a` their columns.
///
/// Tiles have 64 or 128 columns for each warpgroup. Large ones leave no registers for the previous elements of `c`, nor for two ways to store.
macro_rules! padded_rows {
    ($(
        $(#[$documentation:meta])*
        $name:ident [$threads:literal, $producer:literal, $($buffer:literal)x+]: $walk_b:ident [$rows_b:ident, $columns_b:ident] $(.$transpose_b:ident)?, $instances:tt;
    )*) => { $(
        $(#[$documentation])*
        #[kernel(threads = $threads, producer = $producer, min_blocks = 1, instances $instances)]
        pub fn $name<
            T: KLoopElement<T, Accumulator = C>,
            C: Number + Cast<O>,
            O: Element + Cast<C>,
            const M: usize,
            const N: usize,
            const K: usize,
        >(
            roles: WarpRoles,
            a: TmaLoad<T, (Side<M>, Side<K>)>,
            b: TmaLoad<T, (Side<$rows_b>, Side<$columns_b>)>,
            c: TmaStore<O, (Side<M>, Side<N>)>,
            bias: Span<O, (u32,)>,
            directly: u32,
            #[shared] ring: Ring<(SharedTile<T, (Side<M>, Side<K>)>, SharedTile<T, (Side<$rows_b>, Side<$columns_b>)>), 3>,
            #[shared] mut buffer: EpilogueBuffer<$($buffer),+>,
        ) where
            D<M>: TileSide,
            D<N>: TileSide,
            D<K>: TileSide,
        {
            let steps = a.tile_counts().1;
            let loads = roles
                .tile_indices(Grouped::<8>, c.tile_counts())
                .flat_map(move |[_, i, j]| a.row(i).zip(b.$walk_b(j)));
            roles.pipeline(ring, loads, move |cx, mut consumer| {
                for tile in c.schedule(cx, Grouped::<8>) {
                    let sums = consumer
                        .k_loop(steps)
                        .accumulate(|acc, (a, b)| acc.mma(b$(.$transpose_b())?, a.transposed()))
                        .transposed_accumulators();
                    let sums = tile.add_row(cx, sums, bias);
                    if const { M * N > LARGEST_ADDED } {
                        tile.store(&mut buffer, sums.cast::<O>());
                        continue;
                    }
                    let sums = tile.add_previous(cx, sums, C::ONE).cast::<O>();
                    if directly == 0 {
                        tile.store(&mut buffer, sums);
                    } else {
                        tile.store_directly(sums);
                    }
                }
            });
        }
    )* };
}
padded_rows! {
    /// Both operands are K-major; one warpgroup. Powers of two go the same way.
    padded_rows_nt [128, 32, 1]: row [N, K], (
        <f16, f32, f16, 64, 64, 64>, <f16, f32, f16, 80, 64, 64> if warpgroups, <bf16, f32, bf16, 112, 64, 64> if warpgroups,
        <i8, i32, i8, 96, 64, 64> if warpgroups
    );
    /// B is MN-major; two warpgroups.
    padded_rows_nn [256, 128, 2]: column [K, N].transposed, (
        <f16, f32, f16, 176, 128, 64> if warpgroups, <bf16, f32, bf16, 208, 128, 64> if warpgroups,
        <f16, f32, f32, 224, 128, 64> if warpgroups, <f16, f32, f16, 240, 128, 64> if warpgroups,
        <bf16, f32, bf16, 64, 256, 64> if warpgroups, <tf32, f32, f32, 256, 128, 32> if warpgroups
    );
    /// Both operands are K-major; panels of 16 rows. Powers of two are stored by threads.
    padded_rows_of_panels [128, 32, 1 x 16]: row [N, K], (
        <f16, f32, f16, 80, 64, 64> if warpgroups, <bf16, f32, bf16, 64, 64, 64> if warpgroups
    );
    /// Both operands are K-major; two warpgroups of 128 columns, and panels of 32 rows.
    padded_wide_rows [256, 128, 2 x 32]: row [N, K], (
        <f16, f32, f16, 112, 256, 64> if warpgroups, <bf16, f32, bf16, 144, 256, 64> if warpgroups, <f16, f32, f16, 160, 256, 64> if warpgroups
    );
}
