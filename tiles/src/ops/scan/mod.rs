//! Scans along an axis: running sums, products, maxima, and those of a closure.
//!
//! The result has the shape of the tile and the layout of loads. Element `k` along the axis combines elements 0 to `k`
//! ([`Inclusive`]), or 0 to `k - 1` ([`Exclusive`]: the first is the identity). [`Backward`] begins at the last element: it
//! is a scan of the flipped tile, flipped back. The element type stays: a sum of `i8` wraps, convert first to widen.
//!
//! Elements combine in the order of the scan, so that the operation need be associative only. How they are grouped follows
//! from shape and block: neighbours in a thread, lanes of a warp by doubling distances, warps. For a given block size that
//! is fixed, hence results are reproducible; on the CPU a scan goes element after element. Integers, maxima and minima
//! agree to the bit; float sums and products of the CPU, the GPU and other block sizes may differ by rounding, each
//! within the bound `n u sum |x|` of any order of summation (N. Higham, "Accuracy and Stability of Numerical
//! Algorithms", section 4.2).

mod algorithm;
mod form;

pub(super) use algorithm::scan;
pub use form::{Backward, Exclusive, Forward, Inclusive, ScanForm};

use super::modes::{ArithmeticMode, NanMode, SuppressNan};
use crate::element::{Element, Number};
use crate::layout::{Blocked, Layout};
use crate::shape::{Axis, Shape};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Combines each element along axis `A` with all before it, by `combine(before, element)`.
    ///
    /// `combine` must be associative; it need not be commutative. `identity` changes nothing and begins
    /// [`Exclusive`] scans. With [`ALL`](crate::shape::ALL) the axis is the row-major sequence of all elements.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u32, _>(shape![2, 4]);
    ///     let bits = t.scan::<1>(0, |a, b| a | b);
    ///     assert_eq!(bits.at([1, 2]), 4 | 5 | 6);
    /// });
    /// ```
    #[inline(always)]
    pub fn scan<const A: usize>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        S: Axis<A>,
    {
        self.scan_as::<A, Inclusive>(identity, combine)
    }

    /// The same in a form such as [`Exclusive`], [`Backward`] or `(Exclusive, Backward)`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     // The last number that is not zero, at or after each element.
    ///     let t = cx.iota::<i32, _>(shape![8]) % 3;
    ///     let next = t.scan_with::<0, _>(0, |later, own| if own != 0 { own } else { later }, Backward);
    ///     assert_eq!((next.at([3]), next.at([6])), (1, 1));
    /// });
    /// ```
    #[inline(always)]
    pub fn scan_with<const A: usize, F: ScanForm>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
        _form: F,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        S: Axis<A>,
    {
        self.scan_as::<A, F>(identity, combine)
    }

    #[inline(always)]
    fn scan_as<const A: usize, F: ScanForm>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        S: Axis<A>,
    {
        let values = *self.blocked().registers();
        Tile::from_registers(scan::<T, S, L::Block, F, A>(values, identity, combine))
    }
}

/// Scans by one operation: forward and inclusive, and in any form.
macro_rules! scans {
    ($($(#[$documentation:meta])* $name:ident, $name_with:ident, $identity:expr, $combine:expr;)*) => { $(
        $(#[$documentation])*
        #[inline(always)]
        pub fn $name<const A: usize>(self) -> Tile<T, S, Blocked<L::Block>>
        where
            T: Number,
            S: Axis<A>,
        {
            self.scan_as::<A, Inclusive>($identity, $combine)
        }

        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "), in the given form.")]
        #[inline(always)]
        pub fn $name_with<const A: usize, F: ScanForm>(self, _form: F) -> Tile<T, S, Blocked<L::Block>>
        where
            T: Number,
            S: Axis<A>,
        {
            self.scan_as::<A, F>($identity, $combine)
        }
    )* };
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    scans! {
        /// Running sums along axis `A`; integers wrap. Exclusive ones begin with 0.
        ///
        /// ```
        /// use cuda_tiles::prelude::*;
        /// cuda_tiles::cpu::block(|cx| {
        ///     let t = cx.iota::<i32, _>(shape![2, 4]);
        ///     assert_eq!(t.cumsum::<1>().at([1, 2]), 4 + 5 + 6);
        ///     assert_eq!(t.cumsum_with::<1, _>((Exclusive, Backward)).at([1, 2]), 7);
        /// });
        /// ```
        cumsum, cumsum_with, T::ZERO, Number::add;
        /// Running products along axis `A`; integers wrap. Exclusive ones begin with 1.
        cumprod, cumprod_with, T::ONE, Number::mul;
        /// The largest elements so far along axis `A`; NaN as long as all are. Exclusive ones begin with the least value.
        cummax, cummax_with, T::LOWEST, SuppressNan::maximum;
        /// The smallest elements so far along axis `A`; NaN as long as all are. Exclusive ones begin with the greatest value.
        cummin, cummin_with, T::HIGHEST, SuppressNan::minimum;
    }

    /// Running sums along axis `A` in a form, with a mode of arithmetic such as
    /// [`TowardZero`](super::modes::TowardZero) for every sum.
    ///
    /// ```
    /// use cuda_tiles::ops::modes::TowardNegative;
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let sums = cx.full(shape![4], 0.1f32).cumsum_rounded::<0, _, _>(Forward, TowardNegative);
    ///     assert!(f64::from(sums.at([3])) <= 4.0 * f64::from(0.1f32));
    /// });
    /// ```
    #[inline(always)]
    pub fn cumsum_rounded<const A: usize, F: ScanForm, M: ArithmeticMode<T>>(
        self,
        _form: F,
        _mode: M,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Number,
        S: Axis<A>,
    {
        self.scan_as::<A, F>(T::ZERO, M::add)
    }

    /// Running products along axis `A` in a form, with a mode of arithmetic for every product.
    #[inline(always)]
    pub fn cumprod_rounded<const A: usize, F: ScanForm, M: ArithmeticMode<T>>(
        self,
        _form: F,
        _mode: M,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Number,
        S: Axis<A>,
    {
        self.scan_as::<A, F>(T::ONE, M::mul)
    }
}
