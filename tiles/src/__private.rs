//! What `#[kernel]` expands to, and nothing for programs: that a block is where it is, is said by `unsafe` functions alone.

use crate::arch::messages::Failure;
use crate::protocol::TARGETS;

pub use crate::arch::execution::{Place, wait_for_dependencies};

/// Ends a kernel that is not for the target of this code. It stands in place of the body; the host refuses the launch before.
#[inline_on_device]
#[track_caller]
pub fn refuse_target() -> ! {
    Failure::new("", TARGETS).end()
}
