//! Ranks that do things together: on the CPU as threads, and on the GPUs of the machine. Without NCCL or GPUs the tests say what they skip.

mod kernels;

use std::fmt::Debug;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cuda_tiles_host::collectives::{
    CollectiveError, Communicator, Failure, Group, Reduce, Reduction, Transfer, UniqueId,
};
use cuda_tiles_host::{Device, Element, Graph, Launch, Stream, Tensor, bf16, f8e4m3, f16};
use cudarc::driver::sys::CUstreamCaptureMode;
use kernels::captured::Captured;
use kernels::{DELAY, LEN, filled, grid};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Long enough for calls that have nothing to wait for.
const SHORT: Duration = Duration::from_millis(300);

const REDUCTIONS: [Reduction; 5] =
    [Reduction::Sum, Reduction::Product, Reduction::Minimum, Reduction::Maximum, Reduction::Average];

/// The GPUs of this machine that can communicate, after a line about those that cannot. They are one test's at a time: calls of two
/// communicators that come to two GPUs in different orders wait for each other.
fn gpus() -> Gpus {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut devices: Vec<_> = (0..Device::gpu_count()).map(|number| Device::gpu(number).unwrap()).collect();
    match devices.first().map(UniqueId::new) {
        None => eprintln!("skipped: no GPU"),
        Some(Ok(_)) if devices.len() == 1 => eprintln!("skipped: one GPU, which is a rank alone"),
        Some(Ok(_)) => (),
        Some(Err(error)) => {
            assert!(std::env::var_os("CUDA_TILES_NCCL").is_none(), "{error}");
            eprintln!("skipped: {error}");
            devices.clear();
        }
    }
    Gpus { devices, _turn: turn }
}

struct Gpus {
    devices: Vec<Device>,
    _turn: MutexGuard<'static, ()>,
}

/// Calls `test` for the devices of the ranks that a test is for: several on the CPU, and GPUs.
fn for_worlds(test: impl Fn(Vec<Device>)) {
    for ranks in [1, 2, 3, 5] {
        test(vec![Device::cpu(); ranks]);
    }
    let Gpus { devices, _turn } = gpus();
    if devices.len() > 2 {
        test(devices[..2].to_vec());
    }
    if !devices.is_empty() {
        test(devices);
    }
}

