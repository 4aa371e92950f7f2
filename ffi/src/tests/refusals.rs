//! Every text that a call can raise.

use super::*;

/// The class and the text of the exception that a call raises.
#[track_caller]
fn raised(function: SafeCall, arguments: &[Any]) -> (String, String) {
    call(function, arguments).err().expect("the call raises an exception")
}

/// Fails unless a call raises this exception.
#[track_caller]
fn refused(function: SafeCall, arguments: &[Any], class: &str, text: &str) {
    let (found_class, found) = raised(function, arguments);
    assert_eq!((&*found_class, &*found), (class, text));
}

/// Refuses `x` as the first of three arguments of `vector_add`.
#[track_caller]
fn refused_vector(mut x: Array<f32>, class: &str, text: &str) {
    let (mut y, mut out) = (Array::new(&[2], numbers(2)), Array::new(&[2], numbers(2)));
    refused(
        symbols::vector_add,
        &[x.any(), y.any(), out.any()],
        class,
        &format!("vector_add, argument 1 (`x`): {text}"),
    );
}

#[test]
fn another_number_of_arguments() {
    let mut x = Array::new(&[2], numbers(2));
    refused(
        symbols::vector_add,
        &[x.any()],
        "TypeError",
        "vector_add: it takes 3 arguments (x, y, out), and 1 was given",
    );
    refused(symbols::len_of, &[], "TypeError", "len_of: it takes 1 argument (x), and 0 were given");
}

#[test]
fn another_type_of_argument() {
    let mut object = Array::new(&[2], numbers(2));
    let other = |kind| Any { kind, length: 0, value: Value { integer: 0 } };
    for (argument, given) in [
        (Any::none(), "None"),
        (Any::int(1), "an int"),
        (Any::float(1.0), "a float"),
        (Any::bool(true), "a bool"),
        (Any { kind: kind::SMALL_STRING, length: 1, value: Value { bytes: *b"x\0\0\0\0\0\0\0" } }, "a str"),
        (other(kind::OPAQUE_POINTER), "a pointer"),
        (other(kind::DATA_TYPE), "a dtype"),
        (other(kind::DEVICE), "a device"),
        (other(kind::SMALL_BYTES), "bytes"),
        (other(kind::FUNCTION), "a function"),
        (other(kind::SHAPE), "a shape"),
        (other(kind::ARRAY), "a list"),
        (other(kind::MAP), "a dict"),
        (other(kind::PYTHON_OBJECT), "a Python object that is neither number, text nor tensor"),
        (other(kind::BIG_INT), "an int of more than 64 bits"),
        (other(200), "an object of TVM-FFI's type 200"),
    ] {
        let text = format!(
            "vector_add, argument 1 (`x`): a tensor of float32 with 1 axis is expected, and {given} was given"
        );
        refused(symbols::vector_add, &[argument, object.any(), object.any()], "TypeError", &text);
    }
    let numbers = |small, large, factor, negated, unit, offset| [small, large, factor, negated, unit, offset];
    let unit = Any { kind: kind::SMALL_STRING, length: 1, value: Value { bytes: *b"m\0\0\0\0\0\0\0" } };
    let (int, float, bool) = (Any::int(1), Any::float(1.0), Any::bool(true));
    for (arguments, text) in [
        (
            numbers(float, int, float, bool, unit, int),
            "1 (`small`): an int is expected, and a float was given",
        ),
        (numbers(bool, int, float, bool, unit, int), "1 (`small`): an int is expected, and a bool was given"),
        (numbers(int, int, bool, bool, unit, int), "3 (`factor`): a float is expected, and a bool was given"),
        (numbers(int, int, float, int, unit, int), "4 (`negated`): a bool is expected, and an int was given"),
        (numbers(int, int, float, bool, int, int), "5 (`unit`): a str is expected, and an int was given"),
        (numbers(int, int, float, bool, unit, unit), "6 (`offset`): an int is expected, and a str was given"),
        (
            numbers(int, int, float, bool, object.any(), int),
            "5 (`unit`): a str is expected, and a tensor of float32 with 1 axis was given",
        ),
    ] {
        let text = format!("sum_of_numbers, argument {text}");
        refused(symbols::sum_of_numbers, &arguments, "TypeError", &text);
    }
    for (small, large, text) in [
        (128, 1, "1 (`small`): 128 is out of the range of the parameter's type, i8"),
        (1, -1, "2 (`large`): -1 is out of the range of the parameter's type, u64"),
    ] {
        let arguments = numbers(Any::int(small), Any::int(large), float, bool, unit, int);
        refused(
            symbols::sum_of_numbers,
            &arguments,
            "ValueError",
            &format!("sum_of_numbers, argument {text}"),
        );
    }
    let latin = Any { kind: kind::SMALL_STRING, length: 1, value: Value { bytes: *b"\xb5\0\0\0\0\0\0\0" } };
    refused(
        symbols::sum_of_numbers,
        &numbers(int, int, float, bool, latin, int),
        "ValueError",
        "sum_of_numbers, argument 5 (`unit`): the text is not UTF-8",
    );
}

