//! How a scan or a sort along an axis goes over a tile that lies as [`Blocked`](super::Blocked): constant data.
//!
//! From the innermost axis outward, the bits of a coordinate are carried by low register bits, by bits of the lane, by
//! bits of the warp, and by high register bits, each group possibly empty: the layout deals out row-major pieces.

use super::Block;
use crate::registers::PowerOfTwo;
use crate::shape::Axis;
use core::marker::PhantomData;

/// Neighbouring bits of a number: `count` of them from bit `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The lowest bit.
    pub(crate) first: u32,
    /// The number of bits.
    pub(crate) count: u32,
}

impl Field {
    /// The bits `low..high` of a string of bits that begins at `start` and has `length`, counted from `start`.
    const fn within(low: u32, high: u32, start: u32, length: u32) -> Self {
        let first = clamp(low, start, start + length) - start;
        Self { first, count: clamp(high, start, start + length) - start - first }
    }

    /// The number of values.
    pub(crate) const fn values(&self) -> usize {
        1 << self.count
    }

    /// The bits in place.
    pub(crate) const fn mask(&self) -> usize {
        (self.values() - 1) << self.first
    }

    /// The value of the bits.
    #[inline_on_device]
    pub(crate) const fn of(&self, number: usize) -> usize {
        number >> self.first & (self.values() - 1)
    }

    /// The other bits of `number`, moved together.
    #[inline_on_device]
    pub(crate) const fn others(&self, number: usize) -> usize {
        number & ((1 << self.first) - 1) | number >> (self.first + self.count) << self.first
    }
}

const fn clamp(value: u32, low: u32, high: u32) -> u32 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

/// Which bits of the register number, the lane and the warp carry an axis, from the innermost to the outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanPlan {
    /// Low bits of the register number.
    pub(crate) near: Field,
    /// Bits of the lane.
    pub(crate) lane: Field,
    /// Bits of the warp.
    pub(crate) warp: Field,
    /// High bits of the register number.
    pub(crate) far: Field,
    /// Base-2 logarithm of the warps of the block.
    pub(crate) warps: u32,
}

/// What carries one bit of a coordinate: the bit of the register number, of the lane, or of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A bit of the register number.
    Register(u32),
    /// A bit of the lane.
    Lane(u32),
    /// A bit of the warp.
    Warp(u32),
}

impl ScanPlan {
    /// What carries bit `bit` of the coordinate.
    #[inline_on_device]
    pub(crate) const fn carrier(&self, bit: u32) -> Carrier {
        let lanes = self.near.count;
        let warps = lanes + self.lane.count;
        let far = warps + self.warp.count;
        if bit < lanes {
            Carrier::Register(self.near.first + bit)
        } else if bit < warps {
            Carrier::Lane(self.lane.first + bit - lanes)
        } else if bit < far {
            Carrier::Warp(self.warp.first + bit - warps)
        } else {
            Carrier::Register(self.far.first + bit - far)
        }
    }

    /// The part of the coordinate that the thread number carries.
    #[inline_on_device]
    pub(crate) const fn of_thread(&self, thread: usize) -> usize {
        (self.lane.of(thread & 31) | self.warp.of(thread >> 5) << self.lane.count) << self.near.count
    }

    /// The part of the coordinate that the register number carries.
    #[inline_on_device]
    pub(crate) const fn of_register(&self, register: usize) -> usize {
        self.near.of(register)
            | self.far.of(register) << (self.near.count + self.lane.count + self.warp.count)
    }

    /// The plan for `count` flat bits from bit `low` on, of a tile of `bits` that lies in pieces of `2^vector` over
    /// `2^threads` threads.
    pub(crate) const fn new(bits: u32, vector: u32, threads: u32, low: u32, count: u32) -> Self {
        // A single thread holds all; there a scan is one loop.
        let piece = if threads == 0 || vector > bits { bits } else { vector };
        let (high, lanes) = (low + count, if threads < 5 { threads } else { 5 });
        let far = Field::within(low, high, piece + threads, bits);
        Self {
            near: Field::within(low, high, 0, piece),
            lane: Field::within(low, high, piece, lanes),
            warp: Field::within(low, high, piece + lanes, threads - lanes),
            far: Field { first: piece + far.first, count: far.count },
            warps: threads - lanes,
        }
    }
}

/// The plan of a scan along axis `A`.
pub(crate) struct Scan<S, B, const A: usize>(PhantomData<(S, B)>);

impl<S: Axis<A>, B: Block, const A: usize> Scan<S, B, A> {
    pub(crate) const PLAN: ScanPlan = ScanPlan::new(
        S::DESCRIPTION.bits(),
        <B::Vector as PowerOfTwo>::LOG,
        <B::Threads as PowerOfTwo>::LOG,
        <S::Inner as PowerOfTwo>::LOG,
        <S::Length as PowerOfTwo>::LOG,
    );
}
