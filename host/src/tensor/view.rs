//! Views: parts of tensors, and their elements in another order, without a copy.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use cuda_tiles::element::Element;

use super::{Layout, Storage, Tensor, as_bytes, check_len, host_vec};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// A part of a [`Tensor`](crate::Tensor), or its elements in another order, to be read.
///
/// As the argument of a launch it is a read-only span, like `&tensor`, where the kernel's span type allows its strides.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
///
/// let x = Tensor::from_slice(&Device::auto()?, [2, 3], &[1, 2, 3, 4, 5, 6])?;
/// let columns = x.view().transpose().slice(0, 1..3)?;
/// assert_eq!(columns.shape(), [2, 2]);
/// assert_eq!(columns.strides(), [1, 3]);
/// assert_eq!(columns.to_vec()?, [2, 5, 3, 6]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub struct TensorView<'tensor, T, const RANK: usize> {
    pub(crate) storage: &'tensor Storage,
    pub(crate) layout: Layout<RANK>,
    element: PhantomData<T>,
}

/// A part of a [`Tensor`](crate::Tensor), or its elements in another order, to be read and written.
///
/// As the argument of a launch it is a writable span, like `&mut tensor`, where the kernel's span type allows its
/// strides.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
///
/// let mut x = Tensor::zeros(&Device::auto()?, [3, 2])?;
/// x.view_mut().slice(0, 1..2)?.copy_from_slice(&[7, 8])?;
/// assert_eq!(x.to_vec()?, [0, 0, 7, 8, 0, 0]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub struct TensorViewMut<'tensor, T, const RANK: usize> {
    pub(crate) storage: &'tensor mut Storage,
    pub(crate) layout: Layout<RANK>,
    element: PhantomData<T>,
}

impl<'tensor, T: Element, const RANK: usize> TensorView<'tensor, T, RANK> {
    pub(super) fn new(storage: &'tensor Storage, layout: Layout<RANK>) -> Self {
        Self { storage, layout, element: PhantomData }
    }

    /// The elements whose index along `axis` is in `range`.
    ///
    /// # Errors
    /// [`Error::View`] if there is no such axis, or the range is not within it.
    pub fn slice(self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(Self::new(self.storage, self.layout.slice(axis, range)?))
    }

    /// The axes in another order: axis k of the result is axis `axes[k]` of this view.
    ///
    /// # Errors
    /// [`Error::View`] if `axes` does not name each axis once.
    pub fn permute(self, axes: [usize; RANK]) -> Result<Self> {
        Ok(Self::new(self.storage, self.layout.permute(axes)?))
    }

    /// Elements chosen by strides among those between this view's first and last, for example the rows of a matrix
    /// whose pitch is larger than its width. `offset` counts from this view's first element; indices may share
    /// elements. All numbers count elements.
    ///
    /// # Errors
    /// [`Error::View`] if that reaches beyond this view's last element.
    pub fn strided<const OTHER: usize>(
        self,
        offset: usize,
        shape: [usize; OTHER],
        strides: [usize; OTHER],
    ) -> Result<TensorView<'tensor, T, OTHER>> {
        Ok(TensorView::new(self.storage, self.layout.strided(offset, shape, strides)?))
    }

    /// The bits of the elements as another type of the same size.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let x = Tensor::from_slice(&Device::auto()?, [2], &[1.0_f32, -0.0])?;
    /// assert_eq!(x.view().bitcast::<u32>().to_vec()?, [0x3f80_0000, 0x8000_0000]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `U` is `bool`, which not all bits are.
    pub fn bitcast<U: Element>(self) -> TensorView<'tensor, U, RANK> {
        const {
            assert!(size_of::<T>() == size_of::<U>(), "bitcast: elements of both types have the same size");
        }
        assert!(TypeId::of::<U>() != TypeId::of::<bool>(), "bitcast: not all bits are a bool");
        TensorView::new(self.storage, self.layout)
    }

    /// A copy of the elements, in row-major order of their indices. Waits for the kernels that write them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the host has no room for the copy, as of a view whose indices share elements;
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let range = self.layout.range();
        if self.layout.is_row_major() {
            return read(self.storage, range);
        }
        let mut elements = host_vec(self.len())?;
        let memory = read(self.storage, range.clone())?;
        self.layout.for_each(|position| elements.push(memory[position - range.start]));
        Ok(elements)
    }
}

