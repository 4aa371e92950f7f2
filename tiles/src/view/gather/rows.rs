//! Loads and stores of rows by their numbers.

use super::index::{GatherIndex, Rows};
use crate::arch;
use crate::arch::messages::Failure;
use crate::context::Cx;
use crate::element::{Cast, Element, StoredAs};
use crate::layout::{Block, Blocked, HeldBy, Layout, Map};
use crate::protocol::GATHERED;
use crate::registers::PowerOfTwo;
use crate::shape::{ALL, BroadcastsTo, MAXIMUM_RANK, OfRank, PADDED_VIEW, Shape, is_padded};
use crate::span::access::Writable;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use crate::view::Padding;
use crate::view::located::{Located, Part, reach};
use crate::view::transfer::{self, Cache};
use core::marker::PhantomData;

/// A span whose tiles of shape `S` take their slices from anywhere along one axis, as a tile of indices says.
///
/// Columns 2 to 5 of four rows, the example of cuTile's documentation:
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let numbers: Vec<i32> = (0..32).collect();
/// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
///     let rows = cx.iota::<i32>(shape![4]);
///     let tile = span.gather_scatter_view(cx, shape![4, 4]).load((rows, 2));
///     assert_eq!([tile.at([0, 0]), tile.at([0, 3]), tile.at([1, 0]), tile.at([3, 3])], [2, 5, 10, 29]);
/// });
/// ```
///
/// # Operations
///
/// | | |
/// |---|---|
/// | load | [`load`](Self::load) [`load_masked`](Self::load_masked) |
/// | `unsafe`: load without a check | [`load_unchecked`](Self::load_unchecked) |
/// | `unsafe`: store | [`store`](Self::store) [`store_masked`](Self::store_masked) [`store_unchecked`](Self::store_unchecked) |
/// | atomic load | [`atomic_load`](Self::atomic_load) [`atomic_load_masked`](Self::atomic_load_masked) |
/// | atomic store | [`atomic_store`](Self::atomic_store) [`atomic_store_masked`](Self::atomic_store_masked) |
///
/// # Shapes
///
/// The span has rank 2 to 4. An index is a tuple with one entry for each axis ([`GatherIndex`]):
///
/// * The entry of the gathered axis is a tile of rank 1. Its elements are integers of any type. It is as long as `S` is along that axis.
/// * The entry of each other axis is the *element* at which the tile begins.
///
/// Row `k` of `view.load((rows, 0))` is row `rows[k]` of the tensor, from its first column on. Any axis can be the gathered axis.
///
/// # Edges
///
/// A slice lies outside if its index is negative or beyond the tensor. Along the other axes a tile may begin before the tensor and end
/// behind it, as a tile of a [`WindowView`](crate::view::WindowView) may: `(rows, -1)` has one column outside. A plain load or store refuses a
/// tile with elements outside. A masked load pads just these elements, and a masked store leaves them out:
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let numbers: Vec<f32> = (0..32).map(|x| x as f32).collect();
/// cpu::block_on(&numbers, [4, 8], |cx, span: Span<f32, (u32, u32)>| {
///     let rows = cx.iota::<i64>(shape![4]) * 3 - 3;
///     let tile = span.gather_scatter_view(cx, shape![4, 8]).load_masked(Nan, (rows, 0));
///     assert!(tile.at([0, 0]).is_nan() && tile.at([3, 7]).is_nan());
///     assert_eq!((tile.at([1, 1]), tile.at([2, 1])), (1.0, 25.0));
/// });
/// ```
///
/// # Conflicts
///
/// A load may take the same row many times. Nothing keeps two blocks from storing to the same row. Plain stores are therefore
/// `unsafe`, and the safe stores are the atomic stores to a [`SpanAtomic`](crate::span::SpanAtomic). If several stores meet in one row, it is
/// unspecified which one wins.
///
/// # Panics
///
/// Plain loads and stores, and atomic ones that are not masked, if an element lies outside the tensor (on the device: traps, and the
/// launch's stream reports it).
///
/// # On a GPU
///
/// Loads give the layout [`Blocked`], and stores convert their value to it. If the last axis is contiguous and not the gathered one,
/// a thread moves up to 16 bytes by one instruction: `ld.global.nc.v4.b32` and `st.global.v4.b32` (PTX ISA, "Data Movement and Conversion
/// Instructions: ld.global.nc" and "st"). This needs offsets that are whole vectors, aligned rows, and for partial tiles whole vectors
/// in each row. Else it moves single elements.
pub struct GatherScatterView<X, S, B> {
    pub(super) span: X,
    shape: PhantomData<(S, B)>,
}

