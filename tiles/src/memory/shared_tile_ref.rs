//! A reference to a tile in shared memory: an operand of multiplications, and a source of ordinary loads.

use crate::arch::TILES_IN_REGISTERS;
use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::matrix::{
    load_matrices_2, load_matrices_2_transposed, load_matrices_4, load_matrices_4_transposed, load_matrix,
    load_matrix_transposed,
};
use crate::arch::threads::{self, Address};
use crate::element::Element;
use crate::layout::{Accumulators, Block, Blocked, Layout, LinearMap, Map, Slice, THREAD_BITS};
use crate::memory::reads::Reads;
use crate::memory::shared_tile::{Geometry, SharedTile, SharedTileShape};
use crate::memory::swizzle::SwizzledAddress;
use crate::registers::{PowerOfTwo, Registers};
use crate::sealed::{Sealed, sealed};
use crate::shape::{D, Dimension};
use crate::simt::shared::load_element;
use crate::tile::Tile;
use core::marker::PhantomData;

/// A tile of elements `T` and shape `S` in shared memory, lent for `'k`.
///
/// # On a GPU
///
/// `wgmma.mma_async` reads it through a matrix descriptor (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions");
/// `ldmatrix` loads its fragments for `mma.sync`.
pub struct SharedTileRef<'k, T, S> {
    address: Address,
    reads: &'k Reads,
    tile: PhantomData<(T, S)>,
}

impl<T, S> Clone for SharedTileRef<'_, T, S> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for SharedTileRef<'_, T, S> {}

/// A tile in shared memory, read as its transpose.
pub struct Transposed<X>(X);

impl<X: Copy> Clone for Transposed<X> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<X: Copy> Copy for Transposed<X> {}

impl<'k, T: Element, R: Dimension, C: Dimension> SharedTileRef<'k, T, (R, C)> {
    const GEOMETRY: Geometry = <SharedTile<T, (R, C)> as SharedTileShape>::GEOMETRY;

    /// # Safety
    /// At `address` lies a tile of this kind. Nobody writes it for `'k`.
    #[inline_on_device]
    pub(crate) unsafe fn new(address: Address, reads: &'k Reads) -> Self {
        Self { address, reads, tile: PhantomData }
    }

    /// The transposed tile, of shape `(C, R)`, without a copy.
    ///
    /// It changes between K-major and MN-major.
    #[inline_on_device]
    pub fn transposed(self) -> Transposed<Self> {
        Transposed(self)
    }

    /// The tile in registers, in the layout [`Blocked`].
    ///
    /// # On a GPU
    ///
    /// `ld.shared` (PTX ISA, "Data Movement and Conversion Instructions: ld").
    #[inline_on_device]
    pub fn load<B: Block>(self, _cx: crate::context::Cx<B>) -> Tile<T, (R, C), Blocked<B>> {
        self.load_in()
    }

    /// The tile in registers, as an operand A in the layout [`Accumulators`].
    ///
    /// Multiplications with it read no shared memory for A, and the stage can be released.
    ///
    /// # On a GPU
    ///
    /// `ldmatrix.x4` for elements of 16 bits (PTX ISA, "Warp-level matrix load instruction: ldmatrix"). Else `ld.shared`.
    #[inline_on_device]
    pub fn load_operand_a<B: Block>(self, _cx: crate::context::Cx<B>) -> Tile<T, (R, C), Accumulators<B>> {
        let map = const { &Map::<Accumulators<B>, (R, C)>::MAP };
        let column_bits = const { <C::Count as PowerOfTwo>::LOG };
        // Whether one instruction loads eight registers: two columns, of both eights of rows, of two eights of columns.
        let by_matrices = const {
            let [a, b, c] = first_bits(&Map::<Accumulators<B>, (R, C)>::MAP);
            size_of::<T::Bits>() == 2 && a == 0 && b == <C::Count as PowerOfTwo>::LOG as i8 + 3 && c == 3
        };
        if !by_matrices || !TILES_IN_REGISTERS {
            return self.load_in();
        }
        // Addresses must not take registers elsewhere.
        let thread = crate::arch::execution::rematerialise(crate::arch::execution::thread() as u32) as usize;
        let (warp, lane) = (map.of_thread.apply(thread & !31), thread % 32);
        let mut registers = Registers::from_fn(|_| T::ZERO);
        <<Accumulators<B> as Layout>::Registers<(R, C)>>::unroll(0, 8, &mut |i| {
            let flat = warp | map.of_register.apply(i);
            let (row, column) = (flat >> column_bits, flat & ((1 << column_bits) - 1));
            let place = const { Self::GEOMETRY }.offset(row + lane % 16, (column + lane / 16 * 8) * 2);
            // SAFETY: all lanes of the warp run this alike. The rows lie within the tile, which nobody writes.
            let words = unsafe { load_matrices_4(threads::word(threads::offset(self.address, place))) };
            for (k, word) in words.into_iter().enumerate() {
                registers.set(i + 2 * k, part_of(word));
                registers.set(i + 2 * k + 1, part_of(word >> 16));
            }
        });
        self.reads.are_done();
        Tile::from_registers(registers)
    }

