//! Tile orders: which tile a block computes first, second, third.

use crate::sealed::{Sealed, sealed};
use crate::shape::MAXIMUM_RANK;

/// A tile order (rasterisation): which tile of a view has number 0, 1, 2, ...
pub trait TileOrder: Sealed + Copy + 'static {
    /// A number that identifies the order.
    const NUMBER: u64;
    /// The index of tile `number` among `counts` tiles along each axis. Different numbers below the product of the counts
    /// give different indices below the counts.
    fn locate<const R: usize>(self, number: u32, counts: [u32; R]) -> [u32; R];

    /// The same for a schedule of `blocks` blocks, of which each has every `blocks`th number. Orders that balance the blocks'
    /// work depend on the number of blocks. For each number of blocks they are another permutation.
    #[inline_on_device]
    fn locate_among<const R: usize>(self, number: u32, blocks: u32, counts: [u32; R]) -> [u32; R] {
        let _ = blocks;
        self.locate(number, counts)
    }
}

/// Row by row: the last axis runs fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowMajor;

/// Column by column: the first axis runs fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnMajor;

/// In bands of `GROUP` rows, each band column by column; further axes in front of the last two run slowest.
///
/// Blocks that run at the same time then share rows and columns, and the tiles of both operands stay in the L2 cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias("GROUP_SIZE_M", "swizzle2d"))]
pub struct Grouped<const GROUP: u32>;

/// From the last row up, in groups of `GROUP` matrices: one row of all matrices of a group, then the row above.
///
/// This is for tiles of rank 3, whose first axis counts matrices. Tiles of lower rank come row by row from the last one. Where
/// the last rows are the most work, as in causal attention, all blocks end at about the same time. Blocks that run together
/// share the matrices of a group in the L2 cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromLastRow<const GROUP: u32>;

/// Balances tiles whose work grows in proportion to their row, as in causal attention.
///
/// Each block gets as many rows from above as from below, so that all blocks end at about the same time, whatever their number.
/// The matrices, which the first axis counts in tiles of rank 3, come in pairs: one from its last row up, the other from its
/// first row down. A block has tiles of both. Blocks that run together share a few matrices in the L2 cache. Tiles beyond the
/// last whole round of pairs are scheduled from the longest, to and fro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CausalBalanced;

sealed! {
    [] RowMajor;
    [] CausalBalanced;
    [] ColumnMajor;
    [const GROUP: u32] Grouped<GROUP>;
    [const GROUP: u32] FromLastRow<GROUP>;
}

/// Takes the coordinate along `axis` off `number`, the fastest axis first; does nothing if there is no such axis. The callers
/// write the axes out: a loop over an array would put it into memory.
#[inline_on_device]
fn take<const R: usize>(number: &mut u32, index: &mut [u32; R], counts: [u32; R], axis: usize) {
    if axis < R {
        let count = counts[axis].max(1);
        index[axis] = *number % count;
        *number /= count;
    }
}

impl TileOrder for RowMajor {
    const NUMBER: u64 = 0;
    #[inline_on_device]
    fn locate<const R: usize>(self, mut number: u32, counts: [u32; R]) -> [u32; R] {
        const { assert!(R <= MAXIMUM_RANK, "tiles have at most 4 axes") };
        let mut index = [0; R];
        take(&mut number, &mut index, counts, 3);
        take(&mut number, &mut index, counts, 2);
        take(&mut number, &mut index, counts, 1);
        take(&mut number, &mut index, counts, 0);
        index
    }
}

impl TileOrder for ColumnMajor {
    const NUMBER: u64 = 1;
    #[inline_on_device]
    fn locate<const R: usize>(self, mut number: u32, counts: [u32; R]) -> [u32; R] {
        const { assert!(R <= MAXIMUM_RANK, "tiles have at most 4 axes") };
        let mut index = [0; R];
        take(&mut number, &mut index, counts, 0);
        take(&mut number, &mut index, counts, 1);
        take(&mut number, &mut index, counts, 2);
        take(&mut number, &mut index, counts, 3);
        index
    }
}