#[test]
fn other_elements() {
    let of = |code, bits, lanes| {
        Array::new(&[2], numbers(2)).changed(|tensor| tensor.dtype = DLDataType { code, bits, lanes })
    };
    for (x, found) in [
        (of(2, 64, 1), "float64"),
        (of(4, 16, 1), "bfloat16"),
        (of(6, 8, 1), "bool"),
        (of(5, 64, 1), "complex64"),
        (of(2, 32, 4), "of DLPack's type code 2 with 32 bits and 4 lane(s)"),
    ] {
        let text =
            format!("the tensor's elements are {found}, and the parameter's are float32: convert the tensor");
        refused_vector(x, "TypeError", &text);
    }
}

#[test]
fn another_number_of_axes() {
    let text = "the tensor has 2 axes (shape [1, 2]), and the parameter has 1";
    refused_vector(Array::new(&[1, 2], numbers(2)), "ValueError", text);
    let text = "the tensor has 0 axes (shape []), and the parameter has 1";
    refused_vector(Array::new(&[], numbers(1)), "ValueError", text);
}

#[test]
fn another_device() {
    let on = |kind, ordinal| {
        Array::new(&[2], numbers(2))
            .changed(|tensor| tensor.device = DLDevice { device_type: kind, device_id: ordinal })
    };
    let text = "the tensor is on ROCm device 1: kernels run on CUDA devices and on the CPU";
    refused_vector(on(10, 1), "ValueError", text);
    let text = "the tensor is on CUDA's managed memory: kernels run on CUDA devices and on the CPU";
    refused_vector(on(13, 0), "ValueError", text);
    let text = "the tensor is on a device of DLPack's type 8: kernels run on CUDA devices and on the CPU";
    refused_vector(on(8, 0), "ValueError", text);
    let (mut x, mut y, mut out) =
        (on(device_type::CPU, 0), on(device_type::CPU, 0), on(device_type::CUDA, 3));
    let text = "vector_add, argument 3 (`out`): the tensor is on CUDA device 3, and `x` is on the CPU: the tensors of a call are on one \
                device";
    refused(symbols::vector_add, &[x.any(), y.any(), out.any()], "ValueError", text);
    // No machine has so many GPUs: what the host says of them goes through.
    let (mut x, mut y, mut out) =
        (on(device_type::CUDA, 99), on(device_type::CUDA, 99), on(device_type::CUDA, 99));
    let (class, text) = raised(symbols::vector_add, &[x.any(), y.any(), out.any()]);
    assert_eq!(class, "RuntimeError");
    assert!(text.contains("no GPU can be used") || text.contains("there is no GPU 99"), "{text}");
}

#[test]
fn descriptions_that_are_none() {
    let malformed = |reason: &str| format!("the tensor is not a valid DLPack tensor: {reason}");
    let changed = |change: fn(&mut DLTensor)| Array::new(&[2], numbers(2)).changed(change);
    refused_vector(
        changed(|tensor| tensor.ndim = -1),
        "ValueError",
        &malformed("the number of its axes is negative"),
    );
    refused_vector(
        changed(|tensor| tensor.shape = ptr::null_mut()),
        "ValueError",
        &malformed("it has axes, and no shape"),
    );
    refused_vector(
        changed(|tensor| tensor.data = ptr::null_mut()),
        "ValueError",
        &malformed("it has elements, and no memory"),
    );
    refused_vector(Array::new(&[-2], numbers(2)), "ValueError", &malformed("an extent is negative"));
    let null = Any { kind: kind::DL_TENSOR, length: 0, value: Value { pointer: ptr::null_mut() } };
    let text = "len_of, argument 1 (`x`): the tensor is not a valid DLPack tensor: its address is null";
    refused(symbols::len_of, &[null], "ValueError", text);
}

