//! Which kernel for which product.
//!
//! A product goes by the plan that was measured to be the fastest, where [`Tuned`] has this very product on this GPU, and else
//! by an estimate of the time of every plan that there is:
//!
//! | shape | plan |
//! |---|---|
//! | many tiles | tiles of 128 x 256, each block its share of them |
//! | tiles for less than about half of the multiprocessors, or an unlucky last wave | tiles of 128 x 128 |
//! | few tiles and many steps along K | the sums in parts that several blocks work on, and a second pass |
//! | at most 64 rows, as in decoding | tiles of 16, 32 or 64 rows and 64 columns, in parts if they are few |
//!
//! The estimate counts waves of tiles over the multiprocessors, with what a step costs on the target of the image that was
//! loaded, which may be older than the GPU.

use std::any::type_name;
use std::collections::HashMap;
use std::fmt;
use std::string::String;
use std::sync::OnceLock;
use std::vec::Vec;

use cuda_tiles_host::Device;

use crate::gemm::epilogue::WIDEST_WITH_BETA;

/// How a factor lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stored {
    /// Row by row, as it is multiplied.
    Rows,
    /// Column by column: its transpose row by row.
    Columns,
}

/// What tells the kernels of one product apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) a: Stored,
    pub(super) b: Stored,
    /// Rows, columns and depth of a tile.
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) depth: usize,
    /// Whether sums of 8-bit floats are left to the tensor cores.
    pub(super) fast: bool,
}

/// A way to compute a product: the size of tiles, and in how many parts the sums are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Rows of a tile of the result.
    pub rows: usize,
    /// Columns of a tile.
    pub columns: usize,
    /// Parts of the sums, each a block's work, which a second pass adds up; 0 where the first one stores the result.
    pub parts: u32,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, parts } = self;
        write!(formatter, "tiles of {rows} x {columns}, {parts} part(s)")
    }
}

impl Plan {
    /// Whether there is a second pass over parts.
    pub(super) fn has_parts(&self) -> bool {
        self.parts > 0
    }
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) batches: usize,
    /// Rows and columns of the result, and the length of its sums.
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) a: Stored,
    pub(super) b: Stored,
    /// Whether sums of 8-bit floats may be left to the tensor cores.
    pub(super) fast: bool,
    /// Whether what the result holds before is added.
    pub(super) beta: bool,
}

/// The machine, as far as plans know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Cpu,
    /// The target has products of warpgroups, and so many multiprocessors.
    Gpu {
        warpgroups: bool,
        multiprocessors: u32,
    },
}

/// The fewest rows of the tiles that are for products of any number of rows; those of fewer are for products of few.
const MANY_ROWS: usize = 128;
/// The most parts.
const MOST_PARTS: u32 = 32;
/// The fewest steps of a part.
const LEAST_STEPS: usize = 4;

impl Problem {
    /// Whether a kernel of this form multiplies these factors, whatever their sizes.
    pub(super) fn multiplies(&self, form: &Form) -> bool {
        form.a == self.a && form.b == self.b && (self.fast || !form.fast)
    }

