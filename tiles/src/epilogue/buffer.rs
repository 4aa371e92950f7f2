//! The epilogue buffer: panels of a tile on their way through shared memory to global memory, by TMA.

use crate::arch::matrix::WARPGROUPS;
use crate::arch::threads::{self, Address};
use crate::arch::{barriers, bulk, execution};
use crate::element::Element;
use crate::epilogue::panel::{BOX_ROWS, Elements, Panel};
use crate::epilogue::ragged::{ROWS as ROWS_OF_WARP, RaggedRows};
use crate::epilogue::tile::StoreTile;
use crate::layout::{Accumulators, Block, Layout, WARPGROUP};
use crate::memory::shared::SharedMemory;
use crate::memory::shared_tile::{CHUNK_BYTES, Geometry};
use crate::memory::tensor_map::TmaStore;
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;
use crate::simt::shared::load_element;
use crate::tile::Tile;
use crate::view::transfer;
use core::marker::PhantomData;

/// Bytes of a row of a buffer.
pub(super) const ROW_BYTES: usize = 128;
/// Buffers of each warpgroup: one is filled while TMA reads the other.
pub(super) const BUFFERS: usize = 2;
/// The most 32-bit elements of a thread that have a way of their own if all columns are TMA's.
///
/// *Measured* on an H200: with 128 elements both ways together spilled 60 bytes, and a tile took 4 % less besides its k steps.
const MOST_WORDS_WITH_TWO_WAYS: usize = 64;
/// The first of the block's named barriers that warpgroups use among themselves.
const FIRST_BARRIER: u32 = 2;

/// Waits until all threads of the warpgroup of this number are here.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline_on_device]
pub(super) unsafe fn wait_for_warpgroup(group: u32) {
    // SAFETY: the warpgroup's barrier, at which all its threads arrive.
    unsafe { execution::named_barrier(FIRST_BARRIER + group, WARPGROUP as u32) }
}

/// The epilogue buffers through which the warpgroups of a block store tiles: for each of its `WARPGROUPS` warpgroups two panels of
/// `PANEL_ROWS` rows of 128 bytes, 16 KiB.
///
/// Panels of 16 or 32 rows leave more shared memory to the ring. They are for [transposed accumulators](Tile::transposed_accumulators)
/// alone, with [`Padded`](crate::shape::Padded) rows: TMA stores 16 or 32 of those at once.
///
/// A kernel takes it as an argument, `#[shared] buffer: EpilogueBuffer<2>` in a block of 256 threads. On targets without TMA it
/// has no bytes. A kernel without one stores its tiles by [`StoreTile::store_directly`].
#[doc(alias("CollectiveEpilogue"))]
pub struct EpilogueBuffer<const WARPGROUPS: usize, const PANEL_ROWS: usize = 64> {
    address: Address,
    local: PhantomData<*const ()>,
}

// SAFETY: the memory at the address has room for the buffers.
unsafe impl<const WARPGROUPS: usize, const PANEL_ROWS: usize> SharedMemory
    for EpilogueBuffer<WARPGROUPS, PANEL_ROWS>
{
    const BYTES: [u32; 3] = {
        assert!(
            matches!(PANEL_ROWS, 16 | 32 | 64),
            "the panels of an epilogue buffer have 16, 32 or 64 rows: `EpilogueBuffer<2>` has 64"
        );
        assert!(
            WARPGROUPS > 0,
            "an epilogue buffer has at least one warpgroup's part: a kernel without one calls `store_directly`"
        );
        [0, 0, (WARPGROUPS * BUFFERS * PANEL_ROWS * ROW_BYTES) as u32]
    };
    type Storage = ();
    #[inline_on_device]
    unsafe fn new(address: Address) -> Self {
        Self { address, local: PhantomData }
    }
}

/// The part of a buffer that belongs to a warpgroup.
pub(super) struct Part {
    pub(super) own: Address,
    /// The warpgroup's number, in the CTA and in the block.
    pub(super) group: u32,
    pub(super) in_block: u32,
    /// The thread of the block.
    pub(super) thread: usize,
}

