//! Reductions along one axis, several, or over the whole tile.
//!
//! The axis stays with size 1 (over all axes the result has rank 0), so that results broadcast against the tile they came from; the element
//! type stays too: a sum of `i8` wraps, convert first to widen. Tuples of tiles reduce together by
//! [`TileTuple::reduce`](super::tuple::TileTuple::reduce), several axes by the methods ending in `_over`. [`PartialSum`] is the sum of many
//! tiles.
//!
//! # Order
//!
//! Each thread folds its own elements in row-major order; lanes of a warp, then warps, combine in pairs. On the CPU one
//! thread has all elements. It folds those of a closure in row-major order, and adds up or multiplies in pairs. For a given
//! block size the order is fixed, hence results are reproducible; between the CPU and a GPU, or two block sizes, float sums
//! and products may differ by rounding, each within the bounds below.
//!
//! # Accuracy
//!
//! Sums, means and products of `f16` and `bf16` are computed in `f32`, across threads too, and rounded once at the end:
//! partial results neither round to 16 bits nor overflow there. For `f32` and `f64` the type is their own. With the unit
//! roundoff `u` of that type (2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`) and `n` elements along the axis, the error
//!
//! - of a sum is at most `h u Σ|x|`, to first order, where on the CPU `h = log2 n + 4`. On a GPU it is at most the number of
//!   registers in which a thread holds elements of the axis, plus the number of warps that share the axis, plus 3: a thread
//!   adds up its own elements one after the other (N. Higham, "The accuracy of floating point summation", 1993);
//! - of a product is at most `(n - 1) u |Πx|`, to first order, if no partial product overflows or is subnormal;
//! - and `f16` and `bf16` add the one rounding to their type, half a unit in the last place.
//!
//! Modes of directed rounding double these. A closure computes in the type that it is given: `reduce` of `f16` by `a + b`
//! rounds to `f16` at each step, and so do tuples of tiles. Widen first: `.cast::<f32>()`.
//!
//! # On a GPU
//!
//! The result has the layout [`Slice`]: each thread keeps the results of its own rows. Three steps lead there, as far as the axis
//! extends over them:
//!
//! 1. A thread combines its own registers.
//! 2. The lanes of a warp combine in pairs by `shfl.sync.bfly.b32` (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync").
//! 3. The warps write their results to shared memory by `st.shared`, wait at a barrier (`bar.sync`), and read them by `ld.shared`.

mod algorithm;
mod partial;
mod position;
mod several;

pub(super) use algorithm::reduce;
use algorithm::total;
pub use partial::PartialSum;
pub use several::AxisList;

