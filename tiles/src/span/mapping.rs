//! Layout mappings: where in memory the element with given coordinates lies.

use super::extents::{Extents, OffsetInteger};
use super::order::Permutation;
use crate::launch::Fingerprint;
use crate::sealed::{Sealed, sealed};
use crate::shape::MAXIMUM_RANK;
use core::marker::PhantomData;

/// How coordinates become an offset from a span's first element.
///
/// | mapping | contiguous axis | strides of the others |
/// |---|---|---|
/// | [`Right`] | last | products of the extents: row-major without gaps |
/// | [`Left`] | first | products of the extents: column-major without gaps |
/// | [`PaddedRight<K>`](PaddedRight), [`PaddedLeft<K>`](PaddedLeft) | last, first | as above, rows rounded up to multiples of `K` |
/// | [`Pitched`], [`Pitched<K>`](Pitched) | last | any, or any multiples of `K` |
/// | [`PitchedLeft`] | first | any |
/// | [`Strided`] | none known | any |
/// | [`Permuted<M, O>`](Permuted) | that of `M` | those of `M`, in the order `O` |
///
/// Tiles are loaded and stored along the contiguous axis, by vectors, and turned round on the way where it is not the
/// last one.
///
/// # Safety
/// `strides` gives, of extents and data that `has` has accepted, exactly the accepted strides; the constants are true of them.
/// Types of the same `FINGERPRINT` have the same strides, and the same data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout mapping",
    label = "expected Right, Left, Pitched or Strided"
)]
#[doc(alias("layout_mapping", "accessor_policy"))]
pub unsafe trait Mapping: Sealed + Copy + Send + Sync + 'static {
    /// The name in messages.
    const NAME: &'static str;
    /// What it needs beyond the extents, as a kernel parameter.
    type Data<E: Extents>: Copy + Send + Sync + 'static;
    /// In which order the axes lie in memory.
    const ORDER: MemoryOrder;
    /// Whether neighbours along the axis that is last in [`Mapping::ORDER`] are neighbours in memory.
    const CONTIGUOUS: bool;
    /// Whether all memory between the first element and the last one belongs to elements.
    const COMPACT: bool;
    /// Elements between neighbours along each axis.
    fn strides<E: Extents>(data: Self::Data<E>, extents: E) -> [E::Offset; MAXIMUM_RANK];
    /// The data for these strides, which this mapping has.
    fn from_strides<E: Extents>(strides: [u64; MAXIMUM_RANK]) -> Self::Data<E>;
    /// Whether this mapping has these strides.
    fn has<E: Extents>(extents: E, strides: &[u64]) -> bool;
    /// What a launch relies on: which strides it has, and how they are passed.
    const FINGERPRINT: Fingerprint;
    /// A number that divides the stride of every axis but the contiguous one, whose length is a multiple of `row`.
    fn pitch_multiple(row: u64) -> u64;
}

/// In which order axes lie in memory, the one with the longest steps first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOrder {
    /// As they are: the last axis has the shortest steps.
    Right,
    /// The other way round.
    Left,
    /// This one.
    Axes([usize; MAXIMUM_RANK]),
}

impl MemoryOrder {
    /// The axes of a span of rank `rank`, the one with the longest steps first.
    pub const fn axes(self, rank: usize) -> [usize; MAXIMUM_RANK] {
        let mut axes = [0, 1, 2, 3];
        match self {
            Self::Right => {}
            Self::Left => {
                let mut k = 0;
                while k < rank {
                    axes[k] = rank - 1 - k;
                    k += 1;
                }
            }
            Self::Axes(order) => axes = order,
        }
        axes
    }

    /// The axis with the shortest steps; 0 for rank 0.
    pub const fn fastest(self, rank: usize) -> usize {
        if rank == 0 { 0 } else { self.axes(rank)[rank - 1] }
    }

    /// The order of axes of which axis `k` is axis `order[k]` of these.
    pub const fn permuted(self, order: [usize; MAXIMUM_RANK], rank: usize) -> Self {
        let own = self.axes(rank);
        let mut axes = [0, 1, 2, 3];
        let mut j = 0;
        while j < rank {
            let mut k = 0;
            while k < rank {
                if order[k] == own[j] {
                    axes[j] = k;
                }
                k += 1;
            }
            j += 1;
        }
        Self::Axes(axes)
    }
}

