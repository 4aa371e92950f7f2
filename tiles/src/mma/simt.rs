//! Multiplication without tensor cores, for `f32` and for tiles that are too small: operands go through shared memory, and each
//! thread computes its own accumulators.

use crate::arch;
use crate::context::barrier;
use crate::element::bits_transport::Transport;
use crate::element::{Element, Repack};
use crate::layout::{Accumulators, Block, Layout, Map};
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;
use typenum::U4;

/// The rows, columns and `k` that are in shared memory at once, as base-2 logarithms.
#[derive(Clone, Copy, Debug)]
struct Window {
    rows: u32,
    columns: u32,
    depth: u32,
}

impl Window {
    /// As much of `k` as fits, then as many rows and columns; elements of `2^size` bytes.
    const fn new(rows: u32, columns: u32, depth: u32, size: u32) -> Self {
        let mut window = Self { rows, columns, depth };
        while window.bytes(size) > arch::shared::SCRATCH_BYTES {
            if window.depth > 0 {
                window.depth -= 1;
            } else if window.rows > window.columns {
                window.rows -= 1;
            } else {
                window.columns -= 1;
            }
        }
        window
    }

    /// The bytes of both operands.
    const fn bytes(&self, size: u32) -> usize {
        ((1 << self.rows) + (1 << self.columns)) << (self.depth + size)
    }

    /// The place of an element of A: rows side by side for each `k`, permuted so that lanes that store different `k` use
    /// different banks.
    #[inline_on_device]
    const fn a(&self, row: usize, depth: usize) -> usize {
        let row = row & ((1 << self.rows) - 1);
        let depth = depth & ((1 << self.depth) - 1);
        depth << self.rows | row ^ (depth & 7 & ((1 << self.rows) - 1))
    }

    /// The place of an element of B, behind A.
    #[inline_on_device]
    const fn b(&self, depth: usize, column: usize) -> usize {
        let column = column & ((1 << self.columns) - 1);
        let depth = depth & ((1 << self.depth) - 1);
        (1 << (self.rows + self.depth)) + (depth << self.columns | column)
    }
}

/// The numbers of a multiplication of tiles.
struct Numbers<W, SA, SB, S, B>(PhantomData<(W, SA, SB, S, B)>);

impl<W: Element, SA: Shape, SB: Shape, S: Shape, B: Block> Numbers<W, SA, SB, S, B> {
    const ROWS: u32 = <S::Rows as PowerOfTwo>::LOG;
    const COLUMNS: u32 = <S::Columns as PowerOfTwo>::LOG;
    const DEPTH: u32 = <SA::Columns as PowerOfTwo>::LOG;
    const WINDOW: Window = Window::new(Self::ROWS, Self::COLUMNS, Self::DEPTH, size_of::<W::Bits>().ilog2());
    const BYTES: usize = Self::WINDOW.bytes(size_of::<W::Bits>().ilog2());
    /// The bits of an accumulator's register number that are bits of its row.
    const ROW_REGISTERS: usize = registers_between::<S, B>(Self::COLUMNS, Self::COLUMNS + Self::ROWS);
    /// The bits of an accumulator's register number that are bits of its column.
    const COLUMN_REGISTERS: usize = registers_between::<S, B>(0, Self::COLUMNS);
}

/// The bits of an accumulator's register number that are flat bits `low..high`.
const fn registers_between<S: Shape, B: Block>(low: u32, high: u32) -> usize {
    let map = &Map::<Accumulators<B>, S>::MAP;
    let (mut mask, mut bit) = (0, 0);
    while bit < map.register_bits() {
        if low as i8 <= map.register[bit] && map.register[bit] < high as i8 {
            mask |= 1 << bit;
        }
        bit += 1;
    }
    mask
}

/// The part of the operands that is in shared memory.
#[derive(Clone, Copy)]
struct Round {
    batch: usize,
    row: usize,
    column: usize,
    depth: usize,
}

