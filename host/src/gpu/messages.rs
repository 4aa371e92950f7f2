//! What kernels on a GPU say: printed messages, and why a kernel trapped.
//!
//! A GPU has a buffer in page-locked memory, to which the kernels of all modules write (`cuda_tiles::debug::protocol`), so that their
//! messages are in order. It is memory of this process: a trap, which makes everything on the GPU unreachable, leaves it readable.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use cuda_tiles::debug::protocol;
use cuda_tiles::debug::read::{Failure, Record};
use cudarc::driver::{DriverError, result, sys};

use crate::error::Report;

/// The variable of a module that holds the buffer's address.
pub(super) const VARIABLE: &std::ffi::CStr = c"cuda_tiles_messages";

/// The two counters of 32 bits that blocks compete for.
const COUNTER_BYTES: usize = 8;

/// A GPU's buffer, which lives as long as the modules that write to it: to the end of the process.
pub(super) struct Messages {
    buffer: &'static [AtomicU32],
    /// What the variable of each module holds: the buffer's address, and that of the counters that blocks compete for.
    pub(super) addresses: [u64; 2],
    /// The words that were taken out of the ring.
    taken: u32,
    /// Whether a message of a failed assertion was among them, which stays in the ring: no room is given back from then on.
    asserted: bool,
}

impl Messages {
    /// Makes a buffer for the current context. `upload` brings words to an address on the GPU.
    pub(super) fn new(
        upload: impl FnOnce(u64, &[u64]) -> Result<(), DriverError>,
    ) -> Result<Self, DriverError> {
        // SAFETY: allocating changes nothing that exists.
        let address = unsafe { result::malloc_host(protocol::BYTES, sys::CU_MEMHOSTALLOC_DEVICEMAP) }?;
        // SAFETY: the allocation is this long, aligned to pages, and never freed; from here on it is only accessed
        // atomically, by this process and by the GPU.
        let buffer = unsafe {
            address.cast::<u8>().write_bytes(0, protocol::BYTES);
            std::slice::from_raw_parts(address.cast::<AtomicU32>(), protocol::BYTES / 4)
        };
        let mut on_device = 0;
        // SAFETY: the memory was allocated as mapped, and the result is written.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut on_device, address, 0) }.result()?;
        // SAFETY: allocating changes nothing that exists. The memory is never freed, as the GPU stays open.
        let counters = unsafe { result::malloc_sync(COUNTER_BYTES) }?;
        upload(counters, &[0; COUNTER_BYTES / 8])?;
        Ok(Self { buffer, addresses: [on_device, counters], taken: 0, asserted: false })
    }

    /// The word of the ring at a position.
    fn slot(&self, position: u32) -> &AtomicU32 {
        &self.buffer[protocol::RING / 4 + (position & (protocol::RING_WORDS - 1)) as usize]
    }

    /// The message at a position, and whether it is an assertion's; `None` while its header is not there.
    fn read(&self, position: u32) -> Option<(Vec<u32>, bool)> {
        let header = self.slot(position).load(Ordering::Acquire);
        let length = (header & !protocol::ASSERTION).min(protocol::RING_WORDS);
        let word = |i| self.slot(position.wrapping_add(i)).load(Ordering::Relaxed);
        (header != 0).then(|| ((1..length).map(word).collect(), header & protocol::ASSERTION != 0))
    }

    /// Takes all complete messages out of the ring, and adds the printed ones to `lines`.
    pub(super) fn take(&mut self, lines: &mut Vec<String>) {
        while let Some((words, is_assertion)) = self.read(self.taken) {
            let length = words.len() as u32 + 1;
            self.asserted |= is_assertion;
            if !is_assertion {
                // Zero again before anybody can claim it.
                (0..length).for_each(|i| self.slot(self.taken.wrapping_add(i)).store(0, Ordering::Relaxed));
                lines.push(line(&words));
            }
            self.taken = self.taken.wrapping_add(length);
            if !self.asserted {
                self.buffer[protocol::TAKEN / 4].store(self.taken, Ordering::Release);
            }
        }
        if self.buffer[protocol::LOST / 4].swap(0, Ordering::Relaxed) != 0 {
            let room = (protocol::RING_WORDS * 4) >> 20;
            lines.push(format!(
                "(messages of kernels were lost: there is room for {room} MiB between two waits)"
            ));
        }
    }

    /// The failure of a kernel, if one has reported it.
    pub(super) fn report(&self) -> Option<Report> {
        if self.buffer[protocol::FAILED / 4].load(Ordering::Acquire) == 0 {
            return None;
        }
        fence(Ordering::SeqCst);
        let words = self.buffer[..protocol::RING / 4].iter();
        let bytes: Vec<u8> = words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        let failure = Failure::read(&bytes)?;
        // By its position: in front of it there may be room that another block had claimed, and did not come to fill.
        let assertion =
            failure.message().and_then(|position| self.read(position)).map(|(words, _)| line(&words));
        Some(Report {
            block: failure.block(),
            message: Shown(|to: &mut dyn fmt::Write| failure.show(assertion.as_deref(), to)).to_string(),
            file: failure.file().to_owned(),
            line: failure.line(),
        })
    }
}

/// The text of a message.
fn line(words: &[u32]) -> String {
    let record = Record(words);
    let mut text = vec![0; 4 * words.len()];
    let text = record.text(&mut text);
    Shown(|to: &mut dyn fmt::Write| record.show(text, to)).to_string()
}

/// Shows what a function writes.
struct Shown<F>(F);

impl<F: Fn(&mut dyn fmt::Write) -> fmt::Result> fmt::Display for Shown<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(formatter)
    }
}
