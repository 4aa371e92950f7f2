//! Graphs on the CPU: what is recorded, what a launch runs, and what is refused. `tests/gpu_graphs.rs` has those on a GPU.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_tiles::prelude::*;

use crate::{
    Device, Error, Graph, GraphOperands, Grid, Launch, OperandList, PinnedBuffer, Result, Stream, Tensor,
    workspace,
};

#[kernel]
fn add(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>, by: f32) {
    let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i) + by, i);
}

/// Adds in place, and refuses what becomes too large.
#[kernel]
fn grow(cx: Cx, y: SpanMut<f32, (u32,)>, by: f32) {
    let y = y.partition(cx, shape![64]);
    let i = cx.bid::<0>();
    let t = y.load_masked(Zero, i) + by;
    tile_assert!(cx, t.lt(100.0), "too large");
    y.store_masked(t, i);
}

#[kernel]
fn set(cx: Cx, y: SpanMut<bool, (u32,)>, at: Span<bool, (u32,)>) {
    let (y, at) = (y.partition(cx, shape![64]), at.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    y.store_masked(at.load_masked(Zero, i), i);
}

const LEN: usize = 100;

fn grid() -> Grid {
    Grid::cover([LEN], [64])
}

fn filled(value: f32) -> Tensor<f32, 1> {
    Tensor::full(&Device::cpu(), [LEN], value).unwrap()
}

fn message<T>(result: Result<T>) -> String {
    result.err().expect("it must be refused").to_string()
}

#[test]
fn a_capture_runs_nothing_and_a_launch_all_of_it() {
    let device = Device::cpu();
    let input = PinnedBuffer::from_slice(&device, &[3.0_f32; LEN]).unwrap();
    let output = PinnedBuffer::zeros(&device, LEN).unwrap();
    let operands = (input, filled(0.0), filled(0.0), output, 0.5_f32);
    let mut graph = Graph::capture(&device, operands, |stream, (input, x, y, output, by)| {
        x.copy_from_pinned(stream, input)?;
        add.launch_on(stream, grid(), (&*x, &mut *y, *by))?;
        grow.launch_on(stream, grid(), (&mut *y, 1.0))?;
        y.copy_to_pinned(stream, output)
    })
    .unwrap();
    assert_eq!((graph.len(), graph.is_empty()), (4, false));
    assert_eq!(format!("{graph:?}"), "Graph of 2 launches and 2 copies on the CPU");
    assert_eq!(graph.operands().3.as_slice().unwrap(), [0.0; LEN]);
    for value in [3.0, -7.0] {
        graph.operands_mut().0.as_mut_slice().unwrap().fill(value);
        graph.launch().unwrap();
        assert_eq!(graph.operands().3.as_slice().unwrap(), [value + 1.5; LEN]);
    }
    // What a number is now does not matter.
    graph.operands_mut().4 = 100.0;
    graph.launch_on(&device.stream().unwrap()).unwrap();
    let (_, x, y, ..) = graph.into_operands();
    assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![-7.0; LEN], vec![-5.5; LEN]));
}

#[test]
fn operands_may_be_of_many_forms() {
    let device = Device::cpu();
    let (weights, shared) = (filled(1.0), std::sync::Arc::new(filled(2.0)));
    let mut rest = filled(0.0);
    let (low, high) = (0..50, 50..LEN);
    let view = rest.view_mut().slice(0, high.clone()).unwrap();
    let several = vec![Some(Box::new([filled(3.0)])), None];
    let operands = (&weights, weights.view(), shared, view, several);
    let mut graph = Graph::capture(&device, operands, |stream, (weights, view, shared, rest, several)| {
        let y = &mut several[0].as_mut().unwrap()[0];
        add.launch_on(stream, grid(), (&**weights, &mut *y, 0.0))?;
        add.launch_on(stream, 1, (view.slice(0, 0..50)?, rest.reborrow(), 5.0))?;
        add.launch_on(stream, 1, (shared.view().slice(0, 0..50)?, y.view_mut().slice(0, 0..50)?, 7.0))
    })
    .unwrap();
    graph.launch().unwrap();
    let several = graph.into_operands().4;
    let y = several[0].as_ref().unwrap()[0].to_vec().unwrap();
    assert_eq!((y[49], y[50]), (9.0, 1.0));
    assert_eq!(rest.view().slice(0, high).unwrap().to_vec().unwrap(), [6.0; 50]);
    assert_eq!(rest.view().slice(0, low).unwrap().to_vec().unwrap(), [0.0; 50]);
}

