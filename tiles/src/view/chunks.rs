//! Rows that start anywhere in memory: chunks that are aligned there, shifted between neighbouring threads.
//!
//! A row whose first element is not a multiple of the vector away from an aligned address cannot be moved by the vectors
//! that threads hold. But memory has aligned chunks of the same length, each of which covers the end of one thread's vector
//! and the start of the next thread's. So each thread moves the chunk that starts within its own vector by one access, and
//! exchanges what belongs to its neighbour by shuffles within the warp. Elements of chunks that are not whole inside the
//! tensor, the row or the warp are moved one by one, each by the thread that holds it. No byte outside the tile is touched.

use super::TiledView;
use super::locate::{InMemory, Part};
use super::transfer::{self, Words};
use super::walk::Walk;
use crate::arch;
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::span::{Access, Alignment, Extents, Mapping};
use crate::tile::Tile;

/// How a thread's vector lies among the chunks of its row.
struct Overlap {
    /// Elements of the vector before the first chunk that starts in it.
    low: i32,
    /// The elements inside the tensor, counted from the vector's first: from here
    start: i32,
    /// to below here.
    stop: i32,
    /// Whether the chunk that starts in the vector is whole.
    whole: bool,
    /// Whether the chunk before it is, which the vector's first elements belong to.
    previous_whole: bool,
}

impl Overlap {
    /// Of a vector of `vector` elements, `low` of them before the first chunk that starts in it, of which those in `inside`
    /// lie inside the tensor; it may have neighbours on either side.
    #[inline(always)]
    fn new(vector: i32, low: i32, inside: (i32, i32), previous: bool, next: bool) -> Self {
        let (start, stop) = inside;
        Self {
            low,
            start,
            stop,
            whole: (next | (low == 0)) & (start <= low) & (low + vector <= stop),
            previous_whole: previous & (start <= low - vector) & (low <= stop),
        }
    }

    /// Whether element `k` of the vector is part of a whole chunk.
    #[inline(always)]
    fn covers(&self, k: i32) -> bool {
        if k < self.low { self.previous_whole } else { self.whole }
    }

    /// Whether element `k` of the vector is to be moved alone.
    #[inline(always)]
    fn leaves(&self, k: i32) -> bool {
        (self.start <= k) & (k < self.stop) & !self.covers(k)
    }
}

impl<T, E, A, M, G, S, B, W> TiledView<T, E, A, M, G, S, B, W>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Walk<S>,
{
    /// Bytes of a vector, and of a chunk.
    const CHUNK_BYTES: usize = Self::VECTOR * size_of::<T::Bits>();
    /// Neighbouring elements of a row that a thread holds: one or more vectors.
    const PIECE: usize = {
        let row = 1 << S::DESCRIPTION.log[if S::DESCRIPTION.rank == 0 { 0 } else { Self::FASTEST }];
        if row < <B::Vector as PowerOfTwo>::COUNT { row } else { <B::Vector as PowerOfTwo>::COUNT }
    };
    /// Neighbouring threads of a warp that hold neighbouring pieces of a row.
    const RUN: usize = {
        let row = 1 << S::DESCRIPTION.log[if S::DESCRIPTION.rank == 0 { 0 } else { Self::FASTEST }];
        let threads = row / Self::PIECE;
        if threads < 32 { threads } else { 32 }
    };

    /// Whether misaligned rows are worth chunks: where they are ordinary, and chunks whole words.
    #[inline(always)]
    pub(super) fn moves_by_chunks() -> bool {
        arch::TILES_IN_REGISTERS && Self::VECTOR > 1 && Self::CHUNK_BYTES >= 4 && Self::rows_start_anywhere()
    }

    /// How the vector at register `i` lies among the chunks.
    #[inline(always)]
    fn overlap(&self, part: &Part<T, E>, i: usize) -> Overlap {
        let vector = Self::VECTOR as i32;
        let inside = part.inside_along::<InMemory<S, M>, Blocked<B>>(i, Self::FASTEST);
        let address = part.address::<InMemory<S, M>, Blocked<B>>(i).addr();
        let low = (address.wrapping_neg() / size_of::<T::Bits>()) as i32 & (vector - 1);
        let place = arch::execution::thread() & (Self::RUN - 1);
        let within = i % Self::PIECE;
        let next = within + Self::VECTOR < Self::PIECE || place + 1 < Self::RUN;
        let previous = within > 0 || place > 0;
        Overlap::new(vector, low, inside, previous, next)
    }

