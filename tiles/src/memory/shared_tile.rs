//! How a tile lies in shared memory while it is a stage of a ring.
//!
//! One form serves all: panels of at most 128 bytes of each row, one behind the other, row-major, with the 16-byte chunks of
//! a row exchanged (*swizzled*) so that neither a row nor a column of chunks hits a bank twice. The copy engine writes it,
//! the tensor cores read it, and so do ordinary loads; whether a stage is the left or the right factor of a product, as it is
//! or transposed, decides only how it is read.

use crate::arch::matrix::WARPGROUPS;
use crate::element::Element;
use crate::memory::reads::Reads;
use crate::registers::{PowerOfTwo, Product};
use crate::sealed::{Sealed, sealed};
use crate::shape::Dimension;
use core::marker::PhantomData;

/// The longest row of a panel, in bytes.
const PANEL_BYTES: usize = 128;
/// What the copy engine exchanges as one.
pub(crate) const CHUNK_BYTES: usize = 16;
/// The most rows that one copy can have.
pub(crate) const MOST_COPIED_ROWS: usize = 256;
/// To what stages are aligned, in bytes: the pattern of the widest swizzle repeats after as many.
pub(crate) const ALIGNMENT: usize = crate::memory::shared::ALIGNMENT as usize;

/// A stage that holds a tile of elements `T` of shape `S`, a [`Shape2`](crate::shape::Shape2).
#[derive(Clone, Copy, Debug)]
pub struct SharedTile<T, S>(PhantomData<(T, S)>);

impl<T, R: Dimension, C: Dimension> SharedTile<T, (R, C)> {
    const ROWS: usize = <R::Count as PowerOfTwo>::COUNT;
    const COLUMNS: usize = <C::Count as PowerOfTwo>::COUNT;
}

/// A tile as a stage can hold it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a stage",
    label = "expected `SharedTile<T, Shape2<ROWS, COLUMNS>>`",
    note = "a stage holds a matrix: a tile of two dimensions of an element type"
)]
pub trait SharedTileShape: Sealed + Copy + 'static {
    /// The elements.
    type Element: Element;
    /// Rows.
    type Rows: Dimension;
    /// Columns.
    type Columns: Dimension;
    /// How it lies.
    const GEOMETRY: Geometry;
}

impl<T: Element, R: Dimension, C: Dimension> SharedTileShape for SharedTile<T, (R, C)> {
    type Element = T;
    type Rows = R;
    type Columns = C;
    const GEOMETRY: Geometry = Geometry::new(Self::ROWS, Self::COLUMNS, size_of::<T::Bits>());
}

/// The measures of a stage.
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
        assert!(row >= 2 * CHUNK_BYTES, "a row of a stage has at least 32 bytes: use tiles of more columns");
        assert!(rows >= 8, "a stage has at least 8 rows: use tiles of more rows");
        let panel_bytes = if row < PANEL_BYTES { row } else { PANEL_BYTES };
        Self { rows, element_bytes, panel_bytes, panels: row / panel_bytes }
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

    /// Where the byte `byte` of row `row` is, which counts along the tile's row.
    #[inline(always)]
    pub(crate) const fn offset(&self, row: usize, byte: usize) -> usize {
        let (panel, within) = (byte / self.panel_bytes, byte % self.panel_bytes);
        // The number of the chunk in its row is changed by what the address has above bit 7: bits 7 to 9 for panels of 128 bytes,
        // which are the row's lowest; fewer for narrower ones (PTX ISA, "Tensor swizzling modes").
        let address = row * self.panel_bytes + within;
        let chunks = self.panel_bytes / CHUNK_BYTES - 1;
        panel * self.panel_stride() + (address ^ (((address >> 7) & chunks) * CHUNK_BYTES))
    }
}

/// The tiles that make one message of a ring: one [`SharedTile`], or a tuple of up to four.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the message of a ring",
    label = "expected a `SharedTile<T, S>` or a tuple of up to four",
    note = "for the two factors of a product: `Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, 256>>), 4>`"
)]
pub trait StageLayout: Sealed + Copy + 'static {
    /// The stages as a step sees them.
    type Tiles<'k>;
    /// Memory for a message.
    #[doc(hidden)]
    type Storage;
    /// Bytes that a message takes in a ring.
    const ROOM: usize;
    /// Bytes that are copied for a message.
    const BYTES: usize;
    /// Whether warpgroups could multiply its stages: they have no products of 64 bits.
    #[doc(hidden)]
    const BY_WARPGROUPS: bool;
    /// The stages of the message at `address`, of which `reads` knows who is still reading them.
    ///
    /// # Safety
    /// They lie there, whole, and stay for `'k`.
    #[doc(hidden)]
    unsafe fn tiles<'k>(address: crate::arch::threads::Address, reads: &'k Reads) -> Self::Tiles<'k>;
}

/// A stage's memory on the CPU, of as many bytes as [`Geometry::room`].
#[repr(align(1024))]
pub struct Room<A>(#[allow(dead_code, reason = "it is read and written by its address")] A);

impl<T: Element, R: Dimension, C: Dimension> StageLayout for SharedTile<T, (R, C)> {
    type Tiles<'k> = crate::memory::SharedTileRef<'k, T, (R, C)>;
    type Storage = Room<<Product<R::Count, C::Count> as PowerOfTwo>::Array<T::Bits>>;
    const ROOM: usize = Self::GEOMETRY.room();
    const BYTES: usize = Self::GEOMETRY.bytes();
    const BY_WARPGROUPS: bool = WARPGROUPS && size_of::<T::Bits>() < 8;
    #[inline(always)]
    unsafe fn tiles<'k>(address: crate::arch::threads::Address, reads: &'k Reads) -> Self::Tiles<'k> {
        // SAFETY: the same contract.
        unsafe { crate::memory::SharedTileRef::new(address, reads) }
    }
}

macro_rules! messages {
    ($($($name:ident)*;)*) => { $(
        impl<$($name: StageLayout),*> StageLayout for ($($name,)*) {
            type Tiles<'k> = ($($name::Tiles<'k>,)*);
            type Storage = ($($name::Storage,)*);
            const ROOM: usize = 0 $(+ $name::ROOM)*;
            const BYTES: usize = 0 $(+ $name::BYTES)*;
            const BY_WARPGROUPS: bool = false $(|| $name::BY_WARPGROUPS)*;
            #[inline(always)]
            unsafe fn tiles<'k>(address: crate::arch::threads::Address, reads: &'k Reads) -> Self::Tiles<'k> {
                let mut next = 0;
                ($({
                    let own = crate::arch::threads::offset(address, next);
                    next += $name::ROOM;
                    let _ = next;
                    // SAFETY: the parts of a message lie one behind the other.
                    unsafe { $name::tiles(own, reads) }
                },)*)
            }
        }
    )* };
}
messages! { A; A B; A B C; A B C E; }

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
    fn the_widest_swizzle_is_that_of_the_copy_engine() {
        // PTX ISA, "128B swizzle mode": chunk j of row i is at place j XOR (i mod 8).
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
}
