//! The kernels.
//!
//! Each operation has a kernel for rows that a block holds in registers, which pass the memory once each way, and one for longer rows, which are
//! read tile by tile, and once more for their results. The first takes a row as four tiles side by side, see `quarters`. It has instances
//! `<R, N>` for rows of up to 4 `N` columns, of which a block takes `R`: a thread has up to 32 elements in all of them, so that enough
//! bytes are under way at a time. Blocks for longer rows are large, so that few rows are under way at a time, and the second reading finds
//! them in the L2 cache.
//!
//! Rows that lie [`InVectors`] have kernels of their own, which need no registers for other ways to load. Rows [`Anywhere`] have kernels
//! that find out which way serves them.

pub mod cross_entropy;
pub mod norm_gradients;
pub mod norms;
pub mod softmax;

mod exponentials;
mod quarters;

use cuda_tiles::prelude::*;
use cuda_tiles::span::Extent;

/// Where the rows of a matrix begin in memory.
pub trait Placement: 'static {
    /// Columns of which all lie in a row, or none: a power of two.
    const STEP: u32;
    /// The length of a row.
    type Length: Extent<Offset = u32>;
    /// The alignment of the first row.
    type Start: Alignment;
}

/// Rows begin at multiples of 16 bytes, and are multiples of 8 elements long: every access is a whole vector. On the CPU those of `f32`
/// alone have kernels.
pub enum InVectors {}

/// Rows begin at any element.
pub enum Anywhere {}

impl Placement for InVectors {
    const STEP: u32 = 8;
    type Length = Mult<u32, 8>;
    type Start = Aligned<16>;
}

impl Placement for Anywhere {
    const STEP: u32 = 1;
    type Length = u32;
    type Start = Natural;
}

/// Whether the CPU has code for a kernel. There rows that lie in vectors gain nothing from kernels of their own: those of `f32` alone have
/// code, by which the library tests what all have in common.
pub(super) const fn on_cpu<T, P: Placement>() -> bool {
    P::STEP == Anywhere::STEP || size_of::<T>() == size_of::<f32>()
}

/// A matrix to be read, a row after the other.
pub type Rows<T, P> = Span<T, (u32, <P as Placement>::Length), Right, <P as Placement>::Start>;
/// A matrix to be written, a row after the other.
pub type RowsMut<T, P> = SpanMut<T, (u32, <P as Placement>::Length), Right, <P as Placement>::Start>;
/// A number for each column, to be read.
pub type Columns<T, P> = Span<T, (<P as Placement>::Length,), Right, <P as Placement>::Start>;
