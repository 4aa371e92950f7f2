//! What `#[kernel]` makes of a function: an entry on the device, a typed handle on the host.
//!
//! Launching itself is the business of `cuda-tiles-host`; this module is the contract between both.

mod aggregate;
mod fingerprint;
mod list;

use crate::arch::execution::Place;
pub use crate::arch::partitions::Partitions;
use crate::arch::running;
use crate::context::Cx;
use crate::element::Element;
use crate::layout::Block;
use crate::sealed::Sealed;
pub use aggregate::{Aggregate, Pair};
use core::alloc::Layout;
use core::marker::PhantomData;
pub use fingerprint::Fingerprint;
pub use list::{List, ListParts};

/// What a kernel's attribute states, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The kernel's name, for messages: `scale`, or `scale_f32_64` of an instance.
    pub name: &'static str,
    /// Where it is defined, `kernels::filters::scale`. An entry on a device is the kernel's if it has the same path and the same
    /// fingerprint.
    pub path: &'static str,
    /// The function as it is declared, with the values of its generic parameters and without its body, for messages.
    pub declaration: &'static str,
    /// The hash of what its launch relies on: path, values of generic parameters, the attribute, arguments.
    pub fingerprint: u64,
    /// Threads of a block that hold tiles.
    pub threads: u32,
    /// Producer threads of a block beside these, in code for a target that has TMA: compute capability 9.0 and later.
    pub producer_threads: u32,
    /// How many blocks of `threads` threads a CTA has. They share its producer threads.
    pub consumers: u32,
    /// How many blocks form a cluster: the producer of its first block copies for all of them.
    pub cluster: u32,
    /// The number of grid axes that tell blocks apart, 1 to 3; further axes of a launch must have length 1.
    pub grid_rank: u32,
    /// Dynamic shared memory of a block, in bytes, in code for a target of each of the
    /// [`CLASSES`](crate::memory::shared::CLASSES).
    pub shared_bytes: [u32; 3],
    /// Whether a block may start before the kernel launched before it on its stream has ended; it waits by itself.
    pub dependent: bool,
    /// The GPUs that the kernel is for.
    pub targets: Targets,
    /// Whether the CPU runs the kernel: what `cpu = ..` says, and true without it.
    pub on_cpu: bool,
    /// The arguments' names.
    pub arguments: &'static [&'static str],
    /// The source file of the kernel.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
}

impl Description {
    /// How many blocks share a producer: a launch counts them as one.
    pub const fn blocks_of_producer(&self) -> u32 {
        self.consumers * self.cluster
    }
}

/// The GPUs that a kernel is for. The CPU runs every kernel, unless [`Description::on_cpu`] is false.
///
/// Code for other GPUs has the kernel's entry and nothing of its body. A launch on such a GPU is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// All GPUs.
    All,
    /// GPUs with warpgroups, compute capability 9.0, in code for `sm_90a`: `targets = warpgroups`, or `if warpgroups` behind an
    /// instance.
    Warpgroups,
    /// GPUs without warpgroups, and code that uses none: `targets = !warpgroups`, or `if !warpgroups` behind an instance.
    NoWarpgroups,
}

impl Targets {
    /// Whether code for a target is among them. `warpgroups` says whether the target has warpgroups.
    pub const fn include(self, warpgroups: bool) -> bool {
        match self {
            Self::All => true,
            Self::Warpgroups => warpgroups,
            Self::NoWarpgroups => !warpgroups,
        }
    }
}

/// A kernel as the host sees it, with arguments `P`, a tuple of [`Parameter`]s.
pub struct Kernel<P: Parameters> {
    description: Description,
    block: unsafe fn(BlockPosition, &P::Parts),
}

impl<P: Parameters> Clone for Kernel<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Parameters> Copy for Kernel<P> {}

