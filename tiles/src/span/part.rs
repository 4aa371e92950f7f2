//! Parts of spans and spans of other shape: slices, halves, single rows, reshaped and promised spans.
//!
//! Each block takes parts for itself. Blocks that took *different* parts of a writable span could reach one element under
//! different tile indices; where the place of a part is a number of the kernel's, taking it from a writable span is
//! therefore `unsafe`, and safe where it is part of the type ([`narrow`](TensorSpan::narrow)) or where the host takes it
//! (`tensor.view_mut().slice(..)`).

use super::access::{Access, Aligned, Alignment, Exclusive, Natural, Shareable};
use super::axes::{AxisOf, InsertAxis, RemoveAxis, SliceAxis};
use super::extents::{Extents, OffsetInteger};
use super::mapping::{Left, Mapping, Right};
use super::{SpanError, TensorSpan};
use crate::arch;
use crate::element::Element;
use crate::shape::MAXIMUM_RANK;
use core::ops::{Bound, RangeBounds};

/// A slice along axis `AXIS` of a span of extents `E` and mapping `M`.
pub type Sliced<T, E, A, M, const AXIS: usize> =
    TensorSpan<T, <E as AxisOf<AXIS>>::Sliced, A, <M as SliceAxis<AXIS>>::Sliced, Natural>;

/// The rest of a span where axis `AXIS` is fixed.
pub type Rest<T, E, A, M, const AXIS: usize> = TensorSpan<
    T,
    <E as AxisOf<AXIS>>::Removed,
    A,
    <M as RemoveAxis<<E as Extents>::Rank, AXIS>>::Rest,
    Natural,
>;

/// Strides without those of axis `axis`.
#[inline_on_device]
fn without(strides: [u64; MAXIMUM_RANK], axis: usize) -> [u64; MAXIMUM_RANK] {
    let mut rest = [0; MAXIMUM_RANK];
    let mut k = 0;
    while k + 1 < MAXIMUM_RANK {
        rest[k] = strides[if k < axis { k } else { k + 1 }];
        k += 1;
    }
    rest
}

/// Whether both are equal, without a call of `memcmp`, which a GPU does not have.
#[inline_on_device]
fn equal(one: [u64; MAXIMUM_RANK], other: [u64; MAXIMUM_RANK]) -> bool {
    (one[0] == other[0]) & (one[1] == other[1]) & (one[2] == other[2]) & (one[3] == other[3])
}

/// Parts that each block chooses for itself.
impl<T: Element, E: Extents, A: Shareable, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The elements whose index along axis `AXIS` lies in `range`: NumPy's `x[..., start:stop, ...]`.
    ///
    /// Nothing is copied. The slice is a span like any other, and helper functions take it as one.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let middle = span.slice::<0>(1..3).slice::<1>(2..);
    ///     assert_eq!((middle.extent(0), middle.extent(1)), (2, 6));
    ///     assert_eq!(middle.partition(cx, shape![1, 2]).load((1, 0)).at([0, 1]), 19);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If the range ends before it starts or beyond the axis (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// Arithmetic on the span's pointer and extents. A slice starts anywhere, so that its [`Alignment`] is [`Natural`].
    #[inline_on_device]
    #[track_caller]
    pub fn slice<const AXIS: usize>(self, range: impl RangeBounds<E::Offset>) -> Sliced<T, E, A, M, AXIS>
    where
        E: AxisOf<AXIS>,
        M: SliceAxis<AXIS>,
    {
        // SAFETY: the span is not exclusive.
        unsafe { self.slice_checked::<AXIS>(range) }
    }

    /// The elements before index `middle` along axis `AXIS`, and the elements from there on.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[1, 2, 3, 4], [4], |cx, span: Span<i32, (u32,)>| {
    ///     let (low, high) = span.split_at::<0>(3);
    ///     assert_eq!((low.extent(0), high.extent(0)), (3, 1));
    ///     assert_eq!(high.partition(cx, shape![1]).load(0).at([0]), 4);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If `middle` lies beyond the axis (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    #[allow(clippy::type_complexity, reason = "a pair of one type")]
    pub fn split_at<const AXIS: usize>(
        self,
        middle: E::Offset,
    ) -> (Sliced<T, E, A, M, AXIS>, Sliced<T, E, A, M, AXIS>)
    where
        E: AxisOf<AXIS>,
        M: SliceAxis<AXIS>,
    {
        (self.slice::<AXIS>(..middle), self.slice::<AXIS>(middle..))
    }

    /// The elements whose index along axis `AXIS` is `index`, as a span without that axis: NumPy's `x[..., index, ...]`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let row = span.index::<0>(2);
    ///     assert_eq!(row.partition(cx, shape![4]).load(1).at([0]), 20);
    ///     let column = span.index::<1>(5);
    ///     assert_eq!(column.partition(cx, shape![4]).load(0).at([3]), 29);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If the index is not below the length of the axis (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn index<const AXIS: usize>(self, index: E::Offset) -> Rest<T, E, A, M, AXIS>
    where
        E: AxisOf<AXIS, Removed: Extents<Offset = E::Offset>>,
        M: RemoveAxis<E::Rank, AXIS>,
    {
        // SAFETY: the span is not exclusive.
        unsafe { self.index_checked::<AXIS>(index) }
    }
}

