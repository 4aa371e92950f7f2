//! A row operand, such as a bias, for tiles of accumulators.
//!
//! A thread of a warpgroup holds two of every eight columns. Many threads therefore need each element of the row. Loads at the
//! place of the addition would be many accesses, and the warp would wait for several in turn. Instead, the lanes of a warp load
//! the row together, neighbours side by side and all at once, and exchange elements by shuffles.

use crate::arch::{TILES_IN_REGISTERS, execution};
use crate::element::{Cast, Element, Number};
use crate::layout::{Accumulators, Block, Layout, Map, THREAD_BITS, is_transposed};
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;
use crate::span::Span;
use crate::tile::Tile;
use crate::view::transfer::{self, Words};
use core::marker::PhantomData;

/// Lanes of a warp, and the logarithm.
const LANES: usize = 1 << LANE_BITS;
const LANE_BITS: usize = 5;
/// The most pairs of neighbouring columns that a lane loads.
const MOST_PAIRS: usize = 4;

/// The part of a row operand beside a tile of shape `(M, N)`: zero where the row is too short. From
/// [`StoreTile::row`](super::StoreTile::row).
pub struct TileRow<T: Element, M, N, B> {
    row: Span<T, (u32,)>,
    /// The row's element that belongs to the tile's first column.
    first: u32,
    /// The pairs that this lane has loaded, where lanes share: those whose numbers are the lane's, modulo the number of lanes.
    pairs: [Words; MOST_PAIRS],
    tile: PhantomData<(M, N, B)>,
}

/// Whether the lanes of a warp can share the row of a tile in this layout. Registers 2 k and 2 k + 1 are neighbouring columns.
/// The lane alone decides which columns it holds, by bits that choose one of as many pairs as there are lanes.
const fn lanes_share<L: Layout, M: Dimension, N: Dimension>() -> bool {
    let map = &Map::<L, (M, N)>::MAP;
    let (columns, count) = (<N::Count as PowerOfTwo>::LOG, <N::Count as PowerOfTwo>::COUNT);
    let mut share = TILES_IN_REGISTERS && count <= 2 * LANES * MOST_PAIRS && map.register[0] == 0;
    let mut k = 0;
    while k < THREAD_BITS {
        let bit = map.thread[k];
        let of_column = bit >= 0 && (bit as u32) < columns;
        share = share && (!of_column || k < LANE_BITS && 1 <= bit && bit as usize <= LANE_BITS);
        k += 1;
    }
    share
}

impl<T: Element, M: Dimension, N: Dimension, B: Block> TileRow<T, M, N, B> {
    const COLUMNS: usize = <N::Count as PowerOfTwo>::COUNT;
    /// Words of a pair.
    const WORDS: usize = (2 * size_of::<T::Bits>()).div_ceil(4);

