//! How the elements of a tensor or a view lie in memory: shape, strides and where the first element is.

use std::ops::Range;

use cuda_tiles::span::SpanError;

use crate::error::{ArgumentError, Error, Result};

/// A rectangle of elements in memory. Element (i, j, ...) lies at `offset + i * strides[0] + j * strides[1] + ...`, all
/// counted in elements.
///
/// Invariants, which keep all arithmetic on layouts from overflowing:
/// - The product of the extents, with 1 in place of 0, is at most `isize::MAX`.
/// - Of a layout with elements, all lie in the memory. Of one without, the offset lies in the memory or at its end.
/// - The distance from the first element to the last one, with extents of 1 in place of 0, is at most `isize::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout<const RANK: usize> {
    pub(crate) offset: usize,
    pub(crate) shape: [usize; RANK],
    pub(crate) strides: [usize; RANK],
}

impl<const RANK: usize> Layout<RANK> {
    /// Elements one after the other, the last axis fastest. The caller has checked the product of the extents.
    pub(crate) fn row_major(shape: [usize; RANK]) -> Self {
        let mut strides = [1; RANK];
        for axis in (1..RANK).rev() {
            // With an extent of 0 the strides do not matter; the maximum keeps them positive.
            strides[axis - 1] = strides[axis] * shape[axis].max(1);
        }
        Self { offset: 0, shape, strides }
    }

    /// The extents and the strides as a span takes them.
    pub(crate) fn lengths_and_strides(&self) -> ([u64; RANK], [i64; RANK]) {
        (self.shape.map(|extent| extent as u64), self.strides.map(|stride| stride as i64))
    }

    /// The error that a span cannot have this layout.
    pub(crate) fn no_span(&self, problem: SpanError) -> ArgumentError {
        ArgumentError::Span { shape: self.shape.into(), strides: self.strides.into(), problem }
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements lie one after the other, in order. Strides along axes of extent 1 do not matter.
    pub(crate) fn is_row_major(&self) -> bool {
        let packed = Self::row_major(self.shape).strides;
        let matters = |axis: &usize| self.shape[*axis] > 1;
        self.len() == 0 || (0..RANK).filter(matters).all(|axis| self.strides[axis] == packed[axis])
    }

    /// The elements from the first to the last one that the layout touches.
    pub(crate) fn range(&self) -> Range<usize> {
        if self.len() == 0 {
            return self.offset..self.offset;
        }
        let last: usize =
            self.shape.iter().zip(self.strides).map(|(&extent, stride)| (extent - 1) * stride).sum();
        self.offset..self.offset + last + 1
    }

    /// The same elements with the axes in another order: axis k of the result is axis `axes[k]`.
    pub(crate) fn permute(&self, axes: [usize; RANK]) -> Result<Self> {
        if let Some(axis) = (0..RANK).find(|axis| !axes.contains(axis)) {
            let problem = format!("{axes:?} leaves out axis {axis}; each of 0..{RANK} must appear once");
            return Err(Error::View { operation: "permutation", shape: self.shape.into(), problem });
        }
        Ok(Self {
            offset: self.offset,
            shape: axes.map(|axis| self.shape[axis]),
            strides: axes.map(|axis| self.strides[axis]),
        })
    }

    /// The elements whose index along `axis` is in `range`.
    pub(crate) fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        let refuse = |problem| Err(Error::View { operation: "slice", shape: self.shape.into(), problem });
        if axis >= RANK {
            return refuse(format!("there is no axis {axis}"));
        }
        if range.start > range.end || range.end > self.shape[axis] {
            return refuse(format!(
                "{range:?} is not a range within axis {axis}, which has {} elements",
                self.shape[axis]
            ));
        }
        let mut sliced = *self;
        sliced.shape[axis] = range.len();
        if sliced.len() > 0 {
            // The offset is that of an element. Where there is none it stays: behind the last one there may be no memory.
            sliced.offset += range.start * self.strides[axis];
        }
        Ok(sliced)
    }

