//! Launches through the crate `cust` on a real GPU. Without one the tests say so and do nothing.

mod kernels;

use cuda_tiles::element::f16;
use cuda_tiles::launch::Kernel;
use cuda_tiles::span::TensorSpan;
use cuda_tiles_host::cust::{CustKernels, CustTensor, CustTensorMut};
use cuda_tiles_host::{Artifact, Grid};
use cust::context::Context;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use kernels::{DELAYED_COPY, FAIL, INCREMENT, KERNELS, THREADS, description, entry, image};

const LEN: usize = 1000;

fn context() -> Option<Context> {
    let context = cust::quick_init();
    match &context {
        Err(error) if std::env::var("CUDA_TILES_DEVICE").is_ok_and(|device| device.starts_with("gpu")) => {
            panic!("{error}")
        }
        Err(error) => eprintln!("skipped: {error}"),
        Ok(_) => {}
    }
    context.ok()
}

fn grid() -> Grid {
    Grid::cover([LEN], [THREADS as usize])
}

/// One test does all: contexts of `cust` are current for one thread, and the trap at the end is the end of it.
#[test]
fn kernels_run_on_the_buffers_and_streams_of_cust() {
    // SAFETY: the entries do what the kernels of the same names declare.
    static HALF: Kernel<(TensorSpan<f16, (u32, u32)>,)> =
        unsafe { Kernel::new(description("increment", &["x"]), |_, _| unreachable!("it runs on the GPU")) };
    // SAFETY: nobody compiles it.
    static BROKEN: Artifact = unsafe {
        Artifact::new(
            "broken",
            &[image(
                ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bogus() { bogus.u32; ret; }\n",
                &[entry("bogus")],
            )],
            None,
        )
    };
    // SAFETY: the entry of this name is never compiled.
    static BOGUS: Kernel<()> = unsafe { Kernel::new(description("bogus", &[]), |_, _| ()) };
    let Some(_context) = context() else { return };
    // This version of `cust` leaves the flag out; launches would refuse a stream that has it.
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    assert_eq!(stream.get_flags().unwrap(), StreamFlags::DEFAULT);
    let kernels = CustKernels::load(&[&KERNELS]).unwrap();

    let x = DeviceBuffer::from_slice(&[7.0_f32; LEN]).unwrap();
    let mut y = DeviceBuffer::<f32>::zeroed(LEN).unwrap();
    let (source, target) = (CustTensor::new(&x, [LEN]).unwrap(), CustTensorMut::new(&mut y, [LEN]).unwrap());
    kernels.launch(&DELAYED_COPY, &stream, grid(), (source, target, 1_000_000)).unwrap();
    let target = CustTensorMut::new(&mut y, [LEN]).unwrap();
    kernels.launch(&INCREMENT, &stream, grid(), (target,)).unwrap();
    let mut values = [0.0; LEN];
    y.copy_to(&mut values).unwrap();
    assert_eq!(values, [8.0; LEN]);

    let message = CustTensor::new(&x, [LEN + 1]).err().unwrap().to_string();
    assert_eq!(message, "a tensor of shape [1001] has 1001 elements, but 1000 were given");
    let bits = DeviceBuffer::from_slice(&[f16::ONE.to_bits(); 6]).unwrap();
    kernels
        .launch(&HALF, &stream, (1, 1, 0), (CustTensor::<f16, 2>::from_bits(&bits, [2, 3]).unwrap(),))
        .unwrap_err();
    kernels.launch(&HALF, &stream, 0, (CustTensor::<f16, 2>::from_bits(&bits, [2, 3]).unwrap(),)).unwrap();

    let broken = CustKernels::load(&[&BROKEN]).unwrap();
    let message = broken.launch(&BOGUS, &stream, 1, ()).unwrap_err().to_string();
    assert!(
        message.starts_with("the driver could not compile kernel `bogus` of `broken` (sm_70)"),
        "{message}"
    );
    assert!(message.contains("instruction: 'bogus'"), "the compiler's own words are missing: {message}");

    let message = kernels.launch(&FAIL, &stream, 1, ()).unwrap_err().to_string();
    assert!(message.starts_with("kernel `fail` trapped on cust's NVIDIA"), "{message}");
}
