//! Elements of a tile picked by their indices.

use crate::arch;
use crate::element::{Cast, Element, Integer};
use crate::layout::movement::Along;
use crate::layout::{Block, Blocked, Layout};
use crate::ops::shapes::AnyTile;
use crate::registers::PowerOfTwo;
use crate::shape::{AxisDimension, Shape};
use crate::tile::Tile;

/// A tile of integers, over the threads of block `B`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tile of indices",
    label = "expected a tile of integers",
    note = "indices are integers of any type; convert others with `.cast::<...>()`"
)]
pub trait IndexTile<B: Block>: AnyTile<Element: Integer + Cast<i64>, Layout: Layout<Block = B>> {}

impl<B: Block, X: AnyTile<Element: Integer + Cast<i64>, Layout: Layout<Block = B>>> IndexTile<B> for X {}

/// A tile with the dimension along axis `A` of a vector of shape `R`.
pub type Taken<T, S, L, R, const A: usize> =
    Tile<T, <S as AxisDimension<A>>::With<<R as AxisDimension<0>>::Dimension>, Blocked<<L as Layout>::Block>>;

/// Elements that the tile of integers `X` picks: `t.take::<0>(index)`. [`Tile`] has these operations.
///
/// The index tile is a parameter of this trait, and not of its methods. A call therefore names the axis alone.
pub trait Take<X: AnyTile>: AnyTile {
    /// The elements of this tile whose coordinates along axis `A` are the elements of `index`: NumPy's `take_along_axis`.
    ///
    /// The other coordinates of an element are those of its index.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4]).cast::<f32>();
    ///     let largest = t.take_along_axis::<1>(t.argmax::<1>());
    ///     assert_eq!(largest.at([1, 0]), 7.0);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The index has the shape of the tile, but for axis `A`, and the result has the shape of the index. The index holds integers of any type.
    ///
    /// # Panics
    ///
    /// If an index is negative or not below the dimension (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the index. The tile goes once through shared memory, from which each thread reads the elements that its
    /// indices name: [`ops::shapes`](super#on-a-gpu).
    #[track_caller]
    #[doc(alias("gather"))]
    fn take_along_axis<const A: usize>(self, index: X) -> Tile<Self::Element, X::Shape, X::Layout>
    where
        Self::Shape: AxisDimension<A>;

    /// The elements of [`take_along_axis`](Self::take_along_axis), with `padding` for each index outside the dimension.
    ///
    /// An index is outside if it is negative or not below the dimension.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4]).cast::<f32>();
    ///     let before = t.take_along_axis_masked::<0>(cx.iota::<i32>(shape![4]) - 1, f32::NAN);
    ///     assert!(before.at([0]).is_nan());
    ///     assert_eq!(before.at([3]), 2.0);
    /// });
    /// ```
    fn take_along_axis_masked<const A: usize>(
        self,
        index: X,
        padding: Self::Element,
    ) -> Tile<Self::Element, X::Shape, X::Layout>
    where
        Self::Shape: AxisDimension<A>;

    /// The slices of this tile whose coordinates along axis `A` are the elements of the vector `index`: NumPy's `take`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let rows = cx.iota::<i32>(shape![4, 8]).take::<0>(3 - cx.iota::<i32>(shape![2]));
    ///     assert_eq!((rows.at([0, 1]), rows.at([1, 1])), (25, 17));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result has the shape of the tile, with the length of the vector along axis `A`.
    ///
    /// # Panics
    ///
    /// If an index is negative or not below the dimension (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. The vector is repeated for all other coordinates, and then picks as in
    /// [`take_along_axis`](Self::take_along_axis).
    #[track_caller]
    fn take<const A: usize>(self, index: X) -> Taken<Self::Element, Self::Shape, Self::Layout, X::Shape, A>
    where
        Self::Shape: AxisDimension<A>,
        X: AnyTile<Shape: AxisDimension<0>>;

    /// The slices of [`take`](Self::take), with `padding` for each index outside the dimension.
    ///
    /// An index is outside if it is negative or not below the dimension.
    fn take_masked<const A: usize>(
        self,
        index: X,
        padding: Self::Element,
    ) -> Taken<Self::Element, Self::Shape, Self::Layout, X::Shape, A>
    where
        Self::Shape: AxisDimension<A>,
        X: AnyTile<Shape: AxisDimension<0>>;
}

impl<T: Element, S: Shape, L: Layout, X: IndexTile<L::Block>> Take<X> for Tile<T, S, L> {
    #[inline_on_device]
    #[track_caller]
    fn take_along_axis<const A: usize>(self, index: X) -> Tile<T, X::Shape, X::Layout>
    where
        S: AxisDimension<A>,
    {
        const { Self::picked_by::<A, X::Shape>() };
        self.pick::<A, _, _, _>(index.tile(), None)
    }

    #[inline_on_device]
    fn take_along_axis_masked<const A: usize>(self, index: X, padding: T) -> Tile<T, X::Shape, X::Layout>
    where
        S: AxisDimension<A>,
    {
        const { Self::picked_by::<A, X::Shape>() };
        self.pick::<A, _, _, _>(index.tile(), Some(padding))
    }

