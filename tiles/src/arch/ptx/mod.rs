//! NVIDIA GPUs: inline PTX and LLVM's NVPTX intrinsics.
//!
//! Two rules keep the compiler from breaking SIMT code. Convergent instructions (barriers, shuffles) are LLVM
//! intrinsics, which carry the `convergent` attribute, preceded by an empty `asm!` that keeps rustc's own
//! jump threading from duplicating them. Shared memory is addressed by its 32-bit shared-window address, as
//! a generic pointer costs almost twice as much.

pub mod atomic;
pub mod barriers;
pub mod bulk;
pub mod cluster;
pub mod convert;
pub mod execution;
pub mod float;
pub mod global;
pub mod grid;
pub mod lanes;
pub mod matrix;
pub mod messages;
pub mod order;
pub mod partitions;
pub mod rounding;
pub mod running;
pub mod scoped;
pub mod shared;
pub mod spaces;
pub mod threads;
pub mod warpgroup;

/// Tiles are spread over registers: code over their elements must be straight-line.
pub const TILES_IN_REGISTERS: bool = true;

/// The widest vector access to global memory, in bytes.
pub const VECTOR_BYTES: usize = 16;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    execution::trap()
}
