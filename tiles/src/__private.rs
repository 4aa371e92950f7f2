//! What `#[kernel]` expands to, and nothing for programs: that a block is where it is, is said by `unsafe` functions alone.

pub use crate::arch::execution::{Place, wait_for_dependencies};
