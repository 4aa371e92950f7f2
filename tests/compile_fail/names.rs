//! The names inside the library that nobody who writes kernels has typed or read about.
//!
//! They are read from the library's source: types, traits and modules that its documentation does not show, because they are private,
//! private to the crate, hidden, or nowhere re-exported. Names that macros make are not seen.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Expr, ExprLit, File, Item, Lit, UseTree, Visibility};

/// Names of typenum, which must not be shown either.
const FOREIGN: [&str; 7] = ["UInt", "UTerm", "B0", "B1", "typenum", "ToUInt", "PInt"];

/// Names that a message may contain all the same, and why.
const ALLOWED: [(&str, &str); 2] = [
    ("Map", "the standard library's iterator has the name of a layout"),
    ("Room", "memory of a `#[shared]` argument, which the code that `#[kernel]` makes asks for"),
];

/// Names of types, traits and modules.
#[derive(Default)]
pub(crate) struct Names {
    shown: BTreeSet<String>,
    declared: BTreeSet<String>,
    modules: BTreeSet<String>,
    shown_modules: BTreeSet<String>,
}

impl Names {
    /// Those of the crates with these roots.
    pub(crate) fn of_crates<const N: usize>(roots: [&Path; N]) -> Self {
        let mut names = Self::default();
        for root in roots {
            names.read(&parse(root).items, root.parent().expect("the folder of the source"), true);
        }
        names
    }

    /// The items of a module, whose own modules are in `folder`. `shown`: whether the documentation shows the module.
    fn read(&mut self, items: &[Item], folder: &Path, shown: bool) {
        for item in items {
            let (attributes, visibility, name) = match item {
                Item::Struct(item) => (&item.attrs, &item.vis, &item.ident),
                Item::Enum(item) => (&item.attrs, &item.vis, &item.ident),
                Item::Union(item) => (&item.attrs, &item.vis, &item.ident),
                Item::Trait(item) => (&item.attrs, &item.vis, &item.ident),
                Item::Type(item) => (&item.attrs, &item.vis, &item.ident),
                Item::Mod(item) => {
                    if is_for_tests(&item.attrs) {
                        continue;
                    }
                    let shown = shown && is_shown(&item.attrs, &item.vis);
                    let name = item.ident.to_string();
                    match &item.content {
                        Some((_, items)) => self.read(items, &folder.join(&name), shown),
                        None => {
                            let (file, own) = source_of(&item.attrs, folder, &name);
                            self.read(&parse(&file).items, &own, shown);
                        }
                    }
                    if shown {
                        self.shown_modules.insert(name.clone());
                    }
                    self.modules.insert(name);
                    continue;
                }
                Item::Use(item) => {
                    if shown && is_shown(&item.attrs, &item.vis) {
                        self.re_exports(&item.tree);
                    }
                    continue;
                }
                _ => continue,
            };
            if shown && is_shown(attributes, visibility) {
                self.shown.insert(name.to_string());
            }
            self.declared.insert(name.to_string());
        }
    }

    fn re_exports(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.re_exports(&path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.re_exports(tree)),
            UseTree::Name(name) => _ = self.shown.insert(name.ident.to_string()),
            UseTree::Rename(rename) => _ = self.shown.insert(rename.rename.to_string()),
            UseTree::Glob(_) => panic!("a module re-exports by `*`: which names, this test does not know"),
        }
    }

    /// The words of `text` that its reader does not know.
    pub(crate) fn unknown_in<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let (mut unknown, mut rest, mut is_of_the_standard_library) = (Vec::new(), text, false);
        while let Some(start) = rest.find(is_part) {
            let end = rest[start..]
                .find(|character| !is_part(character))
                .map_or(rest.len(), |length| start + length);
            let word = &rest[start..end];
            rest = &rest[end..];
            let is_type = self.declared.contains(word) && !self.shown.contains(word);
            // `cast::<...>` is a method; of the standard library's paths nothing is ours.
            let is_path = rest.starts_with("::") && !rest.starts_with("::<") && !is_of_the_standard_library;
            let is_module = is_path
                && self.modules.contains(word)
                && !self.shown_modules.contains(word)
                && !self.shown.contains(word);
            is_of_the_standard_library = rest.starts_with("::")
                && (["std", "core", "alloc", "crate"].contains(&word) || is_of_the_standard_library);
            let is_foreign = FOREIGN.contains(&word) || word.starts_with("__");
            if (is_type || is_module || is_foreign) && !ALLOWED.iter().any(|(allowed, _)| *allowed == word) {
                unknown.push(word);
            }
        }
        unknown
    }
}

fn parse(path: &Path) -> File {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The file of the module `name` that a file whose modules are in `folder` declares, and the folder of its own modules.
fn source_of(attributes: &[Attribute], folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let stated = attributes.iter().find(|attribute| attribute.path().is_ident("path"));
    if let Some(stated) = stated {
        let Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) =
            &stated.meta.require_name_value().expect("#[path = ...]").value
        else {
            panic!("#[path] of {name} is not a text");
        };
        let file = folder.join(path.value());
        let own = file.parent().expect("the folder of a module").to_owned();
        return (file, own);
    }
    let (flat, own) = (folder.join(format!("{name}.rs")), folder.join(name));
    if flat.is_file() { (flat, own) } else { (own.join("mod.rs"), own) }
}

/// Whether the documentation shows an item of a module that it shows.
fn is_shown(attributes: &[Attribute], visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_)) && !has(attributes, "doc", "hidden")
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    has(attributes, "cfg", "test")
}

/// Whether the attribute `#[name(word)]` is there.
fn has(attributes: &[Attribute], name: &str, word: &str) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident(name)
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == word)
    })
}
