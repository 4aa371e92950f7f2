//! The modules of a crate as its sources state them: definitions, imports, and the paths in the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Item, UseTree, Visibility};

use crate::error::{Context, Error, Result};

/// The number of a module in its crate.
pub(super) type ModuleId = usize;

/// The module of `lib.rs`.
pub(super) const ROOT: ModuleId = 0;

/// All modules of a crate but those of its tests.
pub(super) struct Sources {
    /// The root comes first, each other one after its parent.
    pub(super) modules: Vec<Module>,
    /// The macros that whoever imports them finds at the root, with the modules where they stand.
    pub(super) exported_macros: BTreeMap<String, ModuleId>,
}

/// A module, in a file of its own or inline.
pub(super) struct Module {
    /// The file, relative to the folder `src`. An inline module has that of its parent.
    pub(super) file: PathBuf,
    /// The root is its own parent.
    pub(super) parent: ModuleId,
    /// Two modules share a name where conditional compilation picks one.
    pub(super) children: BTreeMap<String, Vec<ModuleId>>,
    /// The names of the items that stand here.
    pub(super) definitions: BTreeSet<String>,
    /// The names within calls of macros, some of which the macro may define.
    pub(super) perhaps: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// The paths in the code, a single name being one too.
    pub(super) paths: Vec<Written>,
}

/// A name that `use` brings.
pub(super) struct Import {
    pub(super) path: Written,
    pub(super) name: Name,
    /// Whether others may import the name from here.
    pub(super) is_public: bool,
}

/// Which names a `use` brings.
pub(super) enum Name {
    One(String),
    /// `*`
    All,
}

/// A path as it is written.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

impl Sources {
    /// Reads the crate whose root is `lib.rs` in the folder `src`.
    pub(super) fn read(src: &Path) -> Result<Self> {
        let mut sources = Self { modules: Vec::new(), exported_macros: BTreeMap::new() };
        sources.read_file(src, "lib.rs".into(), ROOT)?;
        Ok(sources)
    }

    fn read_file(&mut self, src: &Path, file: PathBuf, parent: ModuleId) -> Result<ModuleId> {
        let path = src.join(&file);
        let text = std::fs::read_to_string(&path).about(&path, "read")?;
        let parsed = syn::parse_file(&text).map_err(|error| Error::Content {
            path: path.clone(),
            reason: format!("line {}: {error}", error.span().start().line),
        })?;
        let folder = children_folder(&file);
        self.read_module(src, file, &folder, parent, parsed.items)
    }

    /// Takes up a module and those below it. The files of its children are in `folder`.
    fn read_module(
        &mut self,
        src: &Path,
        file: PathBuf,
        folder: &Path,
        parent: ModuleId,
        items: Vec<Item>,
    ) -> Result<ModuleId> {
        let id = self.modules.len();
        self.modules.push(Module::new(file, parent));
        for item in items {
            if attributes(&item).iter().any(is_for_tests) {
                continue;
            }
            let Item::Mod(child) = item else {
                if let Item::Macro(item) = &item
                    && item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
                {
                    self.exported_macros.extend(item.ident.iter().map(|name| (name.to_string(), id)));
                }
                self.modules[id].add(item);
                continue;
            };
            let name = child.ident.to_string();
            let own = self.modules[id].file.clone();
            let read = match child.content {
                Some((_, items)) => self.read_module(src, own, &folder.join(&name), id, items)?,
                None => self.read_file(src, child_file(src, &own, folder, &name, &child.attrs), id)?,
            };
            self.modules[id].children.entry(name).or_default().push(read);
        }
        Ok(id)
    }
}

