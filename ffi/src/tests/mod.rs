//! Exported functions, called as TVM-FFI calls them: by their symbols, with arguments made by hand in memory of the CPU.

mod calls;
mod refusals;

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch};

use crate::abi::{Any, DLDataType, DLDevice, DLTensor, Value, device_type, kind};
use crate::runtime::Runtime;
use crate::{Call, DlpackElement, Exception, ExceptionKind, TensorView, TensorViewMut, export};

thread_local! {
    /// What was raised on this thread, as TVM-FFI keeps it: the class of the exception, and its text.
    static RAISED: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// What stands in for libtvm_ffi.
pub(crate) fn stand_in() -> Runtime {
    unsafe extern "C" fn raise(class: *const c_char, text: *const c_char) {
        // SAFETY: both are C strings, by the convention of the function that this one stands for.
        let owned = |text| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
        RAISED.set(Some((owned(class), owned(text))));
    }
    unsafe extern "C" fn stream(_: i32, _: i32) -> *mut c_void {
        ptr::null_mut()
    }
    Runtime { raise, stream }
}

/// The function behind an exported name: `TVMFFISafeCallType`.
type SafeCall = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> c_int;

/// Calls a function as TVM-FFI does: the result, or class and text of the exception.
///
/// The arguments point to what lives as long as they do: [`Array`]s and literals.
fn call(function: SafeCall, arguments: &[Any]) -> Result<Any, (String, String)> {
    let mut result = Any::none();
    // SAFETY: the tests make arguments as `c_api.h` describes them, on memory that lives through the call.
    let code =
        unsafe { function(ptr::null_mut(), arguments.as_ptr(), arguments.len() as i32, &raw mut result) };
    let raised = RAISED.take();
    match code {
        0 => {
            assert_eq!(raised, None, "a call that succeeds raises nothing");
            Ok(result)
        }
        -1 => Err(raised.expect("a call that fails raises an exception")),
        other => panic!("a call returned {other}"),
    }
}

/// An array of the caller, with the description that DLPack gives of it.
struct Array<T> {
    elements: Vec<T>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    description: DLTensor,
}

impl<T: DlpackElement> Array<T> {
    /// Row-major.
    fn new(shape: &[i64], elements: Vec<T>) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        Self::strided(shape, &strides, elements)
    }

    fn strided(shape: &[i64], strides: &[i64], elements: Vec<T>) -> Self {
        let description = DLTensor {
            data: ptr::null_mut(),
            device: DLDevice { device_type: device_type::CPU, device_id: 0 },
            ndim: shape.len() as i32,
            dtype: T::DATA_TYPE,
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let mut array = Self { elements, shape: shape.to_vec(), strides: strides.to_vec(), description };
        array.description.data = array.elements.as_mut_ptr().cast();
        array.description.shape = array.shape.as_mut_ptr();
        array.description.strides = array.strides.as_mut_ptr();
        array
    }

    /// The array as an argument, its description changed by `change`.
    fn changed(mut self, change: impl FnOnce(&mut DLTensor)) -> Self {
        change(&mut self.description);
        self
    }

    /// The array as an argument. The address is that of the description: `self` must not move while the argument is in use.
    fn any(&mut self) -> Any {
        let pointer = (&raw mut self.description).cast();
        Any { kind: kind::DL_TENSOR, length: 0, value: Value { pointer } }
    }

    /// What the array holds now. The function has written through the address in its description.
    fn read(&self) -> Vec<T> {
        let address = self.description.data.cast::<T>();
        // SAFETY: the address is that of the vector's elements, unless a test has changed it, and those do not read.
        (0..self.elements.len()).map(|index| unsafe { address.add(index).read() }).collect()
    }
}

/// `0, 1, 2, ...`
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|index| index as f32).collect()
}

#[kernel]
fn add(cx: Cx, x: Span<f32, (u32,)>, y: Span<f32, (u32,)>, z: SpanMut<f32, (u32,)>) {
    assert!(x.extent(0) == z.extent(0), "the vectors have other lengths");
    let (x, y, z) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]), z.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    z.store_masked(x.load_masked(Zero, i) + y.load_masked(Zero, i), i);
}

/// `out = x + y`.
#[export]
fn vector_add(
    call: &Call,
    x: TensorView<f32, 1>,
    y: TensorView<f32, 1>,
    out: TensorViewMut<f32, 1>,
) -> cuda_tiles_host::Result<()> {
    add.launch_on(call.stream(), Grid::cover(out.shape(), [64]), (x, y, out))
}

/// `out = x'`.
#[export]
fn transpose(
    _call: &Call,
    x: TensorView<f32, 2>,
    mut out: TensorViewMut<f32, 2>,
) -> cuda_tiles_host::Result<()> {
    out.copy_from_slice(&x.transpose().to_vec()?)
}

/// Scales a tensor in place.
#[export("scale")]
fn scale_in_place(_call: &Call, mut x: TensorViewMut<f64, 2>, factor: f64) -> cuda_tiles_host::Result<()> {
    let scaled: Vec<f64> = x.as_view().to_vec()?.iter().map(|value| value * factor).collect();
    x.copy_from_slice(&scaled)
}

/// Every kind of parameter without memory of its own, as a sum.
#[export]
fn sum_of_numbers(
    call: &Call,
    small: i8,
    large: u64,
    factor: f32,
    negated: bool,
    unit: &str,
    offset: Option<i64>,
) -> Result<f64, Exception> {
    if unit != "m" && unit != "a metre" {
        return Err(Exception::new(ExceptionKind::Value, format!("`{unit}` is no unit of\0length")));
    }
    assert!(!call.device().is_gpu());
    let sum = f64::from(factor) * (f64::from(small) + large as f64 + offset.unwrap_or(0) as f64);
    Ok(if negated { -sum } else { sum })
}

/// The number of elements, or of `usize::MAX` as an example of a result that does not fit.
#[export]
fn len_of(_call: &Call, x: Option<TensorView<bool, 1>>) -> usize {
    x.map_or(usize::MAX, |x| x.len())
}

#[export]
fn give_up(_call: &Call, why: &str) {
    panic!("{why}");
}

/// Exported functions, by their symbols.
mod symbols {
    use super::{Any, c_int, c_void};

    macro_rules! symbols {
        ($($name:ident $symbol:literal)*) => { unsafe extern "C" { $(
            #[link_name = $symbol]
            pub(super) fn $name(handle: *mut c_void, arguments: *const Any, count: i32, result: *mut Any) -> c_int;
        )* } };
    }
    pub(super) use symbols;

    symbols! {
        vector_add "__tvm_ffi_vector_add"
        transpose "__tvm_ffi_transpose"
        scale "__tvm_ffi_scale"
        sum_of_numbers "__tvm_ffi_sum_of_numbers"
        len_of "__tvm_ffi_len_of"
        give_up "__tvm_ffi_give_up"
    }
}
