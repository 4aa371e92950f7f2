//! From the comment that `#[kernel]` leaves in the PTX to the directives that PTX has for it.
//!
//! rustc has no attribute for launch bounds, so the macro emits, beside each kernel, a line of assembly that
//! is a comment:
//!
//! ```text
//! //@cuda-tiles entry kernels::gemm maxntid=256 producer=128 minnctapersm=1 maxnreg=168
//!     shared=99328,163840,229376 line=12 fingerprint=3254236 is fn gemm(a: Span<f32, (u32, u32)>, ...)
//! ```
//!
//! (in one line). It stands in the body of the entry, which the compiler has named in its own way, and says by which path
//! Rust knows the kernel: the entry is renamed after it. One outside of all bodies belongs to the entry of that name.
//!
//! Written into the entry's head as `.maxntid 384, 1, 1` and so on, they give the same machine code as bounds
//! that the code generator knew of, since it is `ptxas` that allocates registers.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::Arch;
use crate::ptx::code::functions;
use crate::ptx::order::{self, late_cut};
use crate::ptx::repair::repaired;
use crate::ptx::statics::written_static;
use crate::ptx::{Entry, Module, ParseError, rename};

/// What each marker line begins with.
const MARKER: &str = "//@cuda-tiles entry ";

/// The mark of a block that uses memory which its CTA has once, and which has blocks beside it.
const USES_MEMORY_OF_CTA: &str = "//@cuda-tiles uses memory of the cta";

/// What a kernel's marker states about its launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelMetadata {
    /// The kernel's path, `kernels::filters::scale`, or the name of an entry that was written by hand.
    pub name: String,
    /// The entry's name in the PTX.
    pub entry: String,
    /// What the host compares with its handle of the kernel; none of an entry that was written by hand.
    pub fingerprint: Option<u64>,
    /// The line of the source that the kernel stands on.
    pub line: Option<u32>,
    /// The function as it is declared.
    pub declaration: String,
    /// The largest block that the kernel may be launched with, in threads along x, y and z (`.maxntid`).
    pub threads: Option<[u32; 3]>,
    /// Threads of producer warps, along x and in addition to `threads`. Architectures before `sm_90` have no TMA;
    /// kernels are launched without producer warps there.
    pub producer_threads: Option<u32>,
    /// How many blocks share the producer threads, from `sm_90` on. These have y = 0, 1 and so on, and the producer threads come behind.
    pub consumers: Option<u32>,
    /// How many blocks form a cluster, from `sm_90` on (`.reqnctapercluster`).
    pub cluster: Option<u32>,
    /// How many blocks should fit on a multiprocessor at a time (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// The most registers that a thread may take (`.maxnreg`).
    pub max_registers: Option<u32>,
    /// The shared memory of a block that a launch asks for, in bytes, by the classes of targets; see
    /// [`dynamic_shared_bytes`](Self::dynamic_shared_bytes).
    pub shared_bytes: Option<[u32; 3]>,
    /// Whether the kernel is an `unsafe fn`, whose author vouches for what is checked of others.
    pub is_unsafe: bool,
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
         extern \"ptx-kernel\"`?"
    )]
    NoEntry {
        /// The kernel's name.
        kernel: String,
    },
    /// Two markers have the same name.
    #[error(
        "two kernels are `{kernel}`{}: rename one of them, or put it in another module (kernels in functions belong \
         to the module around these)", places(.lines)
    )]
    Duplicate {
        /// The kernels' path.
        kernel: String,
        /// The lines that they stand on.
        lines: [Option<u32>; 2],
    },
    /// A safe kernel cuts a writable tensor when its blocks may have come to know different things.
    #[error(
        "kernel `{kernel}`{line} cuts a writable tensor into tiles after it has {learnt}: its blocks may know different things \
         by then, and cut the tensor in different ways, so that two of them own the same elements. Call `partition`, \
         `strided` and `window` of writable tensors, and `schedule` of a `TmaStore`, at the top of the kernel; or declare the \
         kernel as an `unsafe fn` and state why its blocks own different elements"
    )]
    LateCut {
        /// The kernel's path.
        kernel: String,
        /// Where it stands, in parentheses.
        line: String,
        /// What it has done before, as the end of this sentence's first part.
        learnt: String,
    },
    /// A block uses memory that its CTA has once, for several blocks.
    #[error(
        "kernel `{kernel}`{line} has blocks that share a producer (`consumers`), and uses a barrier or memory of one block: an operation that \
         exchanges elements between warps, `cx.shared`, `tile_print!` or `tile_assert!`. The other blocks of the CTA would use the same \
         at another time. Keep to operations within a warp, as reductions along the rows of accumulators; or give each block a producer"
    )]
    MemoryOfCta {
        /// The kernel's path.
        kernel: String,
        /// Where it stands, in parentheses.
        line: String,
    },
    /// A safe kernel on tiles has thread-level code of `cuda_std`.
    #[error(
        "kernel `{kernel}`{line} uses a function of `cuda_tiles::cuda_std` that tells threads apart or makes them wait. In a kernel on \
         tiles all threads do the same, which its safe operations rest on. Declare the kernel as an `unsafe fn` and state why they still do; \
         or use what `cx.simt` gives; or make it a thread-level kernel by `cuda_std`'s own attribute"
    )]
    ThreadLevel {
        /// The kernel's path.
        kernel: String,
        /// Where it stands, in parentheses.
        line: String,
    },
    /// A safe kernel writes a static.
    #[error(
        "kernel `{kernel}`{line} writes the static `{variable}`, or may do so: the static's address goes to an instruction that writes. \
         Threads and blocks could tell each other by it what safe kernels must not branch on. Pass a tensor, \
         `SpanAtomic` for one that all blocks change, and let statics be tables that are only read; or declare the kernel as an \
         `unsafe fn` and state why nothing depends on it"
    )]
    WrittenStatic {
        /// The kernel's path.
        kernel: String,
        /// Where it stands, in parentheses.
        line: String,
        /// The static.
        variable: String,
    },
}

