//! The partition check of the CPU: all blocks cut a writable tensor in the same way.

use super::ownership::{FIRST_ORDER, NamedBy};
use super::traversal::Traversal;
use crate::arch::execution::{self, Place};
use crate::arch::order;
use crate::arch::partitions::{self, MOST_CUTS, Noted, WORDS};
use crate::context::Cx;
use crate::element::Element;
use crate::launch::List;
use crate::layout::Block;
use crate::memory::tensor_map::{MatrixShape, TmaStore};
use crate::prelude::CausalBalanced;
use crate::schedule::order::{FromLastRow, Grouped, TileOrder};
use crate::shape::{MAXIMUM_RANK, Shape};
use crate::span::extents::OffsetInteger;
use crate::span::{Alignment, Extents, Mapping, TensorSpan};
use core::fmt;

/// The properties of a cut that must be the same in all blocks, and the block that made it.
struct Partition {
    origin: u64,
    first: u64,
    rank: u64,
    naming: u64,
    extents: [u64; MAXIMUM_RANK],
    strides: [u64; MAXIMUM_RANK],
    tile: [u64; MAXIMUM_RANK],
    steps: [u64; MAXIMUM_RANK],
    block: [u32; 3],
}

/// Bits of a word that number a block along the first grid axis, and along each of the others.
const BLOCK_BITS: [u32; 2] = [32, 16];

impl Partition {
    fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let [x, y, z] = self.block.map(u64::from);
        (words[0], words[1], words[2]) = (self.origin, self.first, self.rank << 48 | self.naming);
        words[3..7].copy_from_slice(&self.extents);
        words[7..11].copy_from_slice(&self.strides);
        words[11..15].copy_from_slice(&self.tile);
        words[15..19].copy_from_slice(&self.steps);
        words[19] = x | y << BLOCK_BITS[0] | z << (BLOCK_BITS[0] + BLOCK_BITS[1]);
        words
    }

    fn from_words(words: &[u64; WORDS]) -> Self {
        let four = |first: usize| [words[first], words[first + 1], words[first + 2], words[first + 3]];
        let block = words[19];
        Self {
            origin: words[0],
            first: words[1],
            rank: words[2] >> 48,
            naming: words[2] & ((1 << 48) - 1),
            extents: four(3),
            strides: four(7),
            tile: four(11),
            steps: four(15),
            block: [
                block as u32,
                u32::from((block >> BLOCK_BITS[0]) as u16),
                u32::from((block >> (BLOCK_BITS[0] + BLOCK_BITS[1])) as u16),
            ],
        }
    }
}

impl Partition {
    /// Fails unless the blocks before the block at `place` have made the same cut.
    #[track_caller]
    fn compare(&self, place: Place) {
        match place.note(&self.words()) {
            Noted::Same => {}
            Noted::Other(first) => execution::fail(|text| {
                write!(
                    text,
                    "all blocks cut a writable tensor in the same way, or their tiles would overlap: {}; {self}",
                    Self::from_words(&first)
                )
            }),
            Noted::TooMany => execution::fail(|text| {
                write!(
                    text,
                    "a block cuts at most {MOST_CUTS} writable tensors, parts of them included: that blocks do so alike could \
                     not be checked beyond"
                )
            }),
        }
    }
}

/// The kinds of an index's numbers, as text.
struct Index<'a>(&'a Partition);

impl fmt::Display for Index<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Partition { rank, naming, .. }) = self;
        match naming.checked_sub(FIRST_ORDER) {
            Some(0) => return to.write_str("in the order RowMajor"),
            Some(1) => return to.write_str("in the order ColumnMajor"),
            Some(order) if order == CausalBalanced::NUMBER => {
                return to.write_str("in the order CausalBalanced");
            }
            Some(order) if order >= FromLastRow::<0>::NUMBER => {
                return write!(to, "in the order FromLastRow::<{}>", order - FromLastRow::<0>::NUMBER);
            }
            Some(order) => return write!(to, "in the order Grouped::<{}>", order - Grouped::<0>::NUMBER),
            None => to.write_str("(")?,
        }
        for place in 0..*rank {
            to.write_str(if place == 0 { "" } else { ", " })?;
            match naming >> (2 * place) & 3 {
                0 => to.write_str("_")?,
                axis => write!(to, "cx.bid::<{}>()", axis - 1)?,
            }
        }
        to.write_str(")")
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.rank as usize;
        write!(
            to,
            "block {:?} has tiles of {:?} at steps of {:?}, named {}, of extents {:?} with strides {:?} from byte {} on",
            self.block,
            &self.tile[..rank],
            &self.steps[..rank],
            Index(self),
            &self.extents[..rank],
            &self.strides[..rank],
            self.first.wrapping_sub(self.origin),
        )
    }
}

