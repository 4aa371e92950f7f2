//! Axes in another order, and elements in another order along an axis.

use crate::arch;
use crate::element::Element;
use crate::layout::movement::{Flip, Permuting};
use crate::layout::{Accumulators, Block, Blocked, Layout, Map, TransposedAccumulators, TransposedBlocked};
use crate::registers::PowerOfTwo;
use crate::shape::{Axis, AxisOrder, Shape, Swap, Transpose, is_permutation};
use crate::tile::Tile;
use core::hint::select_unpredictable;

impl<T: Element, S: Shape, B: Block> Tile<T, S, Accumulators<B>> {
    /// The transpose of the accumulators of a matrix product, with every element left in its register.
    ///
    /// It helps where tensor cores take neither factor of `A B` as it lies, but both factors of `Bᵀ Aᵀ`, the transpose.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (a, b) = (cx.full(shape![16, 8], f16::ONE), cx.full(shape![8, 32], f16::ONE));
    ///     let sums = mma(a, b, cx.accumulators::<f32>(shape![16, 32]));
    ///     let turned: Tile<f32, Shape2<32, 16>, _> = sums.transposed_accumulators();
    ///     assert_eq!(turned.at([31, 15]), 8.0);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`TransposedAccumulators`]. It costs no instruction.
    #[inline_on_device]
    pub fn transposed_accumulators(self) -> Tile<T, S::Transposed, TransposedAccumulators<B>>
    where
        S: Transpose<0, 1>,
    {
        self.moved::<S::Transposed, TransposedAccumulators<B>, Permuting<Swap<0, 1>>>()
    }
}