impl Round {
    #[inline_on_device]
    const fn has_row(&self, row: usize, window: &Window) -> bool {
        row >> window.rows == self.row >> window.rows
    }

    #[inline_on_device]
    const fn has_column(&self, column: usize, window: &Window) -> bool {
        column >> window.columns == self.column >> window.columns
    }

    #[inline_on_device]
    const fn has_depth(&self, depth: usize, window: &Window) -> bool {
        depth >> window.depth == self.depth >> window.depth
    }
}

/// A multiplication of tiles of shapes `SA` and `SB`, in layouts `L` and `M`, into accumulators of shape `S`.
pub(crate) struct Multiplication<T, U, C, SA, SB, S, L, M>(PhantomData<(T, U, C, SA, SB, S, L, M)>);

impl<T, U, C, SA, SB, S, B, L, M> Multiplication<T, U, C, SA, SB, S, L, M>
where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    SB: Shape,
    S: Shape,
    B: Block,
    L: Layout<Block = B>,
    M: Layout<Block = B>,
{
    /// Adds the product of two tiles to `acc`.
    #[inline_on_device]
    pub(crate) fn multiply(
        a: &Tile<T, SA, L>,
        b: &Tile<U, SB, M>,
        acc: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    ) {
        let mut wide = Registers::from_fn(|i| T::widen_accumulator(acc.get(i)));
        let window = const { Numbers::<T::Wide, SA, SB, S, B>::WINDOW };
        let (rows, columns, depth) = const {
            (
                <S::Rows as PowerOfTwo>::COUNT,
                <S::Columns as PowerOfTwo>::COUNT,
                <SA::Columns as PowerOfTwo>::COUNT,
            )
        };
        for batch in 0..S::LEN / (rows * columns) {
            for row in (0..rows).step_by(1 << window.rows) {
                for column in (0..columns).step_by(1 << window.columns) {
                    for depth in (0..depth).step_by(1 << window.depth) {
                        let round = Round { batch, row, column, depth };
                        Self::add_round(a, b, &mut wide, round);
                    }
                }
            }
        }
        *acc = Registers::from_fn(|i| T::narrow(wide.get(i)));
    }

    /// Copies a part of the operands to shared memory, and adds its product to the accumulators.
    #[inline_on_device]
    fn add_round(
        a: &Tile<T, SA, L>,
        b: &Tile<U, SB, M>,
        wide: &mut Registers<T::Wide, <Accumulators<B> as Layout>::Registers<S>>,
        round: Round,
    ) {
        let window = const { Numbers::<T::Wide, SA, SB, S, B>::WINDOW };
        let size = const { size_of::<<T::Wide as Element>::Bits>() };
        let address = arch::shared::scratch_of(const { Numbers::<T::Wide, SA, SB, S, B>::BYTES });
        let at = |element: usize| address + (element * size) as u32;
        let (m, n, k) = const {
            (<S::Rows as PowerOfTwo>::LOG, <S::Columns as PowerOfTwo>::LOG, <SA::Columns as PowerOfTwo>::LOG)
        };
        // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`).
        unsafe { barrier::<B>() };
        let thread = arch::execution::thread();
        let own = Tile::<T, SA, L>::thread_index();
        if thread & const { Map::<L, SA>::MAP.replicas } == 0 {
            <L::Registers<SA>>::unroll(0, 1, &mut |i| {
                let flat = Tile::<T, SA, L>::flat_index(own, i);
                let (row, depth) = (flat >> k & ((1 << m) - 1), flat & ((1 << k) - 1));
                let of_batch = SA::LEN >> (m + k) == 1 || flat >> (m + k) == round.batch;
                if of_batch && round.has_row(row, &window) && round.has_depth(depth, &window) {
                    // SAFETY: the window of both operands fits the scratch memory. Each of its elements has one place and one
                    // writer, between two barriers.
                    unsafe { a.registers().get(i).widen_a().to_bits().store_shared(at(window.a(row, depth))) }
                }
            });
        }
        let own = Tile::<U, SB, M>::thread_index();
        if thread & const { Map::<M, SB>::MAP.replicas } == 0 {
            <M::Registers<SB>>::unroll(0, 1, &mut |i| {
                let flat = Tile::<U, SB, M>::flat_index(own, i);
                let (depth, column) = (flat >> n & ((1 << k) - 1), flat & ((1 << n) - 1));
                let of_batch = SB::LEN >> (k + n) == 1 || flat >> (k + n) == round.batch;
                if of_batch && round.has_column(column, &window) && round.has_depth(depth, &window) {
                    let element = T::widen_b(b.registers().get(i));
                    // SAFETY: as above.
                    unsafe { element.to_bits().store_shared(at(window.b(depth, column))) }
                }
            });
        }
        // SAFETY: as above.
        unsafe { barrier::<B>() };
        // The loop must not be unrolled as a whole: all its loads would come first and take all registers.
        let together = if window.depth < 2 { 1 << window.depth } else { 4 };
        let mut depth = 0;
        while depth < arch::execution::opaque(1 << window.depth) as usize {
            U4::unroll(depth, 1, &mut |step| {
                if step - depth < together {
                    // SAFETY: the window lies at `address`, and the barrier has ended the stores.
                    unsafe { Self::add_products(address, wide, round, step) }
                }
            });
            depth += together;
        }
    }

    /// Adds the products of the window's elements with number `depth` along `k`.
    ///
    /// # Safety
    /// The window of the operands lies at `address` in shared memory of this block, and nobody stores to it.
    #[inline_on_device]
    unsafe fn add_products(
        address: u32,
        wide: &mut Registers<T::Wide, <Accumulators<B> as Layout>::Registers<S>>,
        round: Round,
        depth: usize,
    ) {
        let window = const { Numbers::<T::Wide, SA, SB, S, B>::WINDOW };
        let at =
            |element: usize| address + (element * const { size_of::<<T::Wide as Element>::Bits>() }) as u32;
        let (m, n) = const { (<S::Rows as PowerOfTwo>::LOG, <S::Columns as PowerOfTwo>::LOG) };
        let own = Tile::<C, S, Accumulators<B>>::thread_index();
        let flat = |i: usize| Tile::<C, S, Accumulators<B>>::flat_index(own, i);
        let (of_rows, of_columns) = const {
            (
                Numbers::<T::Wide, SA, SB, S, B>::ROW_REGISTERS,
                Numbers::<T::Wide, SA, SB, S, B>::COLUMN_REGISTERS,
            )
        };
        type AccumulatorRegisters<S, B> = <Accumulators<B> as Layout>::Registers<S>;
        // Each of the thread's rows and columns is loaded once, in the register whose other bits are zero.
        let rows = Registers::<T::Wide, AccumulatorRegisters<S, B>>::from_fn(|i| {
            if i & !of_rows != 0 {
                return T::Wide::ZERO;
            }
            // SAFETY: the window lies at `address` by the same contract. `a` takes row and depth modulo the window's; the place is
            // therefore in the window.
            T::Wide::from_bits(unsafe { Transport::load_shared(at(window.a(flat(i) >> n, depth))) })
        });
        let columns = Registers::<T::Wide, AccumulatorRegisters<S, B>>::from_fn(|i| {
            if i & !of_columns != 0 {
                return T::Wide::ZERO;
            }
            // SAFETY: as above, for `b`.
            T::Wide::from_bits(unsafe { Transport::load_shared(at(window.b(depth, flat(i)))) })
        });
        <AccumulatorRegisters<S, B>>::unroll(0, 1, &mut |i| {
            let sum = T::multiply_add(rows.get(i & of_rows), columns.get(i & of_columns), wide.get(i));
            let (row, column) = (flat(i) >> n & ((1 << m) - 1), flat(i) & ((1 << n) - 1));
            if flat(i) >> (m + n) == round.batch
                && round.has_row(row, &window)
                && round.has_column(column, &window)
            {
                wide.set(i, sum);
            }
        });
    }
}
