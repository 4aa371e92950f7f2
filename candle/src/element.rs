//! The element types that candle and kernels share.

use candle_core::WithDType;
use cuda_tiles::element::{bf16, f16};

mod sealed {
    /// What a type needs for tensors on GPUs.
    #[cfg(feature = "cuda")]
    pub trait Stored:
        candle_core::cuda_backend::CudaDType + candle_core::cuda_backend::cudarc::driver::DeviceRepr
    {
    }

    /// What a type needs for tensors on GPUs: nothing in builds without them.
    #[cfg(not(feature = "cuda"))]
    pub trait Stored {}
}

pub(crate) use sealed::Stored;

/// Element types of candle's tensors that kernels have too. candle's `F8E4M3` is not among them: it is a type of another crate.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an element type of both candle and cuda-tiles")]
pub trait Element: cuda_tiles::element::Element + WithDType + Stored {}

macro_rules! elements {
    ($($type:ident)*) => { $(
        impl Stored for $type {}
        impl Element for $type {}
    )* };
}

elements!(u8 u32 i16 i32 i64 f16 bf16 f32 f64);
