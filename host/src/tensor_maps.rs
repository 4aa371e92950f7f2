//! The tensor maps of TMA.
//!
//! TMA reads a description of each tensor from memory of the device: a tensor map. The driver encodes it. A launch looks the maps of
//! its arguments up by their content, so that a program that launches on the same tensors again makes each map once.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use cuda_tiles::element::{Element, bf16, f16, tf32};
use cuda_tiles::memory::{MatrixLayout, TensorBox, TensorMap};

use crate::error::Result;

/// Bytes of a tensor map.
const MAP_BYTES: usize = size_of::<TensorMap>();

/// The maps of a tensor: of whole boxes, and of the last one.
const MAPS_OF_A_TENSOR: usize = 2;

/// Bytes of the maps of a tensor.
const ROOM: usize = MAPS_OF_A_TENSOR * MAP_BYTES;

/// Tensors for whose maps room is made at once.
const TENSORS_OF_A_CHUNK: usize = 1024;

/// Tensors whose maps are held before all of them are dropped.
const MOST_TENSORS: usize = 4096;

/// The words of a tensor map.
pub(crate) type Words = [u64; MAP_BYTES / 8];

/// An element type as tensor maps name it. TMA moves bits: types of one size differ only in reductions to memory. `tf32` is the
/// exception; TMA rounds numbers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MapElement {
    U8,
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    Bf16,
    Tf32,
}

impl MapElement {
    /// The name of `T`.
    pub(crate) fn of<T: Element>() -> Self {
        let is = |other| TypeId::of::<T>() == other;
        match size_of::<T>() {
            2 if is(TypeId::of::<f16>()) => Self::F16,
            2 if is(TypeId::of::<bf16>()) => Self::Bf16,
            4 if is(TypeId::of::<f32>()) => Self::F32,
            // Numbers that are tf32 stay as they are. Where memory has all bits of an `f32`, TMA rounds. Tensor cores then read zeros in
            // the bits that they ignore, and zeros take no power.
            4 if is(TypeId::of::<tf32>()) => Self::Tf32,
            4 if is(TypeId::of::<i32>()) => Self::I32,
            8 if is(TypeId::of::<f64>()) => Self::F64,
            8 if is(TypeId::of::<i64>()) => Self::I64,
            // Tensor maps have one name for all types of eight bits, and one for all 16-bit integers.
            1 => Self::U8,
            2 => Self::U16,
            4 => Self::U32,
            _ => Self::U64,
        }
    }
}

/// What the maps of a tensor say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MapDescription {
    /// The first element; none for a tensor without elements, all of whose tiles read as zero.
    address: Option<u64>,
    element: MapElement,
    element_bytes: u64,
    layout: MatrixLayout,
    /// A whole box, and the last one.
    pieces: [TensorBox; MAPS_OF_A_TENSOR],
}

/// A map as the driver is asked for it: columns, rows and matrices, in this order.
pub(crate) struct Encoding {
    pub(crate) element: MapElement,
    pub(crate) address: u64,
    /// In elements.
    pub(crate) extents: [u64; 3],
    /// Of rows and of matrices, in bytes.
    pub(crate) pitches: [u64; 2],
    /// The box of one TMA instruction, in elements.
    pub(crate) piece: [u32; 3],
    /// Bytes of a row of a piece.
    pub(crate) swizzle_bytes: u32,
}

/// To how many bytes accesses are rounded up on their way to the L2 cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Promotion {
    To128Bytes,
    To256Bytes,
}

impl Encoding {
    /// The promotion that loads of whole matrices are fastest with. 256 bytes let memory read on where a row does. Each row that begins
    /// beside 64 bytes has parts of two lines, and 256 bytes of both are up to four times what is wanted.
    pub(crate) fn promotion(&self) -> Promotion {
        const EVEN: u64 = 64;
        if self.pitches[0].is_multiple_of(EVEN) { Promotion::To256Bytes } else { Promotion::To128Bytes }
    }
}

impl MapDescription {
    /// The maps of elements at this address, with boxes of this size.
    pub(crate) fn new<T: Element>(address: u64, layout: MatrixLayout, piece: TensorBox) -> Self {
        let (element, element_bytes) = (MapElement::of::<T>(), size_of::<T>() as u64);
        let is_empty = [layout.rows, layout.columns, layout.batches].contains(&0);
        // A single element of value zero, outside of which all is zero too: the driver refuses maps of no elements.
        let zero = MatrixLayout::new(1, 1, 1, 16 / element_bytes, 16 / element_bytes);
        Self {
            address: (!is_empty).then_some(address),
            element,
            element_bytes,
            layout: if is_empty { zero } else { layout },
            pieces: [piece, piece.last_of(layout.rows)],
        }
    }

