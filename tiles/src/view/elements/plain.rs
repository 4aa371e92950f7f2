//! Plain loads and stores of elements by their indices.

use super::Chosen;
use super::index::ElementIndex;
use crate::element::{Cast, Element, StoredAs};
use crate::layout::Layout;
use crate::ops::Operand;
use crate::ops::operand::Fetch;
use crate::shape::FitsShape;
use crate::span::access::Writable;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use crate::view::element_wise;
use crate::view::transfer::{self, Cache};

/// The tile that an index of type `I` gathers.
pub(super) type Gathered<T, E, I> = Tile<
    T,
    <I as ElementIndex<<E as Extents>::Rank>>::Shape,
    <I as ElementIndex<<E as Extents>::Rank>>::Layout,
>;

/// Elements by their indices.
///
/// An index has an entry for each axis: tiles of integers of any type, which broadcast together, and numbers; see
/// [`ElementIndex`]. Masks, padding and values are tiles that broadcast to the common shape, or plain values. An element is
/// touched where its mask is true *and* its indices are inside the tensor; a negative index is outside.
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    const CACHE: Cache = if A::CONSTANT { Cache::Constant } else { Cache::Ordinary };

    /// The elements at `index`; zero (`false`) for elements outside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let (i, j) = (cx.iota::<i32>(shape![4, 1]), cx.iota::<u8>(shape![2]) + 6);
    ///     let tile = span.gather((3 - i, j));
    ///     assert_eq!([tile.at([0, 0]), tile.at([0, 1]), tile.at([3, 0])], [30, 31, 6]);
    ///     let diagonal = span.gather((cx.iota::<i32>(shape![8]), cx.iota::<i32>(shape![8])));
    ///     assert_eq!([diagonal.at([3]), diagonal.at([4])], [27, 0]);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// An index has an entry for each axis: a tile of integers of any type, or a number. The tiles broadcast together, and the result has their
    /// common shape: [`ElementIndex`]. A negative index is outside the tensor.
    ///
    /// # On a GPU
    ///
    /// The result has the common layout of the index. Each element is one `ld.global.nc.b32`, or `.b64`, `.b16`, `.b8`, with a predicate (PTX
    /// ISA, "Data Movement and Conversion Instructions: ld.global.nc").
    #[inline_on_device]
    #[track_caller]
    pub fn gather<I: ElementIndex<E::Rank>>(&self, index: I) -> Gathered<T, E, I> {
        const { Self::plain_gather_is_legal() };
        // SAFETY: nothing writes the tensor.
        unsafe { self.gather_where(T::ZERO, index, true) }
    }

    /// The elements at `index` where `mask` is true and they lie inside the tensor, with `padding` elsewhere.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[0.5f32, 1.5, 2.5], [3], |cx, span: Span<f32, (u32,)>| {
    ///     let i = cx.iota::<i32>(shape![4]) - 1;
    ///     let tile = span.gather_masked(-1.0, i, i.ne(1));
    ///     assert_eq!([0, 1, 2, 3].map(|k| tile.at([k])), [-1.0, 0.5, -1.0, 2.5]);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Masks and padding are tiles that broadcast to the common shape of the index, or plain values.
    #[inline_on_device]
    #[track_caller]
    pub fn gather_masked<P, I, K>(&self, padding: P, index: I, mask: K) -> Gathered<T, E, I>
    where
        I: ElementIndex<E::Rank>,
        P: Operand<T, I::Shape, I::Layout, Element = T, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
    {
        const { Self::plain_gather_is_legal() };
        // SAFETY: nothing writes the tensor.
        unsafe { self.gather_where(padding, index, mask) }
    }

    /// Plain gathers are safe where nothing writes.
    const fn plain_gather_is_legal() {
        assert!(
            A::CONSTANT,
            "gathered elements of a writable span may be written by other blocks: declare the argument as Span to read it, \
             or as SpanAtomic to share it and use atomic_gather; gather_unchecked is for kernels that rule conflicts out"
        );
    }

    /// # Safety
    /// No other block writes the elements inside the tensor during the kernel.
    #[inline_on_device]
    #[track_caller]
    unsafe fn gather_where<P, I, K>(&self, padding: P, index: I, mask: K) -> Gathered<T, E, I>
    where
        I: ElementIndex<E::Rank>,
        P: Operand<T, I::Shape, I::Layout, Element = T, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (padding, mask) =
            (padding.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        let target = |i| {
            let (address, inside) = chosen.target(i);
            (address, inside & mask.get(i))
        };
        // SAFETY: only elements inside the tensor are touched; the caller vouches for the rest.
        unsafe { element_wise::load(Self::CACHE, target, |i| padding.get(i)) }
    }

    /// The elements at `index`, without a check of bounds.
    ///
    /// It sees earlier stores of the block itself.
    ///
    /// # Safety
    ///
    /// * The elements lie inside the tensor.
    /// * No other block writes them during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn gather_unchecked<I: ElementIndex<E::Rank>>(&self, index: I) -> Gathered<T, E, I> {
        // SAFETY: the same contract.
        unsafe { self.gather_masked_unchecked(T::ZERO, index, true) }
    }

    /// The elements at `index` where `mask` is true, without a check of bounds, with `padding` elsewhere.
    ///
    /// # Safety
    ///
    /// As for [`TensorSpan::gather_unchecked`], of the elements where `mask` is true.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn gather_masked_unchecked<P, I, K>(&self, padding: P, index: I, mask: K) -> Gathered<T, E, I>
    where
        I: ElementIndex<E::Rank>,
        P: Operand<T, I::Shape, I::Layout, Element = T, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (padding, mask) =
            (padding.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        transfer::ordered::<<I::Layout as Layout>::Block, A, _>(|| {
            // SAFETY: the caller vouches for it; the access mode says whether memory is constant.
            unsafe {
                element_wise::load(Self::CACHE, |i| (chosen.target(i).0, mask.get(i)), |i| padding.get(i))
            }
        })
    }
}

