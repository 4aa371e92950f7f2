//! GPU kernels in Rust, on tiles.
//!
//! A kernel is an ordinary function over [`Tile`](tile::Tile)s, [`TensorSpan`](span::TensorSpan)s and
//! [`PartitionView`](view::PartitionView)s. rustc compiles it straight to PTX, ahead of time; the same function runs on
//! the CPU, so that tests need no GPU.
//!
//! # A first kernel
//!
//! Row softmax. Each block takes one row, loads it as one tile, and stores the result:
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 256)]
//! pub fn softmax(cx: Cx, x: Span<f32, (u32, D<1024>)>, y: SpanMut<f32, (u32, D<1024>)>) {
//!     let (x, y) = (x.partition(cx, shape![1, 1024]), y.partition(cx, shape![1, 1024]));
//!     let row = (cx.bid::<0>(), 0);
//!     let t = x.load(row);
//!     let e = (t - t.max::<1>()).exp();
//!     y.store(e / e.sum::<1>(), row);
//! }
//! ```
//!
//! * `cx` stands for the running block. [`cx.bid::<0>()`](context::Cx::bid) is its index in the grid.
//! * A span is a tensor as the kernel receives it: element type, extents (`u32` at run time, `D<1024>` at compile time).
//! * [`partition`](span::TensorSpan::partition) cuts it into tiles; indices count tiles, not elements.
//! * `t` has type `Tile<f32, Shape2<1, 1024>, _>`: its shape is part of its type, every size a power of two.
//! * A reduction keeps its axis with size 1, so that `t - t.max::<1>()` broadcasts back, in registers.
//! * `load` and `store` check once a tile that it lies inside the tensor; [`load_masked`](view::PartitionView::load_masked)
//!   takes partial tiles.
//!
//! `cuda-tiles-builder` compiles a crate of kernels from a build script, `cuda-tiles-host` launches them:
//! `softmax.launch(&device, rows, (&x, &mut y))?`, on a GPU or on the CPU.
//!
//! # What the compiler and the launch check
//!
//! - By types, with errors in these words: shapes, ranks, element types, promotion, padding values and memory orders.
//! - At launch, as error values: lengths, strides, alignment and devices.
//! - In the kernel, once a tile: tile indices.
//!
//! A block stores only tiles that its own index names. It cuts writable tensors before it asks for that index, so that all
//! blocks cut alike: safe kernels have no data races. A kernel that does it in another order is not built for a GPU, and panics
//! on the CPU.
//!
//! # Modules
//!
//! - Things: [`shape`](mod@shape), [`element`], [`tile`], [`layout`], [`span`], [`view`].
//! - Operations: [`ops`], and [`math`] with its error bounds.
//! - The running block is [`context`], and the contract with the host is [`launch`].
//! - Random numbers, printing and thread-level code: [`random`], [`mod@debug`] and [`simt`].
//! - Products of matrices, and tiles that stream through shared memory: [`memory`], [`mma`], [`pipeline`], [`epilogue`] and
//!   [`schedule`].
//! - The target that a kernel is compiled for: [`target`].
//! - Kernels that were written for Rust-CUDA's `cuda_std`: [`cuda_std`].
//!
//! Everything that kernels need is in the [`prelude`].

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_unadjusted, asm_experimental_arch, link_llvm_intrinsics, stdarch_nvptx),
    allow(internal_features, reason = "convergent instructions exist as LLVM intrinsics only")
)]

#[macro_use(inline_on_device)]
extern crate cuda_tiles_macros;

#[allow(
    dead_code,
    unreachable_pub,
    reason = "both back ends offer the same, of which each target needs its part"
)]
mod arch;

#[doc(hidden)]
pub mod __private;
pub mod context;
#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
pub mod debug;
pub mod element;
pub mod epilogue;
pub mod launch;
pub mod layout;
pub mod math;
pub mod memory;
pub mod ops;
pub mod pipeline;
pub mod random;
pub mod schedule;
pub mod shape;
pub mod simt;
pub mod span;
pub mod target;
pub mod tile;

// After `ops` and `tile`: rustdoc lists the methods of `Tile` in the order of modules, and so do the tables of its page.
pub mod mma;
pub mod view;

// Last: messages of the compiler name a type by the first module that shows it, and `f16` is to be one of `element`.
pub mod cuda_std;

#[doc(hidden)]
pub mod registers;

mod protocol;
mod sealed;

pub use cuda_tiles_macros::kernel;

