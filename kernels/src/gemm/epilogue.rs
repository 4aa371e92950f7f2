//! What happens to the sums of the ready-made products before they are stored.

use cuda_tiles::prelude::*;
use cuda_tiles::stream::SinkTile;

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
    /// `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`.
    Gelu = 2,
    /// Sigmoid-weighted linear unit, `x / (1 + e^-x)`.
    Silu = 3,
}

/// Types that products are summed up in.
pub trait Sum: Number {
    /// The activation with this number of each element, for types that have activations.
    #[doc(hidden)]
    fn activated<S: Shape, L: Layout>(tile: Tile<Self, S, L>, activation: u32) -> Tile<Self, S, L>;
}

impl Sum for f32 {
    #[inline(always)]
    fn activated<S: Shape, L: Layout>(tile: Tile<Self, S, L>, activation: u32) -> Tile<Self, S, L> {
        // Below this the logistic function is zero, and infinity times zero would be NaN.
        const VANISHING: f32 = -128.0;
        if activation == Activation::None as u32 {
            tile
        } else if activation == Activation::Relu as u32 {
            tile.map(|x| if x < 0.0 { 0.0 } else { x })
        } else {
            // Both are x times the logistic function of a polynomial: one code for two halves what is compiled.
            let (linear, cubic) =
                if activation == Activation::Gelu as u32 { (1.595_769_2, 0.071_354_814) } else { (1.0, 0.0) };
            tile.map(move |x| {
                let x = if x < VANISHING { VANISHING } else { x };
                x * ApproximateFloat::sigmoid_approximate(x * (x * x * cubic + linear))
            })
        }
    }
}

macro_rules! without_activations {
    ($($type:ident)*) => { $(
        impl Sum for $type {
            #[inline(always)]
            fn activated<S: Shape, L: Layout>(tile: Tile<Self, S, L>, _activation: u32) -> Tile<Self, S, L> {
                tile
            }
        }
    )* };
}
without_activations!(f64 i32);

/// The epilogue of the ready-made kernels: `activation(alpha sums + beta c + bias)`. An empty bias is none, and `c` is read
/// only where `beta` is not zero.
#[inline(always)]
pub(super) fn finish<B: Block, C: Sum + Cast<O>, O: Element + Cast<C>, M: Dimension, N: Dimension>(
    cx: Cx<B>,
    sums: Tile<C, (M, N), Accumulators<B>>,
    tile: &SinkTile<O, (M, N)>,
    bias: Span<O, (u32,)>,
    [alpha, beta]: [C; 2],
    activation: u32,
) -> Tile<O, (M, N), Accumulators<B>> {
    let mut sums = sums;
    if alpha != C::ONE {
        sums = sums.map(move |sum| Number::mul(sum, alpha));
    }
    if beta != C::ZERO {
        sums = sums + tile.load(cx).cast::<C>().map(move |before| Number::mul(before, beta));
    }
    if bias.extent(0) != 0 {
        let bias = bias.partition(cx, (N::default(),)).load_masked(Zero, tile.index()[2]);
        sums = sums + bias.cast::<C>();
    }
    C::activated(sums, activation).cast::<O>()
}
