//! What protocols for arrays have in common: shapes and strides that somebody else states, and why they are refused.

use std::ops::Deref;

use cuda_tiles::element::Element;

use crate::error::{ArgumentError, Error};
use crate::stream::Stream;
use crate::tensor::{Layout, Storage, Tensor};

/// Why an array of another library cannot be a tensor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The elements have another type than was asked for, or one that this library does not have.
    #[error("the array has elements of type {found}, but a tensor of {wanted} was asked for")]
    ElementType {
        /// The type, in the protocol's words.
        found: String,
        /// The element type of the tensor that was asked for.
        wanted: &'static str,
    },
    /// The array has another number of axes than was asked for.
    #[error("the array has {found} axes (shape {shape:?}), but a tensor of rank {wanted} was asked for")]
    Rank {
        /// The array's shape.
        shape: Vec<i64>,
        /// Its number of axes.
        found: usize,
        /// The rank that was asked for.
        wanted: usize,
    },
    /// The shape or the strides are none that a tensor can have.
    #[error("an array of shape {shape:?} and strides {strides:?} cannot be a tensor: {problem}")]
    Layout {
        /// The array's shape.
        shape: Vec<i64>,
        /// The array's strides, in the protocol's unit; `None` for row-major order.
        strides: Option<Vec<i64>>,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The elements are in memory that this library cannot use, or on another device than the stream.
    #[error("the array is in {found}, but the stream is one of {expected}")]
    Device {
        /// Where the elements are.
        found: String,
        /// The stream's device.
        expected: String,
    },
    /// The array may only be read, but what was asked for can write.
    #[error("the array may only be read: take it as a `ReadOnlyTensor`, or copy it")]
    ReadOnly,
    /// What was handed over breaks the protocol, or is of a version that is not known.
    #[error("{protocol}: {problem}")]
    Protocol {
        /// The protocol.
        protocol: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The device failed.
    #[error(transparent)]
    Host(#[from] Error),
}

/// A tensor in memory that others may read too, so that nobody writes to it. It lends the [`Tensor`], to be read.
///
/// ```
/// # #[cfg(feature = "dlpack")] {
/// use std::sync::Arc;
/// use cuda_tiles_host::{Device, ReadOnlyTensor, Tensor, dlpack};
///
/// let device = Device::cpu();
/// let ours = Arc::new(Tensor::from_slice(&device, [2, 2], &[1, 2, 3, 4])?);
/// let managed = dlpack::share(&ours, |x| Ok(x.view().transpose()), &device.default_stream())?;
/// let theirs = ReadOnlyTensor::<i32, 2>::from_dlpack(managed, &device.default_stream())?;
/// assert_eq!(theirs.to_vec()?, [1, 3, 2, 4]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReadOnlyTensor<T, const RANK: usize>(Tensor<T, RANK>);

impl<T, const RANK: usize> ReadOnlyTensor<T, RANK> {
    pub(super) fn new(tensor: Tensor<T, RANK>) -> Self {
        Self(tensor)
    }
}

impl<T, const RANK: usize> Deref for ReadOnlyTensor<T, RANK> {
    type Target = Tensor<T, RANK>;

    fn deref(&self) -> &Tensor<T, RANK> {
        &self.0
    }
}

/// Shape and strides as somebody else states them; strides count steps of `step_bytes`, and `None` means row-major order.
pub(super) struct Stated<'array> {
    pub(super) shape: &'array [i64],
    pub(super) strides: Option<&'array [i64]>,
    pub(super) step_bytes: usize,
}

impl Stated<'_> {
    /// The layout of a tensor of `T` with its first element at offset 0.
    pub(super) fn layout<T: Element, const RANK: usize>(&self) -> Result<Layout<RANK>, ExchangeError> {
        let Ok(shape) = <[i64; RANK]>::try_from(self.shape) else {
            return Err(ExchangeError::Rank {
                shape: self.shape.to_vec(),
                found: self.shape.len(),
                wanted: RANK,
            });
        };
        let mut extents = [0; RANK];
        for (extent, stated) in extents.iter_mut().zip(shape) {
            *extent = usize::try_from(stated).map_err(|_| self.refused("an extent is negative"))?;
        }
        let bytes =
            extents.iter().try_fold(size_of::<T>(), |bytes, extent| bytes.checked_mul(*extent.max(&1)));
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(self.refused("it is larger than the address space"));
        }
        let packed = Layout::row_major(extents);
        let Some(stated) = self.strides else { return Ok(packed) };
        let Ok(stated) = <[i64; RANK]>::try_from(stated) else {
            return Err(self.refused("it has not as many strides as axes"));
        };
        let mut strides = packed.strides;
        for (axis, stated) in stated.into_iter().enumerate() {
            // Where there is no second element along an axis, or none at all, its stride leads nowhere.
            if extents[axis] > 1 && packed.len() > 0 {
                strides[axis] = self.stride::<T>(stated)?;
            }
        }
        let memory = Layout::row_major([isize::MAX as usize / size_of::<T>()]);
        memory.strided(0, extents, strides).map_err(|_| self.refused("it is larger than the address space"))
    }

    /// A stride in elements.
    fn stride<T>(&self, stated: i64) -> Result<usize, ExchangeError> {
        let Ok(steps) = usize::try_from(stated) else {
            return Err(self
                .refused("a stride is negative: copy the array, or turn the axis around on the other side"));
        };
        match steps.checked_mul(self.step_bytes) {
            Some(bytes) if bytes.is_multiple_of(size_of::<T>()) => Ok(bytes / size_of::<T>()),
            Some(_) => Err(self.refused("a stride is no multiple of the element's size")),
            None => Err(self.refused("it is larger than the address space")),
        }
    }

    pub(super) fn refused(&self, problem: &str) -> ExchangeError {
        ExchangeError::Layout {
            shape: self.shape.to_vec(),
            strides: self.strides.map(<[i64]>::to_vec),
            problem: problem.to_owned(),
        }
    }

    /// A tensor at this address, which takes over the owner.
    ///
    /// # Safety
    /// The elements that shape and strides lead to from this address on are as [`Tensor::with_owner`] wants them. The address
    /// may be null where there are none.
    pub(super) unsafe fn tensor<T: Element, const RANK: usize>(
        &self,
        stream: &Stream,
        address: *mut T,
        owner: impl Send + 'static,
    ) -> Result<Tensor<T, RANK>, ExchangeError> {
        let layout = self.layout::<T, RANK>()?;
        if layout.len() == 0 {
            // There is nothing to share: the owner ends here.
            let nothing = Storage::filled(&stream.device(), 0, 0)?;
            return Ok(Tensor::in_storage(nothing, layout));
        }
        if !address.is_aligned() || address.is_null() {
            let wanted = align_of::<T>();
            return Err(
                self.refused(&format!("its address {address:p} is null, or no multiple of {wanted} bytes"))
            );
        }
        // SAFETY: passed on to the caller: the address is not null, aligned, and followed by as many elements as the layout reaches.
        Ok(unsafe { Tensor::foreign(stream, address, layout, owner) })
    }
}

