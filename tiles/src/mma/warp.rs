//! Products on tensor cores: operands lie in shared memory, are loaded as fragments, and multiply there.

use crate::arch;
use crate::context::barrier;
use crate::element::{Element, Number, Repack, Word};
use crate::layout::{Accumulators, Across, Block, Down, Layout, OperandALayout, OperandBLayout, warps};
use crate::memory::swizzle::SwizzledAddress;
use crate::memory::swizzle::SwizzledMatrix;
use crate::mma::staging::Filling;
use crate::mma::staging::Part;
use crate::mma::staging::fill;
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;
use typenum::{U4, U8, U16};

#[cfg(test)]
mod tests;

/// Pieces of 16 rows that a warp has of sums of shape `S`.
type RowTiles<S, B> =
    Quotient<<S as Shape>::Rows, Product<U16, Down<B, <S as Shape>::Rows, <S as Shape>::Columns>>>;
/// Pieces of 8 columns.
type ColumnTiles<S, B> =
    Quotient<<S as Shape>::Columns, Product<U8, Across<B, <S as Shape>::Rows, <S as Shape>::Columns>>>;
/// The registers of the sums of one matrix.
type SumsOf<S, B> = Product<Product<RowTiles<S, B>, ColumnTiles<S, B>>, U4>;
/// Room for the left fragments of one instruction for each piece of rows.
type LeftWords<S, B> = Product<RowTiles<S, B>, U8>;
/// Room for the right fragments of one instruction for each piece of columns.
type RightWords<S, B> = Product<ColumnTiles<S, B>, U4>;

/// The numbers of a product of matrices whose operands lie in shared memory; all but two are base-2 logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The rows of the sums.
    rows: u32,
    /// The columns of the sums.
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
    /// Whether the right operand lies in shared memory by columns, so that `k` is contiguous, as it always is in the left one.
    right_by_columns: bool,
}

impl Plan {
    /// For sums of shape `S`, with `2^depth` of `k` in shared memory; nothing where tensor cores do not multiply these tiles.
    pub(crate) const fn new<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block>(
        depth: u32,
        right_by_columns: bool,
    ) -> Option<Self> {
        let (rows, columns) = (<S::Rows as PowerOfTwo>::LOG, <S::Columns as PowerOfTwo>::LOG);
        let threads = <B::Threads as PowerOfTwo>::LOG;
        if !T::TENSOR_CORES {
            return None;
        }
        let size = <T::Bytes as PowerOfTwo>::LOG;
        match warps(rows, columns, threads, arch::matrix::WARPGROUPS) {
            Some(warps) => Self::with(rows, columns, depth, size, warps, right_by_columns),
            None => None,
        }
    }

    /// The same for elements of `2^size` bytes, and warps down the rows and across the columns.
    const fn with(
        rows: u32,
        columns: u32,
        depth: u32,
        size: u32,
        (down, across): (u32, u32),
        right_by_columns: bool,
    ) -> Option<Self> {
        let unit = 2 + 2u32.saturating_sub(size);
        if depth < unit {
            return None;
        }
        let (all, most) = (1 << (depth - unit), units_of(size));
        let units = if all < most { all } else { most };
        Some(Self { rows, columns, depth, size, unit, down, across, units, right_by_columns })
    }

    /// How the left operand lies in shared memory.
    const fn left(&self) -> SwizzledMatrix {
        SwizzledMatrix { rows: self.rows, bytes: self.depth + self.size }
    }

    /// How the right operand lies.
    const fn right(&self) -> SwizzledMatrix {
        if self.right_by_columns {
            SwizzledMatrix { rows: self.columns, bytes: self.depth + self.size }
        } else {
            SwizzledMatrix { rows: self.depth, bytes: self.columns + self.size }
        }
    }

    /// The offset of a register of the left operand: of piece `tile` of 16 rows, of half `half` of them, and of register `unit` along
    /// `k`; there of row `row`, and of byte `byte`. Linear.
    #[inline(always)]
    const fn left_offset(&self, tile: usize, half: usize, unit: usize, row: usize, byte: usize) -> usize {
        self.left().offset(tile << 4 | half << 3 | row, unit << (self.unit + self.size) | byte)
    }

