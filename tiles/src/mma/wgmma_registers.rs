//! Products whose left factor lies across the rows of its stage, of elements that warpgroups do not transpose: it goes through
//! registers.
//!
//! Tensor cores read these while the program goes on, so that they must not be written before they have been read. A product is put
//! under way in two halves, each a group by itself, with fragments of its own. When it is a half's turn again, it waits for all groups but
//! that of the other half.

use crate::arch::{threads, warpgroup};
use crate::memory::reads::Readers;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::fragment::Across;
use crate::mma::instruction_shape::{ACROSS_STEP, STEP_ROWS};
use crate::mma::instructions::SharedMma;
use crate::mma::operand::OperandA;
use crate::mma::pair::{Pair, RowBlocks, Sums};
use crate::mma::wgmma::Descriptor;
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::Dimension;
use typenum::U16;

/// Instructions along the contracted axis in one half of a product, and in all of one that has no halves.
type StepsOfHalf<'k, P> = Quotient<<<P as Pair<'k>>::K as Dimension>::Count, U16>;
/// Fragments of a half.
type Fragments<'k, P> = Product<RowBlocks<'k, P>, StepsOfHalf<'k, P>>;

/// Puts the product of a pair whose left factor's stage lies across under way.
///
/// # Safety
/// Warpgroups have a product of these factors, of which the left one goes through registers: [`Pair::BY_WARPGROUPS`] and
/// [`Pair::THROUGH_REGISTERS`].
#[inline(always)]
pub(crate) unsafe fn issue_across<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    let half = const { <StepsOfHalf<'k, P> as PowerOfTwo>::COUNT };
    let has_halves = const { P::DEPTH > <StepsOfHalf<'k, P> as PowerOfTwo>::COUNT * ACROSS_STEP };
    sums.pin::<false>();
    // SAFETY: all threads of the block run this alike, and warpgroups have this product, by the same contract. What read the registers that a half takes is done: without halves, what was put
    // under way before; else all but the half before.
    unsafe {
        if has_halves {
            issue_half::<P, 1>(sums, pair, 0);
            issue_half::<P, 1>(sums, pair, half);
        } else {
            issue_half::<P, 0>(sums, pair, 0);
        }
    }
    (sums.adds, sums.is_committed) = (1, true);
    pair.mark(Readers::OwnGroups);
}

/// Puts half of a product under way, of the instructions from `first_step` on, as a group by itself, behind all groups but `PENDING`.
///
/// # Safety
/// All threads of the block execute this same call. As for [`issue_across`]; `first_step` is 0, or the first of the second half.
#[inline(always)]
unsafe fn issue_half<'k, P: Pair<'k>, const PENDING: u64>(
    sums: &mut Sums<'k, P>,
    pair: P,
    first_step: usize,
) {
    let (a, b) = (pair.left(), pair.right());
    let (count, half) =
        const { (<Fragments<'k, P> as PowerOfTwo>::COUNT, <StepsOfHalf<'k, P> as PowerOfTwo>::COUNT) };
    let at_once = P::COLUMNS_AT_ONCE;
    let right = Descriptor::new(P::Right::GEOMETRY, P::RIGHT_IS_ACROSS, at_once);
    let (Some(address), Some(geometry)) = (a.address(), const { &P::Left::GEOMETRY }) else { return };
    let place = |i: usize| (i / half, first_step + i % half);
    // While the products before are under way. The registers have what is in the stage when products take them, and those are waited
    // for before it is given back, so that no fence has to tell the copy engine.
    let loaded = Registers::<Across, Fragments<'k, P>>::from_fn(|i| {
        let (block, step) = place(i);
        let row = block * const { P::THREADS / 128 * STEP_ROWS };
        // SAFETY: the factor's stage is lent for longer, and lies across.
        unsafe { Across::load::<P::Block>(address, geometry, row, step) }
    });
    // SAFETY: all threads of the block run this alike.
    unsafe { warpgroup::wait::<PENDING>() };
    let fragments = Registers::<[u32; 4], Fragments<'k, P>>::from_fn(|i| loaded.get(i).registers());
    // SAFETY: as above.
    unsafe { warpgroup::fence() };
    let first = core::ptr::from_mut(&mut sums.sums).cast::<u32>();
    let mut i = 0;
    while i < count {
        let (block, step) = place(i);
        let add = if step > 0 { 1 } else { sums.adds };
        let mut column = 0;
        while column < P::COLUMNS {
            let own = first.wrapping_add((block * P::COLUMNS + column) / 2);
            let right_at = right.at(threads::word(b.address()), column / at_once) + right.step(step);
            // SAFETY: all threads of the block run this alike, behind the fence. A block of 64 rows has `COLUMNS / 2` registers a
            // thread, and `sums` is not read before it is settled. The stages are lent for longer.
            unsafe {
                match P::RIGHT_IS_ACROSS {
                    false => P::T::registers::<0>(at_once, own, add, fragments.get(i), right_at),
                    true => P::T::registers::<1>(at_once, own, add, fragments.get(i), right_at),
                }
            }
            column += at_once;
        }
        i += 1;
    }
    // SAFETY: as above.
    unsafe { warpgroup::commit() };
}