impl<'tensor, T: Element> TensorView<'tensor, T, 2> {
    /// The transposed matrix.
    pub fn transpose(self) -> Self {
        let Layout { offset, shape: [rows, columns], strides: [down, right] } = self.layout;
        Self::new(self.storage, Layout { offset, shape: [columns, rows], strides: [right, down] })
    }
}

impl<'tensor, T: Element, const RANK: usize> TensorViewMut<'tensor, T, RANK> {
    pub(crate) fn new(storage: &'tensor mut Storage, layout: Layout<RANK>) -> Self {
        Self { storage, layout, element: PhantomData }
    }

    /// The elements whose index along `axis` is in `range`.
    ///
    /// # Errors
    /// [`Error::View`] if there is no such axis, or the range is not within it.
    pub fn slice(self, axis: usize, range: Range<usize>) -> Result<Self> {
        Ok(Self::new(self.storage, self.layout.slice(axis, range)?))
    }

    /// The axes in another order: axis k of the result is axis `axes[k]` of this view.
    ///
    /// # Errors
    /// [`Error::View`] if `axes` does not name each axis once.
    pub fn permute(self, axes: [usize; RANK]) -> Result<Self> {
        Ok(Self::new(self.storage, self.layout.permute(axes)?))
    }

    /// Elements chosen by strides among those between this view's first and last, for example the rows of a matrix
    /// whose pitch is larger than its width. `offset` counts from this view's first element. All numbers count elements.
    ///
    /// # Errors
    /// [`Error::View`] if that reaches beyond this view's last element, or if two indices would share an element:
    /// blocks of a kernel could write to it at the same time.
    pub fn strided<const OTHER: usize>(
        self,
        offset: usize,
        shape: [usize; OTHER],
        strides: [usize; OTHER],
    ) -> Result<TensorViewMut<'tensor, T, OTHER>> {
        let layout = self.layout.strided(offset, shape, strides)?;
        if !layout.is_injective() {
            let problem = format!("shape {shape:?} and strides {strides:?} give one element several indices");
            return Err(Error::View {
                operation: "writable strided view",
                shape: self.layout.shape.into(),
                problem,
            });
        }
        Ok(TensorViewMut::new(self.storage, layout))
    }

    /// The same elements, to be read.
    pub fn as_view(&self) -> TensorView<'_, T, RANK> {
        TensorView::new(self.storage, self.layout)
    }

    /// The same elements, for a shorter time: for passing the view to several launches.
    pub fn reborrow(&mut self) -> TensorViewMut<'_, T, RANK> {
        TensorViewMut::new(self.storage, self.layout)
    }

    /// Replaces the elements, in row-major order of their indices. Waits for the kernels that use the tensor, and for
    /// the copy.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of values is not the view's; [`Error::OutOfMemory`] if the elements do not lie one
    /// after the other, and the host has no room for those between the first and the last; [`Error::Trapped`] if a
    /// kernel went wrong on the GPU.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        check_len(self.layout.shape, self.layout.len(), values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        let range = self.layout.range();
        let start = range.start * size_of::<T>();
        if self.layout.is_row_major() {
            return self.storage.write(start, as_bytes(values));
        }
        // The elements between those of the view have to stay as they are.
        let mut memory = read::<T>(self.storage, range.clone())?;
        let mut values = values.iter();
        self.layout.for_each(|position| {
            if let Some(&value) = values.next() {
                memory[position - range.start] = value;
            }
        });
        self.storage.write(start, as_bytes(&memory))
    }

    /// Gives `stream` the work of replacing the elements by those of another view, or tensor, of the same shape. The caller does not wait.
    /// Both are on the stream's device, or one of them is on another GPU: then this is a copy between GPUs, as of the rows at the edge of a
    /// rank's part.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let (here, there) = (Device::cpu(), Device::cpu()); // or Device::gpu(0)?, Device::gpu(1)?
    /// let x = Tensor::from_slice(&here, [3, 2], &[1, 2, 3, 4, 5, 6])?;
    /// let mut y = Tensor::zeros(&there, [2, 2])?;
    /// let last_row = x.view().slice(0, 2..3)?;
    /// y.view_mut().slice(0, 0..1)?.copy_from(&here.default_stream(), last_row)?;
    /// assert_eq!(y.to_vec()?, [5, 6, 0, 0]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::View`] if the shapes differ, or if elements do not lie one after the other; [`Error::WrongDevice`] if one is on the CPU and the
    /// other is not, or none is on the stream's device; [`Error::Trapped`] if a kernel went wrong on a GPU.
    #[doc(alias("cuMemcpyDtoDAsync", "cuMemcpyPeerAsync"))]
    pub fn copy_from<'source>(
        &mut self,
        stream: &Stream,
        source: impl Into<TensorView<'source, T, RANK>>,
    ) -> Result<()> {
        let source = source.into();
        let refuse =
            |problem| Err(Error::View { operation: "copy", shape: source.layout.shape.into(), problem });
        if source.layout.shape != self.layout.shape {
            return refuse(format!("the target has shape {:?}", self.layout.shape));
        }
        for (name, layout) in [("source", source.layout), ("target", self.layout)] {
            if !layout.is_row_major() {
                let problem = "do not lie one after the other: pass whole rows";
                return refuse(format!("the elements of the {name} {problem}"));
            }
        }
        let (bytes, element) = (self.layout.len() * size_of::<T>(), size_of::<T>());
        let (offset, source_offset) = (self.layout.offset * element, source.layout.offset * element);
        self.storage.copy_from(stream, offset, source.storage, source_offset, bytes)
    }

    /// Gives all elements one value. Waits for the kernels that use the tensor, and for the copy.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let mut x = Tensor::zeros(&Device::auto()?, [2, 3])?;
    /// x.view_mut().slice(1, 1..3)?.fill(7)?;
    /// assert_eq!(x.to_vec()?, [0, 7, 7, 0, 7, 7]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the elements do not lie one after the other, and the host has no room for those between
    /// the first and the last; [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn fill(&mut self, value: T) -> Result<()> {
        let range = self.layout.range();
        if self.layout.is_row_major() {
            let (start, end) = (range.start * size_of::<T>(), range.end * size_of::<T>());
            return self.storage.fill(start..end, as_bytes(&[value]));
        }
        // The elements between those of the view have to stay as they are.
        let mut memory = read::<T>(self.storage, range.clone())?;
        self.layout.for_each(|position| memory[position - range.start] = value);
        self.storage.write(range.start * size_of::<T>(), as_bytes(&memory))
    }
}

