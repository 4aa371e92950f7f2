//! Left factors of warpgroups in registers: the fragments of stages, as one instruction takes them.

use crate::arch::execution;
use crate::arch::threads::{self, Address};
use crate::layout::Block;
use crate::memory::shared_tile::Geometry;
use crate::mma::instruction_shape::ACROSS_BYTES;
use crate::mma::instruction_shape::ACROSS_STEP;
use crate::registers::PowerOfTwo;

/// A fragment across the rows of a stage, as it was loaded.
///
/// Lane `4 g + t` has the elements of row `g` and row `g + 8` at `t` and `t + 4` along the contracted axis. The rows `t` of a stage
/// differ in the lowest two bits of their numbers, and a swizzle has the chunks `c` and `c + 1` of two neighbouring rows at the same two
/// places: the lanes would meet the banks two by two. Therefore odd lanes load what they have at `t + 4` first.
#[derive(Clone, Copy)]
pub(crate) struct Across {
    first: [u32; 2],
    second: [u32; 2],
}

impl Across {
    /// Of the factor's rows from `row` on, 64 for each warpgroup, and of instruction `step` along the contracted axis.
    ///
    /// # Safety
    /// At `address` lies a stage of this geometry, whose columns are these rows and which nobody writes.
    #[inline(always)]
    pub(crate) unsafe fn load<B: Block>(
        address: Address,
        geometry: &Geometry,
        row: usize,
        step: usize,
    ) -> Self {
        // Places are linear in the bits of rows and columns. The thread's part of them and the instruction's share those bits that a
        // swizzle changes; the others are part of the instruction.
        let own = Self::place(geometry, execution::thread());
        let (mut shared, mut bit) = (0, 0);
        while bit < const { <B::Threads as PowerOfTwo>::LOG } {
            shared |= Self::place(geometry, 1 << bit);
            bit += 1;
        }
        let load = |k: usize, half: usize| {
            let part = geometry.offset(ACROSS_STEP * step + k, (row + 8 * half) * ACROSS_BYTES);
            let at = threads::offset(threads::offset(address, own ^ (part & shared)), part & !shared);
            // SAFETY: the caller vouches for the stage.
            unsafe { threads::load_4(at) }
        };
        Self { first: [load(0, 0), load(0, 1)], second: [load(4, 0), load(4, 1)] }
    }

    /// The place of the first element that a thread loads.
    #[inline(always)]
    const fn place(geometry: &Geometry, thread: usize) -> usize {
        let (lane, warp) = (thread % 32, thread / 32);
        geometry.offset((lane % 4) | (lane % 2 * 4), (16 * warp + lane / 4) * ACROSS_BYTES)
    }

    /// The registers in the order of the instruction.
    #[inline(always)]
    pub(crate) fn registers(self) -> [u32; 4] {
        let Self { first: [a, b], second: [c, d] } = self;
        if execution::thread() % 2 == 1 { [c, d, a, b] } else { [a, b, c, d] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_load_across_meet_different_banks() {
        let geometry = Geometry::new(32, 128, ACROSS_BYTES);
        for (warp, k, half) in
            (0..8).flat_map(|warp| [(warp, 0, 0), (warp, 0, 8), (warp, 4, 0), (warp, 12, 8)])
        {
            let mut banks = [false; 32];
            for lane in 0..32 {
                // What `load` makes of the two parts, which are linear.
                let place =
                    Across::place(&geometry, 32 * warp + lane) ^ geometry.offset(k, half * ACROSS_BYTES);
                assert!(!core::mem::replace(&mut banks[place / 4 % 32], true), "warp {warp}, lane {lane}");
                let (t, row) = (lane % 4, 16 * warp + lane / 4 + half);
                let exchanged = if t % 2 == 1 { k ^ 4 } else { k };
                assert_eq!(
                    place,
                    geometry.offset(exchanged + t, row * ACROSS_BYTES),
                    "warp {warp}, lane {lane}"
                );
            }
        }
    }
}
