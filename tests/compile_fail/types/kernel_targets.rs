//! the targets of a kernel are `warpgroups`, GPUs with warpgroups (compute capability 9.0), or `!warpgroups`, all others
//! the `targets` of the kernel are those of each instance: write `targets`, or `if` behind instances

use cuda_tiles::prelude::*;

#[kernel(targets = sm_90a)]
fn by_architecture(cx: Cx) {
    let _ = cx;
}

#[kernel(instances(<8>, <16> if 9.0))]
fn by_number<B: Block, const N: usize>(cx: Cx<B>) {
    let _ = cx;
}

#[kernel(targets = warpgroups, instances(<8>, <16> if !warpgroups))]
fn twice<B: Block, const N: usize>(cx: Cx<B>) {
    let _ = cx;
}

fn main() {}
