//! Operands of a multiplication: A from shared memory or from registers, B from shared memory.

use crate::arch::threads::Address;
use crate::element::Element;
use crate::element::packed::packed_pair;
use crate::layout::{Accumulators, Block, Layout};
use crate::memory::reads::Reads;
use crate::memory::shared_tile::Geometry;
use crate::memory::shared_tile_ref::{SharedOperand, SharedTileRef, Transposed};
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::Dimension;
use crate::tile::Tile;

/// An operand A for an operand B in shared memory: a tile in shared memory, its transpose, or a tile in registers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand A of shape ({M}, {K})",
    label = "expected a tile in shared memory or in registers, of this shape",
    note = "the product of an (M, K) operand A and a (K, N) operand B is added to (M, N) accumulators"
)]
pub trait OperandA<'k, M: Dimension, K: Dimension, B: Block>: Sealed + Copy {
    /// Its elements.
    type Element: Element;
    /// Whether it is MN-major: its contracted axis runs across the rows of its stage.
    #[doc(hidden)]
    const TRANSPOSED: bool;
    /// The geometry of its stage, if it has one.
    #[doc(hidden)]
    const GEOMETRY: Option<Geometry>;
    /// The address of its stage, if it has one.
    #[doc(hidden)]
    fn address(self) -> Option<Address>;
    /// The readers of its stage, if it has one.
    #[doc(hidden)]
    fn reads(self) -> Option<&'k Reads>;
    /// Registers of a tile in the accumulators' layout, from number `first` on, as words.
    ///
    /// # Safety
    /// The elements of a tile in registers have 16 bits.
    #[doc(hidden)]
    unsafe fn words(self, first: usize) -> [u32; 4];
    /// The tile in registers, in layout `L`.
    #[doc(hidden)]
    fn tile<L: Layout<Block = B>>(self) -> Tile<Self::Element, (M, K), L>;
    /// Its columns from `k` on, as the fragments of layout `L`.
    ///
    /// # Safety
    /// From `k` on there are `P` columns, and `k` is a multiple of `P`. With elements of 64 bits the columns are a multiple of
    /// 16.
    #[doc(hidden)]
    unsafe fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<Self::Element, (M, P), L>;
}

macro_rules! shared_operands_a {
    ($(($($operand:tt)*) ($rows:ident, $columns:ident);)*) => { $(
        impl<'k, T: Element, M: Dimension, K: Dimension, B: Block> OperandA<'k, M, K, B> for $($operand)* {
            type Element = T;
            const TRANSPOSED: bool = <Self as SharedOperand<'k, M, K>>::TRANSPOSED;
            const GEOMETRY: Option<Geometry> = Some(<Self as SharedOperand<'k, M, K>>::GEOMETRY);
            #[inline_on_device]
            fn address(self) -> Option<Address> {
                Some(SharedOperand::<'k, M, K>::address(self))
            }
            #[inline_on_device]
            fn reads(self) -> Option<&'k Reads> {
                Some(SharedOperand::<'k, M, K>::reads(self))
            }
            #[inline_on_device]
            unsafe fn words(self, _first: usize) -> [u32; 4] {
                [0; 4]
            }
            #[inline_on_device]
            fn tile<L: Layout<Block = B>>(self) -> Tile<T, (M, K), L> {
                SharedOperand::<'k, M, K>::tile(self)
            }
            #[inline_on_device]
            unsafe fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<T, (M, P), L> {
                // SAFETY: the same contract.
                unsafe { SharedOperand::<'k, M, K>::fragments::<1, M, P, L>(self, true, [0, k]) }
            }
        }
    )* };
}
shared_operands_a! {
    (SharedTileRef<'k, T, (M, K)>) (M, K);
    (Transposed<SharedTileRef<'k, T, (K, M)>>) (K, M);
}

impl<'k, T: Element, M: Dimension, K: Dimension, B: Block> OperandA<'k, M, K, B>
    for Tile<T, (M, K), Accumulators<B>>
{
    type Element = T;
    const TRANSPOSED: bool = false;
    const GEOMETRY: Option<Geometry> = None;
    #[inline_on_device]
    fn address(self) -> Option<Address> {
        None
    }
    #[inline_on_device]
    fn reads(self) -> Option<&'k Reads> {
        None
    }
    #[inline_on_device]
    unsafe fn words(self, first: usize) -> [u32; 4] {
        // For elements of 16 bits, the accumulators' fragment is also the instruction's fragment of operand A: its registers
        // hold pairs of columns, of both eights of rows, then of the next eight columns.
        let own = self.registers();
        // SAFETY: the elements have 16 bits by the same contract.
        [0, 2, 4, 6].map(|k| unsafe { packed_pair(own.get(first + k), own.get(first + k + 1)) })
    }
    #[inline_on_device]
    fn tile<L: Layout<Block = B>>(self) -> Tile<T, (M, K), L> {
        self.spread()
    }
    #[inline_on_device]
    unsafe fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<T, (M, P), L> {
        let number = k / const { <P::Count as PowerOfTwo>::COUNT };
        self.extract::<(M, P), 2>(Default::default(), [0, number as u32]).spread()
    }
}
