//! All arguments of a launch.

use cuda_tiles::launch::{Description, Parameter};

use super::{Argument, Launching};
use crate::error::{ArgumentError, Error, Result};
use crate::stream::Stream;

/// The arguments of a launch: a tuple with one [`Argument`] for each of the kernel's parameters, up to twelve.
#[diagnostic::on_unimplemented(
    message = "the kernel takes the parameters `{P}`, but was given `{Self}`",
    label = "not the kernel's parameters `{P}`",
    note = "pass a tuple with one argument for each parameter, in their order; `(x,)` is a tuple of one"
)]
pub trait Arguments<P, S = Stream> {
    /// The values of all parameters, for a kernel that is about to be given to the stream. They may be used as long as
    /// the arguments live.
    ///
    /// # Errors
    /// The first problem, and the position of its argument, from 0.
    fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<P, (usize, Box<ArgumentError>)>;
}

macro_rules! arguments {
    ($($parameter:ident $argument:ident $position:tt),*) => {
        impl<S, $($parameter: Parameter, $argument: Argument<$parameter, S>),*> Arguments<($($parameter,)*), S> for ($($argument,)*) {
            #[allow(unused_variables, reason = "a kernel may have no parameters")]
            fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<($($parameter,)*), (usize, Box<ArgumentError>)> {
                // No closures: each would be compiled for each kernel.
                Ok(($(
                    match self.$position.resolve(launch) {
                        Ok(parameter) => parameter,
                        Err(problem) => return Err(($position, Box::new(problem))),
                    },
                )*))
            }
        }
    };
}

arguments!();
arguments!(P0 A0 0);
arguments!(P0 A0 0, P1 A1 1);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8, P9 A9 9);
arguments!(P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8, P9 A9 9, P10 A10 10);
arguments!(
    P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8, P9 A9 9, P10 A10 10, P11 A11 11
);

/// The problem of a launch's argument, with the names of kernel and parameter.
pub(crate) fn in_place(kernel: &Description, (index, problem): (usize, Box<ArgumentError>)) -> Error {
    let name = kernel.arguments.get(index).copied().unwrap_or("unnamed");
    Error::Argument { kernel: kernel.name, position: index + 1, name, problem }
}
