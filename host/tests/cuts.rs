//! All blocks cut a writable tensor alike: kernels that do not are refused, here by a panic. For a GPU they are not built.

use cuda_tiles::prelude::*;
use cuda_tiles::view::AnyNumber;
use cuda_tiles_host::{Device, Error, Launch, Result, Tensor};
use std::sync::atomic::{AtomicU32, Ordering};

type Page = Shape2<16, 16>;

/// The message of a launch of `kernel` that panicked.
#[track_caller]
fn message(kernel: &str, result: Result<()>) -> String {
    let error = result.expect_err(kernel);
    assert!(matches!(error, Error::Panicked { kernel: of, .. } if of == kernel), "{kernel}: {error:?}");
    error.to_string()
}

/// Kernels that cut a tensor when they may know what other blocks do not.
mod late {
    use super::*;

    #[kernel]
    fn by_index(cx: Cx, y: SpanMut<f32, (u32,)>) {
        let i = cx.bid::<0>();
        if *i == 0 {
            y.partition(cx, shape![64]).store_masked(cx.zeros::<f32>(shape![64]), i);
        } else {
            y.partition(cx, shape![32]).store_masked(cx.ones::<f32>(shape![32]), i);
        }
    }

    #[kernel]
    fn by_part(cx: Cx, y: SpanMut<f32, (u32,)>) {
        let first = cx.tiles::<0>(9).next().map_or(0, |i| *i);
        // SAFETY: none: blocks take different parts.
        let y = unsafe { y.slice::<0>(first..first + 64) };
        y.partition(cx, shape![64]).store_masked(cx.ones::<f32>(shape![64]), cx.bid::<0>());
    }

    #[kernel]
    fn by_turn(cx: Cx, turns: SpanAtomic<u32, (u32,)>, y: SpanMut<f32, (u32,)>) {
        let turn = turns.atomic_add(1_u32, cx.full(shape![1], 0_u32), Relaxed, scope::Device).item();
        if turn == 0 {
            y.strided(cx, shape![32], steps![40]).store_masked(cx.zeros::<f32>(shape![32]), cx.bid::<0>());
        } else {
            y.partition(cx, shape![32]).store_masked(cx.ones::<f32>(shape![32]), cx.bid::<0>());
        }
    }

    #[kernel]
    fn by_shared(cx: Cx, y: SpanMut<f32, (u32,)>) {
        let bins = cx.shared::<u32, 4>(|bins| {
            bins.fill(1);
            bins.load(shape![4])
        });
        y.partition(cx, shape![4]).store_masked(bins.cast::<f32>(), cx.bid::<0>());
    }

    #[kernel(producer = 32)]
    fn by_stage(
        roles: WarpRoles,
        x: TmaLoad<u32, Page>,
        y: TmaStore<u32, Page>,
        #[shared] ring: Ring<SharedTile<u32, Page>, 2>,
    ) {
        let loads = roles.tile_indices(RowMajor, x_counts(&x)).map(move |[_, i, j]| x.tile(i, j));
        roles.pipeline(ring, loads, move |cx, mut consumer| {
            let guard = consumer.wait();
            let tile = guard.tiles().load(cx);
            consumer.release(guard);
            if tile.at([0, 0]) == 0 {
                y.schedule(cx, RowMajor).for_each(|place| place.store_directly(tile));
            } else {
                y.schedule(cx, ColumnMajor).for_each(|place| place.store_directly(tile));
            }
        });
    }

    #[kernel(producer = 32)]
    fn by_order(
        roles: WarpRoles,
        x: TmaLoad<u32, Page>,
        y: TmaStore<u32, Page>,
        #[shared] ring: Ring<SharedTile<u32, Page>, 2>,
    ) {
        let number = *roles.bid::<0>();
        roles.pipeline(ring, [x.tile(0, 0)], move |cx, _| {
            let tile = cx.full(shape![16, 16], number);
            if number == 0 {
                y.schedule(cx, RowMajor).for_each(|place| place.store_directly(tile));
            } else {
                y.schedule(cx, ColumnMajor).for_each(|place| place.store_directly(tile));
            }
        });
    }