    #[inline_on_device]
    #[track_caller]
    fn take<const A: usize>(self, index: X) -> Taken<T, S, L, X::Shape, A>
    where
        S: AxisDimension<A>,
        X: AnyTile<Shape: AxisDimension<0>>,
    {
        const { Self::taken_by::<X::Shape>() };
        Take::<_>::take_along_axis::<A>(self, Self::along::<A, _, _, _>(index.tile()))
    }

    #[inline_on_device]
    fn take_masked<const A: usize>(self, index: X, padding: T) -> Taken<T, S, L, X::Shape, A>
    where
        S: AxisDimension<A>,
        X: AnyTile<Shape: AxisDimension<0>>,
    {
        const { Self::taken_by::<X::Shape>() };
        Take::<_>::take_along_axis_masked::<A>(self, Self::along::<A, _, _, _>(index.tile()), padding)
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Indices of shape `R` are a vector.
    const fn taken_by<R: Shape>() {
        assert!(R::DESCRIPTION.rank == 1, "take: the indices are a tile of rank 1");
    }

    /// The vector `index` along axis `A`, the same for all other coordinates.
    #[inline_on_device]
    fn along<const A: usize, I: Element, R: AxisDimension<0>, M: Layout<Block = L::Block>>(
        index: Tile<I, R, M>,
    ) -> Taken<I, S, L, R, A>
    where
        S: AxisDimension<A>,
    {
        index.moved::<S::With<R::Dimension>, Blocked<L::Block>, Along<A>>()
    }

    /// Indices of shape `R` pick elements along axis `A`.
    const fn picked_by<const A: usize, R: Shape>() {
        assert!(
            S::DESCRIPTION.rank == R::DESCRIPTION.rank,
            "take_along_axis: the index tile has as many axes as the tile"
        );
        let mut axis = 0;
        while axis < S::DESCRIPTION.rank {
            assert!(
                axis == A || S::DESCRIPTION.log[axis] == R::DESCRIPTION.log[axis],
                "take_along_axis: the index tile has the dimensions of the tile, but for the axis of the indices"
            );
            axis += 1;
        }
    }

    /// The elements that `index` names along axis `A`, or `padding` for an index outside, which without one is a misuse.
    #[inline_on_device]
    #[track_caller]
    fn pick<const A: usize, I, R, M>(self, index: Tile<I, R, M>, padding: Option<T>) -> Tile<T, R, M>
    where
        I: Integer + Cast<i64>,
        R: Shape,
        M: Layout,
    {
        let low = const { S::DESCRIPTION.low_bit(A) };
        let (length, wanted) = const { (S::DESCRIPTION.log[A], R::DESCRIPTION.log[A]) };
        let at = |i: usize| -> i64 { index.registers().get(i).cast() };
        let inside = |index: i64| (index as u64) < 1 << length;
        if padding.is_none() {
            let mut outside = None;
            <M::Registers<R>>::unroll(0, 1, &mut |i| {
                if !inside(at(i)) {
                    outside = Some(at(i));
                }
            });
            if let Some(index) = outside {
                arch::execution::fail(|text| {
                    write!(text, "index {index} is not below dimension {A} of the tile, {}", 1u32 << length)
                });
            }
        }
        let own = Tile::<I, R, M>::thread_index();
        let picked: Tile<T, R, M> = self.gathered(|i| {
            let flat = Tile::<I, R, M>::flat_index(own, i);
            let coordinate = if inside(at(i)) { at(i) as usize } else { 0 };
            (((flat >> (low + wanted)) << length | coordinate) << low) | (flat & ((1 << low) - 1))
        });
        match padding {
            None => picked,
            Some(padding) => {
                Tile::from_registers_fn(|i| if inside(at(i)) { picked.registers().get(i) } else { padding })
            }
        }
    }
}

impl<T: Element, S: AxisDimension<0> + AxisDimension<1>, L: Layout> Tile<T, S, L> {
    /// The elements of a square matrix whose row and column are the same.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4, 4]).diagonal();
    ///     assert_eq!((t.at([0]), t.at([3])), (0, 15));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result has rank 1. A tile that is no square matrix does not compile.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. The elements go through shared memory: [`ops::shapes`](super#on-a-gpu).
    #[inline_on_device]
    pub fn diagonal(self) -> Diagonal<T, S, L> {
        let length = const {
            let shape = &S::DESCRIPTION;
            assert!(shape.rank == 2 && shape.log[0] == shape.log[1], "diagonal: the tile is a square matrix");
            1 << shape.log[0]
        };
        let own = Diagonal::<T, S, L>::thread_index();
        self.gathered(|i| Diagonal::<T, S, L>::flat_index(own, i) * (length + 1))
    }
}

/// The diagonal of a square matrix.
pub type Diagonal<T, S, L> = Tile<T, (<S as AxisDimension<0>>::Dimension,), Blocked<<L as Layout>::Block>>;
