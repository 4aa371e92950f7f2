//! From the comment that `#[kernel]` leaves in the PTX to the directives that PTX has for it.
//!
//! rustc has no attribute for launch bounds, so the macro emits, beside each kernel, a line of assembly that
//! is a comment:
//!
//! ```text
//! //@cuda-tiles entry gemm maxntid=256 copy=128 minnctapersm=1 maxnreg=168 cluster=2,1,1 paramalign=3:64
//! ```
//!
//! Written into the entry's head as `.maxntid 384, 1, 1` and so on, they give the same machine code as bounds
//! that the code generator knew of, since it is `ptxas` that allocates registers.

use std::fmt::Write as _;

use crate::Arch;
use crate::ptx::{Entry, Module, ParseError};

/// What each marker line begins with.
const MARKER: &str = "//@cuda-tiles entry ";

/// What a kernel's marker states about its launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelMetadata {
    /// The kernel's name, which is the entry's.
    pub name: String,
    /// The largest block that the kernel may be launched with, in threads along x, y and z (`.maxntid`).
    pub threads: Option<[u32; 3]>,
    /// Threads along x besides those, which do nothing but copy. Architectures before `sm_90` have no copy engine for
    /// them to drive; kernels are launched without them there.
    pub copy_threads: Option<u32>,
    /// How many blocks should fit on a multiprocessor at a time (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// The most registers that a thread may take (`.maxnreg`).
    pub max_registers: Option<u32>,
    /// The shape of the thread block cluster, in blocks along x, y and z (`.reqnctapercluster`). Architectures
    /// before `sm_90` have no clusters; their images leave it out.
    pub cluster: Option<[u32; 3]>,
    /// Parameters that must be aligned more strictly than Rust's ABI aligns them, such as tensor maps, as pairs
    /// of the parameter's index in the PTX and its alignment in bytes.
    pub aligned_parameters: Vec<(usize, u32)>,
}

/// A marker that does not fit the PTX it stands in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The PTX itself cannot be read.
    #[error(transparent)]
    Ptx(#[from] ParseError),
    /// A setting is unknown, malformed or contradictory.
    #[error(
        "the marker of kernel `{kernel}` says `{setting}`: {reason}; if `#[kernel]` wrote it, \
         cuda-tiles and cuda-tiles-builder differ in version: use the same one of both"
    )]
    Setting {
        /// The kernel's name.
        kernel: String,
        /// The setting as written.
        setting: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is a marker and no entry of that name.
    #[error(
        "kernel `{kernel}` has a marker but no entry in the PTX; is its function `#[unsafe(no_mangle)] \
         extern \"ptx-kernel\"`, as `#[kernel]` writes it?"
    )]
    NoEntry {
        /// The kernel's name.
        kernel: String,
    },
    /// Two markers have the same name.
    #[error(
        "two kernels are named `{kernel}`; an artifact finds kernels by name: rename one of them, in this crate \
         or in the kernel crate that it depends on"
    )]
    Duplicate {
        /// The kernels' name.
        kernel: String,
    },
    /// A parameter to align is not there, or is not one that can be aligned.
    #[error(
        "kernel `{kernel}` asks to align parameter {index}, but its PTX has no parameter {index} in memory"
    )]
    Parameter {
        /// The kernel's name.
        kernel: String,
        /// The parameter's index in the PTX.
        index: usize,
    },
}

impl KernelMetadata {
    /// Reads one line of PTX; `None` if it is not a marker.
    fn parse(line: &str) -> Result<Option<Self>, MetadataError> {
        let Some(marker) = line.trim().strip_prefix(MARKER) else { return Ok(None) };
        let mut words = marker.split_whitespace();
        let mut metadata = Self { name: words.next().unwrap_or_default().to_owned(), ..Self::default() };
        for setting in words {
            metadata.set(setting).map_err(|reason| metadata.refuse(setting, reason))?;
        }
        if let (Some(_), None) = (metadata.min_blocks, metadata.threads) {
            return Err(metadata.refuse("minnctapersm", "it has no meaning without `maxntid`"));
        }
        if let (Some(_), None) = (metadata.copy_threads, metadata.threads) {
            return Err(metadata.refuse("copy", "it has no meaning without `maxntid`"));
        }
        Ok(Some(metadata))
    }

    fn refuse(&self, setting: &str, reason: &'static str) -> MetadataError {
        MetadataError::Setting { kernel: self.name.clone(), setting: setting.to_owned(), reason }
    }

