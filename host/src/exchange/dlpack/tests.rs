//! Arrays to C and back, on the CPU: what the structs say, and that each deleter runs once.

use std::ffi::c_void;
use std::fmt::Debug;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cuda_tiles::element::{bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f16, i4x2, u4x2};

use super::*;

fn stream() -> Stream {
    Device::cpu().default_stream()
}

/// An array that a producer in C made of a vector, which counts the calls of its deleter.
struct Produced {
    managed: DLManagedTensorVersioned,
    values: Vec<f32>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    ended: Arc<AtomicUsize>,
}

unsafe extern "C" fn end(managed: *mut DLManagedTensorVersioned) {
    // SAFETY: the context is a leaked box of this type, and each test's array is ended by nobody else.
    let produced = unsafe { Box::from_raw((*managed).manager_ctx.cast::<Produced>()) };
    produced.ended.fetch_add(1, Ordering::SeqCst);
}

/// The array, changed by `change`, and how often it was ended.
fn produced(
    shape: &[i64],
    strides: &[i64],
    change: impl FnOnce(&mut DLManagedTensorVersioned),
) -> (Result<ManagedTensor, ExchangeError>, Arc<AtomicUsize>) {
    let ended = Arc::new(AtomicUsize::new(0));
    let mut produced = Box::new(Produced {
        managed: DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 3 },
            manager_ctx: ptr::null_mut(),
            deleter: Some(end),
            flags: 0,
            dl_tensor: DLTensor {
                data: ptr::null_mut(),
                device: DLDevice { device_type: 1, device_id: 0 },
                ndim: shape.len() as i32,
                dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
        },
        values: (0_u8..12).map(f32::from).collect(),
        shape: shape.to_vec(),
        strides: strides.to_vec(),
        ended: Arc::clone(&ended),
    });
    produced.managed.dl_tensor.data = produced.values.as_mut_ptr().cast();
    produced.managed.dl_tensor.shape = produced.shape.as_mut_ptr();
    if !strides.is_empty() {
        produced.managed.dl_tensor.strides = produced.strides.as_mut_ptr();
    }
    change(&mut produced.managed);
    let pointer = Box::into_raw(produced);
    // SAFETY: the box was just leaked; the tests' shapes and strides stay within the twelve values, or are refused.
    let managed = unsafe {
        (*pointer).managed.manager_ctx = pointer.cast::<c_void>();
        ManagedTensor::from_raw(NonNull::new_unchecked(&raw mut (*pointer).managed))
    };
    (managed, ended)
}

#[test]
fn an_array_of_any_strides_is_read_and_written_in_place_and_ended_once() {
    let (managed, ended) = produced(&[2, 3], &[1, 4], |managed| managed.dl_tensor.byte_offset = 4);
    let mut tensor = Tensor::<f32, 2>::from_dlpack(managed.unwrap(), &stream()).unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [1.0, 5.0, 9.0, 2.0, 6.0, 10.0]);
    tensor.view_mut().slice(0, 1..2).unwrap().fill(-1.0).unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [1.0, 5.0, 9.0, -1.0, -1.0, -1.0]);
    assert!(tensor.reshape([6]).is_err(), "its elements are not neighbours");
    assert_eq!(ended.load(Ordering::SeqCst), 1, "a refused reshape ends the tensor");
    let (managed, ended) = produced(&[12], &[], |_| ());
    let tensor = Tensor::<f32, 1>::from_dlpack(managed.unwrap(), &stream()).unwrap().reshape([3, 4]).unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    thread::spawn(move || assert_eq!(tensor.to_vec().unwrap()[11], 11.0)).join().unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

#[test]
fn what_is_refused_is_ended_once_too() {
    type Change = fn(&mut DLManagedTensorVersioned);
    let cases: [(&[i64], &[i64], Change, &str); 11] = [
        (
            &[12],
            &[1],
            |managed| managed.version.major = 2,
            "DLPack: the array is of version 2.3, and only version 1",
        ),
        (&[12], &[1], |managed| managed.dl_tensor.ndim = -1, "DLPack: the array has -1 axes"),
        (&[12], &[1], |managed| managed.dl_tensor.shape = ptr::null_mut(), "1 axes and the shape at 0x0"),
        (&[12], &[1], |managed| managed.dl_tensor.dtype.code = 5, "elements of type complex of 32 bits, but"),
        (
            &[12],
            &[1],
            |managed| managed.dl_tensor.dtype.lanes = 4,
            "float of 32 bits, 4 lanes, but a tensor of f32",
        ),
        (
            &[12],
            &[1],
            |managed| managed.dl_tensor.device.device_type = 2,
            "memory of GPU 0, but the stream is one of the CPU",
        ),
        (&[12], &[1], |managed| managed.flags = 1, "may only be read"),
        (&[2], &[1], |managed| managed.dl_tensor.byte_offset = 2, "no multiple of 4 bytes"),
        (&[2, 3], &[3, 1], |_| (), "the array has 2 axes (shape [2, 3]), but a tensor of rank 1"),
        (&[3], &[-1], |_| (), "shape [3] and strides Some([-1]) cannot be a tensor: a stride is negative"),
        (&[3], &[0], |_| (), "it gives one element several indices: take it as a `ReadOnlyTensor`"),
    ];
    for (shape, strides, change, problem) in cases {
        let (managed, ended) = produced(shape, strides, change);
        let tensor = managed.and_then(|managed| Tensor::<f32, 1>::from_dlpack(managed, &stream()));
        let message = tensor.unwrap_err().to_string();
        assert!(message.contains(problem), "{message}");
        assert_eq!(ended.load(Ordering::SeqCst), 1, "{message}");
    }
}

