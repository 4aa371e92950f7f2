//! Which element of a matrix is where, in the layouts of tensor cores: their maps.

use super::map::{FLAT_BITS, LinearMap, NONE, THREAD_BITS};
use crate::shape::ShapeDescription;

/// The parts of a product of matrices, as data.
#[derive(Clone, Copy, Debug)]
pub enum MatrixPart {
    /// See [`Accumulators`](super::Accumulators).
    Accumulators,
    /// See [`TransposedAccumulators`](super::TransposedAccumulators).
    TransposedAccumulators,
    /// See [`TransposedBlocked`](super::TransposedBlocked).
    TransposedBlocked,
    /// See [`OperandALayout`](super::OperandALayout).
    A {
        /// Base-2 logarithm of the bytes of an element.
        bytes: u32,
        /// Base-2 logarithm of the columns of the accumulators.
        columns: u32,
    },
    /// See [`OperandBLayout`](super::OperandBLayout).
    B {
        /// Base-2 logarithm of the bytes of an element.
        bytes: u32,
        /// Base-2 logarithm of the rows of the accumulators.
        rows: u32,
    },
}

/// The base-2 logarithm of the lengths of the last two axes.
pub(super) const fn matrix(shape: &ShapeDescription) -> (u32, u32) {
    match shape.rank {
        0 => (0, 0),
        1 => (0, shape.log[0]),
        rank => (shape.log[rank - 2], shape.log[rank - 1]),
    }
}

