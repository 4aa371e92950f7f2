//! Plans: the tile shapes and decompositions for a product.
//!
//! If [`Tuned`](super::tuned::Tuned) has this very product on this GPU, its plan was measured to be the fastest. Otherwise the plan with
//! the least time by the [`model`](super::model) wins.

use std::fmt;
use std::vec::Vec;

use super::packing::LINE_BYTES;
use crate::gemm::body::GROUP;
use crate::gemm::epilogue::LARGEST_WITH_BETA;

/// The majorness of an operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Major {
    /// Row-major, as it is multiplied.
    Row,
    /// Column-major: the transpose is row-major.
    Column,
}

/// How the operands of a product come to a multiprocessor.
///
/// As text in the tuning files, they are `tma`, `threads`, `vector`, or the rows and columns of blocks of a cluster, as `2x1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loads {
    /// TMA loads tiles into a ring. Operands that TMA cannot read are packed first.
    Tma,
    /// As [`Tma`](Self::Tma), for clusters of so many rows and columns of blocks: those of a row load the tiles of `a` together, those of a
    /// column the tiles of `b`.
    Cluster([usize; 2]),
    /// The threads load tiles, from operands in any place.
    Threads,
    /// The threads load tiles of a matrix in any place, and multiply them by a vector: the only row of `a` or the only column of `b`.
    Vector,
}

impl fmt::Display for Loads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tma => write!(formatter, "tma"),
            Self::Cluster([rows, columns]) => write!(formatter, "{rows}x{columns}"),
            Self::Threads => write!(formatter, "threads"),
            Self::Vector => write!(formatter, "vector"),
        }
    }
}

impl Loads {
    /// The loads of a text in a tuning file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "tma" => Some(Self::Tma),
            "threads" => Some(Self::Threads),
            "vector" => Some(Self::Vector),
            cluster => {
                let (rows, columns) = cluster.split_once('x')?;
                Some(Self::Cluster([rows.parse().ok()?, columns.parse().ok()?]))
            }
        }
    }

    /// Whether TMA loads the operands.
    pub(super) const fn is_by_tma(self) -> bool {
        matches!(self, Self::Tma | Self::Cluster(_))
    }

    /// The rows and columns of tiles of the blocks that share loads.
    pub(super) const fn cluster(self) -> [usize; 2] {
        if let Self::Cluster(blocks) = self { blocks } else { [1, 1] }
    }

    /// The number of blocks that share loads.
    pub(super) const fn cluster_size(self) -> usize {
        let [rows, columns] = self.cluster();
        rows * columns
    }

    /// The multiprocessors that blocks of such a launch run on at the same time, of `all` that the GPU has.
    ///
    /// The blocks of a cluster run on multiprocessors of one cluster of the GPU (a GPC). An H200 has 132 multiprocessors, of which clusters
    /// of two blocks take all and clusters of four 120 (`cuOccupancyMaxActiveClusters`).
    pub(super) const fn multiprocessors(self, all: u32) -> u32 {
        if self.cluster_size() > 2 { all * 10 / 11 } else { all }
    }
}

/// The configuration of a kernel: storage of the operands, tile shape and accumulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileConfig {
    pub(super) loads: Loads,
    /// The storage of operand A, if it matters.
    pub(super) a: Option<Major>,
    /// The storage of operand B, if it matters.
    pub(super) b: Option<Major>,
    /// The rows of a tile of the result.
    pub(super) rows: usize,
    /// The columns of a tile of the result.
    pub(super) columns: usize,
    /// The depth of a k step.
    pub(super) depth: usize,
    /// The rows of tiles in a group of the tile order.
    pub(super) group: u32,
    /// Whether 8-bit floats accumulate in tensor cores alone.
    pub(super) fast: bool,
    /// Whether threads copy small elements ahead, in words of 4 bytes. Where the rows of a large operand begin beside such words, loads to
    /// registers are faster.
    pub(super) by_words: bool,
}

