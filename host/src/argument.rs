//! What can be passed to a kernel for each of its parameters.

use cuda_tiles::element::Element;
use cuda_tiles::launch::{ByValue, Parameter, Plain, Single};
use cuda_tiles::shape::{OfRank, Rank};
use cuda_tiles::span::{
    Access, Alignment, Atomic, Bounded, Divisible, Exclusive, Extents, Fact, Mapping, ReadOnly, TensorSpan,
};

mod aggregate;
mod all;

#[allow(unused_imports, reason = "for links in the documentation")]
use cuda_tiles::{
    launch::List,
    memory::{TmaLoad, TmaStore},
};

use crate::error::{ArgumentError, Result};
use crate::stream::Stream;
use crate::tensor::{Layout, Tensor, TensorView, TensorViewMut};
use crate::tensor_maps::MapKeeper;

pub use all::Arguments;
pub(crate) use all::in_place;

/// A value that can be passed for a kernel parameter of type `P`, in a launch on a stream of type `S`. `F` is the parameter's own form, which
/// keeps arguments for parts of a parameter from those that are one.
///
/// | parameter | argument |
/// |---|---|
/// | read-only span | `&tensor`, or a [`TensorView`] |
/// | writable or atomic span | `&mut tensor`, or a [`TensorViewMut`] |
/// | [`TmaLoad`] | `&tensor`, or a [`TensorView`], of two axes or three |
/// | [`TmaStore`] | `&mut tensor`, or a [`TensorViewMut`], of two axes or three |
/// | number or `bool` | a value of just this type |
/// | [`Divisible`], [`Bounded`] | the number itself, which must be as they say |
/// | tuple, or struct with `#[derive(Parameter)]` | a tuple of arguments, one for each field in their order |
/// | array | an array of arguments |
/// | [`List`] | an array, a `Vec` or a slice of as many arguments as the list holds, or fewer |
/// | [`ByValue`] | the struct |
///
/// Mistakes do not compile. A writable span needs a mutable borrow:
///
/// ```compile_fail,E0277
/// # use cuda_tiles::prelude::*;
/// # use cuda_tiles_host::{Device, Launch, Tensor};
/// # #[kernel]
/// # fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
/// #     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
/// #     y.store(x.load(cx.bid::<0>()) * 2.0, cx.bid::<0>());
/// # }
/// let (x, y) = (Tensor::full(&Device::cpu(), [64], 1.0_f32)?, Tensor::full(&Device::cpu(), [64], 0.0_f32)?);
/// double.launch(&Device::cpu(), 1, (&x, &y))?;
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// What a kernel writes it cannot have as another argument:
///
/// ```compile_fail,E0502
/// # use cuda_tiles::prelude::*;
/// # use cuda_tiles_host::{Device, Launch, Tensor};
/// # #[kernel]
/// # fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
/// #     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
/// #     y.store(x.load(cx.bid::<0>()) * 2.0, cx.bid::<0>());
/// # }
/// let mut x = Tensor::full(&Device::cpu(), [64], 1.0_f32)?;
/// double.launch(&Device::cpu(), 1, (&x, &mut x))?;
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// The ranks must agree:
///
/// ```compile_fail,E0277
/// # use cuda_tiles::prelude::*;
/// # use cuda_tiles_host::{Device, Launch, Tensor};
/// # #[kernel]
/// # fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
/// #     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
/// #     y.store(x.load(cx.bid::<0>()) * 2.0, cx.bid::<0>());
/// # }
/// let (x, mut y) = (Tensor::full(&Device::cpu(), [8, 8], 1.0_f32)?, Tensor::full(&Device::cpu(), [64], 0.0_f32)?);
/// double.launch(&Device::cpu(), 1, (&x, &mut y))?;
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// The borrow that an argument is lasts for the call of the launch; that the kernel may use the tensor longer is kept in
/// the tensor's own account.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel's parameter `{P}`",
    label = "the kernel's parameter is `{P}`",
    note = "pass `&tensor` or `tensor.view()` for a read-only span or a `TmaLoad`, `&mut tensor` or `tensor.view_mut()` for a \
            writable span or a `TmaStore`",
    note = "element type and rank must be the parameter's own; a number must have just the parameter's type, as in `1.0_f32`"
)]
pub trait Argument<P: Parameter, S = Stream, F = <P as Parameter>::Form> {
    /// The parameter's value, for a kernel that is about to be given to the stream. It may be used as long as the
    /// argument itself lives: only this crate can call the function, and implement the trait.
    ///
    /// # Errors
    /// If the argument is on another device than the stream, or does not fit the parameter.
    fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<P, ArgumentError>;
}

