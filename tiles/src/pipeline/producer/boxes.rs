//! Boxes: what one instruction of TMA copies of a tile, rows of a panel.
//!
//! The barrier of a stage waits for as many bytes as its boxes have. One more, and the consumers wait for ever; one less, and they read
//! what is not there yet.

use crate::element::Element;
use crate::layout::{Block, WARPGROUP};
use crate::memory::tensor_map::TmaLoad;
use crate::pipeline::producer::LoadTile;
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;

/// Whether the producer of a block loads the last box of a tensor without the rows outside: a block of one consumer warpgroup.
///
/// The k steps of tiles for more take longer than TMA does, with rows outside, too. Their producers have no registers left, nor have those
/// of clusters.
const fn has_last_boxes<B: Block>() -> bool {
    B::CLUSTER_SIZE == 1 && B::CONSUMERS as usize * <B::Threads as PowerOfTwo>::COUNT <= WARPGROUP
}

impl<T: Element, R: Dimension, C: Dimension> LoadTile<T, (R, C)> {
    /// The rows of a box.
    pub(super) const BOX_ROWS: u32 = TmaLoad::<T, (R, C)>::BOX.rows;
    /// The panels in use.
    const PANELS: usize = C::LENGTH.div_ceil(Self::GEOMETRY.panel_columns());

    /// The rows and columns that TMA loads, with last boxes.
    #[inline_on_device]
    fn loaded(&self) -> [u32; 2] {
        let ([unset_rows, unset_columns], layout) = (self.unset, &self.matrix.layout);
        let of = |all: u32, may_be_unset, length: u32, first| {
            if may_be_unset { all.min(length.saturating_sub(first)) } else { all }
        };
        let rows = of(const { R::LENGTH as u32 }, unset_rows, layout.rows, self.row);
        let columns = of(const { C::LENGTH as u32 }, unset_columns, layout.columns, self.column);
        [if self.kept { 0 } else { rows }, columns]
    }

    /// The rows that TMA loads of the box that begins at this row and column of the tile: fewer than a box has in the last one, and none
    /// where it is outside.
    #[inline_on_device]
    fn rows_of_box<B: Block>(&self, down: u32, across: u32) -> u32 {
        let all = const { Self::BOX_ROWS };
        if const { has_last_boxes::<B>() } {
            // Computed from what all steps have in common: the producer's loop would wait for the layout, a parameter of the kernel.
            // *Measured* on an H200: 431 x 1024 x 5120 in tiles of 64 x 128 takes 16.3 µs in place of 14.9.
            let [rows, columns] = self.loaded();
            return if across < columns { rows.saturating_sub(down).min(all) } else { 0 };
        }
        let ([unset_rows, unset_columns], layout) = (self.unset, &self.matrix.layout);
        let is_outside = unset_rows && self.row + down >= layout.rows
            || unset_columns && self.column + across >= layout.columns;
        if self.kept || is_outside { 0 } else { all }
    }

    /// Calls `body` for each box that TMA loads: with its number, its offset in the stage, its first row and column in the tensor, and its rows.
    #[inline_on_device]
    pub(super) fn for_each_box<B: Block>(&self, mut body: impl FnMut(u32, usize, [u32; 2], u32)) {
        let geometry = const { Self::GEOMETRY };
        let (mut number, mut panel) = (0, 0);
        while panel < const { Self::PANELS } {
            let across = (panel * geometry.panel_columns()) as u32;
            let mut down = 0;
            while down < const { R::LENGTH as u32 } {
                let rows = self.rows_of_box::<B>(down, across);
                if rows > 0 {
                    let offset = panel * geometry.panel_stride() + down as usize * geometry.panel_bytes;
                    body(number, offset, [self.row + down, self.column + across], rows);
                }
                number += 1;
                down += const { Self::BOX_ROWS };
            }
            panel += 1;
        }
    }

