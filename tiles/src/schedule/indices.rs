//! The tile indices of one block of a persistent grid.

use crate::arch::execution;
use crate::context::Cx;
use crate::layout::Block;
use crate::schedule::order::TileOrder;
use crate::shape::MAXIMUM_RANK;

impl<B: Block> Cx<B> {
    /// This block's tile indices, when a persistent grid computes `counts` tiles along each axis in this order.
    ///
    /// The block gets the tiles with numbers [`bid`](Cx::bid) plus multiples of the number of blocks. The indices are plain
    /// numbers, for reads. [`PartitionView::schedule`](crate::view::PartitionView::schedule) gives tiles that can also be
    /// stored.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let order: Vec<_> = cx.indices(Grouped::<2>, [3, 2]).collect();
    ///     assert_eq!(order, [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1]]);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If there are 2³² tiles or more (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn indices<O: TileOrder, const R: usize>(
        self,
        order: O,
        counts: [u32; R],
    ) -> impl Iterator<Item = [u32; R]> {
        let count = |axis: usize| if axis < R { u64::from(counts[axis]) } else { 1 };
        let (total, step) = (total([count(0), count(1), count(2), count(3)]), self.num_blocks(0));
        let mut next = Some(*self.bid::<0>());
        core::iter::from_fn(move || {
            let number = next.filter(|&number| number < total)?;
            next = number.checked_add(step);
            Some(order.locate_among(number, step, counts))
        })
    }
}

/// The product of the counts, which must be a `u32`.
#[inline_on_device]
#[track_caller]
pub(crate) fn total([a, b, c, d]: [u64; MAXIMUM_RANK]) -> u32 {
    // Zero stays zero. A saturated product is too large.
    let total = a.saturating_mul(b).saturating_mul(c).saturating_mul(d);
    if total <= u64::from(u32::MAX) {
        total as u32
    } else {
        execution::fail(|text| text.write_str("a schedule has fewer than 2^32 tiles; use larger ones"))
    }
}
