//! The products that have kernels, and the candidates for each product.

use cuda_tiles::element::{Element, bf16, f8e4m3, f8e5m2, f16, tf32};
use cuda_tiles::launch::Description;
use cuda_tiles_host::{Error, Grid, Launch, Result, Stream, TensorView, TensorViewMut};

use super::packing::Bits;
use super::plan::{Loads, Major, TileConfig};
use super::vector::{TRANSPOSED, WithVector};
use crate::gemm::body::GROUP;
use crate::gemm::epilogue::{Scales, Sum};
use crate::gemm::scheduler::TileRange;
use crate::gemm::split_k::{reduce_split_k, reduce_stream_k};
use crate::gemm::swap_ab;
use crate::gemm::vector::TILES;
// Which kernels there are is a choice of features.
use crate::gemm::{ahead::*, kernels::*, narrow::*, rows::*, swap_ab::*, threads::*, vector::*};

/// The arguments of a kernel: operands in their storage, the epilogue, and the range of tiles.
pub(super) struct Operands<'c, T: Element, U: Element, O: Element, C> {
    pub(super) a: TensorView<'c, T, 3>,
    pub(super) b: TensorView<'c, U, 3>,
    pub(super) c: TensorViewMut<'c, O, 3>,
    pub(super) bias: TensorView<'c, O, 1>,
    pub(super) scales: Scales<C>,
    pub(super) range: TileRange,
}

/// The arguments of the second pass, which adds up partial sums.
pub struct PartialSums<'c, C: Element, O: Element> {
    pub(super) partial_sums: TensorView<'c, C, 3>,
    pub(super) c: TensorViewMut<'c, O, 3>,
    pub(super) bias: TensorView<'c, O, 1>,
    pub(super) scales: Scales<C>,
    pub(super) of: PartialSumsOf,
}

/// The decomposition that the partial sums belong to.
#[derive(Clone, Copy)]
pub(super) enum PartialSumsOf {
    /// Split-K, with this many partial sums of each tile.
    SplitK(u32),
    /// Stream-K: the range of the first pass, counted in the tiles of `c`, the k steps of a tile, and about how many partial sums it has.
    StreamK { range: TileRange, steps: u32, parts: u32 },
}

/// A kernel that the host can choose for a product: an entry of the table.
pub struct Candidate<T: Element, U: Element, O: Element, C> {
    pub(super) config: TileConfig,
    pub(super) description: fn() -> &'static Description,
    pub(super) launch: fn(&Stream, u32, Operands<'_, T, U, O, C>) -> Result<()>,
}

mod sealed {
    pub trait Sealed<U, O> {}
}

/// Element types of operand A that multiply with elements `U` of operand B to a result of elements `O`.
///
/// | operands A and B | accumulators | `O` |
/// |---|---|---|
/// | `f16` | `f32` | `f16`, `f32` |
/// | `bf16` | `f32` | `bf16`, `f32` |
/// | `tf32` | `f32` | `f32` |
/// | `f8e4m3` | `f32` | `f16`, `bf16`, `f32` |
/// | `f8e5m2` | `f32` | `f16`, `bf16` |
/// | `i8`, or `u8` with `i8` | `i32` | `i32` |
/// | `f64` | `f64` | `f64` |
///
/// ```compile_fail,E0277
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::gemm::gemm;
///
/// let device = Device::cpu();
/// let (a, b) = (Tensor::<f16, 2>::zeros(&device, [4, 4])?, Tensor::<bf16, 2>::zeros(&device, [4, 4])?);
/// gemm(&a, &b, &mut Tensor::<f32, 2>::zeros(&device, [4, 4])?)?;
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "there is no kernel that multiplies matrices of `{Self}` and `{U}` to one of `{O}`",
    label = "no such product",
    note = "f16 gives f16 or f32, bf16 gives bf16 or f32, tf32 gives f32, f8e4m3 gives f16, bf16 or f32, f8e5m2 gives f16 or bf16, \
            i8 (also u8 with i8) gives i32, and f64 gives f64; f32 is multiplied as tf32 if you convert it"
)]
pub trait Multiply<U: Element<Bits: Bits>, O: Element>: Element<Bits: Bits> + sealed::Sealed<U, O> {
    /// The type of the accumulators, of `alpha` and of `beta`.
    type Sum: Sum;
    /// The kernels that store the result.
    #[doc(hidden)]
    const DIRECT: &'static [Candidate<Self, U, O, Self::Sum>];
    /// The kernels that store partial sums, for split-K and stream-K.
    #[doc(hidden)]
    const PARTIAL_SUMS: &'static [Candidate<Self, U, Self::Sum, Self::Sum>];
    /// The factors of the transposed product, `b'` and `a'`, if both have the same type.
    #[doc(hidden)]
    fn transposed_factors<'t>(
        a: TensorView<'t, Self, 3>,
        b: TensorView<'t, U, 3>,
    ) -> Result<Factors<'t, Self, U>>;
    /// Launches the second pass, which adds up partial sums.
    #[doc(hidden)]
    fn reduce(stream: &Stream, arguments: PartialSums<'_, Self::Sum, O>) -> Result<()>;
}

