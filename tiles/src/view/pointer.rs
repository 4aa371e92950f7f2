//! Access to memory through tiles of pointers.

use super::element_wise;
use super::memory_order::{ReadOrder, Scope, UpdateOrder, WriteOrder};
use super::transfer::{self, Cache};
use crate::element::{
    AtomicAdd, AtomicExchange, AtomicLogical, AtomicMinMax, Cast, Element, FitsElement, Integer, Pointer,
    Promote,
};
use crate::layout::Layout;
use crate::ops::Operand;
use crate::ops::operand::{Fetch, Uniform};
use crate::shape::{FitsShape, Shape};
use crate::span::{Access, Alignment, Exclusive, Extents, Mapping, TensorSpan};
use crate::tile::Tile;

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// A pointer to the tensor's first element.
    #[inline(always)]
    #[doc(alias("get_raw_memory"))]
    pub fn pointer(&self) -> Pointer<T> {
        Pointer::new(self.pointer)
    }
}

/// A plain distance for all pointers of a tile.
impl<T: Element, S: Shape, L: Layout> Operand<Pointer<T>, S, L> for i64 {
    type Element = i64;
    type Shape = S;
    type Layout = L;
    type Prepared<To: Shape, M: Layout> = Uniform<i64>;
    #[inline(always)]
    fn prepare<To: Shape, M: Layout>(self) -> Uniform<i64> {
        Uniform::new(self)
    }
}

/// Arithmetic of pointers, in elements.
impl<T: Element, S: Shape, L: Layout> Tile<Pointer<T>, S, L> {
    /// The pointers `count` elements further: a tile of integers that broadcasts with this one, or an `i64`.
    #[inline(always)]
    #[doc(alias("addptr"))]
    pub fn offset<R>(self, count: R) -> Tile<Pointer<T>, R::Shape, R::Layout>
    where
        R: Operand<Pointer<T>, S, L, Element: Integer + Cast<i64>>,
    {
        count.combine(self, |pointer, count| pointer.offset(count.cast()))
    }

    /// How many elements further these pointers are than `origin`, a tile of pointers or a pointer.
    #[inline(always)]
    pub fn offset_from<R>(self, origin: R) -> Tile<i64, R::Shape, R::Layout>
    where
        R: Operand<Pointer<T>, S, L, Element = Pointer<T>>,
    {
        origin.combine(self, Pointer::offset_from)
    }
}

/// Access through pointers.
///
/// Masks, padding and values are tiles that broadcast to the shape of the pointers, or plain values. Plain accesses of one
/// block happen in the order of the program: loads see the block's earlier stores.
impl<T: Element, S: Shape, L: Layout> Tile<Pointer<T>, S, L> {
    /// Loads the elements.
    ///
    /// # Safety
    /// The pointers are aligned, point to elements of tensors that the launch has lent to this kernel, and no other block
    /// writes these during the kernel.
    #[inline(always)]
    #[doc(alias("load_offset", "load_ptr_tko"))]
    pub unsafe fn load(self) -> Tile<T, S, L> {
        // SAFETY: the same contract.
        unsafe { self.load_masked(T::ZERO, true) }
    }

    /// Loads the elements where `mask` is true; `padding` elsewhere.
    ///
    /// # Safety
    /// As for [`load`](Self::load), of the elements where `mask` is true.
    #[inline(always)]
    pub unsafe fn load_masked<P, K>(self, padding: P, mask: K) -> Tile<T, S, L>
    where
        P: Operand<T, S, L, Element = T, Shape: FitsShape<S>>,
        K: Operand<bool, S, L, Element = bool, Shape: FitsShape<S>>,
    {
        let (padding, mask) = (padding.prepare::<S, L>(), mask.prepare::<S, L>());
        transfer::ordered::<L::Block, Exclusive, _>(|| {
            // SAFETY: the caller vouches for it.
            unsafe {
                element_wise::load(
                    Cache::Ordinary,
                    |i| (self.registers().get(i).get(), mask.get(i)),
                    |i| padding.get(i),
                )
            }
        })
    }

    /// Stores `value`.
    ///
    /// # Safety
    /// The pointers are aligned, point to different elements of tensors that the launch has lent to this kernel for
    /// writing, and no other block accesses these during the kernel.
    #[inline(always)]
    #[doc(alias("store_offset", "store_ptr_tko"))]
    pub unsafe fn store<V>(self, value: V)
    where
        V: Operand<T, S, L, Shape: FitsShape<S>>,
        V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
    {
        // SAFETY: the same contract.
        unsafe { self.store_masked(value, true) }
    }

