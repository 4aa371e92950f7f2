//! Pipelines on the CPU: which sequences of calls are allowed, which are reported as errors, and that a kernel that fails stores
//! nothing.

#[path = "../../tests/support/random.rs"]
mod random;

use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::pipeline::StageGuard;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Error, Launch, Tensor};
use random::Random;
use std::collections::VecDeque;

/// Rows and columns of a tile of numbers.
const SIDE: usize = 8;
type Page = Shape2<SIDE, SIDE>;
/// Stages of the rings.
const STAGES: usize = 3;
/// Random sequences of acts.
const CASES: usize = if cfg!(miri) { 2 } else { 3000 };
/// Of all sequences of two rings, every so many are tested.
const SHARE: usize = if cfg!(miri) { 512 } else { 1 };

/// A call of the consumers. A sequence of acts is one number, with four bits for each act.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// Waits for a stage and holds its guard.
    Wait = 1,
    /// Reads and releases the stage that has been held longest.
    ReleaseOldest,
    /// Reads and releases the stage that has been held shortest.
    ReleaseNewest,
    /// Drops the guard that has been held shortest.
    Drop,
    /// Reads the next stage in a k loop of one step.
    Step,
}

impl Act {
    const ALL: [Self; 5] = [Self::Wait, Self::ReleaseOldest, Self::ReleaseNewest, Self::Drop, Self::Step];

    fn encode(acts: &[Self]) -> u64 {
        acts.iter().rev().fold(0, |code, &act| code << 4 | act as u64)
    }
}

/// Carries out `acts` on the tiles of the first column of `x`, from top to bottom. Stores the sum of all tiles that it reads, each
/// multiplied by its place in the sequence of reads.
#[kernel(producer = 32)]
fn follow(
    roles: WarpRoles,
    x: TmaLoad<f32, Page>,
    y: TmaStore<f32, Page>,
    acts: u64,
    #[shared] ring: Ring<SharedTile<f32, Page>, STAGES>,
) {
    roles.pipeline(ring, x.column(0), move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let (mut acts, mut reads) = (acts, 0.0);
        let mut guards: Vec<StageGuard<'_, _>> = Vec::new();
        let mut sum = cx.zeros::<f32>(shape![SIDE, SIDE]);
        let mut read = |stage: SharedTileRef<'_, f32, Page>| {
            reads += 1.0;
            sum += stage.load(cx) * reads;
        };
        while acts != 0 {
            match Act::ALL[(acts & 15) as usize - 1] {
                Act::Wait => guards.push(consumer.wait()),
                Act::ReleaseOldest => {
                    let guard = guards.remove(0);
                    read(guard.tiles());
                    consumer.release(guard);
                }
                Act::ReleaseNewest => {
                    let guard = guards.pop().unwrap();
                    read(guard.tiles());
                    consumer.release(guard);
                }
                Act::Drop => drop(guards.pop()),
                Act::Step => consumer.k_loop(1).for_each(&mut read),
            }
            acts >>= 4;
        }
        for tile in tiles {
            tile.store_directly(sum);
        }
    });
}

/// Reads the tiles of two columns of `x` from two rings: from the second ring where a bit of `turns` is one. Stores the sum of all
/// tiles, each multiplied by its place in the sequence. The first tile of `x` stays in a third ring and is added at each turn.
#[kernel(producer = 96)]
fn follow_both(
    roles: WarpRoles,
    x: TmaLoad<f32, Page>,
    y: TmaStore<f32, Page>,
    turns: u32,
    count: u32,
    #[shared] kept: Ring<SharedTile<f32, Page>, 1>,
    #[shared] left: Ring<SharedTile<f32, Page>, STAGES>,
    #[shared] right: Ring<SharedTile<f32, Page>, 2>,
) {
    let loads = (x.column(0), x.column(0), x.column(1));
    roles.pipelines((kept, left, right), loads, move |cx, (mut kept, mut left, mut right)| {
        let tiles = y.schedule(cx, RowMajor);
        let kept = kept.wait();
        let mut sum = cx.zeros::<f32>(shape![SIDE, SIDE]);
        for turn in 0..count {
            let mut read = |stage: SharedTileRef<'_, f32, Page>| {
                sum += stage.load(cx) * (turn + 1) as f32 + kept.tiles().load(cx);
            };
            match turns >> turn & 1 {
                0 => left.k_loop(1).for_each(&mut read),
                _ => right.k_loop(1).for_each(&mut read),
            }
        }
        for tile in tiles {
            tile.store_directly(sum);
        }
    });
}

