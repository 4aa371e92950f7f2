//! Bits taken apart and put together: neighbouring elements along an axis as elements of another width.
//!
//! The order is that of memory: the first of several elements in a wider one has the lowest bits (little endian, and the
//! low half of a byte first).

use crate::arch;
use crate::element::{Element, FourBits, Pair, Repack, Word};
use crate::layout::movement::Renaming;
use crate::layout::{Blocked, Layout, Map};
use crate::registers::{PowerOfTwo, Product, Quotient};
use crate::shape::{Axis, Dimension, Power, ScaleAxis, Shape};
use crate::tile::Tile;

/// The shape of a tile of `T`, of shape `S`, whose axis `A` is repacked to elements `U`.
pub type Repacked<T, U, S, const A: usize> = <S as ScaleAxis<A, T, U>>::Scaled;

/// How many elements of width `Narrow` make one of width `Wide`; 1 if `Narrow` is the wider one.
type Share<Narrow, Wide> = Quotient<Wide, Narrow>;

/// The shape `S` with axis `A` cut into pieces of `Cut` elements, of which `Share` are seen: all axes before and the pieces,
/// within a piece, all axes after.
type Pieces<S, const A: usize, Cut, Share> = (
    Power<Quotient<<S as Shape>::Count, Product<<S as Axis<A>>::Inner, Cut>>>,
    Power<Share>,
    Power<<S as Axis<A>>::Inner>,
);

/// Elements `T` of a tile, of which some make one `U`.
type Narrow<T, U, S, const A: usize> = Pieces<S, A, Joined<T, U>, Joined<T, U>>;
/// Elements `U` of a tile, of which some come from one `T`.
type Split<T, U, S, const A: usize> =
    Pieces<S, A, Joined<T, U>, Share<<U as Repack>::Width, <T as Repack>::Width>>;
/// How many `T` make one `U`; at least 1.
type Joined<T, U> = Share<<T as Repack>::Width, <U as Repack>::Width>;

/// Bits that hold a `T` and a `U`.
type Wider<T, U> = <<T as Element>::Bits as Word>::Wider<<U as Element>::Bits>;

/// The coordinate along axis 1 of the element in register `i` of this thread.
#[inline_on_device]
fn place<S: Shape, L: Layout>(i: usize) -> u32 {
    let own = Map::<L, S>::MAP.of_thread.apply(arch::execution::thread());
    let flat = own | const { &Map::<L, S>::MAP }.of_register.apply(i);
    S::DESCRIPTION.coordinate(flat, 1) as u32
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The same bits as elements of type `U`, along axis `A`, which becomes longer or shorter accordingly.
    ///
    /// The first of the elements that make a wider one has its lowest bits.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let bytes = cx.iota::<u8>(shape![2, 8]);
    ///     let words: Tile<u32, Shape2<2, 2>, _> = bytes.repack::<u32, 1>();
    ///     assert_eq!(words.at([0, 1]), 0x07_06_05_04);
    ///     assert_eq!(words.repack::<u16, 1>().at([1, 0]), 0x09_08);
    ///     let mask = bytes.lt(11).repack::<u8, 1>();
    ///     assert_eq!((mask.at([0, 0]), mask.at([1, 0])), (0xff, 0b111));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// A `bool` counts as one bit, an element of [`FourBits`] as four. The bits of the axis must fill whole bytes and whole elements of
    /// type `U`. Else it does not compile.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. The bits of narrow elements are added up along the axis, as by [`sum`](Self::sum). Wide elements
    /// are shifted and masked.
    #[inline_on_device]
    pub fn repack<U: Repack, const A: usize>(self) -> Tile<U, Repacked<T, U, S, A>, Blocked<L::Block>>
    where
        T: Repack,
        S: ScaleAxis<A, T, U>,
    {
        const {
            let bits = S::Length::COUNT * T::Width::COUNT;
            assert!(
                T::Width::COUNT == U::Width::COUNT || (bits % U::Width::COUNT == 0 && bits % 8 == 0),
                "repack: the bits along the axis must fill whole bytes and whole elements of the new type"
            );
            assert!(
                T::BIT_WIDTH != 19 && U::BIT_WIDTH != 19,
                "repack: tf32 has 19 bits, which fill no elements: convert it first"
            )
        };
        // First the elements that make one wider are joined, then the wider ones split. One of the two does nothing. The
        // bits of elements to be joined lie apart, so that a sum joins them.
        let narrow = self.moved::<Narrow<T, U, S, A>, L, Renaming>();
        let joined = Tile::<Wider<T, U>, Narrow<T, U, S, A>, L>::from_registers_fn(|i| {
            let amount = place::<Narrow<T, U, S, A>, L>(i) * T::Width::COUNT as u32;
            Word::narrow(narrow.registers().get(i).to_bits().widen() << amount)
        })
        .sum::<1>();
        let split: Tile<_, Split<T, U, S, A>, Blocked<L::Block>> = joined.spread();
        Tile::from_registers_fn(|i| {
            let amount = place::<Split<T, U, S, A>, Blocked<L::Block>>(i) * U::Width::COUNT as u32;
            let mask = const { u64::MAX >> (64 - U::Width::COUNT) };
            U::from_bits(Word::narrow(split.registers().get(i).widen() >> amount & mask))
        })
    }

    /// The bits of all elements as bytes, in row-major order.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let bytes: Tile<u8, Shape1<16>, _> = cx.full(shape![2, 4], 0x1234_u16).pack_to_bytes();
    ///     assert_eq!((bytes.at([0]), bytes.at([15])), (0x34, 0x12));
    ///     assert_eq!(bytes.unpack_from_bytes::<u16>().at([7]), 0x1234);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result has rank 1. [`repack`](Self::repack) has the rules.
    #[inline_on_device]
    pub fn pack_to_bytes(self) -> Tile<u8, Repacked<T, u8, Flat<S>, 0>, Blocked<L::Block>>
    where
        T: Repack,
        Flat<S>: ScaleAxis<0, T, u8>,
    {
        self.reshape(Flat::<S>::default()).repack::<u8, 0>()
    }
}

