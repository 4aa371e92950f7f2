//! The epilogue of the ready-made kernels: scales, a bias and an activation between the accumulators and the store.

use cuda_tiles::element::{ApproximateFloat, Float};
use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::launch::{Fingerprint, Plain};
use cuda_tiles::prelude::*;

/// A function of each element of the result, the last step of an epilogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    /// The element itself.
    #[default]
    None = 0,
    /// `max(x, 0)`.
    Relu = 1,
    /// Gaussian-error linear unit, approximated with the hyperbolic tangent: `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`.
    ///
    /// For results of 16 bits the hardware computes the hyperbolic tangent, see [`Tile::gelu_tanh_approximate`].
    Gelu = 2,
    /// Sigmoid-weighted linear unit, `x / (1 + e^-x)`.
    ///
    /// For results of 16 bits the hardware computes the hyperbolic tangent, see [`Tile::silu_approximate`].
    Silu = 3,
}

/// Types of accumulators: `f32`, `f64` and `i32`.
pub trait Sum: Number {
    /// Applies the activation with this number to each element, precisely enough for results of 16 bits if it `is_half`. Types without
    /// activations leave the elements as they are.
    #[doc(hidden)]
    fn activated<S: Shape, L: Layout>(
        tile: Tile<Self, S, L>,
        activation: u32,
        is_half: bool,
    ) -> Tile<Self, S, L>;
}

impl Sum for f32 {
    #[inline_on_device]
    fn activated<S: Shape, L: Layout>(
        tile: Tile<Self, S, L>,
        activation: u32,
        is_half: bool,
    ) -> Tile<Self, S, L> {
        if activation == Activation::None as u32 {
            tile
        } else if activation == Activation::Relu as u32 {
            tile.map(|x| if x < 0.0 { 0.0 } else { x })
        } else {
            // One code serves both activations. Two were half of what there is to compile of a product.
            let polynomial = if activation == Activation::Gelu as u32 { GELU } else { SILU };
            // Rounding to 16 bits adds as large an error as the hardware's hyperbolic tangent.
            if is_half {
                tile.map_by_turns(move |x| times_sigmoid_by_tanh(x, polynomial))
            } else {
                tile.map_by_turns(move |x| times_sigmoid(x, polynomial))
            }
        }
    }
}

/// The numbers `c` and `l` of an activation `x / (1 + e^-2h)`, where `h` is `x (c x² + l)`.
type Polynomial = (f32, f32);

/// Those of [`Activation::Gelu`].
const GELU: Polynomial = (0.035_677_408, 0.797_884_6);
/// Those of [`Activation::Silu`]. The number that stands for zero is too small for any result, but its product with infinity is not NaN.
const SILU: Polynomial = (f32::MIN_POSITIVE, 0.5);

/// The activation of `x`, with a relative error of some 2⁻²¹. It is zero where `h` is below -43.
#[inline_on_device]
fn times_sigmoid(x: f32, (cubic, linear): Polynomial) -> f32 {
    let half = x * x.fma(x * cubic, linear);
    // Infinity times zero would be NaN.
    let x = x.max_propagate_nan(-128.0);
    x * (2.0 * half).sigmoid_approximate()
}

/// The activation of `x` by the hardware's hyperbolic tangent, with the errors of [`Tile::gelu_tanh_approximate`] and
/// [`Tile::silu_approximate`].
#[inline_on_device]
fn times_sigmoid_by_tanh(x: f32, (cubic, linear): Polynomial) -> f32 {
    // Below, the hyperbolic tangent is -1. Infinity times zero would be NaN.
    let x = x.max_propagate_nan(-32.0);
    let half = x * x.fma(x * cubic, linear);
    x * half.tanh_approximate().fma(0.5, 0.5)
}

macro_rules! without_activations {
    ($($type:ident)*) => { $(
        impl Sum for $type {
            #[inline_on_device]
            fn activated<S: Shape, L: Layout>(tile: Tile<Self, S, L>, _: u32, _: bool) -> Tile<Self, S, L> {
                tile
            }
        }
    )* };
}
without_activations!(f64 i32);

/// The elements of the largest tile whose kernel reads `c`. The addresses of `c` take registers, and kernels with larger tiles have none
/// left.
pub(super) const LARGEST_WITH_BETA: usize = 128 * 128;

