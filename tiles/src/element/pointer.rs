//! Pointers as elements: addresses of elements in global memory.

use super::{Cast, Comparable, Element};
use crate::sealed::sealed;
use core::marker::PhantomData;

/// The address of an element of type `T` in global memory, or [`Pointer::NULL`].
///
/// A tile of pointers reaches elements that lie anywhere: its loads, stores and atomic operations are `unsafe` methods of
/// [`Tile`](crate::tile::Tile). Pointers come from [`TensorSpan::pointer`](crate::span::TensorSpan::pointer), by distances in
/// elements from other pointers, or as 64-bit numbers from memory (`bitcast` between `u64` and pointers keeps the address).
/// They compare by their addresses. As a `bool`, a pointer is "not null".
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// cpu::block_on(&[1.0f32, 2.0, 3.0, 4.0], [4], |cx, span: Span<f32, (u32,)>| {
///     let first = cx.full(shape![4], span.pointer());
///     let reversed = first.offset(3 - cx.iota::<i32>(shape![4]));
///     assert_eq!(reversed.offset_from(first).at([0]), 3);
///     assert!(reversed.eq(first).at([3]) && !reversed.eq(Pointer::NULL).at([0]));
///     assert!(reversed.gt(first).at([0]) && reversed.le(first).at([3]));
///     // SAFETY: the offsets 0 to 3 lie inside the tensor, which nothing writes.
///     assert_eq!(unsafe { reversed.load() }.at([1]), 3.0);
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Pointer<T> {
    address: u64,
    pointee: PhantomData<T>,
}

impl<T: Element> Pointer<T> {
    /// The pointer to nothing.
    pub const NULL: Self = Self::from_address(0);

    /// The pointer to the element at `address`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// let pointer = Pointer::<f32>::from_address(0x1000);
    /// assert_eq!(pointer.offset(-2).address(), 0xff8);
    /// assert_eq!(pointer.offset(3).offset_from(pointer), 3);
    /// ```
    #[doc(alias("int_to_ptr"))]
    pub const fn from_address(address: u64) -> Self {
        Self { address, pointee: PhantomData }
    }

    /// The address.
    #[doc(alias("ptr_to_int"))]
    pub const fn address(self) -> u64 {
        self.address
    }

    /// The pointer `count` elements further.
    ///
    /// It wraps around the address space. [`from_address`](Self::from_address) has an example.
    #[inline_on_device]
    pub const fn offset(self, count: i64) -> Self {
        Self::from_address(self.address.wrapping_add_signed(count.wrapping_mul(size_of::<T::Bits>() as i64)))
    }

    /// The number of elements from `origin` to this pointer.
    ///
    /// A distance that is no multiple of an element is rounded toward zero. [`from_address`](Self::from_address) has an example.
    #[inline_on_device]
    pub const fn offset_from(self, origin: Self) -> i64 {
        self.address.wrapping_sub(origin.address) as i64 / size_of::<T::Bits>() as i64
    }

    /// From an address of memory that kernels may use.
    #[inline_on_device]
    pub(crate) fn new(pointer: *mut T::Bits) -> Self {
        Self::from_address(pointer.expose_provenance() as u64)
    }

    /// For access to the memory there.
    #[inline_on_device]
    pub(crate) fn get(self) -> *mut T::Bits {
        core::ptr::with_exposed_provenance_mut(self.address as usize)
    }
}

sealed! { [T] Pointer<T>; }

impl<T: Element> Element for Pointer<T> {
    type Bits = u64;
    const ZERO: Self = Self::NULL;
    const NAME: &'static str = "pointer";
    #[inline_on_device]
    fn to_bits(self) -> u64 {
        self.address
    }
    #[inline_on_device]
    fn from_bits(bits: u64) -> Self {
        Self::from_address(bits)
    }
}

impl<T: Element> Cast<bool> for Pointer<T> {
    #[inline_on_device]
    fn cast(self) -> bool {
        self.address != 0
    }
}

impl<T: Element> Comparable for Pointer<T> {
    const LOWEST: Self = Self::NULL;
    const HIGHEST: Self = Self::from_address(u64::MAX);
    #[inline_on_device]
    fn less(self, other: Self) -> bool {
        self.address < other.address
    }
}
