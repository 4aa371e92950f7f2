//! What belongs to a block is of no use elsewhere: safe code that keeps a span, a token or an index beyond its block panics
//! before it touches memory, and so does a block that takes another one's.

use cuda_tiles::cpu::{self, CpuBlock};
use cuda_tiles::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The text with which `body` panics.
fn panic_of<R>(body: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(body)).err().expect("a panic");
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

/// Fails unless `body` panics because of `what`, and says where in this file.
#[track_caller]
fn refused<R>(what: &str, body: impl FnOnce() -> R) {
    let text = panic_of(body);
    assert!(text.starts_with(&format!("{what} was used outside of the block that it belongs to")), "{text}");
    assert!(text.contains("tests/blocks.rs"), "{text}");
}

const SPAN: &str = "a span, or a view of one,";
const TOKEN: &str = "the token of a block, `cx`,";
const INDEX: &str = "a block index";

#[test]
fn a_span_ends_with_its_block() {
    let numbers = vec![1_u32, 2, 3, 4];
    let span = cpu::block_on(&numbers, [4], |_, span: Span<u32, (u32,)>| span);
    let view = cpu::block_on(&numbers, [4], |cx, span: Span<u32, (u32,)>| span.partition(cx, shape![4]));
    let rows = cpu::block_on(&numbers, [2, 2], |cx, span: Span<u32, (u32, u32)>| {
        span.gather_scatter_view(cx, shape![2, 2])
    });
    drop(numbers);
    refused(SPAN, || cpu::block(|cx| span.partition(cx, shape![4])));
    refused(SPAN, || cpu::block(|cx| span.strided(cx, shape![2], steps![1])));
    refused(SPAN, || cpu::block(|cx| span.window(cx, shape![2])));
    refused(SPAN, || cpu::block(|cx| span.gather(cx.iota::<u32>(shape![4]))));
    refused(SPAN, || cpu::block(|cx| span.gather_masked(7, cx.iota::<u32>(shape![4]), true)));
    // No part of it becomes another block's.
    refused(SPAN, || cpu::block(|cx| span.slice::<0>(1..).partition(cx, shape![1])));
    refused(SPAN, || cpu::block(|cx| span.index::<0>(1).partition(cx, shape![])));
    refused(SPAN, || cpu::block(|cx| span.narrow::<0, 1, 2>().partition(cx, shape![1])));
    refused(SPAN, || cpu::block(|cx| span.insert_axis::<0>().partition(cx, shape![1, 1])));
    refused(SPAN, || cpu::block(|cx| span.reshape((2_u32, D::<2>)).partition(cx, shape![1, 1])));
    refused(SPAN, || cpu::block(|cx| span.permute(OrderF).partition(cx, shape![1])));
    refused(SPAN, || cpu::block(|_| view.load(0)));
    refused(SPAN, || cpu::block(|_| view.load_masked(Zero, 0)));
    refused(SPAN, || cpu::block(|cx| view.schedule(cx, RowMajor)));
    refused(SPAN, || cpu::block(|cx| rows.load((cx.iota::<u32>(shape![2]), 0))));
    // Nor is it of use in no block at all.
    refused(SPAN, || view.load(0));
}

#[test]
fn a_writable_span_ends_with_its_block() {
    let mut numbers = vec![1_u32, 2, 3, 4];
    let view = cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
        let view = span.partition(cx, shape![4]);
        view.store(cx.zeros::<u32>(shape![4]), cx.bid::<0>());
        view
    });
    let dealt = cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
        span.partition(cx, shape![4]).schedule(cx, RowMajor)
    });
    drop(numbers);
    refused(SPAN, || cpu::block(|cx| view.store(cx.zeros::<u32>(shape![4]), cx.bid::<0>())));
    refused(SPAN, || cpu::block(|cx| view.store_masked(cx.zeros::<u32>(shape![4]), cx.bid::<0>())));
    refused(SPAN, || {
        cpu::block(|cx| dealt.tiles().for_each(|tile| tile.store_masked(cx.zeros::<u32>(shape![4]))))
    });
    refused(SPAN, || dealt.tiles().map(|tile| tile.load().at([0])).sum::<u32>());
}