/// Checks that the block cuts a writable span as earlier blocks have: tiles of shape `S`, traversal `W`, ownership `N`. Without
/// a record it does nothing.
#[inline_on_device]
#[track_caller]
pub(super) fn assert_same_partition<T, E, A, M, G, S, B, W, N>(span: &TensorSpan<T, E, A, M, G>, cx: Cx<B>)
where
    T: Element,
    E: Extents,
    A: NamedBy<N>,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Traversal<S>,
{
    if !A::OWNED {
        return;
    }
    order::cuts();
    if !partitions::RECORDED || span.is_empty() {
        return;
    }
    let log = S::DESCRIPTION.log;
    let own = Partition {
        origin: span.origin.address(),
        first: span.pointer.addr() as u64,
        rank: E::RANK as u64,
        naming: A::NAMING,
        extents: span.extents.get(),
        strides: span.strides().map(OffsetInteger::to_u64),
        tile: [1 << log[0], 1 << log[1], 1 << log[2], 1 << log[3]],
        steps: W::STEPS,
        block: [cx.block_index(0), cx.block_index(1), cx.block_index(2)],
    };
    own.compare(cx.place());
}

/// Checks that the block cuts a list of writable spans as earlier blocks have: each item into tiles of shape `S`, ownership `N`. Without a
/// record it does nothing.
#[inline_on_device]
#[track_caller]
pub(super) fn assert_same_list<T, E, A, M, G, S, B, N, const ITEMS: usize>(
    list: &List<TensorSpan<T, E, A, M, G>, ITEMS>,
    cx: Cx<B>,
) where
    T: Element,
    E: Extents,
    A: NamedBy<N>,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
{
    if !A::OWNED {
        return;
    }
    order::cuts();
    if !partitions::RECORDED {
        return;
    }
    // Of one element an address tells the list from all other arguments, since nothing else writes there. Items are whole arguments: no
    // block knows others than these.
    // SAFETY: the copies are only asked where they lie.
    let items = (0..list.len()).map(|k| unsafe { list.item("partition", k.into()) });
    let Some(first) = items.into_iter().find(|span| !span.is_empty()) else {
        return;
    };
    let [a, b, c, _] = S::DESCRIPTION.log;
    let tile = [1, 1 << a, 1 << b, 1 << c];
    let address = first.pointer.addr() as u64;
    let own = Partition {
        origin: address,
        first: address,
        rank: E::RANK as u64 + 1,
        naming: A::NAMING,
        extents: [list.len().into(), 0, 0, 0],
        strides: [0; MAXIMUM_RANK],
        tile,
        steps: tile,
        block: [cx.block_index(0), cx.block_index(1), cx.block_index(2)],
    };
    own.compare(cx.place());
}

/// Checks that the block schedules a store operand's tiles in the order `O`, as earlier blocks have. Without a record it checks
/// only that the block may still do so.
#[inline_on_device]
#[track_caller]
pub(crate) fn assert_same_order<T, S, B, O>(operand: &TmaStore<T, S>, cx: Cx<B>, _order: O)
where
    T: Element,
    S: MatrixShape,
    B: Block,
    O: TileOrder,
{
    order::cuts();
    if !partitions::RECORDED {
        return;
    }
    let layout = &operand.matrix.layout;
    let address = operand.matrix.pointer.addr() as u64;
    let tile = [1, S::ROWS as u64, S::COLUMNS as u64, 1];
    let own = Partition {
        origin: address,
        first: address,
        rank: 3,
        naming: FIRST_ORDER + O::NUMBER,
        extents: [operand.batches(), operand.rows(), operand.columns(), 1].map(u64::from),
        strides: [layout.batch_pitch, layout.row_pitch, 1, 0],
        tile,
        steps: tile,
        block: [cx.block_index(0), cx.block_index(1), cx.block_index(2)],
    };
    own.compare(cx.place());
}
