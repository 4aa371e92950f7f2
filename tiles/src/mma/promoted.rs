//! Promoted accumulation by `wgmma`: a product is accumulated alone, then added to accumulators of more bits.
//!
//! A product that stands alone is added when it is done, part by part, and other warpgroups multiply meanwhile. The products of a k loop
//! [lag](lags) one behind where registers allow: tensor cores accumulate one while threads add the one before.

use crate::arch::warpgroup;
use crate::element::{Element, Number, Repack};
use crate::layout::{Block, WARPGROUP};
use crate::memory::reads::Readers;
use crate::mma::accumulator::{Accumulator, unset};
use crate::mma::instruction_shape::STEP_ROWS;
use crate::mma::pair::{AccumulatorOf, Pair};
use crate::mma::types::ProductOf;
use crate::mma::wgmma::issue_block;
use crate::registers::{Minimum, PowerOfTwo, Quotient, Registers};
use crate::shape::{Dimension, Shape};
use typenum::{U2, U128};

/// The most columns of one part of a product with `N` columns. The part's accumulators take registers beside all others; those of a
/// whole product would take as many again. With fewer columns, tensor cores would wait for operand A, which they read for each
/// part.
type PartColumns<'k, P> = Minimum<<<P as Pair<'k>>::N as Dimension>::Count, U128>;
/// Parts of more than 64 columns have multiples of so many.
const PART_UNIT: usize = 16;
/// The registers of a part.
type PartRegisters<'k, P> = Quotient<PartColumns<'k, P>, U2>;
/// The registers of a whole product of accumulators of shape `S`, if products of this shape [lag](lags).
pub(crate) type ProductRegisters<S> = Quotient<Minimum<<S as Shape>::Columns, U128>, U2>;

/// The first column and the number of columns of a part of padded columns: of the first one, with `at` 0, or of the second one, with `at`
/// [`PartColumns`], if there is one. Both are about equal.
const fn padded_part<'k, P: Pair<'k>>(at: usize) -> Option<[usize; 2]> {
    let (most, all) = (<PartColumns<'k, P> as PowerOfTwo>::COUNT, P::COLUMNS_IN_USE);
    if at >= all {
        return None;
    }
    let first = if all > most { (all / 2).next_multiple_of(PART_UNIT) } else { all };
    let [column, end] = if at == 0 { [0, first] } else { [first, all] };
    Some([column, end - column])
}

/// Adds the product of a pair to `acc` part by part, each part after it was accumulated alone. While one warpgroup adds a part,
/// the others multiply theirs.
///
/// # Safety
/// Warpgroups have a multiplication of these operands: [`Pair::BY_WARPGROUPS`].
#[inline_on_device]
pub(crate) unsafe fn issue_promoted_by_warpgroups<'k, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    let most = const { <PartColumns<'k, P> as PowerOfTwo>::COUNT };
    acc.clear_unless_set();
    let mut row_block = 0;
    while row_block < P::ROW_BLOCKS {
        <P::N as Dimension>::Count::unroll(0, most, &mut |at| {
            // SAFETY: the same contract. The columns are a part.
            unsafe {
                if const { P::COLUMNS_IN_USE == P::COLUMNS } {
                    add_part(acc, pair, row_block, [at, most]);
                } else if let Some(part) = padded_part::<P>(at) {
                    add_part(acc, pair, row_block, part);
                }
            }
        });
        row_block += 1;
    }
    acc.is_committed = true;
    pair.mark(Readers::Nobody);
}

/// Adds a part of the product, of a block of 64 rows and of `columns` columns from `column` on.
///
/// # Safety
/// As [`issue_promoted_by_warpgroups`], which all threads of the block execute alike. The columns are multiples of [`PART_UNIT`], or one
/// part is the whole product.
#[inline_on_device]
unsafe fn add_part<'k, P: Pair<'k>>(
    acc: &mut AccumulatorOf<'k, P>,
    pair: P,
    row_block: usize,
    [column, columns]: [usize; 2],
) {
    let first = (row_block * P::COLUMNS + column) / 2;
    let mut part = unset::<P::C, PartRegisters<'k, P>>();
    let own = core::ptr::from_mut(&mut part).cast();
    // SAFETY: all threads of the block run this alike, and warpgroups have this multiplication, by the same contract. A block of 64 rows
    // has `columns / 2` registers a thread. They are not read before all multiplications are done. The stages are lent for longer. Operand
    // B has 8 bits and is K-major, so that any multiple of 8 columns is a block.
    unsafe {
        warpgroup::fence();
        let block = [row_block, column / PART_UNIT];
        issue_block(own, 0, acc.warpgroup, block, PART_UNIT, columns, pair);
        warpgroup::commit();
        warpgroup::pin::<true>(columns / 2, own);
    }
    // Earlier multiplications are done as well.
    acc.pin::<false>();
    add::<P::T, P::U, _, _, _, _>(acc, first, &part, columns / 2);
    pin_additions(acc);
}