    /// Schedules the tiles of one output after the block has seen its scheduled tiles of another output.
    #[kernel(producer = 32)]
    fn by_schedule(
        roles: WarpRoles,
        x: TmaLoad<u32, Page>,
        y: TmaStore<u32, Page>,
        z: TmaStore<u32, Page>,
        #[shared] ring: Ring<SharedTile<u32, Page>, 2>,
    ) {
        roles.pipeline(ring, [x.tile(0, 0)], move |cx, _| {
            if y.schedule(cx, RowMajor).next().is_some() {
                z.schedule(cx, RowMajor).for_each(drop);
            }
        });
    }

    fn x_counts(x: &TmaLoad<u32, Page>) -> [u32; 3] {
        let (rows, columns) = x.tile_counts();
        [1, rows, columns]
    }

    #[test]
    fn cuts_are_refused() {
        let device = Device::cpu();
        let mut y = Tensor::<f32, 1>::zeros(&device, [100]).unwrap();
        let mut turns = Tensor::<u32, 1>::zeros(&device, [1]).unwrap();
        let x = Tensor::<u32, 2>::zeros(&device, [32, 64]).unwrap();
        let pages = || Tensor::<u32, 2>::zeros(&device, [32, 64]).unwrap();
        let results = [
            ("by_index", "read its index", by_index.launch(&device, 2, (&mut y,))),
            ("by_part", "read its index", by_part.launch(&device, 2, (&mut y,))),
            ("by_turn", "read atomically what other", by_turn.launch(&device, 2, (&mut turns, &mut y))),
            ("by_shared", "read shared memory", by_shared.launch(&device, 1, (&mut y,))),
            ("by_stage", "received tiles", by_stage.launch(&device, 2, (&x, &mut pages()))),
            ("by_order", "read its index", by_order.launch(&device, 2, (&x, &mut pages()))),
            (
                "by_schedule",
                "read its index",
                by_schedule.launch(&device, 1, (&x, &mut pages(), &mut pages())),
            ),
        ];
        for (kernel, learnt, result) in results {
            let message = message(kernel, result);
            let sentence = format!("a writable tensor is cut into tiles after this block has {learnt}");
            for words in [&*sentence, "at the top of the kernel", "cuts.rs:"] {
                assert!(message.contains(words), "{kernel}: `{words}` is not in: {message}");
            }
        }
    }
}

/// Kernels that do the same in order, or vouch for it.
mod early {
    use super::*;

    /// Both outputs are scheduled before the first tile. Producer and consumers know the block's index.
    #[kernel(producer = 32)]
    fn two_outputs(
        roles: WarpRoles,
        x: TmaLoad<u32, Page>,
        y: TmaStore<u32, Page>,
        z: TmaStore<u32, Page>,
        #[shared] ring: Ring<SharedTile<u32, Page>, 2>,
    ) {
        let loads = roles.tile_indices(RowMajor, y.tile_counts()).flat_map(move |[_, i, j]| [x.tile(i, j)]);
        let (y, z) = (roles.schedule(y, RowMajor), roles.schedule(z, ColumnMajor));
        let own = *roles.bid::<0>();
        roles.pipeline(ring, loads, move |cx, mut consumer| {
            for (y, z) in y.of(cx).zip(z.of(cx)) {
                let guard = consumer.wait();
                let tile = guard.tiles().load(cx);
                consumer.release(guard);
                y.store_directly(tile);
                z.store_directly(tile + own);
            }
        });
    }

    /// Each half of the blocks owns a half of the tensor: blocks with an odd index the second one.
    ///
    /// # Safety
    /// None beyond what the kernel does: a tensor of 128 elements and two blocks, each with a half.
    #[kernel]
    unsafe fn halves(cx: Cx, y: SpanMut<u32, (u32,)>) {
        let i = cx.bid::<0>();
        let tile = cx.full(shape![64], *i + 1);
        if *i == 0 {
            // SAFETY: the blocks' halves are different elements.
            unsafe { y.slice::<0>(0..64) }.partition(cx, shape![64]).store_masked(tile, i);
        } else {
            y.strided(cx, shape![64], steps![64]).store_masked(tile, i);
        }
    }

    #[test]
    fn cuts_in_order_are_no_matter() {
        let device = Device::cpu();
        let numbers: Vec<u32> = (0..32 * 64).collect();
        let x = Tensor::from_slice(&device, [32, 64], &numbers).unwrap();
        let mut y = Tensor::poisoned(&device, [32, 64]).unwrap();
        let mut z = Tensor::poisoned(&device, [64, 32]).unwrap();
        two_outputs.launch(&device, 3, (&x, &mut y, &mut z)).unwrap();
        assert_eq!(y.to_vec().unwrap(), numbers);
        // Tile (i, j) of the second one has the number of tile (j, i) of the first.
        let z = z.to_vec().unwrap();
        for (i, j) in (0..4).flat_map(|i| (0..2).map(move |j| (i, j))) {
            assert_eq!(z[512 * i + 16 * j], numbers[1024 * j + 16 * i] + (4 * j + i) as u32 % 3);
        }
    }

