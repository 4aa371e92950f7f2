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
//! | tiles of 128 x 256 for some waves and a small part of one more | the tiles of that part cut evenly among all blocks, and a second pass |
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

use crate::gemm::epilogue::LARGEST_WITH_BETA;

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
    /// Whether it is for GPUs whose warpgroups multiply: for others, packing is faster.
    pub(super) by_warpgroups: bool,
}

/// How sums along K are cut into what one block adds up.
///
/// As text, in files of plans, it is `0`, the number of parts, or `wave`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Not at all: a block adds up the sums of a tile, and stores the result.
    None,
    /// Those of all tiles into so many parts, which a second pass adds up.
    Parts(u32),
    /// Those of the tiles that do not fill a wave of the multiprocessors, evenly among all blocks (Stream-K); a second pass adds
    /// them up. All waves before are tiles that are not cut.
    LastWave,
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(formatter, "0"),
            Self::Parts(parts) => write!(formatter, "{parts}"),
            Self::LastWave => write!(formatter, "wave"),
        }
    }
}

impl Cut {
    /// What the text says.
    fn parse(text: &str) -> Option<Self> {
        match text {
            "0" => Some(Self::None),
            "wave" => Some(Self::LastWave),
            number => number.parse().ok().filter(|&parts| parts > 0).map(Self::Parts),
        }
    }
}

/// A way to compute a product: the size of tiles, and how the sums are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Rows of a tile of the result.
    pub rows: usize,
    /// Columns of a tile.
    pub columns: usize,
    /// How the sums are cut.
    pub cut: Cut,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, cut } = self;
        write!(formatter, "tiles of {rows} x {columns}, cut: {cut}")
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

