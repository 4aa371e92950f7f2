//! Writing safetensors.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::SafeTensorsElement;
use crate::error::Result;
use crate::files::error::FileError;
use crate::tensor::{TensorView, as_bytes};

/// The header is padded so that the elements begin at a multiple of so many bytes.
const ALIGNMENT: usize = 8;

/// A safetensors file in the making: tensors and views, which are read from their devices when the file is written.
///
/// ```
/// use cuda_tiles_host::files::{SafeTensors, SafeTensorsWriter};
/// use cuda_tiles_host::{Device, Tensor};
///
/// let device = Device::auto()?;
/// let (a, b) = (Tensor::full(&device, [2, 3], 1.5_f32)?, Tensor::full(&device, [4], 7_i64)?);
/// let path = std::env::temp_dir().join(format!("cuda-tiles-writer-{}.safetensors", std::process::id()));
/// SafeTensorsWriter::new().tensor("a.transposed", a.view().transpose()).tensor("b", &b).write(&path)?;
/// assert_eq!(SafeTensors::open(&path)?.info("a.transposed").map(|info| info.shape), Some(vec![3, 2]));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct SafeTensorsWriter<'tensors> {
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, Pending<'tensors>>,
}

/// A tensor that is to be written.
struct Pending<'tensor> {
    dtype: &'static str,
    shape: Vec<u64>,
    element_bytes: usize,
    bytes: u64,
    write: Box<dyn Fn(&mut dyn Write) -> Result<io::Result<()>> + 'tensor>,
}

impl<'tensors> SafeTensorsWriter<'tensors> {
    /// A file without tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text, or replaces one.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), text.into());
        self
    }

    /// Adds a tensor or a view, or replaces one of this name. Of [`f4e2m1x2`](crate::f4e2m1x2) the last axis becomes twice as long,
    /// as the format counts; one of rank 0 becomes an axis of two.
    ///
    /// # Panics
    /// If the name is `__metadata__`, which the format keeps for the texts.
    #[must_use]
    pub fn tensor<T: SafeTensorsElement, const RANK: usize>(
        mut self,
        name: impl Into<String>,
        tensor: impl Into<TensorView<'tensors, T, RANK>>,
    ) -> Self {
        let (name, view) = (name.into(), tensor.into());
        assert!(name != "__metadata__", "no tensor of a safetensors file has the name `__metadata__`");
        let mut shape: Vec<u64> = view.shape().iter().map(|&extent| extent as u64).collect();
        match shape.last_mut() {
            Some(last) => *last *= T::NUMBERS,
            None if T::NUMBERS > 1 => shape.push(T::NUMBERS),
            None => {}
        }
        let pending = Pending {
            dtype: T::DTYPE,
            shape,
            element_bytes: size_of::<T>(),
            bytes: (view.len() * size_of::<T>()) as u64,
            write: Box::new(move |file| Ok(file.write_all(as_bytes(&view.to_vec()?)))),
        };
        self.tensors.insert(name, pending);
        self
    }

    /// Writes the file, and replaces one that is there. Waits for the kernels that write the tensors. At a time the host has a copy
    /// of one of them.
    ///
    /// # Errors
    /// [`FileError::Io`] or [`FileError::Host`], after which there may be a part of the file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let failed = |source| FileError::Io { file: path.display().to_string(), source };
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        let (header, order) = self.header();
        file.write_all(&header).map_err(failed)?;
        for tensor in order {
            (tensor.write)(&mut file)?.map_err(failed)?;
        }
        file.flush().map_err(failed)
    }

    /// The bytes in front of the elements, and the tensors in the order of theirs: wide elements first, so that all are aligned.
    fn header(&self) -> (Vec<u8>, Vec<&Pending<'tensors>>) {
        let mut order: Vec<_> = self.tensors.iter().collect();
        order.sort_by_key(|(_, tensor)| std::cmp::Reverse(tensor.element_bytes));
        let mut header = Map::new();
        if !self.metadata.is_empty() {
            header.insert("__metadata__".to_owned(), json!(self.metadata));
        }
        let mut start = 0;
        for (name, tensor) in &order {
            let end = start + tensor.bytes;
            let claim = json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end] });
            header.insert((*name).clone(), claim);
            start = end;
        }
        let mut text = Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(ALIGNMENT), b' ');
        let length = (text.len() as u64).to_le_bytes();
        ([&length[..], &text].concat(), order.into_iter().map(|(_, tensor)| tensor).collect())
    }
}