impl<X: Copy, S, B> Clone for GatherScatterView<X, S, B> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<X: Copy, S, B> Copy for GatherScatterView<X, S, B> {}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The span as a [`GatherScatterView`], from which tiles of `shape` are gathered row by row.
    ///
    /// A writable span is consumed, as by [`partition`](TensorSpan::partition). The type has an example.
    #[inline_on_device]
    pub fn gather_scatter_view<S: Shape + OfRank<E::Rank>, B: Block>(
        self,
        cx: Cx<B>,
        shape: S,
    ) -> GatherScatterView<TensorSpan<T, E, A, M, G>, S, B> {
        const { assert!(!is_padded::<S>(ALL), "{}", PADDED_VIEW) };
        let _ = (cx, shape);
        GatherScatterView { span: self, shape: PhantomData }
    }
}

/// A gathered tile: its slice at position 0 along the gathered axis, and how far away the others are.
pub(super) struct Gathered<T: Element, E: Extents, K> {
    /// The tile's first slice, of a tensor that has no distance between slices.
    located: Located<T, E>,
    rows: K,
    /// The tensor's length along the gathered axis.
    length: u64,
    /// Elements between neighbours along it.
    stride: E::Offset,
}

/// A thread's part of a gathered tile.
pub(super) struct GatheredPart<'a, T: Element, E: Extents, K> {
    part: Part<T, E>,
    gathered: &'a Gathered<T, E, K>,
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    GatherScatterView<TensorSpan<T, E, A, M, G>, S, B>
{
    const CACHE: Cache = if A::CONSTANT { Cache::Constant } else { Cache::Ordinary };

    /// Neighbouring elements that one access moves, gathered along `axis`.
    const fn vector(axis: usize) -> usize {
        let rank = S::DESCRIPTION.rank;
        if axis + 1 == rank || !M::CONTIGUOUS || M::ORDER.fastest(rank) + 1 != rank {
            return 1;
        }
        let last = 1 << S::DESCRIPTION.log[rank - 1];
        let piece = <B::Vector as PowerOfTwo>::COUNT;
        let widest = arch::VECTOR_BYTES / size_of::<T::Bits>();
        let vector = if last < piece { last } else { piece };
        if vector < widest { vector } else { widest }
    }

    /// Finds the tile at `index`.
    ///
    /// # Panics
    /// If the view is not of the block that this thread runs.
    #[inline_on_device]
    #[track_caller]
    pub(super) fn locate<I: GatherIndex<S, B>>(&self, index: I) -> Gathered<T, E, I::Kept> {
        self.span.assert_lent();
        let (rows, offsets) = index.prepare();
        let (lengths, mut strides) = (self.span.extents.get(), self.span.strides());
        let vector = const { Self::vector(I::AXIS) } as u64;
        let none = E::Offset::from_u64(0);
        let (mut missing, mut remaining) = ([none; MAXIMUM_RANK], [none; MAXIMUM_RANK]);
        let mut origin = self.span.pointer;
        let (mut whole, mut aligned) = (true, true);
        let mut axis = 0;
        while axis < E::RANK {
            let size = 1 << S::DESCRIPTION.log[axis];
            if axis == I::AXIS {
                remaining[axis] = E::Offset::from_u64(size);
            } else {
                if let Some((before, left)) = reach(offsets[axis], size, lengths[axis]) {
                    missing[axis] = E::Offset::from_u64(before);
                    remaining[axis] = E::Offset::from_u64(left);
                    let distance = (offsets[axis] as u64).wrapping_mul(strides[axis].to_u64());
                    origin = origin.wrapping_add(distance as usize);
                }
                whole &= (missing[axis] == none) & (remaining[axis].to_u64() == size);
            }
            if vector > 1 {
                aligned &= if axis + 1 == E::RANK {
                    (offsets[axis] as u64).is_multiple_of(vector)
                } else {
                    M::pitch_multiple(E::MULTIPLES[E::RANK - 1]).is_multiple_of(vector)
                        || strides[axis].to_u64().is_multiple_of(vector)
                };
            }
            axis += 1;
        }
        let bytes = vector as usize * size_of::<T::Bits>();
        aligned &=
            vector == 1 || G::BYTES.is_multiple_of(bytes) || self.span.pointer.addr().is_multiple_of(bytes);
        let stride = core::mem::replace(&mut strides[I::AXIS], none);
        let located = Located { origin, missing, remaining, strides, whole, aligned, wide: I::SIGNED };
        Gathered { located, rows, length: lengths[I::AXIS], stride }
    }

    /// No vector crosses the end of a row, whatever the extents, as offsets are whole vectors too.
    #[inline_on_device]
    fn vectors_are_whole<I: GatherIndex<S, B>>() -> bool {
        E::MULTIPLES[E::RANK - 1].is_multiple_of(const { Self::vector(I::AXIS) } as u64)
    }

    /// Loads the tile at `index`, which must lie wholly inside the tensor with all its slices.
    ///
    /// [`GatherScatterView`] has an example.
    ///
    /// # Panics
    ///
    /// If an element lies outside (on the device: traps, and the launch's stream reports it).
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`]. Each thread takes the numbers of its own rows from `index`. It loads a vector of a row by
    /// `ld.global.nc.v4.b32`, or single elements by `ld.global.nc.b32` (PTX ISA, "Data Movement and Conversion Instructions: ld.global.nc"):
    /// [the type](GatherScatterView#on-a-gpu) says when.
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("load_advanced_indexing"))]
    pub fn load<I: GatherIndex<S, B>>(&self, index: I) -> Tile<T, S, Blocked<B>> {
        const { Self::plain_load_is_legal() };
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        self.check::<I>("load", &part);
        // SAFETY: the tile lies inside the tensor, as just checked, which nothing writes.
        unsafe { self.load_inside::<I>(&part) }
    }

    /// Loads the tile at `index`, with `padding` in place of elements outside the tensor.
    ///
    /// [`GatherScatterView`](GatherScatterView#edges) has an example.
    ///
    /// # On a GPU
    ///
    /// The instructions of [`load`](Self::load), each with a predicate.
    #[inline_on_device]
    #[track_caller]
    pub fn load_masked<P: Padding<T>, I: GatherIndex<S, B>>(
        &self,
        padding: P,
        index: I,
    ) -> Tile<T, S, Blocked<B>> {
        const { Self::plain_load_is_legal() };
        let _ = (padding, const { P::VALUE });
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        let vector = const { Self::vector(I::AXIS) };
        if gathered.located.aligned && (Self::vectors_are_whole::<I>() || gathered.located.whole) {
            // SAFETY: vectors inside the tensor are loaded, whole and aligned; the others are not. Nothing writes it.
            unsafe { Self::load_vectors::<I>(&part, vector, |i| Some(part.contains::<S, B, I>(i)), P::VALUE) }
        } else {
            // SAFETY: elements inside the tensor are loaded, the others are not. Nothing writes it.
            unsafe { Self::load_vectors::<I>(&part, 1, |i| Some(part.contains::<S, B, I>(i)), P::VALUE) }
        }
    }

    /// Loads the tile at `index` without a check.
    ///
    /// It sees what the block itself stored earlier.
    ///
    /// # Safety
    ///
    /// * The tile lies wholly inside the tensor with all its slices.
    /// * No other block writes the tile during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn load_unchecked<I: GatherIndex<S, B>>(&self, index: I) -> Tile<T, S, Blocked<B>> {
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        // SAFETY: the caller vouches for it.
        transfer::ordered::<B, A, _>(|| unsafe { self.load_inside::<I>(&part) })
    }

    /// # Safety
    /// The tile lies inside the tensor, and nothing writes it meanwhile.
    #[inline_on_device]
    unsafe fn load_inside<I: GatherIndex<S, B>>(
        &self,
        part: &GatheredPart<'_, T, E, I::Kept>,
    ) -> Tile<T, S, Blocked<B>> {
        if part.gathered.located.aligned {
            // SAFETY: the same contract; the vectors are aligned.
            unsafe { Self::load_vectors::<I>(part, const { Self::vector(I::AXIS) }, |_| None, T::ZERO) }
        } else {
            // SAFETY: the same contract; an element is always aligned to itself.
            unsafe { Self::load_vectors::<I>(part, 1, |_| None, T::ZERO) }
        }
    }

    /// Loads the registers by `vector` at a time, those for which `condition` is not `Some(false)`.
    ///
    /// # Safety
    /// Vectors that are loaded lie inside the tensor and are aligned, and nothing writes them meanwhile.
    #[inline_on_device]
    unsafe fn load_vectors<I: GatherIndex<S, B>>(
        part: &GatheredPart<'_, T, E, I::Kept>,
        vector: usize,
        condition: impl Fn(usize) -> Option<bool>,
        padding: T,
    ) -> Tile<T, S, Blocked<B>> {
        let address = |i| part.address::<S, B, I>(i);
        // SAFETY: the caller's contract; `vector` registers are neighbours in memory, as the layout's pieces are at least that long and lie
        // in one slice. The access mode says whether memory is constant.
        unsafe { transfer::load_vectors(address, vector, Self::CACHE, condition, padding) }
    }

    /// Ends the kernel unless all of this thread's elements lie inside the tensor: any thread's failure ends it for all.
    #[inline_on_device]
    #[track_caller]
    pub(super) fn check<I: GatherIndex<S, B>>(
        &self,
        operation: &'static str,
        part: &GatheredPart<'_, T, E, I::Kept>,
    ) {
        let mut inside = part.gathered.located.whole;
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, const { Self::vector(I::AXIS) }, &mut |i| {
            inside &= part.has_row::<S, B, I>(i);
        });
        if !inside {
            let mut failure = Failure::new(operation, GATHERED);
            let extents = self.span.extents.get();
            failure.list(E::RANK, |axis| 1 << S::DESCRIPTION.log[axis]);
            failure.number(I::AXIS as u64);
            failure.list(E::RANK, |axis| extents[axis]);
            failure.end()
        }
    }

    /// Plain loads are safe where nothing writes.
    const fn plain_load_is_legal() {
        assert!(
            A::CONSTANT,
            "gathered tiles of a writable span may be written by other blocks: declare the argument as Span to read it, \
             or as SpanAtomic to share it and use atomic_load; load_unchecked is for kernels that rule conflicts out"
        );
    }
}

/// Stores. Nothing in the types says that rows named by a tile of indices belong to one block, so that these are `unsafe`.
///
/// The value may have any element type that converts without loss of kind and any shape that broadcasts to the view's.
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    GatherScatterView<TensorSpan<T, E, A, M, G>, S, B>
{
    /// Stores `value` as the tile at `index`, which must lie wholly inside the tensor with all its slices.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0i32; 12];
    /// cpu::block_on_mut(&mut numbers, [3, 4], |cx, span: SpanMut<i32, (u32, u32)>| {
    ///     let rows = 2 - cx.iota::<i32>(shape![2]) * 2;
    ///     // SAFETY: the rows 2 and 0 are two rows, and this is the only block.
    ///     unsafe { span.gather_scatter_view(cx, shape![2, 2]).store(cx.iota::<i32>(shape![2, 2]) + 1, (rows, 1)) }
    /// });
    /// assert_eq!(numbers, [0, 3, 4, 0, 0, 0, 0, 0, 0, 1, 2, 0]);
    /// ```
    ///
    /// # Panics
    ///
    /// If an element lies outside (on the device: traps, and the launch's stream reports it).
    ///
    /// # Safety
    ///
    /// * The indices name different slices.
    /// * No other block accesses the tile during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn store<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: GatherIndex<S, B>,
    {
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        self.check::<I>("store", &part);
        // SAFETY: the tile lies inside the tensor, as just checked; the caller vouches for the rest.
        unsafe { Self::store_inside::<I>(value.cast::<T>().spread(), &part) }
    }

    /// Stores those elements of `value` that lie inside the tensor, as the tile at `index`.
    ///
    /// # Safety
    ///
    /// * The indices name different slices.
    /// * No other block accesses those elements during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn store_masked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: GatherIndex<S, B>,
    {
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        let value: Tile<T, S, Blocked<B>> = value.cast::<T>().spread();
        let vector = const { Self::vector(I::AXIS) };
        if gathered.located.aligned && (Self::vectors_are_whole::<I>() || gathered.located.whole) {
            // SAFETY: vectors inside the tensor are stored, whole and aligned; the caller vouches for the rest.
            unsafe { Self::store_vectors::<I>(value, &part, vector, |i| Some(part.contains::<S, B, I>(i))) }
        } else {
            // SAFETY: elements inside the tensor are stored; the caller vouches for the rest.
            unsafe { Self::store_vectors::<I>(value, &part, 1, |i| Some(part.contains::<S, B, I>(i))) }
        }
    }

    /// Stores `value` as the tile at `index` without a check.
    ///
    /// # Safety
    ///
    /// * The tile lies wholly inside the tensor with all its slices.
    /// * The indices name different slices.
    /// * No other block accesses the tile during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn store_unchecked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: GatherIndex<S, B>,
    {
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        // SAFETY: the caller vouches for it.
        unsafe { Self::store_inside::<I>(value.cast::<T>().spread(), &part) }
    }

    /// # Safety
    /// The tile lies inside the tensor, and nothing else accesses it meanwhile.
    #[inline_on_device]
    unsafe fn store_inside<I: GatherIndex<S, B>>(
        value: Tile<T, S, Blocked<B>>,
        part: &GatheredPart<'_, T, E, I::Kept>,
    ) {
        if part.gathered.located.aligned {
            // SAFETY: the same contract; the vectors are aligned.
            unsafe { Self::store_vectors::<I>(value, part, const { Self::vector(I::AXIS) }, |_| None) }
        } else {
            // SAFETY: the same contract; an element is always aligned to itself.
            unsafe { Self::store_vectors::<I>(value, part, 1, |_| None) }
        }
    }

    /// Stores the registers by `vector` at a time, those for which `condition` is not `Some(false)`.
    ///
    /// # Safety
    /// Vectors that are stored lie inside the tensor and are aligned, and nothing else accesses them meanwhile.
    #[inline_on_device]
    unsafe fn store_vectors<I: GatherIndex<S, B>>(
        value: Tile<T, S, Blocked<B>>,
        part: &GatheredPart<'_, T, E, I::Kept>,
        vector: usize,
        condition: impl Fn(usize) -> Option<bool>,
    ) {
        // Of threads that hold copies of an element one stores it.
        if arch::execution::thread() & const { Map::<Blocked<B>, S>::MAP.replicas } != 0 {
            return;
        }
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, vector, &mut |i| {
            // SAFETY: the caller's contract; registers `i..i + vector` are neighbours in memory, and each element has
            // one thread that stores it.
            unsafe {
                transfer::store(part.address::<S, B, I>(i), vector, condition(i), |k| {
                    value.registers().get(i + k)
                })
            }
        });
    }
}

