//! The thread that ends what takes too long on GPUs: a kernel of NCCL waits for other ranks for ever.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(20);

/// A rank that is looked after.
pub(super) trait Watched: Send + Sync {
    /// Whether it has work that may not be done.
    fn is_busy(&self) -> bool;

    /// Forgets what is done, and ends what takes too long.
    fn check(&self);
}

static RANKS: Mutex<Vec<Weak<dyn Watched>>> = Mutex::new(Vec::new());
static WORK: Condvar = Condvar::new();

fn ranks() -> MutexGuard<'static, Vec<Weak<dyn Watched>>> {
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
pub(super) fn add(rank: Weak<dyn Watched>) {
    ranks().push(rank);
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
