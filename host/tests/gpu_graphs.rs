//! Graphs on a real GPU. Without one the tests say so and do nothing; those of `cuda_tiles_host::graph` run on the CPU.

mod kernels;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cuda_tiles::launch::{Description, Kernel};
use cuda_tiles_host::{Artifact, Device, Error, Graph, Grid, Image, Launch, PinnedBuffer, Tensor, workspace};
use kernels::{
    DELAY, DELAYED_COPY, INCREMENT, LEN, SpanMut, THREADS, description, entry, filled, gpu, grid, image,
};

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("it must be refused").to_string()
}

#[test]
fn a_graph_does_what_its_launches_and_copies_would() {
    let Some(device) = gpu() else { return };
    let (input, output) = (
        PinnedBuffer::from_slice(&device, &[3.0_f32; LEN]).unwrap(),
        PinnedBuffer::zeros(&device, LEN).unwrap(),
    );
    let operands = (input, filled(&device, 0.0), filled(&device, 0.0), output);
    let mut graph = Graph::capture(&device, operands, |stream, (input, x, y, output)| {
        x.copy_from_pinned(stream, input)?;
        INCREMENT.launch_on(stream, grid(), (&mut *x,))?;
        INCREMENT.launch_on(stream, grid(), (&mut *x,))?;
        DELAYED_COPY.launch_on(stream, grid(), (&*x, &mut *y, DELAY))?;
        y.copy_to_pinned(stream, output)
    })
    .unwrap();
    assert_eq!(graph.len(), 5);
    // Nothing has run.
    assert_eq!(graph.operands().1.to_vec().unwrap(), [0.0; LEN]);
    for value in [3.0, -7.0, 0.5] {
        graph.operands_mut().0.as_mut_slice().unwrap().fill(value);
        graph.launch().unwrap();
        assert_eq!(graph.operands().3.as_slice().unwrap(), [value + 2.0; LEN]);
    }
    let stream = device.stream().unwrap();
    graph.operands_mut().0.as_mut_slice().unwrap().fill(1.0);
    graph.launch_on(&stream).unwrap();
    // The host waits for the graph's copy from the buffer before it fills it again.
    graph.operands_mut().0.as_mut_slice().unwrap().fill(9.0);
    let (_, x, y, output) = graph.into_operands();
    assert_eq!(output.as_slice().unwrap(), [3.0; LEN]);
    assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![3.0; LEN], vec![3.0; LEN]));
}

#[test]
fn other_streams_wait_for_graphs_and_graphs_for_them() {
    let Some(device) = gpu() else { return };
    let [slow, fast] = [(); 2].map(|()| device.stream().unwrap());
    let (x, mut y, mut z) = (filled(&device, 7.0), filled(&device, 0.0), filled(&device, 0.0));
    let mut graph = Graph::capture(&device, (&x, &mut y), |stream, (x, y)| {
        DELAYED_COPY.launch_on(stream, grid(), (&**x, &mut **y, DELAY))?;
        INCREMENT.launch_on(stream, grid(), (&mut **y,))
    })
    .unwrap();
    graph.launch_on(&slow).unwrap();
    DELAYED_COPY.launch_on(&fast, grid(), (&*graph.operands().1, &mut z, DELAY)).unwrap();
    // The graph writes what the copy still reads.
    graph.launch_on(&slow).unwrap();
    graph.launch_on(&fast).unwrap();
    drop(graph);
    assert_eq!(y.to_vec().unwrap(), [8.0; LEN]);
    assert_eq!(z.to_vec().unwrap(), [8.0; LEN]);
}

#[test]
fn a_graph_may_end_while_it_runs() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let mut y = filled(&device, 0.0);
    let mut graph = Graph::capture(&device, (filled(&device, 7.0), &mut y), |stream, (x, y)| {
        DELAYED_COPY.launch_on(stream, grid(), (&*x, &mut **y, DELAY))?;
        workspace(stream, [LEN], |mut between| {
            DELAYED_COPY.launch_on(stream, grid(), (&**y, between.reborrow(), DELAY))?;
            INCREMENT.launch_on(stream, grid(), (between.reborrow(),))?;
            DELAYED_COPY.launch_on(stream, grid(), (between.as_view(), &mut **y, DELAY))
        })
    })
    .unwrap();
    graph.launch_on(&stream).unwrap();
    drop(graph);
    // What was the graph's would be somebody else's now.
    let others: Vec<_> = (0..16).map(|_| Tensor::<f32, 1>::poisoned(&device, [LEN]).unwrap()).collect();
    assert_eq!(y.to_vec().unwrap(), [8.0; LEN]);
    drop(others);
}

