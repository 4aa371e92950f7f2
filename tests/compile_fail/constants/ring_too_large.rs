//! a block has at most 227 KiB of shared memory: take a ring of fewer stages, or smaller tiles
//! steps need a ring of at least 2 stages: one is filled while the other is used
//! a ring has at most 16 stages
//! a stage has at least 8 rows: use tiles of more rows
//! a row of a stage has at least 32 bytes: use tiles of more columns

use cuda_tiles::prelude::*;

#[kernel(copy = 32)]
fn too_large(block: Split, #[shared] ring: Ring<Staged<f16, Shape2<128, 128>>, 8>) {
    let _ = (block, ring);
}

#[kernel(copy = 32)]
fn too_few(block: Split, x: TileSource<f16, Shape2<16, 16>>, #[shared] ring: Ring<Staged<f16, Shape2<16, 16>>, 1>) {
    block.pipeline(ring, x.row(0), |cx, mut receiver| receiver.steps(1).each(|stage| drop(stage.load(cx))));
}

#[kernel(copy = 32)]
fn too_many(block: Split, #[shared] ring: Ring<Staged<f16, Shape2<16, 16>>, 17>) {
    let _ = (block, ring);
}

#[kernel(copy = 32)]
fn too_flat(block: Split, #[shared] ring: Ring<Staged<f16, Shape2<4, 16>>>) {
    let _ = (block, ring);
}

#[kernel(copy = 32)]
fn too_narrow(block: Split, #[shared] ring: Ring<Staged<f16, Shape2<16, 8>>>) {
    let _ = (block, ring);
}

fn main() {}
