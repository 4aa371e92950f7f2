//! Softmax and layer normalisation, of each row of a matrix.

use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
use cuda_tiles_host::{Launch, Result, bf16, f16};
use cuda_tiles_kernels::{normalisation, softmax};

use crate::{load, refuse};

/// The longest row of a softmax: what a block holds.
const LONGEST: usize = 8192;

macro_rules! softmax {
    ($($name:ident $type:ident $kernel:expr;)*) => { $(
        /// `out` is the softmax of each row of `x`.
        #[export]
        fn $name(call: &Call, x: TensorView<$type, 2>, out: TensorViewMut<$type, 2>) -> Result<()> {
            let [rows, columns] = x.shape();
            if out.shape() != x.shape() {
                return refuse("softmax", format!("the results have shape {:?}, and x {:?}", out.shape(), x.shape()));
            }
            if columns > LONGEST {
                return refuse("softmax", format!("there are kernels for rows of up to {LONGEST} elements, and these have {columns}"));
            }
            load(call)?;
            $kernel.launch_on(call.stream(), rows as u32, (x, out))
        }
    )* };
}

softmax! {
    softmax_float32 f32 softmax::softmax_any::<LONGEST>();
    softmax_float16 f16 softmax::softmax_any_half::<f16, LONGEST>();
    softmax_bfloat16 bf16 softmax::softmax_any_half::<bf16, LONGEST>();
}

macro_rules! layer_norm {
    ($($name:ident $type:ident: $($columns:literal)*;)*) => { $(
        /// `out = (x - mean) * reciprocal_deviation * weight + bias`, for each row of `x`; mean and reciprocal deviation are results too.
        #[export]
        #[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
        fn $name(
            call: &Call,
            x: TensorView<$type, 2>,
            weight: TensorView<$type, 1>,
            bias: TensorView<$type, 1>,
            epsilon: f32,
            out: TensorViewMut<$type, 2>,
            mean: TensorViewMut<f32, 1>,
            reciprocal_deviation: TensorViewMut<f32, 1>,
        ) -> Result<()> {
            let [rows, columns] = x.shape();
            load(call)?;
            let (stream, blocks) = (call.stream(), rows as u32);
            match columns {
                $($columns => normalisation::layer_norm::<$type, $columns>()
                    .launch_on(stream, blocks, (x, weight, bias, epsilon, out, mean, reciprocal_deviation)),)*
                _ => refuse("layer_norm", format!("there are kernels for rows of {:?} elements, and these have {columns}", [$($columns),*])),
            }
        }
    )* };
}

layer_norm! {
    layer_norm_float32 f32: 1024;
    layer_norm_float16 f16: 1024 8192;
    layer_norm_bfloat16 bf16: 1024 8192;
}