#[test]
fn an_update_captures_what_is_there_now() {
    let device = Device::cpu();
    let record = |stream: &Stream, (x, y, by): &mut ([Tensor<f32, 1>; 2], Tensor<f32, 1>, f32)| {
        add.launch_on(stream, grid(), (&x[0], &mut *y, *by))
    };
    let mut graph = Graph::capture(&device, ([filled(1.0), filled(10.0)], filled(0.0), 0.5), record).unwrap();
    graph.operands_mut().0.swap(0, 1);
    let told = message(graph.launch());
    assert_eq!(
        told,
        "launching a graph: tensor or buffer 1 of its operands is not the one that was captured: call `update` after another one was \
         put in its place"
    );
    graph.operands_mut().2 = 2.0;
    // One that fails, and one that panics, leave the graph as it was.
    assert!(graph.update(|stream, _| stream.synchronize()).is_err());
    let panicked = catch_unwind(AssertUnwindSafe(|| graph.update(|_, _| panic!("in the capture"))));
    assert!(panicked.is_err());
    graph.operands_mut().0.swap(0, 1);
    graph.launch().unwrap();
    assert_eq!(graph.operands().1.to_vec().unwrap(), [1.5; LEN]);

    graph.operands_mut().0.swap(0, 1);
    graph.update(record).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.operands().1.to_vec().unwrap(), [12.0; LEN]);
}

#[test]
fn operands_that_change_in_number_are_noticed() {
    let device = Device::cpu();
    let mut graph = Graph::capture(&device, vec![filled(0.0)], |stream, all| {
        grow.launch_on(stream, grid(), (&mut all[0], 1.0))
    })
    .unwrap();
    graph.operands_mut().push(filled(1.0));
    assert!(message(graph.launch()).contains("with 1 tensors and buffers as operands, and now has more"));
    graph.operands_mut().clear();
    assert!(message(graph.launch()).contains("tensor or buffer 1 of its operands is not the one"));
    // A tensor that was freed is not taken for one that got its address.
    graph.operands_mut().push(filled(0.0));
    assert!(graph.launch().is_err());
    let swapped = Graph::capture(&device, [filled(0.0), filled(1.0)], |stream, all| {
        grow.launch_on(stream, grid(), (&mut all[0], 1.0))?;
        all.swap(0, 1);
        Ok(())
    });
    assert!(message(swapped).starts_with("capturing a graph: tensor or buffer 1 of its operands is not"));
}

#[test]
fn a_list_that_lends_less_than_was_captured_is_refused() {
    struct Lying {
        x: Tensor<f32, 1>,
        lends_all: bool,
    }
    impl GraphOperands for Lying {
        fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
            match self.lends_all {
                true => list.add(&mut self.x),
                false => list.add_read(&self.x),
            }
        }
    }
    let operands = Lying { x: filled(0.0), lends_all: true };
    let mut graph = Graph::capture(&Device::cpu(), operands, |stream, operands| {
        grow.launch_on(stream, grid(), (&mut operands.x, 1.0))
    })
    .unwrap();
    graph.launch().unwrap();
    graph.operands_mut().lends_all = false;
    assert!(message(graph.launch()).contains("tensor or buffer 1 of its operands is not the one"));
    let update = graph.update(|stream, operands| grow.launch_on(stream, grid(), (&mut operands.x, 1.0)));
    assert!(message(update).contains("it is one of the graph's operands that may only be read"));
    assert_eq!(graph.operands().x.to_vec().unwrap(), [1.0; LEN]);
}

