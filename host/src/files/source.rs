//! The bytes of a file, wherever they are, and nothing beyond its end.

use std::borrow::Cow;
use std::fs::File;
#[cfg(feature = "npz")]
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::error::FileError;
use crate::tensor::host_vec;

/// A file of a length that was found when it was opened.
pub(super) struct Source {
    name: String,
    bytes: Bytes,
    len: u64,
}

enum Bytes {
    File(Mutex<File>),
    #[cfg(any(feature = "safetensors", feature = "gguf"))]
    Mapped(memmap2::Mmap),
    Memory(Vec<u8>),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let (file, name, len) = open(path)?;
        Ok(Self { name, bytes: Bytes::File(Mutex::new(file)), len })
    }

    /// # Safety
    /// Nobody changes the file as long as the result exists.
    #[cfg(any(feature = "safetensors", feature = "gguf"))]
    pub(super) unsafe fn map(path: &Path) -> Result<Self, FileError> {
        let (file, name, _) = open(path)?;
        // SAFETY: passed on to the caller.
        match unsafe { memmap2::Mmap::map(&file) } {
            Ok(map) => Ok(Self { name, len: map.len() as u64, bytes: Bytes::Mapped(map) }),
            Err(source) => Err(FileError::Io { file: name, source }),
        }
    }

    pub(super) fn from_bytes(name: String, bytes: Vec<u8>) -> Self {
        Self { name, len: bytes.len() as u64, bytes: Bytes::Memory(bytes) }
    }

    /// The file's name, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes of a range, where they are in memory.
    pub(super) fn slice(&self, range: Range<u64>) -> Option<&[u8]> {
        let bytes: &[u8] = match &self.bytes {
            Bytes::File(_) => return None,
            #[cfg(any(feature = "safetensors", feature = "gguf"))]
            Bytes::Mapped(map) => map,
            Bytes::Memory(bytes) => bytes,
        };
        bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }

    /// Reads as many bytes as the buffer has.
    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        let end = offset.checked_add(buffer.len() as u64).filter(|&end| end <= self.len);
        let Some(end) = end else {
            let problem =
                format!("{} bytes are to be read, and the file ends at byte {}", buffer.len(), self.len);
            return Err(self.malformed(offset, None, problem));
        };
        if let Some(bytes) = self.slice(offset..end) {
            buffer.copy_from_slice(bytes);
            return Ok(());
        }
        let Bytes::File(file) = &self.bytes else { return Ok(()) };
        // Whoever holds the file seeks first: a position that was left by a panic does no harm.
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(buffer));
        read.map_err(|source| FileError::Io { file: self.name.clone(), source })
    }

    /// The bytes of a range, which are read if they are not in memory.
    pub(super) fn bytes(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>, FileError> {
        if let Some(bytes) = self.slice(range.clone()) {
            return Ok(Cow::Borrowed(bytes));
        }
        let count = range.end.saturating_sub(range.start);
        // More than the file has is not allocated.
        let count = if range.end <= self.len { count as usize } else { 0 };
        let mut bytes = host_vec(count)?;
        bytes.resize(count, 0);
        self.read_at(range.start, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// An error at a byte of this file.
    pub(super) fn malformed(
        &self,
        offset: u64,
        tensor: Option<&str>,
        problem: impl Into<String>,
    ) -> FileError {
        let tensor = tensor.map(str::to_owned);
        FileError::Malformed { file: self.name.clone(), offset, tensor, problem: problem.into() }
    }
}

fn open(path: &Path) -> Result<(File, String, u64), FileError> {
    let name = path.display().to_string();
    let opened = File::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    match opened {
        Ok((file, metadata)) if metadata.is_file() => Ok((file, name, metadata.len())),
        Ok(_) => Err(FileError::Malformed {
            file: name,
            offset: 0,
            tensor: None,
            problem: "it is a folder or a device, and no file".to_owned(),
        }),
        Err(source) => Err(FileError::Io { file: name, source }),
    }
}

/// A place in a file, for readers that go from place to place.
#[cfg(feature = "npz")]
pub(super) struct SourceReader {
    source: Source,
    at: u64,
}

#[cfg(feature = "npz")]
impl SourceReader {
    pub(super) fn new(source: Source) -> Self {
        Self { source, at: 0 }
    }
}

#[cfg(feature = "npz")]
impl Read for SourceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.len().saturating_sub(self.at);
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        self.source.read_at(self.at.min(self.source.len()), &mut buffer[..count]).map_err(
            |error| match error {
                FileError::Io { source, .. } => source,
                other => io::Error::other(other),
            },
        )?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(feature = "npz")]
impl Seek for SourceReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(distance) => self.source.len().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.at.checked_add_signed(distance),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
