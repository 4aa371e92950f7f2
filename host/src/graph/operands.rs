//! What a graph works on: tensors and buffers, and numbers.

use std::sync::Arc;

use cuda_tiles::element::{Element, bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, tf32};

use crate::access::Access;
use crate::device::Device;
use crate::gpu::{Gpu, GpuMemory, GpuPinned};
use crate::pinned::{Pinned, PinnedBuffer, PinnedMemory};
use crate::recording::Identity;
use crate::tensor::{Storage, Tensor, TensorView, TensorViewMut};

/// What a [`Graph`](crate::Graph) works on: it says which tensors and buffers that is.
///
/// | operand | in the graph |
/// |---|---|
/// | `Tensor`, `&mut Tensor`, `TensorViewMut` | may be written |
/// | `&Tensor`, `Arc<Tensor>`, `TensorView` | may only be read |
/// | `PinnedBuffer`, `&mut PinnedBuffer` | may be copied from and to |
/// | `&PinnedBuffer` | may be copied from |
/// | numbers and `bool` | have no memory |
/// | tuples, arrays, `Vec`, `Box`, `Option`, `&mut` of these | are each of their parts |
///
/// A struct lists its fields. All that launches use must be listed, always in the same order:
///
/// ```
/// use cuda_tiles_host::{Device, Graph, GraphOperands, OperandList, PinnedBuffer, Tensor};
///
/// struct Step<'weights> {
///     weights: &'weights Tensor<f32, 2>,
///     x: Tensor<f32, 1>,
///     result: PinnedBuffer<f32>,
///     position: u32,
/// }
///
/// impl GraphOperands for Step<'_> {
///     fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
///         list.add(&mut self.weights);
///         list.add(&mut self.x);
///         list.add(&mut self.result);
///     }
/// }
///
/// let device = Device::auto()?;
/// let weights = Tensor::zeros(&device, [4, 4])?;
/// let (x, result) = (Tensor::full(&device, [4], 0.5)?, PinnedBuffer::zeros(&device, 4)?);
/// let step = Step { weights: &weights, x, result, position: 0 };
/// let mut graph = Graph::capture(&device, step, |stream, step| {
///     // ... launches with `step.weights`, `step.x` and `step.position` ...
///     step.x.copy_to_pinned(stream, &mut step.result)
/// })?;
/// graph.launch()?;
/// assert_eq!(graph.operands().result.as_slice()?, [0.5; 4]);
/// # assert_eq!(graph.operands().position, 0);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a graph works on",
    label = "neither a tensor nor made of tensors",
    note = "operands are tensors, views, pinned buffers, references to these, numbers, and tuples, arrays and vectors of them; a struct of the \
            program's own needs an `impl GraphOperands`"
)]
pub trait GraphOperands {
    /// Adds all tensors and buffers to the list.
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>);
}

/// The tensors and buffers that the operands of a graph are. It borrows them.
pub struct OperandList<'operands> {
    /// The GPU that the graph is for. What is elsewhere is not listed.
    gpu: Option<usize>,
    operands: Vec<Operand<'operands>>,
}

/// One of them. Each launch compares all: which memory it is stands here, and not only in the memory.
pub(super) struct Operand<'operands> {
    memory: Memory<'operands>,
    identity: Identity,
    access: Access,
}