impl KernelMetadata {
    /// The kernels of a module's PTX, as this crate has written it, by their markers.
    ///
    /// # Errors
    /// If a marker is malformed.
    ///
    /// ```
    /// use cuda_tiles_builder::{Arch, KernelMetadata};
    ///
    /// let ptx = "//@cuda-tiles entry kernels::scale maxntid=256 shared=1024,2048,2048 is fn scale(factor: f32)";
    /// let [scale] = &KernelMetadata::all_of(ptx)?[..] else { panic!("one kernel") };
    /// assert_eq!((&*scale.name, &*scale.entry), ("kernels::scale", "kernels$scale"));
    /// assert_eq!(scale.threads_on(Arch::Sm80), Some([256, 1, 1]));
    /// assert_eq!(scale.dynamic_shared_bytes(Arch::Sm80), 2048);
    /// # Ok::<(), cuda_tiles_builder::MetadataError>(())
    /// ```
    pub fn all_of(ptx: &str) -> Result<Vec<Self>, MetadataError> {
        ptx.lines().filter_map(|line| Self::parse(line).transpose()).collect()
    }

    /// The threads of a block along x, y and z in code for `arch`, producer warps included; `None` if the kernel states none.
    pub fn threads_on(&self, arch: Arch) -> Option<[u32; 3]> {
        let producers = self.producer_threads.filter(|_| arch >= Arch::Sm90).unwrap_or(0);
        self.threads.map(|[x, y, z]| match self.consumers {
            Some(consumers) => [x, consumers + producers / x, z],
            None => [x + producers, y, z],
        })
    }

    /// The shared memory of a block, in bytes, that a launch asks for beside what the code for `arch` declares.
    pub fn dynamic_shared_bytes(&self, arch: Arch) -> u32 {
        self.shared_bytes.map_or(0, |bytes| bytes[arch.shared_class()])
    }