/// Parts of a writable span, which all blocks choose alike.
impl<T: Element, E: Extents, M: Mapping, G: Alignment> TensorSpan<T, E, Exclusive, M, G> {
    /// The elements whose index along axis `AXIS` lies in `range`, as a writable span that takes this span's place.
    ///
    /// The [`split_at`](Self::split_at) of writable spans has an example. [`narrow`](Self::narrow) is safe.
    ///
    /// # Panics
    ///
    /// If the range ends before it starts or beyond the axis (on the device: traps).
    ///
    /// # Safety
    ///
    /// Every block of the launch takes the same range. It follows from arguments of the kernel, and neither from the block's index nor from
    /// elements.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn slice<const AXIS: usize>(
        self,
        range: impl RangeBounds<E::Offset>,
    ) -> Sliced<T, E, Exclusive, M, AXIS>
    where
        E: AxisOf<AXIS>,
        M: SliceAxis<AXIS>,
    {
        // SAFETY: the same contract.
        unsafe { self.slice_checked::<AXIS>(range) }
    }

    /// The elements before index `middle` along axis `AXIS`, and the elements from there on, both writable.
    ///
    /// They share no element.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0_i32; 8];
    /// cpu::block_on_mut(&mut numbers, [8], |cx, span: SpanMut<i32, (u32,)>| {
    ///     // SAFETY: every block splits at 3.
    ///     let (low, high) = unsafe { span.split_at::<0>(3) };
    ///     let (low, high) = (low.partition(cx, shape![4]), high.partition(cx, shape![4]));
    ///     low.store_masked(cx.full(shape![4], 1), cx.bid::<0>());
    ///     high.store_masked(cx.full(shape![4], 2), cx.bid::<0>());
    /// });
    /// assert_eq!(numbers, [1, 1, 1, 2, 2, 2, 2, 0]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `middle` lies beyond the axis (on the device: traps).
    ///
    /// # Safety
    ///
    /// As for [`slice`](TensorSpan::slice): every block splits at the same place.
    #[inline_on_device]
    #[track_caller]
    #[allow(clippy::type_complexity, reason = "a pair of one type")]
    pub unsafe fn split_at<const AXIS: usize>(
        self,
        middle: E::Offset,
    ) -> (Sliced<T, E, Exclusive, M, AXIS>, Sliced<T, E, Exclusive, M, AXIS>)
    where
        E: AxisOf<AXIS>,
        M: SliceAxis<AXIS>,
    {
        let (middle, length) = (middle.to_u64(), self.extents.get()[AXIS]);
        if middle > length {
            arch::execution::fail(|text| {
                write!(text, "index {middle} does not lie within axis {AXIS} of length {length}")
            });
        }
        // SAFETY: both ranges lie within the axis and share no index; the caller vouches for the blocks.
        unsafe { (self.cut::<AXIS>(0, middle), self.cut::<AXIS>(middle, length)) }
    }

    /// The elements whose index along axis `AXIS` is `index`, as a writable span without that axis.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0_i32; 8];
    /// cpu::block_on_mut(&mut numbers, [2, 4], |cx, span: SpanMut<i32, (u32, u32)>| {
    ///     // SAFETY: every block takes row 1.
    ///     let row = unsafe { span.index::<0>(1) }.partition(cx, shape![4]);
    ///     row.store(cx.full(shape![4], 5), cx.bid::<0>());
    /// });
    /// assert_eq!(numbers, [0, 0, 0, 0, 5, 5, 5, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the index is not below the length of the axis (on the device: traps).
    ///
    /// # Safety
    ///
    /// As for [`slice`](TensorSpan::slice): every block takes the same index.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn index<const AXIS: usize>(self, index: E::Offset) -> Rest<T, E, Exclusive, M, AXIS>
    where
        E: AxisOf<AXIS, Removed: Extents<Offset = E::Offset>>,
        M: RemoveAxis<E::Rank, AXIS>,
    {
        // SAFETY: the same contract.
        unsafe { self.index_checked::<AXIS>(index) }
    }
}

