//! safetensors: a length, a header in JSON, then the elements of all tensors.
//!
//! The format is described at <https://github.com/huggingface/safetensors>. Of large models there are several files and an index,
//! `model.safetensors.index.json`, that says which tensor is in which.

mod element;
mod header;
mod index;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::error::{FileError, listed, quoted};
use super::load::{Stored, to_usize};
use super::source::Source;
use crate::device::Device;
use crate::tensor::Tensor;
use header::{Entry, Header};

pub use element::SafeTensorsElement;
pub use header::SafeTensorInfo;
pub use write::SafeTensorsWriter;

/// A model's weights: one safetensors file, or several with an index.
///
/// ```
/// use cuda_tiles_host::files::{SafeTensors, SafeTensorsWriter};
/// use cuda_tiles_host::{Device, Tensor, bf16};
///
/// let device = Device::auto()?;
/// let path = std::env::temp_dir().join(format!("cuda-tiles-{}.safetensors", std::process::id()));
/// let bias = Tensor::full(&device, [4], bf16::from_f32(0.5))?;
/// SafeTensorsWriter::new().metadata("format", "pt").tensor("layer.bias", &bias).write(&path)?;
///
/// let weights = SafeTensors::open(&path)?;
/// for info in weights.tensors() {
///     println!("{}: {} {:?}", info.name, info.dtype, info.shape);
/// }
/// let bias = weights.tensor::<bf16, 1>(&device, "layer.bias")?;
/// assert_eq!(bias.to_vec()?, [bf16::from_f32(0.5); 4]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SafeTensors {
    /// What the user opened, for messages.
    name: String,
    shards: Vec<Shard>,
    /// Which shard has a tensor, by the tensor's name.
    places: BTreeMap<String, usize>,
}

struct Shard {
    source: Source,
    header: Header,
}

/// How a file's bytes are reached.
#[derive(Clone, Copy)]
enum Reach {
    Read,
    Map,
}

impl Reach {
    /// # Safety
    /// Nobody changes a mapped file as long as the result exists.
    unsafe fn source(self, path: &Path) -> Result<Source, FileError> {
        match self {
            Self::Read => Source::open(path),
            // SAFETY: passed on to the caller.
            Self::Map => unsafe { Source::map(path) },
        }
    }
}

impl SafeTensors {
    /// Opens a file and reads its header; of an index, a path that ends with `.json`, all files that it names, which are beside it.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Malformed`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        // SAFETY: nothing is mapped.
        unsafe { Self::opened(path.as_ref(), Reach::Read) }
    }

    /// Maps a file into memory, or all files of an index, as [`SafeTensors::open`] opens them.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Malformed`].
    ///
    /// # Safety
    /// Nobody, in this process or another, changes or truncates the files as long as the result exists.
    pub unsafe fn open_mapped(path: impl AsRef<Path>) -> Result<Self, FileError> {
        // SAFETY: passed on to the caller.
        unsafe { Self::opened(path.as_ref(), Reach::Map) }
    }

    /// A file that is in memory; `name` is for messages.
    ///
    /// # Errors
    /// [`FileError::Malformed`].
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, FileError> {
        Self::of_shard(Shard::new(Source::from_bytes(name.into(), bytes))?)
    }

    /// # Safety
    /// As [`SafeTensors::open_mapped`], if the files are mapped.
    unsafe fn opened(path: &Path, reach: Reach) -> Result<Self, FileError> {
        if path.extension().is_none_or(|ending| ending != "json") {
            // SAFETY: passed on to the caller.
            return Self::of_shard(Shard::new(unsafe { reach.source(path)? })?);
        }
        let source = Source::open(path)?;
        let index = index::read(&source)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut shards = Vec::new();
        for file in &index.files {
            // SAFETY: passed on to the caller.
            shards.push(Shard::new(unsafe { reach.source(&folder.join(file))? })?);
        }
        for (tensor, &shard) in &index.places {
            if !shards[shard].header.entries.contains_key(tensor) {
                let problem =
                    format!("the index has it in `{}`, which has no such tensor", index.files[shard]);
                return Err(source.malformed(0, Some(tensor), problem));
            }
        }
        Ok(Self { name: source.name().to_owned(), shards, places: index.places })
    }

    fn of_shard(shard: Shard) -> Result<Self, FileError> {
        let places = shard.header.entries.keys().map(|name| (name.clone(), 0)).collect();
        Ok(Self { name: shard.source.name().to_owned(), shards: vec![shard], places })
    }

    /// What is said of each tensor, by name.
    pub fn tensors(&self) -> impl Iterator<Item = SafeTensorInfo> + '_ {
        self.places.iter().filter_map(|(name, &shard)| {
            let entry = self.shards[shard].header.entries.get(name)?;
            Some(entry.info(name))
        })
    }

    /// What is said of a tensor; `None` if there is none of this name.
    pub fn info(&self, name: &str) -> Option<SafeTensorInfo> {
        let (_, entry) = self.find(name).ok()?;
        Some(entry.info(name))
    }

    /// The texts that the file has besides; those of the first file, if there are several.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.shards.first().map_or(&NONE, |shard| &shard.header.metadata)
    }

    /// A tensor, on a device. Of `F4` the last axis has half as many elements, each an [`f4e2m1x2`](crate::f4e2m1x2).
    ///
    /// # Errors
    /// [`FileError::NoTensor`], [`FileError::ElementType`], [`FileError::Rank`]; [`FileError::Malformed`] if an element is none;
    /// [`FileError::Io`], [`FileError::Host`].
    pub fn tensor<T: SafeTensorsElement, const RANK: usize>(
        &self,
        device: &Device,
        name: &str,
    ) -> Result<Tensor<T, RANK>, FileError> {
        let (Shard { source, .. }, entry) = self.find(name)?;
        let mut shape = entry.shape.clone();
        if entry.dtype == T::DTYPE && T::NUMBERS > 1 {
            match shape.last_mut() {
                Some(last) if last.is_multiple_of(T::NUMBERS) => *last /= T::NUMBERS,
                _ => {
                    let problem = format!("its last axis cannot be divided into {}s", T::NAME);
                    return Err(source.malformed(entry.start, Some(name), problem));
                }
            }
        }
        let shape = to_usize(&shape)?;
        let stored = Stored { source, tensor: Some(name), offset: entry.start, shape: &shape };
        match entry.dtype == T::DTYPE {
            true => stored.load(device, None),
            false => Err(stored.wrong_type::<T>(entry.dtype.clone())),
        }
    }

    /// The bytes of a tensor, as they lie in the file: of mapped files without a copy.
    ///
    /// # Errors
    /// [`FileError::NoTensor`], [`FileError::Io`], [`FileError::Host`].
    pub fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, FileError> {
        let (shard, entry) = self.find(name)?;
        shard.source.bytes(entry.start..entry.end)
    }

    fn find(&self, name: &str) -> Result<(&Shard, &Entry), FileError> {
        let shard = self.places.get(name).map(|&shard| &self.shards[shard]);
        let found = shard.and_then(|shard| Some((shard, shard.header.entries.get(name)?)));
        found.ok_or_else(|| {
            let names = listed(self.places.keys().map(String::as_str));
            FileError::NoTensor { file: self.name.clone(), tensor: name.to_owned(), names }
        })
    }
}

impl fmt::Debug for SafeTensors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SafeTensors {} with {} tensors", quoted(&self.name), self.places.len())
    }
}

impl Shard {
    fn new(source: Source) -> Result<Self, FileError> {
        let header = Header::read(&source)?;
        Ok(Self { source, header })
    }
}

#[cfg(test)]
mod tests;