    /// Reads one line of PTX; `None` if it is not a marker.
    fn parse(line: &str) -> Result<Option<Self>, MetadataError> {
        let Some(marker) = line.trim().strip_prefix(MARKER) else { return Ok(None) };
        // A declaration has spaces.
        let (marker, declaration) = marker.split_once(" is ").unwrap_or((marker, ""));
        let mut words = marker.split_whitespace();
        let mut metadata = Self { name: words.next().unwrap_or_default().to_owned(), ..Self::default() };
        metadata.entry = symbol(&metadata.name);
        metadata.declaration = declaration.to_owned();
        for setting in words {
            metadata.set(setting).map_err(|reason| metadata.refuse(setting, reason))?;
        }
        if let (Some(_), None) = (metadata.min_blocks, metadata.threads) {
            return Err(metadata.refuse("minnctapersm", "it has no meaning without `maxntid`"));
        }
        if let (Some(_), None) = (metadata.consumers, metadata.producer_threads) {
            return Err(metadata.refuse("consumers", "it has no meaning without `producer`"));
        }
        if let (Some(_), None) = (metadata.producer_threads, metadata.threads) {
            return Err(metadata.refuse("producer", "it has no meaning without `maxntid`"));
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
            "maxntid" => once(&mut self.threads, three(value)?)?,
            "consumers" => once(&mut self.consumers, positive(value)?)?,
            "cluster" => once(&mut self.cluster, positive(value)?)?,
            "producer" => once(&mut self.producer_threads, positive(value)?)?,
            "minnctapersm" => once(&mut self.min_blocks, positive(value)?)?,
            "maxnreg" => once(&mut self.max_registers, positive(value)?)?,
            "shared" => once(&mut self.shared_bytes, bytes(value)?)?,
            "line" => once(&mut self.line, positive(value)?)?,
            "fingerprint" => once(&mut self.fingerprint, value.parse().map_err(|_| "it is not a number")?)?,
            "contract" if value == "unsafe" => self.is_unsafe = true,
            _ => return Err("this setting is unknown"),
        }
        let threads = self.threads.map_or(0, |[x, ..]| x);
        match threads.checked_add(self.producer_threads.unwrap_or(0)) {
            Some(_) => Ok(()),
            None => Err("with the other threads it is more than can be counted"),
        }
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
        add(".maxntid", triple(self.threads_on(arch)));
        let cluster = self.cluster.filter(|_| arch >= Arch::Sm90);
        add(".reqnctapercluster", triple(cluster.map(|blocks| [blocks, 1, 1])));
        add(".minnctapersm", number(self.min_blocks));
        add(".maxnreg", number(self.max_registers));
        lines
    }
}

/// Sets what is not set yet.
fn once<T>(setting: &mut Option<T>, value: T) -> Result<(), &'static str> {
    match setting.replace(value) {
        None => Ok(()),
        Some(_) => Err("it is set twice"),
    }
}

fn positive(text: &str) -> Result<u32, &'static str> {
    text.parse().ok().filter(|&number| number > 0).ok_or("it is not a positive number")
}

/// Reads three sizes, of which any may be 0.
fn bytes(text: &str) -> Result<[u32; 3], &'static str> {
    let sizes: Option<Vec<u32>> = text.split(',').map(|size| size.parse().ok()).collect();
    sizes.and_then(|sizes| sizes.try_into().ok()).ok_or("it is not three numbers")
}

/// Reads `x`, `x,y` or `x,y,z`; sizes left out are 1.
fn three(text: &str) -> Result<[u32; 3], &'static str> {
    let mut sizes = [1; 3];
    for (index, part) in text.split(',').enumerate() {
        *sizes.get_mut(index).ok_or("it has more than three sizes")? = positive(part)?;
    }
    Ok(sizes)
}

/// The places of two kernels in an error.
fn places(lines: &[Option<u32>; 2]) -> String {
    match *lines {
        [Some(first), Some(second)] if first != second => {
            format!(", one on line {first} of its file and one on line {second}")
        }
        [Some(line), _] => format!(", both on line {line} of its file"),
        _ => String::new(),
    }
}

