//! Forms of operations that differ from tested ones by an argument, on the CPU.

mod common;

use common::{elements, tile};
use cuda_tiles::prelude::*;
use cuda_tiles::random::{ClosedOpen, Normal};

#[test]
fn products_and_minima_in_every_direction() {
    let t = tile(&[3i32, -1, 4, 2], shape![4]);
    assert_eq!(elements(t.cumprod_with::<0>(Backward)), [-24, -8, 8, 2]);
    assert_eq!(elements(t.cumprod_with::<0>((Exclusive, Forward))), [1, 3, -3, -12]);
    assert_eq!(elements(t.cummin::<0>()), [3, -1, -1, -1]);
    assert_eq!(elements(t.cummin_with::<0>((Exclusive, Backward))), [-1, 2, 2, i32::MAX]);
}

#[test]
fn rounded_products_enclose_the_exact_one() {
    let t = tile(&[0.1f32; 8], shape![8]);
    let below = elements(t.cumprod_rounded::<0>(Forward, TowardNegative));
    let above = elements(t.cumprod_rounded::<0>(Forward, TowardPositive));
    let mut exact = 1.0;
    for (below, above) in below.into_iter().zip(above) {
        exact *= f64::from(0.1f32);
        assert!(f64::from(below) <= exact && exact <= f64::from(above), "{below} {exact} {above}");
        assert!(above / below < 1.0 + 1e-5);
    }
}

#[test]
fn fp4_of_two_tiles_make_pairs() {
    let low = tile(&[0.5f32, 6.0, -1.5, 0.0], shape![4]).cast::<f4e2m1>();
    let high = tile(&[-0.5f32, 3.0, 2.0, 4.0], shape![4]).cast::<f4e2m1>();
    let pairs = low.pair_with(high);
    assert_eq!(elements(pairs.low().cast::<f32>()), elements(low.cast::<f32>()));
    assert_eq!(elements(pairs.high().cast::<f32>()), elements(high.cast::<f32>()));
    assert_eq!(elements(pairs)[0], f4e2m1x2::from_bits(0x91));
}

#[test]
fn distributions_are_what_their_names_draw() {
    cuda_tiles::cpu::block(|cx| {
        let random = Philox::new(cx, 7, 1);
        let floats = random.sample::<f32>(shape![64], 32, ClosedOpen);
        assert_eq!(elements(floats), elements(random.uniform::<f32>(shape![64], 32)));
        let normal = random.sample::<f64>(shape![64], 0, Normal);
        assert_eq!(elements(normal), elements(random.normal::<f64>(shape![64], 0)));
    });
}

#[test]
fn pointers_are_made_from_addresses() {
    let memory = [5i32, 6, 7, 8];
    let first = Pointer::<i32>::from_address(memory.as_ptr().expose_provenance() as u64);
    assert_eq!(first.offset(3).offset_from(first), 3);
    cuda_tiles::cpu::block(|cx| {
        let pointers = cx.full(shape![4], first).offset(cx.iota::<i32>(shape![4]));
        // SAFETY: the four pointers are those of the elements of `memory`, which nobody changes.
        let values = unsafe { pointers.load() };
        assert_eq!(elements(values), memory);
    });
}