    /// What to ask the driver for, with an element of value zero at `zero`.
    fn encodings(&self, zero: u64) -> [Encoding; MAPS_OF_A_TENSOR] {
        let Self { element, element_bytes, layout, pieces, .. } = *self;
        pieces.map(|piece| Encoding {
            element,
            address: self.address.unwrap_or(zero),
            extents: [layout.columns, layout.rows, layout.batches].map(u64::from),
            pitches: [layout.row_pitch, layout.batch_pitch].map(|pitch| pitch * element_bytes),
            piece: [piece.columns, piece.rows, 1],
            swizzle_bytes: piece.swizzle_bytes,
        })
    }
}

/// Who has the maps for the arguments of a launch.
pub(crate) trait MapKeeper {
    /// The address of a tensor's maps, of whole boxes and behind it of the last one, in memory of the device, until the launch has been
    /// given to its stream and has ended; null where kernels use none.
    fn tensor_map(&self, description: &MapDescription) -> Result<*const TensorMap>;
}

/// The CPU: kernels read memory themselves.
pub(crate) struct NoMaps;

impl MapKeeper for NoMaps {
    fn tensor_map(&self, _description: &MapDescription) -> Result<*const TensorMap> {
        Ok(std::ptr::null())
    }
}

/// A device, as far as its maps need it.
pub(crate) trait MapDevice {
    /// Lets the driver encode a map.
    fn encode(&self, encoding: &Encoding) -> Result<Words>;
    /// Memory of the device, aligned to 256 bytes, for as long as the maps.
    fn allocate(&self, bytes: usize) -> Result<u64>;
    /// Copies maps to memory of the device, and waits for the copy.
    fn upload(&self, address: u64, maps: &[Words]) -> Result<()>;
    /// Waits for all kernels of the device.
    fn settle(&self) -> Result<()>;
}

/// The maps in the memory of one device.
#[derive(Default)]
pub(crate) struct TensorMaps {
    /// Read by launches in preparation, from finding their maps to being given to a stream; written by who drops the maps.
    in_preparation: RwLock<()>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    maps: HashMap<MapDescription, u64>,
    /// Room for maps. The first tensor's room of all is a zero.
    chunks: Vec<u64>,
}

