//! Thread-level code and shared memory.

use crate::{Operand, Output};
use cuda_tiles::prelude::*;

/// Counts bytes, a row for each block, by tiles alone; whole tiles only.
#[kernel(threads = 256, min_blocks = 1)]
pub fn histogram(cx: Cx, x: Span<u8, (u32,)>, counts: SpanMut<u32, (u32, D<256>)>) {
    let (x, counts) = (x.partition(cx, shape![1024]), counts.partition(cx, shape![1, 256]));
    cx.shared::<u32, 256>(|bins| {
        bins.fill(0);
        for i in cx.tiles::<0>(x.num_tiles(0)) {
            bins.add(x.load(i).cast::<u32>(), 1);
        }
        counts.store(bins.load(shape![1, 256]), (cx.bid::<0>(), 0));
    });
}

/// Adds values by bins; then what a table gives for numbers, and a tile that went through shared memory.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32>, <u32>, <i64>, <u64>, <f32>, <f64>))]
pub fn shared_sums<T: cuda_tiles::simt::SharedSum + Number>(
    cx: Cx,
    bins: Operand<u32>,
    values: Operand<T>,
    results: Output<T, (D<3>, D<64>)>,
) {
    let results = results.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let bins = bins.partition(cx, shape![64]).load(0);
    let values = values.partition(cx, shape![64]).load(0);
    cx.shared::<T, 64>(|sums| {
        sums.fill(T::ZERO);
        sums.add_each(bins, values);
        sums.add(bins, T::ONE);
        results.store(sums.load(shape![1, 64]), (0, i));
        sums.store(values);
        results.store(sums.gather(bins & 63).reshape(shape![1, 64]), (1, i));
        results.store(sums.load(shape![1, 64]), (2, i));
    });
}

/// Through shared memory and the lanes of warps and back, by threads: each element's neighbour to the right.
#[kernel(threads = 128, min_blocks = 1, vector = 1, instances(<u8>, <f16>, <i32>, <f64>))]
pub fn rotate_by_threads<T: Element + Promote<T, Output = T> + Cast<T>>(
    cx: Cx,
    x: Output<T, (Mult<u32, { crate::MULTIPLE }>,)>,
) {
    let x = x.partition(cx, shape![128]);
    let i = cx.bid::<0>();
    let tile = x.load(i);
    let rotated = cx.shared::<T, 128>(|memory| {
        // SAFETY: each thread writes its own elements, and reads behind the barrier, which all reach; between the second
        // barrier and the end nobody writes. The exchange there and back is the identity.
        unsafe {
            cx.simt(|thread| {
                thread.visit(tile, |flat, value| memory.set(thread, flat as u32, value));
                thread.barrier();
                let next = cx.tile_by_threads(shape![128], |flat| {
                    let value = memory.get(thread, (flat as u32 + 1) % 128);
                    thread.shuffle_xor(thread.shuffle_xor(value, 5), 5)
                });
                thread.barrier();
                next
            })
        }
    });
    x.store(rotated, i);
}

/// What threads know of themselves, and what warps agree on: row 0 the sum of all indices, row 1 how many threads there
/// are, row 2 whether a prefix sum over lanes is right in all of them, row 3 the same of ballots.
#[kernel(threads = 64, min_blocks = 1)]
pub fn threads(cx: Cx, results: SpanMut<u32, (D<4>, u32)>) {
    let results = results.partition(cx, shape![1, 1]);
    let i = cx.bid::<0>();
    cx.shared::<u32, 4>(|sums| {
        sums.fill(0);
        // SAFETY: all threads add atomically and reach all shuffles.
        unsafe {
            cx.simt(|thread| {
                sums.atomic_add(thread, 0, thread.index());
                sums.atomic_add(thread, 1, 1);
                let mut prefix = thread.lane();
                let mut delta = 1;
                while delta < thread.lanes() {
                    let below = thread.shuffle_up(prefix, delta);
                    prefix += if thread.lane() >= delta { below } else { 0 };
                    delta *= 2;
                }
                let right = prefix == thread.lane() * (thread.lane() + 1) / 2;
                sums.atomic_add(thread, 2, u32::from(right));
                let odd = thread.ballot(thread.lane() % 2 == 1);
                let expected = if thread.lanes() == 1 { 0 } else { 0xaaaa_aaaa };
                let top = thread.shuffle_down(thread.lane(), 1).min(thread.lanes() - 1);
                let right = odd == expected && top == (thread.lane() + 1).min(thread.lanes() - 1);
                sums.atomic_add(thread, 3, u32::from(right));
            });
        }
        let sums = sums.load(shape![4]);
        results.store(cx.scalar(sums.at([0])), (0, i));
        results.store(cx.scalar(sums.at([1])), (1, i));
        results.store(cx.scalar(sums.at([2])), (2, i));
        results.store(cx.scalar(sums.at([3])), (3, i));
    });
}

/// Reverses the bits of each element: on a GPU by an instruction in the kernel's own assembly.
#[kernel(threads = 64, min_blocks = 1)]
pub fn raw_ptx(cx: Cx, x: Output<u32, (Mult<u32, { crate::MULTIPLE }>,)>) {
    let x = x.partition(cx, shape![64]);
    let i = cx.bid::<0>();
    x.store_masked(x.load_masked(Zero, i).map(reverse_bits), i);
}

/// The bits in reverse order.
#[inline_on_device]
fn reverse_bits(x: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let reversed;
        // SAFETY: `brev` has no precondition (PTX ISA, "brev").
        unsafe {
            core::arch::asm!("brev.b32 {0}, {1};", out(reg32) reversed, in(reg32) x, options(pure, nomem, nostack))
        };
        reversed
    }
    #[cfg(not(target_arch = "nvptx64"))]
    x.reverse_bits()
}