/// Whether kernels with tiles of this shape read `c`.
const fn has_beta<M: Dimension, N: Dimension>() -> bool {
    <(M, N) as MatrixShape>::ROWS * <(M, N) as MatrixShape>::COLUMNS <= LARGEST_WITH_BETA
}

/// The numbers of an epilogue: `alpha`, `beta` and the activation of `activation(alpha acc + beta c + bias)`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Scales<C> {
    alpha: C,
    beta: C,
    /// The activation's number. It costs fewer registers than the enumeration.
    activation: u32,
}

impl<C: Sum> Scales<C> {
    /// The epilogue that changes nothing: `alpha` is 1, `beta` is 0, and there is no activation.
    pub const ONE: Self = Self { alpha: C::ONE, beta: C::ZERO, activation: Activation::None as u32 };

    /// The epilogue `activation(alpha acc + beta c + bias)`.
    pub const fn new(alpha: C, beta: C, activation: Activation) -> Self {
        Self { alpha, beta, activation: activation as u32 }
    }

    /// `alpha`, `beta`, and the number of the activation.
    #[inline_on_device]
    pub(super) fn parts(self) -> (C, C, u32) {
        (self.alpha, self.beta, self.activation)
    }
}

// SAFETY: two numbers and an integer, in the order of C.
unsafe impl<C: Sum> Plain for Scales<C> {
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("Scales").word(C::NAME);
}

/// The epilogue of the ready-made kernels.
///
/// An empty bias means no bias. The epilogue reads `c` only if `beta` is not zero. The host passes zero to kernels whose tiles are larger
/// than [`LARGEST_WITH_BETA`].
#[inline_on_device]
pub(super) fn finish<L: Layout, C: Sum + Cast<O>, O: Element + Cast<C>, M: Dimension, N: Dimension>(
    cx: Cx<L::Block>,
    acc: Tile<C, (M, N), L>,
    tile: &StoreTile<O, (M, N)>,
    bias: Span<O, (u32,)>,
    scales: Scales<C>,
) -> Tile<O, (M, N), L> {
    let (alpha, beta, activation) = scales.parts();
    let mut acc = acc;
    // Without this branch the compiler moves the multiplications up among the tensor cores' instructions.
    if alpha != C::ONE {
        acc = acc.map(move |x| Number::mul(x, alpha));
    }
    if const { has_beta::<M, N>() } && beta != C::ZERO {
        acc = tile.add_previous(cx, acc, beta);
    }
    if bias.extent(0) != 0 {
        acc = tile.add_row(cx, acc, bias);
    }
    C::activated(acc, activation, const { size_of::<O::Bits>() <= 2 }).cast()
}

/// The epilogue of kernels that store through a view: `activation(alpha acc + beta c + bias)`.
///
/// The arguments are the token, the accumulators, the [`Scales`], the span of the bias, the view of `c`, the shape of a tile of the bias,
/// and the indices of the tile of `c` and of the tile of the bias. An empty bias means no bias. The epilogue reads `c` only if `beta` is
/// not zero.
macro_rules! finish_view {
    ($cx:ident, $acc:expr, $scales:expr, $bias:ident, $c:ident, $row:expr, $index:expr, $column:expr) => {
        finish_view!(
            $acc,
            $scales,
            $c,
            $index,
            $bias.extent(0) != 0,
            $bias.partition($cx, $row).load_masked(Zero, $column)
        )
    };
    // As above, with a tile of the bias, if there is one, in place of the span.
    ($acc:expr, $scales:expr, $c:ident, $index:expr, $has_bias:expr, $bias:expr) => {{
        let (alpha, beta, activation) = $scales.parts();
        let mut acc = $acc.map(move |x| Number::mul(x, alpha));
        if beta != C::ZERO {
            let previous = $c.load_masked(Zero, $index);
            acc += previous.cast::<C>().map(move |previous| Number::mul(previous, beta));
        }
        if $has_bias {
            acc += $bias.cast::<C>();
        }
        let result: Tile<O, _, _> = C::activated(acc, activation, const { size_of::<O::Bits>() <= 2 }).cast();
        result
    }};
}
pub(super) use finish_view;
