//! Atomic access to elements by their indices.
//!
//! Each element is a separate atomic operation, in no particular order: a tile of them is not atomic as a whole, and where
//! an index occurs several times in one operation, its changes happen one after the other in an order of which nothing is known.

use super::Chosen;
use super::index::ElementIndex;
use super::plain::Gathered;
use crate::element::{AtomicAdd, AtomicExchange, AtomicLogical, AtomicMinMax, Cast, Element, StoredAs};
use crate::ops::Operand;
use crate::ops::operand::Fetch;
use crate::shape::FitsShape;
use crate::span::access::Concurrent;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::view::element_wise;
use crate::view::memory_order::{ReadOrder, Scope, UpdateOrder, WriteOrder, assert_shared_scope};

/// Atomic loads and stores by indices; masks, padding and values as for [`TensorSpan::gather_masked`].
impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// The elements at `index`, loaded atomically; zero (`false`) for elements outside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// let mut numbers = [1_u32, 2, 3, 4];
    /// cuda_tiles::cpu::block(|cx| {
    ///     // SAFETY: the array outlives the span, and nothing else uses it meanwhile.
    ///     let span = unsafe { SpanAtomic::<u32, (u32,)>::try_from_parts(numbers.as_mut_ptr(), &[4], &[1]) }.unwrap();
    ///     let index = cx.tile_of([3, 0]);
    ///     let tile = span.atomic_gather(index, Relaxed, scope::Device);
    ///     assert_eq!((tile.at([0]), tile.at([1])), (4, 1));
    ///     span.atomic_scatter(tile * 10, index, Relaxed, scope::Device);
    /// });
    /// assert_eq!(numbers, [10, 2, 3, 40]);
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the common layout of the index. Each element is `ld.relaxed.gpu.global`, or `ld.acquire` and a barrier of the block (PTX
    /// ISA, "Data Movement and Conversion Instructions: ld"). `.gpu` is the scope [`Device`](crate::view::memory_order::scope::Device).
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_gather<I, O, C>(&self, index: I, order: O, scope: C) -> Gathered<T, E, I>
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        O: ReadOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        self.gather_atomically::<_, _, _, O, C>(T::ZERO, index, true)
    }

    /// The elements at `index`, loaded atomically, where `mask` is true and they lie inside the tensor, with `padding` elsewhere.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_gather_masked<P, I, K, O, C>(
        &self,
        padding: P,
        index: I,
        mask: K,
        order: O,
        scope: C,
    ) -> Gathered<T, E, I>
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        P: Operand<T, I::Shape, I::Layout, Element = T, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: ReadOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        self.gather_atomically::<_, _, _, O, C>(padding, index, mask)
    }

    #[inline_on_device]
    #[track_caller]
    fn gather_atomically<P, I, K, O, C>(&self, padding: P, index: I, mask: K) -> Gathered<T, E, I>
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        P: Operand<T, I::Shape, I::Layout, Element = T, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: ReadOrder,
        C: Scope,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (padding, mask) =
            (padding.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        let target = |i| {
            let (address, inside) = chosen.target(i);
            (address, inside & mask.get(i))
        };
        // SAFETY: only elements inside the tensor are touched, to which all blocks have atomic access only.
        unsafe { element_wise::atomic_load::<T, _, _, O, C>(target, |i| padding.get(i)) }
    }

    /// Stores `value` atomically at `index`, but nothing outside the tensor.
    ///
    /// Which of several values for one element stays is unspecified. [`atomic_gather`](Self::atomic_gather) has an example.
    ///
    /// # On a GPU
    ///
    /// Each element is `st.relaxed.gpu.global`, or `st.release` after a barrier of the block (PTX ISA, "Data Movement and Conversion
    /// Instructions: st").
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_scatter<V, I, O, C>(&self, value: V, index: I, order: O, scope: C)
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        O: WriteOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        self.scatter_atomically::<_, _, _, O, C>(value, index, true);
    }

    /// Stores `value` atomically at `index` where `mask` is true, but nothing outside the tensor.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_scatter_masked<V, I, K, O, C>(&self, value: V, index: I, mask: K, order: O, scope: C)
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: WriteOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        self.scatter_atomically::<_, _, _, O, C>(value, index, mask);
    }

    #[inline_on_device]
    #[track_caller]
    fn scatter_atomically<V, I, K, O, C>(&self, value: V, index: I, mask: K)
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: WriteOrder,
        C: Scope,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (value, mask) = (value.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        let target = |i| {
            let (address, inside) = chosen.target(i);
            (address, inside & mask.get(i))
        };
        // SAFETY: only elements inside the tensor are touched, to which all blocks have atomic access only.
        unsafe {
            element_wise::atomic_store::<T, I::Shape, I::Layout, O, C>(target, |i| value.get(i).cast());
        }
    }

    /// Stores `desired` at `index` where the element has the bits of `expected`, each element atomically, and gives the elements before.
    ///
    /// For elements outside the tensor the result is `expected`. Floats are compared by their bits.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// /// Takes free slots: those that hold 0 get this block's number; 1 where that succeeded.
    /// #[kernel]
    /// fn take(cx: Cx, slots: SpanAtomic<u32, (u32,)>, taken: SpanMut<u32, (u32, D<32>)>) {
    ///     let taken = taken.partition(cx, shape![1, 32]);
    ///     let own = *cx.bid::<0>() + 1;
    ///     let slot = cx.iota::<u32>(shape![1, 32]);
    ///     let before = slots.atomic_compare_exchange(0, own, slot, AcquireRelease, scope::Device);
    ///     taken.store(before.eq(0), (cx.bid::<0>(), 0));
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// Each element is `atom.relaxed.gpu.global.cas` (PTX ISA, "Parallel Synchronization and Communication Instructions: atom"). An order other
    /// than [`Relaxed`](crate::view::memory_order::order::Relaxed) adds a fence and a barrier of the block.
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("atomic_cas", "atomic_cas_tko"))]
    pub fn atomic_compare_exchange<X, V, I, O, C>(
        &self,
        expected: X,
        desired: V,
        index: I,
        order: O,
        scope: C,
    ) -> Gathered<T, E, I>
    where
        A: Concurrent,
        T: AtomicExchange,
        I: ElementIndex<E::Rank>,
        X: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        O: UpdateOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        self.compare_exchange_each::<_, _, _, _, O, C>(expected, desired, index, true)
    }

    /// The [`atomic_compare_exchange`](Self::atomic_compare_exchange) where `mask` is true; elsewhere the result is `expected`.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_compare_exchange_masked<X, V, I, K, O, C>(
        &self,
        expected: X,
        desired: V,
        index: I,
        mask: K,
        order: O,
        scope: C,
    ) -> Gathered<T, E, I>
    where
        A: Concurrent,
        T: AtomicExchange,
        I: ElementIndex<E::Rank>,
        X: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: UpdateOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        self.compare_exchange_each::<_, _, _, _, O, C>(expected, desired, index, mask)
    }

    #[inline_on_device]
    #[track_caller]
    fn compare_exchange_each<X, V, I, K, O, C>(
        &self,
        expected: X,
        desired: V,
        index: I,
        mask: K,
    ) -> Gathered<T, E, I>
    where
        A: Concurrent,
        T: AtomicExchange,
        I: ElementIndex<E::Rank>,
        X: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: UpdateOrder,
        C: Scope,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (expected, desired, mask) = (
            expected.prepare::<I::Shape, I::Layout>(),
            desired.prepare::<I::Shape, I::Layout>(),
            mask.prepare::<I::Shape, I::Layout>(),
        );
        let expected = |i| Cast::<T>::cast(expected.get(i));
        element_wise::update::<T, _, _, O, C>(
            |i| {
                let (address, inside) = chosen.target(i);
                (address, inside & mask.get(i))
            },
            |i, address| {
                let desired: T = desired.get(i).cast();
                // SAFETY: the element lies inside the tensor, to which all blocks have atomic access only.
                unsafe { desired.atomic_compare_exchange(address, expected(i), C::NUMBER) }
            },
            expected,
        )
    }
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// Changes the elements at `index` where `mask` is true and they lie inside the tensor; `change` gets the value and the
    /// address, which lies inside.
    #[inline_on_device]
    #[track_caller]
    fn update_each<V, I, K, O, C>(
        &self,
        value: V,
        index: I,
        mask: K,
        change: impl Fn(T, *mut T::Bits) -> T,
    ) -> Gathered<T, E, I>
    where
        A: Concurrent,
        I: ElementIndex<E::Rank>,
        V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
        K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
        O: UpdateOrder,
        C: Scope,
    {
        let chosen = Chosen::new(self, index.prepare());
        let (value, mask) = (value.prepare::<I::Shape, I::Layout>(), mask.prepare::<I::Shape, I::Layout>());
        element_wise::update::<T, _, _, O, C>(
            |i| {
                let (address, inside) = chosen.target(i);
                (address, inside & mask.get(i))
            },
            |i, address| change(value.get(i).cast(), address),
            |_| T::ZERO,
        )
    }
}

