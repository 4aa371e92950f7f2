//! Kernels whose whole PTX is compared with a file.
//!
//! Each file `golden/ptx/<kernel>.<architecture>.ptx` holds the entry of that kernel, under a comment with the
//! version of rustc that has written it: another version may choose other instructions, so it is compared with its
//! own only. To add a kernel, create its file empty, and bless.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use cuda_tiles_builder::Arch;
use cuda_tiles_builder::ptx::Entry;

use super::{golden_folder, kernel_name, read};
use crate::error::{Context, Error, Result};
use crate::toolchain::Running;

/// With what names begin that change with the rest of the module, behind which the part follows that does: the entry's number in
/// labels; in constants a hash of the crate, and behind [`OF_CONSTANT`] the constant's number.
const NUMBERED: [&str; 2] = ["$L__BB", "anon_$_"];
const OF_CONSTANT: &str = "_$_";

/// The files, and which of them have met their kernel.
pub(super) struct Goldens {
    /// The first line of each file.
    header: String,
    /// By `<kernel>.<architecture>`: the text, and whether the kernel has been seen.
    files: RefCell<BTreeMap<String, (String, bool)>>,
}

impl Goldens {
    /// Reads the files.
    pub(super) fn read() -> Result<Self> {
        let folder = golden_folder().join("ptx");
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(&folder).about(&folder, "read")? {
            let path = entry.about(&folder, "read")?.path();
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".ptx"));
            let Some(name) = name else {
                let reason = "a file here is called <kernel>.<architecture>.ptx".to_owned();
                return Err(Error::Content { path, reason });
            };
            files.insert(name.to_owned(), (read(&path)?, false));
        }
        Ok(Self { header: format!("// {}", release(&Running::find()?.version)), files: RefCell::new(files) })
    }

    /// Compares a kernel with its file, if it has one, or writes the file.
    pub(super) fn complaint(&self, arch: Arch, entry: &Entry<'_>, bless: bool) -> Result<Option<String>> {
        let name = format!("{}.{arch}", kernel_name(entry.name()));
        let mut files = self.files.borrow_mut();
        let Some((expected, seen)) = files.get_mut(&name) else { return Ok(None) };
        *seen = true;
        let found = format!("{}\n{}", self.header, text(entry));
        if bless {
            let path = path(&name);
            std::fs::write(&path, &found).about(&path, "written")?;
            *expected = found;
            return Ok(None);
        }
        if expected.lines().next() != Some(&self.header) {
            let by = expected.lines().next().unwrap_or("nothing").trim_start_matches("// ");
            eprintln!("{name}: its PTX is not compared, for the file was written by {by}");
            return Ok(None);
        }
        Ok(difference(expected, &found).map(|difference| {
            format!("{difference}; if the new code is better, accept it with `cargo xtask ptx --bless`")
        }))
    }

    /// Files whose kernel was not there.
    pub(super) fn without_kernel(&self) -> Vec<String> {
        let files = self.files.borrow();
        let unseen = files.iter().filter(|(_, (_, seen))| !seen);
        unseen.map(|(name, _)| format!("{}: there is no such kernel", path(name).display())).collect()
    }
}

fn path(name: &str) -> PathBuf {
    golden_folder().join("ptx").join(format!("{name}.ptx"))
}

/// "rustc 1.95.0" out of what `rustc --version` prints.
fn release(version: &str) -> String {
    version.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

/// The entry as it stands in the module, but for what names tell of the rest of the module.
fn text(entry: &Entry<'_>) -> String {
    let text = format!(
        ".visible .entry {}({}){}{{{}}}\n",
        entry.name(),
        entry.parameters(),
        entry.directives(),
        without_marker(entry.body())
    );
    NUMBERED.iter().fold(text, |text, name| {
        let mut parts = text.split(name);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            let number = rest.strip_prefix(OF_CONSTANT);
            text + name
                + number.map_or(rest, |number| number.trim_start_matches(|c: char| c.is_ascii_digit()))
        })
    })
}

/// A body without the line by which the builder knows the kernel, which says where it stands in the source.
fn without_marker(body: &str) -> String {
    body.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("//@cuda-tiles")).collect()
}

/// Where two texts differ first.
fn difference(expected: &str, found: &str) -> Option<String> {
    let mut expected = expected.lines();
    let mut found = found.lines();
    let mut number = 0;
    loop {
        number += 1;
        match (expected.next(), found.next()) {
            (None, None) => return None,
            (expected, found) if expected == found => {}
            (expected, found) => {
                let quoted = |line: Option<&str>| {
                    line.map_or("nothing".to_owned(), |line| format!("`{}`", line.trim().replace('\t', " ")))
                };
                return Some(format!(
                    "line {number} of its PTX is {}, and was {}",
                    quoted(found),
                    quoted(expected)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles_builder::ptx::Module;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(
            difference("a\n\tadd \tx;\n", "a\nc\n").unwrap(),
            "line 2 of its PTX is `c`, and was `add  x;`"
        );
        assert_eq!(difference("a\n", "a\nb\n").unwrap(), "line 2 of its PTX is `b`, and was nothing");
    }

    #[test]
    fn names_do_not_tell_of_the_rest_of_the_module() {
        let module = |number, hash, constant| {
            let body = format!(
                "$L__BB{number}_6: mov.b64 %rd1, anon_$_{hash}_$_{constant}; bra $L__BB{number}_6; ret;"
            );
            let text = format!(".version 8.0\n.target sm_80\n.entry loop() {{ {body} }}\n");
            super::text(&Module::parse(&text).unwrap().entries()[0])
        };
        assert_eq!(module(7, "04a59633", 7), module(42, "452df29d", 12));
        assert!(module(7, "04a59633", 7).contains("$L__BB_6: mov.b64 %rd1, anon_$_; bra $L__BB_6;"));
    }

    #[test]
    fn the_release_is_the_name_and_the_number() {
        assert_eq!(release("rustc 1.95.0 (f2d3ce0bd 2026-03-21)"), "rustc 1.95.0");
    }
}
