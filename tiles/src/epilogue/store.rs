//! Storing tiles: from accumulators through a small buffer in shared memory, by the copy engine.

use crate::arch::matrix::{WARPGROUPS, store_matrices_4};
use crate::arch::threads::{self, Address};
use crate::arch::{barriers, bulk, execution};
use crate::context::Cx;
use crate::element::packed::packed_pair;
use crate::element::{Cast, Element, Number};
use crate::epilogue::ragged::RaggedRows;
use crate::epilogue::row::TileRow;
use crate::layout::is_transposed;
use crate::layout::{Accumulators, Block, Layout, Map};
use crate::memory::shared::SharedMemory;
use crate::memory::shared_tile::{CHUNK_BYTES, Geometry};
use crate::memory::tensor_map::{MatrixShape, TmaStore};
use crate::pipeline::roles::WarpRoles;
use crate::registers::{PowerOfTwo, Registers};
use crate::schedule::numbers::{Numbers, locate};
use crate::schedule::order::TileOrder;
use crate::shape::Dimension;
use crate::simt::shared::{load_element, store_element};
use crate::span::Span;
use crate::tile::Tile;
use crate::view::partition_check::assert_same_order;
use crate::view::transfer;
use core::marker::PhantomData;

/// Threads of a warpgroup.
const WARPGROUP: usize = 128;
/// Rows that a warpgroup stores at once.
const BOX_ROWS: usize = 64;
/// Bytes of one buffer: as many rows of 128 bytes.
const BUFFER_BYTES: usize = BOX_ROWS * 128;
/// Buffers of each warpgroup: one is filled while the copy engine reads the other.
const BUFFERS: usize = 2;
/// The first of the block's barriers that warpgroups use among themselves.
const FIRST_BARRIER: u32 = 2;

/// Buffers through which the warpgroups of a block store tiles, 16 KiB for each: as many as the block has times 128 threads.
///
/// A kernel asks for it as an argument, `#[shared] buffer: EpilogueBuffer<2>`.
pub struct EpilogueBuffer<const WARPGROUPS: usize> {
    address: Address,
    local: PhantomData<*const ()>,
}

// SAFETY: the address has room for the buffers.
unsafe impl<const WARPGROUPS: usize> SharedMemory for EpilogueBuffer<WARPGROUPS> {
    const BYTES: [u32; 3] = [0, 0, (WARPGROUPS * BUFFERS * BUFFER_BYTES) as u32];
    type Storage = ();
    #[inline(always)]
    unsafe fn new(address: Address) -> Self {
        Self { address, local: PhantomData }
    }
}

impl<T: Element, S: MatrixShape> TmaStore<T, S> {
    /// The numbers of matrices, of rows of tiles, and of columns of tiles, partial ones at the edges included.
    #[inline(always)]
    pub fn tile_counts(&self) -> [u32; 3] {
        [self.batches(), self.rows().div_ceil(S::ROWS as u32), self.columns().div_ceil(S::COLUMNS as u32)]
    }

    /// The tiles that fall to this block when all are dealt out to the blocks of the grid in this order.
    ///
    /// The sink is consumed: there is no other way to its tiles, so that each is one block's alone. All blocks deal it out in one
    /// order, which they choose before they know anything of their own: in front of [`Cx::bid`], of
    /// [`receive`](super::Consumer::wait) and [`steps`](super::Consumer::k_loop), and of this iterator's first tile.
    /// [`WarpRoles::schedule`] does the same before the roles part.
    ///
    /// # Panics
    /// If there are 2³² tiles or more (on the device: traps); on the CPU also if the block knows something of its own. For a GPU such
    /// a kernel is not built.
    #[inline(always)]
    #[track_caller]
    pub fn schedule<B: Block, O: TileOrder>(
        self,
        cx: Cx<B>,
        order: O,
    ) -> StoreTiles<impl Fn(u32) -> StoreTile<T, S> + use<T, S, B, O>> {
        const {
            assert!(
                B::GRID_RANK == 1,
                "tiles are dealt out to the blocks of a one-dimensional grid: leave out `grid`"
            )
        };
        cx.assert_current();
        self.matrix.assert_lent();
        assert_same_order(&self, cx, order);
        let (counts, blocks) = (self.tile_counts(), cx.num_blocks(0));
        let tile = move |number| {
            // SAFETY: all threads of the warp run this alike. The assembler cannot know that a loop over tiles keeps warps together;
            // behind a barrier it does, and computes addresses once for a warp.
            unsafe { threads::warp_barrier() };
            StoreTile {
                // SAFETY: a sink owns nothing; each copy is of another tile, by the order's numbers and a launch's one number of
                // blocks.
                sink: unsafe { core::ptr::read(&self) },
                index: locate(&order, number, blocks, counts),
            }
        };
        StoreTiles { numbers: Numbers::new(cx.block_index(0), blocks, counts), tile }
    }

