//! Atomic access through a view: each element is a separate atomic operation, in no particular order.

use super::TiledView;
use super::element_wise;
use super::index::TileIndex;
use super::located::{InMemory, Located, Part};
use super::memory_order::{ReadOrder, Scope, UpdateOrder, WriteOrder, assert_shared_scope};
use super::ownership::TakesNames;
use super::padding::Padding;
use super::transfer;
use super::traversal::Traversal;
use crate::element::{AtomicAdd, AtomicLogical, AtomicMinMax, Element, Number, StoredAs};
use crate::layout::{Block, Blocked, HeldBy};
use crate::shape::{BroadcastsTo, Shape};
use crate::span::access::{Concurrent, Writable};
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use core::time::Duration;

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
    /// Loads the elements of tile `index` atomically; the tile must lie wholly inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [1_u32, 2, 3, 4];
    /// cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
    ///     let view = span.partition(cx, shape![4]);
    ///     let tile = view.atomic_load(cx.bid::<0>(), Relaxed, scope::Device);
    ///     view.atomic_store(tile * 10, cx.bid::<0>(), Relaxed, scope::Device);
    /// });
    /// assert_eq!(numbers, [10, 20, 30, 40]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the tile does not lie wholly inside (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`]. Each element is `ld.relaxed.gpu.global`, or `ld.acquire` and a barrier of the block (PTX ISA, "Data
    /// Movement and Conversion Instructions: ld"). `.gpu` is the scope [`Device`](super::memory_order::scope::Device).
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_load<O: ReadOrder, C: Scope, I: TileIndex<E::Rank>>(
        &self,
        index: I,
        order: O,
        scope: C,
    ) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        let _ = (order, scope);
        const { Self::atomic_access_is_legal::<C, I>() };
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("atomic load", index);
        }
        self.load_each::<O, C>(&located, |_, _| true, T::ZERO)
    }

    /// Loads the elements of tile `index` atomically, with `padding` in place of elements outside the tensor.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_load_masked<P: Padding<T>, O: ReadOrder, C: Scope, I: TileIndex<E::Rank>>(
        &self,
        padding: P,
        index: I,
        order: O,
        scope: C,
    ) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        let _ = (padding, const { P::VALUE }, order, scope);
        const { Self::atomic_access_is_legal::<C, I>() };
        let located = self.locate(index);
        self.load_each::<O, C>(&located, |part, i| part.contains::<S, Blocked<B>>(i), P::VALUE)
    }

    #[inline_on_device]
    fn load_each<O: ReadOrder, C: Scope>(
        &self,
        located: &Located<T, E>,
        wanted: impl Fn(&Part<T, E>, usize) -> bool,
        padding: T,
    ) -> Tile<T, S, Blocked<B>> {
        let part = Part::new::<S, Blocked<B>>(located);
        // SAFETY: wanted elements lie inside the tensor, whose elements are aligned and valid for the kernel; the access
        // mode and the scope keep conflicts atomic.
        transfer::ordered::<B, A, _>(|| unsafe {
            element_wise::atomic_load::<T, S, Blocked<B>, O, C>(
                |i| (part.address::<S, Blocked<B>>(i), wanted(&part, i)),
                |_| padding,
            )
        })
    }

    /// An atomic access reaches the tiles of this block, or any tile of a span that is not exclusive; blocks that
    /// share one must be within its scope.
    const fn atomic_access_is_legal<C: Scope, I: TileIndex<E::Rank>>() {
        Self::tile_is_named::<I, false>();
        if !A::CONSTANT && !A::OWNED {
            assert_shared_scope::<C>();
        }
    }
}