impl<const WARPGROUPS: usize, const PANEL_ROWS: usize> EpilogueBuffer<WARPGROUPS, PANEL_ROWS> {
    /// The part of this thread's warpgroup.
    #[inline_on_device]
    pub(super) fn part<B: Block>(&self) -> Part {
        // Addresses must not take registers while multiplications are under way.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        // SAFETY: all threads of the block run this alike.
        let in_block = unsafe { execution::from_lane((thread / WARPGROUP) as u32, 0) };
        let in_a_block = const { <B::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        // The blocks of a CTA have barriers and parts of the buffer for themselves.
        let group =
            if B::CONSUMERS > 1 { execution::consumer() * in_a_block as u32 + in_block } else { in_block };
        let own = threads::offset(self.address, group as usize * BUFFERS * PANEL_ROWS * ROW_BYTES);
        Part { own, group, in_block, thread }
    }
}

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    /// Whether tiles of this shape can go through a buffer, in a block of so many warpgroups.
    pub(super) const fn through_buffer(warpgroups: usize) -> bool {
        WARPGROUPS
            && warpgroups > 0
            && Self::ROWS >= BOX_ROWS * warpgroups
            && Self::ROWS == <M::Count as PowerOfTwo>::COUNT
            && Self::COLUMNS * size_of::<T::Bits>() >= 2 * CHUNK_BYTES
            && Self::COLUMNS >= 8
    }