/// Refuses what cannot be written to by `&mut`: arrays that may only be read, and layouts in which indices share elements.
pub(super) fn check_writable<const RANK: usize>(
    stated: &Stated<'_>,
    layout: &Layout<RANK>,
    is_read_only: bool,
) -> Result<(), ExchangeError> {
    if is_read_only {
        return Err(ExchangeError::ReadOnly);
    }
    match layout.is_injective() {
        true => Ok(()),
        false => {
            Err(stated
                .refused("it gives one element several indices: take it as a `ReadOnlyTensor`, or copy it"))
        }
    }
}

/// The error of a tensor that is not on the stream's device, or of the device.
pub(super) fn lending(problem: ArgumentError) -> Error {
    match problem {
        ArgumentError::WrongDevice { tensor, launch } => {
            Error::WrongDevice { what: "the tensor", found: tensor, other: "stream", expected: launch }
        }
        ArgumentError::Device(error) => error,
        other => unreachable!("lending memory to a stream has no such problem: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout<const RANK: usize>(
        shape: &[i64],
        strides: Option<&[i64]>,
        step_bytes: usize,
    ) -> Result<Layout<RANK>, String> {
        Stated { shape, strides, step_bytes }.layout::<f32, RANK>().map_err(|error| error.to_string())
    }

    #[test]
    fn strides_count_elements_or_bytes() {
        let transposed = Layout { offset: 0, shape: [3, 2], strides: [1, 3] };
        assert_eq!(layout(&[3, 2], Some(&[1, 3]), 4), Ok(transposed));
        assert_eq!(layout(&[3, 2], Some(&[4, 12]), 1), Ok(transposed));
        assert_eq!(layout(&[3, 2], None, 1), Ok(Layout::row_major([3, 2])));
        assert_eq!(layout(&[], Some(&[]), 1), Ok(Layout::row_major([])));
    }

    #[test]
    fn strides_that_lead_nowhere_do_not_matter() {
        assert_eq!(layout(&[1, 2], Some(&[-7, 4]), 1), Ok(Layout::row_major([1, 2])));
        assert_eq!(layout(&[0, 2], Some(&[i64::MIN, i64::MAX]), 1), Ok(Layout::row_major([0, 2])));
    }

    #[test]
    fn what_no_tensor_can_have_is_refused() {
        for (shape, strides, step, problem) in [
            ([2, -1], None, 4, "an extent is negative"),
            ([2, 3], Some(&[-3, 1][..]), 4, "a stride is negative: copy"),
            ([2, 3], Some(&[12, 3]), 1, "a stride is no multiple of the element's size"),
            ([2, 3], Some(&[3]), 4, "not as many strides as axes"),
            ([2, 3], Some(&[i64::MAX, 1]), 4, "larger than the address space"),
            ([2, 3], Some(&[i64::MAX / 4, i64::MAX / 4]), 1, "no multiple of the element's size"),
            ([2, 3], Some(&[i64::MAX / 4 + 1, 1]), 4, "larger than the address space"),
            ([i64::MAX, i64::MAX], Some(&[0, 0]), 4, "larger than the address space"),
            ([0, i64::MAX], None, 4, "larger than the address space"),
        ] {
            let message = layout::<2>(&shape, strides, step).unwrap_err();
            assert!(message.contains(problem), "{message}");
        }
        let message = layout::<3>(&[2, 3], None, 4).unwrap_err();
        assert_eq!(message, "the array has 2 axes (shape [2, 3]), but a tensor of rank 3 was asked for");
    }
}
