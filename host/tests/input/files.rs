//! Files that are truncated or damaged: a valid one with random changes. Each is refused with an error, or read as what it then says. It
//! is never answered with a panic, and never with more memory than the file can fill.

use std::path::PathBuf;
use std::sync::LazyLock;

use cuda_tiles_host::files::{
    FileError, GgmlType, Gguf, Npy, Npz, SafeTensors, SafeTensorsWriter, write_npy,
};
use cuda_tiles_host::{Device, Tensor, f16};
use proptest::prelude::*;

use crate::cases;

/// A change of a file.
#[derive(Debug, Clone)]
enum Change {
    /// The file ends here.
    Truncate(usize),
    /// Another byte.
    Byte(usize, u8),
    /// Another number of 64 bits, mostly near a limit.
    Number(usize, u64),
    /// Bytes are left out.
    Remove(usize, usize),
    /// Bytes stand there twice.
    Repeat(usize, usize),
    /// Other bytes are put in.
    Insert(usize, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>;
    let number = prop_oneof![
        (0_u32..64, 0_u64..4).prop_map(|(exponent, less)| (1_u64 << exponent).wrapping_sub(less)),
        any::<u64>(),
    ];
    let text = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..20),
        "[-0-9{}\\[\\]():,'\" A-Za-z]{1,20}".prop_map(String::into_bytes),
    ];
    prop_oneof![
        2 => at().prop_map(Change::Truncate),
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        2 => (at(), number).prop_map(|(at, number)| Change::Number(at, number)),
        1 => (at(), 1_usize..40).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (at(), 1_usize..40).prop_map(|(at, count)| Change::Repeat(at, count)),
        1 => (at(), text).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
    ]
}

fn changed(file: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut file = file.to_vec();
    for change in changes {
        // A place in the file, or its end.
        let place = |at: usize| at % (file.len() + 1);
        let part = |at: usize, count: usize| place(at)..(place(at) + count).min(file.len());
        match *change {
            Change::Truncate(at) => file.truncate(place(at)),
            Change::Byte(at, byte) => {
                let part = part(at, 1);
                file[part].fill(byte);
            }
            Change::Number(at, number) => {
                let part = part(at, 8);
                let bytes = &number.to_le_bytes()[..part.len()];
                file[part].copy_from_slice(bytes);
            }
            Change::Remove(at, count) => drop(file.drain(part(at, count))),
            Change::Repeat(at, count) => {
                let part = part(at, count);
                let bytes = file[part.clone()].to_vec();
                file.splice(part.start..part.start, bytes);
            }
            Change::Insert(at, ref bytes) => {
                let at = place(at);
                file.splice(at..at, bytes.iter().copied());
            }
        }
    }
    file
}

static NPY: LazyLock<Vec<u8>> = LazyLock::new(npy);
static NPZ: LazyLock<Vec<u8>> = LazyLock::new(npz);
static SAFETENSORS: LazyLock<Vec<u8>> = LazyLock::new(safetensors);
static GGUF: LazyLock<Vec<u8>> = LazyLock::new(gguf);

/// What `write` makes of a path.
fn written(name: &str, write: impl FnOnce(&PathBuf)) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("cuda-tiles-input-{}-{name}", std::process::id()));
    write(&path);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    bytes
}

fn npy() -> Vec<u8> {
    let x = Tensor::from_vec(&Device::cpu(), [3, 5], (0..15).collect::<Vec<i16>>()).unwrap();
    written("npy", |path| write_npy(path, &x).unwrap())
}

fn safetensors() -> Vec<u8> {
    let device = Device::cpu();
    let (a, b) =
        (Tensor::full(&device, [3, 5], f16::ONE).unwrap(), Tensor::full(&device, [7], true).unwrap());
    let writer = SafeTensorsWriter::new().metadata("format", "pt").tensor("a", &a).tensor("b", &b);
    written("safetensors", |path| writer.write(path).unwrap())
}

/// Two values, two tensors; of the second one the elements are a block.
fn gguf() -> Vec<u8> {
    let number = |number: u64| number.to_le_bytes().to_vec();
    let text = |text: &str| [number(text.len() as u64), text.as_bytes().to_vec()].concat();
    let id = |id: u32| id.to_le_bytes().to_vec();
    let mut file = [
        b"GGUF\x03\0\0\0".to_vec(),
        [number(2), number(2)].concat(),
        [text("name"), id(8), text("model")].concat(),
        [text("sizes"), id(9), id(5), number(3), vec![1; 12]].concat(),
        [text("x"), id(2), number(4), number(2), id(0), number(0)].concat(),
        [text("y"), id(1), number(32), id(GgmlType::Q4_1.id()), number(32)].concat(),
    ]
    .concat();
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend([1; 32 + 20]);
    file
}

