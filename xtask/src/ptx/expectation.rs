//! What each kernel is expected to take and to contain, as stated in `golden/kernels.json`.
//!
//! A budget of registers is a multiple of eight, the unit in which the hardware gives them to a thread: up to the
//! budget no fewer blocks fit on a multiprocessor. The instructions are the kernel's accesses of 128 bits and more.
//! The entry `*` stands for all kernels of a crate that are not named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cargo_cuda_tiles::{Assembled, Resources};
use cuda_tiles_builder::Arch;
use cuda_tiles_builder::ptx::{Entry, Module};
use serde::{Deserialize, Serialize};

use super::{golden_folder, kernel_name};
use crate::error::{Context, Error, Result};

/// In this unit the hardware gives registers to a thread.
const REGISTER_UNIT: u32 = 8;

/// The name that stands for all other kernels.
const ALL_OTHERS: &str = "*";

/// A crate's kernels, as compiled for each architecture.
pub(super) type Checked<'a> = (Arch, Module<'a>, &'a Assembled);

/// What is expected, by the crate's folder and the kernel's name.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Expectations {
    crates: BTreeMap<String, BTreeMap<String, Expectation>>,
}

/// What is expected of a kernel, on every architecture unless said otherwise.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
struct Expectation {
    /// The most registers that it may take.
    registers: u32,
    /// The instructions that it must contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    instructions: Vec<String>,
    /// The instructions that it must contain besides on an architecture, by whose name they stand. Blessing keeps them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    targets: BTreeMap<String, Vec<String>>,
    /// The most bytes of stack and spills on an architecture, by whose name they stand: exceptions, which a person states. Blessing
    /// lowers them, and adds none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    spilled: BTreeMap<String, u32>,
}

impl Expectations {
    fn path() -> PathBuf {
        golden_folder().join("kernels.json")
    }

    /// Reads the file.
    pub(super) fn read() -> Result<Self> {
        let path = Self::path();
        let text = std::fs::read_to_string(&path).about(&path, "read")?;
        serde_json::from_str(&text).map_err(|error| Error::Content { path, reason: error.to_string() })
    }

    /// Writes the file.
    pub(super) fn write(&self) -> Result {
        let path = Self::path();
        let text = serde_json::to_string_pretty(self).expect("strings and numbers can be written as JSON");
        std::fs::write(&path, text + "\n").about(&path, "written")
    }

    /// What is wrong with a kernel.
    pub(super) fn complaints(
        &self,
        folder: &str,
        arch: Arch,
        entry: &Entry<'_>,
        report: &Assembled,
    ) -> Vec<String> {
        let name = kernel_name(entry.name());
        let Some(resources) = report.kernels.get(entry.name()) else {
            // The assembler has failed, which is a complaint about the module.
            return Vec::new();
        };
        let mut complaints = Vec::new();
        let kernels = self.crates.get(folder);
        let find = |name: &str| kernels.and_then(|kernels| kernels.get(name));
        let Some(expectation) = find(name).or_else(|| find(ALL_OTHERS)) else {
            let hint =
                "nothing is stated about it in xtask/golden/kernels.json: `cargo xtask ptx --bless` adds it";
            complaints.push(hint.to_owned());
            complaints.extend(spills(resources, 0));
            return complaints;
        };
        complaints.extend(spills(resources, expectation.most_spilled(arch)));
        if resources.registers > expectation.registers {
            let (taken, budget) = (resources.registers, expectation.registers);
            complaints.push(format!("{taken} registers, and its budget is {budget}"));
        }
        let instructions =
            expectation.instructions.iter().chain(expectation.targets.get(arch.name()).into_iter().flatten());
        let mut instructions = instructions.peekable();
        let found = if instructions.peek().is_some() { entry.instructions() } else { Vec::new() };
        let missing = instructions.filter(|wanted| !found.iter().any(|instruction| instruction.is(wanted)));
        complaints.extend(missing.map(|instruction| format!("it has no `{instruction}` any more")));
        complaints
    }

