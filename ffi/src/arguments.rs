//! The arguments of a call: how many, on which device, and which memory is whose.

use std::ops::Range;

use crate::abi::{Any, DLDevice, device_type};
use crate::call::{Call, Failure};
use crate::error::{Exception, Function, Problem};
use crate::value::{Array, Value};

/// The arguments of a call, and what is known of all of them.
pub struct Arguments<'call> {
    function: &'static Function,
    values: Vec<Value<'call>>,
    call: Call,
    /// The memory of the tensors that were held so far.
    claims: Vec<Claim>,
}

/// Memory of a tensor, by its addresses.
struct Claim {
    memory: Range<usize>,
    access: Access,
    position: usize,
}

/// What a function does with a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl<'call> Arguments<'call> {
    /// Reads the arguments of a call, finds their device and opens it.
    ///
    /// # Safety
    /// `arguments` is the address of `count` arguments as `c_api.h` describes them, which stay as they are for `'call`.
    pub(crate) unsafe fn read(
        function: &'static Function,
        arguments: *const Any,
        count: i32,
    ) -> Result<Self, Exception> {
        let names = function.parameters;
        if usize::try_from(count) != Ok(names.len()) {
            let given = if count == 1 { "1 was".to_owned() } else { format!("{count} were") };
            return Err(Problem::Count { names, given }.of(function));
        }
        let mut values = Vec::with_capacity(names.len());
        for position in 0..names.len() {
            // SAFETY: there are so many arguments, says the caller.
            let value = unsafe { Value::read(&*arguments.add(position)) };
            values.push(value.map_err(|problem| problem.at(function, position))?);
        }
        let place = place(function, &values)?;
        let call = Call::on(place).map_err(|failure| match failure {
            Failure::Problem(problem) => problem.of(function),
            Failure::Host(error) => error.into(),
        })?;
        Ok(Self { function, values, call, claims: Vec::new() })
    }

    /// Where the call works.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The argument at a position.
    pub(crate) fn value(&self, position: usize) -> &Value<'call> {
        &self.values[position]
    }

    /// The exception that an argument is of another type.
    pub(crate) fn expected(&self, position: usize, wanted: impl Into<String>) -> Exception {
        let given = self.values[position].describe();
        Problem::Type { wanted: wanted.into(), given }.at(self.function, position)
    }

    /// The exception about an argument.
    pub(crate) fn refused(&self, position: usize, problem: Problem) -> Exception {
        problem.at(self.function, position)
    }

    /// Notes what memory an argument has, unless it overlaps that of another argument and one of both is written. That is what makes
    /// Rust's references of them.
    pub(crate) fn claim(
        &mut self,
        position: usize,
        memory: Range<usize>,
        access: Access,
    ) -> Result<(), Exception> {
        let meets = |claim: &&Claim| {
            let overlap = claim.memory.start.max(memory.start) < claim.memory.end.min(memory.end);
            overlap && (access == Access::Write || claim.access == Access::Write)
        };
        if let Some(claim) = self.claims.iter().find(meets) {
            let name = |position: usize| self.function.parameters[position];
            let written = if access == Access::Write { position } else { claim.position };
            let problem = Problem::Overlap { other: name(claim.position), written: name(written) };
            return Err(self.refused(position, problem));
        }
        self.claims.push(Claim { memory, access, position });
        Ok(())
    }
}

/// The device of all tensors; `None` if there is no tensor.
fn place(function: &'static Function, values: &[Value<'_>]) -> Result<Option<DLDevice>, Exception> {
    let mut first: Option<(usize, DLDevice)> = None;
    for (position, value) in values.iter().enumerate() {
        let Value::Tensor(Array { device: found, .. }) = value else { continue };
        let Some(found) = usable(*found) else {
            return Err(Problem::ForeignDevice { found: name(*found) }.at(function, position));
        };
        match first {
            None => first = Some((position, found)),
            Some((_, expected)) if expected == found => {}
            Some((first, expected)) => {
                let first = function.parameters[first];
                let problem = Problem::OtherDevice { found: name(found), first, expected: name(expected) };
                return Err(problem.at(function, position));
            }
        }
    }
    Ok(first.map(|(_, device)| device))
}

/// The device whose kernels can use this memory, if there is one here.
fn usable(place: DLDevice) -> Option<DLDevice> {
    match place.device_type {
        device_type::CPU | device_type::CUDA_HOST => {
            Some(DLDevice { device_type: device_type::CPU, device_id: 0 })
        }
        device_type::CUDA => Some(place),
        _ => None,
    }
}

/// A device in words.
fn name(DLDevice { device_type: kind, device_id: ordinal }: DLDevice) -> String {
    match kind {
        device_type::CPU | device_type::CUDA_HOST => "the CPU".to_owned(),
        device_type::CUDA => format!("CUDA device {ordinal}"),
        device_type::ROCM => format!("ROCm device {ordinal}"),
        device_type::CUDA_MANAGED => "CUDA's managed memory".to_owned(),
        _ => format!("a device of DLPack's type {kind}"),
    }
}
