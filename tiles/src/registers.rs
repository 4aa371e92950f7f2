//! Powers of two as types, and the register fragment whose length is such a type.
//!
//! A tile is spread over the threads of a block; how many elements each thread holds follows from the
//! tile's shape and the block's size by arithmetic on types. The algebra here is *closed*: every operation
//! is a total associated type, so that generic code never needs a where-clause to divide one length by
//! another. The numbers are typenum's, the trait is implemented structurally over their bits.

use crate::sealed::Sealed;
use core::mem::MaybeUninit;
use typenum::{B0, U1, UInt, Unsigned};

/// A power of two, as a type.
///
/// # Safety
/// `COUNT` is a power of two. `Array<T>` must have the size and alignment of `[T; Self::COUNT]`, with elements in order.
#[diagnostic::on_unimplemented(
    message = "a tile dimension must be a power of two",
    label = "not a power of two",
    note = "tile dimensions are static powers of two: 1, 2, 4, ... 16777216"
)]
pub unsafe trait PowerOfTwo: Sealed + Unsigned + Copy + Default + Send + Sync + 'static {
    /// The number.
    const COUNT: usize;
    /// Its base-2 logarithm.
    const LOG: u32;
    /// Half of it; one half of 1 is 1.
    type Half: PowerOfTwo;
    /// Storage for this many elements.
    type Array<T: Copy + 'static>: Copy;
    /// `X / Self`, at least 1.
    type Divides<X: PowerOfTwo>: PowerOfTwo;
    /// `Self * X`.
    type Times<X: PowerOfTwo>: PowerOfTwo;
    /// The smaller of both.
    type Minimum<X: PowerOfTwo>: PowerOfTwo;
    /// The smaller of `Self` and `2 * H`: the step of [`PowerOfTwo::Minimum`]'s recursion.
    type MinimumDouble<H: PowerOfTwo>: PowerOfTwo;
    /// The larger of both.
    type Maximum<X: PowerOfTwo>: PowerOfTwo;
    /// The larger of `Self` and `2 * H`.
    type MaximumDouble<H: PowerOfTwo>: PowerOfTwo;
    /// `Then` if `Self` equals `X`, else `Else`.
    type IfEqual<X: PowerOfTwo, Then: PowerOfTwo, Else: PowerOfTwo>: PowerOfTwo;
    /// `Then` if `Self` is 1: the base of [`PowerOfTwo::IfEqual`]'s recursion.
    type IfOne<Then: PowerOfTwo, Else: PowerOfTwo>: PowerOfTwo;
    /// `Then` if `Self` equals `2 * H`: its step.
    type IfDouble<H: PowerOfTwo, Then: PowerOfTwo, Else: PowerOfTwo>: PowerOfTwo;
    /// Calls `visit` with `base`, `base + step`, ... below `base + COUNT`, as straight-line code where the back
    /// end keeps tiles in registers. `step` is a power of two.
    fn unroll<F: FnMut(usize)>(base: usize, step: usize, visit: &mut F);
    /// Calls `visit` with `LOG - 1`, ... 1, 0, as straight-line code.
    fn bits_downward<F: FnMut(u32)>(visit: &mut F);
}

// SAFETY: `[T; 1]` is the array of one element.
unsafe impl PowerOfTwo for U1 {
    const COUNT: usize = 1;
    const LOG: u32 = 0;
    type Half = U1;
    type Array<T: Copy + 'static> = [T; 1];
    type Divides<X: PowerOfTwo> = X;
    type Times<X: PowerOfTwo> = X;
    type Minimum<X: PowerOfTwo> = U1;
    type MinimumDouble<H: PowerOfTwo> = U1;
    type Maximum<X: PowerOfTwo> = X;
    type MaximumDouble<H: PowerOfTwo> = UInt<H, B0>;
    type IfEqual<X: PowerOfTwo, Then: PowerOfTwo, Else: PowerOfTwo> = X::IfOne<Then, Else>;
    type IfOne<Then: PowerOfTwo, Else: PowerOfTwo> = Then;
    type IfDouble<H: PowerOfTwo, Then: PowerOfTwo, Else: PowerOfTwo> = Else;
    #[inline_on_device]
    fn unroll<F: FnMut(usize)>(base: usize, _step: usize, visit: &mut F) {
        visit(base)
    }
    #[inline_on_device]
    fn bits_downward<F: FnMut(u32)>(_visit: &mut F) {}
}

