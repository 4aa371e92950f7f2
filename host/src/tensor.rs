//! Tensors: arrays of numbers on a device.

mod layout;
mod storage;
mod view;

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

use cuda_tiles::element::Element;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::owner::Owner;
use crate::pinned::PinnedBuffer;
use crate::size::{byte_count, too_large};
use crate::stream::Stream;

pub(crate) use layout::Layout;
pub(crate) use storage::{Storage, host_vec};
pub use view::{TensorView, TensorViewMut};

/// Rows of padded tensors begin at multiples of this many bytes.
const ROW_BYTES: usize = 16;

/// An array of `T` with `RANK` axes, in the memory of one [`Device`]: global memory of the GPU, or ordinary memory
/// aligned like it (256 bytes) for the CPU.
///
/// The elements lie one after the other, the last axis fastest, or in [padded](Tensor::padded) rows; other orders are a matter of
/// [views](Tensor::view). A tensor may be empty. `bool` takes one byte, 0 or 1.
///
/// As the argument of a launch, `&tensor` is a read-only span and `&mut tensor` a writable one. Copies to and from the
/// host wait for the kernels that use the tensor, on whatever stream.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
///
/// let device = Device::auto()?;
/// let mut x = Tensor::<f32, 2>::zeros(&device, [2, 3])?;
/// x.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(x.view().slice(1, 1..3)?.to_vec()?, [2.0, 3.0, 5.0, 6.0]);
/// let flat = x.reshape([6])?;
/// assert_eq!(flat.shape(), [6]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub struct Tensor<T, const RANK: usize> {
    storage: Storage,
    layout: Layout<RANK>,
    element: PhantomData<T>,
}