impl Machine {
    /// Whether kernels of this form are for it.
    pub(super) fn takes(self, form: &Form) -> bool {
        !form.by_warpgroups || !matches!(self, Self::Gpu { warpgroups: false, .. })
    }
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
        // Larger tiles leave no registers for what was there before.
        self.serving(forms).filter(move |form| !beta || form.rows * form.columns <= LARGEST_WITH_BETA)
    }

    /// Whether there is a plan.
    pub(super) fn has_plan(&self, direct: &[Form], parts: &[Form]) -> bool {
        self.direct(direct).next().is_some() || self.serving(parts).next().is_some()
    }

    /// All plans, of kernels that store the result and of those that store parts, for so many blocks at a time.
    pub(super) fn plans(&self, direct: &[Form], parts: &[Form], blocks: u32) -> Vec<Plan> {
        let plan = |form: &Form, cut| Plan { rows: form.rows, columns: form.columns, cut };
        let of_direct = self.direct(direct);
        let of_parts = self.serving(parts).flat_map(|form| {
            let steps = self.depth.div_ceil(form.depth);
            let counts =
                (1..=MOST_PARTS).filter(move |&count| count == 1 || steps >= count as usize * LEAST_STEPS);
            counts.map(move |count| plan(form, Cut::Parts(count)))
        });
        let with_last_wave = self.serving(parts).filter(|form| self.has_last_wave(form, direct, blocks));
        let with_last_wave = with_last_wave.map(|form| plan(form, Cut::LastWave));
        of_direct.map(|form| plan(form, Cut::None)).chain(of_parts).chain(with_last_wave).collect()
    }

    /// Whether the tiles of a form leave a wave that is not full, whose steps are enough for all blocks, and can be computed without
    /// a cut in the waves before.
    pub(super) fn has_last_wave(&self, form: &Form, direct: &[Form], blocks: u32) -> bool {
        let plan = Plan { rows: form.rows, columns: form.columns, cut: Cut::LastWave };
        let (tiles, blocks) = (self.tiles(plan), blocks as usize);
        let rest = tiles % blocks.max(1);
        let all_steps = rest * self.depth.div_ceil(form.depth);
        let is_whole = |other: &Form| [other.rows, other.columns] == [form.rows, form.columns];
        // The second pass has pieces of 16 x 128, and counts in 32 bits. Kernels for warpgroups alone deal tiles out in bands of other
        // heights than it counts with.
        !form.by_warpgroups
            && form.rows.is_multiple_of(16)
            && form.columns.is_multiple_of(128)
            && u32::try_from(tiles).is_ok()
            && (blocks.max(1)..1 << 31).contains(&all_steps)
            && (tiles < blocks || self.direct(direct).any(is_whole))
    }

    /// The tiles of a plan that come before the last wave, of so many blocks, if that is cut.
    pub(super) fn whole(&self, plan: Plan, blocks: u32) -> usize {
        let blocks = blocks.max(1) as usize;
        self.tiles(plan) / blocks * blocks
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
            let passes = if plan.cut == Cut::None { 1.0 } else { 2.0 };
            return tiles * (plan.rows * plan.columns * steps.max(1)) as f64 * passes;
        };
        let step = match (plan.rows, plan.columns, warpgroups) {
            (128, 256, true) | (256, 128, true) => 1.0,
            (128, 128, true) => 0.5,
            (256, 64, true) => 0.36,
            (256, 32, true) => 0.2,
            // Rows of a tile that are outside cost the copy engine more than those inside.
            (rows, _, true) => 0.3 + 0.0035 * rows.saturating_sub(self.rows) as f64,
            (128, 256, false) | (256, 128, false) => 1.7,
            (128, 128, false) => 1.1,
            (256, 64, false) => 0.7,
            (256, 32, false) => 0.4,
            (_, _, false) => 0.5,
        };
        // What a tile costs besides its steps; what the second pass costs, and each megabyte that goes through it; what one launch
        // more costs.
        let (tile, pass, megabyte, launch) = (3.0, 5.0, 0.35, 3.0);
        let tile = tile * plan.columns.max(64) as f64 / 256.0;
        let blocks = f64::from(multiprocessors);
        // To read both factors once takes at least as long, whatever is multiplied: a step is 128 bytes of each row and column.
        let bytes = ((self.rows + self.columns) * self.batches * steps * 128) as f64;
        let read = bytes / 1e6 * megabyte;
        let moved = |elements: f64| elements * 4.0 * 2.0 / 1e6 * megabyte;
        match plan.cut {
            Cut::None => ((tiles / blocks).ceil() * (steps as f64 * step + tile)).max(read),
            Cut::Parts(parts) => {
                let (waves, each) =
                    ((tiles * f64::from(parts) / blocks).ceil(), steps.div_ceil(parts as usize));
                let elements = (self.rows * self.columns * self.batches) as f64 * f64::from(parts);
                (waves * (each as f64 * step + tile)).max(read) + pass + moved(elements)
            }
            Cut::LastWave => {
                let (waves, rest) = ((tiles / blocks).floor(), tiles % blocks);
                let before = if waves > 0.0 { waves * (steps as f64 * step + tile) + launch } else { 0.0 };
                // Where a share ends within a tile, a block stores sums of two.
                let pieces = (blocks + rest).min(2.0 * blocks);
                let share = (rest * steps as f64 / blocks).ceil() * step + 2.0 * tile;
                let time =
                    (before + share).max(read) + pass + moved(pieces * (plan.rows * plan.columns) as f64);
                // Three launches are for a clear gain: what is saved is also what lets the others run at a higher clock.
                1.05 * time
            }
        }
    }

    /// The plan with the least estimated time.
    pub(super) fn best(&self, direct: &[Form], parts: &[Form], machine: Machine) -> Option<Plan> {
        let depth = direct.iter().chain(parts).map(|form| form.depth).max()?;
        let blocks = match machine {
            Machine::Cpu => 1,
            Machine::Gpu { multiprocessors, .. } => multiprocessors,
        };
        let plans = self.plans(direct, parts, blocks).into_iter();
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
const FILES: [(&str, &str, &str); 1] =
    [("NVIDIA H200", "kernels/tuning/nvidia-h200.csv", include_str!("../../../tuning/nvidia-h200.csv"))];

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
        // The files are part of the program, and a test reads them: of one that cannot be read there are no plans.
        let plans = PLANS.get_or_init(|| {
            FILES.into_iter().map(|(gpu, file, text)| (gpu, read(file, text).unwrap_or_default())).collect()
        });
        let of_device = plans.get(device.name()).filter(|plans| !plans.is_empty())?;
        let Problem { batches, rows, columns, depth, .. } = *problem;
        of_device.get(&(Self::name::<T, U, O>(problem), [batches, rows, columns, depth])).copied()
    }
}

