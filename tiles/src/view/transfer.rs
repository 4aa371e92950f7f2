//! Moving a few neighbouring elements between registers and global memory by one access.

use crate::arch::{VECTOR_BYTES, execution, global};
use crate::context::barrier;
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::span::Access;
use crate::tile::Tile;

/// Room for the widest access, seen as words or as elements.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Words(pub(crate) [u32; VECTOR_BYTES / 4]);

impl Words {
    /// How many elements they have room for: a power of two, as elements have 1, 2, 4 or 8 bytes.
    const fn room<T: Element>() -> usize {
        VECTOR_BYTES / size_of::<T::Bits>()
    }

    /// Zero bits.
    pub(crate) const ZERO: Self = Self([0; VECTOR_BYTES / 4]);

    /// `count` elements, `element(0)` first, as far as there is room; the rest is zero.
    #[inline_on_device]
    pub(crate) fn from_elements<T: Element>(count: usize, mut element: impl FnMut(usize) -> T) -> Self {
        let mut words = Self([0; VECTOR_BYTES / 4]);
        let first = core::ptr::from_mut(&mut words).cast::<T::Bits>();
        debug_assert!(count <= Self::room::<T>());
        let count = count.min(Self::room::<T>());
        let mut k = 0;
        while k < count {
            // SAFETY: there is room for `count` elements, and 16-byte alignment serves all.
            unsafe { first.add(k).write(element(k).to_bits()) };
            k += 1;
        }
        words
    }

    /// Element `k`, below the count it was filled with.
    #[inline_on_device]
    pub(crate) fn element<T: Element>(&self, k: usize) -> T {
        debug_assert!(k < Self::room::<T>());
        let within = k & (Self::room::<T>() - 1);
        // SAFETY: `within` lies within the words, all of which are initialised; any bits are valid `Bits`.
        T::from_bits(unsafe { core::ptr::from_ref(self).cast::<T::Bits>().add(within).read() })
    }

    /// As [`element`](Self::element), for the two elements of 16 bits in the first word, but the compiler does not see that the element is
    /// a part of a word. It would compute with the word in its place, where the word was loaded.
    ///
    /// *Measured* on an H200: a block that loads three tiles of `bf16` waited for the first two before it loaded the third, and 1 x 8192
    /// times 8192 x 2048 took 16.4 us, with `f16` 13.4. *Refused* for vectors of several words, whose elements then have registers of their
    /// own from the start: 216 bytes of `norm_gradient_bf16_Anywhere_4096` go through local memory.
    #[inline_on_device]
    pub(crate) fn half<T: Element>(&self, k: usize) -> T {
        let half = execution::halves(self.0[0])[k];
        // SAFETY: `transmute_copy` reads no more than the half, and any bits are valid `Bits`.
        T::from_bits(unsafe { core::mem::transmute_copy(&half) })
    }
}

/// How a load may go about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cache {
    /// Other threads of the block may have written the memory.
    Ordinary,
    /// Nothing writes it while the kernel runs.
    Constant,
}

macro_rules! by_size {
    ($bytes:expr, $unsupported:expr; $($size:literal => $result:expr,)*) => {
        match $bytes {
            $($size => $result,)*
            _ => $unsupported,
        }
    };
}

/// Loads `count` elements at `address` and hands them on as `take(k, element)`; with a false `condition` it hands
/// on `padding` without touching memory.
///
/// # Safety
/// `count` elements take 1, 2, 4, 8 or 16 bytes. Unless `condition` is `Some(false)`, they are valid for reads and
/// aligned to their size altogether; with [`Cache::Constant`] nothing writes them during the kernel.
#[inline_on_device]
pub(crate) unsafe fn load<T: Element>(
    address: *const T::Bits,
    count: usize,
    cache: Cache,
    condition: Option<bool>,
    padding: T,
    mut take: impl FnMut(usize, T),
) {
    let otherwise =
        if condition.is_some() { Words::from_elements(count, |_| padding) } else { Words([0; 4]) };
    // SAFETY: the same contract.
    let words =
        unsafe { load_words(address.cast(), count * size_of::<T::Bits>(), cache, condition, otherwise) };
    let mut k = 0;
    while k < count {
        take(k, words.element(k));
        k += 1;
    }
}

/// A tile whose registers are loaded by `vector` at a time, those for which `condition` is not `Some(false)`; the others are `padding`.
/// `address(i)` is the address of the element of register `i`.
///
/// # Safety
/// `vector` elements take 1, 2, 4, 8 or 16 bytes. The elements of registers `i..i + vector` are neighbours in memory. Vectors that are
/// loaded are valid for reads and aligned; with [`Cache::Constant`] nothing writes them during the kernel.
#[inline_on_device]
pub(super) unsafe fn load_vectors<T: Element, S: Shape, B: Block>(
    address: impl Fn(usize) -> *mut T::Bits,
    vector: usize,
    cache: Cache,
    condition: impl Fn(usize) -> Option<bool>,
    padding: T,
) -> Tile<T, S, Blocked<B>> {
    let mut registers = Registers::from_fn(|_| padding);
    <<Blocked<B> as Layout>::Registers<S>>::unroll(0, vector, &mut |i| {
        // SAFETY: the same contract.
        unsafe {
            load(address(i), vector, cache, condition(i), padding, |k, element| registers.set(i + k, element))
        }
    });
    Tile::from_registers(registers)
}