impl<T, E, A, M, G, S, B, W, N> TiledView<TensorSpan<T, E, A, M, G>, S, B, W, N>
where
    T: Element,
    E: Extents,
    A: Concurrent,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Traversal<S>,
{
    /// Waits until `condition` is true of all elements of tile `index`, and returns them; `None` if `limit` is over before.
    ///
    /// This is how a block waits for what another one computes: that block stores its results, then a flag with
    /// [`Release`](super::memory_order::order::Release), and this one waits for the flag with [`Acquire`](super::memory_order::order::Acquire).
    /// Nothing says that blocks run at the same time: a block may hold the place that the other one needs to begin. Hence the limit, so that
    /// no kernel waits for ever. All threads get the same answer. The elements were read in the same look, each by itself. A limit of zero
    /// is one look.
    ///
    /// ```
    /// use core::time::Duration;
    /// use cuda_tiles::prelude::*;
    /// let mut numbers = [0_u32, 3];
    /// cuda_tiles::cpu::block(|cx| {
    ///     // SAFETY: the array outlives the span, and nothing else uses it meanwhile.
    ///     let flags = unsafe { SpanAtomic::<u32, (u32,)>::try_from_parts(numbers.as_mut_ptr(), &[2], &[1]) }.unwrap();
    ///     let flags = flags.partition(cx, shape![1]);
    ///     let limit = Duration::from_micros(50);
    ///     let ready = flags.atomic_wait(1, |flag| flag != 0, limit, Acquire, scope::Device);
    ///     assert_eq!(ready.map(|flag| flag.at([0])), Some(3));
    ///     assert!(flags.atomic_wait(0, |flag| flag != 0, limit, Acquire, scope::Device).is_none());
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If the tile does not lie wholly inside (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// A look is that of [`atomic_load`](Self::atomic_load), with `bar.red.and` in place of a barrier. Between two looks the threads sleep
    /// 32 nanoseconds at first, then longer (`nanosleep`). `%globaltimer` is the clock. It advances by steps of up to a microsecond (PTX ISA,
    /// "Special Registers: %globaltimer").
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("wait_until", "try_wait_for"))]
    pub fn atomic_wait<O: ReadOrder, C: Scope, I: TileIndex<E::Rank>>(
        &self,
        index: I,
        condition: impl Fn(T) -> bool + Send + Sync + 'static,
        limit: Duration,
        order: O,
        scope: C,
    ) -> Option<Tile<T, S, Blocked<B>>>
    where
        A: TakesNames<I::Naming, N>,
    {
        let _ = (order, scope);
        const { Self::atomic_access_is_legal::<C, I>() };
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("atomic wait", index);
        }
        let part = Part::new::<S, Blocked<B>>(&located);
        // SAFETY: the elements lie inside the tensor, whose elements are aligned and valid for the kernel; the access mode and the scope
        // keep conflicts atomic.
        unsafe {
            element_wise::atomic_wait::<T, S, Blocked<B>, O, C>(
                |i| part.address::<S, Blocked<B>>(i),
                condition,
                limit,
            )
        }
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
    /// Stores the elements of `value` atomically as tile `index`, which must lie wholly inside the tensor.
    ///
    /// [`atomic_load`](Self::atomic_load) has an example.
    ///
    /// # Panics
    ///
    /// If the tile does not lie wholly inside (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The value is converted to the layout [`Blocked`]. Each element is `st.relaxed.gpu.global`, or `st.release` after a barrier of the
    /// block (PTX ISA, "Data Movement and Conversion Instructions: st").
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_store<U, R, L, O, C, I>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        O: WriteOrder,
        C: Scope,
        I: TileIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        let _ = (order, scope);
        const { Self::atomic_access_is_legal::<C, I>() };
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("atomic store", index);
        }
        self.store_each::<O, C>(value.cast::<T>().spread(), &located, |_, _| true);
    }

    /// Stores atomically those elements of `value` that lie inside the tensor, as tile `index`.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_store_masked<U, R, L, O, C, I>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        O: WriteOrder,
        C: Scope,
        I: TileIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        let _ = (order, scope);
        const { Self::atomic_access_is_legal::<C, I>() };
        let located = self.locate(index);
        self.store_each::<O, C>(value.cast::<T>().spread(), &located, |part, i| {
            part.contains::<S, Blocked<B>>(i)
        });
    }

    #[inline_on_device]
    fn store_each<O: WriteOrder, C: Scope>(
        &self,
        value: Tile<T, S, Blocked<B>>,
        located: &Located<T, E>,
        wanted: impl Fn(&Part<T, E>, usize) -> bool,
    ) {
        let part = Part::new::<S, Blocked<B>>(located);
        // SAFETY: as for loads; the span is writable.
        transfer::ordered::<B, A, _>(|| unsafe {
            element_wise::atomic_store::<T, S, Blocked<B>, O, C>(
                |i| (part.address::<S, Blocked<B>>(i), wanted(&part, i)),
                |i| value.registers().get(i),
            )
        });
    }
}

