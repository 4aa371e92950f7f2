//! Scratch memory for what several launches hand to each other.
//!
//! A product that packs an operand or sums up parts wants memory for the time of two launches. Allocated each time it would
//! cost more than a small product itself, and have another address each time, for which new tensor maps would be made.

use std::any::TypeId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuda_tiles::element::Element;

use crate::access::Access;
use crate::error::Result;
use crate::gpu::GpuStream;
use crate::recording::{Held, Recording};
use crate::size::byte_count;
use crate::stream::Stream;
use crate::tensor::{Layout, Storage, TensorViewMut};

/// How many pieces of memory are kept for later.
const MOST_KEPT: usize = 8;

/// Memory is allocated in multiples of this many bytes, so that wishes which differ a little get the same.
const GRAIN: usize = 1 << 20;

/// Memory that nobody uses at the moment.
struct Kept {
    user: User,
    bytes: usize,
    storage: Storage,
}

/// Whose memory it is. Others would have to wait for them.
enum User {
    Cpu,
    Stream(GpuStream),
    /// A graph that is being recorded, which has addresses of the memory: nobody else gets it. What is filled before a launch stays so in the
    /// second replay only if nothing but `bool`s is ever written to it.
    Graph {
        recording: Arc<Recording>,
        of_bools: bool,
    },
}

impl User {
    fn of(stream: &Stream, of_bools: bool) -> Self {
        match (stream.recording(), stream.as_gpu()) {
            (Some(recording), _) => Self::Graph { recording: Arc::clone(recording), of_bools },
            (None, Some((_, stream))) => Self::Stream(stream.clone()),
            (None, None) => Self::Cpu,
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cpu, Self::Cpu) => true,
            (Self::Stream(a), Self::Stream(b)) => a.is(b),
            (Self::Graph { recording: a, of_bools }, Self::Graph { recording: b, of_bools: others }) => {
                Arc::ptr_eq(a, b) && of_bools == others
            }
            _ => false,
        }
    }

    fn is_graph(&self) -> bool {
        matches!(self, Self::Graph { .. })
    }
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
/// pieces are. Calls may be nested, and come from several threads: each has memory of its own. In the capture of a [`Graph`](crate::Graph) the
/// memory becomes the graph's. On a stream that somebody else captures it is allocated and freed in their graph.
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
    // Of all element types it alone has bytes that are no value.
    let of_bools = TypeId::of::<T>() == TypeId::of::<bool>();
    let user = User::of(stream, of_bools);
    let held = stream.recording().map(Recording::hold).transpose()?;
    if let User::Stream(_) = user
        && let Some(mut storage) = Storage::captured(stream, needed.max(1), of_bools.then_some(0))?
    {
        // A graph of somebody else's: who knows how long it has the address.
        return body(TensorViewMut::new(&mut storage, Layout::row_major(shape)));
    }
    let taken = match take(&user, needed) {
        Some(taken) => taken,
        None => {
            let bytes = needed.max(1).next_multiple_of(GRAIN);
            let storage = Storage::filled(&stream.device(), bytes, 0)?;
            if let User::Graph { recording, .. } = &user {
                recording.allow(storage.identity(), Access::Write);
            }
            Kept { user, bytes, storage }
        }
    };
    let mut taken = Taken { piece: Some(taken), _held: held };
    let Some(Kept { user, storage, .. }) = &mut taken.piece else {
        unreachable!("it is taken until it is dropped")
    };
    if of_bools && !user.is_graph() {
        storage.fill(0..needed, &[0])?;
    }
    body(TensorViewMut::new(storage, Layout::row_major(shape)))
}

/// Memory in use, which is kept from its end on: also where the body panics, since graphs may have its address.
struct Taken {
    piece: Option<Kept>,
    /// A graph whose memory it is, which is behind the drop of this value.
    _held: Option<Held>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let dropped = {
            let mut kept = kept();
            kept.extend(self.piece.take());
            let oldest = kept.iter().position(|kept| !kept.user.is_graph());
            let number = kept.iter().filter(|kept| !kept.user.is_graph()).count();
            oldest.filter(|_| number > MOST_KEPT).map(|oldest| kept.remove(oldest))
        };
        // Outside of the lock: freeing may wait.
        drop(dropped);
    }
}

/// The smallest piece of the user's that is large enough, of several the one used last. Smaller ones make room for a larger one, but for those
/// of a graph, which it still uses.
fn take(user: &User, needed: usize) -> Option<Kept> {
    let mut kept = kept();
    let fits = |kept: &Kept| kept.bytes >= needed && kept.user.is(user);
    let numbers = (0..kept.len()).rev();
    let smallest = numbers.filter(|&number| fits(&kept[number])).min_by_key(|&number| kept[number].bytes);
    if let Some(number) = smallest {
        return Some(kept.remove(number));
    }
    let outgrown = kept.iter().position(|kept| kept.user.is(user) && !user.is_graph());
    let outgrown = outgrown.map(|number| kept.remove(number));
    drop(kept);
    drop(outgrown);
    None
}

/// Memory that belongs to a graph.
#[derive(Default)]
pub(crate) struct GraphMemory(Vec<Kept>);

impl GraphMemory {
    /// Lets a recording have the memory. What the result gives back when it is dropped is all memory that the recording then has.
    pub(crate) fn lend<'memory>(&'memory mut self, to: &'memory Arc<Recording>) -> Lent<'memory> {
        for mut piece in self.0.drain(..) {
            to.allow(piece.storage.identity(), Access::Write);
            if let User::Graph { recording, .. } = &mut piece.user {
                *recording = Arc::clone(to);
            }
            kept().push(piece);
        }
        Lent { memory: self, recording: to }
    }

    /// The pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Storage> {
        self.0.iter().map(|kept| &kept.storage)
    }
}

/// Memory of a graph that is being recorded, which gets it back also where recording fails: launches that were captured before have its
/// addresses.
pub(crate) struct Lent<'memory> {
    memory: &'memory mut GraphMemory,
    recording: &'memory Arc<Recording>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let is_its = |kept: &mut Kept| matches!(&kept.user, User::Graph { recording, .. } if Arc::ptr_eq(recording, self.recording));
        self.memory.0.extend(kept().extract_if(.., is_its));
    }
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
