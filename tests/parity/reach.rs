//! Which names a test's code holds: its own, and those of all that it calls in the tests.
//!
//! A test of an operation launches kernels of another crate, through helpers and macros. So the names are followed: whatever
//! function, macro, constant or type of the test's files bears a name that was found adds the names in it. Files are the test's
//! own, its siblings, and the modules of kernels whose name stands in it. Names decide, not types: two functions of one name
//! are one. That finds a test which cannot touch an item; it does not show that a test checks one.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Item;

/// Folders of kernels, by the name of their crate.
const KERNELS: [(&str, &str); 3] = [
    ("cuda_tiles_test_kernels", "tests/kernels/src"),
    ("cuda_tiles_test_streams", "tests/streams/src"),
    ("cuda_tiles_kernels", "kernels/src"),
];

type Names = BTreeSet<String>;

/// What a file defines: the names by which a definition is found, and those that stand in it.
type Definitions = Vec<(Names, Names)>;

/// The names that tests hold, each file read once.
#[derive(Default)]
pub(crate) struct Reach {
    files: HashMap<PathBuf, Definitions>,
}

impl Reach {
    /// All names that the function of this file reaches.
    pub(crate) fn of(&mut self, file: &Path, function: &str) -> Names {
        let folder = file.parent().unwrap();
        let text = fs::read_to_string(file).unwrap();
        let words: Names = words(text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display())));
        let mut files = vec![file.to_owned()];
        // The files beside a file of tests are its helpers.
        files.extend(rust_files(folder).into_iter().filter(|other| words.contains(&stem(other))));
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (_, folder) in KERNELS.iter().filter(|(name, _)| words.contains(*name)) {
            let folder = root.join(folder);
            let is_named = |file: &PathBuf| {
                let modules = file.strip_prefix(&folder).unwrap().with_extension("");
                let mut modules = modules.iter().map(|module| module.to_string_lossy());
                modules.any(|module| module == "lib" || words.contains(&*module))
            };
            files.extend(rust_files(&folder).into_iter().filter(is_named));
        }
        for file in &files {
            self.files.entry(file.clone()).or_insert_with(|| definitions(file));
        }
        let definitions: Vec<_> = files.iter().flat_map(|file| &self.files[file]).collect();
        let mut reached = Names::from([function.to_owned()]);
        loop {
            let before = reached.len();
            for (names, content) in &definitions {
                if !names.is_disjoint(&reached) {
                    reached.extend(content.iter().cloned());
                }
            }
            if reached.len() == before {
                return reached;
            }
        }
    }
}

/// The name of a file without its ending; of a module in a folder, the folder's.
fn stem(file: &Path) -> String {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if stem(file) == "mod" { stem(file.parent().unwrap()) } else { stem(file) }
}

/// The Rust files of a folder and below.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { rust_files(&path) } else { vec![path] };
    paths.flat_map(of).filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

fn definitions(file: &Path) -> Definitions {
    let text = fs::read_to_string(file).unwrap();
    let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut definitions = Vec::new();
    define(file.items, &mut definitions);
    definitions
}

fn define(items: Vec<Item>, definitions: &mut Definitions) {
    for item in items {
        let content = words(item.to_token_stream());
        let names = match &item {
            Item::Use(_) => continue,
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    define(items.clone(), definitions);
                }
                continue;
            }
            Item::Fn(item) => Names::from([item.sig.ident.to_string()]),
            Item::Const(item) => Names::from([item.ident.to_string()]),
            Item::Static(item) => Names::from([item.ident.to_string()]),
            Item::Struct(item) => Names::from([item.ident.to_string()]),
            Item::Enum(item) => Names::from([item.ident.to_string()]),
            Item::Type(item) => Names::from([item.ident.to_string()]),
            Item::Trait(item) => Names::from([item.ident.to_string()]),
            Item::Impl(item) => words(item.self_ty.to_token_stream()),
            Item::Macro(item) => match &item.ident {
                Some(name) => Names::from([name.to_string()]),
                // What a macro makes may have any of the names that are given to it.
                None => words(item.mac.tokens.clone()),
            },
            _ => continue,
        };
        definitions.push((names, content));
    }
}

/// The identifiers and operators of a text.
fn words(tokens: TokenStream) -> Names {
    let mut words = Names::new();
    let mut operator = String::new();
    for token in tokens {
        match token {
            TokenTree::Punct(sign) => {
                operator.push(sign.as_char());
                words.insert(operator.clone());
                if sign.spacing() == proc_macro2::Spacing::Alone {
                    operator.clear();
                }
                continue;
            }
            TokenTree::Ident(name) => drop(words.insert(name.to_string())),
            TokenTree::Group(group) => words.extend(self::words(group.stream())),
            TokenTree::Literal(_) => {}
        }
        operator.clear();
    }
    words
}
