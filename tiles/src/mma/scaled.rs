//! Products of numbers of eight and four bits in blocks that have a scale each.

use crate::arch::matrix::multiply_add_f32;
use crate::element::{Cast, f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3};
use crate::layout::movement::Extraction;
use crate::layout::{Accumulators, Layout};
use crate::mma::shapes::MatrixParts;
use crate::mma::tile::mma;
use crate::mma::types::MultiplyAccumulate;
use crate::registers::{PowerOfTwo, Quotient};
use crate::shape::{Power, Shape};
use crate::tile::Tile;

/// Elements that [`scaled_mma`] multiplies, with scales of type `Scale` for blocks of them.
///
/// | elements | scales | elements in a block |
/// |---|---|---|
/// | [`f8e4m3`], [`f8e5m2`] | [`f8e8m0`] | 32 |
/// | [`f4e2m1`] | [`f8e8m0`], [`f8ue5m3`] | 16, 32 |
/// | [`f4e2m1`] | [`f8e4m3`], none of them negative | 16 |
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` with scales of `{Scale}` have no scaled product",
    label = "no such scaled product of matrices",
    note = "f8e4m3 and f8e5m2 have scales of f8e8m0; f4e2m1 has scales of f8e8m0, f8e4m3 or f8ue5m3"
)]
pub trait ScaledMultiply<Scale: Cast<f32>>: Cast<Self::Factor> {
    /// A type that has all their values and that tensor cores multiply.
    #[doc(hidden)]
    type Factor: MultiplyAccumulate<Self::Factor, f32>;
    /// How many elements a block can have.
    #[doc(hidden)]
    const BLOCKS: &'static [usize];
}

macro_rules! combinations {
    ($($element:ident $scale:ident: $factor:ident, $blocks:expr;)*) => { $(
        impl ScaledMultiply<$scale> for $element {
            type Factor = $factor;
            const BLOCKS: &'static [usize] = &$blocks;
        }
    )* };
}
combinations! {
    f8e4m3 f8e8m0: f8e4m3, [32];
    f8e5m2 f8e8m0: f8e5m2, [32];
    f4e2m1 f8e8m0: f8e4m3, [16, 32];
    f4e2m1 f8e4m3: f8e4m3, [16];
    f4e2m1 f8ue5m3: f8e4m3, [16, 32];
}

/// Whether scales of shape `scale` go with a factor of shape `factor`, whose `k` is `axes_from_last` axes before the last one,
/// to sums of shape `sums`; they have as many of `k` as there are blocks.
const fn scales_fit<Scale: Shape, F: Shape, S: Shape>(axes_from_last: usize) -> bool {
    let (scale, factor, sums) = (&Scale::DESCRIPTION, &F::DESCRIPTION, &S::DESCRIPTION);
    if scale.rank != factor.rank {
        return false;
    }
    let mut axis = 0;
    while axis < scale.rank {
        let of_depth = axis + 1 + axes_from_last == scale.rank;
        let of_batch = axis + 2 < scale.rank;
        let fits = if of_depth {
            scale.log[axis] <= factor.log[axis]
        } else if of_batch {
            scale.log[axis] == sums.log[axis] || scale.log[axis] == factor.log[axis] || scale.log[axis] == 0
        } else {
            scale.log[axis] == factor.log[axis]
        };
        if !fits {
            return false;
        }
        axis += 1;
    }
    true
}

const fn contains(blocks: &[usize], block: usize) -> bool {
    let mut k = 0;
    while k < blocks.len() {
        if blocks[k] == block {
            return true;
        }
        k += 1;
    }
    false
}

/// `(a * a_scale) * (b * b_scale) + acc`, of matrices whose elements share scales in blocks along `k`.
///
/// `a` has shape `(M, K)` and its scales `(M, K / B)`, `b` has shape `(K, N)` and its scales `(K / B, N)`: [`ScaledMultiply`] lists the
/// types and the lengths `B` of blocks. With a batch in front, that of a factor or of its scales may be 1. The sums are `f32`.
///
/// The order of arguments is that of CUDA Tile C++ and of Python; CUDA Tile's Rust API puts `acc` before the scales.
///
/// Products within a block are added as [`mma`] adds them, then scaled by the product of both scales, exactly, and added to the
/// sum. FP4 lies in tiles with a byte each: [`Tile::unpack`] takes pairs from memory apart.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let (a, b) = (cx.ones::<f32, _>(shape![2, 64]).cast::<f8e4m3>(), cx.ones::<f32, _>(shape![64, 2]).cast::<f8e4m3>());
///     let doubled = cx.full(shape![2, 2], f8e8m0::constant(2.0));
///     let halved = cx.full(shape![2, 2], f8e8m0::constant(0.25));
///     let sums = scaled_mma(a, doubled, b, halved, cx.zeros::<f32, _>(shape![2, 2]));
///     assert_eq!(sums.at([0, 1]), 32.0);
/// });
/// ```
#[inline(always)]
pub fn scaled_mma<T, X, SA, SB, S, SX, SY, L, LX, M, MY, N>(
    a: Tile<T, SA, L>,
    a_scale: Tile<X, SX, LX>,
    b: Tile<T, SB, M>,
    b_scale: Tile<X, SY, MY>,
    acc: Tile<f32, S, N>,
) -> Tile<f32, S, N>
where
    T: ScaledMultiply<X>,
    X: Cast<f32>,
    SA: MatrixParts<SB, S>,
    SB: Shape,
    S: Shape,
    SX: Shape,
    SY: Shape,
    L: Layout,
    LX: Layout<Block = L::Block>,
    M: Layout<Block = L::Block>,
    MY: Layout<Block = L::Block>,
    N: Layout<Block = L::Block>,
{
    let block = const {
        assert!(
            scales_fit::<SX, SA, S>(0),
            "scaled_mma: the scales of the left matrix have its rows, and along k one for each block"
        );
        assert!(
            scales_fit::<SY, SB, S>(1),
            "scaled_mma: the scales of the right matrix have its columns, and along k one for each block"
        );
        assert!(
            SX::Columns::LOG == SY::Rows::LOG,
            "scaled_mma: both matrices have the same number of blocks along k"
        );
        let block = SA::Columns::COUNT >> SX::Columns::LOG;
        assert!(
            contains(T::BLOCKS, block),
            "scaled_mma: a block has 32 elements, or of f4e2m1 16, or, unless its scales are f8e4m3, 32"
        );
        block
    };
    let (a, b) = (a.cast::<T::Factor>(), b.cast::<T::Factor>());
    let mut sums = acc.spread::<S, Accumulators<L::Block>>();
    type Length<A, B> = Power<Quotient<A, B>>;
    SX::Columns::unroll(0, 1, &mut |number| {
        let left = a.moved_at::<SA::LeftPart<Length<SA::Columns, SX::Columns>>, Extraction>(number * block);
        let right = b.moved_at::<SA::RightPart<Length<SA::Columns, SX::Columns>>, Extraction>(
            (number * block) << <SB::Columns as PowerOfTwo>::LOG,
        );
        let products = mma(left, right, Tile::<f32, S, Accumulators<L::Block>>::zeros());
        let left = a_scale.moved_at::<SA::Column, Extraction>(number).cast::<f32>();
        let right =
            b_scale.moved_at::<SA::Row, Extraction>(number << <SY::Columns as PowerOfTwo>::LOG).cast::<f32>();
        let left = left.spread::<S, Accumulators<L::Block>>();
        let right = right.spread::<S, Accumulators<L::Block>>();
        sums = Tile::from_registers_fn(|i| {
            let scale = left.registers().get(i) * right.registers().get(i);
            let product = products.registers().get(i);
            // Two great powers of two are infinite together, but what is zero stays zero.
            let scale = if product == 0.0 && scale == f32::INFINITY { 1.0 } else { scale };
            multiply_add_f32(product, scale, sums.registers().get(i))
        });
    });
    sums.spread()
}
