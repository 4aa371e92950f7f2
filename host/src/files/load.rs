//! From bytes of a file to a tensor on a device.

use std::any::TypeId;

use cuda_tiles::element::Element;

use super::error::FileError;
use super::source::Source;
use crate::device::Device;
use crate::error::Error;
use crate::size::byte_count;
use crate::tensor::{Layout, Storage, Tensor};

/// Files are read in pieces of at most so many bytes, which every element's size divides.
const PIECE: usize = 4 << 20;

/// Elements that lie in a file one after the other. Who makes it has checked that all of them do.
pub(super) struct Stored<'file> {
    pub(super) source: &'file Source,
    /// The tensor's name, where the file has several.
    pub(super) tensor: Option<&'file str>,
    /// The first byte.
    pub(super) offset: u64,
    /// Extents of the axes in elements, the last axis fastest.
    pub(super) shape: &'file [usize],
}

impl Stored<'_> {
    /// The shape, if it has this rank.
    pub(super) fn shape<const RANK: usize>(&self) -> Result<[usize; RANK], FileError> {
        <[usize; RANK]>::try_from(self.shape).map_err(|_| FileError::Rank {
            file: self.source.name().to_owned(),
            tensor: self.tensor.map(str::to_owned),
            shape: crate::error::Dimensions(self.shape.to_vec()),
            wanted: RANK,
        })
    }

    /// The error of a tensor that was asked for as another type.
    pub(super) fn wrong_type<T: Element>(&self, found: String) -> FileError {
        FileError::ElementType {
            file: self.source.name().to_owned(),
            tensor: self.tensor.map(str::to_owned),
            found,
            wanted: T::NAME,
        }
    }

    /// The tensor, on a device. `change` sees each piece of the bytes before they become elements, or there is nothing to change.
    pub(super) fn load<T: Element, const RANK: usize>(
        &self,
        device: &Device,
        change: Option<fn(&mut [u8])>,
    ) -> Result<Tensor<T, RANK>, FileError> {
        let shape = self.shape::<RANK>()?;
        let bytes = byte_count::<T, RANK>(shape)?;
        let end = self.offset + bytes as u64;
        let storage = match (self.source.slice(self.offset..end), change) {
            (Some(slice), None) => {
                self.check::<T>(self.offset, slice)?;
                Storage::copied(device, slice)?
            }
            _ => self.read_pieces::<T>(device, bytes, change)?,
        };
        Ok(Tensor::in_storage(storage, Layout::row_major(shape)))
    }

    fn read_pieces<T: Element>(
        &self,
        device: &Device,
        bytes: usize,
        change: Option<fn(&mut [u8])>,
    ) -> Result<Storage, FileError> {
        let mut storage = Storage::filled(device, bytes, 0)?;
        let mut piece = vec![0; bytes.min(PIECE)];
        for start in (0..bytes).step_by(PIECE) {
            let offset = self.offset + start as u64;
            let piece = &mut piece[..(bytes - start).min(PIECE)];
            self.source.read_at(offset, piece)?;
            if let Some(change) = change {
                change(piece);
            }
            self.check::<T>(offset, piece)?;
            storage.write(start, piece)?;
        }
        Ok(storage)
    }

    /// Refuses what is no `T`: a bool other than 0 and 1. Of the other types every bit pattern is an element.
    fn check<T: Element>(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        if TypeId::of::<T>() != TypeId::of::<bool>() {
            return Ok(());
        }
        match bytes.iter().position(|&byte| byte > 1) {
            None => Ok(()),
            Some(at) => {
                let problem = format!("a bool is 0 or 1, and here is {}", bytes[at]);
                Err(self.source.malformed(offset + at as u64, self.tensor, problem))
            }
        }
    }
}

/// The bytes of a tensor of this shape, with `bits` an element; `None` if they cannot be counted, or are no whole number. Extents of 0 are
/// counted as 1 for the limit, as for every tensor.
pub(super) fn stored_bytes(shape: &[u64], bits: u64) -> Option<u64> {
    let times = |bits: u128, &extent: &u64| bits.checked_mul(extent.max(1).into());
    let at_most = shape.iter().try_fold(u128::from(bits), times)?;
    let fits = at_most.is_multiple_of(8) && at_most / 8 <= isize::MAX as u128;
    fits.then(|| if shape.contains(&0) { 0 } else { (at_most / 8) as u64 })
}

/// The shape as this machine counts.
pub(super) fn to_usize(shape: &[u64]) -> Result<Vec<usize>, Error> {
    let too_large = || Error::TooLarge {
        shape: crate::error::Dimensions(shape.iter().map(|&extent| extent as usize).collect()),
        element_bytes: 1,
    };
    shape.iter().map(|&extent| usize::try_from(extent).map_err(|_| too_large())).collect()
}
