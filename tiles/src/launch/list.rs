//! Lists of arguments, of which a block takes one by its number.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::aggregate::fits;
use super::{Fingerprint, Parameter, Parts, Single};
use crate::arch::messages::Failure;
use crate::arch::running::Run;
use crate::protocol::ITEM;

/// The longest list.
const MOST_ITEMS: usize = 32;

/// A kernel's argument that is a list of at most `N` others of one type, 32 at most: spans of many tensors that one launch works on.
///
/// A launch is given an array, a `Vec` or a slice of arguments. Each is checked as one of its own. The list is a parameter of the kernel, and
/// no memory of the device is allocated for it. A block [gets](Self::get) items that may be copied. Writable spans it cuts, all of them at
/// once: [`List::partition`].
///
/// ```
/// use cuda_tiles::launch::List;
/// use cuda_tiles::prelude::*;
///
/// /// The sum of each of many tensors. The first axis of the grid counts them.
/// #[kernel]
/// pub fn sum_each(cx: Cx, tensors: List<Span<f32, (u32,)>, 16>, sums: SpanMut<f32, (u32,)>) {
///     let sums = sums.partition(cx, shape![1]);
///     let k = cx.bid::<0>();
///     let tensor = tensors.get(*k).partition(cx, shape![1024]);
///     let mut sum = cx.zeros::<f32>(shape![1024]);
///     for i in 0..tensor.num_tiles(0) {
///         sum += tensor.load_masked(Zero, i);
///     }
///     sums.store(sum.sum::<0>(), k);
/// }
/// ```
pub struct List<P: Parameter, const N: usize> {
    parts: ListParts<P, N>,
    /// The block that the items are lent to.
    run: Run,
    /// Threads may share a list as they may share its items.
    item: PhantomData<P>,
}

/// The parts of a list's items. Behind the last one they are of no value.
#[repr(C)]
pub struct ListParts<P: Parameter, const N: usize> {
    items: [MaybeUninit<Parts<P>>; N],
    len: u32,
}

impl<P: Parameter, const N: usize> Clone for ListParts<P, N> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Parameter, const N: usize> Copy for ListParts<P, N> {}

impl<P: Parameter + Copy, const N: usize> Clone for List<P, N> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Parameter + Copy, const N: usize> Copy for List<P, N> {}

impl<P: Parameter, const N: usize> List<P, N> {
    const IS_SHORT: () = assert!(
        N >= 1 && N <= MOST_ITEMS,
        "a list has 1 to 32 items: for more, launch several times, or put addresses into a tensor"
    );

    /// The list of these items. A launch makes it.
    ///
    /// # Safety
    /// No other argument of the launch has an item of it, unless items are [`Copy`].
    ///
    /// # Errors
    /// The first error of an item.
    ///
    /// # Panics
    /// If there are more than `N` items.
    pub unsafe fn from_items<E>(items: impl IntoIterator<Item = Result<P, E>>) -> Result<Self, E> {
        const { Self::IS_SHORT };
        let mut parts = ListParts { items: [const { MaybeUninit::zeroed() }; N], len: 0 };
        for item in items {
            parts.items[parts.len as usize].write(item?.into_parts());
            parts.len += 1;
        }
        Ok(Self::new(parts))
    }

    #[inline_on_device]
    fn new(parts: ListParts<P, N>) -> Self {
        Self { parts, run: Run::current(), item: PhantomData }
    }

    /// How many items it has.
    #[inline_on_device]
    pub fn len(&self) -> u32 {
        self.parts.len
    }

    /// Whether it has none.
    #[inline_on_device]
    pub fn is_empty(&self) -> bool {
        self.parts.len == 0
    }

    /// Item `index`, the same on every thread: a read-only span, an atomic one, or a number.
    ///
    /// # Panics
    ///
    /// If the list is shorter (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The items are parameters of the kernel, which instructions name and do not count (PTX ISA, "State Spaces: param"). So the code
    /// branches to the item, by a comparison for each bit of the index.
    #[inline_on_device]
    #[track_caller]
    pub fn get(&self, index: u32) -> P
    where
        P: Copy,
    {
        // SAFETY: the item may be made more than once.
        unsafe { self.item("List::get", index.into()) }
    }

    /// Item `index`, for an operation of this name.
    ///
    /// # Safety
    /// Where an item is not [`Copy`], its copies are used as the one item that it is.
    ///
    /// # Panics
    /// If the list is shorter, or belongs to another block.
    #[inline_on_device]
    #[track_caller]
    pub(crate) unsafe fn item(&self, operation: &'static str, index: u64) -> P {
        self.run.assert_lent("a list of a kernel's arguments");
        let len = u64::from(self.len());
        if index >= len {
            let mut failure = Failure::new(operation, ITEM);
            failure.number(len);
            failure.number(index);
            failure.end()
        }
        // SAFETY: items below the length are written, and come from valid arguments; the caller vouches for their copies.
        unsafe { P::from_parts(self.choose(index as u32).assume_init()) }
    }

    /// The parts of an item; of the first one for an index that no list has.
    #[inline_on_device]
    fn choose(&self, index: u32) -> MaybeUninit<Parts<P>> {
        let mut chosen = self.parts.items[0];
        macro_rules! candidates {
            ($($candidate:literal)*) => { $(
                if const { $candidate < N } && index == $candidate {
                    chosen = self.parts.items[const { $candidate % N }];
                }
            )* };
        }
        // No loop: an index that a loop counts would have the list copied to local memory, if the compiler did not unroll it.
        candidates!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        chosen
    }
}

// SAFETY: the part is the list itself, in `repr(C)`: the parts of its items, and their number.
#[diagnostic::do_not_recommend]
unsafe impl<P: Parameter, const N: usize> Parameter for List<P, N> {
    type First = ListParts<P, N>;
    type Second = ();
    type Third = ();
    type Form = Single;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("list").number(N as u64).then(P::FINGERPRINT);
    #[inline_on_device]
    fn into_parts(self) -> Parts<Self> {
        const { fits::<Self::First>() };
        Parts { first: self.parts, second: (), third: () }
    }
    #[inline_on_device]
    unsafe fn from_parts(parts: Parts<Self>) -> Self {
        const { (fits::<Self::First>(), Self::IS_SHORT) };
        Self::new(parts.first)
    }
}
