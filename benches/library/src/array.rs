//! Arrays of the other language as tensors.

use std::ffi::c_void;

use cuda_tiles::element::{Element, bf16, f8e4m3, f8e5m2, f16, tf32};
use cuda_tiles_host::{Stream, Tensor, TensorView, TensorViewMut};

use crate::Result;

/// The most axes that an array can have.
const AXES: usize = 4;

/// Memory on the device, as the other language describes it. `benches/measuring.py` has the same structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array {
    /// The first element.
    address: *mut c_void,
    /// The elements' type, a number of [`TYPES`].
    element: u32,
    /// Number of axes.
    rank: u32,
    /// Extents of the axes, in elements.
    shape: [u64; AXES],
    /// Distances of neighbours along the axes, in elements.
    strides: [u64; AXES],
}

/// The element types, by their numbers.
const TYPES: [&str; 9] = ["f16", "bf16", "f32", "tf32", "f64", "i8", "i32", "f8e4m3", "f8e5m2"];

/// An element type that arrays can have.
pub(crate) trait Code: Element {
    /// Its number in [`TYPES`].
    const CODE: u32;
}

macro_rules! codes {
    ($($element:ident $code:literal)*) => { $(
        impl Code for $element {
            const CODE: u32 = $code;
        }
    )* };
}

codes!(f16 0 bf16 1 f32 2 tf32 3 f64 4 i8 5 i32 6 f8e4m3 7 f8e5m2 8);

/// An array of `T` that kernels can be launched on.
pub(crate) struct Lent<T> {
    /// All memory from the first element to the last.
    memory: Tensor<T, 1>,
    array: Array,
}

impl Array {
    /// Number of elements along an axis.
    pub(crate) fn extent(&self, axis: usize) -> usize {
        self.shape[axis] as usize
    }

    /// The element type's number.
    pub(crate) fn element(&self) -> u32 {
        self.element
    }

    /// The array as one of `T`.
    ///
    /// # Safety
    /// It lies on the stream's device, and kernels on the stream may use it in the way that they are given the result.
    pub(crate) unsafe fn lend<T: Code>(&self, stream: &Stream) -> Result<Lent<T>> {
        self.check_element::<T>()?;
        let axes = 0..(self.rank as usize).min(AXES);
        let reach: u64 = axes.map(|axis| self.shape[axis].saturating_sub(1) * self.strides[axis]).sum();
        // SAFETY: the caller vouches for the memory, which reaches from the first element to the last; of the types in
        // `TYPES` every bit pattern is valid.
        let memory = unsafe { Tensor::borrowed(stream, self.address.cast(), [reach as usize + 1])? };
        Ok(Lent { memory, array: *self })
    }

    /// The array, whose elements lie in row-major order, as a tensor of `RANK` axes; the first is made of all that there are more.
    ///
    /// # Safety
    /// As [`Array::lend`].
    pub(crate) unsafe fn lend_packed<T: Code, const RANK: usize>(
        &self,
        stream: &Stream,
    ) -> Result<Tensor<T, RANK>> {
        self.check_element::<T>()?;
        let rank = self.rank as usize;
        if rank < RANK || rank > AXES {
            return Err(format!("an array of {rank} axes was given for one of {RANK}").into());
        }
        let mut pitch = 1;
        for axis in (0..rank).rev() {
            if self.shape[axis] > 1 && self.strides[axis] != pitch {
                return Err(format!(
                    "the elements of axis {axis} are not {pitch} apart: copy the array first"
                )
                .into());
            }
            pitch *= self.shape[axis];
        }
        let mut shape: [usize; RANK] = std::array::from_fn(|axis| self.extent(rank - RANK + axis));
        shape[0] = (0..=rank - RANK).map(|axis| self.extent(axis)).product();
        // SAFETY: the caller vouches for the memory, in which the elements lie as in such a tensor; of the types in `TYPES` every
        // bit pattern is valid.
        Ok(unsafe { Tensor::borrowed(stream, self.address.cast(), shape)? })
    }

