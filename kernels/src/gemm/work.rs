//! What a launch computes of a product, and what of that is a block's.

use cuda_tiles::prelude::*;

use super::shares::{Piece, Shares};

/// What a launch computes of a product: the tiles that come first, in the order in which tiles are dealt out; all tiles in parts; or the
/// tiles that come last, cut evenly among the blocks.
#[derive(Clone, Copy)]
pub(super) struct Portion {
    /// 1: the tiles that come first. More: sums in so many parts, one behind the other: matrix `batch * splits + part` of `c`
    /// is that part of the sums of matrix `batch`. 0: those of the tiles that come last: the matrices of `c` are the slots of
    /// [`Shares`], of a tile each.
    pub(super) splits: u32,
    /// How many tiles come first.
    pub(super) whole: u32,
    /// Matrices of the product.
    pub(super) batches: u32,
}

impl Portion {
    /// All tiles.
    pub(super) const ALL: Self = Self { splits: 1, whole: u32::MAX, batches: 1 };

    /// The portion as far as kernels with sums of `C` and a result of `O` have it: parts are sums, so that only kernels which store
    /// these have any, and products of 64 bits are never cut. Where the compiler knows it the loops over tiles have registers to
    /// spare, and steps as short as those of 64 bits take a sixth less.
    #[inline(always)]
    pub(super) fn of_kernel<C: Number, O: Element>(self) -> Self {
        let (sum, result) = const { (size_of::<C::Bits>(), size_of::<O::Bits>()) };
        if sum == 8 {
            Self::ALL
        } else if sum != result {
            Self { splits: 1, ..self }
        } else {
            self
        }
    }
}

/// A block's work: for which tiles of `c` it adds up which steps of which tiles of the product.
#[derive(Clone, Copy)]
pub(super) struct Work {
    splits: u32,
    /// Steps of a tile of the product.
    steps: u32,
    blocks: u32,
    /// How many tiles of `c` are the block's, at the most.
    pub(super) tiles: u32,
    /// What the block's two slots get of the tiles that come last. Known ahead: what it is computed from would take registers in the
    /// loops over tiles.
    one: Share,
    other: Share,
}

/// Neighbouring steps of a tile of a product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The tile: its matrix, and the row and column of tiles.
    pub(super) tile: [u32; 3],
    /// The first step.
    pub(super) first: u32,
    /// How many steps.
    pub(super) count: u32,
}

impl Share {
    const NONE: Self = Self { tile: [0; 3], first: 0, count: 0 };
}

impl Work {
    /// The work of a block, of a `portion` of a product that has these rows and columns of tiles, with so many steps each.
    #[inline(always)]
    pub(super) fn new(
        portion: Portion,
        order: impl TileOrder,
        counts: impl FnOnce() -> [u32; 2],
        steps: u32,
        [block, blocks]: [u32; 2],
    ) -> Self {
        let Portion { splits, whole, batches } = portion;
        let (one, other, tiles) = match splits {
            // The tiles that come last.
            0 => {
                let [rows, columns] = counts();
                let counts = [batches, rows, columns];
                let shares = Shares { tiles: batches * rows * columns - whole, steps, blocks };
                let slot = |slot| {
                    let Piece { tile, first, count } = shares.piece(slot);
                    Share { tile: order.locate_among(whole + tile, blocks, counts), first, count }
                };
                let (one, other) = (slot(block), slot(blocks + block));
                (one, other, u32::from(one.count > 0) + u32::from(other.count > 0))
            }
            // Those that come first.
            1 => (Share::NONE, Share::NONE, whole.saturating_sub(block).div_ceil(blocks)),
            // All, in parts.
            _ => (Share::NONE, Share::NONE, u32::MAX),
        };
        Self { splits, steps, blocks, tiles, one, other }
    }

    /// Whether the work is of the tiles that come last.
    #[inline(always)]
    fn is_last_wave(&self) -> bool {
        self.splits == 0
    }