#[test]
fn arrays_that_cannot_be_written_can_be_read() {
    let (managed, _) = produced(&[2, 3], &[0, 1], |managed| managed.flags = 1);
    let tensor = ReadOnlyTensor::<f32, 2>::from_dlpack(managed.unwrap(), &stream()).unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
}

#[test]
fn empty_arrays_may_have_no_memory() {
    let (managed, ended) = produced(&[3, 0], &[-1, 7], |managed| managed.dl_tensor.data = ptr::null_mut());
    let tensor = Tensor::<f32, 2>::from_dlpack(managed.unwrap(), &stream()).unwrap();
    assert_eq!((tensor.shape(), tensor.to_vec().unwrap()), ([3, 0], vec![]));
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

#[test]
fn either_struct_can_be_made_of_the_other() {
    let (managed, ended) = produced(&[3, 4], &[], |_| ());
    let older = managed.unwrap().into_raw_unversioned().unwrap();
    // SAFETY: the pointer was just made.
    let newer = unsafe { ManagedTensor::from_raw_unversioned(older) }.unwrap().into_raw();
    // SAFETY: as above.
    let managed = unsafe { ManagedTensor::from_raw(newer) }.unwrap();
    assert_eq!((managed.shape(), managed.strides()), (&[3, 4][..], Some(&[4, 1][..])));
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    drop(managed);
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    let (managed, ended) = produced(&[3, 4], &[], |managed| managed.flags = 1);
    assert!(matches!(managed.unwrap().into_raw_unversioned(), Err(ExchangeError::ReadOnly)));
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

fn there_and_back<T: DlpackElement + Debug>(values: [T; 2], expected: DLDataType) {
    let tensor = Tensor::from_slice(&Device::cpu(), [2], &values).unwrap();
    let address = tensor.view().storage.address();
    let managed = tensor.into_dlpack(&stream()).unwrap();
    assert_eq!((managed.data_type(), managed.is_read_only()), (expected, false));
    let tensor = Tensor::<T, 1>::from_dlpack(managed, &stream()).unwrap();
    assert_eq!(tensor.view().storage.address(), address, "nothing is copied");
    assert_eq!(tensor.to_vec().unwrap(), values);
}

#[test]
fn every_element_type_goes_there_and_back() {
    let of = |code, bits, lanes| DLDataType { code, bits, lanes };
    there_and_back([true, false], of(6, 8, 1));
    there_and_back([1_i8, -2], of(0, 8, 1));
    there_and_back([1_u16, 2], of(1, 16, 1));
    there_and_back([1_i64, -2], of(0, 64, 1));
    there_and_back([1.0_f64, -2.0], of(2, 64, 1));
    there_and_back([f16::ONE, f16::MAX], of(2, 16, 1));
    there_and_back([bf16::ONE, bf16::MAX], of(4, 16, 1));
    there_and_back([1.0, 2.0].map(f8e4m3::from_f32), of(10, 8, 1));
    there_and_back([1.0, 2.0].map(f8e5m2::from_f32), of(12, 8, 1));
    there_and_back([1.0, 2.0].map(f8e8m0::from_f32), of(14, 8, 1));
    there_and_back([0x12, 0x34].map(f4e2m1x2::from_bits), of(17, 4, 2));
    there_and_back([0x12, 0xf4].map(i4x2::from_bits), of(0, 4, 2));
    there_and_back([0x12, 0xf4].map(u4x2::from_bits), of(1, 4, 2));
}

#[test]
fn a_shared_tensor_lives_as_long_as_its_views() {
    let tensor = Arc::new(Tensor::from_vec(&Device::cpu(), [3, 4], (0..12).collect()).unwrap());
    let part = share(&tensor, |x| Ok(x.view().slice(1, 1..3)?.transpose()), &stream()).unwrap();
    assert!(
        format!("{part:?}").ends_with("int of 32 bits, of shape [2, 3] in memory of the CPU"),
        "{part:?}"
    );
    assert_eq!(Arc::strong_count(&tensor), 2);
    let alive = Arc::downgrade(&tensor);
    drop(tensor);
    let part = ReadOnlyTensor::<i32, 2>::from_dlpack(part, &stream()).unwrap();
    assert_eq!(part.to_vec().unwrap(), [1, 5, 9, 2, 6, 10]);
    drop(part);
    assert!(alive.upgrade().is_none());
}