    #[test]
    fn an_author_may_vouch() {
        let device = Device::cpu();
        let mut y = Tensor::poisoned(&device, [128]).unwrap();
        // SAFETY: two blocks and 128 elements.
        unsafe { halves.as_kernel() }.launch(&device, 2, (&mut y,)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [[1; 64], [2; 64]].concat());
    }
}

/// Kernels whose blocks go different ways for a reason that only the CPU has.
mod differently {
    use super::*;

    /// Whether this is the first block of the process that asks with this counter.
    fn is_first(counter: &AtomicU32) -> bool {
        counter.fetch_add(1, Ordering::Relaxed) == 0
    }

    macro_rules! ways {
        ($($name:ident($cx:ident, $y:ident: $kind:ty) $one:block else $other:block)*) => { $(
            #[kernel]
            fn $name($cx: Cx, $y: $kind) {
                static TURNS: AtomicU32 = AtomicU32::new(0);
                if is_first(&TURNS) $one else $other
            }
        )* };
    }
    ways! {
        two_shapes(cx, y: SpanMut<f32, (u32,)>) {
            y.partition(cx, shape![64]).store_masked(cx.zeros::<f32>(shape![64]), cx.bid::<0>());
        } else {
            y.partition(cx, shape![32]).store_masked(cx.ones::<f32>(shape![32]), cx.bid::<0>());
        }
        rows_and_columns(cx, y: SpanMut<f32, (u32, u32)>) {
            y.partition(cx, shape![1, 8]).store_masked(cx.zeros::<f32>(shape![1, 8]), (cx.bid::<0>(), 0));
        } else {
            let y = y.transpose::<0, 1>().partition(cx, shape![1, 8]);
            y.store_masked(cx.ones::<f32>(shape![1, 8]), (cx.bid::<0>(), 0));
        }
        two_places(cx, y: SpanMut<f32, (u32, u32)>) {
            y.partition(cx, shape![4, 4]).store_masked(cx.zeros::<f32>(shape![4, 4]), (cx.bid::<0>(), 1));
        } else {
            y.partition(cx, shape![4, 4]).store_masked(cx.ones::<f32>(shape![4, 4]), (0, cx.bid::<0>()));
        }
        two_starts(cx, y: SpanMut<f32, (u32,)>) {
            let y = y.narrow::<0, 1, 63>().partition(cx, shape![32]);
            y.store_masked(cx.zeros::<f32>(shape![32]), cx.bid::<0>());
        } else {
            let y = y.narrow::<0, 0, 63>().partition(cx, shape![32]);
            y.store_masked(cx.ones::<f32>(shape![32]), cx.bid::<0>());
        }
        two_slices(cx, y: SpanMut<f32, (u32,)>) {
            // SAFETY: none: not every block takes this part.
            let y = unsafe { y.slice::<0>(1..64) }.partition(cx, shape![32]);
            y.store_masked(cx.zeros::<f32>(shape![32]), cx.bid::<0>());
        } else {
            // SAFETY: as above.
            let y = unsafe { y.slice::<0>(0..63) }.partition(cx, shape![32]);
            y.store_masked(cx.ones::<f32>(shape![32]), cx.bid::<0>());
        }
        two_walks(cx, y: SpanMut<f32, (u32,)>) {
            let y = y.strided(cx, shape![32], steps![40]);
            y.store_masked(cx.zeros::<f32>(shape![32]), cx.bid::<0>());
        } else {
            y.partition(cx, shape![32]).store_masked(cx.ones::<f32>(shape![32]), cx.bid::<0>());
        }
        two_extents(cx, y: SpanMut<f32, (u32,)>) {
            let y = y.reshape((8_u32, D::<4>)).partition(cx, shape![1, 4]);
            y.store(cx.zeros::<f32>(shape![1, 4]), (cx.bid::<0>(), 0));
        } else {
            let y = y.reshape((4_u32, D::<8>)).partition(cx, shape![1, 4]);
            y.store(cx.ones::<f32>(shape![1, 4]), (cx.bid::<0>(), 0));
        }
        two_tile_orders(cx, y: SpanMut<f32, (u32, u32)>) {
            let tiles = y.partition(cx, shape![4, 4]).schedule(cx, RowMajor);
            tiles.tiles().for_each(|tile| tile.store_masked(cx.zeros::<f32>(shape![4, 4])));
        } else {
            let tiles = y.partition(cx, shape![4, 4]).schedule(cx, Grouped::<2>);
            tiles.tiles().for_each(|tile| tile.store_masked(cx.ones::<f32>(shape![4, 4])));
        }
    }

