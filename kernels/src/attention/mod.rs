//! Attention: `softmax(q k' * scale) v` in one pass over keys and values, without the matrix of weights in memory (Dao, Fu,
//! Ermon, Rudra, Ré, "FlashAttention", 2022).
//!
//! On the host, [`attention`] is one call for 16-bit floats, heads of 64 or 128 columns and any number of queries and keys, and
//! [`attention_backward`] the call for its gradients.

pub mod gradients;
pub mod kernels;
pub mod ping_pong;

mod products;
mod softmax;
mod visible;

#[cfg(feature = "host")]
mod backward;
#[cfg(feature = "host")]
mod host;

#[cfg(feature = "host")]
pub use backward::attention_backward;
#[cfg(feature = "host")]
pub use host::{Attend, attention, attention_on, attention_with_logarithms};
