//! The record of a launch: into which tiles its blocks cut each writable tensor.
//!
//! Blocks own different tiles if all of them cut a tensor in one way, which they do as long as they know nothing of their own
//! (see `order`). On the CPU safe code may come to know all the same, by the clock or a static, and take another branch than its
//! neighbour. The first block that gets to its first cut writes down what it cuts and how, and the others compare; so for the
//! second and all others. What two blocks cut is then the same or, as of one block, without a common element.

use super::running::Run;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Whether there is a record.
pub const RECORDED: bool = true;

/// Numbers that describe a partition: the tensor, what must be the same in all blocks, and the block, for the message.
pub const WORDS: usize = 20;

/// Cuts that a record has room for: more than a kernel has arguments, as they may be split.
pub const MOST_CUTS: usize = 64;

/// What a record says of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// The blocks before have made the same one, as far as anybody has noted it.
    Same,
    /// The first block has made this one.
    Other([u64; WORDS]),
    /// There is no room for it.
    TooMany,
}

/// Which tensor a span is a part of, and which run of a block it was made for.
#[derive(Clone, Copy)]
pub struct Origin {
    address: u64,
    run: Run,
}

impl Origin {
    /// The tensor at `address`, for the block that this thread is in.
    pub fn new(address: usize) -> Self {
        Self { address: address as u64, run: Run::current() }
    }

    /// A part of the tensor that is a tensor of its own, at `address`, for the same block.
    pub fn part(self, address: usize) -> Self {
        Self { address: address as u64, ..self }
    }

    /// The run of the block.
    pub fn run(self) -> Run {
        self.run
    }

    /// Its address.
    pub fn address(self) -> u64 {
        self.address
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
pub struct Partitions([Entry; MOST_CUTS]);

impl Partitions {
    /// A record of nothing.
    pub const fn new() -> Self {
        Self(
            [const { Entry { state: AtomicU32::new(EMPTY), words: [const { AtomicU64::new(0) }; WORDS] } };
                MOST_CUTS],
        )
    }

    /// Forgets everything, between two launches.
    pub fn clear(&self) {
        self.0.iter().for_each(|entry| entry.state.store(EMPTY, Ordering::Release));
    }

    /// Notes the cut of this number of a block.
    pub(super) fn note(&self, number: usize, words: &[u64; WORDS]) -> Noted {
        let Some(entry) = self.0.get(number) else { return Noted::TooMany };
        let first = entry.first(words);
        // All but the block.
        if first[..WORDS - 1] == words[..WORDS - 1] { Noted::Same } else { Noted::Other(first) }
    }
}

impl Default for Partitions {
    fn default() -> Self {
        Self::new()
    }
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
    fn the_first_block_counts() {
        let record = Partitions::new();
        assert_eq!(record.note(0, &words(1, 10, 0)), Noted::Same);
        assert_eq!(record.note(0, &words(1, 10, 1)), Noted::Same);
        assert_eq!(record.note(1, &words(2, 20, 1)), Noted::Same);
        assert_eq!(record.note(1, &words(2, 10, 2)), Noted::Other(words(2, 20, 1)));
        assert_eq!(record.note(0, &words(1, 11, 3)), Noted::Other(words(1, 10, 0)));
        // Another tensor is another cut.
        assert_eq!(record.note(0, &words(2, 10, 3)), Noted::Other(words(1, 10, 0)));
        record.clear();
        assert_eq!(record.note(0, &words(1, 11, 3)), Noted::Same);
        assert_eq!(record.note(MOST_CUTS - 1, &words(3, 0, 0)), Noted::Same);
        assert_eq!(record.note(MOST_CUTS, &words(4, 0, 0)), Noted::TooMany);
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
                            move || u32::from(record.note(0, &words(5, k, k)) != Noted::Same)
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(others, 3);
        }
    }
}
