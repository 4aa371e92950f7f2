//! Pipelines on the CPU: what may be done with messages in which order, what is reported, and that nothing is stored which
//! should not be.

use cuda_tiles::prelude::*;
use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::pipeline::StageGuard;
use cuda_tiles_host::{Device, Error, Launch, Tensor};
use std::collections::VecDeque;

/// Rows and columns of a tile of numbers.
const SIDE: usize = 8;
type Page = Shape2<SIDE, SIDE>;
/// Stages of the rings.
const STAGES: usize = 3;
/// Random sequences of acts.
const CASES: usize = if cfg!(miri) { 2 } else { 3000 };
/// Of the orders of two rings every so many.
const SHARE: usize = if cfg!(miri) { 512 } else { 1 };

/// What a kernel does with the messages of its feed, in a number of four bits for each act.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// Receives a message and holds it.
    Receive = 1,
    /// Reads and releases the message that has been held longest.
    ReleaseOldest,
    /// The one that has been held shortest.
    ReleaseNewest,
    /// Drops the message that has been held shortest.
    Drop,
    /// Reads the next message as a step.
    Step,
}

impl Act {
    const ALL: [Self; 5] = [Self::Receive, Self::ReleaseOldest, Self::ReleaseNewest, Self::Drop, Self::Step];

    fn encode(acts: &[Self]) -> u64 {
        acts.iter().rev().fold(0, |code, &act| code << 4 | act as u64)
    }
}

/// Acts upon the tiles of the first column of `x`, one below the other, and stores the sum of all that are read, each
/// multiplied by its place in the sequence of reads.
#[kernel(producer = 32)]
fn follow(
    roles: WarpRoles,
    x: TmaLoad<f32, Page>,
    y: TmaStore<f32, Page>,
    acts: u64,
    #[shared] ring: Ring<SharedTile<f32, Page>, STAGES>,
    #[shared] buffer: EpilogueBuffer<0>,
) {
    roles.pipeline(ring, x.column(0), move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let (mut buffer, mut acts, mut reads) = (buffer, acts, 0.0);
        let mut held: Vec<StageGuard<'_, _>> = Vec::new();
        let mut sum = cx.zeros::<f32, _>(shape![SIDE, SIDE]);
        let mut read = |stage: SharedTileRef<'_, f32, Page>| {
            reads += 1.0;
            sum += stage.load(cx) * reads;
        };
        while acts != 0 {
            match Act::ALL[(acts & 15) as usize - 1] {
                Act::Receive => held.push(consumer.wait()),
                Act::ReleaseOldest => {
                    let message = held.remove(0);
                    read(message.tiles());
                    consumer.release(message);
                }
                Act::ReleaseNewest => {
                    let message = held.pop().unwrap();
                    read(message.tiles());
                    consumer.release(message);
                }
                Act::Drop => drop(held.pop()),
                Act::Step => consumer.k_loop(1).for_each(&mut read),
            }
            acts >>= 4;
        }
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}

/// Takes the tiles of two columns of `x` from rings of their own, from the second ring where a bit of `turns` is one, and stores the
/// sum of all, each multiplied by its place in the sequence. The first tile of `x` stays, and is added for each.
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
    #[shared] buffer: EpilogueBuffer<0>,
) {
    let feeds = (x.column(0), x.column(0), x.column(1));
    roles.pipelines((kept, left, right), feeds, move |cx, (mut kept, mut left, mut right)| {
        let tiles = y.schedule(cx, RowMajor);
        let (mut buffer, kept) = (buffer, kept.wait());
        let mut sum = cx.zeros::<f32, _>(shape![SIDE, SIDE]);
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
            tile.store(&mut buffer, sum);
        }
    });
}

/// What comes of acts on a feed of so many messages: the messages that are read, in order, or words of the error.
fn outcome(acts: &[Act], messages: usize) -> Result<Vec<usize>, &'static str> {
    let (mut reads, mut next) = (Vec::new(), 0);
    // Messages that were not released, and those of them that the kernel can still release.
    let (mut unreleased, mut held) = (VecDeque::new(), VecDeque::new());
    for act in acts {
        match act {
            Act::Receive if unreleased.len() == STAGES => {
                return Err(
                    "receive: all stages of the ring are held; release one before the next is received",
                );
            }
            Act::Step if !unreleased.is_empty() => {
                return Err("steps: messages are held that were received before; release them before");
            }
            Act::Receive if next == messages => return Err("receive: the feed of the pipeline has ended"),
            Act::Step if next == messages => return Err("each: the feed of the pipeline has ended"),
            Act::Receive => {
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
                let message = if *act == Act::ReleaseOldest { held.pop_front() } else { held.pop_back() };
                let message = message.expect("acts release what is held");
                if unreleased.pop_front() != Some(message) {
                    return Err(
                        "release: a message that was received before is still held; release messages in the order",
                    );
                }
                reads.push(message);
            }
        }
    }
    Ok(reads)
}

/// The number of an element of message `message`.
fn number(message: usize, element: usize) -> f32 {
    (message * 100 + element) as f32
}

