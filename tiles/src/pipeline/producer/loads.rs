//! The tiles of a block in their order, and the loads of a producer that follow from them.

use crate::layout::Block;
use crate::pipeline::roles::WarpRoles;
use crate::schedule::numbers::{Numbers, locate, numbers_of, of_groups, tiles_of_group};
use crate::schedule::order::TileOrder;

/// The indices of a block's tiles, from [`WarpRoles::tile_indices`].
#[derive(Clone)]
pub struct TileIndices<O> {
    numbers: Numbers,
    order: O,
    counts: [u32; 3],
    /// The rows and columns of tiles that the blocks which share the producer have.
    side: [u32; 2],
}

impl<O: TileOrder> Iterator for TileIndices<O> {
    type Item = [u32; 3];
    #[inline_on_device]
    fn next(&mut self) -> Option<[u32; 3]> {
        let blocks = self.numbers.step;
        self.numbers.next().map(|number| {
            let [matrix, i, j] = locate(&self.order, number, blocks, self.counts);
            [matrix, i * self.side[0], j * self.side[1]]
        })
    }
}

impl<O: TileOrder> TileIndices<O> {
    /// The first `count` of the block's indices, for a kernel that leaves the others to another launch.
    ///
    /// As [`Iterator::take`], but the result still has [`flat_map`](Self::flat_map).
    /// [`TmaStore::schedule_first`](crate::memory::TmaStore::schedule_first) schedules the same tiles of a store operand.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `c = a b'`: each block computes the first of its tiles.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn first_wave(
    ///     roles: WarpRoles,
    ///     a: TmaLoad<f16, Shape2<64, 64>>,
    ///     b: TmaLoad<f16, Shape2<64, 64>>,
    ///     c: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, Shape2<64, 64>>)>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let (order, steps) = (Grouped::<16>, a.tile_counts().1);
    ///     let tiles = roles.tile_indices(order, c.tile_counts()).take(1);
    ///     let loads = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in c.schedule_first(cx, order, 1) {
    ///             let acc = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b.transposed()));
    ///             tile.store(&mut buffer, acc);
    ///         }
    ///     });
    /// }
    /// ```
    #[inline_on_device]
    pub fn take(self, count: u32) -> Self {
        Self { numbers: self.numbers.first(count), ..self }
    }

    /// The loads of a pipeline: for each index the tiles that it needs, as [`Iterator::flat_map`].
    ///
    /// If there is no index, the library may call `tiles` with `[0, 0, 0]`; nobody loads the result.
    ///
    /// Consumers that copy for themselves carry this iterator through their main loop. An optional inner iterator would cost
    /// registers and time there. This iterator therefore always has an inner one.
    #[inline_on_device]
    pub fn flat_map<U: IntoIterator, F: FnMut([u32; 3]) -> U>(self, tiles: F) -> ProducerLoads<O, F> {
        ProducerLoads { indices: self, tiles }
    }
}

/// The loads of a producer, from [`TileIndices::flat_map`].
#[derive(Clone)]
pub struct ProducerLoads<O, F> {
    indices: TileIndices<O>,
    tiles: F,
}

impl<O: TileOrder, U: IntoIterator, F: FnMut([u32; 3]) -> U> IntoIterator for ProducerLoads<O, F> {
    type Item = U::Item;
    type IntoIter = ProducerLoadsIter<O, U::IntoIter, F>;
    // The thread that iterates computes the first index. Threads that only own the value do not.
    #[inline_on_device]
    fn into_iter(mut self) -> ProducerLoadsIter<O, U::IntoIter, F> {
        let first = self.indices.next();
        let current = (self.tiles)(first.unwrap_or([0; 3])).into_iter();
        ProducerLoadsIter { indices: self.indices, current, ended: first.is_none(), tiles: self.tiles }
    }
}

/// The iterator of [`ProducerLoads`].
#[derive(Clone)]
pub struct ProducerLoadsIter<O, I, F> {
    indices: TileIndices<O>,
    current: I,
    ended: bool,
    tiles: F,
}

impl<O: TileOrder, U: IntoIterator<IntoIter = I>, I: Iterator<Item = U::Item>, F: FnMut([u32; 3]) -> U>
    Iterator for ProducerLoadsIter<O, I, F>
{
    type Item = U::Item;
    #[inline_on_device]
    fn next(&mut self) -> Option<U::Item> {
        // In front of the loop: within it, the compiler would compute common parts of the divisions each time.
        if self.ended {
            return None;
        }
        if let Some(tile) = self.current.next() {
            return Some(tile);
        }
        for index in self.indices.by_ref() {
            self.current = (self.tiles)(index).into_iter();
            if let Some(tile) = self.current.next() {
                return Some(tile);
            }
        }
        self.ended = true;
        None
    }

    /// As a loop within a loop: the inner one has in front of it what depends on the index of a tile alone. By `next` it would be one loop,
    /// which takes the producer warp twice the time.
    #[inline_on_device]
    fn all<P: FnMut(U::Item) -> bool>(&mut self, mut predicate: P) -> bool {
        if self.ended {
            return true;
        }
        while self.current.all(&mut predicate) {
            let Some(index) = self.indices.next() else {
                self.ended = true;
                return true;
            };
            self.current = (self.tiles)(index).into_iter();
        }
        false
    }
}

impl<B: Block> WarpRoles<B> {
    /// The indices (matrix, row, column) of this block's tiles, of `counts` tiles scheduled in this order.
    ///
    /// [`TmaStore::schedule`](crate::memory::TmaStore::schedule) schedules the same tiles. These are plain numbers for the
    /// producer.
    ///
    /// # Panics
    ///
    /// If there are 2³² tiles or more (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn tile_indices<O: TileOrder + Send>(&self, order: O, counts: [u32; 3]) -> TileIndices<O> {
        let (side, counts) = (tiles_of_group::<B>(), of_groups::<B>(counts));
        TileIndices { numbers: numbers_of(self.context(), counts), order, counts, side }
    }
}