impl<'tensor, T: Element> TensorViewMut<'tensor, T, 2> {
    /// The transposed matrix.
    pub fn transpose(self) -> Self {
        let Layout { offset, shape: [rows, columns], strides: [down, right] } = self.layout;
        Self::new(self.storage, Layout { offset, shape: [columns, rows], strides: [right, down] })
    }
}

/// A copy of the elements in a range of memory.
fn read<T: Element>(storage: &Storage, range: Range<usize>) -> Result<Vec<T>> {
    if range.is_empty() {
        // A view of nothing may begin behind the end of the memory.
        return Ok(Vec::new());
    }
    let mut elements = host_vec::<T>(range.len())?;
    let (start, bytes) = (range.start * size_of::<T>(), range.len() * size_of::<T>());
    // SAFETY: the vector has room for as many bytes.
    unsafe { storage.read(start, elements.as_mut_ptr().cast(), bytes)? };
    // SAFETY: all elements were just written. They are valid: of an `Element` other than `bool` every bit pattern is, and
    // the bytes of a tensor of `bool` come from the values 0 and 1 of this crate or from `bool`s of a kernel.
    unsafe { elements.set_len(range.len()) };
    Ok(elements)
}

macro_rules! properties {
    ($($view:ident)*) => { $(
        impl<'tensor, T, const RANK: usize> $view<'tensor, T, RANK> {
            /// The device that has the elements.
            pub fn device(&self) -> Device {
                self.storage.device()
            }

            /// Extents of the axes, in elements.
            pub fn shape(&self) -> [usize; RANK] {
                self.layout.shape
            }

            /// Distance in memory of neighbours along each axis, in elements.
            pub fn strides(&self) -> [usize; RANK] {
                self.layout.strides
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                self.layout.len()
            }

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether the first element's address is a multiple of so many bytes, as a span type with `Aligned<BYTES>` wants it of its
            /// argument.
            ///
            /// ```
            /// use cuda_tiles_host::{Device, Tensor};
            ///
            /// let x = Tensor::from_slice(&Device::cpu(), [5], &[1.0_f32, 2.0, 3.0, 4.0, 5.0])?;
            /// assert!(x.view().is_aligned(16));
            /// assert!(!x.view().slice(0, 1..5)?.is_aligned(16));
            /// # Ok::<(), cuda_tiles_host::Error>(())
            /// ```
            pub fn is_aligned(&self, bytes: usize) -> bool {
                let first = self.storage.address() as usize + self.layout.offset * size_of::<T>();
                first.is_multiple_of(bytes)
            }
        }

        impl<'tensor, T, const RANK: usize> fmt::Debug for $view<'tensor, T, RANK> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (element, Layout { shape, strides, .. }) = (std::any::type_name::<T>(), self.layout);
                let device = self.storage.device().short_name();
                write!(formatter, "{}<{element}> of shape {shape:?}, strides {strides:?} on {device}", stringify!($view))
            }
        }
    )* };
}