    /// The bytes of all boxes that TMA loads.
    #[inline_on_device]
    pub(super) fn bytes_of_boxes<B: Block>(&self) -> u32 {
        let box_bytes = const { Self::BOX_ROWS * Self::GEOMETRY.panel_bytes as u32 };
        if self.unset == [false, false] && !self.kept {
            return const { R::LENGTH as u32 / Self::BOX_ROWS * Self::PANELS as u32 } * box_bytes;
        }
        if const { has_last_boxes::<B>() } {
            let [rows, columns] = self.loaded();
            let panels = columns.div_ceil(const { Self::GEOMETRY.panel_columns() as u32 });
            return rows * panels * const { Self::GEOMETRY.panel_bytes as u32 };
        }
        let mut bytes = 0;
        self.for_each_box::<B>(|_, _, _, _| bytes += box_bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::element::f16;
    use crate::layout::Cta;
    use crate::memory::tensor_map::MatrixLayout;
    use crate::shape::{D, Padded};
    use core::ptr;
    use std::collections::HashSet;
    use std::vec::Vec;

    /// Every element inside a tensor is in one box of its tile, the boxes are those of the tensor's maps, and their bytes are those that
    /// the barrier expects.
    fn check<B: Block, R: Dimension, C: Dimension>(rows: u32, columns: u32) {
        let tile_size = [R::LENGTH as u32, C::LENGTH as u32];
        let pitch = u64::from(columns);
        // SAFETY: nobody accesses the elements.
        let load = unsafe {
            TmaLoad::<f16, (R, C)>::new(
                ptr::null(),
                ptr::null_mut(),
                MatrixLayout::new(rows, columns, 1, pitch, pitch * u64::from(rows)),
            )
        };
        let geometry = LoadTile::<f16, (R, C)>::GEOMETRY;
        let (box_rows, panel_columns) = (LoadTile::<f16, (R, C)>::BOX_ROWS, geometry.panel_columns() as u32);
        let (down, across) = load.tile_counts();
        for (i, j) in (0..down).flat_map(|i| (0..across).map(move |j| (i, j))) {
            for (unset_rows, unset_columns, kept) in
                (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0))
            {
                let mut tile = load.tile(i, j);
                // By the field: a tile is never kept on the CPU.
                tile.kept = kept;
                tile = if unset_rows { tile.unset_outside_rows() } else { tile };
                tile = if unset_columns { tile.unset_outside_columns() } else { tile };
                let mut boxes = Vec::new();
                tile.for_each_box::<B>(|number, offset, [row, column], rows| {
                    boxes.push((number, offset, row, column, rows));
                });
                let told = std::format!(
                    "{rows} x {columns}, tile {i} {j} of {tile_size:?}, {unset_rows} {unset_columns}"
                );
                let bytes: u32 = boxes.iter().map(|of| of.4 * geometry.panel_bytes as u32).sum();
                assert_eq!(tile.bytes_of_boxes::<B>(), bytes, "{told}");
                assert!(boxes.is_sorted_by(|one, next| one.0 < next.0), "{told}");
                let mut seen = HashSet::new();
                for (_, offset, row, column, of_box) in boxes {
                    let is_last = of_box < box_rows;
                    assert!(
                        of_box == box_rows || is_last && row + of_box == rows && of_box == rows % box_rows,
                        "{told}"
                    );
                    assert_eq!(
                        offset,
                        geometry.offset(
                            (row - i * tile_size[0]) as usize,
                            (column - j * tile_size[1]) as usize * 2
                        ),
                        "{told}"
                    );
                    assert!(
                        (row..row + of_box).all(|row| seen.insert((row, column / panel_columns))),
                        "{told}"
                    );
                }
                let inside = |start: u32, length: u32, end: u32| start..(start + length).min(end);
                for row in inside(i * tile_size[0], tile_size[0], rows) {
                    for column in inside(j * tile_size[1], tile_size[1], columns) {
                        let is_there = seen.contains(&(row, column / panel_columns));
                        assert_eq!(is_there, !kept, "{told}: {row} {column}");
                    }
                }
            }
        }
    }

    /// A block of one consumer warpgroup, one of two, and a cluster.
    fn check_blocks<R: Dimension, C: Dimension>(rows: u32, columns: u32) {
        check::<Cta<128, 4, 1, 32>, R, C>(rows, columns);
        check::<Cta<256, 4, 1, 128>, R, C>(rows, columns);
        check::<Cta<128, 4, 1, 32, 1, 2, 1>, R, C>(rows, columns);
    }

    #[test]
    fn boxes_have_each_element_once_and_the_bytes_that_are_expected() {
        for rows in [0, 1, 7, 8, 16, 63, 64, 65, 100, 128, 129, 200] {
            for columns in [8, 64, 72, 136] {
                check_blocks::<D<16>, D<64>>(rows, columns);
                check_blocks::<D<64>, D<64>>(rows, columns);
                check_blocks::<D<128>, D<64>>(rows, columns);
                check_blocks::<D<64>, D<128>>(rows, columns);
                check_blocks::<Padded<96>, D<64>>(rows, columns);
            }
        }
    }
}