impl<const GROUP: u32> TileOrder for Grouped<GROUP> {
    const NUMBER: u64 = 2 + GROUP as u64;
    #[inline_on_device]
    fn locate<const R: usize>(self, number: u32, counts: [u32; R]) -> [u32; R] {
        const { assert!(GROUP > 0, "Grouped: a band has at least one row") };
        if R < 2 {
            return RowMajor.locate(number, counts);
        }
        let (rows, columns) = (counts[R - 2].max(1), counts[R - 1].max(1));
        // The axes in front of the last two. Without them, none of the divisions is worth its time.
        let (mut index, mut within) = ([0; R], number);
        let matrices = if R == 2 { 1 } else { counts[0] * if R == 4 { counts[1] } else { 1 } };
        if matrices > 1 {
            let mut matrix = number / (rows * columns);
            within = number - matrix * rows * columns;
            if R == 4 {
                take(&mut matrix, &mut index, counts, 1);
            }
            index[0] = matrix;
        }
        // No band is higher than the matrix. No product therefore exceeds the number of tiles.
        let group = GROUP.min(rows);
        // A small product has one band, and its first copy waits for the divisions.
        let band = if within < group * columns { 0 } else { within / (group * columns) };
        let height = group.min(rows - (band * group).min(rows)).max(1);
        let rest = within - band * group * columns;
        index[R - 1] = rest / height;
        index[R - 2] = band * group + rest - index[R - 1] * height;
        index
    }
}

impl<const GROUP: u32> Grouped<GROUP> {
    /// Rows of a band.
    pub const fn group(self) -> u32 {
        GROUP
    }

    /// The number of the tile `index`: the inverse of [`TileOrder::locate`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// let counts = [3, 5, 7];
    /// assert_eq!(Grouped::<2>.number_of([2, 4, 6], counts), 3 * 5 * 7 - 1);
    /// assert_eq!(Grouped::<2>.number_of([0, 1, 1], counts), 3);
    /// ```
    #[inline_on_device]
    pub fn number_of(self, index: [u32; 3], counts: [u32; 3]) -> u32 {
        const { assert!(GROUP > 0, "Grouped: a band has at least one row") };
        let ([matrix, i, j], [_, rows, columns]) = (index, counts);
        let group = GROUP.min(rows.max(1));
        let band = i / group;
        let height = group.min(rows - (band * group).min(rows)).max(1);
        matrix * rows * columns + band * group * columns + j * height + (i - band * group)
    }
}

impl<const GROUP: u32> TileOrder for FromLastRow<GROUP> {
    // Beyond the numbers of `Grouped`, which has one for each group.
    const NUMBER: u64 = (1 << 33) + GROUP as u64;
    #[inline_on_device]
    fn locate<const R: usize>(self, number: u32, counts: [u32; R]) -> [u32; R] {
        const { assert!(GROUP > 0, "FromLastRow: a group has at least one matrix") };
        const { assert!(R >= 1 && R <= 3, "FromLastRow orders tiles of rank 1 to 3") };
        if R < 3 {
            let mut index = RowMajor.locate(number, counts);
            index[0] = counts[0].saturating_sub(1) - index[0].min(counts[0].saturating_sub(1));
            return index;
        }
        let (matrices, rows, columns) = (counts[0].max(1), counts[1].max(1), counts[2].max(1));
        let per_matrix = rows * columns;
        // No group is larger than all matrices. No product therefore exceeds the number of tiles.
        let most = GROUP.min(matrices);
        let group = number / (most * per_matrix);
        let within = number - group * most * per_matrix;
        let size = most.min(matrices - (group * most).min(matrices)).max(1);
        let (row, rest) = (within / (size * columns), within % (size * columns));
        let mut index = [0; R];
        index[R - 1] = rest / size;
        index[R - 2] = rows - 1 - row.min(rows - 1);
        index[0] = group * most + rest % size;
        index
    }
}

impl TileOrder for CausalBalanced {
    // Beyond the numbers of `FromLastRow`, which has one for each group.
    const NUMBER: u64 = 1 << 34;
    #[inline_on_device]
    fn locate<const R: usize>(self, number: u32, counts: [u32; R]) -> [u32; R] {
        self.locate_among(number, 1, counts)
    }
    #[inline_on_device]
    fn locate_among<const R: usize>(self, number: u32, blocks: u32, counts: [u32; R]) -> [u32; R] {
        const { assert!(R >= 1 && R <= 3, "CausalBalanced orders tiles of rank 1 to 3") };
        let count = |axis: usize| if axis < R { counts[axis].max(1) } else { 1 };
        let mut index = [0; R];
        if R < 3 {
            // One matrix: its columns take the place of matrices.
            let (row, column) = Triangle { matrices: count(1), rows: count(0) }.locate(number, blocks);
            index[0] = row;
            if R == 2 {
                index[R - 1] = column;
            }
        } else {
            let triangle = Triangle { matrices: count(0) * count(2), rows: count(1) };
            let (row, matrix) = triangle.locate(number, blocks);
            index[0] = matrix / count(2);
            index[R - 1] = matrix % count(2);
            index[R - 2] = row;
        }
        index
    }
}

