//! What the gradients need of each query: the logarithm of its sum of exponentials, and `D = rowsum(dO * O)`.

use cuda_tiles::prelude::*;

/// The rows of a tile.
const ROWS: usize = 32;
/// For each query of each matrix: into row 0 of `statistics` `-L / scale`, and into row 1 `-D`. Products of tiles begin at these. Block
/// `(m, i)` has tile `i` of matrix `m`.
#[kernel(
    threads = 128,
    grid = 2,
    vector = 8,
    instances(<f16, 64>, <f16, 128>, <bf16, 64>, <bf16, 128>)
)]
pub fn attention_statistics<B: Block, T: Float + Cast<f32>, const HEAD: usize>(
    cx: Cx<B>,
    out: Span<T, (u32, u32, u32), Pitched>,
    gradient: Span<T, (u32, u32, u32), Pitched>,
    logarithms: Span<f32, (u32, u32), Strided>,
    scale: f32,
    statistics: SpanMut<f32, (u32, u32, u32), Pitched>,
) where
    D<HEAD>: Dimension,
{
    let (out, gradient) =
        (out.partition(cx, shape![1, ROWS, HEAD]), gradient.partition(cx, shape![1, ROWS, HEAD]));
    let logarithms = logarithms.partition(cx, shape![1, ROWS]);
    let statistics = statistics.partition(cx, shape![1, 1, ROWS]);
    let (matrix, i) = (cx.bid::<0>(), cx.bid::<1>());
    let out = out.load_masked(Zero, (matrix, i, 0)).cast::<f32>();
    let gradient = gradient.load_masked(Zero, (matrix, i, 0)).cast::<f32>();
    let logarithm = logarithms.load_masked(Zero, (matrix, i)) / -scale;
    statistics.store_masked(logarithm.expand_dims::<1>(), (matrix, 0, i));
    statistics.store_masked(-(out * gradient).sum::<2>().reshape(shape![1, 1, ROWS]), (matrix, 1, i));
}
