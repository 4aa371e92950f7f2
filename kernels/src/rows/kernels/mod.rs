//! The kernels.
//!
//! Most have instances for short and for long rows of each type. A block takes one long row, or several short ones, for one alone would ask the
//! memory for too little at a time. A row that is no longer than the widest tile passes the memory once each way, and stays in registers between. A
//! longer one is read tile by tile, and once more for its results; most of it then comes from caches. Tiles are as large as registers allow
//! without spilling: 4096 elements, or 8192 of 16 bits where a kernel has one operand, and less where it has many.

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