/// The factors of a product, if it has them.
pub(super) type Factors<'t, T, U> = Option<(TensorView<'t, T, 3>, TensorView<'t, U, 3>)>;

/// The candidate for one entry of the table. Its word is `ahead` if threads copy operands ahead.
macro_rules! candidate {
    ($kernel:ident $loads:ident $($ahead:ident)? $([$blocks_down:literal, $blocks_across:literal])? ($a_major:ident, $b_major:ident) [$a:ident $b:ident $accumulator:ident $c:ident] $m:tt $n:tt $k:tt $promoted:tt) => {{
        const LOADS: Loads = Loads::$loads $(([$blocks_down, $blocks_across]))?;
        Candidate {
            config: TileConfig {
                loads: LOADS,
                a: Some(Major::$a_major),
                b: Some(Major::$b_major),
                rows: $m,
                columns: $n,
                depth: $k,
                group: group!($kernel),
                // Tensor cores keep fewer bits than the accumulators have for 8-bit floats alone.
                fast: size_of::<$a>() == 1
                    && size_of::<$accumulator>() == 4
                    && !is_integer::<$a>()
                    && !$promoted,
                by_words: size_of::<$a>() < 4 && copies_ahead!($($ahead)?),
            },
            description: || instance!($kernel $loads [$a $b $accumulator $c] $m $n $k $promoted).description(),
            launch: |stream, blocks, Operands { a, b, c, bias, scales, range }| {
                let grid = grid!($loads blocks c $m $n);
                let arguments = (a, b, c, bias, scales, range);
                instance!($kernel $loads [$a $b $accumulator $c] $m $n $k $promoted)
                    .launch_on(stream, grid, arguments)
            },
        }
    }};
}

/// The candidate for an entry of a matrix and a vector, in tiles of so many elements of the result.
macro_rules! vector_candidate {
    ($kernel:ident $side:ident $major:ident ($a_major:expr, $b_major:expr) $tile:tt [$a:ident $b:ident $accumulator:ident $c:ident] $m:tt $n:tt $k:tt) => {
        Candidate {
            config: TileConfig {
                loads: Loads::Vector,
                a: $a_major,
                b: $b_major,
                rows: $m,
                columns: $n,
                depth: TILES * $k,
                group: GROUP,
                fast: false,
                by_words: false,
            },
            description: || $kernel::<$a, $b, $accumulator, $c, $tile, $k>().description(),
            launch: |stream, _, Operands { a, b, c, bias, scales, range }| {
                let product = WithVector::$side([a, b], c, bias, Major::$major)?;
                let (grid, WithVector { matrix, vector, c, bias }) = (product.grid($tile), product);
                $kernel::<$a, $b, $accumulator, $c, $tile, $k>().launch_on(
                    stream,
                    grid,
                    (matrix, vector, c, bias, scales, range),
                )
            },
        }
    };
}

/// The rows of tiles in a group of a kernel's tile order.
macro_rules! group {
    (gemm_swap_ab_nn) => {
        swap_ab::GROUP
    };
    (gemm_cluster_1x2_swap_ab_nn) => {
        swap_ab::GROUP
    };
    ($kernel:ident) => {
        GROUP
    };
}

/// Whether the threads of a kernel copy operands ahead, by the word of its entry.
macro_rules! copies_ahead {
    () => {
        false
    };
    (ahead) => {
        true
    };
}