enum Memory<'operands> {
    OfDevice(&'operands Storage),
    OfHost(&'operands Pinned),
}

impl<'operands> OperandList<'operands> {
    /// The list of the operands on a device that are not empty, about `room` tensors and buffers.
    pub(super) fn of(operands: &'operands mut impl GraphOperands, device: &Device, room: usize) -> Self {
        let gpu = device.as_gpu().map(Gpu::ordinal);
        let mut list = Self { gpu, operands: Vec::with_capacity(room) };
        list.add(operands);
        list
    }

    /// Adds a part of the operands.
    pub fn add(&mut self, operands: &'operands mut (impl GraphOperands + ?Sized)) {
        operands.list(self);
    }

    /// Adds a tensor that launches may only read, for operands that have no more than a reference to what has it.
    pub fn add_read<T: Element, const RANK: usize>(&mut self, tensor: &'operands Tensor<T, RANK>) {
        self.push(Memory::OfDevice(tensor.view().storage), Access::Read);
    }

    fn push(&mut self, memory: Memory<'operands>, access: Access) {
        let identity = memory.identity();
        if memory.gpu() == self.gpu && identity.bytes > 0 {
            self.operands.push(Operand { memory, identity, access });
        }
    }

    pub(super) fn operands(&self) -> &[Operand<'operands>] {
        &self.operands
    }

    /// The first operand that is not the one that was listed before, if there is one.
    pub(super) fn first_difference(&self, listed: &[(Identity, Access)]) -> Option<String> {
        let now = self.operands.len();
        let first =
            self.operands.iter().zip(listed).position(|(operand, listed)| operand.listed() != *listed);
        match first.or((now < listed.len()).then_some(now)) {
            Some(number) => Some(format!(
                "tensor or buffer {} of its operands is not the one that was captured: call `update` after another one was put in its place",
                number + 1
            )),
            None if now == listed.len() => None,
            None => Some(format!(
                "it was captured with {} tensors and buffers as operands, and now has more: call `update`",
                listed.len()
            )),
        }
    }
}

impl Memory<'_> {
    /// The number of the GPU that has it.
    fn gpu(&self) -> Option<usize> {
        let gpu = match self {
            Self::OfDevice(Storage::Gpu(memory)) => memory.gpu(),
            Self::OfHost(Pinned { memory: PinnedMemory::Gpu(pinned) }) => pinned.gpu(),
            Self::OfDevice(Storage::Cpu(_)) | Self::OfHost(Pinned { memory: PinnedMemory::Cpu(_) }) => {
                return None;
            }
        };
        Some(gpu.ordinal())
    }

    fn identity(&self) -> Identity {
        match self {
            Self::OfDevice(storage) => storage.identity(),
            Self::OfHost(pinned) => pinned.identity(),
        }
    }
}

impl<'operands> Operand<'operands> {
    /// Which memory it is, and how the graph may use it.
    pub(super) fn listed(&self) -> (Identity, Access) {
        (self.identity, self.access)
    }

    pub(super) fn gpu_memory(&self) -> Option<&'operands GpuMemory> {
        match self.memory {
            Memory::OfDevice(Storage::Gpu(memory)) => Some(memory),
            _ => None,
        }
    }

    pub(super) fn gpu_pinned(&self) -> Option<&'operands GpuPinned> {
        match self.memory {
            Memory::OfHost(Pinned { memory: PinnedMemory::Gpu(pinned) }) => Some(pinned),
            _ => None,
        }
    }
}

impl<T: Element, const RANK: usize> GraphOperands for Tensor<T, RANK> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        let TensorViewMut { storage, .. } = self.view_mut();
        list.push(Memory::OfDevice(storage), Access::Write);
    }
}

impl<T: Element, const RANK: usize> GraphOperands for &Tensor<T, RANK> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add_read(self);
    }
}

impl<T: Element, const RANK: usize> GraphOperands for Arc<Tensor<T, RANK>> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add_read(self);
    }
}

impl<T: Element, const RANK: usize> GraphOperands for TensorView<'_, T, RANK> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.push(Memory::OfDevice(self.storage), Access::Read);
    }
}

impl<T: Element, const RANK: usize> GraphOperands for TensorViewMut<'_, T, RANK> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.push(Memory::OfDevice(self.storage), Access::Write);
    }
}

impl<T: Element> GraphOperands for PinnedBuffer<T> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.push(Memory::OfHost(&self.pinned), Access::Write);
    }
}

impl<T: Element> GraphOperands for &PinnedBuffer<T> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.push(Memory::OfHost(&self.pinned), Access::Read);
    }
}

impl<O: GraphOperands + ?Sized> GraphOperands for &mut O {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add(&mut **self);
    }
}

impl<O: GraphOperands + ?Sized> GraphOperands for Box<O> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add(&mut **self);
    }
}

impl<O: GraphOperands> GraphOperands for [O] {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        self.iter_mut().for_each(|operands| list.add(operands));
    }
}

impl<O: GraphOperands, const N: usize> GraphOperands for [O; N] {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add(self.as_mut_slice());
    }
}

impl<O: GraphOperands> GraphOperands for Vec<O> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add(self.as_mut_slice());
    }
}

impl<O: GraphOperands> GraphOperands for Option<O> {
    fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
        list.add(self.as_mut_slice());
    }
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl GraphOperands for $number {
            fn list<'operands>(&'operands mut self, _: &mut OperandList<'operands>) {}
        }
    )* };
}

numbers! {
    bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64
    f16 bf16 tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3 f4e2m1x2
}

macro_rules! tuples {
    ($($($part:ident)*;)*) => { $(
        impl<$($part: GraphOperands),*> GraphOperands for ($($part,)*) {
            #[allow(non_snake_case, unused_variables, reason = "each part has its type's name, and there may be none")]
            fn list<'operands>(&'operands mut self, list: &mut OperandList<'operands>) {
                let ($($part,)*) = self;
                $( list.add($part); )*
            }
        }
    )* };
}

tuples! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}
