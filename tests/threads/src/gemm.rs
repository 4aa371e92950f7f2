//! `C = alpha A B + beta C` of row-major matrices: A has `m` rows, B has `n` columns, and the sums have `k` products.

use cuda_tiles::cuda_std::prelude::*;
use cuda_tiles::cuda_std::shared_array;

/// Each thread computes an element by itself.
///
/// # Safety
///
/// The matrices have these sizes, and nobody else touches C.
#[kernel]
#[allow(clippy::too_many_arguments)]
pub unsafe fn gemm_naive(
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    m: usize,
    n: usize,
    k: usize,
    alpha: f32,
    beta: f32,
) {
    let index = thread::index_2d();
    let (row, column) = (index.x as usize, index.y as usize);
    if row < m && column < n {
        let sum: f32 = (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
        // SAFETY: the element lies in C, and belongs to this thread.
        unsafe {
            let element = c.add(row * n + column);
            *element = alpha * sum + beta * *element;
        }
    }
}

/// The rows and columns of a tile.
pub const TILE: usize = 16;

/// Each block computes a tile of C. Its threads load tiles of A and B into shared memory, an element each.
///
/// # Safety
///
/// As for [`gemm_naive`]; blocks have 16 x 16 threads.
#[kernel]
#[allow(clippy::too_many_arguments)]
pub unsafe fn gemm_tiled(
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    m: usize,
    n: usize,
    k: usize,
    alpha: f32,
    beta: f32,
) {
    let tile_a = shared_array![f32; TILE * TILE];
    let tile_b = shared_array![f32; TILE * TILE];
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let row = thread::block_idx_x() as usize * TILE + y;
    let column = thread::block_idx_y() as usize * TILE + x;
    let mut sum = 0.0;
    for first in (0..k).step_by(TILE) {
        let own = y * TILE + x;
        // SAFETY: each thread writes its own elements of the tiles, and a barrier is between writes and reads.
        unsafe {
            *tile_a.add(own) = if row < m && first + x < k { a[row * k + first + x] } else { 0.0 };
            *tile_b.add(own) = if column < n && first + y < k { b[(first + y) * n + column] } else { 0.0 };
        }
        thread::sync_threads();
        for i in 0..TILE {
            // SAFETY: as above.
            sum += unsafe { *tile_a.add(y * TILE + i) * *tile_b.add(i * TILE + x) };
        }
        thread::sync_threads();
    }
    if row < m && column < n {
        // SAFETY: the element lies in C, and belongs to this thread.
        unsafe {
            let element = c.add(row * n + column);
            *element = alpha * sum + beta * *element;
        }
    }
}