/// Runs the acts on a feed of so many messages, and demands what [`outcome`] says.
fn check(acts: &[Act], messages: usize) {
    let device = Device::cpu();
    let numbers = (0..messages * SIDE * SIDE).map(|i| number(i / (SIDE * SIDE), i % (SIDE * SIDE)));
    let x = Tensor::from_vec(&device, [messages * SIDE, SIDE], numbers.collect()).unwrap();
    let mut y = Tensor::<f32, 2>::full(&device, [SIDE, SIDE], -1.0).unwrap();
    let result = follow.launch(&device, 1, (&x, &mut y, Act::encode(acts)));
    let y = y.to_vec().unwrap();
    match outcome(acts, messages) {
        Ok(reads) => {
            result.unwrap_or_else(|error| panic!("{acts:?} of {messages}: {error}"));
            let sum = |element| {
                let terms = reads.iter().enumerate().map(|(k, &read)| (k + 1) as f32 * number(read, element));
                terms.sum::<f32>()
            };
            assert_eq!(y, (0..SIDE * SIDE).map(sum).collect::<Vec<_>>(), "{acts:?} of {messages}");
        }
        Err(text) => {
            let what = format!("{acts:?} of {messages}");
            let error = result.expect_err(&what);
            assert!(
                matches!(error, Error::Panicked { kernel: "follow", block: [0, 0, 0], .. }),
                "{what}: {error:?}"
            );
            let error = error.to_string();
            assert!(error.starts_with("kernel `follow` panicked") && error.contains(text), "{what}: {error}");
            assert!(error.contains("pipelines.rs:"), "{what}: {error}");
            assert_eq!(y, [-1.0; SIDE * SIDE], "{what}: what was not finished is not stored");
        }
    }
}

#[test]
fn a_feed_that_ends_too_early_is_an_error() {
    use Act::{Receive, ReleaseOldest, Step};
    check(&[Step], 0);
    check(&[Receive], 0);
    check(&[Step, Step, Step], 2);
    check(&[Receive, Receive], 1);
    check(&[Receive, Receive, ReleaseOldest, ReleaseOldest, Receive], 2);
    // Two of three stages are held, and the feed is what has ended.
    check(&[Receive, Receive, Receive], 2);
}

#[test]
fn a_feed_that_goes_on_too_long_is_left_alone() {
    use Act::{Receive, ReleaseOldest, Step};
    for messages in [1, 2, 3, 4, 9] {
        check(&[], messages);
        check(&[Step], messages);
        check(&[Receive, ReleaseOldest], messages);
        // Nor need the last message be released.
        check(&[Receive], messages);
    }
}

#[test]
fn stages_that_are_all_held_are_an_error() {
    use Act::{Drop, Receive, ReleaseOldest};
    check(&[Receive, Receive, Receive], 9);
    check(&[Receive, Receive, Receive, Receive], 9);
    check(&[Receive, Receive, Receive, ReleaseOldest, Receive, ReleaseOldest, Receive], 9);
    check(&[Receive, Drop, Receive, Drop, Receive, Drop, Receive], 9);
}

#[test]
fn messages_are_released_in_order() {
    use Act::{Drop, Receive, ReleaseNewest, ReleaseOldest};
    check(&[Receive, Receive, ReleaseOldest, ReleaseOldest], 2);
    check(&[Receive, Receive, ReleaseNewest], 9);
    check(&[Receive, Drop, Receive, ReleaseOldest], 9);
}

#[test]
fn steps_are_taken_while_nothing_is_held() {
    use Act::{Drop, Receive, ReleaseOldest, Step};
    check(&[Step, Receive, Step], 9);
    check(&[Receive, Drop, Step], 9);
    check(&[Receive, Receive, ReleaseOldest, ReleaseOldest, Step, Step, Step, Receive], 9);
}

#[test]
fn rings_are_received_from_in_any_order() {
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
    // One ring's feed ends, whatever the others have.
    let mut y = Tensor::<f32, 2>::zeros(&device, [SIDE, SIDE]).unwrap();
    let error = follow_both.launch(&device, 1, (&x, &mut y, 0x1ff, 9)).unwrap_err().to_string();
    assert!(error.contains("the feed of the pipeline has ended"), "{error}");
}

#[test]
fn acts_in_any_order() {
    let mut state = 1_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let (mut finished, mut refused) = (0, 0);
    for _ in 0..CASES {
        let (mut acts, mut held) = (Vec::new(), 0_usize);
        // Mostly such as are legal, so that errors come late.
        for _ in 0..below(17) {
            let act = match below(20) {
                0..7 => Act::Receive,
                7..13 => Act::ReleaseOldest,
                13 => Act::ReleaseNewest,
                14 if below(4) == 0 => Act::Drop,
                _ => Act::Step,
            };
            let takes = !matches!(act, Act::Receive | Act::Step);
            if (takes && held == 0) || (act == Act::Step && held > 0 && below(9) > 0) {
                continue;
            }
            held = if act == Act::Receive { held + 1 } else { held - usize::from(takes) };
            acts.push(act);
        }
        let messages = below(12);
        check(&acts, messages);
        *(if outcome(&acts, messages).is_ok() { &mut finished } else { &mut refused }) += 1;
    }
    let enough = CASES / 6;
    assert!(finished >= enough && refused >= enough, "{finished} finished, {refused} refused");
}
