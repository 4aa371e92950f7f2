//! What a kernel has to say to the host: the record of a failure, and the words of printed messages.
//!
//! Both go to memory of the host that the GPU reaches (`protocol` has its layout), since after a trap nothing on
//! the device can be read any more. Its address and that of the two counters that blocks compete for are a variable of the
//! module, which the host finds by name when it loads the module; the modules of a GPU share both. An address of zero stands for
//! a host that does not listen.

use crate::arch::global;
use crate::protocol;
use core::arch::asm;

/// Whether messages are words that the host shows later: then [`claim`], [`store`] and [`publish`] are how they get there.
pub const SHOWN_BY_HOST: bool = true;

/// The address of the module's variable: the buffer's address; whether a failure has been claimed; how many words of messages have been
/// claimed.
#[inline(always)]
fn state() -> *mut u8 {
    let address;
    // SAFETY: `mov` of a variable's name yields its address (PTX ISA, "mov"), which in the global window is the generic one.
    unsafe {
        asm!(
            "mov.u64 {0}, cuda_tiles_messages; //@cuda-tiles declares .visible .global .align 8 .u64 cuda_tiles_messages[2]",
            out(reg64) address,
            options(pure, nomem, nostack)
        )
    }
    address
}

/// The address of the host's buffer, or null.
#[inline(always)]
fn buffer() -> *mut u8 {
    // SAFETY: the variable has two 64-bit words, aligned to 8 bytes.
    unsafe { address(state()) }
}

/// The address of the counters; the host has given it with that of the buffer.
#[inline(always)]
fn counters() -> *mut u8 {
    // SAFETY: as above.
    unsafe { address(state().wrapping_add(8)) }
}

/// The address in a word.
///
/// # Safety
/// The word has 64 bits, is aligned to 8 bytes, and nobody writes it.
#[inline(always)]
unsafe fn address(word: *const u8) -> *mut u8 {
    // SAFETY: passed on to the caller.
    let [low, high] = unsafe { global::load_8(word) };
    core::ptr::with_exposed_provenance_mut((high as usize) << 32 | low as usize)
}

/// `fence.sc.sys`: what this thread wrote can be seen by the host before what it writes later (PTX ISA, "membar / fence").
#[inline(always)]
pub fn fence() {
    // SAFETY: a fence has no precondition.
    unsafe { asm!("fence.sc.sys;", options(nostack)) }
}

/// A failure that is being reported, by one thread of the grid.
pub struct Failure {
    record: *mut u8,
    numbers: usize,
}

impl Failure {
    /// Begins the report of a failure: what the operation is called, in at most 24 bytes, and one of
    /// [`protocol::TEXTS`], whose numbers are to come. The first thread of the grid that gets here goes on; others end, and
    /// the trap of that one ends the grid.
    #[inline(always)]
    #[track_caller]
    pub fn new(operation: &'static str, text: usize) -> Self {
        let location = core::panic::Location::caller();
        let record = buffer();
        if record.is_null() {
            super::execution::trap();
        }
        let earlier: u32;
        // SAFETY: the first counter is only accessed by this instruction, and by the host before all kernels.
        unsafe {
            asm!("atom.global.exch.b32 {0}, [{1}], 1;", out(reg32) earlier, in(reg64) counters(), options(nostack))
        }
        if earlier != 0 {
            // SAFETY: `exit` ends the thread.
            unsafe { asm!("exit;", options(noreturn, nostack)) }
        }
        let failure = Self { record, numbers: 0 };
        let place = super::execution::Place;
        failure.word(protocol::LINE, location.line());
        failure.word(protocol::BLOCK, place.block_index(0));
        failure.word(protocol::BLOCK + 4, place.block_index(1));
        failure.word(protocol::BLOCK + 8, place.block_index(2));
        failure.word(protocol::TEXT, text as u32);
        let length = failure.text(protocol::FILE + 4, location.file(), protocol::FILE_BYTES);
        failure.word(protocol::FILE, length);
        failure.text(protocol::OPERATION, operation, protocol::OPERATION_BYTES);
        failure
    }

    /// Adds a number.
    #[inline(always)]
    pub fn number(&mut self, number: u64) {
        if self.numbers < protocol::MOST_NUMBERS {
            // By halves: mostly the high one is zero, and needs no register then.
            let offset = protocol::NUMBERS + 8 * self.numbers;
            self.word(offset, number as u32);
            self.word(offset + 4, (number >> 32) as u32);
            self.numbers += 1;
        }
    }

    /// Adds a list: its length, and its numbers.
    #[inline(always)]
    pub fn list(&mut self, length: usize, number: impl Fn(usize) -> u64) {
        self.number(length as u64);
        let mut i = 0;
        while i < length {
            self.number(number(i));
            i += 1;
        }
    }

    /// Names the message that goes with the failure, by its position in the ring.
    #[inline(always)]
    pub fn message(&mut self, position: Option<u32>) {
        self.word(protocol::MESSAGE, u32::from(position.is_some()));
        self.word(protocol::MESSAGE + 4, position.unwrap_or(0));
    }

