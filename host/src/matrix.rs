//! Tensors as tensor map operands.
//!
//! TMA loads and stores matrices whose rows are contiguous and begin at multiples of 16 bytes. A tensor for a `TmaLoad` must be like
//! that, on every device alike. A tensor for a `TmaStore` may be otherwise: the kernel then stores it without TMA.

use cuda_tiles::element::Element;
use cuda_tiles::memory::{MatrixLayout, MatrixShape, TensorBox, TensorMap, TmaLoad, TmaStore};

use crate::argument::{Argument, Launching};
use crate::error::ArgumentError;
use crate::stream::Stream;
use crate::tensor::{Layout, Tensor, TensorView, TensorViewMut};
use crate::tensor_maps::{MapDescription, MapKeeper};

/// The granularity of TMA, in bytes.
const GRANULE: u64 = 16;

/// The most rows, columns or matrices: the coordinates of TMA are signed.
const MOST: usize = i32::MAX as usize;

/// TMA wants rows and matrices less than this far apart, in bytes.
const MOST_PITCH: u64 = 1 << 40;

/// Columns, rows and matrices of a tensor, and the elements between neighbours of each.
struct Axes {
    names: [&'static str; 3],
    extents: [usize; 3],
    strides: [usize; 3],
}

impl Axes {
    /// Of a tensor of two axes or three.
    fn of<const RANK: usize>(layout: &Layout<RANK>) -> Self {
        let (mut extents, mut strides) = ([1; 3], [1; 3]);
        for (axis, (&extent, &stride)) in layout.shape.iter().zip(&layout.strides).rev().enumerate().take(3) {
            (extents[axis], strides[axis]) = (extent, stride);
        }
        Self { names: ["columns", "rows", "matrices"], extents, strides }
    }

    /// The layout of the matrices, if their columns are contiguous. The stride of an axis of one element is replaced by one that
    /// suits TMA.
    fn layout(&self, element_bytes: u64) -> Result<MatrixLayout, String> {
        let Self { extents: [columns, rows, batches], strides, .. } = *self;
        for (name, extent) in self.names.into_iter().zip(self.extents) {
            if extent > MOST {
                return Err(format!("a streamed tensor has at most {MOST} {name}"));
            }
        }
        if columns > 1 && strides[0] != 1 {
            let problem = "the columns of a streamed tensor are neighbours in memory";
            return Err(match rows > 1 && strides[1] == 1 {
                true => format!(
                    "{problem}; here the rows are: pass the transposed matrix (`view.transpose()`) to a kernel that \
                     takes this operand transposed"
                ),
                false => format!("{problem}; here they are {} elements apart: copy it first", strides[0]),
            });
        }
        let row_pitch = match rows > 1 {
            true => strides[1] as u64,
            false => (columns as u64).next_multiple_of(GRANULE / element_bytes),
        };
        let batch_pitch = match batches > 1 {
            true => strides[2] as u64,
            false => rows as u64 * row_pitch,
        };
        Ok(MatrixLayout::new(rows as u32, columns as u32, batches as u32, row_pitch, batch_pitch))
    }
}

/// Why TMA cannot reach the elements, if it cannot.
fn unreachable(address: u64, layout: &MatrixLayout, element_bytes: u64) -> Option<String> {
    let (row_bytes, batch_bytes) = (layout.row_pitch * element_bytes, layout.batch_pitch * element_bytes);
    let pitches =
        [("rows", "row", row_bytes, layout.rows), ("matrices", "matrix", batch_bytes, layout.batches)];
    for (names, name, bytes, _) in pitches.into_iter().filter(|&(.., extent)| extent > 1) {
        if !bytes.is_multiple_of(GRANULE) {
            return Some(format!(
                "{names} of a streamed tensor start at multiples of 16 bytes; its {name} pitch is {bytes} bytes: pad the \
                 rows, for example with `Tensor::padded`"
            ));
        }
        if bytes >= MOST_PITCH {
            return Some(format!(
                "{names} of a streamed tensor are less than 2^40 bytes apart; its {name} pitch is {bytes} bytes"
            ));
        }
    }
    let beyond = address % GRANULE;
    (beyond != 0).then(|| {
        format!(
            "a streamed tensor starts at a multiple of 16 bytes; this one starts {beyond} bytes behind one: cut views at \
             columns that are multiples of {}",
            GRANULE / element_bytes
        )
    })
}

/// The parts of a matrix that a kernel is passed.
pub(crate) struct Parts<T: Element> {
    pub(crate) map: *const TensorMap,
    pub(crate) pointer: *mut T::Bits,
    pub(crate) layout: MatrixLayout,
}

/// How a kernel uses a matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It loads the matrix by TMA.
    Load,
    /// It stores the matrix, by TMA where that is possible.
    Store,
}

