//! Multiplication of tiles in registers by `wgmma`: both operands go through shared memory.

use crate::arch;
use crate::arch::matrix::WARPGROUPS;
use crate::arch::{barriers, warpgroup};
use crate::context::barrier;
use crate::element::{Element, Repack};
use crate::layout::{Accumulators, Block, Layout, WARPGROUP, is_transposed_in_place};
use crate::memory::shared_tile::Geometry;
use crate::memory::swizzle::SwizzledMatrix;
use crate::mma::accumulator::warpgroup_number;
use crate::mma::fragments_a::FragmentsOfA;
use crate::mma::instruction_shape::{STEP_BYTES, STEP_COLUMNS, STEP_ROWS, WHOLE_PANEL};
use crate::mma::staging::{Filling, Part, a_lies_by_columns, batches, fill};
use crate::mma::types::ProductOf;
use crate::mma::wgmma::Descriptor;
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;

/// The operands of a multiplication of tiles, as they lie in shared memory: operand A of shape `SA` and layout `L`, operand B of layout `M`,
/// accumulators of shape `S`.
pub(crate) struct Operands<T, U, C, SA, S, L, M>(PhantomData<(T, U, C, SA, S, L, M)>);

impl<T: ProductOf<U, C>, U: Repack, C: Element, SA: Shape, S: Shape, L: Layout, M: Layout>
    Operands<T, U, C, SA, S, L, M>
{
    const ROWS: usize = <S::Rows as PowerOfTwo>::COUNT;
    const COLUMNS: usize = <S::Columns as PowerOfTwo>::COUNT;
    /// Base-2 logarithm of the bytes of an element.
    const SIZE: u32 = <T::Bytes as PowerOfTwo>::LOG;
    /// Warpgroups of the block.
    const GROUPS: usize = <<M::Block as Block>::Threads as PowerOfTwo>::COUNT / WARPGROUP;
    /// Base-2 logarithm of the part of `k` that is in shared memory at once: as much as there is room for.
    const DEPTH: u32 = {
        let mut depth = <SA::Columns as PowerOfTwo>::LOG;
        while depth > 0 && ((Self::ROWS + Self::COLUMNS) << Self::SIZE) << depth > arch::shared::SCRATCH_BYTES
        {
            depth -= 1;
        }
        depth
    };
    /// Bytes of that part.
    const DEPTH_BYTES: usize = 1 << (Self::DEPTH + Self::SIZE);
    /// Bytes of both operands.
    const BYTES: usize = (Self::ROWS + Self::COLUMNS) * Self::DEPTH_BYTES;
    /// `wgmma` transposes elements of 16 bits alone: others of A lie by rows and others of B by columns, and these as threads hold them.
    const A_IS_K_MAJOR: bool = !a_lies_by_columns::<T, L>();
    const B_IS_K_MAJOR: bool = Self::SIZE != 1 || is_transposed_in_place::<M>();
    /// Whether warpgroups multiply these tiles.
    pub(crate) const SERVED: bool = WARPGROUPS
        && T::BY_WARPGROUPS
        && Self::GROUPS > 0
        && Self::ROWS >= STEP_ROWS * Self::GROUPS
        && Self::COLUMNS >= 8
        && (Self::B_IS_K_MAJOR || Self::COLUMNS << Self::SIZE >= WHOLE_PANEL)
        && Self::DEPTH_BYTES >= STEP_BYTES
        // The smallest scratch is not aligned to a swizzle.
        && Self::BYTES > 1024;

    const A: SwizzledMatrix = if Self::A_IS_K_MAJOR {
        SwizzledMatrix { rows: <S::Rows as PowerOfTwo>::LOG, bytes: Self::DEPTH + Self::SIZE }
    } else {
        SwizzledMatrix { rows: Self::DEPTH, bytes: <S::Rows as PowerOfTwo>::LOG + Self::SIZE }
    };
    const B: SwizzledMatrix = if Self::B_IS_K_MAJOR {
        SwizzledMatrix { rows: <S::Columns as PowerOfTwo>::LOG, bytes: Self::DEPTH + Self::SIZE }
    } else {
        SwizzledMatrix { rows: Self::DEPTH, bytes: <S::Columns as PowerOfTwo>::LOG + Self::SIZE }
    };
    /// Blocks of 64 rows of a warpgroup.
    const ROW_BLOCKS: usize = if Self::SERVED { Self::ROWS / STEP_ROWS / Self::GROUPS } else { 0 };
    /// Columns of one instruction.
    const COLUMNS_AT_ONCE: usize = if Self::COLUMNS < STEP_COLUMNS { Self::COLUMNS } else { STEP_COLUMNS };
    const OF_A: Descriptor = Descriptor::new(geometry(Self::A, Self::SIZE), !Self::A_IS_K_MAJOR, STEP_ROWS);
    const OF_B: Descriptor =
        Descriptor::new(geometry(Self::B, Self::SIZE), !Self::B_IS_K_MAJOR, Self::COLUMNS_AT_ONCE);
}

