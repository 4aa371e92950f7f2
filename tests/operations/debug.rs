//! What kernels print, and what they demand. Failed assertions of a GPU are among the traps.

use crate::devices::devices;
use cuda_tiles_host::{Device, Launch, Tensor, set_printer};
use cuda_tiles_test_kernels::debug as kernels;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects lines, for one test at a time.
fn listen() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    set_printer(|line| LINES.lock().unwrap().push(line.to_owned()));
    LINES.lock().unwrap().clear();
    one
}

/// The lines since the last call, once they are all there. Another test's wait may have taken some of them, and shows them a moment later.
fn lines(device: &Device, are_all: impl Fn(&[String]) -> bool) -> Vec<String> {
    let (begun, mut found) = (Instant::now(), Vec::new());
    loop {
        device.synchronize().unwrap();
        found.append(&mut LINES.lock().unwrap());
        if are_all(&found) || begun.elapsed() > Duration::from_secs(10) {
            return found;
        }
    }
}

#[test]
fn detail_52_printing_a_tile_prints_all_elements() {
    let _one = listen();
    for device in devices() {
        let x = Tensor::from_slice(device, [7], &[0.5f32, 1.5, -2.0, 3.25, f32::NAN, f32::INFINITY, -0.0])
            .unwrap();
        let mut y = Tensor::poisoned(device, [7]).unwrap();
        kernels::print_all.launch(device, 2, (1.0 / 3.0, &x, &mut y)).unwrap();
        let mut found = lines(device, |found| found.len() >= 8);
        found.sort();
        let mut expected = [
            "block 0 of 2: [0.5, 1.5, -2.0, 3.25] and 0.33",
            "{[[-2, -1], [0, 1]]} [[[+0], [+1]]] 0xdeadbeef",
            "[false, true, false, true] [3.25e0] 3.25",
            "no arguments",
            "block 1 of 2: [NaN, inf, -0.0, 0.0] and 0.33",
            "{[[-2, -1], [0, 1]]} [[[+0], [+1]]] 0xdeadbeef",
            "[false, true, false, false] [NaN] NaN",
            "no arguments",
        ];
        expected.sort_unstable();
        assert_eq!(found, expected, "{device}");
    }
}

#[test]
fn what_finds_no_room_is_lost_with_a_line_that_says_so() {
    let _one = listen();
    for device in devices() {
        let mut y = Tensor::poisoned(device, [4]).unwrap();
        kernels::print_too_much.launch(device, 4, (&mut y,)).unwrap();
        let is_last = |found: &[String]| found.last().is_some_and(|line| line.contains("were lost"));
        let found = lines(device, |found| !device.is_gpu() || is_last(found));
        assert_eq!(y.to_vec().unwrap(), [0, 1, 2, 3]);
        let tile =
            found.iter().filter(|line| line.starts_with("[0, 1, 2, 3") && line.ends_with(", 8191]")).count();
        if device.is_gpu() {
            assert!((1..256).contains(&tile) && found.len() == tile + 1, "{tile} of {}", found.len());
            assert!(is_last(&found));
        } else {
            assert_eq!((tile, found.len()), (256, 256));
        }
        // There is room again.
        kernels::print_too_much.launch(device, 1, (&mut y,)).unwrap();
        assert!(lines(device, |found| !found.is_empty())[0].ends_with("8190, 8191]"));
    }
}

#[test]
fn detail_52_an_assertion_that_holds_changes_nothing() {
    for device in devices() {
        let x = Tensor::full(device, [30, 16], 2.0f32).unwrap();
        let mut y = Tensor::poisoned(device, [30, 16]).unwrap();
        kernels::assert_below.launch(device, 4, (2.5, &x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [2.0; 480]);
        kernels::assert_plain.launch(device, 3, (3,)).unwrap();
        device.synchronize().unwrap();
    }
}
