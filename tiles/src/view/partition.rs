//! A span cut into tiles of one shape.

use super::index::TileIndex;
use super::locate::Part;
use super::padding::Padding;
use super::transfer::{self, Cache};
use crate::arch;
use crate::arch::messages::Failure;
use crate::context::Cx;
use crate::debug::protocol::BOUNDS;
use crate::element::{Cast, Element, FitsElement, Promote};
use crate::layout::{Block, Blocked, Join, Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{Broadcast, FitsShape, MAXIMUM_RANK, Shape};
use crate::span::access::Writable;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use core::marker::PhantomData;

/// A span cut into tiles of shape `S`: tile `(i, j)` starts at element `(i * S0, j * S1)`.
///
/// Indices count tiles. Tiles at the edge may lie partly outside the tensor: plain loads and stores refuse them
/// (they check once a tile; a GPU traps, the CPU panics and names the kernel's line), masked ones take what is
/// inside. Of a tile that lies wholly outside, masked loads give padding and masked stores nothing.
///
/// Of a writable span only the block's own tiles can be loaded and stored: the index must contain the block index
/// ([`Cx::bid`], [`Cx::tiles`]) of every grid axis. Loads see what the block itself stored earlier, with any
/// view of this type.
/// A view of rank 0 has an index without numbers, which names no block: give a single result rank 1 and length 1.
///
/// This is the worked example of CUDA Tile C++'s reference page, a 4 x 8 tensor in tiles of 2 x 2:
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let numbers: Vec<i32> = (0..32).collect();
/// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
///     let tile = span.partition(cx, shape![2, 2]).load((1, 2));
///     assert_eq!([tile.at([0, 0]), tile.at([0, 1]), tile.at([1, 0]), tile.at([1, 1])], [20, 21, 28, 29]);
/// });
/// ```
pub struct PartitionView<T: Element, E: Extents, A, M: Mapping, G, S, B> {
    pub(super) span: TensorSpan<T, E, A, M, G>,
    shape: PhantomData<(S, B)>,
}

impl<T: Element, E: Extents, A, M: Mapping, G, S, B> Clone for PartitionView<T, E, A, M, G, S, B>
where
    TensorSpan<T, E, A, M, G>: Copy,
{
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, E: Extents, A, M: Mapping, G, S, B> Copy for PartitionView<T, E, A, M, G, S, B> where
    TensorSpan<T, E, A, M, G>: Copy
{
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    PartitionView<T, E, A, M, G, S, B>
{
    const CACHE: Cache = if A::CONSTANT { Cache::Constant } else { Cache::Ordinary };

    #[inline(always)]
    pub(crate) fn new(span: TensorSpan<T, E, A, M, G>, _cx: Cx<B>) -> Self {
        Self { span, shape: PhantomData }
    }

    /// The number of tiles along `axis`, partial ones included: a `u32`, or `u64` where an extent is one.
    ///
    /// # Panics
    /// If `axis` is not below the rank (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn num_tiles(&self, axis: usize) -> E::Offset {
        let length = self.span.extent(axis).to_u64();
        let bits = S::DESCRIPTION.log[axis];
        E::Offset::from_u64((length >> bits) + u64::from(length & ((1 << bits) - 1) != 0))
    }

    /// Loads tile `index`, which must lie wholly inside the tensor.
    ///
    /// # Panics
    /// If it does not (on the device: traps, and the launch's stream reports it).
    #[inline(always)]
    #[track_caller]
    pub fn load<I: TileIndex<E::Rank>>(&self, index: I) -> Tile<T, S, Blocked<B>> {
        Self::assert_plain_access::<I>();
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("load", index.get());
        }
        self.ordered(|| {
            // SAFETY: the tile lies inside the tensor, as just checked.
            unsafe { self.load_inside(&Part::new::<S, Blocked<B>>(&located), located.aligned) }
        })
    }

    /// Loads tile `index` without a check.
    ///
    /// # Safety
    /// The tile lies wholly inside the tensor, and no other block writes it during the kernel.
    #[inline(always)]
    pub unsafe fn load_unchecked<I: TileIndex<E::Rank>>(&self, index: I) -> Tile<T, S, Blocked<B>> {
        let located = self.locate(index);
        self.ordered(|| {
            // SAFETY: the caller vouches for it.
            unsafe { self.load_inside(&Part::new::<S, Blocked<B>>(&located), located.aligned) }
        })
    }

    /// Loads tile `index`, with `padding` in place of elements outside the tensor.
    ///
    /// A 4 x 11 tensor in tiles of 2 x 4, padded with NaN:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<f32> = (0..44).map(|x| x as f32).collect();
    /// cpu::block_on(&numbers, [4, 11], |cx, span: Span<f32, (u32, u32)>| {
    ///     let tile = span.partition(cx, shape![2, 4]).load_masked(Nan, (0, 2));
    ///     assert_eq!([tile.at([0, 0]), tile.at([0, 2]), tile.at([1, 0])], [8.0, 10.0, 19.0]);
    ///     assert!(tile.at([0, 3]).is_nan() && tile.at([1, 3]).is_nan());
    /// });
    /// ```
    #[inline(always)]
    pub fn load_masked<P: Padding<T>, I: TileIndex<E::Rank>>(
        &self,
        padding: P,
        index: I,
    ) -> Tile<T, S, Blocked<B>> {
        Self::assert_plain_access::<I>();
        let _ = padding;
        let located = self.locate(index);
        let part = Part::new::<S, Blocked<B>>(&located);
        self.ordered(|| {
            if Self::vectors_are_whole() && located.aligned {
                // SAFETY: vectors inside the tensor are loaded, whole and aligned; the others are not.
                unsafe {
                    self.load_vectors(
                        &part,
                        Self::VECTOR,
                        |i| Some(part.contains::<S, Blocked<B>>(i)),
                        P::VALUE,
                    )
                }
            } else if located.whole & located.aligned {
                // SAFETY: the tile lies inside the tensor and its vectors are aligned.
                unsafe { self.load_vectors(&part, Self::VECTOR, |_| None, P::VALUE) }
            } else {
                // SAFETY: elements inside the tensor are loaded, the others are not.
                unsafe { self.load_vectors(&part, 1, |i| Some(part.contains::<S, Blocked<B>>(i)), P::VALUE) }
            }
        })
    }

    /// # Safety
    /// The tile lies inside the tensor; with `aligned`, its vectors are aligned.
    #[inline(always)]
    unsafe fn load_inside(&self, part: &Part<T, E>, aligned: bool) -> Tile<T, S, Blocked<B>> {
        if aligned {
            // SAFETY: the same contract.
            unsafe { self.load_vectors(part, Self::VECTOR, |_| None, T::ZERO) }
        } else {
            // SAFETY: the same contract; an element is always aligned to itself.
            unsafe { self.load_vectors(part, 1, |_| None, T::ZERO) }
        }
    }

    /// Loads the registers by `vector` at a time, those for which `condition` is not `Some(false)`.
    ///
    /// # Safety
    /// Vectors that are loaded lie inside the tensor and are aligned.
    #[inline(always)]
    unsafe fn load_vectors(
        &self,
        part: &Part<T, E>,
        vector: usize,
        condition: impl Fn(usize) -> Option<bool>,
        padding: T,
    ) -> Tile<T, S, Blocked<B>> {
        let mut registers = Registers::from_fn(|_| padding);
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, vector, &mut |i| {
            // SAFETY: the caller's contract; registers `i..i + vector` are neighbours in memory as the layout's
            // pieces are at least that long, and the span's access mode says whether its memory is constant.
            unsafe {
                transfer::load(
                    part.address::<S, Blocked<B>>(i),
                    vector,
                    Self::CACHE,
                    condition(i),
                    padding,
                    |k, element| registers.set(i + k, element),
                )
            }
        });
        Tile::from_registers(registers)
    }

    /// Runs a load of the block's own tiles between two barriers where the block may also store: it sees the
    /// stores before it, and the stores after it do not overtake it.
    #[inline(always)]
    fn ordered<R>(&self, load: impl FnOnce() -> R) -> R {
        if !A::OWNED {
            return load();
        }
        // SAFETY: view operations run on all threads of the block alike (the execution model of `Cx`).
        unsafe { arch::execution::barrier() };
        let loaded = load();
        // SAFETY: as above.
        unsafe { arch::execution::barrier() };
        loaded
    }

    /// Plain access to a writable span is for the tiles of this block, and to an atomic one for nobody.
    #[inline(always)]
    fn assert_plain_access<I: TileIndex<E::Rank>>() {
        const {
            assert!(
                A::CONSTANT || A::OWNED,
                "an atomic span has atomic loads and stores only: use atomic_load, atomic_store, or declare the argument as SpanMut"
            )
        };
        Self::assert_owned::<I>();
    }

    /// Whether `I` names a tile of this block, if the access mode wants that.
    #[inline(always)]
    pub(super) fn assert_owned<I: TileIndex<E::Rank>>() {
        const {
            let all = (1 << B::GRID_RANK) - 1;
            assert!(
                !A::OWNED || I::OWNED_AXES & all == all,
                "a tile of a writable span is named by an index that contains the block's own: cx.bid::<0>(), and with \
                 `grid = 2` also cx.bid::<1>(); another block may be writing any other tile"
            )
        };
    }

    #[cold]
    #[inline(always)]
    #[track_caller]
    pub(super) fn fail_bounds(&self, operation: &'static str, index: [u64; MAXIMUM_RANK]) -> ! {
        let mut failure = Failure::new(operation, BOUNDS);
        let extents = self.span.extents.get();
        failure.list(E::RANK, |axis| index[axis]);
        failure.list(E::RANK, |axis| 1 << S::DESCRIPTION.log[axis]);
        failure.list(E::RANK, |axis| extents[axis]);
        failure.end()
    }
}

