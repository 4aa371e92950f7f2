//! Multiplication by `mma.sync`: operands lie in shared memory, `ldmatrix` loads fragments, and tensor cores multiply these.

use crate::arch;
use crate::context::barrier;
use crate::element::{Element, Number, Repack, Word};
use crate::layout::{
    Accumulators, Across, Block, Down, Layout, OperandALayout, OperandBLayout, is_transposed_in_place, warps,
};
use crate::memory::swizzle::{SwizzledAddress, SwizzledMatrix};
use crate::mma::fragments_a::FragmentsOfA;
use crate::mma::staging::{Filling, Part, a_lies_by_columns, batches, fill};
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;
use typenum::{U4, U8, U16};

#[cfg(test)]
mod tests;

/// Pieces of 16 rows of accumulators of shape `S`, in a warp.
type RowTiles<S, B> =
    Quotient<<S as Shape>::Rows, Product<U16, Down<B, <S as Shape>::Rows, <S as Shape>::Columns>>>;
/// Pieces of 8 columns of accumulators of shape `S`, in a warp.
type ColumnTiles<S, B> =
    Quotient<<S as Shape>::Columns, Product<U8, Across<B, <S as Shape>::Rows, <S as Shape>::Columns>>>;
/// The registers of the accumulators of one matrix.
type AccumulatorRegisters<S, B> = Product<Product<RowTiles<S, B>, ColumnTiles<S, B>>, U4>;
/// Registers for the fragments of A of one instruction, for each piece of rows.
type AWords<S, B> = Product<RowTiles<S, B>, U8>;
/// Registers for the fragments of B of one instruction, for each piece of columns.
type BWords<S, B> = Product<ColumnTiles<S, B>, U4>;

/// The numbers of a multiplication whose operands lie in shared memory; all but two are base-2 logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The rows of the accumulators.
    rows: u32,
    /// The columns of the accumulators.
    columns: u32,
    /// The part of `k` that is in shared memory.
    depth: u32,
    /// The bytes of an element.
    size: u32,
    /// The elements along `k` in a register over four lanes.
    unit: u32,
    /// The warps along the rows.
    down: u32,
    /// The warps along the columns.
    across: u32,
    /// Registers of `k` that one instruction takes.
    units: usize,
    /// Whether A lies in shared memory by columns, so that rows are contiguous and not `k`.
    a_by_columns: bool,
    /// Whether B lies in shared memory by columns, so that `k` is contiguous.
    b_by_columns: bool,
}

impl Plan {
    /// The plan for accumulators of shape `S`, with `2^depth` of `k` in shared memory; nothing if tensor cores do not multiply
    /// these tiles.
    pub(crate) const fn new<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block>(
        depth: u32,
        by_columns: [bool; 2],
    ) -> Option<Self> {
        let (rows, columns) = (<S::Rows as PowerOfTwo>::LOG, <S::Columns as PowerOfTwo>::LOG);
        let threads = <B::Threads as PowerOfTwo>::LOG;
        if !T::TENSOR_CORES {
            return None;
        }
        let size = <T::Bytes as PowerOfTwo>::LOG;
        match warps(rows, columns, threads, arch::matrix::WARPGROUPS) {
            Some(warps) => Self::with(rows, columns, depth, size, warps, by_columns),
            None => None,
        }
    }

    /// The plan for elements of `2^size` bytes, with warps down the rows and across the columns.
    const fn with(
        rows: u32,
        columns: u32,
        depth: u32,
        size: u32,
        (down, across): (u32, u32),
        [a_by_columns, b_by_columns]: [bool; 2],
    ) -> Option<Self> {
        let unit = 2 + 2u32.saturating_sub(size);
        if depth < unit {
            return None;
        }
        let (all, most) = (1 << (depth - unit), units_of(size));
        let units = if all < most { all } else { most };
        Some(Self { rows, columns, depth, size, unit, down, across, units, a_by_columns, b_by_columns })
    }

    /// The layout of A in shared memory.
    const fn a(&self) -> SwizzledMatrix {
        if self.a_by_columns {
            SwizzledMatrix { rows: self.depth, bytes: self.rows + self.size }
        } else {
            SwizzledMatrix { rows: self.rows, bytes: self.depth + self.size }
        }
    }

