//! Typed launches on the CPU: what runs, and what each mistake is told.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{ArgumentError, Device, Error, Graph, Grid, Launch, LaunchUnsafe, Tensor};
use std::cell::Cell;

#[kernel]
fn add(cx: Cx, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>, by: f32) {
    let (x, y) = (x.partition(cx, shape![1, 64]), y.partition(cx, shape![1, 64]));
    let row = (cx.bid::<0>(), 0);
    y.store_masked(x.load_masked(Zero, row) + by, row);
}

#[kernel]
fn add_rows(cx: Cx, x: Span<f32, (u32, u32), Pitched>, y: SpanMut<f32, (u32, u32), Pitched>) {
    let (x, y) = (x.partition(cx, shape![1, 64]), y.partition(cx, shape![1, 64]));
    let row = (cx.bid::<0>(), 0);
    y.store_masked(x.load_masked(Zero, row) + 1.0, row);
}

#[kernel]
fn wide(cx: Cx, x: SpanMut<f32, (D<64>,)>) {
    let x = x.partition(cx, shape![64]);
    x.store(cx.zeros::<f32>(shape![64]), cx.bid::<0>());
}

/// Tiles of 128 are for GPUs.
#[kernel(cpu = N < LIMIT, instances(<64>, <128>))]
fn double<B: Block, const N: usize>(cx: Cx<B>, x: SpanMut<f32, (u32,)>)
where
    D<N>: Dimension,
{
    let x = x.partition(cx, shape![N]);
    let i = cx.bid::<0>();
    let tile = x.load_masked(Zero, i);
    x.store_masked(tile + tile, i);
}

const LIMIT: usize = 128;

/// # Safety
/// None is needed: it stands for kernels that need some.
#[kernel]
unsafe fn fill(cx: Cx, x: SpanMut<f32, (u32,)>) {
    let x = x.partition(cx, shape![64]);
    x.store_masked(cx.ones::<f32>(shape![64]), cx.bid::<0>());
}

/// Kernels are statics, whose names no variable may have. The variables of `#[kernel]` have other names than these.
mod plain_names {
    use cuda_tiles::prelude::*;

    macro_rules! kernels {
        ($($name:ident)*) => { $(
            #[kernel]
            pub(super) fn $name(cx: Cx, x: SpanMut<f32, (D<64>,)>) {
                x.partition(cx, shape![64]).store(cx.ones::<f32>(shape![64]), cx.bid::<0>());
            }
        )* };
    }
    kernels!(parts position block description entry first arguments);
}

#[test]
fn kernels_may_have_plain_names() {
    let device = Device::cpu();
    let mut x = Tensor::<f32, 1>::poisoned(&device, [64]).unwrap();
    use plain_names::{arguments, block, description, entry, first, parts, position};
    for kernel in [&parts, &position, &block, &description, &entry, &first, &arguments] {
        kernel.launch(&device, 1, (&mut x,)).unwrap();
    }
    assert_eq!(x.to_vec().unwrap(), [1.0; 64]);
}

fn counting(shape: [usize; 2]) -> Tensor<f32, 2> {
    let values = (0..shape[0] * shape[1]).map(|i| i as f32).collect();
    Tensor::from_vec(&Device::cpu(), shape, values).unwrap()
}

#[test]
fn tensors_are_read_and_written() {
    let device = Device::cpu();
    let x = counting([50, 33]);
    let mut y = Tensor::poisoned(&device, [50, 33]).unwrap();
    add.launch(&device, 50, (&x, &mut y, 0.5)).unwrap();
    assert!(y.to_vec().unwrap().iter().zip(x.to_vec().unwrap()).all(|(y, x)| *y == x + 0.5));
}