/// Rows of matrices, of one column each, scheduled in the order [`CausalBalanced`].
#[derive(Clone, Copy)]
struct Triangle {
    matrices: u32,
    rows: u32,
}

impl Triangle {
    /// The row and the matrix of a tile.
    #[inline_on_device]
    fn locate(self, number: u32, blocks: u32) -> (u32, u32) {
        let Self { matrices, rows } = self;
        let blocks = blocks.max(1);
        let (round, block) = (number / blocks, number % blocks);
        // At least two rounds remain for the end: with fewer, the longest tiles alone would be too much work.
        let whole_rounds = (matrices * rows / blocks / 2).saturating_sub(1).min(matrices / 2 * rows / blocks);
        if round / 2 < whole_rounds {
            let pair = round / 2 * blocks + block;
            let (matrix, row) = (pair / rows * 2, pair % rows);
            return if round % 2 == 0 { (rows - 1 - row, matrix) } else { (row, matrix + 1) };
        }
        let rest = matrices * rows - 2 * whole_rounds * blocks;
        let (round, rounds) = (round - 2 * whole_rounds, rest.div_ceil(blocks));
        // To and fro: the last round may be incomplete, and begins with the blocks that have the least work.
        let place = if (rounds - round) % 2 == 0 { blocks - 1 - block } else { block };
        self.locate_rest(whole_rounds * blocks, round * blocks + place)
    }