    /// The offset of a register of the right operand: of piece `tile` of 8 columns and of register `unit` along `k`; there of
    /// element `depth` along `k`, and of column `column`. Linear.
    #[inline(always)]
    const fn right_offset(&self, tile: usize, unit: usize, depth: usize, column: usize) -> usize {
        let (depth, column) = (unit << self.unit | depth, tile << 3 | column);
        if self.right_by_columns {
            self.right().offset(column, depth << self.size)
        } else {
            self.right().offset(depth, column << self.size)
        }
    }

    /// How much of the right operand is loaded together: registers along `k`, and pieces of columns, up to four registers.
    const fn right_group(&self) -> (usize, usize) {
        if self.size == 3 {
            return (self.units, 1);
        }
        let (units, columns) = (self.units, 1 << (self.columns - 3 - self.across));
        (units, if columns * units < 4 { columns } else { 4 / units })
    }

    /// The thread's part of left and of right offsets.
    #[inline(always)]
    const fn own(&self, thread: usize) -> (usize, usize) {
        let (lane, warp) = (thread & 31, thread >> 5);
        let (down, across) = (warp & ((1 << self.down) - 1), warp >> self.down & ((1 << self.across) - 1));
        if self.size == 3 {
            // Registers of 64 bits are loaded one by one.
            let (row, depth) = (lane >> 2, lane & 3);
            return (self.left_offset(down, 0, 0, row, depth << 3), self.right_offset(across, 0, depth, row));
        }
        // A lane gives the address of row `lane & 7` of matrix `lane >> 3`.
        let (row, matrix) = (lane & 7, lane >> 3);
        let (units, tiles) = self.right_group();
        let tile = across | ((matrix / units) & (tiles - 1)) << self.across;
        let (depth, column) = if self.right_by_columns { (0, row) } else { (row, 0) };
        (
            self.left_offset(down, matrix & 1, matrix >> 1 & (self.units - 1), row, 0),
            self.right_offset(tile, matrix & (units - 1), depth, column),
        )
    }

    /// The bits of a left offset that depend on the thread, or more.
    const fn left_touched(&self) -> usize {
        self.left().touched((1 << (self.down + 4)) - 1, (self.units << (self.unit + self.size)) - 1)
    }

