//! Arguments for parameters that are made of others: tuples, structs, arrays and lists.

use cuda_tiles::launch::{Aggregate, Composite, List, Parameter};

use super::{Argument, Arguments, Launching};
use crate::error::{ArgumentError, Result};

macro_rules! fields {
    ($($($argument:ident)*;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<P: Aggregate + Parameter<Form = Composite>, S, $($argument),*> Argument<P, S, Composite> for ($($argument,)*)
        where
            Self: Arguments<P::Fields, S>,
        {
            fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<P, ArgumentError> {
                match Arguments::<P::Fields, S>::resolve(self, launch) {
                    Ok(fields) => Ok(P::from_fields(fields)),
                    Err((index, problem)) => {
                        let name = P::NAMES.get(index).copied().unwrap_or("unnamed");
                        Err(ArgumentError::Field { name, problem })
                    }
                }
            }
        }
    )* };
}

fields! {
    A0;
    A0 A1;
    A0 A1 A2;
    A0 A1 A2 A3;
    A0 A1 A2 A3 A4;
    A0 A1 A2 A3 A4 A5;
    A0 A1 A2 A3 A4 A5 A6;
    A0 A1 A2 A3 A4 A5 A6 A7;
    A0 A1 A2 A3 A4 A5 A6 A7 A8;
    A0 A1 A2 A3 A4 A5 A6 A7 A8 A9;
    A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 A10;
    A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11;
}

#[diagnostic::do_not_recommend]
impl<P: Parameter, S, A: Argument<P, S>, const N: usize> Argument<[P; N], S, Composite> for [A; N] {
    fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<[P; N], ArgumentError> {
        let mut elements = Vec::with_capacity(N);
        for (index, argument) in self.iter_mut().enumerate() {
            elements.push(item(argument, index, launch)?);
        }
        match elements.try_into() {
            Ok(elements) => Ok(elements),
            Err(_) => unreachable!("there are as many elements as arguments"),
        }
    }
}

/// An argument that stands at a place among others of its kind.
fn item<P: Parameter, S, A: Argument<P, S>>(
    argument: &mut A,
    index: usize,
    launch: &Launching<'_, S>,
) -> Result<P, ArgumentError> {
    argument.resolve(launch).map_err(|problem| ArgumentError::Item { index, problem: Box::new(problem) })
}

/// The list of some arguments.
fn list<P: Parameter, S, A: Argument<P, S>, const N: usize>(
    arguments: &mut [A],
    launch: &Launching<'_, S>,
) -> Result<List<P, N>, ArgumentError> {
    if arguments.len() > N {
        return Err(ArgumentError::ListLength { given: arguments.len(), most: N });
    }
    let items = arguments.iter_mut().enumerate().map(|(index, argument)| item(argument, index, launch));
    // SAFETY: each item is of an argument of its own. Arguments borrow what they refer to, mutably for what a kernel writes.
    unsafe { List::from_items(items) }
}

#[diagnostic::do_not_recommend]
impl<P: Parameter, S, A: Argument<P, S>, const N: usize, const GIVEN: usize> Argument<List<P, N>, S>
    for [A; GIVEN]
{
    fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<List<P, N>, ArgumentError> {
        list(self, launch)
    }
}

#[diagnostic::do_not_recommend]
impl<P: Parameter, S, A: Argument<P, S>, const N: usize> Argument<List<P, N>, S> for &mut [A] {
    fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<List<P, N>, ArgumentError> {
        list(self, launch)
    }
}

#[diagnostic::do_not_recommend]
impl<P: Parameter, S, A: Argument<P, S>, const N: usize> Argument<List<P, N>, S> for Vec<A> {
    fn resolve(&mut self, launch: &Launching<'_, S>) -> Result<List<P, N>, ArgumentError> {
        list(self, launch)
    }
}
