//! Products whose left factor lies across the rows of its stage, of elements that warpgroups do not transpose: it goes through
//! registers.
//!
//! Tensor cores read these while the program goes on, so that they must not be written before they have been read. A product is put
//! under way in two halves, each a group by itself, with fragments of its own. When it is a half's turn again, it waits for all groups but
//! that of the other half.

use super::accumulator::Accumulator;
use super::left::{ACROSS_STEP, Across};
use super::product::{Descriptor, LeftFactor, STEP_ROWS, StagedProduct, address_of, columns_at_once, mark};
use super::progress::Readers;
use super::stage::StagedFactor;
use crate::arch::warpgroup;
use crate::element::{Element, Repack};
use crate::layout::Block;
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::Dimension;
use typenum::{U2, U16};

/// Instructions along the contracted axis in one half of a product, and in all of one that has no halves.
type StepsOfHalf<K> = Quotient<<K as Dimension>::Count, U16>;
/// Blocks of 64 rows that a warpgroup has.
type RowBlocks<M, B> = Quotient<Product<<M as Dimension>::Count, U2>, <B as Block>::Threads>;
/// Fragments of a half.
type Fragments<M, K, B> = Product<RowBlocks<M, B>, StepsOfHalf<K>>;

/// Puts the product of `a`, whose stage lies across, and `b` under way.
#[inline(always)]
pub(super) fn issue_across<'k, C, M, N, K, B, X, Y>(sums: &mut Accumulator<C, (M, N), B>, a: X, b: Y)
where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let half = const { <StepsOfHalf<K> as PowerOfTwo>::COUNT };
    let has_halves =
        const { <K::Count as PowerOfTwo>::COUNT > <StepsOfHalf<K> as PowerOfTwo>::COUNT * ACROSS_STEP };
    sums.settle::<false>();
    // SAFETY: all threads of the block run this alike. What read the registers that a half takes is done: without halves, what was put
    // under way before; else all but the half before.
    unsafe {
        if has_halves {
            issue_half::<C, M, N, K, B, X, Y, 1>(sums, a, b, 0);
            issue_half::<C, M, N, K, B, X, Y, 1>(sums, a, b, half);
        } else {
            issue_half::<C, M, N, K, B, X, Y, 0>(sums, a, b, 0);
        }
    }
    (sums.adds, sums.is_committed) = (1, true);
    mark(a.reads(), b.reads(), Readers::OwnGroups);
}

/// Puts half of a product under way, of the instructions from `first_step` on, as a group by itself, behind all groups but `PENDING`.
///
/// # Safety
/// All threads of the block execute this same call.
#[inline(always)]
unsafe fn issue_half<'k, C, M, N, K, B, X, Y, const PENDING: u64>(
    sums: &mut Accumulator<C, (M, N), B>,
    a: X,
    b: Y,
    first_step: usize,
) where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let (count, half) =
        const { (<Fragments<M, K, B> as PowerOfTwo>::COUNT, <StepsOfHalf<K> as PowerOfTwo>::COUNT) };
    let columns = const { <N::Count as PowerOfTwo>::COUNT };
    let at_once = const { columns_at_once::<N>() };
    let right = Descriptor::new(Y::GEOMETRY, !Y::TRANSPOSED, at_once);
    let (Some(address), Some(geometry)) = (a.address(), const { &X::GEOMETRY }) else { return };
    let place = |i: usize| (i / half, first_step + i % half);
    // While the products before are under way. The registers have what is in the stage when products take them, and those are waited
    // for before it is given back, so that no fence has to tell the copy engine.
    let loaded = Registers::<Across, Fragments<M, K, B>>::from_fn(|i| {
        let (block, step) = place(i);
        let row = block * const { <B::Threads as PowerOfTwo>::COUNT / 128 * STEP_ROWS };
        // SAFETY: the factor's stage is lent for longer, and lies across.
        unsafe { Across::load::<B>(address, geometry, row, step) }
    });
    // SAFETY: all threads of the block run this alike.
    unsafe { warpgroup::wait::<PENDING>() };
    let fragments = Registers::<[u32; 4], Fragments<M, K, B>>::from_fn(|i| loaded.get(i).registers());
    // SAFETY: as above.
    unsafe { warpgroup::fence() };
    let first = core::ptr::from_mut(&mut sums.sums).cast::<u32>();
    let mut i = 0;
    while i < count {
        let (block, step) = place(i);
        let add = if step > 0 { 1 } else { sums.adds };
        let mut column = 0;
        while column < columns {
            let own = first.wrapping_add((block * columns + column) / 2);
            let right_at = right.at(address_of(b.address()), column / at_once) + right.step(step);
            // SAFETY: all threads of the block run this alike, behind the fence. A block of 64 rows has `columns / 2` registers a
            // thread, and `sums` is not read before it is settled. The stages are lent for longer.
            unsafe {
                match !Y::TRANSPOSED {
                    false => X::Element::registers::<0>(at_once, own, add, fragments.get(i), right_at),
                    true => X::Element::registers::<1>(at_once, own, add, fragments.get(i), right_at),
                }
            }
            column += at_once;
        }
        i += 1;
    }
    // SAFETY: as above.
    unsafe { warpgroup::commit() };
}
