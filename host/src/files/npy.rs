//! NumPy's files of one array: a header in Python's notation, then the elements.
//!
//! The format is `numpy/lib/format.py`'s, versions 1.0, 2.0 and 3.0.

mod header;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::error::{FileError, quoted};
use super::load::Stored;
use super::source::Source;
use crate::device::Device;
use crate::tensor::{Tensor, TensorView, as_bytes};
use crate::typestr::{NumpyElement, TypeStr};
use header::Header;

/// A `.npy` file.
///
/// ```
/// use cuda_tiles_host::{Device, files::Npy};
///
/// // numpy.save("x.npy", numpy.array([[1, 2], [3, 4]], dtype="<u2"))
/// let header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2), }";
/// let file = [b"\x93NUMPY\x01\x00\x76\x00", format!("{header:<117}\n").as_bytes(), &[1, 0, 2, 0, 3, 0, 4, 0]].concat();
///
/// let npy = Npy::from_bytes("x.npy", file)?;
/// assert_eq!((npy.shape(), npy.element_type().to_string()), (&[2, 2][..], "<u2".to_owned()));
/// assert_eq!(npy.tensor::<u16, 2>(&Device::cpu())?.to_vec()?, [1, 2, 3, 4]);
/// let refused = npy.tensor::<f32, 2>(&Device::cpu()).unwrap_err();
/// assert_eq!(refused.to_string(), "x.npy: the elements are <u2, but a tensor of f32 was asked for");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Npy {
    source: Source,
    header: Header,
}

impl Npy {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Malformed`]; the latter also where the file is not as long as its header claims, and for elements of
    /// several fields.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::new(Source::open(path.as_ref())?)
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

    /// Extents of the axes, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Type of the elements.
    pub fn element_type(&self) -> TypeStr {
        self.header.element
    }

    /// The array, on a device. Elements in the other byte order or in Fortran's order are brought into ours.
    ///
    /// # Errors
    /// [`FileError::ElementType`], [`FileError::Rank`]; [`FileError::Malformed`] if an element is none; [`FileError::Io`],
    /// [`FileError::Host`].
    pub fn tensor<T: NumpyElement, const RANK: usize>(
        &self,
        device: &Device,
    ) -> Result<Tensor<T, RANK>, FileError> {
        let Header { element, is_fortran, offset, ref shape } = self.header;
        let stored = Stored { source: &self.source, tensor: None, offset, shape };
        if !element.is::<T>() {
            return Err(stored.wrong_type::<T>(element.to_string()));
        }
        let change = element.is_swapped().then_some(swap::<T> as fn(&mut [u8]));
        if !is_fortran || RANK < 2 {
            return stored.load(device, change);
        }
        // The first axis is the fastest: it is the last one of a tensor of the reversed shape.
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let reversed: Tensor<T, RANK> = Stored { shape: &reversed, ..stored }.load(&Device::cpu(), change)?;
        let turned = reversed.view().permute(std::array::from_fn(|axis| RANK - 1 - axis))?;
        Ok(Tensor::from_vec(device, turned.shape(), turned.to_vec()?)?)
    }
}

impl fmt::Debug for Npy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { element, shape, .. } = &self.header;
        write!(formatter, "Npy {} with {element} of shape {shape:?}", quoted(self.source.name()))
    }
}

/// Turns the bytes of each element around.
fn swap<T>(bytes: &mut [u8]) {
    bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
}

/// Writes a tensor or a view as a `.npy` file, which replaces one that is there. NumPy reads it by `numpy.load`.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor, files::{Npy, write_npy}};
///
/// let path = std::env::temp_dir().join(format!("cuda-tiles-write-{}.npy", std::process::id()));
/// let x = Tensor::from_slice(&Device::auto()?, [3], &[true, false, true])?;
/// write_npy(&path, &x)?;
/// assert_eq!(Npy::open(&path)?.element_type().to_string(), "|b1");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FileError::Io`], after which there may be a part of the file; [`FileError::Host`].
pub fn write_npy<'tensor, T: NumpyElement, const RANK: usize>(
    path: impl AsRef<Path>,
    tensor: impl Into<TensorView<'tensor, T, RANK>>,
) -> Result<(), FileError> {
    let (path, view) = (path.as_ref(), tensor.into());
    let elements = view.to_vec()?;
    let header = header::text(TypeStr::of::<T>(), &view.shape());
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&header)?;
        file.write_all(as_bytes(&elements))?;
        file.flush()
    };
    write().map_err(|source| FileError::Io { file: path.display().to_string(), source })
}

#[cfg(test)]
mod tests;
