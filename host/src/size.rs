//! How much memory a tensor takes.

use crate::error::{Error, Result};

/// Number of bytes of a tensor. Extents of 0 are counted as 1 for the limit, so that strides cannot overflow either.
pub(crate) fn byte_count<T, const RANK: usize>(shape: [usize; RANK]) -> Result<usize> {
    let bytes = shape.iter().try_fold(size_of::<T>(), |bytes, &extent| bytes.checked_mul(extent.max(1)));
    match bytes {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(if shape.contains(&0) { 0 } else { bytes }),
        _ => Err(too_large::<T, RANK>(shape)),
    }
}

pub(crate) fn too_large<T, const RANK: usize>(shape: [usize; RANK]) -> Error {
    Error::TooLarge { shape: shape.into(), element_bytes: size_of::<T>() }
}