/// Stores by indices. Nothing in the types says that elements named by tiles of indices belong to one block, so that these
/// are `unsafe`; [`TensorSpan::atomic_scatter`] is safe.
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// Stores `value` at `index`, but nothing outside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0i32; 4];
    /// cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<i32, (u32,)>| {
    ///     let i = cx.iota::<i32>(shape![4]);
    ///     // SAFETY: four different indices, and this is the only block.
    ///     unsafe { span.scatter(i * 10, 4 - i) }
    /// });
    /// assert_eq!(numbers, [0, 30, 20, 10]);
    /// ```
    ///
    /// # Safety
    ///
    /// * The indices inside the tensor name different elements.
    /// * No other block accesses these elements during the kernel.
    ///
    /// # On a GPU
    ///
    /// Each element is one `st.global.b32`, or `.b64`, `.b16`, `.b8`, with a predicate (PTX ISA, "Data Movement and Conversion
    /// Instructions: st").
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn scatter<V, I>(&self, value: V, index: I)
    where
        A: Writable,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
    {
        // SAFETY: the same contract.
        unsafe { self.scatter_masked(value, index, true) }
    }

    /// Stores `value` at `index` where `mask` is true, but nothing outside the tensor.
    ///
    /// # Safety
    ///
    /// As for [`TensorSpan::scatter`], of the elements where `mask` is true.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn scatter_masked<V, I, K>(&self, value: V, index: I, mask: K)
    where
        A: Writable,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (value, mask) = (value.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        let target = |i| {
            let (address, inside) = chosen.target(i);
            (address, inside & mask.get(i))
        };
        // SAFETY: only elements inside the tensor are touched; the caller vouches for the rest.
        unsafe { element_wise::store::<T, I::Shape, I::Layout>(target, |i| value.get(i).cast()) }
    }

    /// Stores `value` at `index`, without a check of bounds.
    ///
    /// # Safety
    /// As for [`TensorSpan::scatter`], and the elements lie inside the tensor.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn scatter_unchecked<V, I>(&self, value: V, index: I)
    where
        A: Writable,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
    {
        // SAFETY: the same contract.
        unsafe { self.scatter_masked_unchecked(value, index, true) }
    }

    /// Stores `value` at `index` where `mask` is true, without a check of bounds.
    ///
    /// # Safety
    /// As for [`TensorSpan::scatter_unchecked`], of the elements where `mask` is true.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn scatter_masked_unchecked<V, I, K>(&self, value: V, index: I, mask: K)
    where
        A: Writable,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (value, mask) = (value.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        // SAFETY: the caller vouches for it.
        unsafe {
            element_wise::store::<T, I::Shape, I::Layout>(
                |i| (chosen.target(i).0, mask.get(i)),
                |i| value.get(i).cast(),
            )
        }
    }
}
