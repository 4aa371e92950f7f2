//! The memory of a kernel's tensors, as bits.

use cuda_tiles::prelude::{bf16, f16};
use cuda_tiles_fuzz::element::Element;
use cuda_tiles_fuzz::interpret;
use cuda_tiles_fuzz::program::Program;
use cuda_tiles_host::{Device, Result, Tensor};

/// The elements in the memory of each tensor, and around them.
pub struct Memory {
    bits: Vec<Vec<u64>>,
}

impl Memory {
    /// The memory before a launch.
    pub fn before(program: &Program) -> Self {
        Self { bits: program.arguments.iter().map(interpret::memory).collect() }
    }

    /// What argument `number` has.
    pub fn bits(&self, number: usize) -> &[u64] {
        &self.bits[number]
    }

    /// A vector with the memory of argument `number`.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn tensor<T: Bits>(&self, device: &Device, number: usize) -> Result<Tensor<T, 1>> {
        let elements: Vec<T> = self.bits[number].iter().map(|&bits| T::of(bits)).collect();
        Tensor::from_slice(device, [elements.len()], &elements)
    }

    /// Keeps what the vector of argument `number` holds, after the kernel has ended.
    ///
    /// # Errors
    /// If the kernel failed.
    pub fn keep<T: Bits>(&mut self, number: usize, tensor: &Tensor<T, 1>) -> Result<()> {
        self.bits[number] = tensor.to_vec()?.into_iter().map(T::bits).collect();
        Ok(())
    }
}

/// Elements as bits.
pub trait Bits: cuda_tiles::element::Element {
    /// The type, as the interpreter knows it.
    const ELEMENT: Element;
    /// The element that has these bits.
    fn of(bits: u64) -> Self;
    /// Its bits.
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($type:ident $unsigned:ident $element:ident;)*) => { $(
        impl Bits for $type {
            const ELEMENT: Element = Element::$element;
            fn of(bits: u64) -> Self {
                bits as $type
            }
            fn bits(self) -> u64 {
                u64::from(self as $unsigned)
            }
        }
    )* };
}
integers! { i8 u8 I8; i16 u16 I16; i32 u32 I32; i64 u64 I64; u8 u8 U8; u16 u16 U16; u32 u32 U32; u64 u64 U64; }

macro_rules! floats {
    ($($type:ident $unsigned:ident $element:ident;)*) => { $(
        impl Bits for $type {
            const ELEMENT: Element = Element::$element;
            fn of(bits: u64) -> Self {
                $type::from_bits(bits as $unsigned)
            }
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
        }
    )* };
}
floats! { f16 u16 F16; bf16 u16 Bf16; f32 u32 F32; f64 u64 F64; }

impl Bits for bool {
    const ELEMENT: Element = Element::Bool;
    fn of(bits: u64) -> Self {
        bits != 0
    }
    fn bits(self) -> u64 {
        u64::from(self)
    }
}
