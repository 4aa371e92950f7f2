//! NumPy's archives of arrays: a ZIP file of `.npy` files, stored or deflated.

use std::fmt;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::error::{FileError, listed, quoted};
use super::npy::Npy;
use super::source::{Source, SourceReader};

/// A `.npz` file, of `numpy.savez` or `numpy.savez_compressed`.
///
/// ```
/// use cuda_tiles_host::{Device, files::Npz};
///
/// fn weights(path: &str) -> Result<(), Box<dyn std::error::Error>> {
///     let mut archive = Npz::open(path)?;
///     println!("{:?}", archive.names().collect::<Vec<_>>());
///     let weights = archive.array("weights")?.tensor::<f32, 2>(&Device::auto()?)?;
///     println!("{weights:?}");
///     Ok(())
/// }
/// assert!(weights("nowhere.npz").unwrap_err().to_string().starts_with("nowhere.npz: "));
/// ```
pub struct Npz {
    name: String,
    /// The entries' names, which differ.
    entries: Vec<String>,
    archive: ZipArchive<BufReader<SourceReader>>,
}

/// What the file of an array has behind the array's name.
const ENDING: &str = ".npy";

/// Room for what is unpacked is made as it comes, from so many bytes on: an archive may claim any size.
const FIRST_ROOM: u64 = 1 << 20;

impl Npz {
    /// Opens an archive and reads its directory.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Malformed`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::new(Source::open(path.as_ref())?)
    }

    /// An archive that is in memory; `name` is for messages.
    ///
    /// # Errors
    /// [`FileError::Malformed`].
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, FileError> {
        Self::new(Source::from_bytes(name.into(), bytes))
    }

    fn new(source: Source) -> Result<Self, FileError> {
        let name = source.name().to_owned();
        let read = || {
            let mut archive = ZipArchive::new(BufReader::new(SourceReader::new(source)))?;
            let entries =
                archive.file_names().map(|name| Ok(name?.into_owned())).collect::<Result<_, ZipError>>()?;
            let is_ambiguous = archive.has_duplicate_names() || archive.has_overlapping_files()?;
            Ok((archive, entries, is_ambiguous))
        };
        match read() {
            Ok((archive, entries, false)) => Ok(Self { name, entries, archive }),
            Ok((.., true)) => {
                let problem = "the ZIP archive has two files of one name, or in the same bytes".to_owned();
                Err(FileError::Malformed { file: name, offset: 0, tensor: None, problem })
            }
            Err(error) => Err(refused(name, 0, None, error)),
        }
    }

    /// The names of the arrays, in the archive's order. Other files are left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|name| name.strip_suffix(ENDING))
    }

    /// Unpacks an array. Its shape and type are known then, and [`Npy::tensor`] makes a tensor of it.
    ///
    /// # Errors
    /// [`FileError::NoTensor`]; [`FileError::Malformed`] if the archive is damaged, packed in another way or encrypted, or the
    /// array's size, checksum or header are not what they claim; [`FileError::Io`].
    pub fn array(&mut self, name: &str) -> Result<Npy, FileError> {
        let Some(index) = self.entries.iter().position(|entry| entry.strip_suffix(ENDING) == Some(name))
        else {
            let names = listed(self.names());
            return Err(FileError::NoTensor { file: self.name.clone(), tensor: name.to_owned(), names });
        };
        let offset = self.archive.by_index_raw(index).map_or(0, |entry| entry.header_start());
        let mut entry = match self.archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => return Err(refused(self.name.clone(), offset, Some(name), error)),
        };
        let claimed = entry.size();
        let mut bytes = Vec::with_capacity(claimed.min(FIRST_ROOM) as usize);
        // One byte more tells a file that is longer than it claims.
        let unpacked = entry.by_ref().take(claimed.saturating_add(1)).read_to_end(&mut bytes);
        let problem = match unpacked {
            Ok(_) if bytes.len() as u64 == claimed => {
                return Npy::from_bytes(format!("{}, array {}", self.name, quoted(name)), bytes);
            }
            Ok(_) => format!("the array claims {claimed} bytes, and {} are unpacked", bytes.len()),
            Err(error) => format!("the array cannot be unpacked: {error}"),
        };
        let (file, tensor) = (self.name.clone(), Some(name.to_owned()));
        Err(FileError::Malformed { file, offset, tensor, problem })
    }
}

impl fmt::Debug for Npz {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Npz {} with {} arrays", quoted(&self.name), self.names().count())
    }
}

/// The error of an archive, or of the entry at this offset.
fn refused(file: String, offset: u64, tensor: Option<&str>, error: ZipError) -> FileError {
    match error {
        ZipError::Io(source) if source.raw_os_error().is_some() => FileError::Io { file, source },
        other => {
            let problem = format!("the ZIP archive cannot be read: {other}");
            FileError::Malformed { file, offset, tensor: tensor.map(str::to_owned), problem }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use std::io::{Cursor, Write};
    use zip::CompressionMethod;
    use zip::write::{SimpleFileOptions, ZipWriter};

    /// An archive of two arrays, as `numpy.savez` (stored) or `numpy.savez_compressed` writes it.
    fn archive(method: CompressionMethod) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        for (name, shape, count) in [("a.npy", "(2, 3)", 6), ("folder/b.npy", "(300,)", 300)] {
            zip.start_file(name, options).unwrap();
            let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
            zip.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
            zip.write_all(format!("{header:<117}\n").as_bytes()).unwrap();
            zip.write_all(&vec![7; count]).unwrap();
        }
        zip.start_file("note.txt", options).unwrap();
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn arrays_are_found_by_name() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let mut npz = Npz::from_bytes("x.npz", archive(method)).unwrap();
            assert_eq!(npz.names().collect::<Vec<_>>(), ["a", "folder/b"]);
            let a = npz.array("a").unwrap().tensor::<u8, 2>(&Device::cpu()).unwrap();
            assert_eq!((a.shape(), a.to_vec().unwrap()), ([2, 3], vec![7; 6]));
            assert_eq!(npz.array("folder/b").unwrap().shape(), [300]);
            let message = npz.array("b").err().unwrap().to_string();
            assert_eq!(message, "x.npz has no tensor `b`: it has `a`, `folder/b`");
        }
    }

    #[test]
    fn damage_is_found() {
        let whole = archive(CompressionMethod::Stored);
        let data = whole.windows(6).position(|bytes| bytes == [7; 6]).unwrap();
        let mut damaged = whole.clone();
        damaged[data] = 8;
        let message = Npz::from_bytes("x.npz", damaged).unwrap().array("a").err().unwrap().to_string();
        assert!(
            message.starts_with("x.npz, at byte 0, tensor `a`: the array cannot be unpacked"),
            "{message}"
        );
        let message = Npz::from_bytes("x.npz", whole[..whole.len() - 30].to_vec()).err().unwrap().to_string();
        assert!(message.starts_with("x.npz, at byte 0: the ZIP archive cannot be read"), "{message}");
    }
}
