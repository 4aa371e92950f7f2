//! Tiles on their way through shared memory to the fragments of `mma.sync`.

use crate::arch;
use crate::element::bits_transport::Transport;
use crate::element::{Repack, Word};
use crate::layout::{Layout, LinearMap, Map, is_transposed_in_place};
use crate::memory::swizzle::{SwizzledAddress, SwizzledMatrix};
use crate::mma::types::pack;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::tile::Tile;
use typenum::{U1, U2, U4};

/// Whether an operand A of this layout lies in shared memory by columns, as threads hold it, for instructions that want rows: they transpose
/// elements of 16 bits, and load those of 64 bits one by one.
pub(crate) const fn a_lies_by_columns<T: Repack, L: Layout>() -> bool {
    is_transposed_in_place::<L>() && matches!(size_of::<T::Bits>(), 2 | 8)
}

/// The part of a tile that goes into shared memory at once: a range of `k` of one matrix of the batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The number of bits of the flat index below those of the batch.
    pub(crate) matrix: u32,
    /// Base-2 logarithm of the columns of the tile.
    pub(crate) columns: u32,
    /// Whether `k` counts columns, as it does in operand A, and not rows.
    pub(crate) by_columns: bool,
    /// Base-2 logarithm of the length of the range.
    pub(crate) window: u32,
    /// Whether the rows of the stage are the columns of the tile.
    pub(crate) transposed: bool,
}

impl Part {
    /// `2^depth` of `k` of an operand with these base-2 logarithms of rows and columns.
    pub(crate) const fn new(rows: u32, columns: u32, depth: u32, by_columns: bool, transposed: bool) -> Self {
        let length = if by_columns { columns } else { rows };
        let window = if depth < length { depth } else { length };
        Self { matrix: rows + columns, columns, by_columns, window, transposed }
    }

    /// The place of the element with flat index `flat`, if it belongs to the part; linear.
    #[inline_on_device]
    pub(crate) const fn offset(&self, stage: &SwizzledMatrix, size: usize, flat: usize) -> usize {
        let (mut row, mut column) =
            ((flat & ((1 << self.matrix) - 1)) >> self.columns, flat & ((1 << self.columns) - 1));
        if self.by_columns {
            column &= (1 << self.window) - 1;
        } else {
            row &= (1 << self.window) - 1;
        }
        if self.transposed { stage.offset(column, row * size) } else { stage.offset(row, column * size) }
    }

    /// The lowest bit of the flat index along a row of the stage, and the number of such bits.
    const fn row(&self) -> (u32, u32) {
        match (self.transposed, self.by_columns) {
            (false, false) => (0, self.columns),
            (false, true) => (0, self.window),
            (true, false) => (self.columns, self.window),
            (true, true) => (self.columns, self.matrix - self.columns),
        }
    }

    /// The bits of flat indices that distinguish parts.
    const fn selection(&self) -> usize {
        let low = if self.by_columns { self.window } else { self.columns + self.window };
        let high = if self.by_columns { self.columns } else { self.matrix };
        ((1 << high) - (1 << low)) | !((1 << self.matrix) - 1)
    }

    /// The bits of an offset that depend on the thread.
    const fn touched(&self, stage: &SwizzledMatrix, size: usize, map: &LinearMap) -> usize {
        let (mut touched, mut k) = (0, 0);
        while k < map.thread.len() {
            if map.thread[k] >= 0 {
                touched |= self.offset(stage, size, 1 << map.thread[k]);
            }
            k += 1;
        }
        touched
    }
}

/// Base-2 logarithm of the elements of a row of the stage that a thread holds and can store at once, up to 16 bytes.
const fn run(map: &LinearMap, size: usize, part: &Part) -> u32 {
    let (first, length) = part.row();
    let mut run = 0;
    while size << run < 16
        && run < length
        && run < map.register_bits() as u32
        && map.register[run as usize] == (first + run) as i8
    {
        run += 1;
    }
    run
}

/// The number of matrices of a batch.
pub(crate) const fn batches<S: Shape>() -> usize {
    S::LEN >> (<S::Rows as PowerOfTwo>::LOG + <S::Columns as PowerOfTwo>::LOG)
}

/// The content of a stage, as a type.
pub(crate) trait Filling {
    /// The stage.
    const STAGE: SwizzledMatrix;
    /// The part of the tile.
    const PART: Part;
}

/// Stores the elements of matrix `batch`, from `first` of `k` on.
///
/// # Safety
/// All threads of the block execute this same call. The stage at `address` lies in shared memory of this block, aligned to 16
/// bytes, with no concurrent access.
#[inline_on_device]
pub(crate) unsafe fn fill<F: Filling, T: Repack, S: Shape, L: Layout>(
    address: u32,
    tile: &Tile<T, S, L>,
    batch: usize,
    first: usize,
) {
    let size = const { size_of::<T::Bits>() };
    let run = const { run(&Map::<L, S>::MAP, size_of::<T::Bits>(), &F::PART) };
    let selection = const { F::PART.selection() };
    let selected = batch << const { F::PART.matrix }
        | if const { F::PART.by_columns } { first } else { first << const { F::PART.columns } };
    let thread = Tile::<T, S, L>::thread_index();
    let place = SwizzledAddress {
        stage: address,
        own: F::PART.offset(&F::STAGE, size, thread),
        touched: const { F::PART.touched(&F::STAGE, size_of::<T::Bits>(), &Map::<L, S>::MAP) },
    };
    let replicas = const { Map::<L, S>::MAP.replicas };
    if replicas != 0 && arch::execution::thread() & replicas != 0 {
        return;
    }
    <L::Registers<S>>::unroll(0, 1 << run, &mut |i| {
        let own = Tile::<T, S, L>::flat_index(0, i);
        if (thread | own) & selection == selected {
            let target = place.at(F::PART.offset(&F::STAGE, size, own));
            // SAFETY: the elements of the run lie side by side in memory, as in the row, which is at least 16 bytes long.
            // Offsets are a bijection of the elements of the part. Threads that hold copies do not store.
            unsafe { store_run(tile.registers(), i, size << run, target) }
        }
    });
}

/// Stores the elements of `bytes` from register `i` on.
///
/// # Safety
/// `address` has room in shared memory of this block, aligned to that many bytes, with no concurrent access.
#[inline_on_device]
unsafe fn store_run<T: Repack, N: PowerOfTwo>(
    registers: &Registers<T, N>,
    i: usize,
    bytes: usize,
    address: u32,
) {
    let size = const { size_of::<T::Bits>() };
    let word = |w: usize| -> u32 {
        match size {
            1 => pack::<T, u32, U4>(|part| registers.get(i + 4 * w + part)),
            2 => pack::<T, u32, U2>(|part| registers.get(i + 2 * w + part)),
            4 => pack::<T, u32, U1>(|_| registers.get(i + w)),
            _ => (registers.get(i + w / 2).to_bits().widen() >> (32 * (w % 2))) as u32,
        }
    };
    // SAFETY: the same contract.
    unsafe {
        match bytes {
            16 => arch::matrix::store_words(address, [word(0), word(1), word(2), word(3)]),
            8 => arch::shared::store_u64(address, u64::from(word(0)) | u64::from(word(1)) << 32),
            4 => arch::shared::store_u32(address, word(0)),
            _ if bytes > size => {
                arch::shared::store_u16(address, pack::<T, u16, U2>(|part| registers.get(i + part)))
            }
            _ => registers.get(i).to_bits().store_shared(address),
        }
    }
}
