//! Broadcasting of shapes by NumPy's rules: align at the last axis; two dimensions go together when they are
//! equal or one of them is 1; missing leading dimensions count as 1.

use super::{D, Dimension, Shape};
use crate::sealed::Sealed;

/// Two dimensions that broadcast together.
#[diagnostic::on_unimplemented(
    message = "tile dimensions `{Self}` and `{Other}` do not broadcast",
    label = "incompatible tile shapes",
    note = "two dimensions go together when they are equal or one of them is 1 (NumPy's rules, aligned at the last axis)"
)]
pub trait BroadcastDimension<Other: Sealed>: Sealed {
    /// The larger dimension.
    type Output: Dimension;
}

/// Two shapes that broadcast together.
#[diagnostic::on_unimplemented(
    message = "tile shapes `{Self}` and `{Other}` do not broadcast",
    label = "incompatible tile shapes",
    note = "two dimensions go together when they are equal or one of them is 1 (NumPy's rules, aligned at the last axis)"
)]
pub trait Broadcast<Other: Sealed>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}

/// The common shape of a tile and of `Wanted`, where it is `Wanted` itself: the tile broadcasts to it.
#[diagnostic::on_unimplemented(
    message = "a tile does not broadcast to the smaller shape `{Wanted}`",
    label = "together they have the shape `{Self}`",
    note = "only dimensions of size 1 grow; `reshape` keeps the number of elements, and reductions make tiles smaller"
)]
pub trait FitsShape<Wanted: Sealed>: Sealed {}

impl<S: Sealed> FitsShape<S> for S {}

/// Shapes of tiles that broadcast to `Wanted`.
#[diagnostic::on_unimplemented(
    message = "a tile of shape `{Self}` does not broadcast to the shape `{Wanted}`",
    label = "does not broadcast to `{Wanted}`",
    note = "only dimensions of size 1 grow; `reshape` keeps the number of elements, and reductions make tiles smaller"
)]
pub trait BroadcastsTo<Wanted: Shape>: Shape + Broadcast<Wanted, Output: FitsShape<Wanted>> {}

impl<W: Shape, S: Shape + Broadcast<W, Output: FitsShape<W>>> BroadcastsTo<W> for S {}

type Wider<A, B> = <A as BroadcastDimension<B>>::Output;

macro_rules! dimensions {
    ($($size:literal)*) => { $(
        impl BroadcastDimension<D<$size>> for D<$size> {
            type Output = D<$size>;
        }
        impl BroadcastDimension<D<1>> for D<$size> {
            type Output = D<$size>;
        }
    )* };
}
// For every dimension, and not one after the other, so that it holds of a dimension that a generic function does not know.
impl<N: Dimension> BroadcastDimension<N> for D<1> {
    type Output = N;
}
dimensions!(2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576
    2097152 4194304 8388608 16777216);

/// The ranks 0 to 4 against the ranks 0 to 4. `[A B] [] ; [X Y]`: shapes `(A, B, X)` and `(Y,)` would read
/// `[A] [] ; [B Y]`: leading dimensions of the longer shape, then the pairs of aligned dimensions.
macro_rules! broadcast {
    ($([$($own:ident)*] [$($others:ident)*]; $([$left:ident $right:ident])*;)*) => { $(
        impl<$($own: Dimension,)* $($others: Dimension,)* $($left: Dimension + BroadcastDimension<$right>, $right: Dimension),*>
            Broadcast<($($others,)* $($right,)*)> for ($($own,)* $($left,)*)
        {
            type Output = ($($own,)* $($others,)* $(Wider<$left, $right>,)*);
        }
    )* };
}
broadcast! {
    [] []; ;
    [] [P0]; ;
    [] [P0 P1]; ;
    [] [P0 P1 P2]; ;
    [] [P0 P1 P2 P3]; ;
    [O0] []; ;
    [] []; [L0 R0];
    [] [P0]; [L0 R0];
    [] [P0 P1]; [L0 R0];
    [] [P0 P1 P2]; [L0 R0];
    [O0 O1] []; ;
    [O0] []; [L0 R0];
    [] []; [L0 R0] [L1 R1];
    [] [P0]; [L0 R0] [L1 R1];
    [] [P0 P1]; [L0 R0] [L1 R1];
    [O0 O1 O2] []; ;
    [O0 O1] []; [L0 R0];
    [O0] []; [L0 R0] [L1 R1];
    [] []; [L0 R0] [L1 R1] [L2 R2];
    [] [P0]; [L0 R0] [L1 R1] [L2 R2];
    [O0 O1 O2 O3] []; ;
    [O0 O1 O2] []; [L0 R0];
    [O0 O1] []; [L0 R0] [L1 R1];
    [O0] []; [L0 R0] [L1 R1] [L2 R2];
    [] []; [L0 R0] [L1 R1] [L2 R2] [L3 R3];
}