/// The shape of all elements of a tile of shape `S`, in row-major order.
type Flat<S> = (Power<<S as Shape>::Count>,);

impl<N: Dimension, L: Layout> Tile<u8, (N,), L> {
    /// The bytes as elements of type `U`: the reverse of [`Tile::pack_to_bytes`], which has an example.
    #[inline_on_device]
    pub fn unpack_from_bytes<U: Repack>(self) -> Tile<U, Repacked<u8, U, (N,), 0>, Blocked<L::Block>>
    where
        (N,): ScaleAxis<0, u8, U>,
    {
        self.repack::<U, 0>()
    }
}

/// Elements of four bits in place: the numbers of pairs as two tiles.
impl<P: Pair, S: Shape, L: Layout> Tile<P, S, L> {
    /// The first number of each pair, in place.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let pairs = cx.full(shape![4], f4e2m1x2::from_bits(0xf3));
    ///     let (low, high) = (pairs.low(), pairs.high());
    ///     assert_eq!((low.at([2]).to_f32(), high.at([2]).to_f32()), (1.5, -6.0));
    ///     assert_eq!(low.pair_with(high).at([2]), pairs.at([2]));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// Elements stay with their threads. [`unpack`](Self::unpack) makes one longer tile of both numbers.
    #[inline_on_device]
    pub fn low(self) -> Tile<P::Number, S, L> {
        self.map(|pair| <P::Number as Element>::from_bits(pair.to_bits() & 0xf))
    }

    /// The second number of each pair, in place: see [`low`](Self::low).
    #[inline_on_device]
    pub fn high(self) -> Tile<P::Number, S, L> {
        self.map(|pair| <P::Number as Element>::from_bits(pair.to_bits() >> 4))
    }
}

impl<T: FourBits, S: Shape, L: Layout> Tile<T, S, L> {
    /// Pairs of an element of this tile and the element of `high` at the same place.
    ///
    /// [`low`](Tile::low) has an example. [`pack`](Self::pack) makes pairs of neighbours.
    #[inline_on_device]
    pub fn pair_with(self, high: Self) -> Tile<T::Pair, S, L> {
        Tile::from_registers_fn(|i| {
            let [low, high] = [self, high].map(|tile| tile.registers().get(i).to_bits());
            <T::Pair as Element>::from_bits(low | high << 4)
        })
    }
}

/// Elements of four bits along the last axis.
macro_rules! pairs {
    ($($last:literal: $($dimension:ident)*;)*) => { $(
        impl<P: Pair, $($dimension: Dimension,)* L: Layout> Tile<P, ($($dimension,)*), L> {
            /// The numbers of the pairs, along the last axis, which becomes twice as long.
            ///
            /// ```
            /// use cuda_tiles::prelude::*;
            /// cuda_tiles::cpu::block(|cx| {
            ///     let pair = i4x2::new(i4::constant(5), i4::constant(-8));
            ///     let numbers: Tile<i4, Shape1<8>, _> = cx.full(shape![4], pair).unpack();
            ///     assert_eq!((numbers.at([0]).to_i8(), numbers.at([7]).to_i8()), (5, -8));
            ///     assert_eq!(numbers.pack().at([3]), pair);
            /// });
            /// ```
            ///
            /// # On a GPU
            ///
            /// The result has the layout [`Blocked`], in which other threads hold most numbers than hold the pairs: they go through shared
            /// memory. [`low`](Self::low) and [`high`](Self::high) cost nothing.
            #[inline_on_device]
            pub fn unpack(self) -> Tile<P::Number, Repacked<P, P::Number, ($($dimension,)*), $last>, Blocked<L::Block>>
            where
                ($($dimension,)*): ScaleAxis<$last, P, P::Number>,
            {
                self.repack::<P::Number, $last>()
            }
        }

        impl<T: FourBits, $($dimension: Dimension,)* L: Layout> Tile<T, ($($dimension,)*), L> {
            /// The numbers as pairs of neighbours along the last axis, as they lie in memory.
            ///
            /// [`unpack`](Tile::unpack) has an example.
            #[inline_on_device]
            pub fn pack(self) -> Tile<T::Pair, Repacked<T, T::Pair, ($($dimension,)*), $last>, Blocked<L::Block>>
            where
                ($($dimension,)*): ScaleAxis<$last, T, T::Pair>,
            {
                self.repack::<T::Pair, $last>()
            }
        }
    )* };
}
pairs! { 0: A0; 1: A0 A1; 2: A0 A1 A2; 3: A0 A1 A2 A3; }
