//! Launches on the CPU: what bad input is answered with, word for word, and what must work.
//!
//! The kernels stand next to their tests. They are not compiled to PTX; what is peculiar to a GPU is tested by
//! `host/tests/gpu.rs`, and here as far as it needs no compiled kernel.

use cuda_tiles::prelude::*;
use cuda_tiles::span::Exclusive;
use cuda_tiles_host::{Argument, Artifact, Device, Error, Grid, Launch, LaunchUnsafe, PinnedBuffer, Tensor};
use std::time::Duration;

/// `y = 2 x` by tiles of 64, which must be whole.
#[kernel]
fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    let tile = x.load(i);
    y.store(tile * 2.0, i);
}

/// `y = x + 1` by tiles of 4 x 8, masked.
#[kernel(grid = 2, instances(<f32>, <i64>, <f16>))]
fn increment<B: Block, T: Number>(
    cx: Cx<B>,
    x: Span<T, (u32, u32), Strided>,
    y: SpanMut<T, (u32, u32), Strided>,
) {
    let (x, y) = (x.partition(cx, shape![4, 8]), y.partition(cx, shape![4, 8]));
    let index = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, index) + T::ONE, index);
}

/// Wants a matrix with 64 columns, the number of rows a multiple of 8, aligned to 16 bytes.
#[kernel]
fn exacting(cx: Cx, x: Span<f32, (Mult<u32, 8>, D<64>), Right, Aligned<16>>) {
    let _ = x.partition(cx, shape![8, 64]).load((cx.bid::<0>(), 0));
}

/// Sums a row-major matrix of any size into `sums`, one row a block.
#[kernel]
fn row_sums(cx: Cx, x: Span<f32, (u32, u32)>, sums: SpanMut<f32, (u32,)>) {
    let (x, sums) = (x.partition(cx, shape![1, 16]), sums.partition(cx, shape![1]));
    let row = cx.bid::<0>();
    let mut sum = cx.zeros::<f32>(shape![1, 16]);
    for column in 0..x.num_tiles(1) {
        sum += x.load_masked(Zero, (row, column));
    }
    sums.store(sum.sum::<1>().reshape(shape![1]), row);
}

/// Overwrites the last tile with 7, counting in 64 bits.
#[kernel]
fn mark_last_tile(cx: Cx, x: SpanMut<u8, (u64,)>) {
    let x = x.partition(cx, shape![65536]);
    let i = cx.bid::<0>();
    if u64::from(*i) + 1 == x.num_tiles(0) {
        x.store_masked(cx.full(shape![65536], 7_u8), i);
    }
}

/// Counts bytes in 32 bits.
#[kernel]
fn touch(cx: Cx, x: Span<u8, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load_masked(Zero, cx.bid::<0>());
}

/// Counts bytes of a matrix in 32 bits.
#[kernel]
fn touch_matrix(cx: Cx, x: Span<u8, (u32, u32)>) {
    let _ = x.partition(cx, shape![1, 64]).load_masked(Zero, (cx.bid::<0>(), 0));
}

/// Stores `value` as tile `index`, of which the caller knows that no other block does.
///
/// # Safety
/// The grid has one block, and the tile lies inside the tensor.
#[kernel]
unsafe fn set_tile(cx: Cx, x: SpanMut<i32, (u32,)>, index: u32, value: i32) {
    let x = x.partition(cx, shape![4]);
    // SAFETY: the contract of the kernel.
    unsafe { x.store_unchecked(cx.full(shape![4], value), index) }
}

/// Divides by a number that must not be zero.
#[kernel]
fn divide(cx: Cx, x: SpanMut<u32, (u32,)>, by: u32) {
    assert!(by != 0, "the divisor is zero");
    let x = x.partition(cx, shape![16]);
    let i = cx.bid::<0>();
    x.store(x.load(i) / by, i);
}

