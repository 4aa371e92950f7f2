//! The header of a safetensors file, and whether it is true.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Place;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};

use super::element::bits;
use crate::files::error::{FileError, quoted};
use crate::files::load::stored_bytes;
use crate::files::source::Source;

/// Bytes in front of the header, which are its length.
const LENGTH_BYTES: u64 = 8;

/// The longest header that is read, in bytes, as in the format's own library.
const LONGEST: u64 = 100_000_000;

/// The key that is no tensor's name.
const METADATA: &str = "__metadata__";

pub(super) struct Header {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) entries: BTreeMap<String, Entry>,
}

/// What a file says of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeTensorInfo {
    /// Its name.
    pub name: String,
    /// Type of its elements, in the format's words: `F32`, `BF16`.
    pub dtype: String,
    /// Extents of its axes, in elements; of `F4` in single numbers, of which two are one
    /// [`f4e2m1x2`](crate::f4e2m1x2).
    pub shape: Vec<u64>,
    /// Bytes of its elements.
    pub bytes: u64,
}

/// A tensor whose bytes are in the file, and are as many as its type and shape need.
pub(super) struct Entry {
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    /// The first byte, from the beginning of the file.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Entry {
    pub(super) fn info(&self, name: &str) -> SafeTensorInfo {
        SafeTensorInfo {
            name: name.to_owned(),
            dtype: self.dtype.clone(),
            shape: self.shape.clone(),
            bytes: self.end - self.start,
        }
    }
}

/// A tensor as the header claims it.
#[derive(Deserialize)]
struct Claim {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// What stands behind a key of the header.
enum Value {
    Metadata(BTreeMap<String, String>),
    Tensor(Claim),
}

impl Header {
    pub(super) fn read(source: &Source) -> Result<Self, FileError> {
        let refuse = |offset, problem: String| Err(source.malformed(offset, None, problem));
        let mut length = [0; LENGTH_BYTES as usize];
        if source.len() < LENGTH_BYTES {
            return refuse(
                source.len(),
                format!("the file ends at byte {}, within the header's length", source.len()),
            );
        }
        source.read_at(0, &mut length)?;
        let length = u64::from_le_bytes(length);
        let there = source.len() - LENGTH_BYTES;
        if length > there || length > LONGEST {
            return refuse(
                0,
                format!("the header claims {length} bytes, and {there} follow (at most {LONGEST} are read)"),
            );
        }
        let data = LENGTH_BYTES + length;
        let text = source.bytes(LENGTH_BYTES..data)?;
        let Object::<Value>(values) = json(source, LENGTH_BYTES, &text)?;
        let (mut metadata, mut claims) = (BTreeMap::new(), Vec::new());
        for (name, value) in values {
            match value {
                Value::Metadata(texts) => metadata = texts,
                Value::Tensor(claim) => claims.push((name, claim)),
            }
        }
        // Whatever has no bytes comes in front of what begins there.
        claims.sort_by_key(|(_, claim)| claim.data_offsets);
        let mut behind = 0;
        let mut entries = BTreeMap::new();
        for (name, claim) in claims {
            let entry = claim.checked(source, data, behind, &name)?;
            behind = entry.end - data;
            entries.insert(name, entry);
        }
        if data + behind != source.len() {
            let left = source.len() - data - behind;
            return refuse(data + behind, format!("{left} bytes belong to no tensor"));
        }
        Ok(Self { metadata, entries })
    }
}

impl Claim {
    /// The tensor, if its bytes begin where those of the one in front of it end, and are as many as it needs.
    fn checked(self, source: &Source, data: u64, behind: u64, name: &str) -> Result<Entry, FileError> {
        let Self { dtype, shape, data_offsets: (start, end) } = self;
        let refuse = |problem: String| Err(source.malformed(data + behind, Some(name), problem));
        let there = source.len() - data;
        if start > end || end > there {
            return refuse(format!("it claims bytes {start}..{end} of the data, which has {there}"));
        }
        if start != behind {
            let wrong = if start < behind {
                "overlaps the one in front of it"
            } else {
                "leaves bytes out in front of it"
            };
            return refuse(format!(
                "it begins at byte {start} of the data and {wrong}, which ends at byte {behind}"
            ));
        }
        let Some(bits) = bits(&dtype) else {
            return refuse(format!("it has elements of the type {}, which is not known", quoted(&dtype)));
        };
        match stored_bytes(&shape, bits) {
            Some(bytes) if bytes == end - start => {
                Ok(Entry { dtype, shape, start: data + start, end: data + end })
            }
            Some(bytes) => refuse(format!(
                "{dtype} of shape {shape:?} takes {bytes} bytes, and it claims {}",
                end - start
            )),
            None => refuse(format!(
                "the bytes of {dtype} of shape {shape:?} cannot be counted, or are no whole number"
            )),
        }
    }
}

/// Reads JSON that stands at an offset of a file.
pub(super) fn json<T: DeserializeOwned>(source: &Source, offset: u64, text: &[u8]) -> Result<T, FileError> {
    if text.first() != Some(&b'{') {
        return Err(source.malformed(offset, None, "JSON is expected, which begins with `{`"));
    }
    serde_json::from_slice(text).map_err(|error| {
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
        let at = offset + (before + error.column().saturating_sub(1)) as u64;
        source.malformed(at, None, format!("the JSON is wrong: {error}"))
    })
}

/// A value of a JSON object, whose type may depend on its key.
pub(super) trait Valued: Sized {
    fn read<'de, M: MapAccess<'de>>(key: &str, map: &mut M) -> Result<Self, M::Error>;
}

impl Valued for String {
    fn read<'de, M: MapAccess<'de>>(_key: &str, map: &mut M) -> Result<Self, M::Error> {
        map.next_value()
    }
}

impl Valued for Value {
    fn read<'de, M: MapAccess<'de>>(key: &str, map: &mut M) -> Result<Self, M::Error> {
        match key {
            METADATA => map.next_value::<Object<String>>().map(|Object(texts)| Self::Metadata(texts)),
            _ => map.next_value().map(Self::Tensor),
        }
    }
}

/// A JSON object that has no key twice, which by itself JSON may have.
pub(super) struct Object<V>(pub(super) BTreeMap<String, V>);

impl<'de, V: Valued> Deserialize<'de> for Object<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys(PhantomData)).map(Self)
    }
}

struct Keys<V>(PhantomData<V>);

impl<'de, V: Valued> Visitor<'de> for Keys<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut values = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = V::read(&key, &mut map)?;
            match values.entry(key) {
                Place::Vacant(place) => place.insert(value),
                Place::Occupied(place) => {
                    return Err(M::Error::custom(format!("{} stands there twice", quoted(place.key()))));
                }
            };
        }
        Ok(values)
    }
}
