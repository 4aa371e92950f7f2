//! Products of whole warpgroups, of factors in shared memory or of a left one in registers.

use crate::arch::threads;
use crate::arch::warpgroup;
use crate::memory::reads::Readers;
use crate::memory::shared_tile::Geometry;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::instruction_shape::STEP_BYTES;
use crate::mma::instruction_shape::STEP_ROWS;
use crate::mma::instruction_shape::WHOLE_PANEL;
use crate::mma::instructions::SharedMma;
use crate::mma::operand::OperandA;
use crate::mma::pair::{Pair, Sums};

/// What an operand's descriptor says beside its address, and how far it is to the next step (PTX ISA, "Matrix-Descriptor
/// Format" and "Strides").
#[derive(Clone, Copy)]
pub(crate) struct Descriptor {
    /// Everything but the address.
    fields: u64,
    /// Bytes from one block of 64 rows, or of 256 columns, to the next.
    block: usize,
    geometry: Geometry,
    across: bool,
}

impl Descriptor {
    /// The descriptor of a factor whose contracted axis runs along the rows of its stage, or across them; `side` elements of its
    /// other axis are a block.
    pub(crate) const fn new(geometry: Geometry, across: bool, side: usize) -> Self {
        let mode = match geometry.panel_bytes {
            128 => 1,
            64 => 2,
            _ => 3,
        };
        let (leading, stride, block) = if across {
            // Panels of 64 elements, each a row for each step of the contracted axis.
            (geometry.panel_stride(), 8 * WHOLE_PANEL, side / 64 * geometry.panel_stride())
        } else {
            (16, 8 * geometry.panel_bytes, side * geometry.panel_bytes)
        };
        let fields = ((leading / 16) as u64) << 16 | ((stride / 16) as u64) << 32 | mode << 62;
        Self { fields, block, geometry, across }
    }

    /// The descriptor at `address`, of a block.
    #[inline(always)]
    pub(crate) fn at(self, address: u32, block: usize) -> u64 {
        let address = address + (block * self.block) as u32;
        u64::from((address & 0x3ffff) >> 4) | self.fields
    }

    /// What a step adds to the descriptor.
    #[inline(always)]
    pub(crate) fn step(self, step: usize) -> u64 {
        let bytes = if self.across {
            step * 16 * WHOLE_PANEL
        } else {
            let in_panel = self.geometry.panel_bytes / STEP_BYTES;
            step / in_panel * self.geometry.panel_stride() + step % in_panel * STEP_BYTES
        };
        (bytes / 16) as u64
    }
}

/// Puts the product of a pair under way, to be added to `sums`.
///
/// # Safety
/// Warpgroups have a product of these factors: [`Pair::BY_WARPGROUPS`].
#[inline(always)]
pub(crate) unsafe fn issue_by_warpgroups<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    sums.pin::<false>();
    // SAFETY: all threads of the block run this alike.
    unsafe { warpgroup::fence() };
    let warpgroup = sums.warpgroup;
    let first = core::ptr::from_mut(&mut sums.sums).cast::<u32>();
    let mut row_block = 0;
    while row_block < P::ROW_BLOCKS {
        let mut column_block = 0;
        while column_block < P::COLUMNS / P::COLUMNS_AT_ONCE {
            let own =
                first.wrapping_add(row_block * P::COLUMNS / 2 + column_block * (P::COLUMNS_AT_ONCE / 2));
            let block = [row_block, column_block];
            // SAFETY: all threads run this alike, behind the fence; warpgroups have this product, or another function would issue it.
            // A block of 64 rows has `COLUMNS / 2` registers a thread, and as many blocks are all of `sums`, which is not read before it
            // is settled. KLoop give stages back, and lend them, after they have waited for the products' group.
            unsafe { issue_block(own, sums.adds, warpgroup, block, P::COLUMNS_AT_ONCE, pair) }
            column_block += 1;
        }
        row_block += 1;
    }
    sums.adds = 1;
    pair.mark(Readers::Products);
    sums.is_committed = pair.is_held();
    if sums.is_committed {
        // No step makes a group of it.
        // SAFETY: all threads of the block run this alike.
        unsafe { warpgroup::commit() };
    }
}

/// Puts a part of a product under way, of a block of 64 rows of the warpgroup and a block of `columns` columns, with these numbers:
/// to be added, or with `adds` 0 in place of what the registers hold.
///
/// # Safety
/// All threads of the block execute this same call, behind a [`warpgroup::fence`]. Warpgroups have a product of these factors:
/// [`Pair::BY_WARPGROUPS`]. `columns` is a power of two from 8 to 256. `own` is valid for `columns / 2` registers, which nobody
/// touches until the product is done. The factors have such a block of rows and such a block of columns, and their stages are lent
/// until the product is done.
#[inline(always)]
pub(crate) unsafe fn issue_block<'k, P: Pair<'k>>(
    own: *mut u32,
    adds: u32,
    warpgroup: u32,
    [row_block, column_block]: [usize; 2],
    columns: usize,
    pair: P,
) {
    let (a, b) = (pair.left(), pair.right());
    let steps = P::DEPTH * P::SIZE / STEP_BYTES;
    let groups = P::THREADS / 128;
    let right = Descriptor::new(P::Right::GEOMETRY, P::RIGHT_IS_ACROSS, columns);
    let right_at = right.at(threads::word(b.address()), column_block);
    let mut step = 0;
    while step < steps {
        let add = if step > 0 { 1 } else { adds };
        let right_at = right_at + right.step(step);
        // SAFETY: the same contract. The descriptors are of the blocks and the step of the stages that the numbers say, which lie
        // within these: nobody writes a stage that is lent. A left factor without a stage has elements of 16 bits, else warpgroups
        // would have no product of it. Operands are transposed of 16 bits alone, by the same constant.
        unsafe {
            if let (Some(geometry), Some(address)) = (P::Left::GEOMETRY, a.address()) {
                let left = Descriptor::new(geometry, P::LEFT_IS_ACROSS, STEP_ROWS);
                let left_at = left.at(threads::word(address), warpgroup as usize + row_block * groups)
                    + left.step(step);
                match (P::LEFT_IS_ACROSS, P::RIGHT_IS_ACROSS) {
                    (false, false) => P::T::shared::<0, 0>(columns, own, add, left_at, right_at),
                    (false, true) => P::T::shared::<0, 1>(columns, own, add, left_at, right_at),
                    (true, false) => P::T::shared::<1, 0>(columns, own, add, left_at, right_at),
                    (true, true) => P::T::shared::<1, 1>(columns, own, add, left_at, right_at),
                }
            } else {
                let words = a.words(row_block * P::DEPTH / 2 + step * 8);
                match P::RIGHT_IS_ACROSS {
                    false => P::T::registers::<0>(columns, own, add, words, right_at),
                    true => P::T::registers::<1>(columns, own, add, words, right_at),
                }
            }
        }
        step += 1;
    }
}
