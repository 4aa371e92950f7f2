//! The token of a running kernel: which block this is, of what geometry.

use crate::arch::execution::{self, Place};
use crate::arch::order;
use crate::arch::running::Run;
use crate::element::{Integer, Number};
use crate::layout::Block;
use crate::registers::PowerOfTwo;
use crate::sealed::sealed;
use core::cmp::Ordering;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Add, Deref, Div, Mul, Range, Rem, Sub};

/// Proof of being inside a kernel, made by its entry and passed along by value.
///
/// ```
/// use cuda_tiles::prelude::*;
/// #[kernel]
/// fn fill(cx: Cx, y: SpanMut<f32, (u32,)>, value: f32) {
///     let y = y.partition(cx, shape![64]);
///     y.store_masked(cx.full(shape![64], value), cx.bid::<0>());
/// }
/// ```
///
/// Every thread of the block runs the kernel's function. Safe code learns nothing that differs between the threads, so that control flow
/// is the same on all of them. Operations of the whole block, such as reductions and exchanges through shared memory, are therefore
/// safe functions. They have their barriers inside. Statics with interior mutability would break this: no safe kernel that writes one is
/// built for a GPU.
///
/// # Operations
///
/// ## Blocks and the grid
///
/// | | |
/// |---|---|
/// | the index of the block | [`bid`](Self::bid) |
/// | the number of blocks | [`num_blocks`](Self::num_blocks) |
/// | the number of the block among those that share a producer | [`consumer`](Self::consumer) |
///
/// ## Schedules
///
/// A persistent grid has fewer blocks than tiles. [`PartitionView::schedule`](crate::view::PartitionView::schedule) schedules tiles that
/// the blocks store.
///
/// | | |
/// |---|---|
/// | tiles along one axis of the grid | [`tiles`](Self::tiles) |
/// | tiles in an order of choice | [`indices`](Self::indices) |
///
/// ## Creating tiles
///
/// | | |
/// |---|---|
/// | one value | [`full`](Self::full) [`zeros`](crate::tile::Create::zeros) [`ones`](crate::tile::Create::ones) [`scalar`](Self::scalar) |
/// | numbers | [`iota`](crate::tile::Create::iota) [`arange`](Self::arange) [`coordinate`](crate::tile::Create::coordinate) |
/// | given elements | [`tile_of`](Self::tile_of) |
/// | matrices | [`eye`](crate::tile::Create::eye) [`accumulators`](crate::tile::Create::accumulators) |
/// | random numbers | [`Philox::new`](crate::random::Philox::new) |
///
/// ## Thread-level code
///
/// [`simt`](crate::simt) has the rules.
///
/// | | |
/// |---|---|
/// | a closure of each thread | [`simt`](Self::simt) |
/// | a tile of what the threads compute | [`tile_by_threads`](Self::tile_by_threads) |
/// | shared memory | [`shared`](crate::simt::SharedMemory::shared) |
///
/// ## Dependencies
///
/// Kernels declared `#[kernel(dependent)]` use programmatic dependent launch (PDL).
///
/// | | |
/// |---|---|
/// | wait for the kernels before | [`wait_for_dependencies`](Self::wait_for_dependencies) |
/// | let the kernels behind start | [`launch_dependents`](Self::launch_dependents) |
///
/// ## Debugging
///
/// | | |
/// |---|---|
/// | printing | [`tile_print!`](crate::tile_print) |
/// | assertions | [`tile_assert!`](crate::tile_assert) |
#[doc(alias("__tile__", "__device__"))]
pub struct Cx<B> {
    place: Place,
    block: PhantomData<B>,
    // Not `Send`: the token must not leave the block that it stands for.
    local: PhantomData<*const ()>,
}

impl<B> Clone for Cx<B> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Cx<B> {}

/// Waits for the threads of a block that hold tiles; what they wrote before can be read behind it.
///
/// # Safety
/// All [`Block::Threads`] execute this same call.
#[inline_on_device]
pub(crate) unsafe fn barrier<B: Block>() {
    // Whatever a block exchanges through shared memory it does between two such barriers.
    uses_memory_of_cta::<B>();
    // SAFETY: the same contract. Threads that copy only are none of this barrier's. Code in which several blocks would meet at it is
    // refused.
    unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) }
}

