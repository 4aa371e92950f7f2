//! Making tiles: the creations of [`Cx`], which knows the block, and of [`Tile`] where the type is known.

use super::Tile;
use crate::arch;
use crate::context::Cx;
use crate::element::{Cast, Element, Integer, Number};
use crate::layout::{Accumulators, Block, Blocked, Layout};
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::{Axis, D, Dimension, Shape};
use core::hint::select_unpredictable;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// A tile whose elements are all `value`.
    #[inline_on_device]
    pub(crate) fn full(value: T) -> Self {
        Self::from_registers_fn(|_| value)
    }

    /// A tile of zeros.
    #[inline_on_device]
    pub(crate) fn zeros() -> Self {
        Self::full(T::ZERO)
    }

    /// A tile of ones.
    #[inline_on_device]
    pub(crate) fn ones() -> Self
    where
        T: Number,
    {
        Self::full(T::ONE)
    }
}

impl<S: Shape, L: Layout> Tile<u32, S, L> {
    /// The coordinate of each element along axis `A`; with [`ALL`](crate::shape::ALL) its row-major number.
    #[inline_on_device]
    pub(crate) fn coordinate<const A: usize>() -> Self
    where
        S: Axis<A>,
    {
        let own = Self::thread_index();
        Self::from_registers_fn(|i| {
            let flat = Self::flat_index(own, i);
            (flat >> <S::Inner as PowerOfTwo>::LOG) as u32 & (<S::Length as PowerOfTwo>::COUNT - 1) as u32
        })
    }
}

/// Tiles whose element type a call names: `cx.zeros::<f32>(shape![8, 8])`. [`Cx`] makes them.
///
/// The shape is a parameter of this trait, and not of its methods. A call therefore names the element type alone.
pub trait Create<S: Shape>: Sealed + Sized {
    /// The block that holds the tiles.
    type Block: Block;

    /// A tile of zeros: [`full`](Cx::full) of zero.
    ///
    /// An element type without zero, `f8e8m0`, does not compile.
    #[inline_on_device]
    fn zeros<T: Element>(self, _shape: S) -> Tile<T, S, Blocked<Self::Block>> {
        const { assert!(T::HAS_ZERO, "zeros: f8e8m0 has no zero, only powers of two") };
        Tile::zeros()
    }

    /// A tile of ones: [`full`](Cx::full) of one.
    #[inline_on_device]
    fn ones<T: Number>(self, _shape: S) -> Tile<T, S, Blocked<Self::Block>> {
        Tile::ones()
    }

    /// The row-major numbers 0, 1, 2, ... of a tile's elements.
    ///
    /// An element type that does not hold the last number does not compile. [`arange`](Cx::arange) has another start and step.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| assert_eq!(cx.iota::<u8>(shape![2, 128]).at([1, 127]), 255));
    /// ```
    #[inline_on_device]
    fn iota<T: Integer>(self, _shape: S) -> Tile<T, S, Blocked<Self::Block>>
    where
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
        let own = Tile::<T, S, Blocked<Self::Block>>::thread_index();
        Tile::from_registers_fn(|i| (Tile::<T, S, Blocked<Self::Block>>::flat_index(own, i) as u32).cast())
    }

    /// The coordinate of each element of a tile of `shape` along axis `A`; with [`ALL`](crate::shape::ALL) its row-major
    /// number.
    ///
    /// Comparisons of coordinates are masks: here of a lower triangle.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (row, column) = (cx.coordinate::<0>(shape![4, 4]), cx.coordinate::<1>(shape![4, 4]));
    ///     let t = column.le(row).select(cx.ones::<f32>(shape![4, 4]), cx.zeros::<f32>(shape![4, 4]));
    ///     assert_eq!((t.at([2, 1]), t.at([1, 2])), (1.0, 0.0));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`]. [`Tile::coordinates`] gives coordinates in the layout of another tile.
    #[inline_on_device]
    fn coordinate<const A: usize>(self, _shape: S) -> Tile<u32, S, Blocked<Self::Block>>
    where
        S: Axis<A>,
    {
        Tile::coordinate()
    }

    /// A matrix with ones where row and column are the same, and zeros elsewhere.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.eye::<f32>(shape![4, 4]);
    ///     assert_eq!((t.at([2, 2]), t.at([2, 3])), (1.0, 0.0));
    /// });
    /// ```
    #[inline_on_device]
    fn eye<T: Number>(self, _shape: S) -> Tile<T, S, Blocked<Self::Block>>
    where
        S: Axis<0> + Axis<1>,
    {
        const { assert!(S::DESCRIPTION.rank == 2, "eye: the shape is that of a matrix") };
        let own = Tile::<T, S, Blocked<Self::Block>>::thread_index();
        Tile::from_registers_fn(|i| {
            let flat = Tile::<T, S, Blocked<Self::Block>>::flat_index(own, i);
            let shape = &S::DESCRIPTION;
            if shape.coordinate(flat, 0) == shape.coordinate(flat, 1) { T::ONE } else { T::ZERO }
        })
    }

    /// Zeros in the layout of [`mma`](crate::mma::mma)'s accumulators, to begin a loop with.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let mut acc = cx.accumulators::<i32>(shape![16, 8]);
    ///     for k in 1..4 {
    ///         acc = mma(cx.full(shape![16, 32], k as i8), cx.ones::<i8>(shape![32, 8]), acc);
    ///     }
    ///     assert_eq!(acc.at([15, 7]), 32 * (1 + 2 + 3));
    ///     // Other acc have the same values, and cost two exchanges a step.
    ///     let mut others = cx.zeros::<i32>(shape![16, 8]);
    ///     for k in 1..4 {
    ///         others = mma(cx.full(shape![16, 32], k as i8), cx.ones::<i8>(shape![32, 8]), others);
    ///     }
    ///     assert_eq!(others.at([15, 7]), acc.at([15, 7]));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Accumulators`], so that a product changes no layout.
    #[inline_on_device]
    fn accumulators<C: Number>(self, _shape: S) -> Tile<C, S, Accumulators<Self::Block>> {
        Tile::zeros()
    }
}

