//! Operations on the rows of a matrix, and their gradients.

use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
use cuda_tiles_host::{Result, bf16, f16};
use cuda_tiles_kernels::rows;

use crate::load;

/// The functions of `cuda_tiles_kernels::rows`, each under the name that stands for it here.
macro_rules! rows {
    ($($type:ident: {
        softmax: $softmax:ident,
        softmax_backward: $softmax_backward:ident,
        layer_norm: $layer_norm:ident,
        layer_norm_backward: $layer_norm_backward:ident,
        rms_norm: $rms_norm:ident,
        rms_norm_backward: $rms_norm_backward:ident,
        cross_entropy: $cross_entropy:ident,
        cross_entropy_backward: $cross_entropy_backward:ident,
        cross_entropy_backward_in_place: $cross_entropy_backward_in_place:ident,
    })*) => { $(
        /// `out` is the softmax of each row of `x`.
        #[export]
        fn $softmax(
            call: &Call,
            x: TensorView<$type, 2>,
            out: TensorViewMut<$type, 2>,
        ) -> Result<()> {
            load(call)?;
            rows::softmax(call.stream(), x, out)
        }

        /// The gradient `dx`, from the softmax `y` and its gradient.
        #[export]
        fn $softmax_backward(
            call: &Call,
            y: TensorView<$type, 2>,
            dy: TensorView<$type, 2>,
            dx: TensorViewMut<$type, 2>,
        ) -> Result<()> {
            load(call)?;
            rows::softmax_backward(call.stream(), y, dy, dx)
        }

        /// Layer normalisation of each row of `x`; mean and reciprocal deviation are results too.
        #[export]
        #[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
        fn $layer_norm(
            call: &Call,
            x: TensorView<$type, 2>,
            weight: TensorView<$type, 1>,
            bias: TensorView<$type, 1>,
            epsilon: f32,
            out: TensorViewMut<$type, 2>,
            mean: TensorViewMut<f32, 1>,
            reciprocal_deviation: TensorViewMut<f32, 1>,
        ) -> Result<()> {
            load(call)?;
            rows::layer_norm(call.stream(), x, weight, bias, epsilon, out, mean, reciprocal_deviation)
        }

        /// The gradients of the operands of a layer normalisation.
        #[export]
        #[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
        fn $layer_norm_backward(
            call: &Call,
            x: TensorView<$type, 2>,
            weight: TensorView<$type, 1>,
            mean: TensorView<f32, 1>,
            reciprocal_deviation: TensorView<f32, 1>,
            dy: TensorView<$type, 2>,
            dx: TensorViewMut<$type, 2>,
            dweight: TensorViewMut<$type, 1>,
            dbias: TensorViewMut<$type, 1>,
        ) -> Result<()> {
            load(call)?;
            rows::layer_norm_backward(call.stream(), x, weight, mean, reciprocal_deviation, dy, dx, dweight, dbias)
        }

        /// RMS normalisation of each row of `x`; the reciprocal deviation is a result too.
        #[export]
        fn $rms_norm(
            call: &Call,
            x: TensorView<$type, 2>,
            weight: TensorView<$type, 1>,
            epsilon: f32,
            out: TensorViewMut<$type, 2>,
            reciprocal_deviation: TensorViewMut<f32, 1>,
        ) -> Result<()> {
            load(call)?;
            rows::rms_norm(call.stream(), x, weight, epsilon, out, reciprocal_deviation)
        }

        /// The gradients of the operands of an RMS normalisation.
        #[export]
        fn $rms_norm_backward(
            call: &Call,
            x: TensorView<$type, 2>,
            weight: TensorView<$type, 1>,
            reciprocal_deviation: TensorView<f32, 1>,
            dy: TensorView<$type, 2>,
            dx: TensorViewMut<$type, 2>,
            dweight: TensorViewMut<$type, 1>,
        ) -> Result<()> {
            load(call)?;
            rows::rms_norm_backward(call.stream(), x, weight, reciprocal_deviation, dy, dx, dweight)
        }

        /// The cross-entropy of each row with its label, and the logarithm of the sum of exponentials.
        #[export]
        fn $cross_entropy(
            call: &Call,
            logits: TensorView<$type, 2>,
            labels: TensorView<i64, 1>,
            ignored: i64,
            losses: TensorViewMut<f32, 1>,
            logarithms: TensorViewMut<f32, 1>,
        ) -> Result<()> {
            load(call)?;
            rows::cross_entropy(call.stream(), logits, labels, ignored, losses, logarithms)
        }

        /// The gradient of the logits.
        #[export]
        fn $cross_entropy_backward(
            call: &Call,
            logits: TensorView<$type, 2>,
            labels: TensorView<i64, 1>,
            ignored: i64,
            logarithms: TensorView<f32, 1>,
            dlosses: TensorView<f32, 1>,
            dlogits: TensorViewMut<$type, 2>,
        ) -> Result<()> {
            load(call)?;
            rows::cross_entropy_backward(call.stream(), logits, labels, ignored, logarithms, dlosses, dlogits)
        }

        /// The same, in place of the logits.
        #[export]
        fn $cross_entropy_backward_in_place(
            call: &Call,
            logits: TensorViewMut<$type, 2>,
            labels: TensorView<i64, 1>,
            ignored: i64,
            logarithms: TensorView<f32, 1>,
            dlosses: TensorView<f32, 1>,
        ) -> Result<()> {
            load(call)?;
            rows::cross_entropy_backward_in_place(call.stream(), logits, labels, ignored, logarithms, dlosses)
        }
    )* };
}

rows! {
    f32: {
        softmax: softmax_float32,
        softmax_backward: softmax_backward_float32,
        layer_norm: layer_norm_float32,
        layer_norm_backward: layer_norm_backward_float32,
        rms_norm: rms_norm_float32,
        rms_norm_backward: rms_norm_backward_float32,
        cross_entropy: cross_entropy_float32,
        cross_entropy_backward: cross_entropy_backward_float32,
        cross_entropy_backward_in_place: cross_entropy_backward_in_place_float32,
    }
    f16: {
        softmax: softmax_float16,
        softmax_backward: softmax_backward_float16,
        layer_norm: layer_norm_float16,
        layer_norm_backward: layer_norm_backward_float16,
        rms_norm: rms_norm_float16,
        rms_norm_backward: rms_norm_backward_float16,
        cross_entropy: cross_entropy_float16,
        cross_entropy_backward: cross_entropy_backward_float16,
        cross_entropy_backward_in_place: cross_entropy_backward_in_place_float16,
    }
    bf16: {
        softmax: softmax_bfloat16,
        softmax_backward: softmax_backward_bfloat16,
        layer_norm: layer_norm_bfloat16,
        layer_norm_backward: layer_norm_backward_bfloat16,
        rms_norm: rms_norm_bfloat16,
        rms_norm_backward: rms_norm_backward_bfloat16,
        cross_entropy: cross_entropy_bfloat16,
        cross_entropy_backward: cross_entropy_backward_bfloat16,
        cross_entropy_backward_in_place: cross_entropy_backward_in_place_bfloat16,
    }
}
