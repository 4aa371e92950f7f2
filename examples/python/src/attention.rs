//! Attention, and its gradients.

use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
use cuda_tiles_host::{Result, bf16, f16};
use cuda_tiles_kernels::attention::{attention_backward, attention_on, attention_with_logarithms};

use crate::load;

macro_rules! attention {
    ($($name:ident $saved:ident $backward:ident $type:ident)*) => { $(
        /// `out = softmax(q k' * scale) v`, for each matrix of a batch.
        #[export]
        #[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
        fn $name(
            call: &Call,
            q: TensorView<$type, 3>,
            k: TensorView<$type, 3>,
            v: TensorView<$type, 3>,
            out: TensorViewMut<$type, 3>,
            scale: f32,
            causal: bool,
        ) -> Result<()> {
            load(call)?;
            attention_on(call.stream(), q, k, v, out, scale, causal)
        }

        /// The same, and the logarithms of the sums of exponentials.
        #[export]
        #[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
        fn $saved(
            call: &Call,
            q: TensorView<$type, 3>,
            k: TensorView<$type, 3>,
            v: TensorView<$type, 3>,
            out: TensorViewMut<$type, 3>,
            logarithms: TensorViewMut<f32, 2>,
            scale: f32,
            causal: bool,
        ) -> Result<()> {
            load(call)?;
            attention_with_logarithms(call.stream(), q, k, v, out, logarithms, scale, causal)
        }

        /// The gradients of queries, keys and values.
        #[export]
        #[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
        fn $backward(
            call: &Call,
            q: TensorView<$type, 3>,
            k: TensorView<$type, 3>,
            v: TensorView<$type, 3>,
            out: TensorView<$type, 3>,
            logarithms: TensorView<f32, 2>,
            dout: TensorView<$type, 3>,
            dq: TensorViewMut<$type, 3>,
            dk: TensorViewMut<$type, 3>,
            dv: TensorViewMut<$type, 3>,
            scale: f32,
            causal: bool,
        ) -> Result<()> {
            load(call)?;
            attention_backward(call.stream(), q, k, v, out, logarithms, dout, dq, dk, dv, scale, causal)
        }
    )* };
}

attention!(
    attention_float16 attention_with_logarithms_float16 attention_backward_float16 f16
    attention_bfloat16 attention_with_logarithms_bfloat16 attention_backward_bfloat16 bf16
);