    /// Row `row` of the tile beside the columns of accumulators of shape `(M, C)`: a number for each of their columns. With a tile of
    /// accumulators it broadcasts without an exchange between threads.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `y = x w + bias`, where the first of eight rows is the bias.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn linear(
    ///     roles: WarpRoles,
    ///     x: TmaLoad<f16, Shape2<64, 64>>,
    ///     w: TmaLoad<f16, Shape2<64, 64>>,
    ///     bias: TmaLoad<f32, Shape2<8, 64>>,
    ///     y: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, Shape2<64, 64>>, SharedTile<f32, Shape2<8, 64>>), 2>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let tiles = roles.tile_indices(RowMajor, y.tile_counts());
    ///     let loads = tiles.flat_map(move |[_, i, j]| [(x.tile(i, 0), w.tile(0, j), bias.tile(0, j))]);
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in y.schedule(cx, RowMajor) {
    ///             let stage = consumer.wait();
    ///             let (x, w, bias) = stage.tiles();
    ///             let mut acc = cx.zero_accumulator::<f32>(shape![64, 64]);
    ///             acc.mma(x, w);
    ///             let bias = bias.load_row_beside_columns(cx, 0, shape![64, 64]);
    ///             tile.store(&mut buffer, acc.finish() + bias);
    ///             consumer.release(stage);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// `ld.shared` (PTX ISA, "Data Movement and Conversion Instructions: ld"): a thread loads what belongs to its own columns.
    ///
    /// # Panics
    ///
    /// If the tile has no such row (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn load_row_beside_columns<B: Block, M: Dimension>(
        self,
        _cx: crate::context::Cx<B>,
        row: usize,
        _accumulators: (M, C),
    ) -> Tile<T, (D<1>, C), Slice<Accumulators<B>, (M, C), 0>> {
        assert!(row < const { Self::GEOMETRY.rows }, "the tile has fewer rows");
        let offset =
            |row, column| const { Self::GEOMETRY }.offset(row, column * const { size_of::<T::Bits>() });
        // SAFETY: the tile is lent for as long as this reference, and nobody writes it meanwhile. The row is one of its own, as just asked.
        let registers = unsafe {
            by_elements::<T, D<1>, C, Slice<Accumulators<B>, (M, C), 0>>(self.address, [row, 0], offset)
        };
        self.reads.are_done();
        Tile::from_registers(registers)
    }