const fn minimum(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// The base-2 logarithms of the warps along the rows and along the columns of accumulators with `2^m` rows and `2^n` columns, or
/// nothing where tensor cores do not serve them.
///
/// Where warpgroups multiply together, warps go down the rows, as they hold the accumulators of `wgmma`; elsewhere each warp has
/// about as many rows as columns, and no more than 64 of either where that can be.
pub(crate) const fn warps(m: u32, n: u32, threads: u32, warpgroups: bool) -> Option<(u32, u32)> {
    if m < 4 || n < 3 || threads < 5 {
        return None;
    }
    let warps = threads - 5;
    let rows = if warpgroups {
        minimum(warps, m - 4)
    } else {
        let (tall, left) = (m.saturating_sub(6), warps.saturating_sub(n - 3));
        minimum(warps, minimum(m - 4, if tall > left { tall } else { left }))
    };
    Some((rows, minimum(warps - rows, n - 3)))
}

/// Bits of a register number and of a thread number, from the lowest on, as they are handed out.
struct Places {
    register: [i8; FLAT_BITS],
    registers: usize,
    thread: [i8; THREAD_BITS],
    threads: usize,
}

impl Places {
    const fn new() -> Self {
        Self { register: [NONE; FLAT_BITS], registers: 0, thread: [NONE; THREAD_BITS], threads: 0 }
    }

    /// Gives the flat bits `low..high` the next bits of the register number.
    const fn registers(mut self, low: u32, high: u32) -> Self {
        let mut bit = low;
        while bit < high {
            self.register[self.registers] = bit as i8;
            self.registers += 1;
            bit += 1;
        }
        self
    }

    /// Gives the flat bits `low..high` the next bits of the thread number.
    const fn threads(mut self, low: u32, high: u32) -> Self {
        let mut bit = low;
        while bit < high {
            self.thread[self.threads] = bit as i8;
            self.threads += 1;
            bit += 1;
        }
        self
    }

    /// Leaves out `count` bits of the thread number: these threads hold copies.
    const fn copies(mut self, count: u32) -> Self {
        self.threads += count as usize;
        self
    }

    const fn map(self, threads: u32) -> LinearMap {
        LinearMap::new(self.registers, self.register, self.thread, threads)
    }
}

impl MatrixPart {
    /// Which element of a tile of `shape` is where; [`Blocked`](super::Blocked) in pieces of `2^vector` where tensor cores do not serve it.
    pub(crate) const fn map(
        &self,
        shape: &ShapeDescription,
        vector: u32,
        threads: u32,
        warpgroups: bool,
    ) -> LinearMap {
        let (rows, columns) = matrix(shape);
        let bits = shape.bits();
        let blocked = LinearMap::blocked(bits, vector, threads);
        match *self {
            Self::Accumulators => {
                let Some((down, across)) = warps(rows, columns, threads, warpgroups) else { return blocked };
                let n = columns;
                Places::new()
                    .registers(0, 1)
                    .registers(n + 3, n + 4)
                    .registers(3 + across, n)
                    .registers(n + 4 + down, bits)
                    .threads(1, 3)
                    .threads(n, n + 3)
                    .threads(n + 4, n + 4 + down)
                    .threads(3, 3 + across)
                    .map(threads)
            }
            Self::TransposedAccumulators => {
                let Some((down, across)) = warps(columns, rows, threads, warpgroups) else { return blocked };
                let (n, end) = (columns, columns + rows);
                Places::new()
                    .registers(n, n + 1)
                    .registers(3, 4)
                    .registers(n + 3 + across, end)
                    .registers(4 + down, n)
                    .registers(end, bits)
                    .threads(n + 1, n + 3)
                    .threads(0, 3)
                    .threads(4, 4 + down)
                    .threads(n + 3, n + 3 + across)
                    .map(threads)
            }
            Self::TransposedBlocked => {
                // In a block of one thread, all layouts are the same.
                if threads == 0 { blocked } else { transposed(&blocked, rows, columns, threads) }
            }
            Self::A { bytes, columns: n } => {
                let k = columns;
                let (word, unit) = word_and_unit(bytes);
                let Some((down, _)) = warps(rows, n, threads, warpgroups) else { return blocked };
                if k < unit {
                    return blocked;
                }
                Places::new()
                    .registers(0, word)
                    .registers(k + 3, k + 4)
                    .registers(unit, k)
                    .registers(k + 4 + down, bits)
                    .threads(word, unit)
                    .threads(k, k + 3)
                    .threads(k + 4, k + 4 + down)
                    .map(threads)
            }
            Self::B { bytes, rows: m } => {
                let (k, n) = (rows, columns);
                let (word, unit) = word_and_unit(bytes);
                let Some((down, across)) = warps(m, n, threads, warpgroups) else { return blocked };
                if k < unit {
                    return blocked;
                }
                Places::new()
                    .registers(n, n + word)
                    .registers(n + unit, n + k)
                    .registers(3 + across, n)
                    .registers(n + k, bits)
                    .threads(n + word, n + unit)
                    .threads(0, 3)
                    .copies(down)
                    .threads(3, 3 + across)
                    .map(threads)
            }
        }
    }
}

/// The map of matrices of `2^rows` and `2^columns` elements whose transposes have this map.
const fn transposed(map: &LinearMap, rows: u32, columns: u32, threads: u32) -> LinearMap {
    const fn bit(bit: i8, rows: i8, columns: i8) -> i8 {
        if bit == NONE || bit >= rows + columns {
            bit
        } else if bit < rows {
            bit + columns
        } else {
            bit - rows
        }
    }
    let (mut register, mut thread, mut k) = ([NONE; FLAT_BITS], [NONE; THREAD_BITS], 0);
    while k < FLAT_BITS {
        register[k] = bit(map.register[k], rows as i8, columns as i8);
        k += 1;
    }
    k = 0;
    while k < THREAD_BITS {
        thread[k] = bit(map.thread[k], rows as i8, columns as i8);
        k += 1;
    }
    LinearMap::new(map.register_bits(), register, thread, threads)
}

/// The base-2 logarithms of the elements of a register, and of `k` over four lanes.
const fn word_and_unit(bytes: u32) -> (u32, u32) {
    let word = 2u32.saturating_sub(bytes);
    (word, word + 2)
}
