//! Loads of located tiles: by vectors, by chunks, or element by element.
//!
//! The block takes one branch to the widest way that serves the tile. All ways give the words of vectors. The elements are taken out
//! of the words behind the branch: a way that took them apart itself would wait for its loads, and the loads of the next tile would
//! begin only then.

use super::TiledView;
use super::located::{FromMemory, InMemory, Located, Part};
use super::transfer::{self, Words};
use super::traversal::Traversal;
use crate::arch::{self, execution};
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;

/// The vectors that a thread holds of a tile. The vector that starts at register `i` is number `i`.
pub(super) type Vectors<S, B> = Registers<Words, <Blocked<B> as Layout>::Registers<S>>;

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
    /// Loads the elements of a tile that lie inside the tensor, with `padding` in place of the others.
    ///
    /// # Safety
    /// The tile is one of this view. Nobody writes its elements inside the tensor meanwhile.
    #[inline_on_device]
    pub(super) unsafe fn load_part(&self, located: &Located<T, E>, padding: T) -> Tile<T, S, Blocked<B>> {
        let part = Part::new::<InMemory<S, M>, Blocked<B>>(located);
        let contains = |i| Some(part.contains::<InMemory<S, M>, Blocked<B>>(i));
        let by_vectors = located.aligned && self.has_whole_vectors(located);
        // SAFETY: the same contract. Elements outside the tensor do not meet the condition. The vectors of a row lie all inside or all
        // outside, and are aligned, where the tile is loaded by them.
        unsafe { self.load_where(located, &part, by_vectors, contains, padding) }
    }

    /// Loads a tile that lies inside the tensor.
    ///
    /// # Safety
    /// The tile is one of this view and lies inside the tensor. Nobody writes it meanwhile.
    #[inline_on_device]
    pub(super) unsafe fn load_inside(&self, located: &Located<T, E>) -> Tile<T, S, Blocked<B>> {
        let part = Part::new::<InMemory<S, M>, Blocked<B>>(located);
        // SAFETY: the same contract.
        unsafe { self.load_where(located, &part, located.aligned, |_| None, T::ZERO) }
    }

    /// Loads the elements for which `condition` is not `Some(false)`, with `padding` in place of the others.
    ///
    /// # Safety
    /// The part is that of the located tile, one of this view. Elements that meet the condition lie inside the tensor, and nobody writes
    /// them meanwhile. If the tile is loaded `by_vectors`, they are aligned, and the first element of each decides for all of it.
    #[inline_on_device]
    unsafe fn load_where(
        &self,
        located: &Located<T, E>,
        part: &Part<T, E>,
        by_vectors: bool,
        condition: impl Fn(usize) -> Option<bool>,
        padding: T,
    ) -> Tile<T, S, Blocked<B>> {
        if !arch::TILES_IN_REGISTERS {
            let vector = if by_vectors { Self::VECTOR } else { 1 };
            // SAFETY: the same contract; an element is always aligned to itself.
            return Self::from_memory_order(unsafe { self.load_tile(part, vector, condition, padding) });
        }
        let vectors = if by_vectors {
            // SAFETY: the same contract.
            unsafe { self.load_vectors(part, condition, padding) }
        } else if Self::loads_by_chunks() && self.chunks_are_inside(located) {
            // SAFETY: the part is that of the located tile, whose chunks lie inside the tensor.
            unsafe { self.load_chunks(located, part, padding) }
        } else {
            // SAFETY: the same contract; an element is always aligned to itself.
            unsafe { self.load_elements(part, condition, padding) }
        };
        Self::from_memory_order(Self::of_vectors(vectors))
    }

    /// Loads the vectors for which `condition` is not `Some(false)`: the elements in the order of memory.
    ///
    /// # Safety
    /// Vectors that are loaded lie inside the tensor and are aligned.
    #[inline_on_device]
    unsafe fn load_vectors(
        &self,
        part: &Part<T, E>,
        condition: impl Fn(usize) -> Option<bool>,
        padding: T,
    ) -> Vectors<S, B> {
        let mut vectors = Registers::from_fn(|_| Words::ZERO);
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
            let condition = condition(i);
            let otherwise = match condition {
                Some(_) => Words::from_elements(Self::VECTOR, |_| padding),
                None => Words::ZERO,
            };
            let address = part.address::<InMemory<S, M>, Blocked<B>>(i).cast::<u8>();
            // SAFETY: the caller's contract; `VECTOR` registers are neighbours in memory, as the layout's pieces are at least that long.
            // The span's access mode says whether its memory is constant.
            vectors.set(i, unsafe {
                transfer::load_words(
                    address,
                    const { Self::VECTOR * size_of::<T::Bits>() },
                    Self::CACHE,
                    condition,
                    otherwise,
                )
            });
        });
        vectors
    }

    /// Loads the elements for which `condition` is not `Some(false)`, one by one, in the order of memory.
    ///
    /// # Safety
    /// Elements that are loaded lie inside the tensor.
    #[inline_on_device]
    unsafe fn load_elements(
        &self,
        part: &Part<T, E>,
        condition: impl Fn(usize) -> Option<bool>,
        padding: T,
    ) -> Vectors<S, B> {
        let mut vectors = Registers::from_fn(|_| Words::ZERO);
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |first| {
            let element = |k| {
                let address = part.address::<InMemory<S, M>, Blocked<B>>(first + k);
                let mut element = padding;
                // SAFETY: the caller's contract; an element is always aligned to itself.
                unsafe {
                    transfer::load(address, 1, Self::CACHE, condition(first + k), padding, |_, loaded| {
                        element = loaded
                    });
                }
                element
            };
            vectors.set(first, Self::undivided(Words::from_elements(Self::VECTOR, element)));
        });
        vectors
    }

    /// Loads a tile by `vector` elements at a time, where tiles are not in registers.
    ///
    /// # Safety
    /// Vectors that are loaded lie inside the tensor and are aligned.
    #[inline_on_device]
    unsafe fn load_tile(
        &self,
        part: &Part<T, E>,
        vector: usize,
        condition: impl Fn(usize) -> Option<bool>,
        padding: T,
    ) -> Tile<T, S, Blocked<B>> {
        let address = |i| part.address::<InMemory<S, M>, Blocked<B>>(i);
        // SAFETY: the caller's contract; `vector` registers are neighbours in memory, as the layout's pieces are at least that long. The
        // span's access mode says whether its memory is constant.
        unsafe { transfer::load_vectors(address, vector, Self::CACHE, condition, padding) }
    }

    /// The same vector, whose words the compiler does not take for elements side by side.
    #[inline_on_device]
    pub(super) fn undivided(Words([a, b, c, d]): Words) -> Words {
        let whole = |number: usize, word: u32| {
            if number * 4 < const { Self::VECTOR * size_of::<T::Bits>() } {
                execution::opaque(word)
            } else {
                word
            }
        };
        Words([whole(0, a), whole(1, b), whole(2, c), whole(3, d)])
    }

    /// The tile of these vectors.
    #[inline_on_device]
    fn of_vectors(mut vectors: Vectors<S, B>) -> Tile<T, S, Blocked<B>> {
        let (of, within) = (|i| i & !(Self::VECTOR - 1), |i| i & (Self::VECTOR - 1));
        if size_of::<T::Bits>() < 4 && Self::VECTOR > 1 && !Self::vectors_are_aligned() {
            // Otherwise the compiler would take the elements out of the words in front of the branch's end.
            <<Blocked<B> as Layout>::Registers<S>>::unroll(0, Self::VECTOR, &mut |i| {
                vectors.set(i, Self::undivided(vectors.get(i)))
            });
            if const { Self::VECTOR == 2 && size_of::<T::Bits>() == size_of::<u16>() } {
                return Tile::from_registers(Registers::from_fn(|i| vectors.get(of(i)).half(within(i))));
            }
        }
        Tile::from_registers(Registers::from_fn(|i| vectors.get(of(i)).element(within(i))))
    }

    /// The tile whose elements were loaded in the order of memory.
    #[inline_on_device]
    fn from_memory_order(tile: Tile<T, S, Blocked<B>>) -> Tile<T, S, Blocked<B>> {
        if const { InMemory::<S, M>::REORDERED } {
            tile.moved::<S, Blocked<B>, FromMemory<M>>()
        } else {
            tile
        }
    }
}
