//! No public trait lets safe code break what unsafe code trusts.
//!
//! Unsafe code trusts what a trait's implementations say: how many registers a layout has, that an order is a permutation. A trait
//! that users can implement without `unsafe` must therefore be one that no unsafe code trusts. Each public trait is one of these:
//!
//! * an `unsafe trait`;
//! * sealed: it has a supertrait that has no name outside of its crate, or one that is sealed itself; or it has a required method
//!   that takes a type without such a name. Its type parameters are bounded by sealed traits, or are the seal's as well:
//!   otherwise `impl Trait<Mine> for u32` would be an implementation of a user's;
//! * listed in [`OPEN`], with the reason.
//!
//! This reads the source, not what the compiler makes of it. It errs on the side of finding too much: a name that is exported anywhere
//! counts as exported, and of traits that have the same name all must be sealed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::{Generics, Item, Token, TraitItem, Type, TypeParamBound, UseTree, Visibility, WherePredicate};

/// The crates that kernels and programs use.
const CRATES: [&str; 3] = ["tiles", "host", "builder"];

/// The traits that anyone may implement, with the reason why no unsafe code trusts them.
const OPEN: [(&str, &str); 8] = [
    (
        "tiles::element::cast::rounding::CastWith",
        "with a mode of one's own it is a function of one element, as `map` takes",
    ),
    ("tiles::element::cast::rounding::CastMode", "as `CastWith`, of which it is the mode's side"),
    (
        "tiles::simt::shared::SharedMemory",
        "a name for a method of `Cx`, which has its body: no function takes just any implementation of it",
    ),
    ("tiles::pipeline::producer::ProducerSafe", "says no more than its supertrait `Send`, which is `unsafe`"),
    (
        "host::launch::Launch",
        "a name for methods of kernels: no function takes just any implementation of it",
    ),
    ("host::launch::LaunchUnsafe", "as `Launch`"),
    (
        "host::graph::operands::GraphOperands",
        "lists borrows of buffers, which are compared with those that were captured at each launch: a list that leaves one out is refused",
    ),
    (
        "tiles::launch::aggregate::Aggregate",
        "makes a value of its fields, as any function of its type's module can; that a kernel may have it, its supertrait says, which is \
         `unsafe`",
    ),
];

/// A trait of a crate.
struct Trait {
    /// The crate's folder and the modules, with the name.
    path: String,
    item: syn::ItemTrait,
    /// Whether all modules around it are public.
    is_in_public_modules: bool,
}

/// An implementation of a trait.
struct Implementation {
    place: String,
    /// The last segment of the trait's path.
    name: String,
    generics: Generics,
    of: Type,
}

/// What a crate declares.
#[derive(Default)]
struct Crate {
    traits: Vec<Trait>,
    /// The structs and enums, and whether all modules around them are public.
    types: Vec<(String, bool)>,
    implementations: Vec<Implementation>,
    /// The names that `pub use` brings to another place.
    exported: BTreeSet<String>,
    problems: Vec<String>,
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

impl Crate {
    fn read(folder: &str) -> Self {
        let mut found = Self::default();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("src");
        found.file(&root.join("lib.rs"), &root, folder, true);
        found
    }

    /// A crate that is one text.
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        found.items(syn::parse_file(text).expect("the text is Rust").items, Path::new(""), "crate", true);
        found
    }

    /// What users can implement without `unsafe`: the paths of traits, and why.
    fn open_traits(&self) -> Vec<(&str, String)> {
        let named = self.traits.iter().filter(|of| self.has_name(of) && of.item.unsafety.is_none());
        named.filter_map(|of| Some((of.path.as_str(), self.seal(of, &mut Vec::new()).err()?))).collect()
    }

