//! Rows that start anywhere in memory: chunks that are aligned there, shifted into place.
//!
//! A row whose first element is not a multiple of the vector away from an aligned address cannot be moved by the vectors
//! that threads hold. But memory has aligned chunks of the same length, each of which covers the end of one thread's vector
//! and the start of the next thread's.
//!
//! A thread *loads* both chunks that its vector lies in. A *store* must not touch what others hold: each thread stores the
//! chunk that starts within its own vector, for which it gets its neighbour's elements by a shuffle, or through shared memory
//! from the next warp. At the ends of rows elements are stored one by one, each by the thread that holds it.

use super::TiledView;
use super::locate::{InMemory, Located, Part, coordinate};
use super::transfer::{self, Words};
use super::walk::Walk;
use crate::arch;
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping};
use crate::tile::Tile;

/// How a thread's vector lies among the chunks of its row.
struct Overlap {
    /// Elements of the vector before the first chunk that starts in it.
    low: i32,
    /// The elements inside the tensor and the tile, counted from the vector's first: from here
    start: i32,
    /// to below here.
    stop: i32,
    /// Whether the chunk that starts in the vector is whole.
    whole: bool,
    /// Whether the chunk before it is, which the vector's first elements belong to.
    previous_whole: bool,
}

impl Overlap {
    /// Whether some of the vector's `length` elements are to be stored alone.
    #[inline(always)]
    fn leaves_any(&self, length: i32) -> bool {
        let below = !self.previous_whole & (self.start < self.low) & (self.stop > 0);
        let above = !self.whole & (self.start < length) & (self.stop > self.low);
        below | above
    }

    /// Whether element `k` of the vector is to be stored alone.
    #[inline(always)]
    fn leaves(&self, k: i32) -> bool {
        let covered = if k < self.low { self.previous_whole } else { self.whole };
        (self.start <= k) & (k < self.stop) & !covered
    }
}

