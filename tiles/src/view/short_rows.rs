//! Stores of short rows that start anywhere in memory: aligned chunks, by way of shared memory.
//!
//! As in [`chunks`](super::chunks), a thread stores the chunk that starts within its vector. A warp holds short rows as a whole. So its vectors
//! go to shared memory, and each chunk comes back in words from the place where it starts: no shuffle, and no choice among registers.
//! At the ends of a row elements remain, fewer than a chunk has. They are stored one by one behind the chunks, each end of each row by a
//! lane of its own.

use super::TiledView;
use super::located::{InMemory, Located, Part};
use super::transfer::{self, Words};
use super::traversal::Traversal;
use crate::arch::{convert, execution, matrix, shared, threads};
use crate::context::barrier;
use crate::element::Element;
use crate::element::bits_transport::Transport;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::PowerOfTwo;
use crate::shape::Shape;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;

/// Lanes of a warp.
const LANES: usize = 32;
/// The least chunks of a row.
const LEAST_CHUNKS: usize = 8;
/// Bytes of a word.
const WORD: usize = 4;

impl<T, E, A, M, G, S, B, W, N> TiledView<TensorSpan<T, E, A, M, G>, S, B, W, N>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Traversal<S>,
{
    /// Registers of a thread that are in shared memory at once.
    const AT_ONCE: usize = {
        let all = <<Blocked<B> as Layout>::Registers<S> as PowerOfTwo>::COUNT;
        let room = shared::SCRATCH_BYTES / (<B::Threads as PowerOfTwo>::COUNT * size_of::<T::Bits>());
        if all < room { all } else { room }
    };
    /// Bytes of a warp in shared memory, and its rows there.
    const WARP_BYTES: usize = LANES * Self::AT_ONCE * size_of::<T::Bits>();
    const ROWS_AT_ONCE: usize = LANES * Self::AT_ONCE / Self::ROW;
    /// Whether rows are short: a warp holds them as a whole. Of very short ones the ends take longer than the chunks. Blocks that share a
    /// CTA have no scratch.
    pub(super) const HAS_SHORT_ROWS: bool = !Self::ONE_ROW
        && B::CONSUMERS == 1
        && Self::ROW >= LEAST_CHUNKS * Self::VECTOR
        && Self::ROW <= Self::RUN
        && Self::PIECE <= Self::AT_ONCE;

