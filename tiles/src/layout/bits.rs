//! How the bits of a result's flat index come from those of an operand's, for each way of moving elements.

use super::map::{FLAT_BITS, FlatBits, NONE};
use crate::shape::{MAXIMUM_RANK, ShapeDescription};

/// The bits of a tile of shape `from` that broadcasts to shape `to`.
pub(crate) const fn broadcast_bits(from: &ShapeDescription, to: &ShapeDescription) -> FlatBits {
    let mut flat = [NONE; FLAT_BITS];
    let mut axis = 0;
    while axis < from.rank {
        let to_axis = axis + to.rank - from.rank;
        let mut bit = 0;
        while bit < from.log[axis] {
            flat[(to.low_bit(to_axis) + bit) as usize] = (from.low_bit(axis) + bit) as i8;
            bit += 1;
        }
        axis += 1;
    }
    flat
}

/// The bits of a tile of shape `from` under another shape.
pub(crate) const fn same_bits(from: &ShapeDescription) -> FlatBits {
    let mut flat = [NONE; FLAT_BITS];
    let mut bit = 0;
    while bit < from.bits() {
        flat[bit as usize] = bit as i8;
        bit += 1;
    }
    flat
}

/// The bits of a tile of shape `from` whose axes come in another order: axis `k` of the result, of shape `to`, is
/// axis `order[k]`.
pub(crate) const fn permuted_bits(
    from: &ShapeDescription,
    to: &ShapeDescription,
    order: [usize; MAXIMUM_RANK],
) -> FlatBits {
    let mut flat = [NONE; FLAT_BITS];
    let mut axis = 0;
    while axis < to.rank {
        let mut bit = 0;
        while bit < to.log[axis] {
            flat[(to.low_bit(axis) + bit) as usize] = (from.low_bit(order[axis]) + bit) as i8;
            bit += 1;
        }
        axis += 1;
    }
    flat
}

/// The bits of a part of a tile, or of a tile side by side with itself: along each axis, as many low bits as both have.
pub(crate) const fn aligned_bits(from: &ShapeDescription, to: &ShapeDescription) -> FlatBits {
    let mut flat = [NONE; FLAT_BITS];
    let mut axis = 0;
    while axis < from.rank {
        let mut bit = 0;
        while bit < from.log[axis] && bit < to.log[axis] {
            flat[(to.low_bit(axis) + bit) as usize] = (from.low_bit(axis) + bit) as i8;
            bit += 1;
        }
        axis += 1;
    }
    flat
}

/// The bits of `from` that have no counterpart in its part of shape `to`: they tell parts apart.
pub(crate) const fn part_bits(from: &ShapeDescription, to: &ShapeDescription) -> usize {
    let (mut mask, mut axis) = (0, 0);
    while axis < from.rank {
        let mut bit = to.log[axis];
        while bit < from.log[axis] {
            mask |= 1 << (from.low_bit(axis) + bit);
            bit += 1;
        }
        axis += 1;
    }
    mask
}

/// The bits of a tile each of whose elements is repeated along `axis`.
pub(crate) const fn repeated_bits(from: &ShapeDescription, to: &ShapeDescription, axis: usize) -> FlatBits {
    let mut flat = aligned_bits(from, to);
    let copies = to.log[axis] - from.log[axis];
    let mut bit = 0;
    while bit < to.log[axis] {
        flat[(to.low_bit(axis) + bit) as usize] =
            if bit < copies { NONE } else { (from.low_bit(axis) + bit - copies) as i8 };
        bit += 1;
    }
    flat
}

/// The bits of two tiles of shape `from`, one after the other, that are joined along `axis`.
pub(crate) const fn joined_bits(from: &ShapeDescription, to: &ShapeDescription, axis: usize) -> FlatBits {
    let mut flat = aligned_bits(from, to);
    flat[(to.low_bit(axis) + from.log[axis]) as usize] = from.bits() as i8;
    flat
}

/// The bits of a tile that is repeated along a new axis `axis` of `to`.
pub(crate) const fn inserted_bits(from: &ShapeDescription, to: &ShapeDescription, axis: usize) -> FlatBits {
    let mut flat = [NONE; FLAT_BITS];
    let low = to.low_bit(axis);
    let mut bit = 0;
    while bit < from.bits() {
        flat[(if bit < low { bit } else { bit + to.log[axis] }) as usize] = bit as i8;
        bit += 1;
    }
    flat
}

/// The bits of two tiles of shape `from`, one after the other, that stand along a new axis `axis` of `to`.
pub(crate) const fn stacked_bits(from: &ShapeDescription, to: &ShapeDescription, axis: usize) -> FlatBits {
    let mut flat = inserted_bits(from, to, axis);
    flat[to.low_bit(axis) as usize] = from.bits() as i8;
    flat
}

/// The bits of a vector that lies along `axis` of `to`.
pub(crate) const fn along_bits(to: &ShapeDescription, axis: usize) -> FlatBits {
    let mut flat = [NONE; FLAT_BITS];
    let mut bit = 0;
    while bit < to.log[axis] {
        flat[(to.low_bit(axis) + bit) as usize] = bit as i8;
        bit += 1;
    }
    flat
}
