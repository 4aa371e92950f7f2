//! Thread-level code inside a kernel of tiles, for algorithms that tiles do not express.
//!
//! Tile code runs on all threads alike, and safe code cannot tell them apart. [`Cx::simt`] can: its closure learns on which
//! [`Thread`] it runs.
//!
//! The closure may do all that a CUDA C++ kernel may, and has the same duties. All threads reach each barrier and shuffle, and there are no
//! data races. In return it has warp primitives, shared memory ([`Cx::shared`](SharedMemory::shared)), and, in the user's own crate, inline
//! PTX with `core::arch::asm!`.
//!
//! Most of it has a safe form, in which tiles meet [`Shared`] memory: a histogram is
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 256)]
//! fn histogram(cx: Cx, x: Span<u8, (u32,)>, counts: SpanMut<u32, (u32, D<256>)>) {
//!     let (x, counts) = (x.partition(cx, shape![1024]), counts.partition(cx, shape![1, 256]));
//!     cx.shared::<u32, 256>(|bins| {
//!         bins.fill(0);
//!         for i in cx.tiles::<0>(x.num_tiles(0)) {
//!             bins.add(x.load(i).cast::<u32>(), 1);
//!         }
//!         counts.store(bins.load(shape![1, 256]), (cx.bid::<0>(), 0));
//!     });
//! }
//! ```
//!
//! On the CPU a block is one thread, a warp of one lane: a loop over [`Thread::share`] is then the whole loop, and code
//! that is written with it gives the same results on both.

pub(crate) mod shared;

pub use shared::{Shared, SharedMemory, SharedSum};

use crate::arch::{execution, threads};
use crate::context::{Cx, barrier};
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::PowerOfTwo;
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;

/// One thread of the block, in [`Cx::simt`].
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     // SAFETY: the closure does nothing that the whole block must do, and nothing behind it depends on the thread.
///     unsafe {
///         cx.simt(|thread| {
///             assert!(thread.index() < thread.count());
///             assert_eq!(thread.index(), thread.warp() * thread.lanes() + thread.lane());
///         });
///     }
/// });
/// ```
#[derive(Clone, Copy)]
#[doc(alias("threadIdx"))]
pub struct Thread<B> {
    block: PhantomData<B>,
    // Not `Send`: it stands for the thread that runs this code.
    local: PhantomData<*const ()>,
}

impl<B: Block> Cx<B> {
    /// Runs `body` on each thread of the block, and tells it which thread it runs on.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     // The sum of 0 to 999, whatever the number of threads is.
    ///     let total = cx.shared::<u32, 1>(|sum| {
    ///         sum.fill(0);
    ///         // SAFETY: threads add atomically, all reach the end, and nothing depends on the thread behind it.
    ///         unsafe { cx.simt(|thread| thread.share(1000).for_each(|i| { _ = sum.atomic_add(thread, 0, i) })) };
    ///         sum.load(shape![1]).item()
    ///     });
    ///     assert_eq!(total, 499_500);
    /// });
    /// ```
    ///
    /// # Safety
    ///
    /// - All threads return from `body` alike: none panics or ends alone.
    /// - The values that they return may differ. Tile code behind it must not let its control flow, its indices, or the stores of a single
    ///   thread depend on them. Nor may it cut writable tensors in a way that depends on anything that other blocks do not know.
    /// - Operations of tiles, views and [`Shared`] that are not thread-level do not happen inside `body`, unless all threads reach them
    ///   alike: they are the whole block's.
    /// - The contracts of [`Thread`]'s methods hold, and there are no data races.
    #[inline_on_device]
    pub unsafe fn simt<R>(self, body: impl FnOnce(Thread<B>) -> R) -> R {
        body(Thread { block: PhantomData, local: PhantomData })
    }

