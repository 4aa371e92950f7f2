//! Files as `llama.cpp` writes them, files that lie, and blocks against formulas written another way.

use super::*;

/// A file in the making.
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn new(tensors: u64, entries: u64) -> Self {
        let start = [&b"GGUF"[..], &3_u32.to_le_bytes(), &tensors.to_le_bytes(), &entries.to_le_bytes()];
        Self { bytes: start.concat() }
    }

    fn raw(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.bytes.extend_from_slice(bytes.as_ref());
        self
    }

    fn text(self, text: &str) -> Self {
        self.raw((text.len() as u64).to_le_bytes()).raw(text)
    }

    /// A key and a value of the type with this number.
    fn entry(self, key: &str, id: u32, value: &[u8]) -> Self {
        self.text(key).raw(id.to_le_bytes()).raw(value)
    }

    fn tensor(self, name: &str, extents: &[u64], id: u32, offset: u64) -> Self {
        let this = self.text(name).raw((extents.len() as u32).to_le_bytes());
        let this = extents.iter().fold(this, |this, extent| this.raw(extent.to_le_bytes()));
        this.raw(id.to_le_bytes()).raw(offset.to_le_bytes())
    }

    fn data(mut self, data: &[u8]) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(32), 0);
        self.raw(data).bytes
    }
}

fn open(bytes: Vec<u8>) -> Result<Gguf, String> {
    Gguf::from_bytes("x.gguf", bytes).map_err(|error| error.to_string())
}

