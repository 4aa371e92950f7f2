//! Element types that tensor cores multiply from shared memory, and the `wgmma` instruction of each.

use crate::arch::matrix::{FP8_PRODUCTS, WARPGROUPS};
use crate::element::{Element, Number, Repack, bf16, f8e4m3, f8e5m2, f16, tf32};
use crate::mma::types::MultiplyAccumulate;
use crate::shape::{D, Dimension};

/// Element types that [`Accumulator::mma`](super::Accumulator::mma) multiplies by elements `U`, accumulating in `C`.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` and `{U}` are not accumulated in `{C}`",
    label = "no such multiplication",
    note = "f16, bf16, tf32, f8e4m3, f8e5m2 with themselves into f32, i8 and u8 into i32, f64 into f64"
)]
pub trait SharedMma<U: Repack, C: Element>: MultiplyAccumulate<U, C> {
    /// How much of the contracted axis one instruction of a warp takes.
    #[doc(hidden)]
    type Step: Dimension;
    /// Whether warpgroups have the multiplication.
    #[doc(hidden)]
    const WARPGROUPS: bool = false;
    /// Whether tensor cores accumulate it in fewer bits than `C` has.
    #[doc(hidden)]
    const SHORT: bool = false;
}

/// Elements that a [k loop](crate::pipeline::KLoop::accumulate) multiplies by elements `U`.
#[diagnostic::on_unimplemented(
    message = "a k loop does not multiply `{Self}` by `{U}`",
    label = "no such multiplication",
    note = "f16, bf16, tf32, f8e4m3, f8e5m2 with themselves accumulate in f32, i8 and u8 in i32, f64 in f64"
)]
pub trait KLoopElement<U: Repack>: SharedMma<U, Self::Accumulator> {
    /// The type of the accumulators.
    type Accumulator: Number;
}

macro_rules! warpgroup_products {
    ($($a:ident $b:ident $sum:ident $step:literal $short:expr;)*) => { $(
        impl SharedMma<$b, $sum> for $a {
            type Step = D<$step>;
            const WARPGROUPS: bool = true;
            const SHORT: bool = $short;
        }
        impl KLoopElement<$b> for $a {
            type Accumulator = $sum;
        }
    )*
    };
}
warpgroup_products! {
    f16 f16 f32 16 false;
    bf16 bf16 f32 16 false;
    tf32 tf32 f32 8 false;
    f8e4m3 f8e4m3 f32 32 FP8_PRODUCTS || WARPGROUPS;
    f8e5m2 f8e5m2 f32 32 FP8_PRODUCTS || WARPGROUPS;
    i8 i8 i32 32 false;
    u8 u8 i32 32 false;
}
impl SharedMma<f64, f64> for f64 {
    type Step = D<16>;
}
impl KLoopElement<f64> for f64 {
    type Accumulator = f64;
}
// Warpgroups have these multiplications from PTX ISA 8.4 on. Kernels are built for drivers that are older.
impl SharedMma<u8, i32> for i8 {
    type Step = D<32>;
}
impl KLoopElement<u8> for i8 {
    type Accumulator = i32;
}
impl SharedMma<i8, i32> for u8 {
    type Step = D<32>;
}
impl KLoopElement<i8> for u8 {
    type Accumulator = i32;
}
