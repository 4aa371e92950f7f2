//! Reductions along one axis, several, or over the whole tile.
//!
//! The axis stays with size 1 (over all axes the result has rank 0), so that results broadcast against the tile
//! they came from; the element type stays too: a sum of `i8` wraps, convert first to widen. Tuples of tiles reduce together
//! by [`TileTuple::reduce`](super::tuple::TileTuple::reduce), several axes by the methods ending in `_over`.
//!
//! Order: each thread folds its own elements in row-major order; lanes of a warp, then warps, combine in pairs. For a
//! given block size the order is fixed, hence results are reproducible; between the CPU and a GPU, or two block sizes,
//! float sums and products may differ by rounding, each within the bound `n u sum |x|` of any order of summation (N.
//! Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2).

mod algorithm;
mod position;
mod several;

pub(super) use algorithm::reduce;
pub use several::AxisList;

use super::modes::{ArithmeticMode, NanMode, SuppressNan};
use crate::element::{Cast, Element, Float, Logical, Number};
use crate::layout::{Layout, Slice};
use crate::registers::PowerOfTwo;
use crate::shape::{Axis, Shape};
use crate::tile::Tile;

/// The result of reducing a tile over axis `A`.
pub type Reduced<T, S, L, const A: usize> = Tile<T, <S as Axis<A>>::Reduced, Slice<L, S, A>>;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Combines the elements along axis `A` (or all, with [`ALL`](crate::shape::ALL)) by `combine`.
    ///
    /// `combine` must be associative and commutative, and `identity` change nothing; the order is fixed, see the
    /// [module](self). For an operation that does not commute see [`scan`](Self::scan).
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u32, _>(shape![2, 4]);
    ///     let gcd = t.reduce::<1>(0, |mut a, mut b| {
    ///         while b != 0 { (a, b) = (b, a % b) }
    ///         a
    ///     });
    ///     assert_eq!(gcd.at([0, 0]), 1);
    /// });
    /// ```
    #[inline(always)]
    pub fn reduce<const A: usize>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        Tile::from_registers(reduce::<T, S, L, A>(
            |i| self.registers().get(i),
            |first| combine(identity, first),
            &combine,
        ))
    }

    #[inline(always)]
    fn fold<const A: usize>(self, combine: impl Fn(T, T) -> T) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        Tile::from_registers(reduce::<T, S, L, A>(|i| self.registers().get(i), |first| first, combine))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Sums along axis `A`; integers wrap.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![2, 4]).cast::<f32>();
    ///     let centred = t - t.sum::<1>() / 4.0;
    ///     assert_eq!(centred.at([1, 0]), -1.5);
    /// });
    /// ```
    #[inline(always)]
    pub fn sum<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(Number::add)
    }

    /// Products along axis `A`; integers wrap.
    #[inline(always)]
    pub fn prod<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(Number::mul)
    }

    /// Sums along axis `A` in a mode of arithmetic, such as [`TowardZero`](super::modes::TowardZero), for every sum.
    ///
    /// ```
    /// use cuda_tiles::ops::modes::{TowardNegative, TowardPositive};
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![8], 0.1f32);
    ///     assert!(t.sum_with::<0, _>(TowardNegative).item() < t.sum_with::<0, _>(TowardPositive).item());
    /// });
    /// ```
    #[inline(always)]
    pub fn sum_with<const A: usize, M: ArithmeticMode<T>>(self, _mode: M) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        self.fold::<A>(M::add)
    }

    /// Products along axis `A` in a mode of arithmetic for every product.
    #[inline(always)]
    pub fn prod_with<const A: usize, M: ArithmeticMode<T>>(self, _mode: M) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        self.fold::<A>(M::mul)
    }

    /// Means along axis `A`: the sum, times the reciprocal of the axis' length, a power of two.
    #[inline(always)]
    pub fn mean<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Float,
        S: Axis<A>,
        f32: Cast<T>,
    {
        let share = Cast::<T>::cast(1.0 / <S::Length as PowerOfTwo>::COUNT as f32);
        self.sum::<A>() * share
    }

    /// The largest elements along axis `A`; NaN only where all are.
    #[inline(always)]
    pub fn max<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.max_with::<A, _>(SuppressNan)
    }

    /// The largest elements along axis `A`, in the given NaN mode.
    #[inline(always)]
    pub fn max_with<const A: usize, N: NanMode<T>>(self, _mode: N) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(N::maximum)
    }

    /// The smallest elements along axis `A`; NaN only where all are.
    #[inline(always)]
    pub fn min<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.min_with::<A, _>(SuppressNan)
    }

    /// The smallest elements along axis `A`, in the given NaN mode.
    #[inline(always)]
    pub fn min_with<const A: usize, N: NanMode<T>>(self, _mode: N) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(N::minimum)
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The bits that all elements along axis `A` have.
    #[inline(always)]
    pub fn bit_and<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Logical,
        S: Axis<A>,
    {
        self.fold::<A>(Logical::and)
    }

    /// The bits that any element along axis `A` has.
    #[inline(always)]
    pub fn bit_or<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Logical,
        S: Axis<A>,
    {
        self.fold::<A>(Logical::or)
    }

    /// The bits that an odd number of elements along axis `A` have.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u8, _>(shape![4]) + 4;
    ///     assert_eq!((t.bit_and::<0>().item(), t.bit_or::<0>().item(), t.bit_xor::<0>().item()), (4, 7, 0));
    /// });
    /// ```
    #[inline(always)]
    pub fn bit_xor<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Logical,
        S: Axis<A>,
    {
        self.fold::<A>(Logical::xor)
    }
}

impl<S: Shape, L: Layout> Tile<bool, S, L> {
    /// How many elements along axis `A` are true.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.iota::<i32, _>(shape![4, 8]).ge(10).count::<1>().at([1, 0]), 6);
    /// });
    /// ```
    #[inline(always)]
    pub fn count<const A: usize>(self) -> Reduced<u32, S, L, A>
    where
        S: Axis<A>,
    {
        self.cast::<u32>().sum::<A>()
    }

    /// Whether any element along axis `A` is true.
    #[inline(always)]
    pub fn any<const A: usize>(self) -> Reduced<bool, S, L, A>
    where
        S: Axis<A>,
    {
        self.fold::<A>(Logical::or)
    }

    /// Whether all elements along axis `A` are true.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let small = cx.iota::<i32, _>(shape![8]).lt(7);
    ///     assert!(small.any::<0>().at([0]) && !small.all::<ALL>().item());
    /// });
    /// ```
    #[inline(always)]
    pub fn all<const A: usize>(self) -> Reduced<bool, S, L, A>
    where
        S: Axis<A>,
    {
        self.fold::<A>(Logical::and)
    }
}