impl TensorMaps {
    /// Lets a launch use maps until it has been given to its stream. Now and then it drops all that are held, once the
    /// kernels that use them have ended: a program that never repeats a tensor must not fill the device with maps.
    pub(crate) fn hold(&self, device: &impl MapDevice) -> Result<RwLockReadGuard<'_, ()>> {
        if self.known().maps.len() >= MOST_TENSORS {
            // From here on no launch is between finding its maps and its stream, and another thread may have been first.
            let _alone = self.in_preparation.write().unwrap_or_else(PoisonError::into_inner);
            if self.known().maps.len() >= MOST_TENSORS {
                device.settle()?;
                self.known().maps.clear();
            }
        }
        Ok(self.in_preparation.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The address of maps that say this. The caller has a [hold](Self::hold) on the maps.
    pub(crate) fn get(
        &self,
        device: &impl MapDevice,
        description: &MapDescription,
    ) -> Result<*const TensorMap> {
        let mut known = self.known();
        if let Some(&address) = known.maps.get(description) {
            return Ok(address as *const TensorMap);
        }
        let number = known.maps.len() + 1;
        while known.chunks.len() <= number / TENSORS_OF_A_CHUNK {
            let chunk = device.allocate(TENSORS_OF_A_CHUNK * ROOM)?;
            device.upload(chunk, &[[0; MAP_BYTES / 8]])?;
            known.chunks.push(chunk);
        }
        let [whole, last] = description.encodings(known.chunks[0]);
        let room = number % TENSORS_OF_A_CHUNK * ROOM;
        let address = known.chunks[number / TENSORS_OF_A_CHUNK] + room as u64;
        device.upload(address, &[device.encode(&whole)?, device.encode(&last)?])?;
        known.maps.insert(*description, address);
        Ok(address as *const TensorMap)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles::element::{f8e4m3, f8e8m0};
    use std::cell::{Cell, RefCell};

    /// A device that notes what it is asked for.
    #[derive(Default)]
    struct Notes {
        encoded: RefCell<Vec<Encoding>>,
        uploads: RefCell<HashMap<u64, Vec<Words>>>,
        chunks: Cell<u64>,
        settled: Cell<usize>,
    }

    impl MapDevice for Notes {
        fn encode(&self, encoding: &Encoding) -> Result<Words> {
            let mut words = [0; 16];
            words[0] = encoding.address;
            self.encoded.borrow_mut().push(Encoding { ..*encoding });
            Ok(words)
        }

        fn allocate(&self, bytes: usize) -> Result<u64> {
            assert_eq!(bytes, 1024 * 2 * 128);
            self.chunks.set(self.chunks.get() + 1);
            Ok(self.chunks.get() << 32)
        }

        fn upload(&self, address: u64, maps: &[Words]) -> Result<()> {
            self.uploads.borrow_mut().insert(address, maps.to_vec());
            Ok(())
        }

        fn settle(&self) -> Result<()> {
            self.settled.set(self.settled.get() + 1);
            Ok(())
        }
    }

    const PIECE: TensorBox = TensorBox { columns: 64, rows: 64, swizzle_bytes: 128 };

    fn description(address: u64) -> MapDescription {
        MapDescription::new::<f16>(address, MatrixLayout::new(100, 200, 3, 208, 20_800), PIECE)
    }

    #[test]
    fn the_driver_is_asked_for_columns_rows_and_matrices() {
        let [encoding, last] = description(4096).encodings(0);
        assert_eq!(encoding.element, MapElement::F16);
        assert_eq!(
            (encoding.address, encoding.extents, encoding.pitches),
            (4096, [200, 100, 3], [416, 41_600])
        );
        assert_eq!((encoding.piece, encoding.swizzle_bytes), ([64, 64, 1], 128));
        // The first box leaves 36 of 100 rows.
        assert_eq!((last.piece, last.swizzle_bytes), ([64, 36, 1], 128));
        assert_eq!(
            (last.address, last.extents, last.pitches),
            (encoding.address, encoding.extents, encoding.pitches)
        );
    }

    #[test]
    fn rows_beside_lines_are_promoted_less() {
        let of = |pitch| {
            let layout = MatrixLayout::new(100, 200, 1, pitch, 0);
            let [whole, _] = MapDescription::new::<f16>(4096, layout, PIECE).encodings(0);
            whole
        };
        assert_eq!([224, 256].map(|pitch| of(pitch).promotion()), [Promotion::To256Bytes; 2]);
        assert_eq!([208, 216].map(|pitch| of(pitch).promotion()), [Promotion::To128Bytes; 2]);
    }

    #[test]
    fn a_tensor_without_elements_is_a_zero() {
        let layout = MatrixLayout::new(7, 0, 1, 0, 0);
        let [empty, last] = MapDescription::new::<f64>(4096, layout, PIECE).encodings(512);
        assert_eq!((empty.address, empty.extents, empty.pitches), (512, [1, 1, 1], [16, 16]));
        // Kernels know the rows by the layout, and wait for as many.
        assert_eq!((last.address, last.piece), (512, [64, 7, 1]));
    }

    #[test]
    fn element_types_have_the_names_of_tensor_maps() {
        assert_eq!(
            [MapElement::of::<f8e4m3>(), MapElement::of::<f8e8m0>(), MapElement::of::<i8>()],
            [MapElement::U8; 3]
        );
        assert_eq!((MapElement::of::<u16>(), MapElement::of::<bf16>()), (MapElement::U16, MapElement::Bf16));
        assert_eq!((MapElement::of::<tf32>(), MapElement::of::<u32>()), (MapElement::Tf32, MapElement::U32));
        assert_eq!((MapElement::of::<i64>(), MapElement::of::<f64>()), (MapElement::I64, MapElement::F64));
    }

    #[test]
    fn a_map_is_made_once() {
        let (maps, device) = (TensorMaps::default(), Notes::default());
        let _held = maps.hold(&device).unwrap();
        let first = maps.get(&device, &description(4096)).unwrap();
        assert_ne!(maps.get(&device, &description(8192)).unwrap(), first);
        assert_eq!(maps.get(&device, &description(4096)).unwrap(), first);
        assert_eq!(device.encoded.borrow().len(), 2 * 2);
        assert_eq!(
            device.uploads.borrow()[&(first as u64)].iter().map(|map| map[0]).collect::<Vec<_>>(),
            [4096; 2]
        );
        assert_eq!(device.uploads.borrow()[&(1 << 32)], [[0; 16]], "the zero");
        assert!((first as u64).is_multiple_of(64));
    }

    #[test]
    fn maps_are_dropped_between_launches_and_never_within() {
        let (maps, device) = (TensorMaps::default(), Notes::default());
        let mut addresses = std::collections::HashSet::new();
        let held = maps.hold(&device).unwrap();
        for number in 0..MOST_TENSORS as u64 + 10 {
            assert!(addresses.insert(maps.get(&device, &description(16 * number)).unwrap()));
        }
        assert_eq!((device.settled.get(), device.chunks.get()), (0, 5));
        drop(held);
        let _held = maps.hold(&device).unwrap();
        assert_eq!(device.settled.get(), 1);
        let again = maps.get(&device, &description(0)).unwrap();
        assert!(addresses.contains(&again));
        assert_eq!((device.encoded.borrow().len(), device.chunks.get()), (2 * (MOST_TENSORS + 11), 5));
    }
}
