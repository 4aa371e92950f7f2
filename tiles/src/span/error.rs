//! Why a tensor cannot be seen as a span of a given type.

use super::extents::ExtentError;
use crate::shape::MAXIMUM_RANK;
use core::fmt;

/// Why a tensor does not fit the span that a kernel declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanError {
    /// The tensor has another number of axes.
    Rank {
        /// Axes of the tensor.
        found: usize,
        /// Axes of the span.
        wanted: usize,
    },
    /// A length does not fit its extent's type.
    Extent {
        /// The axis.
        axis: usize,
        /// Its length.
        length: u64,
        /// What the type wants.
        source: ExtentError,
    },
    /// The strides are not those of the declared mapping.
    Mapping {
        /// The mapping, in words.
        wanted: &'static str,
        /// The strides, in elements.
        strides: [u64; MAXIMUM_RANK],
        /// How many of them count.
        rank: usize,
    },
    /// A stride is negative.
    NegativeStride {
        /// The axis.
        axis: usize,
        /// Its stride.
        stride: i64,
    },
    /// Two elements share memory.
    Overlap {
        /// The axis along which neighbours meet elements of other rows.
        axis: usize,
        /// Its stride.
        stride: u64,
    },
    /// The last element is farther away than the span's offsets reach.
    TooLarge {
        /// The offset of the last element.
        elements: u128,
        /// The greatest offset.
        most: u64,
    },
    /// The first element is not aligned as declared.
    Alignment {
        /// Its address.
        address: usize,
        /// The declared alignment in bytes.
        wanted: usize,
    },
}

impl fmt::Display for SpanError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank { found, wanted } => {
                write!(formatter, "it has {found} axes, but the kernel wants {wanted}")
            }
            Self::Extent { axis, length, source } => {
                write!(formatter, "axis {axis} has length {length}, but {source}")
            }
            Self::Mapping { wanted, strides, rank } => {
                let strides = &strides[..*rank];
                write!(
                    formatter,
                    "its strides are {strides:?}, but the kernel wants a tensor that is {wanted}; copy the tensor, or declare \
                     the argument as `{}`",
                    fitting_mapping(strides)
                )
            }
            Self::NegativeStride { axis, stride } => write!(
                formatter,
                "axis {axis} has the negative stride {stride}; spans run forward only: copy the tensor, or flip the tile after the load"
            ),
            Self::Overlap { axis, stride } => write!(
                formatter,
                "elements overlap along axis {axis} (stride {stride}); a span's elements must lie apart: broadcast after the load instead"
            ),
            Self::TooLarge { elements, most } => write!(
                formatter,
                "its last element is {elements} elements away, but the kernel counts up to {most}; declare an extent as u64"
            ),
            Self::Alignment { address, wanted } => write!(
                formatter,
                "its first element is at address {address:#x}, which is not a multiple of {wanted} bytes; drop `Aligned<_>` \
                 from the argument's type or start the tensor at such an address"
            ),
        }
    }
}

impl core::error::Error for SpanError {}

/// The name of the most particular mapping that has these strides and can have any pitch.
fn fitting_mapping(strides: &[u64]) -> &'static str {
    match strides {
        [.., 1] => "Pitched",
        [1, ..] => "PitchedLeft",
        _ => "Strided",
    }
}

/// Whether there is a length and a stride for each of `rank` axes.
pub(super) fn check_rank(lengths: &[u64], strides: &[i64], rank: usize) -> Result<(), SpanError> {
    match [lengths.len(), strides.len()].into_iter().find(|&axes| axes != rank) {
        Some(found) => Err(SpanError::Rank { found, wanted: rank }),
        None => Ok(()),
    }
}

/// The strides as unsigned numbers, if no two elements share memory and all offsets fit.
pub(super) fn check_strides(
    lengths: &[u64],
    strides: &[i64],
    most: u64,
) -> Result<[u64; MAXIMUM_RANK], SpanError> {
    let rank = lengths.len();
    let mut all = [0; MAXIMUM_RANK];
    for axis in 0..rank {
        all[axis] = u64::try_from(strides[axis]).or(if lengths[axis] <= 1 {
            Ok(1)
        } else {
            Err(SpanError::NegativeStride { axis, stride: strides[axis] })
        })?;
    }
    if lengths.contains(&0) {
        return Ok(all);
    }
    // Axes by stride: each must step over everything that the smaller ones reach. That refuses a few
    // interleavings that would not overlap, none of which is a tensor anybody lays out.
    let mut order = [0, 1, 2, 3];
    order[..rank].sort_unstable_by_key(|&axis| (all[axis], lengths[axis]));
    let mut reach: u128 = 1;
    for &axis in order[..rank].iter().filter(|&&axis| lengths[axis] > 1) {
        if u128::from(all[axis]) < reach {
            return Err(SpanError::Overlap { axis, stride: all[axis] });
        }
        reach += u128::from(all[axis]) * u128::from(lengths[axis] - 1);
    }
    if reach - 1 > u128::from(most) {
        return Err(SpanError::TooLarge { elements: reach - 1, most });
    }
    Ok(all)
}
