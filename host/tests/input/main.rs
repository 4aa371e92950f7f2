//! Input that no program means to give: shapes beyond every limit, random views and launches, and damaged files. Each is answered with
//! an error value or the right result, never with a panic that is not documented, an abort or wrong numbers.
//!
//! `PROPTEST_CASES` sets the number of random cases.

#[cfg(all(feature = "npz", feature = "safetensors", feature = "gguf"))]
mod files;
mod launches;
mod limits;
mod views;

use proptest::test_runner::Config;

/// As many random cases as take a second or two, unless `PROPTEST_CASES` says another number.
fn cases(usual: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    // A failure is kept as a test of its own, under the name of what went wrong.
    Config { cases, failure_persistence: None, ..Config::default() }
}