    /// The layout of B in shared memory.
    const fn b(&self) -> SwizzledMatrix {
        if self.b_by_columns {
            SwizzledMatrix { rows: self.columns, bytes: self.depth + self.size }
        } else {
            SwizzledMatrix { rows: self.depth, bytes: self.columns + self.size }
        }
    }

    /// The offset of a register of A: piece `tile` of 16 rows, half `half` of the piece, register `unit` along `k`; within the
    /// register, row `row` and element `depth` along `k`. Linear.
    #[inline_on_device]
    const fn a_offset(&self, tile: usize, half: usize, unit: usize, row: usize, depth: usize) -> usize {
        let (row, depth) = (tile << 4 | half << 3 | row, unit << self.unit | depth);
        if self.a_by_columns {
            self.a().offset(depth, row << self.size)
        } else {
            self.a().offset(row, depth << self.size)
        }
    }

    /// The offset of a register of B: piece `tile` of 8 columns, register `unit` along `k`; within the register, element
    /// `depth` along `k` and column `column`. Linear.
    #[inline_on_device]
    const fn b_offset(&self, tile: usize, unit: usize, depth: usize, column: usize) -> usize {
        let (depth, column) = (unit << self.unit | depth, tile << 3 | column);
        if self.b_by_columns {
            self.b().offset(column, depth << self.size)
        } else {
            self.b().offset(depth, column << self.size)
        }
    }

    /// How much of B is loaded together: registers along `k`, and pieces of columns, up to four registers.
    const fn b_group(&self) -> (usize, usize) {
        if self.size == 3 {
            return (self.units, 1);
        }
        let (units, columns) = (self.units, 1 << (self.columns - 3 - self.across));
        (units, if columns * units < 4 { columns } else { 4 / units })
    }

    /// The thread's parts of offsets in A and in B.
    #[inline_on_device]
    const fn own(&self, thread: usize) -> (usize, usize) {
        let (lane, warp) = (thread & 31, thread >> 5);
        let (down, across) = (warp & ((1 << self.down) - 1), warp >> self.down & ((1 << self.across) - 1));
        if self.size == 3 {
            // Registers of 64 bits are loaded one by one.
            let (row, depth) = (lane >> 2, lane & 3);
            return (self.a_offset(down, 0, 0, row, depth), self.b_offset(across, 0, depth, row));
        }
        // A lane gives the address of row `lane & 7` of matrix `lane >> 3`.
        let (row, matrix) = (lane & 7, lane >> 3);
        let (units, tiles) = self.b_group();
        let tile = across | ((matrix / units) & (tiles - 1)) << self.across;
        let (a_row, a_depth) = if self.a_by_columns { (0, row) } else { (row, 0) };
        let (depth, column) = if self.b_by_columns { (0, row) } else { (row, 0) };
        (
            self.a_offset(down, matrix & 1, matrix >> 1 & (self.units - 1), a_row, a_depth),
            self.b_offset(tile, matrix & (units - 1), depth, column),
        )
    }

    /// The bits of an offset in A that depend on the thread, or more.
    const fn a_touched(&self) -> usize {
        let (row, depth) = ((1 << (self.down + 4)) - 1, (self.units << self.unit) - 1);
        if self.a_by_columns {
            self.a().touched(depth, row << self.size)
        } else {
            self.a().touched(row, depth << self.size)
        }
    }

    /// The bits of an offset in B that depend on the thread, or more.
    const fn b_touched(&self) -> usize {
        let column = (1 << (self.across + 5)) - 1;
        let depth = (self.units << self.unit) - 1;
        if self.b_by_columns {
            self.b().touched(column, depth << self.size)
        } else {
            self.b().touched(depth, column << self.size)
        }
    }
}

/// The registers of `k` in one instruction for elements of `2^size` bytes.
const fn units_of(size: u32) -> usize {
    if size == 3 { 4 } else { 2 }
}

/// A [`Plan`] as a type.
pub(crate) trait Planned {
    /// The plan.
    const PLAN: Plan;
}

