//! Marks in a kernel's code: what it does before its block knows anything of its own, and what behind.
//!
//! Blocks own different tiles because all of them cut a tensor alike, and they do so because until then they run the same code
//! on the same values. The marks are comments without an instruction, by which the builder checks just that in the PTX of each
//! kernel, and which it then takes out. Each is an `asm!` with a side effect: compilers may copy it together with the code around it, and
//! neither remove one nor change their order.

use core::arch::asm;

macro_rules! marks {
    ($($(#[$attribute:meta])* $name:ident = $comment:literal;)*) => { $(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name() {
            // SAFETY: a comment does nothing.
            unsafe { asm!($comment, options(nomem, nostack, preserves_flags)) }
        }
    )* };
}
marks! {
    /// From here on the block knows its index.
    reveals_index = "//@cuda-tiles reveals index";
    /// From here on it knows what is in memory that other blocks write.
    reveals_memory = "//@cuda-tiles reveals memory";
    /// From here on it knows tiles that its feed has chosen.
    reveals_message = "//@cuda-tiles reveals message";
    /// From here on it knows what is in shared memory, which at first is anything, and sums that came about in any order.
    reveals_shared = "//@cuda-tiles reveals shared";
    /// Here a writable tensor is cut into tiles, or a sink's tiles get their order.
    cuts = "//@cuda-tiles cuts";
    /// From here on the feed of a pipeline runs, which can tell nothing to the kernel around it.
    feeds = "//@cuda-tiles feeds";
    /// Here it ends.
    fed = "//@cuda-tiles fed";
}
