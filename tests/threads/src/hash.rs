//! SHA-256 (FIPS 180-4): one thread hashes one text.

use cuda_tiles::cuda_std::prelude::*;

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
const CONSTANTS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The first 32 bits of the fractions of the square roots of the first 8 primes.
const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// The state after one more block of the text.
#[inline(always)]
fn compress(state: [u32; 8], mut words: [u32; 16]) -> [u32; 8] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    for constants in CONSTANTS.as_chunks::<16>().0 {
        for i in 0..16 {
            let choice = e & f ^ !e & g;
            let majority = a & b ^ a & c ^ b & c;
            let sum_of_e = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let sum_of_a = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let first = h
                .wrapping_add(sum_of_e)
                .wrapping_add(choice)
                .wrapping_add(constants[i])
                .wrapping_add(words[i]);
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(sum_of_a).wrapping_add(majority));
            // The word of sixteen rounds later.
            let (next, last) = (words[(i + 1) % 16], words[(i + 14) % 16]);
            let mix_next = next.rotate_right(7) ^ next.rotate_right(18) ^ next >> 3;
            let mix_last = last.rotate_right(17) ^ last.rotate_right(19) ^ last >> 10;
            words[i] =
                words[i].wrapping_add(mix_next).wrapping_add(words[(i + 9) % 16]).wrapping_add(mix_last);
        }
    }
    let mixed = [a, b, c, d, e, f, g, h];
    core::array::from_fn(|i| state[i].wrapping_add(mixed[i]))
}

/// The hash of a text, by the first thread.
///
/// # Safety
///
/// `output` has room for it.
#[kernel]
pub unsafe fn sha256_oneshot(input: &[u8], output: *mut [u8; 32]) {
    if !thread::first() {
        return;
    }
    let bits = input.len() as u64 * 8;
    // The text, a one, zeros, and the number of its bits.
    let blocks = (input.len() + 9).div_ceil(64);
    let byte = |i: usize| match i {
        i if i < input.len() => input[i],
        i if i == input.len() => 0x80,
        i if i < blocks * 64 - 8 => 0,
        i => (bits >> ((blocks * 64 - 1 - i) * 8)) as u8,
    };
    let mut state = START;
    for block in 0..blocks {
        let word =
            |i: usize| u32::from_be_bytes(core::array::from_fn(|part| byte(block * 64 + i * 4 + part)));
        state = compress(state, core::array::from_fn(word));
    }
    for (i, word) in state.into_iter().enumerate() {
        for (part, byte) in word.to_be_bytes().into_iter().enumerate() {
            // SAFETY: there is room for 32 bytes.
            unsafe { output.cast::<u8>().add(i * 4 + part).write(byte) };
        }
    }
}