impl<T: Element, S: Shape, B: Block> Tile<T, S, Blocked<B>> {
    /// The tile with its last two axes swapped, with every element left in its register: `transposed_in_place::<0, 1>()` of a matrix.
    ///
    /// It is for operands of [`mma`](crate::mma::mma()) whose memory holds their transposes. Other operations move the elements when they meet a
    /// tile of another layout.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (a, b) = (cx.eye::<i8>(shape![16, 32]), cx.iota::<u8>(shape![8, 32]));
    ///     let sums = mma(a, b.transposed_in_place::<0, 1>(), cx.accumulators::<i32>(shape![16, 8]));
    ///     assert_eq!(sums.at([3, 2]), i32::from(b.at([2, 3])));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// As [`transpose`](Self::transpose) of the last two axes. Others do not compile.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`TransposedBlocked`]. It costs no instruction. `ldmatrix` and `wgmma` transpose elements of 16 bits on their
    /// way to the tensor cores (PTX ISA, "Warp-level matrix load instruction: ldmatrix", "Matrix Descriptor Format").
    #[inline_on_device]
    pub fn transposed_in_place<const A: usize, const C: usize>(
        self,
    ) -> Tile<T, S::Transposed, TransposedBlocked<B>>
    where
        S: Transpose<A, C>,
    {
        const {
            let rank = S::DESCRIPTION.rank;
            assert!(
                rank >= 2 && A != C && A + C == 2 * rank - 3,
                "transposed_in_place swaps the last two axes of the tile: use transpose for others"
            )
        };
        self.moved::<S::Transposed, TransposedBlocked<B>, Permuting<Swap<A, C>>>()
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The tile with its axes in the given order: axis `k` of the result is axis `order[k]` of this tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4, 8]);
    ///     let p = t.permute(axes![2, 0, 1]);
    ///     assert_eq!(p.at([7, 1, 3]), t.at([1, 3, 7]));
    ///     assert_eq!(t.permute(OrderF).at([7, 3, 1]), t.at([1, 3, 7]));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// An order is made by [`axes!`](crate::axes), or is [`OrderC`](crate::span::OrderC) or [`OrderF`](crate::span::OrderF). An order that
    /// does not name each axis once does not compile.
    ///
    /// # On a GPU
    ///
    /// As [`transpose`](Self::transpose).
    #[inline_on_device]
    pub fn permute<O: AxisOrder<S> + 'static>(self, _order: O) -> Tile<T, O::Permuted, Blocked<L::Block>> {
        const {
            assert!(
                is_permutation(O::AXES, S::DESCRIPTION.rank),
                "permute: the order must name each axis of the tile once"
            )
        };
        self.moved::<O::Permuted, Blocked<L::Block>, Permuting<O>>()
    }

    /// The tile with axes `A` and `B` swapped: `transpose::<0, 1>()` of a matrix.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape2<4, 2>, _> = cx.iota(shape![2, 4]).transpose::<0, 1>();
    ///     assert_eq!(t.at([3, 1]), 7);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The other axes stay. Both axes are named at every rank, so that `transpose::<1, 2>()` transposes a batch of matrices. CUDA Tile C++
    /// always swaps the first two axes. NumPy reverses all axes, as [`permute(OrderF)`](Tile::permute) does.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. Elements that change their thread go through shared memory by `st.shared` and `ld.shared`
    /// (PTX ISA, "Data Movement and Conversion Instructions: st" and "ld"): [`ops::shapes`](super#on-a-gpu) has the cost. For an operand of
    /// [`mma`](crate::mma::mma()), [`transposed_in_place`](Self::transposed_in_place) moves nothing.
    #[inline_on_device]
    #[doc(alias("trans"))]
    pub fn transpose<const A: usize, const B: usize>(self) -> Tile<T, S::Transposed, Blocked<L::Block>>
    where
        S: Transpose<A, B>,
    {
        self.permute(Swap::<A, B>)
    }

    /// The elements along axis `A` in reverse; with [`ALL`](crate::shape::ALL), along all axes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4]);
    ///     assert_eq!((t.flip::<1>().at([0, 0]), t.flip::<0>().at([0, 0]), t.flip::<ALL>().at([0, 0])), (3, 4, 7));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the tile. [`ops::shapes`](super#on-a-gpu) says when elements go through shared memory.
    #[inline_on_device]
    pub fn flip<const A: usize>(self) -> Self
    where
        S: Axis<A>,
    {
        self.moved::<S, L, Flip<A>>()
    }

    /// The elements moved by `shift` places along axis `A`; those that leave one end come in at the other.
    ///
    /// A negative `shift` moves toward the front. `shift` is the same on all threads. With [`ALL`](crate::shape::ALL) the axis is the flattened
    /// tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![8]);
    ///     assert_eq!((t.roll::<0>(1).at([0]), t.roll::<0>(-3).at([0])), (7, 3));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the tile. If each thread holds the whole axis in its registers, the roll costs one selection an element for
    /// each bit of the length, or nothing where the compiler knows `shift`. Else the elements go through shared memory:
    /// [`ops::shapes`](super#on-a-gpu).
    #[inline_on_device]
    pub fn roll<const A: usize>(self, shift: i32) -> Self
    where
        S: Axis<A>,
    {
        let inner = const { <S::Inner as PowerOfTwo>::COUNT };
        let axis = const { (<S::Length as PowerOfTwo>::COUNT - 1) << <S::Inner as PowerOfTwo>::LOG };
        let rolled = |flat: usize, shift: usize| (flat & !axis) | (flat.wrapping_sub(shift * inner) & axis);
        // A length is a power of two, so that the low bits of a negative shift are the shift modulo the length.
        let shift = shift as usize & (<S::Length as PowerOfTwo>::COUNT - 1);
        if const {
            !arch::TILES_IN_REGISTERS
                || !Map::<L, S>::MAP
                    .in_registers(<S::Inner as PowerOfTwo>::LOG, <S::Length as PowerOfTwo>::LOG)
        } {
            let own = Self::thread_index();
            return self.gathered(|i| rolled(Self::flat_index(own, i), shift));
        }
        let mut tile = self;
        <S::Length>::unroll(0, 1, &mut |step| {
            if step.is_power_of_two() {
                let before = tile;
                tile = Tile::from_registers_fn(|i| {
                    let flat = rolled(Self::flat_index(0, i), step);
                    let other = const { &Map::<L, S>::MAP.register_part() }.apply(flat);
                    let (further, here) = (before.registers().get(other), before.registers().get(i));
                    // A branch could become a choice between two places, and put the tile into memory.
                    select_unpredictable(shift & step != 0, further, here)
                });
            }
        });
        tile
    }
}
