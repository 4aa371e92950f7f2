//! Philox4x32-10, a counter-based generator: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
//! 1, 2, 3", SC11. Ten rounds of multiplications turn a counter of 128 bits and a key of 64 into 128 random bits.

/// The multipliers of a round.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What the key grows by between rounds: the golden ratio, and the square root of 3 less 1.
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
/// Rounds; the paper's recommendation, three more than pass every test.
const ROUNDS: u32 = 10;

/// The four random words of a counter under a key.
#[inline_on_device]
pub(super) fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k, mut l]) = (counter, key);
    let mut round = 0;
    while round < ROUNDS {
        let first = u64::from(a) * u64::from(MULTIPLIERS[0]);
        let second = u64::from(c) * u64::from(MULTIPLIERS[1]);
        (a, b, c, d) =
            ((second >> 32) as u32 ^ b ^ k, second as u32, (first >> 32) as u32 ^ d ^ l, first as u32);
        (k, l) = (k.wrapping_add(WEYL[0]), l.wrapping_add(WEYL[1]));
        round += 1;
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines `philox4x32 10` of the file `kat_vectors` of the authors' library Random123.
    #[test]
    fn the_published_vectors() {
        let vectors = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, words) in vectors {
            assert_eq!(philox(counter, key), words);
        }
    }
}
