//! The element types that ranks can hand each other, and their reductions.

use std::fmt;

use cuda_tiles::element::{
    Element, Number, bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4x2, tf32, u4x2,
};

use crate::sealed::Sealed;

/// Reductions go through memory in pieces of so many elements.
const PIECE: usize = 8192;

/// How the elements of all ranks become one. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
    /// The smallest one. A NaN loses against a number.
    Minimum,
    /// The largest one. A NaN loses against a number.
    Maximum,
    /// Their sum, divided by the number of ranks. The quotient of integers is truncated toward zero.
    Average,
}

impl fmt::Display for Reduction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Average => "average",
        })
    }
}

/// An element type that ranks can hand each other: all but `bool`, of which not all bits are values. Send `view.bitcast::<u8>()` in
/// its place.
#[diagnostic::on_unimplemented(
    message = "ranks cannot hand each other elements of type `{Self}`",
    note = "all element types can be sent but `bool`: use tensors of `u8`"
)]
pub trait Transfer: Element + Sealed {}

/// An element type that ranks can reduce: `i8`, `i32`, `i64`, `u8`, `u32`, `u64`, `f16`, `bf16`, `f32`, `f64`. Those are the types that
/// NCCL reduces on all GPUs.
///
/// Sums and products of floats differ in their last bits between devices, since their order does: on the CPU they are made in the order of
/// the ranks, those of `f16` and `bf16` in `f32` and rounded once.
#[diagnostic::on_unimplemented(
    message = "ranks cannot reduce elements of type `{Self}`",
    note = "elements that can be reduced are i8, i32, i64, u8, u32, u64, f16, bf16, f32, f64"
)]
pub trait Reduce: Transfer + Number {
    /// NCCL's number for the type.
    #[doc(hidden)]
    const NCCL_TYPE: i32;

    /// A total by the number of ranks.
    #[doc(hidden)]
    fn average(total: Self::Accumulator, ranks: usize) -> Self::Accumulator;
}

macro_rules! transfer {
    ($($type:ty)*) => { $(
        impl Transfer for $type {}
    )* };
}
transfer!(i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3 f4e2m1x2 i4x2 u4x2);

macro_rules! reduce {
    ($($type:ty: $number:literal, |$total:ident, $ranks:ident| $average:expr;)*) => { $(
        impl Reduce for $type {
            const NCCL_TYPE: i32 = $number;
            fn average($total: Self::Accumulator, $ranks: usize) -> Self::Accumulator {
                $average
            }
        }
    )* };
    (integers $($type:ident: $number:literal)*) => { reduce! {
        // The quotient is no larger than the total.
        $($type: $number, |total, ranks| (i128::from(total) / ranks as i128) as $type;)*
    } };
}
// The numbers are those of `ncclDataType_t`.
reduce!(integers i8: 0 u8: 1 i32: 2 u32: 3 i64: 4 u64: 5);
reduce! {
    f16: 6, |total, ranks| total / ranks as f32;
    f32: 7, |total, ranks| total / ranks as f32;
    f64: 8, |total, ranks| total / ranks as f64;
    bf16: 9, |total, ranks| total / ranks as f32;
}

/// An element type as a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) name: &'static str,
    pub(super) bytes: usize,
    /// What a reduction needs to know of it.
    pub(super) reducible: Option<Reducible>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reducible {
    pub(super) nccl_type: i32,
    pub(super) reduce: ReduceFn,
}

/// Reduces `count` elements from each source, and writes the result to each target.
type ReduceFn = unsafe fn(Reduction, sources: &[*const u8], targets: &[*mut u8], count: usize);

impl Type {
    /// Of what is only moved.
    pub(super) fn of<T: Transfer>() -> Self {
        Self { name: T::NAME, bytes: size_of::<T>(), reducible: None }
    }

    pub(super) fn reducible<T: Reduce>() -> Self {
        let reducible = Reducible { nccl_type: T::NCCL_TYPE, reduce: reduce::<T> };
        Self { reducible: Some(reducible), ..Self::of::<T>() }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Type {}

/// # Safety
/// Each source is valid for reads, and each target for writes, of `count` elements of type `T`, and nobody else uses them during the call.
/// A target may be one of the sources.
unsafe fn reduce<T: Reduce>(reduction: Reduction, sources: &[*const u8], targets: &[*mut u8], count: usize) {
    let (&own, others) = sources.split_first().expect("a communicator has ranks");
    // SAFETY: the caller vouches for the elements with these indices.
    let element = |source: &*const u8, index| unsafe { source.cast::<T>().add(index).read() };
    let mut piece = Vec::with_capacity(PIECE.min(count));
    for first in (0..count).step_by(PIECE) {
        piece.extend((first..count.min(first + PIECE)).map(|index| {
            let rest = others.iter().map(|source| element(source, index));
            reduced(reduction, element(&own, index), rest, sources.len())
        }));
        for target in targets {
            // SAFETY: the elements lie in the target, and the vector is memory of its own.
            unsafe { target.cast::<T>().add(first).copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        }
        piece.clear();
    }
}

/// The elements of all ranks as one.
fn reduced<T: Reduce>(reduction: Reduction, first: T, rest: impl Iterator<Item = T>, ranks: usize) -> T {
    let start = first.to_accumulator();
    let sum = |rest: &mut dyn Iterator<Item = T>| {
        rest.fold(start, |total, element| total.add(element.to_accumulator()))
    };
    let mut rest = rest;
    match reduction {
        Reduction::Sum => T::from_accumulator(sum(&mut rest)),
        Reduction::Average => T::from_accumulator(T::average(sum(&mut rest), ranks)),
        Reduction::Product => {
            T::from_accumulator(rest.fold(start, |total, element| total.mul(element.to_accumulator())))
        }
        Reduction::Minimum => rest.fold(first, T::minimum),
        Reduction::Maximum => rest.fold(first, T::maximum),
    }
}