/// The kernel of an entry of the table.
macro_rules! instance {
    ($kernel:ident Threads [$a:ident $b:ident $accumulator:ident $c:ident] $m:tt $n:tt $k:tt $promoted:tt) => {
        $kernel::<$a, $b, $accumulator, $c, $m, $n, $k>()
    };
    ($kernel:ident $tma:ident [$a:ident $b:ident $accumulator:ident $c:ident] $m:tt $n:tt $k:tt $promoted:tt) => {
        $kernel::<$a, $b, $accumulator, $c, $m, $n, $k, $promoted>()
    };
}

/// The grid of a launch: persistent blocks, or a block for each tile.
macro_rules! grid {
    (Threads $blocks:ident $c:ident $m:tt $n:tt) => {{
        let (_, [batches, rows, columns]) = ($blocks, $c.shape());
        Grid::cover([columns, rows, batches], [$n, $m, 1])
    }};
    ($tma:ident $blocks:ident $c:ident $m:tt $n:tt) => {
        $blocks
    };
}

/// The kernel of an entry of the table, and its storage of operands A and B.
macro_rules! entry {
    (nn $($rest:tt)*) => { candidate!(gemm_nn Tma (Row, Row) $($rest)*) };
    (nt $($rest:tt)*) => { candidate!(gemm_nt Tma (Row, Column) $($rest)*) };
    (tn $($rest:tt)*) => { candidate!(gemm_tn Tma (Column, Row) $($rest)*) };
    (tt $($rest:tt)*) => { candidate!(gemm_tt Tma (Column, Column) $($rest)*) };
    (cluster_nn $($rest:tt)*) => { candidate!(gemm_cluster_nn Cluster [2, 1] (Row, Row) $($rest)*) };
    (cluster_nt $($rest:tt)*) => { candidate!(gemm_cluster_nt Cluster [2, 1] (Row, Column) $($rest)*) };
    (cluster_tn $($rest:tt)*) => { candidate!(gemm_cluster_tn Cluster [2, 1] (Column, Row) $($rest)*) };
    (cluster_tt $($rest:tt)*) => { candidate!(gemm_cluster_tt Cluster [2, 1] (Column, Column) $($rest)*) };
    (cluster_2x2_nt $($rest:tt)*) => { candidate!(gemm_cluster_2x2_nt Cluster [2, 2] (Row, Column) $($rest)*) };
    (cluster_1x4_nt $($rest:tt)*) => { candidate!(gemm_cluster_1x4_nt Cluster [1, 4] (Row, Column) $($rest)*) };
    (cluster_4x1_nt $($rest:tt)*) => { candidate!(gemm_cluster_4x1_nt Cluster [4, 1] (Row, Column) $($rest)*) };
    (deep_cluster_4x1_nt $($rest:tt)*) => { candidate!(gemm_deep_cluster_4x1_nt Cluster [4, 1] (Row, Column) $($rest)*) };
    (deep_cluster_2x2_nt $($rest:tt)*) => { candidate!(gemm_deep_cluster_2x2_nt Cluster [2, 2] (Row, Column) $($rest)*) };
    (deep_nn $($rest:tt)*) => { candidate!(gemm_deep_nn Tma (Row, Row) $($rest)*) };
    (deep_nt $($rest:tt)*) => { candidate!(gemm_deep_nt Tma (Row, Column) $($rest)*) };
    (deep_tn $($rest:tt)*) => { candidate!(gemm_deep_tn Tma (Column, Row) $($rest)*) };
    (deep_tt $($rest:tt)*) => { candidate!(gemm_deep_tt Tma (Column, Column) $($rest)*) };
    (compact_nn $($rest:tt)*) => { candidate!(gemm_compact_nn Tma (Row, Row) $($rest)*) };
    (compact_nt $($rest:tt)*) => { candidate!(gemm_compact_nt Tma (Row, Column) $($rest)*) };
    (compact_tn $($rest:tt)*) => { candidate!(gemm_compact_tn Tma (Column, Row) $($rest)*) };
    (compact_tt $($rest:tt)*) => { candidate!(gemm_compact_tt Tma (Column, Column) $($rest)*) };
    (narrow_nn $($rest:tt)*) => { candidate!(gemm_narrow_nn Tma (Row, Row) $($rest)*) };
    (narrow_nt $($rest:tt)*) => { candidate!(gemm_narrow_nt Tma (Row, Column) $($rest)*) };
    (rows_nn $($rest:tt)*) => { candidate!(gemm_rows_nn Tma (Row, Row) $($rest)*) };
    (rows_nt $($rest:tt)*) => { candidate!(gemm_rows_nt Tma (Row, Column) $($rest)*) };
    (rows_tn $($rest:tt)*) => { candidate!(gemm_rows_tn Tma (Column, Row) $($rest)*) };
    (rows_tt $($rest:tt)*) => { candidate!(gemm_rows_tt Tma (Column, Column) $($rest)*) };
    (half_rows_nn $($rest:tt)*) => { candidate!(gemm_half_rows_nn Tma (Row, Row) $($rest)*) };
    (half_rows_nt $($rest:tt)*) => { candidate!(gemm_half_rows_nt Tma (Row, Column) $($rest)*) };
    (wide_rows_nn $($rest:tt)*) => { candidate!(gemm_wide_rows_nn Tma (Row, Row) $($rest)*) };
    (wide_rows_nt $($rest:tt)*) => { candidate!(gemm_wide_rows_nt Tma (Row, Column) $($rest)*) };
    (wide_cluster_rows_nn $($rest:tt)*) => { candidate!(gemm_wide_cluster_rows_nn Cluster [2, 1] (Row, Row) $($rest)*) };
    (cluster_rows_nt $($rest:tt)*) => { candidate!(gemm_cluster_rows_nt Cluster [2, 1] (Row, Column) $($rest)*) };
    (cluster_1x2_rows_nt $($rest:tt)*) => { candidate!(gemm_cluster_1x2_rows_nt Cluster [1, 2] (Row, Column) $($rest)*) };
    (cluster_2x2_rows_nt $($rest:tt)*) => { candidate!(gemm_cluster_2x2_rows_nt Cluster [2, 2] (Row, Column) $($rest)*) };
    (half_cluster_1x2_rows_nt $($rest:tt)*) => { candidate!(gemm_half_cluster_1x2_rows_nt Cluster [1, 2] (Row, Column) $($rest)*) };
    (half_cluster_1x4_rows_nt $($rest:tt)*) => { candidate!(gemm_half_cluster_1x4_rows_nt Cluster [1, 4] (Row, Column) $($rest)*) };
    (half_cluster_2x2_rows_nt $($rest:tt)*) => { candidate!(gemm_half_cluster_2x2_rows_nt Cluster [2, 2] (Row, Column) $($rest)*) };
    (wide_cluster_rows_nt $($rest:tt)*) => { candidate!(gemm_wide_cluster_rows_nt Cluster [2, 1] (Row, Column) $($rest)*) };
    (wide_cluster_1x2_rows_nt $($rest:tt)*) => { candidate!(gemm_wide_cluster_1x2_rows_nt Cluster [1, 2] (Row, Column) $($rest)*) };
    (swap_ab_nn $($rest:tt)*) => { candidate!(gemm_swap_ab_nn Tma (Row, Row) $($rest)*) };
    (cluster_1x2_swap_ab_nn $($rest:tt)*) => { candidate!(gemm_cluster_1x2_swap_ab_nn Cluster [1, 2] (Row, Row) $($rest)*) };
    (threads_nn $($rest:tt)*) => { candidate!(gemm_threads_nn Threads (Row, Row) $($rest)*) };
    (shallow_threads_nn $($rest:tt)*) => { candidate!(gemm_shallow_threads_nn Threads (Row, Row) $($rest)*) };
    (ahead_nn $($rest:tt)*) => { candidate!(gemm_ahead_nn Threads ahead (Row, Row) $($rest)*) };
    (narrow_ahead_nn $($rest:tt)*) => { candidate!(gemm_narrow_ahead_nn Threads ahead (Row, Row) $($rest)*) };
    (double_buffered_nn $($rest:tt)*) => { candidate!(gemm_double_buffered_nn Threads ahead (Row, Row) $($rest)*) };
    (threads_nt $($rest:tt)*) => { candidate!(gemm_threads_nt Threads (Row, Column) $($rest)*) };
    (shallow_threads_nt $($rest:tt)*) => { candidate!(gemm_shallow_threads_nt Threads (Row, Column) $($rest)*) };
    (ahead_nt $($rest:tt)*) => { candidate!(gemm_ahead_nt Threads ahead (Row, Column) $($rest)*) };
    (narrow_ahead_nt $($rest:tt)*) => { candidate!(gemm_narrow_ahead_nt Threads ahead (Row, Column) $($rest)*) };
    (double_buffered_nt $($rest:tt)*) => { candidate!(gemm_double_buffered_nt Threads ahead (Row, Column) $($rest)*) };
    (threads_tn $($rest:tt)*) => { candidate!(gemm_threads_tn Threads (Column, Row) $($rest)*) };
    (shallow_threads_tn $($rest:tt)*) => { candidate!(gemm_shallow_threads_tn Threads (Column, Row) $($rest)*) };
    (ahead_tn $($rest:tt)*) => { candidate!(gemm_ahead_tn Threads ahead (Column, Row) $($rest)*) };
    (narrow_ahead_tn $($rest:tt)*) => { candidate!(gemm_narrow_ahead_tn Threads ahead (Column, Row) $($rest)*) };
    (double_buffered_tn $($rest:tt)*) => { candidate!(gemm_double_buffered_tn Threads ahead (Column, Row) $($rest)*) };
    (threads_tt $($rest:tt)*) => { candidate!(gemm_threads_tt Threads (Column, Column) $($rest)*) };
    (shallow_threads_tt $($rest:tt)*) => { candidate!(gemm_shallow_threads_tt Threads (Column, Column) $($rest)*) };
    (ahead_tt $($rest:tt)*) => { candidate!(gemm_ahead_tt Threads ahead (Column, Column) $($rest)*) };
    (double_buffered_tt $($rest:tt)*) => { candidate!(gemm_double_buffered_tt Threads ahead (Column, Column) $($rest)*) };
    (vector_n $types:tt $m:tt $n:tt $k:tt $promoted:tt) => {
        vector_candidate!(gemm_vector_n row Row (None, Some(Major::Row)) $n $types $m $n $k)
    };
    (vector_t $types:tt $m:tt $n:tt $k:tt $promoted:tt) => {
        vector_candidate!(gemm_vector_t row Column (None, Some(Major::Column)) $n $types $m $n $k)
    };
    (column_n $types:tt $m:tt $n:tt $k:tt $promoted:tt) => {
        vector_candidate!(gemm_vector_t column Row (Some(Major::Row), None) $m $types $m $n $k)
    };
    (column_t $types:tt $m:tt $n:tt $k:tt $promoted:tt) => {
        vector_candidate!(gemm_vector_n column Column (Some(Major::Column), None) $m $types $m $n $k)
    };
}