impl Module {
    fn new(file: PathBuf, parent: ModuleId) -> Self {
        Self {
            file,
            parent,
            children: BTreeMap::new(),
            definitions: BTreeSet::new(),
            perhaps: BTreeSet::new(),
            imports: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// Takes up an item that is no module.
    fn add(&mut self, item: Item) {
        let name = match &item {
            Item::Use(item) => {
                let is_public = !matches!(item.vis, Visibility::Inherited);
                // `use ::name` names another crate.
                if item.leading_colon.is_none() {
                    self.add_imports(&item.tree, &mut Vec::new(), is_public);
                }
                return;
            }
            Item::Macro(item) if item.ident.is_none() => {
                identifiers(item.mac.tokens.clone(), &mut self.perhaps);
                None
            }
            Item::Macro(item) => item.ident.as_ref(),
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        self.definitions.extend(name.map(ToString::to_string));
        paths(item.to_token_stream(), &mut self.paths);
    }

    fn add_imports(&mut self, tree: &UseTree, before: &mut Vec<String>, is_public: bool) {
        let line = tree.span().start().line;
        let mut add = |segments: Vec<String>, name: Name| {
            self.imports.push(Import { path: Written { segments, line }, name, is_public });
        };
        // `use a::{self}` is `use a`.
        let path = |name: &syn::Ident, before: &[String]| {
            let own = (name != "self" || before.is_empty()).then(|| name.to_string());
            before.iter().cloned().chain(own).collect::<Vec<_>>()
        };
        match tree {
            UseTree::Path(tree) => {
                before.push(tree.ident.to_string());
                self.add_imports(&tree.tree, before, is_public);
                before.pop();
            }
            UseTree::Name(tree) => {
                let path = path(&tree.ident, before);
                let name = path.last().cloned().unwrap_or_default();
                add(path, Name::One(name));
            }
            UseTree::Rename(tree) => add(path(&tree.ident, before), Name::One(tree.rename.to_string())),
            UseTree::Glob(_) => add(before.clone(), Name::All),
            UseTree::Group(tree) => {
                for tree in &tree.items {
                    self.add_imports(tree, before, is_public);
                }
            }
        }
    }
}

/// The folder with the files of a file's child modules.
fn children_folder(file: &Path) -> PathBuf {
    match file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs") {
        true => file.parent().unwrap_or(Path::new("")).to_owned(),
        false => file.with_extension(""),
    }
}

/// The file of a module that `own` declares.
fn child_file(src: &Path, own: &Path, folder: &Path, name: &str, attributes: &[Attribute]) -> PathBuf {
    let stated = attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(meta) if meta.path.is_ident("path") => match &meta.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    });
    if let Some(path) = stated {
        return own.with_file_name(path);
    }
    let file = folder.join(name).with_extension("rs");
    if src.join(&file).is_file() { file } else { folder.join(name).join("mod.rs") }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn identifiers(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => drop(found.insert(name.to_string())),
            TokenTree::Group(group) => identifiers(group.stream(), found),
            _ => {}
        }
    }
}

/// Collects the paths of a piece of code. Tokens decide, for code in macros has no other form.
fn paths(tokens: TokenStream, found: &mut Vec<Written>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => paths(group.stream(), found),
            TokenTree::Ident(_) if begins_path(&tokens, at) => {
                at = path(&tokens, at, &[], found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Reads the path that begins with the name at `at`, after the segments `before`. Returns where the rest begins.
fn path(tokens: &[TokenTree], mut at: usize, before: &[String], found: &mut Vec<Written>) -> usize {
    let line = tokens[at].span().start().line;
    let mut segments = before.to_vec();
    while let Some(TokenTree::Ident(name)) = tokens.get(at) {
        segments.push(name.to_string());
        at += 1;
        if !is_separator(tokens, at) {
            break;
        }
        match tokens.get(at + 2) {
            Some(TokenTree::Ident(_)) => at += 2,
            // A `use` within a function.
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for entry in inner.split(|token| is_sign(Some(token), ',')).filter(|entry| !entry.is_empty())
                {
                    path(entry, 0, &segments, found);
                }
                return at + 3;
            }
            _ => break,
        }
    }
    found.push(Written { segments, line });
    at
}

/// Whether a path begins with the name at `at`: not after `::`, `.`, `'`, nor after `$` but for `$crate`.
fn begins_path(tokens: &[TokenTree], at: usize) -> bool {
    let before = |sign: char| at > 0 && is_sign(tokens.get(at - 1), sign);
    let is_crate = matches!(&tokens[at], TokenTree::Ident(name) if name == "crate");
    let after_separator = at > 1 && is_separator(tokens, at - 2);
    !(after_separator || before('.') || before('\'') || before('$') && !is_crate)
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_sign(tokens.get(at), ':') && is_sign(tokens.get(at + 1), ':')
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}