/// The places of a thread's fragments in shared memory.
#[derive(Clone, Copy)]
struct Fragments<P> {
    a: SwizzledAddress,
    b: SwizzledAddress,
    plan: PhantomData<P>,
}

impl<P: Planned> Fragments<P> {
    /// The fragments of the operands at these addresses.
    #[inline_on_device]
    fn new(a: u32, b: u32) -> Self {
        let (own_a, own_b) = P::PLAN.own(arch::execution::thread());
        Self {
            a: SwizzledAddress { stage: a, own: own_a, touched: const { P::PLAN.a_touched() } },
            b: SwizzledAddress { stage: b, own: own_b, touched: const { P::PLAN.b_touched() } },
            plan: PhantomData,
        }
    }

    /// The fragments of A for an instruction whose first register along `k` is `first`. Word `8 t + h + 2 u` belongs to piece
    /// `t` of the warp's rows, half `h`, register `first + u`.
    ///
    /// # Safety
    /// All threads of the block execute this same call. The operand has been stored, and nobody stores to it.
    #[inline_on_device]
    unsafe fn a<W: Word, N: PowerOfTwo>(&self, first: usize) -> Registers<W, N> {
        let plan = const { &P::PLAN };
        let mut words = Registers::from_fn(|_| W::ZERO);
        N::unroll(0, 8, &mut |i| {
            let tile = (i / 8) << plan.down;
            let address = |half, unit| self.a.at(plan.a_offset(tile, half, first + unit, 0, 0));
            let mut set = |part: usize, word: u32| words.set(i + part, W::narrow(u64::from(word)));
            // SAFETY: the fragments lie within the operand. The caller vouches for the operand and for convergence.
            unsafe {
                match (plan.size, plan.units, plan.a_by_columns) {
                    (3, units, _) => <U4 as PowerOfTwo>::unroll(0, 1, &mut |unit| {
                        if unit < units {
                            words.set(i + 2 * unit, W::load_shared(address(0, unit)));
                            words.set(i + 2 * unit + 1, W::load_shared(address(1, unit)));
                        }
                    }),
                    (_, 1, by_columns) => {
                        let [a, b] = if by_columns {
                            arch::matrix::load_matrices_2_transposed(address(0, 0))
                        } else {
                            arch::matrix::load_matrices_2(address(0, 0))
                        };
                        set(0, a);
                        set(1, b);
                    }
                    (.., by_columns) => {
                        let [a, b, c, d] = if by_columns {
                            arch::matrix::load_matrices_4_transposed(address(0, 0))
                        } else {
                            arch::matrix::load_matrices_4(address(0, 0))
                        };
                        set(0, a);
                        set(1, b);
                        set(2, c);
                        set(3, d);
                    }
                }
            }
        });
        words
    }

    /// The fragments of B for the same instruction. Word `4 t + u` belongs to piece `t` of the warp's columns, register
    /// `first + u`.
    ///
    /// # Safety
    /// As for [`Fragments::a`].
    #[inline_on_device]
    unsafe fn b<W: Word, N: PowerOfTwo>(&self, first: usize) -> Registers<W, N> {
        let plan = const { &P::PLAN };
        let (units, tiles) = const { P::PLAN.b_group() };
        let mut words = Registers::from_fn(|_| W::ZERO);
        N::unroll(0, 4 * tiles, &mut |i| {
            let tile = (i / 4) << plan.across;
            let address = |unit| self.b.at(plan.b_offset(tile, first + unit, 0, 0));
            let mut set = |matrix: usize, word: u32| {
                words.set(i + matrix / units * 4 + matrix % units, W::narrow(u64::from(word)));
            };
            // SAFETY: as above.
            unsafe {
                match (plan.size, units * tiles, plan.b_by_columns) {
                    (3, ..) => <U4 as PowerOfTwo>::unroll(0, 1, &mut |unit| {
                        if unit < units {
                            words.set(i + unit, W::load_shared(address(unit)));
                        }
                    }),
                    (_, 1, true) => set(0, arch::matrix::load_matrix(address(0))[0]),
                    (_, 1, false) => set(0, arch::matrix::load_matrix_transposed(address(0))[0]),
                    (_, 2, by_columns) => {
                        let [a, b] = if by_columns {
                            arch::matrix::load_matrices_2(address(0))
                        } else {
                            arch::matrix::load_matrices_2_transposed(address(0))
                        };
                        set(0, a);
                        set(1, b);
                    }
                    (.., by_columns) => {
                        let [a, b, c, d] = if by_columns {
                            arch::matrix::load_matrices_4(address(0))
                        } else {
                            arch::matrix::load_matrices_4_transposed(address(0))
                        };
                        set(0, a);
                        set(1, b);
                        set(2, c);
                        set(3, d);
                    }
                }
            }
        });
        words
    }
}