    /// Row `row` of the tile beside the rows of accumulators of shape `(C, N)`: a number for each of their rows, as a column. With a tile of
    /// accumulators it broadcasts without an exchange between threads.
    ///
    /// As [`load_row_beside_columns`](Self::load_row_beside_columns), which has an example.
    ///
    /// # Panics
    ///
    /// If the tile has no such row (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn load_row_beside_rows<B: Block, N: Dimension>(
        self,
        _cx: crate::context::Cx<B>,
        row: usize,
        _accumulators: (C, N),
    ) -> Tile<T, (C, D<1>), Slice<Accumulators<B>, (C, N), 1>> {
        assert!(row < const { Self::GEOMETRY.rows }, "the tile has fewer rows");
        let offset =
            |column, row| const { Self::GEOMETRY }.offset(row, column * const { size_of::<T::Bits>() });
        // SAFETY: as in `load_row_beside_columns`. `offset` takes the elements of the row one below the other.
        let registers = unsafe {
            by_elements::<T, C, D<1>, Slice<Accumulators<B>, (C, N), 1>>(self.address, [0, row], offset)
        };
        self.reads.are_done();
        Tile::from_registers(registers)
    }

    /// The tile in registers, in layout `L`.
    #[inline_on_device]
    pub(crate) fn load_in<L: Layout>(self) -> Tile<T, (R, C), L> {
        // SAFETY: the tile is lent for as long as this reference, and nobody writes it meanwhile. All of it is read.
        let registers = unsafe {
            by_elements::<T, R, C, L>(self.address, [0, 0], |row, column| {
                const { Self::GEOMETRY }.offset(row, column * const { size_of::<T::Bits>() })
            })
        };
        self.reads.are_done();
        Tile::from_registers(registers)
    }
}

/// How an operand is read from its tile in shared memory.
pub(crate) struct Reading {
    geometry: Geometry,
    /// Whether the tile is the operand's transpose.
    transposed: bool,
    /// Whether the contracted axis runs along the rows of the tile: K-major.
    contiguous: bool,
}

impl Reading {
    /// The row and column in the tile of an element of the operand.
    #[inline_on_device]
    const fn place(&self, row: usize, column: usize) -> (usize, usize) {
        if self.transposed { (column, row) } else { (row, column) }
    }

    /// The offset of an element of the operand. Linear: each bit of row and column changes bits of its own.
    #[inline_on_device]
    const fn offset(&self, row: usize, column: usize) -> usize {
        let (row, column) = self.place(row, column);
        self.geometry.offset(row, column * self.geometry.element_bytes)
    }

    /// The thread's part of an offset, when matrices of eight rows are loaded, `count` at once, each as `packed` registers of a
    /// tile with `2^column_bits` columns. Linear as well.
    #[inline_on_device]
    const fn of_thread(
        &self,
        map: &LinearMap,
        column_bits: u32,
        (count, packed): (usize, usize),
        thread: usize,
    ) -> usize {
        let lane = thread % 32;
        // Each eighth of the lanes names the rows of one matrix.
        let flat = map.of_thread.apply(thread & !31) | map.of_register.apply(lane / 8 % count * packed);
        self.offset(flat >> column_bits, flat & ((1 << column_bits) - 1)) ^ self.geometry.offset(lane % 8, 0)
    }

    /// The bits of an offset that depend on the thread.
    const fn touched(&self, map: &LinearMap, column_bits: u32, at_once: (usize, usize)) -> usize {
        let (mut touched, mut bit) = (0, 0);
        while bit < THREAD_BITS {
            touched |= self.of_thread(map, column_bits, at_once, 1 << bit);
            bit += 1;
        }
        touched
    }
}

/// The reading of an operand, as a type.
pub(crate) trait Read {
    /// The reading.
    const READING: Reading;
}

/// The reading of an operand `X` of shape `(A, B)` whose contracted axis is `ALONG`.
struct ReadAlong<X, A, B, const ALONG: usize>(PhantomData<(X, A, B)>);