    /// Ends the report and the kernel.
    #[inline(always)]
    pub fn end(self) -> ! {
        // SAFETY: as for other words; a release makes them visible first, and costs fewer registers than a fence.
        unsafe {
            asm!("st.release.sys.global.b32 [{0}], {1};", in(reg64) self.record.wrapping_add(protocol::FAILED), in(reg32) 1, options(nostack))
        }
        super::execution::trap()
    }

    #[inline(always)]
    fn word(&self, offset: usize, word: u32) {
        // SAFETY: the offset is one of the protocol's, within the buffer; this thread has claimed the record.
        unsafe { global::store_4(self.record.wrapping_add(offset), word) }
    }

    /// Writes the bytes of a text, cut to `most`, behind `offset`; the rest of its room is zero.
    #[inline(always)]
    #[allow(named_asm_labels, reason = "the braces around them make labels local")]
    fn text(&self, offset: usize, text: &'static str, most: usize) -> u32 {
        let length = if text.len() < most { text.len() } else { most } as u32;
        if length == 0 {
            return 0;
        }
        // SAFETY: `length` bytes are readable at `text`, and the protocol has room for them. A loop in assembly, which
        // neither compiler unrolls: reports stand behind every check, and should not cost registers there. The pragma counts
        // behind the loop's label alone (PTX ISA, "nounroll").
        unsafe {
            asm!(
                "{{ .reg .pred more; .reg .b16 value;",
                "again: .pragma \"nounroll\"; ld.u8 value, [{from}]; st.global.u8 [{to}], value;",
                "add.u64 {from}, {from}, 1; add.u64 {to}, {to}, 1; sub.u32 {left}, {left}, 1;",
                "setp.ne.u32 more, {left}, 0; @more bra again; }}",
                from = inout(reg64) text.as_ptr() => _,
                to = inout(reg64) self.record.wrapping_add(offset) => _,
                left = inout(reg32) length => _,
                options(nostack),
            )
        }
        length
    }
}

/// Ends the kernel because a safe operation was misused. The text serves the CPU; a GPU reports the source line, and the
/// numbers of a [`Failure`].
#[inline(always)]
#[track_caller]
pub fn fail(_message: impl FnOnce(&mut dyn core::fmt::Write) -> core::fmt::Result) -> ! {
    Failure::new("", protocol::A_CHECK).end()
}

/// Claims `words` words of the ring of messages: their position, or `None` if the host has not taken enough away.
///
/// # Safety
/// One thread of the block calls it, and [`publish`] follows.
#[inline(always)]
pub unsafe fn claim(words: u32) -> Option<u32> {
    let buffer = buffer();
    if buffer.is_null() || words > protocol::RING_WORDS {
        return None;
    }
    let counter = counters().wrapping_add(4);
    loop {
        let (claimed, taken, found): (u32, u32, u32);
        // SAFETY: the counter is the GPU's, the other word the buffer's; both are accessed atomically.
        unsafe {
            asm!("ld.relaxed.gpu.global.u32 {0}, [{1}];", out(reg32) claimed, in(reg64) counter, options(nostack));
            asm!("ld.acquire.sys.global.u32 {0}, [{1}];", out(reg32) taken, in(reg64) buffer.wrapping_add(protocol::TAKEN), options(nostack));
        }
        if claimed.wrapping_sub(taken).wrapping_add(words) > protocol::RING_WORDS {
            // SAFETY: the word is the buffer's, and accessed atomically.
            unsafe {
                asm!("st.relaxed.sys.global.u32 [{0}], {1};", in(reg64) buffer.wrapping_add(protocol::LOST), in(reg32) 1, options(nostack));
            }
            return None;
        }
        // SAFETY: as above.
        unsafe {
            asm!("atom.global.cas.b32 {0}, [{1}], {2}, {3};", out(reg32) found, in(reg64) counter, in(reg32) claimed, in(reg32) claimed.wrapping_add(words), options(nostack));
        }
        if found == claimed {
            return Some(claimed);
        }
    }
}

/// Writes one word of the ring.
///
/// # Safety
/// The position lies within what was claimed, behind its first word, and one thread writes it.
#[inline(always)]
pub unsafe fn store(position: u32, word: u32) {
    let slot = (position & (protocol::RING_WORDS - 1)) as usize;
    // SAFETY: the ring has this slot, and the caller vouches for its being free.
    unsafe { global::store_4(buffer().wrapping_add(protocol::RING + 4 * slot), word) }
}

/// Writes the first word of what was claimed: from then on the host takes it.
///
/// # Safety
/// All other words have been written and fenced.
#[inline(always)]
pub unsafe fn publish(position: u32, header: u32) {
    fence();
    // SAFETY: the same contract.
    unsafe { store(position, header) };
    fence();
}

/// Shows a message at once, which no GPU can.
pub fn show(_message: &dyn core::fmt::Display) {
    unreachable!("the host shows messages of a GPU")
}