properties!(TensorView TensorViewMut);

impl<'tensor, T: Element, const RANK: usize> From<&'tensor Tensor<T, RANK>> for TensorView<'tensor, T, RANK> {
    fn from(tensor: &'tensor Tensor<T, RANK>) -> Self {
        tensor.view()
    }
}

impl<'tensor, T: Element, const RANK: usize> From<&'tensor mut Tensor<T, RANK>>
    for TensorViewMut<'tensor, T, RANK>
{
    fn from(tensor: &'tensor mut Tensor<T, RANK>) -> Self {
        tensor.view_mut()
    }
}

impl<T, const RANK: usize> Clone for TensorView<'_, T, RANK> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const RANK: usize> Copy for TensorView<'_, T, RANK> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Tensor<i32, 2> {
        Tensor::from_vec(&Device::cpu(), [3, 4], (0..12).collect()).unwrap()
    }

    #[test]
    fn views_of_views_read_the_right_elements() {
        let matrix = matrix();
        let part = matrix.view().slice(0, 1..3).unwrap().transpose().slice(0, 2..4).unwrap();
        assert_eq!((part.shape(), part.strides()), ([2, 2], [1, 4]));
        assert_eq!(part.to_vec().unwrap(), [6, 10, 7, 11]);
        assert_eq!(part.permute([1, 0]).unwrap().to_vec().unwrap(), [6, 7, 10, 11]);
    }

    #[test]
    fn writing_a_view_leaves_the_rest_alone() {
        let mut matrix = matrix();
        matrix
            .view_mut()
            .slice(1, 1..3)
            .unwrap()
            .transpose()
            .copy_from_slice(&[-1, -2, -3, -4, -5, -6])
            .unwrap();
        assert_eq!(matrix.to_vec().unwrap(), [0, -1, -4, 3, 4, -2, -5, 7, 8, -3, -6, 11]);
    }

    #[test]
    fn strided_views_skip_the_padding() {
        let mut rows = matrix();
        let padded = rows.view_mut().strided(0, [3, 3], [4, 1]).unwrap();
        assert_eq!(padded.as_view().to_vec().unwrap(), [0, 1, 2, 4, 5, 6, 8, 9, 10]);
        let windows = rows.view().strided(0, [3, 2], [1, 1]).unwrap();
        assert_eq!(windows.to_vec().unwrap(), [0, 1, 1, 2, 2, 3]);
        let message = rows.view_mut().strided(0, [3, 2], [1, 1]).unwrap_err().to_string();
        assert!(
            message.ends_with("shape [3, 2] and strides [1, 1] give one element several indices"),
            "{message}"
        );
    }

    #[test]
    fn a_view_checks_lengths_in_its_own_shape() {
        let mut matrix = matrix();
        let message =
            matrix.view_mut().slice(0, 0..1).unwrap().copy_from_slice(&[1]).unwrap_err().to_string();
        assert_eq!(message, "a tensor of shape [1, 4] has 4 elements, but 1 were given");
    }

    #[test]
    fn empty_views_are_legal() {
        let mut matrix = matrix();
        assert!(matrix.view().slice(1, 4..4).unwrap().transpose().to_vec().unwrap().is_empty());
        matrix.view_mut().slice(0, 2..2).unwrap().copy_from_slice(&[]).unwrap();
        let mut nothing = Tensor::<i32, 2>::zeros(&Device::cpu(), [0, 9]).unwrap();
        assert!(nothing.view().slice(1, 8..9).unwrap().to_vec().unwrap().is_empty());
        nothing.view_mut().slice(1, 8..9).unwrap().copy_from_slice(&[]).unwrap();
    }
}