    /// Stores `value` where `mask` is true.
    ///
    /// # Safety
    /// As for [`store`](Self::store), of the elements where `mask` is true.
    #[inline(always)]
    pub unsafe fn store_masked<V, K>(self, value: V, mask: K)
    where
        V: Operand<T, S, L, Shape: FitsShape<S>>,
        V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        K: Operand<bool, S, L, Element = bool, Shape: FitsShape<S>>,
    {
        let (value, mask) = (value.prepare::<S, L>(), mask.prepare::<S, L>());
        // SAFETY: the caller vouches for it.
        unsafe {
            element_wise::store::<T, S, L>(
                |i| (self.registers().get(i).get(), mask.get(i)),
                |i| value.get(i).cast(),
            )
        }
    }

    /// Loads the elements atomically.
    ///
    /// # Safety
    /// The pointers are aligned, point to elements of tensors that the launch has lent to this kernel, and whoever writes
    /// these concurrently does so by atomic operations, within `scope`.
    #[inline(always)]
    pub unsafe fn atomic_load<O: ReadOrder, C: Scope>(self, order: O, scope: C) -> Tile<T, S, L> {
        // SAFETY: the same contract.
        unsafe { self.atomic_load_masked(T::ZERO, true, order, scope) }
    }

    /// Loads the elements atomically where `mask` is true; `padding` elsewhere.
    ///
    /// # Safety
    /// As for [`atomic_load`](Self::atomic_load), of the elements where `mask` is true.
    #[inline(always)]
    pub unsafe fn atomic_load_masked<P, K, O, C>(
        self,
        padding: P,
        mask: K,
        order: O,
        scope: C,
    ) -> Tile<T, S, L>
    where
        P: Operand<T, S, L, Element = T, Shape: FitsShape<S>>,
        K: Operand<bool, S, L, Element = bool, Shape: FitsShape<S>>,
        O: ReadOrder,
        C: Scope,
    {
        let _ = (order, scope);
        let (padding, mask) = (padding.prepare::<S, L>(), mask.prepare::<S, L>());
        // SAFETY: the caller vouches for it.
        unsafe {
            element_wise::atomic_load::<T, S, L, O, C>(
                |i| (self.registers().get(i).get(), mask.get(i)),
                |i| padding.get(i),
            )
        }
    }

    /// Stores `value` atomically.
    ///
    /// # Safety
    /// The pointers are aligned, point to elements of tensors that the launch has lent to this kernel for writing, and
    /// whoever accesses these concurrently does so by atomic operations, within `scope`.
    #[inline(always)]
    pub unsafe fn atomic_store<V, O, C>(self, value: V, order: O, scope: C)
    where
        V: Operand<T, S, L, Shape: FitsShape<S>>,
        V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        O: WriteOrder,
        C: Scope,
    {
        // SAFETY: the same contract.
        unsafe { self.atomic_store_masked(value, true, order, scope) }
    }

    /// Stores `value` atomically where `mask` is true.
    ///
    /// # Safety
    /// As for [`atomic_store`](Self::atomic_store), of the elements where `mask` is true.
    #[inline(always)]
    pub unsafe fn atomic_store_masked<V, K, O, C>(self, value: V, mask: K, order: O, scope: C)
    where
        V: Operand<T, S, L, Shape: FitsShape<S>>,
        V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        K: Operand<bool, S, L, Element = bool, Shape: FitsShape<S>>,
        O: WriteOrder,
        C: Scope,
    {
        let _ = (order, scope);
        let (value, mask) = (value.prepare::<S, L>(), mask.prepare::<S, L>());
        // SAFETY: the caller vouches for it.
        unsafe {
            element_wise::atomic_store::<T, S, L, O, C>(
                |i| (self.registers().get(i).get(), mask.get(i)),
                |i| value.get(i).cast(),
            )
        }
    }

    /// Stores `desired` where the element has the bits of `expected`, each atomically: the elements before.
    ///
    /// # Safety
    /// As for [`atomic_store`](Self::atomic_store).
    #[inline(always)]
    pub unsafe fn atomic_compare_exchange<X, V, O, C>(
        self,
        expected: X,
        desired: V,
        order: O,
        scope: C,
    ) -> Tile<T, S, L>
    where
        T: AtomicExchange,
        X: Operand<T, S, L, Shape: FitsShape<S>>,
        X::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        V: Operand<T, S, L, Shape: FitsShape<S>>,
        V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        O: UpdateOrder,
        C: Scope,
    {
        // SAFETY: the same contract.
        unsafe { self.atomic_compare_exchange_masked(expected, desired, true, order, scope) }
    }