/// Adds the first `count` registers of a product that is done to those of `acc` from `first` on, in the type of the accumulators.
#[inline_on_device]
fn add<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block, N: PowerOfTwo>(
    acc: &mut Accumulator<C, S, B>,
    first: usize,
    product: &Registers<C, N>,
    count: usize,
) {
    let sum = |a, b| T::narrow(Number::add(T::widen_accumulator(a), T::widen_accumulator(b)));
    N::unroll(0, 1, &mut |i| {
        if i < count {
            acc.registers.set(first + i, sum(acc.registers.get(first + i), product.get(i)));
        }
    });
}

/// Pins additions to this place in the program. The assembler would move them behind the next product, which would then need registers of
/// its own.
#[inline_on_device]
fn pin_additions<C: Element, S: Shape, B: Block>(acc: &mut Accumulator<C, S, B>) {
    acc.pin::<false>();
    warpgroup::schedule_fence();
}

/// Whether the products of a k loop lag one behind their multiplications, for accumulators of shape `S` of a block `B`: where a warpgroup
/// has 64 rows, and registers for two products beside the sums.
pub(crate) const fn lags<S: Shape, B: Block>() -> bool {
    let rows = STEP_ROWS * <B::Threads as PowerOfTwo>::COUNT / WARPGROUP;
    <S::Rows as PowerOfTwo>::COUNT == rows && <S::Columns as PowerOfTwo>::COUNT <= U128::COUNT
}

/// Starts the product of a pair, accumulated alone in `product`, as a group of its own.
///
/// # Safety
/// Warpgroups have a multiplication of these operands, [`Pair::BY_WARPGROUPS`], and their products [lag](lags). Nobody touches `product`
/// until the group is done.
#[inline_on_device]
pub(crate) unsafe fn start_alone<'k, P: Pair<'k>>(
    product: &mut Registers<P::C, ProductRegisters<(P::M, P::N)>>,
    warpgroup: u32,
    pair: P,
) {
    let own = core::ptr::from_mut(product).cast();
    // SAFETY: all threads of the block run this alike. Warpgroups have this multiplication, and a warpgroup has one block of 64 rows, with
    // `COLUMNS_IN_USE / 2` registers a thread, by the same contract. The stages are lent until the group is done, which a k loop waits for
    // before it releases them.
    unsafe {
        // Whoever read these registers has read them.
        warpgroup::pin::<false>(P::COLUMNS_IN_USE / 2, own);
        warpgroup::fence();
        issue_block(own, 0, warpgroup, [0, 0], P::COLUMNS_IN_USE, P::COLUMNS_IN_USE, pair);
        warpgroup::commit();
    }
    pair.mark(Readers::OwnGroups);
}

/// Adds the product before the one that was [started](start_alone) last.
///
/// # Safety
/// Products of this shape [lag](lags), of elements that warpgroups multiply. All threads of the block execute this same call.
#[inline_on_device]
pub(crate) unsafe fn add_the_one_before<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block>(
    acc: &mut Accumulator<C, S, B>,
    product: &mut Registers<C, ProductRegisters<S>>,
) {
    let registers = const { Accumulator::<C, S, B>::IN_USE_OF_A_BLOCK };
    // SAFETY: the same contract. Groups finish in the order of their commits.
    unsafe {
        warpgroup::wait::<1>();
        warpgroup::pin::<false>(registers, core::ptr::from_mut(product).cast());
    }
    add::<T, U, _, _, _, _>(acc, 0, product, registers);
    pin_additions(acc);
}

/// Adds the product that was [started](start_alone) last, when all multiplications are done.
///
/// # Safety
/// As [`add_the_one_before`].
#[inline_on_device]
pub(crate) unsafe fn add_the_last_one<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block>(
    acc: &mut Accumulator<C, S, B>,
    product: &mut Registers<C, ProductRegisters<S>>,
) {
    let registers = const { Accumulator::<C, S, B>::IN_USE_OF_A_BLOCK };
    // SAFETY: the same contract.
    unsafe { warpgroup::pin::<true>(registers, core::ptr::from_mut(product).cast()) };
    add::<T, U, _, _, _, _>(acc, 0, product, registers);
}