/// The candidates for partial sums: kernels whose `c` has the type of the accumulators.
macro_rules! partial_sums {
    (whole $a:ident $b:ident $accumulator:ident) => {
        &[]
    };
    // `split_k` or `split_k_only`: `stream_k_pass` tells them apart.
    ($split:ident $a:ident $b:ident $accumulator:ident) => {
        <$a as Multiply<$b, $accumulator>>::DIRECT
    };
}

/// From this many partial sums of a tile on, a block of the second pass loads several at once.
const MANY_PARTIAL_SUMS: u32 = 5;
/// From this many partial sums of a tile on, a block of the second pass adds up one row of a very small result.
const PARTIAL_SUMS_OF_ROWS: u32 = 9;
/// The most rows of such a result, in pieces of the columns of a block, and its most elements.
const ROWS_OF_BLOCKS: usize = 256;
const ELEMENTS_OF_ROWS: usize = 24 * 1024;
/// The columns that a block of the second pass adds up.
const SECOND_PASS_COLUMNS: usize = 128;

/// Whether each block of the second pass of split-K adds up one row of the result. Few blocks would have more rows, and each would wait for
/// its partial sums several times.
///
/// *Measured* on an H200: 16 x 128 x 76992 in 110 parts took 14.9 us in blocks of four rows, of which there are four, and takes 13.0.
pub(super) fn adds_up_rows([batches, rows, columns]: [usize; 3], splits: u32) -> bool {
    splits >= PARTIAL_SUMS_OF_ROWS
        && batches * rows * columns.div_ceil(SECOND_PASS_COLUMNS) <= ROWS_OF_BLOCKS
        && batches * rows * columns <= ELEMENTS_OF_ROWS
}