fn tensor<const RANK: usize>(shape: [usize; RANK]) -> Tensor<f32, RANK> {
    let count = shape.iter().product::<usize>();
    Tensor::from_vec(&Device::cpu(), shape, (0..count).map(|i| i as f32).collect()).unwrap()
}

/// The number of the line of this file with this text.
fn line_with(text: &str) -> usize {
    1 + include_str!("launch.rs").lines().position(|line| line.contains(text)).unwrap()
}

fn refused_by_exacting<'a, A>(argument: A) -> String
where
    A: Argument<Span<f32, (Mult<u32, 8>, D<64>), Right, Aligned<16>>> + 'a,
{
    exacting.launch(&Device::cpu(), 1, (argument,)).unwrap_err().to_string()
}

#[test]
fn what_fits_is_launched() {
    exacting.launch(&Device::cpu(), 2, (&tensor([16, 64]),)).unwrap();
    let mut y = Tensor::poisoned(&Device::cpu(), [128]).unwrap();
    double.launch(&Device::cpu(), 2, (&tensor([128]), &mut y)).unwrap();
    assert!(y.to_vec().unwrap().iter().enumerate().all(|(i, &y)| y == 2.0 * i as f32));
}

#[test]
fn wrong_extents_are_refused_in_words() {
    assert_eq!(
        refused_by_exacting(&tensor([8, 65])),
        "kernel `exacting`, argument 1 (`x`): a tensor of shape [8, 65] and strides [65, 1] does not fit: axis 1 has \
         length 65, but the kernel is compiled for exactly 64"
    );
    assert_eq!(
        refused_by_exacting(&tensor([9, 64])),
        "kernel `exacting`, argument 1 (`x`): a tensor of shape [9, 64] and strides [64, 1] does not fit: axis 0 has \
         length 9, but the kernel is compiled for multiples of 8"
    );
}

#[test]
fn wrong_strides_are_refused_in_words() {
    let square = tensor([64, 64]);
    assert_eq!(
        refused_by_exacting(square.view().transpose()),
        "kernel `exacting`, argument 1 (`x`): a tensor of shape [64, 64] and strides [1, 64] does not fit: its strides are \
         [1, 64], but the kernel wants a tensor that is row-major without gaps; copy the tensor, or declare the argument \
         as `PitchedLeft`"
    );
    let wide = tensor([8, 80]);
    let message = refused_by_exacting(wide.view().slice(1, 0..64).unwrap());
    assert!(
        message.contains("its strides are [80, 1], but the kernel wants a tensor that is row-major"),
        "{message}"
    );
}

#[test]
fn misaligned_views_are_refused_in_words() {
    let long = tensor([8 * 64 + 4]);
    let message = refused_by_exacting(long.view().strided(1, [8, 64], [64, 1]).unwrap());
    let expected = "which is not a multiple of 16 bytes; drop `Aligned<_>` from the argument's type or start the tensor at \
                    such an address";
    assert!(
        message.contains("its first element is at address 0x") && message.ends_with(expected),
        "{message}"
    );
    exacting.launch(&Device::cpu(), 1, (long.view().strided(4, [8, 64], [64, 1]).unwrap(),)).unwrap();
}

#[test]
fn overlapping_elements_are_refused_in_words() {
    let (x, mut y) = (tensor([40]), tensor([3, 8]));
    let windows = x.view().strided(0, [3, 8], [1, 1]).unwrap();
    let error = increment::<f32>().launch(&Device::cpu(), (1, 1), (windows, &mut y)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `increment_f32`, argument 1 (`x`): a tensor of shape [3, 8] and strides [1, 1] does not fit: elements \
         overlap along axis 1 (stride 1); a span's elements must lie apart: broadcast after the load instead"
    );
    let mut z = tensor([40]);
    let error = z.view_mut().strided(0, [3, 8], [0, 1]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "writable strided view of a tensor of shape [40]: shape [3, 8] and strides [0, 1] give one element several indices"
    );
}