/// Multiplies fragments, numbered as by [`Fragments`], and adds the product to the accumulators from register `first` on. With
/// `PROMOTED`, tensor cores accumulate each instruction's product alone.
///
/// # Safety
/// All threads of the block execute this same call, and the multiplication has a plan.
#[inline_on_device]
unsafe fn accumulate<T, U, C, S, B, N, const PROMOTED: bool>(
    acc: &mut Registers<C, N>,
    first: usize,
    units: usize,
    a: impl Fn(usize) -> T::Word,
    b: impl Fn(usize) -> T::Word,
) where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    S: Shape,
    B: Block,
    N: PowerOfTwo,
{
    let columns = const { <ColumnTiles<S, B> as PowerOfTwo>::COUNT };
    <AccumulatorRegisters<S, B>>::unroll(first, 4, &mut |base| {
        let tile = (base - first) / 4;
        let (l, r) = (tile / columns * 8, tile % columns * 4);
        let before = [acc.get(base), acc.get(base + 1), acc.get(base + 2), acc.get(base + 3)];
        // SAFETY: the same contract. A block has whole warps where tensor cores serve it.
        let added = unsafe {
            T::multiply(
                [a(l), a(l + 1), a(l + 2), a(l + 3), a(l + 4), a(l + 5), a(l + 6), a(l + 7)],
                [b(r), b(r + 1), b(r + 2), b(r + 3)],
                units,
                if PROMOTED { [C::ZERO; 4] } else { before },
            )
        };
        for i in 0..4 {
            let sum =
                || T::narrow(Number::add(T::widen_accumulator(before[i]), T::widen_accumulator(added[i])));
            acc.set(base + i, if PROMOTED { sum() } else { added[i] });
        }
    });
}

/// Adds the product of operands to the accumulators from register `first` on: those of one matrix of a batch. `held` gives the fragments of
/// operand A for the instruction whose first register along `k` it is called with.
///
/// # Safety
/// All threads of the block execute this same call. `P` is the plan of the multiplication. Operand B and, without `held`, operand A lie
/// at these addresses, aligned to 16 bytes, in the layout [`SwizzledMatrix`]. Nobody stores to them.
#[inline_on_device]
unsafe fn multiply_fragments<P, T, U, C, S, B>(
    a: u32,
    b: u32,
    held: Option<&impl Fn(usize) -> Registers<T::Word, AWords<S, B>>>,
    acc: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    first: usize,
) where
    P: Planned,
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    S: Shape,
    B: Block,
{
    let fragments = Fragments::<P>::new(a, b);
    let (all, units) = const { (1 << (P::PLAN.depth - P::PLAN.unit), P::PLAN.units) };
    let mut unit = 0;
    while unit < all {
        // SAFETY: the same contract.
        unsafe {
            let a = match held {
                Some(held) => held(unit),
                None => fragments.a(unit),
            };
            let b = fragments.b::<T::Word, BWords<S, B>>(unit);
            accumulate::<T, U, C, S, B, _, false>(acc, first, units, |i| a.get(i), |i| b.get(i));
        }
        unit += units;
    }
}

/// The fragments of both operands that the instructions for accumulators of type `C` and shape `S` take at once, numbered as by
/// [`Fragments`]. The tiles have no batch, or a batch of one.
pub(crate) struct OperandFragments<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block> {
    a: Registers<T::Word, AWords<S, B>>,
    b: Registers<T::Word, BWords<S, B>>,
}

