//! Random numbers of a kernel: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).

use crate::data::constant;
use crate::element::Element;
use crate::interpret::Tile;
use crate::number::precision;
use crate::program::Draw;
use crate::scalar::Scalar::Known;

/// The four words of a counter under a key.
fn words(counter: u128, key: u64) -> [u32; 4] {
    let word = |number: u32| (counter >> (32 * number)) as u32;
    let mut state = [word(0), word(1), word(2), word(3)];
    for round in 0..10u64 {
        let low_key = (key as u32).wrapping_add((round * 0x9e37_79b9) as u32);
        let high_key = ((key >> 32) as u32).wrapping_add((round * 0xbb67_ae85) as u32);
        let [first, second] = [u64::from(state[0]) * 0xd251_1f53, u64::from(state[2]) * 0xcd9e_8d57];
        state = [
            (second >> 32) as u32 ^ state[1] ^ low_key,
            second as u32,
            (first >> 32) as u32 ^ state[3] ^ high_key,
            first as u32,
        ];
    }
    state
}

/// The tile whose element `f` is element `offset + f` of a stream.
pub fn draw(draw: Draw, shape: &[usize], seed: u64, stream: u64, offset: u64) -> Tile {
    let element = match draw {
        Draw::Bits(element)
        | Draw::Uniform(element)
        | Draw::UniformAboveZero(element)
        | Draw::Range(element, ..) => element,
        Draw::Bernoulli(_) => Element::Bool,
    };
    let group = if element.bytes() == 8 || matches!(draw, Draw::Range(..)) { 2 } else { 4 };
    let values = (0..shape.iter().product::<usize>())
        .map(|number| {
            let number = offset.wrapping_add(number as u64);
            let words = words(u128::from(stream) << 64 | u128::from(number / group), seed);
            let place = (number % group) as usize;
            let (word, width) = match group {
                2 => (u64::from(words[2 * place]) | u64::from(words[2 * place + 1]) << 32, 64),
                _ => (u64::from(words[place]), 32),
            };
            let above = match draw {
                Draw::Bits(_) => return Known(word),
                Draw::Bernoulli(share) => return Known(u64::from((word >> 8) < u64::from(share) << 16)),
                Draw::Range(_, first, last) => {
                    let (first, last) = (element.integer(first), element.integer(last));
                    // 2^64 numbers at most: one more than `u64` counts.
                    let offset = (u128::from(word) * ((last - first) as u128 + 1)) >> 64;
                    return Known(element.wrap(first + offset as i128));
                }
                Draw::Uniform(_) => 0,
                Draw::UniformAboveZero(_) => 1,
            };
            let digits = precision(element);
            let whole = (word >> (width - digits)) + above;
            Known(constant(element, whole as f64 * 2f64.powi(-digits)))
        })
        .collect();
    Tile { element, shape: shape.to_vec(), values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors() {
        assert_eq!(words(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(words(u128::MAX, u64::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn numbers_with_the_precision_of_the_type() {
        assert_eq!(precision(Element::F32), 24);
        assert_eq!(precision(Element::Bf16), 8);
    }
}