impl TileConfig {
    /// What a plan knows of a configuration: how the operands are loaded, and the rows and columns of a tile.
    fn tile(&self) -> (Loads, usize, usize) {
        (self.loads, self.rows, self.columns)
    }
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
    pub(super) fn parse(text: &str) -> Option<Self> {
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
    /// How the operands are loaded.
    pub loads: Loads,
    /// The rows of a tile of the result.
    pub rows: usize,
    /// The columns of a tile of the result.
    pub columns: usize,
    /// The decomposition of the tiles.
    pub decomposition: Decomposition,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loads, rows, columns, decomposition } = self;
        write!(formatter, "tiles of {rows} x {columns}, ")?;
        match loads {
            Loads::Tma => write!(formatter, "loaded by TMA")?,
            Loads::Cluster([down, across]) => {
                write!(formatter, "loaded by TMA for clusters of {down} x {across} blocks")?;
            }
            Loads::Threads => write!(formatter, "loaded by threads")?,
            Loads::Vector => write!(formatter, "for a vector")?,
        }
        write!(formatter, ", cut: {decomposition}")
    }
}

/// Kernels that TMA feeds are compact or narrow up to this many rows and columns.
const COMPACT: usize = 64;

impl Plan {
    /// The number of blocks that share a multiprocessor: of kernels whose threads load the usual one, of which registers leave more or fewer.
    pub(super) fn resident_blocks(self) -> u32 {
        match self.loads {
            Loads::Threads | Loads::Vector => 4,
            Loads::Tma if self.rows <= COMPACT && self.columns <= COMPACT => 2,
            Loads::Tma | Loads::Cluster(_) => 1,
        }
    }
}

/// A product, as far as plans depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Problem {
    pub(super) batches: usize,
    /// The rows of the result.
    pub(super) rows: usize,
    /// The columns of the result.
    pub(super) columns: usize,
    /// The number of products that accumulate in an element of the result: K.
    pub(super) depth: usize,
    /// The storage of operand A that TMA reads.
    pub(super) a: Major,
    /// The storage of operand B that TMA reads.
    pub(super) b: Major,
    /// The bytes that are copied to that storage: all of an operand that TMA cannot read as it is.
    pub(super) packed_bytes: [usize; 2],
    /// The bytes, up to 128, at whose multiples the rows of operands A and B begin that TMA reads, in memory or in their copies. TMA takes
    /// one request to the L2 cache for 128 bytes of a row that begins at a multiple of 128 bytes, and two for those of others.
    pub(super) row_alignment: [usize; 2],
    /// The storage of the operands that threads read, if their elements are neighbours in memory along rows or columns.
    pub(super) in_place: Option<[Major; 2]>,
    /// Whether threads load the elements of operands A and B one by one.
    pub(super) one_by_one: [bool; 2],
    /// Whether threads copy operands A and B ahead by less than 16 bytes at once, since their rows begin beside such pieces.
    pub(super) beside_chunks: [bool; 2],
    /// Whether the rows of operands A and B begin at multiples of 4 bytes, as threads read them.
    pub(super) in_words: [bool; 2],
    /// Whether an array has 2³² elements or more, padding included. Only TMA reaches all of them.
    pub(super) is_huge: bool,
    /// Whether 8-bit floats may accumulate in tensor cores alone.
    pub(super) fast: bool,
    /// Whether the epilogue adds the previous elements of the result.
    pub(super) beta: bool,
    /// The bytes of an element of the operands, and of an element of the result.
    pub(super) element_bytes: [usize; 2],
}

/// The machine, as far as plans depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The part of the machine that one of `together` products has.
    pub(super) fn share(self, together: u32) -> Self {
        match self {
            Self::Gpu { wgmma, multiprocessors } if together > 1 => {
                Self::Gpu { wgmma, multiprocessors: multiprocessors.div_ceil(together) }
            }
            whole => whole,
        }
    }
}

/// Tiles of this many rows and more serve products of any number of rows.
const MANY_ROWS: usize = 64;
/// Tiles that TMA loads serve them, too, if they have this many columns.
const MANY_COLUMNS: usize = 256;
/// Wide tiles of columns that are no multiple of 64 serve products of more rows: for these few there are tiles of few rows.
const FEW_ROWS: usize = 32;
/// Tiles of fewer rows serve products of at most this many rows of tiles.
const FEW_TILES: usize = 2;
/// Few rows of operand A are packed beside an operand B of so many times as many columns.
const MANY_TO_PACK: usize = 8;
/// Small tiles that threads load serve results of at most this many.
const SMALL_TILES: usize = 1024;
/// The most partial sums of a tile.
const MAX_SPLITS: usize = 128;
/// The k steps that take as long as partial sums on their way to memory and back do, if all blocks have one: on an H200.
const STEPS_OF_PARTIAL_SUMS: usize = 12;
/// The least depth of a partial sum.
const MIN_DEPTH: usize = 128;
/// The most blocks along the second and third axis of a grid.
const MOST_BLOCKS: usize = 65_535;
/// The least rows of a tile of the second pass.
const SECOND_PASS_ROWS: usize = 4;

