//! Shapes, strides and sizes beyond what can be counted or allocated.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Error, Grid, Launch, PinnedBuffer, Result, Tensor, workspace};

/// The sum of the tile at the origin.
#[kernel]
fn sum(cx: Cx, x: Span<u8, (u64, u64), Strided>, y: SpanMut<u32, (u32,)>) {
    let x = x.partition(cx, shape![4, 4]);
    let y = y.partition(cx, shape![1]);
    y.store(x.load_masked(Zero, (0, 0)).cast::<u32>().sum::<ALL>().reshape(shape![1]), cx.bid::<0>());
}

fn four() -> Tensor<u8, 1> {
    Tensor::from_slice(&Device::cpu(), [4], &[1, 2, 3, 4]).unwrap()
}

fn text<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn views_have_as_many_elements_as_can_be_counted() {
    let mut x = four();
    for exponents in [[40, 40], [32, 32], [31, 32], [63, 0]] {
        let shape = exponents.map(|exponent| 1 << exponent);
        let expected = format!(
            "strided view of a tensor of shape [4]: shape {shape:?} has more elements than can be counted"
        );
        assert_eq!(text(x.view().strided(0, shape, [0, 0])), expected);
        assert_eq!(text(x.view_mut().strided(0, shape, [0, 0])), expected);
    }
    let most = x.view().strided(0, [1 << 31, 1 << 31], [0, 0]).unwrap();
    assert_eq!((most.len(), most.is_empty()), (1 << 62, false));
    // The same holds without elements, so that every part of a view can be counted too.
    for shape in [[1 << 40, 1 << 40, 0], [0, 1 << 40, 1 << 40]] {
        assert!(text(x.view().strided(0, shape, [0; 3])).ends_with("more elements than can be counted"));
        assert!(text(x.view_mut().strided(0, shape, [0; 3])).ends_with("more elements than can be counted"));
    }
}

#[test]
fn writable_views_do_not_wrap_to_nothing() {
    let mut x = four();
    let message = text(x.view_mut().strided(0, [1 << 30, 1 << 30], [0, 0]));
    assert!(message.ends_with("strides [0, 0] give one element several indices"), "{message}");
    assert!(text(x.view_mut().strided(0, [1 << 30, 1 << 32, 4], [0, 0, 1])).contains("can be counted"));
}

