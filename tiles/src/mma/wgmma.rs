//! Multiplication by `wgmma.mma_async`: B in shared memory, A in shared memory or in registers.

use crate::arch::{threads, warpgroup};
use crate::memory::reads::Readers;
use crate::memory::shared_tile::Geometry;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::instruction_shape::{STEP_BYTES, STEP_ROWS, WHOLE_PANEL};
use crate::mma::operand::OperandA;
use crate::mma::pair::{AccumulatorOf, Pair};
use crate::mma::types::ProductOf;

/// The descriptor of an operand in shared memory without its address, and the distance to the next step (PTX ISA,
/// "Matrix Descriptor Format" and "Major-ness supported by Strides").
#[derive(Clone, Copy)]
pub(crate) struct Descriptor {
    /// Everything but the address.
    fields: u64,
    /// Bytes from one block of 64 rows, or of 256 columns, to the next.
    block: usize,
    geometry: Geometry,
    mn_major: bool,
}

impl Descriptor {
    /// The descriptor of an operand that is K-major or MN-major. A block has `side` elements of its other axis.
    pub(crate) const fn new(geometry: Geometry, mn_major: bool, side: usize) -> Self {
        let mode = match geometry.panel_bytes {
            128 => 1,
            64 => 2,
            _ => 3,
        };
        let (leading, stride, block) = if mn_major {
            // Panels of 64 elements, one row for each element of the contracted axis.
            (geometry.panel_stride(), 8 * WHOLE_PANEL, side / 64 * geometry.panel_stride())
        } else {
            (16, 8 * geometry.panel_bytes, side * geometry.panel_bytes)
        };
        let fields = ((leading / 16) as u64) << 16 | ((stride / 16) as u64) << 32 | mode << 62;
        Self { fields, block, geometry, mn_major }
    }

    /// The descriptor of block `block` of the operand at `address`.
    #[inline_on_device]
    pub(crate) fn at(self, address: u32, block: usize) -> u64 {
        let address = address + (block * self.block) as u32;
        u64::from((address & 0x3ffff) >> 4) | self.fields
    }

    /// The value that a step adds to the descriptor.
    #[inline_on_device]
    pub(crate) fn step(self, step: usize) -> u64 {
        let bytes = if self.mn_major {
            step * 16 * WHOLE_PANEL
        } else {
            let in_panel = self.geometry.panel_bytes / STEP_BYTES;
            step / in_panel * self.geometry.panel_stride() + step % in_panel * STEP_BYTES
        };
        (bytes / 16) as u64
    }
}

/// Starts the multiplication of a pair, to be added to `acc`.
///
/// # Safety
/// Warpgroups have a multiplication of these operands: [`Pair::BY_WARPGROUPS`].
#[inline_on_device]
pub(crate) unsafe fn issue_by_warpgroups<'k, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    acc.pin::<false>();
    // SAFETY: all threads of the block run this alike.
    unsafe { warpgroup::fence() };
    let warpgroup = acc.warpgroup;
    let first = core::ptr::from_mut(&mut acc.registers).cast::<u32>();
    let mut row_block = 0;
    while row_block < P::ROW_BLOCKS {
        let mut column_block = 0;
        while column_block < P::COLUMNS / P::COLUMNS_AT_ONCE {
            let own =
                first.wrapping_add(row_block * P::COLUMNS / 2 + column_block * (P::COLUMNS_AT_ONCE / 2));
            let block = [row_block, column_block];
            // SAFETY: all threads run this alike, behind the fence. Warpgroups have this multiplication, by the same contract.
            // A block of 64 rows has `COLUMNS / 2` registers a thread, and the blocks together are all registers of `acc`,
            // which are not read before they are pinned. A k loop lends and releases stages only after it has waited for the
            // group that reads them.
            unsafe {
                issue_block(own, acc.adds, warpgroup, block, P::COLUMNS_AT_ONCE, P::COLUMNS_AT_ONCE, pair)
            }
            column_block += 1;
        }
        row_block += 1;
    }
    acc.adds = 1;
    pair.mark(Readers::Products);
    acc.is_committed = pair.is_held();
    if acc.is_committed {
        // No step commits it.
        // SAFETY: all threads of the block run this alike.
        unsafe { warpgroup::commit() };
    }
}

/// Starts a part of a multiplication: a block of 64 rows of the warpgroup and `columns` columns, from a block of `side` columns on, with
/// these numbers. The product is added to the registers or, with `adds` 0, replaces their contents.
///
/// # Safety
/// All threads of the block execute this same call, behind a [`warpgroup::fence`]. Warpgroups have a multiplication of these operands:
/// [`Pair::BY_WARPGROUPS`]. `columns` is a power of two from 8 to 256, 48, or a multiple of 16 from 80 to 240. `own` is valid for
/// `columns / 2` registers, which nobody touches until the multiplication is done. The operands have such a block of rows and such a block
/// of columns. Their stages are lent until the multiplication is done.
#[inline_on_device]
pub(crate) unsafe fn issue_block<'k, P: Pair<'k>>(
    own: *mut u32,
    adds: u32,
    warpgroup: u32,
    [row_block, column_block]: [usize; 2],
    side: usize,
    columns: usize,
    pair: P,
) {
    let (a, b) = (pair.a(), pair.b());
    let steps = P::DEPTH * P::SIZE / STEP_BYTES;
    let groups = P::THREADS / 128;
    let b_descriptor = Descriptor::new(P::B::GEOMETRY, P::B_IS_MN_MAJOR, side);
    let b_at = b_descriptor.at(threads::word(b.address()), column_block);
    let mut step = 0;
    while step < steps {
        let add = if step > 0 { 1 } else { adds };
        let b_at = b_at + b_descriptor.step(step);
        // SAFETY: the same contract. The descriptors refer to the given blocks and step, which lie within the stages; nobody
        // writes a stage that is lent. An operand A without a stage has elements of 16 bits, else warpgroups would have no
        // multiplication of it. Operands are MN-major with 16 bits alone, by the same constant.
        unsafe {
            if let (Some(geometry), Some(address)) = (P::A::GEOMETRY, a.address()) {
                let a_descriptor = Descriptor::new(geometry, P::A_IS_MN_MAJOR, STEP_ROWS);
                let a_at = a_descriptor.at(threads::word(address), warpgroup as usize + row_block * groups)
                    + a_descriptor.step(step);
                match (P::A_IS_MN_MAJOR, P::B_IS_MN_MAJOR) {
                    (false, false) => P::T::multiply_shared::<0, 0>(columns, own, add, a_at, b_at),
                    (false, true) => P::T::multiply_shared::<0, 1>(columns, own, add, a_at, b_at),
                    (true, false) => P::T::multiply_shared::<1, 0>(columns, own, add, a_at, b_at),
                    (true, true) => P::T::multiply_shared::<1, 1>(columns, own, add, a_at, b_at),
                }
            } else {
                let words = a.words(row_block * P::DEPTH / 2 + step * 8);
                match P::B_IS_MN_MAJOR {
                    false => P::T::multiply_registers::<0>(columns, own, add, words, b_at),
                    true => P::T::multiply_registers::<1>(columns, own, add, words, b_at),
                }
            }
        }
        step += 1;
    }
}
