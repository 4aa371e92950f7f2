//! What is NaN and what is infinite, for numbers with and without arithmetic.

use super::{Comparable, Element, Float, bf16, f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4, tf32, u4};

/// Numbers: integers, floats, and the floats without arithmetic.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` are neither NaN nor infinite",
    label = "expected integers or floats"
)]
pub trait Classify: Element {
    /// Whether it is not a number.
    fn classify_nan(self) -> bool;
    /// Whether it is an infinity.
    fn classify_infinite(self) -> bool;
}

macro_rules! classify {
    ($($type:ident: $nan:expr, $infinite:expr;)*) => { $(
        impl Classify for $type {
            #[inline_on_device]
            fn classify_nan(self) -> bool {
                $nan(self)
            }
            #[inline_on_device]
            fn classify_infinite(self) -> bool {
                $infinite(self)
            }
        }
    )* };
    (integers $($type:ident)*) => { classify! { $($type: never, never;)* } };
    (floats $($type:ident)*) => { classify! { $($type: Comparable::is_nan, Float::is_infinite;)* } };
}

/// What is true of no element.
#[inline_on_device]
fn never<T>(_: T) -> bool {
    false
}

classify!(integers i4 i8 i16 i32 i64 u4 u8 u16 u32 u64);
classify!(floats f16 bf16 f32 f64);
classify! {
    tf32: |x: tf32| x.to_bits() & 0x7fff_ffff > 0x7f80_0000, |x: tf32| x.to_bits() & 0x7fff_ffff == 0x7f80_0000;
    f8e4m3: |x: f8e4m3| x.to_bits() & 0x7f == 0x7f, never;
    f8e5m2: |x: f8e5m2| x.to_bits() & 0x7f > 0x7c, |x: f8e5m2| x.to_bits() & 0x7f == 0x7c;
    f8e8m0: |x: f8e8m0| x.to_bits() == 0xff, never;
    f8ue5m3: |x: f8ue5m3| x.to_bits() == 0xff, never;
    f4e2m1: never, never;
}