/// The measures of a matrix of elements of `2^size` bytes, in the same layout.
const fn geometry(matrix: SwizzledMatrix, size: u32) -> Geometry {
    let row = 1 << matrix.bytes;
    let panel_bytes = if row < WHOLE_PANEL { row } else { WHOLE_PANEL };
    Geometry { rows: 1 << matrix.rows, element_bytes: 1 << size, panel_bytes, panels: row / panel_bytes }
}

/// Operand A, of shape `X`, in shared memory.
struct StagedA<P, X>(PhantomData<(P, X)>);
/// Operand B, of shape `X`, in shared memory.
struct StagedB<P, X>(PhantomData<(P, X)>);

impl<T, U, C, SA, S, L, M, X> Filling for StagedA<Operands<T, U, C, SA, S, L, M>, X>
where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    S: Shape,
    L: Layout,
    M: Layout,
    X: Shape,
{
    const STAGE: SwizzledMatrix = Operands::<T, U, C, SA, S, L, M>::A;
    const PART: Part = Part::new(
        <X::Rows as PowerOfTwo>::LOG,
        <X::Columns as PowerOfTwo>::LOG,
        Operands::<T, U, C, SA, S, L, M>::DEPTH,
        true,
        !Operands::<T, U, C, SA, S, L, M>::A_IS_K_MAJOR,
    );
}

impl<T, U, C, SA, S, L, M, X> Filling for StagedB<Operands<T, U, C, SA, S, L, M>, X>
where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    S: Shape,
    L: Layout,
    M: Layout,
    X: Shape,
{
    const STAGE: SwizzledMatrix = Operands::<T, U, C, SA, S, L, M>::B;
    const PART: Part = Part::new(
        <X::Rows as PowerOfTwo>::LOG,
        <X::Columns as PowerOfTwo>::LOG,
        Operands::<T, U, C, SA, S, L, M>::DEPTH,
        false,
        Operands::<T, U, C, SA, S, L, M>::B_IS_K_MAJOR,
    );
}

/// Adds the product of two tiles to `acc`. Only where warpgroups multiply them: [`Operands::SERVED`].
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
    let address = arch::shared::scratch_of(const { Operands::<T, U, C, SA, S, L, M>::BYTES });
    let b_address = address
        + const { (Operands::<T, U, C, SA, S, L, M>::ROWS * Operands::<T, U, C, SA, S, L, M>::DEPTH_BYTES) as u32 };
    let of_matrix = const { Operands::<T, U, C, SA, S, L, M>::ROWS * Operands::<T, U, C, SA, S, L, M>::COLUMNS }
        / const { <B::Threads as PowerOfTwo>::COUNT };
    let group = warpgroup_number::<B>();
    let registers = core::ptr::from_mut(acc).cast::<u32>();
    let a_fragments = if const { FragmentsOfA::<T, U, C, SA, S, B>::are_held::<L>() } {
        Some(FragmentsOfA::<T, U, C, SA, S, B>::new(a))
    } else {
        None
    };
    <Quotient<S::Count, Product<S::Rows, S::Columns>>>::unroll(0, 1, &mut |batch| {
        let (a_batch, b_batch) = const { (batches::<SA>() > 1, batches::<SB>() > 1) };
        let of = |has: bool| if has { batch } else { 0 };
        let own = registers.wrapping_add(batch * of_matrix);
        SA::Columns::unroll(0, const { 1 << Operands::<T, U, C, SA, S, L, M>::DEPTH }, &mut |first| {
            let a_operand = match &a_fragments {
                Some(fragments) => OperandA::Registers { fragments, batch: of(a_batch), first },
                None => OperandA::Shared { address, group },
            };
            // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`). Both operands fit the scratch
            // memory, one behind the other, and the size of each is a multiple of 1024 bytes. The first barrier ends the reads of earlier
            // contents: each warpgroup has waited for its multiplications. The fence and the second barrier end the stores, for the
            // tensor cores too. `of_matrix` registers from `own` on are the accumulators of this matrix, of 32 bits.
            unsafe {
                barrier::<B>();
                if a_fragments.is_none() {
                    fill::<StagedA<Operands<T, U, C, SA, S, L, M>, SA>, _, _, _>(
                        address,
                        a,
                        of(a_batch),
                        first,
                    );
                }
                fill::<StagedB<Operands<T, U, C, SA, S, L, M>, SB>, _, _, _>(
                    b_address,
                    b,
                    of(b_batch),
                    first,
                );
                barriers::fence_proxy_async();
                barrier::<B>();
                warpgroup::pin::<false>(of_matrix, own);
                warpgroup::fence();
                issue::<T, U, C, SA, S, L, M>(a_operand, b_address, own);
                warpgroup::commit();
                warpgroup::pin::<true>(of_matrix, own);
            }
        });
    });
}

