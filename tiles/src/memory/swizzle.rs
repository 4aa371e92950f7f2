//! Swizzled matrices in shared memory: no bank is met twice.
//!
//! Rows of up to 128 bytes lie one below the other. Longer rows are cut into panels of 128 bytes, one panel after the other.
//! Within a panel, chunks of 16 bytes trade places with chunks of other rows, as in TMA's swizzle modes of 32, 64 and 128 bytes
//! (PTX ISA, "Swizzling Modes"). Eight rows of 16 bytes, which `ldmatrix` reads at once, then lie in different banks. The map
//! is linear in the bits of row and byte. An address is therefore the exclusive or of a part that a lane computes once and of a
//! constant.

/// The longest row of a panel: 2^7 bytes.
const PANEL: u32 = 7;

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwizzledMatrix {
    /// Base-2 logarithm of the number of rows.
    pub(crate) rows: u32,
    /// Base-2 logarithm of the bytes of a row, at least 4.
    pub(crate) bytes: u32,
}

impl SwizzledMatrix {
    /// The offset of byte `byte` of row `row`.
    #[inline_on_device]
    pub(crate) const fn offset(&self, row: usize, byte: usize) -> usize {
        let panel = if self.bytes < PANEL { self.bytes } else { PANEL };
        let plain = byte >> panel << (panel + self.rows) | row << panel | byte & ((1 << panel) - 1);
        plain ^ (plain >> 7 & ((1 << (panel - 4)) - 1)) << 4
    }

    /// The bits of an offset that depend on the given bits of row and byte.
    pub(crate) const fn touched(&self, row: usize, byte: usize) -> usize {
        let (mut touched, mut bit) = (0, 0);
        while bit < usize::BITS {
            touched |= self.offset(row & 1 << bit, 0) | self.offset(0, byte & 1 << bit);
            bit += 1;
        }
        touched
    }
}

/// An address in shared memory, of which some bits of the offset depend on the thread.
#[derive(Clone, Copy)]
pub(crate) struct SwizzledAddress {
    /// The address of the stage.
    pub(crate) stage: u32,
    /// The thread's part of the offset.
    pub(crate) own: usize,
    /// The bits of the offset that depend on the thread.
    pub(crate) touched: usize,
}

impl SwizzledAddress {
    /// The address at the thread's offset, combined with `offset` by exclusive or. A constant goes into the instruction as far
    /// as possible.
    #[inline_on_device]
    pub(crate) fn at(&self, offset: usize) -> u32 {
        let varying = self.own ^ (offset & self.touched);
        self.stage + varying as u32 + (offset & !self.touched) as u32
    }
}