impl<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block> OperandFragments<T, U, C, S, B> {
    /// Zeros.
    #[inline_on_device]
    pub(crate) fn zero() -> Self {
        Self { a: Registers::from_fn(|_| T::Word::ZERO), b: Registers::from_fn(|_| T::Word::ZERO) }
    }

    /// The fragments of these tiles, which have as much of `k` as an instruction takes.
    #[inline_on_device]
    pub(crate) fn of<SA: Shape, SB: Shape>(
        a: &Tile<T, SA, OperandALayout<B, T::Bytes, S::Columns>>,
        b: &Tile<U, SB, OperandBLayout<B, T::Bytes, S::Rows>>,
    ) -> Self {
        const {
            assert!(<SA::Columns as PowerOfTwo>::LOG == 2 + <T::Packed as PowerOfTwo>::LOG + T::UNITS.ilog2())
        };
        let packed = const { <T::Packed as PowerOfTwo>::COUNT };
        let (a, b) = (a.registers(), b.registers());
        Self {
            a: Registers::from_fn(|i| {
                let (tile, half, unit) = (i / 8, i % 2, i / 2 % 4);
                if unit >= T::UNITS {
                    return T::Word::ZERO;
                }
                let word = half + 2 * (unit + T::UNITS * tile);
                T::word_of_a(|part| a.get(word * packed + part))
            }),
            b: Registers::from_fn(|i| {
                let (tile, unit) = (i / 4, i % 4);
                if unit >= T::UNITS {
                    return T::Word::ZERO;
                }
                let word = unit + T::UNITS * tile;
                T::word_of_b(|part| b.get(word * packed + part))
            }),
        }
    }

    /// Adds the fragments' product to `acc`. With `PROMOTED`, tensor cores accumulate it alone.
    ///
    /// # Safety
    /// All threads of the block execute this same call. Tensor cores multiply these tiles: there is a [`Plan`] for all of `k`.
    #[inline_on_device]
    pub(crate) unsafe fn multiply<const PROMOTED: bool>(
        &self,
        acc: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    ) {
        let (a, b) = (|i| self.a.get(i), |i| self.b.get(i));
        // SAFETY: the same contract.
        unsafe { accumulate::<T, U, C, S, B, _, PROMOTED>(acc, 0, T::UNITS, a, b) }
    }
}

/// The plan for an operand A of shape `SA` and layout `L`, and an operand B of layout `M`, in registers: as much of `k` at once as the scratch
/// memory has room for.
pub(crate) struct Whole<T, U, C, SA, S, L, M>(PhantomData<(T, U, C, SA, S, L, M)>);

impl<T: ProductOf<U, C>, U: Repack, C: Element, SA: Shape, S: Shape, L: Layout, M: Layout>
    Whole<T, U, C, SA, S, L, M>
{
    const FOUND: Option<Plan> = {
        let mut depth = <SA::Columns as PowerOfTwo>::LOG;
        let across = <S::Rows as PowerOfTwo>::COUNT + <S::Columns as PowerOfTwo>::COUNT;
        while depth > 0 && (across * <T::Bytes as PowerOfTwo>::COUNT) << depth > arch::shared::SCRATCH_BYTES {
            depth -= 1;
        }
        // `ldmatrix` transposes elements of 16 bits only. Elements of 64 bits are loaded one by one. Both lie as threads hold them.
        let size = <T::Bytes as PowerOfTwo>::COUNT;
        let b_lies_by_columns = size == 1 || size == 4 || is_transposed_in_place::<M>();
        Plan::new::<T, U, C, S, M::Block>(depth, [a_lies_by_columns::<T, L>(), b_lies_by_columns])
    };

    /// Whether tensor cores multiply these tiles.
    pub(crate) const SERVED: bool = Self::FOUND.is_some();
}

impl<T: ProductOf<U, C>, U: Repack, C: Element, SA: Shape, S: Shape, L: Layout, M: Layout> Planned
    for Whole<T, U, C, SA, S, L, M>
{
    const PLAN: Plan = match Self::FOUND {
        Some(plan) => plan,
        // The compiler evaluates this for code that never runs.
        None => Plan {
            rows: 4,
            columns: 3,
            depth: 5,
            size: 0,
            unit: 4,
            down: 0,
            across: 0,
            units: 2,
            a_by_columns: false,
            b_by_columns: true,
        },
    };
}

