//! Circles: parts of a folder that use one another, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::names::Use;

/// How the files and folders of one folder use one another.
#[derive(Default)]
pub(super) struct Folder {
    uses: BTreeMap<String, BTreeMap<String, BTreeSet<Use>>>,
}

/// Parts of a folder that all use one another.
pub(super) type Circle = BTreeSet<String>;

impl Folder {
    /// The folders of a crate, by their paths. A use between two files counts in the folder that has both, as one between its
    /// parts: in `src` one between `view/tiled.rs` and `tile/mod.rs` is one between `view` and `tile`.
    pub(super) fn all(uses: &BTreeSet<Use>) -> BTreeMap<PathBuf, Self> {
        let files = || uses.iter().flat_map(|found| [&found.from, &found.to]);
        let with_files: BTreeSet<&Path> = files().filter_map(|file| file.parent()).collect();
        let mut folders = BTreeMap::<PathBuf, Self>::new();
        for found in uses {
            let (folder, from, to) = parts(&found.from, &found.to, &with_files);
            let uses = &mut folders.entry(folder).or_default().uses;
            uses.entry(from).or_default().entry(to).or_default().insert(found.clone());
        }
        folders
    }

    /// The circles, each as large as it can be, so that no part is in two of them.
    pub(super) fn circles(&self) -> BTreeSet<Circle> {
        let reached: BTreeMap<&String, BTreeSet<&String>> =
            self.uses.keys().map(|part| (part, self.reached(part))).collect();
        let mutual = |part: &String| {
            let others = reached[part]
                .iter()
                .filter(|other| reached.get(*other).is_some_and(|back| back.contains(part)));
            others.map(|other| (*other).clone()).collect::<Circle>()
        };
        self.uses.keys().map(mutual).filter(|circle| !circle.is_empty()).collect()
    }

    /// What a part uses, directly or through others.
    fn reached(&self, part: &String) -> BTreeSet<&String> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&String> = self.used(part).collect();
        while let Some(part) = next.pop() {
            if reached.insert(part) {
                next.extend(self.used(part));
            }
        }
        reached
    }

    fn used(&self, part: &String) -> impl Iterator<Item = &String> {
        self.uses.get(part).into_iter().flat_map(BTreeMap::keys)
    }

    /// The same folder with a few parts as one, which has this name.
    pub(super) fn merged(&self, parts: &[&str], name: &str) -> Self {
        let renamed = |part: &str| if parts.contains(&part) { name.to_owned() } else { part.to_owned() };
        let mut merged = Self::default();
        for (from, to, uses) in self.edges() {
            let (from, to) = (renamed(from), renamed(to));
            if from != to {
                merged.uses.entry(from).or_default().entry(to).or_default().extend(uses.iter().cloned());
            }
        }
        merged
    }

    /// A shortest circle among the parts of this one, each part with how it uses the next.
    pub(super) fn shortest<'a>(&'a self, circle: &'a Circle) -> Vec<(&'a str, &'a BTreeSet<Use>)> {
        let round = |start: &'a String| self.way_back(start);
        let best = circle.iter().filter_map(round).min_by_key(Vec::len).unwrap_or_default();
        let next = best.iter().cycle().skip(1);
        best.iter().zip(next).map(|(from, to)| (from.as_str(), &self.uses[*from][*to])).collect()
    }

    /// The parts of a shortest circle through this one, which comes first.
    fn way_back<'a>(&'a self, start: &'a String) -> Option<Vec<&'a String>> {
        let mut ways = vec![vec![start]];
        let mut seen = BTreeSet::new();
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                for next in self.used(way[way.len() - 1]) {
                    if next == start {
                        return Some(way);
                    }
                    if seen.insert(next) {
                        longer.push(way.iter().copied().chain([next]).collect());
                    }
                }
            }
            ways = longer;
        }
        None
    }

    /// All uses, by the parts that use and are used.
    pub(super) fn edges(&self) -> impl Iterator<Item = (&String, &String, &BTreeSet<Use>)> {
        self.uses.iter().flat_map(|(from, used)| used.iter().map(move |(to, uses)| (from, to, uses)))
    }
}

/// The folder that holds two files, and the part of it that each of them is in.
fn parts(from: &Path, to: &Path, folders: &BTreeSet<&Path>) -> (PathBuf, String, String) {
    let (from, to) = (place(from, folders), place(to, folders));
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let part = |place: &[String]| place.get(common).cloned().unwrap_or_default();
    (from[..common].iter().collect(), part(&from), part(&to))
}

/// The folders of a file and its name. `name.rs` beside a folder `name` is in that folder, as `name/mod.rs` is.
fn place(file: &Path, folders: &BTreeSet<&Path>) -> Vec<String> {
    let text = |part: &OsStr| part.to_string_lossy().into_owned();
    let mut place: Vec<String> = file.iter().map(text).collect();
    if folders.contains(&*file.with_extension("")) {
        place.insert(place.len() - 1, file.file_stem().map(text).unwrap_or_default());
    }
    place
}
