//! Printing and asserting from kernels.

use super::format::{self, Message, Value};
use crate::arch::{self, execution, messages};
use crate::context::{BlockIndex, Cx, barrier};
use crate::element::Element;
use crate::layout::{Block, Layout, Map};
use crate::protocol;
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::{Shape, ShapeDescription};
use crate::tile::Tile;

/// What can be printed: tiles, scalars of an element type, and block indices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed from a kernel",
    label = "not a tile and not a number",
    note = "`tile_print!` takes tiles, numbers of an element type such as u32 or f32, and block indices"
)]
pub trait Printable: Value {
    /// Words in a record: a description, and the elements.
    #[doc(hidden)]
    const WORDS: u32;
    /// Writes what this thread has of the elements to the ring, from word `position` on.
    ///
    /// # Safety
    /// As `messages::store`, for [`Printable::WORDS`] words; all threads of the block do it alike.
    #[doc(hidden)]
    unsafe fn store(&self, position: u32);
}

/// Words of one element.
const fn words<T: Element>() -> u32 {
    if size_of::<T::Bits>() > 4 { 2 } else { 1 }
}

/// The bits of an element as a number.
#[inline_on_device]
fn bits<T: Element>(element: T) -> u64 {
    let bits = element.to_bits();
    let source = core::ptr::from_ref(&bits).cast::<u8>();
    // SAFETY: bits are plain integers of this size.
    unsafe {
        match size_of::<T::Bits>() {
            1 => u64::from(source.read()),
            2 => u64::from(source.cast::<u16>().read()),
            4 => u64::from(source.cast::<u32>().read()),
            _ => source.cast::<u64>().read(),
        }
    }
}

/// The description of a value in one word: the code of its type, its rank, its dimensions' logarithms, and whether an
/// element takes two words.
pub(super) const fn description(kind: u32, shape: &ShapeDescription, words: u32) -> u32 {
    let [a, b, c, d] = shape.log;
    kind | (shape.rank as u32) << 6 | a << 9 | b << 14 | c << 19 | d << 24 | (words - 1) << 29
}

/// The type and shape of a description, and whether an element takes two words.
pub(super) const fn described(word: u32) -> (u32, ShapeDescription, bool) {
    let log = [word >> 9 & 31, word >> 14 & 31, word >> 19 & 31, word >> 24 & 31];
    (word & 63, ShapeDescription { rank: (word >> 6 & 7) as usize, log }, word >> 29 != 0)
}

/// # Safety
/// As [`messages::store`].
#[inline_on_device]
unsafe fn store_element<T: Element>(position: u32, element: T) {
    let bits = bits(element);
    // SAFETY: the same contract.
    unsafe {
        messages::store(position, bits as u32);
        if const { words::<T>() == 2 } {
            messages::store(position.wrapping_add(1), (bits >> 32) as u32);
        }
    }
}

const SCALAR: ShapeDescription = ShapeDescription { rank: 0, log: [0; 4] };