/// `numpy.savez_compressed(file, x=numpy.zeros(40, "|u1"))`, of version 2.4.6. It is of ZIP's 64-bit form.
fn npz() -> Vec<u8> {
    const FILE: &[u8] = b"\
        PK\x03\x04-\x00\x00\x00\x08\x00\x00\x00!\x00\xf0\x91\x041\xff\xff\xff\xff\xff\xff\xff\xff\x05\x00\
        \x14\x00x.npy\x01\x00\x10\x00\xa8\x00\x00\x00\x00\x00\x00\x00H\x00\x00\x00\x00\x00\x00\x00\x9b\xec\
        \x17\xea\x1b\x10\xc9\xc8P\xc6P\xad\x9e\x92Z\x9c\x5c\xa4n\xa5\xa0^Sj\xa8\xae\xa3\xa0\x9e\x96_TR\x94\
        \x98\x17\x9f_\x94\x92\x0a\x12wK\xcc)N\x05\x8a\x17g$\x16\xa4\x02\xf9\x1a&\x06:\x9a:\x0a\xb5\x0a\xe4\
        \x03.\x06\x22\x01\x00PK\x01\x02-\x03-\x00\x00\x00\x08\x00\x00\x00!\x00\xf0\x91\x041H\x00\x00\x00\xa8\
        \x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00x.npyPK\x05\x06\
        \x00\x00\x00\x00\x01\x00\x01\x003\x00\x00\x00\x7f\x00\x00\x00\x00\x00";
    FILE.to_vec()
}

/// A tensor of each type and rank that there may be, or an error.
fn read_npy(npy: &Npy) {
    let device = Device::cpu();
    let _ = npy.tensor::<i16, 2>(&device);
    let _ = npy.tensor::<u8, 1>(&device);
    let _ = npy.tensor::<bool, 1>(&device);
}

fn check(result: Result<(), FileError>) -> Result<(), TestCaseError> {
    match result {
        Ok(()) => Ok(()),
        Err(FileError::Malformed { problem, .. }) => {
            prop_assert!(!problem.is_empty() && problem.len() < 10_000);
            Ok(())
        }
        Err(other) => Err(TestCaseError::fail(format!("bytes in memory have no such error: {other}"))),
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn npy_files_are_read_or_refused(changes in prop::collection::vec(change(), 0..4)) {
        check(Npy::from_bytes("x", changed(&NPY, &changes)).map(|npy| read_npy(&npy)))?;
    }

    #[test]
    fn npz_files_are_read_or_refused(changes in prop::collection::vec(change(), 0..4)) {
        let opened = Npz::from_bytes("x", changed(&NPZ, &changes));
        check(opened.and_then(|mut npz| {
            let names: Vec<String> = npz.names().map(str::to_owned).collect();
            names.iter().try_for_each(|name| npz.array(name).map(|npy| read_npy(&npy)))
        }))?;
    }

    #[test]
    fn safetensors_files_are_read_or_refused(changes in prop::collection::vec(change(), 0..4)) {
        let opened = SafeTensors::from_bytes("x", changed(&SAFETENSORS, &changes));
        check(opened.map(|weights| for tensor in weights.tensors() {
            let device = Device::cpu();
            let _ = weights.tensor::<f16, 2>(&device, &tensor.name);
            let _ = weights.tensor::<bool, 1>(&device, &tensor.name);
            assert_eq!(weights.bytes(&tensor.name).unwrap().len() as u64, tensor.bytes);
        }))?;
    }

    #[test]
    fn gguf_files_are_read_or_refused(changes in prop::collection::vec(change(), 0..4)) {
        let opened = Gguf::from_bytes("x", changed(&GGUF, &changes));
        check(opened.map(|model| for tensor in model.tensors() {
            let device = Device::cpu();
            let _ = model.tensor::<f32, 2>(&device, &tensor.name);
            let _ = model.dequantized::<f32, 1>(&device, &tensor.name);
            let _ = model.dequantized::<f16, 2>(&device, &tensor.name);
            assert_eq!(model.bytes(&tensor.name).unwrap().len() as u64, tensor.bytes);
        }))?;
    }
}

#[test]
fn what_is_not_changed_is_read() {
    let device = Device::cpu();
    assert!(Npy::from_bytes("x", NPY.clone()).unwrap().tensor::<i16, 2>(&device).is_ok());
    let zeros = Npz::from_bytes("x", NPZ.clone()).unwrap().array("x").unwrap();
    assert_eq!(zeros.tensor::<u8, 1>(&device).unwrap().to_vec().unwrap(), [0; 40]);
    assert!(
        SafeTensors::from_bytes("x", SAFETENSORS.clone()).unwrap().tensor::<f16, 2>(&device, "a").is_ok()
    );
    assert!(Gguf::from_bytes("x", GGUF.clone()).unwrap().dequantized::<f32, 1>(&device, "y").is_ok());
}
