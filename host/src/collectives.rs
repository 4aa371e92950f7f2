//! Several GPUs, of one machine or of many: reductions, gathers, broadcasts and messages between ranks.
//!
//! A program that runs on N devices has N *ranks*, numbered from 0. A rank has one device and one [`Communicator`]. Ranks are threads of
//! one process, processes of one machine, or processes of several machines. All ranks make the same calls in the same order; each
//! call names the stream that the work belongs to, and is ordered like a launch: after earlier work on its tensors, on whatever
//! stream, and before later work on them.
//!
//! GPUs communicate by NVIDIA's NCCL, which is loaded at run time. On the CPU ranks are threads of one process, with the same calls,
//! results and errors, so that a program for eight GPUs is tested on a laptop:
//!
//! ```
//! use std::thread;
//! use std::time::Duration;
//!
//! use cuda_tiles_host::collectives::{CollectiveError, Communicator, Reduction};
//! use cuda_tiles_host::{Device, Tensor};
//!
//! let devices = vec![Device::cpu(); 4]; // or Device::gpu(0)?, Device::gpu(1)?, ...
//! let ranks = Communicator::all(&devices, Duration::from_secs(10))?;
//! thread::scope(|scope| {
//!     let threads: Vec<_> = ranks
//!         .into_iter()
//!         .map(|rank| {
//!             scope.spawn(move || -> Result<Vec<f32>, CollectiveError> {
//!                 let stream = rank.device().stream()?;
//!                 let mut x = Tensor::full(rank.device(), [3], rank.rank() as f32)?;
//!                 rank.all_reduce_in_place(&stream, Reduction::Sum, &mut x)?;
//!                 rank.synchronize(&stream)?;
//!                 Ok(x.to_vec()?)
//!             })
//!         })
//!         .collect();
//!     for thread in threads {
//!         assert_eq!(thread.join().unwrap()?, [6.0; 3]); // 0 + 1 + 2 + 3
//!     }
//!     Ok::<(), CollectiveError>(())
//! })?;
//! # Ok::<(), CollectiveError>(())
//! ```
//!
//! # One thread for several ranks
//! A call waits for the other ranks. A thread that has several ranks puts their calls into a [`Group`], which makes all of them together. So
//! does a rank that sends and receives at the same time.
//!
//! # Failures
//! Nothing waits for ever. A communicator is made with a time-out. A call that is not done by then, because a rank is missing, has failed
//! or calls something else, is a [`CollectiveError::Failed`], which names ranks and calls. On a GPU a call returns when NCCL has given its
//! work to the stream. If the work does not end in time, a thread of this crate ends it, and the next call on the communicator returns the
//! error. [`Communicator::synchronize`] waits for the work and is such a call: *elements count when it has returned `Ok`.* After a failure
//! the communicators of all ranks are of no use; make new ones.
//!
//! # The library
//! `libnccl.so.2` is looked for where the system looks for libraries. The environment variable `CUDA_TILES_NCCL` names another file, for
//! example that of PyTorch's package `nvidia-nccl-cu13`. NCCL 2.18 and newer work. Without the library everything else of this crate does, and
//! communicators of GPUs are a [`CollectiveError::NoLibrary`], which says what was looked for.

mod call;
mod communicator;
mod element;
mod error;
mod group;
mod id;
mod nccl;
mod operations;
mod world;

pub use communicator::Communicator;
pub use element::{Reduce, Reduction, Transfer};
pub use error::{CollectiveError, Failure};
pub use group::Group;
pub use id::UniqueId;
