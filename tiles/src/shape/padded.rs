//! Dimensions of products that are no powers of two.

use super::{ALL, BroadcastDimension, D, Dimension, Shape};
use crate::sealed::{Sealed, sealed};
use typenum::{U64, U128, U256};

/// A dimension of `N` elements in a tile that has room for the next power of two: 48 in 64; 80, 96 and 112 in 128; 144, 160, 176, 192, 208,
/// 224 and 240 in 256.
///
/// It is for the columns of accumulators: columns of a product, or its rows if the operands are swapped and the product is
/// [transposed](crate::tile::Tile::transposed_accumulators). Tiles of some shape share out a result evenly among the multiprocessors, and
/// it need not be a power of two: 3072 x 3072 elements are 384 tiles of 128 x 192, which are 2.9 waves on 132 multiprocessors, but 288
/// tiles of 128 x 256, which are 2.2. 669 rows are four tiles of 176 rows, or six of 128.
///
/// # What takes it
///
/// [`TmaLoad`](crate::memory::TmaLoad), [`SharedTile`](crate::memory::SharedTile), [`Accumulator`](crate::mma::Accumulator) and
/// [`TmaStore`](crate::memory::TmaStore), whose tiles lie `N` elements apart. [`StoreTile`](crate::epilogue::StoreTile) reads and writes its own
/// `N` columns alone.
///
/// In registers a tile has all elements of the power of two, and those behind the first `N` may have any value. Operations on single
/// elements and conversions compute them, too; a `reshape` or a `permute` moves them. What would mix them with the others does not compile:
/// reductions, scans and sorts along the axis, products whose rows or contracted axis it is, and views.
///
/// # On a GPU
///
/// TMA moves the `N` rows or columns alone, and `wgmma.mma_async` multiplies `N` columns (PTX ISA, "Asynchronous Warpgroup Level Matrix
/// Multiply-Accumulate Instructions": N is any multiple of 8). Where a block has 227 KiB of shared memory, a stage has room
/// for the `N` rows or columns alone. Without warpgroups the power of two is multiplied.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles::shape::Padded;
///
/// /// `c = a bᵀ`, in tiles of 64 x 96.
/// #[kernel(threads = 128, producer = 32)]
/// pub fn product(
///     roles: WarpRoles,
///     a: TmaLoad<f16, Shape2<64, 64>>,
///     b: TmaLoad<f16, (Padded<96>, D<64>)>,
///     c: TmaStore<f16, (D<64>, Padded<96>)>,
///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, (Padded<96>, D<64>)>)>,
///     #[shared] mut buffer: EpilogueBuffer<1>,
/// ) {
///     let steps = a.tile_counts().1;
///     let loads = roles.tile_indices(RowMajor, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
///     roles.pipeline(ring, loads, move |cx, mut consumer| {
///         for tile in c.schedule(cx, RowMajor) {
///             let acc = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b.transposed()));
///             tile.store(&mut buffer, acc.cast::<f16>());
///         }
///     });
/// }
/// ```
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Padded<const N: usize>;

/// A side of a product's tile, of which a kernel knows the length as a constant. [`Side`] is its dimension.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no side of a product's tile",
    label = "expected a power of two, 48, or a multiple of 16 from 80 to 240",
    note = "the columns of a product's tile may be `Padded`, and its rows if operands are swapped: 48, 80, 96, 112, 144, 160, 176, 192, 208, 224 or 240 of them"
)]
pub trait TileSide: Sealed {
    /// The dimension.
    type Dimension: Dimension;
}

/// The dimension of a side of `N` elements: [`D`] for a power of two, and [`Padded`] for 48 and other multiples of 16 from 80 to 240.
pub type Side<const N: usize> = <D<N> as TileSide>::Dimension;

macro_rules! padded {
    ($($length:literal $count:ident)*) => { $(
        impl Dimension for Padded<$length> {
            type Count = $count;
            const LENGTH: usize = $length;
        }
        impl BroadcastDimension<Padded<$length>> for Padded<$length> {
            type Output = Self;
        }
        impl BroadcastDimension<D<1>> for Padded<$length> {
            type Output = Self;
        }
        impl TileSide for D<$length> {
            type Dimension = Padded<$length>;
        }
    )* };
}
padded!(48 U64 80 U128 96 U128 112 U128 144 U256 160 U256 176 U256 192 U256 208 U256 224 U256 240 U256);

macro_rules! powers_of_two {
    ($($length:literal)*) => { $(
        impl TileSide for D<$length> {
            type Dimension = Self;
        }
    )* };
}
powers_of_two!(8 16 32 64 128 256 512 1024);

/// The error of an operation along a padded axis. Each operation asserts it by itself: rustc then shows the call.
pub(crate) const PADDED_AXIS: &str =
    "a `Padded` axis is not reduced, scanned or sorted: its last elements may have any value";
/// The error of a view with padded tiles: it would move the elements behind the dimension's length, too.
pub(crate) const PADDED_VIEW: &str =
    "a view has tiles without `Padded` dimensions, which are for the columns of products";

/// Whether the dimension number `axis` of a shape is padded; of [`ALL`], whether any is.
pub(crate) const fn is_padded<S: Shape>(axis: usize) -> bool {
    let mut k = 0;
    while k < S::DESCRIPTION.rank {
        if (axis == ALL || axis == k) && S::LENGTHS[k] != 1 << S::DESCRIPTION.log[k] {
            return true;
        }
        k += 1;
    }
    false
}

sealed! { [const N: usize] Padded<N>; }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape2;

    #[test]
    fn lengths_are_elements_in_use() {
        type Product = (D<128>, Padded<160>);
        assert_eq!(<Product as Shape>::LENGTHS, [128, 160, 1, 1]);
        assert_eq!((Product::LEN, Product::DESCRIPTION), (128 * 256, <Shape2<128, 256>>::DESCRIPTION));
        assert_eq!(<Shape2<4, 8> as Shape>::LENGTHS, [4, 8, 1, 1]);
        assert_eq!(<() as Shape>::LENGTHS, [1; 4]);
        assert_eq!([0, 1, 2, ALL].map(is_padded::<Product>), [false, true, false, true]);
        assert_eq!([0, 1, ALL].map(is_padded::<Shape2<128, 256>>), [false; 3]);
    }

    #[test]
    fn sides_are_dimensions() {
        let lengths = [<Side<64>>::LENGTH, <Side<96>>::LENGTH, <Side<160>>::LENGTH, <Side<192>>::LENGTH];
        assert_eq!(lengths, [64, 96, 160, 192]);
    }
}
