//! Fragments of an MN-major operand A: loaded from a stage into the registers of one `wgmma`.

use crate::arch::execution;
use crate::arch::threads::{self, Address};
use crate::layout::Block;
use crate::memory::shared_tile::Geometry;
use crate::mma::instruction_shape::{MN_MAJOR_BYTES, MN_MAJOR_STEP};
use crate::registers::PowerOfTwo;

/// A fragment of an MN-major stage, as it was loaded.
///
/// Lane `4 g + t` has the elements of rows `g` and `g + 8` at `t` and `t + 4` along the contracted axis. The rows `t` of a
/// stage differ in the lowest two bits of their numbers. A swizzle has the chunks `c` and `c + 1` of two neighbouring rows at
/// the same two places: two lanes would meet in each bank. Odd lanes therefore load their elements at `t + 4` first.
#[derive(Clone, Copy)]
pub(crate) struct MnMajorFragment {
    first: [u32; 2],
    second: [u32; 2],
}

impl MnMajorFragment {
    /// The operand's rows from `row` on, 64 for each warpgroup, for instruction `step` along the contracted axis.
    ///
    /// # Safety
    /// At `address` lies a stage of this geometry. Its columns are these rows, and nobody writes it.
    #[inline_on_device]
    pub(crate) unsafe fn load<B: Block>(
        address: Address,
        geometry: &Geometry,
        row: usize,
        step: usize,
    ) -> Self {
        // Places are linear in the bits of rows and columns. The thread's part and the instruction's part share the bits that a
        // swizzle changes. The other bits go into the instruction.
        let own = Self::place(geometry, execution::thread());
        let (mut shared, mut bit) = (0, 0);
        while bit < const { <B::Threads as PowerOfTwo>::LOG } {
            shared |= Self::place(geometry, 1 << bit);
            bit += 1;
        }
        let load = |k: usize, half: usize| {
            let part = geometry.offset(MN_MAJOR_STEP * step + k, (row + 8 * half) * MN_MAJOR_BYTES);
            let at = threads::offset(threads::offset(address, own ^ (part & shared)), part & !shared);
            // SAFETY: the same contract.
            unsafe { threads::load_4(at) }
        };
        Self { first: [load(0, 0), load(0, 1)], second: [load(4, 0), load(4, 1)] }
    }

    /// The place of the first element that a thread loads.
    #[inline_on_device]
    const fn place(geometry: &Geometry, thread: usize) -> usize {
        let (lane, warp) = (thread % 32, thread / 32);
        geometry.offset((lane % 4) | (lane % 2 * 4), (16 * warp + lane / 4) * MN_MAJOR_BYTES)
    }

    /// The registers in the order of the instruction.
    #[inline_on_device]
    pub(crate) fn registers(self) -> [u32; 4] {
        let Self { first: [a, b], second: [c, d] } = self;
        if execution::thread() % 2 == 1 { [c, d, a, b] } else { [a, b, c, d] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_load_mn_major_meet_different_banks() {
        let geometry = Geometry::new(32, 128, MN_MAJOR_BYTES);
        for (warp, k, half) in
            (0..8).flat_map(|warp| [(warp, 0, 0), (warp, 0, 8), (warp, 4, 0), (warp, 12, 8)])
        {
            let mut banks = [false; 32];
            for lane in 0..32 {
                // `load` combines the two parts like this; both are linear.
                let place = MnMajorFragment::place(&geometry, 32 * warp + lane)
                    ^ geometry.offset(k, half * MN_MAJOR_BYTES);
                assert!(!core::mem::replace(&mut banks[place / 4 % 32], true), "warp {warp}, lane {lane}");
                let (t, row) = (lane % 4, 16 * warp + lane / 4 + half);
                let exchanged = if t % 2 == 1 { k ^ 4 } else { k };
                assert_eq!(
                    place,
                    geometry.offset(exchanged + t, row * MN_MAJOR_BYTES),
                    "warp {warp}, lane {lane}"
                );
            }
        }
    }
}
