//! The numbers of the tiles of one block, and the tile of each number.

use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::{execution, order};
use crate::context::Cx;
use crate::layout::Block;
use crate::schedule::order::TileOrder;

/// The numbers of one block's tiles.
#[derive(Clone)]
pub(crate) struct Numbers {
    next: Option<u32>,
    pub(crate) step: u32,
    total: u32,
}

impl Iterator for Numbers {
    type Item = u32;
    #[inline_on_device]
    fn next(&mut self) -> Option<u32> {
        order::reveals_index();
        let number = self.next.filter(|&number| number < self.total)?;
        self.next = number.checked_add(self.step);
        Some(number)
    }
}

impl Numbers {
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn new(first: u32, step: u32, [a, b, c]: [u32; 3]) -> Self {
        let total = u64::from(a).saturating_mul(u64::from(b)).saturating_mul(u64::from(c));
        if total > u64::from(u32::MAX) {
            execution::fail(|text| {
                text.write_str("a store operand has fewer than 2^32 tiles; use larger ones")
            })
        }
        Self { next: Some(first), step, total: total as u32 }
    }

    /// The first `count` of these numbers.
    #[inline_on_device]
    pub(crate) fn first(self, count: u32) -> Self {
        let end = self.next.map_or(0, |next| next.saturating_add(self.step.saturating_mul(count)));
        Self { total: self.total.min(end), ..self }
    }
}

/// The tiles that groups of blocks share, if blocks share `counts` tiles.
///
/// A group is the blocks that share a producer: those of a CTA, which have tiles one below the other, or those of a cluster.
#[inline_on_device]
pub(crate) fn of_groups<B: Block>([matrices, rows, columns]: [u32; 3]) -> [u32; 3] {
    let [group_rows, group_columns] = tiles_of_group::<B>();
    [matrices, rows.div_ceil(group_rows), columns.div_ceil(group_columns)]
}

/// The rows and columns of tiles that the blocks of a group have side by side.
#[inline_on_device]
pub(crate) const fn tiles_of_group<B: Block>() -> [u32; 2] {
    [B::CONSUMERS * B::CLUSTER[0], B::CLUSTER[1]]
}

/// The numbers of a group's tiles, of `counts` tiles that the groups share.
#[inline_on_device]
#[track_caller]
pub(crate) fn numbers_of<B: Block>(cx: Cx<B>, counts: [u32; 3]) -> Numbers {
    let [group, groups] = cx.group();
    Numbers::new(group, groups, counts)
}

/// The index of tile `number`, computed where it is used. Where consumers also schedule the tiles, no register keeps anything
/// for it in advance: their multiplications need the registers.
#[inline_on_device]
pub(crate) fn locate(order: &impl TileOrder, number: u32, blocks: u32, counts: [u32; 3]) -> [u32; 3] {
    let rematerialise =
        |numbers: [u32; 3]| if PRODUCER_WARP { numbers } else { numbers.map(execution::rematerialise) };
    rematerialise(order.locate_among(number, blocks, rematerialise(counts)))
}