#[test]
fn negative_strides_are_refused_in_words() {
    let mut numbers = [0_u32; 8];
    let last = (&raw mut numbers[7]).cast();
    // SAFETY: all elements of such a span would be those of the array.
    let reversed =
        unsafe { TensorSpan::<f32, (u32,), Exclusive, Strided>::try_from_parts(last, &[8], &[-1]) };
    assert_eq!(
        reversed.err().unwrap().to_string(),
        "axis 0 has the negative stride -1; spans run forward only: copy the tensor, or flip the tile after the load"
    );
}

#[test]
fn grids_must_suit_kernel_and_hardware() {
    let (x, mut y) = (tensor([64]), tensor([64]));
    let mut refused = |grid: Grid| double.launch(&Device::cpu(), grid, (&x, &mut y)).unwrap_err().to_string();
    assert_eq!(
        refused(Grid::from((1, 2))),
        "kernel `double` cannot run on the grid (1, 2, 1): it uses 1 of the grid's axes, so axis y must have 1 block, or \
         blocks would do each other's work"
    );
    assert_eq!(
        refused(Grid::from(1_u32 << 31)),
        "kernel `double` cannot run on the grid (2147483648, 1, 1): axis x takes at most 2147483647 blocks; larger tiles \
         need fewer"
    );
    let error =
        increment::<f32>().launch(&Device::cpu(), (1, 65_536), (&tensor([4, 8]), &mut tensor([4, 8])));
    assert_eq!(
        error.unwrap_err().to_string(),
        "kernel `increment_f32` cannot run on the grid (1, 65536, 1): axis y takes at most 65535 blocks; larger tiles need \
         fewer"
    );
}

#[test]
fn a_tile_over_the_edge_names_block_tile_and_line() {
    let mut y = tensor([128]);
    let Err(Error::Panicked { kernel, block, message }) =
        double.launch(&Device::cpu(), 2, (&tensor([100]), &mut y))
    else {
        panic!("the second tile of x reaches over the edge");
    };
    assert_eq!((kernel, block), ("double", [1, 0, 0]));
    let expected = "load of tile [1] reaches outside the tensor: tiles of [64] in a tensor of [100]; use the masked form for \
                    edge tiles (at ";
    assert!(message.starts_with(expected), "{message}");
    let place = format!("launch.rs:{}:", line_with("let tile = x.load(i);"));
    assert!(message.contains(&place), "{message} should name {place}");
    assert_eq!(y.to_vec().unwrap()[126], 126.0, "nothing was written");
}

#[test]
fn a_store_over_the_edge_writes_nothing() {
    let mut y = tensor([70]);
    let message = double.launch(&Device::cpu(), 2, (&tensor([128]), &mut y)).unwrap_err().to_string();
    assert!(
        message.starts_with("kernel `double` panicked in block (1, 0, 0): store of tile [1] reaches outside"),
        "{message}"
    );
    assert!(message.contains(&format!("launch.rs:{}:", line_with("y.store(tile * 2.0, i);"))), "{message}");
    assert_eq!(y.to_vec().unwrap()[64..], [64.0, 65.0, 66.0, 67.0, 68.0, 69.0]);
}

#[test]
fn a_failed_assertion_names_block_and_line() {
    let mut x = Tensor::full(&Device::cpu(), [32], 12_u32).unwrap();
    let message = divide.launch(&Device::cpu(), 2, (&mut x, 0_u32)).unwrap_err().to_string();
    let line = line_with("assert!(by != 0");
    assert!(
        message.starts_with("kernel `divide` panicked in block (0, 0, 0): the divisor is zero, at "),
        "{message}"
    );
    assert!(message.contains(&format!("launch.rs:{line}:")), "{message}");
    divide.launch(&Device::cpu(), 2, (&mut x, 3_u32)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [4; 32]);
}