/// The outcome of acts on a pipeline of so many stages: the stages that are read, in order, or the call that fails and
/// a part of the reason.
fn outcome(acts: &[Act], stages: usize) -> Result<Vec<usize>, [&'static str; 2]> {
    let (mut reads, mut next) = (Vec::new(), 0);
    // The stages that were not released, and the stages among them whose guards still exist.
    let (mut unreleased, mut held) = (VecDeque::new(), VecDeque::new());
    for act in acts {
        match act {
            Act::Wait if unreleased.len() == STAGES => {
                return Err(["wait: ", "all stages of the ring are held; release one before"]);
            }
            Act::Step if !unreleased.is_empty() => {
                return Err(["k_loop: ", "still held; release"]);
            }
            Act::Wait if next == stages => return Err(["wait: ", "has ended"]),
            Act::Step if next == stages => return Err(["for_each: ", "has ended"]),
            Act::Wait => {
                unreleased.push_back(next);
                held.push_back(next);
                next += 1;
            }
            Act::Step => {
                reads.push(next);
                next += 1;
            }
            Act::Drop => drop(held.pop_back()),
            Act::ReleaseOldest | Act::ReleaseNewest => {
                let stage = if *act == Act::ReleaseOldest { held.pop_front() } else { held.pop_back() };
                let stage = stage.expect("acts release what is held");
                if unreleased.pop_front() != Some(stage) {
                    return Err(["release: ", "is still held; release"]);
                }
                reads.push(stage);
            }
        }
    }
    Ok(reads)
}

/// An element of a stage's tile.
fn number(stage: usize, element: usize) -> f32 {
    (stage * 100 + element) as f32
}

/// Runs the acts on a pipeline of so many stages, and demands what [`outcome`] says.
fn check(acts: &[Act], stages: usize) {
    let device = Device::cpu();
    let numbers = (0..stages * SIDE * SIDE).map(|i| number(i / (SIDE * SIDE), i % (SIDE * SIDE)));
    let x = Tensor::from_vec(&device, [stages * SIDE, SIDE], numbers.collect()).unwrap();
    let mut y = Tensor::<f32, 2>::full(&device, [SIDE, SIDE], -1.0).unwrap();
    let result = follow.launch(&device, 1, (&x, &mut y, Act::encode(acts)));
    let y = y.to_vec().unwrap();
    match outcome(acts, stages) {
        Ok(reads) => {
            result.unwrap_or_else(|error| panic!("{acts:?} of {stages}: {error}"));
            let sum = |element| {
                let terms = reads.iter().enumerate().map(|(k, &read)| (k + 1) as f32 * number(read, element));
                terms.sum::<f32>()
            };
            assert_eq!(y, (0..SIDE * SIDE).map(sum).collect::<Vec<_>>(), "{acts:?} of {stages}");
        }
        Err([call, reason]) => {
            let what = format!("{acts:?} of {stages}");
            let error = result.expect_err(&what);
            assert!(
                matches!(error, Error::Panicked { kernel: "follow", block: [0, 0, 0], .. }),
                "{what}: {error:?}"
            );
            let error = error.to_string();
            let start = format!("kernel `follow` panicked in block (0, 0, 0): {call}");
            assert!(error.starts_with(&start) && error.contains(reason), "{what}: {error}");
            assert!(error.contains("pipelines.rs:"), "{what}: {error}");
            assert_eq!(y, [-1.0; SIDE * SIDE], "{what}: what was not finished is not stored");
        }
    }
}

#[test]
fn a_producer_that_ends_too_early_is_an_error() {
    use Act::{ReleaseOldest, Step, Wait};
    check(&[Step], 0);
    check(&[Wait], 0);
    check(&[Step, Step, Step], 2);
    check(&[Wait, Wait], 1);
    check(&[Wait, Wait, ReleaseOldest, ReleaseOldest, Wait], 2);
    // Two of three stages are held. The error is that the producer has ended.
    check(&[Wait, Wait, Wait], 2);
}

#[test]
fn a_producer_with_loads_left_is_left_alone() {
    use Act::{ReleaseOldest, Step, Wait};
    for stages in [1, 2, 3, 4, 9] {
        check(&[], stages);
        check(&[Step], stages);
        check(&[Wait, ReleaseOldest], stages);
        // The last stage need not be released either.
        check(&[Wait], stages);
    }
}