#[test]
fn numbers_tensors_and_sequences_are_updated() {
    let Some(device) = gpu() else { return };
    let operands = ([filled(&device, 1.0), filled(&device, 10.0)], filled(&device, 0.0), 0_u64);
    let record = |stream: &_, (sources, y, delay): &mut ([Tensor<f32, 1>; 2], Tensor<f32, 1>, u64)| {
        DELAYED_COPY.launch_on(stream, grid(), (&sources[0], &mut *y, *delay))?;
        INCREMENT.launch_on(stream, grid(), (&mut *y,))
    };
    let mut graph = Graph::capture(&device, operands, record).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.operands().1.to_vec().unwrap(), [2.0; LEN]);

    // The number alone: the kernel takes longer.
    let stream = device.stream().unwrap();
    graph.operands_mut().2 = DELAY;
    graph.update(record).unwrap();
    let start = stream.record_event().unwrap();
    graph.launch_on(&stream).unwrap();
    let taken = stream.record_event().unwrap().elapsed_since(&start).unwrap();
    assert!(taken.as_nanos() >= u128::from(DELAY), "{taken:?}");

    // Another tensor, which an update has to hear of.
    graph.operands_mut().0.swap(0, 1);
    let told = message(graph.launch());
    assert!(
        told.starts_with("launching a graph: tensor or buffer 1 of its operands is not the one"),
        "{told}"
    );
    graph.update(record).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.operands().1.to_vec().unwrap(), [11.0; LEN]);

    // Another sequence.
    graph
        .update(|stream, operands| {
            record(stream, operands)?;
            INCREMENT.launch_on(stream, grid(), (&mut operands.1,))?;
            INCREMENT.launch_on(stream, 1, (&mut operands.1,))
        })
        .unwrap();
    graph.launch().unwrap();
    let expected: Vec<f32> = (0..LEN).map(|i| if i < THREADS as usize { 13.0 } else { 12.0 }).collect();
    assert_eq!(graph.operands().1.to_vec().unwrap(), expected);

    // One that fails leaves the graph as it was.
    graph.operands_mut().1.fill(0.0).unwrap();
    assert!(graph.update(|stream, _| stream.synchronize()).is_err());
    graph.launch().unwrap();
    assert_eq!(graph.operands().1.to_vec().unwrap(), expected);
}