/// Changes of each element of a tile, without a result: [`Relaxed`](super::memory_order::order::Relaxed) ones are the
/// fastest. To get the elements as they were before, see the atomic operations of
/// [`TensorSpan`](crate::span::TensorSpan), which take tiles of indices.
///
/// The value may have any element type that converts without loss of kind and any shape that broadcasts to the view's.
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
    /// Changes each element by `one`, or two neighbours at a time by `two`, if that is given and vectors are aligned.
    #[inline_on_device]
    fn change_each<O: UpdateOrder, C: Scope>(
        &self,
        value: Tile<T, S, Blocked<B>>,
        located: &Located<T, E>,
        wanted: impl Fn(&Part<T, E>, usize) -> bool,
        one: impl Fn(T, *mut T::Bits) -> T,
        two: Option<impl Fn([T; 2], *mut T::Bits)>,
    ) {
        let part = Part::new::<S, Blocked<B>>(located);
        let target = |i| (part.address::<S, Blocked<B>>(i), wanted(&part, i));
        let element = |i| value.registers().get(i);
        // A block's own tiles it may store to by other threads than those that change them here.
        transfer::ordered::<B, A, _>(|| {
            if let Some(two) = two.filter(|_| const { Self::VECTOR > 1 && !InMemory::<S, M>::REORDERED })
                && located.aligned
                && (Self::vectors_are_whole() || located.whole)
            {
                element_wise::change_pairs::<T, S, Blocked<B>, O, C>(target, |i, address| {
                    two([element(i), element(i + 1)], address);
                });
            } else {
                element_wise::change::<T, S, Blocked<B>, O, C>(target, |i, address| one(element(i), address));
            }
        });
    }
}