#[test]
fn failures_are_those_of_the_launches() {
    let device = Device::cpu();
    let record = |stream: &Stream, (x, y): &mut (Tensor<f32, 1>, Tensor<f32, 1>)| {
        grow.launch_on(stream, grid(), (&mut *x, 60.0))?;
        add.launch_on(stream, grid(), (&*x, &mut *y, 0.0))
    };
    let mut graph = Graph::capture(&device, (filled(0.0), filled(0.0)), record).unwrap();
    graph.launch().unwrap();
    let error = graph.launch().unwrap_err();
    assert!(matches!(error, Error::Panicked { kernel: "grow", .. }), "{error:?}");
    // What stands behind it is left out.
    assert_eq!(graph.operands().1.to_vec().unwrap(), [60.0; LEN]);
    // Arguments and grids are checked when they are captured.
    let told = message(Graph::capture(&device, filled(0.0), |stream, x| {
        grow.launch_on(stream, (2, 2), (&mut *x, 1.0))
    }));
    assert!(told.starts_with("kernel `grow` cannot run on the grid (2, 2, 1)"), "{told}");
}

#[test]
fn what_is_no_operand_is_refused() {
    let device = Device::cpu();
    let mut other = filled(0.0);
    let told =
        message(Graph::capture(&device, (), |stream, ()| grow.launch_on(stream, grid(), (&mut other, 1.0))));
    assert_eq!(
        told,
        "kernel `grow`, argument 1 (`y`): using a tensor or a pinned buffer: it is none of the graph's operands: hand it, or a \
         reference to it, to `Graph::capture` together with the others"
    );
    let told = message(Graph::capture(&device, (), |stream, ()| {
        let mut temporary = Tensor::zeros(&stream.device(), [LEN])?;
        grow.launch_on(stream, grid(), (&mut temporary, 1.0))
    }));
    assert!(told.contains("it is none of the graph's operands"), "{told}");
    let buffer = PinnedBuffer::<f32>::zeros(&device, LEN).unwrap();
    let told = message(Graph::capture(&device, filled(0.0), |stream, x| x.copy_from_pinned(stream, &buffer)));
    assert!(told.contains("it is none of the graph's operands"), "{told}");
    // An operand that others read too.
    let told = message(Graph::capture(&device, std::sync::Arc::new(filled(0.0)), |stream, x| {
        let x = std::sync::Arc::get_mut(x).expect("it is the only one");
        grow.launch_on(stream, grid(), (x, 1.0))
    }));
    assert!(told.contains("it is one of the graph's operands that may only be read"), "{told}");
}

#[test]
fn what_would_run_at_once_is_refused_for_operands() {
    let device = Device::cpu();
    let attempts: [fn(&Stream, &mut Tensor<f32, 1>) -> Result<()>; 6] = [
        |_, x| x.to_vec().map(|_| ()),
        |_, x| x.fill(1.0),
        |_, x| x.copy_from_slice(&[1.0; LEN]),
        |_, x| {
            x.copy_to_pinned(&Device::cpu().default_stream(), &mut PinnedBuffer::zeros(&Device::cpu(), LEN)?)
        },
        |_, x| grow.launch(&Device::cpu(), grid(), (x, 1.0)),
        |stream, _| workspace(stream, [LEN], |view| view.as_view().to_vec().map(|_: Vec<f32>| ())),
    ];
    for (number, attempt) in attempts.into_iter().enumerate() {
        let told = message(Graph::capture(&device, filled(0.0), attempt));
        assert!(told.contains("it is an operand of the graph that is being captured"), "{number}: {told}");
    }
    let told = message(Graph::capture(&device, PinnedBuffer::<f32>::zeros(&device, 1).unwrap(), |_, x| {
        x.as_slice().map(|_| ())
    }));
    assert!(told.contains("it is an operand of the graph"), "{told}");
    // Other tensors are free, and these are again.
    let mut graph = Graph::capture(&device, filled(0.0), |_, _| filled(1.0).to_vec().map(|_| ())).unwrap();
    graph.operands_mut().fill(2.0).unwrap();
    assert_eq!(graph.operands().to_vec().unwrap(), [2.0; LEN]);
}

