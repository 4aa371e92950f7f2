//! How many blocks of a kernel a multiprocessor holds at a time.
//!
//! The rules are those of NVIDIA's occupancy calculator (`cuda_occupancy.h` of the toolkit), the numbers those of the CUDA programming
//! guide, "Compute Capabilities", table "Technical Specifications per Compute Capability".

use std::fmt;

use cuda_tiles_builder::Arch;
use serde::Serialize;

/// Threads of a warp.
const WARP: u32 = 32;

/// Registers of a multiprocessor, of 32 bits; as many as a block may have.
const REGISTERS: u32 = 64 * 1024;

/// Registers are given to a warp in units of so many.
const REGISTER_UNIT: u32 = 256;

/// A multiprocessor has so many parts, each with its share of the registers. A warp stays in one.
const PARTS: u32 = 4;

/// Shared memory is given to a block in units of so many bytes.
const SHARED_UNIT: u32 = 128;

/// Shared memory that the system keeps for itself of each block's, in bytes.
const RESERVED_SHARED: u32 = 1024;

/// What a multiprocessor has for the blocks that run on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most warps at a time.
    pub warps: u32,
    /// The most blocks at a time.
    pub blocks: u32,
    /// Shared memory in bytes, for all blocks together.
    pub shared_bytes: u32,
}

impl Limits {
    /// Those of the GPUs that an architecture is named after.
    ///
    /// ```
    /// use cargo_cuda_tiles::Limits;
    /// use cuda_tiles_builder::Arch;
    ///
    /// assert_eq!(Limits::of(Arch::Sm90a), Limits { warps: 64, blocks: 32, shared_bytes: 228 * 1024 });
    /// ```
    pub fn of(arch: Arch) -> Self {
        let (warps, blocks, kibibytes) = match arch.compute_capability() {
            (8, 0) => (64, 32, 164),
            (8, 7) => (48, 16, 164),
            (8, 9) => (48, 24, 100),
            (8, _) => (48, 16, 100),
            (9 | 10, _) => (64, 32, 228),
            (11, _) => (48, 24, 228),
            // 12.0 and 12.1, the last that there are.
            _ => (48, 24, 100),
        };
        Self { warps, blocks, shared_bytes: kibibytes * 1024 }
    }
}

/// What a kernel takes, as far as it decides how many blocks fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block in bytes, what its code declares and what a launch asks for together.
    pub shared_bytes: u32,
}

/// How full a multiprocessor can be of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// Blocks that run at a time; 0 if not even one fits.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// The most warps that the multiprocessor could have.
    pub most_warps: u32,
    /// What keeps further blocks out.
    pub limit: Limit,
}

/// What keeps further blocks from a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Its warps are all taken.
    Warps,
    /// It has as many blocks as it can have.
    Blocks,
    /// The registers left are too few.
    Registers,
    /// The shared memory left is too small.
    SharedMemory,
}

impl Occupancy {
    /// How many blocks fit.
    ///
    /// ```
    /// use cargo_cuda_tiles::{Demand, Limit, Limits, Occupancy};
    /// use cuda_tiles_builder::Arch;
    ///
    /// let kernel = Demand { threads: 256, registers: 128, shared_bytes: 0 };
    /// let occupancy = Occupancy::new(kernel, Limits::of(Arch::Sm90a));
    /// assert_eq!((occupancy.blocks, occupancy.limit), (2, Limit::Registers));
    /// assert_eq!(occupancy.fraction(), 0.25);
    /// ```
    ///
    /// # Panics
    /// If the block has no thread.
    pub fn new(kernel: Demand, limits: Limits) -> Self {
        assert!(kernel.threads > 0, "a block has at least one thread");
        let warps = kernel.threads.div_ceil(WARP);
        let shared = (kernel.shared_bytes + RESERVED_SHARED).next_multiple_of(SHARED_UNIT);
        // What comes first is named where several are the limit.
        let fits = [
            (Limit::Warps, limits.warps / warps),
            (Limit::Registers, Self::by_registers(kernel.registers, warps)),
            (Limit::SharedMemory, limits.shared_bytes / shared),
            (Limit::Blocks, limits.blocks),
        ];
        let (limit, blocks) =
            fits.into_iter().min_by_key(|&(_, blocks)| blocks).expect("there are four limits");
        Self { blocks, warps: blocks * warps, most_warps: limits.warps, limit }
    }

