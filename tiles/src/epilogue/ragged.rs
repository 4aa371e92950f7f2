//! Stores of rows that begin anywhere in memory, from a panel in shared memory, by words.
//!
//! TMA writes rows that begin at multiples of 16 bytes. Threads write all others. Single elements would be too many accesses.
//! Threads therefore store aligned words, each with bytes of two neighbouring words of the panel's row. The first and last
//! elements of a row remain: their words belong to other tiles as well. These elements are stored singly, those of all rows at
//! once.

use crate::arch::threads::{self, Address};
use crate::arch::{convert, execution, global};
use crate::element::Element;
use crate::memory::shared_tile::Geometry;
use crate::simt::shared::load_element;
use crate::view::transfer;
use core::marker::PhantomData;

/// Bytes of a word.
const WORD: u32 = 4;
/// Lanes of a warp.
pub(super) const LANES: usize = 32;
/// The most rows of a panel that a warp stores.
pub(super) const ROWS: usize = 16;
/// The most steps whose words are loaded before the first word is stored, to hide the latency of loads.
const STEPS_AT_ONCE: usize = 8;

/// How a row of a panel lies among the words of memory. All numbers count bytes.
#[derive(Clone, Copy)]
struct Span {
    /// The bytes before the first whole word of memory, fewer than a word has.
    head: u32,
    /// The bytes inside the matrix.
    length: u32,
}

impl Span {
    /// The row that begins at `address`, with `length` bytes inside the matrix.
    #[inline_on_device]
    fn new(address: usize, length: u32) -> Self {
        Self { head: (address as u32).wrapping_neg() % WORD, length }
    }

    /// Whether memory's word number `word` behind the head lies inside.
    #[inline_on_device]
    fn has_word(&self, word: u32) -> bool {
        self.head + WORD * word + WORD <= self.length
    }

    /// Element `k`, of `size` bytes, of the row's head or tail, which whole words leave out: its first byte, and whether it
    /// exists.
    #[inline_on_device]
    fn alone(&self, of_tail: bool, k: u32, size: u32) -> (u32, bool) {
        let head = if self.head < self.length { self.head } else { self.length };
        let tail = head + (self.length - head) / WORD * WORD;
        let (first, end) = if of_tail { (tail, self.length) } else { (0, head) };
        let byte = first + k * size;
        (byte, byte < end)
    }
}

/// A warp's rows of a panel in shared memory, and their target in memory.
pub(crate) struct RaggedRows<'g, T: Element> {
    /// The geometry of the panel at `buffer`.
    pub(crate) geometry: &'g Geometry,
    pub(crate) buffer: Address,
    /// The first of these rows, in the panel, and their number: a power of two up to [`ROWS`].
    pub(crate) first: usize,
    pub(crate) rows: usize,
    /// The target of the first row.
    pub(crate) target: *mut T::Bits,
    /// Elements from a row of the matrix to the next.
    pub(crate) pitch: u64,
    /// The number of these rows and of the panel's columns that lie inside the matrix, if not all do.
    pub(crate) inside: [u32; 2],
    pub(crate) element: PhantomData<T>,
}

