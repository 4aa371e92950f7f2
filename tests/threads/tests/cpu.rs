//! What thread-level kernels compute on the CPU, and that it ends where a GPU would wait forever.

use core::sync::atomic::{AtomicU32, Ordering};
use cuda_tiles::cuda_std::atomic::{AtomicF32, SystemAtomicF64};
use cuda_tiles::cuda_std::{cpu, thread, warp};
use cuda_tiles_test_threads::collectives::{
    Counters, WARP_RESULTS, count, functions, reverse, sum, warp_functions,
};
use cuda_tiles_test_threads::gemm::{TILE, gemm_naive, gemm_tiled};
use cuda_tiles_test_threads::hash::sha256_oneshot;
use cuda_tiles_test_threads::path_tracer::{Material, Scene, Sphere, Vector, View, postprocess, render};
use cuda_tiles_test_threads::vectors::{Line, points, vecadd};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn vectors_are_added() {
    for (length, blocks) in [(0, 1), (1, 1), (1000, 8)] {
        let a: Vec<f32> = (0..length).map(|i| i as f32).collect();
        let b = vec![0.5; a.len()];
        let mut c = vec![-1.0; a.len()];
        let out = c.as_mut_ptr();
        // SAFETY: each thread writes an element of its own.
        unsafe { cpu::launch(blocks, 128, 0, || vecadd(&a, &b, out)) };
        assert!(a.iter().zip(&c).all(|(a, c)| a + 0.5 == *c));
    }
}

#[test]
fn arguments_of_all_kinds_arrive() {
    let line = Line { slope: 2.0, offset: 1.0, count: 5 };
    let (x, mut y) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [9.0; 6]);
    let out = y.as_mut_ptr();
    // SAFETY: as above.
    unsafe { cpu::launch((1, 2), (2, 1, 2), 0, || points(line, &x, &10.0, "+-", -1, out)) };
    assert_eq!(y, [9.0, -31.0, 49.0, -71.0, 89.0, 9.0]);
}

