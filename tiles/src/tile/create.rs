//! Making tiles: the creations of [`Cx`], which knows the block, and of [`Tile`] where the type is known.

use super::Tile;
use crate::arch;
use crate::context::Cx;
use crate::element::{Cast, Element, Integer, Number};
use crate::layout::{Block, Blocked, Layout, Map};
use crate::shape::Shape;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// A tile whose elements are all `value`.
    #[inline(always)]
    pub fn full(value: T) -> Self {
        Self::from_registers_fn(|_| value)
    }

    /// A tile of zeros. Of an element type without zero, `f8e8m0`, it does not compile.
    #[inline(always)]
    pub fn zeros() -> Self {
        const { assert!(T::HAS_ZERO, "zeros: f8e8m0 has no zero, only powers of two") };
        Self::full(T::ZERO)
    }

    /// A tile of ones.
    #[inline(always)]
    pub fn ones() -> Self
    where
        T: Number,
    {
        Self::full(T::ONE)
    }

    /// The row-major numbers of the elements: 0, 1, 2, ...
    ///
    /// The last number must fit the element type, which is checked at compile time.
    #[inline(always)]
    pub fn iota() -> Self
    where
        T: Integer,
        u32: Cast<T>,
    {
        const {
            assert!(
                (S::LEN - 1) as u64
                    <= if T::WIDTH == 64 {
                        u32::MAX as u64
                    } else {
                        (1u64 << (T::WIDTH - T::SIGNED as u32)) - 1
                    },
                "iota: the last number of the tile does not fit its element type"
            )
        };
        let own = Map::<L, S>::MAP.of_thread.apply(arch::execution::thread());
        Self::from_registers_fn(|i| ((own | const { &Map::<L, S>::MAP }.of_register.apply(i)) as u32).cast())
    }
}

impl<B: Block> Cx<B> {
    /// A tile of `shape` whose elements are all `value`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| assert_eq!(cx.full(shape![8, 2], 1.5f32).at([7, 1]), 1.5));
    /// ```
    #[inline(always)]
    pub fn full<T: Element, S: Shape>(self, _shape: S, value: T) -> Tile<T, S, Blocked<B>> {
        Tile::full(value)
    }

    /// A tile of zeros.
    #[inline(always)]
    pub fn zeros<T: Element, S: Shape>(self, _shape: S) -> Tile<T, S, Blocked<B>> {
        Tile::zeros()
    }

    /// A tile of ones.
    #[inline(always)]
    pub fn ones<T: Number, S: Shape>(self, _shape: S) -> Tile<T, S, Blocked<B>> {
        Tile::ones()
    }

    /// The row-major numbers 0, 1, 2, ... of a tile's elements.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| assert_eq!(cx.iota::<u8, _>(shape![2, 128]).at([1, 127]), 255));
    /// ```
    #[inline(always)]
    pub fn iota<T: Integer, S: Shape>(self, _shape: S) -> Tile<T, S, Blocked<B>>
    where
        u32: Cast<T>,
    {
        Tile::iota()
    }

    /// A tile of rank 0 that holds `value`.
    #[inline(always)]
    pub fn scalar<T: Element>(self, value: T) -> Tile<T, (), Blocked<B>> {
        Tile::full(value)
    }
}
