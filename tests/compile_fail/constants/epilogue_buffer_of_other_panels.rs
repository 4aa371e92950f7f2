//! the panels of an epilogue buffer have 16, 32 or 64 rows: `EpilogueBuffer<2>` has 64

use cuda_tiles::prelude::*;

#[kernel(threads = 128, producer = 32)]
fn stores(roles: WarpRoles, #[shared] buffer: EpilogueBuffer<1, 48>) {
    let _ = (roles, buffer);
}

fn main() {}
