//! The report: a row for each kernel and architecture, as a table or as JSON.

use std::fmt;
use std::path::{Path, PathBuf};

use cuda_tiles_builder::ptx::Module;
use cuda_tiles_builder::{Arch, KernelMetadata};
use serde::{Serialize, Serializer};

use crate::assembler::{Assembled, Assembler, Resources};
use crate::error::{Context, Error, Result};
use crate::occupancy::{Demand, Limits, Occupancy};

/// What all kernels take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Kernels in the order of their names, and of architectures.
    pub rows: Vec<Row>,
    /// What the assembler complains about, with the architecture.
    pub complaints: Vec<String>,
    /// The number of files that it refused.
    #[serde(skip)]
    pub refused: usize,
}

/// What a kernel takes on the GPUs of an architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The kernel's path, or the name of an entry that was written by hand.
    pub kernel: String,
    /// The architecture.
    #[serde(serialize_with = "name")]
    pub arch: Arch,
    /// Threads of a block, producer warps included; `None` of an entry that states none.
    pub threads: Option<u32>,
    /// What the assembler reports.
    #[serde(flatten)]
    pub resources: Resources,
    /// Shared memory that a launch asks for besides, in bytes for a block.
    pub dynamic_shared_bytes: u32,
    /// How many blocks a multiprocessor holds, if the threads of one are known.
    pub occupancy: Option<Occupancy>,
}

fn name<S: Serializer>(arch: &Arch, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(arch.name())
}

impl Report {
    /// Assembles files of PTX as `cuda-tiles-builder` writes them, and says what their kernels take.
    ///
    /// # Errors
    /// If a file cannot be read or is not such PTX, or the assembler does not start. What it refuses is among the complaints.
    pub fn of(images: &[(PathBuf, Arch)], assembler: &Assembler) -> Result<Self> {
        let assembled = assembler.assemble_all(images.iter().map(|(path, arch)| (&**path, *arch)))?;
        let mut report = Self::default();
        for ((path, arch), assembled) in images.iter().zip(assembled) {
            let ptx = std::fs::read_to_string(path).about(path, "read")?;
            report.add(path, &ptx, *arch, assembled)?;
        }
        report.rows.sort_by(|left, right| (&left.kernel, left.arch).cmp(&(&right.kernel, right.arch)));
        Ok(report)
    }

    fn add(&mut self, path: &Path, ptx: &str, arch: Arch, assembled: Assembled) -> Result {
        let content = |reason: String| Error::Content { path: path.to_owned(), reason };
        let kernels = KernelMetadata::all_of(ptx).map_err(|error| content(error.to_string()))?;
        let module = Module::parse(ptx).map_err(|error| content(error.to_string()))?;
        for entry in module.entries() {
            // Of a module that the assembler refuses there is nothing to say.
            let Some(&resources) = assembled.kernels.get(entry.name()) else { continue };
            let metadata = kernels.iter().find(|kernel| kernel.entry == entry.name());
            self.rows.push(Row::new(entry.name(), metadata, arch, resources));
        }
        self.complaints.extend(assembled.complaints.iter().map(|complaint| format!("{arch}: {complaint}")));
        self.refused += usize::from(assembled.has_failed);
        Ok(())
    }

    /// The rows of kernels that spill registers or have a stack.
    pub fn spilling(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.resources.local_bytes() > 0)
    }
}

impl Row {
    fn new(entry: &str, metadata: Option<&KernelMetadata>, arch: Arch, resources: Resources) -> Self {
        let threads =
            metadata.and_then(|kernel| kernel.threads_on(arch)).map(|threads| threads.iter().product());
        let dynamic_shared_bytes = metadata.map_or(0, |kernel| kernel.dynamic_shared_bytes(arch));
        let demand = |threads| Demand {
            threads,
            registers: resources.registers,
            shared_bytes: resources.shared_bytes + dynamic_shared_bytes,
        };
        Self {
            kernel: metadata.map_or(entry, |kernel| &kernel.name).to_owned(),
            arch,
            threads,
            resources,
            dynamic_shared_bytes,
            occupancy: threads.map(|threads| Occupancy::new(demand(threads), Limits::of(arch))),
        }
    }