    /// The bits of a right offset that depend on the thread, or more.
    const fn right_touched(&self) -> usize {
        let column = (1 << (self.across + 5)) - 1;
        let depth = (self.units << self.unit) - 1;
        if self.right_by_columns {
            self.right().touched(column, depth << self.size)
        } else {
            self.right().touched(depth, column << self.size)
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

/// Where a thread finds its fragments in shared memory.
#[derive(Clone, Copy)]
struct Fragments<P> {
    left: SwizzledAddress,
    right: SwizzledAddress,
    plan: PhantomData<P>,
}

impl<P: Planned> Fragments<P> {
    /// The fragments of the operands at these addresses.
    #[inline(always)]
    fn new(left: u32, right: u32) -> Self {
        let (own_left, own_right) = P::PLAN.own(arch::execution::thread());
        Self {
            left: SwizzledAddress { stage: left, own: own_left, touched: const { P::PLAN.left_touched() } },
            right: SwizzledAddress {
                stage: right,
                own: own_right,
                touched: const { P::PLAN.right_touched() },
            },
            plan: PhantomData,
        }
    }

    /// The left fragments of an instruction whose first register along `k` is `first`: word `8 t + h + 2 u` is that of piece `t`
    /// of the warp's rows, half `h`, register `first + u`.
    ///
    /// # Safety
    /// All threads of the block execute this same call. The operand has been stored, and nobody stores to it.
    #[inline(always)]
    unsafe fn left<W: Word, N: PowerOfTwo>(&self, first: usize) -> Registers<W, N> {
        let plan = const { &P::PLAN };
        let mut words = Registers::from_fn(|_| W::ZERO);
        N::unroll(0, 8, &mut |i| {
            let tile = (i / 8) << plan.down;
            let address = |half, unit| self.left.at(plan.left_offset(tile, half, first + unit, 0, 0));
            let mut set = |part: usize, word: u32| words.set(i + part, W::narrow(u64::from(word)));
            // SAFETY: the fragments lie within the operand, and the caller vouches for it and for convergence.
            unsafe {
                match (plan.size, plan.units) {
                    (3, units) => <U4 as PowerOfTwo>::unroll(0, 1, &mut |unit| {
                        if unit < units {
                            words.set(i + 2 * unit, W::load_shared(address(0, unit)));
                            words.set(i + 2 * unit + 1, W::load_shared(address(1, unit)));
                        }
                    }),
                    (_, 1) => {
                        let [a, b] = arch::matrix::load_matrices_2(address(0, 0));
                        set(0, a);
                        set(1, b);
                    }
                    _ => {
                        let [a, b, c, d] = arch::matrix::load_matrices_4(address(0, 0));
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

    /// The right fragments likewise: word `4 t + u` is that of piece `t` of the warp's columns, register `first + u`.
    ///
    /// # Safety
    /// As for [`Fragments::left`].
    #[inline(always)]
    unsafe fn right<W: Word, N: PowerOfTwo>(&self, first: usize) -> Registers<W, N> {
        let plan = const { &P::PLAN };
        let (units, tiles) = const { P::PLAN.right_group() };
        let mut words = Registers::from_fn(|_| W::ZERO);
        N::unroll(0, 4 * tiles, &mut |i| {
            let tile = (i / 4) << plan.across;
            let address = |unit| self.right.at(plan.right_offset(tile, first + unit, 0, 0));
            let mut set = |matrix: usize, word: u32| {
                words.set(i + matrix / units * 4 + matrix % units, W::narrow(u64::from(word)));
            };
            // SAFETY: as above.
            unsafe {
                match (plan.size, units * tiles, plan.right_by_columns) {
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

/// Adds the products of fragments, in the numbering of [`Fragments`], to the sums from register `first` on. With `APART`, tensor
/// cores sum up each instruction's products alone.
///
/// # Safety
/// All threads of the block execute this same call, and the plan of the product is not nothing.
#[inline(always)]
unsafe fn accumulate<T, U, C, S, B, N, const APART: bool>(
    sums: &mut Registers<C, N>,
    first: usize,
    units: usize,
    left: impl Fn(usize) -> T::Word,
    right: impl Fn(usize) -> T::Word,
) where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    S: Shape,
    B: Block,
    N: PowerOfTwo,
{
    let columns = const { <ColumnTiles<S, B> as PowerOfTwo>::COUNT };
    <SumsOf<S, B>>::unroll(first, 4, &mut |base| {
        let tile = (base - first) / 4;
        let (l, r) = (tile / columns * 8, tile % columns * 4);
        let before = [sums.get(base), sums.get(base + 1), sums.get(base + 2), sums.get(base + 3)];
        // SAFETY: the same contract; a block has whole warps where tensor cores serve it.
        let added = unsafe {
            T::multiply(
                [
                    left(l),
                    left(l + 1),
                    left(l + 2),
                    left(l + 3),
                    left(l + 4),
                    left(l + 5),
                    left(l + 6),
                    left(l + 7),
                ],
                [right(r), right(r + 1), right(r + 2), right(r + 3)],
                units,
                if APART { [C::ZERO; 4] } else { before },
            )
        };
        for i in 0..4 {
            let sum = || T::narrow(Number::add(T::widen_sum(before[i]), T::widen_sum(added[i])));
            sums.set(base + i, if APART { sum() } else { added[i] });
        }
    });
}

/// Adds the product of operands in shared memory to the sums from register `first` on: those of one matrix of a batch.
///
/// # Safety
/// All threads of the block execute this same call. `P` is the plan of the product. The operands lie at these addresses,
/// aligned to 16 bytes, as [`SwizzledMatrix`] has it, and nobody stores to them.
#[inline(always)]
pub(crate) unsafe fn multiply_staged<P, T, U, C, S, B>(
    left: u32,
    right: u32,
    sums: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    first: usize,
) where
    P: Planned,
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    S: Shape,
    B: Block,
{
    let fragments = Fragments::<P>::new(left, right);
    let (all, units) = const { (1 << (P::PLAN.depth - P::PLAN.unit), P::PLAN.units) };
    let mut unit = 0;
    while unit < all {
        // SAFETY: the same contract.
        unsafe {
            let left = fragments.left::<T::Word, LeftWords<S, B>>(unit);
            let right = fragments.right::<T::Word, RightWords<S, B>>(unit);
            accumulate::<T, U, C, S, B, _, false>(sums, first, units, |i| left.get(i), |i| right.get(i));
        }
        unit += units;
    }
}

/// The fragments of both factors of a product that the instructions for sums of type `C` and shape `S` take at once, in the
/// numbering of [`Fragments`]: of tiles without a batch, or with a batch of one.
pub(crate) struct Factors<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block> {
    left: Registers<T::Word, LeftWords<S, B>>,
    right: Registers<T::Word, RightWords<S, B>>,
}

impl<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block> Factors<T, U, C, S, B> {
    /// Zeros.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self { left: Registers::from_fn(|_| T::Word::ZERO), right: Registers::from_fn(|_| T::Word::ZERO) }
    }

    /// The fragments of these tiles, which have as much of `k` as an instruction takes.
    #[inline(always)]
    pub(crate) fn of<SA: Shape, SB: Shape>(
        left: &Tile<T, SA, OperandALayout<B, T::Bytes, S::Columns>>,
        right: &Tile<U, SB, OperandBLayout<B, T::Bytes, S::Rows>>,
    ) -> Self {
        const {
            assert!(<SA::Columns as PowerOfTwo>::LOG == 2 + <T::Packed as PowerOfTwo>::LOG + T::UNITS.ilog2())
        };
        let packed = const { <T::Packed as PowerOfTwo>::COUNT };
        let (left, right) = (left.registers(), right.registers());
        Self {
            left: Registers::from_fn(|i| {
                let (tile, half, unit) = (i / 8, i % 2, i / 2 % 4);
                if unit >= T::UNITS {
                    return T::Word::ZERO;
                }
                let word = half + 2 * (unit + T::UNITS * tile);
                T::left_word(|part| left.get(word * packed + part))
            }),
            right: Registers::from_fn(|i| {
                let (tile, unit) = (i / 4, i % 4);
                if unit >= T::UNITS {
                    return T::Word::ZERO;
                }
                let word = unit + T::UNITS * tile;
                T::right_word(|part| right.get(word * packed + part))
            }),
        }
    }

    /// Adds their product to sums. With `APART`, tensor cores sum it up alone.
    ///
    /// # Safety
    /// All threads of the block execute this same call. Tensor cores multiply these tiles: there is a [`Plan`] for all of `k`.
    #[inline(always)]
    pub(crate) unsafe fn multiply<const APART: bool>(
        &self,
        sums: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    ) {
        let (left, right) = (|i| self.left.get(i), |i| self.right.get(i));
        // SAFETY: the same contract.
        unsafe { accumulate::<T, U, C, S, B, _, APART>(sums, 0, T::UNITS, left, right) }
    }
}

/// The plan for tiles whose left one has shape `SA`: as much of `k` at once as fits the scratch.
pub(crate) struct Whole<T, U, C, SA, S, B>(PhantomData<(T, U, C, SA, S, B)>);

impl<T: ProductOf<U, C>, U: Repack, C: Element, SA: Shape, S: Shape, B: Block> Whole<T, U, C, SA, S, B> {
    const FOUND: Option<Plan> = {
        let mut depth = <SA::Columns as PowerOfTwo>::LOG;
        let across = <S::Rows as PowerOfTwo>::COUNT + <S::Columns as PowerOfTwo>::COUNT;
        while depth > 0 && (across * <T::Bytes as PowerOfTwo>::COUNT) << depth > arch::shared::SCRATCH_BYTES {
            depth -= 1;
        }
        // `ldmatrix` transposes elements of 16 bits only, and those of 64 bits are loaded one by one.
        let size = <T::Bytes as PowerOfTwo>::COUNT;
        Plan::new::<T, U, C, S, B>(depth, size == 1 || size == 4)
    };

    /// Whether tensor cores multiply these tiles.
    pub(crate) const SERVED: bool = Self::FOUND.is_some();
}

impl<T: ProductOf<U, C>, U: Repack, C: Element, SA: Shape, S: Shape, B: Block> Planned
    for Whole<T, U, C, SA, S, B>
{
    const PLAN: Plan = match Self::FOUND {
        Some(plan) => plan,
        // Of code that is never run, but that the compiler looks at.
        None => Plan {
            rows: 4,
            columns: 3,
            depth: 5,
            size: 0,
            unit: 4,
            down: 0,
            across: 0,
            units: 2,
            right_by_columns: true,
        },
    };
}

/// The operand with these base-2 logarithms of rows and columns as it goes into a stage, `2^depth` of `k` at once.
const fn part(rows: u32, columns: u32, depth: u32, by_columns: bool, transposed: bool) -> Part {
    let length = if by_columns { columns } else { rows };
    let window = if depth < length { depth } else { length };
    Part { matrix: rows + columns, columns, by_columns, window, transposed }
}

/// The left operand, of shape `S`, in shared memory.
struct Left<P, S>(PhantomData<(P, S)>);
/// The right operand.
struct Right<P, S>(PhantomData<(P, S)>);

impl<P: Planned, S: Shape> Filling for Left<P, S> {
    const STAGE: SwizzledMatrix = P::PLAN.left();
    const PART: Part =
        part(<S::Rows as PowerOfTwo>::LOG, <S::Columns as PowerOfTwo>::LOG, P::PLAN.depth, true, false);
}

impl<P: Planned, S: Shape> Filling for Right<P, S> {
    const STAGE: SwizzledMatrix = P::PLAN.right();
    const PART: Part = part(
        <S::Rows as PowerOfTwo>::LOG,
        <S::Columns as PowerOfTwo>::LOG,
        P::PLAN.depth,
        false,
        P::PLAN.right_by_columns,
    );
}

/// Adds the products of two tiles to sums. Only where tensor cores serve them: [`Whole::SERVED`].
#[inline(always)]
pub(crate) fn multiply<T, U, C, SA, SB, S, B, L, M>(
    left: &Tile<T, SA, L>,
    right: &Tile<U, SB, M>,
    sums: &mut Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
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
    let (left_bytes, bytes) = const {
        let plan = &<Whole<T, U, C, SA, S, B> as Planned>::PLAN;
        let depth = plan.depth + plan.size;
        (1usize << (plan.rows + depth), (1usize << (plan.rows + depth)) + (1 << (plan.columns + depth)))
    };
    let address = arch::shared::scratch_of(bytes);
    let right_address = address + left_bytes as u32;
    let of_matrix = const { <SumsOf<S, B> as PowerOfTwo>::COUNT };
    <Quotient<S::Count, Product<S::Rows, S::Columns>>>::unroll(0, 1, &mut |batch| {
        let (left_batch, right_batch) = const { (batches::<SA>() > 1, batches::<SB>() > 1) };
        let of = |has: bool| if has { batch } else { 0 };
        SA::Columns::unroll(0, const { 1 << Whole::<T, U, C, SA, S, B>::PLAN.depth }, &mut |first| {
            // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`). Both operands fit
            // the scratch, one behind the other and both a multiple of 16 bytes; a barrier ends the loads of what was there
            // before, another the stores.
            unsafe {
                barrier::<B>();
                fill::<Left<Whole<T, U, C, SA, S, B>, SA>, _, _, _>(address, left, of(left_batch), first);
                fill::<Right<Whole<T, U, C, SA, S, B>, SB>, _, _, _>(
                    right_address,
                    right,
                    of(right_batch),
                    first,
                );
                barrier::<B>();
                multiply_staged::<Whole<T, U, C, SA, S, B>, T, U, C, S, B>(
                    address,
                    right_address,
                    sums,
                    batch * of_matrix,
                );
            }
        });
    });
}

/// The matrices of a batch.
const fn batches<S: Shape>() -> usize {
    S::LEN >> (<S::Rows as PowerOfTwo>::LOG + <S::Columns as PowerOfTwo>::LOG)
}
