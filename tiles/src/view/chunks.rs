//! Rows that start anywhere in memory: chunks that are aligned there, shifted into place.
//!
//! A row whose first element is not a multiple of the vector away from an aligned address cannot be moved by the vectors
//! that threads hold. But memory has aligned chunks of the same length, each of which covers the end of one thread's vector
//! and the start of the next thread's.
//!
//! A thread *loads* both chunks that its vector lies in. A *store* must not touch what others hold: each thread stores the
//! chunk that starts within its own vector, for which it gets its neighbour's elements by a shuffle, or through shared memory
//! from the next warp. At the ends of rows elements are stored one by one, each by the thread that holds it.
//!
//! In a tile of one row all vectors lie alike: the block takes one branch to code that knows the whole words of the shift
//! and shuffles no other, and threads far from the row's ends skip what these need.

use super::TiledView;
use super::loads::Vectors;
use super::located::{InMemory, Located, Part, coordinate};
use super::transfer::{self, Words};
use super::traversal::Traversal;
use crate::arch;
use crate::context::barrier;
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::PowerOfTwo;
use crate::shape::Shape;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;

/// How a thread's vector lies among the chunks of its row.
pub(super) struct Overlap {
    /// Elements of the vector before the first chunk that starts in it.
    pub(super) low: i32,
    /// The elements inside the tensor and the tile, counted from the vector's first: from here
    start: i32,
    /// to below here.
    stop: i32,
    /// Whether the chunk that starts in the vector is whole.
    pub(super) whole: bool,
    /// Whether the chunk before it is, which the vector's first elements belong to.
    previous_whole: bool,
}

impl Overlap {
    /// How a vector of `vector` elements lies whose first `low` ones belong to the chunk before, and of which those in
    /// `inside` lie inside the tensor and the tile; its neighbours' are counted on from there.
    #[inline_on_device]
    fn new(vector: i32, low: i32, inside: (i32, i32)) -> Self {
        let (start, stop) = inside;
        Self {
            low,
            start,
            stop,
            whole: (start <= low) & (low + vector <= stop),
            previous_whole: (start <= low - vector) & (low <= stop),
        }
    }

    /// Whether some of the vector's `length` elements are to be stored alone.
    #[inline_on_device]
    fn leaves_any(&self, length: i32) -> bool {
        let below = !self.previous_whole & (self.start < self.low) & (self.stop > 0);
        let above = !self.whole & (self.start < length) & (self.stop > self.low);
        below | above
    }