#[test]
fn an_atomic_span_ends_with_its_block() {
    thread_local! { static KEPT: Cell<Option<SpanAtomic<u32, (u32,)>>> = const { Cell::new(None) }; }
    #[kernel]
    fn keep(cx: Cx, x: SpanAtomic<u32, (u32,)>) {
        let _ = cx;
        KEPT.set(Some(x));
    }
    let mut numbers = vec![0_u32; 4];
    // SAFETY: the vector is valid, and nothing else uses it during the call.
    unsafe {
        use cuda_tiles::launch::{BlockPosition, Parameters};
        let span = SpanAtomic::<u32, (u32,)>::try_from_parts(numbers.as_mut_ptr(), &[4], &[1]).unwrap();
        let position = BlockPosition { index: [0; 3], count: [1; 3], partitions: None };
        keep.run_block(position, &Parameters::into_parts((span,)));
    }
    drop(numbers);
    let x = KEPT.get().unwrap();
    refused(SPAN, || cpu::block(|cx| x.atomic_add(1, cx.iota::<u32>(shape![4]), Relaxed, scope::Device)));
    refused(SPAN, || cpu::block(|cx| x.atomic_gather(cx.iota::<u32>(shape![4]), Relaxed, scope::Device)));
    refused(SPAN, || {
        cpu::block(|cx| x.atomic_scatter(1_u32, cx.iota::<u32>(shape![4]), Relaxed, scope::Device))
    });
}

#[test]
fn another_block_proves_nothing() {
    let mut numbers = [0_u32; 4];
    let kept = cpu::block(|other| other.bid::<0>());
    cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
        let foreign = cpu::block(|other| other.bid::<0>());
        let dealt = cpu::block(|other| other.tiles::<0>(1).next().unwrap());
        let view = span.partition(cx, shape![4]);
        let ones = cx.ones::<u32>(shape![4]);
        refused(INDEX, || view.store(ones, foreign));
        refused(INDEX, || view.store_masked(ones, dealt));
        refused(INDEX, || view.load(kept));
        // After another block has run this one is itself again.
        view.store(ones, cx.bid::<0>());
    });
    cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
        let ones = cx.ones::<u32>(shape![4]);
        refused(SPAN, || {
            let view = cpu::block(|other| span.partition(other, shape![4]));
            view.store(ones, cx.bid::<0>());
        });
    });
    cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
        // A block within this one is another one, also for what this one owns.
        let view = span.partition(cx, shape![4]);
        refused(SPAN, || cpu::block(|_| view.load(cx.bid::<0>())));
    });
    let token: Cx<CpuBlock> = cpu::block(|cx| cx);
    cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<u32, (u32,)>| {
        refused(TOKEN, || span.partition(token, shape![4]).load(cx.bid::<0>()));
    });
    assert_eq!(numbers, [1; 4]);
}

#[test]
fn recursion_does_not_share_memory() {
    fn level<B: Block>(cx: Cx<B>, depth: u32) -> u32 {
        let own = cx.shared::<u32, 4>(|own| {
            own.fill(depth);
            if depth > 0 { level(cx, depth - 1) } else { 0 }
        });
        own + depth
    }
    let text = panic_of(|| cpu::block(|cx| level(cx, 1)));
    assert!(text.starts_with("shared memory was asked for again by a call that still has it"), "{text}");
    assert!(text.contains("tests/blocks.rs"), "{text}");
    // One after the other, within another call, and in other blocks and instances of the code it is honest.
    assert_eq!(cpu::block(|cx| level(cx, 0) + level(cx, 0)), 0);
    fn sized<const N: usize, B: Block>(cx: Cx<B>) -> u32 {
        cx.shared::<u32, N>(|own| {
            own.fill(N as u32);
            own.load(shape![1]).at([0])
                + if N == 4 { sized::<2, B>(cx) } else { cpu::block(|cx| level(cx, 0)) }
        })
    }
    assert_eq!(cpu::block(sized::<4, CpuBlock>), 6);
    let nested = |cx: Cx<CpuBlock>| cx.shared::<u32, 1>(|_| cpu::block(|cx| cx.shared::<u32, 1>(|_| 1)));
    assert_eq!(cpu::block(|cx| nested(cx) + nested(cx)), 2);
}

#[test]
fn axis_lengths_that_are_too_long_are_refused() {
    let body = |_: Cx<CpuBlock>, span: Span<u8, (u64, u64)>| span.extents_equal(&span);
    let text = panic_of(|| cpu::block_on::<u8, _, 2, _>(&[], [1 << 32, 1 << 32], body));
    assert!(
        text.starts_with(
            "a tensor with axes of [4294967296, 4294967296] has another number of elements than the 0"
        ),
        "{text}"
    );
    let body = |_: Cx<CpuBlock>, _: Span<u8, (u64, u64, u64)>| ();
    let text = panic_of(|| cpu::block_on(&[], [0, 1 << 32, 1 << 32], body));
    assert!(text.ends_with("has strides beyond 2^63"), "{text}");
    let text = panic_of(|| cpu::block_on_mut(&mut [1_u8], [2], |_, _: SpanMut<u8, (u32,)>| ()));
    assert!(
        text.starts_with("a tensor with axes of [2] has another number of elements than the 1"),
        "{text}"
    );
    assert!(cpu::block_on(&[], [5, 0], |_, span: Span<u8, (u32, u32)>| span.is_empty()));
}
