//! Panels of a tile in an epilogue buffer: which part of the tile one is, and how threads write it.

use crate::arch::matrix::{WARPGROUPS, store_matrices_4, store_matrices_4_transposed};
use crate::arch::threads::{self, Address};
use crate::element::Element;
use crate::element::packed::packed_pair;
use crate::epilogue::ragged::ROWS as ROWS_OF_WARP;
use crate::memory::shared_tile::{CHUNK_BYTES, Geometry};
use crate::registers::{PowerOfTwo, Registers};
use crate::simt::shared::store_element;

/// Rows that a warpgroup stores at once.
pub(super) const BOX_ROWS: usize = 64;
/// Rows of transposed accumulators that `stmatrix` stores at once.
pub(super) const MATRIX_ROWS: usize = 16;
/// The most words of two elements that a thread has of a tile: half of its registers.
const MOST_WORDS: usize = 128;

/// What one thread has of a tile that goes through a buffer.
///
/// Elements of two bytes are packed here, two to a word. *Measured* on an H200: packed where they are stored, which is behind branches,
/// each would first be moved to a register of its own. Tiles of 128 x 256 took 0.2 us longer.
pub(super) struct Elements<'t, T: Element, C: PowerOfTwo> {
    registers: &'t Registers<T, C>,
    /// Registers 2 i and 2 i + 1 are word i.
    words: [u32; MOST_WORDS],
}

impl<'t, T: Element, C: PowerOfTwo> Elements<'t, T, C> {
    /// The elements in these registers.
    #[inline_on_device]
    pub(super) fn new(registers: &'t Registers<T, C>) -> Self {
        const { assert!(!WARPGROUPS || C::COUNT <= 2 * MOST_WORDS, "a thread has no more registers") };
        let mut words = [0; MOST_WORDS];
        if const { WARPGROUPS && size_of::<T::Bits>() == 2 } {
            C::unroll(0, 2, &mut |i| {
                // SAFETY: elements of two bytes, as asked above.
                words[i / 2] = unsafe { packed_pair(registers.get(i), registers.get(i + 1)) };
            });
        }
        Self { registers, words }
    }

    /// The number of registers.
    #[inline_on_device]
    pub(super) const fn count(&self) -> usize {
        C::COUNT
    }
}

/// A panel of a tile on its way to the matrix: up to 64 rows that a warpgroup stores at once, as one of its threads sees them.
#[derive(Clone, Copy)]
pub(super) struct Panel<'g> {
    /// The first of the registers that hold the panel.
    pub(super) register: usize,
    /// The geometry of the panel in the buffer.
    pub(super) geometry: &'g Geometry,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Whether the registers hold its transpose.
    pub(super) is_transposed: bool,
    /// Which half of the warpgroup has columns of a transposed panel of 32-bit elements.
    pub(super) half: usize,
    pub(super) buffer: Address,
    /// Whether it is the first panel of its rows.
    pub(super) is_first: bool,
    /// The panel's first column and row in the matrix.
    pub(super) x: u32,
    pub(super) y: u32,
    /// The warpgroup, and the thread of the block.
    pub(super) group: u32,
    pub(super) thread: usize,
}