impl<T: Element> RaggedRows<'_, T> {
    const SIZE: u32 = size_of::<T::Bits>() as u32;
    /// Steps at once: few where the tile's other panels take many registers.
    const AT_ONCE: usize = if Self::SIZE < WORD { STEPS_AT_ONCE } else { 2 };

    /// The target of row `row` of these, and how the row lies there.
    #[inline_on_device]
    fn row(&self, row: usize) -> (*mut T::Bits, Span) {
        let target = self.target.wrapping_add((row as u64 * self.pitch) as usize);
        (target, self.span(target, row))
    }

    /// How row `row` of these, whose target this is, lies there.
    #[inline_on_device]
    fn span(&self, target: *mut T::Bits, row: usize) -> Span {
        let columns = (self.geometry.panel_bytes as u32 / Self::SIZE).min(self.inside[1]);
        let length = if (row as u32) < self.inside[0] { columns * Self::SIZE } else { 0 };
        // Elements that are words or larger begin where words do.
        Span::new(if Self::SIZE < WORD { target.addr() } else { 0 }, length)
    }

    /// The place of a byte of row `row` of these.
    #[inline_on_device]
    fn place(&self, row: usize, byte: usize) -> Address {
        threads::offset(self.buffer, self.geometry.offset(self.first + row, byte))
    }

    /// Stores the elements inside the matrix, by the lanes of a warp.
    ///
    /// # Safety
    /// All lanes of the warp execute this same call. The rows are in the buffer, and nothing writes them. `target` is the place
    /// of their first element in a matrix of this pitch, aligned for elements. Nothing else accesses the elements inside the
    /// matrix.
    #[inline_on_device]
    pub(crate) unsafe fn store(&self, lane: usize) {
        // Results computed from `lane` must not take registers while other panels wait for their turn.
        let lane = execution::rematerialise(lane as u32) as usize;
        let words = self.geometry.panel_bytes / WORD as usize;
        // A step stores several rows of a narrow panel.
        let (own, word, rows) = (lane / words, lane % words, LANES / words);
        let at_once = Self::AT_ONCE.min(self.rows / rows);
        // The word and the one behind it in the first step. The last word's successor is the first one; no byte of it is used.
        let places = [word, (word + 1) % words]
            .map(|word| self.geometry.offset(self.first + own, word * WORD as usize));
        let mut target = self.row(own).0;
        // A loop, not a copy of its body for each panel of the tile.
        let (mut first, end) = (0, execution::opaque(self.rows as u32) as usize);
        while first < end {
            let mut pairs = [[0; 2]; STEPS_AT_ONCE];
            let mut k = 0;
            while k < at_once {
                // The rows of a step lie as many rows behind those of the first one: their number has none of the bits of those rows' numbers.
                let distance = self.geometry.offset(first, 0) ^ self.geometry.offset(k * rows, 0);
                let [low, high] = places.map(|place| threads::offset(self.buffer, place ^ distance));
                // SAFETY: the words are in the panel. Where elements are words, no word has bytes of two elements.
                pairs[k] = unsafe {
                    let low = threads::load_4(low);
                    [low, if Self::SIZE < WORD { threads::load_4(high) } else { low }]
                };
                k += 1;
            }
            k = 0;
            while k < at_once {
                let span = self.span(target, first + k * rows + own);
                let [low, high] = pairs[k];
                let bits = if Self::SIZE < WORD {
                    convert::funnel_shift_right(low, high, 8 * span.head)
                } else {
                    low
                };
                let address = target.cast::<u8>().wrapping_add(span.head as usize + WORD as usize * word);
                // SAFETY: the word is aligned, as a word begins behind the head. Where the condition holds, it lies inside the
                // matrix.
                unsafe { global::store_4_if(span.has_word(word as u32), address, bits) };
                // Step by step: the addresses of all steps would be computed and kept side by side.
                let next = target.wrapping_add((rows as u64 * self.pitch) as usize);
                target = execution::anew_pointer(next).cast_mut();
                k += 1;
            }
            first += at_once * rows;
        }
        // Two lanes for each row: one for its head, one for its tail.
        let (row, of_tail) = (lane / 2, lane % 2 == 1);
        let mut k = 0;
        while k + 1 < WORD / Self::SIZE.min(WORD) {
            let (target, span) = self.row(row);
            let (byte, is_there) = span.alone(of_tail, k, Self::SIZE);
            let within = if is_there { byte as usize } else { 0 };
            let in_panel = if self.rows < ROWS { row.min(self.rows - 1) } else { row };
            // SAFETY: the place is in the panel, and where the condition holds the element lies inside the matrix.
            unsafe {
                let element: T = load_element(self.place(in_panel, within));
                let target = target.wrapping_add((byte / Self::SIZE) as usize);
                transfer::store(target, 1, Some(is_there), |_| element);
            }
            k += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place in a later row is that in the first one, changed in the bits of their distance.
    #[test]
    fn places_differ_by_the_bits_of_the_rows() {
        for columns in [16, 32, 64, 128] {
            let geometry = Geometry::new(64, columns, 2);
            for (first, own) in [(0, 0), (16, 0), (48, 1), (32, 3)] {
                for distance in (0..16).step_by(4) {
                    for byte in (0..geometry.panel_bytes).step_by(WORD as usize) {
                        let place = geometry.offset(first + own, byte) ^ geometry.offset(distance, 0);
                        assert_eq!(
                            place,
                            geometry.offset(first + distance + own, byte),
                            "{columns} {first} {own} {distance} {byte}"
                        );
                    }
                }
            }
        }
    }

    /// Every element inside is stored once, and no byte outside is stored, wherever a row begins and however long it is.
    #[test]
    fn words_and_single_elements_are_the_row() {
        for size in [1, 2, 4, 8] {
            for (begin, elements) in (0..8).flat_map(|begin| (0..=16).map(move |elements| (begin, elements)))
            {
                let span = Span::new(1024 + begin * size as usize, elements * size);
                let mut stored = [0; 16 * 8 + 4];
                let mut store = |first: u32, bytes: u32| {
                    (first..first + bytes).for_each(|byte| stored[byte as usize] += 1)
                };
                for word in (0..32).filter(|&word| span.has_word(word)) {
                    assert!(
                        (1024 + begin * size as usize + (span.head + WORD * word) as usize).is_multiple_of(4)
                    );
                    store(span.head + WORD * word, WORD);
                }
                for k in 0..(WORD / size.min(WORD)) - 1 {
                    for (byte, is_there) in [span.alone(false, k, size), span.alone(true, k, size)] {
                        if is_there {
                            store(byte, size);
                        }
                    }
                }
                let inside = (elements * size) as usize;
                assert!(
                    stored[..inside].iter().all(|&times| times == 1),
                    "{size} bytes from {begin}, {elements}"
                );
                assert!(
                    stored[inside..].iter().all(|&times| times == 0),
                    "{size} bytes from {begin}, {elements}"
                );
            }
        }
    }
}
