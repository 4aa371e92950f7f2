//! Elements that change threads: each is written once to shared memory and read where it is wanted, in as many rounds as
//! the scratch needs.

use crate::arch;
use crate::context::barrier;
use crate::element::Element;
use crate::element::bits_transport::Transport;
use crate::layout::{Broadcasting, Layout, Movement, Passage, Single, Source};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;

/// The number of elements of a source that the scratch takes at once.
const fn window<T: Element, X: Source>() -> usize {
    let most = arch::shared::SCRATCH_BYTES / size_of::<T::Bits>();
    let count = <X::Count as PowerOfTwo>::COUNT;
    if count < most { count } else { most }
}

/// Whether the scratch takes all elements of a source at once.
const fn in_one_round<T: Element, X: Source>() -> bool {
    window::<T, X>() == <X::Count as PowerOfTwo>::COUNT
}

/// The source as shape `To` in layout `M` by the movement `V`; `offset` is added (exclusive or) to flat indices of the
/// source, within the variable bits of the movement.
///
/// Elements smaller than a word that are neighbours on both sides travel as a word.
#[inline_on_device]
pub(super) fn convert<T: Element, X: Source, To: Shape, M: Layout, V: Movement<X::Shape, To>>(
    source: Registers<T, X::Registers>,
    offset: usize,
) -> Registers<T, M::Registers<To>> {
    let exchange = const { &Passage::<T, X, To, M, V, true>::EXCHANGE };
    let together = const { Passage::<T, X, To, M, V, true>::TOGETHER };
    let wanted =
        exchange.read.of_thread(arch::execution::thread()) ^ exchange.slot((V::OFFSET ^ offset) >> together);
    through_shared_memory::<T, X, To, M, V, M::Registers<To>, true>(source, |i| {
        const { &Passage::<T, X, To, M, V, true>::EXCHANGE }.read.slot(wanted, i)
    })
}

/// The elements of a tile with the flat indices `index(0)`, `index(1)`, ..., each below the number of elements.
#[inline_on_device]
pub(super) fn gather<T: Element, S: Shape, L: Layout, N: PowerOfTwo>(
    source: Registers<T, L::Registers<S>>,
    index: impl Fn(usize) -> usize,
) -> Registers<T, N> {
    // The slots that serve the layout itself: neighbouring lanes mostly want elements that are as far apart.
    let exchange = const { &Passage::<T, Single<S, L>, S, L, Broadcasting, false>::EXCHANGE };
    let wanted = Registers::<u32, N>::from_fn(|i| exchange.slot(index(i)) as u32);
    through_shared_memory::<T, Single<S, L>, S, L, Broadcasting, N, false>(source, |i| {
        (wanted.get(i) as usize, 0)
    })
}

