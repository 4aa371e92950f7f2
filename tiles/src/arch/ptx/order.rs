//! Marks in a kernel's code: which code runs before its block knows anything of its own, and which behind.
//!
//! Blocks own different tiles because all of them cut a tensor alike. They cut it alike because until then they run the same
//! code on the same values. The marks are comments without an instruction. The builder checks this rule by them in the PTX of
//! each kernel, and then removes them. Each mark is an `asm!` with a side effect: compilers may copy it together with the code
//! around it, but may neither remove marks nor change their order.

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
    /// From here on the block knows contents of memory that other blocks write.
    reveals_memory = "//@cuda-tiles reveals memory";
    /// From here on the block knows tiles that its producer has chosen.
    reveals_stage = "//@cuda-tiles reveals message";
    /// From here on the block knows contents of shared memory, undefined at first, and sums accumulated in any order.
    reveals_shared = "//@cuda-tiles reveals shared";
    /// Here a writable tensor is cut into tiles, or a store operand's tiles are scheduled.
    cuts = "//@cuda-tiles cuts";
    /// From here on the producer of a pipeline runs, which can tell nothing to the kernel around it.
    producer_begins = "//@cuda-tiles feeds";
    /// Here the producer ends.
    producer_ends = "//@cuda-tiles fed";
    /// Here a thread learns its own number, or does what all threads of its block must do: the builder refuses it in a safe kernel.
    reveals_thread = "//@cuda-tiles reveals thread";
    /// Here one of several blocks of a CTA uses what the CTA has once: the builder refuses the kernel.
    uses_memory_of_cta = "//@cuda-tiles uses memory of the cta";
}
