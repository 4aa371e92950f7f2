//! The choice of a plan: tile shape and decomposition.
//!
//! If [`Tuned`] has this very product on this GPU, its plan was measured to be the fastest. Otherwise the plan with the least estimated
//! time wins. A second pass adds up partial sums. The estimate leads to these plans:
//!
//! | shape | plan |
//! |---|---|
//! | many tiles | tiles of 128 x 256, data-parallel |
//! | tiles for less than about half of the multiprocessors, or an unlucky last wave | tiles of 128 x 128, data-parallel |
//! | few tiles and many k steps | split-K: several blocks compute partial sums of a tile, then a second pass |
//! | tiles of 128 x 256 for full waves and a small part of another wave | stream-K: all blocks share that part evenly, then a second pass |
//! | at most 64 rows, as in decoding | tiles of 16, 32 or 64 rows and 64 columns, with split-K if the tiles are few |
//!
//! The estimate counts waves of tiles on the multiprocessors. The cost of a k step is that of the loaded image's target. This target may be
//! older than the GPU.

use std::any::type_name;
use std::collections::HashMap;
use std::fmt;
use std::string::String;
use std::sync::OnceLock;
use std::vec::Vec;

use cuda_tiles_host::Device;

use crate::gemm::epilogue::LARGEST_WITH_BETA;

/// The majorness of an operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Major {
    /// Row-major, as it is multiplied.
    Row,
    /// Column-major: the transpose is row-major.
    Column,
}

/// The configuration of a kernel: storage of the operands, tile shape and accumulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileConfig {
    pub(super) a: Major,
    pub(super) b: Major,
    /// The rows of a tile of the result.
    pub(super) rows: usize,
    /// The columns of a tile of the result.
    pub(super) columns: usize,
    /// The depth of a k step.
    pub(super) depth: usize,
    /// Whether 8-bit floats accumulate in tensor cores alone.
    pub(super) fast: bool,
    /// Whether the kernel is for GPUs with `wgmma` alone. On other GPUs packing is faster.
    pub(super) wgmma_only: bool,
}

/// The decomposition of a product: how the blocks share its tiles and k steps.
///
/// As text in the tuning files, data-parallel is `0`, split-K is the number of partial sums, and stream-K is `wave`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decomposition {
    /// Data-parallel: one block computes all k steps of a tile.
    DataParallel,
    /// Split-K: every tile has this many partial sums along K. A second pass adds them up.
    SplitK(u32),
    /// Stream-K: all blocks share evenly the k steps of the tiles in a last wave that is not full. A second pass adds up the partial sums.
    /// The full waves before are data-parallel.
    StreamK,
}

impl fmt::Display for Decomposition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DataParallel => write!(formatter, "0"),
            Self::SplitK(splits) => write!(formatter, "{splits}"),
            Self::StreamK => write!(formatter, "wave"),
        }
    }
}

impl Decomposition {
    /// The decomposition of a text in a tuning file.
    fn parse(text: &str) -> Option<Self> {
        match text {
            "0" => Some(Self::DataParallel),
            "wave" => Some(Self::StreamK),
            number => number.parse().ok().filter(|&splits| splits > 0).map(Self::SplitK),
        }
    }
}

/// A way to compute a product: the shape of its tiles and their decomposition.
///
/// [`Gemm::plans`](super::Gemm::plans) returns the plans for a product, and [`Gemm::plan`](super::Gemm::plan) chooses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The rows of a tile of the result.
    pub rows: usize,
    /// The columns of a tile of the result.
    pub columns: usize,
    /// The decomposition of the tiles.
    pub decomposition: Decomposition,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, decomposition } = self;
        write!(formatter, "tiles of {rows} x {columns}, cut: {decomposition}")
    }
}

/// A product, as far as plans depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) batches: usize,
    /// The rows of the result.
    pub(super) rows: usize,
    /// The columns of the result.
    pub(super) columns: usize,
    /// The number of products that accumulate in an element of the result: K.
    pub(super) depth: usize,
    pub(super) a: Major,
    pub(super) b: Major,
    /// Whether 8-bit floats may accumulate in tensor cores alone.
    pub(super) fast: bool,
    /// Whether the epilogue adds the previous elements of the result.
    pub(super) beta: bool,
}

