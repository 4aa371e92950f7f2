//! The layout of a tile in shared memory, as a stage of a ring.
//!
//! One layout serves all uses: panels of at most 128 bytes of each row, one behind the other, row-major, with the 16-byte
//! chunks of a row permuted (*swizzled*) so that neither a row nor a column of chunks hits a bank twice. TMA writes it; tensor
//! cores and ordinary loads read it. A tile can be operand A or operand B, K-major or MN-major (transposed): this decides only
//! how it is read.

use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::shared;
use crate::element::Element;
use crate::registers::PowerOfTwo;
use crate::sealed::{Sealed, sealed};
use crate::shape::Dimension;
use core::marker::PhantomData;

/// The longest row of a panel, in bytes.
const PANEL_BYTES: usize = 128;
/// The unit of a swizzle, in bytes.
pub(crate) const CHUNK_BYTES: usize = 16;
/// The most rows of one copy by TMA. Copies of more rows are no faster, and these can leave out rows outside a tensor.
pub(crate) const MOST_COPIED_ROWS: usize = 64;
/// The alignment of stages, in bytes: the widest swizzle repeats after this many.
pub(crate) const ALIGNMENT: usize = crate::memory::shared::ALIGNMENT as usize;

/// Whether stages have no room for what [`Padded`](crate::shape::Padded) tiles have behind the rows and columns in use. Warpgroups and TMA
/// do not touch it; other reads find other memory of the block there.
const IN_USE_ALONE: bool = PRODUCER_WARP && shared::BUDGET_CLASS == 2;

/// A tile in shared memory, of elements `T` and shape `S`, a [`Shape2`](crate::shape::Shape2).
#[derive(Clone, Copy, Debug)]
pub struct SharedTile<T, S>(PhantomData<(T, S)>);

impl<T: Element, R: Dimension, C: Dimension> SharedTile<T, (R, C)> {
    /// The measures of a tile with room for the rows and columns behind those in use, if they are [`Padded`](crate::shape::Padded).
    pub(crate) const PADDED: Geometry =
        Geometry::new(<R::Count as PowerOfTwo>::COUNT, <C::Count as PowerOfTwo>::COUNT, size_of::<T::Bits>());
    /// The measures of a tile of the rows and panels in use alone.
    pub(crate) const IN_USE: Geometry = Self::PADDED.first(R::LENGTH, C::LENGTH);
}

/// The shape of a tile in shared memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tile in shared memory",
    label = "expected `SharedTile<T, Shape2<ROWS, COLUMNS>>`",
    note = "a tile in shared memory is a matrix: two dimensions, and an element type"
)]
pub trait SharedTileShape: Sealed + Copy + 'static {
    /// The elements.
    type Element: Element;
    /// Rows.
    type Rows: Dimension;
    /// Columns.
    type Columns: Dimension;
    /// The layout.
    const GEOMETRY: Geometry;
}

impl<T: Element, R: Dimension, C: Dimension> SharedTileShape for SharedTile<T, (R, C)> {
    type Element = T;
    type Rows = R;
    type Columns = C;
    const GEOMETRY: Geometry = if IN_USE_ALONE { Self::IN_USE } else { Self::PADDED };
}

/// The measures of a tile in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Rows of the tile, and of each panel.
    pub rows: usize,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Bytes of a row of a panel.
    pub panel_bytes: usize,
    /// Panels, side by side in the tile.
    pub panels: usize,
}

impl Geometry {
    /// The measures of a tile of this many rows and columns.
    pub(crate) const fn new(rows: usize, columns: usize, element_bytes: usize) -> Self {
        let row = columns * element_bytes;
        assert!(
            row >= 2 * CHUNK_BYTES,
            "a row of a shared tile has at least 32 bytes: use tiles of more columns"
        );
        assert!(rows >= 8, "a shared tile has at least 8 rows: use tiles of more rows");
        let panel_bytes = if row < PANEL_BYTES { row } else { PANEL_BYTES };
        Self { rows, element_bytes, panel_bytes, panels: row / panel_bytes }
    }

    /// The measures of the first rows of these, and of the panels that have some of the first columns.
    const fn first(self, rows: usize, columns: usize) -> Self {
        let row = columns * self.element_bytes;
        Self { rows, panels: row.div_ceil(self.panel_bytes), ..self }
    }