/// The layout of a tensor's matrices.
pub(crate) fn layout_of<T: Element, const RANK: usize>(
    layout: &Layout<RANK>,
) -> Result<MatrixLayout, ArgumentError> {
    Axes::of(layout).layout(size_of::<T>() as u64).map_err(|problem| refusal(layout, problem))
}

fn refusal<const RANK: usize>(layout: &Layout<RANK>, problem: String) -> ArgumentError {
    ArgumentError::Matrix { shape: layout.shape.into(), strides: layout.strides.into(), problem }
}

/// The parts of the matrices of a layout in memory, with a map for pieces of this size.
pub(crate) fn parts<T: Element, const RANK: usize>(
    memory: *mut u8,
    layout: &Layout<RANK>,
    wanted: Use,
    piece: TensorBox,
    maps: &dyn MapKeeper,
) -> Result<Parts<T>, ArgumentError> {
    let matrices = layout_of::<T, RANK>(layout)?;
    // The offset counts elements of an allocation, so neither it nor its bytes overflow.
    let pointer = memory.wrapping_add(layout.offset * size_of::<T>());
    let address = pointer as u64;
    let problem = match layout.len() {
        // Nothing is read or written.
        0 => None,
        _ => unreachable(address, &matrices, size_of::<T>() as u64),
    };
    let map = match (wanted, problem) {
        (Use::Load, Some(problem)) => return Err(refusal(layout, problem)),
        (Use::Store, Some(_)) => std::ptr::null(),
        (Use::Store, None) if layout.len() == 0 => std::ptr::null(),
        (Use::Store, None) => {
            // TMA writes 16 bytes at a time, also where a row ends within them (seen on an H200): it would overwrite the bytes behind
            // the row. The kernel's threads store the last columns.
            let granule = GRANULE as u32 / size_of::<T>() as u32;
            let MatrixLayout { rows, columns, batches, row_pitch, batch_pitch, .. } = matrices;
            let whole = MatrixLayout::new(rows, columns / granule * granule, batches, row_pitch, batch_pitch);
            match whole.columns {
                0 => std::ptr::null(),
                _ => maps.tensor_map(&MapDescription::new::<T>(address, whole, piece))?,
            }
        }
        (Use::Load, None) => maps.tensor_map(&MapDescription::new::<T>(address, matrices, piece))?,
    };
    Ok(Parts { map, pointer: pointer.cast(), layout: matrices })
}