    /// [`atomic_compare_exchange`](Self::atomic_compare_exchange) where `mask` is true; elsewhere the result is `expected`.
    ///
    /// # Safety
    /// As for [`atomic_store`](Self::atomic_store), of the elements where `mask` is true.
    #[inline(always)]
    pub unsafe fn atomic_compare_exchange_masked<X, V, K, O, C>(
        self,
        expected: X,
        desired: V,
        mask: K,
        order: O,
        scope: C,
    ) -> Tile<T, S, L>
    where
        T: AtomicExchange,
        X: Operand<T, S, L, Shape: FitsShape<S>>,
        X::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        V: Operand<T, S, L, Shape: FitsShape<S>>,
        V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
        K: Operand<bool, S, L, Element = bool, Shape: FitsShape<S>>,
        O: UpdateOrder,
        C: Scope,
    {
        let _ = (order, scope);
        let (expected, desired, mask) =
            (expected.prepare::<S, L>(), desired.prepare::<S, L>(), mask.prepare::<S, L>());
        let expected = |i| Cast::<T>::cast(expected.get(i));
        element_wise::update::<T, S, L, O, C>(
            |i| (self.registers().get(i).get(), mask.get(i)),
            |i, address| {
                let desired: T = desired.get(i).cast();
                // SAFETY: the caller vouches for it.
                unsafe { desired.atomic_compare_exchange(address, expected(i), C::NUMBER) }
            },
            expected,
        )
    }
}

/// For each operation the method, and the masked one.
macro_rules! updates {
    ($($(#[$attribute:meta])* $name:ident $masked:ident: $bound:ident $(::<$wanted:literal>)?;)*) => {
        /// Reads-modifies-writes through pointers: the result holds the elements before, and zero where a mask is false.
        impl<T: Element, S: Shape, L: Layout> Tile<Pointer<T>, S, L> { $(
            $(#[$attribute])*
            ///
            /// # Safety
            /// As for [`atomic_store`](Self::atomic_store).
            #[inline(always)]
            pub unsafe fn $name<V, O, C>(self, value: V, order: O, scope: C) -> Tile<T, S, L>
            where
                T: $bound,
                V: Operand<T, S, L, Shape: FitsShape<S>>,
                V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
                O: UpdateOrder,
                C: Scope,
            {
                // SAFETY: the same contract.
                unsafe { self.$masked(value, true, order, scope) }
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") where `mask` is true.")]
            ///
            /// # Safety
            /// As for [`atomic_store`](Self::atomic_store), of the elements where `mask` is true.
            #[inline(always)]
            pub unsafe fn $masked<V, K, O, C>(self, value: V, mask: K, order: O, scope: C) -> Tile<T, S, L>
            where
                T: $bound,
                V: Operand<T, S, L, Shape: FitsShape<S>>,
                V::Element: Promote<T, Output: FitsElement<T>> + Cast<T>,
                K: Operand<bool, S, L, Element = bool, Shape: FitsShape<S>>,
                O: UpdateOrder,
                C: Scope,
            {
                let _ = (order, scope);
                let (value, mask) = (value.prepare::<S, L>(), mask.prepare::<S, L>());
                element_wise::update::<T, S, L, O, C>(
                    |i| (self.registers().get(i).get(), mask.get(i)),
                    |i, address| {
                        let value: T = value.get(i).cast();
                        // SAFETY: the caller vouches for it.
                        unsafe { value.$name$(::<$wanted>)?(address, C::NUMBER) }
                    },
                    |_| T::ZERO,
                )
            }
        )* }
    };
}
updates! {
    /// Stores `value`, each element atomically: the elements before.
    atomic_exchange atomic_exchange_masked: AtomicExchange;
    /// Adds `value`, each element atomically: the elements before.
    atomic_add atomic_add_masked: AtomicAdd::<true>;
    /// Subtracts `value`, each element atomically: the elements before.
    atomic_sub atomic_sub_masked: AtomicAdd::<true>;
    /// Stores the smaller one of `value` and the elements, each atomically: the elements before.
    atomic_min atomic_min_masked: AtomicMinMax::<true>;
    /// Stores the larger one of `value` and the elements, each atomically: the elements before.
    atomic_max atomic_max_masked: AtomicMinMax::<true>;
    /// Stores the bits that both `value` and the elements have, each atomically: the elements before.
    atomic_and atomic_and_masked: AtomicLogical::<true>;
    /// Stores the bits that `value` or the elements have, each atomically: the elements before.
    atomic_or atomic_or_masked: AtomicLogical::<true>;
    /// Stores the bits that one of `value` and the elements has, each atomically: the elements before.
    atomic_xor atomic_xor_masked: AtomicLogical::<true>;
}
