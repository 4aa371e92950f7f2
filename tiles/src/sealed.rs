//! Which types the traits of this library are for: its own, and those of the language that it gives a meaning.
//!
//! Unsafe code trusts what the library's traits say of a type: how many registers a layout has, that an order of axes is a
//! permutation. So nobody else may implement them. [`Sealed`] is a supertrait of theirs, or bounds their parameters, and has no
//! name outside of the library.
//!
//! An implementation of a foreign trait has a type of its own crate among `Self` and the trait's parameters (Rust Reference,
//! "Orphan rules"); a tuple, an array or a foreign type that has such a type as its parameter is none. Where all of them are sealed,
//! there can be no implementation outside of this crate, whatever the tuples are made of.

use typenum::{UInt, UTerm};

/// A type that the library's traits are for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of cuda-tiles, and its traits are for no others",
    label = "cannot have this trait",
    note = "unsafe code trusts what this trait says, so that all of its implementations are in the library"
)]
pub trait Sealed {}

/// Types of the library, with their parameters: `[T] Uniform<T>`.
macro_rules! sealed {
    ($([$($generics:tt)*] $type:ty;)*) => { $(
        // Other types that have the trait are no advice to who has tried to give it to one.
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::sealed::Sealed for $type {}
    )* };
}
pub(crate) use sealed;

sealed! {
    [] bool; [] i8; [] i16; [] i32; [] i64; [] i128; [] u8; [] u16; [] u32; [] u64; [] u128; [] usize; [] f32; [] f64;
    [] half::f16; [] half::bf16;
    [] UTerm;
    [U, B] UInt<U, B>;
    [T, const N: usize] [T; N];
    [] ();
    [A] (A,);
    [A, B] (A, B,);
    [A, B, C] (A, B, C,);
    [A, B, C, D] (A, B, C, D,);
    [A, B, C, D, E] (A, B, C, D, E,);
    [A, B, C, D, E, F] (A, B, C, D, E, F,);
    [A, B, C, D, E, F, G] (A, B, C, D, E, F, G,);
    [A, B, C, D, E, F, G, H] (A, B, C, D, E, F, G, H,);
    [A, B, C, D, E, F, G, H, I] (A, B, C, D, E, F, G, H, I,);
    [A, B, C, D, E, F, G, H, I, J] (A, B, C, D, E, F, G, H, I, J,);
    [A, B, C, D, E, F, G, H, I, J, K] (A, B, C, D, E, F, G, H, I, J, K,);
    [A, B, C, D, E, F, G, H, I, J, K, L] (A, B, C, D, E, F, G, H, I, J, K, L,);
}