impl<P: Parameters> Kernel<P> {
    /// A kernel with this description, of which `block` runs one block on the CPU. The attribute `#[kernel]` calls it.
    ///
    /// # Safety
    /// The device's entry of the described path and fingerprint and `block` both do what a safe kernel with arguments `P` does.
    pub const unsafe fn new(description: Description, block: unsafe fn(BlockPosition, &P::Parts)) -> Self {
        Self { description, block }
    }

    /// What the kernel's attribute states.
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Runs one block on the CPU.
    ///
    /// # Safety
    /// The spans among the parts are valid for the call, blocks of one launch differ in their position, and the grid
    /// has length 1 along axes beyond [`Description::grid_rank`].
    pub unsafe fn run_block(&self, position: BlockPosition, parts: &P::Parts) {
        let _entered = running::enter();
        // SAFETY: the same contract.
        unsafe { (self.block)(position, parts) }
    }
}

/// The place of a block's code in a kernel that the CPU does not run.
///
/// # Safety
/// Nothing is asked for.
///
/// # Panics
/// Always. A launch on the CPU is refused before.
#[doc(hidden)]
pub unsafe fn no_block<P>(_position: BlockPosition, _parts: &P) {
    panic!("the CPU has no code for this kernel: its attribute says `cpu = false`")
}

/// A kernel declared as `unsafe fn`: whoever launches it vouches for what its documentation demands.
pub struct UnsafeKernel<P: Parameters>(Kernel<P>);

impl<P: Parameters> UnsafeKernel<P> {
    /// A kernel with this description, of which `block` runs one block on the CPU. The attribute `#[kernel]` calls it.
    ///
    /// # Safety
    /// As for [`Kernel::new`], where the kernel is one whose own contract is met.
    pub const unsafe fn new(description: Description, block: unsafe fn(BlockPosition, &P::Parts)) -> Self {
        Self(Kernel { description, block })
    }

    /// The kernel as one that may be launched.
    ///
    /// # Safety
    /// Every launch of it meets what the kernel's documentation demands.
    pub const unsafe fn as_kernel(&self) -> &Kernel<P> {
        &self.0
    }
}

pub(crate) mod sealed {
    /// A token says that a block is there: this crate's alone do.
    pub trait RunningBlock {}
    impl<B> RunningBlock for crate::context::Cx<B> {}
}

/// The running block as the first argument of a kernel whose blocks are `B`: [`Cx<B>`](crate::context::Cx) or
/// [`WarpRoles<B>`](crate::pipeline::WarpRoles).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the running block of this kernel",
    label = "the kernel's blocks are `{B}`",
    note = "a kernel's first argument is `cx: Cx`, or `cx: Cx<B>` with `B: Block` as its first generic parameter; with threads that copy, \
            `roles: WarpRoles`"
)]
pub trait Token<B: Block>: sealed::RunningBlock {
    /// The token of the block at `place`.
    ///
    /// # Safety
    /// As for [`Cx::new`](crate::context::Cx::new) and [`WarpRoles::new`](crate::pipeline::WarpRoles::new).
    #[doc(hidden)]
    unsafe fn new(place: Place) -> Self;
}

impl<B: Block> Token<B> for Cx<B> {
    #[inline_on_device]
    unsafe fn new(place: Place) -> Self {
        // SAFETY: the same contract.
        unsafe { Self::new(place) }
    }
}

/// Which block of which grid.
#[derive(Clone, Copy)]
pub struct BlockPosition {
    /// The block's index along each axis.
    pub index: [u32; 3],
    /// The number of blocks along each axis.
    pub count: [u32; 3],
    /// The launch's record of how blocks cut writable tensors; without one it is not checked that all do so in the same way.
    pub partitions: Option<&'static Partitions>,
}