#[test]
fn empty_tensors_and_grids_are_legal() {
    let device = Device::cpu();
    let (x, mut y) = (tensor([0]), tensor([0]));
    double.launch(&device, Grid::cover([0], [64]), (&x, &mut y)).unwrap();
    let (x, mut y) = (tensor([0, 5]), tensor([0, 5]));
    increment::<f32>().launch(&device, (1, 1), (&x, &mut y)).unwrap();
    exacting.launch(&device, 0, (&tensor([0, 64]),)).unwrap();
    // Rows without elements have sums nonetheless.
    let mut sums = Tensor::poisoned(&device, [3]).unwrap();
    row_sums.launch(&device, 3, (&tensor([3, 0]), &mut sums)).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [0.0; 3]);
}

#[test]
fn sizes_that_no_tile_divides_leave_the_rest_alone() {
    let x = tensor([5, 11]);
    let mut padded = tensor([7, 13]);
    let inner = padded.view_mut().slice(0, 1..6).unwrap().slice(1, 1..12).unwrap();
    increment::<f32>().launch(&Device::cpu(), Grid::cover([5, 11], [4, 8]), (&x, inner)).unwrap();
    for (i, found) in padded.to_vec().unwrap().into_iter().enumerate() {
        let (row, column) = (i / 13, i % 13);
        let inside = (1..6).contains(&row) && (1..12).contains(&column);
        let expected = if inside { (row - 1) * 11 + column } else { i };
        assert_eq!(found, expected as f32, "row {row}, column {column}");
    }
}

#[test]
fn generic_kernels_have_one_handle_for_each_instance() {
    let x = Tensor::from_slice(&Device::cpu(), [1, 3], &[1_i64 << 40, -1, 6]).unwrap();
    let mut y = Tensor::poisoned(&Device::cpu(), [1, 3]).unwrap();
    increment::<i64>().launch(&Device::cpu(), (1, 1), (&x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [(1 << 40) + 1, 0, 7]);
    let x = Tensor::full(&Device::cpu(), [1, 3], f16::from_f32(0.5)).unwrap();
    let mut y = Tensor::poisoned(&Device::cpu(), [1, 3]).unwrap();
    increment::<f16>().launch(&Device::cpu(), (1, 1), (&x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [f16::from_f32(1.5); 3]);
    assert_eq!(increment::<f16>().description().name, "increment_f16");
}

#[test]
fn unsafe_kernels_launch_in_unsafe_code() {
    let mut x = Tensor::zeros(&Device::cpu(), [12]).unwrap();
    // SAFETY: there is one block, and the tensor has three tiles of four.
    unsafe { set_tile.launch(&Device::cpu(), 1, (&mut x, 1_u32, 9)) }.unwrap();
    assert_eq!(x.to_vec().unwrap(), [0, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0]);
}

#[test]
fn more_than_32_bits_of_elements_need_64_bit_extents() {
    // Zeros of the operating system: pages are made when they are touched, which few of them are.
    let length = (1 << 32) + (1 << 16);
    let mut bytes = Tensor::<u8, 1>::zeros(&Device::cpu(), [length]).unwrap();
    let refusal = touch.launch(&Device::cpu(), 1, (&bytes,)).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "kernel `touch`, argument 1 (`x`): a tensor of shape [4295032832] and strides [1] does not fit: axis 0 has length \
         4295032832, but the kernel counts it in 32 bits; declare the extent as u64"
    );

    mark_last_tile.launch(&Device::cpu(), Grid::cover([length], [1 << 16]), (&mut bytes,)).unwrap();
    let end = bytes.view().slice(0, length - (1 << 16) - 1..length).unwrap().to_vec().unwrap();
    assert!(end[0] == 0 && end[1..].iter().all(|&byte| byte == 7));
    let wrapped = bytes.view().slice(0, 0..1 << 16).unwrap().to_vec().unwrap();
    assert!(wrapped.iter().all(|&byte| byte == 0), "no address wrapped around at 32 bits");

    let matrix = bytes.reshape([(1 << 16) + 1, 1 << 16]).unwrap();
    let refusal = touch_matrix.launch(&Device::cpu(), 1, (&matrix,)).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "kernel `touch_matrix`, argument 1 (`x`): a tensor of shape [65537, 65536] and strides [65536, 1] does not fit: its \
         last element is 4295032831 elements away, but the kernel counts up to 4294967295; declare an extent as u64"
    );
}

