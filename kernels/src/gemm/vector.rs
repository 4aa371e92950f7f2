//! The kernels for products of a matrix and a vector: results of one row or of one column.
//!
//! Memory is what such a product waits for, and a small one for the way of the first elements. So the threads multiply what they loaded
//! where it is, in registers, and add up what they have at the end. Several tiles of the matrix are on their way at a time.

use cuda_tiles::element::Float;
use cuda_tiles::launch::ByValue;
use cuda_tiles::prelude::*;

use super::epilogue::{Scales, Sum, finish_view};
use super::scheduler::TileRange;

/// The tiles of the matrix that are loaded at a time: a k step has their depths. Four to six blocks then share a multiprocessor, without
/// spills. *Measured* on an H200: with four tiles and three blocks long products took a third longer. *Refused*: an array that a closure
/// fills. Its loads are not under way together, and it took twice the time.
pub(super) const TILES: usize = 3;
/// The elements of a tile of the matrix, of elements of so many bytes: 8 for each thread, and 4 of `f64`, so that the registers of three
/// tiles leave room for four blocks.
pub(super) const fn tile_elements(bytes: usize) -> usize {
    if bytes < 8 { 2048 } else { 1024 }
}

/// Defines a kernel that multiplies a matrix by a vector.
///
/// Brackets hold settings of `#[kernel]`. The matrix has the shape of its tiles in memory, in which K is axis `$along` and the elements of
/// the result are axis `$across`. A thread has `vector` neighbours of a row: few, since rows may begin anywhere. The lanes of a warp then
/// load neighbours where a thread loads its elements one by one.
macro_rules! vector_kernel {
    (
        $(#[$documentation:meta])*
        $name:ident [$($setting:tt)*]: matrix [$rows:tt x $columns:tt], along $along:tt, across $across:tt, |$i:ident, $k:ident| ($row:expr, $column:expr);
        instances $instances:tt
    ) => {
        $(#[$documentation])*
        ///
        /// Generic parameters: the element types of the matrix, the vector, the accumulators and `c`; the elements of the result and the
        /// depth of a tile of the matrix.
        ///
        /// # Shapes
        ///
        /// `vector` is a batch of vectors along K, and `c` a batch of vectors of R elements, both of any strides. For split-K, `c` has `splits`
        /// vectors of partial sums for each of the product. The bias is empty, has R elements, or has one for all. Each of the matrix and the
        /// vector is one for all, or a batch.
        ///
        /// # On a GPU
        ///
        /// Each block computes a tile. The axes of the grid are elements and vectors of `c`. The kernel supports programmatic dependent launch
        /// (PDL).
        #[kernel(threads = 256, $($setting)*, grid = 2, dependent, cpu = crate::gemm::on_cpu::for_vectors::<T, O>(R), instances $instances)]
        pub fn $name<
            B: Block,
            T: Element + Cast<C>,
            U: Element + Cast<C>,
            C: Sum + Float + Cast<O>,
            O: Element + Cast<C>,
            const R: usize,
            const K: usize,
        >(
            cx: Cx<B>,
            matrix: Span<T, (u32, u32, u32), Pitched>,
            vector: Span<U, (u32, u32), Strided>,
            c: SpanMut<O, (u32, u32), Strided>,
            bias: Span<O, (u32,)>,
            scales: ByValue<Scales<C>>,
            range: ByValue<TileRange>,
        ) where
            D<R>: Dimension,
            D<K>: Dimension,
        {
            const { assert!(R * K == tile_elements(size_of::<T>()), "the model of costs counts on it") };
            let (matrices, vectors, depth) = (matrix.extent(0), vector.extent(0), matrix.extent($along));
            let matrix = matrix.partition(cx, shape![1, $rows, $columns]);
            let c = c.partition(cx, shape![1, R]);
            let ($i, m) = (cx.bid::<0>(), cx.bid::<1>());
            let (batch, first, count) = range.0.split(*m, depth.div_ceil(const { (TILES * K) as u32 }));
            // One matrix serves the whole batch.
            let (x, y) = (if matrices == 1 { 0 } else { batch }, if vectors == 1 { 0 } else { batch });
            // Where a thread's elements lie along K. It loads what it multiplies of the vector itself, without exchange.
            let along = cx.zeros::<u32>(shape![1, $rows, $columns]).coordinates::<$along>().max::<$across>();
            let mut acc = cx.zeros::<C>(shape![1, $rows, $columns]);
            for step in first..first + count {
                let load = |$k: u32| matrix.load_masked(Zero, (x, $row, $column));
                let part = |k: u32| vector.gather((y, along + k * const { K as u32 })).cast::<C>();
                let k = step * const { TILES as u32 };
                // All are on their way before the first one is multiplied.
                let tiles = [load(k), load(k + 1), load(k + 2)];
                let parts = [part(k), part(k + 1), part(k + 2)];
                acc = tiles[0].cast::<C>().fma(parts[0], acc);
                acc = tiles[1].cast::<C>().fma(parts[1], acc);
                acc = tiles[2].cast::<C>().fma(parts[2], acc);
            }
            let acc = acc.sum::<$along>().reshape(shape![1, R]);
            // The position of an element's bias: its own, or that for all.
            let own = if bias.extent(0) == 1 { 0 } else { 1 };
            let at = (cx.zeros::<u32>(shape![R]).coordinates::<0>() + *$i * const { R as u32 }) * own;
            let result = finish_view!(acc, scales.0, c, (m, $i), bias.extent(0) != 0, bias.gather(at));
            c.store_masked(result, (m, $i));
        }
    };
}

gemm_table!(instances!(vector_n (vector_kernel!
    /// `c = activation(alpha vector matrix + beta c + bias)`, with the matrix stored K x R.
    gemm_vector_n [vector = 4]: matrix [K x R], along 1, across 2, |i, k| (k, *i);
) [] ();));

gemm_table!(instances!(vector_t (vector_kernel!
    /// `c = activation(alpha matrix vector + beta c + bias)`, with the matrix stored R x K.
    gemm_vector_t [vector = 2, min_blocks = 4]: matrix [R x K], along 2, across 1, |i, k| (*i, k);
) [] ();));
