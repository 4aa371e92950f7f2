//! Where elements lie in shared memory while a tile changes its layout.
//!
//! Shared memory has 32 banks of 4-byte words; an access of a warp takes as many steps as different words of one bank it
//! touches (CUDA C++ Programming Guide, "Shared Memory"). A tile is written by lanes that carry some bits of the flat index
//! and read by lanes that carry others, so that neither order of the elements serves both. The address is therefore a
//! linear map of the flat index over GF(2): each bank bit is the sum of one bit that changes between writing lanes and
//! one that changes between reading lanes, and as either of them alone runs through all banks, no access takes a second
//! step. The other bits of the address are bits of the flat index that complete the map to a bijection.

use super::map::{BitMap, FLAT_BITS, FlatBits, LinearMap, NONE, THREAD_BITS};

/// One side of an exchange: the slot of an element is the sum (exclusive or) of a part that depends on the thread
/// and a part that depends on the register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// Thread number to slot bits.
    thread: BitMap,
    /// The bits of the thread number that stand in a second slot bit.
    thread_again: BitMap,
    /// What each bit of the register number adds.
    register: [usize; FLAT_BITS],
    /// How many bits of the register number add something: those above do not.
    register_bits: usize,
    /// The slot bits that depend on the thread, or on what is added to the flat index.
    varying: usize,
}

impl Side {
    /// The holders of flat bits `of_thread` and `of_register`, which stand at `place`, some of them `again`; to the flat
    /// index any of the bits `offsets` may be added.
    const fn new(
        of_thread: &[i8; THREAD_BITS],
        of_register: &[i8; FLAT_BITS],
        place: &FlatBits,
        again: &FlatBits,
        offsets: usize,
    ) -> Self {
        let (mut thread, mut thread_again) = ([NONE; THREAD_BITS], [NONE; THREAD_BITS]);
        let (mut register, mut register_bits) = ([0; FLAT_BITS], 0);
        let mut varying = 0;
        let mut k = 0;
        while k < THREAD_BITS {
            if of_thread[k] != NONE {
                let bit = of_thread[k] as usize;
                (thread[k], thread_again[k]) = (place[bit], again[bit]);
                varying |= stands_at(bit, place, again);
            }
            k += 1;
        }
        k = 0;
        while k < FLAT_BITS {
            if offsets >> k & 1 == 1 {
                varying |= stands_at(k, place, again);
            }
            if of_register[k] != NONE {
                register[k] = stands_at(of_register[k] as usize, place, again);
                register_bits = k + 1;
            }
            k += 1;
        }
        let (thread, thread_again) = (BitMap::new(&thread), BitMap::new(&thread_again));
        Self { thread, thread_again, register, register_bits, varying }
    }

    /// The part of the slot that depends on the thread.
    #[inline_on_device]
    pub(crate) const fn of_thread(&self, thread: usize) -> usize {
        self.thread.apply(thread) ^ self.thread_again.apply(thread)
    }

    /// The slot of an element, from the part that depends on the thread, as two numbers to add: only the first depends on
    /// the thread, so that the second becomes the offset of an instruction.
    ///
    /// How often the loop runs does not depend on the register: LLVM unrolls it once, not in each of its hundreds of copies.
    #[inline_on_device]
    pub(crate) const fn slot(&self, of_thread: usize, register: usize) -> (usize, usize) {
        let (mut of_register, mut bit) = (0, 0);
        while bit < self.register_bits {
            of_register ^= self.register[bit] & (register >> bit & 1).wrapping_neg();
            bit += 1;
        }
        (of_thread ^ (of_register & self.varying), of_register & !self.varying)
    }
}

/// The slot bits in which flat bit `bit` stands.
const fn stands_at(bit: usize, place: &FlatBits, again: &FlatBits) -> usize {
    1 << place[bit] | if again[bit] == NONE { 0 } else { 1 << again[bit] }
}

/// The slots of a tile in shared memory, for those who write it and for those who read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) write: Side,
    pub(crate) read: Side,
    /// Flat index to slot bits.
    place: BitMap,
    /// The bits of the flat index that stand in a second slot bit.
    again: BitMap,
}

impl Exchange {
    /// That of a block of one thread, which exchanges nothing.
    pub(crate) const NONE: Self = {
        let none = BitMap::new(&[NONE; THREAD_BITS]);
        let side =
            Side { thread: none, thread_again: none, register: [0; FLAT_BITS], register_bits: 0, varying: 0 };
        Self { write: side, read: side, place: none, again: none }
    };