/// [`barrier`], and whether `predicate` is true on all of these threads.
///
/// # Safety
/// As for [`barrier`].
#[inline_on_device]
pub(crate) unsafe fn barrier_all<B: Block>(predicate: bool) -> bool {
    uses_memory_of_cta::<B>();
    // SAFETY: as in `barrier`.
    unsafe { execution::barrier_all(const { <B::Threads as PowerOfTwo>::COUNT as u32 }, predicate) }
}

/// Here the block uses a barrier or memory that the CTA has once: the builder refuses the kernel if its CTA has several blocks.
#[inline_on_device]
pub(crate) fn uses_memory_of_cta<B: Block>() {
    if const { B::CONSUMERS > 1 } {
        order::uses_memory_of_cta();
    }
}

impl<B: Block> Cx<B> {
    /// The token of the block at `place`.
    ///
    /// # Safety
    /// Only the entry of a kernel makes one, on all threads of a block of `B::Threads` threads, in a grid whose
    /// axes beyond `B::GRID_RANK` have length 1; and each block of the launch makes it for its own place.
    #[doc(hidden)]
    #[inline_on_device]
    pub unsafe fn new(place: Place) -> Self {
        Self { place, block: PhantomData, local: PhantomData }
    }

    /// This block's index along grid axis `AXIS`, with the knowledge that no other block has it.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(*cx.bid::<0>(), 0);
    ///     assert_eq!(cx.num_blocks(0), 1);
    /// });
    /// ```
    ///
    /// Stores through a writable view want an index that contains the block's index along all grid axes. Writable tensors are cut into tiles
    /// before this is called, while all blocks know the same, so that all cut them alike: see
    /// [`partition`](crate::span::TensorSpan::partition).
    ///
    /// # On a GPU
    ///
    /// `%ctaid` (PTX ISA, "Special Registers: %ctaid").
    #[inline_on_device]
    #[doc(alias("get_tile_block_id", "program_id", "blockIdx"))]
    pub fn bid<const AXIS: usize>(self) -> BlockIndex<AXIS> {
        const {
            assert!(
                AXIS < B::GRID_RANK as usize,
                "this kernel tells blocks apart along fewer grid axes: state `grid = 2` or `grid = 3` in #[kernel(...)]"
            )
        };
        order::reveals_index();
        BlockIndex::new(self.block_index(AXIS), self.place.run())
    }

    /// Which block this is, as the back end knows it.
    #[inline_on_device]
    pub(crate) fn place(self) -> Place {
        self.place
    }