/// Inlines a function wherever kernels call it on the device, as CUDA C++'s `__forceinline__` does. On the CPU the compiler decides.
///
/// A call takes registers on the device, and tiles that it passes lie in local memory. The CPU needs nothing of the kind, and there
/// `#[inline(always)]` would compile the function anew for each call: kernels of the library took a third to a half longer to compile.
///
/// ```
/// # use cuda_tiles::prelude::*;
/// #[inline_on_device]
/// fn relu<S: Shape, L: Layout>(tile: Tile<f32, S, L>) -> Tile<f32, S, L> {
///     tile.maximum(0.0)
/// }
/// ```
#[doc(alias("__forceinline__"))]
pub use cuda_tiles_macros::inline_on_device;

/// Makes a struct of arguments one argument of a kernel.
///
/// Each field is an argument of its own kind: a number, a span, a streamed operand, an array or a list of these, or such a struct. The launch is
/// given a tuple with one argument for each field, in their order, and checks each as it would by itself. The struct may be generic. It has 1
/// to 12 fields.
///
/// ```
/// # use cuda_tiles::prelude::*;
/// /// A step of gradient descent.
/// #[derive(Parameter)]
/// pub struct Step<T: Element> {
///     parameters: SpanMut<f32, (u32,)>,
///     gradients: Span<T, (u32,)>,
///     rate: f32,
/// }
///
/// #[kernel(instances(<f32>, <bf16>))]
/// pub fn descend<B: Block, T: Element + Cast<f32>>(cx: Cx<B>, step: Step<T>) {
///     let tile = shape![1024];
///     let (parameters, gradients) = (step.parameters.partition(cx, tile), step.gradients.partition(cx, tile));
///     let i = cx.bid::<0>();
///     let change = gradients.load_masked(Zero, i).cast::<f32>() * step.rate;
///     parameters.store_masked(parameters.load_masked(Zero, i) - change, i);
/// }
/// // descend::<bf16>().launch(&device, grid, ((&mut parameters, &gradients, 0.1),))?;
/// ```
pub use cuda_tiles_macros::Parameter;

/// Everything that kernels need: `use cuda_tiles::prelude::*;`.
pub mod prelude {
    pub use crate::context::{BlockIndex, Cx, steps};
    pub use crate::element::{
        ApproximateFloat, AtomicAdd, AtomicExchange, AtomicLogical, AtomicMinMax, Cast, CastWith, Comparable,
        Element, Float, Integer, Logical, Number, Ordered, Pointer, Promote, Repack, Unsaturated,
        WholeExponent, bf16, f4e2m1, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4, i4x2, tf32, u4,
        u4x2,
    };
    pub use crate::epilogue::EpilogueBuffer;
    pub use crate::launch::List;
    pub use crate::layout::{
        Accumulators, Block, Blocked, Join, Layout, Slice, TransposedAccumulators, TransposedBlocked,
    };
    pub use crate::memory::{MatrixShape, SharedTile, TmaLoad, TmaStore};
    pub use crate::mma::{
        Accumulator, CreateAccumulator, FastAccumulation, MultiplyAccumulate, matmul, mma, mma_with,
        scaled_mma,
    };
    pub use crate::ops::modes::{
        Approximate, FlushToZero, Full, NearestEven, PropagateNan, SuppressNan, TiesAway, TowardNegative,
        TowardPositive, TowardZero,
    };
    pub use crate::ops::reduce::{PartialSum, Reduced};
    pub use crate::ops::scan::{Backward, Exclusive, Forward, Inclusive};
    pub use crate::ops::shapes::{AnyTile, Take};
    pub use crate::ops::sort::{Ascending, Descending};
    pub use crate::ops::tuple::TileTuple;
    pub use crate::pipeline::{Ring, WarpRoles};
    pub use crate::random::{Draw, Philox};
    pub use crate::schedule::{CausalBalanced, ColumnMajor, FromLastRow, Grouped, RowMajor, TileOrder};
    pub use crate::shape::{
        ALL, Axis, Broadcast, D, Dimension, Shape, Shape0, Shape1, Shape2, Shape3, Shape4,
    };
    pub use crate::simt::{SharedMemory, Thread};
    pub use crate::span::{
        Access, Aligned, Alignment, Bounded, Divisible, Extents, Left, Mapping, Mult, Natural, OrderC,
        OrderF, PaddedLeft, PaddedRight, Permuted, Pitched, PitchedLeft, Right, Span, SpanAtomic, SpanMut,
        Strided, TensorSpan,
    };
    pub use crate::tile::{Create, Tile};
    pub use crate::view::memory_order::order::{Acquire, AcquireRelease, Relaxed, Release};
    pub use crate::view::memory_order::scope;
    pub use crate::view::{
        GatherScatterView, Nan, NegativeInfinity, NegativeZero, Padding, PartitionView, PositiveInfinity,
        StridedView, WindowView, Zero,
    };
    pub use crate::{Parameter, inline_on_device, kernel};
    pub use crate::{axes, shape, steps, tile_assert, tile_print};
}