/// A launch in preparation. The type has no name outside this crate, which keeps [`Argument`] and [`Arguments`] to it.
pub struct Launching<'launch, S> {
    pub(crate) stream: &'launch S,
    /// The tensor maps of the stream's device.
    pub(crate) maps: &'launch dyn MapKeeper,
}

impl<T: Element, S> Argument<T, S, Single> for T {
    fn resolve(&mut self, _launch: &Launching<'_, S>) -> Result<T, ArgumentError> {
        Ok(*self)
    }
}

impl<T: Plain, S> Argument<ByValue<T>, S, Single> for T {
    fn resolve(&mut self, _launch: &Launching<'_, S>) -> Result<ByValue<T>, ArgumentError> {
        Ok(ByValue(*self))
    }
}

macro_rules! facts {
    ($([$($parameter:tt)*] $fact:ty;)*) => { $(
        impl<T: Element, S, $($parameter)*> Argument<$fact, S, Single> for T
        where
            $fact: Fact<Number = T> + Parameter<Form = Single>,
        {
            fn resolve(&mut self, _launch: &Launching<'_, S>) -> Result<$fact, ArgumentError> {
                <$fact>::try_new(*self).map_err(ArgumentError::Fact)
            }
        }
    )* };
}

facts! {
    [const K: u64] Divisible<T, K>;
    [const LOW: i64, const HIGH: i64] Bounded<T, LOW, HIGH>;
}

impl<T, E, M, G, const RANK: usize> Argument<TensorSpan<T, E, ReadOnly, M, G>> for &Tensor<T, RANK>
where
    T: Element,
    E: Extents + OfRank<Rank<RANK>>,
    M: Mapping,
    G: Alignment,
{
    fn resolve(
        &mut self,
        launch: &Launching<'_, Stream>,
    ) -> Result<TensorSpan<T, E, ReadOnly, M, G>, ArgumentError> {
        self.view().resolve(launch)
    }
}

impl<T, E, M, G, const RANK: usize> Argument<TensorSpan<T, E, ReadOnly, M, G>> for TensorView<'_, T, RANK>
where
    T: Element,
    E: Extents + OfRank<Rank<RANK>>,
    M: Mapping,
    G: Alignment,
{
    fn resolve(
        &mut self,
        launch: &Launching<'_, Stream>,
    ) -> Result<TensorSpan<T, E, ReadOnly, M, G>, ArgumentError> {
        let memory = self.storage.lend(launch.stream)?;
        // SAFETY: the layout stays within the storage, which the kernel may read from now on: on the CPU it ends before
        // this borrow does, on the GPU the storage's account knows of it.
        unsafe { span(memory, &self.layout) }
    }
}

macro_rules! writable {
    ($($access:ident by $lend:ident;)*) => { $(
        impl<T, E, M, G, const RANK: usize> Argument<TensorSpan<T, E, $access, M, G>> for &mut Tensor<T, RANK>
        where
            T: Element,
            E: Extents + OfRank<Rank<RANK>>,
            M: Mapping,
            G: Alignment,
        {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TensorSpan<T, E, $access, M, G>, ArgumentError> {
                self.view_mut().resolve(launch)
            }
        }

        impl<T, E, M, G, const RANK: usize> Argument<TensorSpan<T, E, $access, M, G>> for TensorViewMut<'_, T, RANK>
        where
            T: Element,
            E: Extents + OfRank<Rank<RANK>>,
            M: Mapping,
            G: Alignment,
        {
            fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<TensorSpan<T, E, $access, M, G>, ArgumentError> {
                let memory = self.storage.$lend(launch.stream)?;
                // SAFETY: as for reading, and the borrow is the only one: nothing else reads or writes the storage
                // while the kernel uses it.
                unsafe { span(memory, &self.layout) }
            }
        }
    )* };
}

writable! {
    Exclusive by lend_mut;
    Atomic by lend_for_updates;
}

/// The span of a layout in memory.
///
/// # Safety
/// The layout stays within the memory, which a kernel may use, in the way that the span's access allows, as long as the
/// span is used.
pub(crate) unsafe fn span<T, E, A, M, G, const RANK: usize>(
    memory: *mut u8,
    layout: &Layout<RANK>,
) -> Result<TensorSpan<T, E, A, M, G>, ArgumentError>
where
    T: Element,
    E: Extents + OfRank<Rank<RANK>>,
    A: Access,
    M: Mapping,
    G: Alignment,
{
    // The offset counts elements of an allocation, so neither it nor its bytes overflow.
    let first = memory.wrapping_add(layout.offset * size_of::<T>()).cast::<T::Bits>();
    let (lengths, strides) = layout.lengths_and_strides();
    // SAFETY: passed on to the caller.
    match unsafe { TensorSpan::try_from_parts(first, &lengths, &strides) } {
        Ok(span) => Ok(span),
        Err(problem) => Err(layout.no_span(problem)),
    }
}
