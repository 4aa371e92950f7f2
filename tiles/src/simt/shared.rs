//! Shared memory: on the multiprocessor, seen by the threads of one block, some twenty times faster than global memory.

use super::Thread;
use crate::arch::messages::Failure;
use crate::arch::{execution, order, threads};
use crate::context::{Cx, barrier, uses_memory_of_cta};
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::protocol::SHARED;
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;

/// Static shared memory that every GPU grants a block, in bytes.
const MOST_BYTES: usize = 48 * 1024;

/// `N` elements of shared memory, for the time of [`Cx::shared`](SharedMemory::shared)'s closure.
///
/// Operations on tiles are the whole block's. Each waits for all threads before and after, so that it sees all earlier writes, and
/// races with nothing. Operations that take a [`Thread`] are for [`Cx::simt`], where the kernel keeps the order.
pub struct Shared<'a, T, const N: usize, B> {
    address: threads::Address,
    scope: PhantomData<(&'a [T; N], B)>,
    // Not `Send`: closures that run on single elements must not get hold of it.
    local: PhantomData<*const ()>,
}

impl<T, const N: usize, B> Clone for Shared<'_, T, N, B> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize, B> Copy for Shared<'_, T, N, B> {}

/// Elements that can be added in shared memory: 32- and 64-bit integers, which wrap, `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` cannot be added atomically in shared memory",
    label = "expected i32, i64, u32, u64, f32 or f64",
    note = "count in a wider type: `.cast::<u32>()`"
)]
pub trait SharedSum: Element {
    /// Adds `self` at `address`, and gives the old value.
    ///
    /// # Safety
    /// `address` lies in shared memory of this block, naturally aligned, with atomic accesses alone.
    #[doc(hidden)]
    unsafe fn add_shared(self, address: threads::Address) -> Self;
}

macro_rules! sums {
    ($($type:ident $instruction:ident $as:ident;)*) => { $(
        impl SharedSum for $type {
            #[inline_on_device]
            unsafe fn add_shared(self, address: threads::Address) -> Self {
                // SAFETY: the same contract. Signed integers add as unsigned ones do.
                unsafe { threads::$instruction(address, self as $as) as $type }
            }
        }
    )* };
}
sums! {
    i32 add_u32 u32;
    u32 add_u32 u32;
    i64 add_u64 u64;
    u64 add_u64 u64;
    f32 add_f32 f32;
    f64 add_f64 f64;
}

/// Shared memory for a closure: `cx.shared::<u32, 256>(|bins| ...)`.
///
/// The result `R` of the closure is a parameter of this trait, and not of its method. A call therefore names the element type and the
/// number of elements alone.
pub trait SharedMemory<R>: Sealed + Sized {
    /// The block that shares the memory.
    type Block: Block;

