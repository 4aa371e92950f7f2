//! Products of whole warpgroups that are summed up by themselves before they are added, where tensor cores sum up to fewer bits than
//! the sums have.

use crate::arch::warpgroup;
use crate::element::Number;
use crate::memory::reads::Readers;
use crate::mma::accumulator::unset;
use crate::mma::pair::{Pair, Sums};
use crate::mma::types::ProductOf;
use crate::mma::wgmma::issue_block;
use crate::registers::{Minimum, PowerOfTwo, Quotient};
use crate::shape::Dimension;
use typenum::{U2, U128};

/// The columns of a part of a product to sums of `N` columns. A part's sums are registers beside all others: of the whole product
/// they would be as many again. With fewer columns, tensor cores would wait for the left factor, which they read for each part.
type PartColumns<'k, P> = Minimum<<<P as Pair<'k>>::N as Dimension>::Count, U128>;
/// The registers of a part.
type PartRegisters<'k, P> = Quotient<PartColumns<'k, P>, U2>;

/// Adds the product of a pair to `sums` part by part, each after it was summed up by itself. While a warpgroup adds a part,
/// the others multiply theirs.
///
/// # Safety
/// Warpgroups have a product of these factors: [`Pair::BY_WARPGROUPS`].
#[inline(always)]
pub(crate) unsafe fn issue_promoted_by_warpgroups<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    let columns = const { <PartColumns<'k, P> as PowerOfTwo>::COUNT };
    let add = |sum, part| {
        let wide = |sum| <P::T as ProductOf<P::U, P::Sum>>::widen_sum(sum);
        <P::T as ProductOf<P::U, P::Sum>>::narrow(Number::add(wide(sum), wide(part)))
    };
    sums.clear_unless_set();
    let mut row_block = 0;
    while row_block < P::ROW_BLOCKS {
        <P::N as Dimension>::Count::unroll(0, columns, &mut |column| {
            let first = (row_block * P::COLUMNS + column) / 2;
            let mut part = unset::<P::Sum, PartRegisters<'k, P>>();
            let own = core::ptr::from_mut(&mut part).cast();
            // SAFETY: all threads of the block run this alike, and warpgroups have this product, by the same contract. A block of 64 rows has `columns / 2` registers a thread; they are
            // not read before all products are done, and the stages are lent for longer than that.
            unsafe {
                warpgroup::fence();
                issue_block(own, 0, sums.warpgroup, [row_block, column / columns], columns, pair);
                warpgroup::commit();
                warpgroup::pin::<true>(columns / 2, own);
            }
            // Products that were under way before are done as well.
            sums.pin::<false>();
            <PartRegisters<'k, P>>::unroll(0, 1, &mut |i| {
                sums.sums.set(first + i, add(sums.sums.get(first + i), part.get(i)));
            });
            // The assembler would put additions off into the next part, which would then need registers of its own.
            sums.pin::<false>();
            warpgroup::schedule_fence();
        });
        row_block += 1;
    }
    sums.is_committed = true;
    pair.mark(Readers::Nobody);
}
