//! Where the elements of a tile live: maps between bits of indices, as constant data.
//!
//! Every size is a power of two, so that the flat row-major index of an element, the number of a register and
//! the number of a thread are strings of bits, and a layout says which bit goes where. All of it is computed
//! by `const fn`; the tests check it by brute force on the CPU, the device's layouts included.

/// The longest flat index: 2^24 elements.
pub(crate) const FLAT_BITS: usize = 24;
/// The longest thread number: 1,024 threads.
pub(crate) const THREAD_BITS: usize = 10;
/// Marks a bit that comes from nowhere.
pub(crate) const NONE: i8 = -1;

/// For each bit of a result's flat index the bit of the operand's flat index that it is, or -1 for none: different bits
/// are different bits of the operand.
pub type FlatBits = [i8; FLAT_BITS];

/// A map that sends each bit of an index to at most one bit of another: the sum of `(index & mask)` shifted,
/// one term a run of neighbouring bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitMap {
    terms: usize,
    mask: [usize; FLAT_BITS],
    left: [u32; FLAT_BITS],
    right: [u32; FLAT_BITS],
}

impl BitMap {
    /// `target[k]` is the bit to which bit `k` goes, or [`NONE`].
    pub(crate) const fn new(target: &[i8]) -> Self {
        let mut map = Self { terms: 0, mask: [0; FLAT_BITS], left: [0; FLAT_BITS], right: [0; FLAT_BITS] };
        let mut bit = 0;
        while bit < target.len() {
            if target[bit] != NONE {
                let shift = target[bit] as i32 - bit as i32;
                let continues = bit > 0 && target[bit - 1] != NONE && target[bit - 1] + 1 == target[bit];
                if !continues {
                    map.left[map.terms] = if shift > 0 { shift as u32 } else { 0 };
                    map.right[map.terms] = if shift < 0 { -shift as u32 } else { 0 };
                    map.terms += 1;
                }
                map.mask[map.terms - 1] |= 1 << bit;
            }
            bit += 1;
        }
        map
    }

    /// The mapped index.
    #[inline_on_device]
    pub(crate) const fn apply(&self, index: usize) -> usize {
        let mut mapped = 0;
        let mut k = 0;
        while k < self.terms {
            mapped |= (index & self.mask[k]) << self.left[k] >> self.right[k];
            k += 1;
        }
        mapped
    }

    /// Whether every index maps to itself.
    pub(crate) const fn is_identity(&self, bits: u32) -> bool {
        self.apply((1 << bits) - 1) == (1 << bits) - 1
            && (bits == 0 || (self.terms == 1 && self.left[0] == 0 && self.right[0] == 0))
    }
}

/// Which element a thread holds in which register: bit `k` of the register number is bit `register[k]` of
/// the element's flat row-major index, and likewise for the thread number. A thread bit that carries nothing
/// means that threads hold copies of the same elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearMap {
    register_bits: usize,
    thread_bits: u32,
    pub(crate) register: [i8; FLAT_BITS],
    pub(crate) thread: [i8; THREAD_BITS],
    /// Register number to its part of the flat index.
    pub(crate) of_register: BitMap,
    /// Thread number to its part of the flat index.
    pub(crate) of_thread: BitMap,
    /// The bits of the thread number that carry nothing, of those that the block has.
    pub(crate) replicas: usize,
}

impl LinearMap {
    pub(super) const fn new(
        register_bits: usize,
        register: [i8; FLAT_BITS],
        thread: [i8; THREAD_BITS],
        thread_bits: u32,
    ) -> Self {
        let mut replicas = 0;
        let mut k = 0;
        while k < thread_bits as usize {
            if thread[k] == NONE {
                replicas |= 1 << k;
            }
            k += 1;
        }
        Self {
            register_bits,
            thread_bits,
            register,
            thread,
            of_register: BitMap::new(&register),
            of_thread: BitMap::new(&thread),
            replicas,
        }
    }

    /// Row-major chunks of `2^vector` elements a thread, thread after thread, and over again; a tile smaller
    /// than the block is held several times.
    pub(crate) const fn blocked(bits: u32, vector: u32, threads: u32) -> Self {
        assert!(bits as usize <= FLAT_BITS, "a tile has at most 16777216 elements");
        let (mut register, mut thread) = ([NONE; FLAT_BITS], [NONE; THREAD_BITS]);
        let mut register_bits = 0;
        let mut bit = 0;
        while bit < bits {
            if bit < vector || bit >= vector + threads {
                register[register_bits] = bit as i8;
                register_bits += 1;
            } else {
                thread[(bit - vector) as usize] = bit as i8;
            }
            bit += 1;
        }
        Self::new(register_bits, register, thread, threads)
    }

    /// What is left when `count` bits of the flat index from bit `low` on are reduced away.
    pub(crate) const fn without(&self, low: u32, count: u32) -> Self {
        let (mut register, mut thread) = ([NONE; FLAT_BITS], [NONE; THREAD_BITS]);
        let mut register_bits = 0;
        let mut k = 0;
        while k < self.register_bits {
            let bit = remaining(self.register[k], low as i8, count as i8);
            if bit != NONE {
                register[register_bits] = bit;
                register_bits += 1;
            }
            k += 1;
        }
        k = 0;
        while k < THREAD_BITS {
            thread[k] = remaining(self.thread[k], low as i8, count as i8);
            k += 1;
        }
        Self::new(register_bits, register, thread, self.thread_bits)
    }

