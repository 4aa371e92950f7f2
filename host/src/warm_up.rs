//! Work that is done before it is needed, on several threads.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::error::Result;

/// How far [`Device::warm_up`](crate::Device::warm_up) has come.
///
/// As text it is `3 of 65: softmax`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The kernel whose code has just come to the GPU; of several in one module the first.
    pub kernel: &'static str,
    /// How many modules have come.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {}: {}", self.done, self.total, self.kernel)
    }
}

/// Does `work` for each job, on as many threads as there are cores, and tells of each that has ended well, on the calling thread. After an
/// error no job is begun.
///
/// # Errors
/// The first one.
pub(crate) fn run<J: Sync>(
    jobs: &[J],
    name: impl Fn(&J) -> &'static str,
    work: impl Fn(&J) -> Result<()> + Sync,
    progress: &mut dyn FnMut(&Progress),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, ended) = mpsc::channel();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(job);
                    if result.is_err() {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                    if sender.send((job, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (earlier, (job, result)) in ended.into_iter().enumerate() {
            result?;
            progress(&Progress { kernel: name(job), done: earlier + 1, total: jobs.len() });
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    #[test]
    fn each_job_is_done_and_told_once() {
        let mut told = Vec::new();
        run(&[0, 1, 2, 3], |&job: &usize| NAMES[job], |_| Ok(()), &mut |progress| {
            told.push(progress.clone())
        })
        .unwrap();
        assert_eq!(told.iter().map(|progress| progress.done).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(told.iter().all(|progress| progress.total == 4));
        let mut kernels: Vec<_> = told.iter().map(|progress| progress.kernel).collect();
        kernels.sort_unstable();
        assert_eq!(kernels, NAMES);
        assert_eq!(told[3].to_string(), format!("4 of 4: {}", told[3].kernel));
    }

    #[test]
    fn an_error_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let jobs: Vec<u32> = (0..10_000).collect();
        let fail = |_: &u32| {
            begun.fetch_add(1, Ordering::Relaxed);
            Err(Error::Threads { reason: "no".to_owned() })
        };
        assert!(run(&jobs, |_| "k", fail, &mut |_| panic!("none ends well")).is_err());
        assert!(begun.into_inner() < jobs.len());
    }
}
