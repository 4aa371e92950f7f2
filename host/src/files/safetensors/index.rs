//! The index of a model in several files: `model.safetensors.index.json`.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::header::{Object, json};
use crate::files::error::{FileError, quoted};
use crate::files::source::Source;

/// The longest index that is read, in bytes: that of a large model has a few million.
const LONGEST: u64 = 100_000_000;

#[derive(Deserialize)]
struct Claim {
    #[serde(rename = "metadata")]
    _metadata: Option<IgnoredAny>,
    weight_map: Object<String>,
}

/// Which tensor is in which file.
pub(super) struct Index {
    pub(super) files: Vec<String>,
    /// The number of a tensor's file, by the tensor's name.
    pub(super) places: BTreeMap<String, usize>,
}

pub(super) fn read(source: &Source) -> Result<Index, FileError> {
    if source.len() > LONGEST {
        let problem = format!("the index has {} bytes, and at most {LONGEST} are read", source.len());
        return Err(source.malformed(0, None, problem));
    }
    let text = source.bytes(0..source.len())?;
    let Claim { weight_map: Object(weights), .. } = json(source, 0, &text)?;
    let mut numbers = BTreeMap::new();
    let mut index = Index { files: Vec::new(), places: BTreeMap::new() };
    for (tensor, file) in weights {
        // A file elsewhere is none of the model's.
        let mut parts = Path::new(&file).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            let problem = format!("the index has it in {}, which is no file beside it", quoted(&file));
            return Err(source.malformed(0, Some(&tensor), problem));
        }
        let number = *numbers.entry(file).or_insert_with_key(|file| {
            index.files.push(file.clone());
            index.files.len() - 1
        });
        index.places.insert(tensor, number);
    }
    Ok(index)
}
