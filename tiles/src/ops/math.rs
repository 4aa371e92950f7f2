//! Mathematical functions of tiles of floats. Error bounds stand with the functions of one element, in
//! [`crate::math`].

use super::Operand;
use super::operand::Fetch;
use crate::element::{ApproximateFloat, Classify, Element, Float};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::tile::{Spread, Tile};

macro_rules! functions {
    ($class:ident: $($(#[$attribute:meta])* $name:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name(self) -> Self
            where
                T: $class,
            {
                Tile::from_registers_fn(|i| $class::$name(self.registers().get(i)))
            }
        )* }
    };
}
functions! { Float:
    /// e to the power of each element.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| assert_eq!(cx.full(shape![4], 0.0f32).exp().at([3]), 1.0));
    /// ```
    exp;
    /// 2 to the power of each element.
    exp2;
    /// Natural logarithms.
    log;
    /// Base-2 logarithms.
    log2;
    /// Square roots, correctly rounded.
    sqrt;
    /// Reciprocals of the square roots.
    rsqrt;
    /// Sines of angles in radians.
    sin;
    /// Cosines of angles in radians.
    cos;
    /// Tangents of angles in radians.
    tan;
    /// Hyperbolic tangents.
    tanh;
    /// The greatest integers not above.
    floor;
    /// The least integers not below.
    ceil;
}
functions! { ApproximateFloat:
    /// e to the power of each element, by one hardware instruction after a scaling.
    exp_approximate;
    /// 2 to the power of each element, by the hardware.
    exp2_approximate;
    /// Natural logarithms, by one hardware instruction before a scaling.
    log_approximate;
    /// Base-2 logarithms, by the hardware.
    log2_approximate;
    /// Reciprocals of the square roots, by the hardware.
    rsqrt_approximate;
    /// Reciprocals, by the hardware.
    reciprocal_approximate;
    /// Sines, by the hardware; good between -pi and pi.
    sin_approximate;
    /// Cosines, by the hardware; good between -pi and pi.
    cos_approximate;
    /// Hyperbolic tangents, by the hardware.
    tanh_approximate;
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// `self * factor + summand`, rounded once.
    ///
    /// `factor` and `summand` broadcast; their elements have the type of this tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 3.0f32);
    ///     assert_eq!(t.fma(2.0, 1.0).at([0]), 7.0);
    /// });
    /// ```
    #[inline(always)]
    pub fn fma<F, A>(self, factor: F, summand: A) -> Tile<T, A::Shape, A::Layout>
    where
        T: Float,
        F: Operand<T, S, L, Element = T>,
        A: Operand<T, F::Shape, F::Layout, Element = T>,
    {
        let left = Spread::<T, S, L, A::Shape, A::Layout>::new(self);
        let factor = factor.prepare::<A::Shape, A::Layout>();
        let summand = summand.prepare::<A::Shape, A::Layout>();
        Tile::from_registers_fn(|i| left.get(i).fma(factor.get(i), summand.get(i)))
    }

    /// Whether elements are infinite.
    #[inline(always)]
    pub fn is_infinite(self) -> Tile<bool, S, L>
    where
        T: Classify,
    {
        Tile::from_registers_fn(|i| self.registers().get(i).classify_infinite())
    }
}
