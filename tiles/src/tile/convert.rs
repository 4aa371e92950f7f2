//! Tiles in another shape and layout: in registers where every thread has what it needs, else through shared memory.

use super::Tile;
use super::exchange;
use crate::arch;
use crate::context::barrier;
use crate::element::Element;
use crate::element::bits_transport::Transport;
use crate::layout::{Blocked, Broadcasting, Conversion, Layout, Map, Movement, Pair, Single, Source};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use core::marker::PhantomData;

/// A tile of shape `S` and layout `L` as an operation of shape `To` and layout `M` sees it.
pub(crate) type Spread<T, S, L, To, M> = Moved<T, Single<S, L>, To, M, Broadcasting>;

/// A source `X` as an operation of shape `To` and layout `M` sees it by the movement `V`.
pub struct Moved<T: Element, X: Source, To: Shape, M: Layout, V> {
    elements: Elements<Registers<T, X::Registers>, Registers<T, M::Registers<To>>>,
    /// What is added (exclusive or) to flat indices of the source.
    offset: usize,
    movement: PhantomData<V>,
}

/// Where the elements are; which one is known at compile time.
#[derive(Clone, Copy)]
enum Elements<Own, Exchanged> {
    Own(Own),
    Exchanged(Exchanged),
}

impl<T: Element, S: Shape, L: Layout, To: Shape, M: Layout, V: Movement<S, To>>
    Moved<T, Single<S, L>, To, M, V>
{
    /// The tile, moved.
    #[inline_on_device]
    pub(crate) fn new(tile: Tile<T, S, L>) -> Self {
        Self::from_source(*tile.registers(), 0)
    }
}

impl<T: Element, X: Source, To: Shape, M: Layout, V: Movement<X::Shape, To>> Moved<T, X, To, M, V> {
    /// The source, moved; `offset` is added (exclusive or) to flat indices, within the variable bits of the movement.
    #[inline_on_device]
    fn from_source(source: Registers<T, X::Registers>, offset: usize) -> Self {
        let elements = if const { Conversion::<X, To, M, V>::PLAN.in_registers || !arch::TILES_IN_REGISTERS }
        {
            Elements::Own(source)
        } else {
            Elements::Exchanged(exchange::convert::<T, X, To, M, V>(source, offset))
        };
        Self { elements, offset, movement: PhantomData }
    }

    /// The element in register `i` of the target.
    #[inline_on_device]
    pub(crate) fn get(&self, i: usize) -> T {
        match &self.elements {
            Elements::Own(source) if const { Conversion::<X, To, M, V>::IDENTITY && V::VARIABLE == 0 } => {
                source.get(i)
            }
            Elements::Own(source) => {
                let plan = const { &Conversion::<X, To, M, V>::PLAN };
                // A block of one thread numbers registers as elements, and only there the offset is not zero.
                let offset = if arch::TILES_IN_REGISTERS { 0 } else { self.offset };
                source.get(plan.register.apply(i) ^ plan.register_offset ^ offset)
            }
            Elements::Exchanged(target) => target.get(i),
        }
    }

    #[inline_on_device]
    fn tile(&self) -> Tile<T, To, M> {
        Tile::from_registers_fn(|i| self.get(i))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The tile as shape `To` in layout `M`.
    #[inline_on_device]
    pub(crate) fn spread<To: Shape, M: Layout>(self) -> Tile<T, To, M> {
        Spread::<T, S, L, To, M>::new(self).tile()
    }

    /// The tile of shape `To` that the movement `V` makes of this one, in layout `M`.
    #[inline_on_device]
    pub(crate) fn moved<To: Shape, M: Layout, V: Movement<S, To>>(self) -> Tile<T, To, M> {
        Moved::<T, Single<S, L>, To, M, V>::new(self).tile()
    }

    /// The same, where the variable bits of the movement are `offset`.
    #[inline_on_device]
    pub(crate) fn moved_at<To: Shape, V: Movement<S, To>>(
        self,
        offset: usize,
    ) -> Tile<T, To, Blocked<L::Block>> {
        Moved::<T, Single<S, L>, To, Blocked<L::Block>, V>::from_source(*self.registers(), offset).tile()
    }

    /// The tile from the elements of those threads that hold no copies: the others may hold anything.
    #[inline_on_device]
    pub(crate) fn spread_originals(self) -> Self {
        if const { Map::<L, S>::MAP.replicas == 0 } {
            return self;
        }
        Tile::from_registers(exchange::convert::<T, Single<S, L>, S, L, Broadcasting>(*self.registers(), 0))
    }

    /// The tile of shape `To` that the movement `V` makes of this one and `other`, one after the other.
    #[inline_on_device]
    pub(crate) fn moved_with<To: Shape, M: Layout<Block = L::Block>, V: Movement<S, To>>(
        self,
        other: Tile<T, S, M>,
    ) -> Tile<T, To, Blocked<L::Block>> {
        let other = other.spread::<S, L>();
        let count = const { <L::Registers<S> as PowerOfTwo>::COUNT };
        let both = Registers::from_fn(|i| {
            if i < count { self.registers().get(i) } else { other.registers().get(i - count) }
        });
        Moved::<T, Pair<S, L>, To, Blocked<L::Block>, V>::from_source(both, 0).tile()
    }

    /// The tile of shape `To` and layout `M` whose register `i` is the element with flat index `index(i)`.
    #[inline_on_device]
    pub(crate) fn gathered<To: Shape, M: Layout>(self, index: impl Fn(usize) -> usize) -> Tile<T, To, M> {
        if !arch::TILES_IN_REGISTERS {
            return Tile::from_registers_fn(|i| self.registers().get(index(i)));
        }
        Tile::from_registers(exchange::gather::<T, S, L, M::Registers<To>>(*self.registers(), index))
    }

    /// The flat index of the element in register `i` of this thread, given the thread's part of it.
    #[inline_on_device]
    pub(crate) fn flat_index(thread: usize, i: usize) -> usize {
        thread | const { &Map::<L, S>::MAP }.of_register.apply(i)
    }

    /// This thread's part of flat indices.
    #[inline_on_device]
    pub(crate) fn thread_index() -> usize {
        const { &Map::<L, S>::MAP }.of_thread.apply(arch::execution::thread())
    }

    /// The element with flat index `flat`, on every thread.
    #[inline_on_device]
    pub(crate) fn broadcast_element(self, flat: usize) -> T {
        if !arch::TILES_IN_REGISTERS {
            return self.registers().get(flat);
        }
        let address = arch::shared::scratch::<16>();
        let thread = arch::execution::thread();
        let own = Map::<L, S>::MAP.of_thread.apply(thread);
        // SAFETY: tile operations run on all threads of the block alike.
        unsafe { barrier::<L::Block>() };
        if thread & const { Map::<L, S>::MAP.replicas } == 0 {
            <L::Registers<S>>::unroll(0, 1, &mut |i| {
                if own | const { &Map::<L, S>::MAP }.of_register.apply(i) == flat {
                    // SAFETY: 16 bytes hold any element; exactly one thread has this flat index.
                    unsafe { self.registers().get(i).to_bits().store_shared(address) }
                }
            });
        }
        // SAFETY: as above; the store is visible after the barrier.
        T::from_bits(unsafe {
            barrier::<L::Block>();
            T::Bits::load_shared(address)
        })
    }
}
