//! GGUF, the files of `llama.cpp`: metadata, descriptions of tensors, then their elements, many of them quantised in blocks.
//!
//! The format is `docs/gguf.md` of <https://github.com/ggml-org/ggml>, versions 2 and 3; the blocks are those of its
//! `ggml-common.h`.

mod cursor;
mod header;
mod quants;
mod types;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use cuda_tiles::element::{Element, bf16, f16};

use super::error::{FileError, listed, quoted};
use super::load::Stored;
use super::source::Source;
use crate::device::Device;
use crate::sealed::Sealed;
use crate::tensor::{Tensor, host_vec};
use header::Header;

pub use types::{GgmlType, GgufElement, GgufTensor};
pub use value::{GgufArray, GgufValue};

/// A GGUF file.
///
/// ```
/// use cuda_tiles_host::{Device, f16, files::Gguf};
///
/// fn read(path: &str) -> Result<(), Box<dyn std::error::Error>> {
///     let device = Device::auto()?;
///     let model = Gguf::open(path)?;
///     if let Some(name) = model.get("general.name").and_then(|value| value.as_str()) {
///         println!("{name}");
///     }
///     for tensor in model.tensors() {
///         println!("{}: {} {:?}", tensor.name, tensor.element_type, tensor.shape);
///     }
///     let norm = model.tensor::<f32, 1>(&device, "output_norm.weight")?;
///     // Q4_1 or Q8_0 or F32: whatever it is, as f16.
///     let embedding = model.dequantized::<f16, 2>(&device, "token_embd.weight")?;
///     println!("{norm:?} {embedding:?}");
///     Ok(())
/// }
/// assert!(read("nowhere.gguf").unwrap_err().to_string().starts_with("nowhere.gguf: "));
/// ```
pub struct Gguf {
    source: Source,
    header: Header,
}

/// A type that blocks are dequantised to.
pub trait Dequantized: Element + Sealed {
    /// The nearest number of this type.
    fn from_f32(value: f32) -> Self;
}

impl Dequantized for f32 {
    fn from_f32(value: f32) -> Self {
        value
    }
}

impl Dequantized for f16 {
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

impl Dequantized for bf16 {
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

impl Gguf {
    /// Opens a file and reads all but the elements.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Malformed`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::new(Source::open(path.as_ref())?)
    }

    /// Maps a file into memory, as [`Gguf::open`] opens it.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Malformed`].
    ///
    /// # Safety
    /// Nobody, in this process or another, changes or truncates the file as long as the result exists.
    pub unsafe fn open_mapped(path: impl AsRef<Path>) -> Result<Self, FileError> {
        // SAFETY: passed on to the caller.
        Self::new(unsafe { Source::map(path.as_ref())? })
    }

    /// A file that is in memory; `name` is for messages.
    ///
    /// # Errors
    /// [`FileError::Malformed`].
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, FileError> {
        Self::new(Source::from_bytes(name.into(), bytes))
    }

    fn new(source: Source) -> Result<Self, FileError> {
        let header = Header::read(&source)?;
        Ok(Self { source, header })
    }

    /// The format's version: 2 or 3, which differ in nothing else for little-endian files.
    pub fn version(&self) -> u32 {
        self.header.version
    }

    /// The values of the metadata, by key.
    pub fn metadata(&self) -> &BTreeMap<String, GgufValue> {
        &self.header.metadata
    }

    /// A value of the metadata.
    pub fn get(&self, key: &str) -> Option<&GgufValue> {
        self.header.metadata.get(key)
    }

    /// What is said of each tensor, in the file's order.
    pub fn tensors(&self) -> &[GgufTensor] {
        &self.header.tensors
    }

    /// What is said of a tensor; `None` if there is none of this name.
    pub fn info(&self, name: &str) -> Option<&GgufTensor> {
        self.header.names.get(name).map(|&place| &self.header.tensors[place])
    }

    /// A tensor whose elements are not in blocks, on a device.
    ///
    /// # Errors
    /// [`FileError::NoTensor`], [`FileError::ElementType`], [`FileError::Rank`], [`FileError::Io`], [`FileError::Host`].
    pub fn tensor<T: GgufElement, const RANK: usize>(
        &self,
        device: &Device,
        name: &str,
    ) -> Result<Tensor<T, RANK>, FileError> {
        let (info, stored) = self.stored(name)?;
        match info.element_type == T::TYPE {
            true => stored.load(device, None),
            false => Err(stored.wrong_type::<T>(info.element_type.to_string())),
        }
    }

    /// The bytes of a tensor as they lie in the file, blocks included: of mapped files without a copy.
    /// [`GgmlType::block_elements`] and [`GgmlType::block_bytes`] say what a block is.
    ///
    /// # Errors
    /// [`FileError::NoTensor`], [`FileError::Io`], [`FileError::Host`].
    pub fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, FileError> {
        let info = self.find(name)?;
        self.source.bytes(info.offset..info.offset + info.bytes)
    }

    /// A tensor as numbers, on a device: of F32, F16, BF16, or of blocks of Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K or Q6_K, which the
    /// host dequantises. It computes in `f32`, as `ggml` does, and rounds to `T` at the end.
    ///
    /// # Errors
    /// [`FileError::NoTensor`], [`FileError::Rank`]; [`FileError::ElementType`] for other types; [`FileError::Io`],
    /// [`FileError::Host`].
    #[doc(alias("dequantize"))]
    pub fn dequantized<T: Dequantized, const RANK: usize>(
        &self,
        device: &Device,
        name: &str,
    ) -> Result<Tensor<T, RANK>, FileError> {
        let (info, stored) = self.stored(name)?;
        let shape = stored.shape::<RANK>()?;
        let Some(dequantize) = quants::dequantizer(info.element_type) else {
            return Err(stored.wrong_type::<T>(info.element_type.to_string()));
        };
        let mut values: Vec<T> = host_vec(info.shape.iter().product())?;
        let bytes = self.bytes(name)?;
        for block in bytes.chunks_exact(info.element_type.block_bytes()) {
            dequantize(block, &mut |value| values.push(T::from_f32(value)));
        }
        Ok(Tensor::from_vec(device, shape, values)?)
    }

    fn stored<'file>(&'file self, name: &'file str) -> Result<(&'file GgufTensor, Stored<'file>), FileError> {
        let info = self.find(name)?;
        let stored =
            Stored { source: &self.source, tensor: Some(name), offset: info.offset, shape: &info.shape };
        Ok((info, stored))
    }

    fn find(&self, name: &str) -> Result<&GgufTensor, FileError> {
        self.info(name).ok_or_else(|| FileError::NoTensor {
            file: self.source.name().to_owned(),
            tensor: name.to_owned(),
            names: listed(self.header.tensors.iter().map(|tensor| &*tensor.name)),
        })
    }
}

impl fmt::Debug for Gguf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Gguf {} with {} tensors", quoted(self.source.name()), self.header.tensors.len())
    }
}

#[cfg(test)]
mod tests;
