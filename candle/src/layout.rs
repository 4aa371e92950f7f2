//! candle's layouts as those of kernels: a fixed number of axes, and memory from the first to the last element.

use candle_core::Layout;

use crate::error::{Error, Result};

/// The number of elements from the first to the last one.
pub(crate) fn reach(layout: &Layout) -> Option<usize> {
    if layout.dims().contains(&0) {
        return Some(0);
    }
    let mut steps = layout.dims().iter().zip(layout.stride());
    steps.try_fold(1_usize, |reach, (&extent, &stride)| reach.checked_add((extent - 1).checked_mul(stride)?))
}

/// Shape and strides as they are, of `RANK` axes.
pub(crate) fn axes<const RANK: usize>(layout: &Layout) -> Result<([usize; RANK], [usize; RANK])> {
    let shape = <[usize; RANK]>::try_from(layout.dims());
    let strides = <[usize; RANK]>::try_from(layout.stride());
    match (shape, strides) {
        (Ok(shape), Ok(strides)) => Ok((shape, proper_strides(shape, strides))),
        _ => Err(Error::Rank { shape: layout.dims().to_vec(), wanted: RANK }),
    }
}

/// Shape and strides of `RANK` axes, of which the first one stands for all leading axes. If there are fewer axes, leading ones of extent 1 are
/// added.
pub(crate) fn flattened<const RANK: usize>(layout: &Layout) -> Result<([usize; RANK], [usize; RANK])> {
    let (dims, strides) = (layout.dims(), layout.stride());
    let kept = (RANK - 1).min(dims.len());
    let leading = dims.len() - kept;
    let (mut shape, mut steps) = ([1; RANK], [0; RANK]);
    shape[RANK - kept..].copy_from_slice(&dims[leading..]);
    steps[RANK - kept..].copy_from_slice(&strides[leading..]);
    let is_empty = dims.contains(&0);
    // From the last leading axis to the first. An axis of extent 1 leads nowhere, whatever its stride.
    let (mut extent, mut stride) = (1, None);
    for (&length, &step) in dims[..leading].iter().zip(strides).rev() {
        if let (Some(stride), true) = (stride, length != 1 && !is_empty)
            && step != extent * stride
        {
            return Err(Error::Axes { shape: dims.to_vec(), strides: strides.to_vec() });
        }
        if length != 1 {
            stride = stride.or(Some(step));
        }
        extent *= length;
    }
    if leading > 0 {
        (shape[0], steps[0]) = (extent, stride.unwrap_or(0));
    }
    Ok((shape, proper_strides(shape, steps)))
}

/// The strides, with those of row-major order for axes without a second element, so that these count as contiguous.
fn proper_strides<const RANK: usize>(shape: [usize; RANK], mut strides: [usize; RANK]) -> [usize; RANK] {
    let mut packed = 1;
    for axis in (0..RANK).rev() {
        if shape[axis] <= 1 {
            strides[axis] = packed;
        }
        packed = strides[axis].max(packed).saturating_mul(shape[axis].max(1));
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[usize], strides: &[usize]) -> Layout {
        Layout::new(shape.into(), strides.to_vec(), 0)
    }

    #[test]
    fn leading_axes_become_one() {
        let rows =
            |shape, strides| flattened::<2>(&layout(shape, strides)).map_err(|error| error.to_string());
        assert_eq!(rows(&[2, 3, 4], &[12, 4, 1]), Ok(([6, 4], [4, 1])));
        assert_eq!(rows(&[2, 3, 4], &[24, 8, 1]), Ok(([6, 4], [8, 1])), "rows with a pitch");
        assert_eq!(rows(&[1, 3, 4], &[99, 4, 1]), Ok(([3, 4], [4, 1])), "an axis of extent 1");
        assert_eq!(rows(&[3, 1, 4], &[4, 99, 1]), Ok(([3, 4], [4, 1])));
        assert_eq!(rows(&[2, 3, 4], &[0, 0, 1]), Ok(([6, 4], [0, 1])), "one row, repeated");
        assert_eq!(rows(&[4], &[1]), Ok(([1, 4], [4, 1])), "a vector is one row");
        assert_eq!(rows(&[], &[]), Ok(([1, 1], [1, 1])), "and so is a number");
        assert_eq!(rows(&[0, 3, 4], &[12, 4, 1]).unwrap().0, [0, 4]);
        let told = rows(&[2, 3, 4], &[4, 8, 1]).unwrap_err();
        assert!(told.contains("[2, 3, 4] and strides [4, 8, 1]") && told.contains("contiguous()"), "{told}");
    }

    #[test]
    fn ranks_are_those_of_the_kernel() {
        assert_eq!(axes::<2>(&layout(&[2, 3], &[1, 2])).unwrap(), ([2, 3], [1, 2]));
        let told = axes::<1>(&layout(&[2, 3], &[3, 1])).unwrap_err().to_string();
        assert_eq!(told, "the tensor has 2 axes (shape [2, 3]), but the kernel takes 1");
    }

    #[test]
    fn the_reach_is_from_the_first_to_the_last_element() {
        assert_eq!(reach(&layout(&[2, 3], &[3, 1])), Some(6));
        assert_eq!(reach(&layout(&[2, 3], &[0, 1])), Some(3));
        assert_eq!(reach(&layout(&[2, 3], &[10, 1])), Some(13));
        assert_eq!(reach(&layout(&[2, 0], &[10, 1])), Some(0));
        assert_eq!(reach(&layout(&[3, 2], &[usize::MAX, 1])), None);
        assert_eq!(reach(&layout(&[2, 2], &[usize::MAX, 1])), None);
    }
}
