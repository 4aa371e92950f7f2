//! The common type of integers of different signedness, on demand.

use crate::element::{Cast, Element, PromoteMixed};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// This tile of integers and `other` in their common type by the rules of CUDA Tile C++.
    ///
    /// Operators refuse a signed and an unsigned integer, as one of them may lose its value. This method takes them: [`PromoteMixed`] has the
    /// rules.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (a, b) = cx.full(shape![4], -1i32).promote_mixed(cx.full(shape![4], 2u16));
    ///     assert_eq!((a + b).at([0]), 1i32);
    ///     let (a, b) = cx.full(shape![4], -1i16).promote_mixed(cx.full(shape![4], 2u32));
    ///     assert_eq!((a.at([0]), (a + b).at([0])), (u32::MAX, 1));
    /// });
    /// ```
    #[inline_on_device]
    pub fn promote_mixed<U, R, M>(
        self,
        other: Tile<U, R, M>,
    ) -> (Tile<T::Output, S, L>, Tile<T::Output, R, M>)
    where
        T: PromoteMixed<U>,
        U: Cast<T::Output>,
        R: Shape,
        M: Layout,
    {
        (self.cast(), other.cast())
    }
}