    /// Each part of the multiprocessor has registers for some warps. A block takes them in all parts alike.
    fn by_registers(registers: u32, warps: u32) -> u32 {
        let each = (registers.max(1) * WARP).next_multiple_of(REGISTER_UNIT);
        if each * warps.next_multiple_of(PARTS) > REGISTERS {
            return 0;
        }
        (REGISTERS / PARTS / each) * PARTS / warps
    }

    /// The part of the multiprocessor's warps that the kernel fills, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.most_warps)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupancy(arch: Arch, threads: u32, registers: u32, shared_bytes: u32) -> (u32, u32, Limit) {
        let occupancy = Occupancy::new(Demand { threads, registers, shared_bytes }, Limits::of(arch));
        (occupancy.blocks, (occupancy.fraction() * 1000.0).round() as u32, occupancy.limit)
    }

    /// What NVIDIA's calculator says for the same numbers.
    #[test]
    fn occupancies_are_those_of_the_calculator() {
        use Limit::*;
        for (arch, threads, registers, shared, expected) in [
            (Arch::Sm80, 256, 32, 0, (8, 1000, Warps)),
            (Arch::Sm80, 256, 33, 0, (6, 750, Registers)),
            (Arch::Sm80, 256, 64, 0, (4, 500, Registers)),
            (Arch::Sm80, 1024, 65, 0, (0, 0, Registers)),
            (Arch::Sm80, 32, 16, 0, (32, 500, Blocks)),
            (Arch::Sm80, 128, 255, 0, (2, 125, Registers)),
            (Arch::Sm80, 128, 32, 48 * 1024, (3, 188, SharedMemory)),
            (Arch::Sm80, 128, 32, 163 * 1024, (1, 63, SharedMemory)),
            (Arch::Sm86, 256, 32, 0, (6, 1000, Warps)),
            (Arch::Sm86, 32, 32, 0, (16, 333, Blocks)),
            (Arch::Sm86, 128, 40, 32 * 1024, (3, 250, SharedMemory)),
            (Arch::Sm87, 64, 32, 16 * 1024, (9, 375, SharedMemory)),
            (Arch::Sm89, 1024, 32, 0, (1, 667, Warps)),
            (Arch::Sm89, 64, 32, 0, (24, 1000, Warps)),
            (Arch::Sm90a, 384, 168, 227 * 1024, (1, 188, Registers)),
            (Arch::Sm90, 96, 255, 0, (2, 94, Registers)),
            (Arch::Sm100a, 512, 64, 112 * 1024, (2, 500, Registers)),
            (Arch::Sm120, 128, 168, 0, (3, 250, Registers)),
            (Arch::Sm120, 128, 80, 99 * 1024, (1, 83, SharedMemory)),
        ] {
            assert_eq!(
                occupancy(arch, threads, registers, shared),
                expected,
                "{arch} {threads} {registers} {shared}"
            );
        }
    }

    #[test]
    fn a_warp_that_is_not_full_takes_as_much_as_one_that_is() {
        for threads in [1, 31, 32] {
            assert_eq!(occupancy(Arch::Sm80, threads, 200, 0), occupancy(Arch::Sm80, 32, 200, 0));
        }
    }

    #[test]
    fn every_architecture_holds_a_block_of_each_legal_size() {
        for arch in Arch::ALL {
            let limits = Limits::of(arch);
            let largest = limits.shared_bytes - RESERVED_SHARED;
            assert_eq!(occupancy(arch, 32, 32, largest).0, 1, "{arch}");
            assert_eq!(occupancy(arch, 32, 32, largest + 1).0, 0, "{arch}");
            assert!(occupancy(arch, 1024, 64, 0).0 >= 1, "{arch}");
        }
    }
}
