//! Access to memory through tiles of pointers.

use super::element_wise;
use super::memory_order::{ReadOrder, Scope, UpdateOrder, WriteOrder};
use super::transfer::{self, Cache};
use crate::element::{
    AtomicAdd, AtomicExchange, AtomicLogical, AtomicMinMax, Cast, Element, Integer, Pointer, StoredAs,
};
use crate::layout::Layout;
use crate::ops::Operand;
use crate::ops::operand::{Fetch, Uniform};
use crate::shape::{FitsShape, Shape};
use crate::span::{Access, Alignment, Exclusive, Extents, Mapping, TensorSpan};
use crate::tile::Tile;

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment> TensorSpan<T, E, A, M, G> {
    /// A pointer to the tensor's first element.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[10, 20, 30, 40], [4], |cx, span: Span<i32, (u32,)>| {
    ///     let pointers = cx.full(shape![2], span.pointer()).offset(cx.tile_of([3, 1]));
    ///     // SAFETY: both pointers point into the tensor, which nothing writes.
    ///     let tile = unsafe { pointers.load() };
    ///     assert_eq!((tile.at([0]), tile.at([1])), (40, 20));
    /// });
    /// ```
    #[inline_on_device]
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
    #[inline_on_device]
    fn prepare<To: Shape, M: Layout>(self) -> Uniform<i64> {
        Uniform::new(self)
    }
}

/// Arithmetic of pointers, in elements.
impl<T: Element, S: Shape, L: Layout> Tile<Pointer<T>, S, L> {
    /// The pointers `count` elements further.
    ///
    /// `count` is an `i64`, or a tile of integers, which broadcasts with this tile. The result may point anywhere; only an access needs a
    /// valid pointer.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[10, 20, 30, 40], [4], |cx, span: Span<i32, (u32,)>| {
    ///     let first = cx.full(shape![2], span.pointer());
    ///     let further = first.offset(cx.tile_of([3, -1]));
    ///     assert_eq!(further.offset_from(first).at([0]), 3);
    ///     assert_eq!(further.offset_from(span.pointer()).at([1]), -1);
    /// });
    /// ```
    #[inline_on_device]
    #[doc(alias("addptr"))]
    pub fn offset<R>(self, count: R) -> Tile<Pointer<T>, R::Shape, R::Layout>
    where
        R: Operand<Pointer<T>, S, L, Element: Integer + Cast<i64>>,
    {
        count.combine(self, |pointer, count| pointer.offset(count.cast()))
    }

