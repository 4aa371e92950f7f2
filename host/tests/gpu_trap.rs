//! A kernel that traps ends the use of the GPU by the process, so this test is a program of its own.

mod kernels;

use cuda_tiles_host::{Error, Launch, Tensor};
use kernels::{FAIL, gpu};

#[test]
fn a_trap_names_the_kernel_and_what_to_do() {
    let Some(device) = gpu() else { return };
    let tensor = Tensor::<f32, 1>::zeros(&device, [1000]).unwrap();
    FAIL.launch(&device, 1, ()).unwrap();
    let error = device.synchronize().unwrap_err();
    assert!(matches!(&error, Error::Trapped { kernels, .. } if kernels == &["fail"]), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with("kernel `fail` trapped on GPU 0"), "{message}");
    assert!(message.ends_with("Run with CUDA_TILES_DEVICE=cpu to see the line"), "{message}");

    let later = tensor.to_vec().unwrap_err();
    assert!(matches!(later, Error::Trapped { .. }), "{later}");
    let later = FAIL.launch(&device, 1, ()).unwrap_err();
    assert!(matches!(later, Error::Trapped { .. }), "{later}");
    drop(tensor);
}