/// The `bytes` bytes at `address`; with a false `condition`, `otherwise`.
///
/// # Safety
/// As for [`load`].
#[inline_on_device]
pub(super) unsafe fn load_words(
    address: *const u8,
    bytes: usize,
    cache: Cache,
    condition: Option<bool>,
    otherwise: Words,
) -> Words {
    let Words([a, b, c, d]) = otherwise;
    // SAFETY: the caller's contract is that of the access of this size, under this condition.
    Words(unsafe {
        match (cache, condition) {
            (Cache::Ordinary, None) => by_size!(bytes, [0; 4];
                1 => [u32::from(global::load_1(address)), 0, 0, 0],
                2 => [u32::from(global::load_2(address)), 0, 0, 0],
                4 => [global::load_4(address), 0, 0, 0],
                8 => pair(global::load_8(address)),
                16 => global::load_16(address),),
            (Cache::Constant, None) => by_size!(bytes, [0; 4];
                1 => [u32::from(global::load_constant_1(address)), 0, 0, 0],
                2 => [u32::from(global::load_constant_2(address)), 0, 0, 0],
                4 => [global::load_constant_4(address), 0, 0, 0],
                8 => pair(global::load_constant_8(address)),
                16 => global::load_constant_16(address),),
            (Cache::Ordinary, Some(condition)) => by_size!(bytes, [0; 4];
                1 => [u32::from(global::load_1_if(condition, address, a as u8)), 0, 0, 0],
                2 => [u32::from(global::load_2_if(condition, address, a as u16)), 0, 0, 0],
                4 => [global::load_4_if(condition, address, a), 0, 0, 0],
                8 => pair(global::load_8_if(condition, address, [a, b])),
                16 => global::load_16_if(condition, address, [a, b, c, d]),),
            (Cache::Constant, Some(condition)) => by_size!(bytes, [0; 4];
                1 => [u32::from(global::load_constant_1_if(condition, address, a as u8)), 0, 0, 0],
                2 => [u32::from(global::load_constant_2_if(condition, address, a as u16)), 0, 0, 0],
                4 => [global::load_constant_4_if(condition, address, a), 0, 0, 0],
                8 => pair(global::load_constant_8_if(condition, address, [a, b])),
                16 => global::load_constant_16_if(condition, address, [a, b, c, d]),),
        }
    })
}

#[inline_on_device]
fn pair([low, high]: [u32; 2]) -> [u32; 4] {
    [low, high, 0, 0]
}

/// Stores `count` elements, `element(0)` first, at `address`, unless `condition` is `Some(false)`.
///
/// # Safety
/// `count` elements take 1, 2, 4, 8 or 16 bytes. Unless `condition` is `Some(false)`, they are valid for writes,
/// aligned to their size altogether, and not accessed concurrently.
#[inline_on_device]
pub(crate) unsafe fn store<T: Element>(
    address: *mut T::Bits,
    count: usize,
    condition: Option<bool>,
    element: impl FnMut(usize) -> T,
) {
    // SAFETY: the same contract.
    unsafe {
        store_words(
            address.cast(),
            count * size_of::<T::Bits>(),
            condition,
            Words::from_elements(count, element),
        )
    }
}

/// Stores the first `bytes` bytes of `words` at `address`, unless `condition` is `Some(false)`.
///
/// # Safety
/// As for [`store`].
#[inline_on_device]
pub(super) unsafe fn store_words(address: *mut u8, bytes: usize, condition: Option<bool>, words: Words) {
    let Words([a, b, c, d]) = words;
    // SAFETY: the caller's contract is that of the access of this size, under this condition.
    unsafe {
        match condition {
            None => by_size!(bytes, ();
                1 => global::store_1(address, a as u8),
                2 => global::store_2(address, a as u16),
                4 => global::store_4(address, a),
                8 => global::store_8(address, [a, b]),
                16 => global::store_16(address, [a, b, c, d]),),
            Some(condition) => by_size!(bytes, ();
                1 => global::store_1_if(condition, address, a as u8),
                2 => global::store_2_if(condition, address, a as u16),
                4 => global::store_4_if(condition, address, a),
                8 => global::store_8_if(condition, address, [a, b]),
                16 => global::store_16_if(condition, address, [a, b, c, d]),),
        }
    }
}

/// Runs a load between two barriers where the block may also store: it sees the stores before it, and the stores after
/// it do not overtake it.
#[inline_on_device]
pub(super) fn ordered<B: Block, A: Access, R>(load: impl FnOnce() -> R) -> R {
    if !A::OWNED {
        return load();
    }
    // SAFETY: operations on memory run on all threads of the block alike (the execution model of `Cx`).
    unsafe { barrier::<B>() };
    let loaded = load();
    // SAFETY: as above.
    unsafe { barrier::<B>() };
    loaded
}
