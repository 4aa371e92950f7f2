//! The tiles of a store operand that a block has, and the way of each to global memory.

use crate::arch::execution;
use crate::arch::matrix::WARPGROUPS;
use crate::arch::threads;
use crate::context::Cx;
use crate::element::Element;
use crate::epilogue::buffer::EpilogueBuffer;
use crate::epilogue::tile::StoreTile;
use crate::layout::{Accumulators, Block, Layout, Map, WARPGROUP, is_transposed};
use crate::memory::tensor_map::{MatrixShape, TmaStore};
use crate::pipeline::roles::WarpRoles;
use crate::registers::PowerOfTwo;
use crate::schedule::numbers::{Numbers, locate, numbers_of, of_groups, tiles_of_group};
use crate::schedule::order::TileOrder;
use crate::shape::{BroadcastsTo, Dimension, Shape};
use crate::tile::Tile;
use crate::view::partition_check::assert_same_order;
use crate::view::transfer;

impl<T: Element, S: MatrixShape> TmaStore<T, S> {
    /// The numbers of matrices, of rows of tiles, and of columns of tiles, partial tiles at the edges included.
    #[inline_on_device]
    pub fn tile_counts(&self) -> [u32; 3] {
        self.counts_of([self.rows(), self.columns()])
    }

    /// The counts for so many rows and columns.
    #[inline_on_device]
    fn counts_of(&self, [rows, columns]: [u32; 2]) -> [u32; 3] {
        [self.batches(), rows.div_ceil(S::ROWS as u32), columns.div_ceil(S::COLUMNS as u32)]
    }

    /// Schedules the tiles to the blocks of a persistent grid, in this order, and returns this block's tiles.
    ///
    /// This consumes the store operand. There is no other way to its tiles, so that each tile belongs to one block alone. All
    /// blocks schedule the tiles in the same order. They choose it before they know anything of their own: before [`Cx::bid`],
    /// before [`wait`](crate::pipeline::Consumer::wait) and [`k_loop`](crate::pipeline::Consumer::k_loop), and before this
    /// iterator's first tile. [`WarpRoles::schedule`] does the same before the roles split.
    ///
    /// # Panics
    ///
    /// If there are 2³² tiles or more (on the device: traps). On the CPU also if the block knows something of its own; for a
    /// GPU such a kernel is not built.
    #[inline_on_device]
    #[track_caller]
    pub fn schedule<B: Block, O: TileOrder>(
        self,
        cx: Cx<B>,
        order: O,
    ) -> StoreTiles<impl Fn(u32) -> StoreTile<T, S> + use<T, S, B, O>> {
        const {
            assert!(
                B::GRID_RANK == 1,
                "tiles are scheduled to the blocks of a one-dimensional grid: leave out `grid`"
            )
        };
        cx.assert_current();
        self.matrix.assert_lent();
        assert_same_order(&self, cx, order);
        let counts = of_groups::<B>(self.tile_counts());
        let numbers = numbers_of(cx, counts);
        let blocks = numbers.step;
        let consumer = cx.consumer_number();
        let tile = move |number| {
            // SAFETY: all threads of the warp run this alike. The assembler cannot know that a loop over tiles keeps warps
            // together. Behind a barrier it knows, and computes addresses once for a warp.
            unsafe { threads::warp_barrier() };
            // Where the sides of a tile are no powers of two, counts are quotients. Computed for each tile they take no registers between
            // tiles, of which the large tiles of warpgroups leave none.
            let counts = if const { !WARPGROUPS || S::ROWS.is_power_of_two() && S::COLUMNS.is_power_of_two() }
            {
                counts
            } else {
                of_groups::<B>(self.counts_of([self.rows(), self.columns()].map(execution::rematerialise)))
            };
            StoreTile {
                // SAFETY: a store operand owns nothing. Each copy refers to another tile, by the tile order's numbers and by
                // the launch's constant number of blocks.
                operand: unsafe { core::ptr::read(&self) },
                index: {
                    let [matrix, i, j] = locate(&order, number, blocks, counts);
                    let ([rows, columns], [row, column]) =
                        (const { tiles_of_group::<B>() }, cx.tile_of_cluster());
                    [matrix, i * rows + consumer + row, j * columns + column]
                },
            }
        };
        StoreTiles { numbers, tile }
    }

