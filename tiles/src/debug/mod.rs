//! Looking into running kernels: [`tile_print!`](crate::tile_print), [`tile_assert!`](crate::tile_assert), and how a kernel
//! on a GPU tells the host what went wrong.
//!
//! What the compiler can decide is asserted with `const { assert!(N.is_multiple_of(2), "N is even") }`: it costs nothing
//! at run time, and a kernel that violates it does not compile.
//!
//! Kernels that neither print nor assert contain nothing of this but the report of a failed bounds check, off the path
//! that is taken.

#[doc(hidden)]
pub mod format;
mod print;
#[doc(hidden)]
pub mod read;

pub use print::{Arguments, Condition, Printable};
#[doc(hidden)]
pub use print::{assert, print};

/// The layout of the buffer through which a module speaks to the host, for the host.
#[doc(hidden)]
pub mod protocol {
    pub use crate::protocol::*;
}

const _: () =
    assert!(protocol::LONGEST_LIST == crate::shape::MAXIMUM_RANK, "a list has a number for each axis");

/// Prints tiles and numbers from a kernel: `tile_print!(cx, "row {}: {:.3}", i, tile)`.
///
/// The text is a literal in the language of `std::fmt`, without names and numbers of arguments. `{}` writes all elements of a
/// tile, in row-major order and in brackets for each axis.
///
/// On the CPU the text is written at once. On a GPU the elements travel to the host, which writes the text when the program
/// next waits for the GPU. Both give the same text, a line for each call, to standard output or to the printer of
/// `cuda_tiles_host::set_printer`.
///
/// A line is whole, but the order of blocks is any. The GPU has room for 1 MiB between two waits. Further text is lost, and a
/// line says so.
///
/// ```
/// use cuda_tiles::prelude::*;
///
/// #[kernel]
/// fn double(cx: Cx, x: SpanMut<f32, (u32,)>) {
///     let x = x.partition(cx, shape![4]);
///     let i = cx.bid::<0>();
///     let t = x.load_masked(Zero, i) * 2.0;
///     tile_print!(cx, "tile {} is {:?}", i, t); // tile 0 is [2.0, 4.0, 6.0, 8.0]
///     x.store_masked(t, i);
/// }
/// ```
#[macro_export]
#[doc(alias("printf", "print", "cuda_tile_print", "device_print"))]
macro_rules! tile_print {
    ($cx:expr, $text:literal $(, $argument:expr)* $(,)?) => {{
        const {
            ::core::assert!(
                $crate::debug::format::places($text) == 0 $(+ { _ = ::core::stringify!($argument); 1 })*,
                "the text of tile_print! has one {{}} for each argument, and doubled braces elsewhere"
            )
        };
        $crate::debug::print($cx, $text, $crate::__arguments!($($argument,)*))
    }};
}

/// Demands that all elements of a mask are true, or a `bool`: `tile_assert!(cx, x.ge(0.0), "negative input: {}", x)`.
///
/// Where an element is false, the kernel ends, and the launch has failed with an error that names kernel, block, element,
/// message and source line: the launch itself returns it on the CPU, the next call that waits on a GPU. As after a failed
/// bounds check the process cannot use that GPU any more. Checking takes a reduction over the block: it is for
/// development, or guarded by `if cfg!(debug_assertions)`.
///
/// ```
/// use cuda_tiles::prelude::*;
///
/// #[kernel]
/// fn root(cx: Cx, x: SpanMut<f32, (u32,)>) {
///     let x = x.partition(cx, shape![64]);
///     let i = cx.bid::<0>();
///     let t = x.load_masked(Zero, i);
///     tile_assert!(cx, t.ge(0.0), "square roots are of numbers from 0 on");
///     x.store_masked(t.sqrt(), i);
/// }
/// ```
#[macro_export]
#[doc(alias("assert", "cuda_tile_assert", "device_assert"))]
macro_rules! tile_assert {
    ($cx:expr, $condition:expr $(,)?) => {
        $crate::debug::assert(
            $cx,
            $condition,
            ::core::stringify!($condition),
            || (),
        )
    };
    ($cx:expr, $condition:expr, $text:literal $(, $argument:expr)* $(,)?) => {{
        const {
            ::core::assert!(
                $crate::debug::format::places($text) == 0 $(+ { _ = ::core::stringify!($argument); 1 })*,
                "the text of tile_assert! has one {{}} for each argument, and doubled braces elsewhere"
            )
        };
        $crate::debug::assert($cx, $condition, $text, || $crate::__arguments!($($argument,)*))
    }};
}

/// The arguments of a text as a list.
#[doc(hidden)]
#[macro_export]
macro_rules! __arguments {
    () => { () };
    ($first:expr, $($rest:expr,)*) => { ($first, $crate::__arguments!($($rest,)*)) };
}
