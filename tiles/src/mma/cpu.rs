//! Matrix multiplication on the CPU, where a block is one thread that holds whole tiles.

use crate::element::{Element, Repack};
use crate::layout::Layout;
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::tile::Tile;

/// Adds the product of two tiles to accumulators of shape `S`.
///
/// The innermost loop runs along rows of B and of the accumulators, all of one type: the compiler vectorises it.
pub(crate) fn multiply<T, U, C, SA, SB, S, L, M, N>(
    a: &Tile<T, SA, L>,
    b: &Tile<U, SB, M>,
    acc: &mut Registers<C, N>,
) where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    SB: Shape,
    S: Shape,
    L: Layout,
    M: Layout,
    N: PowerOfTwo,
{
    let (m, n, k) = const {
        (
            <S::Rows as PowerOfTwo>::COUNT,
            <S::Columns as PowerOfTwo>::COUNT,
            <SA::Columns as PowerOfTwo>::COUNT,
        )
    };
    let a = Registers::<T::Wide, L::Registers<SA>>::from_fn(|i| a.registers().get(i).widen_a());
    let b = Registers::<T::Wide, M::Registers<SB>>::from_fn(|i| T::widen_b(b.registers().get(i)));
    let mut wide = Registers::<T::Wide, N>::from_fn(|i| T::widen_accumulator(acc.get(i)));
    for (batch, acc) in wide.as_mut_slice().chunks_exact_mut(m * n).enumerate() {
        // An operand without a batch, or with a batch of one, serves all matrices.
        let a = &a.as_slice()[batch * m * k % SA::LEN..][..m * k];
        let b = &b.as_slice()[batch * k * n % SB::LEN..][..k * n];
        for (acc, a) in acc.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
            for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
                for (sum, &b) in acc.iter_mut().zip(b) {
                    *sum = T::multiply_add(a, b, *sum);
                }
            }
        }
    }
    *acc = Registers::from_fn(|i| T::narrow(wide.get(i)));
}
