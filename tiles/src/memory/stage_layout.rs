//! The layout of a ring's stages: one tile, or a few.

use crate::arch::matrix::WARPGROUPS;
use crate::arch::threads::{self, Address};
use crate::element::Element;
use crate::memory::reads::Reads;
use crate::memory::shared_tile::{SharedTile, SharedTileShape};
use crate::memory::shared_tile_ref::SharedTileRef;
use crate::registers::{PowerOfTwo, Product};
use crate::sealed::Sealed;
use crate::shape::Dimension;

/// The tiles of one stage of a ring: a [`SharedTile`], or a tuple of up to four.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a stage of a ring",
    label = "expected a `SharedTile<T, S>` or a tuple of up to four",
    note = "for operands A and B: `Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, 256>>), 4>`"
)]
pub trait StageLayout: Sealed + Copy + 'static {
    /// The tiles that a step sees.
    type Tiles<'k>;
    /// The memory of a stage on the CPU.
    #[doc(hidden)]
    type Storage;
    /// Bytes of a stage in a ring, with padding.
    const ROOM: usize;
    /// [`ROOM`](Self::ROOM) on targets of each class.
    #[doc(hidden)]
    const ROOMS: [usize; 3];
    /// The bytes behind the stage that reads of a tile reach, on targets of the largest class.
    #[doc(hidden)]
    const BEYOND: usize;
    /// Whether warpgroups could multiply the stage's tiles: there is no `wgmma` for elements of 64 bits.
    #[doc(hidden)]
    const BY_WARPGROUPS: bool;
    /// The tiles of the stage at `address`; `reads` records who reads them.
    ///
    /// # Safety
    /// The tiles lie there whole, and stay for `'k`.
    #[doc(hidden)]
    unsafe fn tiles<'k>(address: Address, reads: &'k Reads) -> Self::Tiles<'k>;
}

/// The memory of a tile on the CPU, [`Geometry::room`](super::Geometry::room) bytes.
#[repr(align(1024))]
pub struct Room<A>(#[allow(dead_code, reason = "it is read and written by its address")] A);

impl<T: Element, R: Dimension, C: Dimension> StageLayout for SharedTile<T, (R, C)> {
    type Tiles<'k> = SharedTileRef<'k, T, (R, C)>;
    type Storage = Room<<Product<R::Count, C::Count> as PowerOfTwo>::Array<T::Bits>>;
    const ROOM: usize = Self::GEOMETRY.room();
    const ROOMS: [usize; 3] = [Self::PADDED.room(), Self::PADDED.room(), Self::IN_USE.room()];
    const BEYOND: usize = Self::PADDED.room() - Self::IN_USE.room();
    const BY_WARPGROUPS: bool = WARPGROUPS && size_of::<T::Bits>() < 8;
    #[inline_on_device]
    unsafe fn tiles<'k>(address: Address, reads: &'k Reads) -> Self::Tiles<'k> {
        // SAFETY: the same contract.
        unsafe { SharedTileRef::new(address, reads) }
    }
}

macro_rules! stage_layouts {
    ($($($name:ident)*;)*) => { $(
        impl<$($name: StageLayout),*> StageLayout for ($($name,)*) {
            type Tiles<'k> = ($($name::Tiles<'k>,)*);
            type Storage = ($($name::Storage,)*);
            const ROOM: usize = 0 $(+ $name::ROOM)*;
            const ROOMS: [usize; 3] = [0 $(+ $name::ROOMS[0])*, 0 $(+ $name::ROOMS[1])*, 0 $(+ $name::ROOMS[2])*];
            // Of the last tile, or of one before it, behind which there are others.
            const BEYOND: usize = {
                let mut beyond = 0;
                $(beyond = if $name::BEYOND > beyond { $name::BEYOND } else { beyond };)*
                beyond
            };
            const BY_WARPGROUPS: bool = false $(|| $name::BY_WARPGROUPS)*;
            #[inline_on_device]
            unsafe fn tiles<'k>(address: Address, reads: &'k Reads) -> Self::Tiles<'k> {
                let mut next = 0;
                ($({
                    let own = threads::offset(address, next);
                    next += $name::ROOM;
                    let _ = next;
                    // SAFETY: the tiles of a stage lie one behind the other.
                    unsafe { $name::tiles(own, reads) }
                },)*)
            }
        }
    )* };
}
stage_layouts! { A; A B; A B C; A B C E; }
