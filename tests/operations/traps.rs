//! What safe kernels must not do: the launch, or the next call, reports it.
//!
//! The error names kernel, block, what is wrong and the kernel's line. On a GPU a trap ends the use of the GPU by the process, so each case
//! runs there in a process of its own: this program again, asked for one case by an environment variable.

use crate::devices::devices;
use cuda_tiles_host::{Device, Error, Launch, Result, Tensor};
use cuda_tiles_test_kernels::{arguments, debug, execution as kernels};
use cuda_tiles_test_streams::pipelines;
use std::process::Command;

/// The variable that names the case which a child process runs on the GPU.
const CASE: &str = "CUDA_TILES_TEST_TRAP";

/// A misuse: its name, what runs it, and words of the CPU's message.
type Case = (&'static str, fn(&Device) -> Result<()>, &'static [&'static str]);

const CASES: [Case; 18] = [
    (
        "partial load",
        |device| {
            let x = Tensor::zeros(device, [100])?;
            let mut y = Tensor::zeros(device, [128])?;
            kernels::checked_copy.launch(device, 2, (&x, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `checked_copy`", "load of tile [1] reaches outside the tensor", "[64]", "[100]", "masked"],
    ),
    (
        "load beyond the tensor",
        |device| {
            let x = Tensor::zeros(device, [64])?;
            let mut y = Tensor::zeros(device, [64])?;
            kernels::load_at.launch(device, 1, (2_000_000_000, &x, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `load_at`", "load of tile [2000000000] reaches outside"],
    ),
    (
        "negative index",
        |device| {
            let x = Tensor::zeros(device, [64])?;
            let mut y = Tensor::zeros(device, [64])?;
            kernels::load_at.launch(device, 1, (-1, &x, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `load_at`", "reaches outside the tensor"],
    ),
    (
        "partial store",
        |device| {
            let mut y = Tensor::zeros(device, [100])?;
            kernels::checked_store.launch(device, 2, (&mut y,))?;
            y.to_vec().map(drop)
        },
        &["kernel `checked_store`", "store of tile [1] reaches outside the tensor"],
    ),
    (
        "partial atomic load",
        |device| {
            let mut x = Tensor::zeros(device, [100])?;
            let mut y = Tensor::zeros(device, [100])?;
            kernels::checked_atomic_load.launch(device, 2, (&mut x, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `checked_atomic_load`", "atomic load of tile [1] reaches outside the tensor"],
    ),
    (
        "element beyond the tile",
        |device| {
            let mut y = Tensor::zeros(device, [1])?;
            kernels::element_at.launch(device, 1, (64, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `element_at`", "index 64 is not below dimension 0 of the tile, 64"],
    ),
    (
        "element behind the tensor",
        |device| {
            let x = Tensor::zeros(device, [4, 8])?;
            let mut y = Tensor::zeros(device, [1])?;
            kernels::item_at.launch(device, 1, (3, 8, &x, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `item_at`", "Span::item: the tensor has no element [3, 8], its extents are [4, 8]"],
    ),
    (
        "page behind the table, in the producer",
        |device| {
            let (x, _) = stages(device)?;
            let table = Tensor::zeros(device, [1, 3])?;
            let lengths = Tensor::from_vec(device, [1], vec![4 * 64])?;
            let mut y = Tensor::zeros(device, [1, 8])?;
            pipelines::sum_of_pages.launch(device, 1, (&x, &table, &lengths, &mut y))?;
            y.to_vec().map(drop)
        },
        &[
            "kernel `sum_of_pages`",
            "Span::item: the tensor has no element [0, 3], its extents are [1, 3]",
            "pipelines.rs:",
        ],
    ),
    (
        "axis beyond the rank",
        |device| {
            let mut y = Tensor::zeros(device, [1])?;
            kernels::extent_of.launch(device, 1, (1, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `extent_of`", "axis 1 of a span of rank 1"],
    ),
    (
        "gather of a row before the tensor",
        |device| {
            let x = Tensor::zeros(device, [4, 8])?;
            let mut y = Tensor::zeros(device, [1, 4])?;
            kernels::gather_row.launch(device, 1, (-1, 0, &x, &mut y))?;
            y.to_vec().map(drop)
        },
        &[
            "kernel `gather_row`",
            "load of a gathered tile reaches outside the tensor",
            "[1, 4]",
            "axis 0",
            "[4, 8]",
        ],
    ),
    (
        "gather of columns behind the tensor",
        |device| {
            let x = Tensor::zeros(device, [4, 8])?;
            let mut y = Tensor::zeros(device, [1, 4])?;
            kernels::gather_row.launch(device, 1, (3, 5, &x, &mut y))?;
            y.to_vec().map(drop)
        },
        &[
            "kernel `gather_row`",
            "load of a gathered tile reaches outside the tensor",
            "[1, 4]",
            "axis 0",
            "[4, 8]",
        ],
    ),
    (
        "item behind a list",
        |device| {
            let vectors = [(); 3].map(|()| Tensor::zeros(device, [64]).unwrap());
            let list: Vec<_> = vectors.iter().collect();
            let chosen = Tensor::from_vec(device, [2], vec![2, 3])?;
            let mut sums = Tensor::zeros(device, [64])?;
            arguments::sum_chosen.launch(device, 1, (list, &chosen, &mut sums))?;
            sums.to_vec().map(drop)
        },
        &["kernel `sum_chosen`", "List::get: the list has 3 items, none of number 3", "arguments.rs:"],
    ),
    (
        "failed assertion",
        |device| {
            let mut values = vec![0.0; 480];
            (values[20 * 16 + 5], values[20 * 16 + 6]) = (7.0, 8.5);
            let x = Tensor::from_vec(device, [30, 16], values)?;
            let mut y = Tensor::zeros(device, [30, 16])?;
            debug::assert_below.launch(device, 4, (7.0, &x, &mut y))?;
            y.to_vec().map(drop)
        },
        &[
            "kernel `assert_below`",
            "in block (2, 0, 0)",
            "assertion failed, element [4, 5] is false: 7 is the limit, the greatest is 8.5",
            "debug.rs:",
        ],
    ),
    (
        "failed assertion without a message",
        |device| {
            debug::assert_plain.launch(device, 3, (2,))?;
            device.synchronize()
        },
        &["kernel `assert_plain`", "element [] is false: cx.num_blocks(0) <= limit", "debug.rs:"],
    ),
    (
        "more stages than the producer loads",
        |device| {
            let (x, mut y) = stages(device)?;
            pipelines::read_some.launch(device, 1, (&x, &mut y, 5))?;
            y.to_vec().map(drop)
        },
        &[
            "kernel `read_some`",
            "the producer of the pipeline has ended",
            "let both count the same tiles",
            "pipelines.rs:",
        ],
    ),
    (
        "more waits than there are stages",
        |device| {
            let (x, mut y) = stages(device)?;
            pipelines::forget_some.launch(device, 1, (&x, &mut y, 4, 0))?;
            y.to_vec().map(drop)
        },
        &["kernel `forget_some`", "wait: all stages of the ring are held", "pipelines.rs:"],
    ),
    (
        "a k loop while a stage is held",
        |device| {
            let (x, mut y) = stages(device)?;
            pipelines::forget_some.launch(device, 1, (&x, &mut y, 1, 1))?;
            y.to_vec().map(drop)
        },
        &["kernel `forget_some`", "k_loop: stages are still held", "pipelines.rs:"],
    ),
    (
        "a release of a stage before an older one",
        |device| {
            let (x, mut y) = stages(device)?;
            pipelines::release_the_newest.launch(device, 1, (&x, &mut y))?;
            y.to_vec().map(drop)
        },
        &["kernel `release_the_newest`", "release: an older stage is still held", "pipelines.rs:"],
    ),
];

/// The arguments of a pipelined kernel: four stages, and room for their sum.
fn stages(device: &Device) -> Result<(Tensor<f32, 2>, Tensor<f32, 2>)> {
    if device.is_gpu() {
        device.load(&cuda_tiles_operation_tests::streams::KERNELS)?;
    }
    Ok((Tensor::zeros(device, [256, 8])?, Tensor::zeros(device, [64, 8])?))
}

fn check(name: &str, message: &str, words: &[&str]) {
    for word in words.iter().chain(&[".rs:"]) {
        assert!(message.contains(word), "{name}: `{word}` is not in: {message}");
    }
}

#[test]
fn the_cpu_names_the_line() {
    for (name, run, words) in CASES {
        let error = run(&Device::cpu()).expect_err(name);
        assert!(matches!(error, Error::Panicked { .. }), "{name}: {error:?}");
        let message = error.to_string();
        check(name, &message, words);
    }
}

#[test]
fn the_gpu_reports_a_trap() {
    if let Ok(name) = std::env::var(CASE) {
        let (_, run, words) = CASES.into_iter().find(|case| case.0 == name).expect("a case of this name");
        let device = devices().iter().find(|device| device.is_gpu()).expect("the parent found a GPU");
        let error = run(device).expect_err(&name);
        assert!(matches!(error, Error::Trapped { report: Some(_), .. }), "{name}: {error:?}");
        check(&name, &error.to_string(), words);
        // The report stays for whoever calls next.
        let later = device.synchronize().expect_err(&name).to_string();
        check(&name, &later, words);
        return;
    }
    if !Device::auto().unwrap().is_gpu() {
        eprintln!("no GPU: nothing to trap");
        return;
    }
    for (name, _, _) in CASES {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["traps::the_gpu_reports_a_trap", "--exact", "--nocapture"])
            .env(CASE, name)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
