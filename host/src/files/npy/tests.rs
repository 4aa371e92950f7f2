//! Files as NumPy writes them, and files that lie.

use std::fmt::Debug;

use cuda_tiles::element::f16;

use super::*;

/// A file of version 1.0 with this dictionary.
fn file(dictionary: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(dictionary.len() as u16 + 1).to_le_bytes());
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.push(b'\n');
    bytes.extend_from_slice(elements);
    bytes
}

fn read<T: NumpyElement, const RANK: usize>(dictionary: &str, elements: &[u8]) -> Result<Vec<T>, String> {
    let npy = Npy::from_bytes("x.npy", file(dictionary, elements)).map_err(|error| error.to_string())?;
    let tensor = npy.tensor::<T, RANK>(&Device::cpu()).map_err(|error| error.to_string())?;
    Ok(tensor.to_vec().unwrap())
}

#[test]
fn what_numpy_writes_is_read() {
    let bytes: Vec<u8> = (1..=12).collect();
    let rows = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }   ";
    assert_eq!(read::<u8, 2>(rows, &bytes), Ok(bytes.clone()));
    // numpy.asfortranarray
    let columns = "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 4), }";
    assert_eq!(read::<u8, 2>(columns, &bytes), Ok(vec![1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12]));
    let cube = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3, 2), }";
    assert_eq!(read::<i8, 3>(cube, &bytes), Ok(vec![1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12]));
    let swapped = "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }";
    assert_eq!(read::<i32, 1>(swapped, &bytes), Ok(vec![0x0102_0304, 0x0506_0708, 0x090a_0b0c]));
    let scalar = "{\"shape\":(),\"descr\":\"<f8\",\"fortran_order\":False}";
    assert_eq!(read::<f64, 0>(scalar, &1.5_f64.to_le_bytes()), Ok(vec![1.5]));
    assert_eq!(
        read::<f64, 2>("{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 0L), }", &[]),
        Ok(vec![])
    );
}

#[test]
fn other_versions_have_longer_lengths() {
    for version in [2, 3] {
        let mut bytes = file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", &[1, 0]);
        bytes[6] = version;
        bytes.splice(10..10, [0, 0]);
        let npy = Npy::from_bytes("x.npy", bytes).unwrap();
        assert_eq!(npy.tensor::<bool, 1>(&Device::cpu()).unwrap().to_vec().unwrap(), [true, false]);
    }
}

#[test]
fn what_lies_is_refused_with_the_place() {
    let header = |entries: &str| format!("{{{entries}}}");
    for (dictionary, problem) in [
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (3,)"),
            "at byte 66: shape [3] of <u2 takes 6 bytes, and 4 follow",
        ),
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (1,)"),
            "shape [1] of <u2 takes 2 bytes, and 4 follow",
        ),
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (1152921504606846976,)"),
            "takes 2305843009213693952 bytes, and 4 follow",
        ),
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296)"),
            "more than can be counted bytes, and 4 follow",
        ),
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (0, 18446744073709551615)"),
            "more than can be counted bytes, and 4 follow",
        ),
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (-2,)"),
            "at byte 61: an extent is no number",
        ),
        (
            header("'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551616,)"),
            "an extent is no number from 0 to 2^64 - 1",
        ),
        (header(&format!("'shape': ({})", "1,".repeat(65))), "the shape has more than 64 axes"),
        (header("'shape': (2,), 'shape': (2,)"), "at byte 26: `shape` stands there twice"),
        (header("'descr': '<u2', 'shape': (2,)"), "the dictionary has no `fortran_order`"),
        (header("'descr': [('a', '<u2')], 'shape': (2,)"), "the elements have several fields"),
        (header("'descr': '<q2', 'fortran_order': False, 'shape': (2,)"), "descr: `<q2` is no type of NumPy"),
        (header("'descr': '<\\x'"), "a text has an escape"),
        (header("'descr: "), "a text does not end"),
        (header("'order': 1"), "`order` is none of descr, fortran_order, shape"),
        (header("'fortran_order': 0"), "True or False is expected"),
        ("[]".to_owned(), "at byte 10: `{` is expected"),
        (
            "{'descr': '<u2', 'fortran_order': False, 'shape': (2,)} + {}".to_owned(),
            "something follows the dictionary",
        ),
        ("{".repeat(60_000), "a text in quotes is expected"),
    ] {
        let message = read::<u16, 1>(&dictionary, &[1, 0, 2, 0]).unwrap_err();
        assert!(message.starts_with("x.npy, at byte ") && message.contains(problem), "{message}");
    }
    let bools = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }";
    let message = read::<bool, 1>(bools, &[1, 7]).unwrap_err();
    assert!(message.ends_with("a bool is 0 or 1, and here is 7"), "{message}");
    let message = read::<bool, 2>(bools, &[1, 0]).unwrap_err();
    assert_eq!(message, "x.npy: the shape is [2], but a tensor of rank 2 was asked for");
}

#[test]
fn truncated_headers_are_refused() {
    let whole = file("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", &[1, 2]);
    for length in 0..whole.len() {
        let error = Npy::from_bytes("x.npy", whole[..length].to_vec()).err();
        assert!(matches!(error, Some(FileError::Malformed { .. })), "{length} bytes");
    }
    let mut version = whole.clone();
    version[6] = 4;
    let message = Npy::from_bytes("x.npy", version).err().unwrap().to_string();
    assert_eq!(message, "x.npy, at byte 6: version 4.0 is not known; 1.0 to 3.0 are");
}

fn there_and_back<T: NumpyElement + Debug, const RANK: usize>(shape: [usize; RANK], values: &[T]) {
    let path = std::env::temp_dir().join(format!("cuda-tiles-{}-{}-{RANK}.npy", T::NAME, std::process::id()));
    let tensor = Tensor::from_slice(&Device::cpu(), shape, values).unwrap();
    write_npy(&path, &tensor).unwrap();
    let npy = Npy::open(&path).unwrap();
    assert_eq!(npy.header.offset % 64, 0);
    assert_eq!((npy.shape(), npy.element_type()), (&shape[..], TypeStr::of::<T>()));
    assert_eq!(npy.tensor::<T, RANK>(&Device::cpu()).unwrap().to_vec().unwrap(), values);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_is_written_is_read() {
    there_and_back([2], &[true, false]);
    there_and_back([2, 2], &[1_i8, -2, 3, -4]);
    there_and_back([1, 3], &[1_u16, 2, 3]);
    there_and_back([], &[i64::MIN]);
    there_and_back([3], &[1.0, -0.5, 65504.0].map(f16::from_f32));
    there_and_back([0, 3], &[0.0_f32; 0]);
    // More than is read at once.
    there_and_back([(4 << 20) / 8 + 3], &vec![1.25_f64; (4 << 20) / 8 + 3]);
}

/// numpy.save(f, numpy.arange(3, dtype="<u2"))
#[test]
fn headers_are_written_as_numpy_writes_them() {
    let expected = format!("{:<117}\n", "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }");
    assert_eq!(
        header::text(TypeStr::of::<u16>(), &[3]),
        [b"\x93NUMPY\x01\x00\x76\x00", expected.as_bytes()].concat()
    );
    let header = String::from_utf8_lossy(&header::text(TypeStr::of::<f32>(), &[2, 3])).into_owned();
    assert!(header.contains("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"), "{header}");
}
