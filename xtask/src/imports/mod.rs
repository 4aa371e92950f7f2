//! `imports`: which parts of a crate use one another in a circle.
//!
//! A part is a file or a folder beside others in the same folder: `src` has `tile/` and `context.rs`, `src/view` has `tiled.rs`.
//! A file uses another one if it names an item that the other defines, whichever module it imports the name from. Code for tests
//! and documentation does not count, nor do methods, whose calls do not name what defines them.

mod circles;
mod names;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use circles::Folder;
use names::Use;
use sources::Sources;

use crate::error::{Error, Result};
use crate::process::Outcome;
use crate::workspace;

/// The crates whose parts keep an order.
const CRATES: [&str; 7] = ["tiles", "tiles/macros", "builder", "cargo-cuda-tiles", "host", "kernels", "ffi"];

/// Parts that may use one another, for a reason.
struct Floor {
    /// The folder that has them, from the workspace's on.
    folder: &'static str,
    parts: &'static [&'static str],
    name: &'static str,
}

/// The circles that there are for a reason, which a comment states. A floor is one part to all others, which stand above it or
/// below.
const FLOORS: [Floor; 5] = [
    // The traits bound one another, and each is implemented for `f16` by way of the others.
    Floor {
        folder: "tiles/src/element",
        parts: &["cast", "classify.rs", "float.rs", "number.rs", "order.rs"],
        name: "traits of arithmetic",
    },
    // How a dimension broadcasts is among what makes it one.
    Floor { folder: "tiles/src/shape", parts: &["broadcast.rs", "mod.rs"], name: "dimensions" },
    // A device makes streams, and a stream knows its device.
    Floor { folder: "host/src", parts: &["device.rs", "stream.rs"], name: "devices" },
    // A GPU has a default stream and makes others, and a stream's work goes through its GPU, which has the code and notes launches.
    Floor { folder: "host/src/gpu", parts: &["device.rs", "stream.rs"], name: "GPUs" },
    // A tensor gives views, and a view is copied to a tensor.
    Floor { folder: "host/src/tensor", parts: &["tensor.rs", "view.rs"], name: "tensors" },
];

/// How many uses of one part by another a message shows.
const SHOWN: usize = 3;

/// Prints all circles, allowed or not.
pub(crate) fn list() -> Result {
    for name in CRATES {
        for (folder, uses) in folders(name)? {
            for circle in uses.circles() {
                println!("{folder}: {}", circle.iter().cloned().collect::<Vec<_>>().join(", "));
                let inside =
                    |(from, to, _): &(&String, &String, _)| circle.contains(*from) && circle.contains(*to);
                for (from, to, uses) in uses.edges().filter(inside) {
                    print!("{}", described(name, from, to, uses, usize::MAX));
                }
                println!();
            }
        }
    }
    Ok(())
}

/// Fails if there is a circle that no floor allows, or a floor without circle.
pub(crate) fn check() -> Result<Outcome> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for name in CRATES {
        for (folder, uses) in folders(name)? {
            let floors: Vec<&Floor> = FLOORS.iter().filter(|floor| floor.folder == folder).collect();
            problems.extend(judged(name, &folder, &uses, &floors));
            seen.insert(folder);
        }
    }
    let gone = FLOORS.iter().filter(|floor| !seen.contains(floor.folder));
    problems
        .extend(gone.map(|floor| format!("`FLOORS` names the folder {}, which is not there", floor.folder)));
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(Outcome::Done),
        failed => Err(Error::Circles(failed)),
    }
}

/// What is wrong in a folder, a message each.
fn judged(name: &str, folder: &str, uses: &Folder, floors: &[&Floor]) -> Vec<String> {
    let mut problems = Vec::new();
    let circles = uses.circles();
    for floor in floors {
        let parts: BTreeSet<String> = floor.parts.iter().map(|part| (*part).to_owned()).collect();
        if !circles.iter().any(|circle| parts.is_subset(circle)) {
            problems.push(format!(
                "{folder}: not all parts of the floor \"{}\" use one another any more: take out of `FLOORS` what does not",
                floor.name
            ));
        }
    }
    let merged = floors.iter().fold(None, |merged: Option<Folder>, floor| {
        Some(merged.as_ref().unwrap_or(uses).merged(floor.parts, floor.name))
    });
    let merged = merged.as_ref().unwrap_or(uses);
    for circle in merged.circles() {
        let mut problem = format!("{folder}: these use one another in a circle:\n");
        let shortest = merged.shortest(&circle);
        let next = shortest.iter().cycle().skip(1);
        for ((from, uses), (to, _)) in shortest.iter().zip(next) {
            problem.push_str(&described(name, from, to, uses, SHOWN));
        }
        problems.push(problem);
    }
    problems
}

/// The folders of a crate by their names from the workspace's on, with what is used in them.
fn folders(name: &str) -> Result<Vec<(String, Folder)>> {
    let sources = Sources::read(&workspace::root().join(name).join("src"))?;
    let folders = Folder::all(&names::uses(&sources)).into_iter();
    Ok(folders.map(|(folder, uses)| (in_workspace(name, &folder), uses)).collect())
}

/// The path from the workspace's folder on, of one from a crate's sources on.
fn in_workspace(name: &str, path: &Path) -> String {
    let path = Path::new(name).join("src").join(path);
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// That one part uses another, and where.
fn described(name: &str, from: &str, to: &str, uses: &BTreeSet<Use>, most: usize) -> String {
    let mut text = format!("  {from} uses {to}:\n");
    // An item that conditional compilation picks has two definitions.
    let places: BTreeSet<_> = uses.iter().map(|found| (&found.from, found.line, &found.path)).collect();
    let lines = places.iter().take(most).map(|(file, line, path)| {
        let file = in_workspace(name, file);
        format!("    {file}:{line}: {path}\n")
    });
    text.extend(lines);
    if places.len() > most {
        text.push_str(&format!("    and in {} places more\n", places.len() - most));
    }
    text
}