    /// The cells of the table.
    fn cells(&self) -> [String; COLUMNS.len()] {
        let Resources { registers, shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes } =
            self.resources;
        let unknown = || "?".to_owned();
        let occupancy = |cell: fn(&Occupancy) -> String| self.occupancy.as_ref().map_or_else(unknown, cell);
        [
            self.kernel.clone(),
            self.arch.to_string(),
            self.threads.map_or_else(unknown, |threads| threads.to_string()),
            registers.to_string(),
            format!("{shared_bytes} + {}", self.dynamic_shared_bytes),
            stack_bytes.to_string(),
            format!("{spill_store_bytes} / {spill_load_bytes}"),
            occupancy(|occupancy| occupancy.blocks.to_string()),
            occupancy(|occupancy| format!("{:.0} %", 100.0 * occupancy.fraction())),
            occupancy(|occupancy| occupancy.limit.to_string()),
        ]
    }
}

/// The table's columns, and whether what stands in them is text.
const COLUMNS: [(&str, bool); 10] = [
    ("kernel", true),
    ("for", true),
    ("threads", false),
    ("registers", false),
    ("shared", false),
    ("stack", false),
    ("spills", false),
    ("blocks", false),
    ("occupancy", false),
    ("limit", true),
];

/// The table: numbers to the right, text to the left.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = COLUMNS.map(|(name, _)| name.to_owned());
        let lines: Vec<_> = std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        let widths: [usize; COLUMNS.len()] = std::array::from_fn(|column| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
        });
        for line in &lines {
            let cells =
                line.iter().zip(widths).zip(COLUMNS).map(|((cell, width), (_, is_text))| match is_text {
                    true => format!("{cell:<width$}"),
                    false => format!("{cell:>width$}"),
                });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n\
        .visible .entry k$gemm()\n.maxntid 384, 1, 1\n{\n\
        //@cuda-tiles entry k::gemm maxntid=256 producer=128 shared=99328,163840,196608 line=3 fingerprint=7 is fn gemm()\nret;\n}\n\
        .visible .entry by_hand() { ret; }\n";

    fn report() -> Report {
        let gemm = Resources { registers: 168, shared_bytes: 1024, ..Resources::default() };
        let by_hand =
            Resources { registers: 20, stack_bytes: 16, spill_store_bytes: 4, spill_load_bytes: 8, ..gemm };
        let kernels = [("k$gemm".to_owned(), gemm), ("by_hand".to_owned(), by_hand)];
        let assembled =
            Assembled { kernels: kernels.into(), complaints: vec!["warning".to_owned()], has_failed: false };
        let mut report = Report::default();
        report.add(Path::new("k.ptx"), PTX, Arch::Sm90a, assembled).unwrap();
        report
    }

    #[test]
    fn what_a_launch_asks_for_counts() {
        let report = report();
        let gemm = &report.rows[0];
        assert_eq!((gemm.kernel.as_str(), gemm.threads), ("k::gemm", Some(384)));
        assert_eq!(gemm.dynamic_shared_bytes, 196608);
        assert_eq!(gemm.occupancy.unwrap().blocks, 1);
        assert_eq!(report.complaints, ["sm_90a: warning"]);
        let spilling: Vec<_> = report.spilling().map(|row| &*row.kernel).collect();
        assert_eq!(spilling, ["by_hand"]);
    }

    #[test]
    fn the_table_is_one_that_people_can_read() {
        let expected = "\
kernel   for     threads  registers         shared  stack  spills  blocks  occupancy  limit
k::gemm  sm_90a      384        168  1024 + 196608      0   0 / 0       1       19 %  registers
by_hand  sm_90a        ?         20       1024 + 0     16   4 / 8       ?          ?  ?
";
        assert_eq!(report().to_string(), expected);
    }

    #[test]
    fn as_json_each_number_has_its_name() {
        let json = serde_json::to_value(report()).unwrap();
        let gemm = &json["rows"][0];
        assert_eq!((&gemm["arch"], &gemm["registers"]), (&"sm_90a".into(), &168.into()));
        assert_eq!(
            (&gemm["occupancy"]["blocks"], &gemm["occupancy"]["limit"]),
            (&1.into(), &"registers".into())
        );
    }

    #[test]
    fn ptx_that_is_cut_off_is_an_error_with_its_file() {
        let error =
            Report::default().add(Path::new("k.ptx"), "", Arch::Sm80, Assembled::default()).unwrap_err();
        assert!(error.to_string().starts_with("k.ptx: the text is not PTX"), "{error}");
    }
}
