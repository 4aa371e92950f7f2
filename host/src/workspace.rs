//! Scratch memory for what several launches hand to each other.
//!
//! A product that packs an operand or sums up parts wants memory for the time of two launches. Allocated each time it would
//! cost more than a small product itself, and have another address each time, for which new tensor maps would be made.

use std::any::TypeId;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_tiles::element::Element;

use crate::error::Result;
use crate::gpu::GpuStream;
use crate::size::byte_count;
use crate::stream::Stream;
use crate::tensor::{Layout, Storage, TensorViewMut};

/// How many pieces of memory are kept for later.
const MOST_KEPT: usize = 8;

/// Memory is allocated in multiples of this many bytes, so that wishes which differ a little get the same.
const GRAIN: usize = 1 << 20;

/// Memory that nobody uses at the moment.
struct Kept {
    /// The stream that has used it, none on the CPU. Other streams would have to wait for that one.
    stream: Option<GpuStream>,
    bytes: usize,
    storage: Storage,
}

/// What is kept, the latest used last.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `body` with scratch memory for launches on `stream`, as a tensor of this shape. What its elements are at first is not
/// defined, but that they are valid.
///
/// The memory is kept for the next call that wants no more of it on the same stream, of whatever type; in all, eight such
/// pieces are. Calls may be nested, and come from several threads: each has memory of its own.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Launch, Tensor, workspace};
///
/// #[kernel]
/// fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
///     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
///     y.store(x.load(cx.bid::<0>()) * 2.0, cx.bid::<0>());
/// }
///
/// let device = Device::cpu();
/// let stream = device.default_stream();
/// let x = Tensor::full(&device, [64], 1.0_f32)?;
/// let mut y = Tensor::zeros(&device, [64])?;
/// workspace(&stream, [64], |mut between| {
///     double.launch_on(&stream, 1, (&x, between.reborrow()))?;
///     double.launch_on(&stream, 1, (between.as_view(), &mut y))
/// })?;
/// assert_eq!(y.to_vec()?, [4.0; 64]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooLarge`](crate::Error::TooLarge), [`Error::OutOfMemory`](crate::Error::OutOfMemory), and those of `body`.
pub fn workspace<T: Element, const RANK: usize, R>(
    stream: &Stream,
    shape: [usize; RANK],
    body: impl FnOnce(TensorViewMut<'_, T, RANK>) -> Result<R>,
) -> Result<R> {
    let needed = byte_count::<T, RANK>(shape)?;
    let mut taken = match take(stream, needed) {
        Some(taken) => taken,
        None => {
            let bytes = needed.max(1).next_multiple_of(GRAIN);
            let storage = Storage::filled(&stream.device(), bytes, 0)?;
            Kept { stream: stream.as_gpu().map(|(_, stream)| stream.clone()), bytes, storage }
        }
    };
    if TypeId::of::<T>() == TypeId::of::<bool>() {
        // Of all element types it alone has bytes that are no value.
        taken.storage.fill(0..needed, &[0])?;
    }
    let result = body(TensorViewMut::new(&mut taken.storage, Layout::row_major(shape)));
    let dropped = {
        let mut kept = kept();
        kept.push(taken);
        (kept.len() > MOST_KEPT).then(|| kept.remove(0))
    };
    // Outside of the lock: freeing may wait.
    drop(dropped);
    result
}

/// The smallest piece of the stream's that is large enough, of several the one used last. Smaller ones make room for a larger one.
fn take(stream: &Stream, needed: usize) -> Option<Kept> {
    let of_stream = |kept: &Kept| match (&kept.stream, stream.as_gpu()) {
        (None, None) => true,
        (Some(known), Some((_, stream))) => known.is(stream),
        _ => false,
    };
    let mut kept = kept();
    let fits = |kept: &Kept| kept.bytes >= needed && of_stream(kept);
    let numbers = (0..kept.len()).rev();
    let smallest = numbers.filter(|&number| fits(&kept[number])).min_by_key(|&number| kept[number].bytes);
    if let Some(number) = smallest {
        return Some(kept.remove(number));
    }
    let outgrown = kept.iter().position(of_stream).map(|number| kept.remove(number));
    drop(kept);
    drop(outgrown);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    // One test, since what is kept is the process's.
    #[test]
    fn memory_is_kept_grows_and_is_not_shared() {
        let stream = Device::cpu().default_stream();
        let address = |view: &TensorViewMut<'_, f32, 1>| match &*view.storage {
            Storage::Cpu(memory) => memory.address() as usize,
            Storage::Gpu(_) => unreachable!("it is the CPU's stream"),
        };
        let first = workspace(&stream, [100], |mut view| {
            view.copy_from_slice(&[1.0; 100])?;
            let inner = workspace(&stream, [50], |view| Ok(address(&view)))?;
            assert_ne!(inner, address(&view));
            assert_eq!(view.as_view().to_vec()?, [1.0; 100]);
            Ok(address(&view))
        })
        .unwrap();
        assert_eq!(workspace(&stream, [200], |view| Ok(address(&view))).unwrap(), first);
        workspace(&stream, [3 << 20], |mut view| view.copy_from_slice(&vec![2.0; 3 << 20])).unwrap();
        let bits = workspace::<bool, 1, _>(&stream, [9], |view| view.as_view().to_vec()).unwrap();
        assert_eq!(bits, [false; 9]);
        assert!(kept().len() <= MOST_KEPT);

        // A body that fails gives the memory back too.
        let message =
            workspace::<f32, 2, ()>(&stream, [2, 2], |mut view| view.copy_from_slice(&[1.0])).unwrap_err();
        assert_eq!(message.to_string(), "a tensor of shape [2, 2] has 4 elements, but 1 were given");
        assert!(!kept().is_empty());
        assert!(workspace::<f32, 2, ()>(&stream, [1 << 40, 1 << 40], |_| Ok(())).is_err());
    }
}
