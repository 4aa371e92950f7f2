//! The record of a launch: into which tiles its blocks cut each writable tensor.
//!
//! Blocks own different tiles if all of them cut a tensor in one way. What safe code can do about it is not in types:
//! a block may take another branch than its neighbour. The first block that cuts a tensor writes down how, and the
//! others compare.

use super::execution::Place;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Whether there is a record.
pub const RECORDED: bool = true;

/// Numbers that describe a partition: the tensor, what must be the same in all blocks, and the block, for the message.
pub const WORDS: usize = 20;

/// Tensors that a record has room for: more than a kernel has arguments, as unsafe code may split them. Further ones are not
/// compared.
const ENTRIES: usize = 32;

/// Which writable tensor a span is a part of.
#[derive(Clone, Copy)]
pub struct Origin(u64);

impl Origin {
    /// The tensor at `address`.
    pub fn new(address: usize) -> Self {
        Self(address as u64)
    }

    /// Its address.
    pub fn address(self) -> u64 {
        self.0
    }
}

/// An entry that nobody has taken.
const EMPTY: u32 = 0;
/// An entry whose words are being written.
const TAKEN: u32 = 1;
/// An entry whose words can be read.
const WRITTEN: u32 = 2;

/// How a tensor was cut first.
struct Entry {
    state: AtomicU32,
    words: [AtomicU64; WORDS],
}

impl Entry {
    /// Waits for the words, writing `words` if there are none yet.
    fn first(&self, words: &[u64; WORDS]) -> [u64; WORDS] {
        match self.state.compare_exchange(EMPTY, TAKEN, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                for (to, from) in self.words.iter().zip(words) {
                    to.store(*from, Ordering::Relaxed);
                }
                self.state.store(WRITTEN, Ordering::Release);
                *words
            }
            Err(_) => {
                while self.state.load(Ordering::Acquire) != WRITTEN {
                    spin_loop();
                }
                core::array::from_fn(|i| self.words[i].load(Ordering::Relaxed))
            }
        }
    }
}

/// How the blocks of a launch cut their writable tensors.
pub struct Partitions([Entry; ENTRIES]);

impl Partitions {
    /// A record of nothing.
    pub const fn new() -> Self {
        Self(
            [const { Entry { state: AtomicU32::new(EMPTY), words: [const { AtomicU64::new(0) }; WORDS] } };
                ENTRIES],
        )
    }

    /// Forgets everything, between two launches.
    pub fn clear(&self) {
        self.0.iter().for_each(|entry| entry.state.store(EMPTY, Ordering::Release));
    }

    /// Notes a partition: gives the first one of the same tensor if it was another one.
    fn note(&self, words: &[u64; WORDS]) -> Option<[u64; WORDS]> {
        for entry in &self.0 {
            let first = entry.first(words);
            if first[0] == words[0] {
                return (first[1..WORDS - 1] != words[1..WORDS - 1]).then_some(first);
            }
        }
        None
    }
}

impl Default for Partitions {
    fn default() -> Self {
        Self::new()
    }
}

/// Notes that the block at `place` has a partition, the first word of which is its tensor and the last one its block. Gives
/// the first one of the same tensor in this launch if it was another one.
pub fn note(place: Place, words: &[u64; WORDS]) -> Option<[u64; WORDS]> {
    place.partitions()?.note(words)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    fn words(tensor: u64, what: u64, block: u64) -> [u64; WORDS] {
        core::array::from_fn(|i| match i {
            0 => tensor,
            7 => what,
            _ if i == WORDS - 1 => block,
            _ => 0,
        })
    }

    #[test]
    fn the_first_partition_counts() {
        let record = Partitions::new();
        assert_eq!(record.note(&words(1, 10, 0)), None);
        assert_eq!(record.note(&words(1, 10, 1)), None);
        assert_eq!(record.note(&words(2, 20, 1)), None);
        assert_eq!(record.note(&words(2, 10, 2)), Some(words(2, 20, 1)));
        assert_eq!(record.note(&words(1, 11, 3)), Some(words(1, 10, 0)));
        record.clear();
        assert_eq!(record.note(&words(1, 11, 3)), None);
        // Beyond its room it compares nothing, and does not fail.
        (100..200).for_each(|tensor| assert_eq!(record.note(&words(tensor, 0, 0)), None));
    }

    #[test]
    fn of_threads_at_once_one_is_first() {
        for _ in 0..if cfg!(miri) { 2 } else { 100 } {
            let record = Partitions::new();
            let others: u32 = std::thread::scope(|scope| {
                let threads: std::vec::Vec<_> = (0..4)
                    .map(|k| {
                        scope.spawn({
                            let record = &record;
                            move || u32::from(record.note(&words(5, k, k)).is_some())
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(others, 3);
        }
    }
}
