//! A tile of a store operand: where it is, what it had before, and the row operands beside it.

use crate::arch::execution;
use crate::context::Cx;
use crate::element::{Cast, Element, Number};
use crate::epilogue::row::TileRow;
use crate::layout::{Accumulators, Block, Layout, Map};
use crate::memory::shared_tile::CHUNK_BYTES;
use crate::memory::tensor_map::{MatrixShape, TmaStore};
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;
use crate::span::Span;
use crate::tile::Tile;
use crate::view::transfer;

/// A tile of a store operand that this block stores.
pub struct StoreTile<T: Element, S: MatrixShape> {
    pub(super) operand: TmaStore<T, S>,
    pub(super) index: [u32; 3],
}

impl<T: Element, S: MatrixShape> StoreTile<T, S> {
    /// The index of the tile: the matrix, and the row and column of tiles.
    #[inline_on_device]
    pub fn index(&self) -> [u32; 3] {
        self.index
    }
}

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    pub(super) const ROWS: usize = M::LENGTH;
    pub(super) const COLUMNS: usize = N::LENGTH;
    /// Elements of 16 bytes.
    pub(super) const GRANULE: usize = CHUNK_BYTES / size_of::<T::Bits>();

    /// The number of columns that TMA stores: it writes 16 bytes at a time, and threads store the end of a row that does not
    /// fill 16 bytes. Zero if there is no tensor map.
    #[inline_on_device]
    pub(super) fn tma_columns(&self) -> u32 {
        let columns = self.operand.matrix.layout.columns;
        if self.operand.matrix.map.is_null() { 0 } else { columns - columns % const { Self::GRANULE as u32 } }
    }

    /// Whether TMA stores all columns that the tile has inside the matrix, if it stores so many of the matrix's.
    #[inline_on_device]
    pub(super) fn is_stored_by_tma(&self, tma_columns: u32) -> bool {
        (self.index[2] + 1) * Self::COLUMNS as u32 <= tma_columns
            || tma_columns == self.operand.matrix.layout.columns
    }

    /// The first column of the matrix that is not the tile's own.
    #[inline_on_device]
    pub(super) fn end_of_columns(&self) -> u32 {
        let columns = self.operand.matrix.layout.columns;
        if const { Self::COLUMNS == <N::Count as PowerOfTwo>::COUNT } {
            return columns;
        }
        columns.min((self.index[2] + 1) * Self::COLUMNS as u32)
    }

    /// The first row of the matrix that is not the tile's own.
    #[inline_on_device]
    pub(super) fn end_of_rows(&self) -> u32 {
        let rows = self.operand.matrix.layout.rows;
        if const { Self::ROWS == <M::Count as PowerOfTwo>::COUNT } {
            return rows;
        }
        rows.min((self.index[1] + 1) * Self::ROWS as u32)
    }

    /// The contents of this tile before it is stored; zero outside the matrix.
    #[inline_on_device]
    #[track_caller]
    pub fn load<B: Block>(&self, _cx: Cx<B>) -> Tile<T, (M, N), Accumulators<B>> {
        let previous = self.previous::<Accumulators<B>>();
        Tile::from_registers_fn(previous)
    }

    /// `acc + factor * previous`, where `previous` is the result of [`load`](Self::load).
    ///
    /// It needs fewer registers than `load`: each element is loaded where it is added.
    #[inline_on_device]
    #[track_caller]
    pub fn add_previous<C: Number, L: Layout>(
        &self,
        _cx: Cx<L::Block>,
        acc: Tile<C, (M, N), L>,
        factor: C,
    ) -> Tile<C, (M, N), L>
    where
        T: Cast<C>,
    {
        let previous = self.previous::<L>();
        Tile::from_registers_fn(|register| {
            let product = Number::mul(previous(register).cast(), factor);
            Number::add(acc.registers().get(register), product)
        })
    }

    /// A function that loads the element of each register before the tile is stored.
    #[inline_on_device]
    #[track_caller]
    fn previous<L: Layout>(&self) -> impl Fn(usize) -> T {
        self.operand.matrix.assert_lent();
        let map = const { &Map::<L, (M, N)>::MAP };
        // Addresses must not take registers while multiplications are under way.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        let column_bits = const { <N::Count as PowerOfTwo>::LOG };
        let layout = &self.operand.matrix.layout;
        let [batch, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32);
        let matrix =
            self.operand.matrix.pointer.wrapping_add((u64::from(batch) * layout.batch_pitch) as usize);
        let own = map.of_thread.apply(thread);
        let (end_of_rows, end) = (self.end_of_rows(), self.end_of_columns());
        move |register| {
            let flat = own | map.of_register.apply(register);
            let (y, x) =
                (row + (flat >> column_bits) as u32, column + (flat & ((1 << column_bits) - 1)) as u32);
            let source = matrix.wrapping_add((u64::from(y) * layout.row_pitch + u64::from(x)) as usize);
            let mut element = T::ZERO;
            // SAFETY: the element is inside the matrix wherever the condition holds. It belongs to this block's own tile: no
            // other block writes it, and this block does not before `store` takes the tile.
            unsafe {
                transfer::load(
                    source,
                    1,
                    transfer::Cache::Ordinary,
                    Some(y < end_of_rows && x < end),
                    T::ZERO,
                    |_, value| element = value,
                )
            };
            element
        }
    }

    /// The part of a row operand beside this tile, such as a bias: it starts at the number of the tile's first column.
    ///
    /// [`TileRow::add`] adds it to accumulators. Call this before the multiplications: the loads are then done when the
    /// accumulators are.
    #[inline_on_device]
    #[track_caller]
    pub fn row<B: Block>(&self, _cx: Cx<B>, row: Span<T, (u32,)>) -> TileRow<T, M, N, B> {
        TileRow::new(row, self.index[2] * Self::COLUMNS as u32)
    }

    /// Adds to each column of `acc` the element of `row` with the column's number in the store operand; zero where `row` is too
    /// short.
    ///
    /// [`row`](Self::row), called before the multiplications, needs some registers and hides the latency of the loads.
    #[inline_on_device]
    #[track_caller]
    pub fn add_row<C: Number, L: Layout>(
        &self,
        cx: Cx<L::Block>,
        acc: Tile<C, (M, N), L>,
        row: Span<T, (u32,)>,
    ) -> Tile<C, (M, N), L>
    where
        T: Cast<C>,
    {
        self.row(cx, row).add(acc)
    }

    /// The address of an element of the tile's matrix.
    #[inline_on_device]
    pub(super) fn element(&self, y: u32, x: u32) -> *mut T::Bits {
        let layout = &self.operand.matrix.layout;
        let distance = u64::from(self.index[0]) * layout.batch_pitch + u64::from(y) * layout.row_pitch;
        self.operand.matrix.pointer.wrapping_add((distance + u64::from(x)) as usize)
    }
}
