//! The tile: a small array of static shape, spread over the registers of a block's threads.

mod convert;
mod create;
mod exchange;

pub(crate) use convert::Spread;

pub use create::{Create, NestedArray};

use crate::arch;
use crate::element::{Cast, CastMode, Element, SameSize};
use crate::layout::{Blocked, Layout, Map};
use crate::protocol::ELEMENT;
use crate::registers::{PowerOfTwo, Registers};
use crate::sealed::sealed;
use crate::shape::{Axis, Shape};
use core::marker::PhantomData;

/// Elements of a thread that [`Tile::map_by_turns`] computes at a time: as many as hide how long each one takes.
const TURN: usize = 16;

/// A value of static shape `S` with elements of type `T`, spread over the threads of a block by layout `L`.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let rows = cx.iota::<i32>(shape![2, 4]);
///     let doubled = rows * 2 + 1;
///     assert_eq!(doubled.at([1, 3]), 15);
///     assert_eq!(doubled.sum::<1>().at([0, 0]), 1 + 3 + 5 + 7);
/// });
/// ```
///
/// A tile is a value. Operations take tiles and give new ones. A copy is free as long as the registers last. A tile has no
/// address and no mutable access: [views](crate::view::TiledView) reach memory.
///
/// # On a GPU
///
/// Each thread holds [`Tile::REGISTERS`] elements in registers. The layout `L` says which: [`Blocked`]
/// after loads and creations, [`Slice`](crate::layout::Slice) after reductions, [`Accumulators`](crate::layout::Accumulators)
/// after matrix products. An operation on two tiles finds the common layout by [`Join`](crate::layout::Join). On the CPU a block
/// is one thread, and a tile is an array on its stack.
///
/// # Operations
///
/// Operands broadcast by NumPy's rules, and their element types promote ([`Promote`](crate::element::Promote)).
///
/// ## Arithmetic
///
/// [`ops::arithmetic`](crate::ops::arithmetic), [`ops::division`](crate::ops::division) and [`ops::integers`](crate::ops::integers) have
/// the rules.
///
/// | | |
/// |---|---|
/// | operators | `+` `-` `*` `/` `%` `&` `^` `!` `<<` `>>`, the bitwise or, and their assignments |
/// | smaller, larger | [`minimum`](Self::minimum) [`maximum`](Self::maximum) [`clamp`](Self::clamp) |
/// | signs | [`abs`](Self::abs) [`sign`](Self::sign) [`copysign`](Self::copysign) |
/// | products | [`fma`](Self::fma) [`mul_unless_one`](Self::mul_unless_one) [`mul_hi`](Self::mul_hi) |
/// | quotients and remainders | [`floor_div`](Self::floor_div) [`ceil_div`](Self::ceil_div) [`modulo`](Self::modulo) [`div_rem`](Self::div_rem) [`divmod`](Self::divmod) |
/// | integers that saturate | [`saturating_add`](Self::saturating_add) [`saturating_sub`](Self::saturating_sub) [`saturating_mul`](Self::saturating_mul) [`abs_diff`](Self::abs_diff) |
/// | bits of integers | [`count_ones`](Self::count_ones) [`leading_zeros`](Self::leading_zeros) [`trailing_zeros`](Self::trailing_zeros) [`reverse_bits`](Self::reverse_bits) [`rotate_left`](Self::rotate_left) [`rotate_right`](Self::rotate_right) |
///
/// ## Comparison and selection
///
/// | | |
/// |---|---|
/// | comparison | [`eq`](Self::eq) [`ne`](Self::ne) [`lt`](Self::lt) [`le`](Self::le) [`gt`](Self::gt) [`ge`](Self::ge) |
/// | special values | [`is_nan`](Self::is_nan) [`is_infinite`](Self::is_infinite) |
/// | selection by a mask | [`select`](Self::select) |
/// | logic | [`logical_and`](Self::logical_and) [`logical_or`](Self::logical_or) [`logical_xor`](Self::logical_xor) [`logical_not`](Self::logical_not) |
///
/// ## Mathematical functions
///
/// [`math`](crate::math) has their error bounds.
///
/// | | |
/// |---|---|
/// | exponentials | [`exp`](Self::exp) [`exp2`](Self::exp2) [`exp10`](Self::exp10) [`expm1`](Self::expm1) |
/// | logarithms | [`log`](Self::log) [`log2`](Self::log2) [`log10`](Self::log10) [`log1p`](Self::log1p) |
/// | powers and roots | [`pow`](Self::pow) [`powi`](Self::powi) [`sqrt`](Self::sqrt) [`rsqrt`](Self::rsqrt) [`cbrt`](Self::cbrt) [`hypot`](Self::hypot) [`reciprocal`](Self::reciprocal) |
/// | trigonometric | [`sin`](Self::sin) [`cos`](Self::cos) [`tan`](Self::tan) [`asin`](Self::asin) [`acos`](Self::acos) [`atan`](Self::atan) [`atan2`](Self::atan2) |
/// | hyperbolic | [`sinh`](Self::sinh) [`cosh`](Self::cosh) [`tanh`](Self::tanh) [`asinh`](Self::asinh) [`acosh`](Self::acosh) [`atanh`](Self::atanh) |
/// | rounding to integers | [`floor`](Self::floor) [`ceil`](Self::ceil) [`trunc`](Self::trunc) [`round_even`](Self::round_even) |
/// | error function | [`erf`](Self::erf) [`erfc`](Self::erfc) |
/// | activations | [`sigmoid`](Self::sigmoid) [`silu`](Self::silu) [`softplus`](Self::softplus) [`gelu`](Self::gelu) [`gelu_tanh`](Self::gelu_tanh) |
/// | hardware approximations | [`exp_approximate`](Self::exp_approximate) [`exp2_approximate`](Self::exp2_approximate) [`log_approximate`](Self::log_approximate) [`log2_approximate`](Self::log2_approximate) [`sqrt_approximate`](Self::sqrt_approximate) [`rsqrt_approximate`](Self::rsqrt_approximate) [`reciprocal_approximate`](Self::reciprocal_approximate) |
/// | approximate trigonometric | [`sin_approximate`](Self::sin_approximate) [`cos_approximate`](Self::cos_approximate) [`tanh_approximate`](Self::tanh_approximate) |
/// | approximate activations | [`sigmoid_approximate`](Self::sigmoid_approximate) [`silu_approximate`](Self::silu_approximate) [`softplus_approximate`](Self::softplus_approximate) [`gelu_tanh_approximate`](Self::gelu_tanh_approximate) |
///
/// ## Modes
///
/// A mode says how to round, whether to flush subnormal numbers to zero, and what a NaN does: [`ops::modes`](crate::ops::modes).
///
/// | | |
/// |---|---|
/// | arithmetic | [`add_with`](Self::add_with) [`sub_with`](Self::sub_with) [`mul_with`](Self::mul_with) [`div_with`](Self::div_with) [`fma_with`](Self::fma_with) [`sqrt_with`](Self::sqrt_with) |
/// | functions | [`exp_with`](Self::exp_with) [`exp2_with`](Self::exp2_with) [`log_with`](Self::log_with) [`log2_with`](Self::log2_with) [`rsqrt_with`](Self::rsqrt_with) [`sin_with`](Self::sin_with) [`cos_with`](Self::cos_with) [`tanh_with`](Self::tanh_with) |
/// | smaller, larger | [`minimum_with`](Self::minimum_with) [`maximum_with`](Self::maximum_with) |
///
/// ## Reductions
///
/// A reduction combines the elements along one axis. The axis stays, with size 1: [`ops::reduce`](crate::ops::reduce).
///
/// | | |
/// |---|---|
/// | sums | [`sum`](Self::sum) [`mean`](Self::mean) [`sum_with`](Self::sum_with) [`partial_sum`](Self::partial_sum) |
/// | products | [`prod`](Self::prod) [`prod_with`](Self::prod_with) |
/// | extremes | [`max`](Self::max) [`min`](Self::min) [`max_with`](Self::max_with) [`min_with`](Self::min_with) |
/// | positions of extremes | [`argmax`](Self::argmax) [`argmin`](Self::argmin) [`argmax_with`](Self::argmax_with) [`argmin_with`](Self::argmin_with) |
/// | masks | [`any`](Self::any) [`all`](Self::all) [`count`](Self::count) |
/// | bits of integers | [`bit_and`](Self::bit_and) [`bit_or`](Self::bit_or) [`bit_xor`](Self::bit_xor) |
/// | a closure | [`reduce`](Self::reduce) |
/// | along several axes | [`sum_over`](Self::sum_over) [`prod_over`](Self::prod_over) [`max_over`](Self::max_over) [`min_over`](Self::min_over) [`any_over`](Self::any_over) [`all_over`](Self::all_over) [`reduce_over`](Self::reduce_over) |
///
/// ## Scans
///
/// A scan combines each element with the elements before it: [`ops::scan`](crate::ops::scan).
///
/// | | |
/// |---|---|
/// | running sums | [`cumsum`](Self::cumsum) [`cumsum_with`](Self::cumsum_with) [`cumsum_rounded`](Self::cumsum_rounded) |
/// | running products | [`cumprod`](Self::cumprod) [`cumprod_with`](Self::cumprod_with) [`cumprod_rounded`](Self::cumprod_rounded) |
/// | running extremes | [`cummax`](Self::cummax) [`cummax_with`](Self::cummax_with) [`cummin`](Self::cummin) [`cummin_with`](Self::cummin_with) |
/// | a closure | [`scan`](Self::scan) [`scan_with`](Self::scan_with) |
///
/// ## Sorting and counting
///
/// [`ops::sort`](crate::ops::sort) has the order of elements.
///
/// | | |
/// |---|---|
/// | sorting | [`sort`](Self::sort) [`sort_with`](Self::sort_with) |
/// | positions in order | [`argsort`](Self::argsort) [`argsort_with`](Self::argsort_with) [`top_k`](Self::top_k) |
/// | counting | [`histogram`](Self::histogram) [`one_hot`](Self::one_hot) |
///
/// ## Shape
///
/// [`ops::shapes`](crate::ops::shapes) has the rules.
///
/// | | |
/// |---|---|
/// | the same elements in another shape | [`reshape`](Self::reshape) [`flatten`](Self::flatten) [`expand_dims`](Self::expand_dims) [`squeeze`](Self::squeeze) |
/// | axes in another order | [`transpose`](Self::transpose) [`permute`](Self::permute) [`transposed_in_place`](Self::transposed_in_place) [`transposed_accumulators`](Self::transposed_accumulators) |
/// | elements in another order | [`flip`](Self::flip) [`roll`](Self::roll) |
/// | repetition | [`broadcast`](Self::broadcast) [`repeat`](Self::repeat) [`tile`](Self::tile) |
/// | parts | [`split`](Self::split) [`extract`](Self::extract) [`slice`](Self::slice) [`slice_at`](Self::slice_at) [`diagonal`](Self::diagonal) |
/// | joins | [`cat`](Self::cat) [`stack`](Self::stack) [`insert`](Self::insert) |
/// | elements by their indices | [`take`](crate::ops::shapes::Take::take) [`take_masked`](crate::ops::shapes::Take::take_masked) [`take_along_axis`](crate::ops::shapes::Take::take_along_axis) [`take_along_axis_masked`](crate::ops::shapes::Take::take_along_axis_masked) |
///
/// ## Conversion
///
/// | | |
/// |---|---|
/// | of numbers | [`cast`](Self::cast) [`cast_with`](Self::cast_with) [`promote_mixed`](Self::promote_mixed) |
/// | of bits | [`bitcast`](Self::bitcast) [`repack`](Self::repack) [`pack_to_bytes`](Self::pack_to_bytes) [`unpack_from_bytes`](Self::unpack_from_bytes) |
/// | elements of four bits and their pairs | [`pack`](Self::pack) [`unpack`](Self::unpack) [`pair_with`](Self::pair_with) [`low`](Self::low) [`high`](Self::high) |
///
/// ## Functions of your own
///
/// | | |
/// |---|---|
/// | of one tile | [`map`](Self::map) [`map_by_turns`](Self::map_by_turns) |
/// | of two tiles | [`zip_map`](Self::zip_map) |
///
/// ## Size, layout and single elements
///
/// | | |
/// |---|---|
/// | size | [`LEN`](Self::LEN) [`REGISTERS`](Self::REGISTERS) |
/// | single elements | [`at`](Self::at) [`item`](Self::item) |
/// | coordinates | [`coordinates`](Self::coordinates) |
/// | layout | [`blocked`](Self::blocked) |
/// | creation | [`Cx`](crate::context::Cx#creating-tiles) |
/// | random numbers | [`Philox`](crate::random::Philox) |
/// | printing, assertions | [`tile_print!`](crate::tile_print) [`tile_assert!`](crate::tile_assert) |
///
/// ## Matrix products
///
/// [`mma`](crate::mma) has the types and shapes.
///
/// | | |
/// |---|---|
/// | products | [`mma`](Self::mma) [`matmul`](Self::matmul) [`as_operand_a`](Self::as_operand_a) |
///
/// ## Tiles of pointers
///
/// A tile of [`Pointer`](crate::element::Pointer)s reaches any address. All access is `unsafe`.
///
/// | | |
/// |---|---|
/// | addresses | [`offset`](Self::offset) [`offset_from`](Self::offset_from) |
/// | loads and stores | [`load`](Self::load) [`load_masked`](Self::load_masked) [`store`](Self::store) [`store_masked`](Self::store_masked) |
/// | atomic loads and stores | [`atomic_load`](Self::atomic_load) [`atomic_load_masked`](Self::atomic_load_masked) [`atomic_store`](Self::atomic_store) [`atomic_store_masked`](Self::atomic_store_masked) |
/// | atomic exchanges | [`atomic_exchange`](Self::atomic_exchange) [`atomic_exchange_masked`](Self::atomic_exchange_masked) [`atomic_compare_exchange`](Self::atomic_compare_exchange) [`atomic_compare_exchange_masked`](Self::atomic_compare_exchange_masked) |
/// | atomic sums | [`atomic_add`](Self::atomic_add) [`atomic_add_masked`](Self::atomic_add_masked) [`atomic_sub`](Self::atomic_sub) [`atomic_sub_masked`](Self::atomic_sub_masked) |
/// | atomic extremes | [`atomic_min`](Self::atomic_min) [`atomic_min_masked`](Self::atomic_min_masked) [`atomic_max`](Self::atomic_max) [`atomic_max_masked`](Self::atomic_max_masked) |
/// | atomic bits | [`atomic_and`](Self::atomic_and) [`atomic_and_masked`](Self::atomic_and_masked) [`atomic_or`](Self::atomic_or) [`atomic_or_masked`](Self::atomic_or_masked) [`atomic_xor`](Self::atomic_xor) [`atomic_xor_masked`](Self::atomic_xor_masked) |
#[must_use = "a tile operation makes a new tile"]
pub struct Tile<T: Element, S: Shape, L: Layout> {
    registers: Registers<T, L::Registers<S>>,
    // Not `Send`: closures that see single elements must not get hold of whole tiles.
    shape: PhantomData<(S, L, *const ())>,
}

