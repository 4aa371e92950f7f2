//! Layout mappings: where in memory the element with given coordinates lies.

use super::extents::{Extents, OffsetInteger};
use crate::shape::MAXIMUM_RANK;

/// How coordinates become an offset from a span's first element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout mapping",
    label = "expected Right, Left, Pitched or Strided"
)]
pub trait Mapping: Copy + Send + Sync + 'static {
    /// The name in messages.
    const NAME: &'static str;
    /// What it needs beyond the extents, as a kernel parameter.
    type Data<E: Extents>: Copy + Send + Sync + 'static;
    /// Whether neighbours along the last axis are neighbours in memory.
    const LAST_AXIS_CONTIGUOUS: bool;
    /// Elements between neighbours along each axis.
    fn strides<E: Extents>(data: Self::Data<E>, extents: E) -> [E::Offset; MAXIMUM_RANK];
    /// The data for these strides; `None` if this mapping does not have them.
    fn try_new<E: Extents>(extents: E, strides: &[u64]) -> Option<Self::Data<E>>;
    /// A number that divides the stride of every axis but the contiguous one.
    fn pitch_multiple<E: Extents>() -> u64;
}

/// Row-major, without gaps: the last axis is contiguous (C order).
#[derive(Clone, Copy, Debug, Default)]
pub struct Right;

/// Column-major, without gaps: the first axis is contiguous (Fortran order).
#[derive(Clone, Copy, Debug, Default)]
pub struct Left;

/// The last axis is contiguous, the others have any stride: rows with padding, or a part of a larger tensor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pitched;

/// Any stride along any axis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strided;

/// The strides of a tensor without gaps whose axes lie in the order `axis(0)` (contiguous), `axis(1)`, ...
#[inline(always)]
fn compact<E: Extents>(extents: E, axis: impl Fn(usize) -> usize) -> [E::Offset; MAXIMUM_RANK] {
    let lengths = extents.get();
    let mut strides = [E::Offset::from_u64(0); MAXIMUM_RANK];
    let mut stride = E::Offset::from_u64(1);
    let mut k = 0;
    while k < E::RANK {
        strides[axis(k)] = stride;
        stride = stride.times(E::Offset::from_u64(lengths[axis(k)]));
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

impl Mapping for Right {
    const NAME: &'static str = "row-major without gaps";
    type Data<E: Extents> = ();
    const LAST_AXIS_CONTIGUOUS: bool = true;
    #[inline(always)]
    fn strides<E: Extents>(_: (), extents: E) -> [E::Offset; MAXIMUM_RANK] {
        compact(extents, |k| E::RANK - 1 - k)
    }
    fn try_new<E: Extents>(extents: E, strides: &[u64]) -> Option<()> {
        agree(extents, strides, Self::strides((), extents)).then_some(())
    }
    fn pitch_multiple<E: Extents>() -> u64 {
        if E::RANK == 0 { 1 << 63 } else { E::MULTIPLES[E::RANK - 1] }
    }
}

impl Mapping for Left {
    const NAME: &'static str = "column-major without gaps";
    type Data<E: Extents> = ();
    const LAST_AXIS_CONTIGUOUS: bool = false;
    #[inline(always)]
    fn strides<E: Extents>(_: (), extents: E) -> [E::Offset; MAXIMUM_RANK] {
        compact(extents, |k| k)
    }
    fn try_new<E: Extents>(extents: E, strides: &[u64]) -> Option<()> {
        agree(extents, strides, Self::strides((), extents)).then_some(())
    }
    fn pitch_multiple<E: Extents>() -> u64 {
        1
    }
}

impl Mapping for Pitched {
    const NAME: &'static str = "contiguous along its last axis";
    type Data<E: Extents> = E::Strides;
    const LAST_AXIS_CONTIGUOUS: bool = true;
    #[inline(always)]
    fn strides<E: Extents>(data: E::Strides, extents: E) -> [E::Offset; MAXIMUM_RANK] {
        let mut strides = Strided::strides::<E>(data, extents);
        if E::RANK > 0 {
            strides[E::RANK - 1] = E::Offset::from_u64(1);
        }
        strides
    }
    fn try_new<E: Extents>(extents: E, strides: &[u64]) -> Option<E::Strides> {
        let contiguous = E::RANK == 0 || strides[E::RANK - 1] == 1 || extents.get()[E::RANK - 1] <= 1;
        if contiguous { Strided::try_new(extents, strides) } else { None }
    }
    fn pitch_multiple<E: Extents>() -> u64 {
        if E::RANK <= 1 { 1 << 63 } else { 1 }
    }
}

impl Mapping for Strided {
    const NAME: &'static str = "strided";
    type Data<E: Extents> = E::Strides;
    const LAST_AXIS_CONTIGUOUS: bool = false;
    #[inline(always)]
    fn strides<E: Extents>(data: E::Strides, _: E) -> [E::Offset; MAXIMUM_RANK] {
        E::unpack_strides(data).map(E::Offset::from_u64)
    }
    fn try_new<E: Extents>(_: E, strides: &[u64]) -> Option<E::Strides> {
        let mut all = [0; MAXIMUM_RANK];
        all[..E::RANK].copy_from_slice(strides);
        Some(E::pack_strides(all))
    }
    fn pitch_multiple<E: Extents>() -> u64 {
        1
    }
}
