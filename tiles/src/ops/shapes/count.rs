//! Tiles of classes: one-hot vectors and histograms.

use crate::arch;
use crate::context::barrier;
use crate::element::{Cast, Element, Integer, Number};
use crate::layout::movement::Insertion;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{InsertAxis, Shape};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// A one at the class that each element names, and zeros at the other classes, along a new axis `A` of `N` classes.
    ///
    /// An element that names no class, because it is negative or not below `N`, gives zeros alone.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<f32, Shape2<4, 8>, _> = cx.iota::<i32>(shape![4]).one_hot::<f32, 1, 8>();
    ///     assert_eq!((t.at([3, 3]), t.at([3, 4])), (1.0, 0.0));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. The classes are repeated along the new axis, and each thread compares its own.
    #[inline_on_device]
    pub fn one_hot<U: Number, const A: usize, const N: usize>(self) -> Tile<U, S::Inserted, Blocked<L::Block>>
    where
        T: Integer + Cast<i64>,
        S: InsertAxis<A, N>,
    {
        let class = self.moved::<S::Inserted, Blocked<L::Block>, Insertion<A>>();
        let own = Tile::<U, S::Inserted, Blocked<L::Block>>::thread_index();
        Tile::from_registers_fn(|i| {
            let flat = Tile::<U, S::Inserted, Blocked<L::Block>>::flat_index(own, i);
            let coordinate = S::Inserted::DESCRIPTION.coordinate(flat, A) as i64;
            if Cast::<i64>::cast(class.registers().get(i)) == coordinate { U::ONE } else { U::ZERO }
        })
    }

    /// How often each of the numbers 0, 1, 2, ... occurs among the elements.
    ///
    /// There are as many counts as `bins` has elements. Other numbers count nowhere.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let counts = (cx.iota::<i32>(shape![8, 8]) % 5).histogram(shape![4]);
    ///     assert_eq!((counts.at([0]), counts.at([3])), (13, 13));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. Threads add to counts in shared memory by `red.shared.add.u32` (PTX ISA, "Parallel Synchronization
    /// and Communication Instructions: red"), between barriers. If the scratch memory does not hold all bins, there are several rounds.
    #[inline_on_device]
    pub fn histogram<R: Shape>(self, _bins: R) -> Tile<u32, R, Blocked<L::Block>>
    where
        T: Integer + Cast<i64>,
    {
        if arch::TILES_IN_REGISTERS { self.counted_in_shared_memory() } else { self.counted_by_one_thread() }
    }

    fn counted_by_one_thread<R: Shape>(self) -> Tile<u32, R, Blocked<L::Block>>
    where
        T: Integer + Cast<i64>,
    {
        let mut counts = Registers::from_fn(|_| 0);
        <L::Registers<S>>::unroll(0, 1, &mut |i| {
            let bin = Cast::<i64>::cast(self.registers().get(i)) as u64;
            if bin < R::LEN as u64 {
                counts.set(bin as usize, counts.get(bin as usize) + 1);
            }
        });
        Tile::from_registers(counts)
    }

    /// All threads add to bins in shared memory, in as many rounds as the scratch needs.
    #[inline_on_device]
    fn counted_in_shared_memory<R: Shape>(self) -> Tile<u32, R, Blocked<L::Block>>
    where
        T: Integer + Cast<i64>,
    {
        let window = const {
            let most = arch::shared::SCRATCH_BYTES / 4;
            if R::LEN < most { R::LEN } else { most }
        };
        let address = arch::shared::scratch_of(window * 4);
        let threads = const { <<L::Block as Block>::Threads as PowerOfTwo>::COUNT };
        let thread = arch::execution::thread();
        let own = Map::<Blocked<L::Block>, R>::MAP.of_thread.apply(thread);
        let mut counts = Registers::from_fn(|_| 0);
        R::Count::unroll(0, window, &mut |first| {
            // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`).
            unsafe { barrier::<L::Block>() };
            let mut bin = thread;
            while bin < window {
                // SAFETY: `window` bins fit the scratch; each is cleared by one thread, between two barriers.
                unsafe { arch::shared::store_u32(address + (bin * 4) as u32, 0) };
                bin += threads;
            }
            // SAFETY: as above.
            unsafe { barrier::<L::Block>() };
            if thread & const { Map::<L, S>::MAP.replicas } == 0 {
                <L::Registers<S>>::unroll(0, 1, &mut |i| {
                    let bin = (Cast::<i64>::cast(self.registers().get(i)) as u64).wrapping_sub(first as u64);
                    if bin < window as u64 {
                        // SAFETY: the bin lies in the scratch, and is accessed by atomic additions alone until the next
                        // barrier.
                        unsafe { arch::shared::add_u32(address + bin as u32 * 4, 1) };
                    }
                });
            }
            // SAFETY: as above.
            unsafe { barrier::<L::Block>() };
            <<Blocked<L::Block> as Layout>::Registers<R>>::unroll(0, 1, &mut |i| {
                let bin = own | const { &Map::<Blocked<L::Block>, R>::MAP }.of_register.apply(i);
                if bin & !(window - 1) == first {
                    // SAFETY: the bin lies in the scratch, and the barrier has ended the additions.
                    counts.set(i, unsafe { arch::shared::load_u32(address + (bin % window * 4) as u32) });
                }
            });
        });
        Tile::from_registers(counts)
    }
}
