//! Tensor maps and shared memory of launches on a real GPU, from compute capability 9.0 on. Without one the tests say so and
//! do nothing.

mod kernels;

use cuda_tiles::launch::{Description, Kernel};
use cuda_tiles::memory::{TmaLoad, TmaStore};
use cuda_tiles::shape::Shape2;
use cuda_tiles_host::{Artifact, Device, Graph, Image, Launch, Tensor, TensorView};
use kernels::{SpanMut, description, entry};

type Load = TmaLoad<f32, Shape2<8, 4>>;
type Store = TmaStore<f32, Shape2<8, 4>>;

// SAFETY: the entries do what the kernels of the same names declare.
static IMAGES: [Image; 1] = unsafe {
    let entries = &[entry("fetch"), entry("put"), entry("is_null")];
    [Image::new("sm_90", (9, 0), false, include_str!("ptx/streamed.ptx"), entries)]
};
static KERNELS: Artifact = Artifact::new("streamed", &IMAGES, None);

const fn with_memory(name: &'static str, arguments: &'static [&'static str]) -> Description {
    Description { shared_bytes: [1024; 3], ..description(name, arguments) }
}

/// Copies a piece.
// SAFETY: the entries do what the kernels of the same names declare.
static FETCH: Kernel<(Load, SpanMut, u32, u32, u32)> = unsafe {
    Kernel::new(with_memory("fetch", &["x", "y", "batch", "row", "column"]), |_, _| {
        unreachable!("it runs on the GPU")
    })
};

/// Writes numbers to a piece.
// SAFETY: the entries do what the kernels of the same names declare.
static PUT: Kernel<(Store, u32, u32, u32)> = unsafe {
    Kernel::new(with_memory("put", &["y", "batch", "row", "column"]), |_, _| {
        unreachable!("it runs on the GPU")
    })
};

/// Whether the argument has a tensor map.
// SAFETY: the entries do what the kernels of the same names declare.
static IS_NULL: Kernel<(Store, SpanMut)> =
    unsafe { Kernel::new(with_memory("is_null", &["x", "y"]), |_, _| unreachable!("it runs on the GPU")) };

fn gpu() -> Option<Device> {
    let device = kernels::gpu()?;
    if device.capability() < Some((9, 0)) {
        eprintln!("skipped: {device} has no TMA");
        return None;
    }
    device.load(&KERNELS).unwrap();
    Some(device)
}

/// Matrix, row and column as digits of the value.
fn value(batch: usize, row: usize, column: usize) -> f32 {
    (10_000 * batch + 10 * row + column) as f32
}

fn numbered([batches, rows, columns]: [usize; 3]) -> Vec<f32> {
    let at = |i: usize| value(i / (rows * columns), i / columns % rows, i % columns);
    (0..batches * rows * columns).map(at).collect()
}

/// The piece at (batch, row, column).
fn fetch(device: &Device, x: TensorView<'_, f32, 3>, [batch, row, column]: [u32; 3]) -> Vec<f32> {
    let mut y = Tensor::poisoned(device, [33]).unwrap();
    FETCH.launch(device, 1, (x, &mut y, batch, row, column)).unwrap();
    let mut y = y.to_vec().unwrap();
    assert_eq!(y.pop(), Some(0.0), "dynamic shared memory is aligned to 1024 bytes");
    y
}

/// The expected result of [`fetch`] in a tensor of this shape.
fn expected([batches, rows, columns]: [usize; 3], [batch, row, column]: [usize; 3]) -> Vec<f32> {
    let at = |i: usize| match (row + i / 4, column + i % 4) {
        (row, column) if batch < batches && row < rows && column < columns => value(batch, row, column),
        _ => 0.0,
    };
    (0..32).map(at).collect()
}

#[test]
fn tma_loads_what_the_map_says() {
    let Some(device) = gpu() else { return };
    let shape = [3, 13, 6];
    let mut x = Tensor::<f32, 3>::padded(&device, shape).unwrap();
    x.copy_from_slice(&numbered(shape)).unwrap();
    // Columns are multiples of 16 bytes. Other columns are an illegal instruction for TMA.
    for at in [[0, 0, 0], [1, 0, 4], [2, 8, 0], [2, 8, 4], [1, 12, 4], [2, 16, 0], [3, 0, 0]] {
        assert_eq!(fetch(&device, x.view(), at), expected(shape, at.map(|index| index as usize)), "{at:?}");
    }
    let part = x.view().slice(0, 1..3).unwrap().slice(1, 2..9).unwrap();
    let found = fetch(&device, part, [1, 4, 4]);
    let wanted: Vec<f32> =
        (0..32).map(|i| if i / 4 < 3 && i % 4 < 2 { value(2, 6 + i / 4, 4 + i % 4) } else { 0.0 }).collect();
    assert_eq!(found, wanted);
}

#[test]
fn axes_in_another_order_are_batches_of_rows() {
    let Some(device) = gpu() else { return };
    // Rows of several heads, one behind the other: the batch's pitch is less than a row's.
    let x = Tensor::from_vec(&device, [13, 3, 8], numbered([13, 3, 8])).unwrap();
    let found = fetch(&device, x.view().permute([1, 0, 2]).unwrap(), [2, 8, 4]);
    let wanted: Vec<f32> =
        (0..32).map(|i| if i / 4 < 5 { value(8 + i / 4, 2, 4 + i % 4) } else { 0.0 }).collect();
    assert_eq!(found, wanted);
}

#[test]
fn rows_that_share_elements_are_read() {
    let Some(device) = gpu() else { return };
    let x = Tensor::from_vec(&device, [64], (0..64).map(|i| i as f32).collect()).unwrap();
    let windows = x.view().strided(0, [1, 8, 16], [0, 4, 1]).unwrap();
    let found = fetch(&device, windows, [0, 0, 8]);
    assert_eq!(found, (0..32).map(|i| (4 * (i / 4) + 8 + i % 4) as f32).collect::<Vec<_>>());
    let same = x.view().strided(0, [1, 8, 16], [0, 0, 1]).unwrap();
    assert_eq!(fetch(&device, same, [0, 0, 4]), (0..32).map(|i| (4 + i % 4) as f32).collect::<Vec<_>>());
}

#[test]
fn a_tensor_without_elements_reads_as_zero() {
    let Some(device) = gpu() else { return };
    for shape in [[0, 8, 8], [2, 0, 8], [2, 8, 0]] {
        let x = Tensor::<f32, 3>::zeros(&device, shape).unwrap();
        assert_eq!(fetch(&device, x.view(), [0, 0, 0]), [0.0; 32]);
    }
}

#[test]
fn tma_stores_within_the_tensor() {
    let Some(device) = gpu() else { return };
    let mut y = Tensor::<f32, 3>::zeros(&device, [2, 12, 8]).unwrap();
    PUT.launch(&device, 1, (y.view_mut().slice(1, 1..11).unwrap(), 1, 8, 4)).unwrap();
    let wanted: Vec<f32> = (0..192)
        .map(|i| match (i / 96, i / 8 % 12, i % 8) {
            (1, row @ 9..11, column @ 4..) => (4 * (row - 9) + column - 4) as f32,
            _ => 0.0,
        })
        .collect();
    assert_eq!(y.to_vec().unwrap(), wanted);
}

#[test]
fn an_output_that_tma_cannot_reach_has_no_map() {
    let Some(device) = gpu() else { return };
    let is_null = |x: &mut Tensor<f32, 2>| {
        let mut y = Tensor::poisoned(&device, [1]).unwrap();
        IS_NULL.launch(&device, 1, (x, &mut y)).unwrap();
        y.to_vec().unwrap()[0] == 1.0
    };
    assert!(is_null(&mut Tensor::zeros(&device, [8, 5]).unwrap()));
    assert!(!is_null(&mut Tensor::zeros(&device, [8, 4]).unwrap()));
    assert!(!is_null(&mut Tensor::padded(&device, [8, 5]).unwrap()));
}

#[test]
fn more_tensors_than_there_are_maps_are_read_right() {
    let Some(device) = gpu() else { return };
    let shape = [1, 9000, 4];
    let x = Tensor::from_vec(&device, shape, numbered(shape)).unwrap();
    let mut y = Tensor::<f32, 2>::zeros(&device, [9000, 64]).unwrap();
    for row in 0..8992 {
        let part = x.view().slice(1, row..row + 8).unwrap();
        let target = y.view_mut().slice(0, row..row + 1).unwrap().strided(0, [33], [1]).unwrap();
        FETCH.launch(&device, 1, (part, target, 0, 0, 0)).unwrap();
    }
    let y = y.to_vec().unwrap();
    for row in 0..8992 {
        assert_eq!(y[64 * row..64 * row + 32], expected(shape, [0, row, 0]), "row {row}");
    }
}

#[test]
fn maps_of_graphs_stay_when_those_of_launches_are_dropped() {
    let Some(device) = gpu() else { return };
    let shape = [1, 16, 8];
    let x = Tensor::from_vec(&device, shape, numbered(shape)).unwrap();
    let y = Tensor::<f32, 1>::poisoned(&device, [33]).unwrap();
    let mut graph = Graph::capture(&device, (&x, y), |stream, (x, y)| {
        FETCH.launch_on(stream, 1, (&**x, &mut *y, 0, 8, 4))
    })
    .unwrap();
    // More maps than are held at a time, each with an address of its own.
    let many = Tensor::<f32, 1>::zeros(&device, [4 * 4300 + 64]).unwrap();
    let mut z = Tensor::poisoned(&device, [33]).unwrap();
    for start in 0..4300 {
        let view = many.view().strided(4 * start, [1, 1, 4], [4, 4, 1]).unwrap();
        FETCH.launch(&device, 1, (view, &mut z, 0, 0, 0)).unwrap();
    }
    graph.launch().unwrap();
    let mut fetched = graph.operands().1.to_vec().unwrap();
    fetched.pop();
    assert_eq!(fetched, expected(shape, [0, 8, 4]));
}