    /// The tile at `place`, from the longest to the shortest, of the tiles that the first `pairs` pairs leave.
    #[inline_on_device]
    fn locate_rest(self, pairs: u32, place: u32) -> (u32, u32) {
        let Self { matrices, rows } = self;
        // In a pair of matrices that has begun, the first matrix still has its first `rows - begun` rows, the second all rows
        // from `begun` on. Three kinds of rows remain: the outer ones in one of the two, the middle ones in both or in neither.
        let (first, begun) = (pairs / rows * 2, pairs % rows);
        if begun == 0 {
            let whole = (matrices - first).max(1);
            return (rows - 1 - (place / whole).min(rows - 1), first + place % whole);
        }
        let whole = matrices - first - 2;
        let (lower, upper) = (begun.min(rows - begun), begun.max(rows - begun));
        let both = 2 * begun <= rows;
        let middle = whole + if both { 2 } else { 0 };
        let above = (rows - upper) * (whole + 1);
        let between = (upper - lower) * middle;
        let (top, width, rest) = if place < above {
            (rows, whole + 1, place)
        } else if place < above + between {
            (upper, middle, place - above)
        } else {
            (lower, whole + 1, place - above - between)
        };
        let (row, number) = (top - 1 - (rest / width).min(top - 1), rest % width);
        let matrix = match number.checked_sub(whole) {
            None => first + 2 + number,
            Some(0) if row < rows - begun => first,
            Some(_) => first + 1,
        };
        (row, matrix)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    fn check<O: TileOrder, const R: usize>(order: O, counts: [u32; R]) {
        let total = counts.iter().product();
        let mut seen: Vec<_> = (0..total).map(|number| order.locate(number, counts)).collect();
        seen.sort_unstable();
        let expected: Vec<_> = (0..total).map(|number| RowMajor.locate(number, counts)).collect();
        assert_eq!(seen, expected, "{counts:?}");
    }

    #[test]
    fn orders_are_permutations() {
        for [a, b, c] in [[1, 1, 1], [5, 7, 3], [8, 4, 2], [1, 9, 4], [3, 0, 2], [6, 1, 5]] {
            check(ColumnMajor, [a]);
            check(ColumnMajor, [a, b, c]);
            check(Grouped::<1>, [a, b]);
            check(Grouped::<4>, [a, b]);
            check(Grouped::<4>, [c, a, b]);
            check(Grouped::<64>, [2, c, b, a]);
        }
    }

    #[test]
    fn the_number_of_a_tile_is_where_it_comes() {
        for counts in [[1, 1, 1], [1, 33, 16], [2, 5, 3], [3, 8, 4], [1, 24, 12]] {
            for number in 0..counts.iter().product() {
                let index = Grouped::<4>.locate(number, counts);
                assert_eq!(Grouped::<4>.number_of(index, counts), number, "{counts:?}");
                let index = Grouped::<16>.locate(number, counts);
                assert_eq!(Grouped::<16>.number_of(index, counts), number, "{counts:?}");
            }
        }
    }

    #[test]
    fn orders_from_the_last_row_are_permutations() {
        for [a, b, c] in [[1, 1, 1], [5, 7, 3], [8, 4, 2], [1, 9, 4], [6, 1, 5], [17, 3, 1]] {
            check(FromLastRow::<8>, [a]);
            check(FromLastRow::<8>, [a, b]);
            check(FromLastRow::<3>, [a, b, c]);
            check(FromLastRow::<8>, [a, b, c]);
        }
    }

    /// The tiles of each of `blocks` blocks, for matrices of one column of tiles.
    fn shares(blocks: u32, [matrices, rows]: [u32; 2]) -> Vec<Vec<[u32; 3]>> {
        let mut shares = std::vec![Vec::new(); blocks as usize];
        for number in 0..matrices * rows {
            let tile = CausalBalanced.locate_among(number, blocks, [matrices, rows, 1]);
            shares[(number % blocks) as usize].push(tile);
        }
        shares
    }

    #[test]
    fn the_triangular_order_is_a_permutation_for_any_number_of_blocks() {
        for blocks in [1, 2, 3, 7, 16, 132] {
            for [matrices, rows] in
                [[1, 1], [1, 9], [5, 1], [2, 32], [3, 8], [9, 7], [16, 16], [31, 5], [128, 32]]
            {
                let mut seen: Vec<_> = shares(blocks, [matrices, rows]).concat();
                seen.sort_unstable();
                let expected: Vec<_> =
                    (0..matrices * rows).map(|number| RowMajor.locate(number, [matrices, rows, 1])).collect();
                assert_eq!(seen, expected, "{blocks} {matrices} {rows}");
            }
        }
        check(CausalBalanced, [5]);
        check(CausalBalanced, [5, 7]);
        check(CausalBalanced, [5, 7, 3]);
        assert_eq!(CausalBalanced.locate(0, [0, 7, 3]), [0, 6, 0]);
    }

    #[test]
    fn shares_of_a_triangle_are_alike() {
        for (blocks, matrices, rows) in [
            (132, 128, 32),
            (132, 64, 32),
            (132, 32, 64),
            (132, 128, 64),
            (132, 16, 128),
            (114, 128, 32),
            (108, 96, 32),
        ] {
            let work = shares(blocks, [matrices, rows]).into_iter();
            let work: Vec<u32> = work.map(|share| share.iter().map(|[_, row, _]| row + 1).sum()).collect();
            let (most, mean) =
                (*work.iter().max().unwrap(), work.iter().sum::<u32>() as f64 / f64::from(blocks));
            assert!(
                f64::from(most) < 1.02 * mean,
                "{blocks} blocks, {matrices} x {rows}: {most}, {mean} on average"
            );
        }
    }

    #[test]
    fn an_order_runs_as_its_name_says() {
        let first = |order: [[u32; 2]; 3]| order;
        assert_eq!(first([1, 2, 3].map(|n| RowMajor.locate(n, [2, 3]))), [[0, 1], [0, 2], [1, 0]]);
        assert_eq!(first([1, 2, 3].map(|n| ColumnMajor.locate(n, [2, 3]))), [[1, 0], [0, 1], [1, 1]]);
        assert_eq!(first([1, 2, 6].map(|n| Grouped::<2>.locate(n, [5, 3]))), [[1, 0], [0, 1], [2, 0]]);
        // The last band has one row.
        assert_eq!(first([12, 13, 14].map(|n| Grouped::<2>.locate(n, [5, 3]))), [[4, 0], [4, 1], [4, 2]]);
    }
}