/// One argument of a kernel: a scalar, a struct of numbers, a span, a load or store operand; or a tuple, an array, a [`List`] or a
/// struct of arguments, by [`#[derive(Parameter)]`](macro@crate::Parameter). A kernel receives it as up to three parameters.
///
/// # Safety
/// `from_parts` gives back what `into_parts` took apart, and the types of the parts have the same layout on host and
/// device. Types of the same `FINGERPRINT` are made of the same parts and put together again in the same way.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a kernel",
    label = "not a kernel argument",
    note = "arguments are scalars of an element type, and spans: `Span<f32, (u32, D<64>)>`, `SpanMut<...>`, `SpanAtomic<...>`; \
            streamed matrices: `TmaLoad<f16, Shape2<128, 64>>`, `TmaStore<...>`; structs of these with `#[derive(Parameter)]`; and memory of \
            the block, marked `#[shared]`"
)]
#[doc(alias("ScalarInt64"))]
pub unsafe trait Parameter: Sized + 'static {
    /// The first part.
    type First: Copy + 'static;
    /// The second part; of size zero where there is none.
    type Second: Copy + 'static;
    /// The third part; of size zero where there is none.
    type Third: Copy + 'static;
    /// Whether a launch is given one argument for it, [`Single`], or a tuple or an array with arguments for its parts, [`Composite`].
    type Form;
    /// What a launch relies on: the same on the device and on the host, and different for types of different meaning.
    const FINGERPRINT: Fingerprint;
    /// Takes the argument apart.
    fn into_parts(self) -> Parts<Self>;
    /// Puts it together again.
    ///
    /// # Safety
    /// The parts come from an argument that is valid for the running kernel, and one that is not [`Copy`] is made only
    /// once by each block.
    unsafe fn from_parts(parts: Parts<Self>) -> Self;
}

/// The form of a [`Parameter`] for which a launch is given one argument.
pub enum Single {}

/// The form of a [`Parameter`] for whose parts a launch is given arguments: tuples, arrays and structs.
pub enum Composite {}

/// An argument taken apart.
#[repr(C)]
pub struct Parts<P: Parameter> {
    /// The first part.
    pub first: P::First,
    /// The second part.
    pub second: P::Second,
    /// The third part.
    pub third: P::Third,
}

impl<P: Parameter> Clone for Parts<P> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Parameter> Copy for Parts<P> {}

// SAFETY: parts are numbers and pointers that nobody follows but `from_parts`, whose contract covers threads.
unsafe impl<P: Parameter> Send for Parts<P> {}
// SAFETY: as above.
unsafe impl<P: Parameter> Sync for Parts<P> {}

impl<P: Parameter> Parts<P> {
    /// Hands the place and layout of each part that has any bytes to `sink`, in the order of the entry's parameters.
    fn visit(&self, sink: &mut dyn FnMut(*const u8, Layout)) {
        visit_value(&self.first, sink);
        visit_value(&self.second, sink);
        visit_value(&self.third, sink);
    }
}

/// Hands the place and layout of `value` to `sink`, if it has any bytes.
fn visit_value<T: Copy>(value: &T, sink: &mut dyn FnMut(*const u8, Layout)) {
    if size_of::<T>() > 0 {
        sink(core::ptr::from_ref(value).cast(), Layout::new::<T>());
    }
}

// SAFETY: a scalar is its bits.
#[diagnostic::do_not_recommend]
unsafe impl<T: Element> Parameter for T {
    type First = T::Bits;
    type Second = ();
    type Third = ();
    type Form = Single;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("scalar").word(T::NAME);
    #[inline_on_device]
    fn into_parts(self) -> Parts<T> {
        Parts { first: self.to_bits(), second: (), third: () }
    }
    #[inline_on_device]
    unsafe fn from_parts(parts: Parts<T>) -> T {
        T::from_bits(parts.first)
    }
}