// SAFETY: by induction `U::Array<T>` is laid out as `[T; U::COUNT]`; an array of two of them is contiguous
// (Reference, "Array layout"), hence laid out as `[T; 2 * U::COUNT]`.
unsafe impl<U: PowerOfTwo> PowerOfTwo for UInt<U, B0> {
    const COUNT: usize = 2 * U::COUNT;
    const LOG: u32 = 1 + U::LOG;
    type Half = U;
    type Array<T: Copy + 'static> = [U::Array<T>; 2];
    type Divides<X: PowerOfTwo> = U::Divides<X::Half>;
    type Times<X: PowerOfTwo> = UInt<U::Times<X>, B0>;
    type Minimum<X: PowerOfTwo> = X::MinimumDouble<U>;
    type MinimumDouble<H: PowerOfTwo> = UInt<H::Minimum<U>, B0>;
    type Maximum<X: PowerOfTwo> = X::MaximumDouble<U>;
    type MaximumDouble<H: PowerOfTwo> = UInt<H::Maximum<U>, B0>;
    type IfEqual<X: PowerOfTwo, Then: PowerOfTwo, Else: PowerOfTwo> = X::IfDouble<U, Then, Else>;
    type IfOne<Then: PowerOfTwo, Else: PowerOfTwo> = Else;
    type IfDouble<H: PowerOfTwo, Then: PowerOfTwo, Else: PowerOfTwo> = H::IfEqual<U, Then, Else>;
    #[inline_on_device]
    fn unroll<F: FnMut(usize)>(base: usize, step: usize, visit: &mut F) {
        if !crate::arch::TILES_IN_REGISTERS {
            for index in (base..base + Self::COUNT).step_by(step) {
                visit(index)
            }
        } else if Self::COUNT <= step {
            visit(base)
        } else {
            U::unroll(base, step, visit);
            U::unroll(base + U::COUNT, step, visit)
        }
    }
    #[inline_on_device]
    fn bits_downward<F: FnMut(u32)>(visit: &mut F) {
        visit(U::LOG);
        U::bits_downward(visit)
    }
}

/// `X / D`, at least 1.
pub(crate) type Quotient<X, D> = <D as PowerOfTwo>::Divides<X>;
/// `A * B`.
pub(crate) type Product<A, B> = <A as PowerOfTwo>::Times<B>;
/// The smaller of both.
pub(crate) type Minimum<A, B> = <A as PowerOfTwo>::Minimum<B>;
/// `Then` if `A` equals `B`, else `Else`.
pub(crate) type IfEqual<A, B, Then, Else> = <A as PowerOfTwo>::IfEqual<B, Then, Else>;
/// The larger of both.
pub(crate) type Maximum<A, B> = <A as PowerOfTwo>::Maximum<B>;

/// The part of a tile that one thread holds: `N` values of `T`.
///
/// Nested arrays accessed by recursive unrolling stay in registers under LLVM's default settings; a loop
/// over `[T; N]` goes to local memory from 32 elements on.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Registers<T: Copy + 'static, N: PowerOfTwo>(N::Array<T>);

impl<T: Copy + 'static, N: PowerOfTwo> Registers<T, N> {
    /// The values `make(0)`, `make(1)`, ...
    #[inline_on_device]
    pub(crate) fn from_fn(mut make: impl FnMut(usize) -> T) -> Self {
        let mut values = MaybeUninit::<Self>::uninit();
        let first = values.as_mut_ptr().cast::<T>();
        N::unroll(0, 1, &mut |index| {
            // SAFETY: `Self` is laid out as `[T; N::COUNT]` and `unroll` visits 0..N::COUNT.
            unsafe { first.add(index).write(make(index)) }
        });
        // SAFETY: `unroll` visited every index once, so that every element is written.
        unsafe { values.assume_init() }
    }

    /// The number of a register, which is below `N::COUNT` whatever `index` is: `index` itself if that is a register's. Register
    /// numbers are constants where tiles are in registers, and elsewhere a mask costs less than a branch.
    #[inline_on_device]
    const fn number(index: usize) -> usize {
        debug_assert!(index < N::COUNT);
        index & (N::COUNT - 1)
    }

    /// The value of register `index`, which is below `N::COUNT`.
    #[inline_on_device]
    pub(crate) fn get(&self, index: usize) -> T {
        // SAFETY: `Self` is laid out as `[T; N::COUNT]`, and `number` is below that.
        unsafe { *core::ptr::from_ref(self).cast::<T>().add(Self::number(index)) }
    }

    /// All values.
    #[inline_on_device]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `Self` is laid out as `[T; N::COUNT]`.
        unsafe { core::slice::from_raw_parts(core::ptr::from_ref(self).cast(), N::COUNT) }
    }

    /// All values, to be changed.
    #[inline_on_device]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above; the borrow is exclusive.
        unsafe { core::slice::from_raw_parts_mut(core::ptr::from_mut(self).cast(), N::COUNT) }
    }

    /// Sets register `index`, which is below `N::COUNT`.
    #[inline_on_device]
    pub(crate) fn set(&mut self, index: usize, value: T) {
        // SAFETY: as in `get`.
        unsafe { *core::ptr::from_mut(self).cast::<T>().add(Self::number(index)) = value }
    }
}
