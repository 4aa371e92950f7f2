//! Multiplication of numbers of eight and four bits in blocks with a scale each.

use crate::arch::matrix::multiply_add_f32;
use crate::element::{Cast, f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3};
use crate::layout::movement::Extraction;
use crate::layout::{Accumulators, Layout};
use crate::mma::shapes::{MatrixParts, assert_rows_and_depth_are_whole};
use crate::mma::tile::mma;
use crate::mma::types::MultiplyAccumulate;
use crate::registers::{PowerOfTwo, Quotient};
use crate::shape::{Power, Shape};
use crate::tile::Tile;

/// Element types that [`scaled_mma`] multiplies, with scales of type `Scale` for blocks of elements.
///
/// | elements | scales | elements in a block |
/// |---|---|---|
/// | [`f8e4m3`], [`f8e5m2`] | [`f8e8m0`] | 32 |
/// | [`f4e2m1`] | [`f8e8m0`], [`f8ue5m3`] | 16, 32 |
/// | [`f4e2m1`] | [`f8e4m3`], none of them negative | 16 |
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` with scales of `{Scale}` have no scaled multiplication",
    label = "no such scaled multiplication of matrices",
    note = "f8e4m3 and f8e5m2 have scales of f8e8m0; f4e2m1 has scales of f8e8m0, f8e4m3 or f8ue5m3"
)]
pub trait ScaledMultiply<Scale: Cast<f32>>: Cast<Self::Operand> {
    /// A type that represents all their values and that tensor cores multiply.
    #[doc(hidden)]
    type Operand: MultiplyAccumulate<Self::Operand, f32>;
    /// The possible numbers of elements in a block.
    #[doc(hidden)]
    const BLOCKS: &'static [usize];
}

macro_rules! combinations {
    ($($element:ident $scale:ident: $operand:ident, $blocks:expr;)*) => { $(
        impl ScaledMultiply<$scale> for $element {
            type Operand = $operand;
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

/// Whether scales of shape `scale` fit an operand of shape `operand` and accumulators of shape `acc`. The operand's `k` is
/// `axes_from_last` axes before the last one. The scales have one element along `k` for each block.
const fn scales_fit<Scale: Shape, F: Shape, S: Shape>(axes_from_last: usize) -> bool {
    let (scale, operand, acc) = (&Scale::DESCRIPTION, &F::DESCRIPTION, &S::DESCRIPTION);
    if scale.rank != operand.rank {
        return false;
    }
    let mut axis = 0;
    while axis < scale.rank {
        let of_depth = axis + 1 + axes_from_last == scale.rank;
        let of_batch = axis + 2 < scale.rank;
        let fits = if of_depth {
            scale.log[axis] <= operand.log[axis]
        } else if of_batch {
            scale.log[axis] == acc.log[axis] || scale.log[axis] == operand.log[axis] || scale.log[axis] == 0
        } else {
            scale.log[axis] == operand.log[axis]
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

/// Scaled matrix multiply-accumulate: `(a * a_scale) * (b * b_scale) + acc`, where elements share scales in blocks along `k`.
///
/// The order of arguments is that of CUDA Tile C++ and of Python. CUDA Tile's Rust API puts `acc` before the scales.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let (a, b) = (cx.ones::<f32>(shape![2, 64]).cast::<f8e4m3>(), cx.ones::<f32>(shape![64, 2]).cast::<f8e4m3>());
///     let doubled = cx.full(shape![2, 2], f8e8m0::constant(2.0));
///     let halved = cx.full(shape![2, 2], f8e8m0::constant(0.25));
///     let acc = scaled_mma(a, doubled, b, halved, cx.zeros::<f32>(shape![2, 2]));
///     assert_eq!(acc.at([0, 1]), 32.0);
/// });
/// ```
///
/// # Shapes
///
/// `a` is `(M, K)` and its scales `(M, K / B)`; `b` is `(K, N)` and its scales `(K / B, N)`. [`ScaledMultiply`] lists the types
/// and the lengths `B` of blocks. With a batch in front, the batch of an operand or of its scales may be 1. The accumulators
/// are `f32`. FP4 takes a byte each in tiles: [`Tile::unpack`] splits pairs from memory.
///
/// # Accuracy
///
/// Products within a block are added as by [`mma`], then scaled by the exact product of both scales, and added to the
/// accumulators.
///
/// # On a GPU
///
/// One [`mma`] for each block along `k`, and a fused multiply-add for each accumulator.
#[inline_on_device]
#[doc(alias("mma_scaled", "mmaf_scaled", "dot_scaled"))]
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
        assert_rows_and_depth_are_whole::<SA>();
        assert!(
            scales_fit::<SX, SA, S>(0),
            "scaled_mma: the scales of A have its rows, and along k one for each block"
        );
        assert!(
            scales_fit::<SY, SB, S>(1),
            "scaled_mma: the scales of B have its columns, and along k one for each block"
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
    let (a, b) = (a.cast::<T::Operand>(), b.cast::<T::Operand>());
    let mut acc = acc.spread::<S, Accumulators<L::Block>>();
    type Length<A, B> = Power<Quotient<A, B>>;
    SX::Columns::unroll(0, 1, &mut |number| {
        let a = a.moved_at::<SA::APart<Length<SA::Columns, SX::Columns>>, Extraction>(number * block);
        let b = b.moved_at::<SA::BPart<Length<SA::Columns, SX::Columns>>, Extraction>(
            (number * block) << <SB::Columns as PowerOfTwo>::LOG,
        );
        let products = mma(a, b, Tile::<f32, S, Accumulators<L::Block>>::zeros());
        let a = a_scale.moved_at::<SA::Column, Extraction>(number).cast::<f32>();
        let b =
            b_scale.moved_at::<SA::Row, Extraction>(number << <SY::Columns as PowerOfTwo>::LOG).cast::<f32>();
        let a = a.spread::<S, Accumulators<L::Block>>();
        let b = b.spread::<S, Accumulators<L::Block>>();
        acc = Tile::from_registers_fn(|i| {
            let scale = a.registers().get(i) * b.registers().get(i);
            let product = products.registers().get(i);
            // The product of two large powers of two is infinite, but zero stays zero.
            let scale = if product == 0.0 && scale == f32::INFINITY { 1.0 } else { scale };
            multiply_add_f32(product, scale, acc.registers().get(i))
        });
    });
    acc.spread()
}
