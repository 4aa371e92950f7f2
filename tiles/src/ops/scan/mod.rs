//! Scans along an axis: running sums, products, maxima, and those of a closure.
//!
//! The result has the shape of the tile and the layout of loads. Element `k` along the axis combines elements 0 to `k`
//! ([`Inclusive`]), or 0 to `k - 1` ([`Exclusive`]: the first is the identity). [`Backward`] begins at the last element: it
//! is a scan of the flipped tile, flipped back. The element type stays: a sum of `i8` wraps, convert first to widen.
//!
//! Elements combine in the order of the scan, so that the operation need be associative only. Shape and block decide how they
//! are grouped: neighbours in a thread, then lanes of a warp by doubling distances, then warps. For a given block size the
//! grouping is fixed, and results are reproducible.
//!
//! On the CPU one thread has all elements. Running sums and products of floats scan runs of 16 elements, then the totals of
//! these in runs of 16, and so on. All other scans go element after element.
//!
//! Integers, maxima and minima agree to the bit. Float sums and products of the CPU, the GPU and other block sizes may differ
//! by rounding, each within the bounds below.
//!
//! # Accuracy
//!
//! Running sums and products of `f16` and `bf16` are computed in `f32`, and each result is rounded once from there. With `u`
//! the unit roundoff of the type of computation (2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`), `n` elements along the axis, and all that
//! follows to first order:
//!
//! - The error of each running sum is at most `h u Σ|x|` over its own terms (N. Higham, "The accuracy of floating point
//!   summation", 1993). On the CPU `h = 4 log2 n + 12`. On a GPU it is `r + 12` if a thread holds elements of the axis in
//!   `r` registers and no more warps share the axis than lanes of a warp do; else `r w + 7` for `w` warps.
//! - The relative error of each running product of `k` elements is at most `(k - 1) u`, if no partial product overflows or
//!   is subnormal.
//! - Results of `f16` and `bf16` add the one rounding, half a unit in the last place.
//!
//! Modes of directed rounding double these. A closure computes in the type that it is given.
//!
//! # On a GPU
//!
//! The tile is brought to the layout [`Blocked`], which the result has too. Then, as far as the axis extends over them:
//!
//! 1. A thread scans its own neighbouring elements.
//! 2. The lanes of a warp scan the threads' totals, at doubling distances, by `shfl.sync.up.b32`, or `shfl.sync.down.b32` if the scan is
//!    [`Backward`] (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync").
//! 3. The warps exchange their totals through shared memory (`st.shared`, `bar.sync`, `ld.shared`).
//! 4. Each element takes what lies before its thread.

mod algorithm;
mod form;

use algorithm::running;
pub(super) use algorithm::scan;
pub use form::{Backward, Exclusive, Forward, Inclusive, ScanForm};

use super::modes::{ArithmeticMode, NanMode, SuppressNan, addition, multiplication};
use crate::element::{Comparable, Element, Number};
use crate::layout::{Blocked, Layout};
use crate::registers::Registers;
use crate::shape::{Axis, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Combines each element along axis `A` with all elements before it, by `combine(before, element)`.
    ///
    /// `combine` must be associative. It need not be commutative. `identity` must change nothing, and begins [`Exclusive`] scans. With
    /// [`ALL`](crate::shape::ALL) the axis is the row-major sequence of all elements.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u32>(shape![2, 4]);
    ///     let bits = t.scan::<1>(0, |a, b| a | b);
    ///     assert_eq!(bits.at([1, 2]), 4 | 5 | 6);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. Lanes combine by `shfl.sync.up.b32`, and warps through shared memory: the
    /// [module](self#on-a-gpu) has the steps.
    #[inline_on_device]
    #[doc(alias("associative_scan"))]
    pub fn scan<const A: usize>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.scan_as::<A, _>(identity, combine, Inclusive)
    }

    /// Scans as [`scan`](Self::scan) does, in a form such as [`Exclusive`], [`Backward`] or `(Exclusive, Backward)`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     // The last number that is not zero, at or after each element.
    ///     let t = cx.iota::<i32>(shape![8]) % 3;
    ///     let next = t.scan_with::<0>(0, |later, own| if own != 0 { own } else { later }, Backward);
    ///     assert_eq!((next.at([3]), next.at([6])), (1, 1));
    /// });
    /// ```
    #[inline_on_device]
    pub fn scan_with<const A: usize>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
        form: impl ScanForm,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.scan_as::<A, _>(identity, combine, form)
    }

    #[inline_on_device]
    fn scan_as<const A: usize, F: ScanForm>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T,
        _form: F,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        S: Axis<A>,
    {
        let values = *self.blocked().registers();
        Tile::from_registers(scan::<T, S, L::Block, F, A>(values, identity, combine))
    }

    /// Running sums or products in the accumulator's type, each rounded once.
    #[inline_on_device]
    fn running<const A: usize, F: ScanForm, M: ArithmeticMode<T>>(
        self,
        identity: T,
        combine: impl Fn(T::Accumulator, T::Accumulator) -> T::Accumulator,
        _form: F,
        _mode: M,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Number,
        S: Axis<A>,
    {
        let tile = self.blocked();
        let values = Registers::from_fn(|i| tile.registers().get(i).to_accumulator());
        let identity = identity.to_accumulator();
        let results = if T::ASSOCIATIVE {
            scan::<_, S, L::Block, F, A>(values, identity, combine)
        } else {
            running::<_, S, L::Block, F, A>(values, identity, combine)
        };
        Tile::from_registers_fn(|i| M::from_accumulator(results.get(i)))
    }
}