#[test]
fn metadata_and_tensors_are_read() {
    let array = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes()];
    let file = Writer::new(2, 6)
        .entry("general.name", 8, b"\x03\0\0\0\0\0\0\0abc")
        .entry("count", 4, &7_u32.to_le_bytes())
        .entry("scale", 12, &0.5_f64.to_le_bytes())
        .entry("yes", 7, &[1])
        .entry("least", 1, &[0xff])
        .text("tokens")
        .raw(9_u32.to_le_bytes())
        .raw(array.concat())
        .text("a")
        .text("bc")
        .tensor("x", &[3, 2], 26, 0)
        .tensor("y", &[2], 28, 32)
        .data(
            &[
                [1_i32, 2, 3, 4, 5, 6, 0, 0].map(i32::to_le_bytes).concat(),
                [1.5_f64, 2.5].map(f64::to_le_bytes).concat(),
            ]
            .concat(),
        );
    for version in [2, 3] {
        let mut file = file.clone();
        file[4] = version;
        let gguf = open(file).unwrap();
        assert_eq!(gguf.version(), u32::from(version));
        assert_eq!(gguf.get("general.name").and_then(GgufValue::as_str), Some("abc"));
        assert_eq!(gguf.get("count").and_then(GgufValue::as_u64), Some(7));
        assert_eq!(gguf.get("scale").and_then(GgufValue::as_f64), Some(0.5));
        assert_eq!(gguf.get("yes").and_then(GgufValue::as_bool), Some(true));
        assert_eq!(gguf.get("least").and_then(GgufValue::as_u64), None);
        let tokens = GgufArray::String(vec!["a".to_owned(), "bc".to_owned()]);
        assert_eq!(gguf.get("tokens").and_then(GgufValue::as_array), Some(&tokens));
        assert_eq!(gguf.tensors().iter().map(|tensor| &*tensor.name).collect::<Vec<_>>(), ["x", "y"]);
        let device = Device::cpu();
        let x = gguf.tensor::<i32, 2>(&device, "x").unwrap();
        assert_eq!((x.shape(), x.to_vec().unwrap()), ([2, 3], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(gguf.tensor::<f64, 1>(&device, "y").unwrap().to_vec().unwrap(), [1.5, 2.5]);
        assert_eq!(gguf.bytes("y").unwrap()[..], [1.5_f64, 2.5].map(f64::to_le_bytes).concat());
        let message = gguf.tensor::<f32, 2>(&device, "x").unwrap_err().to_string();
        assert_eq!(message, "x.gguf, tensor `x`: the elements are I32, but a tensor of f32 was asked for");
        assert!(gguf.dequantized::<f32, 2>(&device, "x").is_err(), "integers are no quantised numbers");
    }
}

#[test]
fn what_lies_is_refused_with_the_place() {
    let array =
        |id: u32, count: u64| [&9_u32.to_le_bytes()[..], &id.to_le_bytes(), &count.to_le_bytes()].concat();
    let tensor =
        |extents: &[u64], id, offset| Writer::new(1, 0).tensor("x", extents, id, offset).data(&[0; 64]);
    let nested = Writer::new(0, 1).text("k").raw(9_u32.to_le_bytes());
    let nested = (0..50_000).fold(nested, |file, _| file.raw(&array(9, 1)[4..]));
    let two = |name: &str, offset| {
        Writer::new(2, 0).tensor("x", &[8], 0, 0).tensor(name, &[8], 0, offset).data(&[0; 64])
    };
    for (file, problem) in [
        (b"GGML\x03\0\0\0".to_vec(), "at byte 0: it does not begin with GGUF"),
        (b"GGUF\x01\0\0\0".to_vec(), "at byte 4: version 1 is not known; 2 and 3 are"),
        (b"GGUF\0\0\0\x03".to_vec(), "the file is big-endian"),
        (
            Writer::new(0, 1 << 60).bytes,
            "at byte 24: the metadata: 1152921504606846976 values of at least 13 byte(s) are claimed, and the file ends 0 bytes later",
        ),
        (Writer::new(u64::MAX, 0).bytes, "the tensors' descriptions: 18446744073709551615 values"),
        (
            Writer::new(0, 1).raw(u64::MAX.to_le_bytes()).raw([0; 9]).bytes,
            "the metadata: 18446744073709551615 bytes are claimed, and the file ends 9 bytes later",
        ),
        (Writer::new(0, 1).entry("k", 13, &[0; 8]).bytes, "the type 13 of a value is not known"),
        (Writer::new(0, 1).entry("k", 7, &[2]).bytes, "a bool is 0 or 1, and here is 2"),
        (Writer::new(0, 1).entry("k", 8, b"\x01\0\0\0\0\0\0\0\xff").bytes, "a text is not UTF-8"),
        (
            Writer::new(0, 1).text("k").raw(array(0, 1 << 60)).bytes,
            "1152921504606846976 values of at least 1 byte(s) are claimed, and the file ends 0",
        ),
        (
            Writer::new(0, 1).text("k").raw(array(99, 0)).bytes,
            "the type 99 of an array's values is not known",
        ),
        (nested.bytes, "arrays are nested more than 8 deep"),
        (Writer::new(0, 2).entry("k", 0, &[1]).entry("k", 0, &[1]).bytes, "the key `k` stands there twice"),
        (
            Writer::new(0, 1).entry("general.alignment", 4, &[0; 4]).bytes,
            "general.alignment is U32(0), and is to be a power of two",
        ),
        (
            tensor(&[17], 0, 0),
            "at byte 24, tensor `x`: F32 of shape [17] takes 68 bytes from byte 0 of the data on, which has 64",
        ),
        (tensor(&[8], 0, 64), "takes 32 bytes from byte 64 of the data on, which has 64"),
        (tensor(&[8], 0, u64::MAX - 31), "from byte 18446744073709551584 of the data on"),
        (tensor(&[8], 0, 4), "its offset 4 is no multiple of the alignment, 32"),
        (tensor(&[1 << 32, 1 << 32], 0, 0), "cannot be counted"),
        (tensor(&[u64::MAX, 0], 0, 0), "cannot be counted"),
        (tensor(&[33], 2, 0), "rows of shape [33] are no whole blocks of Q4_0, which have 32 elements"),
        (tensor(&[], 2, 0), "are no whole blocks of Q4_0"),
        (tensor(&[1; 5], 0, 0), "`x` has 5 axes, and 4 are the most"),
        (tensor(&[1], 4, 0), "`x` has elements of type 4, which is not known"),
        (two("x", 32), "tensor `x`: the name stands there twice"),
        (two("y", 0), "tensor `y`: it overlaps `x`, which ends at byte "),
        (Writer::new(1, 0).tensor("x", &[0], 0, 0).bytes, "the file ends in front of the data"),
    ] {
        let message = open(file).err().unwrap_or_else(|| panic!("it is accepted: {problem}"));
        assert!(message.starts_with("x.gguf, at byte ") && message.contains(problem), "{message}");
    }
}

#[test]
fn truncated_files_are_refused() {
    let whole =
        Writer::new(1, 1).entry("k", 8, b"\x01\0\0\0\0\0\0\0a").tensor("x", &[8], 0, 0).data(&[7; 32]);
    assert!(open(whole.clone()).is_ok());
    for length in 0..whole.len() {
        let error = Gguf::from_bytes("x", whole[..length].to_vec()).err();
        assert!(matches!(error, Some(FileError::Malformed { .. })), "{length} bytes");
    }
}

#[test]
fn files_are_read_and_mapped_as_they_are_in_memory() {
    let tokens = (0..20_000).map(|token| format!("token {token}"));
    let file = Writer::new(1, 1)
        .text("tokens")
        .raw(9_u32.to_le_bytes())
        .raw(8_u32.to_le_bytes())
        .raw(20_000_u64.to_le_bytes());
    let file = tokens.clone().fold(file, |file, token| file.text(&token));
    let file = file.tensor("x", &[4], 24, 0).data(&[1, 2, 3, 0xff]);
    let path = std::env::temp_dir().join(format!("cuda-tiles-{}.gguf", std::process::id()));
    std::fs::write(&path, &file).unwrap();
    // SAFETY: nobody knows of the file.
    for gguf in [Gguf::open(&path), unsafe { Gguf::open_mapped(&path) }] {
        let gguf = gguf.unwrap();
        assert_eq!(gguf.metadata()["tokens"], GgufValue::Array(GgufArray::String(tokens.clone().collect())));
        assert_eq!(gguf.tensor::<i8, 1>(&Device::cpu(), "x").unwrap().to_vec().unwrap(), [1, 2, 3, -1]);
    }
    std::fs::remove_file(path).unwrap();
}

/// Sums over `gguf.constants.GGML_QUANT_SIZES` of the Python package `gguf` 0.19.0; but Q8_1, which has two `f16` as scales
/// (`ggml-common.h`: `static_assert(sizeof(block_q8_1) == 2*sizeof(ggml_half) + QK8_1)`), and there counts as if they were `f32`.
#[test]
fn types_have_ggmls_numbers_and_sizes() {
    let total: usize = GgmlType::ALL.iter().map(|one| one.block_bytes() * (one.id() as usize + 1)).sum();
    let elements: usize = GgmlType::ALL.iter().map(|one| one.block_elements()).sum();
    assert_eq!((GgmlType::ALL.len(), elements, total), (34, 4552, 38381));
    for &one in GgmlType::ALL {
        assert_eq!(GgmlType::from_id(one.id()), Some(one));
    }
    assert!((0..5_000_u32).filter(|&id| GgmlType::from_id(id).is_some()).count() == GgmlType::ALL.len());
}

/// Bytes of blocks, all different, with small scales.
fn blocks(element_type: GgmlType, count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut bytes: Vec<u8> = (0..count * element_type.block_bytes())
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let halves: &[usize] = match element_type {
        GgmlType::Q4_1 | GgmlType::Q5_1 | GgmlType::Q4_K | GgmlType::Q5_K => &[0, 2],
        GgmlType::Q6_K => &[208],
        _ => &[0],
    };
    for (number, block) in bytes.chunks_exact_mut(element_type.block_bytes()).enumerate() {
        for &at in halves {
            let scale = f16::from_f32(0.25 + number as f32 - at as f32 / 16.0);
            block[at..at + 2].copy_from_slice(&scale.to_le_bytes());
        }
    }
    bytes
}

/// Bit `at` of some bytes, counted from the lowest bit of the first one.
fn bit(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at / 8] >> (at % 8)) & 1
}