#[test]
fn the_stream_of_a_capture_waits_for_nothing_and_ends_with_it() {
    let device = Device::cpu();
    let event = device.default_stream().record_event().unwrap();
    let attempts: [&dyn Fn(&Stream) -> Result<()>; 4] = [
        &|stream| stream.synchronize(),
        &|stream| stream.record_event().map(|_| ()),
        &|stream| stream.wait(&event),
        &|stream| Graph::capture(&stream.device(), (), |_, ()| Ok(()))?.launch_on(stream),
    ];
    for attempt in attempts {
        let error = Graph::capture(&device, (), |stream, ()| attempt(stream)).unwrap_err();
        assert!(matches!(error, Error::Graph { .. }), "{error}");
    }
    let mut kept = None;
    let mut graph = Graph::capture(&device, filled(0.0), |stream, _| {
        kept = Some(stream.clone());
        assert!(stream.handle().is_null());
        Ok(())
    })
    .unwrap();
    let stream = kept.unwrap();
    let told = message(grow.launch_on(&stream, grid(), (graph.operands_mut(), 1.0)));
    assert!(told.ends_with("the capture that the stream belongs to has ended"), "{told}");
    assert!(workspace::<f32, 1, ()>(&stream, [1], |_| Ok(())).is_err());
    graph.launch().unwrap();
    assert!(graph.is_empty());
}

#[test]
fn workspaces_of_graphs_are_nobody_elses() {
    let device = Device::cpu();
    let stream = device.default_stream();
    let record = |stream: &Stream, (x, y): &mut (Tensor<f32, 1>, Tensor<f32, 1>)| {
        // Two captures of one, one in the other.
        workspace(stream, [LEN], |mut a| {
            add.launch_on(stream, grid(), (&*x, a.reborrow(), 1.0))?;
            workspace(stream, [LEN], |mut b| {
                add.launch_on(stream, grid(), (a.as_view(), b.reborrow(), 1.0))?;
                add.launch_on(stream, grid(), (b.as_view(), &mut *y, 1.0))
            })
        })?;
        // What a workspace had before is not read: it has other types.
        workspace::<bool, 1, ()>(stream, [LEN], |mut bits| {
            workspace::<bool, 1, _>(stream, [LEN], |ones| {
                set.launch_on(stream, grid(), (bits.reborrow(), ones.as_view()))
            })
        })
    };
    let mut graph = Graph::capture(&device, (filled(1.0), filled(0.0)), record).unwrap();
    for _ in 0..3 {
        workspace(&stream, [LEN], |mut view| view.fill(f32::NAN)).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.operands().1.to_vec().unwrap(), [4.0; LEN]);
        graph.update(record).unwrap();
    }
    assert_eq!(graph.memory.pieces().count(), 4, "updates have the same memory");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        graph.update(|stream, _| workspace::<f32, 1, ()>(stream, [LEN], |_| panic!("in the capture")))
    }));
    assert!(panicked.is_err());
    graph.launch().unwrap();
    assert_eq!(graph.operands().1.to_vec().unwrap(), [4.0; LEN]);
}

#[test]
fn a_capture_does_not_end_before_workspaces_on_other_threads() {
    use std::sync::mpsc::channel;
    let (begun, has_begun) = channel();
    let (end, may_end) = channel::<()>();
    let told = message(Graph::capture(&Device::cpu(), (), |stream, ()| {
        let stream = stream.clone();
        std::thread::spawn(move || {
            workspace::<f32, 1, ()>(&stream, [LEN], |_| {
                begun.send(()).unwrap();
                may_end.recv().unwrap();
                Ok(())
            })
        });
        has_begun.recv().unwrap();
        Ok(())
    }));
    assert!(
        told.ends_with("memory of a `workspace` of the graph is still in use on another thread"),
        "{told}"
    );
    end.send(()).unwrap();
}

#[test]
fn graphs_may_go_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<Graph<(Tensor<f32, 1>, PinnedBuffer<f32>)>>();
    let mut graph = Graph::capture(&Device::cpu(), filled(0.0), |stream, x| {
        grow.launch_on(stream, grid(), (&mut *x, 1.0))
    })
    .unwrap();
    std::thread::scope(|scope| scope.spawn(|| graph.launch().unwrap()).join().unwrap());
    assert_eq!(graph.operands().to_vec().unwrap(), [1.0; LEN]);
}