    /// A tile of the values that the threads compute for their elements: `element(flat)` for the row-major number `flat`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     // SAFETY: the value depends on the number of the element alone.
    ///     let squares = unsafe { cx.tile_by_threads(shape![2, 4], |flat| (flat * flat) as u32) };
    ///     assert_eq!(squares.at([1, 3]), 49);
    /// });
    /// ```
    ///
    /// # Safety
    ///
    /// Threads that hold copies of an element, because the tile is smaller than the block, give the same value for it.
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`].
    #[inline_on_device]
    pub unsafe fn tile_by_threads<T: Element, S: Shape>(
        self,
        _shape: S,
        mut element: impl FnMut(usize) -> T,
    ) -> Tile<T, S, Blocked<B>> {
        let own = Map::<Blocked<B>, S>::MAP.of_thread.apply(execution::thread());
        let map = const { &Map::<Blocked<B>, S>::MAP };
        Tile::from_registers_fn(|i| element(own | map.of_register.apply(i)))
    }
}

impl<B: Block> Thread<B> {
    /// The number of the thread in its block.
    ///
    /// [`Thread`] has an example.
    #[inline_on_device]
    pub fn index(self) -> u32 {
        execution::thread() as u32
    }

    /// The number of threads of the block.
    ///
    /// On a GPU it is the number in the kernel's attribute, and on the CPU it is 1.
    #[inline_on_device]
    pub fn count(self) -> u32 {
        <B::Threads as PowerOfTwo>::COUNT as u32
    }

    /// The number of the thread in its warp, below [`Thread::lanes`].
    ///
    /// [`Thread`] has an example.
    #[inline_on_device]
    pub fn lane(self) -> u32 {
        threads::lane(self.index())
    }

    /// The number of its warp in the block.
    ///
    /// [`Thread`] has an example.
    #[inline_on_device]
    pub fn warp(self) -> u32 {
        (self.index() - self.lane()) / threads::LANES
    }

    /// The number of lanes of a warp: 32 on a GPU, and 1 on the CPU.
    #[inline_on_device]
    pub fn lanes(self) -> u32 {
        threads::LANES
    }

    /// The numbers below `count` that fall to this thread.
    ///
    /// They are its own number, and every number as many threads further. [`Cx::simt`] has an example.
    #[inline_on_device]
    pub fn share(self, count: u32) -> impl Iterator<Item = u32> {
        crate::context::steps(self.index()..count, self.count())
    }

    /// Waits for all threads of the block, and makes their earlier writes visible.
    ///
    /// [`Shared::get`] has an example.
    ///
    /// # Safety
    ///
    /// All threads of the block execute this same call.
    ///
    /// # On a GPU
    ///
    /// `bar.sync` (PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier").
    #[inline_on_device]
    pub unsafe fn barrier(self) {
        // SAFETY: the same contract.
        unsafe { barrier::<B>() }
    }

    /// Waits for all lanes of the warp, and makes their earlier writes visible.
    ///
    /// # Safety
    ///
    /// All lanes of the warp execute this same call.
    ///
    /// # On a GPU
    ///
    /// `bar.warp.sync` (PTX ISA, "Parallel Synchronization and Communication Instructions: bar.warp.sync").
    #[inline_on_device]
    pub unsafe fn warp_barrier(self) {
        // SAFETY: the same contract.
        unsafe { threads::warp_barrier() }
    }

    /// The value of lane `lane`, modulo the lanes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     // SAFETY: all lanes of each warp execute the same calls, and nothing behind them depends on the thread.
    ///     unsafe {
    ///         cx.simt(|thread| {
    ///             assert_eq!(thread.shuffle(thread.lane(), 0), 0);
    ///             assert_eq!(thread.shuffle_xor(thread.lane(), 0), thread.lane());
    ///             assert_eq!(thread.ballot(thread.lane() == 0), 1);
    ///         });
    ///     }
    /// });
    /// ```
    ///
    /// # Safety
    ///
    /// All lanes of the warp execute this same call.
    ///
    /// # On a GPU
    ///
    /// `shfl.sync.idx.b32` (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync"), once or twice, as the value has words.
    /// [`shuffle_up`](Self::shuffle_up) is `.up`, and [`shuffle_down`](Self::shuffle_down) is `.down`.
    #[inline_on_device]
    pub unsafe fn shuffle<T: Element>(self, value: T, lane: u32) -> T {
        // SAFETY: the same contract.
        by_words(value, |word| unsafe { threads::shuffle(word, lane) })
    }