impl<B: Block, S: Shape> Create<S> for Cx<B> {
    type Block = B;
}

impl<B: Block> Cx<B> {
    /// A tile of `shape` whose elements are all `value`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| assert_eq!(cx.full(shape![8, 2], 1.5f32).at([7, 1]), 1.5));
    /// ```
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`], as all created tiles do.
    #[inline_on_device]
    #[doc(alias("constant"))]
    pub fn full<T: Element, S: Shape>(self, _shape: S, value: T) -> Tile<T, S, Blocked<B>> {
        Tile::full(value)
    }

    /// A tile of rank 0 that holds `value`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let halves = cx.full(shape![2, 4], 3.0f32) * cx.scalar(0.5f32);
    ///     assert_eq!(halves.at([1, 3]), 1.5);
    /// });
    /// ```
    #[inline_on_device]
    pub fn scalar<T: Element>(self, value: T) -> Tile<T, (), Blocked<B>> {
        Tile::full(value)
    }

    /// The numbers `start`, `start + step`, `start + 2 * step`, ... in row-major order.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.arange(shape![8], 10i32, -3).at([3]), 1);
    ///     assert_eq!(cx.arange(shape![4], 0.5f32, 0.25).at([3]), 1.25);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// Each element is one product and one sum of the element type: integers wrap, and floats round twice. From 2048 (f16), 256 (bf16) and
    /// 2^24 (f32) on, the number of the element is rounded as well.
    #[inline_on_device]
    pub fn arange<T: Number, S: Shape>(self, _shape: S, start: T, step: T) -> Tile<T, S, Blocked<B>>
    where
        u32: Cast<T>,
    {
        let own = Tile::<T, S, Blocked<B>>::thread_index();
        Tile::from_registers_fn(|i| {
            let number = Tile::<T, S, Blocked<B>>::flat_index(own, i) as u32;
            Number::add(start, Number::mul(number.cast(), step))
        })
    }

    /// The tile of the given elements: an array, nested for ranks 2 to 4.
    ///
    /// The elements may be computed at run time. They are the same on all threads.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<f32, Shape2<2, 4>, _> = cx.tile_of([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    ///     assert_eq!(t.at([1, 2]), 7.0);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// Each thread selects its elements out of all. A tile should therefore be small.
    #[inline_on_device]
    #[doc(alias("astile"))]
    pub fn tile_of<N: NestedArray>(self, elements: N) -> Tile<N::Element, N::Shape, Blocked<B>> {
        let own = Tile::<N::Element, N::Shape, Blocked<B>>::thread_index();
        Tile::from_registers_fn(|i| {
            let flat = Tile::<N::Element, N::Shape, Blocked<B>>::flat_index(own, i);
            if !arch::TILES_IN_REGISTERS {
                return elements.get(flat);
            }
            // An index that differs between threads would put the array into memory, and so could a branch.
            let mut chosen = elements.get(0);
            <N::Shape as Shape>::Count::unroll(0, 1, &mut |k| {
                chosen = select_unpredictable(k == flat, elements.get(k), chosen);
            });
            chosen
        })
    }
}

/// Arrays of elements, nested up to four times: `[1, 2]`, `[[1.0, 2.0], [3.0, 4.0]]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a nested array of elements",
    label = "expected an array, nested at most four times, of power-of-two lengths",
    note = "`cx.tile_of([[1, 2], [3, 4]])` makes a tile of shape (2, 2)"
)]
pub trait NestedArray: Sealed + Copy {
    /// The type of the elements.
    type Element: Element;
    /// The shape of the array.
    type Shape: Shape;
    /// The element with row-major number `flat`.
    #[doc(hidden)]
    fn get(&self, flat: usize) -> Self::Element;
}

macro_rules! nested_arrays {
    ($($array:ty: $shape:ty, [$($length:ident)*], |$elements:ident, $flat:ident| $get:expr;)*) => { $(
        impl<T: Element, $(const $length: usize),*> NestedArray for $array
        where
            $(D<$length>: Dimension,)*
        {
            type Element = T;
            type Shape = $shape;
            #[inline_on_device]
            fn get(&self, $flat: usize) -> T {
                let $elements = self;
                $get
            }
        }
    )* };
}
nested_arrays! {
    [T; A]: (D<A>,), [A], |elements, flat| elements[flat];
    [[T; B]; A]: (D<A>, D<B>), [A B], |elements, flat| elements[flat / B][flat % B];
    [[[T; C]; B]; A]: (D<A>, D<B>, D<C>), [A B C], |elements, flat| elements[flat / C / B][flat / C % B][flat % C];
    [[[[T; E]; C]; B]; A]: (D<A>, D<B>, D<C>, D<E>), [A B C E],
        |elements, flat| elements[flat / E / C / B][flat / E / C % B][flat / E % C][flat % E];
}