    /// What is added up for tile `index` of `c`.
    #[inline(always)]
    pub(super) fn share(&self, [matrix, i, j]: [u32; 3]) -> Share {
        if self.is_last_wave() {
            if matrix < self.blocks { self.one } else { self.other }
        } else {
            let (batch, first, count) = self.part(matrix);
            Share { tile: [batch, i, j], first, count }
        }
    }

    /// How many steps are added up for tiles of a matrix of `c`: as [`share`](Self::share) says, and chosen without a branch. Behind one the
    /// assembler does not know that warps are together.
    #[inline(always)]
    pub(super) fn steps(&self, matrix: u32) -> u32 {
        let of_slot = if matrix < self.blocks { self.one.count } else { self.other.count };
        let (_, _, of_part) = self.part(matrix);
        if self.is_last_wave() { of_slot } else { of_part }
    }

    /// The matrix of the product, the first step and the number of steps that a matrix of `c` is a part of: all where there is one.
    #[inline(always)]
    fn part(&self, matrix: u32) -> (u32, u32, u32) {
        let splits = self.splits;
        let (batch, each) = (matrix / splits.max(1), self.steps.div_ceil(splits.max(1)));
        let first = (matrix - batch * splits).saturating_mul(each).min(self.steps);
        (batch, first, each.min(self.steps - first))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    /// How often each step of each tile of a product is added up by all blocks, of tiles of `c` as they are dealt out.
    fn added_up(
        portion: Portion,
        [rows, columns, steps, blocks]: [u32; 4],
        c: [u32; 3],
    ) -> BTreeMap<[u32; 3], Vec<u32>> {
        let order = Grouped::<2>;
        let mut added = BTreeMap::new();
        for block in 0..blocks {
            let work = Work::new(portion, order, || [rows, columns], steps, [block, blocks]);
            let numbers = (block..c.iter().product()).step_by(blocks as usize).take(work.tiles as usize);
            for number in numbers {
                let index = order.locate_among(number, blocks, c);
                let share = work.share(index);
                assert_eq!(work.steps(index[0]), share.count, "{index:?}: {share:?}");
                let times = added.entry(share.tile).or_insert_with(|| vec![0; steps as usize]);
                (share.first..share.first + share.count).for_each(|step| times[step as usize] += 1);
            }
        }
        added
    }

    fn is_once(added: &BTreeMap<[u32; 3], Vec<u32>>) -> bool {
        added.values().flatten().all(|&times| times == 1)
    }

    #[test]
    fn parts_have_every_step_once() {
        for splits in [2, 3, 7] {
            for steps in [1, 6, 20] {
                let portion = Portion { splits, whole: u32::MAX, batches: 2 };
                let added = added_up(portion, [3, 5, steps, 4], [2 * splits, 3, 5]);
                assert!(added.len() == 30 && is_once(&added), "{splits} parts of {steps} steps: {added:?}");
            }
        }
    }

    #[test]
    fn whole_waves_and_the_last_one_have_every_step_once() {
        let (batches, rows, columns) = (2, 3, 5);
        for (blocks, steps) in [(4, 1), (4, 9), (7, 20), (30, 3), (40, 8)] {
            let whole = 30 / blocks * blocks;
            let sizes = [rows, columns, steps, blocks];
            let first = Portion { splits: 1, whole, batches };
            let first = added_up(first, sizes, [batches, rows, columns]);
            assert!(first.len() == whole as usize && is_once(&first), "{blocks} blocks: {first:?}");
            if whole == 30 {
                continue;
            }
            let last = Portion { splits: 0, whole, batches };
            let last = added_up(last, sizes, [2 * blocks, 1, 1]);
            assert!(last.len() == 30 - whole as usize && is_once(&last), "{blocks} blocks: {last:?}");
            assert!(last.keys().all(|tile| !first.contains_key(tile)));
        }
    }
}