    /// The forms that serve: of those for few rows, the one of the fewest that are enough.
    fn serving<'f>(&self, forms: &'f [Form]) -> impl Iterator<Item = &'f Form> {
        let of_few = |form: &&Form| self.multiplies(form) && (self.rows..MANY_ROWS).contains(&form.rows);
        let fewest = forms.iter().filter(of_few).map(|form| form.rows).min();
        let problem = *self;
        forms.iter().filter(move |form| {
            problem.multiplies(form) && (form.rows >= MANY_ROWS || Some(form.rows) == fewest)
        })
    }

    /// The forms that serve to store the result.
    fn direct<'f>(&self, forms: &'f [Form]) -> impl Iterator<Item = &'f Form> {
        let beta = self.beta;
        // Wider tiles leave no registers for what was there before.
        self.serving(forms).filter(move |form| !beta || form.columns <= WIDEST_WITH_BETA)
    }

    /// Whether there is a plan.
    pub(super) fn has_plan(&self, direct: &[Form], parts: &[Form]) -> bool {
        self.direct(direct).next().is_some() || self.serving(parts).next().is_some()
    }

    /// All plans, of kernels that store the result and of those that store parts.
    pub(super) fn plans(&self, direct: &[Form], parts: &[Form]) -> Vec<Plan> {
        let plan = |form: &Form, parts| Plan { rows: form.rows, columns: form.columns, parts };
        let of_direct = self.direct(direct);
        let of_parts = self.serving(parts).flat_map(|form| {
            let steps = self.depth.div_ceil(form.depth);
            let counts =
                (1..=MOST_PARTS).filter(move |&count| count == 1 || steps >= count as usize * LEAST_STEPS);
            counts.map(move |count| plan(form, count))
        });
        of_direct.map(|form| plan(form, 0)).chain(of_parts).collect()
    }

    /// Tiles of the result, for the blocks to share.
    pub(super) fn tiles(&self, plan: Plan) -> usize {
        self.rows.div_ceil(plan.rows) * self.columns.div_ceil(plan.columns) * self.batches
    }

    /// The estimated time of a plan, in steps of a tile of 128 x 256.
    fn estimate(&self, plan: Plan, depth_of_step: usize, machine: Machine) -> f64 {
        let tiles = self.tiles(plan) as f64;
        let steps = self.depth.div_ceil(depth_of_step);
        let Machine::Gpu { warpgroups, multiprocessors } = machine else {
            // What counts is how much is multiplied, edges of tiles included.
            let passes = if plan.has_parts() { 2.0 } else { 1.0 };
            return tiles * (plan.rows * plan.columns * steps.max(1)) as f64 * passes;
        };
        let step = match (plan.rows, plan.columns, warpgroups) {
            (128, 256, true) => 1.0,
            (128, 128, true) => 0.56,
            (256, 64, true) => 0.36,
            (256, 32, true) => 0.2,
            (_, _, true) => 0.47,
            (128, 256, false) => 1.7,
            (128, 128, false) => 1.1,
            (256, 64, false) => 0.7,
            (256, 32, false) => 0.4,
            (_, _, false) => 0.5,
        };
        // What a tile costs besides its steps; what the second pass costs, and each megabyte that goes through it.
        let (tile, pass, megabyte) = (3.0, 5.0, 0.35);
        let parts = plan.parts.max(1);
        let waves = (tiles * f64::from(parts) / f64::from(multiprocessors)).ceil();
        let each = steps.div_ceil(parts as usize) as f64;
        let mut time = waves * (each * step + tile * plan.columns.max(64) as f64 / 256.0);
        if plan.has_parts() {
            let bytes = (self.rows * self.columns * self.batches * 4) as f64 * f64::from(2 * parts);
            time += pass + bytes / 1e6 * megabyte;
        }
        time
    }

    /// The plan with the least estimated time.
    pub(super) fn best(&self, direct: &[Form], parts: &[Form], machine: Machine) -> Option<Plan> {
        let depth = direct.iter().chain(parts).map(|form| form.depth).max()?;
        let plans = self.plans(direct, parts).into_iter();
        let timed = plans.map(|plan| (self.estimate(plan, depth, machine), plan));
        timed.min_by(|x, y| x.0.total_cmp(&y.0)).map(|(_, plan)| plan)
    }
}

/// The plans that were measured to be the fastest, of the files in `kernels/tuning/`, one for each GPU. What can be measured for
/// a product is what [`Gemm::plans`](super::Gemm::plans) gives. `cargo xtask tune` does.
pub(super) struct Tuned;

/// What was measured: the types, how the factors lie, batches, rows, columns and depth.
type Key = (String, [usize; 4]);

/// The files, by the names of the GPUs.
const FILES: [(&str, &str); 1] = [("NVIDIA H200", include_str!("../../../tuning/nvidia-h200.csv"))];

impl Tuned {
    /// How the files name a product of these types that lies like this.
    pub(super) fn name<T, U, O>(problem: &Problem) -> String {
        let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
        let letter = |stored| if stored == Stored::Rows { 'n' } else { 't' };
        std::format!(
            "{} {} {} {}{}{}",
            short(type_name::<T>()),
            short(type_name::<U>()),
            short(type_name::<O>()),
            letter(problem.a),
            letter(problem.b),
            match (problem.fast, problem.beta) {
                (false, false) => "",
                (true, false) => " fast",
                (false, true) => " beta",
                (true, true) => " fast beta",
            }
        )
    }

    /// The fastest plan of a product on a device, if it was measured.
    pub(super) fn plan<T, U, O>(problem: &Problem, device: &Device) -> Option<Plan> {
        static PLANS: OnceLock<HashMap<&'static str, HashMap<Key, Plan>>> = OnceLock::new();
        let plans = PLANS.get_or_init(|| FILES.into_iter().map(|(gpu, text)| (gpu, read(text))).collect());
        let of_device = plans.get(device.name()).filter(|plans| !plans.is_empty())?;
        let Problem { batches, rows, columns, depth, .. } = *problem;
        of_device.get(&(Self::name::<T, U, O>(problem), [batches, rows, columns, depth])).copied()
    }
}

/// The lines of a file of plans: `product,batches,rows,columns,depth,tile rows,tile columns,parts`, and the microseconds that
/// were measured, which nobody reads.
fn read(text: &str) -> HashMap<Key, Plan> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [product, numbers @ ..] = &fields[..] else { return None };
        let numbers: Vec<usize> = numbers.iter().take(7).map_while(|number| number.parse().ok()).collect();
        let [batches, rows, columns, depth, height, width, parts] = numbers[..] else { return None };
        let plan = Plan { rows: height, columns: width, parts: parts as u32 };
        Some(((String::from(*product), [batches, rows, columns, depth]), plan))
    };
    text.lines().filter_map(line).collect()
}
