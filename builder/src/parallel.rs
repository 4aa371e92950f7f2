//! Work on all cores that a build may use.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// How many jobs cargo runs beside each other: a variable that it sets for build scripts.
const JOBS: &str = "NUM_JOBS";

/// What `work` makes of each item, in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads().min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else { break };
                    // The receiver outlives the threads.
                    let _ = sender.send((number, work(item)));
                }
            });
        }
    });
    drop(sender);
    let mut results: Vec<_> = results.into_iter().collect();
    results.sort_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

fn threads() -> usize {
    let jobs = std::env::var(JOBS).ok().and_then(|jobs| jobs.parse().ok());
    jobs.or_else(|| thread::available_parallelism().ok().map(Into::into)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        assert_eq!(map(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(map(&[0; 0], |item| *item).is_empty());
    }
}
