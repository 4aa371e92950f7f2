//! The starts of a view's tiles: side by side, at other steps, or at any element.

use crate::protocol::{BOUNDS, WINDOW};
use crate::sealed::{Sealed, sealed};
use crate::shape::{D, MAXIMUM_RANK, OfRank, Shape};
use core::marker::PhantomData;

/// How tile indices become element indices, for tiles of shape `S`.
pub trait Traversal<S: Sealed>: Sealed + Copy + 'static {
    /// Elements between the starts of neighbouring tiles along each axis; 1 beyond the rank.
    const STEPS: [u64; MAXIMUM_RANK];
    /// Whether indices may be negative: tiles may reach over the low edge of the tensor.
    const SIGNED: bool;
    /// Whether tiles of different indices share no element.
    const DISJOINT: bool;
    /// The error text for an index that reaches outside the tensor.
    const OUTSIDE: usize;
}

/// Tiles side by side: tile `i` starts at element `i` times its dimension.
#[derive(Clone, Copy, Debug, Default)]
pub struct SideBySide;

impl<S: Shape> Traversal<S> for SideBySide {
    const STEPS: [u64; MAXIMUM_RANK] = dimensions(S::DESCRIPTION.log);
    const SIGNED: bool = false;
    const DISJOINT: bool = true;
    const OUTSIDE: usize = BOUNDS;
}

/// Tiles at static steps, a tuple of `D<STEP>` made by [`steps!`](crate::steps): they overlap where a step is shorter than
/// the tile, and leave gaps where it is longer.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtSteps<N>(PhantomData<N>);

/// Static steps: a tuple of `D<STEP>`, one for each axis.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not the steps of tiles",
    label = "expected a tuple of at most 4 steps",
    note = "write `steps![2, 3]`, one positive step for each axis of the tile"
)]
pub trait Steps: Sealed + Copy + 'static {
    /// The steps; 1 beyond the rank.
    const STEPS: [u64; MAXIMUM_RANK];
}

macro_rules! steps {
    ($($rank:literal: $($name:ident)*, $($rest:literal)*;)*) => { $(
        impl<$(const $name: usize),*> Steps for ($(D<$name>,)*) {
            const STEPS: [u64; MAXIMUM_RANK] = {
                $( assert!($name > 0, "the step of a strided view is positive"); )*
                [$($name as u64,)* $($rest),*]
            };
        }
    )* };
}
steps! { 0: , 1 1 1 1; 1: I, 1 1 1; 2: I J, 1 1; 3: I J K, 1; 4: I J K L, ; }

impl<S: Shape, N: Steps + OfRank<S::Rank>> Traversal<S> for AtSteps<N> {
    const STEPS: [u64; MAXIMUM_RANK] = N::STEPS;
    const SIGNED: bool = false;
    const DISJOINT: bool = at_least(N::STEPS, dimensions(S::DESCRIPTION.log));
    const OUTSIDE: usize = BOUNDS;
}

/// Tiles at any element: the index is the tile's first element, and may be negative.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtElements;

impl<S: Shape> Traversal<S> for AtElements {
    const STEPS: [u64; MAXIMUM_RANK] = [1; MAXIMUM_RANK];
    const SIGNED: bool = true;
    const DISJOINT: bool = at_least([1; MAXIMUM_RANK], dimensions(S::DESCRIPTION.log));
    const OUTSIDE: usize = WINDOW;
}

/// Static steps of a strided view as a value: `steps![2, 3]`.
#[macro_export]
macro_rules! steps {
    ($($step:expr),* $(,)?) => { ($($crate::shape::D::<{ $step }>,)*) };
}

/// The dimensions with these logarithms.
const fn dimensions(log: [u32; MAXIMUM_RANK]) -> [u64; MAXIMUM_RANK] {
    [1 << log[0], 1 << log[1], 1 << log[2], 1 << log[3]]
}

/// Whether each step is at least as long as the tile.
const fn at_least(steps: [u64; MAXIMUM_RANK], dimensions: [u64; MAXIMUM_RANK]) -> bool {
    let (mut all, mut axis) = (true, 0);
    while axis < MAXIMUM_RANK {
        all &= steps[axis] >= dimensions[axis];
        axis += 1;
    }
    all
}

sealed! {
    [] SideBySide;
    [N] AtSteps<N>;
    [] AtElements;
}