    /// Whether element `k` of the vector is to be stored alone.
    #[inline_on_device]
    fn leaves(&self, k: i32) -> bool {
        let covered = if k < self.low { self.previous_whole } else { self.whole };
        (self.start <= k) & (k < self.stop) & !covered
    }
}

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
    /// Bytes of a vector, and of a chunk.
    pub(super) const CHUNK_BYTES: usize = Self::VECTOR * size_of::<T::Bits>();
    /// Neighbouring elements of a row that a thread holds: one or more vectors.
    pub(super) const PIECE: usize = if Self::ROW < <B::Vector as PowerOfTwo>::COUNT {
        Self::ROW
    } else {
        <B::Vector as PowerOfTwo>::COUNT
    };
    /// Elements of a tile's row.
    pub(super) const ROW: usize =
        1 << S::DESCRIPTION.log[if S::DESCRIPTION.rank == 0 { 0 } else { Self::FASTEST }];
    /// Whether the tile is one row.
    pub(super) const ONE_ROW: bool = S::LEN == Self::ROW;
    /// The register of a thread's last vector.
    const LAST: usize = <<Blocked<B> as Layout>::Registers<S> as PowerOfTwo>::COUNT - Self::VECTOR;
    /// Neighbouring elements of a row that a warp holds, if rows go on in other warps.
    pub(super) const RUN: usize = 32 * Self::PIECE;

    /// Whether misaligned rows are worth chunks: where they are ordinary, and chunks whole words. Callers ask besides whether tiles are in
    /// registers: by a constant, so that the CPU has no code for chunks in each of its kernels.
    #[inline_on_device]
    pub(super) fn stores_by_chunks() -> bool {
        Self::VECTOR > 1
            && Self::CHUNK_BYTES >= 4
            && S::LEN / Self::RUN * Self::CHUNK_BYTES <= arch::shared::SCRATCH_BYTES
            && Self::rows_start_anywhere()
    }

    /// The elements from register `i`'s on that lie inside the tensor and the tile: from the first number to below the
    /// second.
    #[inline_on_device]
    fn inside(part: &Part<T, E>, i: usize) -> (i32, i32) {
        let (start, stop) = part.inside_along::<InMemory<S, M>, Blocked<B>>(i, Self::FASTEST);
        let before = Self::column(i) as i32;
        (start.max(-before), stop.min(Self::ROW as i32 - before))
    }

    /// How the vector at register `i` lies among the chunks.
    #[inline_on_device]
    pub(super) fn overlap(located: &Located<T, E>, part: &Part<T, E>, i: usize) -> Overlap {
        let vector = Self::VECTOR as i32;
        let low = Self::misalignment(located, part, i).wrapping_neg() & (vector - 1);
        Overlap::new(vector, low, Self::inside(part, i))
    }

    /// The flat index of register `i`'s element.
    #[inline_on_device]
    fn flat(i: usize) -> usize {
        let map = const { &Map::<Blocked<B>, S>::MAP };
        map.of_thread.apply(arch::execution::thread()) | map.of_register.apply(i)
    }

    /// The column of register `i`'s element in its row.
    #[inline_on_device]
    pub(super) fn column(i: usize) -> usize {
        coordinate::<InMemory<S, M>>(Self::flat(i), Self::FASTEST)
    }

    /// Calls `visit` with the first register of each of the thread's vectors.
    #[inline_on_device]
    pub(super) fn each_vector(mut visit: impl FnMut(usize)) {
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut visit);
    }

    /// Whether all vectors of a thread lie alike: as many rows as a chunk has elements are whole chunks, whatever their pitch.
    ///
    /// The compiler computes this for dead code, too, and a block of one thread, which has no chunks, holds all elements of a tile.
    const LIE_ALIKE: bool = arch::TILES_IN_REGISTERS && {
        let (registers, mut alike, mut i) = (Self::LAST + Self::VECTOR, true, 0);
        while i < registers {
            let flat = Map::<Blocked<B>, S>::MAP.of_register.apply(i);
            let mut axis = 0;
            while axis < S::DESCRIPTION.rank {
                alike &= coordinate::<InMemory<S, M>>(flat, axis).is_multiple_of(Self::VECTOR);
                axis += 1;
            }
            i += Self::VECTOR;
        }
        alike
    };

    /// Elements from the last chunk's start to the vector at register `i`. In a tile of one row all vectors of all threads
    /// lie alike, as its first element does.
    #[inline_on_device]
    fn misalignment(located: &Located<T, E>, part: &Part<T, E>, i: usize) -> i32 {
        let i = if Self::LIE_ALIKE { 0 } else { i };
        let address =
            if Self::ONE_ROW { located.origin } else { part.address::<InMemory<S, M>, Blocked<B>>(i) };
        (address.addr() / size_of::<T::Bits>()) as i32 & (Self::VECTOR as i32 - 1)
    }

    /// Calls `move_all` with `bytes`, which is below a chunk's length. In a tile of one row that is the same number on all
    /// threads of the block: there is code for each number of whole words in it, and the block takes one branch.
    #[inline_on_device]
    fn by_whole_words(bytes: u32, mut move_all: impl FnMut(u32)) {
        let words =
            if Self::ONE_ROW { (bytes / 4) & const { Self::CHUNK_BYTES.div_ceil(4) as u32 - 1 } } else { 4 };
        match words {
            0 => move_all(bytes & 3),
            1 => move_all(4 | bytes & 3),
            2 => move_all(8 | bytes & 3),
            3 => move_all(12 | bytes & 3),
            _ => move_all(bytes),
        }
    }

    /// Whether misaligned rows are loaded by chunks that may reach into other rows: nothing writes any byte of the tensor.
    #[inline_on_device]
    pub(super) fn loads_by_chunks() -> bool {
        A::CONSTANT && M::COMPACT && Self::stores_by_chunks()
    }

    /// Whether all chunks that the tile's elements lie in are inside the tensor.
    #[inline_on_device]
    pub(super) fn chunks_are_inside(&self, located: &Located<T, E>) -> bool {
        let lengths = self.span.extents.get();
        let none = E::Offset::from_u64(0);
        // Distances of the tile's first and last element inside the tensor from the tile's origin, and of the tensor's last
        // element from its first.
        let (mut first, mut last, mut end) = (none, none, none);
        let mut axis = 0;
        while axis < E::RANK {
            let size = E::Offset::from_u64(1 << S::DESCRIPTION.log[axis]);
            let remaining = located.remaining[axis];
            let inside = if remaining < size { remaining } else { size };
            let one = E::Offset::from_u64(1);
            first = first.plus(located.missing[axis].times(located.strides[axis]));
            last = last.plus(inside.minus_saturating(one).times(located.strides[axis]));
            end = end
                .plus(E::Offset::from_u64(lengths[axis]).minus_saturating(one).times(located.strides[axis]));
            axis += 1;
        }
        let address =
            |base: *mut T::Bits, offset: E::Offset| base.wrapping_add(offset.to_u64() as usize).addr();
        let within_chunk = const { Self::CHUNK_BYTES - 1 };
        address(located.origin, first) & !within_chunk >= self.span.pointer.addr()
            && address(located.origin, last) | within_chunk
                < address(self.span.pointer, end) + size_of::<T::Bits>()
    }

    /// Loads the elements of the part that lie inside the tensor, in the order of memory, with `padding` for the others.
    ///
    /// Each thread loads the two chunks that its vector lies in. That is twice the instructions, but not twice the traffic:
    /// the second chunk is the neighbour's first one, and comes from the cache.
    ///
    /// # Safety
    /// The part is that of the located tile, one of this view for which [`Self::loads_by_chunks`] and
    /// [`Self::chunks_are_inside`] hold.
    #[inline_on_device]
    pub(super) unsafe fn load_chunks(
        &self,
        located: &Located<T, E>,
        part: &Part<T, E>,
        padding: T,
    ) -> Vectors<S, B> {
        let (size, vector) = const { (size_of::<T::Bits>() as u32, Self::VECTOR as i32) };
        // Vectors lie in the tile: only the tensor ends.
        let inside = |i| part.inside_along::<InMemory<S, M>, Blocked<B>>(i, Self::FASTEST);
        let load_vector = |i, bytes: u32| {
            let misalignment = (bytes / size) as i32;
            let (first, second) = wanted(vector, misalignment, inside(i));
            let chunk = part.address::<InMemory<S, M>, Blocked<B>>(i).wrapping_sub(misalignment as usize);
            let load = |chunk: *mut T::Bits, wanted| {
                // SAFETY: a chunk that has an element of the tile lies inside the tensor, by the caller's contract.
                unsafe {
                    transfer::load_words(
                        chunk.cast(),
                        Self::CHUNK_BYTES,
                        Self::CACHE,
                        Some(wanted),
                        Words::ZERO,
                    )
                }
            };
            let (low, high) = (load(chunk, first), load(chunk.wrapping_add(Self::VECTOR), second));
            shifted::<T>(Self::CHUNK_BYTES, low, high, bytes)
        };
        let padded = |i, words: Words| {
            let (start, stop) = inside(i);
            Self::undivided(Words::from_elements(Self::VECTOR, |k| {
                if (start <= k as i32) & ((k as i32) < stop) { words.element(k) } else { padding }
            }))
        };
        let bytes = |i| Self::misalignment(located, part, i) as u32 * size;
        let mut vectors = Vectors::<S, B>::from_fn(|_| Words::ZERO);
        if Self::ONE_ROW {
            Self::by_whole_words(bytes(0), |bytes| {
                Self::each_vector(|i| vectors.set(i, load_vector(i, bytes)))
            });
            // Most threads have no element outside, and skip what others do.
            if inside(0).0 > 0 || inside(Self::LAST).1 < vector {
                Self::each_vector(|i| {
                    let (start, stop) = inside(i);
                    if start > 0 || stop < vector {
                        vectors.set(i, padded(i, vectors.get(i)))
                    }
                });
            }
        } else {
            Self::each_vector(|i| vectors.set(i, padded(i, load_vector(i, bytes(i)))));
        }
        vectors
    }

    /// Stores the elements of the part that lie inside the tensor, which are in the order of memory.
    ///
    /// # Safety
    /// The part is that of the located tile, one of this view that belongs to this block, on all threads of the block alike.
    #[inline_on_device]
    pub(super) unsafe fn store_chunks(
        &self,
        value: Tile<T, S, Blocked<B>>,
        located: &Located<T, E>,
        part: &Part<T, E>,
    ) {
        if Self::HAS_SHORT_ROWS {
            // SAFETY: the same contract.
            return unsafe { self.store_short_rows(value, located, part) };
        }
        let stores = arch::execution::thread() & const { Map::<Blocked<B>, S>::MAP.replicas } == 0;
        let overlap = |i| Self::overlap(located, part, i);
        let address = |i| part.address::<InMemory<S, M>, Blocked<B>>(i);
        let words = |i: usize| Words::from_elements(Self::VECTOR, |k| value.registers().get(i + k));
        // SAFETY: the caller's contract: all threads of the block are here.
        let heads = unsafe { Self::share_heads(words) };
        let store_chunk = |i, bytes: u32| {
            let after = if i % Self::PIECE + Self::VECTOR < Self::PIECE {
                words(i + Self::VECTOR)
            } else {
                // SAFETY: as above; `bytes` is the same number on all threads where code depends on it.
                unsafe { Self::next_head(words(i + Self::VECTOR - Self::PIECE), heads, i, bytes) }
            };
            let chunk = shifted::<T>(Self::CHUNK_BYTES, words(i), after, bytes);
            let overlap = overlap(i);
            // SAFETY: a whole chunk lies inside the tensor and the tile and starts at an aligned address; its elements are
            // this thread's and its neighbour's, which leaves them to this one. The tile is this block's.
            unsafe {
                transfer::store_words(
                    address(i).wrapping_add(overlap.low as usize).cast(),
                    Self::CHUNK_BYTES,
                    Some(overlap.whole & stores),
                    chunk,
                )
            }
        };
        let store_ends = |i| {
            let overlap = overlap(i);
            if overlap.leaves_any(Self::VECTOR as i32) & stores {
                let mut k = 0;
                while k < Self::VECTOR {
                    // SAFETY: an element that is left lies inside the tensor and the tile, and no whole chunk has it.
                    unsafe {
                        transfer::store(address(i).wrapping_add(k), 1, Some(overlap.leaves(k as i32)), |_| {
                            value.registers().get(i + k)
                        })
                    }
                    k += 1;
                }
            }
        };
        let bytes = |i| overlap(i).low as u32 * const { size_of::<T::Bits>() as u32 };
        if Self::ONE_ROW {
            Self::by_whole_words(bytes(0), |bytes| Self::each_vector(|i| store_chunk(i, bytes)));
            // Most threads hold no end of the row.
            if !(overlap(0).previous_whole & overlap(Self::LAST).whole) {
                Self::each_vector(store_ends);
            }
        } else {
            Self::each_vector(|i| {
                store_chunk(i, bytes(i));
                store_ends(i);
            });
        }
    }

    /// Where rows go on in the next warp, its first vectors are put into shared memory; the address of those.
    ///
    /// # Safety
    /// All threads of the block are here.
    #[inline_on_device]
    unsafe fn share_heads(words: impl Fn(usize) -> Words) -> u32 {
        if Self::ROW <= Self::RUN {
            return 0;
        }
        let heads = arch::shared::scratch_of(const { S::LEN / Self::RUN * Self::CHUNK_BYTES });
        // SAFETY: the caller's contract.
        unsafe { barrier::<B>() };
        if arch::execution::thread() & const { 31 | Map::<Blocked<B>, S>::MAP.replicas } == 0 {
            <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::PIECE, &mut |i| {
                let Words(all) = words(i);
                let address = heads + (Self::flat(i) / Self::RUN * Self::CHUNK_BYTES) as u32;
                let mut k = 0;
                while k < const { Self::CHUNK_BYTES / 4 } {
                    // SAFETY: each run has one slot, and one thread that writes it between two barriers.
                    unsafe { arch::shared::store_u32(address + 4 * k as u32, all[k]) }
                    k += 1;
                }
            });
        }
        // SAFETY: the caller's contract.
        unsafe { barrier::<B>() };
        heads
    }

    /// The first `bytes` bytes at least of the vector that follows the one at register `i`, the last of its piece: of the
    /// next thread's `head`, or from `heads` of the next warp's; anything where the row ends.
    ///
    /// # Safety
    /// All threads of the warp are here, with one number of whole words in `bytes` if the tile is one row, and `heads` is
    /// what [`Self::share_heads`] returned.
    #[inline_on_device]
    unsafe fn next_head(head: Words, heads: u32, i: usize, bytes: u32) -> Words {
        let Words(mut all) = head;
        let lane = arch::execution::thread() as u32 & 31;
        let next_run = (Self::flat(i) / Self::RUN + 1) & const { (S::LEN / Self::RUN).saturating_sub(1) };
        let mut k = 0;
        while k < const { Self::CHUNK_BYTES / 4 } {
            let last = if size_of::<T::Bits>() < 4 { k } else { k + 1 };
            if Self::ONE_ROW && bytes / 4 < last as u32 {
                break;
            }
            // SAFETY: the same contract.
            all[k] = unsafe { arch::execution::from_lane(all[k], (lane + 1) & 31) };
            if Self::ROW > Self::RUN && lane == 31 {
                let address = heads + (next_run * Self::CHUNK_BYTES) as u32 + 4 * k as u32;
                // SAFETY: the slot was written before the barrier; after the tensor's last run comes its first.
                all[k] = unsafe { arch::shared::load_u32(address) };
            }
            k += 1;
        }
        Words(all)
    }
}