/// Scans by one operation: forward and inclusive, and in any form.
macro_rules! scans {
    ($($(#[$documentation:meta])* $name:ident, $name_with:ident: $bound:ident, |$tile:ident, $form:ident| $scan:expr;)*) => { $(
        $(#[$documentation])*
        #[inline_on_device]
        pub fn $name<const A: usize>(self) -> Tile<T, S, Blocked<L::Block>>
        where
            T: $bound,
            S: Axis<A>,
        {
            const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
            self.$name_with::<A>(Inclusive)
        }

        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "), in the given form.")]
        #[inline_on_device]
        pub fn $name_with<const A: usize>(self, $form: impl ScanForm) -> Tile<T, S, Blocked<L::Block>>
        where
            T: $bound,
            S: Axis<A>,
        {
            const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
            let $tile = self;
            $scan
        }
    )* };
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    scans! {
        /// Running sums along axis `A`.
        ///
        /// Integers wrap. `f16` and `bf16` are added up in `f32`, and each result is rounded once. Exclusive sums begin with 0.
        ///
        /// ```
        /// use cuda_tiles::prelude::*;
        /// cuda_tiles::cpu::block(|cx| {
        ///     let t = cx.iota::<i32>(shape![2, 4]);
        ///     assert_eq!(t.cumsum::<1>().at([1, 2]), 4 + 5 + 6);
        ///     assert_eq!(t.cumsum_with::<1>((Exclusive, Backward)).at([1, 2]), 7);
        /// });
        /// ```
        ///
        /// # Accuracy
        ///
        /// The [module](super::scan#accuracy) has the bound of the error.
        ///
        /// # On a GPU
        ///
        /// The result has the layout [`Blocked`]. A thread adds its own elements. Lanes add the threads' totals by `shfl.sync.up.b32` (PTX ISA,
        /// "Data Movement and Conversion Instructions: shfl.sync"), and warps add theirs through shared memory: the
        /// [module](super::scan#on-a-gpu) has the steps.
        #[doc(alias("partial_sum", "scan_sum"))]
        cumsum, cumsum_with: Number, |tile, form| tile.cumsum_rounded::<A>(form, ());
        /// Running products along axis `A`.
        ///
        /// Integers wrap. `f16` and `bf16` are multiplied in `f32`, and each result is rounded once. Exclusive products begin with 1. The
        /// [module](super::scan#accuracy) has the bound of the error.
        #[doc(alias("partial_prod"))]
        cumprod, cumprod_with: Number, |tile, form| tile.cumprod_rounded::<A>(form, ());
        /// The largest elements so far along axis `A`; NaN as long as all are.
        ///
        /// Exclusive ones begin with the least value.
        ///
        /// ```
        /// use cuda_tiles::prelude::*;
        /// cuda_tiles::cpu::block(|cx| {
        ///     let t = cx.tile_of([3, 1, 4, 1]);
        ///     assert_eq!([0, 1, 2, 3].map(|k| t.cummax::<0>().at([k])), [3, 3, 4, 4]);
        ///     assert_eq!([0, 1, 2, 3].map(|k| t.cummin::<0>().at([k])), [3, 1, 1, 1]);
        /// });
        /// ```
        cummax, cummax_with: Comparable, |tile, form| tile.scan_as::<A, _>(T::LOWEST, SuppressNan::maximum, form);
        /// The smallest elements so far along axis `A`; NaN as long as all are.
        ///
        /// Exclusive ones begin with the greatest value. [`cummax`](Self::cummax) has an example.
        cummin, cummin_with: Comparable, |tile, form| tile.scan_as::<A, _>(T::HIGHEST, SuppressNan::minimum, form);
    }

    /// Running sums along axis `A` in a form, with a mode of arithmetic such as
    /// [`TowardZero`](super::modes::TowardZero) for every sum.
    ///
    /// ```
    /// use cuda_tiles::ops::modes::TowardNegative;
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let sums = cx.full(shape![4], 0.1f32).cumsum_rounded::<0>(Forward, TowardNegative);
    ///     assert!(f64::from(sums.at([3])) <= 4.0 * f64::from(0.1f32));
    /// });
    /// ```
    #[inline_on_device]
    pub fn cumsum_rounded<const A: usize>(
        self,
        form: impl ScanForm,
        mode: impl ArithmeticMode<T>,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Number,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.running::<A, _, _>(T::ZERO, addition(mode), form, mode)
    }

    /// Running products along axis `A` in a form, with a mode of arithmetic for every product: see [`cumsum_rounded`](Self::cumsum_rounded).
    #[inline_on_device]
    pub fn cumprod_rounded<const A: usize>(
        self,
        form: impl ScanForm,
        mode: impl ArithmeticMode<T>,
    ) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Number,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.running::<A, _, _>(T::ONE, multiplication(mode), form, mode)
    }
}
