//! Sums of many tiles, which threads put together once.

use core::ops::{Add, Mul};

use super::algorithm::{between_threads, within_threads_accurately};
use super::{Reduced, addition};
use crate::element::Number;
use crate::layout::Layout;
use crate::shape::{Axis, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

/// The sum of tiles along axis `A`, of which each thread holds the part of its own elements.
///
/// [`Tile::sum`] is this and [`finish`](Self::finish). A loop that adds up many tiles needs the second step once: it adds partial sums, and
/// finishes the last of them. `T` is the type in which elements are added up: `f32` for `f16` and `bf16`, else their own.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let t = cx.iota::<i32>(shape![2, 4]).cast::<f32>();
///     let mut sum = t.partial_sum::<1>();
///     for _ in 0..3 {
///         // Halves what is there, as a softmax does whose maximum grows.
///         sum = sum * cx.full(shape![2, 4], 0.5).max::<1>() + t.partial_sum::<1>();
///     }
///     assert_eq!(sum.finish().at([1, 0]), 22.0 * 1.875);
/// });
/// ```
///
/// Source: T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023, whose rows of weights are
/// summed so.
///
/// # On a GPU
///
/// As many registers as the [`Reduced`] tile. Addition and multiplication take no exchange between threads.
#[derive(Clone, Copy)]
#[must_use = "a partial sum is read by `finish`"]
pub struct PartialSum<T: Number, S: Axis<A>, L: Layout, const A: usize> {
    /// The parts: threads that share elements of the axis hold different ones.
    parts: Reduced<T, S, L, A>,
}

impl<T: Number, S: Shape, L: Layout> Tile<T, S, L> {
    /// The part of the [`sum`](Self::sum) along axis `A` that each thread has of its own elements, to be added to others.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (a, b) = (cx.full(shape![2, 4], 1), cx.iota::<i32>(shape![2, 4]));
    ///     let sum = a.partial_sum::<1>() + b.partial_sum::<1>();
    ///     assert_eq!(sum.finish().at([1, 0]), 26);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// That of [`sum`](Self::sum), and one rounding for each addition and multiplication of partial sums. Nothing rounds to `f16` or `bf16`.
    ///
    /// # On a GPU
    ///
    /// A thread adds its own elements, in registers. Lanes and warps add in [`PartialSum::finish`].
    #[inline_on_device]
    #[doc(alias("quad_allreduce"))]
    pub fn partial_sum<const A: usize>(self) -> PartialSum<T::Accumulator, S, L, A>
    where
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        let parts = within_threads_accurately::<T, T::Accumulator, S, L, A>(
            self.registers(),
            T::to_accumulator,
            addition::<T, _>(()),
        );
        PartialSum { parts: Tile::from_registers(parts) }
    }
}

impl<T: Number<Accumulator = T>, S: Axis<A>, L: Layout, const A: usize> PartialSum<T, S, L, A> {
    /// The sum. The axis stays, with size 1.
    ///
    /// # On a GPU
    ///
    /// Lanes add in pairs by `shfl.sync.bfly.b32` (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync"), and warps through shared
    /// memory: [`ops::reduce`](crate::ops::reduce#on-a-gpu) has the steps.
    #[inline_on_device]
    pub fn finish(self) -> Reduced<T, S, L, A> {
        let sums = between_threads::<T, S, L, A>(*self.parts.registers(), addition::<T, _>(()));
        Tile::from_registers(sums)
    }
}

/// The sum of both tiles' elements.
impl<T: Number, S: Axis<A>, L: Layout, const A: usize> Add for PartialSum<T, S, L, A> {
    type Output = Self;

    #[inline_on_device]
    fn add(self, other: Self) -> Self {
        Self { parts: self.parts + other.parts }
    }
}

/// The sum of the elements times the factor of their row.
impl<T: Number, S: Axis<A>, L: Layout, const A: usize> Mul<Reduced<T, S, L, A>> for PartialSum<T, S, L, A> {
    type Output = Self;

    #[inline_on_device]
    fn mul(self, factor: Reduced<T, S, L, A>) -> Self {
        Self { parts: self.parts * factor }
    }
}
