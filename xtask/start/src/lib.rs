//! What the quickstart needs, and the project's other commands too: programs that are run, the running Rust, and the source of `core`.

pub mod error;
pub mod process;
pub mod quickstart;
pub mod source;
pub mod toolchain;
pub mod workspace;
