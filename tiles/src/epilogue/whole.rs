//! Stores of tiles whose columns all are TMA's: whole multiples of 16 bytes. TMA leaves out those outside the matrix.
//!
//! Most tiles are. They have a way of their own, without the code for ragged rows between two panels. *Measured* on an H200: what a tile of
//! 128 x 256 takes besides its k steps is this way to memory. A third of it were misses of the instruction cache, as each panel jumped over
//! such code.

use crate::arch::threads;
use crate::arch::{barriers, bulk, execution, global};
use crate::element::Element;
use crate::epilogue::buffer::wait_for_warpgroup;
use crate::epilogue::panel::{Elements, Panel};
use crate::epilogue::ragged::LANES;
use crate::epilogue::tile::StoreTile;
use crate::layout::WARPGROUP;
use crate::memory::shared_tile::CHUNK_BYTES;
use crate::memory::tensor_map::TmaStore;
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;

/// The most chunks of 16 bytes that a thread has of a small panel: a warp has up to 8 rows of 128 bytes.
const MOST_CHUNKS: usize = 2;

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    /// Stores up to two panels by TMA, each through a buffer of its own.
    ///
    /// # Safety
    /// All threads of the warpgroup execute this same call, and one thread issues all its stores by TMA. The buffers belong to the warpgroup.
    /// The tile is this block's, and all columns that the panels have inside the matrix are TMA's.
    #[inline_on_device]
    pub(super) unsafe fn store_by_tma<C: PowerOfTwo>(
        &self,
        panels: [Option<Panel<'_>>; 2],
        elements: &Elements<'_, T, C>,
    ) {
        let [Some(first), second] = panels else { return };
        let Panel { group, thread, .. } = first;
        let issues = thread.is_multiple_of(WARPGROUP);
        // SAFETY: all threads of the warpgroup run this alike. The buffers are written when all stores by TMA have read them, as the thread that
        // issued those says at the barrier. They are stored when all threads have written and fenced them.
        unsafe {
            if issues {
                bulk::wait_for_reads::<0>();
            }
            wait_for_warpgroup(group);
            first.write(elements);
            if let Some(second) = second {
                second.write(elements);
            }
            barriers::fence_proxy_async();
            wait_for_warpgroup(group);
            if issues {
                self.issue_boxes(first);
                if let Some(second) = second {
                    self.issue_boxes(second);
                }
                bulk::commit_stores();
            }
        }
    }

    /// Issues the stores of a panel by TMA, a box at a time.
    ///
    /// # Safety
    /// One thread runs this, and commits the stores. All threads that wrote the panel have fenced it and waited for each other. It has
    /// columns of TMA's.
    #[inline_on_device]
    pub(super) unsafe fn issue_boxes(&self, panel: Panel<'_>) {
        let map = self.operand.matrix.map.cast();
        let Panel { buffer, x, y, .. } = panel;
        // SAFETY: the caller vouches for the panel. TMA leaves out rows and columns outside the tensor map's matrix.
        unsafe { bulk::store(map, buffer, [x, y, self.index[0]]) };
        // A loop over all boxes, also over a single one, cost registers.
        let mut row = const { TmaStore::<T, (M, N)>::BOX.rows as usize };
        while row < panel.rows {
            let source = threads::offset(buffer, row * panel.geometry.panel_bytes);
            // SAFETY: as above.
            unsafe { bulk::store(map, source, [x, y + row as u32, self.index[0]]) };
            row += const { TmaStore::<T, (M, N)>::BOX.rows as usize };
        }
    }

    /// Stores panels of up to 32 rows by threads. The panel whose registers begin at `register` is `panel(register)`, and the next one
    /// begins `step` registers behind it.
    ///
    /// TMA takes half a microsecond to read a panel, and two small buffers would wait for that most of the time. *Measured* on an H200: a
    /// tile of 160 x 256 takes 2.4 us besides its k steps, and 3.7 with TMA.
    ///
    /// # Safety
    /// As for [`store_by_tma`](Self::store_by_tma). A panel has another buffer than the one before, unless it is the first one of its rows.
    #[inline_on_device]
    pub(super) unsafe fn store_small_panels<'g, C: PowerOfTwo>(
        &self,
        panel: impl Fn(usize) -> Option<Panel<'g>>,
        step: usize,
        elements: &Elements<'_, T, C>,
    ) {
        C::unroll(0, step, &mut |register| {
            let Some(panel) = panel(register) else { return };
            // SAFETY: all threads of the warpgroup run this alike. A buffer is written when no thread reads it any more: at the first panel
            // of its rows all have loaded the one before, and TMA has read what an earlier tile stored, as the thread that issued it says.
            // Later the other buffer was written, behind which all waited. A panel is loaded when all have written it.
            unsafe {
                if panel.is_first {
                    if panel.thread.is_multiple_of(WARPGROUP) {
                        bulk::wait_for_reads::<0>();
                    }
                    wait_for_warpgroup(panel.group);
                }
                panel.write(elements);
                wait_for_warpgroup(panel.group);
                self.store_chunks(panel);
            }
        });
    }

    /// Stores a small panel from its buffer to the matrix, in chunks of 16 bytes, except for rows outside.
    ///
    /// # Safety
    /// The panel is in its buffer, and nothing writes it. It is this block's, and all its columns are TMA's.
    #[inline_on_device]
    unsafe fn store_chunks(&self, panel: Panel<'_>) {
        let chunks = panel.geometry.panel_bytes / CHUNK_BYTES;
        let (rows, rows_at_once) = (panel.rows_of_warp(), LANES / chunks);
        // Places and addresses must not take registers while other panels wait for their turn.
        let lane = execution::rematerialise(panel.lane() as u32) as usize;
        let warp = execution::rematerialise(panel.warp() as u32) as usize;
        let (own, chunk) = (rows * warp + lane / chunks, lane % chunks);
        let place = panel.geometry.offset(own, chunk * CHUNK_BYTES);
        let mut words = [[0; 4]; MOST_CHUNKS];
        let mut k = 0;
        while k * rows_at_once < rows {
            // Later rows lie behind this one in bits that its number does not have.
            let distance = panel.geometry.offset(k * rows_at_once, 0);
            // SAFETY: the chunk is in the panel.
            words[k] = unsafe { threads::load_16(threads::offset(panel.buffer, place ^ distance)) };
            k += 1;
        }
        let y = panel.y + own as u32;
        let inside = panel.end_of_rows(self.end_of_rows()).saturating_sub(y);
        let mut target = self.element(y, panel.x + (chunk * Self::GRANULE) as u32);
        k = 0;
        while k * rows_at_once < rows {
            // SAFETY: where TMA has columns, rows begin at multiples of 16 bytes, and 16 bytes of a row are all TMA's or none. The row is
            // inside the matrix where the condition holds.
            unsafe { global::store_16_if(inside > (k * rows_at_once) as u32, target.cast(), words[k]) };
            target =
                target.wrapping_add((rows_at_once as u64 * self.operand.matrix.layout.row_pitch) as usize);
            k += 1;
        }
    }
}