    /// Reads a module's file. Modules that it declares lie in `folder`.
    fn file(&mut self, file: &Path, folder: &Path, path: &str, is_public: bool) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.items(parsed.items, folder, path, is_public);
    }

    fn items(&mut self, items: Vec<Item>, folder: &Path, path: &str, in_public: bool) {
        for item in items {
            match item {
                Item::Mod(module) if !is_test(&module.attrs) => {
                    let path = format!("{path}::{}", module.ident);
                    let in_public = in_public && is_public(&module.vis);
                    let (files, inner) = files_of(&module, folder);
                    match module.content {
                        Some((_, items)) => self.items(items, &inner, &path, in_public),
                        None => files.iter().for_each(|file| self.file(file, &inner, &path, in_public)),
                    }
                }
                Item::Trait(item) => self.traits.push(Trait {
                    path: format!("{path}::{}", item.ident),
                    is_in_public_modules: in_public && is_public(&item.vis),
                    item,
                }),
                Item::Struct(item) => {
                    self.types.push((item.ident.to_string(), in_public && is_public(&item.vis)));
                }
                Item::Enum(item) => {
                    self.types.push((item.ident.to_string(), in_public && is_public(&item.vis)))
                }
                Item::Use(item) if is_public(&item.vis) => self.exports(&item.tree, path),
                Item::Impl(item) => {
                    if let Some((_, of, _)) = &item.trait_ {
                        self.implementations.push(Implementation {
                            place: path.to_owned(),
                            name: last(of),
                            generics: item.generics,
                            of: *item.self_ty,
                        });
                    }
                }
                Item::Macro(item) => {
                    // What a macro makes is not seen here.
                    let tokens = item.mac.tokens.to_string();
                    if tokens.contains("pub trait") || tokens.contains("pub unsafe trait") {
                        self.problems.push(format!("{path}: a macro declares a trait: write it out"));
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes what a `pub use` exports, from the module `last`.
    fn exports(&mut self, tree: &UseTree, last: &str) {
        match tree {
            UseTree::Path(tree) => self.exports(&tree.tree, &tree.ident.to_string()),
            UseTree::Name(name) => drop(self.exported.insert(name.ident.to_string())),
            UseTree::Rename(tree) => drop(self.exported.insert(tree.ident.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.exports(tree, last)),
            UseTree::Glob(_) => drop(self.exported.insert(format!("{last}::*"))),
        }
    }

    /// Whether users can name the trait.
    fn has_name(&self, of: &Trait) -> bool {
        let mut modules = of.path.rsplit("::").skip(1);
        let everything = modules.next().is_some_and(|module| self.exported.contains(&format!("{module}::*")));
        let is_exported = everything || self.exported.contains(&of.item.ident.to_string());
        of.is_in_public_modules || is_public(&of.item.vis) && is_exported
    }

    /// Whether this is a type of the crate that users cannot name.
    fn is_unnamed_type(&self, name: &str) -> bool {
        let mut same = self.types.iter().filter(|(other, _)| other == name).peekable();
        same.peek().is_some() && same.all(|(_, public)| !public) && !self.exported.contains(name)
    }

    /// Whether a bound keeps types of users out: all traits of that name are unnamed or sealed.
    fn keeps_out(&self, bound: &syn::Path, above: &mut Vec<String>) -> bool {
        let name = last(bound);
        let mut same = self.traits.iter().filter(|other| other.item.ident == name).peekable();
        same.peek().is_some() && same.all(|other| !self.has_name(other) || self.seal(other, above).is_ok())
    }

    /// Why the trait is not sealed. That it is `unsafe` does not seal traits under it: who implements it with good reason could go on
    /// to implement these without any.
    fn seal(&self, of: &Trait, above: &mut Vec<String>) -> Result<(), String> {
        let name = of.item.ident.to_string();
        if above.contains(&name) {
            return Err("it is bounded by itself".to_owned());
        }
        if self.takes_unnamed_type(&of.item) {
            return Ok(());
        }
        above.push(name);
        let seals: Vec<&syn::Path> =
            supertraits(&of.item).into_iter().filter(|bound| self.keeps_out(bound, above)).collect();
        let open = of.item.generics.type_params().find(|parameter| {
            let bounds = bounds_of(&of.item.generics, &parameter.ident);
            !bounds.iter().any(|bound| self.keeps_out(bound, above))
                && !seals.iter().any(|seal| has_argument(seal, &parameter.ident))
        });
        above.pop();
        match (seals.is_empty(), open) {
            (true, _) => Err("it has no seal".to_owned()),
            (_, Some(parameter)) => Err(format!("its parameter `{}` may be any type", parameter.ident)),
            _ => Ok(()),
        }
    }

    /// Whether a required method takes a type that users cannot name.
    fn takes_unnamed_type(&self, item: &syn::ItemTrait) -> bool {
        let required = item.items.iter().filter_map(|item| match item {
            TraitItem::Fn(function) if function.default.is_none() => Some(function),
            _ => None,
        });
        required.flat_map(|function| &function.sig.inputs).any(|input| match input {
            syn::FnArg::Typed(input) => {
                let mut of = &*input.ty;
                while let Type::Reference(reference) = of {
                    of = &reference.elem;
                }
                matches!(of, Type::Path(of) if self.is_unnamed_type(&last(&of.path)))
            }
            syn::FnArg::Receiver(_) => false,
        })
    }

    /// Seals that admit types of users: those of any type that meets bounds of which none is sealed.
    fn broken_seals(&self) -> Vec<String> {
        let is_seal = |name: &str| self.traits.iter().any(|of| of.item.ident == name && !self.has_name(of));
        let seals = self.implementations.iter().filter(|implementation| is_seal(&implementation.name));
        let broken = seals.filter(|implementation| {
            let Type::Path(of) = &implementation.of else { return false };
            let parameter =
                implementation.generics.type_params().find(|parameter| of.path.is_ident(&parameter.ident));
            parameter.is_some_and(|parameter| {
                let bounds = bounds_of(&implementation.generics, &parameter.ident);
                !bounds.iter().any(|bound| self.keeps_out(bound, &mut Vec::new()))
            })
        });
        broken
            .map(|seal| {
                format!("{}: `{}` seals nothing: it is implemented for all types", seal.place, seal.name)
            })
            .collect()
    }
}

/// The file of a module, and the folder of the modules that it declares.
fn files_of(module: &syn::ItemMod, folder: &Path) -> (Vec<PathBuf>, PathBuf) {
    let name = module.ident.to_string();
    let named = module.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
    if let Some(syn::Meta::NameValue(named)) = named.map(|attribute| &attribute.meta) {
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(file), .. }) = &named.value else {
            panic!("the path of the module `{name}` is a text");
        };
        let file = folder.join(file.value());
        let inner = file.parent().expect("a file is in a folder").to_owned();
        return (vec![file], inner);
    }
    let (beside, inside) = (folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs"));
    let files = [beside, inside].into_iter().filter(|file| file.is_file()).collect();
    (files, folder.join(name))
}

fn last(path: &syn::Path) -> String {
    path.segments.last().expect("a path has a segment").ident.to_string()
}

fn paths(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Vec<&syn::Path> {
    let path = |bound| match bound {
        &TypeParamBound::Trait(syn::TraitBound { ref path, .. }) => Some(path),
        _ => None,
    };
    bounds.iter().filter_map(path).collect()
}

/// The bounds on a parameter, where it is declared and behind `where`.
fn bounds_of<'a>(generics: &'a Generics, parameter: &syn::Ident) -> Vec<&'a syn::Path> {
    let mut found: Vec<&syn::Path> = Vec::new();
    for declared in generics.type_params().filter(|declared| declared.ident == *parameter) {
        found.extend(paths(&declared.bounds));
    }
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate
            && matches!(&predicate.bounded_ty, Type::Path(of) if of.path.is_ident(parameter))
        {
            found.extend(paths(&predicate.bounds));
        }
    }
    found
}

/// The supertraits, including those behind `where`.
fn supertraits(item: &syn::ItemTrait) -> Vec<&syn::Path> {
    let own = syn::Ident::new("Self", proc_macro2::Span::call_site());
    let mut found = paths(&item.supertraits);
    found.extend(bounds_of(&item.generics, &own));
    found
}

/// Whether a type parameter is one of a trait's arguments.
fn has_argument(path: &syn::Path, parameter: &syn::Ident) -> bool {
    let arguments = path.segments.iter().filter_map(|segment| match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    });
    arguments.flatten().any(|argument| {
        matches!(argument, syn::GenericArgument::Type(Type::Path(of)) if of.path.is_ident(parameter))
    })
}

#[test]
fn every_public_trait_is_sealed_or_unsafe_or_open_on_purpose() {
    let mut problems = Vec::new();
    let mut on_purpose: BTreeMap<&str, &str> = OPEN.into();
    let mut count = 0;
    for folder in CRATES {
        let found = Crate::read(folder);
        count += found.traits.iter().filter(|of| found.has_name(of)).count();
        for (path, why) in found.open_traits() {
            if on_purpose.remove(path).is_none() {
                problems.push(format!("{path}: {why}"));
            }
        }
        problems.extend(found.broken_seals());
        problems.extend(found.problems);
    }
    problems
        .extend(on_purpose.keys().map(|path| format!("{path}: listed as open, and no such public trait is")));
    assert!(count >= 110, "only {count} public traits were found");
    assert!(
        problems.is_empty(),
        "users can implement these traits, so that unsafe code must not trust them. Seal each by a supertrait without a name, \
         or make it an `unsafe trait`; or list it in `OPEN` with the reason why no unsafe code trusts it:\n{}",
        problems.join("\n")
    );
}

#[test]
fn what_users_can_implement_is_found() {
    let found = Crate::of(
        "mod sealed { pub trait Sealed {} pub trait SealedFor<N> {} pub trait Broken {} impl<T: Copy> Broken for T {} }
        mod hidden { pub trait Unnamed {} pub trait Exported {} pub struct Token; }
        pub use hidden::Exported;
        pub trait Root: Copy + sealed::Sealed {}
        pub trait Under: Root {}
        pub trait Where where Self: Root {}
        pub trait Bounded<T: Root>: Root {}
        pub trait OfSeal<N>: sealed::SealedFor<N> {}
        pub unsafe trait Vouched {}
        pub trait ByMethod { fn method(&self, token: &Token); }
        pub trait Free: Copy {}
        pub trait UnderVouched: Vouched {}
        pub trait AnyParameter<T>: Root {}
        pub trait ByDefaultMethod { fn method(&self, token: &Token) {} }
        impl<T: Root> sealed::Sealed for T {}",
    );
    let mut open = found.open_traits();
    open.sort();
    let names: Vec<&str> = open.iter().map(|(path, _)| path.trim_start_matches("crate::")).collect();
    assert_eq!(names, ["AnyParameter", "ByDefaultMethod", "Free", "UnderVouched", "hidden::Exported"]);
    assert_eq!(open[0].1, "its parameter `T` may be any type");
    let broken = found.broken_seals();
    assert!(broken.len() == 1 && broken[0].contains("`Broken` seals nothing"), "{broken:?}");
}
