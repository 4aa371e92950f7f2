//! Smaller tiles from larger ones.

use crate::arch;
use crate::element::Element;
use crate::layout::bits::part_bits;
use crate::layout::movement::{Extraction, Part, UpperHalf};
use crate::layout::{Blocked, Layout, Map};
use crate::shape::{AxisDimension, D, Dimension, Halve, Shape};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The lower and the upper half along axis `A`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (left, right) = cx.iota::<i32>(shape![2, 4]).split::<1>();
    ///     assert_eq!((left.at([1, 1]), right.at([1, 1])), (5, 7));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Each half has half the length along axis `A`. An axis of size 1 does not compile.
    ///
    /// # On a GPU
    ///
    /// The halves have the layout [`Blocked`]. [`ops::shapes`](super#on-a-gpu) says when elements go through shared memory.
    #[inline_on_device]
    pub fn split<const A: usize>(self) -> (Half<T, S, L, A>, Half<T, S, L, A>)
    where
        S: Halve<A>,
    {
        const { assert!(S::LEN > S::Half::LEN, "split: an axis of size 1 has no halves") };
        (
            self.moved::<S::Half, Blocked<L::Block>, Part<A, 0>>(),
            self.moved::<S::Half, Blocked<L::Block>, UpperHalf<A>>(),
        )
    }

    /// The part of shape `part` at `index`, which counts parts along each axis.
    ///
    /// `index` is the same on all threads. [`insert`](Self::insert) puts a part back.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let part = cx.iota::<i32>(shape![4, 8]).extract(shape![2, 4], [1, 0]);
    ///     assert_eq!((part.at([0, 0]), part.at([1, 3])), (16, 27));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// A part is along no axis longer than the tile, and has its rank.
    ///
    /// # Panics
    ///
    /// If there is no such part (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The part has the layout [`Blocked`]. [`ops::shapes`](super#on-a-gpu) says when elements go through shared memory.
    #[inline_on_device]
    #[track_caller]
    pub fn extract<P: Shape<Rank = S::Rank>, const R: usize>(
        self,
        _part: P,
        index: [u32; R],
    ) -> Tile<T, P, Blocked<L::Block>> {
        const { Self::has_parts::<P, R>() };
        let (_, first) = Self::part_offset::<P, R>(index);
        self.moved_at::<P, Extraction>(first)
    }

    /// `R` numbers name a part of shape `P`.
    pub(super) const fn has_parts<P: Shape, const R: usize>() {
        assert!(R == S::DESCRIPTION.rank, "a part is named by one index for each dimension of the tile");
        let mut axis = 0;
        while axis < S::DESCRIPTION.rank {
            assert!(
                P::DESCRIPTION.log[axis] <= S::DESCRIPTION.log[axis],
                "a part of a tile is along no axis longer than the tile"
            );
            axis += 1;
        }
    }

    /// The bits of the flat index that tell parts of shape `P` apart, and their value in part `index`.
    #[inline_on_device]
    #[track_caller]
    pub(super) fn part_offset<P: Shape, const R: usize>(index: [u32; R]) -> (usize, usize) {
        let mut offset = 0;
        let mut axis = 0;
        while axis < R {
            let (whole, part) = (S::DESCRIPTION.log[axis], P::DESCRIPTION.log[axis]);
            if index[axis] >> (whole - part) != 0 {
                arch::execution::fail(|text| {
                    write!(
                        text,
                        "part {} is not below the number of parts along axis {axis} of the tile, {}",
                        index[axis],
                        1u32 << (whole - part)
                    )
                });
            }
            offset |= (index[axis] as usize) << (S::DESCRIPTION.low_bit(axis) + part);
            axis += 1;
        }
        (const { part_bits(&S::DESCRIPTION, &P::DESCRIPTION) }, offset)
    }

    /// The `LEN` elements from position `START` on along axis `A`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 8]).slice::<1, 3, 4>();
    ///     assert_eq!((t.at([1, 0]), t.at([1, 3])), (11, 14));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result has length `LEN` along the axis, a power of two. A range that does not lie within the axis does not compile.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. Elements stay in registers if `START` is a multiple of `LEN` and the threads hold the
    /// elements that they need. Else they go through shared memory.
    #[inline_on_device]
    pub fn slice<const A: usize, const START: usize, const LEN: usize>(
        self,
    ) -> Tile<T, S::With<D<LEN>>, Blocked<L::Block>>
    where
        S: AxisDimension<A>,
        D<LEN>: Dimension,
    {
        const {
            assert!(
                START + LEN <= 1 << S::DESCRIPTION.log[A],
                "slice: the range must lie within the axis of the tile"
            )
        };
        if const { START.is_multiple_of(LEN) } {
            self.moved::<S::With<D<LEN>>, Blocked<L::Block>, Part<A, START>>()
        } else {
            self.sliced::<A, S::With<D<LEN>>>(START)
        }
    }

    /// The `LEN` elements from position `start` on along axis `A`.
    ///
    /// `start` is the same on all threads.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 8]).slice_at::<1, 4>(3);
    ///     assert_eq!((t.at([1, 0]), t.at([1, 3])), (11, 14));
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If the range does not lie within the axis (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. The elements go through shared memory: [`ops::shapes`](super#on-a-gpu).
    #[inline_on_device]
    #[track_caller]
    pub fn slice_at<const A: usize, const LEN: usize>(
        self,
        start: u32,
    ) -> Tile<T, S::With<D<LEN>>, Blocked<L::Block>>
    where
        S: AxisDimension<A>,
        D<LEN>: Dimension,
    {
        let length = const {
            assert!(
                LEN <= 1 << S::DESCRIPTION.log[A],
                "slice_at: the range must not be longer than the axis of the tile"
            );
            1 << S::DESCRIPTION.log[A]
        };
        if start as usize > length - LEN {
            arch::execution::fail(|text| {
                write!(
                    text,
                    "the slice of {LEN} elements from {start} on does not lie within axis {A} of the tile, of {length}"
                )
            });
        }
        self.sliced::<A, S::With<D<LEN>>>(start as usize)
    }

    #[inline_on_device]
    fn sliced<const A: usize, To: Shape>(self, start: usize) -> Tile<T, To, Blocked<L::Block>> {
        let own = Map::<Blocked<L::Block>, To>::MAP.of_thread.apply(arch::execution::thread());
        self.gathered(|i| {
            let flat = own | const { &Map::<Blocked<L::Block>, To>::MAP }.of_register.apply(i);
            let low = const { S::DESCRIPTION.low_bit(A) };
            let (inner, outer) = (flat & ((1 << low) - 1), flat >> (low + const { To::DESCRIPTION.log[A] }));
            (((outer << const { S::DESCRIPTION.log[A] }) + To::DESCRIPTION.coordinate(flat, A) + start)
                << low)
                | inner
        })
    }
}

/// Either half of a tile along axis `A`.
pub type Half<T, S, L, const A: usize> = Tile<T, <S as Halve<A>>::Half, Blocked<<L as Layout>::Block>>;
