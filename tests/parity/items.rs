//! Where the library defines an item: what rustdoc knows of it.
//!
//! rustdoc resolves paths as users write them, through re-exports, and notes the source of each item. Its JSON output is
//! unstable; the few fields that are read here have had their names for years.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The packages whose items have rows.
const PACKAGES: [&str; 4] = ["cuda-tiles", "cuda-tiles-macros", "cuda-tiles-builder", "cuda-tiles-host"];

/// Where an item stands.
pub(crate) struct Place<'a> {
    /// Relative to the root.
    pub(crate) file: &'a str,
    /// The first and the last line, counted from 1: the item's without attributes, or the whole call of a macro that makes it.
    pub(crate) lines: [usize; 2],
}

/// The documentation of the library's crates, by their names.
pub(crate) struct Items(HashMap<String, Value>);

impl Items {
    /// Documents the crates of the workspace at `root`.
    pub(crate) fn new(root: &Path) -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parity");
        let mut command = Command::new(env!("CARGO"));
        command.args(["doc", "--no-deps", "--quiet", "--target-dir"]).arg(&target).current_dir(root);
        command.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
        let output = command
            .env("RUSTC_BOOTSTRAP", "1")
            .env(
                "RUSTDOCFLAGS",
                "-Zunstable-options --output-format json --document-hidden-items --cap-lints allow",
            )
            .env("CUDA_TILES_TOOLCHAIN", "none")
            .output()
            .unwrap();
        assert!(output.status.success(), "rustdoc: {}", String::from_utf8_lossy(&output.stderr));
        let read = |package: &str| {
            let name = package.replace('-', "_");
            let path = target.join("doc").join(&name).with_extension("json");
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (name, serde_json::from_str(&text).unwrap())
        };
        Self(PACKAGES.into_iter().map(read).collect())
    }

    /// The file, relative to the root, that defines the item of this path. An item of another crate that ours exports anew
    /// is where ours does so.
    pub(crate) fn file(&self, path: &str) -> Option<&str> {
        self.item(path)?["span"]["filename"].as_str()
    }

    /// Where the library defines the item of this path.
    pub(crate) fn place(&self, path: &str) -> Option<Place<'_>> {
        let span = &self.item(path)?["span"];
        let line =
            |end: &str| Some(usize::try_from(span[end][0].as_u64()?).expect("a line's number is small"));
        Some(Place { file: span["filename"].as_str()?, lines: [line("begin")?, line("end")?] })
    }

    /// Whether a program that uses the item of this path writes its name: functions, macros, constants and types that are
    /// values. Other types and traits are mostly inferred.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        let inner = &self.item(path).unwrap_or(&Value::Null)["inner"];
        let is = |kind: &str| !inner[kind].is_null();
        ["function", "macro", "proc_macro", "constant", "assoc_const"].into_iter().any(is)
            || inner["struct"]["kind"] == "unit"
    }

    /// The documentation of the item of this path.
    pub(crate) fn documentation(&self, path: &str) -> Option<&str> {
        self.item(path)?["docs"].as_str()
    }

    /// The names of the public methods and constants of this type's own that its page shows.
    pub(crate) fn members(&self, path: &str) -> BTreeSet<String> {
        let name = path.split("::").next().expect("a path begins with a crate");
        let (Some(root), Some(item)) = (self.0.get(name), self.item(path)) else { return BTreeSet::new() };
        let blocks = listed(root, &item["inner"]["struct"]["impls"]);
        let own = blocks.filter(|block| block["inner"]["impl"]["trait"].is_null());
        let shown =
            |item: &&Value| item["visibility"] == "public" && !item["attrs"].to_string().contains("hidden");
        let members = own.flat_map(|block| listed(root, &block["inner"]["impl"]["items"])).filter(shown);
        members.filter_map(|member| Some(member["name"].as_str()?.to_owned())).collect()
    }

    /// What rustdoc knows of the item of this path.
    fn item(&self, path: &str) -> Option<&Value> {
        let mut names = path.trim_end_matches('!').split("::");
        let root = self.0.get(names.next()?)?;
        let mut item = &root["index"][id(&root["root"])];
        for name in names {
            item = member(root, item, name)?;
        }
        // The attribute `kernel` is of the crate of macros.
        if item["inner"]["use"]["source"] == "cuda_tiles_macros::kernel" {
            return self.item("cuda_tiles_macros::kernel");
        }
        let exported = root["index"].get(id(&item["inner"]["use"]["id"]));
        Some(exported.unwrap_or(item))
    }
}

/// An identifier as the key of an index.
fn id(number: &Value) -> String {
    number.to_string()
}

/// The items whose numbers an array holds, as far as they are of this crate.
fn listed<'a>(root: &'a Value, numbers: &'a Value) -> impl Iterator<Item = &'a Value> {
    numbers.as_array().into_iter().flatten().filter_map(|number| root["index"].get(id(number)))
}

/// What a re-export or an alias of a type stands for, if that is of this crate.
fn resolved<'a>(root: &'a Value, item: &'a Value) -> &'a Value {
    let inner = &item["inner"];
    let target = [&inner["use"]["id"], &inner["type_alias"]["type"]["resolved_path"]["id"]]
        .into_iter()
        .find_map(|number| root["index"].get(id(number)));
    target.map_or(item, |target| resolved(root, target))
}

/// The member `name` of a module, a type or a trait.
fn member<'a>(root: &'a Value, item: &'a Value, name: &str) -> Option<&'a Value> {
    let inner = &resolved(root, item)["inner"];
    let named = |item: &&Value| item["name"] == name || item["inner"]["use"]["name"] == name;
    let of_module = || {
        let items = || listed(root, &inner["module"]["items"]);
        let globs = || items().filter(|item| item["inner"]["use"]["is_glob"] == true);
        items().find(named).or_else(|| globs().find_map(|glob| member(root, glob, name)))
    };
    let of_type = || {
        let impls = ["struct", "enum", "union"].map(|kind| &inner[kind]["impls"]);
        let blocks = || impls.into_iter().flat_map(|impls| listed(root, impls));
        let of = |is_inherent: bool| {
            let chosen =
                blocks().filter(move |block| block["inner"]["impl"]["trait"].is_null() == is_inherent);
            chosen.flat_map(|block| listed(root, &block["inner"]["impl"]["items"])).find(named)
        };
        of(true).or_else(|| of(false)).or_else(|| listed(root, &inner["enum"]["variants"]).find(named))
    };
    let of_trait = || listed(root, &inner["trait"]["items"]).find(named);
    of_module().or_else(of_type).or_else(of_trait)
}
