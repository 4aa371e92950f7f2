//! Launches of kernels with tensor map operands, shared memory and warp roles.

use cuda_tiles::launch::Kernel;
use cuda_tiles::memory::SharedMemory;
use cuda_tiles::memory::shared::Address;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};

/// Shared memory of `KIB` KiB on GPUs of the first class, and of twice and three times as many on GPUs of the others.
struct Pad<const KIB: u32>(Address);

// SAFETY: it claims only the beginning of the storage.
unsafe impl<const KIB: u32> SharedMemory for Pad<KIB> {
    const BYTES: [u32; 3] = [KIB << 10, KIB << 11, 3 * (KIB << 10)];
    type Storage = [u8; 4096];
    unsafe fn new(address: Address) -> Self {
        Self(address)
    }
}

impl<const KIB: u32> Pad<KIB> {
    /// Writes a number that one block alone writes, and reads it again.
    fn put(&self, number: u32) -> u32 {
        let cell = self.0.cast::<u32>();
        // SAFETY: the memory is this block's, aligned, and long enough.
        unsafe {
            cell.write(number);
            cell.read()
        }
    }
}

#[kernel(threads = 256, producer = 32, grid = 2)]
fn with_roles(
    roles: WarpRoles,
    #[shared] first: Pad<4>,
    x: TmaLoad<f16, Shape2<128, 64>>,
    #[shared] second: Pad<1>,
    y: TmaStore<f32, Shape2<64, 64>>,
    scale: f32,
) {
    let (i, j) = (roles.bid::<0>(), roles.bid::<1>());
    let number = *j * roles.num_blocks(0) + *i;
    assert_eq!((first.put(number), second.put(number + 1)), (number, number + 1));
    assert_eq!(first.0.addr() % 1024 + second.0.addr() % 1024, 0);
    assert!(first.0.addr().abs_diff(second.0.addr()) >= 4096);
    assert_eq!((x.rows(), x.columns(), x.batches()), (300, 72, 1));
    assert_eq!((y.rows(), y.columns(), y.batches(), scale), (300, 7, 2, 0.5));
}

#[kernel(producer = 128, instances(<f16, 64>, <f8e4m3, 32>))]
fn sizes<B: Block, T: Element, const N: usize>(
    roles: WarpRoles<B>,
    x: TmaLoad<T, (D<16>, D<N>)>,
    #[shared] memory: Pad<2>,
) where
    D<N>: Dimension,
    (D<16>, D<N>): MatrixShape,
{
    let _ = (roles, x.batches(), memory.put(B::PRODUCER_THREADS));
}

#[kernel]
fn without_roles(cx: Cx, #[shared] memory: Pad<3>, y: SpanMut<u32, (u32,)>) {
    let y = y.partition(cx, shape![1]);
    y.store(cx.full(shape![1], memory.put(*cx.bid::<0>() + 7)), cx.bid::<0>());
}

fn shared_bytes<P: cuda_tiles::launch::Parameters>(kernel: &Kernel<P>) -> [u32; 3] {
    kernel.description().shared_bytes
}

#[test]
fn a_kernel_with_roles_states_its_threads_and_its_memory() {
    let description = with_roles.description();
    assert_eq!((description.threads, description.producer_threads, description.grid_rank), (256, 32, 2));
    assert_eq!(description.arguments, ["x", "y", "scale"]);
    assert_eq!(description.shared_bytes, [5 << 10, 10 << 10, 15 << 10]);
    assert_eq!(sizes::<f16, 64>().description().producer_threads, 128);
    assert_eq!(shared_bytes(sizes::<f8e4m3, 32>()), [2 << 10, 4 << 10, 6 << 10]);
    assert_eq!(
        (shared_bytes(&without_roles), without_roles.description().producer_threads),
        ([3 << 10, 6 << 10, 9 << 10], 0)
    );
}

#[test]
fn each_block_has_memory_of_its_own_and_the_matrices() {
    let device = Device::cpu();
    let x = Tensor::<f16, 2>::zeros(&device, [300, 72]).unwrap();
    let mut y = Tensor::<f32, 3>::zeros(&device, [2, 300, 7]).unwrap();
    with_roles.launch(&device, (16, 8), (&x, &mut y, 0.5)).unwrap();
    with_roles.launch(&device, 1, (x.view(), y.view_mut(), 0.5)).unwrap();
    sizes::<f16, 64>().launch(&device, 2, (&Tensor::<f16, 3>::zeros(&device, [2, 4, 8]).unwrap(),)).unwrap();
    let mut numbers = Tensor::<u32, 1>::zeros(&device, [100]).unwrap();
    without_roles.launch(&device, 100, (&mut numbers,)).unwrap();
    assert!(numbers.to_vec().unwrap().into_iter().eq(7..107));
}

#[test]
fn a_tensor_that_cannot_be_streamed_is_told_what_to_do() {
    let device = Device::cpu();
    let mut y = Tensor::<f32, 3>::zeros(&device, [2, 300, 7]).unwrap();
    let ragged = Tensor::<f16, 2>::zeros(&device, [8, 4093]).unwrap();
    let message = with_roles.launch(&device, 1, (&ragged, &mut y, 0.5)).unwrap_err().to_string();
    assert_eq!(
        message,
        "kernel `with_roles`, argument 1 (`x`): a tensor of shape [8, 4093] and strides [4093, 1] cannot be streamed: rows of a \
         streamed tensor start at multiples of 16 bytes; its row pitch is 8186 bytes: pad the rows, for example with \
         `Tensor::padded`"
    );
    let x = Tensor::<f16, 2>::zeros(&device, [72, 304]).unwrap();
    let message = with_roles.launch(&device, 1, (x.view().transpose(), &mut y, 0.5)).unwrap_err().to_string();
    assert!(message.contains("pass the transposed matrix (`view.transpose()`)"), "{message}");
    let mut transposed = Tensor::<f32, 2>::zeros(&device, [7, 300]).unwrap();
    let message =
        with_roles.launch(&device, 1, (&x, transposed.view_mut().transpose(), 0.5)).unwrap_err().to_string();
    assert!(
        message.starts_with("kernel `with_roles`, argument 2 (`y`): a tensor of shape [300, 7]"),
        "{message}"
    );
}
