//! Other shapes and other places of the same elements: reshape, broadcast, transpose, join, cut, pick.
//!
//! # On a GPU
//!
//! The layout of the result decides. If the threads already hold the elements of the result, elements stay in registers.
//!
//! Else each element goes once through shared memory, without bank conflicts. A thread writes it by `st.shared`, and another
//! thread reads it by `ld.shared` (PTX ISA, "Data Movement and Conversion Instructions: st" and "ld"), between two barriers
//! (`bar.sync`). A tile that is larger than the scratch memory takes several rounds.

// The order is that of the tables in the documentation of `Tile`.
mod count;
mod reshape;

mod axes;
mod cut;
mod join;
mod pick;

use crate::element::Element;
use crate::layout::Layout;
use crate::sealed::Sealed;
use crate::shape::Shape;
use crate::tile::Tile;

pub use cut::Half;
pub use join::Joins;
pub use pick::{Diagonal, IndexTile, Take, Taken};

/// Any tile, as an operand of operations whose results do not depend on all of its type.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a tile", label = "expected a tile")]
pub trait AnyTile: Sealed + Copy {
    /// Its element type.
    type Element: Element;
    /// Its shape.
    type Shape: Shape;
    /// Its layout.
    type Layout: Layout;
    /// The tile itself.
    #[doc(hidden)]
    fn tile(self) -> Tile<Self::Element, Self::Shape, Self::Layout>;
}

impl<T: Element, S: Shape, L: Layout> AnyTile for Tile<T, S, L> {
    type Element = T;
    type Shape = S;
    type Layout = L;
    #[inline_on_device]
    fn tile(self) -> Self {
        self
    }
}