    /// Stores the elements of the part that lie inside the tensor, which are in the order of memory.
    ///
    /// # Safety
    /// As for [`Self::store_chunks`], for a tile with [`Self::HAS_SHORT_ROWS`].
    #[inline_on_device]
    pub(super) unsafe fn store_short_rows(
        &self,
        value: Tile<T, S, Blocked<B>>,
        located: &Located<T, E>,
        part: &Part<T, E>,
    ) {
        let thread = execution::thread();
        let (lane, warp) = (thread % LANES, thread / LANES);
        let size = const { size_of::<T::Bits>() };
        let bytes = const { Self::WARP_BYTES * (<B::Threads as PowerOfTwo>::COUNT / LANES) };
        let scratch = shared::scratch_of(bytes) + (warp * Self::WARP_BYTES) as u32;
        // Threads hold neighbours of a row in the order of their numbers, and rows one behind the other.
        let place = |i: usize| {
            let (step, within) = (i % Self::AT_ONCE / Self::PIECE, i % Self::PIECE);
            scratch + (((step * LANES + lane) * Self::PIECE + within) * size) as u32
        };
        let stores = thread & const { Map::<Blocked<B>, S>::MAP.replicas } == 0;
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::AT_ONCE, &mut |first| {
            // SAFETY: the caller's contract: all threads of the block are here.
            unsafe { barrier::<B>() };
            Self::each_of(first, |i| {
                let words = Words::from_elements(Self::VECTOR, |k| value.registers().get(i + k));
                // SAFETY: the vector's place is this thread's, in the scratch, which nobody else uses between two barriers.
                unsafe { put(place(i), Self::CHUNK_BYTES, words) }
            });
            // SAFETY: all lanes are here. They read what lanes of their warp have put.
            unsafe { threads::warp_barrier() };
            Self::each_of(first, |i| {
                let overlap = Self::overlap(located, part, i);
                let ends_row = (Self::column(i) + Self::VECTOR).is_multiple_of(Self::ROW);
                let low = overlap.low as usize;
                // SAFETY: the words are in the warp's part of the scratch: no row goes on behind its last vector.
                let word = |k: usize| unsafe { shared::load_u32(place(i) + (WORD * k) as u32) };
                let chunk = chunk::<T>(Self::CHUNK_BYTES, low * size, ends_row, word);
                let address = part.address::<InMemory<S, M>, Blocked<B>>(i).wrapping_add(low);
                // SAFETY: a whole chunk lies inside the tensor and the tile and starts at an aligned address; its elements are this thread's and
                // its neighbour's, which leaves them to this one. The tile is this block's.
                unsafe {
                    transfer::store_words(
                        address.cast(),
                        Self::CHUNK_BYTES,
                        Some(overlap.whole & stores),
                        chunk,
                    )
                }
            });
            let mut end = 0;
            while end < 2 * Self::ROWS_AT_ONCE {
                // SAFETY: the same contract; the rows are in the scratch from register `first` on.
                unsafe { self.store_end(located, scratch, first, end + lane) };
                end += LANES;
            }
        });
    }

    /// Calls `visit` with the first register of each vector of those that are in shared memory with register `first`.
    #[inline_on_device]
    fn each_of(first: usize, mut visit: impl FnMut(usize)) {
        Self::each_vector(|i| {
            if i / Self::AT_ONCE == first / Self::AT_ONCE {
                visit(i)
            }
        });
    }

    /// Stores the elements that no whole chunk has at an end of a row: `end / 2` is the row's number in this warp's part of the scratch, whose
    /// first register is `first`, and odd ends are the later ones. Larger numbers are no ends.
    ///
    /// # Safety
    /// The tile is this block's. The rows are in the scratch, and nothing writes there.
    #[inline_on_device]
    unsafe fn store_end(&self, located: &Located<T, E>, scratch: u32, first: usize, end: usize) {
        let (row, of_tail) = (end / 2 % Self::ROWS_AT_ONCE, end % 2 == 1);
        let element = row * Self::ROW;
        // The thread and its register that hold the row's first element.
        let thread = execution::thread() / LANES * LANES + element % Self::RUN / Self::PIECE;
        let register = first + element / Self::RUN * Self::PIECE;
        let map = const { &Map::<Blocked<B>, S>::MAP };
        let is_end = end < 2 * Self::ROWS_AT_ONCE && thread & map.replicas == 0;
        let flat = map.of_thread.apply(thread) | map.of_register.apply(register);
        let (address, inside) = located.row::<InMemory<S, M>>(flat, Self::FASTEST);
        let inside = (inside.0, inside.1.min(Self::ROW as i32));
        let before = (address.addr() / size_of::<T::Bits>()) as i32;
        let (start, stop) = remaining_end(Self::VECTOR as i32, before, inside, of_tail);
        let mut k = 0;
        while k + 1 < Self::VECTOR {
            let column = start + k as i32;
            let is_there = is_end & (column < stop);
            let within = if is_there { column as usize } else { 0 };
            // SAFETY: the element is one of the row, in the scratch. Where the condition holds it lies inside the tensor, and no whole chunk
            // has it.
            unsafe {
                let place = scratch + ((element + within) * const { size_of::<T::Bits>() }) as u32;
                let value = T::from_bits(T::Bits::load_shared(place));
                transfer::store(address.wrapping_add(within), 1, Some(is_there), |_| value)
            }
            k += 1;
        }
    }
}

/// The elements of a row, those from the first number to below the second, that lie in no whole chunk at its beginning, or at its end
/// (`of_tail`). The row begins `before` elements behind the start of a chunk of `vector` elements, and has the elements `inside`.
#[inline_on_device]
fn remaining_end(vector: i32, before: i32, inside: (i32, i32), of_tail: bool) -> (i32, i32) {
    let (start, stop) = inside;
    let first = start + ((before + start).wrapping_neg() & (vector - 1));
    if of_tail { (first + (stop - first).max(0) / vector * vector, stop) } else { (start, first.min(stop)) }
}