impl Problem {
    /// Whether a kernel of this configuration multiplies these operands, packed or in place.
    pub(super) fn multiplies(&self, config: &TileConfig) -> bool {
        let storage = match config.loads {
            Loads::Tma | Loads::Cluster(_) => Some([self.a, self.b]),
            Loads::Threads | Loads::Vector => self.in_place.filter(|_| !self.is_huge),
        };
        let is = |wanted: Option<Major>, found| wanted.is_none_or(|wanted| wanted == found);
        storage.is_some_and(|[a, b]| is(config.a, a) && is(config.b, b))
            && (self.fast || !config.fast)
            && (!config.by_words || self.is_in_words(config))
    }

    /// The storage of the operands as threads read them. Where elements are no neighbours, threads read nothing, and this is the storage for
    /// TMA.
    pub(super) fn read_by_threads(&self) -> [Major; 2] {
        self.in_place.unwrap_or([self.a, self.b])
    }

    /// Whether threads can copy the operands by words: both, or operand B alone where the tile has few rows.
    ///
    /// The few elements of operand A go through registers then. *Measured* on an H200 in `f16`: 2 x 30050 x 525, where rows of `a` begin
    /// beside words, takes 14.9 us in tiles of 16 x 128, and 20.4 in the fastest others.
    fn is_in_words(&self, config: &TileConfig) -> bool {
        let [a, b] = self.in_words;
        b && (a || config.rows < MANY_ROWS)
    }