/// The number whose bits, the lowest first, stand at these places.
fn number(bytes: &[u8], places: impl IntoIterator<Item = usize>) -> f64 {
    places.into_iter().enumerate().map(|(power, place)| f64::from(bit(bytes, place) << power)).sum()
}

/// Element i of a block, bit by bit, with the places of the bits counted from the block's first: another way than that of the
/// functions under test, which go through bytes. In `f64`, where all of it is exact.
fn element(element_type: GgmlType, block: &[u8], i: usize) -> f64 {
    let half = |at: usize| f64::from(f16::from_le_bytes([block[at], block[at + 1]]).to_f32());
    // Where element i of 32 has its four bits, behind the byte `start`.
    let nibble = |start: usize| (0..4).map(move |k| 8 * (start + i % 16) + 4 * (i / 16) + k);
    let signed = |places: std::ops::Range<usize>| {
        let value = number(block, places);
        if value < 128.0 { value } else { value - 256.0 }
    };
    // Q4_K and Q5_K: scale and minimum of the part of 32 elements, whose six bits stand in two places from part 4 on.
    let part = i / 32;
    let scales = |which: usize| match part {
        0..4 => number(block, (0..6).map(|k| 8 * (4 + 4 * which + part) + k)),
        _ => number(
            block,
            (0..4).map(|k| 8 * (8 + part) + 4 * which + k).chain((6..8).map(|k| 8 * (4 * which + part) + k)),
        ),
    };
    let k_nibble =
        |start: usize| (0..4).map(move |k| 8 * (start + i / 64 * 32 + i % 32) + i / 32 % 2 * 4 + k);
    match element_type {
        GgmlType::Q4_0 => half(0) * (number(block, nibble(2)) - 8.0),
        GgmlType::Q4_1 => half(0) * number(block, nibble(4)) + half(2),
        GgmlType::Q5_0 => half(0) * (number(block, nibble(6).chain([16 + i])) - 16.0),
        GgmlType::Q5_1 => half(0) * number(block, nibble(8).chain([32 + i])) + half(2),
        GgmlType::Q8_0 => half(0) * signed(8 * (2 + i)..8 * (3 + i)),
        GgmlType::Q4_K => half(0) * scales(0) * number(block, k_nibble(16)) - half(2) * scales(1),
        GgmlType::Q5_K => {
            let q = number(block, k_nibble(48).chain([8 * (16 + i % 32) + part]));
            half(0) * scales(0) * q - half(2) * scales(1)
        }
        GgmlType::Q6_K => {
            let (side, within) = (i / 128, i % 128);
            let low = 8 * (64 * side + within % 64) + within / 64 * 4;
            let high = 8 * (128 + 32 * side + within % 32) + within / 32 * 2;
            let q = number(block, (low..low + 4).chain(high..high + 2)) - 32.0;
            half(208) * signed(8 * (192 + i / 16)..8 * (193 + i / 16)) * q
        }
        other => panic!("{other} has no formula"),
    }
}