/// Stores.
///
/// The value may have any element type that converts without loss of kind (the promotion of both is the tensor's
/// type) and any shape that broadcasts to the view's.
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    PartitionView<T, E, A, M, G, S, B>
{
    /// Stores `value` as tile `index`, which must lie wholly inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on_mut(&mut numbers, [4, 8], |cx, span: SpanMut<i32, (u32, u32)>| {
    ///     let view = span.partition(cx, shape![2, 8]);
    ///     view.store(cx.iota::<i32, _>(shape![2, 8]) * 100, (cx.bid::<0>(), 0));
    /// });
    /// assert_eq!(numbers[..3], [0, 100, 200]);
    /// ```
    ///
    /// # Panics
    /// If it does not lie inside (on the device: traps, and the launch's stream reports it).
    #[inline(always)]
    #[track_caller]
    pub fn store<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
        I: TileIndex<E::Rank>,
    {
        Self::assert_plain_access::<I>();
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("store", index.get());
        }
        // SAFETY: the tile lies inside the tensor, as just checked, and the index is this block's own.
        unsafe { self.store_inside(value, &Part::new::<S, Blocked<B>>(&located), located.aligned) }
    }

    /// Stores `value` as tile `index` without a check.
    ///
    /// # Safety
    /// The tile lies wholly inside the tensor, and no other block accesses it during the kernel.
    #[inline(always)]
    pub unsafe fn store_unchecked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
        I: TileIndex<E::Rank>,
    {
        let located = self.locate(index);
        // SAFETY: the caller vouches for it.
        unsafe { self.store_inside(value, &Part::new::<S, Blocked<B>>(&located), located.aligned) }
    }

    /// Stores those elements of `value` as tile `index` that lie inside the tensor.
    #[inline(always)]
    pub fn store_masked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
        I: TileIndex<E::Rank>,
    {
        Self::assert_plain_access::<I>();
        let located = self.locate(index);
        let part = Part::new::<S, Blocked<B>>(&located);
        let value: Tile<T, S, Blocked<B>> = value.cast::<T>().spread();
        if Self::vectors_are_whole() && located.aligned {
            // SAFETY: vectors inside the tensor are stored, whole and aligned; the others are not. The index is
            // this block's own.
            unsafe {
                self.store_vectors(value, &part, Self::VECTOR, |i| Some(part.contains::<S, Blocked<B>>(i)))
            }
        } else if located.whole & located.aligned {
            // SAFETY: the tile lies inside the tensor, its vectors are aligned, and the index is this block's own.
            unsafe { self.store_vectors(value, &part, Self::VECTOR, |_| None) }
        } else {
            // SAFETY: elements inside the tensor are stored, the others are not. The index is this block's own.
            unsafe { self.store_vectors(value, &part, 1, |i| Some(part.contains::<S, Blocked<B>>(i))) }
        }
    }

    /// # Safety
    /// The tile lies inside the tensor and belongs to this block; with `aligned`, its vectors are aligned.
    #[inline(always)]
    unsafe fn store_inside<U, R, L>(&self, value: Tile<U, R, L>, part: &Part<T, E>, aligned: bool)
    where
        U: Cast<T>,
        R: Shape,
        L: Layout<Block = B>,
    {
        let value: Tile<T, S, Blocked<B>> = value.cast::<T>().spread();
        if aligned {
            // SAFETY: the same contract.
            unsafe { self.store_vectors(value, part, Self::VECTOR, |_| None) }
        } else {
            // SAFETY: the same contract; an element is always aligned to itself.
            unsafe { self.store_vectors(value, part, 1, |_| None) }
        }
    }

    /// Stores the registers by `vector` at a time, those for which `condition` is not `Some(false)`.
    ///
    /// # Safety
    /// Vectors that are stored lie inside the tensor, are aligned, and belong to this block.
    #[inline(always)]
    unsafe fn store_vectors(
        &self,
        value: Tile<T, S, Blocked<B>>,
        part: &Part<T, E>,
        vector: usize,
        condition: impl Fn(usize) -> Option<bool>,
    ) {
        // Of threads that hold copies of an element one stores it.
        if arch::execution::thread() & const { Map::<Blocked<B>, S>::MAP.replicas } != 0 {
            return;
        }
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, vector, &mut |i| {
            // SAFETY: the caller's contract; registers `i..i + vector` are neighbours in memory, and each element
            // has one thread that stores it.
            unsafe {
                transfer::store(part.address::<S, Blocked<B>>(i), vector, condition(i), |k| {
                    value.registers().get(i + k)
                })
            }
        });
    }
}