impl<'a, T: Element, E: Extents, K> GatheredPart<'a, T, E, K> {
    #[inline_on_device]
    pub(super) fn new<S: Shape, B: Block>(gathered: &'a Gathered<T, E, K>) -> Self {
        Self { part: Part::new::<S, Blocked<B>>(&gathered.located), gathered }
    }

    #[inline_on_device]
    fn row<S: Shape, B: Block, I: GatherIndex<S, B, Kept = K>>(&self, i: usize) -> u64
    where
        K: Rows<I::Integer>,
    {
        self.gathered.rows.get(i).cast()
    }

    /// The address of register `i`'s element.
    #[inline_on_device]
    pub(super) fn address<S: Shape, B: Block, I: GatherIndex<S, B, Kept = K>>(&self, i: usize) -> *mut T::Bits
    where
        K: Rows<I::Integer>,
    {
        let distance = E::Offset::from_u64(self.row::<S, B, I>(i)).times(self.gathered.stride);
        self.part.address::<S, Blocked<B>>(i).wrapping_add(distance.to_u64() as usize)
    }

    /// Whether the tensor has register `i`'s slice. A negative index, as a `u64`, is beyond any tensor.
    #[inline_on_device]
    fn has_row<S: Shape, B: Block, I: GatherIndex<S, B, Kept = K>>(&self, i: usize) -> bool
    where
        K: Rows<I::Integer>,
    {
        self.row::<S, B, I>(i) < self.gathered.length
    }

    /// Whether register `i`'s element lies inside the tensor.
    #[inline_on_device]
    pub(super) fn contains<S: Shape, B: Block, I: GatherIndex<S, B, Kept = K>>(&self, i: usize) -> bool
    where
        K: Rows<I::Integer>,
    {
        self.has_row::<S, B, I>(i) & self.part.contains::<S, Blocked<B>>(i)
    }
}