    /// The number of elements from `origin`, a tile of pointers or one pointer, to these pointers.
    ///
    /// [`offset`](Self::offset) has an example.
    #[inline_on_device]
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
    /// [`TensorSpan::pointer`] has an example.
    ///
    /// # Safety
    ///
    /// * The pointers are aligned, and point to elements of tensors that the launch has lent to this kernel.
    /// * No other block writes these elements during the kernel.
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the pointers. Each element is one `ld.global.b32`, or `.b64`, `.b16`, `.b8` (PTX ISA, "Data Movement and
    /// Conversion Instructions: ld").
    #[inline_on_device]
    #[doc(alias("load_offset", "load_ptr_tko"))]
    pub unsafe fn load(self) -> Tile<T, S, L> {
        // SAFETY: the same contract.
        unsafe { self.load_masked(T::ZERO, true) }
    }

    /// Loads the elements where `mask` is true, with `padding` elsewhere.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[10, 20], [2], |cx, span: Span<i32, (u32,)>| {
    ///     let i = cx.tile_of([0, 1, 2, 3]);
    ///     let pointers = cx.full(shape![4], span.pointer()).offset(i);
    ///     // SAFETY: the pointers whose mask is true point into the tensor, which nothing writes.
    ///     let tile = unsafe { pointers.load_masked(-1, i.lt(2)) };
    ///     assert_eq!((tile.at([1]), tile.at([2])), (20, -1));
    /// });
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`load`](Self::load), of the elements where `mask` is true.
    #[inline_on_device]
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
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0_i32; 4];
    /// cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<i32, (u32,)>| {
    ///     let pointers = cx.full(shape![2], span.pointer()).offset(cx.tile_of([3, 1]));
    ///     // SAFETY: two different elements of a writable tensor, and this is the only block.
    ///     unsafe { pointers.store(cx.tile_of([5, 6])) };
    /// });
    /// assert_eq!(numbers, [0, 6, 0, 5]);
    /// ```
    ///
    /// # Safety
    ///
    /// * The pointers are aligned, and point to different elements of tensors that the launch has lent to this kernel for writing.
    /// * No other block accesses these elements during the kernel.
    ///
    /// # On a GPU
    ///
    /// Each element is one `st.global.b32`, or `.b64`, `.b16`, `.b8` (PTX ISA, "Data Movement and Conversion Instructions: st").
    #[inline_on_device]
    #[doc(alias("store_offset", "store_ptr_tko"))]
    pub unsafe fn store<V>(self, value: V)
    where
        V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
    {
        // SAFETY: the same contract.
        unsafe { self.store_masked(value, true) }
    }

    /// Stores `value` where `mask` is true.
    ///
    /// # Safety
    ///
    /// As for [`store`](Self::store), of the elements where `mask` is true.
    #[inline_on_device]
    pub unsafe fn store_masked<V, K>(self, value: V, mask: K)
    where
        V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
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
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [1_u32, 2];
    /// cpu::block_on_mut(&mut numbers, [2], |cx, span: SpanMut<u32, (u32,)>| {
    ///     let pointers = cx.full(shape![2], span.pointer()).offset(cx.tile_of([1, 0]));
    ///     // SAFETY: the pointers point into a writable tensor, and this is the only block.
    ///     unsafe {
    ///         let tile = pointers.atomic_load(Relaxed, scope::Device);
    ///         pointers.atomic_store(tile * 10, Relaxed, scope::Device);
    ///     }
    /// });
    /// assert_eq!(numbers, [10, 20]);
    /// ```
    ///
    /// # Safety
    ///
    /// * The pointers are aligned, and point to elements of tensors that the launch has lent to this kernel.
    /// * Whoever writes these elements concurrently does so by atomic operations, within `scope`.
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the pointers. Each element is `ld.relaxed.gpu.global`, or `ld.acquire` and a barrier of the block (PTX ISA,
    /// "Data Movement and Conversion Instructions: ld"). `.gpu` is the scope [`Device`](super::memory_order::scope::Device).
    #[inline_on_device]
    pub unsafe fn atomic_load<O: ReadOrder, C: Scope>(self, order: O, scope: C) -> Tile<T, S, L> {
        // SAFETY: the same contract.
        unsafe { self.atomic_load_masked(T::ZERO, true, order, scope) }
    }

    /// Loads the elements atomically where `mask` is true, with `padding` elsewhere.
    ///
    /// # Safety
    ///
    /// As for [`atomic_load`](Self::atomic_load), of the elements where `mask` is true.
    #[inline_on_device]
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
    /// [`atomic_load`](Self::atomic_load) has an example.
    ///
    /// # Safety
    ///
    /// * The pointers are aligned, and point to elements of tensors that the launch has lent to this kernel for writing.
    /// * Whoever accesses these elements concurrently does so by atomic operations, within `scope`.
    ///
    /// # On a GPU
    ///
    /// Each element is `st.relaxed.gpu.global`, or `st.release` after a barrier of the block (PTX ISA, "Data Movement and Conversion
    /// Instructions: st").
    #[inline_on_device]
    pub unsafe fn atomic_store<V, O, C>(self, value: V, order: O, scope: C)
    where
        V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
        O: WriteOrder,
        C: Scope,
    {
        // SAFETY: the same contract.
        unsafe { self.atomic_store_masked(value, true, order, scope) }
    }

    /// Stores `value` atomically where `mask` is true.
    ///
    /// # Safety
    ///
    /// As for [`atomic_store`](Self::atomic_store), of the elements where `mask` is true.
    #[inline_on_device]
    pub unsafe fn atomic_store_masked<V, K, O, C>(self, value: V, mask: K, order: O, scope: C)
    where
        V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
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

    /// Stores `desired` where the element has the bits of `expected`, each element atomically, and gives the elements before.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut slots = [0_u32, 7];
    /// cpu::block_on_mut(&mut slots, [2], |cx, span: SpanMut<u32, (u32,)>| {
    ///     let pointers = cx.full(shape![2], span.pointer()).offset(cx.tile_of([0, 1]));
    ///     // SAFETY: the pointers point into a writable tensor, and this is the only block.
    ///     let before = unsafe { pointers.atomic_compare_exchange(0, 9, Relaxed, scope::Device) };
    ///     assert_eq!((before.at([0]), before.at([1])), (0, 7));
    /// });
    /// assert_eq!(slots, [9, 7]);
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`atomic_store`](Self::atomic_store).
    ///
    /// # On a GPU
    ///
    /// Each element is `atom.relaxed.gpu.global.cas` (PTX ISA, "Parallel Synchronization and Communication Instructions: atom"). An order other
    /// than [`Relaxed`](super::memory_order::order::Relaxed) adds a fence and a barrier of the block.
    #[inline_on_device]
    pub unsafe fn atomic_compare_exchange<X, V, O, C>(
        self,
        expected: X,
        desired: V,
        order: O,
        scope: C,
    ) -> Tile<T, S, L>
    where
        T: AtomicExchange,
        X: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
        V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
        O: UpdateOrder,
        C: Scope,
    {
        // SAFETY: the same contract.
        unsafe { self.atomic_compare_exchange_masked(expected, desired, true, order, scope) }
    }

    /// The [`atomic_compare_exchange`](Self::atomic_compare_exchange) where `mask` is true; elsewhere the result is `expected`.
    ///
    /// # Safety
    ///
    /// As for [`atomic_store`](Self::atomic_store), of the elements where `mask` is true.
    #[inline_on_device]
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
        X: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
        V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
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
            #[inline_on_device]
            pub unsafe fn $name<V, O, C>(self, value: V, order: O, scope: C) -> Tile<T, S, L>
            where
                T: $bound,
                V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
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
            #[inline_on_device]
            pub unsafe fn $masked<V, K, O, C>(self, value: V, mask: K, order: O, scope: C) -> Tile<T, S, L>
            where
                T: $bound,
                V: Operand<T, S, L, Element: StoredAs<T>, Shape: FitsShape<S>>,
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
    /// Stores `value`, each element atomically, and gives the elements before.
    ///
    /// [`atomic_add`](Self::atomic_add) has an example, and the instruction.
    atomic_exchange atomic_exchange_masked: AtomicExchange;
    /// Adds `value`, each element atomically, and gives the elements before.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut counts = [0_u32; 2];
    /// cpu::block_on_mut(&mut counts, [2], |cx, span: SpanMut<u32, (u32,)>| {
    ///     let pointers = cx.full(shape![4], span.pointer()).offset(cx.tile_of([0, 1, 1, 1]));
    ///     // SAFETY: the pointers point into a writable tensor, and this is the only block.
    ///     let _ = unsafe { pointers.atomic_add(1, Relaxed, scope::Device) };
    /// });
    /// assert_eq!(counts, [1, 3]);
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the pointers. Each element is `atom.relaxed.gpu.global.add` (PTX ISA, "Parallel Synchronization and
    /// Communication Instructions: atom"); the other operations are `exch`, `min`, `max`, `and`, `or` and `xor`. Where the GPU has no such
    /// instruction, it is a loop of `atom.cas`. An order other than [`Relaxed`](super::memory_order::order::Relaxed) adds a fence and a
    /// barrier of the block.
    atomic_add atomic_add_masked: AtomicAdd::<true>;
    /// Subtracts `value`, each element atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_sub atomic_sub_masked: AtomicAdd::<true>;
    /// Stores the smaller one of `value` and each element, atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_min atomic_min_masked: AtomicMinMax::<true>;
    /// Stores the larger one of `value` and each element, atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_max atomic_max_masked: AtomicMinMax::<true>;
    /// Stores the bits that both `value` and the element have, atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_and atomic_and_masked: AtomicLogical::<true>;
    /// Stores the bits that `value` or the element has, atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_or atomic_or_masked: AtomicLogical::<true>;
    /// Stores the bits that one of `value` and the element has, atomically, and gives the elements before: see [`atomic_add`](Self::atomic_add).
    atomic_xor atomic_xor_masked: AtomicLogical::<true>;
}