    /// Statements about kernels that there are not.
    pub(super) fn superfluous(&self, folder: &str, checked: &[Checked<'_>]) -> Vec<String> {
        let names = kernel_names(checked);
        let stated = self.crates.get(folder).into_iter().flatten().map(|(name, _)| name.as_str());
        stated
            .filter(|name| *name != ALL_OTHERS && !names.contains(name))
            .map(|name| {
                format!(
                    "{folder}: xtask/golden/kernels.json states something about `{name}`, which is no kernel"
                )
            })
            .collect()
    }

    /// States what the kernels are now. A crate that has an entry for all others keeps it, and no kernel is added.
    pub(super) fn bless(&mut self, folder: &str, checked: &[Checked<'_>]) {
        let stated = self.crates.entry(folder.to_owned()).or_default();
        let has_all_others = stated.contains_key(ALL_OTHERS);
        let names = kernel_names(checked);
        stated.retain(|name, _| name == ALL_OTHERS || names.contains(name.as_str()));
        for name in names {
            if stated.contains_key(name) || !has_all_others {
                let now = Expectation::of(name, checked);
                let now = match stated.remove(name) {
                    Some(before) => now.with_exceptions(before, name, checked),
                    None => now,
                };
                stated.insert(name.to_owned(), now);
            }
        }
    }
}

impl Expectation {
    /// What a kernel is now: its registers on the architecture where it takes most, and the wide accesses that it
    /// has on all of them.
    fn of(name: &str, checked: &[Checked<'_>]) -> Self {
        let registers = checked.iter().flat_map(|(_, _, report)| resources_of(name, report));
        let registers = registers.map(|resources| resources.registers).max().unwrap_or_default();
        let accesses = checked.iter().flat_map(|(_, module, _)| module.entries());
        let accesses = accesses.filter(|entry| kernel_name(entry.name()) == name).map(wide_accesses);
        let accesses = accesses.reduce(|common, accesses| &common & &accesses).unwrap_or_default();
        Self {
            registers: registers.next_multiple_of(REGISTER_UNIT),
            instructions: accesses.into_iter().collect(),
            targets: BTreeMap::new(),
            spilled: BTreeMap::new(),
        }
    }

    /// The same with what only persons state, as it was `before`. Fewer bytes are spilled from now on where they are already.
    fn with_exceptions(self, before: Self, name: &str, checked: &[Checked<'_>]) -> Self {
        let mut spilled = before.spilled;
        for (arch, _, report) in checked {
            // Several images of an architecture share out the kernels.
            let Some(now) = resources_of(name, report).map(Resources::local_bytes).max() else { continue };
            spilled.entry(arch.name().to_owned()).and_modify(|most| *most = now.min(*most));
        }
        spilled.retain(|_, most| *most > 0);
        Self { targets: before.targets, spilled, ..self }
    }

    /// The most bytes of stack and spills on an architecture.
    fn most_spilled(&self, arch: Arch) -> u32 {
        self.spilled.get(arch.name()).copied().unwrap_or_default()
    }
}

/// What the kernels of this name take.
fn resources_of<'a>(name: &'a str, report: &'a Assembled) -> impl Iterator<Item = &'a Resources> {
    report.kernels.iter().filter(move |(entry, _)| kernel_name(entry) == name).map(|(_, resources)| resources)
}

/// Says that a kernel has more bytes of stack and spills than it may.
fn spills(resources: &Resources, most: u32) -> Option<String> {
    let bytes = resources.local_bytes();
    let stated = if most > 0 { format!(", and {most} are stated") } else { String::new() };
    (bytes > most).then(|| format!("{bytes} bytes of stack and spills{stated}"))
}

fn kernel_names<'a>(checked: &[Checked<'a>]) -> BTreeSet<&'a str> {
    checked
        .iter()
        .flat_map(|(_, module, _)| module.entries())
        .map(|entry| kernel_name(entry.name()))
        .collect()
}

/// The operations on global memory that move 16 bytes or more.
fn wide_accesses(entry: &Entry<'_>) -> BTreeSet<String> {
    let operations = entry.instructions().into_iter().map(|instruction| instruction.operation);
    let is_access = |operation: &String| {
        let parts: Vec<&str> = operation.split('.').collect();
        matches!(parts[0], "ld" | "st") && parts.contains(&"global") && width(&parts) >= 128
    };
    operations.filter(is_access).collect()
}

/// How many bits an access moves, by its modifiers: `v4` times `b32`.
fn width(parts: &[&str]) -> u32 {
    let number = |prefixes: &[&str]| {
        parts
            .iter()
            .rev()
            .find_map(|part| prefixes.iter().find_map(|prefix| part.strip_prefix(prefix)?.parse().ok()))
    };
    number(&["b", "f", "u", "s"]).unwrap_or(0) * number(&["v"]).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_80\n\
        .entry kernels$add() {\n\
        ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n\
        ld.global.b32 %r1, [%rd1];\n\
        ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n\
        st.global.v2.b64 [%rd2], {%rd3, %rd4};\n\
        ret; }";

    fn report(registers: u32, stack_bytes: u32) -> Assembled {
        let resources = Resources { registers, stack_bytes, ..Resources::default() };
        Assembled { kernels: [("kernels$add".to_owned(), resources)].into(), ..Assembled::default() }
    }

    fn expectations(json: &str) -> Expectations {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_kernel_is_held_to_its_budget_and_its_instructions() {
        let module = Module::parse(PTX).unwrap();
        let entry = &module.entries()[0];
        let stated = expectations(
            r#"{"kernels": {"add": {"registers": 32, "instructions": ["st.global.v2.b64", "st.global.v4.b32"]}}}"#,
        );
        assert_eq!(
            stated.complaints("kernels", Arch::Sm80, entry, &report(33, 16)),
            [
                "16 bytes of stack and spills",
                "33 registers, and its budget is 32",
                "it has no `st.global.v4.b32` any more"
            ]
        );
        assert_eq!(
            stated.complaints("kernels", Arch::Sm80, entry, &report(32, 0)),
            ["it has no `st.global.v4.b32` any more"]
        );
    }

    #[test]
    fn a_kernel_without_statement_is_refused_unless_all_others_are_meant() {
        let module = Module::parse(PTX).unwrap();
        let entry = &module.entries()[0];
        let none = expectations("{}").complaints("kernels", Arch::Sm80, entry, &report(8, 0));
        assert!(none[0].contains("--bless"), "{none:?}");
        let others = expectations(r#"{"kernels": {"*": {"registers": 8}}}"#);
        assert_eq!(others.complaints("kernels", Arch::Sm80, entry, &report(8, 0)), [""; 0]);
        assert_eq!(
            others.complaints("kernels", Arch::Sm80, entry, &report(9, 0)),
            ["9 registers, and its budget is 8"]
        );
    }

    #[test]
    fn blessing_states_the_maximum_and_what_all_architectures_have_in_common() {
        let other = PTX.replace("st.global.v2.b64", "st.global.b64");
        let (low, high) = (report(20, 0), report(33, 0));
        let checked = [
            (Arch::Sm80, Module::parse(PTX).unwrap(), &low),
            (Arch::Sm120, Module::parse(&other).unwrap(), &high),
        ];
        let mut stated = expectations(r#"{"kernels": {"gone": {"registers": 8}}}"#);
        assert_eq!(stated.superfluous("kernels", &checked).len(), 1);
        stated.bless("kernels", &checked);
        let instructions = vec!["ld.global.nc.v4.b32".to_owned()];
        let add =
            Expectation { registers: 40, instructions, targets: BTreeMap::new(), spilled: BTreeMap::new() };
        assert_eq!(stated.crates["kernels"], [("add".to_owned(), add)].into());
        assert_eq!(stated.superfluous("kernels", &checked), [""; 0]);
    }

    #[test]
    fn what_is_stated_about_an_architecture_holds_there_and_is_kept() {
        let module = Module::parse(PTX).unwrap();
        let entry = &module.entries()[0];
        let report = report(8, 0);
        let mut stated = expectations(
            r#"{"kernels": {"add": {"registers": 8, "targets": {"sm_90a": ["wgmma.mma_async"]}}}}"#,
        );
        stated.bless("kernels", &[(Arch::Sm80, Module::parse(PTX).unwrap(), &report)]);
        assert_eq!(stated.complaints("kernels", Arch::Sm80, entry, &report), [""; 0]);
        assert_eq!(
            stated.complaints("kernels", Arch::Sm90a, entry, &report),
            ["it has no `wgmma.mma_async` any more"]
        );
    }

    #[test]
    fn spills_are_held_to_what_is_stated_and_blessing_only_lowers_it() {
        let module = Module::parse(PTX).unwrap();
        let entry = &module.entries()[0];
        let mut stated = expectations(
            r#"{"kernels": {"add": {"registers": 8, "spilled": {"sm_90a": 112, "sm_120": 16}}}}"#,
        );
        let complaints =
            |stated: &Expectations, arch, bytes| stated.complaints("kernels", arch, entry, &report(8, bytes));
        assert_eq!(complaints(&stated, Arch::Sm90a, 112), [""; 0]);
        assert_eq!(
            complaints(&stated, Arch::Sm90a, 113),
            ["113 bytes of stack and spills, and 112 are stated"]
        );
        assert_eq!(complaints(&stated, Arch::Sm80, 8), ["8 bytes of stack and spills"]);
        let module = || Module::parse(PTX).unwrap();
        let (many, few, none) = (report(8, 300), report(8, 100), report(8, 0));
        stated.bless("kernels", &[(Arch::Sm90a, module(), &many), (Arch::Sm80, module(), &many)]);
        assert_eq!(stated.crates["kernels"]["add"].spilled.get("sm_90a"), Some(&112));
        assert_eq!(stated.crates["kernels"]["add"].spilled.get("sm_80"), None);
        stated.bless("kernels", &[(Arch::Sm90a, module(), &few), (Arch::Sm120, module(), &none)]);
        assert_eq!(stated.crates["kernels"]["add"].spilled, [("sm_90a".to_owned(), 100)].into());
    }

    #[test]
    fn blessing_keeps_a_statement_about_all_others() {
        let report = report(20, 0);
        let checked = [(Arch::Sm80, Module::parse(PTX).unwrap(), &report)];
        let mut stated = expectations(r#"{"kernels": {"*": {"registers": 64}}}"#);
        stated.bless("kernels", &checked);
        assert_eq!(stated.crates["kernels"].keys().collect::<Vec<_>>(), ["*"]);
    }

    #[test]
    fn the_width_of_an_access_is_in_its_modifiers() {
        let width = |operation: &str| width(&operation.split('.').collect::<Vec<_>>());
        assert_eq!(width("ld.global.nc.v4.b32"), 128);
        assert_eq!(width("ld.global.nc.L1::no_allocate.v2.u64"), 128);
        assert_eq!(width("st.global.b128"), 128);
        assert_eq!(width("st.global.v8.f32"), 256);
        assert_eq!(width("st.global.v4.u16"), 64);
    }
}
