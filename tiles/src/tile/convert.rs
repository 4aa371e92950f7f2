//! Tiles seen in another shape and layout: in registers where every thread has what it needs, else through
//! shared memory.

use super::Tile;
use crate::arch;
use crate::element::Element;
use crate::element::bits_transport::Transport;
use crate::layout::{Block, Blocked, Broadcasting, Conversion, Layout, Map, Movement, Passage};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use core::marker::PhantomData;

/// A tile of shape `S` and layout `L` as an operation of shape `To` and layout `M` sees it by the movement `V`.
pub struct Spread<T: Element, S: Shape, L: Layout, To: Shape, M: Layout, V = Broadcasting> {
    source: Source<Tile<T, S, L>, Tile<T, To, M>>,
    target: PhantomData<(To, M, V)>,
}

/// Where the elements come from; which one is known at compile time.
#[derive(Clone, Copy)]
enum Source<Own, Moved> {
    Own(Own),
    Moved(Moved),
}

impl<T: Element, S: Shape, L: Layout, To: Shape, M: Layout, V: Movement<S, To>> Spread<T, S, L, To, M, V> {
    #[inline(always)]
    pub(crate) fn new(tile: Tile<T, S, L>) -> Self {
        let source = if const { Conversion::<S, L, To, M, V>::PLAN.in_registers || !arch::TILES_IN_REGISTERS }
        {
            Source::Own(tile)
        } else {
            Source::Moved(tile.through_shared_memory::<To, M, V>())
        };
        Self { source, target: PhantomData }
    }

    /// The element in register `i` of the target.
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> T {
        match &self.source {
            Source::Own(tile) if const { Conversion::<S, L, To, M, V>::IDENTITY } => tile.registers().get(i),
            Source::Own(tile) => {
                tile.registers().get(const { &Conversion::<S, L, To, M, V>::PLAN }.register.apply(i))
            }
            Source::Moved(tile) => tile.registers().get(i),
        }
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The tile as shape `To` in layout `M`.
    #[inline(always)]
    pub(crate) fn spread<To: Shape, M: Layout>(self) -> Tile<T, To, M> {
        self.convert::<To, M, Broadcasting>()
    }

    /// The tile of shape `To` that the movement `V` makes of this one, as loads give tiles and stores want them.
    #[inline(always)]
    pub(crate) fn moved<To: Shape, V: Movement<S, To>>(self) -> Tile<T, To, Blocked<L::Block>> {
        self.convert::<To, Blocked<L::Block>, V>()
    }

    #[inline(always)]
    fn convert<To: Shape, M: Layout, V: Movement<S, To>>(self) -> Tile<T, To, M> {
        let spread = Spread::<T, S, L, To, M, V>::new(self);
        Tile::from_registers_fn(|i| spread.get(i))
    }

    /// The tile from the elements of those threads that hold no copies: the others may hold anything.
    #[inline(always)]
    pub(crate) fn spread_originals(self) -> Self {
        if const { Map::<L, S>::MAP.replicas_of(<<L::Block as Block>::Threads as PowerOfTwo>::COUNT) == 0 } {
            return self;
        }
        self.through_shared_memory::<S, L, Broadcasting>()
    }

    /// Every element is written once to shared memory and read where it is wanted, in as many rounds as the
    /// scratch needs.
    #[inline(always)]
    fn through_shared_memory<To: Shape, M: Layout, V: Movement<S, To>>(self) -> Tile<T, To, M> {
        let size = const { size_of::<T::Bits>() };
        let window = const {
            let most = arch::shared::SCRATCH_BYTES / size_of::<T::Bits>();
            if S::LEN < most { S::LEN } else { most }
        };
        let address = arch::shared::scratch_of(window * size);
        let exchange = const { &Passage::<T, S, L, To, M, V>::EXCHANGE };
        let thread = arch::execution::thread();
        let writes = thread & const { Map::<L, S>::MAP.replicas } == 0;
        let (own, wanted) = (exchange.write.of_thread(thread), exchange.read.of_thread(thread));
        let address_of = |(varying, fixed): (usize, usize)| {
            address + (varying % window * size) as u32 + (fixed % window * size) as u32
        };
        let mut result = Registers::from_fn(|_| T::ZERO);
        // One round for each window of slots, as straight-line code.
        S::Count::unroll(0, window, &mut |first| {
            let in_round = |(varying, fixed): (usize, usize)| (varying + fixed) & !(window - 1) == first;
            // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`).
            unsafe { arch::execution::barrier() };
            if writes {
                <L::Registers<S>>::unroll(0, 1, &mut |i| {
                    let slot = exchange.write.slot(own, i);
                    if in_round(slot) {
                        // SAFETY: `window` elements fit the scratch; slots are a bijection of flat indices and replicas
                        // do not write, so that each slot has one writer between the two barriers.
                        unsafe { self.registers().get(i).to_bits().store_shared(address_of(slot)) }
                    }
                });
            }
            // SAFETY: as above.
            unsafe { arch::execution::barrier() };
            <M::Registers<To>>::unroll(0, 1, &mut |i| {
                let slot = exchange.read.slot(wanted, i);
                if in_round(slot) {
                    // SAFETY: written before the barrier, as every element has a writer.
                    let bits = unsafe { T::Bits::load_shared(address_of(slot)) };
                    result.set(i, T::from_bits(bits));
                }
            });
        });
        Tile::from_registers(result)
    }

    /// The element with flat index `flat`, on every thread.
    #[inline(always)]
    pub(crate) fn broadcast_element(self, flat: usize) -> T {
        if !arch::TILES_IN_REGISTERS {
            return self.registers().get(flat);
        }
        let address = arch::shared::scratch::<16>();
        let thread = arch::execution::thread();
        let own = Map::<L, S>::MAP.of_thread.apply(thread);
        // SAFETY: tile operations run on all threads of the block alike.
        unsafe { arch::execution::barrier() };
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
            arch::execution::barrier();
            T::Bits::load_shared(address)
        })
    }
}
