//! Files as the format's own library writes them, and files that lie.

use cuda_tiles::element::{bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f16};
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

use super::*;

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn open(header: &str, data: &[u8]) -> Result<SafeTensors, String> {
    SafeTensors::from_bytes("x.safetensors", file(header, data)).map_err(|error| error.to_string())
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cuda-tiles-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// safetensors.numpy.save({"a": arange(4, dtype=uint16).reshape(2, 2), "b": array([True])}, {"format": "np"}), of version 0.8.0
const WRITTEN: &str = r#"{"__metadata__":{"format":"np"},"a":{"dtype":"U16","shape":[2,2],"data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]}}      "#;

#[test]
fn what_the_formats_library_writes_is_read() {
    let weights = open(WRITTEN, &[0, 0, 1, 0, 2, 0, 3, 0, 1]).unwrap();
    let device = Device::cpu();
    assert_eq!(weights.tensor::<u16, 2>(&device, "a").unwrap().to_vec().unwrap(), [0, 1, 2, 3]);
    assert_eq!(weights.tensor::<bool, 1>(&device, "b").unwrap().to_vec().unwrap(), [true]);
    assert_eq!(weights.metadata()["format"], "np");
    assert_eq!(&*weights.bytes("b").unwrap(), [1]);
    let info = weights.info("a").unwrap();
    assert_eq!((&*info.dtype, &info.shape[..], info.bytes), ("U16", &[2, 2][..], 8));
    let messages = [
        weights.tensor::<i16, 2>(&device, "a").unwrap_err().to_string(),
        weights.tensor::<u16, 1>(&device, "a").unwrap_err().to_string(),
        weights.tensor::<u16, 1>(&device, "c").unwrap_err().to_string(),
    ];
    assert_eq!(
        messages[0],
        "x.safetensors, tensor `a`: the elements are U16, but a tensor of i16 was asked for"
    );
    assert_eq!(
        messages[1],
        "x.safetensors, tensor `a`: the shape is [2, 2], but a tensor of rank 1 was asked for"
    );
    assert_eq!(messages[2], "x.safetensors has no tensor `c`: it has `a`, `b`");
    let bad = open(WRITTEN, &[0, 0, 1, 0, 2, 0, 3, 0, 2]).unwrap();
    let message = bad.tensor::<bool, 1>(&device, "b").unwrap_err().to_string();
    assert_eq!(message, "x.safetensors, at byte 163, tensor `b`: a bool is 0 or 1, and here is 2");
}

#[test]
fn what_lies_is_refused_with_the_place() {
    let tensor = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    let entry = |name: &str, offsets: &str| {
        format!(r#""{name}":{{"dtype":"U8","shape":[2],"data_offsets":{offsets}}}"#)
    };
    for (header, problem) in [
        (tensor("F32", "[2]", "[0,4]"), "tensor `a`: F32 of shape [2] takes 8 bytes, and it claims 4"),
        (tensor("F32", "[1]", "[0,8]"), "it claims bytes 0..8 of the data, which has 4"),
        (tensor("F32", "[1]", "[4,0]"), "it claims bytes 4..0"),
        (tensor("U8", "[2]", "[2,4]"), "it begins at byte 2 of the data and leaves bytes out in front of it"),
        (tensor("U8", "[2]", "[0,2]"), "2 bytes belong to no tensor"),
        (tensor("F3", "[4]", "[0,4]"), "elements of the type `F3`, which is not known"),
        (tensor("F4", "[3]", "[0,4]"), "F4 of shape [3] cannot be counted, or are no whole number"),
        (tensor("F32", "[1152921504606846976]", "[0,4]"), "takes 4611686018427387904 bytes, and it claims 4"),
        (tensor("F32", "[4294967296,4294967296]", "[0,4]"), "cannot be counted"),
        (tensor("F32", "[0,18446744073709551615]", "[0,0]"), "cannot be counted"),
        (tensor("F32", "[-1]", "[0,4]"), "the JSON is wrong: invalid value: integer `-1`"),
        (tensor("F32", "[1e3]", "[0,4]"), "the JSON is wrong"),
        (tensor("F32", "[1]", "[0]"), "the JSON is wrong: invalid length 1"),
        (tensor("F32", "[18446744073709551616]", "[0,4]"), "the JSON is wrong"),
        (format!("{{{},{}}}", entry("a", "[0,2]"), entry("a", "[2,4]")), "`a` stands there twice"),
        (
            format!("{{{},{}}}", entry("a", "[0,2]"), entry("b", "[1,3]")),
            "tensor `b`: it begins at byte 1 of the data and overlaps",
        ),
        (format!("{{{}", entry("a", "[0,2]")), "the JSON is wrong: EOF"),
        (r#"{"a":{"dtype":"U8","dtype":"U8"}}"#.to_owned(), "duplicate field `dtype`"),
        (r#"{"a":{"dtype":"U8"}}"#.to_owned(), "missing field `shape`"),
        (r#"{"__metadata__":{"a":1}}"#.to_owned(), "invalid type: integer `1`, expected a string"),
        (r#"{"__metadata__":{"a":"1","a":"1"}}"#.to_owned(), "`a` stands there twice"),
        ("[]".to_owned(), "JSON is expected, which begins with `{`"),
        (format!("{{\"a\":{}", "[".repeat(1 << 20)), "the JSON is wrong"),
        (format!("{{\"a\":{}", "{\"b\":".repeat(1 << 18)), "the JSON is wrong"),
    ] {
        let message = open(&header, &[1, 0, 2, 0]).err().unwrap();
        assert!(message.starts_with("x.safetensors, at byte ") && message.contains(problem), "{message}");
        assert!(message.len() < 500, "{message}");
    }
}

#[test]
fn places_in_the_header_count_from_the_files_beginning() {
    let message = open("{\n\"a\":\n  !}", &[]).err().unwrap();
    assert!(message.starts_with("x.safetensors, at byte 17: the JSON is wrong: expected value"), "{message}");
}

#[test]
fn truncated_files_are_refused() {
    let whole = file(WRITTEN, &[0, 0, 1, 0, 2, 0, 3, 0, 1]);
    for length in 0..whole.len() {
        let error = SafeTensors::from_bytes("x", whole[..length].to_vec()).err();
        assert!(matches!(error, Some(FileError::Malformed { .. })), "{length} bytes");
    }
    let mut longer = whole.clone();
    longer[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let message = SafeTensors::from_bytes("x", longer).err().unwrap().to_string();
    assert!(message.starts_with("x, at byte 0: the header claims 18446744073709551615 bytes"), "{message}");
}

fn there_and_back<T: SafeTensorsElement + Debug>(folder: &Folder, values: [T; 4]) {
    let device = Device::cpu();
    let tensor = Tensor::from_slice(&device, [2, 2], &values).unwrap();
    let bytes = Tensor::full(&device, [3], 7_u8).unwrap();
    let path = folder.0.join(T::DTYPE);
    SafeTensorsWriter::new().tensor("a", &bytes).tensor("z", tensor.view().transpose()).write(&path).unwrap();
    // SAFETY: nobody knows of the file.
    for weights in [SafeTensors::open(&path), unsafe { SafeTensors::open_mapped(&path) }] {
        let weights = weights.unwrap();
        let read = weights.tensor::<T, 2>(&device, "z").unwrap();
        assert_eq!(read.to_vec().unwrap(), [values[0], values[2], values[1], values[3]]);
        let (shard, entry) = weights.find("z").unwrap();
        assert!(entry.start.is_multiple_of(size_of::<T>() as u64));
        assert_eq!(shard.header.entries["a"].end - shard.header.entries["a"].start, 3);
    }
}

#[test]
fn every_type_is_written_and_read() {
    let folder = Folder::new("types");
    there_and_back(&folder, [true, false, false, true]);
    there_and_back(&folder, [1_i8, -2, 3, -4]);
    there_and_back(&folder, [1_u32, 2, 3, 4]);
    there_and_back(&folder, [1_i64, -2, 3, -4]);
    there_and_back(&folder, [1.0_f32, -2.5, 0.0, 4.0]);
    there_and_back(&folder, [1.0_f64, -2.5, 0.0, 4.0]);
    there_and_back(&folder, [1.0, -2.5, 0.0, 4.0].map(f16::from_f32));
    there_and_back(&folder, [1.0, -2.5, 0.0, 4.0].map(bf16::from_f32));
    there_and_back(&folder, [1.0, -2.5, 0.0, 4.0].map(f8e4m3::from_f32));
    there_and_back(&folder, [1.0, -2.5, 0.0, 4.0].map(f8e5m2::from_f32));
    there_and_back(&folder, [1.0, 2.0, 0.5, 4.0].map(f8e8m0::from_f32));
    there_and_back(&folder, [0x12, 0x34, 0x56, 0x78].map(f4e2m1x2::from_bits));
    let packed = SafeTensors::open(folder.0.join("F4")).unwrap();
    assert_eq!(packed.info("z").unwrap().shape, [2, 4], "the format counts single numbers");
}

#[test]
fn an_index_finds_tensors_in_several_files() {
    let folder = Folder::new("shards");
    let device = Device::cpu();
    let (a, b) = (Tensor::full(&device, [2], 1_i32).unwrap(), Tensor::full(&device, [3], 2_i32).unwrap());
    SafeTensorsWriter::new().tensor("a", &a).write(folder.0.join("1.safetensors")).unwrap();
    SafeTensorsWriter::new().tensor("b", &b).write(folder.0.join("2.safetensors")).unwrap();
    let index = folder.0.join("model.safetensors.index.json");
    let open = |weights: &str| {
        fs::write(&index, format!(r#"{{"metadata":{{"total_size":20}},"weight_map":{{{weights}}}}}"#))
            .unwrap();
        SafeTensors::open(&index)
    };
    let weights = open(r#""a":"1.safetensors","b":"2.safetensors""#).unwrap();
    assert_eq!(weights.tensors().map(|info| info.name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(weights.tensor::<i32, 1>(&device, "b").unwrap().to_vec().unwrap(), [2; 3]);
    for (weights, problem) in [
        (
            r#""b":"1.safetensors""#,
            "tensor `b`: the index has it in `1.safetensors`, which has no such tensor",
        ),
        (r#""b":"../1.safetensors""#, "which is no file beside it"),
        (r#""b":"/etc/passwd""#, "which is no file beside it"),
        (r#""b":"""#, "which is no file beside it"),
        (r#""a":"1.safetensors","a":"2.safetensors""#, "`a` stands there twice"),
        (r#""a":"3.safetensors""#, "3.safetensors: "),
    ] {
        let message = open(weights).err().unwrap().to_string();
        assert!(message.contains(problem), "{message}");
    }
}
