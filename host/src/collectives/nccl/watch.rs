//! The thread that ends what takes too long on GPUs: a kernel of NCCL waits for other ranks for ever.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use super::GpuRank;
use crate::error::{Error, Result};

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(20);

static RANKS: Mutex<Vec<Weak<GpuRank>>> = Mutex::new(Vec::new());
static WORK: Condvar = Condvar::new();

fn ranks() -> MutexGuard<'static, Vec<Weak<GpuRank>>> {
    RANKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread, if it does not run.
pub(super) fn start() -> Result<()> {
    static THREAD: OnceLock<Result<(), String>> = OnceLock::new();
    let spawn = || {
        let thread = thread::Builder::new().name("cuda-tiles ranks".to_owned());
        thread.spawn(watch).map(|_| ()).map_err(|error| error.to_string())
    };
    THREAD.get_or_init(spawn).clone().map_err(|reason| Error::Threads { reason })
}

/// Looks after a rank until it is dropped.
pub(super) fn add(rank: &Arc<GpuRank>) {
    ranks().push(Arc::downgrade(rank));
}

/// Says that there is something to look after.
pub(super) fn wake() {
    WORK.notify_one();
}

fn watch() {
    loop {
        let alive: Vec<_> = {
            let mut ranks = ranks();
            ranks.retain(|rank| rank.strong_count() > 0);
            ranks.iter().filter_map(Weak::upgrade).collect()
        };
        alive.iter().for_each(|rank| rank.check());
        let busy = alive.iter().any(|rank| rank.is_busy());
        drop(alive);
        let ranks = ranks();
        if busy {
            drop(ranks);
            thread::sleep(PERIOD);
        } else {
            // A call that came since the last look is seen after this: nothing is late so soon.
            drop(WORK.wait_timeout(ranks, Duration::from_secs(1)).unwrap_or_else(PoisonError::into_inner));
        }
    }
}