/// A kernel's path as an identifier of PTX: `kernels::scale` is `kernels$scale`.
fn symbol(path: &str) -> String {
    let mut symbol = String::new();
    for c in path.replace("::", "$").chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' => symbol.push(c),
            // No segment of a path is empty, so that two signs in a row stand for nothing else.
            other => {
                let _ = write!(symbol, "$${:x}$", u32::from(other));
            }
        }
    }
    symbol
}

/// The text in which each entry that has a marker in its body is named after that.
fn with_readable_names(text: &str) -> Result<String, MetadataError> {
    let module = Module::parse(text)?;
    let mut names = HashMap::new();
    for entry in module.entries() {
        for line in entry.body().lines() {
            if let Some(kernel) = KernelMetadata::parse(line)?.filter(|kernel| kernel.entry != entry.name()) {
                names.insert(entry.name(), kernel.entry);
            }
        }
    }
    Ok(rename(text, &names))
}

/// Checks what safe kernels must not do, which no type of Rust can say.
fn check(text: &str, kernels: &[KernelMetadata]) -> Result<(), MetadataError> {
    let safe = || kernels.iter().filter(|kernel| !kernel.is_unsafe).map(|kernel| &*kernel.entry);
    let place = |entry: &str| {
        let kernel = kernels.iter().find(|kernel| kernel.entry == entry);
        let line = kernel.and_then(|kernel| kernel.line).map(|line| format!(" (line {line} of its file)"));
        (kernel.map_or_else(|| entry.to_owned(), |kernel| kernel.name.clone()), line.unwrap_or_default())
    };
    // Only code of blocks that share a CTA has the mark.
    let uses_memory_of_cta = |body: &str| body.contains(USES_MEMORY_OF_CTA);
    if uses_memory_of_cta(text) {
        // A function that is not inlined has its caller's blocks.
        let module = Module::parse(text)?;
        let user = module.entries().iter().find(|entry| uses_memory_of_cta(entry.body()));
        let sharing = kernels.iter().find(|kernel| kernel.consumers.is_some());
        let entry =
            user.map(|entry| entry.name()).or(sharing.map(|kernel| &*kernel.entry)).unwrap_or_default();
        let (kernel, line) = place(entry);
        return Err(MetadataError::MemoryOfCta { kernel, line });
    }
    let code = order::with_marks_as_statements(text);
    let (functions, between) = functions(&code);
    if let Some(entry) = order::thread_level(&functions, safe()) {
        let (kernel, line) = place(entry);
        return Err(MetadataError::ThreadLevel { kernel, line });
    }
    if let Some((entry, learnt)) = late_cut(&functions, safe()) {
        let (kernel, line) = place(entry);
        return Err(MetadataError::LateCut { kernel, line, learnt: learnt.to_string() });
    }
    if let Some((entry, variable)) = written_static(&functions, &between, safe()) {
        let (kernel, line) = place(entry);
        return Err(MetadataError::WrittenStatic { kernel, line, variable });
    }
    Ok(())
}