/// Parts whose place is part of the type, and what parts have in common.
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The strides in 64 bits.
    #[inline_on_device]
    fn wide_strides(&self) -> [u64; MAXIMUM_RANK] {
        self.strides().map(OffsetInteger::to_u64)
    }

    /// # Safety
    /// Of an exclusive span every block takes the same range.
    #[inline_on_device]
    #[track_caller]
    unsafe fn slice_checked<const AXIS: usize>(
        self,
        range: impl RangeBounds<E::Offset>,
    ) -> Sliced<T, E, A, M, AXIS>
    where
        E: AxisOf<AXIS>,
        M: SliceAxis<AXIS>,
    {
        let length = self.extents.get()[AXIS];
        let start = match range.start_bound() {
            Bound::Included(start) => start.to_u64(),
            Bound::Excluded(start) => start.to_u64().saturating_add(1),
            Bound::Unbounded => 0,
        };
        let stop = match range.end_bound() {
            Bound::Included(stop) => stop.to_u64().saturating_add(1),
            Bound::Excluded(stop) => stop.to_u64(),
            Bound::Unbounded => length,
        };
        if start > stop || stop > length {
            arch::execution::fail(|text| {
                write!(text, "the range {start}..{stop} does not lie within axis {AXIS} of length {length}")
            });
        }
        // SAFETY: the range lies within the axis; the caller vouches for the blocks.
        unsafe { self.cut::<AXIS>(start, stop) }
    }

    /// # Safety
    /// Of an exclusive span every block takes the same index.
    #[inline_on_device]
    #[track_caller]
    unsafe fn index_checked<const AXIS: usize>(self, index: E::Offset) -> Rest<T, E, A, M, AXIS>
    where
        E: AxisOf<AXIS, Removed: Extents<Offset = E::Offset>>,
        M: RemoveAxis<E::Rank, AXIS>,
    {
        let (index, length, strides) = (index.to_u64(), self.extents.get()[AXIS], self.wide_strides());
        if index >= length {
            arch::execution::fail(|text| {
                write!(text, "index {index} is not below the length {length} of axis {AXIS}")
            });
        }
        let pointer = self.pointer.wrapping_add(index.wrapping_mul(strides[AXIS]) as usize);
        let mapping = <M as RemoveAxis<E::Rank, AXIS>>::Rest::from_strides::<<E as AxisOf<AXIS>>::Removed>(
            without(strides, AXIS),
        );
        // SAFETY: the elements are some of this span's, at their places, and the caller vouches for the blocks.
        unsafe {
            let origin = self.origin.part(pointer.addr());
            TensorSpan::from_checked(pointer, self.extents.removed(), mapping, origin)
        }
    }

    /// # Safety
    /// `start <= stop`, which lies within the axis; of an exclusive span no two parts that share an index are used.
    #[inline_on_device]
    unsafe fn cut<const AXIS: usize>(&self, start: u64, stop: u64) -> Sliced<T, E, A, M, AXIS>
    where
        E: AxisOf<AXIS>,
        M: SliceAxis<AXIS>,
    {
        let strides = self.wide_strides();
        // An empty slice may start beyond the last element, where nothing is read.
        let pointer = self.pointer.wrapping_add(start.wrapping_mul(strides[AXIS]) as usize);
        let mapping = <M as SliceAxis<AXIS>>::Sliced::from_strides::<<E as AxisOf<AXIS>>::Sliced>(strides);
        // SAFETY: the elements are some of this span's, at their places.
        unsafe {
            let origin = self.origin.part(pointer.addr());
            TensorSpan::from_checked(pointer, self.extents.sliced(stop - start), mapping, origin)
        }
    }

    /// The `LENGTH` elements from index `START` on along axis `AXIS`, as a span whose extent there is static.
    ///
    /// The place is part of the type. All blocks take the same part, and a writable span stays safe.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0_i32; 8];
    /// cpu::block_on_mut(&mut numbers, [8], |cx, span: SpanMut<i32, (u32,)>| {
    ///     let inner = span.narrow::<0, 1, 6>().partition(cx, shape![8]);
    ///     inner.store_masked(cx.full(shape![8], 7), cx.bid::<0>());
    /// });
    /// assert_eq!(numbers, [0, 7, 7, 7, 7, 7, 7, 0]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the axis is shorter (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("offsets"))]
    pub fn narrow<const AXIS: usize, const START: usize, const LENGTH: usize>(
        self,
    ) -> TensorSpan<T, E::Narrowed<LENGTH>, A, <M as SliceAxis<AXIS>>::Sliced, Natural>
    where
        E: AxisOf<AXIS, Narrowed<LENGTH>: Extents<Rank = E::Rank, Offset = E::Offset>>,
        M: SliceAxis<AXIS>,
    {
        let (length, strides) = (self.extents.get()[AXIS], self.wide_strides());
        if const { START as u64 + LENGTH as u64 } > length {
            arch::execution::fail(|text| {
                write!(
                    text,
                    "the range {START}..{} does not lie within axis {AXIS} of length {length}",
                    START + LENGTH
                )
            });
        }
        let pointer = self.pointer.wrapping_add((START as u64).wrapping_mul(strides[AXIS]) as usize);
        let mapping = <M as SliceAxis<AXIS>>::Sliced::from_strides::<E::Narrowed<LENGTH>>(strides);
        // SAFETY: the elements are some of this span's, at their places, the same for all blocks.
        unsafe { TensorSpan::from_checked(pointer, self.extents.narrowed::<LENGTH>(), mapping, self.origin) }
    }

    /// The same elements with one more axis, of length 1, at position `AXIS`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[1, 2, 3, 4], [4], |cx, span: Span<i32, (u32,)>| {
    ///     let row = span.insert_axis::<0>().partition(cx, shape![1, 4]).load((0, 0));
    ///     assert_eq!(row.at([0, 3]), 4);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// A span has at most four axes.
    #[inline_on_device]
    pub fn insert_axis<const AXIS: usize>(self) -> TensorSpan<T, E::Inserted, A, M, G>
    where
        E: InsertAxis<AXIS>,
    {
        let strides = self.wide_strides();
        let mut all = strides;
        let mut k = AXIS + 1;
        while k < MAXIMUM_RANK {
            all[k] = strides[k - 1];
            k += 1;
        }
        all[AXIS] = if AXIS < E::RANK { strides[AXIS] } else { 1 };
        let mapping = M::from_strides::<E::Inserted>(all);
        // SAFETY: the same elements at the same places; along an axis of length 1 any stride does.
        unsafe { TensorSpan::from_checked(self.pointer, self.extents.inserted(), mapping, self.origin) }
    }

    /// The same span, known to start at a multiple of `BYTES` bytes.
    ///
    /// The kernel then has no code for tensors that are not aligned. An argument that is declared as [`Aligned<BYTES>`](Aligned) is better,
    /// since the launch checks it.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[1.0f32, 2.0], [2], |cx, span: Span<f32, (u32,)>| {
    ///     let aligned: TensorSpan<f32, (u32,), _, _, Aligned<4>> = span.aligned::<4>();
    ///     assert_eq!(aligned.partition(cx, shape![2]).load(0).at([1]), 2.0);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If the span does not start there (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn aligned<const BYTES: usize>(self) -> TensorSpan<T, E, A, M, Aligned<BYTES>> {
        let address = self.pointer.addr();
        if !address.is_multiple_of(Aligned::<BYTES>::bytes::<T::Bits>()) {
            arch::execution::fail(|text| write!(text, "{}", SpanError::Alignment { address, wanted: BYTES }));
        }
        // SAFETY: just checked.
        unsafe { self.assume_aligned() }
    }

    /// The same span, known to start at a multiple of `BYTES` bytes: CUDA Tile C++'s `assume_aligned`.
    ///
    /// [`aligned`](Self::aligned) checks it.
    ///
    /// # Safety
    ///
    /// The span starts there.
    #[inline_on_device]
    #[doc(alias("assume_div_by"))]
    pub unsafe fn assume_aligned<const BYTES: usize>(self) -> TensorSpan<T, E, A, M, Aligned<BYTES>> {
        // SAFETY: the same span; the caller vouches for its alignment.
        unsafe { TensorSpan::from_checked(self.pointer, self.extents, self.mapping, self.origin) }
    }
}

