//! What a block works on, in order: the indices of its tiles, and the feed that they become.

use super::split::Split;
use crate::arch::barriers::COPY_WARP;
use crate::arch::{execution, order};
use crate::layout::Block;
use crate::view::Order;

/// The numbers of the tiles that fall to a block.
#[derive(Clone)]
pub(super) struct Numbers {
    next: Option<u32>,
    step: u32,
    total: u32,
}

impl Iterator for Numbers {
    type Item = u32;
    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        order::reveals_index();
        let number = self.next.filter(|&number| number < self.total)?;
        self.next = number.checked_add(self.step);
        Some(number)
    }
}

impl Numbers {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(first: u32, step: u32, [a, b, c]: [u32; 3]) -> Self {
        let total = u64::from(a).saturating_mul(u64::from(b)).saturating_mul(u64::from(c));
        if total > u64::from(u32::MAX) {
            execution::fail(|text| text.write_str("a sink has fewer than 2^32 tiles; use larger ones"))
        }
        Self { next: Some(first), step, total: total as u32 }
    }

    /// The first `count` of them.
    #[inline(always)]
    pub(super) fn first(self, count: u32) -> Self {
        let end = self.next.map_or(0, |next| next.saturating_add(self.step.saturating_mul(count)));
        Self { total: self.total.min(end), ..self }
    }
}

/// Where tile `number` of these is in an order, computed where it is used and from nothing kept in advance where the threads that
/// compute deal out the tiles: their products need the registers.
#[inline(always)]
pub(super) fn locate(order: &impl Order, number: u32, blocks: u32, counts: [u32; 3]) -> [u32; 3] {
    let anew = |numbers: [u32; 3]| if COPY_WARP { numbers } else { numbers.map(execution::anew) };
    anew(order.locate_among(number, blocks, anew(counts)))
}

/// The indices of the tiles that fall to a block, from [`Split::indices`].
#[derive(Clone)]
pub struct TileIndices<O> {
    numbers: Numbers,
    order: O,
    counts: [u32; 3],
}

impl<O: Order> Iterator for TileIndices<O> {
    type Item = [u32; 3];
    #[inline(always)]
    fn next(&mut self) -> Option<[u32; 3]> {
        let blocks = self.numbers.step;
        self.numbers.next().map(|number| locate(&self.order, number, blocks, self.counts))
    }
}

impl<O: Order> TileIndices<O> {
    /// The first `count` of the block's indices, for a kernel that leaves the others to another launch: as [`Iterator::take`], but
    /// still what a feed is made of. [`TileSink::deal_first`](super::TileSink::deal_first) gives the same tiles of a sink.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `c = a b'`, of which each block computes the first of its tiles.
    /// #[kernel(threads = 128, copy = 32)]
    /// pub fn first_wave(
    ///     block: Split,
    ///     a: TileSource<f16, Shape2<64, 64>>,
    ///     b: TileSource<f16, Shape2<64, 64>>,
    ///     c: TileSink<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(Staged<f16, Shape2<64, 64>>, Staged<f16, Shape2<64, 64>>)>,
    ///     #[shared] mut stash: Stash<1>,
    /// ) {
    ///     let (order, steps) = (Swizzled::<16>, a.tile_counts().1);
    ///     let tiles = block.indices(order, c.tile_counts()).take(1);
    ///     let feed = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     block.pipeline(ring, feed, move |cx, mut receiver| {
    ///         for tile in c.deal_first(cx, order, 1) {
    ///             let sums = receiver.steps(steps).sum(cx, |sums, (a, b)| sums.mma(a, b.transposed()));
    ///             tile.store(&mut stash, sums);
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
    pub fn flat_map<U: IntoIterator, F: FnMut([u32; 3]) -> U>(self, tiles: F) -> TileFeed<O, F> {
        TileFeed { indices: self, tiles }
    }
}

/// Tiles for each of a block's indices, from [`TileIndices::flat_map`]: to be iterated over.
#[derive(Clone)]
pub struct TileFeed<O, F> {
    indices: TileIndices<O>,
    tiles: F,
}

impl<O: Order, U: IntoIterator, F: FnMut([u32; 3]) -> U> IntoIterator for TileFeed<O, F> {
    type Item = U::Item;
    type IntoIter = FeedTiles<O, U::IntoIter, F>;
    // Whoever takes the tiles asks for the first index: not the threads that only have the feed in their hands.
    #[inline(always)]
    fn into_iter(mut self) -> FeedTiles<O, U::IntoIter, F> {
        let first = self.indices.next();
        let current = (self.tiles)(first.unwrap_or([0; 3])).into_iter();
        FeedTiles { indices: self.indices, current, ended: first.is_none(), tiles: self.tiles }
    }
}

/// The tiles of a [`TileFeed`].
#[derive(Clone)]
pub struct FeedTiles<O, I, F> {
    indices: TileIndices<O>,
    current: I,
    ended: bool,
    tiles: F,
}

impl<O: Order, U: IntoIterator<IntoIter = I>, I: Iterator<Item = U::Item>, F: FnMut([u32; 3]) -> U> Iterator
    for FeedTiles<O, I, F>
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

impl<B: Block> Split<B> {
    /// The indices, matrix, row and column of tiles, that fall to this block when `counts` tiles are dealt out in this order:
    /// those of [`TileSink::deal`](super::TileSink::deal), as plain numbers for the feed of a pipeline.
    ///
    /// # Panics
    /// If there are 2³² tiles or more (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn indices<O: Order + Send>(&self, order: O, counts: [u32; 3]) -> TileIndices<O> {
        TileIndices { numbers: Numbers::new(self.first_number(), self.num_blocks(0), counts), order, counts }
    }
}
