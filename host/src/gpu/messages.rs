//! What kernels on a GPU say: printed messages, and why a kernel trapped.
//!
//! Each loaded module has a buffer in page-locked memory, to which its kernels write (`cuda_tiles::debug::protocol`). It
//! is memory of this process: a trap, which makes everything on the GPU unreachable, leaves it readable.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use cuda_tiles::debug::protocol;
use cuda_tiles::debug::read::{Failure, Record};
use cudarc::driver::{DriverError, result, sys};

use super::Gpu;
use crate::error::Report;
use crate::printer;

/// The variable of a module that holds the buffer's address.
const VARIABLE: &std::ffi::CStr = c"cuda_tiles_messages";

/// A buffer, which lives as long as the module that writes to it: to the end of the process.
pub(super) struct Messages {
    buffer: &'static [AtomicU32],
    taken: u32,
    /// The last message that went with a failed assertion, by its block.
    assertion: Option<([u32; 3], String)>,
}

impl Messages {
    /// Makes a buffer for a module of the current context; `None` if its kernels have nothing to say.
    pub(super) fn new(module: sys::CUmodule) -> Result<Option<Self>, DriverError> {
        let (mut variable, mut bytes) = (0, 0);
        // SAFETY: the module is loaded in the current context, the name ends with a zero, and both results are written.
        let found =
            unsafe { sys::cuModuleGetGlobal_v2(&mut variable, &mut bytes, module, VARIABLE.as_ptr()) };
        match found.result() {
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)) => return Ok(None),
            other => other?,
        }
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
        // SAFETY: the variable has the two words of 64 bits that `cuda_tiles` gives it, and no kernel of the module runs.
        unsafe { result::memcpy_htod_sync(variable, &[on_device, 0_u64]) }?;
        Ok(Some(Self { buffer, taken: 0, assertion: None }))
    }

    /// Takes all complete messages out of the ring, and adds the printed ones to `lines`.
    fn take(&mut self, lines: &mut Vec<String>) {
        let ring = &self.buffer[protocol::RING / 4..];
        let slot = |position: u32| &ring[(position & (protocol::RING_WORDS - 1)) as usize];
        let mut words = Vec::new();
        loop {
            let header = slot(self.taken).load(Ordering::Acquire);
            if header == 0 {
                break;
            }
            let length = (header & !protocol::ASSERTION).min(protocol::RING_WORDS);
            words.clear();
            for i in 0..length {
                // Zero again before anybody can claim it.
                let word = slot(self.taken.wrapping_add(i)).swap(0, Ordering::Relaxed);
                words.extend((i > 0).then_some(word));
            }
            self.taken = self.taken.wrapping_add(length);
            self.buffer[protocol::TAKEN / 4].store(self.taken, Ordering::Release);
            let record = Record(&words);
            let mut text = vec![0; 4 * words.len()];
            let text = record.text(&mut text);
            let line = Shown(|to: &mut dyn fmt::Write| record.show(text, to)).to_string();
            if header & protocol::ASSERTION != 0 {
                self.assertion = Some((record.block(), line));
            } else {
                lines.push(line);
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
    fn report(&self) -> Option<Report> {
        if self.buffer[protocol::FAILED / 4].load(Ordering::Acquire) == 0 {
            return None;
        }
        fence(Ordering::SeqCst);
        let words = self.buffer[..protocol::RING / 4].iter();
        let bytes: Vec<u8> = words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        let failure = Failure::read(&bytes)?;
        let block = failure.block();
        let assertion = self.assertion.as_ref().filter(|(other, _)| *other == block);
        let assertion = assertion.map(|(_, text)| text.as_str());
        Some(Report {
            block,
            message: Shown(|to: &mut dyn fmt::Write| failure.show(assertion, to)).to_string(),
            file: failure.file().to_owned(),
            line: failure.line(),
        })
    }
}

impl Gpu {
    /// Shows what kernels have printed so far.
    pub(super) fn show_messages(&self) {
        let mut lines = Vec::new();
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.iter_mut().for_each(|messages| messages.take(&mut lines));
        // The printer may wait for the GPU itself.
        drop(messages);
        lines.iter().for_each(|line| printer::show(line));
    }

    /// What the kernel that trapped has reported, if anything.
    pub(super) fn report(&self) -> Option<Report> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.iter().find_map(Messages::report)
    }
}

/// Shows what a function writes.
struct Shown<F>(F);

impl<F: Fn(&mut dyn fmt::Write) -> fmt::Result> fmt::Display for Shown<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(formatter)
    }
}
