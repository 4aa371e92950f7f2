//! Which blocks of a cluster share a tile, and which of them copies which part of it.

/// Whether the rows of blocks of a cluster have tiles of their own, and whether the columns of blocks have.
///
/// Two bits for each are the axis along which the next tile lies, plus one. *Measured* for 8.0: with a byte more in a [`LoadTile`], whose
/// flags then are more than a word, loops over loads keep tiles in local memory.
#[derive(Clone, Copy)]
pub(crate) struct Owned(u8);

impl Owned {
    /// All blocks have the same tile.
    pub(crate) const BY_ALL: Self = Self(0);

    /// The same, but that the next tile of the rows (`blocks` = 0) or columns (`blocks` = 1) of blocks lies along `axis`.
    #[inline_on_device]
    pub(crate) const fn with(self, blocks: usize, axis: usize) -> Self {
        Self(self.0 & !(3 << (2 * blocks)) | (axis as u8 + 1) << (2 * blocks))
    }

    /// Whether the rows or columns of blocks have tiles of their own.
    #[inline_on_device]
    pub(crate) const fn is_by_each(self, blocks: usize) -> bool {
        self.0 >> (2 * blocks) & 3 != 0
    }

    /// The number of tiles along `axis` from the first block's to that of the block in this row and column.
    #[inline_on_device]
    pub(crate) const fn distance(self, axis: usize, [row, column]: [u32; 2]) -> u32 {
        (if self.0 & 3 == axis as u8 + 1 { row } else { 0 })
            + (if self.0 >> 2 & 3 == axis as u8 + 1 { column } else { 0 })
    }
}

/// A block's place in its cluster.
#[derive(Clone, Copy)]
pub struct PlaceInCluster {
    /// The block's row and column.
    pub(crate) at: [u32; 2],
    /// The cluster's rows and columns of blocks.
    pub(crate) of: [u32; 2],
}

impl PlaceInCluster {
    /// The place of a block without a cluster.
    pub(crate) const ALONE: Self = Self { at: [0, 0], of: [1, 1] };

    /// The blocks that have the same tile as this one, as a mask, and which of them this one is, of how many. `owned` says which rows and
    /// columns of blocks have others.
    ///
    /// The number depends on the block's row and column, so that a block that is the first for operand A is not for operand B. A tile of
    /// one box then comes from another block than the other operand's.
    #[inline_on_device]
    pub(crate) fn among_sharers(self, owned: Owned) -> (u16, [u32; 2]) {
        let Self { at: [row, column], of: [rows, columns] } = self;
        let row_of_blocks = (1 << columns) - 1;
        let (mut column_of_blocks, mut block) = (0, 0);
        while block < rows {
            column_of_blocks |= 1 << (block * columns);
            block += 1;
        }
        match [owned.is_by_each(0), owned.is_by_each(1)] {
            [false, false] => (row_of_blocks * column_of_blocks, [row * columns + column, rows * columns]),
            [true, false] => (row_of_blocks << (row * columns), [(row + column) % columns, columns]),
            [false, true] => (column_of_blocks << column, [(row + column + 1) % rows, rows]),
            [true, true] => (0, [0, 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Of each tile, every box comes from one block that has the tile, and goes to all blocks that have it.
    #[test]
    fn every_box_of_a_tile_has_one_producer() {
        for of in [[1, 1], [2, 1], [1, 2], [4, 1], [2, 2], [1, 4]] {
            let blocks = || (0..of[0] * of[1]).map(|number| [number / of[1], number % of[1]]);
            let both = Owned::BY_ALL.with(0, 0).with(1, 1);
            for owned in [Owned::BY_ALL, Owned::BY_ALL.with(0, 1), Owned::BY_ALL.with(1, 1), both] {
                let tile = |block| [owned.distance(0, block), owned.distance(1, block)];
                for block in blocks() {
                    let have_it: Vec<_> = blocks().filter(|&other| tile(other) == tile(block)).collect();
                    let shares = || have_it.iter().map(|&at| PlaceInCluster { at, of }.among_sharers(owned));
                    let mut numbers: Vec<_> = shares().map(|(_, [own, _])| own).collect();
                    numbers.sort_unstable();
                    assert!(numbers.into_iter().eq(0..have_it.len() as u32), "{of:?} {block:?}");
                    let bit = |[row, column]: [u32; 2]| 1 << (row * of[1] + column);
                    let all: u16 = have_it.iter().map(|&block| bit(block)).sum();
                    for (mask, [_, sharers]) in shares() {
                        assert_eq!(sharers as usize, have_it.len(), "{of:?} {block:?}");
                        assert!(sharers == 1 || mask == all, "{of:?} {block:?}: {mask:b}");
                    }
                }
            }
        }
    }
}
