//! `WarpRoles` belongs to kernels with producer threads: state `producer = 32` in #[kernel(...)], or take `cx: Cx`

use cuda_tiles::prelude::*;

#[kernel(threads = 256)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