    /// Takes over one `key=value`.
    fn set(&mut self, setting: &str) -> Result<(), &'static str> {
        let (key, value) = setting.split_once('=').ok_or("it has no value")?;
        match key {
            "maxntid" => self.threads = Some(three(value)?),
            "copy" => self.copy_threads = Some(positive(value)?),
            "minnctapersm" => self.min_blocks = Some(positive(value)?),
            "maxnreg" => self.max_registers = Some(positive(value)?),
            "cluster" => self.cluster = Some(three(value)?),
            "paramalign" => {
                let (index, alignment) = value.split_once(':').ok_or("it is not `index:alignment`")?;
                let index = index.parse().map_err(|_| "its index is not a number")?;
                let alignment = positive(alignment)?;
                if !alignment.is_power_of_two() {
                    return Err("the alignment is not a power of two");
                }
                self.aligned_parameters.push((index, alignment));
            }
            _ => return Err("this setting is unknown"),
        }
        Ok(())
    }

    /// The directives that `entry` needs and does not have yet, each on a line of its own.
    fn missing_directives(&self, entry: &Entry<'_>, arch: Arch) -> String {
        let mut lines = String::new();
        let mut add = |name: &str, values: Option<String>| {
            if let Some(values) = values.filter(|_| !entry.has_directive(name)) {
                let _ = write!(lines, "\n{name}{values}");
            }
        };
        let number = |value: Option<u32>| value.map(|value| format!(" {value}"));
        let triple = |value: Option<[u32; 3]>| value.map(|[x, y, z]| format!(" {x}, {y}, {z}"));
        let cluster = self.cluster.filter(|_| arch >= Arch::Sm90);
        let copying = self.copy_threads.filter(|_| arch >= Arch::Sm90).unwrap_or(0);
        add(".maxntid", triple(self.threads.map(|[x, y, z]| [x + copying, y, z])));
        add(".minnctapersm", number(self.min_blocks));
        add(".maxnreg", number(self.max_registers));
        add(".explicitcluster", cluster.map(|_| String::new()));
        add(".reqnctapercluster", triple(cluster));
        lines
    }
}

fn positive(text: &str) -> Result<u32, &'static str> {
    text.parse().ok().filter(|&number| number > 0).ok_or("it is not a positive number")
}

/// Reads `x`, `x,y` or `x,y,z`; sizes left out are 1.
fn three(text: &str) -> Result<[u32; 3], &'static str> {
    let mut sizes = [1; 3];
    for (index, part) in text.split(',').enumerate() {
        *sizes.get_mut(index).ok_or("it has more than three sizes")? = positive(part)?;
    }
    Ok(sizes)
}

/// Writes what the markers in `text` say into the heads of their entries, and returns the new text and the
/// metadata in the order of the markers. Directives that an entry already has are left as they are, so that
/// the result of this function can be put through it again. An entry without a marker is not changed.
pub(crate) fn apply(text: &str, arch: Arch) -> Result<(String, Vec<KernelMetadata>), MetadataError> {
    let module = Module::parse(text)?;
    let mut kernels: Vec<KernelMetadata> = Vec::new();
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for line in text.lines() {
        let Some(kernel) = KernelMetadata::parse(line)? else { continue };
        if kernels.iter().any(|known| known.name == kernel.name) {
            return Err(MetadataError::Duplicate { kernel: kernel.name });
        }
        let Some(entry) = module.entry(&kernel.name) else {
            return Err(MetadataError::NoEntry { kernel: kernel.name });
        };
        let after_parameters = entry.directives_range().start;
        edits.push((after_parameters..after_parameters, kernel.missing_directives(entry, arch)));
        for &(index, alignment) in &kernel.aligned_parameters {
            let (range, current) = parameter_alignment(entry, index)
                .ok_or_else(|| MetadataError::Parameter { kernel: kernel.name.clone(), index })?;
            edits.push((range, alignment.max(current).to_string()));
        }
        kernels.push(kernel);
    }

    edits.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len() + 64 * kernels.len());
    let mut copied = 0;
    for (range, replacement) in edits {
        result.push_str(&text[copied..range.start]);
        result.push_str(&replacement);
        copied = range.end;
    }
    result.push_str(&text[copied..]);
    Ok((result, kernels))
}