/// The lines of a file of plans behind its first: `product,batches,rows,columns,depth,tile rows,tile columns,cut,microseconds`.
/// The microseconds that were measured are for people.
///
/// # Errors
/// File and line of what is not such a line, or is about a product of which there is a plan already.
fn read(file: &str, text: &str) -> Result<HashMap<Key, Plan>, String> {
    let mut plans = HashMap::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let refuse = |problem| Err(std::format!("{file}:{}: {problem}: `{line}`", number + 1));
        let fields: Vec<&str> = line.split(',').collect();
        let [product, sizes @ .., cut, microseconds] = &fields[..] else { return refuse("too few fields") };
        let sizes: Option<Vec<usize>> =
            sizes.iter().map(|size| size.parse().ok().filter(|&size| size > 0)).collect();
        let Some([batches, rows, columns, depth, height, width]) = sizes.as_deref() else {
            return refuse("not six positive numbers behind the product");
        };
        let Some(cut) = Cut::parse(cut) else { return refuse("neither a number of parts nor `wave`") };
        if !microseconds.parse::<f64>().is_ok_and(|time| time.is_finite() && time > 0.0) {
            return refuse("not a time in microseconds");
        }
        let plan = Plan { rows: *height, columns: *width, cut };
        let key = (String::from(*product), [*batches, *rows, *columns, *depth]);
        if plans.insert(key, plan).is_some() {
            return refuse("a second plan of this product");
        }
    }
    Ok(plans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    /// The forms of `f16` factors, of which the second lies column by column.
    fn forms(sizes: &[[usize; 2]]) -> Vec<Form> {
        let form = |&[rows, columns]: &[usize; 2]| Form {
            a: Stored::Rows,
            b: Stored::Columns,
            rows,
            columns,
            depth: 64,
            fast: false,
            by_warpgroups: false,
        };
        sizes.iter().map(form).collect()
    }

    fn best([batches, rows, columns, depth]: [usize; 4]) -> Plan {
        let (a, b) = (Stored::Rows, Stored::Columns);
        let problem = Problem { batches, rows, columns, depth, a, b, fast: false, beta: false };
        let direct = forms(&[[128, 256], [128, 128], [16, 64], [32, 64], [64, 64]]);
        let parts = forms(&[[128, 256], [16, 64], [32, 64], [64, 64]]);
        let machine = Machine::Gpu { warpgroups: true, multiprocessors: 132 };
        problem.best(&direct, &parts, machine).unwrap()
    }

    #[test]
    fn the_estimate_knows_the_shapes_of_products() {
        let plan = |rows, columns, cut| Plan { rows, columns, cut };
        assert_eq!(best([1, 8192, 8192, 8192]), plan(128, 256, Cut::None));
        assert_eq!(best([1, 1024, 1024, 1024]), plan(128, 128, Cut::None));
        for (rows, tile) in [(1, 16), (16, 16), (17, 32), (32, 32), (64, 64)] {
            assert_eq!(best([1, rows, 8192, 8192]), plan(tile, 64, Cut::None), "{rows} rows");
        }
        // 288 tiles are two waves of 132, and 24 more: worth a cut where sums are long.
        assert_eq!(best([1, 3072, 3072, 3072]), plan(128, 128, Cut::None));
        assert_eq!(best([1, 3072, 3072, 12288]), plan(128, 256, Cut::LastWave));
        assert!(matches!(best([1, 512, 512, 8192]), Plan { cut: Cut::Parts(_) | Cut::LastWave, .. }));
    }

    #[test]
    fn last_waves_are_cut_where_there_is_one() {
        let problem = |rows| Problem {
            batches: 1,
            rows,
            columns: 256,
            depth: 640,
            a: Stored::Rows,
            b: Stored::Columns,
            fast: false,
            beta: false,
        };
        let wide = forms(&[[128, 256]]);
        let has = |rows, direct: &[Form]| problem(rows).has_last_wave(&wide[0], direct, 8);
        assert!(has(128, &wide) && has(128 * 9, &wide));
        assert!(!has(128 * 8, &wide), "a wave that is full");
        assert!(has(128, &[]) && !has(128 * 9, &[]), "no kernel for the waves before");
        assert_eq!(problem(128 * 9).whole(Plan { rows: 128, columns: 256, cut: Cut::LastWave }, 8), 8);
    }

    const HEAD: &str = "product,batches,rows,columns,depth,tile rows,tile columns,cut,microseconds\n";

    #[test]
    fn lines_of_plans_are_read() {
        let lines = "f16,1,2,3,4,128,256,0,5.5\nf16,1,2,3,5,16,64,12,1\nf16,1,2,3,6,128,256,wave,1\n";
        let plans = read("gpu.csv", &std::format!("{HEAD}{lines}")).unwrap();
        let cut = |depth| plans.get(&(String::from("f16"), [1, 2, 3, depth])).map(|plan| plan.cut);
        assert_eq!([4, 5, 6, 7].map(cut), [Some(Cut::None), Some(Cut::Parts(12)), Some(Cut::LastWave), None]);
        for cut in [Cut::None, Cut::Parts(3), Cut::LastWave] {
            assert_eq!(Cut::parse(&cut.to_string()), Some(cut));
        }
        for (_, file, text) in FILES {
            assert!(read(file, text).unwrap().len() > 30, "{file}");
            assert!(text.starts_with(HEAD), "{file}");
        }
    }

    #[test]
    fn lines_that_are_no_plans_are_refused_with_file_and_line() {
        for (line, problem) in [
            ("f16,1,2,3,7,128,256,00,1", "neither a number of parts nor `wave`"),
            ("f16,1,2,3,7,128,256,many,1", "neither a number of parts nor `wave`"),
            ("f16,1,2,3,7,128,256,0,soon", "not a time in microseconds"),
            ("f16,1,2,3,7,128,256,0,inf", "not a time in microseconds"),
            ("f16,1,2,3,-7,128,256,0,1", "not six positive numbers behind the product"),
            ("f16,1,2,3,0,128,256,0,1", "not six positive numbers behind the product"),
            ("f16,1,2,3,128,256,0,1", "not six positive numbers behind the product"),
            ("f16,1,2,3,99999999999999999999,128,256,0,1", "not six positive numbers behind the product"),
            ("f16", "too few fields"),
            ("", "too few fields"),
            ("f16,1,2,3,4,16,64,0,1", "a second plan of this product"),
        ] {
            let text = std::format!("{HEAD}f16,1,2,3,4,128,256,0,5.5\n{line}\n");
            assert_eq!(read("gpu.csv", &text).unwrap_err(), std::format!("gpu.csv:3: {problem}: `{line}`"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_lines_are_read_or_refused(
            place in any::<prop::sample::Index>(),
            removed in 0_usize..9,
            inserted in "([0-9,.a-z\n -]|é){0,6}",
            any in any::<String>(),
        ) {
            let (_, file, text) = FILES[0];
            let whole = read(file, text).unwrap();
            let begin = place.index(text.len());
            let end = (begin + removed).min(text.len());
            let changed = [&text[..begin], &inserted, &text[end..]].concat();
            for text in [&changed, &any] {
                match read(file, text) {
                    Ok(plans) => prop_assert!(plans.len() <= text.lines().count() && plans.len() <= whole.len() + 3),
                    Err(message) => prop_assert!(message.starts_with("kernels/tuning/nvidia-h200.csv:"), "{}", message),
                }
            }
        }
    }
}
