//! Where along an axis the largest and the smallest elements are.

use super::Reduced;
use super::algorithm::reduce;
use crate::arch;
use crate::element::{Comparable, Element};
use crate::layout::Layout;
use crate::ops::modes::{NanChoice, SuppressNan};
use crate::ops::sort::coordinate;
use crate::shape::{Axis, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Where along axis `A` the largest elements are.
    ///
    /// Of equal elements it is the first. A NaN loses against any number. If all elements are NaN, it is 0.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = (cx.iota::<i32>(shape![8]) * 3) % 8;
    ///     assert_eq!(t.argmax::<0>().at([0]), 5);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Slice`](crate::layout::Slice). The element and its position go from lane to lane together, each by
    /// `shfl.sync.bfly.b32` (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync"), and from warp to warp through shared
    /// memory: the [module](super#on-a-gpu) has the steps.
    #[inline_on_device]
    #[doc(alias("max_element"))]
    pub fn argmax<const A: usize>(self) -> Reduced<u32, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.argmax_with::<A>(SuppressNan)
    }

    /// Where along axis `A` the largest elements are; with [`PropagateNan`](crate::ops::modes::PropagateNan) the first NaN.
    #[inline_on_device]
    pub fn argmax_with<const A: usize>(self, mode: impl NanChoice) -> Reduced<u32, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.locate::<A, _>(mode, |a, b| b.less(a))
    }

    /// Where along axis `A` the smallest elements are.
    ///
    /// Of equal elements it is the first. A NaN loses against any number.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.tile_of([3, 1, 4, 1]);
    ///     assert_eq!(t.argmin::<0>().at([0]), 1);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// As [`argmax`](Self::argmax).
    #[inline_on_device]
    #[doc(alias("min_element"))]
    pub fn argmin<const A: usize>(self) -> Reduced<u32, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.argmin_with::<A>(SuppressNan)
    }

    /// Where along axis `A` the smallest elements are; with [`PropagateNan`](crate::ops::modes::PropagateNan) the first NaN.
    #[inline_on_device]
    pub fn argmin_with<const A: usize>(self, mode: impl NanChoice) -> Reduced<u32, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.locate::<A, _>(mode, |a, b| a.less(b))
    }

    /// The position of the element that `better` prefers; NaN before or after all others, ties to the lower one.
    #[inline_on_device]
    fn locate<const A: usize, N: NanChoice>(
        self,
        _mode: N,
        better: impl Fn(T, T) -> bool,
    ) -> Reduced<u32, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        let thread = arch::execution::thread();
        let located = reduce::<(T, u32), S, L, A>(
            |i| (self.registers().get(i), coordinate::<S, L, A>(thread, i)),
            |located| located,
            |a, b| {
                let (a_nan, b_nan) = (a.0.is_nan(), b.0.is_nan());
                let tie = (a_nan & b_nan) | (!a_nan & !b_nan & !better(a.0, b.0) & !better(b.0, a.0));
                let a_wins = if tie {
                    a.1 < b.1
                } else if a_nan | b_nan {
                    a_nan == N::PROPAGATES
                } else {
                    better(a.0, b.0)
                };
                if a_wins { a } else { b }
            },
        );
        Tile::from_registers_fn(|i| located.get(i).1)
    }
}