    /// Elements chosen freely among those between the first and the last of this layout: `offset` counts from its
    /// first element.
    pub(crate) fn strided<const OTHER: usize>(
        &self,
        offset: usize,
        shape: [usize; OTHER],
        strides: [usize; OTHER],
    ) -> Result<Layout<OTHER>> {
        let refuse =
            |problem| Err(Error::View { operation: "strided view", shape: self.shape.into(), problem });
        let limit = isize::MAX as usize;
        let count = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent.max(1)));
        if count.is_none_or(|count| count > limit) {
            return refuse(format!("shape {shape:?} has more elements than can be counted"));
        }
        let available = self.range().len();
        let distance = shape.iter().zip(strides).try_fold(0_usize, |distance, (&extent, stride)| {
            distance.checked_add(extent.saturating_sub(1).checked_mul(stride)?)
        });
        let fits = distance.filter(|&distance| distance <= limit).is_some_and(|distance| {
            if shape.contains(&0) {
                offset <= available
            } else {
                offset.checked_add(distance).is_some_and(|last| last < available)
            }
        });
        if !fits {
            return refuse(format!(
                "offset {offset}, shape {shape:?} and strides {strides:?} reach beyond its {available} elements"
            ));
        }
        Ok(Layout { offset: self.offset + offset, shape, strides })
    }

    /// Whether no two indices share an element. The test is a sufficient one: sorted by stride, each axis must step over
    /// all that the axes before it reach.
    pub(crate) fn is_injective(&self) -> bool {
        if self.len() == 0 {
            return true;
        }
        let mut axes: Vec<(usize, usize)> =
            self.strides.into_iter().zip(self.shape).filter(|&(_, extent)| extent > 1).collect();
        axes.sort_unstable();
        let mut reach = 0;
        axes.into_iter().all(|(stride, extent)| {
            let clear = stride > reach;
            reach += (extent - 1) * stride;
            clear
        })
    }

    /// Calls `visit` with the position in memory of each element, in row-major order of the indices.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize)) {
        let mut index = [0; RANK];
        for _ in 0..self.len() {
            visit(
                self.offset
                    + index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum::<usize>(),
            );
            for axis in (0..RANK).rev() {
                index[axis] += 1;
                if index[axis] < self.shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions<const RANK: usize>(layout: &Layout<RANK>) -> Vec<usize> {
        let mut positions = Vec::new();
        layout.for_each(|position| positions.push(position));
        positions
    }

    #[test]
    fn row_major_is_in_order() {
        let layout = Layout::row_major([2, 3, 4]);
        assert_eq!(layout.strides, [12, 4, 1]);
        assert_eq!(positions(&layout), (0..24).collect::<Vec<_>>());
        assert!(layout.is_row_major() && layout.is_injective());
        assert_eq!(Layout::row_major([2, 0, 4]).strides, [4, 4, 1]);
    }

    #[test]
    fn a_layout_of_no_axes_is_one_element() {
        assert_eq!(positions(&Layout::row_major([])), [0]);
    }

    #[test]
    fn slices_and_permutations_pick_the_right_elements() {
        let layout = Layout::row_major([3, 4]).slice(1, 1..3).unwrap();
        assert_eq!(positions(&layout), [1, 2, 5, 6, 9, 10]);
        assert_eq!(layout.range(), 1..11);
        let turned = layout.permute([1, 0]).unwrap();
        assert_eq!(positions(&turned), [1, 5, 9, 2, 6, 10]);
        assert!(!turned.is_row_major());
    }

    #[test]
    fn empty_slices_are_legal() {
        let layout = Layout::row_major([3, 4]).slice(0, 3..3).unwrap();
        assert_eq!((layout.len(), layout.range()), (0, 0..0));
        assert!(positions(&layout).is_empty());
    }

    #[test]
    fn messages_say_what_is_outside() {
        let layout = Layout::row_major([3, 4]);
        let message = layout.slice(1, 2..5).unwrap_err().to_string();
        assert_eq!(
            message,
            "slice of a tensor of shape [3, 4]: 2..5 is not a range within axis 1, which has 4 elements"
        );
        let message = layout.permute([0, 0]).unwrap_err().to_string();
        assert!(message.ends_with("[0, 0] leaves out axis 1; each of 0..2 must appear once"), "{message}");
        let message = layout.strided(1, [3, 4], [4, 1]).unwrap_err().to_string();
        assert!(message.ends_with("reach beyond its 12 elements"), "{message}");
        assert!(layout.strided(0, [2], [usize::MAX]).is_err());
    }

    #[test]
    fn overlapping_strides_are_found() {
        let memory = Layout::row_major([24]);
        assert!(memory.strided(0, [3, 5], [8, 1]).unwrap().is_injective());
        assert!(memory.strided(0, [5, 3], [1, 8]).unwrap().is_injective());
        assert!(!memory.strided(0, [3, 5], [4, 1]).unwrap().is_injective());
        assert!(!memory.strided(0, [3, 5], [0, 1]).unwrap().is_injective());
        assert!(memory.strided(0, [1, 5], [0, 1]).unwrap().is_injective());
    }
}