/// For each operation the method for tiles wholly inside the tensor, and the masked one.
macro_rules! changes {
    ($($(#[$attribute:meta])* $name:ident $masked:ident: $bound:ident, $operation:literal, $two:expr;)*) => {
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
        { $(
            $(#[$attribute])*
            ///
            /// The value is converted to the layout [`Blocked`]. The thread that holds an element changes it. An order other than
            /// [`Relaxed`](super::memory_order::order::Relaxed) adds `fence.acq_rel` and a barrier of the block.
            ///
            /// # Panics
            ///
            /// If the tile does not lie wholly inside the tensor (on the device: traps).
            #[inline_on_device]
            #[track_caller]
            pub fn $name<U, R, L, O, C, I>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
            where
                T: $bound,
                A: Writable,
                U: StoredAs<T>,
                R: BroadcastsTo<S>,
                L: HeldBy<B>,
                O: UpdateOrder,
                C: Scope,
                I: TileIndex<E::Rank>,
                A: TakesNames<I::Naming, N>,
            {
                let _ = (order, scope);
                const { Self::atomic_access_is_legal::<C, I>() };
                let located = self.locate(index);
                if !located.whole {
                    self.fail_bounds($operation, index);
                }
                self.change_each::<O, C>(value.cast::<T>().spread(), &located, |_, _| true, |value, address| {
                    // SAFETY: the element lies inside the tensor; conflicts are atomic by access mode and scope.
                    unsafe { value.$name::<false>(address, C::NUMBER) }
                }, $two);
            }

            #[doc = concat!("[`Self::", stringify!($name), "`] of those elements that lie inside the tensor.")]
            #[inline_on_device]
            #[track_caller]
            pub fn $masked<U, R, L, O, C, I>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
            where
                T: $bound,
                A: Writable,
                U: StoredAs<T>,
                R: BroadcastsTo<S>,
                L: HeldBy<B>,
                O: UpdateOrder,
                C: Scope,
                I: TileIndex<E::Rank>,
                A: TakesNames<I::Naming, N>,
            {
                let _ = (order, scope);
                const { Self::atomic_access_is_legal::<C, I>() };
                let located = self.locate(index);
                let inside = |part: &Part<T, E>, i| part.contains::<S, Blocked<B>>(i);
                self.change_each::<O, C>(value.cast::<T>().spread(), &located, inside, |value, address| {
                    // SAFETY: as above.
                    unsafe { value.$name::<false>(address, C::NUMBER) }
                }, $two);
            }
        )* }
    };
}
changes! {
    /// Adds the elements of `value` to those of tile `index`, each atomically.
    ///
    /// Column sums that all blocks share:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// #[kernel]
    /// fn column_sums(cx: Cx, x: Span<f32, (u32, u32)>, sums: SpanAtomic<f32, (u32,)>) {
    ///     let (x, sums) = (x.partition(cx, shape![16, 64]), sums.partition(cx, shape![64]));
    ///     for j in 0..x.num_tiles(1) {
    ///         let own = x.load_masked(Zero, (cx.bid::<0>(), j)).sum::<0>();
    ///         sums.atomic_add_masked(own.reshape(shape![64]), j, Relaxed, scope::Device);
    ///     }
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// Each element is `red.relaxed.gpu.global.add.f32`, or `.u32`, `.u64`, `.f64` (PTX ISA, "Parallel Synchronization and Communication
    /// Instructions: red"). `.gpu` is the scope [`Device`](super::memory_order::scope::Device). Two neighbours of `f16` and `bf16` are one
    /// `red.relaxed.gpu.global.add.noftz.f16x2` or `.bf16x2`, if their vector is aligned. Where the architecture has no instruction, it is
    /// a loop of `atom.cas`: [`AtomicAdd`].
    #[doc(alias("atomic_store_add"))]
    atomic_add atomic_add_masked: AtomicAdd, "atomic addition",
        // SAFETY: the pair lies inside the tensor, its vector is aligned; conflicts are atomic by access mode and scope.
        T::IN_PAIRS.then_some(|pair: [T; 2], address| unsafe { T::atomic_add_pair(pair, address, C::NUMBER) });
    /// Subtracts the elements of `value` from those of tile `index`, each atomically.
    ///
    /// # On a GPU
    ///
    /// An [`atomic_add`](Self::atomic_add) of the negative value.
    atomic_sub atomic_sub_masked: AtomicAdd, "atomic subtraction",
        // SAFETY: the pair lies inside the tensor, its vector is aligned; conflicts are atomic by access mode and scope.
        T::IN_PAIRS.then_some(|pair: [T; 2], address| unsafe { T::atomic_add_pair(pair.map(Number::neg), address, C::NUMBER) });
    /// Stores the smaller one of the elements of `value` and those of tile `index`, each atomically.
    ///
    /// # On a GPU
    ///
    /// Integers: `red.relaxed.gpu.global.min` (PTX ISA, "Parallel Synchronization and Communication Instructions: red"). Floats: a loop of
    /// `atom.relaxed.gpu.global.cas`.
    atomic_min atomic_min_masked: AtomicMinMax, "atomic minimum", None::<fn([T; 2], *mut T::Bits)>;
    /// Stores the larger one of the elements of `value` and those of tile `index`, each atomically.
    ///
    /// # On a GPU
    ///
    /// As [`atomic_min`](Self::atomic_min), with `max`.
    atomic_max atomic_max_masked: AtomicMinMax, "atomic maximum", None::<fn([T; 2], *mut T::Bits)>;
    /// Stores the bits that the elements of both `value` and tile `index` have, each atomically.
    ///
    /// # On a GPU
    ///
    /// `red.relaxed.gpu.global.and.b32` or `.b64` (PTX ISA, "Parallel Synchronization and Communication Instructions: red");
    /// [`atomic_or`](Self::atomic_or) is `or`, and [`atomic_xor`](Self::atomic_xor) is `xor`.
    atomic_and atomic_and_masked: AtomicLogical, "atomic and", None::<fn([T; 2], *mut T::Bits)>;
    /// Stores the bits that the elements of `value` or of tile `index` have, each atomically.
    atomic_or atomic_or_masked: AtomicLogical, "atomic or", None::<fn([T; 2], *mut T::Bits)>;
    /// Stores the bits that the elements of one of `value` and tile `index` have, each atomically.
    atomic_xor atomic_xor_masked: AtomicLogical, "atomic exclusive or", None::<fn([T; 2], *mut T::Bits)>;
}