/// The alignment of a by-value parameter, and where its digits stand in the module's text. Scalars and pointers
/// have none: the `.align` of a `.ptr` is about what it points to.
fn parameter_alignment(entry: &Entry<'_>, index: usize) -> Option<(std::ops::Range<usize>, u32)> {
    const ALIGN: &str = ".param .align ";
    let parameters = entry.parameters();
    let declaration = parameters.split(',').nth(index)?;
    let digits = declaration.find(ALIGN)? + ALIGN.len();
    let length = declaration[digits..].find(|c: char| !c.is_ascii_digit())?;
    let value = declaration[digits..digits + length].parse().ok()?;
    // `declaration` is a part of `parameters`, so the distance of their beginnings is its offset there.
    let start = entry.parameters_range().start
        + (declaration.as_ptr() as usize - parameters.as_ptr() as usize)
        + digits;
    Some((start..start + length, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with these marker lines and two entries, `first` and `second`.
    fn module(markers: &str) -> String {
        format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n{markers}\n\
             .visible .entry first(\n\t.param .u64 .ptr .align 4 first_param_0,\n\t.param .align 8 .b8 first_param_1[128]\n)\n\
             {{\n\tret;\n}}\n.visible .entry second()\n{{\n\tret;\n}}\n"
        )
    }

    #[test]
    fn every_setting_becomes_its_directive() {
        let text = module(
            "//@cuda-tiles entry first maxntid=384 minnctapersm=1 maxnreg=168 cluster=2,1,1 paramalign=1:64\n\
             \t//@cuda-tiles entry second maxntid=16,8",
        );
        let (result, kernels) = apply(&text, Arch::Sm90a).unwrap();
        assert!(
            result.contains(
                "first_param_1[128]\n)\n.maxntid 384, 1, 1\n.minnctapersm 1\n.maxnreg 168\n.explicitcluster\n\
                 .reqnctapercluster 2, 1, 1\n{"
            ),
            "{result}"
        );
        assert!(result.contains(".param .align 64 .b8 first_param_1[128]"), "{result}");
        assert!(result.contains(".ptr .align 4 first_param_0"), "{result}");
        assert!(result.contains(".visible .entry second()\n.maxntid 16, 8, 1\n{"), "{result}");
        assert_eq!(kernels[0].name, "first");
        assert_eq!(kernels[0].threads, Some([384, 1, 1]));
        assert_eq!((kernels[0].min_blocks, kernels[0].max_registers), (Some(1), Some(168)));
        assert_eq!(kernels[0].cluster, Some([2, 1, 1]));
        assert_eq!(kernels[0].aligned_parameters, [(1, 64)]);
        assert_eq!(kernels[1].threads, Some([16, 8, 1]));
    }

    #[test]
    fn applying_twice_changes_nothing_more() {
        let text = module("//@cuda-tiles entry first maxntid=256 cluster=2 paramalign=1:128");
        let (once, kernels) = apply(&text, Arch::Sm90a).unwrap();
        assert_eq!(apply(&once, Arch::Sm90a).unwrap(), (once, kernels));
    }

    #[test]
    fn an_entry_without_a_marker_is_not_changed() {
        let text = module("// no marker");
        assert_eq!(apply(&text, Arch::Sm90a).unwrap(), (text.clone(), vec![]));
    }

    #[test]
    fn clusters_are_left_out_where_there_are_none() {
        let text = module("//@cuda-tiles entry first maxntid=128 cluster=2,1,1");
        let (result, kernels) = apply(&text, Arch::Sm80).unwrap();
        assert!(result.contains(".maxntid 128, 1, 1") && !result.contains("cluster 2"), "{result}");
        assert_eq!(kernels[0].cluster, Some([2, 1, 1]));
    }

    #[test]
    fn threads_that_copy_count_where_there_is_a_copy_engine() {
        let text = module("//@cuda-tiles entry first maxntid=256 copy=32 minnctapersm=1");
        for (arch, directive) in [
            (Arch::Sm80, ".maxntid 256, 1, 1\n"),
            (Arch::Sm89, ".maxntid 256, 1, 1\n"),
            (Arch::Sm90, ".maxntid 288, 1, 1\n"),
            (Arch::Sm120, ".maxntid 288, 1, 1\n"),
        ] {
            let (result, kernels) = apply(&text, arch).unwrap();
            assert!(result.contains(directive), "{arch}: {result}");
            assert_eq!((kernels[0].threads, kernels[0].copy_threads), (Some([256, 1, 1]), Some(32)));
        }
    }

    #[test]
    fn a_larger_alignment_is_kept() {
        let text = module("//@cuda-tiles entry first paramalign=1:4");
        assert!(apply(&text, Arch::Sm90a).unwrap().0.contains(".param .align 8 .b8 first_param_1"));
    }

    #[test]
    fn markers_that_do_not_fit_name_their_kernel() {
        let error = |markers: &str| apply(&module(markers), Arch::Sm90a).unwrap_err();
        assert_eq!(
            error("//@cuda-tiles entry third maxntid=1"),
            MetadataError::NoEntry { kernel: "third".into() }
        );
        assert_eq!(
            error("//@cuda-tiles entry first maxntid=1\n//@cuda-tiles entry first maxntid=2"),
            MetadataError::Duplicate { kernel: "first".into() }
        );
        for index in [0, 2] {
            assert_eq!(
                error(&format!("//@cuda-tiles entry first paramalign={index}:64")),
                MetadataError::Parameter { kernel: "first".into(), index }
            );
        }
        for setting in [
            "maxntid=0",
            "maxntid=1,2,3,4",
            "maxnreg",
            "cluster=x",
            "paramalign=1",
            "paramalign=1:48",
            "speed=11",
        ] {
            let message = error(&format!("//@cuda-tiles entry first {setting}")).to_string();
            assert!(message.contains("`first`") && message.contains(setting), "{message}");
        }
        let message = error("//@cuda-tiles entry first minnctapersm=2").to_string();
        assert!(message.contains("without `maxntid`"), "{message}");
        let message = error("//@cuda-tiles entry first copy=32").to_string();
        assert!(message.contains("`copy`") && message.contains("without `maxntid`"), "{message}");
    }
}
