//! The machine: one raw instruction a function, for each back end under the same names.
//!
//! `ptx/` holds what a GPU thread executes, with the section of the PTX ISA that defines it; `cpu/` the same
//! meaning for a block of one thread; `minifloat` what both execute where a machine has no instruction for a format.
//! Nothing else lives here, and no other folder names a target.

#[cfg(not(target_arch = "nvptx64"))]
#[path = "cpu/mod.rs"]
mod back_end;
#[cfg(target_arch = "nvptx64")]
#[path = "ptx/mod.rs"]
mod back_end;

pub mod minifloat;

pub use back_end::*;