/// The machine, as far as plans depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Cpu,
    /// A GPU, with the target of the loaded image.
    Gpu {
        /// Whether the target has `wgmma`.
        wgmma: bool,
        multiprocessors: u32,
    },
}

impl Machine {
    /// Whether a kernel of this configuration suits the machine.
    pub(super) fn takes(self, config: &TileConfig) -> bool {
        !config.wgmma_only || !matches!(self, Self::Gpu { wgmma: false, .. })
    }
}

/// Tiles of at least this many rows serve products of any number of rows. Tiles of fewer rows serve products of few rows.
const MANY_ROWS: usize = 128;
/// The most partial sums of a tile.
const MAX_SPLITS: u32 = 32;
/// The fewest k steps of a partial sum.
const MIN_STEPS: usize = 4;

impl Problem {
    /// Whether a kernel of this configuration multiplies operands of this storage, of any size.
    pub(super) fn multiplies(&self, config: &TileConfig) -> bool {
        config.a == self.a && config.b == self.b && (self.fast || !config.fast)
    }

    /// The configurations that serve this product. Of the tiles for few rows, only the smallest that hold all rows serve.
    fn serving<'f>(&self, configs: &'f [TileConfig]) -> impl Iterator<Item = &'f TileConfig> {
        let of_few =
            |config: &&TileConfig| self.multiplies(config) && (self.rows..MANY_ROWS).contains(&config.rows);
        let fewest = configs.iter().filter(of_few).map(|config| config.rows).min();
        let problem = *self;
        configs.iter().filter(move |config| {
            problem.multiplies(config) && (config.rows >= MANY_ROWS || Some(config.rows) == fewest)
        })
    }

    /// The configurations that serve this product and store the result.
    fn direct<'f>(&self, configs: &'f [TileConfig]) -> impl Iterator<Item = &'f TileConfig> {
        let beta = self.beta;
        // Larger tiles leave no registers for the previous elements of the result.
        self.serving(configs).filter(move |config| !beta || config.rows * config.columns <= LARGEST_WITH_BETA)
    }

    /// Whether there is a plan.
    pub(super) fn has_plan(&self, direct: &[TileConfig], partial_sums: &[TileConfig]) -> bool {
        self.direct(direct).next().is_some() || self.serving(partial_sums).next().is_some()
    }

    /// All plans, for waves of `blocks` blocks.
    ///
    /// `direct` are the configurations of kernels that store the result, `partial_sums` those of kernels that store partial sums.
    pub(super) fn plans(&self, direct: &[TileConfig], partial_sums: &[TileConfig], blocks: u32) -> Vec<Plan> {
        let plan = |config: &TileConfig, decomposition| Plan {
            rows: config.rows,
            columns: config.columns,
            decomposition,
        };
        let data_parallel = self.direct(direct);
        let split_k = self.serving(partial_sums).flat_map(|config| {
            let steps = self.depth.div_ceil(config.depth);
            let counts =
                (1..=MAX_SPLITS).filter(move |&count| count == 1 || steps >= count as usize * MIN_STEPS);
            counts.map(move |count| plan(config, Decomposition::SplitK(count)))
        });
        let stream_k = self.serving(partial_sums).filter(|config| self.has_stream_k(config, direct, blocks));
        let stream_k = stream_k.map(|config| plan(config, Decomposition::StreamK));
        data_parallel
            .map(|config| plan(config, Decomposition::DataParallel))
            .chain(split_k)
            .chain(stream_k)
            .collect()
    }

    /// Whether a configuration has a stream-K plan.
    ///
    /// The last wave must not be full, and it must have enough k steps for all blocks. The full waves before it need a data-parallel kernel
    /// with tiles of the same shape.
    pub(super) fn has_stream_k(&self, config: &TileConfig, direct: &[TileConfig], blocks: u32) -> bool {
        let plan = Plan { rows: config.rows, columns: config.columns, decomposition: Decomposition::StreamK };
        let (tiles, blocks) = (self.tiles(plan), blocks as usize);
        let rest = tiles % blocks.max(1);
        let all_steps = rest * self.depth.div_ceil(config.depth);
        let is_whole = |other: &TileConfig| [other.rows, other.columns] == [config.rows, config.columns];
        // The second pass has tiles of 16 x 128 and counts in 32 bits. It assumes the tile order of `body.rs`. Kernels for `wgmma` alone
        // have groups of another height.
        !config.wgmma_only
            && config.rows.is_multiple_of(16)
            && config.columns.is_multiple_of(128)
            && u32::try_from(tiles).is_ok()
            && (blocks.max(1)..1 << 31).contains(&all_steps)
            && (tiles < blocks || self.direct(direct).any(is_whole))
    }

    /// The number of tiles in the full waves of `blocks` blocks, before the last wave of a stream-K plan.
    pub(super) fn whole(&self, plan: Plan, blocks: u32) -> usize {
        let blocks = blocks.max(1) as usize;
        self.tiles(plan) / blocks * blocks
    }

    /// The number of tiles of the result.
    pub(super) fn tiles(&self, plan: Plan) -> usize {
        self.rows.div_ceil(plan.rows) * self.columns.div_ceil(plan.columns) * self.batches
    }

    /// The estimated time of a plan, in k steps of a tile of 128 x 256.
    fn estimate(&self, plan: Plan, depth_of_step: usize, machine: Machine) -> f64 {
        let tiles = self.tiles(plan) as f64;
        let steps = self.depth.div_ceil(depth_of_step);
        let Machine::Gpu { wgmma, multiprocessors } = machine else {
            // The number of multiplications counts, including those outside the result at the edges of tiles.
            let passes = if plan.decomposition == Decomposition::DataParallel { 1.0 } else { 2.0 };
            return tiles * (plan.rows * plan.columns * steps.max(1)) as f64 * passes;
        };
        let step = match (plan.rows, plan.columns, wgmma) {
            (128, 256, true) | (256, 128, true) => 1.0,
            (128, 128, true) => 0.5,
            (256, 64, true) => 0.36,
            (256, 32, true) => 0.2,
            // Rows of a tile outside the tensor cost TMA more than rows inside.
            (rows, _, true) => 0.3 + 0.0035 * rows.saturating_sub(self.rows) as f64,
            (128, 256, false) | (256, 128, false) => 1.7,
            (128, 128, false) => 1.1,
            (256, 64, false) => 0.7,
            (256, 32, false) => 0.4,
            (_, _, false) => 0.5,
        };
        // The costs of a tile besides its k steps, of the second pass, of each megabyte of partial sums, and of another launch.
        let (tile, pass, megabyte, launch) = (3.0, 5.0, 0.35, 3.0);
        let tile = tile * plan.columns.max(64) as f64 / 256.0;
        let blocks = f64::from(multiprocessors);
        // Reading both operands once is a lower bound of the time. A k step reads 128 bytes of each row and column.
        let bytes = ((self.rows + self.columns) * self.batches * steps * 128) as f64;
        let read = bytes / 1e6 * megabyte;
        let moved = |elements: f64| elements * 4.0 * 2.0 / 1e6 * megabyte;
        match plan.decomposition {
            Decomposition::DataParallel => ((tiles / blocks).ceil() * (steps as f64 * step + tile)).max(read),
            Decomposition::SplitK(splits) => {
                let (waves, each) =
                    ((tiles * f64::from(splits) / blocks).ceil(), steps.div_ceil(splits as usize));
                let elements = (self.rows * self.columns * self.batches) as f64 * f64::from(splits);
                (waves * (each as f64 * step + tile)).max(read) + pass + moved(elements)
            }
            Decomposition::StreamK => {
                let (waves, rest) = ((tiles / blocks).floor(), tiles % blocks);
                let before = if waves > 0.0 { waves * (steps as f64 * step + tile) + launch } else { 0.0 };
                // If the k steps of a block end within a tile, the block stores partial sums of two tiles.
                let work_units = (blocks + rest).min(2.0 * blocks);
                let last = (rest * steps as f64 / blocks).ceil() * step + 2.0 * tile;
                let time =
                    (before + last).max(read) + pass + moved(work_units * (plan.rows * plan.columns) as f64);
                // Three launches need a clear gain, because idle multiprocessors let the others run at a higher clock.
                1.05 * time
            }
        }
    }

    /// The plan with the least estimated time.
    pub(super) fn best(
        &self,
        direct: &[TileConfig],
        partial_sums: &[TileConfig],
        machine: Machine,
    ) -> Option<Plan> {
        let depth = direct.iter().chain(partial_sums).map(|config| config.depth).max()?;
        let blocks = match machine {
            Machine::Cpu => 1,
            Machine::Gpu { multiprocessors, .. } => multiprocessors,
        };
        let plans = self.plans(direct, partial_sums, blocks).into_iter();
        let timed = plans.map(|plan| (self.estimate(plan, depth, machine), plan));
        timed.min_by(|x, y| x.0.total_cmp(&y.0)).map(|(_, plan)| plan)
    }
}

