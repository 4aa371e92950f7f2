//! The second pass of products whose sums were cut into parts.

use cuda_tiles::prelude::*;

use super::body::ORDER;
use super::epilogue::Sum;
use super::shares::Shares;

/// `c = activation(alpha sums + beta c + bias)` of sums in parts. Grid: blocks along columns, rows and matrices of `c`, of tiles
/// of 16 x 128.
///
/// With `splits` other than 0, the parts of matrix `m` are the matrices `m splits ..` of `parts`. With 0, `parts` are slots of a
/// tile each, two for each block of the pass before, of the sums of the tiles from number `whole` on, of `steps` steps each;
/// the tiles before are left as they are.
#[kernel(threads = 256, grid = 3, dependent, instances(<f32, f16>, <f32, bf16>, <f32, f32>, <i32, i32>))]
pub fn sum_parts<B: Block, C: Sum + Cast<O>, O: Number + Cast<C>>(
    cx: Cx<B>,
    parts: Span<C, (u32, u32, u32), Pitched<4>>,
    c: SpanMut<O, (u32, u32, u32), Pitched>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    steps: u32,
) {
    let (blocks, height, width) = (parts.extent(0) / 2, parts.extent(1), parts.extent(2));
    let [batches, rows, columns] = [0, 1, 2].map(|axis| c.extent(axis));
    let parts = parts.partition(cx, shape![1, 16, 128]);
    let c = c.partition(cx, shape![1, 16, 128]);
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let mut sums = cx.zeros::<C, _>(shape![1, 16, 128]);
    // Several are on their way at the same time; they are added one behind the other.
    macro_rules! add_up {
        ($count:expr, |$part:ident| $index:expr) => {
            let count = $count;
            let load = |$part: u32| parts.load_masked(Zero, $index);
            let mut part = 0;
            while part + 4 <= count {
                let [w, x, y, z] = [load(part), load(part + 1), load(part + 2), load(part + 3)];
                sums = sums + w + x + y + z;
                part += 4;
            }
            while part < count {
                sums += load(part);
                part += 1;
            }
        };
    }
    if splits != 0 {
        add_up!(splits, |part| (*m * splits + part, *i, *j));
    } else {
        // Which tile of the pass before this is a piece of, and which piece.
        let (down, across) = ((height / 16).max(1), (width / 128).max(1));
        let counts = [batches, rows.div_ceil(height.max(1)), columns.div_ceil(width.max(1))];
        let number = ORDER.number_of([*m, *i / down, *j / across], counts);
        if number < whole {
            return;
        }
        let shares = Shares { tiles: counts[0] * counts[1] * counts[2] - whole, steps, blocks };
        let slots = shares.slots(number - whole);
        add_up!(slots.count(), |part| (slots.get(part), *i % down, *j % across));
    }
    sums = sums.map(move |sum| Number::mul(sum, alpha));
    if beta != C::ZERO {
        sums += c.load_masked(Zero, (m, i, j)).cast::<C>().map(move |before| Number::mul(before, beta));
    }
    if bias.extent(0) != 0 {
        sums += bias.partition(cx, shape![128]).load_masked(Zero, *j).cast::<C>();
    }
    let result: Tile<O, _, _> = C::activated(sums, activation);
    c.store_masked(result, (m, i, j));
}