#[test]
fn stages_that_are_all_held_are_an_error() {
    use Act::{Drop, ReleaseOldest, Wait};
    check(&[Wait, Wait, Wait], 9);
    check(&[Wait, Wait, Wait, Wait], 9);
    check(&[Wait, Wait, Wait, ReleaseOldest, Wait, ReleaseOldest, Wait], 9);
    check(&[Wait, Drop, Wait, Drop, Wait, Drop, Wait], 9);
}

#[test]
fn stages_are_released_in_order() {
    use Act::{Drop, ReleaseNewest, ReleaseOldest, Wait};
    check(&[Wait, Wait, ReleaseOldest, ReleaseOldest], 2);
    check(&[Wait, Wait, ReleaseNewest], 9);
    check(&[Wait, Drop, Wait, ReleaseOldest], 9);
}

#[test]
fn k_loops_run_while_no_stage_is_held() {
    use Act::{Drop, ReleaseOldest, Step, Wait};
    check(&[Step, Wait, Step], 9);
    check(&[Wait, Drop, Step], 9);
    check(&[Wait, Wait, ReleaseOldest, ReleaseOldest, Step, Step, Step, Wait], 9);
}

#[test]
fn consumers_wait_for_rings_in_any_order() {
    let device = Device::cpu();
    let rows = 8;
    let numbers = (0..rows * SIDE * 2 * SIDE).map(|i| (i % 977) as f32).collect::<Vec<_>>();
    let x = Tensor::from_slice(&device, [rows * SIDE, 2 * SIDE], &numbers).unwrap();
    let element = |row: usize, column: usize, i: usize| {
        numbers[(row * SIDE + i / SIDE) * 2 * SIDE + column * SIDE + i % SIDE]
    };
    for turns in (0..1 << 9).step_by(SHARE).chain([0xff00, 0x00ff, 0x5555, 0x3333]) {
        let count = if turns < 1 << 9 { 8 } else { 16 };
        let mut y = Tensor::<f32, 2>::poisoned(&device, [SIDE, SIDE]).unwrap();
        follow_both.launch(&device, 1, (&x, &mut y, turns, count)).unwrap();
        let expected = |i| {
            let (mut next, mut sum) = ([0; 2], 0.0);
            for turn in 0..count {
                let column = (turns >> turn & 1) as usize;
                sum += element(next[column], column, i) * (turn + 1) as f32 + element(0, 0, i);
                next[column] += 1;
            }
            sum
        };
        assert_eq!(y.to_vec().unwrap(), (0..SIDE * SIDE).map(expected).collect::<Vec<_>>(), "{turns:b}");
    }
    // The loads of one ring end, whatever the others have left.
    let mut y = Tensor::<f32, 2>::zeros(&device, [SIDE, SIDE]).unwrap();
    let error = follow_both.launch(&device, 1, (&x, &mut y, 0x1ff, 9)).unwrap_err().to_string();
    assert!(error.contains(": for_each: ") && error.contains("has ended"), "{error}");
}

#[test]
fn acts_in_any_order() {
    let mut random = Random::new(1);
    let mut below = |end: u64| random.below(end) as usize;
    let (mut finished, mut refused) = (0, 0);
    for _ in 0..CASES {
        let (mut acts, mut held) = (Vec::new(), 0_usize);
        // Most acts are legal, so that errors come late.
        for _ in 0..below(17) {
            let act = match below(20) {
                0..7 => Act::Wait,
                7..13 => Act::ReleaseOldest,
                13 => Act::ReleaseNewest,
                14 if below(4) == 0 => Act::Drop,
                _ => Act::Step,
            };
            let takes = !matches!(act, Act::Wait | Act::Step);
            if (takes && held == 0) || (act == Act::Step && held > 0 && below(9) > 0) {
                continue;
            }
            held = if act == Act::Wait { held + 1 } else { held - usize::from(takes) };
            acts.push(act);
        }
        let stages = below(12);
        check(&acts, stages);
        *(if outcome(&acts, stages).is_ok() { &mut finished } else { &mut refused }) += 1;
    }
    let enough = CASES / 6;
    assert!(finished >= enough && refused >= enough, "{finished} finished, {refused} refused");
}
