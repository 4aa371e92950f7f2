//! Promoted accumulation by `wgmma`: a product is accumulated alone, then added to accumulators of more bits.

use crate::arch::warpgroup;
use crate::element::Number;
use crate::memory::reads::Readers;
use crate::mma::accumulator::unset;
use crate::mma::pair::{AccumulatorOf, Pair};
use crate::mma::types::ProductOf;
use crate::mma::wgmma::issue_block;
use crate::registers::{Minimum, PowerOfTwo, Quotient};
use crate::shape::Dimension;
use typenum::{U2, U128};

/// The columns of one part of a product with `N` columns. The part's accumulators take registers beside all others; those of a
/// whole product would take as many again. With fewer columns, tensor cores would wait for operand A, which they read for each
/// part.
type PartColumns<'k, P> = Minimum<<<P as Pair<'k>>::N as Dimension>::Count, U128>;
/// The registers of a part.
type PartRegisters<'k, P> = Quotient<PartColumns<'k, P>, U2>;

/// Adds the product of a pair to `acc` part by part, each part after it was accumulated alone. While one warpgroup adds a part,
/// the others multiply theirs.
///
/// # Safety
/// Warpgroups have a multiplication of these operands: [`Pair::BY_WARPGROUPS`].
#[inline(always)]
pub(crate) unsafe fn issue_promoted_by_warpgroups<'k, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    let columns = const { <PartColumns<'k, P> as PowerOfTwo>::COUNT };
    let add = |sum, part| {
        let wide = |sum| <P::T as ProductOf<P::U, P::C>>::widen_accumulator(sum);
        <P::T as ProductOf<P::U, P::C>>::narrow(Number::add(wide(sum), wide(part)))
    };
    acc.clear_unless_set();
    let mut row_block = 0;
    while row_block < P::ROW_BLOCKS {
        <P::N as Dimension>::Count::unroll(0, columns, &mut |column| {
            let first = (row_block * P::COLUMNS + column) / 2;
            let mut part = unset::<P::C, PartRegisters<'k, P>>();
            let own = core::ptr::from_mut(&mut part).cast();
            // SAFETY: all threads of the block run this alike, and warpgroups have this multiplication, by the same contract. A
            // block of 64 rows has `columns / 2` registers a thread. They are not read before all multiplications are done. The
            // stages are lent for longer.
            unsafe {
                warpgroup::fence();
                issue_block(own, 0, acc.warpgroup, [row_block, column / columns], columns, pair);
                warpgroup::commit();
                warpgroup::pin::<true>(columns / 2, own);
            }
            // Earlier multiplications are done as well.
            acc.pin::<false>();
            <PartRegisters<'k, P>>::unroll(0, 1, &mut |i| {
                acc.registers.set(first + i, add(acc.registers.get(first + i), part.get(i)));
            });
            // Without the fence, the assembler would move additions into the next part, which would then need registers of its
            // own.
            acc.pin::<false>();
            warpgroup::schedule_fence();
        });
        row_block += 1;
    }
    acc.is_committed = true;
    pair.mark(Readers::Nobody);
}