#[test]
fn tensors_of_all_handles_of_the_cpu_are_on_one_device() {
    let (one, other) = (Device::cpu(), Device::cpu());
    let x = Tensor::full(&one, [64], 4.0).unwrap();
    let mut y = Tensor::zeros(&other, [64]).unwrap();
    double.launch_on(&other.stream().unwrap(), 1, (&x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [8.0; 64]);
}

#[test]
fn streams_copy_compute_and_measure() {
    let device = Device::cpu();
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let input = PinnedBuffer::from_slice(&device, &[1.5_f32; 640]).unwrap();
    let mut output = PinnedBuffer::zeros(&device, 640).unwrap();
    let (mut x, mut y) = (Tensor::zeros(&device, [640]).unwrap(), Tensor::zeros(&device, [640]).unwrap());
    let start = first.record_event().unwrap();
    x.copy_from_pinned(&first, &input).unwrap();
    double.launch_on(&first, 10, (&x, &mut y)).unwrap();
    second.wait(&first.record_event().unwrap()).unwrap();
    y.copy_to_pinned(&second, &mut output).unwrap();
    let end = second.record_event().unwrap();
    second.synchronize().unwrap();
    assert_eq!(output.as_slice().unwrap(), [3.0; 640]);
    assert!(end.elapsed_since(&start).unwrap() > Duration::ZERO);
    let short = PinnedBuffer::from_slice(&device, &[1.5_f32; 639]).unwrap();
    let message = x.copy_from_pinned(&first, &short).unwrap_err().to_string();
    assert_eq!(message, "a tensor of shape [640] has 640 elements, but 639 were given");
}

#[test]
fn without_a_driver_a_gpu_is_an_error_that_says_what_to_do() {
    let message = match Device::gpu(0) {
        Ok(device) => {
            assert!(device.is_gpu());
            return;
        }
        Err(error) => error.to_string(),
    };
    assert!(message.starts_with("no GPU can be used ("), "{message}");
    let advice = "install the NVIDIA driver (R525 or newer), or run on the CPU with `Device::cpu()` or CUDA_TILES_DEVICE=cpu";
    assert!(message.ends_with(advice), "{message}");
}

#[test]
fn a_gpu_wants_its_kernels_loaded_and_its_own_tensors() {
    static WITHOUT_PTX: Artifact = Artifact::new("without_ptx", &[], Some("rust-src is missing"));
    Device::cpu().load(&WITHOUT_PTX).unwrap();
    let Ok(gpu) = Device::gpu(0) else { return };
    let message = gpu.load(&WITHOUT_PTX).unwrap_err().to_string();
    assert_eq!(message, "the kernels `without_ptx` hold no PTX for a GPU: rust-src is missing");

    let (x, mut y) = (Tensor::full(&gpu, [64], 1.0).unwrap(), Tensor::zeros(&gpu, [64]).unwrap());
    let message = double.launch(&gpu, 1, (&x, &mut y)).unwrap_err().to_string();
    assert!(
        message.starts_with("kernel `double` (`launch::double`) is in none of the artifacts loaded on GPU 0"),
        "{message}"
    );
    assert!(message.contains("call `device.load(&KERNELS)`"), "{message}");
    let message = double.launch(&Device::cpu(), 1, (&x, &mut y)).unwrap_err().to_string();
    assert!(message.starts_with("kernel `double`, argument 1 (`x`): the tensor is on GPU 0"), "{message}");
    assert!(
        message
            .contains("but the launch is on the CPU: make the tensor on the launch's device, copy it there"),
        "{message}"
    );
}