    /// The first `count` tiles of [`schedule`](Self::schedule); the other tiles keep their contents.
    ///
    /// [`TileIndices::take`](crate::pipeline::TileIndices::take) gives a producer the same indices, and has an example.
    ///
    /// # Panics
    ///
    /// As [`schedule`](Self::schedule).
    #[inline_on_device]
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
    /// [`TmaStore::schedule`] before the roles split, for a kernel that needs the index of its block or [producer](Self::producer_index) for its
    /// loads and for its tiles.
    ///
    /// The consumers [begin](ScheduledStores::of) with the tiles.
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
    ///     let loads = roles.tile_indices(RowMajor, y.tile_counts()).map(move |[_, i, j]| x.tile(i, j));
    ///     let tiles = roles.schedule(y, RowMajor);
    ///     let own = *roles.bid::<0>() as f32;
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         let mut buffer = buffer;
    ///         for tile in tiles.of(cx) {
    ///             let x = consumer.wait();
    ///             tile.store(&mut buffer, x.tiles().load(cx) + own);
    ///             consumer.release(x);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`TmaStore::schedule`].
    #[inline_on_device]
    #[track_caller]
    pub fn schedule<T: Element, S: MatrixShape, O: TileOrder>(
        &self,
        operand: TmaStore<T, S>,
        order: O,
    ) -> ScheduledStores<impl Fn(u32) -> StoreTile<T, S> + use<T, S, B, O>> {
        ScheduledStores(operand.schedule(self.context(), order))
    }
}

/// The tiles of a store operand that was scheduled before the roles split, from [`WarpRoles::schedule`].
///
/// It has no tile for a producer: the indices of a block's own tiles tell it from the other blocks of its cluster, whose producers must have
/// the same loads.
#[must_use = "the tiles are stored by the consumers: `for tile in tiles.of(cx)`"]
pub struct ScheduledStores<F>(StoreTiles<F>);

impl<F> ScheduledStores<F> {
    /// The tiles of the block that this consumer runs.
    #[inline_on_device]
    pub fn of<B: Block>(self, _cx: Cx<B>) -> StoreTiles<F> {
        self.0
    }
}

/// This block's tiles of a store operand, from [`TmaStore::schedule`].
///
/// A closure makes the tile of each number. With a struct of the same fields, LLVM's loops took up to 56 registers more.
pub struct StoreTiles<F> {
    numbers: Numbers,
    tile: F,
}

impl<F> StoreTiles<F> {
    /// The first `count` tiles, as [`Iterator::take`]; the other tiles keep their contents.
    #[inline_on_device]
    pub fn take(self, count: u32) -> Self {
        Self { numbers: self.numbers.first(count), ..self }
    }
}

