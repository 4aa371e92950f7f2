//! Tensors from and to arrays of the crate `ndarray`.

use cuda_tiles::element::Element;
use ndarray::{Array, ArrayBase, Data, Dim, Dimension};

use crate::Device;
use crate::error::{Error, Result};
use crate::tensor::{Tensor, TensorView, host_vec};

/// Ranks 0 to 6 are `ndarray`'s `Ix0` to `Ix6`; an array of another rank does not compile.
impl<T: Element, const RANK: usize> Tensor<T, RANK>
where
    Dim<[usize; RANK]>: Dimension,
{
    /// A tensor with a copy of the array's elements. The array may have any strides, negative ones and zeros included. Waits for the
    /// copy.
    ///
    /// An array whose rank is not known to the compiler says it by `into_dimensionality::<Ix2>()`.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    /// use ndarray::{array, s};
    ///
    /// let device = Device::auto()?;
    /// let array = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let tensor = Tensor::from_array(&device, &array.slice(s![.., ..;-1]))?;
    /// assert_eq!(tensor.to_vec()?, [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    /// assert_eq!(tensor.to_array()?, array![[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::TooLarge`] of an array that repeats its elements (strides of 0) that often.
    #[doc(alias("from_ndarray"))]
    pub fn from_array<S: Data<Elem = T>>(
        device: &Device,
        array: &ArrayBase<S, Dim<[usize; RANK]>>,
    ) -> Result<Self> {
        let shape = std::array::from_fn(|axis| array.shape()[axis]);
        if let Some(elements) = array.as_slice() {
            return Self::from_slice(device, shape, elements);
        }
        let mut elements = host_vec(array.len())?;
        elements.extend(array.iter().copied());
        Self::from_vec(device, shape, elements)
    }

    /// A copy of the elements as an array in row-major order. Waits for the kernels that write them.
    ///
    /// # Errors
    /// As [`Tensor::to_vec`].
    pub fn to_array(&self) -> Result<Array<T, Dim<[usize; RANK]>>> {
        self.view().to_array()
    }
}

impl<T: Element, const RANK: usize> TensorView<'_, T, RANK>
where
    Dim<[usize; RANK]>: Dimension,
{
    /// A copy of the elements as an array in row-major order of their indices. Waits for the kernels that write them.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    /// use ndarray::array;
    ///
    /// let x = Tensor::from_slice(&Device::auto()?, [2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.view().slice(1, 1..3)?.transpose().to_array()?, array![[2, 5], [3, 6]]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TensorView::to_vec`]; [`Error::TooLarge`] for an empty view whose other extents `ndarray` cannot count.
    pub fn to_array(&self) -> Result<Array<T, Dim<[usize; RANK]>>> {
        let shape = self.shape();
        let too_large = |_| Error::TooLarge { shape: shape.into(), element_bytes: size_of::<T>() };
        let mut dimension = Dim::<[usize; RANK]>::zeros(RANK);
        dimension.slice_mut().copy_from_slice(&shape);
        Array::from_shape_vec(dimension, self.to_vec()?).map_err(too_large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles::element::bf16;
    use ndarray::{Array1, Array3, Axis, Ix0, arr0, array};

    #[test]
    fn arrays_of_any_strides_are_copied_in_row_major_order() {
        let device = Device::cpu();
        let array = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as u16);
        let turned = array.view().permuted_axes([2, 0, 1]);
        let tensor = Tensor::from_array(&device, &turned).unwrap();
        assert_eq!(tensor.shape(), [4, 2, 3]);
        assert_eq!(tensor.to_array().unwrap(), turned);
        let mut backwards = array.view();
        backwards.invert_axis(Axis(1));
        assert_eq!(Tensor::from_array(&device, &backwards).unwrap().to_array().unwrap(), backwards);
        let row = array![bf16::ONE, bf16::NEG_ONE];
        let repeated = row.broadcast((3, 2)).unwrap();
        assert_eq!(Tensor::from_array(&device, &repeated).unwrap().to_array().unwrap(), repeated);
    }

    #[test]
    fn scalars_and_empty_arrays_are_arrays() {
        let device = Device::cpu();
        let scalar = Tensor::from_array(&device, &arr0(true)).unwrap();
        assert_eq!(scalar.to_array().unwrap().into_dimensionality::<Ix0>().unwrap(), arr0(true));
        let empty = Array1::<f64>::zeros(0);
        assert_eq!(Tensor::from_array(&device, &empty).unwrap().to_array().unwrap(), empty);
    }
}