    /// The configurations that serve this product: of those with the same tiles the first, which is the one that a launch takes.
    fn serving<'f>(&self, configs: &'f [TileConfig]) -> impl Iterator<Item = &'f TileConfig> {
        let problem = *self;
        let has_first = move |index: usize, config: &TileConfig| {
            configs[..index].iter().any(|first| first.tile() == config.tile() && problem.is_served(first))
        };
        let serves =
            move |&(index, config): &(usize, _)| problem.is_served(config) && !has_first(index, config);
        configs.iter().enumerate().filter(serves).map(|(_, config)| config)
    }

    /// Whether a configuration serves this product.
    fn is_served(&self, config: &TileConfig) -> bool {
        let is_high = config.rows >= MANY_ROWS || self.rows <= FEW_TILES * config.rows;
        let serves = match config.loads {
            // The shorter side of such a tile is the vector.
            Loads::Vector if config.rows == 1 => self.rows == 1,
            Loads::Vector => self.columns == 1,
            Loads::Threads => {
                let is_small = self.tiles_of(config.rows, config.columns) <= SMALL_TILES;
                (is_high || is_small) && self.fits_grid(config.rows)
            }
            // *Measured* on an H200: a row by 17408 columns of depth 5120 takes 55 us in tiles of 128 x 144, and cuBLAS 46.
            Loads::Tma => {
                let is_padded = config.columns > COMPACT && !config.columns.is_multiple_of(COMPACT);
                (is_high || config.columns >= MANY_COLUMNS) && !(is_padded && self.rows <= FEW_ROWS)
            }
            // More than half of a cluster's blocks have tiles.
            Loads::Cluster([blocks_down, blocks_across]) => {
                self.rows > blocks_down / 2 * config.rows && self.columns > blocks_across / 2 * config.columns
            }
        };
        serves && self.multiplies(config)
    }

    /// Whether TMA reads few rows of operand A row-major alone: there are kernels for so few rows, all of which read them so.
    ///
    /// Where they lie as columns, they are packed. *Measured* on an H200: TMA takes as long for 16 elements of a column of operand A as for
    /// 64 of a row of operand B. 16 x 31992 x 752 with both operands MN-major took 23 us in tiles of 16 x 64 and 20 in the fastest others,
    /// and takes 17 with a packed operand A.
    pub(super) fn packs_few_rows(&self, configs: &[TileConfig]) -> bool {
        let is_for_few = |config: &&TileConfig| {
            config.loads == Loads::Tma && config.rows < MANY_ROWS && self.rows <= FEW_TILES * config.rows
        };
        let for_few = || configs.iter().filter(is_for_few);
        self.columns >= MANY_TO_PACK * self.rows
            && for_few().next().is_some()
            && for_few().all(|config| config.a == Some(Major::Row))
    }

    /// Whether a grid has room for a block for each `rows` rows of the result, along its second axis, and for its matrices, along its third.
    fn fits_grid(&self, rows: usize) -> bool {
        self.rows.div_ceil(rows) <= MOST_BLOCKS && self.batches <= MOST_BLOCKS
    }

    /// The configurations that serve this product and store the result.
    fn direct<'f>(&self, configs: &'f [TileConfig]) -> impl Iterator<Item = &'f TileConfig> {
        let beta = self.beta;
        // Larger tiles leave no registers for the previous elements of the result.
        self.serving(configs).filter(move |config| {
            !beta || !config.loads.is_by_tma() || config.rows * config.columns <= LARGEST_WITH_BETA
        })
    }

    /// How the plans load the operands.
    pub(super) fn loads<'f>(
        &self,
        direct: &'f [TileConfig],
        partial_sums: &'f [TileConfig],
    ) -> impl Iterator<Item = Loads> {
        self.direct(direct).chain(self.serving(partial_sums)).map(|config| config.loads)
    }

    /// All plans, for waves of `blocks` blocks.
    ///
    /// `direct` are the configurations of kernels that store the result, `partial_sums` those of kernels that store partial sums.
    pub(super) fn plans(&self, direct: &[TileConfig], partial_sums: &[TileConfig], blocks: u32) -> Vec<Plan> {
        let plan = |config: &TileConfig, decomposition| Plan {
            loads: config.loads,
            rows: config.rows,
            columns: config.columns,
            decomposition,
        };
        let data_parallel = self.direct(direct);
        // The second pass counts elements in 32 bits.
        let partial_sums = if self.is_huge || !self.fits_grid(SECOND_PASS_ROWS) { &[] } else { partial_sums };
        let split_k = self.serving(partial_sums).flat_map(|config| {
            let sums = self.rows * self.columns * self.batches;
            let most =
                if config.loads == Loads::Threads { MOST_BLOCKS / self.batches.max(1) } else { MAX_SPLITS };
            let most = most.min(MAX_SPLITS).min(u32::MAX as usize / 2 / sums.max(1));
            let counts = 1..=most.min(self.depth / MIN_DEPTH);
            // A count that leaves the share of a block as large as a smaller count does is no plan.
            let steps = self.depth.div_ceil(config.depth);
            let is_least =
                move |&count: &usize| count == 1 || steps.div_ceil(count) < steps.div_ceil(count - 1);
            counts.filter(is_least).map(move |count| plan(config, Decomposition::SplitK(count as u32)))
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
    /// with tiles of the same shape. Where rows begin beside lines, clusters serve in place of such waves: *Measured* on an H200, of 107
    /// such plans with waves before the last one, clusters took 0.34 to 0.95 of the time of 105.
    pub(super) fn has_stream_k(&self, config: &TileConfig, direct: &[TileConfig], blocks: u32) -> bool {
        let TileConfig { loads, rows, columns, .. } = *config;
        let plan = Plan { loads, rows, columns, decomposition: Decomposition::StreamK };
        let (tiles, blocks) = (self.tiles(plan), blocks as usize);
        let rest = tiles % blocks.max(1);
        let all_steps = rest * self.depth.div_ceil(config.depth);
        let is_whole = |other: &TileConfig| other.tile() == config.tile();
        let is_of_clusters = |other: &TileConfig| matches!(other.loads, Loads::Cluster(_));
        let has_lines = self.row_alignment == [LINE_BYTES; 2];
        let has_waves =
            || self.direct(direct).any(is_whole) && (has_lines || !self.direct(direct).any(is_of_clusters));
        // The second pass has tiles of 16 x 128 and counts in 32 bits. It assumes the tile order of `body.rs`. Products of 64 bits have none.
        config.loads == Loads::Tma
            && self.element_bytes[0] < 8
            && config.group == GROUP
            && config.rows.is_multiple_of(16)
            && config.columns.is_multiple_of(128)
            && self.fits_grid(SECOND_PASS_ROWS)
            && u32::try_from(tiles).is_ok()
            && (blocks.max(1)..1 << 31).contains(&all_steps)
            && (tiles < blocks || has_waves())
    }

    /// The blocks that share the k steps of the last wave of a stream-K plan, of `blocks` that the machine has.
    ///
    /// Each block more stores partial sums of a tile, and the second pass loads them. That takes as long as [`STEPS_OF_PARTIAL_SUMS`] k
    /// steps of a machine full of blocks do, whatever the tile's size. So few k steps have few blocks.
    pub(super) fn stream_k_blocks(&self, plan: Plan, steps: usize, blocks: u32) -> u32 {
        let rest = self.tiles(plan) - self.whole(plan, blocks);
        let best = (rest * steps * STEPS_OF_PARTIAL_SUMS).isqrt();
        best.max(rest).min(blocks as usize) as u32
    }

    /// The number of tiles in the full waves of `blocks` blocks, before the last wave of a stream-K plan.
    pub(super) fn whole(&self, plan: Plan, blocks: u32) -> usize {
        let blocks = blocks.max(1) as usize;
        self.tiles(plan) / blocks * blocks
    }

    /// The number of tiles of the result.
    pub(super) fn tiles(&self, plan: Plan) -> usize {
        self.tiles_of(plan.rows, plan.columns)
    }

    /// The number of groups of tiles that blocks which share loads have at a time.
    pub(super) fn groups(&self, plan: Plan) -> usize {
        let [rows, columns] = plan.loads.cluster();
        self.tiles_of(rows * plan.rows, columns * plan.columns)
    }

    /// The number of tiles of the result, if they have so many rows and columns.
    fn tiles_of(&self, rows: usize, columns: usize) -> usize {
        self.rows.div_ceil(rows) * self.columns.div_ceil(columns) * self.batches
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Configurations for operands of `f16`, the first row-major and the second column-major.
    pub(in super::super) fn configs(sizes: &[[usize; 2]], loads: Loads) -> Vec<TileConfig> {
        let config = |&[rows, columns]: &[usize; 2]| TileConfig {
            loads,
            a: Some(Major::Row),
            b: Some(Major::Column),
            rows,
            columns,
            depth: 64,
            group: GROUP,
            fast: false,
            by_words: false,
        };
        sizes.iter().map(config).collect()
    }

    pub(in super::super) fn problem([batches, rows, columns, depth]: [usize; 4]) -> Problem {
        let (a, b) = (Major::Row, Major::Column);
        Problem {
            batches,
            rows,
            columns,
            depth,
            a,
            b,
            packed_bytes: [0; 2],
            row_alignment: [if depth.is_multiple_of(64) { LINE_BYTES } else { 16 }; 2],
            in_place: Some([a, b]),
            one_by_one: [false; 2],
            beside_chunks: [false; 2],
            in_words: [true; 2],
            is_huge: false,
            fast: false,
            beta: false,
            element_bytes: [2, 2],
        }
    }

    pub(in super::super) const TILES: [[usize; 2]; 6] =
        [[128, 256], [128, 128], [128, 64], [64, 64], [32, 64], [16, 64]];

    #[test]
    fn grids_have_room_for_all_rows_and_matrices() {
        let threads = configs(&[[64, 64], [16, 64]], Loads::Threads);
        let all = [configs(&TILES, Loads::Tma), threads].concat();
        let tiles_by_threads = |sizes: [usize; 4]| {
            let plans = problem(sizes).plans(&all, &all, 132);
            assert!(plans.iter().any(|plan| plan.loads == Loads::Tma));
            let splits = plans.iter().any(|plan| plan.decomposition != Decomposition::DataParallel);
            let rows = plans.iter().filter(|plan| plan.loads == Loads::Threads).map(|plan| plan.rows);
            (rows.min(), splits)
        };
        assert_eq!(tiles_by_threads([1, 200_000, 8, 1024]), (Some(64), true));
        assert_eq!(tiles_by_threads([1, 1_000_000, 8, 1024]), (Some(64), false));
        assert_eq!(tiles_by_threads([1, 5_000_000, 8, 1024]), (None, false));
        assert_eq!(tiles_by_threads([70_000, 16, 16, 1024]), (None, false));
    }

    #[test]
    fn a_tile_that_exists_with_both_sums_has_one_plan() {
        let promoted = configs(&[[128, 256], [64, 64]], Loads::Tma);
        let fast = TileConfig { fast: true, ..promoted[0] };
        let all = [&[fast], &promoted[..]].concat();
        let with = |fast| Problem { fast, ..problem([1, 256, 256, 64]) };
        for fast in [false, true] {
            let plans = with(fast).plans(&all, &all, 132);
            assert_eq!(plans, with(fast).plans(&promoted, &promoted, 132), "fast: {fast}");
        }
    }

    #[test]
    fn arrays_that_32_bits_cannot_count_have_one_pass_of_tma() {
        let huge = Problem { is_huge: true, ..problem([1, 70_000, 70_000, 512]) };
        let configs = [configs(&TILES, Loads::Tma), configs(&[[64, 64]], Loads::Threads)].concat();
        let plans = huge.plans(&configs, &configs, 132);
        assert!(!plans.is_empty());
        for plan in plans {
            assert_eq!((plan.loads, plan.decomposition), (Loads::Tma, Decomposition::DataParallel));
        }
    }

    #[test]
    fn few_rows_that_lie_as_columns_are_packed_beside_many_columns() {
        let (few, many) = (configs(&[[16, 64], [64, 64]], Loads::Tma), configs(&[[64, 64]], Loads::Tma));
        assert!(problem([1, 32, 256, 64]).packs_few_rows(&few));
        assert!(!problem([1, 32, 255, 64]).packs_few_rows(&few), "few columns");
        assert!(!problem([1, 33, 4096, 64]).packs_few_rows(&few), "more rows");
        assert!(!problem([1, 32, 4096, 64]).packs_few_rows(&many), "no kernels for few rows");
        let by_columns = few.iter().map(|config| TileConfig { a: Some(Major::Column), ..*config });
        let both: Vec<_> = few.iter().copied().chain(by_columns).collect();
        assert!(!problem([1, 32, 256, 64]).packs_few_rows(&both), "kernels that read them as they lie");
    }

    #[test]
    fn few_rows_have_no_wide_tiles_of_odd_columns() {
        let tiles = configs(&[[128, 144], [256, 32], [64, 16], [16, 64]], Loads::Tma);
        let columns = |rows| {
            let plans = problem([1, rows, 4096, 64]).plans(&tiles, &[], 132);
            plans.iter().map(|plan| plan.columns).collect::<Vec<_>>()
        };
        assert_eq!(columns(32), [32, 16, 64]);
        assert_eq!(columns(33), [144, 32, 16]);
    }

    #[test]
    fn plans_of_partial_sums_differ_in_the_share_of_a_block() {
        let plans = problem([1, 64, 64, 64 * 20]).plans(&[], &configs(&[[64, 64]], Loads::Tma), 132);
        let splits = plans.iter().filter_map(|plan| match plan.decomposition {
            Decomposition::SplitK(splits) => Some(splits),
            _ => None,
        });
        assert_eq!(splits.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 7, 10]);
    }

    #[test]
    fn stream_k_needs_a_last_wave_that_is_not_full() {
        let wide = configs(&[[128, 256]], Loads::Tma);
        let problem = |rows| problem([1, rows, 256, 640]);
        let has = |rows, direct: &[TileConfig]| problem(rows).has_stream_k(&wide[0], direct, 8);
        assert!(has(128, &wide) && has(128 * 9, &wide));
        assert!(!has(128 * 8, &wide), "a wave that is full");
        assert!(has(128, &[]) && !has(128 * 9, &[]), "no kernel for the waves before");
        let of_64_bits = Problem { element_bytes: [8, 8], ..problem(128) };
        assert!(!of_64_bits.has_stream_k(&wide[0], &wide, 8), "no second pass");
        let unaligned = |direct: &[TileConfig]| {
            Problem { row_alignment: [16; 2], ..problem(128 * 9) }.has_stream_k(&wide[0], direct, 8)
        };
        let clusters = [wide.clone(), configs(&[[128, 256]], Loads::Cluster([2, 1]))].concat();
        assert!(has(128 * 9, &clusters) && unaligned(&wide));
        assert!(!unaligned(&clusters), "clusters are faster");
        let (loads, decomposition) = (Loads::Tma, Decomposition::StreamK);
        assert_eq!(problem(128 * 9).whole(Plan { loads, rows: 128, columns: 256, decomposition }, 8), 8);
    }
}