impl<T: Element, const RANK: usize> Tensor<T, RANK> {
    /// A tensor with a copy of these values, in row-major order. Waits for the copy.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of values is not the shape's; [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn from_slice(device: &Device, shape: [usize; RANK], values: &[T]) -> Result<Self> {
        check_len(shape, element_count::<T, RANK>(shape)?, values.len())?;
        Ok(Self::new(Storage::copied(device, as_bytes(values))?, shape))
    }

    /// A tensor with these values, in row-major order. Waits for the copy.
    ///
    /// # Errors
    /// As [`Tensor::from_slice`].
    pub fn from_vec(device: &Device, shape: [usize; RANK], values: Vec<T>) -> Result<Self> {
        Self::from_slice(device, shape, &values)
    }

    /// A tensor of zeros, or of `false`. Of `f8e8m0`, which has no zero, it does not compile.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, shape: [usize; RANK]) -> Result<Self> {
        const { assert!(T::HAS_ZERO, "Tensor::zeros: f8e8m0 has no zero, only powers of two") };
        Ok(Self::new(Storage::filled(device, byte_count::<T, RANK>(shape)?, 0)?, shape))
    }

    /// A tensor of one value.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn full(device: &Device, shape: [usize; RANK], value: T) -> Result<Self> {
        let mut tensor = Self::new(Storage::filled(device, byte_count::<T, RANK>(shape)?, 0)?, shape);
        tensor.fill(value)?;
        Ok(tensor)
    }

    /// A tensor whose every byte is 0xFF: NaN for floating-point types, -1 or the maximum for integers, `true` for
    /// `bool`. A test that fills its outputs so notices what a kernel does not write.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn poisoned(device: &Device, shape: [usize; RANK]) -> Result<Self> {
        let fill = if TypeId::of::<T>() == TypeId::of::<bool>() { 1 } else { 0xFF };
        Ok(Self::new(Storage::filled(device, byte_count::<T, RANK>(shape)?, fill)?, shape))
    }

    /// A tensor of zeros whose rows begin at multiples of 16 bytes, as kernels want that stream it: see
    /// [`TmaLoad`](cuda_tiles::memory::TmaLoad). Between the rows there may be elements that belong to nobody, so that
    /// it cannot be [reshaped](Tensor::reshape) or copied from and to pinned buffers.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let mut x = Tensor::<f32, 2>::padded(&Device::auto()?, [2, 3])?;
    /// x.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!((x.shape(), x.strides()), ([2, 3], [4, 1]));
    /// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn padded(device: &Device, shape: [usize; RANK]) -> Result<Self> {
        const { assert!(T::HAS_ZERO, "Tensor::padded: f8e8m0 has no zero, only powers of two") };
        let mut room = shape;
        if let Some(columns) = room.last_mut() {
            let padded = columns.checked_next_multiple_of(ROW_BYTES / size_of::<T>());
            *columns = padded.ok_or_else(|| too_large::<T, RANK>(shape))?;
        }
        let storage = Storage::filled(device, byte_count::<T, RANK>(room)?, 0)?;
        let layout = Layout { shape, ..Layout::row_major(room) };
        Ok(Self { storage, layout, element: PhantomData })
    }

    /// A tensor in memory that belongs to somebody else: another library, or a program in another language. Nothing is
    /// copied, and nothing is freed when the tensor is dropped.
    ///
    /// `stream` is one that the memory's owner uses it on (see [`Device::borrow_stream`]). Work on the tensor, on
    /// whatever stream, comes after the work given to this stream before the call; work given to this stream after the
    /// tensor is dropped comes after all work on the tensor. If work is given to this stream alone, the tensor costs
    /// nothing.
    ///
    /// The elements lie in row-major order. Rows with a pitch are a [strided view](TensorView::strided) of a tensor of
    /// rank 1.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let mut theirs = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    /// let stream = Device::cpu().default_stream();
    /// // SAFETY: the vector holds six `f32`, and is used again only after the tensor's end.
    /// let mut x = unsafe { Tensor::borrowed(&stream, theirs.as_mut_ptr(), [2, 3])? };
    /// x.view_mut().slice(1, 0..1)?.copy_from_slice(&[-1.0, -4.0])?;
    /// drop(x);
    /// assert_eq!(theirs, [-1.0, 2.0, 3.0, -4.0, 5.0, 6.0]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    ///
    /// # Safety
    /// - `address` is not null, aligned to `T`, and the address of as many initialised elements as the shape has, each a
    ///   valid `T`: in memory of the host if the stream is the CPU's, else in memory that kernels on the stream's GPU
    ///   can use.
    /// - The memory is not freed, and used by nothing but this tensor, until the tensor is dropped and the work that was
    ///   given to streams with it is done, or ordered before that other use, as it is on `stream`. As long as the tensor
    ///   is only read, others may read too.
    pub unsafe fn borrowed(stream: &Stream, address: *mut T, shape: [usize; RANK]) -> Result<Self> {
        let bytes = byte_count::<T, RANK>(shape)?;
        // SAFETY: passed on to the caller; `byte_count` keeps to the limit.
        let storage = unsafe { Storage::foreign(stream, address.cast(), bytes, None) };
        Ok(Self::new(storage, shape))
    }

    /// A tensor in memory that `owner` keeps alive: an array of another library, a buffer of a program in another language. Nothing
    /// is copied. The owner is dropped once, after the tensor, when all work given to streams with it is done: at once if it is done
    /// already, as on the CPU, else later and on a thread of this crate, so that nobody waits. If `shape` is refused it is dropped
    /// at once.
    ///
    /// `stream` is as in [`Tensor::borrowed`]: work on the tensor comes after the work given to this stream before the call.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let mut theirs = vec![1_u16, 2, 3, 4, 5, 6];
    /// let address = theirs.as_mut_ptr();
    /// let stream = Device::cpu().default_stream();
    /// // SAFETY: the vector holds six `u16`, which stay where they are when it moves, and nobody else has it.
    /// let x = unsafe { Tensor::with_owner(&stream, address, [3, 2], theirs)? };
    /// assert_eq!(x.view().transpose().to_vec()?, [1, 3, 5, 2, 4, 6]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    ///
    /// # Safety
    /// - `address` is as in [`Tensor::borrowed`].
    /// - Until the owner is dropped the memory is not freed, and nothing but this tensor uses it. As long as the tensor is only read,
    ///   others may read too.
    pub unsafe fn with_owner(
        stream: &Stream,
        address: *mut T,
        shape: [usize; RANK],
        owner: impl Send + 'static,
    ) -> Result<Self> {
        byte_count::<T, RANK>(shape)?;
        // SAFETY: passed on to the caller; the bytes were just counted.
        Ok(unsafe { Self::foreign(stream, address, Layout::row_major(shape), owner) })
    }

    fn new(storage: Storage, shape: [usize; RANK]) -> Self {
        Self::in_storage(storage, Layout::row_major(shape))
    }

    /// A tensor whose elements lie in its storage in any way.
    pub(crate) fn in_storage(storage: Storage, layout: Layout<RANK>) -> Self {
        Self { storage, layout, element: PhantomData }
    }

    /// As [`Tensor::with_owner`], with strides.
    ///
    /// # Safety
    /// As [`Tensor::with_owner`]; from the address on there are as many elements as the layout, whose offset is 0, reaches over, and
    /// their bytes can be counted. If elements have several indices, nobody gets the tensor to write to it.
    pub(crate) unsafe fn foreign(
        stream: &Stream,
        address: *mut T,
        layout: Layout<RANK>,
        owner: impl Send + 'static,
    ) -> Self {
        let bytes = layout.range().len() * size_of::<T>();
        // SAFETY: passed on to the caller.
        let storage = unsafe { Storage::foreign(stream, address.cast(), bytes, Some(Owner::new(owner))) };
        Self::in_storage(storage, layout)
    }

    /// The device that has the tensor.
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

    /// A copy of the elements, in row-major order. Waits for the kernels that write them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the host has no room for the copy; [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.view().to_vec()
    }

    /// Replaces the elements, in row-major order. Waits for the kernels that use the tensor, and for the copy.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of values is not the tensor's; [`Error::Trapped`] if a kernel went wrong on
    /// the GPU.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        self.view_mut().copy_from_slice(values)
    }

    /// Gives all elements one value. Waits for the kernels that use the tensor, and for the copy.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let mut x = Tensor::from_slice(&Device::auto()?, [3], &[1.0_f32, 2.0, 3.0])?;
    /// x.fill(0.5)?;
    /// assert_eq!(x.to_vec()?, [0.5; 3]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the rows are padded, and the host has no room for a copy of them; [`Error::Trapped`] if a
    /// kernel went wrong on the GPU.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.view_mut().fill(value)
    }

    /// A copy of the tensor on a device, that of the tensor or any other. Between GPUs the caller does not wait, and the copy comes before all
    /// later work on either tensor; they need no [peer access](Device::enable_peer_access), without which the driver may copy through the host.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Tensor};
    ///
    /// let x = Tensor::from_slice(&Device::auto()?, [3], &[1, 2, 3])?;
    /// let y = x.copy_to(&Device::cpu())?;
    /// assert_eq!(y.device(), Device::cpu());
    /// assert_eq!(y.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the device has no room; [`Error::Trapped`] if a kernel went wrong on a GPU.
    #[doc(alias("to", "to_device", "cuMemcpyPeer"))]
    pub fn copy_to(&self, device: &Device) -> Result<Self> {
        Ok(Self::in_storage(self.storage.copy_to(device)?, self.layout))
    }

    /// Gives `stream` the work of replacing the elements by those of another tensor, or a view of one. See [`TensorViewMut::copy_from`].
    ///
    /// # Errors
    /// As [`TensorViewMut::copy_from`].
    pub fn copy_from<'source>(
        &mut self,
        stream: &Stream,
        source: impl Into<TensorView<'source, T, RANK>>,
    ) -> Result<()> {
        self.view_mut().copy_from(stream, source)
    }

    /// Gives `stream` the work of copying a pinned buffer to the tensor, without waiting for it.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer is not as long as the tensor; [`Error::View`] if its rows are padded;
    /// [`Error::WrongDevice`]; [`Error::Trapped`].
    pub fn copy_from_pinned(&mut self, stream: &Stream, source: &PinnedBuffer<T>) -> Result<()> {
        self.check_packed("copy from a pinned buffer")?;
        source.check_len(self.shape(), self.len())?;
        self.storage.write_pinned(stream, &source.pinned)
    }

    /// Gives `stream` the work of copying the tensor to a pinned buffer, without waiting for it.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer is not as long as the tensor; [`Error::View`] if its rows are padded;
    /// [`Error::WrongDevice`]; [`Error::Trapped`].
    pub fn copy_to_pinned(&self, stream: &Stream, target: &mut PinnedBuffer<T>) -> Result<()> {
        self.check_packed("copy to a pinned buffer")?;
        target.check_len(self.shape(), self.len())?;
        self.storage.read_pinned(stream, &mut target.pinned)
    }

    /// The same elements in another shape. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::View`] if the new shape has another number of elements, or the rows are padded.
    pub fn reshape<const OTHER: usize>(self, shape: [usize; OTHER]) -> Result<Tensor<T, OTHER>> {
        if element_count::<T, OTHER>(shape)? != self.len() {
            let problem = format!("{shape:?} has another number of elements");
            return Err(Error::View { operation: "reshape", shape: self.shape().into(), problem });
        }
        self.check_packed("reshape")?;
        Ok(Tensor::new(self.storage, shape))
    }

    /// Refuses what needs elements that lie one after the other.
    fn check_packed(&self, operation: &'static str) -> Result<()> {
        match self.layout.is_row_major() {
            true => Ok(()),
            false => {
                let problem =
                    "its elements do not lie one after the other: copy it with `to_vec` and `from_slice`"
                        .to_owned();
                Err(Error::View { operation, shape: self.shape().into(), problem })
            }
        }
    }

    /// The whole tensor as a view, from which parts and other orders can be taken.
    pub fn view(&self) -> TensorView<'_, T, RANK> {
        TensorView::new(&self.storage, self.layout)
    }

    /// The whole tensor as a writable view, from which parts and other orders can be taken.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T, RANK> {
        TensorViewMut::new(&mut self.storage, self.layout)
    }
}

