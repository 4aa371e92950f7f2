//! a block has at most 227 KiB of shared memory: take a ring of fewer stages, or smaller tiles
//! a ring has at most 16 stages
//! a shared tile has at least 8 rows: use tiles of more rows
//! a row of a shared tile has at least 32 bytes: use tiles of more columns

use cuda_tiles::prelude::*;

#[kernel(producer = 32)]
fn too_large(roles: WarpRoles, #[shared] ring: Ring<SharedTile<f16, Shape2<128, 128>>, 8>) {
    let _ = (roles, ring);
}

#[kernel(producer = 32)]
fn too_many(roles: WarpRoles, #[shared] ring: Ring<SharedTile<f16, Shape2<16, 16>>, 17>) {
    let _ = (roles, ring);
}

#[kernel(producer = 32)]
fn too_flat(roles: WarpRoles, #[shared] ring: Ring<SharedTile<f16, Shape2<4, 16>>>) {
    let _ = (roles, ring);
}

#[kernel(producer = 32)]
fn too_narrow(roles: WarpRoles, #[shared] ring: Ring<SharedTile<f16, Shape2<16, 8>>>) {
    let _ = (roles, ring);
}

fn main() {}
