//! Shapes for `cust`'s buffers.

use std::marker::PhantomData;

use ::cust::memory::{DeviceBuffer, DeviceCopy};
use ::cust::stream::Stream;
use ::cust::sys::CUdeviceptr;
use cuda_tiles::element::Element;
use cuda_tiles::element::{bf16, f16};
use cuda_tiles::memory::{MatrixShape, TmaLoad, TmaStore};
use cuda_tiles::shape::{OfRank, Rank};
use cuda_tiles::span::{Alignment, Atomic, Exclusive, Extents, Mapping, ReadOnly, TensorSpan};

use crate::argument::{Argument, Launching, span};
use crate::error::{ArgumentError, Result};
use crate::matrix::{Parts, Use, parts};
use crate::size::byte_count;
use crate::tensor::{Layout, check_len};

/// A buffer of `cust` with a shape, to be read: the argument for a read-only span. Row-major.
pub struct CustTensor<'buffer, T, const RANK: usize> {
    address: CUdeviceptr,
    layout: Layout<RANK>,
    buffer: PhantomData<&'buffer [T]>,
}

/// A buffer of `cust` with a shape, to be read and written: the argument for a writable span. Row-major.
pub struct CustTensorMut<'buffer, T, const RANK: usize> {
    address: CUdeviceptr,
    layout: Layout<RANK>,
    buffer: PhantomData<&'buffer mut [T]>,
}

impl<'buffer, T: Element, const RANK: usize> CustTensor<'buffer, T, RANK> {
    /// Gives a buffer a shape.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if the buffer does not have as many elements as the shape.
    pub fn new(buffer: &'buffer DeviceBuffer<T>, shape: [usize; RANK]) -> Result<Self>
    where
        T: DeviceCopy,
    {
        let layout = layout::<T, RANK>(shape, buffer.len())?;
        Ok(Self { address: buffer.as_device_ptr().as_raw(), layout, buffer: PhantomData })
    }
}

impl<'buffer, T: Element, const RANK: usize> CustTensorMut<'buffer, T, RANK> {
    /// Gives a buffer a shape.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if the buffer does not have as many elements as the shape.
    pub fn new(buffer: &'buffer mut DeviceBuffer<T>, shape: [usize; RANK]) -> Result<Self>
    where
        T: DeviceCopy,
    {
        let layout = layout::<T, RANK>(shape, buffer.len())?;
        Ok(Self { address: buffer.as_device_ptr().as_raw(), layout, buffer: PhantomData })
    }
}

macro_rules! from_bits {
    ($($half:ident)*) => { $(
        impl<'buffer, const RANK: usize> CustTensor<'buffer, $half, RANK> {
            /// Gives a buffer that holds the numbers' bits a shape: `cust` does not know the type itself.
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length) if the buffer does not have as many elements as the shape.
            pub fn from_bits(bits: &'buffer DeviceBuffer<u16>, shape: [usize; RANK]) -> Result<Self> {
                let layout = layout::<$half, RANK>(shape, bits.len())?;
                Ok(Self { address: bits.as_device_ptr().as_raw(), layout, buffer: PhantomData })
            }
        }

        impl<'buffer, const RANK: usize> CustTensorMut<'buffer, $half, RANK> {
            /// Gives a buffer that holds the numbers' bits a shape: `cust` does not know the type itself.
            ///
            /// # Errors
            /// [`Error::Length`](crate::Error::Length) if the buffer does not have as many elements as the shape.
            pub fn from_bits(bits: &'buffer mut DeviceBuffer<u16>, shape: [usize; RANK]) -> Result<Self> {
                let layout = layout::<$half, RANK>(shape, bits.len())?;
                Ok(Self { address: bits.as_device_ptr().as_raw(), layout, buffer: PhantomData })
            }
        }
    )* };
}

from_bits!(f16 bf16);

/// The layout of a buffer with `len` elements.
fn layout<T, const RANK: usize>(shape: [usize; RANK], len: usize) -> Result<Layout<RANK>> {
    // Refuses shapes whose strides would overflow.
    byte_count::<T, RANK>(shape)?;
    let layout = Layout::row_major(shape);
    check_len(shape, layout.len(), len)?;
    Ok(layout)
}

macro_rules! argument {
    ($($tensor:ident for $access:ident),*) => { $(
        impl<T, E, M, G, const RANK: usize> Argument<TensorSpan<T, E, $access, M, G>, Stream> for $tensor<'_, T, RANK>
        where
            T: Element,
            E: Extents + OfRank<Rank<RANK>>,
            M: Mapping,
            G: Alignment,
        {
            fn resolve(
                &mut self,
                _launch: &Launching<'_, Stream>,
            ) -> Result<TensorSpan<T, E, $access, M, G>, ArgumentError> {
                // SAFETY: the buffer is as long as the layout, and borrowed, mutably for a writable span, as long as this
                // argument lives.
                unsafe { span(self.address as *mut u8, &self.layout) }
            }
        }
    )* };
}

macro_rules! streamed {
    ($($rank:literal)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<T: Element, S: MatrixShape> Argument<TmaLoad<T, S>, Stream> for CustTensor<'_, T, $rank> {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TmaLoad<T, S>, ArgumentError> {
                let piece = TmaLoad::<T, S>::BOX;
                let Parts { map, pointer, layout } =
                    parts::<T, $rank>(self.address as *mut u8, &self.layout, Use::Load, piece, launch.maps)?;
                // SAFETY: the buffer is as long as the layout, and borrowed as long as this argument lives. The map says
                // the same.
                Ok(unsafe { TmaLoad::new(map, pointer, layout) })
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Element, S: MatrixShape> Argument<TmaStore<T, S>, Stream> for CustTensorMut<'_, T, $rank> {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TmaStore<T, S>, ArgumentError> {
                let piece = TmaStore::<T, S>::BOX;
                let Parts { map, pointer, layout } =
                    parts::<T, $rank>(self.address as *mut u8, &self.layout, Use::Store, piece, launch.maps)?;
                // SAFETY: as for reading, mutably; the layout is row-major.
                Ok(unsafe { TmaStore::new(map, pointer, layout) })
            }
        }
    )* };
}

streamed!(2 3);

argument!(CustTensor for ReadOnly, CustTensorMut for Exclusive, CustTensorMut for Atomic);
