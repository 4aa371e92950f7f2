//! Other shapes and other places of the same elements: reshape, broadcast, transpose, join, cut, pick.
//!
//! Where a tile's threads already hold what the result wants, elements stay in registers; else each goes once through
//! shared memory, without bank conflicts, and the cost is that of two barriers, one write and one read an element.

mod axes;
mod count;
mod cut;
mod join;
mod pick;
mod reshape;

use crate::element::Element;
use crate::layout::Layout;
use crate::sealed::Sealed;
use crate::shape::Shape;
use crate::tile::Tile;

pub use cut::Half;
pub use join::Joins;
pub use pick::{Diagonal, IndexTile, Taken};

/// Any tile: what operations take whose results do not depend on all of its type.
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
    #[inline(always)]
    fn tile(self) -> Self {
        self
    }
}