impl<T, const RANK: usize> fmt::Debug for Tensor<T, RANK> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (element, device) = (std::any::type_name::<T>(), self.storage.device().short_name());
        write!(formatter, "Tensor<{element}> of shape {:?} on {device}", self.layout.shape)
    }
}

/// Number of elements of a shape, if their bytes can be counted.
fn element_count<T, const RANK: usize>(shape: [usize; RANK]) -> Result<usize> {
    byte_count::<T, RANK>(shape).map(|bytes| bytes / size_of::<T>())
}

pub(crate) fn check_len<const RANK: usize>(
    shape: [usize; RANK],
    expected: usize,
    found: usize,
) -> Result<()> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::Length { shape: shape.into(), expected, found }),
    }
}

/// The values as they lie in memory.
pub(crate) fn as_bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: an `Element` is one of Rust's or `half`'s number types, `bool`, or a wrapper of an integer: it has no padding,
    // so all its bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles::element::{bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4x2, tf32, u4x2};

    fn there_and_back<T: Element + PartialEq + fmt::Debug>(values: [T; 6]) {
        let device = Device::cpu();
        let mut tensor = Tensor::from_slice(&device, [2, 3], &values).unwrap();
        assert_eq!(tensor.to_vec().unwrap(), values);
        tensor.copy_from_slice(&[values[5]; 6]).unwrap();
        assert_eq!(tensor.to_vec().unwrap(), [values[5]; 6]);
        assert_eq!(Tensor::full(&device, [3], values[1]).unwrap().to_vec().unwrap(), [values[1]; 3]);
    }

    #[test]
    fn every_element_type_goes_there_and_back() {
        there_and_back([true, false, true, true, false, false]);
        there_and_back([-1_i8, 2, 3, 4, 5, 6]);
        there_and_back([1_u16, 2, 3, 4, 5, 6]);
        there_and_back([1_i64, 2, 3, 4, 5, -6]);
        there_and_back([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        there_and_back([1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
        there_and_back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f16::from_f32));
        there_and_back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(bf16::from_f32));
        there_and_back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(tf32::from_f32));
        there_and_back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f8e4m3::from_f32));
        there_and_back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f8e5m2::from_f32));
        there_and_back([1.0, 2.0, 4.0, 8.0, 0.5, 0.25].map(f8e8m0::from_f32));
        there_and_back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f8ue5m3::from_f32));
        there_and_back([0x12, 0x34, 0x56, 0x78, 0x1a, 0x2b].map(f4e2m1x2::from_bits));
        there_and_back([0x12, 0x34, 0x56, 0x78, 0x9a, 0xff].map(i4x2::from_bits));
        there_and_back([0x12, 0x34, 0x56, 0x78, 0x9a, 0xff].map(u4x2::from_bits));
    }

    #[test]
    fn tensors_may_go_to_other_threads() {
        fn check<T: Send + Sync>() {}
        check::<Tensor<f32, 2>>();
        check::<TensorView<'static, f16, 1>>();
        check::<PinnedBuffer<bool>>();
        check::<Stream>();
        check::<Device>();
    }

    #[test]
    fn borrowed_memory_is_read_and_written_in_place() {
        let mut theirs: Vec<i32> = (0..12).collect();
        let stream = Device::cpu().stream().unwrap();
        // SAFETY: the vector holds twelve `i32`, and is used again only after the tensor's end.
        let mut flat = unsafe { Tensor::borrowed(&stream, theirs.as_mut_ptr(), [12]) }.unwrap();
        assert_eq!(flat.device(), Device::cpu());
        flat.view_mut()
            .strided(1, [3, 2], [4, 1])
            .unwrap()
            .copy_from_slice(&[-1, -2, -3, -4, -5, -6])
            .unwrap();
        let matrix = flat.reshape([3, 4]).unwrap();
        assert_eq!(matrix.to_vec().unwrap(), [0, -1, -2, 3, 4, -3, -4, 7, 8, -5, -6, 11]);
        drop(matrix);
        assert_eq!(theirs, [0, -1, -2, 3, 4, -3, -4, 7, 8, -5, -6, 11]);
    }

    #[test]
    fn copies_keep_shape_rows_and_elements() {
        let device = Device::cpu();
        let mut padded = Tensor::<f32, 2>::padded(&device, [2, 3]).unwrap();
        padded.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let copy = padded.copy_to(&device).unwrap();
        padded.fill(0.0).unwrap();
        assert_eq!((copy.shape(), copy.strides()), ([2, 3], [4, 1]));
        assert_eq!(copy.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(Tensor::<u8, 1>::zeros(&device, [0]).unwrap().copy_to(&device).unwrap().is_empty());
    }

    #[test]
    fn elements_are_copied_between_tensors_and_their_rows() {
        let (device, stream) = (Device::cpu(), Device::cpu().default_stream());
        let x = Tensor::from_vec(&device, [3, 2], (0..6).collect::<Vec<u16>>()).unwrap();
        let mut y = Tensor::<u16, 2>::full(&device, [4, 2], 9).unwrap();
        let rows = x.view().slice(0, 1..3).unwrap();
        y.view_mut().slice(0, 2..4).unwrap().copy_from(&stream, rows).unwrap();
        assert_eq!(y.to_vec().unwrap(), [9, 9, 9, 9, 2, 3, 4, 5]);
        y.view_mut().slice(0, 0..0).unwrap().copy_from(&stream, x.view().slice(0, 0..0).unwrap()).unwrap();
        let message = y.copy_from(&stream, &x).unwrap_err().to_string();
        assert_eq!(message, "copy of a tensor of shape [3, 2]: the target has shape [4, 2]");
        let mut column = y.view_mut().slice(1, 0..1).unwrap();
        let message =
            column.copy_from(&stream, x.view().strided(0, [4, 1], [1, 1]).unwrap()).unwrap_err().to_string();
        assert!(
            message.contains("shape [4, 1]: the elements of the target do not lie one after the other"),
            "{message}"
        );
    }

    #[test]
    fn empty_tensors_are_legal() {
        let tensor = Tensor::<f32, 3>::zeros(&Device::cpu(), [4, 0, 5]).unwrap();
        assert!(tensor.is_empty());
        assert!(tensor.to_vec().unwrap().is_empty());
        assert!(tensor.reshape([0]).is_ok());
    }

    #[test]
    fn rows_of_padded_tensors_begin_at_multiples_of_16_bytes() {
        let device = Device::cpu();
        let mut padded = Tensor::<u16, 3>::padded(&device, [2, 3, 5]).unwrap();
        assert_eq!(padded.strides(), [24, 8, 1]);
        let values: Vec<u16> = (0..30).collect();
        padded.copy_from_slice(&values).unwrap();
        assert_eq!(padded.to_vec().unwrap(), values);
        assert_eq!(
            padded.view().slice(1, 2..3).unwrap().to_vec().unwrap(),
            [10, 11, 12, 13, 14, 25, 26, 27, 28, 29]
        );
        let message = padded.reshape([30]).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "reshape of a tensor of shape [2, 3, 5]: its elements do not lie one after the other"
            ),
            "{message}"
        );
        assert_eq!(Tensor::<f64, 2>::padded(&device, [3, 4]).unwrap().reshape([12]).unwrap().shape(), [12]);
        assert!(Tensor::<u8, 1>::padded(&device, [usize::MAX]).is_err());
    }

    #[test]
    fn poison_is_nan_and_all_ones() {
        let device = Device::cpu();
        assert!(
            Tensor::<f16, 1>::poisoned(&device, [3]).unwrap().to_vec().unwrap().iter().all(|x| x.is_nan())
        );
        assert_eq!(Tensor::<i32, 1>::poisoned(&device, [2]).unwrap().to_vec().unwrap(), [-1, -1]);
        assert_eq!(Tensor::<bool, 1>::poisoned(&device, [2]).unwrap().to_vec().unwrap(), [true, true]);
    }

    #[test]
    fn messages_have_shapes_and_numbers() {
        let device = Device::cpu();
        let message = Tensor::from_slice(&device, [2, 3], &[0_u8; 5]).unwrap_err().to_string();
        assert_eq!(message, "a tensor of shape [2, 3] has 6 elements, but 5 were given");
        let message = Tensor::<f32, 2>::zeros(&device, [1 << 40, 1 << 40]).unwrap_err().to_string();
        assert_eq!(
            message,
            "a tensor of shape [1099511627776, 1099511627776] with 4-byte elements is larger than the address space"
        );
        assert!(Tensor::<u8, 3>::zeros(&device, [0, 1 << 40, 1 << 40]).is_err(), "strides would overflow");
        let message = Tensor::<u8, 1>::zeros(&device, [6]).unwrap().reshape([2, 2]).unwrap_err().to_string();
        assert_eq!(message, "reshape of a tensor of shape [6]: [2, 2] has another number of elements");
        assert!(matches!(Tensor::<u8, 1>::zeros(&device, [1 << 62]), Err(Error::OutOfMemory { .. })));
    }
}