    /// The first `count` tiles of those that [`deal`](Self::schedule) gives; the others are left as they are.
    /// [`TileIndices::take`](super::TileIndices::take), which has an example, gives a feed the same indices.
    ///
    /// # Panics
    /// As [`deal`](Self::schedule).
    #[inline(always)]
    #[track_caller]
    pub fn schedule_first<B: Block, O: TileOrder>(
        self,
        cx: Cx<B>,
        order: O,
        count: u32,
    ) -> StoreTiles<impl Fn(u32) -> StoreTile<T, S> + use<T, S, B, O>> {
        self.schedule(cx, order).take(count)
    }
}

impl<B: Block> WarpRoles<B> {
    /// [`TmaStore::schedule`] before the roles part, for a kernel that wants its block's index for the feed and for its tiles:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `y = x + own`, where each block adds its own index.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn marked(
    ///     roles: WarpRoles,
    ///     x: TmaLoad<f32, Shape2<64, 64>>,
    ///     y: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<SharedTile<f32, Shape2<64, 64>>>,
    ///     #[shared] buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let feed = roles.tile_indices(RowMajor, y.tile_counts()).map(move |[_, i, j]| x.tile(i, j));
    ///     let tiles = roles.schedule(y, RowMajor);
    ///     let own = *roles.bid::<0>() as f32;
    ///     roles.pipeline(ring, feed, move |cx, mut consumer| {
    ///         let mut buffer = buffer;
    ///         for tile in tiles {
    ///             let x = consumer.wait();
    ///             tile.store(&mut buffer, x.tiles().load(cx) + own);
    ///             consumer.release(x);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    /// As [`TmaStore::schedule`].
    #[inline(always)]
    #[track_caller]
    pub fn schedule<T: Element, S: MatrixShape, O: TileOrder>(
        &self,
        sink: TmaStore<T, S>,
        order: O,
    ) -> StoreTiles<impl Fn(u32) -> StoreTile<T, S> + use<T, S, B, O>> {
        sink.schedule(self.context(), order)
    }
}

/// The tiles of a sink that are this block's, from [`TmaStore::schedule`].
///
/// What makes a tile of its number is a closure: of a struct of the same fields LLVM makes loops that take up to 56 registers more.
pub struct StoreTiles<F> {
    numbers: Numbers,
    tile: F,
}

impl<F> StoreTiles<F> {
    /// The first `count` of them, as [`Iterator::take`]; the others are left as they are.
    #[inline(always)]
    pub fn take(self, count: u32) -> Self {
        Self { numbers: self.numbers.first(count), ..self }
    }
}

impl<T: Element, S: MatrixShape, F: Fn(u32) -> StoreTile<T, S>> Iterator for StoreTiles<F> {
    type Item = StoreTile<T, S>;
    #[inline(always)]
    fn next(&mut self) -> Option<StoreTile<T, S>> {
        self.numbers.next().map(&self.tile)
    }
}

/// A panel of a tile on its way to the matrix: 64 rows that a warpgroup stores at once, as one of its threads sees them.
#[derive(Clone, Copy)]
struct Panel<'g> {
    /// How the panel lies in the buffer.
    geometry: &'g Geometry,
    columns: usize,
    buffer: Address,
    /// The column and row of the matrix at which it begins.
    x: u32,
    y: u32,
    /// The warpgroup, and the thread of the block.
    group: u32,
    thread: usize,
}