/// Row-major, without gaps: the last axis is contiguous (C order).
#[derive(Clone, Copy, Debug, Default)]
#[doc(alias("layout_right"))]
pub struct Right;

/// Column-major, without gaps: the first axis is contiguous (Fortran order).
#[derive(Clone, Copy, Debug, Default)]
#[doc(alias("layout_left"))]
pub struct Left;

/// Row-major, each row as long as the last extent rounded up to a multiple of `K` elements.
#[derive(Clone, Copy, Debug, Default)]
#[doc(alias("layout_right_padded"))]
pub struct PaddedRight<const K: usize>;

/// Column-major, each column as long as the first extent rounded up to a multiple of `K` elements.
#[derive(Clone, Copy, Debug, Default)]
#[doc(alias("layout_left_padded"))]
pub struct PaddedLeft<const K: usize>;

/// The last axis is contiguous, the others have any stride that is a multiple of `K`, checked at launch: rows with
/// padding, or a part of a larger tensor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pitched<const K: usize = 1>;

/// The first axis is contiguous, the others have any stride.
#[derive(Clone, Copy, Debug, Default)]
pub struct PitchedLeft;

/// Any stride along any axis.
#[derive(Clone, Copy, Debug, Default)]
#[doc(alias("layout_strided"))]
pub struct Strided;

/// A tensor of mapping `M` with its axes in the order `O`: what [`permute`](super::TensorSpan::permute) gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Permuted<M, O>(PhantomData<(M, O)>);

/// The strides of a tensor whose axes lie in the order `axis(0)` (contiguous), `axis(1)`, ..., with the length of the
/// first one rounded up to a multiple of `multiple`.
#[inline_on_device]
fn compact<E: Extents>(
    extents: E,
    multiple: u64,
    axis: impl Fn(usize) -> usize,
) -> [E::Offset; MAXIMUM_RANK] {
    let lengths = extents.get();
    let mut strides = [E::Offset::from_u64(0); MAXIMUM_RANK];
    let mut stride = E::Offset::from_u64(1);
    let mut k = 0;
    while k < E::RANK {
        strides[axis(k)] = stride;
        let length = lengths[axis(k)];
        let step = if k == 0 && multiple > 1 { length.next_multiple_of(multiple) } else { length };
        stride = stride.times(E::Offset::from_u64(step));
        k += 1;
    }
    strides
}

/// Whether `strides` address what `wanted` do; along an axis of at most one element any stride does.
fn agree<E: Extents>(extents: E, strides: &[u64], wanted: [E::Offset; MAXIMUM_RANK]) -> bool {
    let lengths = extents.get();
    lengths.iter().take(E::RANK).any(|&length| length == 0)
        || (0..E::RANK).all(|axis| lengths[axis] <= 1 || strides[axis] == wanted[axis].to_u64())
}

/// Whether axis `axis` steps by one element.
fn steps_by_one<E: Extents>(extents: E, strides: &[u64], axis: usize) -> bool {
    E::RANK == 0 || strides[axis] == 1 || extents.get()[axis] <= 1
}

/// Mappings whose strides follow from the extents.
macro_rules! computed {
    ($([$($parameter:tt)*] $mapping:ty, $name:literal, $order:ident, multiple $multiple:expr, |$k:ident| $axis:expr, pitch |$row:ident| $pitch:expr;)*) => { $(
        // SAFETY: `has` compares with the strides that `strides` gives.
        unsafe impl<$($parameter)*> Mapping for $mapping {
            const NAME: &'static str = $name;
            type Data<E: Extents> = ();
            const ORDER: MemoryOrder = MemoryOrder::$order;
            const CONTIGUOUS: bool = true;
            const COMPACT: bool = $multiple == 1;
            const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word($name).number($multiple);
            #[inline_on_device]
            fn strides<E: Extents>(_: (), extents: E) -> [E::Offset; MAXIMUM_RANK] {
                compact(extents, $multiple, |$k| $axis)
            }
            #[inline_on_device]
            fn from_strides<E: Extents>(_: [u64; MAXIMUM_RANK]) {}
            fn has<E: Extents>(extents: E, strides: &[u64]) -> bool {
                agree(extents, strides, Self::strides((), extents))
            }
            #[inline_on_device]
            fn pitch_multiple($row: u64) -> u64 {
                $pitch
            }
        }
    )* };
}
computed! {
    [] Right, "row-major without gaps", Right, multiple 1, |k| E::RANK - 1 - k, pitch |row| row;
    [] Left, "column-major without gaps", Left, multiple 1, |k| k, pitch |row| row;
    [const K: usize] PaddedRight<K>, "row-major with padded rows", Right, multiple const { positive(K) },
        |k| E::RANK - 1 - k, pitch |_row| K as u64;
    [const K: usize] PaddedLeft<K>, "column-major with padded columns", Left, multiple const { positive(K) },
        |k| k, pitch |_row| K as u64;
}