/// Whether the first and the second of the chunks in which a vector of `vector` elements lies have any of those in `inside`;
/// it starts `misalignment` elements after the first chunk.
#[inline_on_device]
fn wanted(vector: i32, misalignment: i32, inside: (i32, i32)) -> (bool, bool) {
    let (start, stop) = inside;
    // The vector's elements below this one lie in the first chunk.
    let split = vector - misalignment;
    let first = (start < split) & (stop > 0);
    let second = (misalignment > 0) & (start < vector) & (stop > split);
    (first, second)
}

/// The bytes of a chunk of `length` bytes from byte `bytes` of `low` on, which `high` continues; `bytes` is below the
/// chunk's length and a multiple of the element's.
#[inline_on_device]
fn shifted<T: Element>(length: usize, low: Words, high: Words, bytes: u32) -> Words {
    let count = length.div_ceil(4);
    let mut all = [0_u32; 12];
    let mut k = 0;
    while k < count {
        all[k] = low.0[k];
        all[k + count] = high.0[k];
        k += 1;
    }
    // By whole words, half of them first.
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
            arch::convert::funnel_shift_right(all[k], all[k + 1], (bytes & 3) * 8)
        };
        k += 1;
    }
    Words(shifted)
}

/// The words, or those from word `by` on.
#[inline_on_device]
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

    fn number<T: Number + TryFrom<u8>>(n: usize) -> T {
        T::try_from(n as u8 + 1).unwrap_or(T::ZERO)
    }

    /// A row of `vectors` vectors, moved as the threads that hold them do it: it starts `misalignment` elements after an
    /// aligned address, and its elements in `inside` lie inside the tensor.
    fn check_row<T: Number + TryFrom<u8>>(
        vector: usize,
        vectors: usize,
        misalignment: usize,
        inside: (usize, usize),
    ) {
        let length = vector * size_of::<T::Bits>();
        let count = vector * vectors;
        let bytes = |elements: usize| (elements * size_of::<T::Bits>()) as u32;
        let is_inside = |e: usize| (inside.0..inside.1).contains(&e);
        // As `TiledView::inside` counts: from the vector's first element, within the row.
        let inside_from = |v: usize| {
            let first = (v * vector) as i32;
            (inside.0 as i32 - first, inside.1.min(count) as i32 - first)
        };

        // Loads. Chunk `c` of memory has the row's elements from `c * vector - misalignment` on.
        let chunk = |c: usize| {
            Words::from_elements(vector, |k| {
                (c * vector + k)
                    .checked_sub(misalignment)
                    .filter(|&e| is_inside(e))
                    .map_or(T::ZERO, number::<T>)
            })
        };
        let has_elements = |c: usize, v: usize| {
            (0..vector).any(|k| is_inside(v * vector + k) && (v * vector + k + misalignment) / vector == c)
        };
        for v in 0..vectors {
            let (first, second) = wanted(vector as i32, misalignment as i32, inside_from(v));
            assert_eq!(first, has_elements(v, v), "a chunk is loaded for its elements alone");
            assert_eq!(second, has_elements(v + 1, v), "a chunk is loaded for its elements alone");
            let load = |c, wanted| if wanted { chunk(c) } else { Words::ZERO };
            let elements = shifted::<T>(length, load(v, first), load(v + 1, second), bytes(misalignment));
            for e in (v * vector..(v + 1) * vector).filter(|&e| is_inside(e)) {
                assert!(elements.element::<T>(e - v * vector) == number(e), "element {e}");
            }
        }

        // Stores: each element inside is written once, and no other.
        let mut memory: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let mut write = |e: usize, element: T| {
            assert!(is_inside(e), "a store reaches outside");
            assert!(memory[e].replace(element).is_none(), "an element is stored twice");
        };
        let words = |v: usize| Words::from_elements(vector, |k| number::<T>(v % vectors * vector + k));
        let low = (vector - misalignment) % vector;
        let overlap = |v| Overlap::new(vector as i32, low as i32, inside_from(v));
        for v in 0..vectors {
            let chunk = shifted::<T>(length, words(v), words(v + 1), bytes(low));
            for k in 0..vector {
                if overlap(v).whole {
                    write(v * vector + low + k, chunk.element(k));
                }
                if overlap(v).leaves(k as i32) {
                    assert!(overlap(v).leaves_any(vector as i32));
                    write(v * vector + k, number(v * vector + k));
                }
            }
        }
        // A thread whose first and last vectors have neighbours on both sides skips the ends.
        for (first, last) in (0..vectors).flat_map(|first| (first..vectors).map(move |last| (first, last))) {
            if overlap(first).previous_whole & overlap(last).whole {
                assert!((first..=last).all(|v| !overlap(v).leaves_any(vector as i32)));
            }
        }
        for (e, found) in memory.into_iter().enumerate() {
            assert!(found == is_inside(e).then(|| number(e)), "element {e}");
        }
    }

    fn check_rows<T: Number + TryFrom<u8>>(vectors: &[usize]) {
        for &vector in vectors {
            for count in [1, 2, 3, 4] {
                for misalignment in 0..vector {
                    check_row::<T>(vector, count, misalignment, (0, 0));
                    for start in 0..count * vector {
                        for stop in start + 1..=count * vector {
                            check_row::<T>(vector, count, misalignment, (start, stop));
                        }
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