    /// As the others, for a `TmaStore`.
    #[kernel(producer = 32)]
    fn orders_of_a_store(
        roles: WarpRoles,
        x: TmaLoad<f32, Page>,
        y: TmaStore<f32, Page>,
        #[shared] ring: Ring<SharedTile<f32, Page>, 2>,
    ) {
        static TURNS: AtomicU32 = AtomicU32::new(0);
        roles.pipeline(ring, [x.tile(0, 0)], move |cx, _| match is_first(&TURNS) {
            true => y.schedule(cx, CausalBalanced).for_each(drop),
            false => y.schedule(cx, FromLastRow::<2>).for_each(drop),
        });
    }

    /// A kernel whose blocks cut a tensor in two ways: what launches it, and words of both.
    type Case = (&'static str, fn(&Device) -> Result<()>, [&'static str; 2]);

    macro_rules! case {
        ($kernel:ident, $lengths:expr, $one:literal, $other:literal) => {
            (
                stringify!($kernel),
                |device| $kernel.launch(device, 3, (&mut Tensor::zeros(device, $lengths)?,)),
                [$one, $other],
            )
        };
    }

    fn launch_orders_of_a_store(device: &Device) -> Result<()> {
        let x = Tensor::zeros(device, [16, 16])?;
        orders_of_a_store.launch(device, 3, (&x, &mut Tensor::zeros(device, [32, 32])?))
    }

    const CASES: [Case; 9] = [
        case!(two_shapes, [128], "tiles of [64] at steps of [64]", "tiles of [32] at steps of [32]"),
        case!(rows_and_columns, [8, 8], "with strides [8, 1]", "with strides [1, 8]"),
        case!(two_places, [16, 16], "named (cx.bid::<0>(), _)", "named (_, cx.bid::<0>())"),
        case!(two_starts, [100], "with strides [1] from byte 4 on", "with strides [1] from byte 0 on"),
        case!(two_slices, [100], "of extents [63]", "with strides [1]"),
        case!(two_walks, [100], "tiles of [32] at steps of [40]", "tiles of [32] at steps of [32]"),
        case!(two_extents, [32], "of extents [8, 4]", "of extents [4, 8]"),
        case!(two_tile_orders, [8, 8], "in the order RowMajor", "in the order Grouped::<2>"),
        (
            "orders_of_a_store",
            launch_orders_of_a_store,
            ["in the order CausalBalanced", "in the order FromLastRow::<2>"],
        ),
    ];

    #[test]
    fn cuts_are_compared() {
        let device = Device::cpu();
        for (name, launch, ways) in CASES {
            let message = message(name, launch(&device));
            let sentence =
                "all blocks cut a writable tensor in the same way, or their tiles would overlap: block [";
            for words in [sentence, "cuts.rs:"].iter().chain(&ways) {
                assert!(message.contains(words), "{name}: `{words}` is not in: {message}");
            }
            // From now on all blocks go the second way. A launch begins with an empty record, whatever the one before it did.
            launch(&device).unwrap();
        }
    }

    /// More cuts than can be compared.
    #[kernel]
    fn sixty_five(cx: Cx, y: SpanMut<f32, (u32,)>) {
        let mut rest = y;
        for _ in 0..65 {
            // SAFETY: every block splits at the same places.
            let (first, others) = unsafe { rest.split_at::<0>(1) };
            let _ = first.partition::<_, _, (AnyNumber,)>(cx, shape![1]);
            // SAFETY: as above.
            rest = unsafe { others.slice::<0>(0..) };
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let device = Device::cpu();
        let message = message(
            "sixty_five",
            sixty_five.launch(&device, 1, (&mut Tensor::zeros(&device, [100]).unwrap(),)),
        );
        assert!(
            message.contains("a block cuts at most 64 writable tensors, parts of them included"),
            "{message}"
        );
    }
}