#[test]
fn streams_launch_too() {
    let stream = Device::cpu().stream().unwrap();
    let x = counting([3, 64]);
    let mut y = counting([3, 64]);
    for _ in 0..3 {
        add.launch_on(&stream, 3, (&x, &mut y, 1.0)).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(y.to_vec().unwrap()[191], 192.0);
}

#[test]
fn views_are_arguments() {
    let x = counting([4, 10]);
    let mut y = Tensor::<f32, 2>::zeros(&Device::cpu(), [4, 16]).unwrap();
    let (from, to) = (x.view().slice(1, 2..7).unwrap(), y.view_mut().slice(1, 3..8).unwrap());
    add_rows.launch(&Device::cpu(), 4, (from, to)).unwrap();
    let y = y.to_vec().unwrap();
    for (row, column) in (0..4).flat_map(|row| (0..16).map(move |column| (row, column))) {
        let expected = if (3..8).contains(&column) { (row * 10 + column) as f32 } else { 0.0 };
        assert_eq!(y[row * 16 + column], expected, "row {row}, column {column}");
    }
}

#[test]
fn a_view_that_does_not_fit_the_mapping_is_refused() {
    let (x, mut y) = (counting([64, 64]), counting([64, 64]));
    let error = add.launch(&Device::cpu(), 64, (x.view().transpose(), &mut y, 1.0)).unwrap_err();
    let Error::Argument { kernel: "add", position: 1, name: "x", problem } = &error else {
        panic!("{error:?}")
    };
    assert!(matches!(**problem, ArgumentError::Span { .. }), "{problem:?}");
    let message = error.to_string();
    assert!(
        message
            .starts_with("kernel `add`, argument 1 (`x`): a tensor of shape [64, 64] and strides [1, 64] "),
        "{message}"
    );
}

#[test]
fn a_length_that_the_type_fixes_is_checked() {
    let mut x = Tensor::<f32, 1>::zeros(&Device::cpu(), [63]).unwrap();
    let message = wide.launch(&Device::cpu(), 1, (&mut x,)).unwrap_err().to_string();
    assert!(
        message.starts_with("kernel `wide`, argument 1 (`x`): a tensor of shape [63] and strides [1] "),
        "{message}"
    );
    assert!(message.contains("axis 0 has length 63"), "{message}");
}

#[test]
fn the_grid_has_the_kernels_rank() {
    let (x, mut y) = (counting([2, 2]), counting([2, 2]));
    let message = add.launch(&Device::cpu(), (2, 2), (&x, &mut y, 1.0)).unwrap_err().to_string();
    assert!(message.starts_with("kernel `add` cannot run on the grid (2, 2, 1)"), "{message}");
}

#[test]
fn an_instance_without_code_for_the_cpu_is_refused_there() {
    let device = Device::cpu();
    let mut x = Tensor::full(&device, [100], 3.0).unwrap();
    assert!(device.supports(double::<64>().description()).unwrap());
    double::<64>().launch(&device, Grid::cover([100], [64]), (&mut x,)).unwrap();
    assert!(!device.supports(double::<128>().description()).unwrap());
    let refused = double::<128>().launch(&device, 1, (&mut x,)).unwrap_err();
    assert!(matches!(refused, Error::NotOnCpu { kernel: "double::<128>" }), "{refused}");
    assert_eq!(x.to_vec().unwrap(), [6.0; 100]);
    let graph = Graph::capture(&device, (x,), |stream, (x,)| double::<128>().launch_on(stream, 1, (x,)));
    assert!(matches!(graph, Err(Error::NotOnCpu { .. })));
}

#[test]
fn no_blocks_leave_tensors_alone() {
    let x = Tensor::<f32, 2>::zeros(&Device::cpu(), [0, 5]).unwrap();
    let mut y = Tensor::<f32, 2>::zeros(&Device::cpu(), [0, 5]).unwrap();
    add.launch(&Device::cpu(), Grid::cover([0], [1]), (&x, &mut y, 1.0)).unwrap();
    assert!(y.to_vec().unwrap().is_empty());
}

#[test]
fn a_block_out_of_bounds_names_the_line() {
    let mut x = Tensor::<f32, 1>::zeros(&Device::cpu(), [64]).unwrap();
    let message = wide.launch(&Device::cpu(), 2, (&mut x,)).unwrap_err().to_string();
    assert!(message.starts_with("kernel `wide` panicked in block (1, 0, 0): "), "{message}");
    assert!(message.contains("launch.rs:"), "{message}");
}

#[test]
fn unsafe_kernels_are_launched_by_unsafe_calls() {
    let mut x = Tensor::<f32, 1>::poisoned(&Device::cpu(), [100]).unwrap();
    // SAFETY: the kernel needs nothing.
    unsafe { fill.launch(&Device::cpu(), 2, (&mut x,)) }.unwrap();
    assert_eq!(x.to_vec().unwrap(), [1.0; 100]);
}

/// The message of a launch in which a block panicked.
fn panic_of(launched: Result<(), Error>) -> String {
    match launched {
        Err(Error::Panicked { message, .. }) => message,
        other => panic!("no block panicked: {other:?}"),
    }
}

#[test]
fn what_a_kernel_leaves_behind_is_of_no_use_to_another() {
    thread_local! { static KEPT: Cell<Option<Span<u32, (u32,)>>> = const { Cell::new(None) }; }
    #[kernel]
    fn keep(cx: Cx, x: Span<u32, (u32,)>) {
        let _ = cx;
        KEPT.set(Some(x));
    }
    #[kernel]
    fn fetch(cx: Cx, y: SpanMut<u32, (u32,)>) {
        let Some(x) = KEPT.get() else { panic!("another thread") };
        y.partition(cx, shape![4]).store(x.partition(cx, shape![4]).load(0), cx.bid::<0>());
    }
    let device = Device::cpu();
    let mut y = Tensor::<u32, 1>::zeros(&device, [4]).unwrap();
    keep.launch(&device, 1000, (&Tensor::from_slice(&device, [4], &[1_u32, 2, 3, 4]).unwrap(),)).unwrap();
    let text = panic_of(fetch.launch(&device, 1, (&mut y,)));
    let refused =
        text.starts_with("a span, or a view of one, was used outside of the block that it belongs to");
    assert!(refused || text.starts_with("another thread"), "{text}");
    assert_eq!(y.to_vec().unwrap(), [0; 4]);
}

#[test]
fn a_block_cannot_take_the_name_of_another() {
    #[kernel]
    fn race(cx: Cx, y: SpanMut<u32, (u32,)>) {
        let zero = cuda_tiles::cpu::block(|other| other.bid::<0>());
        y.partition(cx, shape![1]).store(cx.ones::<u32>(shape![1]), zero);
    }
    let mut y = Tensor::<u32, 1>::zeros(&Device::cpu(), [1]).unwrap();
    let text = panic_of(race.launch(&Device::cpu(), 8, (&mut y,)));
    assert!(text.starts_with("a block index was used outside of the block that it belongs to"), "{text}");
    assert_eq!(y.to_vec().unwrap(), [0]);
}

#[test]
fn failures_name_the_kernels_line_alone() {
    #[kernel]
    fn outside(cx: Cx, x: Span<f32, (u32,)>) {
        let x = x.partition(cx, shape![4]);
        let _ = x.load(7);
    }
    #[kernel]
    fn stepless(cx: Cx, step: u32) {
        let _ = cx;
        assert_eq!(steps(0..4, step).count(), 4);
    }
    let device = Device::cpu();
    let x = Tensor::<f32, 1>::zeros(&device, [8]).unwrap();
    for text in [panic_of(outside.launch(&device, 1, (&x,))), panic_of(stepless.launch(&device, 1, (0,)))] {
        let place = text.rsplit_once("(at ").unwrap_or_else(|| panic!("{text}")).1;
        assert!(place.contains("tests/launch.rs:") && place.ends_with(')'), "{text}");
    }
}

#[test]
fn a_kernel_may_have_a_keywords_name() {
    #[kernel]
    fn r#match(cx: Cx, y: SpanMut<u32, (u32,)>, r#type: u32) {
        y.partition(cx, shape![1]).store(cx.full(shape![1], r#type), cx.bid::<0>());
    }
    let device = Device::cpu();
    let mut y = Tensor::<u32, 1>::zeros(&device, [2]).unwrap();
    r#match.launch(&device, 2, (&mut y, 7)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [7, 7]);
    let description = r#match.description();
    assert_eq!((description.name, description.arguments), ("match", &["y", "type"][..]));
}

#[kernel]
#[cfg(any())]
fn conditional(cx: Cx, nothing: NoSuchType) {
    let _ = (cx, nothing);
}

#[kernel(threads = 64)]
#[cfg(not(target_arch = "nvptx64"))]
#[cfg_attr(any(), no_such_attribute)]
fn conditional(cx: Cx) {
    let _ = cx;
}

#[test]
fn conditions_behind_the_attribute_hold_for_all_of_a_kernel() {
    conditional.launch(&Device::cpu(), 1, ()).unwrap();
    assert_eq!(conditional.description().threads, 64);
}

/// In a process of its own, whose launches are all traced.
#[test]
#[cfg(not(miri))]
fn the_variable_lets_each_launch_leave_a_line() {
    let lines = |value: &str| {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--ignored", "--exact", "launches_three_times", "--nocapture"]);
        let output = again.env("CUDA_TILES_TRACE", value).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        text.lines()
            .filter(|line| line.starts_with("trace: ") || line.contains("TRACE"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let begins = |line: &str, blocks: &str| {
        line.starts_with(&format!("trace: launch::add on {blocks} blocks of 1 thread, CPU, at 0."))
    };
    for (value, has_time) in [("1", false), ("launches", false), ("times", true)] {
        let lines = lines(value);
        // An empty grid launches nothing, and nothing is said about it. A launch that is refused is none.
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(begins(&lines[0], "(1, 1, 1)") && begins(&lines[1], "(3, 1, 1)"), "{lines:?}");
        assert!(lines.iter().all(|line| line.contains(" s, took ") == has_time), "{lines:?}");
    }
    assert_eq!(lines("off"), [""; 0]);
    assert_eq!(
        lines("yes"),
        ["CUDA_TILES_TRACE=yes means nothing: it is `launches` (or `1`), `times`, or `off` (or `0`)"]
    );
}

#[test]
#[ignore = "`the_variable_lets_each_launch_leave_a_line` runs it in another process"]
fn launches_three_times() {
    let device = Device::cpu();
    let x = Tensor::full(&device, [3, 64], 1.0_f32).unwrap();
    let mut y = Tensor::poisoned(&device, [3, 64]).unwrap();
    for blocks in [1, 0, 3] {
        add.launch(&device, blocks, (&x, &mut y, 1.0)).unwrap();
    }
    assert!(add.launch(&device, (1, 2), (&x, &mut y, 1.0)).is_err());
    assert_eq!(y.to_vec().unwrap(), [2.0; 192]);
}

/// A tool's library hears of ranges, in a process of its own, whose environment names it.
#[test]
#[cfg(all(feature = "nvtx", target_os = "linux", not(miri)))]
fn a_tool_hears_of_ranges_and_launches() {
    let folder = std::env::temp_dir().join(format!("cuda-tiles-nvtx-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [source, tool, heard] = ["tool.rs", "tool.so", "heard"].map(|name| folder.join(name));
    std::fs::write(&source, include_str!("nvtx/tool.rs")).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = std::process::Command::new(rustc);
    compile.args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"]).args([&tool, &source]);
    let Ok(compiled) = compile.status() else {
        eprintln!("skipped: there is no rustc");
        return;
    };
    assert!(compiled.success());
    let run = |tool: &std::path::Path| {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--ignored", "--exact", "opens_ranges"]).env("HEARD", &heard);
        let run =
            again.env("NVTX_INJECTION64_PATH", tool).env("CUDA_TILES_NVTX", "launches").output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let lines = std::fs::read_to_string(&heard).unwrap_or_default();
        let _ = std::fs::remove_file(&heard);
        lines
    };
    let lines = run(&tool);
    let expected = [
        "push prefill",
        "mark full",
        "push launch::add",
        "pop",
        "pop",
        "push graph",
        "pop",
        "push step 1",
        "pop",
    ];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    // A library that is not there, or is none of a tool, is no reason not to run.
    assert_eq!(run(&folder.join("absent.so")), "");
    assert_eq!(run(&std::env::current_exe().unwrap()), "");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
#[cfg(feature = "nvtx")]
#[ignore = "`a_tool_hears_of_ranges_and_launches` runs it in another process"]
fn opens_ranges() {
    use cuda_tiles_host::{Graph, nvtx};
    let device = Device::cpu();
    let x = Tensor::full(&device, [3, 64], 1.0_f32).unwrap();
    let y = Tensor::poisoned(&device, [3, 64]).unwrap();
    let mut graph = {
        let _prefill = nvtx::range("prefill");
        nvtx::mark("full");
        let mut y = y;
        add.launch(&device, 3, (&x, &mut y, 1.0)).unwrap();
        // What is captured is no launch.
        Graph::capture(&device, (&x, y), |stream, (x, y)| add.launch_on(stream, 3, (&**x, &mut *y, 1.0)))
            .unwrap()
    };
    graph.launch().unwrap();
    nvtx::set_launch_ranges(false);
    let _step = nvtx::range(&format!("step {}", 1));
    graph.launch().unwrap();
}
