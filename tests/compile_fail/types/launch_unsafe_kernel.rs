//! is unsafe and requires unsafe block

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, LaunchUnsafe};

/// # Safety
/// None in truth.
#[kernel]
unsafe fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() -> Result<(), cuda_tiles_host::Error> {
    nothing.launch(&Device::cpu(), 1, ())
}