/// Mappings whose elements lie in one piece, so that a span can take any other shape.
#[diagnostic::on_unimplemented(
    message = "a span with mapping `{Self}` cannot be reshaped",
    label = "its elements need not lie in one piece",
    note = "`Right` and `Left` spans can; declare the argument as one of them"
)]
pub trait WithoutGaps: Mapping {}
impl WithoutGaps for Right {}
impl WithoutGaps for Left {}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The same elements in the same order with other extents.
    ///
    /// The order is the mapping's: row-major for [`Right`], and column-major for [`Left`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let rows = span.reshape((2_u32, D::<16>));
    ///     assert_eq!(rows.partition(cx, shape![1, 16]).load((1, 0)).at([0, 15]), 31);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Extents are values of any [extent types](Extents). Of a writable span at most one extent may be known at run time only, because all
    /// blocks must see the same shape.
    ///
    /// # Panics
    ///
    /// If the extents do not multiply to the number of elements, or need wider integers for offsets than they have (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn reshape<F: Extents>(self, extents: F) -> TensorSpan<T, F, A, M, G>
    where
        M: WithoutGaps,
    {
        const {
            assert!(
                !A::OWNED || F::RANK_DYNAMIC <= 1,
                "a writable span is reshaped to extents of which at most one is known at run time only: all blocks must \
                 see the same shape"
            )
        };
        let (own, wanted) = (self.extents.get(), extents.get());
        let count = self.size();
        let product = wanted.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
        if product != Some(count) || count > F::Offset::GREATEST {
            arch::execution::fail(|text| {
                write!(
                    text,
                    "a span of extents {:?} cannot be reshaped to {:?}",
                    &own[..E::RANK],
                    &wanted[..F::RANK]
                )
            });
        }
        // SAFETY: as many elements, without gaps, at the same places.
        unsafe {
            TensorSpan::from_checked(
                self.pointer,
                extents,
                M::from_strides::<F>([0; MAXIMUM_RANK]),
                self.origin,
            )
        }
    }
}

