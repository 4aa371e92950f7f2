//! Arguments that are made of others: tuples, arrays and structs.
//!
//! They are one parameter of the entry, which holds the parts of all. Accesses to global memory name its window themselves, so that nothing
//! is lost where a pointer comes out of a struct.

use super::{Composite, Fingerprint, Parameter, Parameters, Parts};

/// An argument of a kernel that has a launch's arguments for its fields: a tuple, or a struct with `#[derive(Parameter)]`.
pub trait Aggregate: Parameter {
    /// The fields, as a tuple.
    type Fields: Parameters;
    /// Their names, for messages.
    const NAMES: &'static [&'static str];
    /// The argument with these fields.
    fn from_fields(fields: Self::Fields) -> Self;
}

/// Two things one after the other, the second maybe two again: the parts of all fields.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair<A, B> {
    first: A,
    rest: B,
}

/// The most bytes of one parameter. All parameters of an entry have 4,096 bytes together (CUDA C++ Programming Guide, "Kernel parameters").
const MOST_BYTES: usize = 4096;

/// Refuses parameters that are too long.
pub(super) const fn fits<T>() {
    assert!(
        size_of::<T>() <= MOST_BYTES,
        "the arguments of a kernel have 4096 bytes at most: pass shorter lists, or fewer spans"
    );
}

macro_rules! nested {
    (type $last:ident) => { Parts<$last> };
    (type $first:ident $($rest:ident)+) => { Pair<Parts<$first>, nested!(type $($rest)+)> };
    (value $last:ident) => { $last };
    (value $first:ident $($rest:ident)+) => { Pair { first: $first, rest: nested!(value $($rest)+) } };
}

macro_rules! tuples {
    ($($($name:ident $index:tt)*;)*) => { $(
        // SAFETY: the parts are those of all fields, one after the other in `repr(C)`.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($name: Parameter),*> Parameter for ($($name,)*) {
            type First = nested!(type $($name)*);
            type Second = ();
            type Third = ();
            type Form = Composite;
            const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("tuple")$(.then($name::FINGERPRINT))*;
            #[inline_on_device]
            #[allow(non_snake_case, reason = "a field goes by the name of its type")]
            fn into_parts(self) -> Parts<Self> {
                const { fits::<Self::First>() };
                let ($($name,)*) = self;
                $(let $name = $name.into_parts();)*
                Parts { first: nested!(value $($name)*), second: (), third: () }
            }
            #[inline_on_device]
            #[allow(non_snake_case, reason = "a field goes by the name of its type")]
            unsafe fn from_parts(parts: Parts<Self>) -> Self {
                const { fits::<Self::First>() };
                let nested!(value $($name)*) = parts.first;
                // SAFETY: each field's parts come from a valid argument, by the same contract.
                unsafe { ($($name::from_parts($name),)*) }
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($name: Parameter),*> Aggregate for ($($name,)*) {
            type Fields = Self;
            const NAMES: &'static [&'static str] = &[$(stringify!($index)),*];
            #[inline_on_device]
            fn from_fields(fields: Self) -> Self {
                fields
            }
        }
    )* };
}
tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
}

// SAFETY: the parts are those of all elements, one after the other.
#[diagnostic::do_not_recommend]
unsafe impl<P: Parameter, const N: usize> Parameter for [P; N] {
    type First = [Parts<P>; N];
    type Second = ();
    type Third = ();
    type Form = Composite;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("array").number(N as u64).then(P::FINGERPRINT);
    #[inline_on_device]
    fn into_parts(self) -> Parts<Self> {
        const { fits::<Self::First>() };
        Parts { first: self.map(P::into_parts), second: (), third: () }
    }
    #[inline_on_device]
    unsafe fn from_parts(parts: Parts<Self>) -> Self {
        const { fits::<Self::First>() };
        // SAFETY: each element's parts come from a valid argument, by the same contract.
        parts.first.map(|element| unsafe { P::from_parts(element) })
    }
}