#[test]
fn views_of_nothing_have_strides_within_limits() {
    let x = four();
    let message = text(x.view().strided(0, [0, 5], [usize::MAX, usize::MAX]));
    assert_eq!(
        message,
        "strided view of a tensor of shape [4]: offset 0, shape [0, 5] and strides [18446744073709551615, \
         18446744073709551615] reach beyond its 4 elements"
    );
    let far = x.view().strided(4, [0, 5], [usize::MAX, 1 << 60]).unwrap();
    assert!(far.to_vec().unwrap().is_empty());
    let part = far.slice(1, 3..4).unwrap().slice(0, 0..0).unwrap().permute([1, 0]).unwrap();
    assert_eq!((part.shape(), part.to_vec().unwrap()), ([1, 0], vec![]));
    // An axis of one element may have any stride, and a slice behind that element does not move by it.
    let column = x.view().strided(1, [1, 3], [usize::MAX, 1]).unwrap();
    assert_eq!(column.to_vec().unwrap(), [2, 3, 4]);
    let nothing = column.slice(0, 1..1).unwrap();
    assert!(nothing.slice(0, 0..0).unwrap().slice(1, 3..3).unwrap().to_vec().unwrap().is_empty());
    let mut y = Tensor::<u32, 1>::zeros(&Device::cpu(), [1]).unwrap();
    for view in [column, nothing, far] {
        sum.launch(&Device::cpu(), 1, (view, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [if view.is_empty() { 0 } else { 9 }]);
    }
}

#[test]
fn tensors_keep_to_the_address_space() {
    let device = Device::cpu();
    let too_large = |shape: &str| {
        format!("a tensor of shape {shape} with 1-byte elements is larger than the address space")
    };
    let most = usize::MAX;
    for message in [
        text(Tensor::<u8, 2>::zeros(&device, [0, most])),
        text(Tensor::<u8, 2>::full(&device, [0, most], 1)),
        text(Tensor::<u8, 2>::padded(&device, [0, most])),
        text(Tensor::<u8, 1>::zeros(&device, [0]).unwrap().reshape([0, most])),
    ] {
        assert_eq!(message, too_large("[0, 18446744073709551615]"));
    }
    let message = text(Tensor::<u8, 2>::zeros(&device, [most, 2]));
    assert_eq!(message, too_large("[18446744073709551615, 2]"));
    let message = text(Tensor::<u8, 1>::padded(&device, [most - 1]));
    assert_eq!(message, too_large("[18446744073709551614]"));
    assert!(matches!(PinnedBuffer::<u64>::zeros(&device, most), Err(Error::TooLarge { .. })));
}

#[test]
fn what_the_machine_has_no_room_for_is_an_error() {
    let device = Device::cpu();
    let stream = device.default_stream();
    let bytes = isize::MAX as usize;
    let no_room = |result: Result<()>| {
        assert!(matches!(result, Err(Error::OutOfMemory { .. })), "{result:?}");
    };
    no_room(Tensor::<u8, 1>::zeros(&device, [bytes]).map(drop));
    no_room(Tensor::<u8, 1>::full(&device, [bytes], 1).map(drop));
    no_room(Tensor::<u64, 1>::full(&device, [bytes / 8], 1).map(drop));
    no_room(Tensor::<bool, 1>::poisoned(&device, [bytes]).map(drop));
    no_room(PinnedBuffer::<u8>::zeros(&device, bytes).map(drop));
    no_room(workspace::<u8, 1, ()>(&stream, [bytes], |_| Ok(())));
    no_room(workspace::<bool, 1, ()>(&stream, [bytes], |_| Ok(())));
    let x = four();
    no_room(x.view().strided(0, [1 << 31, 1 << 31], [0, 0]).unwrap().to_vec().map(drop));
    let message = text(x.view().strided(0, [1 << 30, 1 << 29], [0, 0]).unwrap().to_vec());
    assert_eq!(message, "the CPU has no room for another 576460752303423488 bytes");
}

#[test]
fn kernels_read_the_views_that_they_can_count() {
    let (device, x) = (Device::cpu(), four());
    let mut y = Tensor::<u32, 1>::zeros(&device, [1]).unwrap();
    let long = x.view().strided(0, [1 << 31, 1 << 31], [0, 0]).unwrap();
    let message = text(sum.launch(&device, 1, (long, &mut y)));
    assert!(message.contains("elements overlap along axis 0 (stride 0)"), "{message}");
}

#[test]
fn axes_and_ranges_are_checked() {
    let x = Tensor::<u8, 2>::zeros(&Device::cpu(), [2, 2]).unwrap();
    let message = text(x.view().permute([usize::MAX, 0]));
    assert!(message.ends_with("[18446744073709551615, 0] leaves out axis 1; each of 0..2 must appear once"));
    #[allow(clippy::reversed_empty_ranges, reason = "it is what is tested")]
    let message = text(x.view().slice(0, 2..1));
    assert!(message.ends_with("2..1 is not a range within axis 0, which has 2 elements"), "{message}");
    assert!(text(x.view().slice(usize::MAX, 0..1)).ends_with("there is no axis 18446744073709551615"));
}

#[test]
#[should_panic(expected = "bitcast: not all bits are a bool")]
fn bits_are_not_taken_for_bools() {
    let _ = four().view().bitcast::<bool>();
}

#[test]
#[should_panic(expected = "a tile of shape [0] covers nothing")]
fn tiles_of_nothing_cover_nothing() {
    let _ = Grid::cover([4], [0]);
}

#[test]
fn filling_goes_in_pieces() {
    let device = Device::cpu();
    // Longer than a piece, and no multiple of one.
    let len = (5 << 20) / 8 + 3;
    let mut x = Tensor::full(&device, [len], -2_i64).unwrap();
    assert!(x.to_vec().unwrap().iter().all(|&element| element == -2));
    x.view_mut().slice(0, 1..len - 1).unwrap().fill(7).unwrap();
    let found = x.to_vec().unwrap();
    assert!(found[1..len - 1].iter().all(|&element| element == 7));
    assert_eq!((found[0], found[len - 1]), (-2, -2));

    let mut rows = Tensor::<u16, 2>::padded(&device, [3, 5]).unwrap();
    rows.fill(9).unwrap();
    assert_eq!(rows.to_vec().unwrap(), [9; 15]);
    let columns = rows.view_mut().transpose().slice(0, 2..4).unwrap().fill(1);
    columns.unwrap();
    assert_eq!(rows.to_vec().unwrap(), [9, 9, 1, 1, 9].repeat(3));
    Tensor::<f32, 2>::zeros(&device, [0, 9]).unwrap().fill(1.0).unwrap();
}