/// Writes the source to the slots of a passage, and reads `N` elements, as many a slot as travel together. The `i`-th read is at a slot
/// that is the sum of two numbers.
///
/// What is constant for the passage is so within each closure. A captured constant would be a variable until LLVM has put hundreds of
/// copies of the closure into the kernel, and it would work at each of them.
#[inline_on_device]
fn through_shared_memory<T, X, To, M, V, N, const NEIGHBOURS: bool>(
    source: Registers<T, X::Registers>,
    wanted: impl Fn(usize) -> (usize, usize),
) -> Registers<T, N>
where
    T: Element,
    X: Source,
    To: Shape,
    M: Layout,
    V: Movement<X::Shape, To>,
    N: PowerOfTwo,
{
    let address = arch::shared::scratch_of(const { window::<T, X>() * size_of::<T::Bits>() });
    let address_of = |(varying, fixed): (usize, usize)| {
        let size = const { size_of::<T::Bits>() << Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
        let slots = const { window::<T, X>() >> Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
        if const { in_one_round::<T, X>() } {
            address + (varying * size) as u32 + (fixed * size) as u32
        } else {
            address + (varying % slots * size) as u32 + (fixed % slots * size) as u32
        }
    };
    let in_round = |first: usize, (varying, fixed): (usize, usize)| {
        if const { in_one_round::<T, X>() } {
            return true;
        }
        let together = const { Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
        let slots = const { window::<T, X>() >> Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
        (varying + fixed) & !(slots - 1) == first >> together
    };
    let thread = arch::execution::thread();
    let writes = thread & const { X::MAP.replicas } == 0;
    let own = const { &Passage::<T, X, To, M, V, NEIGHBOURS>::EXCHANGE }.write.of_thread(thread);
    let step = const { 1 << Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
    let mut result = Registers::from_fn(|_| T::ZERO);
    // One round for each window of slots, as straight-line code.
    X::Count::unroll(0, const { window::<T, X>() }, &mut |first| {
        // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`).
        unsafe { barrier::<M::Block>() };
        if writes {
            X::Registers::unroll(0, step, &mut |i| {
                let exchange = const { &Passage::<T, X, To, M, V, NEIGHBOURS>::EXCHANGE };
                let together = const { Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
                let slot = exchange.write.slot(own, i >> together);
                if in_round(first, slot) {
                    // SAFETY: the slots fit the scratch; slots are a bijection of flat indices and replicas do
                    // not write, so that each slot has one writer between the two barriers.
                    unsafe { store_together(&source, i, together, address_of(slot)) }
                }
            });
        }
        // SAFETY: as above.
        unsafe { barrier::<M::Block>() };
        N::unroll(0, step, &mut |i| {
            let together = const { Passage::<T, X, To, M, V, NEIGHBOURS>::TOGETHER };
            let slot = wanted(i >> together);
            if in_round(first, slot) {
                // SAFETY: written before the barrier, as every element has a writer.
                unsafe { load_together(&mut result, i, together, address_of(slot)) }
            }
        });
    });
    result
}

/// Stores `2^together` elements from register `i` on: one, or a word of several.
///
/// # Safety
/// `address` has room for them in shared memory of this block, aligned to them, with no concurrent access. Several have at most 4 bytes.
#[inline_on_device]
unsafe fn store_together<T: Element, N: PowerOfTwo>(
    source: &Registers<T, N>,
    i: usize,
    together: u32,
    address: u32,
) {
    let mut word = 0_u32;
    let first = core::ptr::from_mut(&mut word).cast::<T::Bits>();
    // SAFETY: the same contract; the word has room for the elements.
    unsafe {
        if together == 0 {
            return source.get(i).to_bits().store_shared(address);
        }
        let mut k = 0;
        while k < 1 << together {
            first.add(k).write(source.get(i + k).to_bits());
            k += 1;
        }
        if size_of::<T::Bits>() << together == 2 {
            arch::shared::store_u16(address, word as u16);
        } else {
            arch::shared::store_u32(address, word);
        }
    }
}

/// Loads `2^together` elements into the registers from `i` on: one, or a word of several.
///
/// # Safety
/// They lie at `address` in shared memory of this block, aligned, with no concurrent store. Several have at most 4 bytes.
#[inline_on_device]
unsafe fn load_together<T: Element, N: PowerOfTwo>(
    result: &mut Registers<T, N>,
    i: usize,
    together: u32,
    address: u32,
) {
    // SAFETY: the same contract; the word has the elements.
    unsafe {
        if together == 0 {
            return result.set(i, T::from_bits(T::Bits::load_shared(address)));
        }
        let word = if size_of::<T::Bits>() << together == 2 {
            u32::from(arch::shared::load_u16(address))
        } else {
            arch::shared::load_u32(address)
        };
        let first = core::ptr::from_ref(&word).cast::<T::Bits>();
        let mut k = 0;
        while k < 1 << together {
            result.set(i + k, T::from_bits(first.add(k).read()));
            k += 1;
        }
    }
}