    /// This map for two tiles held one after the other: the highest bit of the register number is flat bit `bit`.
    pub(crate) const fn doubled(&self, bit: u32) -> Self {
        let mut register = self.register;
        register[self.register_bits] = bit as i8;
        Self::new(self.register_bits + 1, register, self.thread, self.thread_bits)
    }

    /// Whether `count` bits of the flat index from bit `low` on are bits of the register number.
    pub(crate) const fn in_registers(&self, low: u32, count: u32) -> bool {
        let mut bit = low;
        while bit < low + count {
            if self.register_of(bit) == NONE {
                return false;
            }
            bit += 1;
        }
        true
    }

    /// The bit of the register number that is flat bit `bit`, or [`NONE`].
    pub(crate) const fn register_of(&self, bit: u32) -> i8 {
        let mut k = 0;
        while k < self.register_bits {
            if self.register[k] as u32 == bit {
                return k as i8;
            }
            k += 1;
        }
        NONE
    }

    /// Flat index to its part of the register number.
    pub(crate) const fn register_part(&self) -> BitMap {
        let mut register = [NONE; FLAT_BITS];
        let mut bit = 0;
        while bit < FLAT_BITS {
            register[bit] = self.register_of(bit as u32);
            bit += 1;
        }
        BitMap::new(&register)
    }

    /// The number of bits of a register number.
    pub(crate) const fn register_bits(&self) -> usize {
        self.register_bits
    }
}

/// The place of flat bit `bit` after the bits `low..low + count` are gone.
const fn remaining(bit: i8, low: i8, count: i8) -> i8 {
    if bit < low {
        bit
    } else if bit < low + count {
        NONE
    } else {
        bit - count
    }
}

/// How a tile of one layout is seen as a tile of another: larger, or with its elements in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Every thread already holds what it needs.
    pub(crate) in_registers: bool,
    /// Register of the result to register of the operand, where `in_registers`.
    pub(crate) register: BitMap,
    /// What is then added (exclusive or) to the register of the operand.
    pub(crate) register_offset: usize,
}

impl Plan {
    /// The plan for an operand in `from`, wanted in `to`: the bits of the result's flat index are the bits `flat` of the
    /// operand's, to which `offset` is added (exclusive or), and any of the bits `variable`, known at run time only.
    pub(crate) const fn new(
        from: &LinearMap,
        to: &LinearMap,
        flat: &FlatBits,
        offset: usize,
        variable: usize,
    ) -> Self {
        let mut in_registers = variable == 0;
        let mut register = [NONE; FLAT_BITS];
        let mut k = 0;
        while k < to.register_bits {
            let wanted = flat[to.register[k] as usize];
            if wanted != NONE {
                register[k] = from.register_of(wanted as u32);
                in_registers &= register[k] != NONE;
            }
            k += 1;
        }
        k = 0;
        while k < THREAD_BITS {
            let wanted = if to.thread[k] == NONE { NONE } else { flat[to.thread[k] as usize] };
            // A thread that holds one half of the operand serves only a thread that wants that half.
            in_registers &= from.thread[k] == wanted;
            k += 1;
        }
        let mut register_offset = 0;
        let mut bit = 0;
        while bit < FLAT_BITS {
            if offset >> bit & 1 == 1 {
                let holder = from.register_of(bit as u32);
                in_registers &= holder != NONE;
                register_offset |= if holder == NONE { 0 } else { 1 << holder };
            }
            bit += 1;
        }
        Self { in_registers, register: BitMap::new(&register), register_offset }
    }
}

/// How a reduction over some bits of the flat index goes: first within threads, then between the lanes of a
/// warp, then between warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReductionPlan {
    /// Register of the operand to register of the result.
    pub(crate) register: BitMap,
    /// Bits of the register number over which to combine.
    pub(crate) registers: usize,
    /// Bits of the lane number over which to combine.
    pub(crate) lanes: u32,
    /// Bits of the warp number over which to combine.
    pub(crate) warps: u32,
}

impl ReductionPlan {
    /// The plan for reducing `count` bits from bit `low` on.
    pub(crate) const fn new(map: &LinearMap, low: u32, count: u32) -> Self {
        let mut register = [NONE; FLAT_BITS];
        let (mut kept, mut registers) = (0, 0);
        let mut k = 0;
        while k < map.register_bits {
            if remaining(map.register[k], low as i8, count as i8) != NONE {
                register[k] = kept;
                kept += 1;
            } else {
                registers |= 1 << k;
            }
            k += 1;
        }
        let (mut lanes, mut warps) = (0, 0);
        k = 0;
        while k < THREAD_BITS {
            if map.thread[k] != NONE && remaining(map.thread[k], low as i8, count as i8) == NONE {
                if k < 5 {
                    lanes |= 1 << k;
                } else {
                    warps |= 1 << (k - 5);
                }
            }
            k += 1;
        }
        Self { register: BitMap::new(&register), registers, lanes, warps }
    }
}