impl Panel<'_> {
    /// The most rows that a warp of the warpgroup stores by threads: 16, or a quarter of a small panel's.
    #[inline_on_device]
    pub(super) const fn rows_of_warp(&self) -> usize {
        if self.rows > 2 * ROWS_OF_WARP { ROWS_OF_WARP } else { self.rows / 4 }
    }

    /// The warp of the warpgroup, which holds 16 of the rows, or 16 columns of a transposed panel.
    #[inline_on_device]
    pub(super) fn warp(&self) -> usize {
        self.thread / 32 % 4
    }

    #[inline_on_device]
    pub(super) fn lane(&self) -> usize {
        self.thread % 32
    }

    /// The row of the matrix behind the panel, if the rows of the tile end at `end`.
    #[inline_on_device]
    pub(super) fn end_of_rows(&self, end: u32) -> u32 {
        if self.rows < BOX_ROWS { end.min(self.y + self.rows as u32) } else { end }
    }

    /// Writes this warp's 16 rows of the panel, or 16 columns of a transposed one, to its buffer.
    ///
    /// # Safety
    /// The buffer has room for the panel, and no other thread accesses these rows or columns. Elements of transposed panels have two or
    /// four bytes.
    #[inline_on_device]
    pub(super) unsafe fn write<T: Element, C: PowerOfTwo>(&self, elements: &Elements<'_, T, C>) {
        let &Self { register: first, geometry, columns, buffer, .. } = self;
        let (warp, lane) = (self.warp(), self.lane());
        let size = const { size_of::<T::Bits>() };
        // The words of registers `at` to `at + 7`.
        let words = |at: usize| [0, 2, 4, 6].map(|k| elements.words[(at + k) / 2]);
        if self.is_transposed && size == 4 {
            // SAFETY: the same contract.
            return unsafe { self.write_transposed_words(elements) };
        }
        if self.is_transposed {
            let mut sixteen = 0;
            while sixteen < self.rows / MATRIX_ROWS {
                let row = 16 * sixteen + lane / 16 * 8 + lane % 8;
                let place = geometry.offset(row, (2 * warp + lane / 8 % 2) * CHUNK_BYTES);
                let address = threads::word(threads::offset(buffer, place));
                // SAFETY: the same contract.
                unsafe { store_matrices_4_transposed(address, words(first + sixteen * 8)) };
                sixteen += 1;
            }
            return;
        }
        if size == 2 && columns >= 16 {
            let mut sixteen = 0;
            while sixteen < columns / 16 {
                let place = geometry.offset(16 * warp + lane % 16, (2 * sixteen + lane / 16) * CHUNK_BYTES);
                let address = threads::word(threads::offset(buffer, place));
                // SAFETY: the same contract.
                unsafe { store_matrices_4(address, words(first + sixteen * 8)) };
                sixteen += 1;
            }
            return;
        }
        // The places of later columns and rows differ from this one in bits of their own.
        let place = geometry.offset(16 * warp + lane / 4, lane % 4 * 2 * size);
        let mut eight = 0;
        while eight < columns / 8 {
            let mut half = 0;
            while half < 2 {
                let of_eight = threads::offset(buffer, place ^ geometry.offset(0, 8 * eight * size));
                let at = threads::offset(of_eight, half * geometry.offset(8, 0));
                let register = first + 4 * eight + 2 * half;
                let [low, high] = [0, 1].map(|k| elements.registers.get(register + k));
                // SAFETY: the same contract.
                unsafe { store_pair(at, low, high) };
                half += 1;
            }
            eight += 1;
        }
    }

    /// Writes this warp's 16 columns of a transposed panel of 32-bit elements, if the panel has them: panels have 32 columns, those of two
    /// warps.
    ///
    /// A warp has eight neighbours in each of four rows, which lie in different banks.
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    #[inline_on_device]
    unsafe fn write_transposed_words<T: Element, C: PowerOfTwo>(&self, elements: &Elements<'_, T, C>) {
        let &Self { register: first, geometry, buffer, .. } = self;
        let (warp, lane) = (self.warp(), self.lane());
        if warp / 2 != self.half {
            return;
        }
        // The places of later columns and rows differ from this one in bits of their own.
        let place = geometry.offset(lane % 4 * 2, (16 * (warp % 2) + lane / 4) * 4);
        let mut register = 0;
        while register < self.rows / 2 {
            let (eight, column, row) = (register / 4, register / 2 % 2 * 8, register % 2);
            let at = threads::offset(buffer, place ^ geometry.offset(row, column * 4));
            // SAFETY: the same contract.
            unsafe {
                store_element(
                    threads::offset(at, geometry.offset(8 * eight, 0)),
                    elements.registers.get(first + register),
                )
            };
            register += 1;
        }
    }
}

/// Sets two neighbouring elements, which are not packed.
///
/// # Safety
/// Memory for both lies at `address`, aligned for a pair, shared by the block, which no other thread accesses.
#[inline_on_device]
unsafe fn store_pair<T: Element>(address: Address, low: T, high: T) {
    // SAFETY: the same contract. Bits of elements are plain integers of their size.
    unsafe {
        if const { size_of::<T::Bits>() == 4 } {
            let word = |element: T| {
                let bits = element.to_bits();
                core::ptr::from_ref(&bits).cast::<u32>().read()
            };
            threads::store_8(address, u64::from(word(low)) | u64::from(word(high)) << 32);
        } else {
            store_element(address, low);
            store_element(threads::offset(address, size_of::<T::Bits>()), high);
        }
    }
}
