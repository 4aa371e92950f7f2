//! Stream-K: the k steps of the last tiles, divided evenly among all blocks.
//!
//! Tiles that do not fill a wave of blocks would leave multiprocessors idle for the time of a whole tile. Stream-K lines up the k steps of
//! these tiles, one tile behind the other, and gives each block the same number of consecutive k steps (Osama, Merrill, Cecka, Garland,
//! Owens, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", 2023).
//!
//! There are fewer tiles than blocks. So a block has fewer k steps than a tile, and they belong to two tiles at most. The block stores its
//! partial sums of each tile in a slot. The second pass adds up the slots of a tile, in the order of their k steps. The slots of a tile
//! depend on the numbers of tiles, k steps and blocks alone. So these numbers determine the result to the last bit.

use core::ops::Range;
use cuda_tiles::inline_on_device;

/// A division of `tiles` tiles of `steps` k steps among `blocks` blocks. There are at most as many tiles as blocks.
#[derive(Clone, Copy)]
pub(super) struct StreamK {
    pub(super) tiles: u32,
    pub(super) steps: u32,
    pub(super) blocks: u32,
}

/// The k steps that a block accumulates for one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkUnit {
    pub(super) tile: u32,
    /// The first k step, counted within the tile.
    pub(super) first: u32,
    /// The number of k steps. An unused slot has none.
    pub(super) count: u32,
}

impl StreamK {
    /// The k steps of each block, and the number of blocks with one k step more.
    #[inline_on_device]
    fn each(&self) -> (u32, u32) {
        let (all, blocks) = (self.tiles * self.steps, self.blocks.max(1));
        (all / blocks, all % blocks)
    }

    /// The first k step of a block, counted through all tiles.
    #[inline_on_device]
    fn begin(&self, block: u32) -> u32 {
        let (each, more) = self.each();
        block * each + block.min(more)
    }

    /// The block of a k step, which is counted through all tiles.
    #[inline_on_device]
    fn block_of(&self, step: u32) -> u32 {
        let (each, more) = self.each();
        // The first `more` blocks have one k step more.
        let longer = more * (each + 1);
        if step < longer { step / (each + 1) } else { more + (step - longer) / each.max(1) }
    }

    /// The work unit of a slot. Block `b` has the slots `b` and `blocks + b`.
    #[inline_on_device]
    pub(super) fn work_unit(&self, slot: u32) -> WorkUnit {
        let block = slot % self.blocks.max(1);
        let (begin, end) = (self.begin(block), self.begin(block + 1));
        let tile = begin / self.steps.max(1);
        let (tile_begin, tile_end) = (tile * self.steps, (tile + 1) * self.steps);
        if slot == block {
            WorkUnit { tile, first: begin - tile_begin, count: end.min(tile_end) - begin }
        } else {
            WorkUnit { tile: tile + 1, first: 0, count: end.saturating_sub(tile_end) }
        }
    }

    /// The slots of a tile, in the order of their k steps.
    #[inline_on_device]
    pub(super) fn slots(&self, tile: u32) -> Slots {
        let first = tile * self.steps;
        let (block, last) = (self.block_of(first), self.block_of(first + self.steps.max(1) - 1));
        // The tile is the second tile of the first block, unless that block begins with this tile.
        let slot = if self.begin(block) < first { self.blocks + block } else { block };
        Slots { first: slot, second: block + 1, count: last + 1 - block }
    }
}

/// The slots of one tile: one slot of each block that has k steps of the tile, from the first block to the last.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    first: u32,
    second: u32,
    count: u32,
}

impl Slots {
    /// The slot of the first k steps.
    #[inline_on_device]
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The slots of the other k steps, which lie one behind the other.
    #[inline_on_device]
    pub(super) fn others(&self) -> Range<u32> {
        self.second..self.second + self.count - 1
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::iter;
    use std::vec::Vec;

    #[test]
    fn slots_hold_every_k_step_once_and_in_order() {
        for blocks in [1, 2, 3, 7, 16, 132] {
            for steps in [1, 2, 5, 48, 63] {
                for tiles in 1..=blocks {
                    let stream_k = StreamK { tiles, steps, blocks };
                    let mut used = 0;
                    for tile in 0..tiles {
                        let slots = stream_k.slots(tile);
                        let slots = iter::once(slots.first()).chain(slots.others());
                        let units = slots.map(|slot| stream_k.work_unit(slot));
                        let units: Vec<WorkUnit> = units.collect();
                        let mut next = 0;
                        for unit in &units {
                            assert_eq!((unit.tile, unit.first), (tile, next), "{units:?}");
                            assert!(unit.count > 0, "{units:?}");
                            next += unit.count;
                        }
                        assert_eq!(next, steps, "{units:?}");
                        used += units.len();
                    }
                    let all = (0..2 * blocks).filter(|&slot| stream_k.work_unit(slot).count > 0);
                    assert_eq!(all.count(), used, "{tiles} tiles of {steps} k steps, {blocks} blocks");
                    for block in 0..blocks {
                        let is_used = [block, blocks + block].map(|slot| stream_k.work_unit(slot).count > 0);
                        assert!(is_used[0] || !is_used[1]);
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_differ_by_one_k_step_at_most() {
        for (tiles, steps, blocks) in [(24, 48, 132), (131, 64, 132), (1, 3, 7), (5, 1, 16)] {
            let stream_k = StreamK { tiles, steps, blocks };
            let count = |block| stream_k.work_unit(block).count + stream_k.work_unit(blocks + block).count;
            let least = (0..blocks).map(count).min().unwrap_or(0);
            assert!((0..blocks).all(|block| count(block) - least <= 1));
        }
    }
}
