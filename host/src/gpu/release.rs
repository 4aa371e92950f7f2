//! The end of owners whose memory a GPU may still be working on.
//!
//! The owner of an imported tensor frees or recycles memory when it is dropped, by means that know nothing of our streams. So it is
//! dropped only when the GPU is done: at once if it is, else on a thread that waits for it, so that dropping a tensor never waits.
//! A host function in the stream (`cuLaunchHostFunc`) would be simpler, but may not call the driver, which is just what owners do.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags;

use super::{Gpu, GpuStream};
use crate::error::Result;
use crate::owner::Owner;

/// An owner, and the point of a stream behind the last use of its memory.
struct Waiting {
    last_use: CudaEvent,
    owner: Owner,
}

/// Drops an owner once the stream has done all that it was given so far, on a thread that waits for it. `ordered` says whether that covers
/// all uses of the memory.
pub(super) fn behind(gpu: &'static Gpu, stream: &GpuStream, ordered: Result<()>, owner: Owner) {
    let marked = ordered.and_then(|()| mark(gpu, stream));
    match marked {
        Ok(last_use) => {
            let waiting = Waiting { last_use, owner };
            let refused = match keeper() {
                Some(keeper) => keeper.send(waiting).err().map(|error| error.0),
                None => Some(waiting),
            };
            // There is no thread: this one waits.
            refused.into_iter().for_each(finish);
        }
        Err(_) => {
            // If this fails too, the GPU does not run anything any more: after a trap it never will.
            let _ = gpu.synchronize();
            owner.end();
        }
    }
}

fn mark(gpu: &Gpu, stream: &GpuStream) -> Result<CudaEvent> {
    let event = gpu.context.new_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC));
    let event = gpu.check("making an event", event)?;
    gpu.check("recording an event", stream.mark(&event))?;
    Ok(event)
}

/// The thread that waits, made when it is first needed; `None` if the system has no more threads.
fn keeper() -> Option<&'static Sender<Waiting>> {
    static KEEPER: OnceLock<Option<Sender<Waiting>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = channel();
        let work = |receiver: Receiver<Waiting>| receiver.into_iter().for_each(finish);
        let thread = thread::Builder::new().name("cuda-tiles owners".to_owned());
        thread.spawn(move || work(receiver)).ok().map(|_| sender)
    };
    KEEPER.get_or_init(start).as_ref()
}

fn finish(waiting: Waiting) {
    // It fails only where the GPU runs nothing any more.
    let _ = waiting.last_use.synchronize();
    waiting.owner.end();
}

/// Keeps an owner until the program has waited for the whole GPU.
pub(super) fn later(gpu: &Gpu, owner: Owner) {
    gpu.deferred().push(owner);
}
