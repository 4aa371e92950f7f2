//! The number by which an entry on the device and a handle on the host know that they are of one kernel.
//!
//! Both sides compute it at compile time, maybe by two versions of rustc. So it is made of meanings (names of element types,
//! lengths, facts), and not of anything that a compiler is free to choose or to print in its own way.

/// The hash of a sequence of words and numbers: FNV-1a with 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// That of nothing.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);
    /// What the hash is multiplied by after each byte.
    const PRIME: u64 = 0x100_0000_01b3;

    /// Followed by a word, with its length, so that no two sequences of words have the same bytes.
    pub const fn word(self, word: &str) -> Self {
        let bytes = word.as_bytes();
        let (mut hash, mut k) = (self.0, 0);
        while k < bytes.len() {
            hash = (hash ^ bytes[k] as u64).wrapping_mul(Self::PRIME);
            k += 1;
        }
        Self(hash).number(bytes.len() as u64)
    }

    /// Followed by a number.
    pub const fn number(self, number: u64) -> Self {
        let bytes = number.to_le_bytes();
        let (mut hash, mut k) = (self.0, 0);
        while k < bytes.len() {
            hash = (hash ^ bytes[k] as u64).wrapping_mul(Self::PRIME);
            k += 1;
        }
        Self(hash)
    }

    /// Followed by numbers, with their count.
    pub const fn numbers(mut self, numbers: &[u64]) -> Self {
        let mut k = 0;
        while k < numbers.len() {
            self = self.number(numbers[k]);
            k += 1;
        }
        self.number(numbers.len() as u64)
    }

    /// Followed by what another one stands for.
    pub const fn then(self, other: Self) -> Self {
        self.number(other.0)
    }

    /// Of a kernel: its path, the values of its generic parameters as they are written, the numbers of its attribute, its
    /// arguments, and the sizes of its shared arguments. The attribute `#[kernel]` calls it.
    pub const fn of_kernel(
        path: &str,
        values: &str,
        attribute: &[u64],
        arguments: &[Self],
        shared: &[[u32; 3]],
    ) -> Self {
        let mut all = Self::EMPTY.word(path).word(values).numbers(attribute);
        let mut k = 0;
        while k < arguments.len() {
            all = all.then(arguments[k]);
            k += 1;
        }
        all = all.number(arguments.len() as u64);
        k = 0;
        while k < shared.len() {
            let [small, middle, large] = shared[k];
            all = all.numbers(&[small as u64, middle as u64, large as u64]);
            k += 1;
        }
        all
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{bf16, f16};
    use crate::launch::Parameter;
    use crate::memory::{TmaLoad, TmaStore};
    use crate::shape::{D, Shape2};
    use crate::span::*;

    fn of<P: Parameter>() -> u64 {
        P::FINGERPRINT.get()
    }

    type Rows<T, E, A = ReadOnly, M = Right, G = Natural> = TensorSpan<T, E, A, M, G>;

    #[test]
    fn what_a_launch_relies_on_tells_arguments_apart() {
        let all = [
            of::<f16>(),
            of::<bf16>(),
            of::<u16>(),
            of::<i16>(),
            of::<bool>(),
            of::<u8>(),
            of::<u32>(),
            of::<Divisible<u32, 4>>(),
            of::<Divisible<u32, 8>>(),
            of::<Divisible<u64, 8>>(),
            of::<Bounded<u32, 0, 8>>(),
            of::<Bounded<u32, 1, 8>>(),
            of::<Bounded<u32, 1, 9>>(),
            of::<Rows<f32, ()>>(),
            of::<Rows<f32, (u32,)>>(),
            of::<Rows<u32, (u32,)>>(),
            of::<Rows<f32, (u64,)>>(),
            of::<Rows<f32, (D<4>,)>>(),
            of::<Rows<f32, (D<8>,)>>(),
            of::<Rows<f32, (Mult<u32, 4>,)>>(),
            of::<Rows<f32, (Mult<u64, 4>,)>>(),
            of::<Rows<f32, (Mult<u32, 8>,)>>(),
            of::<Rows<f32, (Bounded<u32, 0, 8>,)>>(),
            of::<Rows<f32, (Bounded<u32, 0, 9>,)>>(),
            of::<Rows<f32, (u32, u64)>>(),
            of::<Rows<f32, (u64, u32)>>(),
            of::<Rows<f32, (u32, u32)>>(),
            of::<Rows<f32, (u32, u32), Exclusive>>(),
            of::<Rows<f32, (u32, u32), Atomic>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, Left>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, PaddedRight<4>>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, PaddedRight<8>>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, PaddedLeft<8>>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, Pitched>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, Pitched<8>>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, PitchedLeft>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, Strided>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, Right, Aligned<16>>>(),
            of::<Rows<f32, (u32, u32), ReadOnly, Right, Aligned<32>>>(),
            of::<TmaLoad<f16, Shape2<64, 32>>>(),
            of::<TmaLoad<f16, Shape2<32, 64>>>(),
            of::<TmaLoad<bf16, Shape2<32, 64>>>(),
            of::<TmaStore<bf16, Shape2<32, 64>>>(),
        ];
        for (k, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(k), "argument {k} is another one");
        }
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        type Alias = (u32, D<{ 2 * 4 }>);
        assert_eq!(of::<Rows<f32, Alias>>(), of::<TensorSpan<f32, (u32, D<8>)>>());
        assert_eq!(
            of::<Rows<f32, (u32,), ReadOnly, Pitched>>(),
            of::<Rows<f32, (u32,), ReadOnly, Pitched<1>>>()
        );
    }

    #[test]
    fn words_and_numbers_do_not_run_into_each_other() {
        let words = |a, b| Fingerprint::EMPTY.word(a).word(b);
        assert_ne!(words("ab", "c"), words("a", "bc"));
        assert_ne!(words("", "a"), words("a", ""));
        let kernel = |path, values, attribute: &[u64], arguments: &[Fingerprint], shared: &[[u32; 3]]| {
            Fingerprint::of_kernel(path, values, attribute, arguments, shared)
        };
        let one = kernel("a::k", "f32", &[128, 4], &[f32::FINGERPRINT], &[[1024; 3]]);
        for other in [
            kernel("b::k", "f32", &[128, 4], &[f32::FINGERPRINT], &[[1024; 3]]),
            kernel("a::k", "f16", &[128, 4], &[f32::FINGERPRINT], &[[1024; 3]]),
            kernel("a::k", "f32", &[256, 4], &[f32::FINGERPRINT], &[[1024; 3]]),
            kernel("a::k", "f32", &[128, 4], &[<u32 as Parameter>::FINGERPRINT], &[[1024; 3]]),
            kernel("a::k", "f32", &[128, 4], &[f32::FINGERPRINT], &[[2048; 3]]),
            kernel("a::k", "f32", &[128, 4], &[f32::FINGERPRINT; 2], &[[1024; 3]]),
        ] {
            assert_ne!(one, other);
        }
    }

    /// The published values: a device and a host that differ in them would refuse each other.
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(Fingerprint::EMPTY.get(), 0xcbf2_9ce4_8422_2325);
        let zeros = (0..8).fold(Fingerprint::EMPTY.get(), |hash, _| hash.wrapping_mul(Fingerprint::PRIME));
        assert_eq!(Fingerprint::EMPTY.number(0).get(), zeros);
        let a = (Fingerprint::EMPTY.get() ^ 0x61).wrapping_mul(Fingerprint::PRIME);
        assert_eq!(a, 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fingerprint::EMPTY.word("a"), Fingerprint(a).number(1));
    }
}