impl<'k, X: SharedOperand<'k, A, B>, A: Dimension, B: Dimension, const ALONG: usize> Read
    for ReadAlong<(X, &'k ()), A, B, ALONG>
{
    const READING: Reading = Reading {
        geometry: X::GEOMETRY,
        transposed: X::TRANSPOSED,
        contiguous: ALONG == if X::TRANSPOSED { 0 } else { 1 },
    };
}

/// Elements in a word, and the number of words that are loaded at once for fragments of layout `L`.
const fn at_once<T: Element, P: Dimension, Q: Dimension, L: Layout>() -> (usize, usize) {
    let size = size_of::<T::Bits>();
    let packed = if size < 4 { 4 / size } else { 1 };
    let words = <L::Registers<(P, Q)> as PowerOfTwo>::COUNT / packed;
    (if words < 4 { words } else { 4 }, packed)
}

/// A part of a tile in shared memory as the fragments of layout `L`. With `reorder`, elements of 64 bits come in the order of
/// [`reordered`] along the contracted axis.
///
/// The caller calls [`Reads::are_done`] before the stage is released.
///
/// # Safety
/// At `address` lies a tile of elements `T` that `R` reads; nobody writes it. From the first row and column on, the operand has
/// `P` rows and `Q` columns.
#[inline_on_device]
unsafe fn fragments<T: Element, P: Dimension, Q: Dimension, L: Layout, R: Read>(
    address: Address,
    reorder: bool,
    [first_row, first_column]: [usize; 2],
) -> Tile<T, (P, Q), L> {
    let size = const { size_of::<T::Bits>() };
    let reading = const { &R::READING };
    let (count, packed) = const { at_once::<T, P, Q, L>() };
    // `ldmatrix` moves words of four bytes along rows, and transposes elements of two.
    let by_matrices =
        TILES_IN_REGISTERS && count > 0 && (size == 2 || (size < 8 && const { R::READING.contiguous }));
    let map = const { &Map::<L, (P, Q)>::MAP };
    let column_bits = const { <Q::Count as PowerOfTwo>::LOG };
    if !by_matrices {
        let offset = |row, column| {
            let (row, column) = reading.place(row, column);
            let (row, column) = match (reorder && size == 8, reading.contiguous) {
                (false, _) => (row, column),
                (true, true) => (row, reordered(column)),
                (true, false) => (reordered(row), column),
            };
            reading.geometry.offset(row, column * size)
        };
        // SAFETY: the same contract. Offsets are those of the operand's elements, and linear. `reordered` permutes each 16
        // elements; where it is asked for, the contracted axis has whole sixteens.
        return Tile::from_registers(unsafe {
            by_elements::<T, P, Q, L>(address, [first_row, first_column], offset)
        });
    }
    let own = reading.of_thread(map, column_bits, (count, packed), crate::arch::execution::thread());
    let place = SwizzledAddress {
        stage: threads::word(address),
        own: once_for_all(own),
        touched: const {
            let at_once = at_once::<T, P, Q, L>();
            if at_once.0 == 0 {
                0
            } else {
                R::READING.touched(&Map::<L, (P, Q)>::MAP, <Q::Count as PowerOfTwo>::LOG, at_once)
            }
        },
    };
    let mut registers = Registers::from_fn(|_| T::ZERO);
    <L::Registers<(P, Q)>>::unroll(0, count * packed, &mut |i| {
        let flat = map.of_register.apply(i);
        let (row, column) = (flat >> column_bits, flat & ((1 << column_bits) - 1));
        let offset = reading.offset(first_row + row, first_column + column);
        // SAFETY: all lanes of the warp run this alike. The rows lie within the tile, which nobody writes.
        let loaded = unsafe { load_words(place.at(offset), count, reading.contiguous) };
        let mut word = 0;
        while word < count {
            let mut part = 0;
            while part < packed {
                registers.set(i + word * packed + part, part_of(loaded[word] >> (part * size * 8)));
                part += 1;
            }
            word += 1;
        }
    });
    Tile::from_registers(registers)
}

/// The element along the contracted axis that takes the place of element `k`, for elements of 64 bits. The same permutation of
/// each 16 elements of both operands does not change their product.
///
/// A lane has elements `q`, `q + 4`, `q + 8` and `q + 12`, with `q` from 0 to 3, of a row or column that its number's other
/// bits give. In this order the 16 lanes of half a warp, which load at once, meet all banks, for K-major and for MN-major
/// tiles.
const fn reordered(k: usize) -> usize {
    k & !15 | (k & 2) << 2 | ((k >> 1) ^ (k << 2)) & 4 | ((k >> 1) ^ k) & 2 | k & 1
}

/// The elements of a tile of shape `(P, Q)` in layout `L`, each loaded from its `offset` in shared memory, which is linear in
/// the bits of row and column. The tile's first element has the row and column `first`.
///
/// # Safety
/// At `address` lies a tile that nobody writes. For the rows and columns read, `offset` gives places of elements within it.
#[inline_on_device]
unsafe fn by_elements<T: Element, P: Dimension, Q: Dimension, L: Layout>(
    address: Address,
    first: [usize; 2],
    offset: impl Fn(usize, usize) -> usize,
) -> Registers<T, L::Registers<(P, Q)>> {
    let map = const { &Map::<L, (P, Q)>::MAP };
    let column_bits = const { <Q::Count as PowerOfTwo>::LOG };
    let offset = |flat: usize, [row, column]: [usize; 2]| {
        offset(row + (flat >> column_bits), column + (flat & ((1 << column_bits) - 1)))
    };
    // The thread's part and the register's part share some bits. The other bits go into the instruction.
    let own = once_for_all(offset(map.of_thread.apply(crate::arch::execution::thread()), [0, 0]));
    let mut shared = 0;
    let mut bit = 0;
    while bit < const { <<L::Block as Block>::Threads as PowerOfTwo>::LOG } {
        shared |= offset(map.of_thread.apply(1 << bit), [0, 0]);
        bit += 1;
    }
    Registers::from_fn(|i| {
        let part = offset(map.of_register.apply(i), first);
        let at = threads::offset(address, own ^ (part & shared));
        // SAFETY: `offset` is linear. Both parts together are therefore the place of an element within the tile, which nobody
        // writes, by the same contract.
        unsafe { load_element(threads::offset(at, part & !shared)) }
    })
}

/// A thread's part of offsets. Where consumers also copy, one register keeps it, and nothing computed from it: their
/// multiplications need the registers.
#[inline_on_device]
fn once_for_all(own: usize) -> usize {
    if PRODUCER_WARP { own } else { crate::arch::execution::rematerialise(own as u32) as usize }
}

/// One, two or four matrices of eight rows of 16 bytes by `ldmatrix`, transposed unless the contracted axis is contiguous.
///
/// # Safety
/// As for [`load_matrices_4`].
#[inline_on_device]
unsafe fn load_words(address: u32, count: usize, contiguous: bool) -> [u32; 4] {
    // SAFETY: the same contract.
    unsafe {
        match (count, contiguous) {
            (1, true) => [load_matrix(address)[0], 0, 0, 0],
            (1, false) => [load_matrix_transposed(address)[0], 0, 0, 0],
            (2, _) => {
                let [a, b] =
                    if contiguous { load_matrices_2(address) } else { load_matrices_2_transposed(address) };
                [a, b, 0, 0]
            }
            (_, true) => load_matrices_4(address),
            (_, false) => load_matrices_4_transposed(address),
        }
    }
}

/// The flat bits that are the lowest three bits of register numbers.
const fn first_bits(map: &LinearMap) -> [i8; 3] {
    [map.register[0], map.register[1], map.register[2]]
}

/// The element, of at most 32 bits, in the low bits of a word.
#[inline_on_device]
fn part_of<T: Element>(word: u32) -> T {
    let mut bits = T::ZERO.to_bits();
    let target = core::ptr::from_mut(&mut bits).cast::<u8>();
    // SAFETY: elements have 1, 2, 4 or 8 bytes, and the match writes no more than there are. Any bits of them are valid.
    unsafe {
        match size_of::<T::Bits>() {
            1 => target.write(word as u8),
            2 => target.cast::<u16>().write(word as u16),
            _ => target.cast::<u32>().write(word),
        }
    }
    T::from_bits(bits)
}

/// An operand in shared memory: a [`SharedTileRef`], or its [transpose](SharedTileRef::transposed). `A` and `B` are the
/// dimensions of the operand in the multiplication.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of shape ({A}, {B})",
    label = "expected a tile in shared memory of this shape, or the transpose of one",
    note = "the product of an (M, K) operand A and a (K, N) operand B is added to (M, N) accumulators; `.transposed()` transposes a tile"
)]
pub trait SharedOperand<'k, A: Dimension, B: Dimension>: Sealed + Copy {
    /// Its elements.
    type Element: Element;
    /// Whether the operand is the transpose of the tile in shared memory.
    const TRANSPOSED: bool;
    /// The geometry of the tile in shared memory.
    #[doc(hidden)]
    const GEOMETRY: Geometry;
    /// The address of the tile.
    #[doc(hidden)]
    fn address(self) -> Address;
    /// The readers of its stage.
    #[doc(hidden)]
    fn reads(self) -> &'k Reads;
    /// The tile in registers, in layout `L`.
    #[doc(hidden)]
    fn tile<L: Layout>(self) -> Tile<Self::Element, (A, B), L>;

    /// A part of the operand, from these coordinates on, as the fragments of layout `L`, for operand A or operand B. `ALONG` is
    /// the contracted axis: 1 for A, 0 for B. With `reorder`, elements of 64 bits come in another order along it, the same for
    /// both operands, which loads faster.
    ///
    /// # Safety
    /// From these coordinates on the operand has `P` rows and `Q` columns. With `reorder` and elements of 64 bits, its
    /// contracted axis has a multiple of 16.
    #[doc(hidden)]
    #[inline_on_device]
    unsafe fn fragments<const ALONG: usize, P: Dimension, Q: Dimension, L: Layout>(
        self,
        reorder: bool,
        from: [usize; 2],
    ) -> Tile<Self::Element, (P, Q), L> {
        // SAFETY: the operand's tile is lent for `'k`, and nobody writes it as long. `ReadAlong` takes the places of its
        // elements from this implementation. The part lies within the tile by the same contract.
        unsafe {
            fragments::<Self::Element, P, Q, L, ReadAlong<(Self, &'k ()), A, B, ALONG>>(
                self.address(),
                reorder,
                from,
            )
        }
    }
}

