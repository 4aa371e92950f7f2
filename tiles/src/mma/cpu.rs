//! Products on the CPU, where a block is one thread that holds whole tiles.

use crate::element::{Element, Repack};
use crate::layout::Layout;
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::tile::Tile;

/// Adds the products of two tiles to sums of shape `S`.
///
/// The innermost loop runs along rows of the right operand and of the sums, all of one type, so that it is vectorised.
pub(crate) fn multiply<T, U, C, SA, SB, S, L, M, N>(
    left: &Tile<T, SA, L>,
    right: &Tile<U, SB, M>,
    sums: &mut Registers<C, N>,
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
    let left = Registers::<T::Wide, L::Registers<SA>>::from_fn(|i| left.registers().get(i).widen_left());
    let right = Registers::<T::Wide, M::Registers<SB>>::from_fn(|i| T::widen_right(right.registers().get(i)));
    let mut wide = Registers::<T::Wide, N>::from_fn(|i| T::widen_sum(sums.get(i)));
    for (batch, sums) in wide.as_mut_slice().chunks_exact_mut(m * n).enumerate() {
        // A factor without a batch, or with a batch of one, serves all.
        let left = &left.as_slice()[batch * m * k % SA::LEN..][..m * k];
        let right = &right.as_slice()[batch * k * n % SB::LEN..][..k * n];
        for (sums, left) in sums.chunks_exact_mut(n).zip(left.chunks_exact(k)) {
            for (&factor, right) in left.iter().zip(right.chunks_exact(n)) {
                for (sum, &right) in sums.iter_mut().zip(right) {
                    *sum = T::multiply_add(factor, right, *sum);
                }
            }
        }
    }
    *sums = Registers::from_fn(|i| T::narrow(wide.get(i)));
}