    /// For a tile of `2^bits` elements of `2^size` bytes, held as `from` and wanted as `to`, where the bits of the
    /// result's flat index are the bits `flat` of the tile's, to which any of the bits `offsets` may be added.
    ///
    /// The highest bits of the slot, which number the rounds if the tile does not fit the scratch at once, are bits of
    /// registers as far as possible: then all threads take part in each round.
    pub(crate) const fn new(
        from: &LinearMap,
        to: &LinearMap,
        flat: &FlatBits,
        offsets: usize,
        bits: u32,
        size: u32,
    ) -> Self {
        // Bits of the slot within a 4-byte word; then those that tell banks apart, which for 8 bytes are pairs of banks
        // for half a warp at a time.
        let within = if size < 2 { 2 - size as usize } else { 0 };
        let banks = if size == 3 { 4 } else { 5 };
        let bits = bits as usize;
        let (wanted_thread, wanted_register) = (through(&to.thread, flat), through(&to.register, flat));
        let mut places = Places { place: [NONE; FLAT_BITS], again: [NONE; FLAT_BITS], used: within };
        // A tile of no more than 32 words has no two words in one bank.
        if bits > within + banks {
            places.spread_over_banks(&from.thread, &wanted_thread, banks);
        }
        let Places { mut place, again, used } = places;
        // The other bits, those of registers last: first within words, then in the banks that are left, then above.
        let mut slot = 0;
        let mut registers = 0;
        while registers < 4 {
            let mut bit = 0;
            while bit < bits {
                let is = contains(&wanted_register, FLAT_BITS, bit as i8) as usize
                    | (contains(&from.register, FLAT_BITS, bit as i8) as usize) << 1;
                if place[bit] == NONE && is == registers {
                    if slot == within && bits > within + banks {
                        slot = used;
                    }
                    place[bit] = slot as i8;
                    slot += 1;
                }
                bit += 1;
            }
            registers += 1;
        }
        Self {
            write: Side::new(&from.thread, &from.register, &place, &again, 0),
            read: Side::new(&wanted_thread, &wanted_register, &place, &again, offsets),
            place: BitMap::new(&place),
            again: BitMap::new(&again),
        }
    }

    /// The slot of the element with flat index `flat`; the slot of a sum (exclusive or) is the sum of the slots.
    #[inline_on_device]
    pub(crate) const fn slot(&self, flat: usize) -> usize {
        self.place.apply(flat) ^ self.again.apply(flat)
    }
}

/// Where flat bits stand in slots.
struct Places {
    place: FlatBits,
    again: FlatBits,
    /// The next slot bit.
    used: usize,
}

impl Places {
    /// Gives the bits of writing lanes and those of reading lanes places that run through all banks: a bit of both has a place
    /// of its own, others share one in pairs.
    const fn spread_over_banks(
        &mut self,
        writing: &[i8; THREAD_BITS],
        reading: &[i8; THREAD_BITS],
        lanes: usize,
    ) {
        let mut lane = 0;
        while lane < lanes {
            if writing[lane] != NONE && contains(reading, lanes, writing[lane]) {
                self.place[writing[lane] as usize] = self.used as i8;
                self.used += 1;
            }
            lane += 1;
        }
        let (mut writer, mut reader) = (0, 0);
        loop {
            writer = next_unplaced(writing, writer, lanes, &self.place);
            reader = next_unplaced(reading, reader, lanes, &self.place);
            match (writer < lanes, reader < lanes) {
                (false, false) => break,
                (true, together) => {
                    self.place[writing[writer] as usize] = self.used as i8;
                    if together {
                        self.again[reading[reader] as usize] = self.used as i8;
                        reader += 1;
                    }
                }
                (false, true) => self.place[reading[reader] as usize] = self.used as i8,
            }
            self.used += 1;
        }
    }
}

/// The flat bits of the operand that carriers of flat bits of the result want.
const fn through<const N: usize>(carried: &[i8; N], flat: &FlatBits) -> [i8; N] {
    let mut wanted = [NONE; N];
    let mut k = 0;
    while k < N {
        if carried[k] != NONE {
            wanted[k] = flat[carried[k] as usize];
        }
        k += 1;
    }
    wanted
}

/// Whether `bit` is among the first `count` of `bits`.
const fn contains(bits: &[i8], count: usize, bit: i8) -> bool {
    let mut k = 0;
    while k < count {
        if bits[k] == bit {
            return true;
        }
        k += 1;
    }
    false
}

/// The next lane bit from `lane` on, below `count`, that carries a flat bit without a place.
const fn next_unplaced(carried: &[i8], mut lane: usize, count: usize, place: &FlatBits) -> usize {
    while lane < count && (carried[lane] == NONE || place[carried[lane] as usize] != NONE) {
        lane += 1;
    }
    lane
}

/// Base-2 logarithm of the elements of `size` bytes that are neighbours in the registers of both sides, up to 4 bytes: they can travel
/// together. To the flat index any of the bits `offsets` may be added.
pub(super) const fn together(
    from: &LinearMap,
    to: &LinearMap,
    flat: &FlatBits,
    offsets: usize,
    size: usize,
) -> u32 {
    let mut count = 0;
    while size << count < 4
        && count < from.register_bits()
        && count < to.register_bits()
        && from.register[count] == count as i8
        && to.register[count] == count as i8
        && flat[count] == count as i8
        && offsets >> count & 1 == 0
    {
        count += 1;
    }
    count as u32
}

/// The bits of runs of `2^count` elements, of which each run is one of the result's.
pub(super) const fn without_lowest(flat: &FlatBits, count: u32) -> FlatBits {
    let (mut bits, mut k) = ([NONE; FLAT_BITS], count as usize);
    while k < FLAT_BITS {
        if flat[k] != NONE {
            bits[k - count as usize] = flat[k] - count as i8;
        }
        k += 1;
    }
    bits
}
