//! Products of whole warpgroups that are summed up by themselves before they are added, where tensor cores sum up to fewer bits than
//! the sums have.

use super::accumulator::{Accumulator, unset};
use super::product::{LeftFactor, StagedProduct, issue_block, mark, row_blocks};
use super::progress::Readers;
use super::stage::StagedFactor;
use crate::arch::warpgroup;
use crate::element::{Element, Number, Repack};
use crate::layout::Block;
use crate::ops::matrix::ProductOf;
use crate::registers::{Minimum, PowerOfTwo, Quotient};
use crate::shape::Dimension;
use typenum::{U2, U128};

/// The columns of a part of a product to sums of `N` columns. A part's sums are registers beside all others: of the whole product
/// they would be as many again. With fewer columns, tensor cores would wait for the left factor, which they read for each part.
type PartColumns<N> = Minimum<<N as Dimension>::Count, U128>;

/// Adds the product of `a` and `b` to `sums` part by part, each after it was summed up by itself. While a warpgroup adds a part,
/// the others multiply theirs.
#[inline(always)]
pub(super) fn issue_apart<'k, C, M, N, K, B, X, Y>(sums: &mut Accumulator<C, (M, N), B>, a: X, b: Y)
where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let (all, columns) = const { (<N::Count as PowerOfTwo>::COUNT, <PartColumns<N> as PowerOfTwo>::COUNT) };
    let add = |sum, part| {
        let wide = |sum| <X::Element as ProductOf<Y::Element, C>>::widen_sum(sum);
        <X::Element as ProductOf<Y::Element, C>>::narrow(Number::add(wide(sum), wide(part)))
    };
    sums.clear_unless_set();
    let mut row_block = 0;
    while row_block < const { row_blocks::<M, B>() } {
        N::Count::unroll(0, columns, &mut |column| {
            let first = (row_block * all + column) / 2;
            let mut part = unset::<C, Quotient<PartColumns<N>, U2>>();
            let own = core::ptr::from_mut(&mut part).cast();
            // SAFETY: all threads of the block run this alike. A block of 64 rows has `columns / 2` registers a thread; they are
            // not read before all products are done, and the stages are lent for longer than that.
            unsafe {
                warpgroup::fence();
                issue_block::<C, M, N, K, B, X, Y>(
                    own,
                    0,
                    sums.warpgroup,
                    [row_block, column / columns],
                    columns,
                    (a, b),
                );
                warpgroup::commit();
                warpgroup::settle::<true>(columns / 2, own);
            }
            // Products that were under way before are done as well.
            sums.settle::<false>();
            <Quotient<PartColumns<N>, U2>>::unroll(0, 1, &mut |i| {
                sums.sums.set(first + i, add(sums.sums.get(first + i), part.get(i)));
            });
            // The assembler would put additions off into the next part, which would then need registers of its own.
            sums.settle::<false>();
            warpgroup::here();
        });
        row_block += 1;
    }
    sums.is_committed = true;
    mark(a.reads(), b.reads(), Readers::Nobody);
}
