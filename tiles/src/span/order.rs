//! Orders of the axes of a span.

use super::extents::{Extent, Extents};
use crate::sealed::Sealed;
use crate::shape::order::{OrderC, OrderF};
use crate::shape::{D, MAXIMUM_RANK};

/// An order of the axes of extents `E`: a tuple of axis numbers, made by [`axes!`](crate::axes), [`OrderC`] or [`OrderF`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order of the axes of a span with extents `{E}`",
    label = "not a permutation of the span's axes",
    note = "`axes![1, 0]` names each axis of the span once; OrderC leaves them as they are, OrderF reverses them"
)]
#[doc(alias("dimension_map", "dim_map"))]
pub trait AxisOrder<E: Extents>: Sealed {
    /// The extents in the new order.
    type Permuted: Extents;
    /// The order with its axes by number.
    type Axes: Permutation;
    /// The extents in the new order.
    fn permute(extents: E) -> Self::Permuted;
}

/// An order of axes by number: `(D<1>, D<0>)`.
pub trait Permutation: Sealed + Copy + Send + Sync + 'static {
    /// How many axes it orders.
    const RANK: usize;
    /// Which axis of the span each new axis is; beyond the rank itself.
    const AXES: [usize; MAXIMUM_RANK];
}

/// An order of axes, or a list of axes, as a value: `axes![1, 0]`.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let t = cx.arange(shape![2, 4], 0i32, 1);
///     assert_eq!(t.permute(axes![1, 0]).at([3, 1]), 7);
///     assert_eq!(t.sum_over(axes![0, 1]).at([0, 0]), 28);
/// });
/// ```
#[macro_export]
macro_rules! axes {
    ($($axis:literal),* $(,)?) => { ($($crate::shape::D::<$axis>,)*) };
}

/// For each tuple of extents its permutations: the axes in their new order with the extents' names, and what fills
/// the rest of the array.
macro_rules! permutations {
    ($($all:tt: $([$($axis:tt $name:ident)*] [$($rest:literal)*])*;)*) => { $($(
        permutations!(@one $all [$($axis $name)*] [$($rest)*]);
    )*)* };
    (@one ($($all:ident)*) [$($axis:tt $name:ident)*] [$($rest:literal)*]) => {
        impl Permutation for ($(D<$axis>,)*) {
            const RANK: usize = MAXIMUM_RANK - { let rest: &[usize] = &[$($rest),*]; rest.len() };
            const AXES: [usize; MAXIMUM_RANK] = [$($axis,)* $($rest),*];
        }
        impl<$($all: Extent),*> AxisOrder<($($all,)*)> for ($(D<$axis>,)*) {
            type Permuted = ($($name,)*);
            type Axes = Self;
            #[inline_on_device]
            #[allow(clippy::unused_unit, reason = "the tuple of none")]
            fn permute(extents: ($($all,)*)) -> Self::Permuted {
                let _ = extents;
                ($(extents.$axis,)*)
            }
        }
    };
}
permutations! {
    (): [] [0 1 2 3];
    (A): [0 A] [1 2 3];
    (A B): [0 A 1 B] [2 3] [1 B 0 A] [2 3];
    (A B C): [0 A 1 B 2 C] [3] [0 A 2 C 1 B] [3] [1 B 0 A 2 C] [3] [1 B 2 C 0 A] [3] [2 C 0 A 1 B] [3] [2 C 1 B 0 A] [3];
    (A B C F):
        [0 A 1 B 2 C 3 F] [] [0 A 1 B 3 F 2 C] [] [0 A 2 C 1 B 3 F] [] [0 A 2 C 3 F 1 B] [] [0 A 3 F 1 B 2 C] [] [0 A 3 F 2 C 1 B] []
        [1 B 0 A 2 C 3 F] [] [1 B 0 A 3 F 2 C] [] [1 B 2 C 0 A 3 F] [] [1 B 2 C 3 F 0 A] [] [1 B 3 F 0 A 2 C] [] [1 B 3 F 2 C 0 A] []
        [2 C 0 A 1 B 3 F] [] [2 C 0 A 3 F 1 B] [] [2 C 1 B 0 A 3 F] [] [2 C 1 B 3 F 0 A] [] [2 C 3 F 0 A 1 B] [] [2 C 3 F 1 B 0 A] []
        [3 F 0 A 1 B 2 C] [] [3 F 0 A 2 C 1 B] [] [3 F 1 B 0 A 2 C] [] [3 F 1 B 2 C 0 A] [] [3 F 2 C 0 A 1 B] [] [3 F 2 C 1 B 0 A] [];
}

/// The orders that have a name, in terms of the numbered ones.
macro_rules! named_orders {
    ($($all:tt $forward:ty, $reversed:ty;)*) => { $(
        named_orders!(@one OrderC $all $forward);
        named_orders!(@one OrderF $all $reversed);
    )* };
    (@one $name:ident ($($all:ident)*) $order:ty) => {
        impl<$($all: Extent),*> AxisOrder<($($all,)*)> for $name {
            type Permuted = <$order as AxisOrder<($($all,)*)>>::Permuted;
            type Axes = $order;
            #[inline_on_device]
            fn permute(extents: ($($all,)*)) -> Self::Permuted {
                <$order as AxisOrder<($($all,)*)>>::permute(extents)
            }
        }
    };
}
named_orders! {
    () (), ();
    (A) (D<0>,), (D<0>,);
    (A B) (D<0>, D<1>), (D<1>, D<0>);
    (A B C) (D<0>, D<1>, D<2>), (D<2>, D<1>, D<0>);
    (A B C F) (D<0>, D<1>, D<2>, D<3>), (D<3>, D<2>, D<1>, D<0>);
}