/// Where operand A is.
enum OperandA<'a, T: ProductOf<U, C>, U: Repack, C: Element, SA: Shape, S: Shape, B: Block> {
    /// In shared memory at this address, for the warpgroup with this number.
    Shared { address: u32, group: u32 },
    /// In registers: the fragments, the matrix of the batch, and the first of `k`.
    Registers { fragments: &'a FragmentsOfA<T, U, C, SA, S, B>, batch: usize, first: usize },
}

/// Starts the multiplication of operand A and of operand B in shared memory, to be added to the accumulators at `acc`.
///
/// # Safety
/// All threads of the block execute this same call, behind a [`warpgroup::fence`]. Operands in shared memory lie at these addresses, as
/// [`Operands`] says, and nobody stores to them until the multiplication is done. `acc` is valid for the accumulators of one matrix,
/// which nobody touches until then. Warpgroups multiply these tiles: [`Operands::SERVED`].
#[inline_on_device]
unsafe fn issue<T, U, C, SA, S, L, M>(a: OperandA<'_, T, U, C, SA, S, M::Block>, b: u32, acc: *mut u32)
where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    S: Shape,
    L: Layout,
    M: Layout,
{
    let (of_a, of_b) =
        const { (Operands::<T, U, C, SA, S, L, M>::OF_A, Operands::<T, U, C, SA, S, L, M>::OF_B) };
    let (groups, columns, at_once, steps) = const {
        (
            Operands::<T, U, C, SA, S, L, M>::GROUPS,
            Operands::<T, U, C, SA, S, L, M>::COLUMNS,
            Operands::<T, U, C, SA, S, L, M>::COLUMNS_AT_ONCE,
            Operands::<T, U, C, SA, S, L, M>::DEPTH_BYTES / STEP_BYTES,
        )
    };
    let mut row_block = 0;
    while row_block < const { Operands::<T, U, C, SA, S, L, M>::ROW_BLOCKS } {
        let mut column_block = 0;
        while column_block < columns / at_once {
            let own = acc.wrapping_add((row_block * columns + column_block * at_once) / 2);
            let b_at = of_b.at(b, column_block);
            let mut step = 0;
            while step < steps {
                let b_at = b_at + of_b.step(step);
                // SAFETY: the same contract. The descriptors refer to the given blocks and step, which lie within the operands. A block
                // of 64 rows has `columns / 2` registers a thread, and each warp holds the fragments of its 16 rows of it. Operands are
                // MN-major with 16 bits alone.
                unsafe {
                    match (&a, const { Operands::<T, U, C, SA, S, L, M>::B_IS_K_MAJOR }) {
                        (OperandA::Shared { address, group }, by_k) => {
                            let a_at =
                                of_a.at(*address, *group as usize + row_block * groups) + of_a.step(step);
                            match (const { Operands::<T, U, C, SA, S, L, M>::A_IS_K_MAJOR }, by_k) {
                                (true, true) => T::multiply_shared::<0, 0>(at_once, own, 1, a_at, b_at),
                                (true, false) => T::multiply_shared::<0, 1>(at_once, own, 1, a_at, b_at),
                                (false, true) => T::multiply_shared::<1, 0>(at_once, own, 1, a_at, b_at),
                                (false, false) => T::multiply_shared::<1, 1>(at_once, own, 1, a_at, b_at),
                            }
                        }
                        (OperandA::Registers { fragments, batch, first }, by_k) => {
                            let words = fragments.words(*batch, row_block, *first, step);
                            if by_k {
                                T::multiply_registers::<0>(at_once, own, 1, words, b_at)
                            } else {
                                T::multiply_registers::<1>(at_once, own, 1, words, b_at)
                            }
                        }
                    }
                }
                step += 1;
            }
            column_block += 1;
        }
        row_block += 1;
    }
}
