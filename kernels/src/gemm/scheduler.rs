//! The tile scheduler: the part of a product that a launch computes, and the work tiles of each block.
//!
//! [`TileRange`] is an argument of a launch: all tiles, the first tiles, partial sums of every tile (split-K), or the last tiles
//! (stream-K). [`TileScheduler`] derives from it the k steps that a block accumulates for each of its tiles.

use cuda_tiles::prelude::*;

use cuda_tiles::launch::{Fingerprint, Plain};

use super::stream_k::{StreamK, WorkUnit};

/// The part of a product that one launch computes: an argument of the ready-made kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TileRange {
    /// 1: whole tiles (data-parallel). More: the number of partial sums of every tile (split-K). 0: the tiles from number `whole` on
    /// (stream-K).
    splits: u32,
    /// The number of tiles that data-parallel launches compute.
    whole: u32,
    /// The number of matrices of the product.
    batches: u32,
}

// SAFETY: the fields are three integers, without padding, and the representation is that of C.
unsafe impl Plain for TileRange {
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("TileRange");
}

impl TileRange {
    /// All tiles.
    pub const ALL: Self = Self { splits: 1, whole: u32::MAX, batches: 1 };

    /// The first `count` tiles in tile order, data-parallel: each block computes whole tiles of `c`.
    pub const fn first(count: u32, batches: u32) -> Self {
        Self { splits: 1, whole: count, batches }
    }

    /// Every tile as `splits` partial sums along K (split-K). Matrix `batch * splits + split` of the kernel's `c` is one partial sum of
    /// matrix `batch`.
    pub const fn split_k(splits: u32, batches: u32) -> Self {
        Self { splits, whole: u32::MAX, batches }
    }

    /// The tiles from number `whole` on, with their k steps divided evenly among the blocks (stream-K). Each matrix of the kernel's `c`
    /// is one slot for partial sums and has the size of one tile. Every block has two slots.
    pub const fn stream_k(whole: u32, batches: u32) -> Self {
        Self { splits: 0, whole, batches }
    }

    /// Whether blocks accumulate all k steps of their tiles.
    #[inline_on_device]
    pub(super) const fn is_whole(self) -> bool {
        self.splits == 1
    }

    /// The number of tiles that data-parallel launches compute.
    #[inline_on_device]
    pub(super) const fn whole(self) -> u32 {
        self.whole
    }

    /// The matrix of the product, the first k step and the number of k steps for matrix `matrix` of `c`, whose tiles have `steps` k steps.
    /// Without split-K the k steps are all of a tile.
    #[inline_on_device]
    pub(super) fn split(self, matrix: u32, steps: u32) -> (u32, u32, u32) {
        split(self.splits, matrix, steps)
    }

    /// The range, reduced to the decompositions that a kernel with accumulators `C`, a result `O` and tiles of `columns` columns has.
    ///
    /// With this knowledge the compiler keeps more registers free in the loops over tiles. Products of 64 bits have no stream-K.
    #[inline_on_device]
    pub(super) fn of_kernel<C: Number, O: Element>(self, columns: usize) -> Self {
        let (accumulator, result) = const { (size_of::<C::Bits>(), size_of::<O::Bits>()) };
        match (stores_partial_sums(accumulator, result, columns), accumulator) {
            (false, 8) => Self::ALL,
            (false, _) => Self { splits: 1, ..self },
            (true, 8) => Self { splits: self.splits.max(1), whole: u32::MAX, ..self },
            (true, _) => self,
        }
    }
}

/// Whether kernels that TMA feeds store partial sums, with accumulators and results of so many bytes and tiles of so many columns.
///
/// Partial sums have the type of the accumulators. Tiles of 64 columns of `f64` take all registers. *Measured* on an H200: with partial
/// sums, 4096^3 of `f64` takes 2 % longer in them, and tiles of 32 columns gain as much by them alone.
pub(super) const fn stores_partial_sums(accumulator: usize, result: usize, columns: usize) -> bool {
    accumulator == result && (accumulator < 8 || columns <= 32)
}

/// As [`TileRange::split`], for `splits` partial sums of each tile.
#[inline_on_device]
fn split(splits: u32, matrix: u32, steps: u32) -> (u32, u32, u32) {
    let (batch, each) = (matrix / splits.max(1), steps.div_ceil(splits.max(1)));
    let first = (matrix - batch * splits).saturating_mul(each).min(steps);
    (batch, first, each.min(steps - first))
}

/// The work of one block: a [`WorkTile`] of the product for each of the block's tiles of `c`.
///
/// `c` is the result itself in a data-parallel launch. In the other launches it holds partial sums.
#[derive(Clone, Copy)]
pub(super) struct TileScheduler {
    splits: u32,
    /// The k steps of a tile of the product.
    steps: u32,
    blocks: u32,
    /// The most tiles of `c` that the block has.
    pub(super) tiles: u32,
    /// The work tile of the block's first slot, for stream-K. It is computed ahead, because its inputs would take registers in the loops
    /// over tiles.
    first_slot: WorkTile,
    /// The work tile of the block's second slot.
    second_slot: WorkTile,
}

/// Consecutive k steps of one tile of a product.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkTile {
    /// The tile's matrix, row of tiles and column of tiles.
    pub(super) tile: [u32; 3],
    /// The first k step.
    pub(super) first: u32,
    /// The number of k steps.
    pub(super) count: u32,
}

impl WorkTile {
    const NONE: Self = Self { tile: [0; 3], first: 0, count: 0 };
}

impl TileScheduler {
    /// The same, for a range that has all tiles of the product.
    #[inline_on_device]
    pub(super) fn of_all_tiles(self) -> Self {
        Self { tiles: u32::MAX, ..self }
    }

