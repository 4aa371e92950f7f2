//! Sums cut evenly: which block adds up which steps of which tile.
//!
//! Tiles that do not fill a wave of blocks would leave multiprocessors idle for the time of a whole tile. Instead their steps,
//! one tile's behind the other's, are dealt out to all blocks, to each as many neighbouring ones (Stream-K: Osama, Merrill, Cecka,
//! Garland, Owens, "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", 2023). There
//! are fewer tiles than blocks, so a share is less than a tile and has steps of two at most: a block stores its sums of each
//! in a slot, and the second pass adds up the slots of a tile, in the order of their steps. Which these are depends on the
//! numbers of tiles, steps and blocks alone, and so does the result to the last bit.

/// The shares of `blocks` blocks in `tiles` tiles, at most as many, of `steps` steps each.
#[derive(Clone, Copy)]
pub(super) struct Shares {
    pub(super) tiles: u32,
    pub(super) steps: u32,
    pub(super) blocks: u32,
}

/// What a block adds up for one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) tile: u32,
    /// The first of the tile's steps.
    pub(super) first: u32,
    /// How many steps: none where the slot is not used.
    pub(super) count: u32,
}

impl Shares {
    /// Steps of each block, and how many blocks have one more.
    #[inline(always)]
    fn each(&self) -> (u32, u32) {
        let (all, blocks) = (self.tiles * self.steps, self.blocks.max(1));
        (all / blocks, all % blocks)
    }

    /// The first step of a block, counted through all tiles.
    #[inline(always)]
    fn begin(&self, block: u32) -> u32 {
        let (each, more) = self.each();
        block * each + block.min(more)
    }

    /// The block that a step falls to.
    #[inline(always)]
    fn block_of(&self, step: u32) -> u32 {
        let (each, more) = self.each();
        let of_longer = more * (each + 1);
        if step < of_longer { step / (each + 1) } else { more + (step - of_longer) / each.max(1) }
    }

    /// What belongs into a slot. Those of block `b` are `b` and `blocks + b`.
    #[inline(always)]
    pub(super) fn piece(&self, slot: u32) -> Piece {
        let block = slot % self.blocks.max(1);
        let (begin, end) = (self.begin(block), self.begin(block + 1));
        let tile = begin / self.steps.max(1);
        let (first, behind) = (tile * self.steps, (tile + 1) * self.steps);
        if slot == block {
            Piece { tile, first: begin - first, count: end.min(behind) - begin }
        } else {
            Piece { tile: tile + 1, first: 0, count: end.saturating_sub(behind) }
        }
    }

    /// The slots of a tile, in the order of their steps.
    #[inline(always)]
    pub(super) fn slots(&self, tile: u32) -> Slots {
        let first = tile * self.steps;
        let (block, last) = (self.block_of(first), self.block_of(first + self.steps.max(1) - 1));
        // The tile is the second one of the first block's, unless that begins with it.
        let slot = if self.begin(block) < first { self.blocks + block } else { block };
        Slots { first: slot, second: block + 1, count: last + 1 - block }
    }
}

/// Slots of one tile: of each block that has steps of it, from the first one to the last.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    first: u32,
    second: u32,
    count: u32,
}

impl Slots {
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Slot number `number` of the tile.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> u32 {
        if number == 0 { self.first } else { self.second + number - 1 }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_step_is_added_up_once_and_in_order() {
        for blocks in [1, 2, 3, 7, 16, 132] {
            for steps in [1, 2, 5, 48, 63] {
                for tiles in 1..=blocks {
                    let shares = Shares { tiles, steps, blocks };
                    let mut used = 0;
                    for tile in 0..tiles {
                        let slots = shares.slots(tile);
                        let pieces = (0..slots.count()).map(|number| shares.piece(slots.get(number)));
                        let pieces: Vec<Piece> = pieces.collect();
                        let mut next = 0;
                        for piece in &pieces {
                            assert_eq!((piece.tile, piece.first), (tile, next), "{pieces:?}");
                            assert!(piece.count > 0, "{pieces:?}");
                            next += piece.count;
                        }
                        assert_eq!(next, steps, "{pieces:?}");
                        used += pieces.len();
                    }
                    let all = (0..2 * blocks).filter(|&slot| shares.piece(slot).count > 0);
                    assert_eq!(all.count(), used, "{tiles} tiles of {steps} steps, {blocks} blocks");
                    for block in 0..blocks {
                        let is_used = [block, blocks + block].map(|slot| shares.piece(slot).count > 0);
                        assert!(is_used[0] || !is_used[1]);
                    }
                }
            }
        }
    }

    #[test]
    fn shares_differ_by_a_step_at_most() {
        for (tiles, steps, blocks) in [(24, 48, 132), (131, 64, 132), (1, 3, 7), (5, 1, 16)] {
            let shares = Shares { tiles, steps, blocks };
            let count = |block| shares.piece(block).count + shares.piece(blocks + block).count;
            let least = (0..blocks).map(count).min().unwrap_or(0);
            assert!((0..blocks).all(|block| count(block) - least <= 1));
        }
    }
}