    /// Panics unless this thread runs the block that the token stands for: views rest on what it says of the block.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn assert_current(self) {
        self.place.run().assert_current("the token of a block, `cx`,");
    }

    /// This block's index along grid axis `axis`, as a number.
    #[inline_on_device]
    pub(crate) fn block_index(self, axis: usize) -> u32 {
        if B::CONSUMERS == 1 || axis > 0 {
            self.place.block_index(axis)
        } else {
            self.place.cta_index(B::CONSUMERS) * B::CONSUMERS + self.consumer_number()
        }
    }

    /// The number of this block among the blocks that share a producer, below the `consumers` of the kernel's attribute.
    ///
    /// Of tiles that the producer loads for all of them, it says which are this block's.
    /// [`Consumer::in_turn`](crate::pipeline::Consumer::in_turn) has an example.
    ///
    /// # On a GPU
    ///
    /// `%tid.y` (PTX ISA, "Special Registers: %tid").
    #[inline_on_device]
    pub fn consumer(self) -> u32 {
        order::reveals_index();
        self.consumer_number()
    }

    /// The index and the number of groups of blocks that share a producer: of CTAs, or of clusters.
    #[inline_on_device]
    pub(crate) fn group(self) -> [u32; 2] {
        let (index, count) = (self.place.cta_index(B::CONSUMERS), self.place.cta_count(B::CONSUMERS));
        [index / B::CLUSTER_SIZE, count / B::CLUSTER_SIZE]
    }

    /// The number of this block in its cluster.
    #[inline_on_device]
    pub(crate) fn block_of_cluster(self) -> u32 {
        if B::CLUSTER_SIZE > 1 { self.place.cta_index(B::CONSUMERS) % B::CLUSTER_SIZE } else { 0 }
    }

    /// The number of this block among those that share a producer.
    #[inline_on_device]
    pub(crate) fn number_in_group(self) -> u32 {
        self.consumer_number() + self.block_of_cluster()
    }

    /// The row and the column of this block's tile, among those that its cluster has side by side.
    #[inline_on_device]
    pub(crate) fn tile_of_cluster(self) -> [u32; 2] {
        let block = self.block_of_cluster();
        [block / B::CLUSTER[1], block % B::CLUSTER[1]]
    }

    /// [`consumer`](Self::consumer) for the library, which does not reveal it to the kernel.
    #[inline_on_device]
    pub(crate) fn consumer_number(self) -> u32 {
        if B::CONSUMERS > 1 { self.place.consumer(B::CONSUMERS) } else { 0 }
    }

    /// The number of blocks along grid axis `axis` (0, 1 or 2).
    ///
    /// [`bid`](Self::bid) has an example.
    ///
    /// # On a GPU
    ///
    /// `%nctaid` (PTX ISA, "Special Registers: %nctaid").
    #[inline_on_device]
    #[doc(alias("num_programs", "gridDim"))]
    pub fn num_blocks(self, axis: usize) -> u32 {
        if B::CONSUMERS == 1 || axis > 0 {
            self.place.block_count(axis)
        } else {
            self.place.cta_count(B::CONSUMERS) * B::CONSUMERS
        }
    }

    /// The tiles of this block, of `count` tiles that the blocks along grid axis `AXIS` share: the block's own
    /// index, and every number of blocks further.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let tiles: u32 = cx.tiles::<0>(3).map(|i| *i).sum();
    ///     assert_eq!(tiles, 0 + 1 + 2);
    /// });
    /// ```
    #[inline_on_device]
    #[doc(alias("grid_stride"))]
    pub fn tiles<const AXIS: usize>(self, count: u32) -> impl Iterator<Item = BlockIndex<AXIS>> {
        let (first, step) = (*self.bid::<AXIS>(), self.num_blocks(AXIS));
        let (mut next, run) = (Some(first), self.place.run());
        core::iter::from_fn(move || {
            let index = next.filter(|&index| index < count)?;
            next = index.checked_add(step);
            Some(BlockIndex::new(index, run))
        })
    }

    /// Waits until the kernels that this launch depends on have ended and their writes can be seen.
    ///
    /// A kernel declared `#[kernel(dependent)]` may start while the one before it on its stream is still running, which hides the time that
    /// starting takes. It does this wait before anything else. Only a kernel declared `#[kernel(dependent = early)]`, which is an `unsafe
    /// fn`, has to call it itself.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// #[kernel(dependent = early)]
    /// unsafe fn double(cx: Cx, x: SpanMut<f32, (u32,)>) {
    ///     let x = x.partition(cx, shape![64]);
    ///     // Code here may overlap with the kernel before. It touches no memory.
    ///     cx.wait_for_dependencies();
    ///     let i = cx.bid::<0>();
    ///     x.store_masked(x.load_masked(Zero, i) * 2.0, i);
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// `griddepcontrol.wait` from compute capability 9.0 on (PTX ISA, "Parallel Synchronization and Communication Instructions:
    /// griddepcontrol"). Elsewhere there is nothing to wait for.
    #[inline_on_device]
    #[doc(alias("grid_dependency_control_wait", "gdc_wait", "cudaGridDependencySynchronize"))]
    pub fn wait_for_dependencies(self) {
        execution::wait_for_dependencies();
    }

    /// Lets the `dependent` kernels behind this one on its stream start, once all blocks have said so or ended.
    ///
    /// It says nothing about memory: they still wait for the end of this kernel before they touch any. A block calls it
    /// when what is left to do no longer fills the GPU. Elsewhere than on GPUs from compute capability 9.0 it does
    /// nothing.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// #[kernel(dependent)]
    /// fn increment(cx: Cx, x: SpanMut<f32, (u32,)>) {
    ///     let x = x.partition(cx, shape![64]);
    ///     let i = cx.bid::<0>();
    ///     let t = x.load_masked(Zero, i);
    ///     cx.launch_dependents();
    ///     x.store_masked(t + 1.0, i);
    /// }
    /// ```
    #[inline_on_device]
    #[doc(alias("gdc_launch_dependents", "cudaTriggerProgrammaticLaunchCompletion"))]
    pub fn launch_dependents(self) {
        execution::launch_dependents();
    }
}