    /// The work of block `block` of `blocks` in a `range` of a product.
    ///
    /// The product has `counts()` rows and columns of tiles, and a tile has `steps` k steps.
    #[inline_on_device]
    pub(super) fn new(
        range: TileRange,
        order: impl TileOrder,
        counts: impl FnOnce() -> [u32; 2],
        steps: u32,
        [block, blocks]: [u32; 2],
    ) -> Self {
        let TileRange { splits, whole, batches } = range;
        let (first_slot, second_slot, tiles) = match splits {
            // Stream-K: the last tiles.
            0 => {
                let [rows, columns] = counts();
                let counts = [batches, rows, columns];
                let stream_k = StreamK { tiles: batches * rows * columns - whole, steps, blocks };
                let slot = |slot| {
                    let WorkUnit { tile, first, count } = stream_k.work_unit(slot);
                    WorkTile { tile: order.locate_among(whole + tile, blocks, counts), first, count }
                };
                let (first, second) = (slot(block), slot(blocks + block));
                (first, second, u32::from(first.count > 0) + u32::from(second.count > 0))
            }
            // Data-parallel: the first tiles.
            1 => (WorkTile::NONE, WorkTile::NONE, whole.saturating_sub(block).div_ceil(blocks)),
            // Split-K: all tiles.
            _ => (WorkTile::NONE, WorkTile::NONE, u32::MAX),
        };
        Self { splits, steps, blocks, tiles, first_slot, second_slot }
    }

    /// Whether the launch computes the last tiles, by stream-K.
    #[inline_on_device]
    fn is_stream_k(&self) -> bool {
        self.splits == 0
    }

    /// The k steps that the block accumulates for tile `index` of `c`.
    #[inline_on_device]
    pub(super) fn work_tile(&self, [matrix, i, j]: [u32; 3]) -> WorkTile {
        if self.is_stream_k() {
            if matrix < self.blocks { self.first_slot } else { self.second_slot }
        } else {
            let (batch, first, count) = self.split(matrix);
            WorkTile { tile: [batch, i, j], first, count }
        }
    }

    /// The number of k steps that the block accumulates for tiles of matrix `matrix` of `c`.
    ///
    /// This is the `count` of [`work_tile`](Self::work_tile), computed without a branch. Behind a branch the assembler does not know that
    /// the warps have converged.
    #[inline_on_device]
    pub(super) fn steps(&self, matrix: u32) -> u32 {
        let of_slot = if matrix < self.blocks { self.first_slot.count } else { self.second_slot.count };
        let (_, _, of_split) = self.split(matrix);
        if self.is_stream_k() { of_slot } else { of_split }
    }

    /// The matrix of the product, the first k step and the number of k steps for matrix `matrix` of `c`. Without split-K the k steps are
    /// all of a tile.
    #[inline_on_device]
    fn split(&self, matrix: u32) -> (u32, u32, u32) {
        split(self.splits, matrix, self.steps)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    /// How often the blocks accumulate each k step of each tile of a product, if they share the tiles of `c` as kernels do.
    fn accumulated(
        range: TileRange,
        [rows, columns, steps, blocks]: [u32; 4],
        c: [u32; 3],
    ) -> BTreeMap<[u32; 3], Vec<u32>> {
        let order = Grouped::<2>;
        let mut accumulated = BTreeMap::new();
        for block in 0..blocks {
            let scheduler = TileScheduler::new(range, order, || [rows, columns], steps, [block, blocks]);
            let numbers = (block..c.iter().product()).step_by(blocks as usize).take(scheduler.tiles as usize);
            for number in numbers {
                let index = order.locate_among(number, blocks, c);
                let work = scheduler.work_tile(index);
                assert_eq!(scheduler.steps(index[0]), work.count, "{index:?}: {work:?}");
                let times = accumulated.entry(work.tile).or_insert_with(|| vec![0; steps as usize]);
                (work.first..work.first + work.count).for_each(|step| times[step as usize] += 1);
            }
        }
        accumulated
    }

    fn is_once(times: &BTreeMap<[u32; 3], Vec<u32>>) -> bool {
        times.values().flatten().all(|&times| times == 1)
    }

    #[test]
    fn split_k_accumulates_every_k_step_once() {
        for splits in [2, 3, 7] {
            for steps in [1, 6, 20] {
                let range = TileRange::split_k(splits, 2);
                let times = accumulated(range, [3, 5, steps, 4], [2 * splits, 3, 5]);
                assert!(
                    times.len() == 30 && is_once(&times),
                    "{splits} splits of {steps} k steps: {times:?}"
                );
            }
        }
    }

    #[test]
    fn whole_waves_and_stream_k_accumulate_every_k_step_once() {
        let (batches, rows, columns) = (2, 3, 5);
        for (blocks, steps) in [(4, 1), (4, 9), (7, 20), (30, 3), (40, 8)] {
            let whole = 30 / blocks * blocks;
            let sizes = [rows, columns, steps, blocks];
            let first = TileRange::first(whole, batches);
            let first = accumulated(first, sizes, [batches, rows, columns]);
            assert!(first.len() == whole as usize && is_once(&first), "{blocks} blocks: {first:?}");
            if whole == 30 {
                continue;
            }
            let last = TileRange::stream_k(whole, batches);
            let last = accumulated(last, sizes, [2 * blocks, 1, 1]);
            assert!(last.len() == 30 - whole as usize && is_once(&last), "{blocks} blocks: {last:?}");
            assert!(last.keys().all(|tile| !first.contains_key(tile)));
        }
    }
}
