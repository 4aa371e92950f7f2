//! All of a GGUF file that stands in front of the elements, and whether it is true.

use std::collections::BTreeMap;

use super::cursor::{Cursor, Take};
use super::types::{GgmlType, GgufTensor};
use super::value::GgufValue;
use crate::files::error::{FileError, quoted};
use crate::files::load::{stored_bytes, to_usize};
use crate::files::source::Source;

const MAGIC: u32 = u32::from_le_bytes(*b"GGUF");

/// The key of the metadata that says of what number every tensor's offset is a multiple.
const ALIGNMENT: &str = "general.alignment";

const USUAL_ALIGNMENT: u64 = 32;

/// The most axes that `ggml` has.
const MOST_AXES: u32 = 4;

/// The fewest bytes that an entry of the metadata takes: a key's length, a type, a value.
const ENTRY_BYTES: u64 = 8 + 4 + 1;

/// The fewest bytes that the description of a tensor takes: a name's length, the number of axes, a type, an offset.
const TENSOR_BYTES: u64 = 8 + 4 + 4 + 8;

pub(super) struct Header {
    pub(super) version: u32,
    pub(super) metadata: BTreeMap<String, GgufValue>,
    /// All lie in the file, and none overlaps another.
    pub(super) tensors: Vec<GgufTensor>,
    /// Places in `tensors`.
    pub(super) names: BTreeMap<String, usize>,
}

/// A tensor as the file claims it.
struct Claim {
    /// Where the claim stands.
    at: u64,
    name: String,
    /// The first axis is the fastest.
    extents: Vec<u64>,
    element_type: GgmlType,
    /// From the beginning of the data.
    offset: u64,
}

impl Header {
    pub(super) fn read(source: &Source) -> Result<Self, FileError> {
        let mut cursor = Cursor::new(source);
        if u32::take(&mut cursor)? != MAGIC {
            return Err(source.malformed(0, None, "it does not begin with GGUF: it is no GGUF file"));
        }
        let version = u32::take(&mut cursor)?;
        if !matches!(version, 2 | 3) {
            let problem = match version.swap_bytes() {
                1..=3 => "the file is big-endian, which is not read".to_owned(),
                _ => format!("version {version} is not known; 2 and 3 are"),
            };
            return Err(source.malformed(4, None, problem));
        }
        let (tensors, entries) = (u64::take(&mut cursor)?, u64::take(&mut cursor)?);
        let metadata = metadata(&mut cursor, entries)?;
        let alignment = alignment(source, &metadata)?;
        cursor.enter("the tensors' descriptions");
        let claims = cursor.several(tensors, TENSOR_BYTES, Claim::read)?;
        let data = match cursor.at().checked_next_multiple_of(alignment) {
            // A file without tensors may end without the padding.
            Some(data) if data <= source.len() || claims.is_empty() => data,
            _ => return Err(cursor.refused("the file ends in front of the data")),
        };
        let (mut tensors, mut names) = (Vec::new(), BTreeMap::new());
        for claim in claims {
            let tensor = claim.checked(source, data, alignment, &names)?;
            names.insert(tensor.name.clone(), tensors.len());
            tensors.push(tensor);
        }
        check_apart(source, &tensors)?;
        Ok(Self { version, metadata, tensors, names })
    }
}

fn metadata(cursor: &mut Cursor<'_>, count: u64) -> Result<BTreeMap<String, GgufValue>, FileError> {
    cursor.enter("the metadata");
    let mut metadata = BTreeMap::new();
    let entries = cursor.several(count, ENTRY_BYTES, |cursor| {
        let key = String::take(cursor)?;
        let id = u32::take(cursor)?;
        let value = GgufValue::read(cursor, id)?;
        if metadata.contains_key(&key) {
            return Err(cursor.refused(format!("the key {} stands there twice", quoted(&key))));
        }
        metadata.insert(key, value);
        Ok(())
    });
    entries.map(|_| metadata)
}