    /// Loads the elements of the part that lie inside the tensor, in the order of memory, with `padding` for the others.
    ///
    /// # Safety
    /// The part is that of a tile of this view, on all threads of the block alike.
    #[inline(always)]
    pub(super) unsafe fn load_chunks(&self, part: &Part<T, E>, padding: T) -> Tile<T, S, Blocked<B>> {
        let mut registers = Registers::from_fn(|_| padding);
        // The chunk that starts in each vector, as elements; those of a piece come before the exchange.
        let mut chunks: Registers<T, <Blocked<B> as Layout>::Registers<S>> = Registers::from_fn(|_| T::ZERO);
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
            let overlap = self.overlap(part, i);
            let address = part.address::<InMemory<S, M>, Blocked<B>>(i);
            // SAFETY: a whole chunk lies inside the tensor, and starts at an aligned address.
            unsafe {
                transfer::load(
                    address.wrapping_add(overlap.low as usize),
                    Self::VECTOR,
                    Self::CACHE,
                    Some(overlap.whole),
                    T::ZERO,
                    |k, element| chunks.set(i + k, element),
                )
            }
            let mut k = 0;
            while k < Self::VECTOR {
                // SAFETY: an element that is left lies inside the tensor.
                unsafe {
                    transfer::load(
                        address.wrapping_add(k),
                        1,
                        Self::CACHE,
                        Some(overlap.leaves(k as i32)),
                        padding,
                        |_, element| registers.set(i + k, element),
                    )
                }
                k += 1;
            }
        });
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
            let overlap = self.overlap(part, i);
            let words = |from: usize| Words::from_elements(Self::VECTOR, |k| chunks.get(from + k));
            let own = words(i);
            let before = if i % Self::PIECE > 0 {
                words(i - Self::VECTOR)
            } else {
                let last = words(i + Self::PIECE - Self::VECTOR);
                // SAFETY: the caller's contract: all threads of the block are here.
                unsafe { Self::from_neighbour(last, -1) }
            };
            let elements = continued::<T>(Self::CHUNK_BYTES, before, own, overlap.low);
            let mut k = 0;
            while k < Self::VECTOR {
                if overlap.covers(k as i32) {
                    registers.set(i + k, elements.element::<T>(k));
                }
                k += 1;
            }
        });
        Tile::from_registers(registers)
    }

    /// Stores the elements of the part that lie inside the tensor, which are in the order of memory.
    ///
    /// # Safety
    /// The part is that of a tile of this view that belongs to this block, on all threads of the block alike.
    #[inline(always)]
    pub(super) unsafe fn store_chunks(&self, value: Tile<T, S, Blocked<B>>, part: &Part<T, E>) {
        let stores = arch::execution::thread() & const { Map::<Blocked<B>, S>::MAP.replicas } == 0;
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
            let overlap = self.overlap(part, i);
            let words = |from: usize| Words::from_elements(Self::VECTOR, |k| value.registers().get(from + k));
            let own = words(i);
            let after = if i % Self::PIECE + Self::VECTOR < Self::PIECE {
                words(i + Self::VECTOR)
            } else {
                let first = words(i + Self::VECTOR - Self::PIECE);
                // SAFETY: the caller's contract: all threads of the block are here.
                unsafe { Self::from_neighbour(first, 1) }
            };
            let chunk = shifted::<T>(Self::CHUNK_BYTES, own, after, overlap.low);
            let address = part.address::<InMemory<S, M>, Blocked<B>>(i);
            // SAFETY: a whole chunk lies inside the tensor and starts at an aligned address; its elements are this
            // thread's and its neighbour's, which leaves them to this one. The tile is this block's.
            unsafe {
                transfer::store_words(
                    address.wrapping_add(overlap.low as usize).cast(),
                    Self::CHUNK_BYTES,
                    Some(overlap.whole & stores),
                    chunk,
                )
            }
            let mut k = 0;
            while k < Self::VECTOR {
                // SAFETY: an element that is left lies inside the tensor, and no chunk has it.
                unsafe {
                    transfer::store(
                        address.wrapping_add(k),
                        1,
                        Some(overlap.leaves(k as i32) & stores),
                        |_| value.registers().get(i + k),
                    )
                }
                k += 1;
            }
        });
    }

    /// The chunk of the thread `distance` further within the run; anything where there is none.
    ///
    /// # Safety
    /// All threads of the warp are here.
    #[inline(always)]
    unsafe fn from_neighbour(words: Words, distance: i32) -> Words {
        let Words(mut all) = words;
        if Self::RUN > 1 {
            let lane = (arch::execution::thread() as i32 + distance) as u32 & 31;
            let mut k = 0;
            while k < const { Self::CHUNK_BYTES.div_ceil(4) } {
                // SAFETY: the same contract.
                all[k] = unsafe { arch::execution::from_lane(all[k], lane) };
                k += 1;
            }
        }
        Words(all)
    }
}

/// The elements of a chunk of `length` bytes from element `first` on, which `next` continues.
#[inline(always)]
fn shifted<T: Element>(length: usize, chunk: Words, next: Words, first: i32) -> Words {
    let (count, bytes) = (length.div_ceil(4), first as u32 * size_of::<T::Bits>() as u32);
    let mut all = [0_u32; 12];
    let mut k = 0;
    while k < count {
        all[k] = chunk.0[k];
        all[k + count] = next.0[k];
        k += 1;
    }
    if count > 2 {
        all = pick(bytes & 8 != 0, all, 2);
    }
    if count > 1 {
        all = pick(bytes & 4 != 0, all, 1);
    }
    let mut shifted = [0; 4];
    k = 0;
    while k < 4 {
        shifted[k] = if size_of::<T::Bits>() >= 4 {
            all[k]
        } else {
            let bits = (bytes & 3) * 8;
            (all[k] >> bits) | (all[k + 1] << 1 << (31 - bits))
        };
        k += 1;
    }
    Words(shifted)
}