impl Panel<'_> {
    /// The warp of the warpgroup, which has 16 of the rows.
    #[inline(always)]
    fn warp(&self) -> usize {
        self.thread / 32 % 4
    }

    #[inline(always)]
    fn lane(&self) -> usize {
        self.thread % 32
    }
}

/// A tile of a sink that is this block's to store.
pub struct StoreTile<T: Element, S: MatrixShape> {
    sink: TmaStore<T, S>,
    index: [u32; 3],
}

impl<T: Element, S: MatrixShape> StoreTile<T, S> {
    /// Which tile it is: the matrix, and the row and column of tiles.
    #[inline(always)]
    pub fn index(&self) -> [u32; 3] {
        self.index
    }
}

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    const ROWS: usize = <M::Count as PowerOfTwo>::COUNT;
    const COLUMNS: usize = <N::Count as PowerOfTwo>::COUNT;
    /// Elements of 16 bytes.
    const GRANULE: usize = CHUNK_BYTES / size_of::<T::Bits>();

    /// Stores a tile here, but for what lies outside the matrix.
    ///
    /// Where the GPU has a copy engine and rows of the matrix begin at multiples of 16 bytes, the tile is still on its way when this
    /// returns; the launch's end waits for it. [Turned](Tile::turned) tiles go past the buffer.
    #[inline(always)]
    #[track_caller]
    pub fn store<L: Layout, const GROUPS: usize>(
        self,
        buffer: &mut EpilogueBuffer<GROUPS>,
        tile: Tile<T, (M, N), L>,
    ) {
        const {
            assert!(
                !WARPGROUPS
                    || GROUPS * WARPGROUP == <<L::Block as Block>::Threads as PowerOfTwo>::COUNT
                    || GROUPS == 0,
                "the buffer has buffers for each warpgroup: `EpilogueBuffer<2>` in a kernel of 256 threads"
            )
        };
        if const { is_transposed::<L>() } {
            // Eight lanes have neighbours in a row, and what a warp stores at once are whole sectors of 32-bit elements.
            return self.store_by_threads(tile);
        }
        let tile = tile.spread::<(M, N), Accumulators<L::Block>>();
        if const { Self::through_stash(GROUPS) } {
            self.store_through_stash(buffer, tile);
        } else {
            self.store_by_threads(tile);
        }
    }

    /// The columns of a row that the copy engine stores: it writes 16 bytes at a time, and leaves the end of a row that ends within
    /// them to threads. None where there is no map.
    #[inline(always)]
    fn engines_columns(&self) -> u32 {
        let columns = self.sink.matrix.layout.columns;
        if self.sink.matrix.map.is_null() { 0 } else { columns - columns % const { Self::GRANULE as u32 } }
    }

    /// What the memory of this tile holds before it is stored; zero outside of the matrix.
    #[inline(always)]
    #[track_caller]
    pub fn load<B: Block>(&self, _cx: Cx<B>) -> Tile<T, (M, N), Accumulators<B>> {
        let present = self.present::<Accumulators<B>>();
        Tile::from_registers_fn(present)
    }

    /// `sums + factor * present`, where `present` is what [`load`](Self::load) gives. Needs fewer registers, as elements are
    /// loaded where they are added.
    #[inline(always)]
    #[track_caller]
    pub fn add_previous<C: Number, L: Layout>(
        &self,
        _cx: Cx<L::Block>,
        sums: Tile<C, (M, N), L>,
        factor: C,
    ) -> Tile<C, (M, N), L>
    where
        T: Cast<C>,
    {
        let present = self.present::<L>();
        Tile::from_registers_fn(|register| {
            let product = Number::mul(present(register).cast(), factor);
            Number::add(sums.registers().get(register), product)
        })
    }

    /// What gives the element of each register before the tile is stored.
    #[inline(always)]
    #[track_caller]
    fn present<L: Layout>(&self) -> impl Fn(usize) -> T {
        self.sink.matrix.assert_lent();
        let map = const { &Map::<L, (M, N)>::MAP };
        // As for stores.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        let column_bits = const { <N::Count as PowerOfTwo>::LOG };
        let layout = &self.sink.matrix.layout;
        let [batch, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32);
        let matrix = self.sink.matrix.pointer.wrapping_add((u64::from(batch) * layout.batch_pitch) as usize);
        let own = map.of_thread.apply(thread);
        move |register| {
            let flat = own | map.of_register.apply(register);
            let (y, x) =
                (row + (flat >> column_bits) as u32, column + (flat & ((1 << column_bits) - 1)) as u32);
            let source = matrix.wrapping_add((u64::from(y) * layout.row_pitch + u64::from(x)) as usize);
            let mut element = T::ZERO;
            // SAFETY: the element is inside the matrix wherever the condition holds; it is of this block's own tile, which
            // no other block writes, and this one not before `store` takes the tile.
            unsafe {
                transfer::load(
                    source,
                    1,
                    transfer::Cache::Ordinary,
                    Some(y < layout.rows && x < layout.columns),
                    T::ZERO,
                    |_, value| element = value,
                )
            };
            element
        }
    }

    /// The part of a row that lies beside this tile, such as a bias: from the element that has the number of the tile's first column in
    /// the sink. [`TileRow::add`] adds it to sums. What is loaded before the sums are made is there when they are.
    #[inline(always)]
    #[track_caller]
    pub fn row<B: Block>(&self, _cx: Cx<B>, row: Span<T, (u32,)>) -> TileRow<T, M, N, B> {
        TileRow::new(row, self.index[2] * Self::COLUMNS as u32)
    }

    /// Adds to each column of `sums`, of the shape of this tile, the element of `row` that has the number of the column in the
    /// sink; zero where `row` is too short. [`row`](Self::row), called before the sums are made, needs some registers and saves the
    /// time of the loads.
    #[inline(always)]
    #[track_caller]
    pub fn add_row<C: Number, L: Layout>(
        &self,
        cx: Cx<L::Block>,
        sums: Tile<C, (M, N), L>,
        row: Span<T, (u32,)>,
    ) -> Tile<C, (M, N), L>
    where
        T: Cast<C>,
    {
        self.row(cx, row).add(sums)
    }

    /// Whether tiles of this shape can go through a buffer for `groups` warpgroups.
    const fn through_stash(groups: usize) -> bool {
        WARPGROUPS
            && groups > 0
            && Self::ROWS >= BOX_ROWS * groups
            && Self::COLUMNS * size_of::<T::Bits>() >= 2 * CHUNK_BYTES
            && Self::COLUMNS >= 8
    }

    #[inline(always)]
    fn store_through_stash<B: Block, const GROUPS: usize>(
        &self,
        buffer: &mut EpilogueBuffer<GROUPS>,
        tile: Tile<T, (M, N), Accumulators<B>>,
    ) {
        let columns = const { TmaStore::<T, (M, N)>::BOX.columns as usize };
        let geometry = const {
            Geometry::new(BOX_ROWS, TmaStore::<T, (M, N)>::BOX.columns as usize, size_of::<T::Bits>())
        };
        // Addresses must not take registers while products are under way.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        // SAFETY: all threads of the block run this alike.
        let group = unsafe { execution::from_lane((thread / WARPGROUP) as u32, 0) };
        let own = threads::offset(buffer.address, group as usize * BUFFERS * BUFFER_BYTES);
        let [_, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32 + group * BOX_ROWS as u32, j * Self::COLUMNS as u32);
        // Nor must this.
        let engines_columns = execution::rematerialise(self.engines_columns());
        let panels = const { Self::COLUMNS / TmaStore::<T, (M, N)>::BOX.columns as usize };
        // Panel after panel: each has its registers behind those of the one before.
        <Accumulators<B> as Layout>::Registers::<(M, N)>::unroll(0, columns / 2, &mut |register| {
            let number = register / (columns / 2);
            let (row_block, panel) = (number / panels, number % panels);
            let panel = Panel {
                geometry: &geometry,
                columns,
                buffer: threads::offset(own, number % BUFFERS * BUFFER_BYTES),
                x: column + (panel * columns) as u32,
                y: row + (row_block * BOX_ROWS * GROUPS) as u32,
                group,
                thread,
            };
            // SAFETY: all threads of the warpgroup run this alike, for panels that take turns with its buffers.
            unsafe { self.store_panel(panel, tile.registers(), register, engines_columns) }
        });
    }

    /// Stores a panel, whose registers begin at `first`, of a matrix of which the engine stores so many columns.
    ///
    /// # Safety
    /// All threads of the warpgroup execute this same call. The buffer is its own, and another one than for the panel before.
    #[inline(always)]
    unsafe fn store_panel<C: PowerOfTwo>(
        &self,
        panel: Panel<'_>,
        registers: &Registers<T, C>,
        first: usize,
        engines_columns: u32,
    ) {
        let Panel { columns, buffer, x, y, group, .. } = panel;
        let issues = panel.thread.is_multiple_of(WARPGROUP);
        // A panel that begins behind the engine's columns has none of them.
        let by_engine = x < engines_columns;
        // SAFETY: all threads of the warpgroup run this alike; one thread issues all its stores. A buffer is written when
        // its last store has read it and, as the barrier behind which the other one was written says, no thread reads
        // it any more; it is stored when all have written and published, to columns that are multiples of a panel's bytes.
        unsafe {
            if issues {
                bulk::wait_for_reads::<{ BUFFERS - 1 }>();
            }
            execution::named_barrier(FIRST_BARRIER + group, WARPGROUP as u32);
            Self::write_panel(panel, registers, first);
            if by_engine {
                barriers::fence_proxy_async();
            }
            execution::named_barrier(FIRST_BARRIER + group, WARPGROUP as u32);
            if by_engine && issues {
                bulk::store(self.sink.matrix.map.cast(), buffer, [x, y, self.index[0]]);
                bulk::commit_stores();
            }
            // What is left: the panel, or in one of a row's panels the columns of its last chunk.
            let first = engines_columns.saturating_sub(x);
            if !by_engine {
                self.ragged_rows(panel).store(panel.lane());
            } else if first < columns as u32 && engines_columns < self.sink.matrix.layout.columns {
                self.copy_columns(panel, first);
            }
        }
    }

    /// Writes this warp's 16 rows of a panel, whose registers begin at `first`, to its buffer.
    ///
    /// # Safety
    /// The buffer has room for the panel, and no other thread accesses these rows.
    #[inline(always)]
    unsafe fn write_panel<C: PowerOfTwo>(panel: Panel<'_>, registers: &Registers<T, C>, first: usize) {
        let Panel { geometry, columns, buffer, .. } = panel;
        let (warp, lane) = (panel.warp(), panel.lane());
        let size = const { size_of::<T::Bits>() };
        if size == 2 && columns >= 16 {
            // SAFETY: elements of two bytes, as just asked.
            let word = |i: usize| unsafe { packed_pair(registers.get(i), registers.get(i + 1)) };
            let mut sixteen = 0;
            while sixteen < columns / 16 {
                let at = first + sixteen * 8;
                let place = geometry.offset(16 * warp + lane % 16, (2 * sixteen + lane / 16) * CHUNK_BYTES);
                // SAFETY: the caller vouches for the rows.
                unsafe {
                    store_matrices_4(
                        threads::word(threads::offset(buffer, place)),
                        [0, 2, 4, 6].map(|k| word(at + k)),
                    )
                };
                sixteen += 1;
            }
            return;
        }
        let mut eight = 0;
        while eight < columns / 8 {
            let mut half = 0;
            while half < 2 {
                let (row, column) = (16 * warp + 8 * half + lane / 4, 8 * eight + lane % 4 * 2);
                let at = first + 4 * eight + 2 * half;
                let mut k = 0;
                while k < 2 {
                    let place = threads::offset(buffer, geometry.offset(row, (column + k) * size));
                    // SAFETY: the caller vouches for the rows.
                    unsafe { store_element(place, registers.get(at + k)) };
                    k += 1;
                }
                half += 1;
            }
            eight += 1;
        }
    }

    /// This warp's 16 rows of a panel in its buffer, on their way to the matrix.
    #[inline(always)]
    fn ragged_rows<'g>(&self, panel: Panel<'g>) -> RaggedRows<'g, T> {
        let Panel { geometry, buffer, x, y, .. } = panel;
        let warp = panel.warp();
        // What panels have in common must not take registers from one to the next.
        let ([x, y], warp) =
            ([x, y].map(execution::rematerialise), execution::rematerialise(warp as u32) as usize);
        let layout = &self.sink.matrix.layout;
        let y = y + 16 * warp as u32;
        let inside = [layout.rows.saturating_sub(y), layout.columns.saturating_sub(x)];
        let (first, target) = (16 * warp, self.element(y, x));
        RaggedRows { geometry, buffer, first, target, pitch: layout.row_pitch, inside, element: PhantomData }
    }

    /// The place in memory of an element of the matrix that this tile is a part of.
    #[inline(always)]
    fn element(&self, y: u32, x: u32) -> *mut T::Bits {
        let layout = &self.sink.matrix.layout;
        let distance = u64::from(self.index[0]) * layout.batch_pitch + u64::from(y) * layout.row_pitch;
        self.sink.matrix.pointer.wrapping_add((distance + u64::from(x)) as usize)
    }

    /// Copies the columns of a chunk, from `first` on, of this warp's 16 rows of a panel in its buffer to the same columns of the
    /// matrix, but for what lies outside.
    ///
    /// # Safety
    /// The panel has the columns and is in the buffer, and the rows and columns are of this tile.
    #[inline(always)]
    unsafe fn copy_columns(&self, panel: Panel<'_>, first: u32) {
        let Panel { geometry, buffer, x, y, .. } = panel;
        let (warp, lane) = (panel.warp(), panel.lane());
        let layout = &self.sink.matrix.layout;
        // A loop, not copies of its body: registers are short here.
        let (mut number, count) = (lane, execution::opaque(const { 16 * Self::GRANULE as u32 }) as usize);
        while number < count {
            let (row, column) = (16 * warp + number / Self::GRANULE, first as usize + number % Self::GRANULE);
            let (y, x) = (y + row as u32, x + column as u32);
            let inside = y < layout.rows && x < layout.columns;
            let place = threads::offset(buffer, geometry.offset(row, column * size_of::<T::Bits>()));
            // SAFETY: the place is in the panel; the element is of this block's own tile, and inside the matrix, wherever the
            // condition holds.
            unsafe {
                let element: T = load_element(place);
                transfer::store(self.element(y, x), 1, Some(inside), |_| element);
            }
            number += 32;
        }
    }

    #[inline(always)]
    #[track_caller]
    fn store_by_threads<L: Layout>(&self, tile: Tile<T, (M, N), L>) {
        self.sink.matrix.assert_lent();
        let map = const { &Map::<L, (M, N)>::MAP };
        // As above.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        if thread & map.replicas != 0 {
            return;
        }
        let size = const { size_of::<T::Bits>() };
        let column_bits = const { <N::Count as PowerOfTwo>::LOG };
        let layout = &self.sink.matrix.layout;
        let [batch, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32);
        let matrix = self.sink.matrix.pointer.wrapping_add((u64::from(batch) * layout.batch_pitch) as usize);
        // Registers 2 k and 2 k + 1 are neighbouring columns, wherever there are two registers.
        let pair = const { Map::<L, (M, N)>::MAP.register[0] == 0 && 2 * size_of::<T::Bits>() <= 16 };
        let together = pair
            && layout.row_pitch.is_multiple_of(2)
            && layout.batch_pitch.is_multiple_of(2)
            && self.sink.matrix.pointer.addr().is_multiple_of(2 * size);
        let own = map.of_thread.apply(thread);
        let step = if pair { 2 } else { 1 };
        <L::Registers<(M, N)>>::unroll(0, step, &mut |register| {
            let flat = own | map.of_register.apply(register);
            let (y, x) =
                (row + (flat >> column_bits) as u32, column + (flat & ((1 << column_bits) - 1)) as u32);
            let target = matrix.wrapping_add((u64::from(y) * layout.row_pitch + u64::from(x)) as usize);
            let inside = |k: usize| y < layout.rows && x + (k as u32) < layout.columns;
            // SAFETY: the elements are of this block's own tile and inside the matrix, wherever the condition holds.
            unsafe {
                if together && inside(1) {
                    transfer::store(target, 2, None, |k| tile.registers().get(register + k));
                } else {
                    let mut k = 0;
                    while k < step {
                        transfer::store(target.wrapping_add(k), 1, Some(inside(k)), |_| {
                            tile.registers().get(register + k)
                        });
                        k += 1;
                    }
                }
            }
        });
    }
}