/// Names entries as their markers in `text` say, writes what else these say into the heads of the entries, and returns the new text and the
/// metadata in the order of the markers; what assemblers get wrong is repaired. Directives that an entry already has are left as they are,
/// so that the result of this function can be put through it again. An entry without a marker is not changed.
pub(crate) fn apply(text: &str, arch: Arch) -> Result<(String, Vec<KernelMetadata>), MetadataError> {
    let text = &with_readable_names(text)?;
    let module = Module::parse(text)?;
    let mut kernels: Vec<KernelMetadata> = Vec::new();
    let mut insertions: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let Some(kernel) = KernelMetadata::parse(line)? else { continue };
        if let Some(known) = kernels.iter().find(|known| known.entry == kernel.entry) {
            return Err(MetadataError::Duplicate { lines: [known.line, kernel.line], kernel: kernel.name });
        }
        let Some(entry) = module.entry(&kernel.entry) else {
            return Err(MetadataError::NoEntry { kernel: kernel.name });
        };
        insertions.push((entry.directives_range().start, kernel.missing_directives(entry, arch)));
        kernels.push(kernel);
    }
    check(text, &kernels)?;

    insertions.sort_by_key(|&(place, _)| place);
    let mut result = String::with_capacity(text.len() + 64 * kernels.len());
    let mut copied = 0;
    for (place, directives) in insertions {
        result.push_str(&text[copied..place]);
        result.push_str(&directives);
        copied = place;
    }
    result.push_str(&text[copied..]);
    Ok((repaired(&order::without_marks(&result)), kernels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            "//@cuda-tiles entry first maxntid=384 minnctapersm=1 maxnreg=168\n\
             \t//@cuda-tiles entry second maxntid=16,8",
        );
        let (result, kernels) = apply(&text, Arch::Sm90a).unwrap();
        assert!(
            result.contains("first_param_1[128]\n)\n.maxntid 384, 1, 1\n.minnctapersm 1\n.maxnreg 168\n{"),
            "{result}"
        );
        assert!(result.contains(".visible .entry second()\n.maxntid 16, 8, 1\n{"), "{result}");
        assert_eq!(kernels[0].name, "first");
        assert_eq!(kernels[0].threads, Some([384, 1, 1]));
        assert_eq!((kernels[0].min_blocks, kernels[0].max_registers), (Some(1), Some(168)));
        assert_eq!(kernels[1].threads, Some([16, 8, 1]));
    }

    #[test]
    fn applying_twice_changes_nothing_more() {
        let text = module("//@cuda-tiles entry first maxntid=256 maxnreg=64");
        let (once, kernels) = apply(&text, Arch::Sm90a).unwrap();
        assert_eq!(apply(&once, Arch::Sm90a).unwrap(), (once, kernels));
    }

    #[test]
    fn entries_without_marker_stay_as_they_are() {
        let thread = "\t// begin inline asm\n\t//@cuda-tiles reveals thread\n\t// end inline asm\n";
        let text = module("//@cuda-tiles entry first maxntid=32");
        let (before, after) = text.rsplit_once("\tret;").unwrap();
        let (result, kernels) = apply(&format!("{before}{thread}\tret;{after}"), Arch::Sm90a).unwrap();
        assert_eq!(kernels.iter().map(|kernel| &*kernel.name).collect::<Vec<_>>(), ["first"]);
        assert!(result.ends_with(".visible .entry second()\n{\n\tret;\n}\n"), "{result}");
    }

    #[test]
    fn safe_kernels_are_checked() {
        let with = |contract: &str, body: &str| {
            let text = module(&format!(
                "//@cuda-tiles entry second maxntid=32{contract}\n.global .align 4 .b8 _RNvCs1_1k1C[4];"
            ));
            let (before, after) = text.rsplit_once("\tret;").unwrap();
            apply(&format!("{before}{body}\tret;{after}"), Arch::Sm90a)
        };
        let late = "\t// begin inline asm\n\t//@cuda-tiles reveals index\n\t// end inline asm\n\t//@cuda-tiles cuts\n";
        let error = with("", late).unwrap_err().to_string();
        assert!(
            error.starts_with("kernel `second` cuts a writable tensor into tiles after it has read its block's index (`bid`, "),
            "{error}"
        );
        assert!(!with(" contract=unsafe", late).unwrap().0.contains("reveals"));
        let thread = "\t// begin inline asm\n\t//@cuda-tiles reveals thread\n\t// end inline asm\n";
        let error = with("", thread).unwrap_err().to_string();
        assert!(
            error.starts_with("kernel `second` uses a function of `cuda_tiles::cuda_std` that "),
            "{error}"
        );
        assert!(!with(" contract=unsafe", thread).unwrap().0.contains("reveals"));
        let writes = "\tatom.global.add.u32 %r1, [_RNvCs1_1k1C], 1;\n";
        let error = with("", writes).unwrap_err().to_string();
        assert!(error.starts_with("kernel `second` writes the static `k::C`, or may do so: "), "{error}");
        // Debug information hides nothing, and accuses nobody.
        assert!(with("", &format!("\t.loc\t1 8 0\n{writes}")).is_err());
        assert!(with("", &format!("\t.loc\t1 8 0\n{late}")).is_err());
        let table = "\tret;\n}\n\t.section\t.debug_info\n\t{\n.b64 _RNvCs1_1k1C\n\t}\n.func other()\n{\n";
        assert!(with("", table).is_ok());
        assert!(with("", &format!("\tcall other;\n{table}{writes}")).is_err());
        assert!(with(" contract=unsafe", writes).unwrap().0.contains(writes));
    }

    #[test]
    fn blocks_that_share_a_producer_have_no_memory_of_one_block() {
        let with = |body: &str| {
            let marker = "//@cuda-tiles entry second maxntid=128 producer=128 consumers=3";
            let text = module(marker);
            let (before, after) = text.rsplit_once("\tret;").unwrap();
            apply(&format!("{before}{body}\tret;{after}"), Arch::Sm90a)
        };
        let (text, kernels) = with("").unwrap();
        assert!(text.contains(".maxntid 128, 4, 1") && kernels[0].consumers == Some(3), "{text}");
        let error = with("\t// begin inline asm\n\t//@cuda-tiles uses memory of the cta\n").unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("kernel `second` has blocks that share a producer (`consumers`), and uses "),
            "{error}"
        );
    }

    #[test]
    fn an_entry_without_a_marker_is_not_changed() {
        let text = module("// no marker");
        assert_eq!(apply(&text, Arch::Sm90a).unwrap(), (text.clone(), vec![]));
    }

    #[test]
    fn producer_warps_count_where_there_is_tma() {
        let text = module("//@cuda-tiles entry first maxntid=256 producer=32 minnctapersm=1");
        for (arch, directive) in [
            (Arch::Sm80, ".maxntid 256, 1, 1\n"),
            (Arch::Sm89, ".maxntid 256, 1, 1\n"),
            (Arch::Sm90, ".maxntid 288, 1, 1\n"),
            (Arch::Sm120, ".maxntid 288, 1, 1\n"),
        ] {
            let (result, kernels) = apply(&text, arch).unwrap();
            assert!(result.contains(directive), "{arch}: {result}");
            assert_eq!((kernels[0].threads, kernels[0].producer_threads), (Some([256, 1, 1]), Some(32)));
        }
    }

    /// Two kernels as rustc and `#[kernel]` leave them.
    fn mangled(first: &str, second: &str) -> String {
        format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n\
             .visible .entry _RNvNtCs1_1k1a5entry(\n\t.param .b32 _RNvNtCs1_1k1a5entry_param_0\n)\n{{\n\
             \t// begin inline asm\n\t//@cuda-tiles entry {first}\n\t// end inline asm\n\
             \tld.param.b32 %r1, [_RNvNtCs1_1k1a5entry_param_0];\n\tret;\n}}\n\
             .visible .entry _RNvNtCs1_1k1a5entrys_0()\n{{\n\t//@cuda-tiles entry {second}\n\tret;\n}}\n"
        )
    }

    #[test]
    fn entries_are_named_after_the_markers_in_their_bodies() {
        let text = mangled(
            "k::a::scale maxntid=64 line=3 fingerprint=18446744073709551615 is fn scale(x: Span<f32, (u32,)>)",
            "k::größe::scale maxntid=32 line=9 fingerprint=7 is fn scale()",
        );
        let (result, kernels) = apply(&text, Arch::Sm90a).unwrap();
        assert!(
            result.contains(".entry k$a$scale(\n\t.param .b32 k$a$scale_param_0\n)\n.maxntid 64, 1, 1\n{"),
            "{result}"
        );
        assert!(result.contains("ld.param.b32 %r1, [k$a$scale_param_0];"), "{result}");
        assert!(result.contains(".entry k$gr$$f6$$$df$e$scale()\n.maxntid 32, 1, 1\n{"), "{result}");
        assert!(!result.contains("_RNv"), "{result}");
        assert_eq!((&*kernels[0].name, &*kernels[0].entry), ("k::a::scale", "k$a$scale"));
        assert_eq!((kernels[0].fingerprint, kernels[0].line), (Some(u64::MAX), Some(3)));
        assert_eq!(kernels[0].declaration, "fn scale(x: Span<f32, (u32,)>)");
        assert_eq!(kernels[1].fingerprint, Some(7));
        assert_eq!(apply(&result, Arch::Sm90a).unwrap(), (result, kernels));
    }

    #[test]
    fn kernels_that_cannot_be_told_apart_are_refused_with_their_places() {
        let error =
            |second| apply(&mangled("k::a line=3 is fn a()", second), Arch::Sm90a).unwrap_err().to_string();
        assert_eq!(
            error("k::a line=12 is fn a(x: f32)"),
            "two kernels are `k::a`, one on line 3 of its file and one on line 12: rename one of them, or put it in \
             another module (kernels in functions belong to the module around these)"
        );
        assert!(
            error("k::a line=3 is fn a()")
                .starts_with("two kernels are `k::a`, both on line 3 of its file: ")
        );
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
            MetadataError::Duplicate { kernel: "first".into(), lines: [None; 2] }
        );
        for setting in [
            "maxntid=0",
            "maxntid=1,2,3,4",
            "maxnreg",
            "maxnreg=x",
            "speed=11",
            "maxntid=64 maxntid=128",
            "maxntid=4294967295 producer=1",
        ] {
            let message = error(&format!("//@cuda-tiles entry first {setting}")).to_string();
            let refused = setting.rsplit(' ').next().unwrap();
            assert!(message.contains("`first`") && message.contains(refused), "{message}");
        }
        let message = error("//@cuda-tiles entry first minnctapersm=2").to_string();
        assert!(message.contains("without `maxntid`"), "{message}");
        let message = error("//@cuda-tiles entry first producer=32").to_string();
        assert!(message.contains("`producer`") && message.contains("without `maxntid`"), "{message}");
    }

    /// What a marker may say, and much that it may not.
    fn setting() -> impl Strategy<Value = String> {
        let key = prop::sample::select(vec!["maxntid", "producer", "minnctapersm", "maxnreg", "speed", ""]);
        let value = prop_oneof![3 => "[0-3]{1,3}", 1 => "[0-9,:]{0,12}", 1 => "\\PC{0,9}"];
        (key, value).prop_map(|(key, value)| format!("{key}={value}"))
    }

    proptest! {
        #![proptest_config(crate::ptx::cases(500))]

        #[test]
        fn markers_are_applied_or_refused(
            lines in prop::collection::vec(
                (prop::sample::select(vec!["first", "second", "third", ""]), prop::collection::vec(setting(), 0..4)),
                0..4,
            ),
            arch in prop::sample::select(vec![Arch::Sm80, Arch::Sm90a]),
        ) {
            let lines: Vec<String> =
                lines.iter().map(|(name, settings)| format!("{MARKER}{name} {}", settings.join(" "))).collect();
            let text = module(&lines.join("\n"));
            match apply(&text, arch) {
                Ok((result, kernels)) => {
                    let module = Module::parse(&result).unwrap();
                    prop_assert_eq!(module.entries().len(), 2);
                    for kernel in &kernels {
                        let entry = module.entry(&kernel.name).unwrap();
                        prop_assert_eq!(entry.has_directive(".maxntid"), kernel.threads.is_some());
                        prop_assert_eq!(entry.body().trim(), "ret;");
                    }
                    prop_assert_eq!(apply(&result, arch).unwrap(), (result, kernels));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