/// A struct of numbers as one argument of a kernel, such as the description of an epilogue. A launch is given the struct itself.
///
/// [`#[derive(Parameter)]`](macro@crate::Parameter) needs no `unsafe` and takes spans as well; its launch is given the fields.
///
/// ```
/// use cuda_tiles::launch::{ByValue, Fingerprint, Plain};
/// use cuda_tiles::prelude::*;
///
/// /// `scale x + offset`.
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Line {
///     scale: f32,
///     offset: f32,
/// }
///
/// // SAFETY: two floats, in the order of C.
/// unsafe impl Plain for Line {
///     const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("Line");
/// }
///
/// #[kernel]
/// pub fn along(cx: Cx, line: ByValue<Line>, x: SpanMut<f32, (u32,)>) {
///     let (x, ByValue(line)) = (x.partition(cx, shape![256]), line);
///     let i = cx.bid::<0>();
///     x.store_masked(x.load_masked(Zero, i) * line.scale + line.offset, i);
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct ByValue<T>(pub T);

/// Structs of numbers, for [`ByValue`].
///
/// # Safety
/// The struct is `repr(C)`, and its fields are integers, floats, or such structs: no pointer, no reference. No other struct of other
/// fields has the same `FINGERPRINT`.
pub unsafe trait Plain: Copy + Send + 'static {
    /// The struct's name and the types that it is made of.
    const FINGERPRINT: Fingerprint;
}

// SAFETY: the part is the struct, whose fields have the same places on host and device.
unsafe impl<T: Plain> Parameter for ByValue<T> {
    type First = T;
    type Second = ();
    type Third = ();
    type Form = Single;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("by value").then(T::FINGERPRINT);
    #[inline_on_device]
    fn into_parts(self) -> Parts<Self> {
        Parts { first: self.0, second: (), third: () }
    }
    #[inline_on_device]
    unsafe fn from_parts(parts: Parts<Self>) -> Self {
        Self(parts.first)
    }
}

/// The arguments of a kernel: a tuple of at most twelve [`Parameter`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a kernel",
    label = "not kernel arguments",
    note = "a kernel takes at most 12 arguments, each a scalar, a span or a streamed matrix"
)]
pub trait Parameters: Sealed + 'static {
    /// All of them, taken apart.
    type Parts: Copy + Send + Sync + 'static;
    /// Takes them apart.
    fn into_parts(self) -> Self::Parts;
    /// Hands the place and layout of each parameter of the device entry to `sink`, in order. The places are valid during
    /// the call of `sink`; some of their bytes may be padding.
    fn visit(parts: &Self::Parts, sink: &mut dyn FnMut(*const u8, Layout));
}

macro_rules! parameters {
    ($(($($name:ident $index:tt)*);)*) => { $(
        impl<$($name: Parameter),*> Parameters for ($($name,)*) {
            type Parts = ($(Parts<$name>,)*);
            #[allow(clippy::unused_unit, reason = "the tuple of none")]
            fn into_parts(self) -> Self::Parts {
                ($(self.$index.into_parts(),)*)
            }
            fn visit(parts: &Self::Parts, sink: &mut dyn FnMut(*const u8, Layout)) {
                let _ = (parts, &sink);
                $( parts.$index.visit(sink); )*
            }
        }
    )* };
}
parameters! {
    ();
    (A 0);
    (A 0 B 1);
    (A 0 B 1 C 2);
    (A 0 B 1 C 2 D 3);
    (A 0 B 1 C 2 D 3 E 4);
    (A 0 B 1 C 2 D 3 E 4 F 5);
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6);
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
}

/// The parameters of an instance of a generic kernel, as a type: `T` is the tuple of its types and of the types that stand for its constants.
#[doc(alias("static_eval", "constexpr"))]
pub struct Instance<T>(PhantomData<T>);

macro_rules! constants {
    ($($name:ident $kind:ty;)*) => { $(
        /// A const parameter of an instance.
        pub struct $name<const VALUE: $kind>;
    )* };
}
constants! {
    Constant usize;
    ConstantU32 u32;
    ConstantI32 i32;
    ConstantBool bool;
}