    /// The part of `row` from element `first` on.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn new(row: Span<T, (u32,)>, first: u32) -> Self {
        row.assert_lent();
        let mut pairs = [Words::ZERO; MOST_PAIRS];
        if const { lanes_share::<Accumulators<B>, M, N>() } {
            let (pointer, length) = (row.pointer.cast_const(), row.extent(0));
            // Addresses must not take registers while multiplications are under way.
            let lane = execution::rematerialise(execution::thread() as u32) % LANES as u32;
            let pair_bytes = const { 2 * size_of::<T::Bits>() };
            let together = pointer.addr().is_multiple_of(pair_bytes) && length.is_multiple_of(2);
            let mut k = 0;
            while k < const { Self::COLUMNS.div_ceil(2 * LANES) } {
                let at = first + 2 * (lane + (k * LANES) as u32);
                let source = pointer.wrapping_add(at as usize);
                let mut elements = [T::ZERO; 2];
                // SAFETY: the loaded elements are inside the span wherever the condition holds, and pairs are aligned; nothing
                // writes memory that is lent for reads.
                unsafe {
                    let cache = transfer::Cache::Constant;
                    if together {
                        let is_inside = Some(at < length);
                        transfer::load(source, 2, cache, is_inside, T::ZERO, |k, value: T| {
                            elements[k] = value
                        });
                    } else {
                        let load = |k: usize, element: &mut T| {
                            let (source, is_inside) =
                                (source.wrapping_add(k), Some(at + (k as u32) < length));
                            transfer::load(source, 1, cache, is_inside, T::ZERO, |_, value: T| {
                                *element = value
                            })
                        };
                        let [low, high] = &mut elements;
                        load(0, low);
                        load(1, high);
                    }
                }
                pairs[k] = Words::from_elements(2, |k| elements[k]);
                k += 1;
            }
        }
        Self { row, first, pairs, tile: PhantomData }
    }

    /// Adds to each column of `acc` its element of the row.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `y = x w + bias`.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn linear(
    ///     roles: WarpRoles,
    ///     x: TmaLoad<f16, Shape2<64, 64>>,
    ///     w: TmaLoad<f16, Shape2<64, 64>>,
    ///     bias: Span<f16, (u32,)>,
    ///     y: TmaStore<f16, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, Shape2<64, 64>>)>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let (order, steps) = (RowMajor, x.tile_counts().1);
    ///     let loads = roles.tile_indices(order, y.tile_counts()).flat_map(move |[_, i, j]| x.row(i).zip(w.column(j)));
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in y.schedule(cx, order) {
    ///             let bias = tile.row(cx, bias);
    ///             let acc = consumer.k_loop(steps).accumulate(|acc, (x, w)| acc.mma(x, w));
    ///             tile.store(&mut buffer, bias.add(acc).cast());
    ///         }
    ///     });
    /// }
    /// ```
    #[inline_on_device]
    #[track_caller]
    pub fn add<C: Number, L: Layout<Block = B>>(&self, acc: Tile<C, (M, N), L>) -> Tile<C, (M, N), L>
    where
        T: Cast<C>,
    {
        self.row.assert_lent();
        let map = const { &Map::<L, (M, N)>::MAP };
        let columns = const { Self::COLUMNS - 1 };
        // As above: no registers while multiplications are under way.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        let own = map.of_thread.apply(thread) & columns;
        // Registers 2 k and 2 k + 1 have the columns of the two registers before them, or other columns. In transposed
        // accumulators, the same two columns come again in pairs.
        let (mut known, mut elements) = ([usize::MAX; 2], [C::ZERO; 2]);
        let is_transposed = const { is_transposed::<L>() };
        Tile::from_registers_fn(|register| {
            let column = map.of_register.apply(register) & columns;
            let k = if is_transposed { register / 2 % 2 } else { register % 2 };
            if known[k] != column {
                if const { lanes_share::<L, M, N>() && lanes_share::<Accumulators<B>, M, N>() } {
                    let pair = self.pair(column / 2, own / 2);
                    elements = [0, 1].map(|k| pair.element::<T>(k).cast());
                    known = [column & !1, column | 1];
                } else {
                    elements[k] = self.element(column | own).cast();
                    known[k] = column;
                }
            }
            Number::add(acc.registers().get(register), elements[k])
        })
    }

    /// The pair of number `number`, with the bits of `own` where `number` has zeros.
    #[inline_on_device]
    fn pair(&self, number: usize, own: usize) -> Words {
        let (mut pair, has) = (Words::ZERO, &self.pairs[number / LANES]);
        let mut word = 0;
        while word < Self::WORDS {
            // SAFETY: all threads of the block run this alike.
            pair.0[word] = unsafe { execution::from_lane(has.0[word], ((number | own) % LANES) as u32) };
            word += 1;
        }
        pair
    }

    /// The element of a column of the tile.
    #[inline_on_device]
    fn element(&self, column: usize) -> T {
        let at = self.first + column as u32;
        let (source, is_inside) = (self.row.pointer.wrapping_add(at as usize), at < self.row.extent(0));
        let mut element = T::ZERO;
        // SAFETY: the element is inside the span wherever the condition holds. Nothing writes memory that is lent for reads.
        unsafe {
            let cache = transfer::Cache::Constant;
            transfer::load(source.cast_const(), 1, cache, Some(is_inside), T::ZERO, |_, value: T| {
                element = value
            })
        };
        element
    }
}