/// The second pass of stream-K, for types that have it.
macro_rules! stream_k_pass {
    (split_k $accumulator:ident $c:ident $parts:ident $stream:ident $shape:ident $arguments:expr) => {
        if $parts < MANY_PARTIAL_SUMS {
            reduce_stream_k::<$accumulator, $c, 1, 16>().launch_on(
                $stream,
                second_pass_grid($shape, 16),
                $arguments,
            )
        } else {
            reduce_stream_k::<$accumulator, $c, 8, 4>().launch_on(
                $stream,
                second_pass_grid($shape, 4),
                $arguments,
            )
        }
    };
    ($other:ident $accumulator:ident $c:ident $parts:ident $stream:ident $shape:ident $arguments:expr) => {{
        let _ = ($parts, $arguments);
        Err(Error::Operands {
            operation: "gemm",
            problem: "products of these types have no such partial sums".into(),
        })
    }};
}

/// The grid of a second pass, with tiles of this height.
fn second_pass_grid([batches, rows, columns]: [usize; 3], height: usize) -> Grid {
    Grid::cover([columns, rows, batches], [SECOND_PASS_COLUMNS, height, 1])
}

/// The factors of the transposed product, of these types.
macro_rules! transposed_factors {
    (u8 i8 $a:ident $b:ident) => {{
        let _ = ($a, $b);
        Ok(None)
    }};
    ($type:ident $same:ident $a:ident $b:ident) => {
        Ok(Some(($b.permute(TRANSPOSED)?, $a.permute(TRANSPOSED)?)))
    };
}