/// The multiple of a padded or pitched mapping.
const fn positive(multiple: usize) -> u64 {
    assert!(multiple > 0, "rows are rounded up to multiples of a positive number of elements");
    multiple as u64
}

/// The axes of an order, as numbers of a fingerprint.
const fn axes_of<O: Permutation>() -> [u64; MAXIMUM_RANK] {
    let [a, b, c, d] = O::AXES;
    [a as u64, b as u64, c as u64, d as u64]
}

/// Mappings whose strides are kernel parameters.
macro_rules! given {
    ($([$($parameter:tt)*] $mapping:ty, $name:expr, $order:expr, $contiguous:expr, $compact:expr, multiple $multiple:expr, pitch |$row:ident| $pitch:expr, of $of:expr;)*) => { $(
        // SAFETY: `has` compares with the strides that `strides` gives.
        unsafe impl<$($parameter)*> Mapping for $mapping {
            const NAME: &'static str = $name;
            type Data<E: Extents> = E::Strides;
            const ORDER: MemoryOrder = $order;
            const CONTIGUOUS: bool = $contiguous;
            const COMPACT: bool = $compact;
            const FINGERPRINT: Fingerprint = $of.word($name).number($multiple);
            #[inline_on_device]
            fn strides<E: Extents>(data: E::Strides, _: E) -> [E::Offset; MAXIMUM_RANK] {
                let mut strides = E::unpack_strides(data).map(E::Offset::from_u64);
                if Self::CONTIGUOUS && E::RANK > 0 {
                    strides[Self::ORDER.fastest(E::RANK)] = E::Offset::from_u64(1);
                }
                strides
            }
            #[inline_on_device]
            fn from_strides<E: Extents>(strides: [u64; MAXIMUM_RANK]) -> E::Strides {
                E::pack_strides(strides)
            }
            fn has<E: Extents>(extents: E, strides: &[u64]) -> bool {
                let (lengths, fastest) = (extents.get(), Self::ORDER.fastest(E::RANK));
                !Self::CONTIGUOUS
                    || steps_by_one(extents, strides, fastest)
                        && (0..E::RANK).all(|axis| {
                            axis == fastest || lengths[axis] <= 1 || strides[axis].is_multiple_of($multiple)
                        })
            }
            #[inline_on_device]
            fn pitch_multiple($row: u64) -> u64 {
                $pitch
            }
        }
    )* };
}
given! {
    [const K: usize] Pitched<K>,
        if K == 1 { "contiguous along its last axis" } else { "contiguous along its last axis, with strides that are `Pitched`'s multiples" },
        MemoryOrder::Right, true, false, multiple const { positive(K) }, pitch |_row| K as u64,
        of Fingerprint::EMPTY;
    [] PitchedLeft, "contiguous along its first axis", MemoryOrder::Left, true, false, multiple 1, pitch |_row| 1,
        of Fingerprint::EMPTY;
    [] Strided, "strided", MemoryOrder::Right, false, false, multiple 1, pitch |_row| 1, of Fingerprint::EMPTY;
    [M: Mapping, O: Permutation] Permuted<M, O>, "contiguous along the axis that its order names",
        M::ORDER.permuted(O::AXES, O::RANK), M::CONTIGUOUS, M::COMPACT, multiple 1, pitch |row| M::pitch_multiple(row),
        of M::FINGERPRINT.number(O::RANK as u64).numbers(&axes_of::<O>());
}

sealed! {
    [] Right;
    [] Left;
    [const K: usize] PaddedRight<K>;
    [const K: usize] PaddedLeft<K>;
    [const K: usize] Pitched<K>;
    [] PitchedLeft;
    [] Strided;
    [M, O] Permuted<M, O>;
}
