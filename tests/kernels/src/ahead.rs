//! Tiles that a block copies ahead: of spans of any alignment, mapping and traversal.

use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;

/// Tiles of 8 x 64.
type Stage<T> = SharedTile<T, Shape2<8, 64>>;

/// Copies `x` to `y`, one block a row of tiles.
#[kernel(threads = 64, min_blocks = 1, instances(<u8>, <f16>, <f32>, <f64>))]
pub fn copied<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32)>,
    #[shared] mut ring: Ring<Stage<T>, 3>,
) {
    let (x, y) = (x.partition(cx, shape![8, 64]), y.partition(cx, shape![8, 64]));
    let (i, mut k) = (cx.bid::<0>(), 0);
    ring.copy_ahead(cx, x.num_tiles(1), |k| x.tile((i, k))).for_each(|tile| {
        y.store_masked(tile.load(cx), (i, k));
        k += 1;
    });
}

/// The same of a column-major tensor, in a ring of two stages.
#[kernel(threads = 64, min_blocks = 1, instances(<f16>, <f32>))]
pub fn copied_columns<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32), Left>,
    y: SpanMut<T, (u32, u32)>,
    #[shared] mut ring: Ring<Stage<T>, 2>,
) {
    let (x, y) = (x.partition(cx, shape![8, 64]), y.partition(cx, shape![8, 64]));
    let (i, mut k) = (cx.bid::<0>(), 0);
    ring.copy_ahead(cx, x.num_tiles(1), |k| x.tile((i, k))).for_each(|tile| {
        y.store_masked(tile.load(cx), (i, k));
        k += 1;
    });
}

/// Tiles of 8 x 64 that start at row -3 and at columns -7, 25, 57 and so on, one below the other in `y`. The ring serves two loops.
#[kernel(threads = 128, min_blocks = 1, instances(<f16>, <f32>))]
pub fn windows<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32, u32)>,
    #[shared] mut ring: Ring<Stage<T>, 4>,
) {
    let steps = y.extent(1) / 8;
    let (x, y) = (x.window(cx, shape![8, 64]), y.partition(cx, shape![1, 8, 64]));
    let i = cx.bid::<0>();
    let mut k = 0;
    for half in [0, steps / 2] {
        let count = if half == 0 { steps / 2 } else { steps - half };
        let tiles = ring.copy_ahead(cx, count, |k| x.tile((-3, (half + k) as i32 * 32 - 7)));
        tiles.for_each(|tile| {
            y.store_masked(tile.load(cx).reshape(shape![1, 8, 64]), (i, k, 0));
            k += 1;
        });
    }
}

/// Kernels that multiply tiles copied ahead.
macro_rules! products {
    ($($name:ident $instances:tt: B of $rows:literal x $columns:literal, |$j:ident, $k:ident| $index:expr, |$b:ident| $operand:expr;)*) => { $(
        /// `c = a b` for one tile of `c`, with operands of any size.
        #[kernel(threads = 128, min_blocks = 1, grid = 2, instances $instances)]
        pub fn $name<T: KLoopElement<T>>(
            cx: Cx,
            a: Span<T, (u32, u32)>,
            b: Span<T, (u32, u32)>,
            c: SpanMut<<T as KLoopElement<T>>::Accumulator, (u32, u32)>,
            #[shared] mut ring: Ring<(SharedTile<T, Shape2<64, 64>>, SharedTile<T, Shape2<$rows, $columns>>), 3>,
        ) where
            T::Accumulator: Promote<T::Accumulator, Output = T::Accumulator>,
        {
            let (a, b) = (a.partition(cx, shape![64, 64]), b.partition(cx, shape![$rows, $columns]));
            let c = c.partition(cx, shape![64, 64]);
            let (i, $j) = (cx.bid::<0>(), cx.bid::<1>());
            let tiles = ring.copy_ahead(cx, a.num_tiles(1), |$k| (a.tile((i, $k)), b.tile($index)));
            let acc = tiles.accumulate(|acc, (a, $b)| acc.mma(a, $operand));
            c.store_masked(acc, (i, $j));
        }
    )* };
}
products! {
    product(<f16>, <bf16>, <tf32>, <i8>, <u8>, <f64>): B of 64 x 64, |j, k| (k, j), |b| b;
    product_transposed(<f16>, <tf32>, <i8>, <f8e4m3>): B of 64 x 64, |j, k| (j, k), |b| b.transposed();
}

/// `c = a b` for one tile of `c`, of operands that TMA copies ahead, but for what is outside of the rows of `a` and of the columns of `b`.
#[kernel(threads = 128, min_blocks = 1, grid = 2, instances(<f16>, <bf16>))]
pub fn product_of_what_is_inside<T: KLoopElement<T, Accumulator = f32>>(
    cx: Cx,
    a: TmaLoad<T, Shape2<128, 64>>,
    b: TmaLoad<T, Shape2<64, 128>>,
    c: SpanMut<f32, (u32, u32)>,
    #[shared] mut ring: Ring<(SharedTile<T, Shape2<128, 64>>, SharedTile<T, Shape2<64, 128>>), 3>,
) {
    let c = c.partition(cx, shape![128, 128]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tiles = ring.copy_ahead(cx, a.tile_counts().1, |k| {
        (a.tile(*i, k).unset_outside_rows(), b.tile(k, *j).unset_outside_columns())
    });
    let acc = tiles.accumulate(|acc, (a, b)| acc.mma(a, b));
    c.store_masked(acc, (i, j));
}