    #[inline_on_device]
    pub(super) fn store_through_buffer<B: Block, const GROUPS: usize, const PANEL_ROWS: usize>(
        &self,
        buffer: &mut EpilogueBuffer<GROUPS, PANEL_ROWS>,
        tile: Tile<T, (M, N), Accumulators<B>>,
    ) {
        let columns = const { TmaStore::<T, (M, N)>::BOX.columns as usize };
        let geometry = const {
            Geometry::new(BOX_ROWS, TmaStore::<T, (M, N)>::BOX.columns as usize, size_of::<T::Bits>())
        };
        let in_a_block = const { <B::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        let Part { own, group, in_block, thread } = buffer.part::<B>();
        let [_, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32 + in_block * BOX_ROWS as u32, j * Self::COLUMNS as u32);
        // Nor must this number.
        let tma_columns = execution::rematerialise(self.tma_columns());
        let [panels, padded] = const {
            let columns = TmaStore::<T, (M, N)>::BOX.columns as usize;
            [Self::COLUMNS / columns, <N::Count as PowerOfTwo>::COUNT / columns]
        };
        let elements = Elements::new(tile.registers());
        // The panel whose registers begin here. The registers of each lie behind those of the one before.
        let panel = |register: usize| {
            let number = register / (columns / 2);
            let (row_block, panel) = (number / padded, number % padded);
            (panel < panels && register < elements.count()).then(|| Panel {
                register,
                geometry: &geometry,
                rows: BOX_ROWS,
                columns,
                is_transposed: false,
                half: 0,
                buffer: threads::offset(own, number % BUFFERS * BOX_ROWS * ROW_BYTES),
                is_first: panel == 0,
                x: column + (panel * columns) as u32,
                y: row + (row_block * BOX_ROWS * in_a_block) as u32,
                group,
                thread,
            })
        };
        let has_way_of_its_own = const {
            let registers = <<Accumulators<B> as Layout>::Registers<(M, N)> as PowerOfTwo>::COUNT;
            size_of::<T::Bits>() == 2 || size_of::<T::Bits>() == 4 && registers <= MOST_WORDS_WITH_TWO_WAYS
        };
        if has_way_of_its_own && self.is_stored_by_tma(tma_columns) {
            <Accumulators<B> as Layout>::Registers::<(M, N)>::unroll(0, columns, &mut |register| {
                // SAFETY: all threads of the warpgroup run this alike. The buffers are the warpgroup's, and neighbours use different ones.
                unsafe { self.store_by_tma([panel(register), panel(register + columns / 2)], &elements) }
            });
            return;
        }
        <Accumulators<B> as Layout>::Registers::<(M, N)>::unroll(0, columns / 2, &mut |register| {
            if let Some(panel) = panel(register) {
                // SAFETY: all threads of the warpgroup run this alike. The buffer is the warpgroup's, and consecutive panels of a row of panels
                // use different ones.
                unsafe { self.store_panel(panel, &elements, tma_columns) }
            }
        });
    }

    /// Stores a panel; TMA stores the matrix's first `tma_columns` columns.
    ///
    /// # Safety
    /// All threads of the warpgroup execute this same call. The buffer belongs to the warpgroup. It differs from the buffer of the panel
    /// before, if that one is in the same row of panels.
    #[inline_on_device]
    pub(super) unsafe fn store_panel<C: PowerOfTwo>(
        &self,
        panel: Panel<'_>,
        elements: &Elements<'_, T, C>,
        tma_columns: u32,
    ) {
        let Panel { columns, is_first, x, group, .. } = panel;
        let issues = panel.thread.is_multiple_of(WARPGROUP);
        // A panel that begins behind TMA's columns has none of them.
        let by_tma = x < tma_columns;
        // SAFETY: all threads of the warpgroup run this alike, and one thread issues all its stores by TMA. A buffer is written
        // when its last store has read it and no thread reads it any more, as the barrier says behind which the other buffer
        // was written. It is stored when all threads have written it and fenced, to columns that are multiples of a panel's
        // bytes.
        unsafe {
            if issues {
                // The panel before may still be read, if it was stored by TMA and is in the other buffer: if it is in the same row.
                if by_tma && !is_first {
                    bulk::wait_for_reads::<{ BUFFERS - 1 }>();
                } else {
                    bulk::wait_for_reads::<0>();
                }
            }
            wait_for_warpgroup(group);
            panel.write(elements);
            if by_tma {
                barriers::fence_proxy_async();
            }
            wait_for_warpgroup(group);
            if by_tma && issues {
                self.issue_boxes(panel);
                bulk::commit_stores();
            }
            // Threads store the rest: the whole panel or, in one of a row's panels, the columns of its last chunk.
            let first = tma_columns.saturating_sub(x);
            if !by_tma {
                self.ragged_rows(panel).store(panel.lane());
            } else if first < columns as u32 && tma_columns < self.operand.matrix.layout.columns {
                self.copy_columns(panel, first);
            }
        }
    }

    /// This warp's rows of a panel in its buffer, and their target in the matrix.
    #[inline_on_device]
    fn ragged_rows<'g>(&self, panel: Panel<'g>) -> RaggedRows<'g, T> {
        let Panel { geometry, buffer, x, y, .. } = panel;
        let (warp, end_of_rows) = (panel.warp(), panel.end_of_rows(self.end_of_rows()));
        // Values that panels have in common must not take registers from one panel to the next.
        let ([x, y], warp) =
            ([x, y].map(execution::rematerialise), execution::rematerialise(warp as u32) as usize);
        let layout = &self.operand.matrix.layout;
        let (rows, first) = (panel.rows_of_warp(), panel.rows_of_warp() * warp);
        let y = y + first as u32;
        let inside = end_of_rows.saturating_sub(y);
        // Fewer than 16 rows have others behind them that are not this warp's.
        let inside = if rows < ROWS_OF_WARP { inside.min(rows as u32) } else { inside };
        let inside = [inside, layout.columns.saturating_sub(x)];
        let target = self.element(y, x);
        RaggedRows {
            geometry,
            buffer,
            first,
            rows,
            target,
            pitch: layout.row_pitch,
            inside,
            element: PhantomData,
        }
    }

    /// Copies the columns of a chunk, from `first` on, of this warp's rows of a panel from the buffer to the matrix, except
    /// for elements outside the matrix.
    ///
    /// # Safety
    /// The panel has the columns and is in the buffer. The rows and columns belong to this tile.
    #[inline_on_device]
    unsafe fn copy_columns(&self, panel: Panel<'_>, first: u32) {
        let Panel { geometry, buffer, x, y, .. } = panel;
        let (warp, lane) = (panel.warp(), panel.lane());
        let (layout, end_of_rows) = (&self.operand.matrix.layout, panel.end_of_rows(self.end_of_rows()));
        // A loop, not a copy of its body: registers are short here.
        let rows = panel.rows_of_warp();
        let (mut number, count) = (lane, execution::opaque((rows * Self::GRANULE) as u32) as usize);
        while number < count {
            let (row, column) =
                (rows * warp + number / Self::GRANULE, first as usize + number % Self::GRANULE);
            let (y, x) = (y + row as u32, x + column as u32);
            let inside = y < end_of_rows && x < layout.columns;
            let place = threads::offset(buffer, geometry.offset(row, column * size_of::<T::Bits>()));
            // SAFETY: the place is in the panel. The element belongs to this block's own tile, and is inside the matrix
            // wherever the condition holds.
            unsafe {
                let element: T = load_element(place);
                transfer::store(self.element(y, x), 1, Some(inside), |_| element);
            }
            number += 32;
        }
    }
}
