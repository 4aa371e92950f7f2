//! tiles of two different blocks meet in one operation

use cuda_tiles::prelude::*;

fn add<A: Block, B: Block>(a: Cx<A>, b: Cx<B>) {
    let _ = a.zeros::<f32>(shape![8]) + b.zeros::<f32>(shape![8]);
}

fn main() {
    cuda_tiles::cpu::block(|cx| add(cx, cx));
}
