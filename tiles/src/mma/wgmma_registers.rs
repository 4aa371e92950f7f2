//! Multiplication by `wgmma` of an MN-major operand A whose elements `wgmma` does not transpose: A goes through registers.
//!
//! Tensor cores read these registers while the program goes on. They must not be written before they have been read. A
//! multiplication therefore starts in two halves, each a group with fragments of its own. Before a half reuses its registers,
//! it waits for all groups but that of the other half.

use crate::arch::{threads, warpgroup};
use crate::memory::reads::Readers;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::fragment::MnMajorFragment;
use crate::mma::instruction_shape::{MN_MAJOR_STEP, STEP_ROWS};
use crate::mma::operand::OperandA;
use crate::mma::pair::{AccumulatorOf, Pair, RowBlocks};
use crate::mma::types::ProductOf;
use crate::mma::wgmma::Descriptor;
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::Dimension;
use typenum::U16;

/// Instructions along the contracted axis in one half of a multiplication, or in all of one without halves.
type StepsOfHalf<'k, P> = Quotient<<<P as Pair<'k>>::K as Dimension>::Count, U16>;
/// Fragments of a half.
type Fragments<'k, P> = Product<RowBlocks<'k, P>, StepsOfHalf<'k, P>>;

/// Starts the multiplication of a pair whose operand A is MN-major, through registers.
///
/// # Safety
/// Warpgroups have a multiplication of these operands, and A goes through registers: [`Pair::BY_WARPGROUPS`] and
/// [`Pair::THROUGH_REGISTERS`].
#[inline_on_device]
pub(crate) unsafe fn issue_mn_major_a_by_registers<'k, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    let half = const { <StepsOfHalf<'k, P> as PowerOfTwo>::COUNT };
    let has_halves = const { P::DEPTH > <StepsOfHalf<'k, P> as PowerOfTwo>::COUNT * MN_MAJOR_STEP };
    acc.pin::<false>();
    // SAFETY: all threads of the block run this alike, and warpgroups have this multiplication, by the same contract. The
    // earlier readers of a half's registers are done: without halves all earlier groups, else all but the half before.
    unsafe {
        if has_halves {
            issue_half::<P, 1>(acc, pair, 0);
            issue_half::<P, 1>(acc, pair, half);
        } else {
            issue_half::<P, 0>(acc, pair, 0);
        }
    }
    (acc.adds, acc.is_committed) = (1, true);
    pair.mark(Readers::OwnGroups);
}

/// Starts half of a multiplication, from instruction `first_step` on, as a group of its own, behind all groups but `PENDING`.
///
/// # Safety
/// All threads of the block execute this same call. The contract of [`issue_mn_major_a_by_registers`] holds; `first_step` is 0,
/// or the first step of the second half.
#[inline_on_device]
unsafe fn issue_half<'k, P: Pair<'k>, const PENDING: u64>(
    acc: &mut AccumulatorOf<'k, P>,
    pair: P,
    first_step: usize,
) {
    let (a, b) = (pair.a(), pair.b());
    let (count, half) =
        const { (<Fragments<'k, P> as PowerOfTwo>::COUNT, <StepsOfHalf<'k, P> as PowerOfTwo>::COUNT) };
    let at_once = P::COLUMNS_AT_ONCE;
    let b_descriptor = Descriptor::new(P::B::GEOMETRY, P::B_IS_MN_MAJOR, at_once);
    let (Some(address), Some(geometry)) = (a.address(), const { &P::A::GEOMETRY }) else { return };
    let place = |i: usize| (i / half, first_step + i % half);
    // The loads run while earlier multiplications are under way. They have finished when `wgmma` takes the registers, and the
    // group is waited for before the stage is released. No fence towards TMA is needed.
    let loaded = Registers::<MnMajorFragment, Fragments<'k, P>>::from_fn(|i| {
        let (block, step) = place(i);
        let row = block * const { P::THREADS / 128 * STEP_ROWS };
        // SAFETY: the operand's stage is lent for longer, and is MN-major.
        unsafe { MnMajorFragment::load::<P::Block>(address, geometry, row, step) }
    });
    // SAFETY: all threads of the block run this alike.
    unsafe { warpgroup::wait::<PENDING>() };
    let fragments = Registers::<[u32; 4], Fragments<'k, P>>::from_fn(|i| loaded.get(i).registers());
    // SAFETY: as above.
    unsafe { warpgroup::fence() };
    let first = core::ptr::from_mut(&mut acc.registers).cast::<u32>();
    let mut i = 0;
    while i < count {
        let (block, step) = place(i);
        let add = if step > 0 { 1 } else { acc.adds };
        let mut column = 0;
        while column < P::COLUMNS_IN_USE {
            let own = first.wrapping_add((block * P::COLUMNS + column) / 2);
            let b_at =
                b_descriptor.at(threads::word(b.address()), column / at_once) + b_descriptor.step(step);
            // SAFETY: all threads of the block run this alike, behind the fence. A block of 64 rows has `COLUMNS / 2` registers
            // a thread, and `acc` is not read before it is pinned. The stages are lent for longer.
            unsafe {
                match P::B_IS_MN_MAJOR {
                    false => P::T::multiply_registers::<0>(at_once, own, add, fragments.get(i), b_at),
                    true => P::T::multiply_registers::<1>(at_once, own, add, fragments.get(i), b_at),
                }
            }
            column += at_once;
        }
        i += 1;
    }
    // SAFETY: as above.
    unsafe { warpgroup::commit() };
}
