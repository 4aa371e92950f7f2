//! The launches of the gradients' kernels.

use cuda_tiles::element::Element;
use cuda_tiles_host::{TensorView, TensorViewMut};

/// The operands of the gradients.
pub struct GradientOperands<'t, T: Element> {
    pub(crate) q: TensorView<'t, T, 3>,
    pub(crate) k: TensorView<'t, T, 3>,
    pub(crate) v: TensorView<'t, T, 3>,
    pub(crate) out: TensorView<'t, T, 3>,
    pub(crate) logarithms: TensorView<'t, f32, 2>,
    pub(crate) dout: TensorView<'t, T, 3>,
    pub(crate) dq: TensorViewMut<'t, T, 3>,
    pub(crate) dk: TensorViewMut<'t, T, 3>,
    pub(crate) dv: TensorViewMut<'t, T, 3>,
    pub(crate) statistics: TensorViewMut<'t, f32, 3>,
    pub(crate) scale: f32,
    pub(crate) group: u32,
}

/// Launches the kernels of one element type, length of heads and kind of mask.
macro_rules! launch {
    ($type:ident, $head:literal, $causal:literal, $stream:ident, $operands:ident) => {{
        use super::gradients::keys::{attention_key_gradients, attention_key_gradients_by_warps};
        use super::gradients::queries::{attention_query_gradients, attention_query_gradients_by_warps};
        use super::gradients::statistics::attention_statistics;
        let GradientOperands { q, k, v, out, logarithms, dout, dq, dk, dv, mut statistics, scale, group } =
            $operands;
        let device = $stream.device();
        let ([matrices, queries, _], [key_matrices, keys, _]) = (q.shape(), k.shape());
        attention_statistics::<$type, $head>().launch_on(
            $stream,
            (matrices as u32, queries.div_ceil(32) as u32),
            (out, dout, logarithms, scale, statistics.reborrow()),
        )?;
        let (scale, statistics) = (scale * LOG2_E, statistics.as_view());
        let (of_keys, of_queries) = (
            (q, k, v, dout, statistics, dk, dv, scale, group),
            (q, k, v, dout, statistics, dq, scale, group),
        );
        let by_warpgroups = attention_key_gradients::<$type, 128, 64, $head, $causal>();
        if device.supports(by_warpgroups.description())? {
            // A block fills a multiprocessor.
            let most = device.multiprocessors();
            by_warpgroups.launch_on($stream, blocks(most, key_matrices, keys, 128), of_keys)?;
            attention_query_gradients::<$type, 128, { if $head == 64 { 128 } else { 64 } }, $head, $causal>()
                .launch_on($stream, blocks(most, matrices, queries, 128), of_queries)
        } else {
            let most = device.multiprocessors() * 2;
            attention_key_gradients_by_warps::<
                $type,
                64,
                { if $head == 64 { 32 } else { 16 } },
                $head,
                $causal,
            >()
            .launch_on($stream, blocks(most, key_matrices, keys, 64), of_keys)?;
            attention_query_gradients_by_warps::<$type, 64, 32, $head, $causal>().launch_on(
                $stream,
                blocks(most, matrices, queries, 64),
                of_queries,
            )
        }
    }};
}
pub(crate) use launch;
