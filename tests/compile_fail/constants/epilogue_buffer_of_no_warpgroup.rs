//! an epilogue buffer has at least one warpgroup's part: a kernel without one calls `store_directly`

use cuda_tiles::prelude::*;

#[kernel(threads = 32, producer = 32)]
fn stores(roles: WarpRoles, #[shared] buffer: EpilogueBuffer<0>) {
    let _ = (roles, buffer);
}

fn main() {}