#[test]
fn matrices_are_multiplied_alike_by_both_kernels() {
    let (m, n, k) = (19, 35, 21);
    let number = |i: usize| (i * 7 % 11) as f32 - 5.0;
    let a: Vec<f32> = (0..m * k).map(number).collect();
    let b: Vec<f32> = (0..k * n).map(|i| number(i + 3)).collect();
    let before: Vec<f32> = (0..m * n).map(|i| number(i + 5)).collect();
    let (mut naive, mut tiled) = (before.clone(), before.clone());
    let (first, second) = (naive.as_mut_ptr(), tiled.as_mut_ptr());
    let blocks = [m, n].map(|length| length.div_ceil(TILE) as u32);
    // SAFETY: the matrices have these sizes.
    unsafe {
        cpu::launch((blocks[0], blocks[1]), (16, 16), 0, || gemm_naive(&a, &b, first, m, n, k, 2.0, -0.5));
        cpu::launch((blocks[0], blocks[1]), (16, 16), 0, || gemm_tiled(&a, &b, second, m, n, k, 2.0, -0.5));
    }
    for (i, before) in before.iter().enumerate() {
        let product: f32 = (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum();
        // Small integers and halves: no sum is rounded.
        let expected = 2.0 * product - 0.5 * before;
        assert_eq!((naive[i], tiled[i]), (expected, expected), "element {i}");
    }
}

#[test]
fn hashes_are_those_of_the_standard() {
    // FIPS 180-4's examples, and a text that fills a block but for the length.
    let million = [b'a'; 1000].repeat(1000);
    for (text, expected) in [
        (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
        (&million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ] {
        let mut hash = [0; 32];
        let out = &raw mut hash;
        // SAFETY: there is room for the hash, which one thread writes.
        unsafe { cpu::launch(1, 2, 0, || sha256_oneshot(text, out)) };
        assert_eq!(hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), expected);
    }
}

#[test]
fn memory_that_a_launch_asks_for_is_the_blocks() {
    let mut numbers: Vec<i32> = (0..100).collect();
    let first = numbers.as_mut_ptr();
    // SAFETY: each of the numbers belongs to a thread.
    unsafe { cpu::launch(1, 100, 400, || reverse(first)) };
    assert!(numbers.into_iter().rev().eq(0..100));
}

#[test]
fn sums_cross_lanes_warps_and_blocks() {
    let x: Vec<f32> = (0..3000).map(|i| (i % 17) as f32).collect();
    let total = AtomicF32::new(1.0);
    // SAFETY: blocks have 256 threads.
    unsafe { cpu::launch(3, 256, 0, || sum(&x, &total)) };
    assert_eq!(total.into_inner(), 1.0 + x.iter().sum::<f32>());
}

#[test]
fn functions_of_warps_mean_what_the_instructions_do() {
    let mut results = vec![0; 64 * WARP_RESULTS];
    let first = results.as_mut_ptr();
    // SAFETY: there is room for the results of 64 threads.
    unsafe { cpu::launch(1, 64, 0, || warp_functions(first)) };
    for (number, results) in results.chunks(WARP_RESULTS).enumerate() {
        let lane = number as u64 % 32;
        let above = lane % 16 + 5 < 16;
        let expected = [
            u64::from(((if lane >= 3 { lane - 3 } else { lane }) as f32).to_bits()),
            (lane >= 3).into(),
            if above { lane + 5 } else { lane },
            above.into(),
            (lane / 8 * 8 + 1) << 33,
            1,
            lane ^ 17,
            1,
            if lane < 16 { 120 } else { 0 },
            // Of -16 to 15.
            -16_i64 as u64,
            -16_i64 as u64,
            15,
            0,
            31,
            64,
            31,
            0,
            1,
            0,
            0x5555_5555,
            1 << lane,
            // -16 to 15 have one twentieth, which is zero.
            u32::MAX.into(),
            u32::MAX.into(),
            0,
        ];
        assert_eq!(results, expected, "thread {number}");
    }
}

#[test]
fn atomics_of_all_scopes_and_barriers_count() {
    let mut counters = Counters {
        threads: AtomicU32::new(0),
        highest: -1,
        mixed: 0,
        bits: 0.0,
        sum: SystemAtomicF64::new(0.0),
    };
    let place = &raw mut counters;
    // SAFETY: nobody else accesses the counters.
    unsafe { cpu::launch(3, (8, 4, 2), 0, || count(place)) };
    assert_eq!(counters.threads.into_inner(), 192);
    assert_eq!(counters.highest, 191);
    assert_eq!(counters.mixed, (0..192).fold(0, |mixed, number| mixed ^ number));
    assert_eq!(counters.bits.to_bits(), (1 << 52) - 1);
    assert_eq!(counters.sum.into_inner(), 96.0);
}

#[test]
fn functions_of_floats_are_those_of_the_host() {
    let x: Vec<f32> = (1..40).map(|i| i as f32 / 8.0).collect();
    let mut y = vec![0.0; x.len()];
    let out = y.as_mut_ptr();
    // SAFETY: there is room.
    unsafe { cpu::launch(1, 64, 0, || functions(&x, out)) };
    for (x, y) in x.iter().zip(y) {
        assert!((y - (1.0 + x + x.round() + x % 2.0 + 2.0)).abs() < 1e-5, "{x}: {y}");
    }
}

#[test]
fn a_path_tracer_sees_spheres_and_sky() {
    let sphere = |x, material| Sphere {
        centre: Vector(x, 0.0, -2.0),
        radius: 0.5,
        colour: Vector(0.8, 0.2, 0.1),
        material,
    };
    let spheres = [
        sphere(-1.0, Material::Metallic { roughness: 0.1 }),
        sphere(0.0, Material::Diffuse),
        sphere(1.0, Material::Dielectric { index: 1.5 }),
    ];
    let scene = Scene { spheres: &spheres };
    let view = View {
        size: [33, 17],
        corner: Vector(-1.0, -0.5, -1.0),
        horizontal: Vector(2.0, 0.0, 0.0),
        vertical: Vector(0.0, 1.0, 0.0),
    };
    let pixels = 33 * 17;
    let (mut light, mut bytes) = (vec![Vector::default(); pixels], vec![[0; 3]; pixels]);
    let mut seeds: Vec<u32> = (1..=pixels as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let (to_light, to_seeds, to_bytes) = (light.as_mut_ptr(), seeds.as_mut_ptr(), bytes.as_mut_ptr());
    // SAFETY: there is an element for each pixel.
    unsafe {
        for _ in 0..4 {
            cpu::launch((5, 3), (8, 8), 0, || render(to_light, view, &scene, to_seeds));
        }
        cpu::launch((5, 3), (8, 8), 0, || postprocess(to_light, to_bytes, 4, view));
    }
    let [red, green, blue] = bytes[8 * 33 + 16];
    assert!(red > green && red > blue, "the sphere in the middle is red: {:?}", bytes[8 * 33 + 16]);
    let [red, green, blue] = bytes[16 * 33 + 16];
    assert!(blue > green && green > red && red > 150, "the sky is blue: {:?}", bytes[16 * 33 + 16]);
}

/// What a launch of one block of 64 threads panics with.
fn complaint(kernel: impl Fn()) -> String {
    // SAFETY: the kernels of these tests touch no memory.
    let launch = || unsafe { cpu::launch(1, 64, 0, kernel) };
    let payload = catch_unwind(AssertUnwindSafe(launch)).expect_err("it cannot end well");
    let text = payload.downcast_ref::<String>().cloned();
    text.unwrap_or_else(|| payload.downcast_ref::<&str>().expect("a text").to_string())
}

#[test]
fn waits_that_cannot_end_are_panics() {
    let full = u32::MAX;
    let different = complaint(|| match thread::thread_idx_x() {
        0..10 => thread::sync_threads(),
        _ => _ = thread::sync_threads_count(1),
    });
    assert!(different.contains("block (0, 0, 0): no thread can go on"), "{different}");
    assert!(different.contains("10 wait at `sync_threads` for all threads of the block"), "{different}");
    assert!(different.contains("54 wait at `sync_threads_count`"), "{different}");

    // SAFETY: the CPU sees that lanes are missing.
    let missing = complaint(|| unsafe {
        if warp::lane_id() != 5 {
            warp::warp_vote_all(full, true);
        }
    });
    assert!(missing.contains("31 wait at `warp_vote_all` for the lanes 0xffffffff of warp 0"), "{missing}");
    assert!(missing.contains("2 have ended"), "{missing}");

    // SAFETY: as above.
    let unnamed = complaint(|| unsafe { warp::sync_warp(1) });
    assert!(
        unnamed.contains("lane 1 of warp 0 calls `sync_warp` with the mask 0x1, which does not name it"),
        "{unnamed}"
    );
}

#[test]
fn threads_that_have_ended_are_not_waited_for() {
    let reached = AtomicU32::new(0);
    // SAFETY: the counter is atomic.
    unsafe {
        cpu::launch(2, 64, 0, || {
            if thread::thread_idx_x() < 50 {
                thread::sync_threads();
                reached.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    assert_eq!(reached.into_inner(), 100);
}

#[test]
fn a_panic_of_a_thread_is_the_launchs() {
    let text = complaint(|| {
        assert!(thread::thread_idx_x() != 3, "the third thread");
        thread::sync_threads();
    });
    assert_eq!(text, "the third thread");
}

#[test]
fn outside_of_a_launch_there_are_no_threads() {
    for function in [|| _ = thread::thread_idx_x(), thread::sync_threads, || _ = warp::lane_id()] {
        assert!(catch_unwind(function).is_err());
    }
}

#[test]
fn grids_that_no_gpu_has_are_refused() {
    for (grid, block) in [
        ((0, 1, 1), (1, 1, 1)),
        ((1, 65_536, 1), (1, 1, 1)),
        ((1, 1, 1), (32, 33, 1)),
        ((1, 1, 1), (1, 1, 65)),
    ] {
        // SAFETY: no thread runs.
        let launch = || unsafe { cpu::launch(grid, block, 0, || {}) };
        assert!(catch_unwind(launch).is_err(), "{grid:?} {block:?}");
    }
}
