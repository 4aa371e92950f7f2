//! Names for what an earlier build has made.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The 128 bits of a hash, in hexadecimal digits.
pub(crate) fn name_of(made_of: &impl Hash) -> String {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, made_of).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}