/// Calls `body` for each rank, on a thread of its own.
fn on_each<R: Send>(ranks: Vec<Communicator>, body: impl Fn(Communicator) -> R + Sync) -> Vec<R> {
    let body = &body;
    thread::scope(|scope| {
        let threads: Vec<_> = ranks.into_iter().map(|rank| scope.spawn(move || body(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Numbers that look random, each the same in every run.
fn number(rank: usize, index: usize, below: u64) -> u64 {
    let mut x = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index as u64 + 7);
    x = (x ^ (x >> 31)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (x ^ (x >> 32)) % below
}

/// What element `index` of the reduction of the ranks' numbers is, by the rules of schools.
fn expected(reduction: Reduction, ranks: usize, index: usize, below: u64) -> f64 {
    let numbers = (0..ranks).map(|rank| number(rank, index, below));
    match reduction {
        Reduction::Sum => numbers.sum::<u64>() as f64,
        Reduction::Product => numbers.product::<u64>() as f64,
        Reduction::Minimum => numbers.min().unwrap() as f64,
        Reduction::Maximum => numbers.max().unwrap() as f64,
        Reduction::Average => numbers.sum::<u64>() as f64 / ranks as f64,
    }
}

/// An element type, with its way from and to other numbers.
trait Number: Reduce {
    const INTEGER: bool;
    fn of(number: u64) -> Self;
    fn value(self) -> f64;
}

macro_rules! number {
    ($($type:ty: $integer:literal, |$number:ident| $of:expr, |$element:ident| $value:expr;)*) => { $(
        impl Number for $type {
            const INTEGER: bool = $integer;
            fn of($number: u64) -> Self {
                $of
            }
            fn value(self) -> f64 {
                let $element = self;
                $value
            }
        }
    )* };
}
number! {
    i8: true, |number| number as i8, |element| element.into();
    u8: true, |number| number as u8, |element| element.into();
    i32: true, |number| number as i32, |element| element.into();
    u32: true, |number| number as u32, |element| element.into();
    i64: true, |number| number as i64, |element| element as f64;
    u64: true, |number| number, |element| element as f64;
    f16: false, |number| f16::from_f32(number as f32), |element| element.into();
    bf16: false, |number| bf16::from_f32(number as f32), |element| element.into();
    f32: false, |number| number as f32, |element| element.into();
    f64: false, |number| number as f64, |element| element;
}

/// Reduces small numbers in all ways, and compares.
fn check_reductions<T: Number>(rank: &Communicator) {
    // Products of five such numbers are exact in every type.
    const BELOW: u64 = 3;
    let (ranks, device) = (rank.world_size(), rank.device());
    let stream = device.stream().unwrap();
    for len in [0, 1, 7, 8200] {
        let whole = len * ranks;
        let own: Vec<T> = (0..whole).map(|index| T::of(number(rank.rank(), index, BELOW))).collect();
        let x = Tensor::from_slice(device, [whole], &own).unwrap();
        for reduction in REDUCTIONS {
            let check = |elements: &[T], first: usize| {
                for (index, element) in elements.iter().enumerate() {
                    let expected = expected(reduction, ranks, first + index, BELOW);
                    let expected = if T::INTEGER { expected.trunc() } else { expected };
                    let error = (element.value() - expected).abs();
                    let exact = T::INTEGER || reduction != Reduction::Average;
                    assert!(
                        error <= if exact { 0.0 } else { 0.01 * expected },
                        "{reduction} of {}: {element:?}, expected {expected}",
                        T::NAME
                    );
                }
            };
            let part = rank.rank() * len..(rank.rank() + 1) * len;

            let mut all = Tensor::poisoned(device, [whole]).unwrap();
            rank.all_reduce(&stream, reduction, &x, &mut all).unwrap();
            let mut in_place = Tensor::from_slice(device, [whole], &own).unwrap();
            rank.all_reduce_in_place(&stream, reduction, &mut in_place).unwrap();
            let mut scattered = Tensor::poisoned(device, [len]).unwrap();
            rank.reduce_scatter(&stream, reduction, &x, &mut scattered).unwrap();
            let mut own_part = Tensor::from_slice(device, [whole], &own).unwrap();
            rank.reduce_scatter_in_place(&stream, reduction, &mut own_part).unwrap();
            rank.synchronize(&stream).unwrap();

            check(&all.to_vec().unwrap(), 0);
            check(&in_place.to_vec().unwrap(), 0);
            check(&scattered.to_vec().unwrap(), part.start);
            let own_part = own_part.to_vec().unwrap();
            check(&own_part[part.clone()], part.start);
            assert!((0..whole).all(|index| part.contains(&index) || own_part[index] == own[index]));
            // The source stays.
            assert_eq!(x.to_vec().unwrap(), own);
        }
    }
}

fn reduces<T: Number>() {
    for_worlds(|devices| {
        on_each(Communicator::all(&devices, LONG).unwrap(), |rank| check_reductions::<T>(&rank));
    });
}

#[test]
fn integers_reduce() {
    reduces::<i8>();
    reduces::<u8>();
    reduces::<i32>();
    reduces::<u32>();
    reduces::<i64>();
    reduces::<u64>();
}

#[test]
fn floats_reduce() {
    reduces::<f16>();
    reduces::<bf16>();
    reduces::<f32>();
    reduces::<f64>();
}

#[test]
fn special_values_and_overflow_reduce_as_documented() {
    let ranks = Communicator::all(&vec![Device::cpu(); 2], LONG).unwrap();
    on_each(ranks, |rank| {
        let (device, stream) = (rank.device(), rank.device().default_stream());
        let reduce = |reduction, values: [f32; 2]| {
            let mut x = Tensor::from_slice(device, [1], &[values[rank.rank()]]).unwrap();
            rank.all_reduce_in_place(&stream, reduction, &mut x).unwrap();
            x.to_vec().unwrap()[0]
        };
        assert_eq!(reduce(Reduction::Minimum, [f32::NAN, 3.0]), 3.0);
        assert_eq!(reduce(Reduction::Maximum, [3.0, f32::NAN]), 3.0);
        assert!(reduce(Reduction::Sum, [f32::NAN, 3.0]).is_nan());
        assert!(reduce(Reduction::Sum, [-0.0, -0.0]).is_sign_negative());
        assert_eq!(reduce(Reduction::Minimum, [f32::INFINITY, f32::INFINITY]), f32::INFINITY);
        let mut wrapped = Tensor::from_slice(device, [2], &[100_i8, -3]).unwrap();
        rank.all_reduce_in_place(&stream, Reduction::Sum, &mut wrapped).unwrap();
        assert_eq!(wrapped.to_vec().unwrap(), [-56, -6]);
        let mut average = Tensor::from_slice(device, [1], &[[-3_i32, 0][rank.rank()]]).unwrap();
        rank.all_reduce_in_place(&stream, Reduction::Average, &mut average).unwrap();
        assert_eq!(average.to_vec().unwrap(), [-1]);
    });
}

/// Hands elements from rank to rank in all ways, and compares.
fn check_moves<T: Transfer + Debug>(rank: &Communicator, of: fn(u64) -> T) {
    let (ranks, device) = (rank.world_size(), rank.device());
    let stream = device.stream().unwrap();
    let part = |rank: usize| (0..15).map(move |index| of(number(rank, index, 100)));
    let own: Vec<T> = part(rank.rank()).collect();
    let all: Vec<T> = (0..ranks).flat_map(part).collect();
    let x = Tensor::from_slice(device, [3, 5], &own).unwrap();
    let ones = vec![of(1); all.len()];

    let mut joined = Tensor::from_slice(device, [3 * ranks, 5], &ones).unwrap();
    rank.all_gather(&stream, &x, &mut joined).unwrap();
    let mut stacked = Tensor::from_slice(device, [ranks, 3, 5], &ones).unwrap();
    rank.all_gather(&stream, &x, &mut stacked).unwrap();
    let mut in_place = Tensor::from_slice(device, [3 * ranks, 5], &ones).unwrap();
    let rows = rank.rank() * 3..rank.rank() * 3 + 3;
    in_place.view_mut().slice(0, rows).unwrap().copy_from_slice(&own).unwrap();
    rank.all_gather_in_place(&stream, &mut in_place).unwrap();
    let mut last = Tensor::from_slice(device, [15], &own).unwrap();
    rank.broadcast(&stream, ranks - 1, &mut last).unwrap();

    // A ring: a row goes to the next rank, and comes from the one before.
    let mut row = Tensor::from_slice(device, [5], &[of(1); 5]).unwrap();
    let mut ring = Group::new();
    ring.send(rank, &stream, (rank.rank() + 1) % ranks, x.view().slice(0, 1..2).unwrap()).unwrap();
    ring.receive(rank, &stream, (rank.rank() + ranks - 1) % ranks, &mut row).unwrap();
    ring.run().unwrap();
    rank.synchronize(&stream).unwrap();

    assert_eq!(joined.to_vec().unwrap(), all);
    assert_eq!(stacked.to_vec().unwrap(), all);
    assert_eq!(in_place.to_vec().unwrap(), all);
    assert_eq!(last.to_vec().unwrap(), all[all.len() - 15..]);
    let before: Vec<T> = part((rank.rank() + ranks - 1) % ranks).collect();
    assert_eq!(row.to_vec().unwrap(), before[5..10]);
}

fn moves<T: Transfer + Debug>(of: fn(u64) -> T) {
    for_worlds(|devices| {
        on_each(Communicator::all(&devices, LONG).unwrap(), |rank| check_moves(&rank, of));
    });
}

#[test]
fn elements_of_all_sizes_move() {
    moves::<f32>(|number| number as f32);
    moves::<i64>(|number| number as i64);
    moves::<u16>(|number| number as u16);
    moves::<f8e4m3>(|number| f8e4m3::from_bits(number as u8));
}

#[test]
fn one_thread_has_several_ranks() {
    for_worlds(|devices| {
        let ranks = Communicator::all(&devices, LONG).unwrap();
        let streams: Vec<_> = devices.iter().map(|device| device.stream().unwrap()).collect();
        let mut tensors: Vec<_> =
            devices.iter().map(|device| Tensor::full(device, [100], 0.5_f32).unwrap()).collect();
        for _ in 0..3 {
            let mut group = Group::new();
            for ((rank, stream), tensor) in ranks.iter().zip(&streams).zip(&mut tensors) {
                group.all_reduce_in_place(rank, stream, Reduction::Sum, tensor).unwrap();
            }
            group.run().unwrap();
        }
        let sum = 0.5 * (devices.len() as f32).powi(3);
        for ((rank, stream), tensor) in ranks.iter().zip(&streams).zip(&tensors) {
            rank.synchronize(stream).unwrap();
            assert_eq!(tensor.to_vec().unwrap(), [sum; 100]);
        }
    });
}

#[test]
fn a_call_comes_after_launches_on_other_streams_and_before_later_ones() {
    let Gpus { devices, _turn } = gpus();
    if devices.is_empty() {
        return;
    }
    devices.iter().for_each(|device| device.load(&kernels::KERNELS).unwrap());
    on_each(Communicator::all(&devices, LONG).unwrap(), |rank| {
        let device = rank.device();
        let (one, other) = (device.stream().unwrap(), device.stream().unwrap());
        let (ones, mut x, mut y) = (filled(device, 1.0), filled(device, 0.0), filled(device, 0.0));
        device.synchronize().unwrap();
        kernels::DELAYED_COPY.launch_on(&one, grid(), (&ones, &mut x, DELAY)).unwrap();
        rank.all_reduce_in_place(&other, Reduction::Sum, &mut x).unwrap();
        kernels::DELAYED_COPY.launch_on(&one, grid(), (&x, &mut y, 0)).unwrap();
        drop(x);
        assert_eq!(y.to_vec().unwrap(), [rank.world_size() as f32; LEN]);
    });
}

/// The failure of a call.
fn failure<R: Debug>(result: Result<R, CollectiveError>) -> Failure {
    match result.unwrap_err() {
        CollectiveError::Failed { failure, .. } => failure,
        other => panic!("{other}"),
    }
}

#[test]
fn ranks_that_call_different_things_are_told_so() {
    for_worlds(|mut devices| {
        devices.truncate(2);
        if devices.len() < 2 {
            return;
        }
        let messages = on_each(Communicator::all(&devices, LONG).unwrap(), |rank| {
            let stream = rank.device().default_stream();
            let mut x = Tensor::full(rank.device(), [10 + rank.rank()], 1.0_f32).unwrap();
            let called = rank.all_reduce_in_place(&stream, Reduction::Sum, &mut x);
            let error = called.and_then(|()| rank.synchronize(&stream)).unwrap_err();
            // From now on every call fails.
            let mut y = Tensor::full(rank.device(), [1], 1_u8).unwrap();
            let again = failure(rank.broadcast(&stream, 0, &mut y));
            assert!(matches!(again, Failure::Disagreement { ranks: [0, 1], .. }), "{again}");
            error.to_string()
        });
        for message in messages {
            assert!(
                message.contains(
                    "rank 0 called all-reduce (sum) of 10 f32, but rank 1 called all-reduce (sum) of 11 f32"
                ),
                "{message}"
            );
        }
    });
}

#[test]
fn calls_differ_in_type_reduction_root_and_kind() {
    fn disagree(call: impl Fn(&Communicator) -> Result<(), CollectiveError> + Sync) {
        on_each(Communicator::all(&vec![Device::cpu(); 2], LONG).unwrap(), |rank| {
            assert!(matches!(failure(call(&rank)), Failure::Disagreement { .. }));
        });
    }
    fn tensor<T: Element>(value: T) -> Tensor<T, 1> {
        Tensor::full(&Device::cpu(), [4], value).unwrap()
    }
    let stream = Device::cpu().default_stream();
    disagree(|rank| match rank.rank() {
        0 => rank.all_reduce_in_place(&stream, Reduction::Sum, &mut tensor(1_i32)),
        _ => rank.all_reduce_in_place(&stream, Reduction::Sum, &mut tensor(1_u32)),
    });
    disagree(|rank| {
        let reduction = [Reduction::Sum, Reduction::Average][rank.rank()];
        rank.all_reduce_in_place(&stream, reduction, &mut tensor(1.0_f32))
    });
    disagree(|rank| rank.broadcast(&stream, rank.rank(), &mut tensor(1_i32)));
    disagree(|rank| match rank.rank() {
        0 => rank.broadcast(&stream, 0, &mut tensor(1_i32)),
        _ => rank.all_gather_in_place(&stream, &mut tensor(1_i32)),
    });
    disagree(|rank| match rank.rank() {
        0 => rank.send(&stream, 1, &tensor(1_i32)),
        _ => rank.receive(&stream, 0, tensor(1_i32).view_mut().slice(0, 0..3).unwrap()),
    });
}

#[test]
fn a_missing_rank_is_a_time_out() {
    let ranks = Communicator::all(&vec![Device::cpu(); 3], SHORT).unwrap();
    let stream = Device::cpu().default_stream();
    let begin = Instant::now();
    let mut x = Tensor::full(&Device::cpu(), [10], 1.0_f32).unwrap();
    let error = ranks[1].all_reduce_in_place(&stream, Reduction::Sum, &mut x).unwrap_err();
    assert!((SHORT..LONG).contains(&begin.elapsed()));
    let message = error.to_string();
    assert!(
        message.starts_with(
            "rank 1 of 3, all-reduce (sum) of 10 f32: ranks [0, 2] did not call all-reduce (sum) of 10 f32 within 300ms"
        ),
        "{message}"
    );
    // Those that come too late hear of it, and touch nothing.
    let late = failure(ranks[0].all_reduce_in_place(&stream, Reduction::Sum, &mut x));
    assert!(matches!(late, Failure::TimedOut { missing, .. } if missing == [0, 2]));
    assert!(ranks[2].synchronize(&stream).is_err());
    assert_eq!(x.to_vec().unwrap(), [1.0; 10]);
}

#[test]
fn ranks_that_both_send_first_time_out() {
    on_each(Communicator::all(&vec![Device::cpu(); 2], SHORT).unwrap(), |rank| {
        let stream = Device::cpu().default_stream();
        let x = Tensor::full(&Device::cpu(), [10], 1.0_f32).unwrap();
        let failure = failure(rank.send(&stream, 1 - rank.rank(), &x));
        assert!(matches!(failure, Failure::TimedOut { missing, .. } if missing.len() == 1));
    });
}

#[test]
fn a_rank_that_is_gone_is_named_at_once() {
    let mut ranks = Communicator::all(&vec![Device::cpu(); 2], LONG).unwrap();
    drop(ranks.pop());
    let stream = Device::cpu().default_stream();
    let mut x = Tensor::full(&Device::cpu(), [10], 1.0_f32).unwrap();
    let failure = failure(ranks[0].receive(&stream, 1, &mut x));
    assert_eq!(failure.to_string(), "rank 1 has dropped its communicator and did not call send to rank 0");
}

#[test]
fn a_gpu_without_its_other_rank_does_not_wait_for_ever() {
    let Gpus { devices, _turn } = gpus();
    let Some(device) = devices.into_iter().next() else { return };
    let id = UniqueId::new(&device).unwrap();
    let begin = Instant::now();
    let after = Duration::from_secs(2);
    let failure = failure(Communicator::new(&device, 0, 2, &id, after));
    assert!(matches!(failure, Failure::TimedOut { .. }), "{failure}");
    assert!((after..LONG).contains(&begin.elapsed()));
    // The GPU is as well as before.
    assert_eq!(Tensor::full(&device, [3], 2_u8).unwrap().to_vec().unwrap(), [2; 3]);
}

#[test]
fn a_gpu_whose_other_rank_does_not_call_is_freed() {
    let Gpus { devices, _turn } = gpus();
    let [first, second, ..] = &devices[..] else { return };
    let devices = [first.clone(), second.clone()];
    let ranks = Communicator::all(&devices, Duration::from_secs(3)).unwrap();
    let stream = devices[0].stream().unwrap();
    let mut x = Tensor::full(&devices[0], [1000], 1.0_f32).unwrap();
    let begin = Instant::now();
    let called = ranks[0].all_reduce_in_place(&stream, Reduction::Sum, &mut x);
    let failure = failure(called.and_then(|()| ranks[0].synchronize(&stream)));
    assert!(matches!(failure, Failure::TimedOut { .. }), "{failure}");
    // The stream goes on.
    assert_eq!(x.to_vec().unwrap().len(), 1000);
    assert!(begin.elapsed() < LONG);
}

#[test]
fn ranks_must_go_together() {
    let device = Device::cpu();
    let id = UniqueId::new(&device).unwrap();
    let message = |rank, ranks, id: &UniqueId| {
        Communicator::new(&device, rank, ranks, id, SHORT).unwrap_err().to_string()
    };
    assert!(
        message(2, 2, &id).contains("rank 2 of 2 cannot have a communicator: of 2 ranks the last one is 1")
    );
    assert!(message(0, usize::MAX, &id).contains("from 1 to 1048576 ranks"));
    assert!(message(0, 0, &id).contains("from 1 to 1048576 ranks"));
    assert!(message(0, 2, &UniqueId::from_bytes([7; 128])).contains("was made for GPUs"));
    let mut elsewhere = *id.as_bytes();
    elsewhere[16] ^= 1;
    assert!(message(0, 2, &UniqueId::from_bytes(elsewhere)).contains("comes from another process"));

    let failure = failure(Communicator::new(&device, 0, 2, &id, SHORT));
    assert!(matches!(failure, Failure::TimedOut { missing, .. } if missing == [1]));

    let id = UniqueId::new(&device).unwrap();
    let alone = Communicator::new(&device, 0, 1, &id, Duration::MAX).unwrap();
    alone.broadcast(&device.default_stream(), 0, &mut Tensor::full(&device, [1], 1_u8).unwrap()).unwrap();
    assert!(message(0, 1, &id).contains("has this rank"));
    assert!(message(1, 2, &id).contains("says that there are 1"));
    assert_eq!(format!("{alone:?}"), "Communicator of rank 0 of 1 on the CPU");
    assert!(Communicator::all(&[], SHORT).unwrap().is_empty());
    if let Ok(gpu) = Device::gpu(0) {
        let mixed = Communicator::all(&[device.clone(), gpu.clone()], SHORT).unwrap_err().to_string();
        assert!(mixed.contains("are all GPUs, or all the CPU"), "{mixed}");
        let twice = Communicator::all(&[gpu.clone(), gpu], SHORT).unwrap_err().to_string();
        assert!(twice.contains("is another rank's: a GPU has one rank"), "{twice}");
    }
}

#[test]
fn tensors_must_fit() {
    let device = Device::cpu();
    let ranks = Communicator::all(&vec![device.clone(); 2], LONG).unwrap();
    let (rank, stream) = (&ranks[1], device.default_stream());
    let zeros = |shape: [usize; 2]| Tensor::<f32, 2>::zeros(&device, shape).unwrap();
    let refusal = |result: Result<(), CollectiveError>| match result.unwrap_err() {
        error @ CollectiveError::Argument { rank: 1, .. } => error.to_string(),
        other => panic!("{other}"),
    };
    let (x, mut y) = (zeros([4, 3]), zeros([3, 4]));
    let message = refusal(rank.all_reduce(&stream, Reduction::Maximum, &x, &mut y));
    assert_eq!(
        message,
        "rank 1 of 2, all-reduce (maximum): a tensor of shape [4, 3] becomes one of the same shape, not of [3, 4]"
    );
    let message = refusal(rank.all_gather(&stream, &x, &mut zeros([4, 6])));
    assert!(
        message.contains("the whole has shape [8, 3], or one more axis of 2 in front, and not shape [4, 6]"),
        "{message}"
    );
    assert!(refusal(rank.reduce_scatter(&stream, Reduction::Sum, &x, &mut zeros([3, 3]))).contains("[6, 3]"));
    assert!(refusal(rank.all_gather_in_place(&stream, &mut y)).contains("is not 2 equal parts"));
    let columns = y.view_mut().slice(1, 0..2).unwrap();
    let message = refusal(rank.broadcast(&stream, 0, columns));
    assert!(message.contains("shape [3, 2] do not lie one after the other"), "{message}");
    assert!(refusal(rank.send(&stream, 2, &x)).contains("there is no rank 2"));
    if let Ok(gpu) = Device::gpu(0) {
        let mut there = Tensor::full(&gpu, [4], 1.0_f32).unwrap();
        let message = refusal(rank.broadcast(&stream, 0, &mut there));
        assert!(message.contains("a tensor of shape [4] is on GPU 0"), "{message}");
        let message = refusal(rank.send(&gpu.default_stream(), 0, &x));
        assert!(message.contains("the stream is on GPU 0"), "{message}");
    }
    // Nothing has happened: the ranks still go together.
    on_each(ranks, |rank| {
        let mut x = Tensor::full(rank.device(), [1], 2_u64).unwrap();
        rank.all_reduce_in_place(&rank.device().default_stream(), Reduction::Product, &mut x).unwrap();
        assert_eq!(x.to_vec().unwrap(), [4]);
    });
}

/// Calls of every kind, on a stream that does not run what it is given: each is refused, with advice, and touches nothing.
fn check_refusals(rank: &Communicator, stream: &Stream, x: &mut Tensor<f32, 1>, y: &mut Tensor<f32, 1>) {
    let sum = Reduction::Sum;
    let results = [
        rank.all_reduce(stream, sum, &*x, &mut *y),
        rank.all_reduce_in_place(stream, sum, &mut *x),
        rank.all_gather(stream, x.view().slice(0, 0..4 / rank.world_size()).unwrap(), &mut *y),
        rank.all_gather_in_place(stream, &mut *x),
        rank.reduce_scatter(stream, sum, &*x, y.view_mut().slice(0, 0..4 / rank.world_size()).unwrap()),
        rank.reduce_scatter_in_place(stream, sum, &mut *x),
        rank.broadcast(stream, 0, &mut *x),
        rank.send(stream, 0, &*x),
        rank.receive(stream, 0, &mut *x),
    ];
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, CollectiveError::Argument { .. }), "{error:?}");
        let message = error.to_string();
        assert!(
            message.ends_with(
                "the stream is captured into a graph, and what ranks do together has to run when it is called"
            ),
            "{message}"
        );
    }
}

/// Four numbers, which two ranks can share.
fn four(device: &Device) -> [Tensor<f32, 1>; 2] {
    [1.0, 2.0].map(|value| Tensor::full(device, [4], value).unwrap())
}

/// The ranks still go together, and their tensors are what they were.
fn check_untouched(rank: &Communicator, [mut x, y]: [Tensor<f32, 1>; 2]) {
    assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![1.0; 4], vec![2.0; 4]));
    let stream = rank.device().stream().unwrap();
    rank.all_reduce_in_place(&stream, Reduction::Sum, &mut x).unwrap();
    rank.synchronize(&stream).unwrap();
    assert_eq!(x.to_vec().unwrap(), [rank.world_size() as f32; 4]);
}

#[test]
fn streams_of_graphs_are_refused() {
    let check = |devices: Vec<Device>| {
        on_each(Communicator::all(&devices, LONG).unwrap(), |rank| {
            let graph = Graph::capture(rank.device(), four(rank.device()), |stream, [x, y]| {
                check_refusals(&rank, stream, x, y);
                Ok(())
            })
            .unwrap();
            assert!(graph.is_empty());
            check_untouched(&rank, graph.into_operands());
        });
    };
    for ranks in [1, 2, 4] {
        check(vec![Device::cpu(); ranks]);
    }
    let Gpus { devices, _turn } = gpus();
    if let Some(device) = devices.first() {
        check(vec![device.clone()]);
    }
}

#[test]
fn streams_that_others_capture_are_refused() {
    let Gpus { devices, _turn } = gpus();
    let Some(device) = devices.first() else { return };
    let ranks = Communicator::all(std::slice::from_ref(device), LONG).unwrap();
    let (stream, [mut x, mut y]) = (device.stream().unwrap(), four(device));
    device.synchronize().unwrap();
    // The mode in which nobody else's calls break the capture.
    Captured::new(&stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED, || {
        check_refusals(&ranks[0], &stream, &mut x, &mut y);
    });
    check_untouched(&ranks[0], [x, y]);
}

/// Variables by which a process learns what it is to do.
const SCENE: &str = "CUDA_TILES_TEST_SCENE";
const RANK: &str = "CUDA_TILES_TEST_RANK";
const IDENTITY: &str = "CUDA_TILES_TEST_IDENTITY";

/// Plays a scene with a process for each rank. If there are more ranks than GPUs, those that share one say that they are different machines: so
/// NCCL lets them have it, and takes them through the network.
fn play(scene: &str, ranks: usize) {
    let Gpus { devices, _turn } = gpus();
    let Some(first) = devices.first() else { return };
    let id = UniqueId::new(first).unwrap().to_string();
    let processes: Vec<_> = (0..ranks)
        .map(|rank| {
            let mut process = Command::new(std::env::current_exe().unwrap());
            process.args(["--exact", "a_process_of_one_rank", "--ignored", "--nocapture"]);
            process.env(SCENE, scene).env(IDENTITY, &id).env(RANK, format!("{rank} of {ranks}"));
            if ranks > devices.len() {
                process.env("NCCL_HOSTID", format!("machine {}", rank / devices.len()));
            }
            process.spawn().unwrap()
        })
        .collect();
    for (rank, mut process) in processes.into_iter().enumerate() {
        assert!(process.wait().unwrap().success(), "rank {rank}, scene {scene}");
    }
}

#[test]
fn ranks_are_processes() {
    for ranks in [2, 4] {
        play("all", ranks);
    }
}

#[test]
fn a_process_that_does_not_call_is_a_time_out() {
    play("silence", 2);
}

#[test]
fn a_process_that_dies_is_a_failure() {
    play("death", 2);
}

#[test]
#[ignore = "`play` runs it, in processes of its own"]
fn a_process_of_one_rank() {
    let variable = |name| std::env::var(name).unwrap();
    let (rank, size) =
        variable(RANK).split_once(" of ").map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap();
    let scene = variable(SCENE);
    let device = Device::gpu(rank % Device::gpu_count()).unwrap();
    let after = if scene == "all" { LONG } else { Duration::from_secs(4) };
    let id = variable(IDENTITY).parse().unwrap();
    let communicator = Communicator::new(&device, rank, size, &id, after).unwrap();
    if scene == "all" {
        check_reductions::<f32>(&communicator);
        check_reductions::<bf16>(&communicator);
        check_reductions::<i64>(&communicator);
        check_moves::<u16>(&communicator, |number| number as u16);
        return;
    }
    let stream = device.stream().unwrap();
    let mut x = Tensor::full(&device, [5000], 1.0_f32).unwrap();
    communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x).unwrap();
    communicator.synchronize(&stream).unwrap();
    assert_eq!(x.to_vec().unwrap(), [size as f32; 5000]);
    if rank == 1 {
        if scene == "silence" {
            thread::sleep(2 * after);
        }
        // Nothing of the communicator ends in order.
        std::process::exit(0);
    }
    let begin = Instant::now();
    let called = communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x);
    let failure = failure(called.and_then(|()| communicator.synchronize(&stream)));
    println!("rank {rank}, after {:?}: {failure}", begin.elapsed());
    assert!(begin.elapsed() < 2 * after, "{:?}", begin.elapsed());
    if scene == "silence" {
        assert!(matches!(failure, Failure::TimedOut { .. }), "{failure}");
    }
    // The stream goes on, and the GPU with it.
    x.fill(3.0).unwrap();
    assert_eq!(x.to_vec().unwrap(), [3.0; 5000]);
    let again = communicator.broadcast(&stream, 0, &mut x).unwrap_err().to_string();
    assert!(again.contains("is of no use any more"), "{again}");
}
