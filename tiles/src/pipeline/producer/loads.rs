//! What a block works on, in order: the indices of its tiles, and the feed that they become.

use crate::layout::Block;
use crate::pipeline::roles::WarpRoles;
use crate::schedule::numbers::{Numbers, locate};
use crate::schedule::order::TileOrder;

/// The indices of the tiles that fall to a block, from [`WarpRoles::tile_indices`].
#[derive(Clone)]
pub struct TileIndices<O> {
    numbers: Numbers,
    order: O,
    counts: [u32; 3],
}

impl<O: TileOrder> Iterator for TileIndices<O> {
    type Item = [u32; 3];
    #[inline(always)]
    fn next(&mut self) -> Option<[u32; 3]> {
        let blocks = self.numbers.step;
        self.numbers.next().map(|number| locate(&self.order, number, blocks, self.counts))
    }
}

impl<O: TileOrder> TileIndices<O> {
    /// The first `count` of the block's indices, for a kernel that leaves the others to another launch: as [`Iterator::take`], but
    /// still what a feed is made of. [`TmaStore::schedule_first`](super::TmaStore::schedule_first) gives the same tiles of a sink.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `c = a b'`, of which each block computes the first of its tiles.
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
    ///     let feed = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, feed, move |cx, mut consumer| {
    ///         for tile in c.schedule_first(cx, order, 1) {
    ///             let sums = consumer.k_loop(steps).accumulate(cx, |sums, (a, b)| sums.mma(a, b.transposed()));
    ///             tile.store(&mut buffer, sums);
    ///         }
    ///     });
    /// }
    /// ```
    #[inline(always)]
    pub fn take(self, count: u32) -> Self {
        Self { numbers: self.numbers.first(count), ..self }
    }

    /// As [`Iterator::flat_map`], the feed of a pipeline: the tiles that each index needs, one after the other. Where there is no
    /// index, `tiles` may be asked for those of `[0, 0, 0]`, which nobody takes.
    ///
    /// Computing threads that copy for themselves take the feed along through their main loop. There it costs registers
    /// and time whatever might be there or not: this one always has tiles that it is at.
    #[inline(always)]
    pub fn flat_map<U: IntoIterator, F: FnMut([u32; 3]) -> U>(self, tiles: F) -> ProducerLoads<O, F> {
        ProducerLoads { indices: self, tiles }
    }
}

/// Tiles for each of a block's indices, from [`TileIndices::flat_map`]: to be iterated over.
#[derive(Clone)]
pub struct ProducerLoads<O, F> {
    indices: TileIndices<O>,
    tiles: F,
}

impl<O: TileOrder, U: IntoIterator, F: FnMut([u32; 3]) -> U> IntoIterator for ProducerLoads<O, F> {
    type Item = U::Item;
    type IntoIter = ProducerLoadsIter<O, U::IntoIter, F>;
    // Whoever takes the tiles asks for the first index: not the threads that only have the feed in their hands.
    #[inline(always)]
    fn into_iter(mut self) -> ProducerLoadsIter<O, U::IntoIter, F> {
        let first = self.indices.next();
        let current = (self.tiles)(first.unwrap_or([0; 3])).into_iter();
        ProducerLoadsIter { indices: self.indices, current, ended: first.is_none(), tiles: self.tiles }
    }
}

/// The tiles of a [`ProducerLoads`].
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
    #[inline(always)]
    fn next(&mut self) -> Option<U::Item> {
        // Apart from the loop, in front of which what its divisions have in common would be computed each time.
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
}

impl<B: Block> WarpRoles<B> {
    /// The indices, matrix, row and column of tiles, that fall to this block when `counts` tiles are dealt out in this order:
    /// those of [`TmaStore::schedule`](super::TmaStore::schedule), as plain numbers for the feed of a pipeline.
    ///
    /// # Panics
    /// If there are 2³² tiles or more (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn tile_indices<O: TileOrder + Send>(&self, order: O, counts: [u32; 3]) -> TileIndices<O> {
        TileIndices { numbers: Numbers::new(self.first_number(), self.num_blocks(0), counts), order, counts }
    }
}