fn alignment(source: &Source, metadata: &BTreeMap<String, GgufValue>) -> Result<u64, FileError> {
    match metadata.get(ALIGNMENT) {
        None => Ok(USUAL_ALIGNMENT),
        Some(&GgufValue::U32(alignment)) if alignment.is_power_of_two() => Ok(alignment.into()),
        Some(other) => {
            let problem = format!("{ALIGNMENT} is {other:?}, and is to be a power of two of 32 bits");
            Err(source.malformed(0, None, problem))
        }
    }
}

impl Claim {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, FileError> {
        let at = cursor.at();
        let name = String::take(cursor)?;
        let axes = u32::take(cursor)?;
        if axes > MOST_AXES {
            return Err(
                cursor.refused(format!("{} has {axes} axes, and {MOST_AXES} are the most", quoted(&name)))
            );
        }
        let extents = cursor.several(axes.into(), u64::LEAST_BYTES, u64::take)?;
        let id = u32::take(cursor)?;
        let Some(element_type) = GgmlType::from_id(id) else {
            return Err(
                cursor.refused(format!("{} has elements of type {id}, which is not known", quoted(&name)))
            );
        };
        Ok(Self { at, name, extents, element_type, offset: u64::take(cursor)? })
    }

    /// The tensor, if the file has its bytes.
    fn checked(
        self,
        source: &Source,
        data: u64,
        alignment: u64,
        names: &BTreeMap<String, usize>,
    ) -> Result<GgufTensor, FileError> {
        let Self { at, name, mut extents, element_type, offset } = self;
        let refuse = |problem: String| Err(source.malformed(at, Some(&name), problem));
        if names.contains_key(&name) {
            return refuse("the name stands there twice".to_owned());
        }
        extents.reverse();
        let block_elements = element_type.block_elements() as u64;
        let mut blocks = extents.clone();
        match blocks.last_mut() {
            Some(row) if row.is_multiple_of(block_elements) => *row /= block_elements,
            None if block_elements == 1 => {}
            _ => {
                let problem = format!(
                    "rows of shape {extents:?} are no whole blocks of {element_type}, which have {block_elements} elements"
                );
                return refuse(problem);
            }
        }
        let bytes = stored_bytes(&blocks, 8 * element_type.block_bytes() as u64);
        // The elements too must be countable, for they may be dequantised.
        let Some(bytes) = bytes.filter(|_| stored_bytes(&extents, 64).is_some()) else {
            return refuse(format!("the bytes of {element_type} of shape {extents:?} cannot be counted"));
        };
        if !offset.is_multiple_of(alignment) {
            return refuse(format!("its offset {offset} is no multiple of the alignment, {alignment}"));
        }
        let there = source.len().saturating_sub(data);
        if offset.checked_add(bytes).is_none_or(|end| end > there) {
            let problem = format!(
                "{element_type} of shape {extents:?} takes {bytes} bytes from byte {offset} of the data on, which has {there}"
            );
            return refuse(problem);
        }
        let shape = to_usize(&extents)?;
        Ok(GgufTensor { name, shape, element_type, offset: data + offset, bytes })
    }
}

/// Refuses tensors that share bytes.
fn check_apart(source: &Source, tensors: &[GgufTensor]) -> Result<(), FileError> {
    let mut order: Vec<&GgufTensor> = tensors.iter().filter(|tensor| tensor.bytes > 0).collect();
    order.sort_by_key(|tensor| tensor.offset);
    match order.windows(2).find(|pair| pair[0].offset + pair[0].bytes > pair[1].offset) {
        None => Ok(()),
        Some(pair) => {
            let (front, back) = (pair[0], pair[1]);
            let end = front.offset + front.bytes;
            let problem = format!("it overlaps {}, which ends at byte {end}", quoted(&front.name));
            Err(source.malformed(back.offset, Some(&back.name), problem))
        }
    }
}