impl<T: Element> Value for T {
    fn kind(&self) -> u32 {
        const { format::kind(T::NAME) }
    }
    fn shape(&self) -> ShapeDescription {
        SCALAR
    }
    fn bits(&self, _flat: usize) -> u64 {
        bits(*self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> Printable for T {
    const WORDS: u32 = 1 + words::<T>();
    #[inline_on_device]
    unsafe fn store(&self, position: u32) {
        if execution::thread() == 0 {
            // SAFETY: the same contract; one thread stores.
            unsafe {
                messages::store(
                    position,
                    const { description(format::kind(T::NAME), &SCALAR, words::<T>()) },
                );
                store_element(position.wrapping_add(1), *self);
            }
        }
    }
}

impl<const AXIS: usize> Value for BlockIndex<AXIS> {
    fn kind(&self) -> u32 {
        (**self).kind()
    }
    fn shape(&self) -> ShapeDescription {
        SCALAR
    }
    fn bits(&self, _flat: usize) -> u64 {
        u64::from(**self)
    }
}

impl<const AXIS: usize> Printable for BlockIndex<AXIS> {
    const WORDS: u32 = <u32 as Printable>::WORDS;
    #[inline_on_device]
    unsafe fn store(&self, position: u32) {
        // SAFETY: the same contract.
        unsafe { Printable::store(&**self, position) }
    }
}

impl<T: Element, S: Shape, L: Layout> Value for Tile<T, S, L> {
    fn kind(&self) -> u32 {
        const { format::kind(T::NAME) }
    }
    fn shape(&self) -> ShapeDescription {
        S::DESCRIPTION
    }
    /// Only asked for on the CPU, where register `i` is element `i`; a GPU's thread says nothing of its own elements.
    fn bits(&self, flat: usize) -> u64 {
        if arch::TILES_IN_REGISTERS || flat >= S::LEN { 0 } else { bits(self.registers().get(flat)) }
    }
}

impl<T: Element, S: Shape, L: Layout> Printable for Tile<T, S, L> {
    const WORDS: u32 = 1 + words::<T>() * S::LEN as u32;
    #[inline_on_device]
    unsafe fn store(&self, position: u32) {
        let thread = execution::thread();
        let map = const { &Map::<L, S>::MAP };
        let own = Map::<L, S>::MAP.of_thread.apply(thread);
        if thread == 0 {
            // SAFETY: the same contract; one thread stores the word.
            unsafe {
                messages::store(
                    position,
                    const { description(format::kind(T::NAME), &S::DESCRIPTION, words::<T>()) },
                )
            };
        }
        // Of threads that hold copies of an element one stores it.
        if thread & const { Map::<L, S>::MAP.replicas } == 0 {
            <L::Registers<S>>::unroll(0, 1, &mut |i| {
                let flat = (own | map.of_register.apply(i)) as u32;
                let place = position.wrapping_add(1 + flat * const { words::<T>() });
                // SAFETY: the same contract.
                unsafe { store_element(place, self.registers().get(i)) }
            });
        }
    }
}

/// The arguments of a text: a list of [`Printable`]s, `(a, (b, ()))`.
pub trait Arguments: Sealed {
    /// Words in a record.
    const WORDS: u32;
    /// Hands argument `number` to `take`, if there is one.
    fn hand(&self, number: usize, take: &mut dyn FnMut(&dyn Value));
    /// Writes all of them to the ring.
    ///
    /// # Safety
    /// As [`Printable::store`].
    unsafe fn store(&self, position: u32);
}

impl Arguments for () {
    const WORDS: u32 = 0;
    fn hand(&self, _number: usize, _take: &mut dyn FnMut(&dyn Value)) {}
    #[inline_on_device]
    unsafe fn store(&self, _position: u32) {}
}

impl<A: Printable, R: Arguments> Arguments for (A, R) {
    const WORDS: u32 = A::WORDS + R::WORDS;
    fn hand(&self, number: usize, take: &mut dyn FnMut(&dyn Value)) {
        match number.checked_sub(1) {
            None => take(&self.0),
            Some(number) => self.1.hand(number, take),
        }
    }
    #[inline_on_device]
    unsafe fn store(&self, position: u32) {
        // SAFETY: the same contract: the words of the list are those of its first argument and then of the rest.
        unsafe {
            self.0.store(position);
            self.1.store(position.wrapping_add(A::WORDS));
        }
    }
}

/// What `tile_print!` does.
#[doc(hidden)]
#[inline_on_device]
pub fn print<B: Block, A: Arguments>(cx: Cx<B>, text: &'static str, arguments: A) {
    if messages::SHOWN_BY_HOST {
        // Where it finds no room the ring counts it as lost.
        let _ = send(cx, text, &arguments, 0);
    } else {
        messages::show(&Message { text, arguments: &|number, take| arguments.hand(number, take) });
    }
}

/// Writes a message to the ring, and tells its position; `None` if there is no room.
#[inline_on_device]
fn send<B: Block, A: Arguments>(_cx: Cx<B>, text: &'static str, arguments: &A, flags: u32) -> Option<u32> {
    let thread = execution::thread();
    let text_words = text.len().div_ceil(4) as u32;
    let words = protocol::HEAD_WORDS + text_words + A::WORDS;
    let scratch = arch::shared::scratch::<16>();
    // SAFETY: the context stands for the block, all threads of which are here; the scratch is free after the first barrier, and
    // one thread writes it before the second. Words of the ring are each written by one thread, between claiming and
    // publishing, for which all threads have fenced what they wrote and met.
    unsafe {
        barrier::<B>();
        if thread == 0 {
            let position = messages::claim(words);
            arch::shared::store_u32(scratch, u32::from(position.is_some()));
            arch::shared::store_u32(scratch + 4, position.unwrap_or(0));
        }
        barrier::<B>();
        if arch::shared::load_u32(scratch) == 0 {
            return None;
        }
        let position = arch::shared::load_u32(scratch + 4);
        let at = |word: u32| position.wrapping_add(word);
        if thread == 0 {
            messages::store(at(1), text.len() as u32);
        }
        let mut word = thread as u32;
        while word < text_words {
            let mut bytes = [0; 4];
            for (k, byte) in bytes.iter_mut().enumerate() {
                *byte = text.as_bytes().get(4 * word as usize + k).copied().unwrap_or(0);
            }
            messages::store(at(protocol::HEAD_WORDS + word), u32::from_le_bytes(bytes));
            word += <B::Threads as PowerOfTwo>::COUNT as u32;
        }
        arguments.store(at(protocol::HEAD_WORDS + text_words));
        messages::fence();
        barrier::<B>();
        if thread == 0 {
            messages::publish(position, words | flags);
        }
        Some(position)
    }
}

/// What can be asserted: a mask, all of whose elements must be true, or a `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition that `tile_assert!` can check",
    label = "expected a tile of bool, or a bool",
    note = "compare first: `tile_assert!(cx, x.lt(limit))`"
)]
pub trait Condition: Sealed {
    /// The shape of the mask.
    #[doc(hidden)]
    const SHAPE: ShapeDescription;
    /// The row-major number of the first false element of this thread; `u32::MAX` if there is none.
    ///
    /// # Safety
    /// The number differs between threads: the caller combines those of all threads before it branches.
    #[doc(hidden)]
    unsafe fn first_false(&self) -> u32;
}

impl Condition for bool {
    const SHAPE: ShapeDescription = SCALAR;
    #[inline_on_device]
    unsafe fn first_false(&self) -> u32 {
        if *self { u32::MAX } else { 0 }
    }
}

impl<S: Shape, L: Layout> Condition for Tile<bool, S, L> {
    const SHAPE: ShapeDescription = S::DESCRIPTION;
    #[inline_on_device]
    unsafe fn first_false(&self) -> u32 {
        let own = Map::<L, S>::MAP.of_thread.apply(execution::thread());
        let map = const { &Map::<L, S>::MAP };
        let mut first = u32::MAX;
        <L::Registers<S>>::unroll(0, 1, &mut |i| {
            let flat = (own | map.of_register.apply(i)) as u32;
            if !self.registers().get(i) && flat < first {
                first = flat;
            }
        });
        first
    }
}

/// The least of the block's values, on every thread.
#[inline_on_device]
fn block_minimum<B: Block>(_cx: Cx<B>, mut value: u32) -> u32 {
    let threads = const { <B::Threads as PowerOfTwo>::COUNT };
    if threads == 1 {
        return value;
    }
    let mut mask = 1;
    while mask < 32 {
        // SAFETY: blocks of a GPU are whole warps, all of whose threads are here.
        value = value.min(unsafe { execution::exchange(value, mask) });
        mask *= 2;
    }
    let scratch = arch::shared::scratch::<128>();
    let thread = execution::thread();
    // SAFETY: all threads are here; the scratch is free after the first barrier; each warp writes its own word.
    unsafe {
        barrier::<B>();
        if thread.is_multiple_of(32) {
            arch::shared::store_u32(scratch + (thread / 32 * 4) as u32, value);
        }
        barrier::<B>();
        let mut warp = 0;
        while warp < threads / 32 {
            value = value.min(arch::shared::load_u32(scratch + 4 * warp as u32));
            warp += 1;
        }
    }
    value
}

/// What `tile_assert!` does.
#[doc(hidden)]
#[inline_on_device]
#[track_caller]
pub fn assert<B: Block, C: Condition, A: Arguments>(
    cx: Cx<B>,
    condition: C,
    text: &'static str,
    arguments: impl FnOnce() -> A,
) {
    // SAFETY: combined by the least.
    let first = block_minimum(cx, unsafe { condition.first_false() });
    if first == u32::MAX {
        return;
    }
    let arguments = arguments();
    let coordinate = |axis| C::SHAPE.coordinate(first as usize, axis) as u64;
    if !messages::SHOWN_BY_HOST {
        let message = Message { text, arguments: &|number, take| arguments.hand(number, take) };
        let place: [u64; 4] = core::array::from_fn(coordinate);
        execution::fail(|to| {
            write!(to, "assertion failed, element {:?} is false: {message}", &place[..C::SHAPE.rank])
        });
    }
    let message = send(cx, text, &arguments, protocol::ASSERTION);
    // The trap of one thread must not overtake the message of another.
    // SAFETY: all threads have the same `first`, and are here.
    unsafe { barrier::<B>() };
    let mut failure = messages::Failure::new("", protocol::ASSERTED);
    failure.list(C::SHAPE.rank, coordinate);
    failure.message(message);
    failure.end()
}
