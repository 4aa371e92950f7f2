//! Products of matrices.

use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
use cuda_tiles_host::{Result, bf16, f16};
use cuda_tiles_kernels::gemm::Gemm;

use crate::load;

macro_rules! linear {
    ($($name:ident $type:ident)*) => { $(
        /// `out = x weight' + bias`.
        #[export]
        fn $name(
            call: &Call,
            x: TensorView<$type, 2>,
            weight: TensorView<$type, 2>,
            bias: Option<TensorView<$type, 1>>,
            out: TensorViewMut<$type, 2>,
        ) -> Result<()> {
            load(call)?;
            let product = Gemm::new().on(call.stream());
            let product = match bias {
                Some(bias) => product.bias(bias),
                None => product,
            };
            product.multiply(x, weight.transpose(), out)
        }
    )* };
}

linear!(linear_float16 f16 linear_bfloat16 bf16);
