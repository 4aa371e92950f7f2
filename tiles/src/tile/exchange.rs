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

/// The source as shape `To` in layout `M` by the movement `V`; `offset` is added (exclusive or) to flat indices of the
/// source, within the variable bits of the movement.
#[inline(always)]
pub(super) fn convert<T: Element, X: Source, To: Shape, M: Layout, V: Movement<X::Shape, To>>(
    source: Registers<T, X::Registers>,
    offset: usize,
) -> Registers<T, M::Registers<To>> {
    let exchange = const { &Passage::<T, X, To, M, V>::EXCHANGE };
    let wanted = exchange.read.of_thread(arch::execution::thread()) ^ exchange.slot(V::OFFSET ^ offset);
    through_shared_memory::<T, X, To, M, V, _>(source, |i| exchange.read.slot(wanted, i))
}

/// The elements of a tile with the flat indices `index(0)`, `index(1)`, ..., each below the number of elements.
#[inline(always)]
pub(super) fn gather<T: Element, S: Shape, L: Layout, N: PowerOfTwo>(
    source: Registers<T, L::Registers<S>>,
    index: impl Fn(usize) -> usize,
) -> Registers<T, N> {
    // The slots that serve the layout itself: neighbouring lanes mostly want elements that are as far apart.
    let exchange = const { &Passage::<T, Single<S, L>, S, L, Broadcasting>::EXCHANGE };
    let wanted = Registers::<u32, N>::from_fn(|i| exchange.slot(index(i)) as u32);
    through_shared_memory::<T, Single<S, L>, S, L, Broadcasting, N>(source, |i| (wanted.get(i) as usize, 0))
}

/// Writes the source to the slots of the passage, and reads `N` elements at slots that are sums of two numbers.
#[inline(always)]
fn through_shared_memory<T, X, To, M, V, N>(
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
    let size = const { size_of::<T::Bits>() };
    let window = const { window::<T, X>() };
    let address = arch::shared::scratch_of(window * size);
    let address_of = |(varying, fixed): (usize, usize)| {
        address + (varying % window * size) as u32 + (fixed % window * size) as u32
    };
    let exchange = const { &Passage::<T, X, To, M, V>::EXCHANGE };
    let thread = arch::execution::thread();
    let writes = thread & const { X::MAP.replicas } == 0;
    let own = exchange.write.of_thread(thread);
    let mut result = Registers::from_fn(|_| T::ZERO);
    // One round for each window of slots, as straight-line code.
    X::Count::unroll(0, window, &mut |first| {
        let in_round = |(varying, fixed): (usize, usize)| (varying + fixed) & !(window - 1) == first;
        // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`).
        unsafe { barrier::<M::Block>() };
        if writes {
            X::Registers::unroll(0, 1, &mut |i| {
                let slot = exchange.write.slot(own, i);
                if in_round(slot) {
                    // SAFETY: `window` elements fit the scratch; slots are a bijection of flat indices and replicas do
                    // not write, so that each slot has one writer between the two barriers.
                    unsafe { source.get(i).to_bits().store_shared(address_of(slot)) }
                }
            });
        }
        // SAFETY: as above.
        unsafe { barrier::<M::Block>() };
        N::unroll(0, 1, &mut |i| {
            let slot = wanted(i);
            if in_round(slot) {
                // SAFETY: written before the barrier, as every element has a writer.
                let bits = unsafe { T::Bits::load_shared(address_of(slot)) };
                result.set(i, T::from_bits(bits));
            }
        });
    });
    result
}