/// What a span knows of itself.
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The number of axes.
    pub const RANK: usize = E::RANK;
    /// The number of extents that are known at run time only.
    pub const RANK_DYNAMIC: usize = E::RANK_DYNAMIC;
    /// The extents that are known at compile time; 1 beyond the rank.
    pub const STATIC_EXTENTS: [Option<u64>; MAXIMUM_RANK] = E::STATIC;

    /// All extents.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[1, 2, 3, 4], [2, 2], |_cx, span: Span<i32, (u32, D<2>)>| {
    ///     assert_eq!(span.extents().0, 2);
    ///     assert_eq!((span.size(), span.is_empty()), (4, false));
    ///     assert!(span.extents_equal(&span) && span.strides_equal(&span));
    /// });
    /// ```
    #[inline_on_device]
    pub fn extents(&self) -> E {
        self.extents
    }

    /// The number of elements: the product of all extents.
    #[inline_on_device]
    pub fn size(&self) -> u64 {
        let lengths = self.extents.get();
        // The product fits unless a length is zero, and then it is zero however it wraps.
        lengths[0].wrapping_mul(lengths[1]).wrapping_mul(lengths[2]).wrapping_mul(lengths[3])
    }

    /// Whether the span has no element.
    #[inline_on_device]
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// Whether both spans have equal rank and extents, whatever their types.
    #[inline_on_device]
    pub fn extents_equal<U, F, C, N, H>(&self, other: &TensorSpan<U, F, C, N, H>) -> bool
    where
        U: Element,
        F: Extents,
        C: Access,
        N: Mapping,
        H: Alignment,
    {
        E::RANK == F::RANK && equal(self.extents.get(), other.extents.get())
    }

    /// Whether both spans have equal rank and strides, whatever their types.
    #[inline_on_device]
    pub fn strides_equal<U, F, C, N, H>(&self, other: &TensorSpan<U, F, C, N, H>) -> bool
    where
        U: Element,
        F: Extents,
        C: Access,
        N: Mapping,
        H: Alignment,
    {
        E::RANK == F::RANK && equal(self.wide_strides(), other.wide_strides())
    }
}