macro_rules! products {
    ($([$a:ident $b:ident $accumulator:ident $c:ident $decomposition:ident] $($kernel:ident $m:tt $n:tt $k:tt $promoted:tt,)*)*) => { $(
        impl sealed::Sealed<$b, $c> for $a {}
        impl Multiply<$b, $c> for $a {
            type Sum = $accumulator;
            const DIRECT: &'static [Candidate<$a, $b, $c, $accumulator>] =
                &[$(entry!($kernel [$a $b $accumulator $c] $m $n $k $promoted),)*];
            const PARTIAL_SUMS: &'static [Candidate<$a, $b, $accumulator, $accumulator>] =
                partial_sums!($decomposition $a $b $accumulator);
            fn transposed_factors<'t>(
                a: TensorView<'t, $a, 3>,
                b: TensorView<'t, $b, 3>,
            ) -> Result<Factors<'t, $a, $b>> {
                transposed_factors!($a $b a b)
            }
            fn reduce(stream: &Stream, arguments: PartialSums<'_, $accumulator, $c>) -> Result<()> {
                let PartialSums { partial_sums, c, bias, scales, of } = arguments;
                let shape = c.shape();
                match of {
                    PartialSumsOf::SplitK(splits) => {
                        let (kernel, height) = if splits < MANY_PARTIAL_SUMS {
                            (reduce_split_k::<$accumulator, $c, 1, 16>(), 16)
                        } else if adds_up_rows(shape, splits) {
                            (reduce_split_k::<$accumulator, $c, 32, 1>(), 1)
                        } else {
                            (reduce_split_k::<$accumulator, $c, 8, 4>(), 4)
                        };
                        let arguments = (partial_sums, c, bias, scales, splits);
                        kernel.launch_on(stream, second_pass_grid(shape, height), arguments)
                    }
                    PartialSumsOf::StreamK { range, steps, parts } => {
                        let arguments = (partial_sums, c, bias, scales, range, steps);
                        stream_k_pass!($decomposition $accumulator $c parts stream shape arguments)
                    }
                }
            }
        }
    )* };
}
gemm_table!(products!());

/// Whether the type is an integer type.
const fn is_integer<T: KindOf>() -> bool {
    T::INTEGER
}

/// The kind of an element type, for constants.
trait KindOf {
    const INTEGER: bool;
}

macro_rules! kinds {
    ($($type:ident $integer:literal)*) => { $(
        impl KindOf for $type {
            const INTEGER: bool = $integer;
        }
    )* };
}
kinds!(f16 false bf16 false tf32 false f8e4m3 false f8e5m2 false f64 false i8 true u8 true);
