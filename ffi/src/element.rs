//! What the types of elements are called in Python.

use crate::abi::DLDataType;

/// The names of the types that there are kernels for: PyTorch's and NumPy's.
const NAMES: [(DLDataType, &str); 19] = [
    (data_type(6, 8, 1), "bool"),
    (data_type(0, 8, 1), "int8"),
    (data_type(0, 16, 1), "int16"),
    (data_type(0, 32, 1), "int32"),
    (data_type(0, 64, 1), "int64"),
    (data_type(1, 8, 1), "uint8"),
    (data_type(1, 16, 1), "uint16"),
    (data_type(1, 32, 1), "uint32"),
    (data_type(1, 64, 1), "uint64"),
    (data_type(2, 16, 1), "float16"),
    (data_type(2, 32, 1), "float32"),
    (data_type(2, 64, 1), "float64"),
    (data_type(4, 16, 1), "bfloat16"),
    (data_type(10, 8, 1), "float8_e4m3fn"),
    (data_type(12, 8, 1), "float8_e5m2"),
    (data_type(14, 8, 1), "float8_e8m0fnu"),
    (data_type(17, 4, 2), "float4_e2m1fn_x2"),
    (data_type(0, 4, 2), "int4x2"),
    (data_type(1, 4, 2), "uint4x2"),
];

const fn data_type(code: u8, bits: u8, lanes: u16) -> DLDataType {
    DLDataType { code, bits, lanes }
}

/// What the elements of a tensor are, in words.
pub(crate) fn name(found: DLDataType) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == found) {
        return (*name).to_owned();
    }
    let DLDataType { code, bits, lanes } = found;
    match (code, lanes) {
        (5, 1) => format!("complex{bits}"),
        _ => format!("of DLPack's type code {code} with {bits} bits and {lanes} lane(s)"),
    }
}
