//! The kernels.
//!
//! Most have two instances for each type. Of rows of up to 1024 elements a block takes several, for one alone would ask the memory for too
//! little at a time. Of others it takes one. A row that is no longer than a tile passes the memory once each way, and stays in registers between:
//! up to 8192 elements, of gradients, which have two operands, up to 4096. A longer one is read tile by tile, and once more for its results;
//! most of it then comes from caches.

pub mod cross_entropy;
pub mod norm_gradients;
pub mod norms;
pub mod softmax;

mod exponentials;

use cuda_tiles::prelude::*;

/// A matrix in tiles of some rows and columns.
type Tiles<T, B, const R: usize, const N: usize> = PartitionView<Span<T, (u32, u32)>, Shape2<R, N>, B>;

/// A number for each row of a tile.
type PerRow<B, const R: usize, const N: usize> = Reduced<f32, Shape2<R, N>, Blocked<B>, 1>;
