//! Bits of elements as other elements, along each axis and in every rank.

use crate::{Input, Output};
use cuda_tiles::prelude::*;

/// Bytes in a tile.
pub const BYTES: usize = 2 * 16 * 32;

/// A tile of bytes as wider elements along each of its axes, and as bits.
#[kernel(threads = 128, min_blocks = 1)]
pub fn bytes_to_wider(
    cx: Cx,
    x: Input<u8, (D<2>, D<16>, D<32>)>,
    last: Output<u32, (D<2>, D<16>, D<8>)>,
    middle: Output<u64, (D<2>, D<2>, D<32>)>,
    first: Output<u16, (D<1>, D<16>, D<32>)>,
    bits: Output<bool, (D<2>, D<16>, D<256>)>,
    halves: Output<f16, (D<2>, D<8>, D<32>)>,
) {
    let last = last.partition(cx, shape![2, 16, 8]);
    let middle = middle.partition(cx, shape![2, 2, 32]);
    let first = first.partition(cx, shape![1, 16, 32]);
    let bits = bits.partition(cx, shape![2, 16, 256]);
    let halves = halves.partition(cx, shape![2, 8, 32]);
    let at = (cx.bid::<0>(), 0, 0);
    let x = x.partition(cx, shape![2, 16, 32]).load(at);
    last.store(x.repack::<u32, 2>(), at);
    middle.store(x.repack::<u64, 1>(), at);
    first.store(x.repack::<u16, 0>(), at);
    bits.store(x.repack::<bool, 2>(), at);
    halves.store(x.repack::<f16, 1>(), at);
}

/// The same there and back: wider elements to narrower ones, bits to bytes, through FP4, and through plain bytes of a
/// tile of rank 1, 2 and 4.
#[kernel(threads = 64, min_blocks = 1, vector = 8)]
pub fn there_and_back(cx: Cx, x: Input<u8, (D<BYTES>,)>, y: Output<u8, (D<6>, D<BYTES>)>) {
    let y = y.partition(cx, shape![1, BYTES]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![BYTES]).load(i);
    y.store(x.repack::<u64, 0>().repack::<u16, 0>().repack::<u8, 0>(), (0, i));
    y.store(x.repack::<bool, 0>().repack::<u8, 0>(), (1, i));
    let square = x.reshape(shape![32, 32]);
    y.store(square.repack::<f4e2m1, 0>().repack::<u32, 0>().repack::<u8, 0>().reshape(shape![BYTES]), (2, i));
    y.store(square.repack::<i32, 1>().pack_to_bytes(), (3, i));
    y.store(x.unpack_from_bytes::<f64>().reshape(shape![2, 4, 4, 4]).pack_to_bytes(), (4, i));
    y.store(
        square
            .reshape(shape![4, 8, 32])
            .repack::<bf16, 0>()
            .repack::<f8e4m3, 0>()
            .bitcast::<u8>()
            .reshape(shape![BYTES]),
        (5, i),
    );
}

/// Tiles smaller than the block: elements are held several times.
#[kernel(threads = 256, min_blocks = 1)]
pub fn tiny(cx: Cx, x: Span<u16, (D<2>, D<4>)>, y: SpanMut<u32, (D<2>, D<2>)>, z: SpanMut<i8, (D<4>, D<4>)>) {
    let y = y.partition(cx, shape![2, 2]);
    let z = z.partition(cx, shape![4, 4]);
    let at = (cx.bid::<0>(), 0);
    let x = x.partition(cx, shape![2, 4]).load(at);
    y.store(x.repack::<u32, 1>(), at);
    z.store(x.repack::<i8, 0>(), at);
}

/// The accumulators of a product, in the layout of tensor cores, as words and as bytes.
#[kernel(threads = 32, min_blocks = 1)]
pub fn repacked_sums(
    cx: Cx,
    a: Input<f16, (D<16>, D<16>)>,
    b: Input<f16, (D<16>, D<8>)>,
    words: Output<u32, (D<16>, D<8>)>,
    bytes: Output<u8, (D<16>, D<32>)>,
) {
    let words = words.partition(cx, shape![16, 8]);
    let bytes = bytes.partition(cx, shape![16, 32]);
    let at = (cx.bid::<0>(), 0);
    let a = a.partition(cx, shape![16, 16]).load(at);
    let b = b.partition(cx, shape![16, 8]).load(at);
    let sums = mma(a, b, cx.zeros::<f32>(shape![16, 8]));
    words.store(sums.repack::<u32, 1>(), at);
    bytes.store(sums.repack::<u8, 1>(), at);
}