/// The numbers of `range` from its start in steps of `step`, for loops with a stride: CUDA Tile C++'s `irange`.
///
/// The loop ends where the next number would reach the end or not fit the type: there are no limits to keep. An empty
/// range gives nothing, and [`Range`] itself is the loop in steps of 1.
///
/// ```
/// use cuda_tiles::prelude::*;
/// assert!(steps(0..10, 4).eq([0, 4, 8]));
/// assert!(steps(-5..i32::MAX, i32::MAX).eq([-5, i32::MAX - 5]));
/// assert!(steps(3u8..3, 1).eq([]));
/// ```
///
/// # Panics
/// If `step` is not positive (on the device: traps).
#[inline_on_device]
#[track_caller]
#[doc(alias("irange", "range"))]
pub fn steps<T: Integer>(range: Range<T>, step: T) -> impl Iterator<Item = T> {
    if step.less_equal(T::ZERO) {
        execution::fail(|text| text.write_str("the step of a loop is positive"));
    }
    let mut next = Some(range.start).filter(|start| start.less(range.end));
    core::iter::from_fn(move || {
        let number = next?;
        let following = Number::add(number, step);
        // A sum that wrapped is below its first term.
        next = Some(following).filter(|&sum| number.less(sum) && sum.less(range.end));
        Some(number)
    })
}

/// A tile index along grid axis `AXIS` that belongs to one block alone.
///
/// It reads as a `u32`; arithmetic with it gives plain numbers, which prove nothing. They are unsigned: `i * 64 - 1` wraps for
/// the first block. Where numbers may be negative, as the starts of windows are, [`start`](Self::start) is the way.
#[derive(Clone, Copy)]
pub struct BlockIndex<const AXIS: usize> {
    index: u32,
    /// The run of the block; of no size on a GPU.
    run: Run,
    // Not `Send`: another block must not get hold of it.
    local: PhantomData<*const ()>,
}

impl<const AXIS: usize> BlockIndex<AXIS> {
    #[inline_on_device]
    fn new(index: u32, run: Run) -> Self {
        Self { index, run, local: PhantomData }
    }

    /// Panics unless this thread runs the block whose index this is: stores rest on it.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn assert_current(self) {
        self.run.assert_current("a block index");
    }

    /// Where the block's tile starts if tiles have `length` elements along the axis: the element's index, as a number with a
    /// sign, from which the start of a [window](crate::span::TensorSpan::window) that hangs over the low edge is counted.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (1..=8).collect();
    /// cpu::block_on(&numbers, [8], |cx, span: Span<i32, (u32,)>| {
    ///     let i = cx.bid::<0>();
    ///     let left = span.window(cx, shape![4]).load_masked(Zero, i.start(4) - 1);
    ///     assert_eq!((left.at([0]), left.at([1]), left.at([3])), (0, 1, 3));
    /// });
    /// ```
    #[inline_on_device]
    pub fn start(self, length: u32) -> i64 {
        i64::from(self.index) * i64::from(length)
    }
}

impl<const AXIS: usize> PartialEq for BlockIndex<AXIS> {
    #[inline_on_device]
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<const AXIS: usize> Eq for BlockIndex<AXIS> {}

impl<const AXIS: usize> PartialOrd for BlockIndex<AXIS> {
    #[inline_on_device]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const AXIS: usize> Ord for BlockIndex<AXIS> {
    #[inline_on_device]
    fn cmp(&self, other: &Self) -> Ordering {
        self.index.cmp(&other.index)
    }
}

impl<const AXIS: usize> Deref for BlockIndex<AXIS> {
    type Target = u32;
    #[inline_on_device]
    fn deref(&self) -> &u32 {
        &self.index
    }
}

impl<const AXIS: usize> From<BlockIndex<AXIS>> for u32 {
    #[inline_on_device]
    fn from(index: BlockIndex<AXIS>) -> u32 {
        index.index
    }
}

impl<const AXIS: usize> fmt::Debug for BlockIndex<AXIS> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(formatter)
    }
}

macro_rules! arithmetic {
    ($($trait:ident $function:ident)*) => { $(
        impl<const AXIS: usize> $trait<u32> for BlockIndex<AXIS> {
            type Output = u32;
            #[inline_on_device]
            fn $function(self, other: u32) -> u32 {
                $trait::$function(self.index, other)
            }
        }
        impl<const AXIS: usize> $trait<BlockIndex<AXIS>> for u32 {
            type Output = u32;
            #[inline_on_device]
            fn $function(self, other: BlockIndex<AXIS>) -> u32 {
                $trait::$function(self, other.index)
            }
        }
    )* };
}
arithmetic!(Add add Sub sub Mul mul Div div Rem rem);

sealed! {
    [B] Cx<B>;
    [const AXIS: usize] BlockIndex<AXIS>;
}