#[test]
fn blocks_are_dequantised() {
    let device = Device::cpu();
    for element_type in [
        GgmlType::Q4_0,
        GgmlType::Q4_1,
        GgmlType::Q5_0,
        GgmlType::Q5_1,
        GgmlType::Q8_0,
        GgmlType::Q4_K,
        GgmlType::Q5_K,
        GgmlType::Q6_K,
    ] {
        let elements = element_type.block_elements();
        let bytes = blocks(element_type, 6);
        let expected: Vec<f32> = bytes
            .chunks_exact(element_type.block_bytes())
            .flat_map(|block| (0..elements).map(|i| element(element_type, block, i) as f32))
            .collect();
        let file =
            Writer::new(1, 0).tensor("x", &[2 * elements as u64, 3], element_type.id(), 0).data(&bytes);
        let gguf = open(file).unwrap();
        let x = gguf.dequantized::<f32, 2>(&device, "x").unwrap();
        assert_eq!(x.shape(), [3, 2 * elements]);
        assert_eq!(x.to_vec().unwrap(), expected, "{element_type}");
        let x = gguf.dequantized::<f16, 2>(&device, "x").unwrap().to_vec().unwrap();
        assert!(
            x.iter().zip(&expected).all(|(x, &expected)| *x == f16::from_f32(expected)),
            "{element_type}"
        );
        assert_eq!(gguf.bytes("x").unwrap()[..], bytes);
    }
}

#[test]
fn floats_are_numbers_without_blocks() {
    let file =
        Writer::new(3, 0).tensor("a", &[2], 0, 0).tensor("b", &[2], 1, 32).tensor("c", &[2], 30, 64).data(&{
            let mut data = vec![0; 96];
            data[..8].copy_from_slice(&[1.5_f32, -2.0].map(f32::to_le_bytes).concat());
            data[32..36].copy_from_slice(&[1.5, -2.0].map(|x| f16::from_f32(x).to_le_bytes()).concat());
            data[64..68].copy_from_slice(&[1.5, -2.0].map(|x| bf16::from_f32(x).to_le_bytes()).concat());
            data
        });
    let gguf = open(file).unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(gguf.dequantized::<f32, 1>(&Device::cpu(), name).unwrap().to_vec().unwrap(), [1.5, -2.0]);
    }
}
