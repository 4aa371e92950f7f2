//! What the names of a crate mean: which module defines an item that a path leads to, through all re-exports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::sources::{Module, ModuleId, Name, ROOT, Sources, Written};

/// A place that uses what another file defines.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// The file that uses, relative to the folder `src`.
    pub(super) from: PathBuf,
    pub(super) line: usize,
    /// The file that defines.
    pub(super) to: PathBuf,
    /// The path as it is written.
    pub(super) path: String,
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    Module(ModuleId),
    /// An item that this module defines.
    ItemOf(ModuleId),
}

/// All uses of one file's items by another. To import a module uses nothing of it, and neither does a re-export of a name that
/// the module itself does not say.
pub(super) fn uses(sources: &Sources) -> BTreeSet<Use> {
    let mut uses = BTreeSet::new();
    for (id, module) in sources.modules.iter().enumerate() {
        let names = Names { sources, asking: id };
        let mut add = |written: &Written, meanings: BTreeSet<Meaning>| {
            for meaning in meanings {
                let Meaning::ItemOf(owner) = meaning else { continue };
                let (from, to) = (module.file.clone(), sources.modules[owner].file.clone());
                if from != to {
                    uses.insert(Use { from, line: written.line, to, path: written.segments.join("::") });
                }
            }
        };
        // The first mention of each name.
        let mut said: BTreeMap<&str, &Written> = BTreeMap::new();
        for written in &module.paths {
            said.entry(&written.segments[0]).or_insert(written);
            // What follows the name of an imported item uses nothing that the import does not.
            let first = names.resolve(id, &written.segments[..1], &mut Seen::new());
            if first.iter().any(|meaning| matches!(meaning, Meaning::Module(_))) {
                add(written, names.resolve(id, &written.segments, &mut Seen::new()));
            }
        }
        for import in &module.imports {
            let path = &import.path;
            let meanings = names.resolve(id, &path.segments, &mut Seen::new());
            match &import.name {
                Name::One(name) if !import.is_public || said.contains_key(&**name) => add(path, meanings),
                Name::One(_) => {}
                Name::All => {
                    for name in said.keys().filter(|name| !module.has(name)) {
                        for meaning in &meanings {
                            let Meaning::Module(owner) = meaning else { continue };
                            add(path, names.look_up(*owner, name, &mut Seen::new()));
                        }
                    }
                }
            }
        }
    }
    uses
}

/// The questions that are being answered, so that modules that export one another's names come to an end.
type Seen = BTreeSet<(ModuleId, String)>;

/// What names mean for code of one module.
struct Names<'a> {
    sources: &'a Sources,
    asking: ModuleId,
}

impl Names<'_> {
    /// What a path means that stands in a module. Nothing if it leads to another crate.
    fn resolve(&self, id: ModuleId, path: &[String], seen: &mut Seen) -> BTreeSet<Meaning> {
        let Some((first, rest)) = path.split_first() else { return BTreeSet::new() };
        let mut meanings = match &**first {
            "crate" => BTreeSet::from([Meaning::Module(ROOT)]),
            "self" => BTreeSet::from([Meaning::Module(id)]),
            "super" => BTreeSet::from([Meaning::Module(self.sources.modules[id].parent)]),
            name => self.look_up(id, name, seen),
        };
        for name in rest {
            // A macro or a function may have a module's name, and no path goes on through these.
            if meanings.iter().any(|meaning| matches!(meaning, Meaning::Module(_))) {
                meanings.retain(|meaning| matches!(meaning, Meaning::Module(_)));
            }
            let next = |meaning: Meaning, seen: &mut Seen| match meaning {
                // A variant, or an associated item.
                Meaning::ItemOf(_) => BTreeSet::from([meaning]),
                Meaning::Module(module) if name == "super" => {
                    BTreeSet::from([Meaning::Module(self.sources.modules[module].parent)])
                }
                Meaning::Module(module) => self.look_up(module, name, seen),
            };
            meanings = meanings.into_iter().flat_map(|meaning| next(meaning, seen)).collect();
        }
        meanings
    }

    /// What a name means in a module, for code that may see everything there.
    fn look_up(&self, id: ModuleId, name: &str, seen: &mut Seen) -> BTreeSet<Meaning> {
        if !seen.insert((id, name.to_owned())) {
            return BTreeSet::new();
        }
        let module = &self.sources.modules[id];
        let mut meanings: BTreeSet<_> = self.children(module, name).map(Meaning::Module).collect();
        if module.definitions.contains(name) {
            meanings.insert(Meaning::ItemOf(id));
        }
        if id == ROOT {
            meanings.extend(self.sources.exported_macros.get(name).copied().map(Meaning::ItemOf));
        }
        for import in &module.imports {
            if matches!(&import.name, Name::One(own) if own == name) {
                meanings.extend(self.resolve(id, &import.path.segments, seen));
            }
        }
        if meanings.is_empty() {
            for import in module.imports.iter().filter(|import| matches!(import.name, Name::All)) {
                for meaning in self.resolve(id, &import.path.segments, seen) {
                    if let Meaning::Module(other) = meaning {
                        meanings.extend(self.look_up(other, name, seen));
                    }
                }
            }
        }
        if meanings.is_empty() && module.perhaps.contains(name) {
            meanings.insert(Meaning::ItemOf(id));
        }
        seen.remove(&(id, name.to_owned()));
        meanings
    }

    /// The child modules of this name. Of two for different targets, code in one of them means that one.
    fn children(&self, module: &Module, name: &str) -> impl Iterator<Item = ModuleId> {
        let all: &[ModuleId] = module.children.get(name).map_or(&[], Vec::as_slice);
        let own = all.iter().position(|child| self.is_within(self.asking, *child));
        let meant = own.map_or(all, |own| &all[own..=own]);
        meant.iter().copied()
    }

    /// Whether a module is another one or below it.
    fn is_within(&self, id: ModuleId, other: ModuleId) -> bool {
        id == other || id != ROOT && self.is_within(self.sources.modules[id].parent, other)
    }
}

impl Module {
    /// Whether a name means something here without any `*`.
    fn has(&self, name: &str) -> bool {
        self.definitions.contains(name)
            || self.children.contains_key(name)
            || self.imports.iter().any(|import| matches!(&import.name, Name::One(own) if own == name))
    }
}