/// The plans that were measured to be the fastest. `kernels/tuning/` has a file of them for each GPU.
///
/// `cargo xtask tune` measures the plans of [`Gemm::plans`](super::Gemm::plans) and writes the files.
pub(super) struct Tuned;

/// A product in the tuning files: its name, and its batches, rows, columns and depth.
type Key = (String, [usize; 4]);

/// The tuning files: the name of the GPU, the path and the text.
const FILES: [(&str, &str, &str); 1] =
    [("NVIDIA H200", "kernels/tuning/nvidia-h200.csv", include_str!("../../../tuning/nvidia-h200.csv"))];

impl Tuned {
    /// The product's name in the tuning files: element types, storage and options.
    pub(super) fn name<T, U, O>(problem: &Problem) -> String {
        let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
        let letter = |major| if major == Major::Row { 'n' } else { 't' };
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

    /// The fastest plan for a product on a device, if it was measured.
    pub(super) fn plan<T, U, O>(problem: &Problem, device: &Device) -> Option<Plan> {
        static PLANS: OnceLock<HashMap<&'static str, HashMap<Key, Plan>>> = OnceLock::new();
        // The files are part of the program, and a test reads them. A file that cannot be read gives no plans.
        let plans = PLANS.get_or_init(|| {
            FILES.into_iter().map(|(gpu, file, text)| (gpu, read(file, text).unwrap_or_default())).collect()
        });
        let of_device = plans.get(device.name()).filter(|plans| !plans.is_empty())?;
        let Problem { batches, rows, columns, depth, .. } = *problem;
        of_device.get(&(Self::name::<T, U, O>(problem), [batches, rows, columns, depth])).copied()
    }
}

/// Reads the plans of a tuning file.
///
/// The first line is `product,batches,rows,columns,depth,tile rows,tile columns,cut,microseconds`. Each other line has the values of these
/// columns. `cut` is the decomposition. The measured microseconds are for people.
///
/// # Errors
///
/// File, line and problem, if a line does not have these values or names a product again.
fn read(file: &str, text: &str) -> Result<HashMap<Key, Plan>, String> {
    let mut plans = HashMap::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let refuse = |problem| Err(std::format!("{file}:{}: {problem}: `{line}`", number + 1));
        let fields: Vec<&str> = line.split(',').collect();
        let [product, sizes @ .., decomposition, microseconds] = &fields[..] else {
            return refuse("too few fields");
        };
        let sizes: Option<Vec<usize>> =
            sizes.iter().map(|size| size.parse().ok().filter(|&size| size > 0)).collect();
        let Some([batches, rows, columns, depth, height, width]) = sizes.as_deref() else {
            return refuse("not six positive numbers behind the product");
        };
        let Some(decomposition) = Decomposition::parse(decomposition) else {
            return refuse("neither a number of parts nor `wave`");
        };
        if !microseconds.parse::<f64>().is_ok_and(|time| time.is_finite() && time > 0.0) {
            return refuse("not a time in microseconds");
        }
        let plan = Plan { rows: *height, columns: *width, decomposition };
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

    /// Configurations for operands of `f16`, the first row-major and the second column-major.
    fn configs(sizes: &[[usize; 2]]) -> Vec<TileConfig> {
        let config = |&[rows, columns]: &[usize; 2]| TileConfig {
            a: Major::Row,
            b: Major::Column,
            rows,
            columns,
            depth: 64,
            fast: false,
            wgmma_only: false,
        };
        sizes.iter().map(config).collect()
    }

    fn best([batches, rows, columns, depth]: [usize; 4]) -> Plan {
        let (a, b) = (Major::Row, Major::Column);
        let problem = Problem { batches, rows, columns, depth, a, b, fast: false, beta: false };
        let direct = configs(&[[128, 256], [128, 128], [16, 64], [32, 64], [64, 64]]);
        let partial_sums = configs(&[[128, 256], [16, 64], [32, 64], [64, 64]]);
        let machine = Machine::Gpu { wgmma: true, multiprocessors: 132 };
        problem.best(&direct, &partial_sums, machine).unwrap()
    }

    #[test]
    fn the_estimate_knows_the_shapes_of_products() {
        let plan = |rows, columns, decomposition| Plan { rows, columns, decomposition };
        assert_eq!(best([1, 8192, 8192, 8192]), plan(128, 256, Decomposition::DataParallel));
        assert_eq!(best([1, 1024, 1024, 1024]), plan(128, 128, Decomposition::DataParallel));
        for (rows, tile) in [(1, 16), (16, 16), (17, 32), (32, 32), (64, 64)] {
            assert_eq!(
                best([1, rows, 8192, 8192]),
                plan(tile, 64, Decomposition::DataParallel),
                "{rows} rows"
            );
        }
        // 288 tiles are two waves of 132 tiles and 24 more tiles. Stream-K pays if K is large.
        assert_eq!(best([1, 3072, 3072, 3072]), plan(128, 128, Decomposition::DataParallel));
        assert_eq!(best([1, 3072, 3072, 12288]), plan(128, 256, Decomposition::StreamK));
        assert!(matches!(
            best([1, 512, 512, 8192]),
            Plan { decomposition: Decomposition::SplitK(_) | Decomposition::StreamK, .. }
        ));
    }

    #[test]
    fn stream_k_needs_a_last_wave_that_is_not_full() {
        let problem = |rows| Problem {
            batches: 1,
            rows,
            columns: 256,
            depth: 640,
            a: Major::Row,
            b: Major::Column,
            fast: false,
            beta: false,
        };
        let wide = configs(&[[128, 256]]);
        let has = |rows, direct: &[TileConfig]| problem(rows).has_stream_k(&wide[0], direct, 8);
        assert!(has(128, &wide) && has(128 * 9, &wide));
        assert!(!has(128 * 8, &wide), "a wave that is full");
        assert!(has(128, &[]) && !has(128 * 9, &[]), "no kernel for the waves before");
        assert_eq!(
            problem(128 * 9)
                .whole(Plan { rows: 128, columns: 256, decomposition: Decomposition::StreamK }, 8),
            8
        );
    }

    const HEAD: &str = "product,batches,rows,columns,depth,tile rows,tile columns,cut,microseconds\n";

    #[test]
    fn lines_of_plans_are_read() {
        let lines = "f16,1,2,3,4,128,256,0,5.5\nf16,1,2,3,5,16,64,12,1\nf16,1,2,3,6,128,256,wave,1\n";
        let plans = read("gpu.csv", &std::format!("{HEAD}{lines}")).unwrap();
        let decomposition =
            |depth| plans.get(&(String::from("f16"), [1, 2, 3, depth])).map(|plan| plan.decomposition);
        assert_eq!(
            [4, 5, 6, 7].map(decomposition),
            [
                Some(Decomposition::DataParallel),
                Some(Decomposition::SplitK(12)),
                Some(Decomposition::StreamK),
                None
            ]
        );
        for decomposition in [Decomposition::DataParallel, Decomposition::SplitK(3), Decomposition::StreamK] {
            assert_eq!(Decomposition::parse(&decomposition.to_string()), Some(decomposition));
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
