//! Calls that succeed.

use std::ffi::CStr;

use super::*;
use crate::abi::{StringObject, TensorObject};
use cuda_tiles_host::{bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f16, i4x2, u4x2};

#[test]
fn a_kernel_runs_on_memory_of_the_caller() {
    let mut x = Array::new(&[100], numbers(100));
    let mut y = Array::new(&[100], vec![0.5_f32; 100]);
    let mut out = Array::new(&[100], vec![f32::NAN; 100]);
    let result = call(symbols::vector_add, &[x.any(), y.any(), out.any()]).unwrap();
    assert_eq!(result.kind, kind::NONE);
    assert_eq!(out.read(), numbers(100).iter().map(|x| x + 0.5).collect::<Vec<_>>());
}

#[test]
fn arguments_that_are_read_may_be_the_same() {
    let mut x = Array::new(&[3], numbers(3));
    let mut out = Array::new(&[3], vec![f32::NAN; 3]);
    call(symbols::vector_add, &[x.any(), x.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [0.0, 2.0, 4.0]);
}

#[test]
fn empty_tensors_have_no_memory() {
    let null = |array: Array<f32>| array.changed(|tensor| tensor.data = ptr::null_mut());
    let (mut x, mut y, mut out) =
        (null(Array::new(&[0], vec![])), null(Array::new(&[0], vec![])), null(Array::new(&[0], vec![])));
    call(symbols::vector_add, &[x.any(), y.any(), out.any()]).unwrap();
}

#[test]
fn strides_and_offsets_choose_elements() {
    // Columns 1 and 2 of three rows of four elements, by a byte offset of one element.
    let mut x = Array::strided(&[3, 2], &[4, 1], numbers(12)).changed(|tensor| tensor.byte_offset = 4);
    // Column-major.
    let mut out = Array::strided(&[2, 3], &[1, 2], vec![f32::NAN; 6]);
    call(symbols::transpose, &[x.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [1.0, 2.0, 5.0, 6.0, 9.0, 10.0]);
}

#[test]
fn strides_of_single_elements_do_not_matter() {
    let mut x = Array::strided(&[1, 3], &[-7, 1], vec![1.0, 2.0, 3.0]);
    call(symbols::scale, &[x.any(), Any::int(2)]).unwrap();
    assert_eq!(x.read(), [2.0, 4.0, 6.0]);
    let mut x = Array::strided(&[3, 1], &[1, i64::MAX], vec![1.0, 2.0, 3.0]);
    call(symbols::scale, &[x.any(), Any::float(0.5)]).unwrap();
    assert_eq!(x.read(), [0.5, 1.0, 1.5]);
}

#[test]
fn no_strides_are_those_of_row_major_order() {
    let mut x = Array::new(&[2, 3], numbers(6)).changed(|tensor| tensor.strides = ptr::null_mut());
    let mut out = Array::new(&[3, 2], vec![f32::NAN; 6]);
    call(symbols::transpose, &[x.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
}

#[test]
fn a_stride_of_zero_repeats_what_is_read() {
    let mut x = Array::strided(&[2, 3], &[0, 1], numbers(3));
    let mut out = Array::new(&[3, 2], vec![f32::NAN; 6]);
    call(symbols::transpose, &[x.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn pinned_memory_is_the_cpus() {
    let pinned = |tensor: &mut DLTensor| {
        tensor.device = DLDevice { device_type: device_type::CUDA_HOST, device_id: 0 }
    };
    let mut x = Array::new(&[2], numbers(2)).changed(pinned);
    let mut y = Array::new(&[2], numbers(2));
    let mut out = Array::new(&[2], numbers(2));
    call(symbols::vector_add, &[x.any(), y.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [0.0, 2.0]);
}

#[test]
fn objects_of_tvm_ffi_are_tensors_too() {
    let mut x = Array::new(&[2], numbers(2));
    let mut out = Array::new(&[2], numbers(2));
    let tensor = DLTensor { ..x.changed_description() };
    let mut object = TensorObject { _header: [0; 3], tensor };
    let any = Any { kind: kind::TENSOR, length: 0, value: Value { pointer: (&raw mut object).cast() } };
    call(symbols::vector_add, &[any, x.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [0.0, 2.0]);
}

impl<T: DlpackElement> Array<T> {
    /// Another description of the same memory.
    fn changed_description(&mut self) -> DLTensor {
        let DLTensor { data, device, ndim, dtype, shape, strides, byte_offset } = self.description;
        DLTensor { data, device, ndim, dtype, shape, strides, byte_offset }
    }
}

/// The three forms of text.
fn texts(text: &'static CStr, object: &mut StringObject) -> Vec<Any> {
    let bytes = text.to_bytes();
    *object = StringObject { _header: [0; 3], data: text.as_ptr(), size: bytes.len() };
    let raw = Value { pointer: text.as_ptr().cast_mut().cast() };
    let mut forms = vec![
        Any { kind: kind::RAW_STRING, length: 0, value: raw },
        Any { kind: kind::STRING, length: 0, value: Value { pointer: ptr::from_mut(object).cast() } },
    ];
    if bytes.len() <= 7 {
        let mut small = [0; 8];
        small[..bytes.len()].copy_from_slice(bytes);
        let length = bytes.len() as u32;
        forms.push(Any { kind: kind::SMALL_STRING, length, value: Value { bytes: small } });
    }
    forms
}

#[test]
fn numbers_and_texts_arrive_and_numbers_return() {
    let mut object = StringObject { _header: [0; 3], data: ptr::null(), size: 0 };
    let mut forms = texts(c"m", &mut object);
    assert_eq!(forms.len(), 3);
    let mut other = StringObject { _header: [0; 3], data: ptr::null(), size: 0 };
    forms.extend(texts(c"a metre", &mut other));
    for unit in forms {
        for (offset, negated, expected) in [(Any::int(-5), false, 7.5), (Any::none(), true, -10.0)] {
            let arguments = [Any::int(-2), Any::int(22), Any::float(0.5), Any::bool(negated), unit, offset];
            let result = call(symbols::sum_of_numbers, &arguments).unwrap();
            assert_eq!(result.kind, kind::FLOAT);
            // SAFETY: the result is a float.
            assert_eq!(unsafe { result.value.float }, expected);
        }
    }
}

#[test]
fn tensors_may_be_left_out() {
    let mut x = Array::new(&[3], vec![true, false, true]);
    let result = call(symbols::len_of, &[x.any()]).unwrap();
    assert_eq!(result.kind, kind::INT);
    // SAFETY: the result is an int.
    assert_eq!(unsafe { result.value.integer }, 3);
}

/// A function for each type of elements, which copies a tensor of all six axes.
macro_rules! copies {
    ($($name:ident $type:ident)*) => { $(
        #[export]
        fn $name(
            _call: &Call,
            x: TensorView<$type, 6>,
            mut out: TensorViewMut<$type, 6>,
        ) -> cuda_tiles_host::Result<()> {
            out.copy_from_slice(&x.to_vec()?)
        }
    )* };
}

copies! {
    copy_bool bool copy_i8 i8 copy_i16 i16 copy_i32 i32 copy_i64 i64 copy_u8 u8 copy_u16 u16 copy_u32 u32 copy_u64 u64
    copy_f16 f16 copy_f32 f32 copy_f64 f64 copy_bf16 bf16 copy_f8e4m3 f8e4m3 copy_f8e5m2 f8e5m2 copy_f8e8m0 f8e8m0
    copy_f4e2m1x2 f4e2m1x2 copy_i4x2 i4x2 copy_u4x2 u4x2
}

/// Copies a tensor of six axes, two of them longer than 1, to one with these in another order.
fn check_copy<T: DlpackElement>(function: SafeCall, values: [T; 4]) {
    let mut x = Array::new(&[1, 2, 1, 1, 2, 1], values.to_vec());
    let mut out = Array::strided(&[1, 2, 1, 1, 2, 1], &[4, 1, 4, 4, 2, 4], vec![values[0]; 4]);
    call(function, &[x.any(), out.any()]).unwrap();
    assert_eq!(out.read(), [values[0], values[2], values[1], values[3]]);
}

#[test]
fn every_type_of_elements_arrives() {
    symbols::symbols! {
        c_bool "__tvm_ffi_copy_bool" c_i8 "__tvm_ffi_copy_i8" c_i16 "__tvm_ffi_copy_i16" c_i32 "__tvm_ffi_copy_i32"
        c_i64 "__tvm_ffi_copy_i64" c_u8 "__tvm_ffi_copy_u8" c_u16 "__tvm_ffi_copy_u16" c_u32 "__tvm_ffi_copy_u32"
        c_u64 "__tvm_ffi_copy_u64" c_f16 "__tvm_ffi_copy_f16" c_f32 "__tvm_ffi_copy_f32" c_f64 "__tvm_ffi_copy_f64"
        c_bf16 "__tvm_ffi_copy_bf16" c_f8e4m3 "__tvm_ffi_copy_f8e4m3" c_f8e5m2 "__tvm_ffi_copy_f8e5m2"
        c_f8e8m0 "__tvm_ffi_copy_f8e8m0" c_f4e2m1x2 "__tvm_ffi_copy_f4e2m1x2"
        c_i4x2 "__tvm_ffi_copy_i4x2" c_u4x2 "__tvm_ffi_copy_u4x2"
    }
    check_copy(c_bool, [true, false, false, true]);
    check_copy(c_i8, [1_i8, -2, 3, -4]);
    check_copy(c_i16, [1_i16, -2, 3, -4]);
    check_copy(c_i32, [1_i32, -2, 3, -4]);
    check_copy(c_i64, [1_i64, -2, 3, -4]);
    check_copy(c_u8, [1_u8, 2, 3, 4]);
    check_copy(c_u16, [1_u16, 2, 3, 4]);
    check_copy(c_u32, [1_u32, 2, 3, 4]);
    check_copy(c_u64, [1_u64, 2, 3, 4]);
    check_copy(c_f16, [1.0, 2.0, 3.0, 4.0].map(f16::from_f32));
    check_copy(c_f32, [1.0_f32, 2.0, 3.0, 4.0]);
    check_copy(c_f64, [1.0_f64, 2.0, 3.0, 4.0]);
    check_copy(c_bf16, [1.0, 2.0, 3.0, 4.0].map(bf16::from_f32));
    check_copy(c_f8e4m3, [1.0, 2.0, 3.0, 4.0].map(f8e4m3::from_f32));
    check_copy(c_f8e5m2, [1.0, 2.0, 3.0, 4.0].map(f8e5m2::from_f32));
    check_copy(c_f8e8m0, [1.0, 2.0, 4.0, 8.0].map(f8e8m0::from_f32));
    check_copy(c_f4e2m1x2, [0x12, 0x34, 0x56, 0x78].map(f4e2m1x2::from_bits));
    check_copy(c_i4x2, [0x12, 0x34, 0x56, 0xf8].map(i4x2::from_bits));
    check_copy(c_u4x2, [0x12, 0x34, 0x56, 0xf8].map(u4x2::from_bits));
}