impl<T: Element, S: Shape, L: Layout> Clone for Tile<T, S, L> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S: Shape, L: Layout> Copy for Tile<T, S, L> {}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The tile whose register `i` is `make(i)`.
    #[inline_on_device]
    pub(crate) fn from_registers_fn(make: impl FnMut(usize) -> T) -> Self {
        Self::from_registers(Registers::from_fn(make))
    }

    #[inline_on_device]
    pub(crate) fn from_registers(registers: Registers<T, L::Registers<S>>) -> Self {
        const { Map::<L, S>::COUNTS_AGREE };
        Self { registers, shape: PhantomData }
    }

    /// The fragment of this thread.
    #[inline_on_device]
    pub(crate) fn registers(&self) -> &Registers<T, L::Registers<S>> {
        &self.registers
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Converts each element to type `U`, by the rules of [`Cast`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -2.75f32).cast::<i8>();
    ///     assert_eq!(t.at([0]), -2);
    ///     assert_eq!(t.cast::<f16>().at([0]), f16::from_f32(-2.0));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// `cvt` where the bits change (PTX ISA, "Data Movement and Conversion Instructions: cvt"). Neighbouring registers are converted in
    /// pairs where there is an instruction for two.
    #[inline_on_device]
    #[doc(alias("element_cast", "astype", "convert_tile", "to"))]
    pub fn cast<U: Element>(self) -> Tile<U, S, L>
    where
        T: Cast<U>,
    {
        self.map_pairs(T::cast, T::cast_pair)
    }

    /// Converts each element to type `U`, rounded by `mode`.
    ///
    /// [`CastWith`](crate::element::CastWith) lists the types and their modes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 0.1f64);
    ///     assert_eq!(t.cast_with::<f32>(TowardNegative).at([0]), 0.1f32.next_down());
    ///     assert_eq!(t.cast_with::<f8e8m0>(TowardPositive).at([0]).to_f32(), 0.125);
    /// });
    /// ```
    #[inline_on_device]
    pub fn cast_with<U: Element>(self, mode: impl CastMode<T, U>) -> Tile<U, S, L> {
        self.map_pairs(|value| mode.cast(value), |low, high| mode.cast_pair(low, high))
    }

    /// Applies `pair` to elements two by two, or `one` to each where that serves as well.
    #[inline_on_device]
    fn map_pairs<U: Element>(self, one: impl Fn(T) -> U, pair: impl Fn(T, T) -> [U; 2]) -> Tile<U, S, L> {
        if Self::REGISTERS == 1 || !arch::TILES_IN_REGISTERS {
            return Tile::from_registers_fn(|i| one(self.registers.get(i)));
        }
        let mut registers = Registers::from_fn(|_| U::ZERO);
        <L::Registers<S>>::unroll(0, 2, &mut |i| {
            let [low, high] = pair(self.registers.get(i), self.registers.get(i + 1));
            registers.set(i, low);
            registers.set(i + 1, high);
        });
        Tile::from_registers(registers)
    }

    /// Reads the bits of each element as type `U` of the same size.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.full(shape![2], 1.0f32).bitcast::<u32>().at([1]), 0x3f80_0000);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The shape stays. A `bool` is one byte, which is true unless zero. [`tf32`](crate::element::tf32) and
    /// [`FourBits`](crate::element::FourBits) have fewer bits than their bytes: `tf32` is read as itself only, elements of four bits as one
    /// another, and by [`repack`](Self::repack) as wider ones.
    #[inline_on_device]
    #[doc(alias("element_bitcast"))]
    pub fn bitcast<U: Element>(self) -> Tile<U, S, L>
    where
        T::Bits: SameSize<U::Bits>,
    {
        const {
            assert!(
                T::BIT_WIDTH == U::BIT_WIDTH,
                "bitcast: tf32 has 19 bits, f4e2m1, i4 and u4 have 4; only elements of equally many bits are read as one another"
            )
        };
        self.map(|x| U::from_bits(x.to_bits().same()))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Applies `function` to each element.
    ///
    /// `function` captures by value: `move |x| x * scale`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4]).map(|x| if x > 1 { x } else { -x });
    ///     assert_eq!((t.at([1]), t.at([2])), (-1, 2));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// Every thread runs `function` for each of its elements. Threads share no state, so that `function` cannot keep any.
    #[inline_on_device]
    pub fn map<U: Element>(self, function: impl Fn(T) -> U + Send + Sync + 'static) -> Tile<U, S, L> {
        Tile::from_registers_fn(|i| function(self.registers.get(i)))
    }

    /// Applies `function` to each element, as [`map`](Self::map) does, to 16 elements of a thread at a time.
    ///
    /// It is for tiles that take most registers, such as the accumulators of a large product.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let sums = cx.full(shape![32, 64], 2.0_f32);
    ///     let stored = sums.map_by_turns(|x| f16::from_f32(x * x + 1.0));
    ///     assert_eq!(stored.at([31, 63]).to_f32(), 5.0);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The assembler computes as many elements side by side as there seem to be registers for. Beside a tile that takes most registers, the
    /// intermediate results of `function` do not fit, and go through local memory. Those of 16 elements do fit. Elements that do not have
    /// 32 bits are computed as `map` computes them.
    #[inline_on_device]
    pub fn map_by_turns<U: Element>(
        self,
        function: impl Fn(T) -> U + Send + Sync + 'static,
    ) -> Tile<U, S, L> {
        if const { Self::REGISTERS <= TURN || size_of::<T::Bits>() != 4 } {
            return self.map(function);
        }
        Tile::from_registers_fn(|i| {
            if i.is_multiple_of(TURN) {
                arch::warpgroup::schedule_fence();
            }
            let bits = self.registers.get(i).to_bits();
            // SAFETY: the bits are a word, as was asked above, of the element that they are read as again.
            let element = unsafe {
                let word = arch::execution::rematerialise(core::ptr::from_ref(&bits).cast::<u32>().read());
                T::from_bits(core::ptr::from_ref(&word).cast::<T::Bits>().read())
            };
            function(element)
        })
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The number of elements of the tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     fn length<T: Element, S: Shape, L: Layout>(_: Tile<T, S, L>) -> usize {
    ///         Tile::<T, S, L>::LEN
    ///     }
    ///     assert_eq!(length(cx.full(shape![4, 8], 0u8)), 32);
    /// });
    /// ```
    pub const LEN: usize = S::LEN;

    /// The number of elements that each thread holds.
    ///
    /// More than about 128 four-byte elements spill to local memory.
    pub const REGISTERS: usize = <L::Registers<S> as PowerOfTwo>::COUNT;

    /// The element at `index`, the same on every thread.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.iota::<i32>(shape![2, 4]).at([1, 2]), 6);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If a number of `index` is not below its dimension (on the device: traps). An index with more or fewer numbers than the tile has
    /// dimensions does not compile.
    ///
    /// # On a GPU
    ///
    /// The thread that holds the element writes it to shared memory by `st.shared`, and all threads read it by `ld.shared` (PTX ISA, "Data
    /// Movement and Conversion Instructions: st" and "ld"), with a barrier before and after the write.
    #[inline_on_device]
    #[track_caller]
    pub fn at<const R: usize>(self, index: [u32; R]) -> T {
        const { assert!(R == S::DESCRIPTION.rank, "Tile::at takes one index for each dimension of the tile") };
        let mut flat = 0;
        let mut axis = 0;
        while axis < R {
            if index[axis] as usize >> S::DESCRIPTION.log[axis] != 0 {
                let mut failure = arch::messages::Failure::new("", ELEMENT);
                failure.number(u64::from(index[axis]));
                failure.number(axis as u64);
                failure.number(1 << S::DESCRIPTION.log[axis]);
                failure.end()
            }
            flat |= (index[axis] as usize) << S::DESCRIPTION.low_bit(axis);
            axis += 1;
        }
        self.broadcast_element(flat)
    }

    /// The only element of a tile of one element, the same on every thread.
    ///
    /// A tile of more elements does not compile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.iota::<i32>(shape![2, 4]).sum::<ALL>().item(), 28);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// As [`at`](Self::at).
    #[inline_on_device]
    #[doc(alias("tile_to_scalar"))]
    pub fn item(self) -> T {
        const {
            assert!(
                S::LEN == 1,
                "Tile::item takes the element of a tile of exactly one element; use `at` for a larger tile"
            )
        };
        self.broadcast_element(0)
    }

    /// The coordinate of each element of this tile along axis `A`, as [`Cx::coordinate`](crate::context::Cx::coordinate) gives it.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.ones::<f32>(shape![4, 4]);
    ///     let lower = t.coordinates::<1>().le(t.coordinates::<0>()).select(t, 0.0);
    ///     assert_eq!((lower.at([2, 1]), lower.at([1, 2])), (1.0, 0.0));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the tile, so that a mask made of it costs no exchange.
    #[inline_on_device]
    pub fn coordinates<const A: usize>(self) -> Tile<u32, S, L>
    where
        S: Axis<A>,
    {
        Tile::coordinate()
    }

    /// The same tile in the layout [`Blocked`], that of loads and creations.
    ///
    /// A variable that is assigned in a loop has one layout. Its first value may need this conversion:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let mut largest = cx.full(shape![2, 1], 0i32);
    ///     for k in 1..4 {
    ///         largest = cx.arange(shape![2, 4], k, 1).max::<1>().blocked();
    ///     }
    ///     assert_eq!(largest.at([1, 0]), 10);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// Elements that change their thread go through shared memory: [`ops::shapes`](crate::ops::shapes#on-a-gpu).
    #[inline_on_device]
    pub fn blocked(self) -> Tile<T, S, Blocked<L::Block>> {
        self.spread()
    }
}

sealed! { [T: Element, S: Shape, L: Layout] Tile<T, S, L>; }
