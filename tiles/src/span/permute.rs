//! Spans with their axes in another order: cuTile's `order` of loads and stores.

use super::extents::{Extents, OffsetInteger};
use super::mapping::{Mapping, Permuted};
use super::order::{AxisOrder, Permutation};
use super::{Access, Alignment, TensorSpan};
use crate::element::Element;
use crate::sealed::Sealed;
use crate::shape::{D, MAXIMUM_RANK, Rank};

/// A rank that has the axes `A` and `B`.
#[diagnostic::on_unimplemented(
    message = "a span of rank `{Self}` has no axes {A} and {B} to swap",
    label = "no such axes",
    note = "axes count from 0 and must be below the rank of the span"
)]
pub trait SwapAxes<const A: usize, const B: usize>: Sealed {
    /// The order that swaps both.
    type Order;
}

macro_rules! swaps {
    ($($rank:literal axes, $($a:literal with $b:literal: $($axis:literal)*),*;)*) => { $($(
        impl SwapAxes<$a, $b> for Rank<$rank> {
            type Order = ($(D<$axis>,)*);
        }
    )*)* };
}
swaps! {
    1 axes, 0 with 0: 0;
    2 axes, 0 with 0: 0 1, 0 with 1: 1 0, 1 with 0: 1 0, 1 with 1: 0 1;
    3 axes, 0 with 0: 0 1 2, 0 with 1: 1 0 2, 0 with 2: 2 1 0, 1 with 0: 1 0 2, 1 with 1: 0 1 2, 1 with 2: 0 2 1, 2 with 0: 2 1 0, 2 with 1: 0 2 1, 2 with 2: 0 1 2;
    4 axes, 0 with 0: 0 1 2 3, 0 with 1: 1 0 2 3, 0 with 2: 2 1 0 3, 0 with 3: 3 1 2 0, 1 with 0: 1 0 2 3, 1 with 1: 0 1 2 3, 1 with 2: 0 2 1 3, 1 with 3: 0 3 2 1, 2 with 0: 2 1 0 3, 2 with 1: 0 2 1 3, 2 with 2: 0 1 2 3, 2 with 3: 0 1 3 2, 3 with 0: 3 1 2 0, 3 with 1: 0 3 2 1, 3 with 2: 0 1 3 2, 3 with 3: 0 1 2 3;
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The same tensor with its axes in the given order: axis `k` of the result is axis `order[k]` of this span.
    ///
    /// Tile shapes and indices then go by the new axes, as with cuTile's `order`. cuTile's transposing load is
    /// `tile[y, x] = tensor[i * 2 + x, j * 4 + y]` for `order=(1, 0)`, shape `(4, 2)` and index `(j, i)`:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let (i, j) = (1, 1);
    ///     let tile = span.permute(axes![1, 0]).partition(cx, shape![4, 2]).load((j, i));
    ///     for (y, x) in [(0, 0), (3, 1), (2, 0)] {
    ///         assert_eq!(tile.at([y, x]) as u32, (i * 2 + x) * 8 + j * 4 + y);
    ///     }
    ///     let same = span.permute(OrderF).partition(cx, shape![4, 2]).load((j, i));
    ///     assert!(same.eq(tile).all::<ALL>().item());
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// An order is made by [`axes!`](crate::axes), or is [`OrderC`](super::OrderC) or [`OrderF`](super::OrderF). A writable span is consumed, as
    /// by [`partition`](TensorSpan::partition).
    ///
    /// # On a GPU
    ///
    /// Nothing is moved. Tiles are loaded along the contiguous axis, and then transposed:
    /// [`TiledView`](crate::view::TiledView#alignment-and-width).
    #[inline_on_device]
    #[doc(alias("partition_permuted"))]
    pub fn permute<O: AxisOrder<E, Permuted: Extents<Offset = E::Offset>>>(
        self,
        order: O,
    ) -> TensorSpan<T, O::Permuted, A, Permuted<M, O::Axes>, G> {
        let _ = order;
        let strides = self.strides();
        let mut permuted = [0; MAXIMUM_RANK];
        let mut axis = 0;
        while axis < E::RANK {
            permuted[axis] = strides[O::Axes::AXES[axis]].to_u64();
            axis += 1;
        }
        let mapping = Permuted::<M, O::Axes>::from_strides::<O::Permuted>(permuted);
        // SAFETY: the same elements at the same places, under the contract of this span, which it replaces.
        unsafe { TensorSpan::from_checked(self.pointer, O::permute(self.extents), mapping, self.origin) }
    }

    /// The same tensor with axes `FIRST` and `SECOND` swapped.
    ///
    /// The other axes stay where they are. Nothing is moved: see [`permute`](Self::permute).
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..8).collect();
    /// cpu::block_on(&numbers, [2, 4], |cx, span: Span<i32, (u32, u32)>| {
    ///     let columns = span.transpose::<0, 1>().partition(cx, shape![4, 1]);
    ///     assert_eq!(columns.load((0, 1)).at([2, 0]), 6);
    /// });
    /// ```
    #[inline_on_device]
    pub fn transpose<const FIRST: usize, const SECOND: usize>(
        self,
    ) -> TensorSpan<T, Transposed<E, FIRST, SECOND>, A, Permuted<M, TransposedAxes<E, FIRST, SECOND>>, G>
    where
        E::Rank:
            SwapAxes<FIRST, SECOND, Order: AxisOrder<E, Permuted: Extents<Offset = E::Offset>> + Default>,
    {
        self.permute(<E::Rank as SwapAxes<FIRST, SECOND>>::Order::default())
    }
}

/// Extents `E` with two axes swapped.
pub type Transposed<E, const FIRST: usize, const SECOND: usize> =
    <<<E as Extents>::Rank as SwapAxes<FIRST, SECOND>>::Order as AxisOrder<E>>::Permuted;
/// The order that swaps two axes of extents `E`.
pub type TransposedAxes<E, const FIRST: usize, const SECOND: usize> =
    <<<E as Extents>::Rank as SwapAxes<FIRST, SECOND>>::Order as AxisOrder<E>>::Axes;