/// The elements of a vector of `length` bytes: the last `low` of the chunk before it, then the first ones of its own.
#[inline(always)]
fn continued<T: Element>(length: usize, before: Words, own: Words, low: i32) -> Words {
    let vector = (length / size_of::<T::Bits>()) as i32;
    let Words(shifted) = shifted::<T>(length, before, own, vector - low);
    let mask = u32::from(low == 0).wrapping_neg();
    let mut elements = [0; 4];
    let mut k = 0;
    while k < 4 {
        elements[k] = (own.0[k] & mask) | (shifted[k] & !mask);
        k += 1;
    }
    Words(elements)
}

/// The words, or those from word `by` on.
#[inline(always)]
fn pick(later: bool, words: [u32; 12], by: usize) -> [u32; 12] {
    // By a mask: a choice between elements becomes one between their addresses, which sends the array to memory.
    let mask = u32::from(later).wrapping_neg();
    let mut picked = words;
    let mut k = 0;
    while k + 2 < 12 {
        picked[k] = (words[k + by] & mask) | (words[k] & !mask);
        k += 1;
    }
    picked
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::element::Number;
    use std::vec::Vec;

    /// One row of a tile, moved by `lanes` neighbouring threads with pieces of `vectors` vectors, as the GPU does it: the
    /// row starts `low` elements before an aligned address, and its elements in `inside` lie inside the tensor.
    fn check_row<T: Number + TryFrom<u8>>(
        vector: usize,
        vectors: usize,
        lanes: usize,
        low: usize,
        inside: (i32, i32),
    ) {
        let length = vector * size_of::<T::Bits>();
        let count = vector * vectors * lanes;
        let number = |n: usize| T::try_from(n as u8 + 1).unwrap_or(T::ZERO);
        let wanted = |e: usize| (inside.0..inside.1).contains(&(e as i32));
        let overlap = |v: usize| {
            let first = (v * vector) as i32;
            let inside = (inside.0 - first, inside.1 - first);
            Overlap::new(vector as i32, low as i32, inside, v > 0, v + 1 < count / vector)
        };
        let words = |elements: &[T]| Words::from_elements(vector, |k| elements[k]);

        // Loads: the chunk of vector `v` starts at element `v * vector + low` of the row.
        let chunks: Vec<Words> = (0..count / vector)
            .map(|v| {
                let chunk: Vec<T> = (0..vector)
                    .map(|k| {
                        let e = v * vector + low + k;
                        if !overlap(v).whole {
                            return T::ZERO;
                        }
                        assert!(e < count && wanted(e), "a chunk reaches outside");
                        number(e)
                    })
                    .collect();
                words(&chunk)
            })
            .collect();
        for v in 0..count / vector {
            let (overlap, before) = (overlap(v), chunks[v.saturating_sub(1)]);
            let elements = continued::<T>(length, before, chunks[v], overlap.low);
            for k in 0..vector {
                let e = v * vector + k;
                let covered = overlap.covers(k as i32);
                assert_eq!(
                    wanted(e),
                    covered | overlap.leaves(k as i32),
                    "each element inside comes from somewhere"
                );
                assert!(!covered || elements.element::<T>(k) == number(e));
            }
        }

        // Stores: each element inside is written once, and no other.
        let mut memory: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let mut write = |e: usize, element: T| {
            assert!(wanted(e), "a store reaches outside");
            assert!(memory[e].replace(element).is_none(), "an element is stored twice");
        };
        let row: Vec<T> = (0..count).map(number).collect();
        for v in 0..count / vector {
            let overlap = overlap(v);
            let own = words(&row[v * vector..]);
            let after = if v + 1 < count / vector { words(&row[(v + 1) * vector..]) } else { own };
            let chunk = shifted::<T>(length, own, after, overlap.low);
            for k in 0..vector {
                if overlap.whole {
                    write(v * vector + low + k, chunk.element(k));
                }
                if overlap.leaves(k as i32) {
                    write(v * vector + k, row[v * vector + k]);
                }
            }
        }
        for (e, found) in memory.into_iter().enumerate() {
            assert!(found == wanted(e).then(|| number(e)), "element {e}");
        }
    }

    fn check_rows<T: Number + TryFrom<u8>>(vectors: &[usize]) {
        for &vector in vectors {
            for (pieces, lanes) in [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4)] {
                let count = (vector * pieces * lanes) as i32;
                for low in 0..vector {
                    for start in -(vector as i32) - 1..count {
                        for stop in (start.max(0)..count + 2).chain([1 << 30]) {
                            check_row::<T>(vector, pieces, lanes, low, (start, stop));
                        }
                        check_row::<T>(vector, pieces, lanes, low, (-(1 << 30), start));
                    }
                }
            }
        }
    }

    #[test]
    fn rows_that_start_anywhere() {
        check_rows::<u8>(&[4, 8, 16]);
        check_rows::<u16>(&[2, 4, 8]);
        check_rows::<u32>(&[2, 4]);
        check_rows::<u64>(&[2]);
    }
}
