//! What happens to the sums of the ready-made products before they are stored.

use cuda_tiles::element::{ApproximateFloat, Float};
use cuda_tiles::prelude::*;
use cuda_tiles::epilogue::StoreTile;

/// A function of each element of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    /// The element itself.
    #[default]
    None = 0,
    /// `max(x, 0)`.
    Relu = 1,
    /// Gaussian-error linear unit, by its approximation with the hyperbolic tangent:
    /// `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`. For results of 16 bits the hyperbolic tangent is the hardware's, as
    /// [`Tile::gelu_tanh_approximate`] says.
    Gelu = 2,
    /// Sigmoid-weighted linear unit, `x / (1 + e^-x)`; likewise.
    Silu = 3,
}

/// Types that products are summed up in.
pub trait Sum: Number {
    /// The activation with this number of each element, for types that have activations, converted.
    #[doc(hidden)]
    fn activated<O: Element, S: Shape, L: Layout>(tile: Tile<Self, S, L>, activation: u32) -> Tile<O, S, L>
    where
        Self: Cast<O>;
}

impl Sum for f32 {
    // Each branch converts: they would otherwise meet in full width, for which registers are short.
    #[inline(always)]
    fn activated<O: Element, S: Shape, L: Layout>(tile: Tile<Self, S, L>, activation: u32) -> Tile<O, S, L>
    where
        Self: Cast<O>,
    {
        if activation == Activation::None as u32 {
            tile.cast::<O>()
        } else if activation == Activation::Relu as u32 {
            tile.map(|x| if x < 0.0 { 0.0 } else { x }.cast())
        } else if activation == Activation::Gelu as u32 {
            // Of the error of the hardware's hyperbolic tangent, results of 16 bits have as much by themselves.
            if const { size_of::<O::Bits>() <= 2 } {
                tile.map_by_turns(|x| x.gelu_tanh_approximate().cast())
            } else {
                tile.map_by_turns(|x| gelu(x).cast())
            }
        } else if const { size_of::<O::Bits>() <= 2 } {
            tile.map_by_turns(|x| x.silu_approximate().cast())
        } else {
            tile.map_by_turns(|x| weighted(x, x).cast())
        }
    }
}

/// `x / (1 + e^-w)` with a relative error of some 2⁻²¹, and zero where `w` is below -87.
#[inline(always)]
fn weighted(x: f32, w: f32) -> f32 {
    // Infinity times zero would be NaN.
    let x = if x < -128.0 { -128.0 } else { x };
    x * w.sigmoid_approximate()
}

/// [`Activation::Gelu`], where `w` is twice what the hyperbolic tangent is of.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    const LINEAR: f32 = 1.595_769_2;
    const CUBIC: f32 = 0.071_354_814;
    weighted(x, x * (x * x).fma(CUBIC, LINEAR))
}

macro_rules! without_activations {
    ($($type:ident)*) => { $(
        impl Sum for $type {
            #[inline(always)]
            fn activated<O: Element, S: Shape, L: Layout>(
                tile: Tile<Self, S, L>,
                _activation: u32,
            ) -> Tile<O, S, L>
            where
                Self: Cast<O>,
            {
                tile.cast()
            }
        }
    )* };
}
without_activations!(f64 i32);

/// The elements of the largest tile for which kernels read `c`: the addresses take registers, of which larger ones have none left.
pub(super) const LARGEST_WITH_BETA: usize = 128 * 128;

/// Whether kernels with tiles of this shape read `c`.
const fn has_beta<M: Dimension, N: Dimension>() -> bool {
    <(M, N) as MatrixShape>::ROWS * <(M, N) as MatrixShape>::COLUMNS <= LARGEST_WITH_BETA
}

/// The epilogue of the ready-made kernels: `activation(alpha sums + beta c + bias)`. An empty bias is none, and `c` is read
/// only where `beta` is not zero, which it is for tiles larger than [`LARGEST_WITH_BETA`].
#[inline(always)]
pub(super) fn finish<L: Layout, C: Sum + Cast<O>, O: Element + Cast<C>, M: Dimension, N: Dimension>(
    cx: Cx<L::Block>,
    sums: Tile<C, (M, N), L>,
    tile: &StoreTile<O, (M, N)>,
    bias: Span<O, (u32,)>,
    [alpha, beta]: [C; 2],
    activation: u32,
) -> Tile<O, (M, N), L> {
    let mut sums = sums;
    // A branch, also where the factor is 1: products of the sums would be moved up among the tensor cores'.
    if alpha != C::ONE {
        sums = sums.map(move |sum| Number::mul(sum, alpha));
    }
    if const { has_beta::<M, N>() } && beta != C::ZERO {
        sums = tile.add_previous(cx, sums, beta);
    }
    if bias.extent(0) != 0 {
        sums = tile.add_row(cx, sums, bias);
    }
    C::activated(sums, activation)
}