impl<T, E, A, M, G, S, B, W, N> TiledView<T, E, A, M, G, S, B, W, N>
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
    const PIECE: usize = if Self::ROW < <B::Vector as PowerOfTwo>::COUNT {
        Self::ROW
    } else {
        <B::Vector as PowerOfTwo>::COUNT
    };
    /// Elements of a tile's row.
    const ROW: usize = 1 << S::DESCRIPTION.log[if S::DESCRIPTION.rank == 0 { 0 } else { Self::FASTEST }];
    /// Neighbouring elements of a row that a warp holds, if rows go on in other warps.
    const RUN: usize = 32 * Self::PIECE;

    /// Whether misaligned rows are worth chunks: where they are ordinary, and chunks whole words.
    #[inline(always)]
    pub(super) fn stores_by_chunks() -> bool {
        arch::TILES_IN_REGISTERS
            && Self::VECTOR > 1
            && Self::CHUNK_BYTES >= 4
            && S::LEN / Self::RUN * Self::CHUNK_BYTES <= arch::shared::SCRATCH_BYTES
            && Self::rows_start_anywhere()
    }

    /// How the vector at register `i` lies among the chunks.
    #[inline(always)]
    fn overlap(&self, part: &Part<T, E>, i: usize) -> Overlap {
        let vector = Self::VECTOR as i32;
        let (start, stop) = part.inside_along::<InMemory<S, M>, Blocked<B>>(i, Self::FASTEST);
        let before = coordinate::<InMemory<S, M>>(Self::flat(i), Self::FASTEST) as i32;
        let (start, stop) = (start.max(-before), stop.min(Self::ROW as i32 - before));
        let low = self.misalignment(part, i).wrapping_neg() & (vector - 1);
        Overlap {
            low,
            start,
            stop,
            whole: (start <= low) & (low + vector <= stop),
            previous_whole: (start <= low - vector) & (low <= stop),
        }
    }

    /// The flat index of register `i`'s element.
    #[inline(always)]
    fn flat(i: usize) -> usize {
        let map = const { &Map::<Blocked<B>, S>::MAP };
        map.of_thread.apply(arch::execution::thread()) | map.of_register.apply(i)
    }

    /// Elements from the last chunk's start to the vector at register `i`. In a tile of one row all vectors of a thread
    /// lie alike.
    #[inline(always)]
    fn misalignment(&self, part: &Part<T, E>, i: usize) -> i32 {
        let like = if const { S::LEN == Self::ROW } { 0 } else { i };
        let address = part.address::<InMemory<S, M>, Blocked<B>>(like).addr();
        (address / size_of::<T::Bits>()) as i32 & (Self::VECTOR as i32 - 1)
    }

    /// Whether misaligned rows are loaded by chunks that may reach into other rows: nothing writes any byte of the tensor.
    #[inline(always)]
    pub(super) fn loads_by_chunks() -> bool {
        A::CONSTANT && M::COMPACT && Self::stores_by_chunks()
    }

    /// Whether all chunks that the tile's elements lie in are inside the tensor.
    #[inline(always)]
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
    /// The part is that of a tile of this view for which [`Self::loads_by_chunks`] and [`Self::chunks_are_inside`] hold.
    #[inline(always)]
    pub(super) unsafe fn load_chunks(&self, part: &Part<T, E>, padding: T) -> Tile<T, S, Blocked<B>> {
        let (size, vector) = const { (size_of::<T::Bits>(), Self::VECTOR as i32) };
        let mut registers = Registers::from_fn(|_| padding);
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
            let (start, stop) = part.inside_along::<InMemory<S, M>, Blocked<B>>(i, Self::FASTEST);
            let misalignment = self.misalignment(part, i);
            let chunk = part.address::<InMemory<S, M>, Blocked<B>>(i).wrapping_sub(misalignment as usize);
            // The vector's elements below this one lie in the first chunk.
            let split = vector - misalignment;
            let first = (start < split) & (stop > 0);
            let second = (misalignment > 0) & (start < vector) & (stop > split);
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
            let elements = Self::shifted(low, high, (misalignment as usize * size) as u32);
            let mut k = 0;
            while k < Self::VECTOR {
                let inside = (start <= k as i32) & ((k as i32) < stop);
                registers.set(i + k, if inside { elements.element(k) } else { padding });
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
        let words = |i: usize| Words::from_elements(Self::VECTOR, |k| value.registers().get(i + k));
        // SAFETY: the caller's contract: all threads of the block are here.
        let heads = unsafe { Self::share_heads(words) };
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
            let overlap = self.overlap(part, i);
            let after = if i % Self::PIECE + Self::VECTOR < Self::PIECE {
                words(i + Self::VECTOR)
            } else {
                // SAFETY: as above.
                unsafe { Self::next_head(words(i + Self::VECTOR - Self::PIECE), heads, i) }
            };
            let bytes = (overlap.low as usize * const { size_of::<T::Bits>() }) as u32;
            let chunk = Self::shifted(words(i), after, bytes);
            let address = part.address::<InMemory<S, M>, Blocked<B>>(i);
            // SAFETY: a whole chunk lies inside the tensor and the tile and starts at an aligned address; its elements are
            // this thread's and its neighbour's, which leaves them to this one. The tile is this block's.
            unsafe {
                transfer::store_words(
                    address.wrapping_add(overlap.low as usize).cast(),
                    Self::CHUNK_BYTES,
                    Some(overlap.whole & stores),
                    chunk,
                )
            }
            // The ends of rows.
            if overlap.leaves_any(Self::VECTOR as i32) & stores {
                let mut k = 0;
                while k < Self::VECTOR {
                    // SAFETY: an element that is left lies inside the tensor and the tile, and no whole chunk has it.
                    unsafe {
                        transfer::store(address.wrapping_add(k), 1, Some(overlap.leaves(k as i32)), |_| {
                            value.registers().get(i + k)
                        })
                    }
                    k += 1;
                }
            }
        });
    }

    /// Where rows go on in the next warp, its first vectors are put into shared memory; the address of those.
    ///
    /// # Safety
    /// All threads of the block are here.
    #[inline(always)]
    unsafe fn share_heads(words: impl Fn(usize) -> Words) -> u32 {
        if Self::ROW <= Self::RUN {
            return 0;
        }
        let heads = arch::shared::scratch_of(const { S::LEN / Self::RUN * Self::CHUNK_BYTES });
        // SAFETY: the caller's contract.
        unsafe { arch::execution::barrier() };
        if arch::execution::thread() & 31 == 0 {
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
        unsafe { arch::execution::barrier() };
        heads
    }

    /// The vector that follows the one at register `i`, the last of its piece: the next thread's `head`, or from `heads`
    /// the next warp's; anything where the row ends.
    ///
    /// # Safety
    /// All threads of the warp are here, and `heads` is what [`Self::share_heads`] returned.
    #[inline(always)]
    unsafe fn next_head(head: Words, heads: u32, i: usize) -> Words {
        let Words(mut all) = head;
        let lane = arch::execution::thread() as u32 & 31;
        let next_run = (Self::flat(i) / Self::RUN + 1) & const { (S::LEN / Self::RUN).saturating_sub(1) };
        let mut k = 0;
        while k < const { Self::CHUNK_BYTES / 4 } {
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

    /// A chunk's bytes from byte `bytes` of `low` on, which `high` continues; `bytes` is below the chunk's length and a
    /// multiple of the element's.
    #[inline(always)]
    fn shifted(low: Words, high: Words, bytes: u32) -> Words {
        let count = const { Self::CHUNK_BYTES.div_ceil(4) };
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
                let bits = (bytes & 3) * 8;
                (all[k] >> bits) | (all[k + 1] << 1 << (31 - bits))
            };
            k += 1;
        }
        Words(shifted)
    }
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