impl<T: Element, S: MatrixShape, F: Fn(u32) -> StoreTile<T, S>> Iterator for StoreTiles<F> {
    type Item = StoreTile<T, S>;
    #[inline_on_device]
    fn next(&mut self) -> Option<StoreTile<T, S>> {
        self.numbers.next().map(&self.tile)
    }
}

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    /// Stores a tile, except for elements outside the matrix.
    ///
    /// # On a GPU
    ///
    /// Where the GPU has TMA and the rows of the matrix begin at multiples of 16 bytes, threads write the buffer by `stmatrix`, and
    /// `cp.async.bulk.tensor` copies it (PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor"). The tile is still on
    /// its way when this returns; the launch's end waits for it. So are tiles of [transposed accumulators](Tile::transposed_accumulators),
    /// if elements have 16 or 32 bits, the rows are a multiple of 16, and each warpgroup has a multiple of 64 columns, which are rows of
    /// accumulators; of 32-bit elements only if rows of the matrix end at multiples of 16 bytes, too, and panels have 64 rows. Other such
    /// tiles, tiles of other layouts with [`Padded`](crate::shape::Padded) rows, and all tiles on other targets are stored by threads
    /// without the buffer.
    #[inline_on_device]
    #[track_caller]
    pub fn store<L: Layout, const GROUPS: usize, const PANEL_ROWS: usize>(
        self,
        buffer: &mut EpilogueBuffer<GROUPS, PANEL_ROWS>,
        tile: Tile<T, (M, N), L>,
    ) {
        const {
            assert!(
                !WARPGROUPS
                    || GROUPS * WARPGROUP
                        == <<L::Block as Block>::Threads as PowerOfTwo>::COUNT * L::Block::CONSUMERS as usize,
                "the epilogue buffer has room for each warpgroup: `EpilogueBuffer<2>` in a kernel of 256 threads; a kernel of fewer \
                 than 128 threads calls `store_directly`"
            );
            assert!(
                is_transposed::<L>() || PANEL_ROWS == 64,
                "panels of fewer than 64 rows are for transposed accumulators: take `EpilogueBuffer<2>`"
            )
        };
        if const { is_transposed::<L>() } {
            if const {
                Self::transposed_through_buffer(
                    <<L::Block as Block>::Threads as PowerOfTwo>::COUNT / WARPGROUP,
                    PANEL_ROWS,
                )
            } {
                return self.store_transposed_through_buffer(buffer, tile);
            }
            if const {
                Self::transposed_words_through_buffer(
                    <<L::Block as Block>::Threads as PowerOfTwo>::COUNT / WARPGROUP,
                    PANEL_ROWS,
                )
            } && self.is_stored_by_tma(self.tma_columns())
            {
                return self.store_transposed_words(buffer, tile);
            }
            // Eight lanes hold neighbours in a row. A warp therefore stores whole sectors of 32-bit elements at once.
            return self.store_by_threads(tile);
        }
        let tile = tile.spread::<(M, N), Accumulators<L::Block>>();
        if const { Self::through_buffer(<<L::Block as Block>::Threads as PowerOfTwo>::COUNT / WARPGROUP) } {
            self.store_through_buffer(buffer, tile);
        } else {
            self.store_by_threads(tile);
        }
    }

    /// Stores a tile here from registers, without an epilogue buffer; elements outside the matrix are left out.
    ///
    /// For kernels of fewer than 128 threads, which have no epilogue buffer, for small tiles, and for tiles whose layout has
    /// neighbours in a row, such as [transposed accumulators](Tile::transposed_accumulators). A tile of size 1 along an axis is
    /// repeated along it: so the maxima of rows of accumulators go to a matrix of one column.
    #[inline_on_device]
    #[track_caller]
    pub fn store_directly<R: BroadcastsTo<(M, N)>, L: Layout>(self, tile: Tile<T, R, L>) {
        if const { R::LEN == <(M, N) as Shape>::LEN } {
            self.store_by_threads(tile.spread::<(M, N), L>());
        } else {
            self.store_by_threads(tile.spread::<(M, N), Accumulators<L::Block>>());
        }
    }

    #[inline_on_device]
    #[track_caller]
    fn store_by_threads<L: Layout>(&self, tile: Tile<T, (M, N), L>) {
        self.operand.matrix.assert_lent();
        let map = const { &Map::<L, (M, N)>::MAP };
        // Addresses must not take registers while multiplications are under way.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        if thread & map.replicas != 0 {
            return;
        }
        let size = const { size_of::<T::Bits>() };
        let column_bits = const { <N::Count as PowerOfTwo>::LOG };
        let layout = &self.operand.matrix.layout;
        let [batch, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32);
        let matrix =
            self.operand.matrix.pointer.wrapping_add((u64::from(batch) * layout.batch_pitch) as usize);
        // Registers 2 k and 2 k + 1 are neighbouring columns, wherever a thread has two registers.
        let pair = const { Map::<L, (M, N)>::MAP.register[0] == 0 && 2 * size_of::<T::Bits>() <= 16 };
        let together = pair
            && layout.row_pitch.is_multiple_of(2)
            && layout.batch_pitch.is_multiple_of(2)
            && self.operand.matrix.pointer.addr().is_multiple_of(2 * size);
        let own = map.of_thread.apply(thread);
        let (end_of_rows, end) = (self.end_of_rows(), self.end_of_columns());
        let step = if pair { 2 } else { 1 };
        <L::Registers<(M, N)>>::unroll(0, step, &mut |register| {
            let flat = own | map.of_register.apply(register);
            let (y, x) =
                (row + (flat >> column_bits) as u32, column + (flat & ((1 << column_bits) - 1)) as u32);
            let target = matrix.wrapping_add((u64::from(y) * layout.row_pitch + u64::from(x)) as usize);
            let inside = |k: usize| y < end_of_rows && x + (k as u32) < end;
            // SAFETY: the elements belong to this block's own tile, and are inside the matrix wherever the condition holds.
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