/// Operand A, of shape `S`, in shared memory.
struct StagedA<P, S>(PhantomData<(P, S)>);
/// Operand B, of shape `S`, in shared memory.
struct StagedB<P, S>(PhantomData<(P, S)>);

impl<P: Planned, S: Shape> Filling for StagedA<P, S> {
    const STAGE: SwizzledMatrix = P::PLAN.a();
    const PART: Part = Part::new(
        <S::Rows as PowerOfTwo>::LOG,
        <S::Columns as PowerOfTwo>::LOG,
        P::PLAN.depth,
        true,
        P::PLAN.a_by_columns,
    );
}

impl<P: Planned, S: Shape> Filling for StagedB<P, S> {
    const STAGE: SwizzledMatrix = P::PLAN.b();
    const PART: Part = Part::new(
        <S::Rows as PowerOfTwo>::LOG,
        <S::Columns as PowerOfTwo>::LOG,
        P::PLAN.depth,
        false,
        P::PLAN.b_by_columns,
    );
}

/// Adds the product of two tiles to `acc`. Only where tensor cores multiply them: [`Whole::SERVED`].
#[inline_on_device]
pub(crate) fn multiply<T, U, C, SA, SB, S, B, L, M>(
    a: &Tile<T, SA, L>,
    b: &Tile<U, SB, M>,
    acc: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
) where
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
    let (a_bytes, bytes) = const {
        let plan = &<Whole<T, U, C, SA, S, L, M> as Planned>::PLAN;
        let depth = plan.depth + plan.size;
        (1usize << (plan.rows + depth), (1usize << (plan.rows + depth)) + (1 << (plan.columns + depth)))
    };
    let address = arch::shared::scratch_of(bytes);
    let b_address = address + a_bytes as u32;
    let of_matrix = const { <AccumulatorRegisters<S, B> as PowerOfTwo>::COUNT };
    let a_fragments = if const { FragmentsOfA::<T, U, C, SA, S, B>::are_held::<L>() } {
        Some(FragmentsOfA::<T, U, C, SA, S, B>::new(a))
    } else {
        None
    };
    <Quotient<S::Count, Product<S::Rows, S::Columns>>>::unroll(0, 1, &mut |batch| {
        let (a_batch, b_batch) = const { (batches::<SA>() > 1, batches::<SB>() > 1) };
        let of = |has: bool| if has { batch } else { 0 };
        SA::Columns::unroll(0, const { 1 << Whole::<T, U, C, SA, S, L, M>::PLAN.depth }, &mut |first| {
            let (first_unit, units) = const {
                let plan = &<Whole<T, U, C, SA, S, L, M> as Planned>::PLAN;
                (plan.unit, plan.units)
            };
            let held = a_fragments.as_ref().map(|fragments| {
                move |unit: usize| {
                    Registers::from_fn(|i| match i / 2 % 4 {
                        part if part < units => {
                            fragments.word(of(a_batch), i / 8, i % 2, (first >> first_unit) + unit + part)
                        }
                        _ => T::Word::ZERO,
                    })
                }
            });
            // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`). Both operands fit
            // the scratch memory, one behind the other, and the size of each is a multiple of 16 bytes. One barrier ends the
            // loads of earlier contents, the other ends the stores.
            unsafe {
                barrier::<B>();
                if held.is_none() {
                    fill::<StagedA<Whole<T, U, C, SA, S, L, M>, SA>, _, _, _>(address, a, of(a_batch), first);
                }
                fill::<StagedB<Whole<T, U, C, SA, S, L, M>, SB>, _, _, _>(b_address, b, of(b_batch), first);
                barrier::<B>();
                multiply_fragments::<Whole<T, U, C, SA, S, L, M>, T, U, C, S, B>(
                    address,
                    b_address,
                    held.as_ref(),
                    acc,
                    batch * of_matrix,
                );
            }
        });
    });
}