    /// The value of the lane `delta` below; the lowest lanes keep their own.
    ///
    /// [`shuffle`](Self::shuffle) has an example.
    ///
    /// # Safety
    ///
    /// All lanes of the warp execute this same call.
    #[inline_on_device]
    pub unsafe fn shuffle_up<T: Element>(self, value: T, delta: u32) -> T {
        // SAFETY: the same contract.
        by_words(value, |word| unsafe { threads::shuffle_up(word, delta) })
    }

    /// The value of the lane `delta` above; the highest lanes keep their own.
    ///
    /// [`shuffle`](Self::shuffle) has an example.
    ///
    /// # Safety
    ///
    /// All lanes of the warp execute this same call.
    #[inline_on_device]
    pub unsafe fn shuffle_down<T: Element>(self, value: T, delta: u32) -> T {
        // SAFETY: the same contract.
        by_words(value, |word| unsafe { threads::shuffle_down(word, delta) })
    }

    /// The value of the lane whose number differs in the bits of `mask`, a number below 32.
    ///
    /// [`shuffle`](Self::shuffle) has an example.
    ///
    /// # Safety
    ///
    /// All lanes of the warp execute this same call.
    #[inline_on_device]
    pub unsafe fn shuffle_xor<T: Element>(self, value: T, mask: u32) -> T {
        // SAFETY: the same contract.
        unsafe { self.shuffle(value, self.lane() ^ mask) }
    }

    /// The lanes whose predicate is true, as bits.
    ///
    /// [`shuffle`](Self::shuffle) has an example.
    ///
    /// # Safety
    ///
    /// All lanes of the warp execute this same call.
    ///
    /// # On a GPU
    ///
    /// `vote.sync.ballot.b32` (PTX ISA, "Parallel Synchronization and Communication Instructions: vote.sync").
    #[inline_on_device]
    pub unsafe fn ballot(self, predicate: bool) -> u32 {
        // SAFETY: the same contract.
        unsafe { threads::ballot(predicate) }
    }

    /// Calls `visit` with the row-major number and the value of each element of `tile` that this thread holds.
    ///
    /// If several threads hold copies of an element, the first of them visits it.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let tile = cx.arange(shape![8], 10i32, 1);
    ///     // SAFETY: the closure does nothing that the whole block must do, and nothing behind it depends on the thread.
    ///     unsafe { cx.simt(|thread| thread.visit(tile, |flat, value| assert_eq!(value, flat as i32 + 10))) };
    /// });
    /// ```
    #[inline_on_device]
    pub fn visit<T: Element, S: Shape, L: Layout<Block = B>>(
        self,
        tile: Tile<T, S, L>,
        mut visit: impl FnMut(usize, T),
    ) {
        let thread = execution::thread();
        let own = Map::<L, S>::MAP.of_thread.apply(thread);
        let map = const { &Map::<L, S>::MAP };
        if thread & const { Map::<L, S>::MAP.replicas } == 0 {
            <L::Registers<S>>::unroll(0, 1, &mut |i| {
                visit(own | map.of_register.apply(i), tile.registers().get(i))
            });
        }
    }
}

/// Sends a value word by word.
#[inline_on_device]
fn by_words<T: Element>(value: T, send: impl Fn(u32) -> u32) -> T {
    let mut bits = value.to_bits();
    let first = core::ptr::from_mut(&mut bits).cast::<u8>();
    // SAFETY: bits are plain integers of this size, for which every pattern is valid.
    unsafe {
        match size_of::<T::Bits>() {
            1 => first.write(send(u32::from(first.read())) as u8),
            2 => first.cast::<u16>().write(send(u32::from(first.cast::<u16>().read())) as u16),
            4 => first.cast::<u32>().write(send(first.cast::<u32>().read())),
            _ => {
                let whole = first.cast::<u64>().read();
                let (low, high) = (send(whole as u32), send((whole >> 32) as u32));
                first.cast::<u64>().write(u64::from(high) << 32 | u64::from(low));
            }
        }
    }
    T::from_bits(bits)
}
