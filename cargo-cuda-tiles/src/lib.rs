//! What the kernels of a crate take of a GPU, found out without one: the library behind `cargo cuda-tiles report`.
//!
//! NVIDIA's assembler `ptxas` says how many registers a kernel takes, how much shared memory it declares, and what it keeps in local
//! memory. What a launch asks for besides, and the threads of a block, stand in the PTX that `cuda-tiles-builder` writes. Together with the
//! limits of an architecture they say how many blocks a multiprocessor holds at a time: the [`Occupancy`].
//!
//! ```
//! use cargo_cuda_tiles::{Assembled, Resources};
//!
//! let printed = "ptxas info    : Compiling entry function 'kernels$scale' for 'sm_90a'\n\
//!                ptxas info    : Function properties for kernels$scale\n    \
//!                0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
//!                ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem\n";
//! let assembled = Assembled::parse(printed);
//! let expected = Resources { registers: 32, shared_bytes: 1024, ..Resources::default() };
//! assert_eq!(assembled.kernels["kernels$scale"], expected);
//! ```

mod assembler;
mod built;
mod error;
mod occupancy;
mod report;
mod wheel;

pub use assembler::{Assembled, Assembler, Resources};
pub use built::{Package, Workspace};
pub use error::{Error, Result};
pub use occupancy::{Demand, Limit, Limits, Occupancy};
pub use report::{Report, Row};
pub use wheel::{fetch_ptxas, ptxas_in};
