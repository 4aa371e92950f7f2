//! The seal of the traits that say what an element type is elsewhere, in a file, another library or another rank: users cannot implement them.

use cuda_tiles::element::{bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4x2, tf32, u4x2};

/// A supertrait without a name outside of the crate.
pub trait Sealed {}

macro_rules! sealed {
    ($($type:ty)*) => { $(
        impl Sealed for $type {}
    )* };
}
sealed!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3 f4e2m1x2 i4x2 u4x2);