impl<'k, T: Element, A: Dimension, B: Dimension> SharedOperand<'k, A, B> for SharedTileRef<'k, T, (A, B)> {
    type Element = T;
    const TRANSPOSED: bool = false;
    const GEOMETRY: Geometry = <SharedTile<T, (A, B)> as SharedTileShape>::GEOMETRY;
    #[inline_on_device]
    fn address(self) -> Address {
        self.address
    }
    #[inline_on_device]
    fn reads(self) -> &'k Reads {
        self.reads
    }
    #[inline_on_device]
    fn tile<L: Layout>(self) -> Tile<T, (A, B), L> {
        self.load_in()
    }
}

impl<'k, T: Element, A: Dimension, B: Dimension> SharedOperand<'k, A, B>
    for Transposed<SharedTileRef<'k, T, (B, A)>>
{
    type Element = T;
    const TRANSPOSED: bool = true;
    const GEOMETRY: Geometry = <SharedTile<T, (B, A)> as SharedTileShape>::GEOMETRY;
    #[inline_on_device]
    fn address(self) -> Address {
        self.0.address
    }
    #[inline_on_device]
    fn reads(self) -> &'k Reads {
        self.0.reads
    }
    #[inline_on_device]
    fn tile<L: Layout>(self) -> Tile<T, (A, B), L> {
        // SAFETY: the tile is lent for `'k`, and nobody writes it as long. All of it is read, transposed.
        let registers = unsafe {
            by_elements::<T, A, B, L>(self.0.address, [0, 0], |row, column| {
                const { <Self as SharedOperand<'k, A, B>>::GEOMETRY }
                    .offset(column, row * const { size_of::<T::Bits>() })
            })
        };
        self.0.reads.are_done();
        Tile::from_registers(registers)
    }
}

sealed! {
    ['k, T, S] SharedTileRef<'k, T, S>;
    [X] Transposed<X>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_load_at_once_meet_different_banks() {
        let mut seen = [false; 64];
        for k in 0..64 {
            assert!(reordered(k) / 16 == k / 16 && !core::mem::replace(&mut seen[reordered(k)], true));
        }
        let geometry = Geometry::new(128, 64, 8);
        for (register, half, contiguous) in
            (0..16).flat_map(|i| [(i % 4, i / 4, true), (i % 4, i / 4, false)])
        {
            let mut banks = [false; 16];
            for lane in 16 * (half % 2)..16 * (half % 2) + 16 {
                let (k, other) = (reordered((lane % 4) | (register << 2)), (lane / 4) | ((half / 2) << 3));
                let (row, column) = if contiguous { (other, k) } else { (k, other) };
                let bank = geometry.offset(row, column * 8) / 8 % 16;
                assert!(!core::mem::replace(&mut banks[bank], true), "lane {lane}, register {register}");
            }
        }
    }
}