macro_rules! streamed {
    ($($rank:literal)*) => { $(
        impl<T: Element> TensorView<'_, T, $rank> {
            /// Whether a kernel can read the elements as a [`TmaLoad`]: the columns are neighbours in memory, and rows and
            /// matrices start at multiples of 16 bytes.
            pub fn is_streamable(&self) -> bool {
                let Ok(matrices) = layout_of::<T, $rank>(&self.layout) else { return false };
                let address = (self.storage.address() as usize).wrapping_add(self.layout.offset * size_of::<T>());
                self.layout.len() == 0 || unreachable(address as u64, &matrices, size_of::<T>() as u64).is_none()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Element, S: MatrixShape> Argument<TmaLoad<T, S>> for &Tensor<T, $rank> {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TmaLoad<T, S>, ArgumentError> {
                self.view().resolve(launch)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Element, S: MatrixShape> Argument<TmaLoad<T, S>> for TensorView<'_, T, $rank> {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TmaLoad<T, S>, ArgumentError> {
                let memory = self.storage.lend(launch.stream)?;
                let Parts { map, pointer, layout } =
                    parts::<T, $rank>(memory, &self.layout, Use::Load, TmaLoad::<T, S>::BOX, launch.maps)?;
                // SAFETY: the layout stays within the storage, which the kernel may read from now on: on the CPU it ends
                // before this borrow does, on the GPU the storage's account knows of it. The map says the same.
                Ok(unsafe { TmaLoad::new(map, pointer, layout) })
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Element, S: MatrixShape> Argument<TmaStore<T, S>> for &mut Tensor<T, $rank> {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TmaStore<T, S>, ArgumentError> {
                self.view_mut().resolve(launch)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Element, S: MatrixShape> Argument<TmaStore<T, S>> for TensorViewMut<'_, T, $rank> {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TmaStore<T, S>, ArgumentError> {
                let memory = self.storage.lend_mut(launch.stream)?;
                let Parts { map, pointer, layout } =
                    parts::<T, $rank>(memory, &self.layout, Use::Store, TmaStore::<T, S>::BOX, launch.maps)?;
                // SAFETY: as for reading, and the borrow is the only one: nothing else reads or writes the storage while
                // the kernel uses it. No two indices of a writable view share an element.
                Ok(unsafe { TmaStore::new(map, pointer, layout) })
            }
        }
    )* };
}
streamed!(2 3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensor_maps::NoMaps;
    use cuda_tiles::element::f16;

    const PIECE: TensorBox = TensorBox { columns: 64, rows: 64, swizzle_bytes: 128 };

    fn resolve<const RANK: usize>(layout: Layout<RANK>, wanted: Use) -> Result<MatrixLayout, String> {
        // The address is never followed.
        let memory = std::ptr::without_provenance_mut(1 << 20);
        let parts = parts::<f16, RANK>(memory, &layout, wanted, PIECE, &NoMaps);
        parts.map(|parts| parts.layout).map_err(|error| error.to_string())
    }

    #[test]
    fn packed_and_pitched_matrices_are_streamed() {
        let packed = Layout::row_major([30, 64]);
        assert_eq!(resolve(packed, Use::Load), Ok(MatrixLayout::new(30, 64, 1, 64, 1920)));
        let batch = Layout::row_major([4, 30, 64]).slice(2, 8..17).unwrap();
        assert_eq!(resolve(batch, Use::Load), Ok(MatrixLayout::new(30, 9, 4, 64, 1920)));
        let heads = Layout::row_major([30, 4, 64]).permute([1, 0, 2]).unwrap();
        assert_eq!(resolve(heads, Use::Load), Ok(MatrixLayout::new(30, 64, 4, 256, 64)));
    }

    #[test]
    fn strides_that_lead_nowhere_do_not_matter() {
        let row = Layout { offset: 0, shape: [1, 9], strides: [9, 1] };
        assert_eq!(resolve(row, Use::Load), Ok(MatrixLayout::new(1, 9, 1, 16, 16)));
        let column = Layout { offset: 0, shape: [9, 1], strides: [8, 3] };
        assert_eq!(resolve(column, Use::Load), Ok(MatrixLayout::new(9, 1, 1, 8, 72)));
        let empty = Layout { offset: 1, shape: [9, 0], strides: [3, 1] };
        assert_eq!(resolve(empty, Use::Load).map(|layout| layout.rows), Ok(9));
    }

    #[test]
    fn what_cannot_be_streamed_says_why_and_what_to_do() {
        let ragged = resolve(Layout::row_major([8, 4093]), Use::Load).unwrap_err();
        assert_eq!(
            ragged,
            "a tensor of shape [8, 4093] and strides [4093, 1] cannot be streamed: rows of a streamed tensor start at \
             multiples of 16 bytes; its row pitch is 8186 bytes: pad the rows, for example with `Tensor::padded`"
        );
        let batch = Layout { offset: 0, shape: [2, 3, 8], strides: [27, 8, 1] };
        let batch = resolve(batch, Use::Load).unwrap_err();
        assert!(
            batch.contains(
                "matrices of a streamed tensor start at multiples of 16 bytes; its matrix pitch is 54"
            ),
            "{batch}"
        );
        let shifted = resolve(Layout::row_major([8, 64]).slice(1, 3..64).unwrap(), Use::Load).unwrap_err();
        assert!(
            shifted.ends_with("starts 6 bytes behind one: cut views at columns that are multiples of 8"),
            "{shifted}"
        );
        let transposed = Layout::row_major([64, 32]).permute([1, 0]).unwrap();
        for wanted in [Use::Load, Use::Store] {
            let transposed = resolve(transposed, wanted).unwrap_err();
            assert!(transposed.contains("here the rows are: pass the transposed matrix"), "{transposed}");
            let every_second = Layout { offset: 0, shape: [8, 8], strides: [64, 2] };
            let every_second = resolve(every_second, wanted).unwrap_err();
            assert!(
                every_second.ends_with("here they are 2 elements apart: copy it first"),
                "{every_second}"
            );
        }
        let long =
            resolve(Layout { offset: 0, shape: [1 << 31, 8], strides: [0, 1] }, Use::Load).unwrap_err();
        assert!(long.ends_with("a streamed tensor has at most 2147483647 rows"), "{long}");
        let far = resolve(Layout { offset: 0, shape: [2, 8], strides: [1 << 39, 1] }, Use::Load).unwrap_err();
        assert!(far.contains("less than 2^40 bytes apart; its row pitch is 1099511627776 bytes"), "{far}");
    }

    #[test]
    fn an_output_may_have_any_pitch() {
        let ragged = Layout::row_major([8, 4093]);
        assert_eq!(resolve(ragged, Use::Store), Ok(MatrixLayout::new(8, 4093, 1, 4093, 32_744)));
        assert!(resolve(Layout::row_major([8, 64]).slice(1, 3..64).unwrap(), Use::Store).is_ok());
    }

    #[test]
    fn padded_tensors_can_be_streamed() {
        let tensor = Tensor::<f16, 2>::padded(&Device::cpu(), [8, 4093]).unwrap();
        assert_eq!(resolve(tensor.view().layout, Use::Load), Ok(MatrixLayout::new(8, 4093, 1, 4096, 32_768)));
    }
}
