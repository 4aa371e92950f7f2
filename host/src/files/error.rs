//! What can be wrong with a file, and where.

use std::io;

use crate::error::{Dimensions, Error};

/// Why a file was not read, or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is truncated, damaged, of another format, or of a version that is not known.
    #[error("{file}, at byte {offset}{}: {problem}", of_tensor(.tensor.as_deref()))]
    Malformed {
        /// The file.
        file: String,
        /// The byte that the problem is at, from the beginning of the file.
        offset: u64,
        /// The tensor that it has to do with.
        tensor: Option<String>,
        /// What is claimed and what is there.
        problem: String,
    },
    /// The file has no tensor of this name.
    #[error("{file} has no tensor `{tensor}`: it has {names}")]
    NoTensor {
        /// The file.
        file: String,
        /// The name asked for.
        tensor: String,
        /// Names that it has.
        names: String,
    },
    /// The elements have another type than was asked for, or one that this library does not have.
    #[error("{file}{}: the elements are {found}, but a tensor of {wanted} was asked for", of_tensor(.tensor.as_deref()))]
    ElementType {
        /// The file.
        file: String,
        /// The tensor, where the file has several.
        tensor: Option<String>,
        /// The type in the file, in the format's words.
        found: String,
        /// The element type that was asked for.
        wanted: &'static str,
    },
    /// A tensor has another number of axes than was asked for.
    #[error("{file}{}: the shape is {shape}, but a tensor of rank {wanted} was asked for", of_tensor(.tensor.as_deref()))]
    Rank {
        /// The file.
        file: String,
        /// The tensor, where the file has several.
        tensor: Option<String>,
        /// The shape in the file.
        shape: Dimensions,
        /// The rank that was asked for.
        wanted: usize,
    },
    /// The device has no room for the tensor, or failed.
    #[error(transparent)]
    Host(#[from] Error),
}

fn of_tensor(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(", tensor {}", quoted(name)))
}

/// The longest name that a message repeats in full, in characters.
const LONGEST: usize = 100;

/// A name of a file that nobody vouches for, as a message shows it.
pub(super) fn quoted(name: &str) -> String {
    let shown: String = name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    let more = if name.chars().nth(LONGEST).is_some() { "..." } else { "" };
    format!("`{shown}{more}`")
}

/// Names that a file has, for the message about one that it has not.
#[cfg(any(feature = "npz", feature = "safetensors", feature = "gguf"))]
pub(super) fn listed<'name>(names: impl Iterator<Item = &'name str>) -> String {
    const MOST: usize = 8;
    let mut names = names.peekable();
    let shown: Vec<String> = names.by_ref().take(MOST).map(quoted).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => "none".to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