#[test]
fn strides_that_cannot_be() {
    let text = "axis 0 has the stride -1: strides are not negative; make a contiguous copy of the tensor";
    refused_vector(Array::strided(&[2], &[-1], numbers(2)), "ValueError", text);
    let text = "shape [2] and strides [9223372036854775807] reach beyond the address space";
    refused_vector(Array::strided(&[2], &[i64::MAX], numbers(2)), "ValueError", text);
    let text = "shape [9223372036854775807] and strides [1] reach beyond the address space";
    refused_vector(Array::strided(&[i64::MAX], &[1], numbers(2)), "ValueError", text);
    let misplaced = Array::new(&[1], numbers(2)).changed(|tensor| tensor.byte_offset = 2);
    let address = misplaced.description.data.addr() + 2;
    let text = format!(
        "the tensor begins at address {address:#x}, which is no multiple of the 4 bytes of an element"
    );
    refused_vector(misplaced, "ValueError", &text);

    let (mut x, mut out) =
        (Array::new(&[3, 2], numbers(6)), Array::strided(&[2, 3], &[0, 1], vec![0.0_f32; 6]));
    let text = "transpose, argument 2 (`out`): shape [2, 3] and strides [0, 1] give one element several indices, and the function writes \
                to the tensor: make a contiguous copy of it";
    refused(symbols::transpose, &[x.any(), out.any()], "ValueError", text);
}

#[test]
fn memory_that_is_written_and_another_arguments() {
    let (mut x, mut y) = (Array::new(&[4], numbers(4)), Array::new(&[4], numbers(4)));
    let text = "vector_add, argument 3 (`out`): its memory overlaps that of `y`, and the function writes to `out`: give that memory of its \
                own, from the first to the last element";
    refused(symbols::vector_add, &[x.any(), y.any(), y.any()], "ValueError", text);
    // One element in common.
    let mut end = Array::new(&[2], numbers(0)).changed(|tensor| tensor.data = y.description.data);
    end.description.byte_offset = 12;
    refused(symbols::vector_add, &[x.any(), y.any(), end.any()], "ValueError", text);
    assert_eq!(y.read(), numbers(4), "nothing was written");
}

#[test]
fn bytes_that_are_no_bool() {
    let mut x = Array::new(&[3], vec![0_u8, 1, 2])
        .changed(|tensor| tensor.dtype = DLDataType { code: 6, bits: 8, lanes: 1 });
    let text = "len_of, argument 1 (`x`): an element of the tensor of bool is the byte 2, which is neither false (0) nor true (1)";
    refused(symbols::len_of, &[x.any()], "ValueError", text);
}

#[test]
fn what_the_function_returns_and_panics_with() {
    let unit = Any { kind: kind::SMALL_STRING, length: 2, value: Value { bytes: *b"ft\0\0\0\0\0\0" } };
    let arguments = [Any::int(1), Any::int(1), Any::float(1.0), Any::bool(false), unit, Any::none()];
    refused(symbols::sum_of_numbers, &arguments, "ValueError", "`ft` is no unit of\u{fffd}length");
    let why = Any { kind: kind::SMALL_STRING, length: 7, value: Value { bytes: *b"no more\0" } };
    refused(symbols::give_up, &[why], "RuntimeError", "give_up: the function panicked: no more");
    let text = "len_of: the result 18446744073709551615 is larger than Python's side can take, a signed integer of 64 bits";
    refused(symbols::len_of, &[Any::none()], "ValueError", text);
}

#[test]
fn what_a_launch_says_goes_through() {
    let (mut x, mut y) = (Array::new(&[2], numbers(2)), Array::new(&[2], numbers(2)));
    let mut out = Array::new(&[100], numbers(100));
    let (class, text) = raised(symbols::vector_add, &[x.any(), y.any(), out.any()]);
    assert_eq!(class, "RuntimeError");
    assert!(
        text.starts_with("kernel `add` panicked in block (0, 0, 0): the vectors have other lengths"),
        "{text}"
    );
}

#[test]
fn errors_of_the_host_have_classes() {
    use cuda_tiles_host::{Device, Error};
    let class = |error: Error| Exception::from(error).kind();
    assert_eq!(class(Error::OutOfMemory { device: "GPU 0".to_owned(), bytes: 1 }), ExceptionKind::Memory);
    assert_eq!(
        class(cuda_tiles_host::Tensor::<u8, 1>::zeros(&Device::cpu(), [usize::MAX]).unwrap_err()),
        ExceptionKind::Value
    );
    assert_eq!(class(Device::gpu(usize::MAX).unwrap_err()), ExceptionKind::Runtime);
}
