//! The kernels that a device has for a product, and the kernel of a plan.

use std::format;
use std::string::String;
use std::vec::Vec;

use cuda_tiles::element::Element;
use cuda_tiles_host::{Device, Error, Result};

use super::multiply::{Candidate, Multiply};
use super::packing::Bits;
use super::plan::{Decomposition, Machine, Major, Plan, Problem, TileConfig};
use crate::gemm::epilogue::LARGEST_WITH_BETA;
use crate::gemm::scheduler::stores_partial_sums;

/// The machine behind a device, and the configurations of its kernels for some element types.
pub(super) struct Available {
    pub(super) machine: Machine,
    /// The configurations of kernels that store the result.
    pub(super) direct: Vec<TileConfig>,
    /// The configurations of kernels that store partial sums.
    pub(super) partial_sums: Vec<TileConfig>,
}

impl Available {
    pub(super) fn on<T, U, O>(device: &Device) -> Result<Self>
    where
        T: Multiply<U, O>,
        U: Element<Bits: Bits>,
        O: Element,
    {
        let image = match T::DIRECT.first() {
            Some(candidate) => device.image_of((candidate.description)())?,
            None => None,
        };
        let machine = image.map_or(Machine::Cpu, |image| Machine::Gpu {
            wgmma: image.has_warpgroups(),
            multiprocessors: device.multiprocessors(),
        });
        let mut partial_sums = configs(T::PARTIAL_SUMS, machine);
        partial_sums.retain(has_partial_sums::<T::Sum>);
        Ok(Self { machine, direct: configs(T::DIRECT, machine), partial_sums })
    }
}

/// Whether the kernel of a configuration with accumulators of type `C` stores partial sums, if its result has that type.
///
/// Kernels with tiles of fewer rows than columns swap operands, so that rows are the columns of their accumulators.
fn has_partial_sums<C: Element>(config: &TileConfig) -> bool {
    let bytes = size_of::<C::Bits>();
    !config.loads.is_by_tma() || stores_partial_sums(bytes, bytes, config.rows.min(config.columns))
}

/// Whether packing elements of type `T` is faster on GPUs without `wgmma`, whose warps load MN-major elements of 32 bits one by one.
fn needs_wgmma<T: Element>(config: &TileConfig) -> bool {
    config.loads.is_by_tma()
        && size_of::<T::Bits>() == 4
        && (config.a == Some(Major::Column) || config.b == Some(Major::Row))
}

/// The configurations of the candidates that have code for a machine and suit it.
fn configs<T: Element, U: Element, O: Element, C>(
    candidates: &[Candidate<T, U, O, C>],
    machine: Machine,
) -> Vec<TileConfig> {
    let serves = |candidate: &&Candidate<T, U, O, C>| {
        let description = (candidate.description)();
        match machine {
            Machine::Cpu => description.on_cpu,
            Machine::Gpu { wgmma, .. } => {
                description.targets.include(wgmma) && (wgmma || !needs_wgmma::<T>(&candidate.config))
            }
        }
    };
    candidates.iter().filter(serves).map(|candidate| candidate.config).collect()
}

/// The first candidate that can follow a plan.
pub(super) fn find<'k, T: Element, U: Element, O: Element, C: Element>(
    candidates: &'k [Candidate<T, U, O, C>],
    problem: &Problem,
    plan: Plan,
) -> Result<&'k Candidate<T, U, O, C>> {
    let serves = |candidate: &&Candidate<T, U, O, C>| {
        let TileConfig { loads, rows, columns, .. } = candidate.config;
        let has_beta = plan.decomposition != Decomposition::DataParallel
            || !problem.beta
            || !loads.is_by_tma()
            || rows * columns <= LARGEST_WITH_BETA;
        loads == plan.loads
            && [rows, columns] == [plan.rows, plan.columns]
            && problem.multiplies(&candidate.config)
            && has_beta
            && (plan.decomposition == Decomposition::DataParallel || has_partial_sums::<C>(&candidate.config))
    };
    match candidates.iter().find(serves) {
        Some(candidate) => Ok(candidate),
        None => no_kernel(plan),
    }
}

/// The error for a plan that no kernel can follow.
pub(super) fn no_kernel<R>(plan: Plan) -> Result<R> {
    refuse(format!("there is no kernel for the plan `{plan}`; `Gemm::plans` has those for a product"))
}

/// The error of operands that do not go together.
pub(super) fn refuse<R>(problem: String) -> Result<R> {
    Err(Error::Operands { operation: "gemm", problem })
}