/// For each operation the method, and the masked one.
macro_rules! updates {
    ($($(#[$attribute:meta])* $name:ident $masked:ident: $bound:ident $(::<$wanted:literal>)?;)*) => {
        /// Reads-modifies-writes by indices: the result holds the elements before. For elements that are not touched,
        /// because they are outside the tensor or their mask is false, it is zero.
        impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> { $(
            $(#[$attribute])*
            #[inline_on_device]
            #[track_caller]
            pub fn $name<V, I, O, C>(&self, value: V, index: I, order: O, scope: C) -> Gathered<T, E, I>
            where
                A: Concurrent,
                T: $bound,
                I: ElementIndex<E::Rank>,
                V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
                O: UpdateOrder,
                C: Scope,
            {
                const { assert_shared_scope::<C>() };
                let _ = (order, scope);
                self.update_each::<_, _, _, O, C>(value, index, true, |value, address| {
                    // SAFETY: the element lies inside the tensor, to which all blocks have atomic access only.
                    unsafe { value.$name$(::<$wanted>)?(address, C::NUMBER) }
                })
            }

            #[doc = concat!("[`TensorSpan::", stringify!($name), "`] where `mask` is true.")]
            #[inline_on_device]
            #[track_caller]
            pub fn $masked<V, I, K, O, C>(&self, value: V, index: I, mask: K, order: O, scope: C) -> Gathered<T, E, I>
            where
                A: Concurrent,
                T: $bound,
                I: ElementIndex<E::Rank>,
                V: Operand<T, I::Shape, I::Layout, Element: StoredAs<T>, Shape: FitsShape<I::Shape>>,
                K: Operand<bool, I::Shape, I::Layout, Element = bool, Shape: FitsShape<I::Shape>>,
                O: UpdateOrder,
                C: Scope,
            {
                const { assert_shared_scope::<C>() };
                let _ = (order, scope);
                self.update_each::<_, _, _, O, C>(value, index, mask, |value, address| {
                    // SAFETY: as above.
                    unsafe { value.$name$(::<$wanted>)?(address, C::NUMBER) }
                })
            }
        )* }
    };
}
updates! {
    /// Stores `value` at `index`, each element atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    #[doc(alias("atomic_xchg", "Xchg", "atomicExch"))]
    atomic_exchange atomic_exchange_masked: AtomicExchange;
    /// Adds `value` to the elements at `index`, each atomically, and gives the elements before.
    ///
    /// The result is zero for elements outside the tensor, which stay as they are. A histogram:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// #[kernel]
    /// fn histogram(cx: Cx, x: Span<u8, (u32,)>, counts: SpanAtomic<u32, (D<256>,)>) {
    ///     let x = x.partition(cx, shape![1024]).load(cx.bid::<0>());
    ///     let _ = counts.atomic_add(1, x, Relaxed, scope::Device);
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the common layout of the index. Each element is `atom.relaxed.gpu.global.add` (PTX ISA, "Parallel Synchronization and
    /// Communication Instructions: atom"); the other operations are `exch`, `min`, `max`, `and`, `or` and `xor`. Where the GPU has no such
    /// instruction, it is a loop of `atom.cas`. An order other than [`Relaxed`](crate::view::memory_order::order::Relaxed) adds a fence and a
    /// barrier of the block.
    #[doc(alias("AddF"))]
    atomic_add atomic_add_masked: AtomicAdd::<true>;
    /// Subtracts `value` from the elements at `index`, each atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_sub atomic_sub_masked: AtomicAdd::<true>;
    /// Stores the smaller one of `value` and each element at `index`, atomically, and gives the elements before: see
    /// [`atomic_add`](Self::atomic_add).
    #[doc(alias("Umin"))]
    atomic_min atomic_min_masked: AtomicMinMax::<true>;
    /// Stores the larger one of `value` and each element at `index`, atomically, and gives the elements before: see
    /// [`atomic_add`](Self::atomic_add).
    #[doc(alias("Umax"))]
    atomic_max atomic_max_masked: AtomicMinMax::<true>;
    /// Stores the bits that both `value` and the element at `index` have, atomically, and gives the elements before: see
    /// [`atomic_add`](Self::atomic_add).
    atomic_and atomic_and_masked: AtomicLogical::<true>;
    /// Stores the bits that `value` or the element at `index` has, atomically, and gives the elements before: see
    /// [`atomic_add`](Self::atomic_add).
    atomic_or atomic_or_masked: AtomicLogical::<true>;
    /// Stores the bits that one of `value` and the element at `index` has, atomically, and gives the elements before: see
    /// [`atomic_add`](Self::atomic_add).
    atomic_xor atomic_xor_masked: AtomicLogical::<true>;
}