    /// Runs `body` with `N` elements of shared memory.
    ///
    /// The elements are undefined at first: [`fill`](Shared::fill) or [`store`](Shared::store) them.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let reversed = cx.shared::<i32, 8>(|memory| {
    ///         memory.store(cx.iota::<i32>(shape![8]));
    ///         memory.gather(cx.full(shape![2, 4], 7u32) - cx.iota::<u32>(shape![2, 4]))
    ///     });
    ///     assert_eq!([reversed.at([0, 0]), reversed.at([1, 3])], [7, 0]);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Each call in the source has memory of its own. A kernel has 48 KiB altogether, with the memory that tile operations use (21 KiB at most).
    /// A kernel that needs more does not assemble.
    ///
    /// # Panics
    ///
    /// A call must have ended before it is reached again: the levels of a recursion would have one memory for all of them. On the CPU that
    /// panics. On a GPU it is not checked, and the inner level writes to the outer one's elements.
    #[track_caller]
    fn shared<T: Element, const N: usize>(self, body: impl FnOnce(Shared<'_, T, N, Self::Block>) -> R) -> R;
}

impl<B: Block, R> SharedMemory<R> for Cx<B> {
    type Block = B;

    #[inline_on_device]
    #[track_caller]
    fn shared<T: Element, const N: usize>(self, body: impl FnOnce(Shared<'_, T, N, B>) -> R) -> R {
        const {
            assert!(
                N * size_of::<T::Bits>() <= MOST_BYTES,
                "a block has at most 48 KiB of static shared memory: use fewer elements"
            )
        };
        uses_memory_of_cta::<B>();
        // SAFETY: `self` stands for the block, all threads of which are here.
        unsafe {
            threads::with_shared::<T::Bits, N, _, R>(T::ZERO.to_bits(), |address| {
                body(Shared { address, scope: PhantomData, local: PhantomData })
            })
        }
    }
}

/// The element at `address`.
///
/// # Safety
/// Memory for an element lies there, shared by the block, which no thread writes.
#[inline_on_device]
pub(crate) unsafe fn load_element<T: Element>(address: threads::Address) -> T {
    let mut bits = T::ZERO.to_bits();
    let target = core::ptr::from_mut(&mut bits).cast::<u8>();
    // SAFETY: the caller's contract; the target has this size, and all bits are valid `Bits`.
    unsafe {
        match size_of::<T::Bits>() {
            1 => target.write(threads::load_1(address)),
            2 => target.cast::<u16>().write(threads::load_2(address)),
            4 => target.cast::<u32>().write(threads::load_4(address)),
            _ => target.cast::<u64>().write(threads::load_8(address)),
        }
    }
    T::from_bits(bits)
}

/// Sets the element at `address`.
///
/// # Safety
/// Memory for an element lies there, shared by the block, which no other thread accesses.
#[inline_on_device]
pub(crate) unsafe fn store_element<T: Element>(address: threads::Address, value: T) {
    let bits = value.to_bits();
    let source = core::ptr::from_ref(&bits).cast::<u8>();
    // SAFETY: the caller's contract; bits are plain integers of this size.
    unsafe {
        match size_of::<T::Bits>() {
            1 => threads::store_1(address, source.read()),
            2 => threads::store_2(address, source.cast::<u16>().read()),
            4 => threads::store_4(address, source.cast::<u32>().read()),
            _ => threads::store_8(address, source.cast::<u64>().read()),
        }
    }
}

/// Fails, as this is no index of shared memory.
#[inline_on_device]
#[track_caller]
fn outside(index: u32, length: usize) -> ! {
    let mut failure = Failure::new("", SHARED);
    failure.number(u64::from(index));
    failure.number(length as u64);
    failure.end()
}

impl<T: Element, const N: usize, B: Block> Shared<'_, T, N, B> {
    /// Waits for the block.
    #[inline_on_device]
    fn barrier(&self) {
        // SAFETY: the handle is not `Send`, so that it is used in code of the whole block alone; in `Cx::simt` that all
        // threads reach it is part of the contract.
        unsafe { barrier::<B>() }
    }

    /// The address of element `index`.
    #[inline_on_device]
    fn address(&self, index: usize) -> threads::Address {
        threads::offset(self.address, index * size_of::<T::Bits>())
    }

    /// # Safety
    /// `index` is below `N`, and no thread writes the element.
    #[inline_on_device]
    unsafe fn read(&self, index: usize) -> T {
        // SAFETY: the caller's contract.
        unsafe { load_element(self.address(index)) }
    }

    /// # Safety
    /// `index` is below `N`, and no other thread accesses the element.
    #[inline_on_device]
    unsafe fn write(&self, index: usize, value: T) {
        // SAFETY: the caller's contract.
        unsafe { store_element(self.address(index), value) }
    }

    /// Sets all elements to `value`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles::simt::Shared;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let tile = cx.shared(|memory: Shared<'_, i32, 8, _>| {
    ///         memory.fill(5);
    ///         memory.store(cx.tile_of([1, 2]));
    ///         memory.load(shape![4])
    ///     });
    ///     assert_eq!([0, 1, 2, 3].map(|k| tile.at([k])), [1, 2, 5, 5]);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// `st.shared` between two barriers (PTX ISA, "Data Movement and Conversion Instructions: st").
    #[inline_on_device]
    pub fn fill(&self, value: T) {
        self.barrier();
        let threads = const { <B::Threads as PowerOfTwo>::COUNT };
        let mut index = execution::thread();
        while index < N {
            // SAFETY: the index is below `N`; threads have different ones, between two barriers.
            unsafe { self.write(index, value) };
            index += threads;
        }
        self.barrier();
    }

    /// Stores a tile, in row-major order from element 0 on.
    ///
    /// A tile of more than `N` elements does not compile. [`fill`](Self::fill) has an example, and the instruction.
    #[inline_on_device]
    pub fn store<S: Shape, L: Layout<Block = B>>(&self, tile: Tile<T, S, L>) {
        const { assert!(S::LEN <= N, "the tile is larger than the shared memory") };
        self.barrier();
        self.visit(tile, |flat, value| {
            // SAFETY: the number is below the tile's length; each element has one thread, between two barriers.
            unsafe { self.write(flat, value) }
        });
        self.barrier();
    }

    /// Loads a tile, in row-major order from element 0 on.
    ///
    /// A tile of more than `N` elements does not compile. [`fill`](Self::fill) has an example.
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`]. `ld.shared` between two barriers (PTX ISA, "Data Movement and Conversion Instructions: ld").
    #[inline_on_device]
    pub fn load<S: Shape>(&self, _shape: S) -> Tile<T, S, Blocked<B>> {
        const { assert!(S::LEN <= N, "the tile is larger than the shared memory") };
        order::reveals_shared();
        self.barrier();
        let own = Map::<Blocked<B>, S>::MAP.of_thread.apply(execution::thread());
        let map = const { &Map::<Blocked<B>, S>::MAP };
        // SAFETY: the number is below the tile's length; nobody writes between two barriers.
        let tile = Tile::from_registers_fn(|i| unsafe { self.read(own | map.of_register.apply(i)) });
        self.barrier();
        tile
    }

    /// The elements with these numbers.
    ///
    /// [`Cx::shared`] has an example.
    ///
    /// # Panics
    ///
    /// If a number is not below `N` (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the numbers.
    #[inline_on_device]
    #[track_caller]
    pub fn gather<S: Shape, L: Layout<Block = B>>(&self, numbers: Tile<u32, S, L>) -> Tile<T, S, L> {
        order::reveals_shared();
        self.barrier();
        let tile = Tile::from_registers_fn(|i| {
            let number = numbers.registers().get(i);
            if number as usize >= N {
                outside(number, N)
            }
            // SAFETY: the number is below `N`; nobody writes between two barriers.
            unsafe { self.read(number as usize) }
        });
        self.barrier();
        tile
    }

    /// Adds `value` to the elements with these numbers, once for each number.
    ///
    /// A number that is not below `N` adds nothing.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles::simt::Shared;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let counts = cx.shared(|bins: Shared<'_, u32, 4, _>| {
    ///         bins.fill(0);
    ///         bins.add(cx.tile_of([0_u32, 2, 2, 9]), 1);
    ///         bins.load(shape![4])
    ///     });
    ///     assert_eq!([0, 1, 2, 3].map(|k| counts.at([k])), [1, 0, 2, 0]);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// Integers wrap. Sums of floats depend on their order, which is any.
    ///
    /// # On a GPU
    ///
    /// `atom.shared.add` between two barriers (PTX ISA, "Parallel Synchronization and Communication Instructions: atom").
    #[inline_on_device]
    pub fn add<S: Shape, L: Layout<Block = B>>(&self, numbers: Tile<u32, S, L>, value: T)
    where
        T: SharedSum,
    {
        self.add_each(numbers, Tile::<T, S, L>::full(value));
    }

    /// Adds each value to the element with the number in the same place.
    ///
    /// A number that is not below `N` adds nothing. [`add`](Self::add) has an example.
    #[inline_on_device]
    pub fn add_each<S: Shape, L: Layout<Block = B>, M: Layout<Block = B>>(
        &self,
        numbers: Tile<u32, S, L>,
        values: Tile<T, S, M>,
    ) where
        T: SharedSum,
    {
        let values = values.spread::<S, L>();
        self.barrier();
        let mut register = 0;
        self.visit(numbers, |_, number| {
            if (number as usize) < N {
                // SAFETY: the number is below `N`; between two barriers there are atomic accesses alone.
                unsafe { values.registers().get(register).add_shared(self.address(number as usize)) };
            }
            register += 1;
        });
        self.barrier();
    }

    /// Calls `visit` for the elements that this thread holds, the first thread of those that hold copies.
    #[inline_on_device]
    fn visit<U: Element, S: Shape, L: Layout<Block = B>>(
        &self,
        tile: Tile<U, S, L>,
        visit: impl FnMut(usize, U),
    ) {
        Thread { block: PhantomData, local: PhantomData }.visit(tile, visit);
    }

    /// Element `index`, for one thread.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles::simt::Shared;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let element = cx.shared(|memory: Shared<'_, i32, 4, _>| {
    ///         // SAFETY: one thread sets the element, and all threads reach the barrier before they get it.
    ///         unsafe {
    ///             cx.simt(|thread| {
    ///                 if thread.index() == 0 {
    ///                     memory.set(thread, 2, 7);
    ///                 }
    ///                 thread.barrier();
    ///                 memory.get(thread, 2)
    ///             })
    ///         }
    ///     });
    ///     assert_eq!(element, 7);
    /// });
    /// ```
    ///
    /// # Safety
    ///
    /// * `index` is below `N`.
    /// * No thread writes the element at the same time.
    #[inline_on_device]
    pub unsafe fn get(&self, _thread: Thread<B>, index: u32) -> T {
        order::reveals_shared();
        // SAFETY: the same contract.
        unsafe { self.read(index as usize) }
    }

    /// Sets element `index`, by one thread.
    ///
    /// [`get`](Self::get) has an example.
    ///
    /// # Safety
    ///
    /// * `index` is below `N`.
    /// * No other thread accesses the element at the same time.
    #[inline_on_device]
    pub unsafe fn set(&self, _thread: Thread<B>, index: u32, value: T) {
        // SAFETY: the same contract.
        unsafe { self.write(index as usize, value) }
    }

    /// Adds to element `index` atomically, and gives the element before.
    ///
    /// [`Cx::simt`] has an example.
    ///
    /// # Panics
    ///
    /// If `index` is not below `N` (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_add(&self, _thread: Thread<B>, index: u32, value: T) -> T
    where
        T: SharedSum,
    {
        if index as usize >= N {
            outside(index, N)
        }
        order::reveals_shared();
        // SAFETY: the index is below `N`; who accesses the element otherwise has vouched for the order.
        unsafe { value.add_shared(self.address(index as usize)) }
    }
}