#[test]
fn a_kernel_may_come_to_the_gpu_in_a_capture_while_others_wait_for_the_gpu() {
    // SAFETY: the entry does what the kernel of its name does.
    static FRESH: Artifact = unsafe {
        Artifact::new(
            "fresh",
            &[image(
                ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n",
                &[entry("nothing")],
            )],
            None,
        )
    };
    // SAFETY: as above.
    static NOTHING: Kernel<()> = unsafe { Kernel::new(description("nothing", &[]), |_, _| ()) };
    let Some(device) = gpu() else { return };
    device.load(&FRESH).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                device.synchronize().unwrap();
                let mut x = filled(&device, 1.0);
                INCREMENT.launch(&device, grid(), (&mut x,)).unwrap();
                assert_eq!(x.to_vec().unwrap(), [2.0; LEN]);
            }
        });
        for round in 0..50 {
            let mut graph = Graph::capture(&device, filled(&device, 0.0), |stream, x| {
                NOTHING.launch_on(stream, 1, ())?;
                for _ in 0..20 {
                    INCREMENT.launch_on(stream, grid(), (&mut *x,))?;
                }
                Ok(())
            })
            .unwrap();
            graph.launch().unwrap();
            assert_eq!(graph.operands().to_vec().unwrap(), [20.0; LEN], "{round}");
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// x[i] = x[i] / 2 + 1, of kernels that begin before those in front of them have ended.
#[test]
fn launches_that_begin_early_keep_their_order_in_a_graph() {
    const STEP_PTX: &str = "
        .version 7.8
        .target sm_90
        .address_size 64
        .visible .entry step(.param .u64 x, .param .u32 length)
        {
            .reg .pred %outside;
            .reg .b32 %index, %block, %threads, %count;
            .reg .b64 %address, %offset;
            .reg .f32 %value;
            griddepcontrol.launch_dependents;
            griddepcontrol.wait;
            mov.u32 %index, %tid.x;
            mov.u32 %block, %ctaid.x;
            mov.u32 %threads, %ntid.x;
            mad.lo.u32 %index, %block, %threads, %index;
            ld.param.u32 %count, [length];
            setp.ge.u32 %outside, %index, %count;
            @%outside ret;
            ld.param.u64 %address, [x];
            cvta.to.global.u64 %address, %address;
            mul.wide.u32 %offset, %index, 4;
            add.u64 %address, %address, %offset;
            ld.global.f32 %value, [%address];
            fma.rn.f32 %value, %value, 0f3F000000, 0f3F800000;
            st.global.f32 [%address], %value;
            ret;
        }
        ";
    // SAFETY: the entry does what the kernel of its name does.
    static IMAGE: Image = unsafe { Image::new("sm_90", (9, 0), false, STEP_PTX, &[entry("step")]) };
    static EARLY: Artifact = Artifact::new("early", std::slice::from_ref(&IMAGE), None);
    // SAFETY: as above.
    static STEP: Kernel<(SpanMut,)> = unsafe {
        Kernel::new(Description { dependent: true, ..description("step", &["x"]) }, |_, _| unreachable!())
    };
    let Some(device) = gpu().filter(|device| device.capability() >= Some((9, 0))) else { return };
    device.load(&EARLY).unwrap();
    let mut graph = Graph::capture(&device, filled(&device, 0.0), |stream, x| {
        (0..20).try_for_each(|_| STEP.launch_on(stream, grid(), (&mut *x,)))
    })
    .unwrap();
    for _ in 0..50 {
        graph.operands_mut().fill(0.0).unwrap();
        graph.launch().unwrap();
        let expected = 2.0 - (0.5_f32).powi(19);
        assert_eq!(graph.operands().to_vec().unwrap(), [expected; LEN]);
        graph
            .update(|stream, x| (0..20).try_for_each(|_| STEP.launch_on(stream, grid(), (&mut *x,))))
            .unwrap();
    }
}

#[test]
fn empty_graphs_do_nothing() {
    let Some(device) = gpu() else { return };
    let mut graph = Graph::capture(&device, Tensor::<f32, 1>::zeros(&device, [0]).unwrap(), |stream, x| {
        INCREMENT.launch_on(stream, Grid::cover([0], [128]), (x,))
    })
    .unwrap();
    assert!(graph.is_empty());
    graph.launch().unwrap();
    device.synchronize().unwrap();
}

#[test]
fn what_a_graph_cannot_have_is_refused_with_advice() {
    let Some(device) = gpu() else { return };
    let mut other = filled(&device, 0.0);
    let told =
        message(Graph::capture(&device, (), |stream, _| INCREMENT.launch_on(stream, grid(), (&mut other,))));
    assert!(
        told.starts_with(
            "kernel `increment`, argument 1 (`x`): using a tensor or a pinned buffer: it is none of"
        ),
        "{told}"
    );
    let told = message(Graph::capture(&device, filled(&device, 0.0), |_, x| x.to_vec().map(|_| ())));
    assert!(told.contains("it is an operand of the graph that is being captured"), "{told}");
    let told = message(Graph::capture(&device, (), |stream, _| stream.synchronize()));
    assert!(told.starts_with("waiting for a stream: the stream captures a graph"), "{told}");
    let mut graph = Graph::capture(&device, (), |_, _| Ok(())).unwrap();
    let told = message(graph.launch_on(&Device::cpu().default_stream()));
    assert!(told.starts_with("the graph is on GPU 0"), "{told}");
    // Nothing of it is left on this thread or on the GPU.
    INCREMENT.launch(&device, grid(), (&mut other,)).unwrap();
    assert_eq!(other.to_vec().unwrap(), [1.0; LEN]);
}

/// Captures of others, who here are this test.
#[cfg(feature = "cudarc")]
mod captures_of_others {
    use std::sync::Arc;

    use cudarc::driver::sys::{self, CUstreamCaptureMode};

    use super::*;
    use crate::kernels::captured::Captured;

    /// The strictest mode, which is PyTorch's.
    const MODE: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;

    fn allocate() -> *mut f32 {
        let mut address = 0;
        // SAFETY: the result is written. The memory stays to the end of the process.
        unsafe { sys::cuMemAlloc_v2(&mut address, LEN * size_of::<f32>()) }.result().unwrap();
        address as *mut f32
    }

    /// In a process of its own: in the strictest mode what other tests do at the same time breaks captures.
    #[test]
    fn captures_of_others_work() {
        if gpu().is_none() {
            return;
        }
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "captures_of_others::launches_workspaces_and_imports_can_be_captured";
        let output = again.args(["--ignored", "--exact", name, "--nocapture"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
    }

    #[test]
    #[ignore = "`captures_of_others_work` runs it in another process"]
    fn launches_workspaces_and_imports_can_be_captured() {
        // SAFETY: the entry does what the kernel of its name does.
        static FRESH: Artifact = unsafe {
            Artifact::new(
                "fresh in a capture",
                &[image(
                    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry first() { ret; }\n",
                    &[entry("first")],
                )],
                None,
            )
        };
        // SAFETY: as above.
        static FIRST: Kernel<()> = unsafe { Kernel::new(description("first", &[]), |_, _| ()) };
        let Some(device) = gpu() else { return };
        device.load(&FRESH).unwrap();
        let mut ours = filled(&device, 0.0);
        let stream = device.stream().unwrap();
        let owner = Arc::new(());
        // SAFETY: the addresses are those of this many elements, which nobody else uses.
        let import = |address| unsafe {
            Tensor::<f32, 1>::with_owner(&stream, address, [LEN], Arc::clone(&owner)).unwrap()
        };
        let addresses = [allocate(), allocate()];
        import(addresses[0]).fill(3.0).unwrap();
        device.synchronize().unwrap();
        let before = import(addresses[0]);
        let graph = Captured::new(&stream, MODE, || {
            let [x, mut y] = addresses.map(import);
            FIRST.launch_on(&stream, 1, ()).unwrap();
            workspace(&stream, [LEN], |mut between| {
                DELAYED_COPY.launch_on(&stream, grid(), (&x, between.reborrow(), 0))?;
                INCREMENT.launch_on(&stream, grid(), (between.reborrow(),))?;
                DELAYED_COPY.launch_on(&stream, grid(), (between.as_view(), &mut y, 0))
            })
            .unwrap();
            assert_eq!(Arc::strong_count(&owner), 4);
            drop((x, y));
            assert_eq!(Arc::strong_count(&owner), 2, "nothing runs that could use them");
            drop(before);
            assert_eq!(Arc::strong_count(&owner), 2, "there may be work from before the capture");
            // Another stream has used it, and is done.
            INCREMENT.launch_on(&stream, grid(), (&mut ours,)).unwrap();
        });
        device.synchronize().unwrap();
        assert_eq!(Arc::strong_count(&owner), 1);
        for replay in 1..4 {
            workspace(&stream, [LEN], |mut other| INCREMENT.launch_on(&stream, grid(), (other.reborrow(),)))
                .unwrap();
            graph.launch(&stream);
            stream.synchronize().unwrap();
            assert_eq!(import(addresses[1]).to_vec().unwrap(), [4.0; LEN]);
            assert_eq!(ours.to_vec().unwrap(), [replay as f32; LEN]);
        }
        // What cannot be captured is told.
        let mut other = filled(&device, 0.0);
        let (slow, y) = (device.stream().unwrap(), filled(&device, 0.0));
        DELAYED_COPY.launch_on(&slow, grid(), (&y, &mut other, 50 * DELAY)).unwrap();
        Captured::new(&stream, MODE, || {
            let told = message(INCREMENT.launch_on(&stream, grid(), (&mut other,)));
            assert!(told.contains("memory is used on two streams, of which somebody captures one"), "{told}");
        });
    }
}
