//! Attention.

use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
use cuda_tiles_host::{Result, bf16, f16};
use cuda_tiles_kernels::attention::attention_on;

use crate::load;

macro_rules! attention {
    ($($name:ident $type:ident)*) => { $(
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
    )* };
}

attention!(attention_float16 f16 attention_bfloat16 bf16);
