//! The devices to test on.

use cuda_tiles_host::Device;
use std::sync::OnceLock;

/// The CPU, and the GPU if there is one, with the kernels loaded. `CUDA_TILES_DEVICE=gpu` makes a missing GPU a failure.
pub(crate) fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let found = Device::auto().expect("the device that CUDA_TILES_DEVICE names can be used");
        eprintln!("testing on {found}");
        let mut devices = vec![Device::cpu()];
        if found.is_gpu() {
            found.load(&cuda_tiles_operation_tests::KERNELS).expect("the driver compiles the kernels");
            devices.push(found);
        }
        devices
    })
}
