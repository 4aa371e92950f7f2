//! The ready-made operations.

mod attention;
#[cfg(feature = "gemm")]
mod linear;
mod norm;
mod softmax;

use crate::error::{Error, Result};

pub use attention::attention;
#[cfg(feature = "gemm")]
pub use cuda_tiles_kernels::gemm::Activation;
#[cfg(feature = "gemm")]
pub use linear::linear;
pub use norm::{layer_norm, rms_norm};
pub use softmax::softmax_last_dim;

/// The kernels behind the operations, compiled, for [`Device::warm_up`](cuda_tiles_host::Device::warm_up).
pub mod kernels {
    /// Those of `cuda-tiles-kernels`.
    pub mod ready_made {
        cuda_tiles_host::include_kernels!("cuda_tiles_kernels");
    }

    /// Those of `cuda-tiles-candle-kernels`, for an operation that shows how a user's own is made: `tests/suite/adapter.rs`.
    pub mod own {
        cuda_tiles_host::include_kernels!("cuda_tiles_candle_kernels");
    }
}

/// Does something with the element type of a tensor, of those that have kernels, by a name for it.
macro_rules! by_type {
    ($operation:literal, $found:expr; $($dtype:ident $type:ident),*; $name:ident => $done:expr) => {
        match $found {
            $(candle_core::DType::$dtype => {
                type $name = $type;
                $done
            })*
            found => Err($crate::Error::NoKernel { operation: $operation, found, known: &[$(candle_core::DType::$dtype),*] }),
        }
    };
}
use by_type;

/// The error of operands that do not go together.
fn refuse<T>(operation: &'static str, problem: String) -> Result<T> {
    Err(Error::Operands { operation, problem })
}