use super::modes::{ArithmeticMode, NanMode, SuppressNan, addition, larger, multiplication, smaller};
use crate::element::{Cast, Comparable, Element, Float, Logical, Number};
use crate::layout::{Layout, Slice};
use crate::registers::PowerOfTwo;
use crate::shape::{Axis, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

/// The result of reducing a tile over axis `A`.
pub type Reduced<T, S, L, const A: usize> = Tile<T, <S as Axis<A>>::Reduced, Slice<L, S, A>>;

/// Totals in the element type, rounded in a mode.
#[inline_on_device]
fn rounded<T: Number, M: ArithmeticMode<T>, S: Shape, L: Layout>(
    _mode: M,
    total: Tile<T::Accumulator, S, L>,
) -> Tile<T, S, L> {
    Tile::from_registers_fn(|i| M::from_accumulator(total.registers().get(i)))
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Combines the elements along axis `A` (or all, with [`ALL`](crate::shape::ALL)) by `combine`.
    ///
    /// `combine` must be associative and commutative, and `identity` must change nothing. The [module](self#order) has the order, which is
    /// fixed. [`scan`](Self::scan) is for operations that do not commute.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u32>(shape![2, 4]);
    ///     let gcd = t.reduce::<1>(0, |mut a, mut b| {
    ///         while b != 0 { (a, b) = (b, a % b) }
    ///         a
    ///     });
    ///     assert_eq!(gcd.at([0, 0]), 1);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Slice`]. Lanes combine by `shfl.sync.bfly.b32`, and warps through shared memory: the
    /// [module](self#on-a-gpu) has the steps.
    #[inline_on_device]
    pub fn reduce<const A: usize>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        Tile::from_registers(reduce::<T, S, L, A>(
            |i| self.registers().get(i),
            |first| combine(identity, first),
            &combine,
        ))
    }

    #[inline_on_device]
    fn fold<const A: usize>(self, combine: impl Fn(T, T) -> T) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        Tile::from_registers(reduce::<T, S, L, A>(|i| self.registers().get(i), |first| first, combine))
    }

    /// Adds up or multiplies, after `begin` of each element.
    #[inline_on_device]
    fn total<V: Element, const A: usize>(
        self,
        begin: impl Fn(T) -> V,
        combine: impl Fn(V, V) -> V,
    ) -> Reduced<V, S, L, A>
    where
        S: Axis<A>,
    {
        Tile::from_registers(total::<T, V, S, L, A>(self.registers(), begin, combine))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Sums along axis `A`.
    ///
    /// Integers wrap. `f16` and `bf16` are added up in `f32` and rounded once. With [`ALL`](crate::shape::ALL), the sum is that of all elements.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4]).cast::<f32>();
    ///     let centred = t - t.sum::<1>() / 4.0;
    ///     assert_eq!(centred.at([1, 0]), -1.5);
    ///     assert_eq!(cx.full(shape![8192], bf16::from_f32(0.5)).sum::<0>().item().to_f32(), 4096.0);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The axis stays, with size 1, so that the sums broadcast against the tile. Over all axes the result has rank 0.
    ///
    /// # Accuracy
    ///
    /// The error of `n` floats is at most `h u Σ|x|` to first order, plus half a unit in the last place of a 16-bit result. `u` is
    /// 2⁻⁵³ for `f64` and 2⁻²⁴ for the others. `h` is `log2 n + 4` on the CPU. The [module](self#accuracy) has `h` on a GPU.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Slice`]. A thread adds its own elements. Lanes add in pairs by `shfl.sync.bfly.b32` (PTX ISA, "Data Movement
    /// and Conversion Instructions: shfl.sync"), and warps through shared memory: the [module](self#on-a-gpu) has the steps.
    #[inline_on_device]
    #[doc(alias("reduce_sum"))]
    pub fn sum<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.sum_with::<A>(())
    }

    /// Products along axis `A`.
    ///
    /// Integers wrap. `f16` and `bf16` are multiplied in `f32` and rounded once. A partial product may overflow where the whole product does
    /// not.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.arange(shape![2, 4], 1i32, 1);
    ///     assert_eq!((t.prod::<1>().at([0, 0]), t.prod::<0>().at([0, 3])), (24, 32));
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// The relative error of `n` floats is at most `(n - 1) u` to first order, with `u` as for [`sum`](Self::sum), plus half a unit in
    /// the last place of a 16-bit result.
    ///
    /// # On a GPU
    ///
    /// As [`sum`](Self::sum).
    #[inline_on_device]
    #[doc(alias("reduce_prod"))]
    pub fn prod<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.prod_with::<A>(())
    }

    /// Sums along axis `A` in a mode of arithmetic, such as [`TowardZero`](super::modes::TowardZero), for every sum
    /// and the rounding to 16 bits.
    ///
    /// ```
    /// use cuda_tiles::ops::modes::{TowardNegative, TowardPositive};
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![8], 0.1f32);
    ///     assert!(t.sum_with::<0>(TowardNegative).item() < t.sum_with::<0>(TowardPositive).item());
    /// });
    /// ```
    #[inline_on_device]
    pub fn sum_with<const A: usize>(self, mode: impl ArithmeticMode<T>) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        rounded(mode, self.total::<_, A>(T::to_accumulator, addition(mode)))
    }

    /// Products along axis `A` in a mode of arithmetic for every product and the rounding to 16 bits.
    #[inline_on_device]
    pub fn prod_with<const A: usize>(self, mode: impl ArithmeticMode<T>) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        rounded(mode, self.total::<_, A>(T::to_accumulator, multiplication(mode)))
    }

    /// Means along axis `A`: the sum, times the reciprocal of the axis' length, a power of two.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let large = cx.full(shape![4, 64], f16::MAX);
    ///     assert_eq!(large.mean::<1>().at([0, 0]), f16::MAX);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// The error is that of the [`sum`](Self::sum), divided by the length. Means of `f16` and `bf16` are rounded once, and overflow nowhere on
    /// the way.
    #[inline_on_device]
    pub fn mean<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Float,
        S: Axis<A>,
        f32: Cast<T>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        let share = Cast::<T>::cast(1.0 / <S::Length as PowerOfTwo>::COUNT as f32).to_accumulator();
        let sums = self.total::<_, A>(T::to_accumulator, Number::add);
        Tile::from_registers_fn(|i| T::from_accumulator(Number::mul(sums.registers().get(i), share)))
    }

    /// The largest elements along axis `A`; NaN only where all are.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4]);
    ///     assert_eq!((t.max::<1>().at([1, 0]), t.min::<1>().at([1, 0]), t.max::<ALL>().item()), (7, 4, 7));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Slice`]. Lanes compare in pairs by `shfl.sync.bfly.b32`: the [module](self#on-a-gpu) has the steps.
    #[inline_on_device]
    #[doc(alias("reduce_max"))]
    pub fn max<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.max_with::<A>(SuppressNan)
    }

    /// The largest elements along axis `A`, in the given NaN mode.
    #[inline_on_device]
    pub fn max_with<const A: usize>(self, mode: impl NanMode<T>) -> Reduced<T, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(larger(mode))
    }

    /// The smallest elements along axis `A`; NaN only where all are.
    ///
    /// [`max`](Self::max) has an example, and the steps on a GPU.
    #[inline_on_device]
    #[doc(alias("reduce_min"))]
    pub fn min<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.min_with::<A>(SuppressNan)
    }

    /// The smallest elements along axis `A`, in the given NaN mode.
    #[inline_on_device]
    pub fn min_with<const A: usize>(self, mode: impl NanMode<T>) -> Reduced<T, S, L, A>
    where
        T: Comparable,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(smaller(mode))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The bits that all elements along axis `A` have.
    ///
    /// [`bit_xor`](Self::bit_xor) has an example.
    #[inline_on_device]
    #[doc(alias("reduce_bitand"))]
    pub fn bit_and<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Logical,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(Logical::and)
    }

    /// The bits that any element along axis `A` has.
    ///
    /// [`bit_xor`](Self::bit_xor) has an example.
    #[inline_on_device]
    #[doc(alias("reduce_bitor"))]
    pub fn bit_or<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Logical,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(Logical::or)
    }

    /// The bits that an odd number of elements along axis `A` have.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u8>(shape![4]) + 4;
    ///     assert_eq!((t.bit_and::<0>().item(), t.bit_or::<0>().item(), t.bit_xor::<0>().item()), (4, 7, 0));
    /// });
    /// ```
    #[inline_on_device]
    #[doc(alias("reduce_bitxor", "xor_sum"))]
    pub fn bit_xor<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Logical,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(Logical::xor)
    }
}

impl<S: Shape, L: Layout> Tile<bool, S, L> {
    /// How many elements along axis `A` are true.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.iota::<i32>(shape![4, 8]).ge(10).count::<1>().at([1, 0]), 6);
    /// });
    /// ```
    #[inline_on_device]
    pub fn count<const A: usize>(self) -> Reduced<u32, S, L, A>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.cast::<u32>().sum::<A>()
    }

    /// Whether any element along axis `A` is true.
    ///
    /// [`all`](Self::all) has an example.
    #[inline_on_device]
    #[doc(alias("any_of"))]
    pub fn any<const A: usize>(self) -> Reduced<bool, S, L, A>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(Logical::or)
    }

    /// Whether all elements along axis `A` are true.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let small = cx.iota::<i32>(shape![8]).lt(7);
    ///     assert!(small.any::<0>().at([0]) && !small.all::<ALL>().item());
    /// });
    /// ```
    #[inline_on_device]
    #[doc(alias("all_of"))]
    pub fn all<const A: usize>(self) -> Reduced<bool, S, L, A>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.fold::<A>(Logical::and)
    }
}
