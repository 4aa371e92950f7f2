//! Tensors from Python, checked and held for the time of a call.

use std::any::TypeId;
use std::ptr;

use cuda_tiles_host::dlpack::DlpackElement;
use cuda_tiles_host::{Tensor, TensorView, TensorViewMut};

use crate::abi::{DLDevice, device_type};
use crate::arguments::{Access, Arguments};
use crate::element;
use crate::error::{Exception, Problem, count};
use crate::value::{Array, Value};

/// The most axes of a tensor, as of a span.
const MOST_AXES: usize = 6;

/// A tensor of the caller, as views: the memory from the first to the last element, and where in it the elements are.
pub struct HeldView<T, const RANK: usize> {
    memory: Tensor<T, 1>,
    shape: [usize; RANK],
    strides: [usize; RANK],
}

impl<T: DlpackElement, const RANK: usize> HeldView<T, RANK> {
    pub(crate) fn hold(
        arguments: &mut Arguments<'_>,
        position: usize,
        access: Access,
    ) -> Result<Self, Exception> {
        let Checked { address, len, shape, strides } = check::<T, RANK>(arguments, position, access)?;
        // SAFETY: `check` has found the address aligned, and not null; there are `len` elements from the first to the last, which the
        // caller of the exported function vouches for: that they are initialised and valid, and that nobody else uses them but in the
        // order of the stream. No other argument of the call has them, if this one or the other is written.
        let memory = unsafe { Tensor::borrowed(arguments.call().stream(), address, [len]) }?;
        let mut held = Self { memory, shape, strides };
        if access == Access::Write && held.memory.view_mut().strided(0, shape, strides).is_err() {
            let problem = Problem::SharedElements { shape: shape.into(), strides: strides.into() };
            return Err(arguments.refused(position, problem));
        }
        Ok(held)
    }

    pub(crate) fn view(&self) -> TensorView<'_, T, RANK> {
        let view = self.memory.view().strided(0, self.shape, self.strides);
        view.expect("the memory goes from the first to the last element")
    }

    pub(crate) fn view_mut(&mut self) -> TensorViewMut<'_, T, RANK> {
        let view = self.memory.view_mut().strided(0, self.shape, self.strides);
        view.expect("the view was made when the tensor was held")
    }
}

/// What is known of a tensor that can be borrowed.
struct Checked<T, const RANK: usize> {
    /// Not null, and aligned.
    address: *mut T,
    /// Elements from the first to the last one.
    len: usize,
    shape: [usize; RANK],
    strides: [usize; RANK],
}

/// Checks everything about a tensor that can be known without its memory, and of the CPU's the `bool`s; claims its memory.
fn check<T: DlpackElement, const RANK: usize>(
    arguments: &mut Arguments<'_>,
    position: usize,
    access: Access,
) -> Result<Checked<T, RANK>, Exception> {
    const { assert!(RANK <= MOST_AXES, "a tensor has at most 6 axes") };
    let Value::Tensor(array) = arguments.value(position) else {
        return Err(arguments.expected(
            position,
            format!("a tensor of {} with {}", element::name(T::DATA_TYPE), count(RANK, "axis")),
        ));
    };
    let place = array.device;
    let checked = geometry::<T, RANK>(array).map_err(|problem| arguments.refused(position, problem))?;
    let start = checked.address.addr();
    arguments.claim(position, start..start + checked.len * size_of::<T>(), access)?;
    if TypeId::of::<T>() == TypeId::of::<bool>() {
        // SAFETY: the elements are there, says the caller of the exported function, and the claim says that no argument writes to
        // them. They are read as bytes, of which all are valid.
        unsafe { check_bools(place, &checked) }.map_err(|problem| arguments.refused(position, problem))?;
    }
    Ok(checked)
}

/// The type, shape and strides of a tensor as the parameter wants them, and the extent of its memory.
fn geometry<T: DlpackElement, const RANK: usize>(array: &Array<'_>) -> Result<Checked<T, RANK>, Problem> {
    if array.data_type != T::DATA_TYPE {
        let [wanted, found] = [T::DATA_TYPE, array.data_type].map(element::name);
        return Err(Problem::ElementType { wanted, found });
    }
    let Ok(extents) = <[i64; RANK]>::try_from(array.shape) else {
        return Err(Problem::Rank { wanted: RANK, shape: array.shape.to_vec() });
    };
    if extents.iter().any(|&extent| extent < 0) {
        return Err(Problem::Malformed { reason: "an extent is negative" });
    }
    let too_large = || Problem::TooLarge {
        shape: array.shape.to_vec(),
        strides: array.strides.unwrap_or_default().to_vec(),
    };
    let limit = isize::MAX as usize / size_of::<T>();
    let shape = extents.map(|extent| extent as usize);
    let elements = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent.max(1)));
    if elements.is_none_or(|elements| elements > limit) {
        return Err(too_large());
    }
    let mut strides = row_major(shape);
    for (axis, &stride) in array.strides.unwrap_or_default().iter().enumerate() {
        // Along an axis of extent 1 libraries state any stride. The one of row-major order lets it count as contiguous.
        if shape[axis] > 1 {
            strides[axis] = usize::try_from(stride).map_err(|_| Problem::NegativeStride { axis, stride })?;
        } else {
            strides[axis] = strides.get(axis + 1).map_or(1, |below| below * shape[axis + 1].max(1));
        }
    }
    let reach = shape.iter().zip(strides).try_fold(0_usize, |reach, (&extent, stride)| {
        reach.checked_add(extent.saturating_sub(1).checked_mul(stride)?)
    });
    let empty = shape.contains(&0);
    let len = match reach {
        _ if empty => 0,
        Some(reach) if reach < limit => reach + 1,
        _ => return Err(too_large()),
    };
    let address = array.address.cast::<T>();
    if empty {
        return Ok(Checked { address: ptr::dangling_mut(), len, shape, strides: row_major(shape) });
    }
    if address.is_null() || address.addr().checked_add(len * size_of::<T>()).is_none() {
        return Err(Problem::Malformed { reason: "it has elements, and no memory" });
    }
    if !address.is_aligned() {
        return Err(Problem::Unaligned { address: address.addr(), bytes: align_of::<T>() });
    }
    Ok(Checked { address, len, shape, strides })
}

/// Strides of elements that lie one after the other, the last axis fastest.
fn row_major<const RANK: usize>(shape: [usize; RANK]) -> [usize; RANK] {
    let mut strides = [1; RANK];
    for axis in (1..RANK).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

/// Refuses bytes of the CPU that are no `bool`. Kernels take any byte other than 0 for true, and code of the host must not see one.
///
/// # Safety
/// The elements from the first to the last one can be read.
unsafe fn check_bools<T, const RANK: usize>(
    place: DLDevice,
    checked: &Checked<T, RANK>,
) -> Result<(), Problem> {
    if place.device_type == device_type::CUDA {
        return Ok(());
    }
    // SAFETY: the caller vouches for as many elements, of which each has a byte; none has a dangling address, aligned to bytes.
    let bytes = unsafe { std::slice::from_raw_parts(checked.address.cast::<u8>(), checked.len) };
    match bytes.iter().find(|byte| **byte > 1) {
        Some(&byte) => Err(Problem::NotBool { byte }),
        None => Ok(()),
    }
}