    /// Bytes of the tile.
    pub const fn bytes(&self) -> usize {
        self.panels * self.rows * self.panel_bytes
    }

    /// Bytes that the tile takes in a ring.
    pub(crate) const fn room(&self) -> usize {
        self.bytes().next_multiple_of(ALIGNMENT)
    }

    /// Columns of a panel.
    pub(crate) const fn panel_columns(&self) -> usize {
        self.panel_bytes / self.element_bytes
    }

    /// Bytes from a panel to the next.
    pub(crate) const fn panel_stride(&self) -> usize {
        self.rows * self.panel_bytes
    }

    /// The offset of byte `byte` of row `row`; `byte` counts along the tile's row.
    #[inline_on_device]
    pub(crate) const fn offset(&self, row: usize, byte: usize) -> usize {
        let (panel, within) = (byte / self.panel_bytes, byte % self.panel_bytes);
        // The address's bits above bit 7 change the chunk's number: for panels of 128 bytes bits 7 to 9, the row's lowest; for
        // narrower panels fewer bits (PTX ISA, "Swizzling Modes").
        let address = row * self.panel_bytes + within;
        let chunks = self.panel_bytes / CHUNK_BYTES - 1;
        panel * self.panel_stride() + (address ^ (((address >> 7) & chunks) * CHUNK_BYTES))
    }
}

sealed! { [T, S] SharedTile<T, S>; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_place_of_its_own() {
        for (rows, columns, size) in
            [(8, 16, 2), (64, 32, 2), (128, 64, 2), (64, 256, 2), (16, 32, 4), (32, 128, 1), (8, 4, 8)]
        {
            let geometry = Geometry::new(rows, columns, size);
            let mut seen = [false; 1 << 15];
            let seen = &mut seen[..geometry.bytes()];
            for row in 0..rows {
                for byte in 0..columns * size {
                    let place = geometry.offset(row, byte);
                    assert!(
                        !core::mem::replace(&mut seen[place], true),
                        "{geometry:?}: row {row}, byte {byte}"
                    );
                }
            }
            assert!(seen.iter().all(|&seen| seen));
        }
    }

    #[test]
    fn the_widest_swizzle_is_that_of_tma() {
        // PTX ISA, "Swizzling Modes", of 128 bytes: chunk j of row i is at place j XOR (i mod 8).
        let geometry = Geometry::new(16, 64, 2);
        for row in 0..16 {
            for chunk in 0..8 {
                assert_eq!(geometry.offset(row, 16 * chunk), 128 * row + 16 * (chunk ^ (row % 8)));
            }
        }
        // "64B swizzle mode": by the row's half modulo 4; "32B swizzle mode": by its quarter modulo 2.
        let (middle, narrow) = (Geometry::new(16, 32, 2), Geometry::new(16, 16, 2));
        for row in 0..16 {
            for chunk in 0..4 {
                assert_eq!(middle.offset(row, 16 * chunk), 64 * row + 16 * (chunk ^ (row / 2 % 4)));
            }
            for chunk in 0..2 {
                assert_eq!(narrow.offset(row, 16 * chunk), 32 * row + 16 * (chunk ^ (row / 4 % 2)));
            }
        }
    }

    #[test]
    fn padded_tiles_have_room_for_what_is_in_use() {
        use crate::element::f16;
        use crate::shape::{D, Padded};
        type Rows = SharedTile<f16, (Padded<144>, D<64>)>;
        type Columns = SharedTile<f16, (D<64>, Padded<192>)>;
        assert_eq!([Rows::PADDED.bytes(), Rows::IN_USE.bytes()], [256 * 128, 144 * 128]);
        assert_eq!([Columns::PADDED.panels, Columns::IN_USE.panels], [4, 3]);
        // Places of what is in use are the same.
        for row in 0..144 {
            assert_eq!(Rows::IN_USE.offset(row, 32), Rows::PADDED.offset(row, 32));
        }
        type Whole = SharedTile<f16, (D<128>, D<64>)>;
        assert_eq!(Whole::IN_USE, Whole::PADDED);
    }
}
