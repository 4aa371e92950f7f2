//! Bits of elements as other elements: the order of memory, along every axis.

use crate::devices::devices;
use crate::test_values::Random;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::repacking as kernels;
use cuda_tiles_test_kernels::repacking::BYTES;

fn random_bytes(count: usize) -> Vec<u8> {
    let mut random = Random::new(81);
    (0..count).map(|_| random.bits() as u8).collect()
}

#[test]
fn detail_37_order_of_repacked_elements() {
    let x = random_bytes(BYTES);
    let at = |i: usize, j: usize, k: usize| x[(i * 16 + j) * 32 + k];
    for device in devices() {
        let operand = Tensor::from_slice(device, [2, 16, 32], &x).unwrap();
        let mut last = Tensor::<u32, 3>::poisoned(device, [2, 16, 8]).unwrap();
        let mut middle = Tensor::<u64, 3>::poisoned(device, [2, 2, 32]).unwrap();
        let mut first = Tensor::<u16, 3>::poisoned(device, [1, 16, 32]).unwrap();
        let mut bits = Tensor::<bool, 3>::poisoned(device, [2, 16, 256]).unwrap();
        let mut halves = Tensor::<f16, 3>::poisoned(device, [2, 8, 32]).unwrap();
        let arguments = (&operand, &mut last, &mut middle, &mut first, &mut bits, &mut halves);
        kernels::bytes_to_wider.launch(device, Grid::cover([1], [1]), arguments).unwrap();
        let (last, middle, first) =
            (last.to_vec().unwrap(), middle.to_vec().unwrap(), first.to_vec().unwrap());
        for (flat, word) in last.into_iter().enumerate() {
            let (i, j, k) = (flat / 128, flat / 8 % 16, flat % 8);
            assert_eq!(word.to_le_bytes(), [0, 1, 2, 3].map(|b| at(i, j, 4 * k + b)), "u32 {flat}");
        }
        for (flat, word) in middle.into_iter().enumerate() {
            let (i, j, k) = (flat / 64, flat / 32 % 2, flat % 32);
            assert_eq!(
                word.to_le_bytes(),
                [0, 1, 2, 3, 4, 5, 6, 7].map(|b| at(i, 8 * j + b, k)),
                "u64 {flat}"
            );
        }
        for (flat, word) in first.into_iter().enumerate() {
            assert_eq!(word.to_le_bytes(), [0, 1].map(|b| at(b, flat / 32, flat % 32)), "u16 {flat}");
        }
        for (flat, bit) in bits.to_vec().unwrap().into_iter().enumerate() {
            assert_eq!(bit, x[flat / 8] >> (flat % 8) & 1 == 1, "bool {flat}");
        }
        for (flat, half) in halves.to_vec().unwrap().into_iter().enumerate() {
            let (i, j, k) = (flat / 256, flat / 32 % 8, flat % 32);
            assert_eq!(half.to_bits().to_le_bytes(), [0, 1].map(|b| at(i, 2 * j + b, k)), "f16 {flat}");
        }
    }
}

#[test]
fn there_and_back() {
    let x = random_bytes(BYTES);
    for device in devices() {
        let operand = Tensor::from_slice(device, [BYTES], &x).unwrap();
        let mut results = Tensor::<u8, 2>::poisoned(device, [6, BYTES]).unwrap();
        kernels::there_and_back.launch(device, Grid::cover([1], [1]), (&operand, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        for (row, result) in results.chunks(BYTES).enumerate() {
            assert!(result == x, "row {row}");
        }
    }
}

#[test]
fn tiles_smaller_than_the_block() {
    let x = [0x0100u16, 0x0302, 0x0504, 0x0706, 0x0908, 0x0b0a, 0x0d0c, 0x0f0e];
    for device in devices() {
        let operand = Tensor::from_slice(device, [2, 4], &x).unwrap();
        let mut y = Tensor::<u32, 2>::poisoned(device, [2, 2]).unwrap();
        let mut z = Tensor::<i8, 2>::poisoned(device, [4, 4]).unwrap();
        kernels::tiny.launch(device, Grid::cover([1], [1]), (&operand, &mut y, &mut z)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c]);
        assert_eq!(z.to_vec().unwrap(), [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]);
    }
}

#[test]
fn sums_of_products() {
    let [a, b] = [[16, 16], [16, 8]].map(|[rows, columns]: [usize; 2]| -> Vec<f16> {
        (0..rows * columns).map(|i| f16::from_f32((i * 7 % 11) as f32 - 4.0)).collect()
    });
    let sum =
        |i: usize, j: usize| (0..16).map(|k| a[16 * i + k].to_f32() * b[8 * k + j].to_f32()).sum::<f32>();
    for device in devices() {
        let left = Tensor::from_slice(device, [16, 16], &a).unwrap();
        let right = Tensor::from_slice(device, [16, 8], &b).unwrap();
        let mut words = Tensor::<u32, 2>::poisoned(device, [16, 8]).unwrap();
        let mut bytes = Tensor::<u8, 2>::poisoned(device, [16, 32]).unwrap();
        kernels::repacked_sums.launch(device, 1, (&left, &right, &mut words, &mut bytes)).unwrap();
        let bytes = bytes.to_vec().unwrap();
        for (flat, word) in words.to_vec().unwrap().into_iter().enumerate() {
            assert_eq!(f32::from_bits(word), sum(flat / 8, flat % 8), "word {flat} on {device}");
            assert_eq!(bytes[4 * flat..4 * flat + 4], word.to_le_bytes(), "bytes {flat} on {device}");
        }
    }
}
