//! The way of transposed accumulators through the epilogue buffer.
//!
//! A warpgroup has 64 columns of the result. Of 16-bit elements they are a row of a buffer, and `stmatrix` transposes. Of 32-bit elements
//! they are two: each half of the warpgroup has a buffer for its 32 columns, and threads write single elements, those of a warp to
//! different banks.

use crate::arch::execution;
use crate::arch::matrix::WARPGROUPS;
use crate::arch::threads;
use crate::element::Element;
use crate::epilogue::buffer::{BUFFERS, EpilogueBuffer, Part, ROW_BYTES};
use crate::epilogue::panel::{BOX_ROWS, Elements, MATRIX_ROWS, Panel};
use crate::epilogue::tile::StoreTile;
use crate::layout::{Block, Layout, WARPGROUP};
use crate::memory::shared_tile::Geometry;
use crate::memory::tensor_map::TmaStore;
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;
use crate::tile::Tile;

/// Columns of half a warpgroup.
const HALF: usize = BOX_ROWS / 2;

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    /// Whether each of so many warpgroups has whole panels of 64 columns of the tile.
    const fn has_transposed_panels(warpgroups: usize) -> bool {
        WARPGROUPS
            && warpgroups > 0
            && Self::COLUMNS.is_multiple_of(BOX_ROWS * warpgroups)
            && Self::ROWS.is_multiple_of(MATRIX_ROWS)
    }

    /// Whether transposed accumulators of this shape can go through a buffer of panels of `panel_rows` rows, in a block of so many
    /// warpgroups: each has panels of 64 columns, and a panel has whole boxes of TMA.
    pub(super) const fn transposed_through_buffer(warpgroups: usize, panel_rows: usize) -> bool {
        Self::has_transposed_panels(warpgroups)
            && TmaStore::<T, (M, N)>::BOX.rows as usize <= panel_rows
            && size_of::<T::Bits>() == 2
    }

    /// [`store_through_buffer`](Self::store_through_buffer) for transposed accumulators: all rows of a warpgroup's first 64 columns,
    /// `PANEL_ROWS` at a time, then those of its next ones.
    #[inline_on_device]
    pub(super) fn store_transposed_through_buffer<L: Layout, const GROUPS: usize, const PANEL_ROWS: usize>(
        &self,
        buffer: &mut EpilogueBuffer<GROUPS, PANEL_ROWS>,
        tile: Tile<T, (M, N), L>,
    ) {
        let geometry = const { Geometry::new(PANEL_ROWS, BOX_ROWS, size_of::<T::Bits>()) };
        let in_a_block = const { <<L::Block as Block>::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        let Part { own, group, in_block, thread } = buffer.part::<L::Block>();
        let [_, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32 + in_block * BOX_ROWS as u32);
        // Nor must this number.
        let tma_columns = execution::rematerialise(self.tma_columns());
        // A thread has two rows of every 8, for each of two columns.
        let padded = const { <M::Count as PowerOfTwo>::COUNT };
        let elements = Elements::new(tile.registers());
        let panel = |register: usize| {
            let number = register / (PANEL_ROWS / 2);
            let (block, first) = (2 * register / padded, 2 * register % padded);
            (first < Self::ROWS && register < elements.count()).then(|| Panel {
                register,
                geometry: &geometry,
                rows: PANEL_ROWS.min(Self::ROWS - first),
                columns: BOX_ROWS,
                is_transposed: true,
                half: 0,
                buffer: threads::offset(own, number % BUFFERS * PANEL_ROWS * ROW_BYTES),
                is_first: first == 0,
                x: column + (block * BOX_ROWS * in_a_block) as u32,
                y: row + first as u32,
                group,
                thread,
            })
        };
        // Threads that store small panels do not look at columns.
        if const { PANEL_ROWS < BOX_ROWS } && (j + 1) * Self::COLUMNS as u32 <= tma_columns {
            // SAFETY: as below. The panels are those of this buffer.
            return unsafe { self.store_small_panels(panel, PANEL_ROWS / 2, &elements) };
        }
        if const { PANEL_ROWS == BOX_ROWS } && self.is_stored_by_tma(tma_columns) {
            L::Registers::<(M, N)>::unroll(0, PANEL_ROWS, &mut |register| {
                // SAFETY: all threads of the warpgroup run this alike. The buffers are the warpgroup's, and neighbours use different ones.
                unsafe { self.store_by_tma([panel(register), panel(register + PANEL_ROWS / 2)], &elements) }
            });
            return;
        }
        L::Registers::<(M, N)>::unroll(0, PANEL_ROWS / 2, &mut |register| {
            if let Some(panel) = panel(register) {
                // SAFETY: all threads of the warpgroup run this alike. The buffer is the warpgroup's, and consecutive panels use different ones.
                unsafe { self.store_panel(panel, &elements, tma_columns) }
            }
        });
    }

    /// Whether transposed accumulators of this shape can go through a buffer of panels of `panel_rows` rows, in a block of so many
    /// warpgroups, if elements have 32 bits: a warpgroup has 64 columns, which are two panels.
    pub(super) const fn transposed_words_through_buffer(warpgroups: usize, panel_rows: usize) -> bool {
        Self::has_transposed_panels(warpgroups) && panel_rows == BOX_ROWS && size_of::<T::Bits>() == 4
    }

    /// [`store_transposed_through_buffer`](Self::store_transposed_through_buffer) for 32-bit elements whose columns all are TMA's: 64 rows
    /// of 64 columns at a time take both buffers.
    #[inline_on_device]
    pub(super) fn store_transposed_words<L: Layout, const GROUPS: usize, const PANEL_ROWS: usize>(
        &self,
        buffer: &mut EpilogueBuffer<GROUPS, PANEL_ROWS>,
        tile: Tile<T, (M, N), L>,
    ) {
        let geometry = const { Geometry::new(BOX_ROWS, HALF, size_of::<T::Bits>()) };
        let in_a_block = const { <<L::Block as Block>::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        let Part { own, group, in_block, thread } = buffer.part::<L::Block>();
        let [_, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32 + in_block * BOX_ROWS as u32);
        // A thread has two rows of every 8, for each of two columns.
        let padded = const { <M::Count as PowerOfTwo>::COUNT };
        let elements = Elements::new(tile.registers());
        L::Registers::<(M, N)>::unroll(0, BOX_ROWS / 2, &mut |register| {
            let (block, first) = (2 * register / padded, 2 * register % padded);
            let half = |half: usize| {
                (first < Self::ROWS).then(|| Panel {
                    register,
                    geometry: &geometry,
                    rows: BOX_ROWS.min(Self::ROWS - first),
                    columns: HALF,
                    is_transposed: true,
                    half,
                    buffer: threads::offset(own, half * BOX_ROWS * ROW_BYTES),
                    is_first: first == 0,
                    x: column + (block * BOX_ROWS * in_a_block + half * HALF) as u32,
                    y: row + first as u32,
                    group,
                    thread,
                })
            };
            // SAFETY: all threads of the warpgroup run this alike. The buffers are the warpgroup's, and the halves use different ones.
            unsafe { self.store_by_tma([half(0), half(1)], &elements) }
        });
    }
}
