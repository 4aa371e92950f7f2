//! The elements along an axis, and operands for operations that combine them.
//!
//! Float sums and products depend on the order of their terms. Three kinds of operands make that testable: small whole
//! numbers, mostly zero, whose sums are exact in any order and any type; powers of two, whose products are; and random
//! numbers, whose sums are within the error bound of any order, n u sum|x|, with u the unit roundoff (N. Higham,
//! "Accuracy and Stability of Numerical Algorithms", section 4.2). Types of 16 bits add up in f32 and round once.

use crate::reference::Reference;
use crate::test_values::Random;

/// Operands, by what is exact on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operands {
    /// Small whole numbers, mostly zero.
    Units,
    /// Powers of two of both signs.
    Powers,
    /// Numbers from -8 to 8.
    Random,
    /// Special values and ties.
    Special,
}

impl Operands {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Units, Self::Powers, Self::Random, Self::Special];

    /// That many.
    pub(crate) fn make<T: Reference>(self, count: usize) -> Vec<T> {
        let mut random = Random::new(71);
        let one = |random: &mut Random| match self {
            Self::Units => {
                T::narrow(if random.below(8) == 0 { 2.0 * random.below(2) as f64 - 1.0 } else { 0.0 })
            }
            Self::Powers => {
                let size =
                    if random.below(16) == 0 { 2f64.powi(2 * random.below(2) as i32 - 1) } else { 1.0 };
                T::narrow(if random.below(2) == 0 { size } else { -size })
            }
            Self::Random => T::narrow(8.0 * random.unit()),
            Self::Special if random.below(2) == 0 => {
                T::SPECIAL[random.below(T::SPECIAL.len() as u64) as usize]
            }
            Self::Special => T::small(random.below(3) as i8),
        };
        (0..count).map(|_| one(&mut random)).collect()
    }
}

/// Whether arithmetic of the type is exact in any order, as that of integers is.
pub(crate) fn wraps<T: Reference>() -> bool {
    T::plus(T::SPECIAL[0], T::narrow(0.5)).wide() == 0.0
}

/// The unit roundoff of a float type.
pub(crate) fn roundoff<T: Reference>() -> f64 {
    (1..60).map(|k| 2f64.powi(-k)).find(|&u| T::narrow(1.0 + u).wide() == 1.0).unwrap_or(0.0)
}

/// The unit roundoff of the type in which elements of a float type are added up.
pub(crate) fn roundoff_of_sums<T: Reference>() -> f64 {
    roundoff::<T>().min(2f64.powi(-24))
}

/// The error of a sum of that many floats in any order, by the exact sum and the sum of the magnitudes.
pub(crate) fn error_of_sum<T: Reference>(terms: f64, exact: f64, size: f64) -> f64 {
    let error = terms * roundoff_of_sums::<T>() * size;
    let narrowed = if roundoff_of_sums::<T>() < roundoff::<T>() { roundoff::<T>() } else { 0.0 };
    error + narrowed * (exact.abs() + error)
}

/// The numbers of the elements that reduce together with element `i`: of a tensor of this shape, along one axis or all.
pub(crate) fn group<const R: usize>(shape: [usize; R], axis: Option<usize>, i: usize) -> Vec<usize> {
    let Some(axis) = axis else { return (0..shape.iter().product()).collect() };
    let inner: usize = shape[axis + 1..].iter().product();
    let first = i / (inner * shape[axis]) * (inner * shape[axis]) + i % inner;
    (0..shape[axis]).map(|k| first + k * inner).collect()
}