/// Puts the first `bytes` bytes of `words` to shared memory: 4, 8 or 16.
///
/// # Safety
/// This memory is the block's, aligned to so many bytes, and nobody else accesses it.
#[inline_on_device]
unsafe fn put(address: u32, bytes: usize, Words(words): Words) {
    // SAFETY: the same contract.
    unsafe {
        match bytes {
            16 => matrix::store_words(address, words),
            8 => shared::store_u64(address, u64::from(words[0]) | u64::from(words[1]) << 32),
            _ => shared::store_u32(address, words[0]),
        }
    }
}

/// The chunk of `length` bytes that starts `low` bytes behind a vector, fewer than a chunk has; anything if it reaches beyond a vector that
/// `ends_row`. `word` has the words from the beginning of the vector on, those of the next one behind them unless this one ends the row.
#[inline_on_device]
fn chunk<T: Element>(length: usize, low: usize, ends_row: bool, word: impl Fn(usize) -> u32) -> Words {
    let first = if ends_row { 0 } else { low / WORD };
    let shift = 8 * (low % WORD) as u32;
    let mut words = [0; 4];
    let mut k = 0;
    while k < length / WORD {
        words[k] = word(first + k);
        k += 1;
    }
    if size_of::<T::Bits>() < WORD {
        // Without a shift the word behind the last one is not needed.
        let last = length / WORD - 1;
        let behind = word(first + if ends_row | (shift == 0) { last } else { last + 1 });
        k = 0;
        while k < length / WORD {
            let next = if k == last { behind } else { words[k + 1] };
            words[k] = convert::funnel_shift_right(words[k], next, shift);
            k += 1;
        }
    }
    Words(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk has the bytes behind the beginning of a vector, and reads no word of another row.
    #[test]
    fn chunks_are_the_bytes_behind_a_vector() {
        fn check<T: Element>(length: usize) {
            let size = size_of::<T::Bits>();
            for low in (0..length).step_by(size) {
                for ends_row in [false, true] {
                    let words = if ends_row { 1 } else { 2 } * length / WORD;
                    let chunk = chunk::<T>(length, low, ends_row, |k| {
                        assert!(k < words, "word {k} of {words}");
                        u32::from_le_bytes([0, 1, 2, 3].map(|byte| (WORD * k + byte) as u8))
                    });
                    if ends_row && low > 0 {
                        continue;
                    }
                    for byte in 0..length {
                        let found = chunk.0[byte / WORD].to_le_bytes()[byte % WORD];
                        assert_eq!(
                            found as usize,
                            low + byte,
                            "{length} bytes from {low}, elements of {size}"
                        );
                    }
                }
            }
        }
        for length in [4, 8, 16] {
            check::<u8>(length);
            check::<u16>(length);
            check::<u32>(length);
        }
        check::<u64>(8);
        check::<u64>(16);
    }

    /// Whole chunks and what remains at both ends are each element inside once.
    #[test]
    fn chunks_and_ends_are_the_row() {
        for vector in [2, 4, 8, 16] {
            let length = 3 * vector;
            for before in 0..vector {
                for (start, stop) in
                    (0..=length).flat_map(|start| (0..=length).map(move |stop| (start, stop)))
                {
                    let mut stored = [0; 48];
                    let mut store =
                        |range: core::ops::Range<i32>| range.for_each(|k| stored[k as usize] += 1);
                    let low = (vector - before) % vector;
                    for first in (0..3).map(|k| k * vector + low) {
                        if start <= first && first + vector <= stop {
                            store(first..first + vector);
                        }
                    }
                    for of_tail in [false, true] {
                        let (from, to) = remaining_end(vector, before, (start, stop), of_tail);
                        assert!(to - from < vector, "an end is shorter than a chunk");
                        store(from..to);
                    }
                    for k in 0..length {
                        let expected = i32::from((start..stop).contains(&k));
                        assert_eq!(stored[k as usize], expected, "element {k} of {start}..{stop}, {before}");
                    }
                }
            }
        }
    }
}