    fn check_element<T: Code>(&self) -> Result<()> {
        if self.element == T::CODE {
            return Ok(());
        }
        let name = |code: u32| TYPES.get(code as usize).copied().unwrap_or("an unknown type");
        Err(format!("an array of {} was given for one of {}", name(self.element), name(T::CODE)).into())
    }

    fn sizes<const RANK: usize>(&self) -> Result<([usize; RANK], [usize; RANK])> {
        if self.rank as usize != RANK {
            return Err(format!("an array of {} axes was given for one of {RANK}", self.rank).into());
        }
        Ok((
            std::array::from_fn(|axis| self.shape[axis] as usize),
            std::array::from_fn(|axis| self.strides[axis] as usize),
        ))
    }
}

impl<T: Code> Lent<T> {
    /// Number of axes.
    #[cfg(feature = "gemm")]
    pub(crate) fn rank(&self) -> u32 {
        self.array.rank
    }

    /// The elements, to be read.
    pub(crate) fn view<const RANK: usize>(&self) -> Result<TensorView<'_, T, RANK>> {
        let (shape, strides) = self.array.sizes()?;
        Ok(self.memory.view().strided(0, shape, strides)?)
    }

    /// The elements, to be written.
    pub(crate) fn view_mut<const RANK: usize>(&mut self) -> Result<TensorViewMut<'_, T, RANK>> {
        let (shape, strides) = self.array.sizes()?;
        Ok(self.memory.view_mut().strided(0, shape, strides)?)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cuda_tiles_host::Device;

    /// Row-major elements of a vector.
    pub(crate) fn array<T: Code>(memory: &mut [T], extents: &[u64]) -> Array {
        assert_eq!(memory.len() as u64, extents.iter().product::<u64>());
        let (mut shape, mut strides) = ([1; AXES], [1; AXES]);
        shape[..extents.len()].copy_from_slice(extents);
        for axis in (1..extents.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        let (address, rank) = (memory.as_mut_ptr().cast(), extents.len() as u32);
        Array { address, element: T::CODE, rank, shape, strides }
    }

    #[test]
    fn strides_are_the_others() {
        let mut memory: Vec<i32> = (0..12).collect();
        let mut matrix = array(&mut memory, &[3, 4]);
        (matrix.shape, matrix.strides) = ([4, 2, 1, 1], [1, 8, 1, 1]);
        // SAFETY: the vector lives to the end of the test.
        let lent = unsafe { matrix.lend::<i32>(&Device::cpu().default_stream()) }.unwrap();
        assert_eq!(lent.view::<2>().unwrap().to_vec().unwrap(), [0, 8, 1, 9, 2, 10, 3, 11]);
        let message = lent.view::<3>().unwrap_err().to_string();
        assert_eq!(message, "an array of 2 axes was given for one of 3");
    }

    #[test]
    fn leading_axes_become_one() {
        let mut memory: Vec<i32> = (0..24).collect();
        let mut four = array(&mut memory, &[2, 3, 1, 4]);
        let stream = Device::cpu().default_stream();
        // SAFETY: the vector lives to the end of the test.
        let lend = |array: &Array| unsafe { array.lend_packed::<i32, 3>(&stream) };
        let lent = lend(&four).unwrap();
        assert_eq!((lent.shape(), lent.to_vec().unwrap()), ([6, 1, 4], (0..24).collect()));
        four.strides = [4, 8, 4, 1];
        let message = lend(&four).err().unwrap().to_string();
        assert_eq!(message, "the elements of axis 1 are not 4 apart: copy the array first");
        four.rank = 2;
        let message = lend(&four).err().unwrap().to_string();
        assert_eq!(message, "an array of 2 axes was given for one of 3");
    }

    #[test]
    fn every_type_has_its_number() {
        fn name<T: Code>() -> &'static str {
            assert!(std::any::type_name::<T>().ends_with(TYPES[T::CODE as usize]));
            TYPES[T::CODE as usize]
        }
        let names = [
            name::<f16>(),
            name::<bf16>(),
            name::<f32>(),
            name::<tf32>(),
            name::<f64>(),
            name::<i8>(),
            name::<i32>(),
            name::<f8e4m3>(),
            name::<f8e5m2>(),
        ];
        assert_eq!(names, TYPES);
    }
}
