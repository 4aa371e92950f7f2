//! The parity table and the semantic details in `docs/book/` are made from data, and say nothing that is not there.
//!
//! `docs/parity.toml` has one row for each capability of CUDA Tile C++, cuTile Python and cutile-rs, and one for each
//! detail of their semantics that is easy to get wrong. Each names our items and the tests that show them, or the reason
//! why there is none. rustdoc looks the items up, and the tests are looked up in their files.
//!
//! `docs/aliases.toml` has the neighbours' words by which rustdoc's search finds our items; `aliases.rs` writes them into the
//! sources.
//!
//! The documentation of the types that users live in has tables of all their operations, which `tables.rs` checks.
//!
//! `PARITY=overwrite cargo test --test parity` writes the pages and the aliases anew.

mod aliases;
mod items;
mod reach;
mod tables;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use aliases::{Words, searched, words};
use items::Items;
use reach::Reach;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The folder of both pages.
const PAGES: &str = "docs/book/src";

/// The way back from there.
const ROOT_FROM_PAGES: &str = "../../..";

/// What `docs/parity.toml` holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    section: Vec<Section>,
    detail: Vec<Detail>,
}

/// Capabilities that belong together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    row: Vec<Row>,
}

/// One capability: what it is called there and here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    capability: String,
    cpp: String,
    python: String,
    rs: String,
    /// Paths of our items, from the crate on: `cuda_tiles::tile::Tile::sum`.
    #[serde(default)]
    items: Vec<String>,
    /// Tests, as file and function: `tests/operations/reductions.rs::sums`.
    #[serde(default)]
    tests: Vec<String>,
    /// What differs; where there are no items, why.
    #[serde(default)]
    note: String,
}

/// One detail of the semantics.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Detail {
    number: usize,
    /// What is easy to get wrong.
    detail: String,
    /// What holds here.
    ours: String,
    #[serde(default)]
    tests: Vec<String>,
    /// Whether this is a deliberate difference from every peer, which `ours` explains.
    #[serde(default)]
    difference: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What rustdoc knows, asked once.
fn items() -> &'static Items {
    static ITEMS: LazyLock<Items> = LazyLock::new(|| Items::new(root()));
    &ITEMS
}

fn data() -> Data {
    parsed("docs/parity.toml")
}

fn aliases() -> Words {
    parsed("docs/aliases.toml")
}

fn parsed<T: DeserializeOwned>(file: &str) -> T {
    toml::from_str(&fs::read_to_string(root().join(file)).unwrap())
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Whether pages and sources are to be written anew.
fn overwrites() -> bool {
    std::env::var_os("PARITY").is_some_and(|value| value == "overwrite")
}

fn all_tests(data: &Data) -> impl Iterator<Item = &String> {
    let rows = data.section.iter().flat_map(|section| &section.row).flat_map(|row| &row.tests);
    rows.chain(data.detail.iter().flat_map(|detail| &detail.tests))
}

/// A test as a link to its file, by the function's name; a program that must not compile by its file's.
fn test_link(test: &str) -> String {
    let (file, function) = test.split_once("::").unwrap_or_else(|| panic!("{test} is not FILE::FUNCTION"));
    let name = match file.strip_prefix("tests/compile_fail/").and_then(|program| program.split_once('/')) {
        Some((_, program)) => program,
        None => function,
    };
    format!("[{name}]({ROOT_FROM_PAGES}/{file})")
}

/// An item as a link to the file that defines it.
fn item_link(item: &str, items: &Items) -> String {
    match items.file(item) {
        Some(file) => format!("[`{}`]({ROOT_FROM_PAGES}/{file})", short(item)),
        None => panic!("docs/parity.toml: there is no {item}"),
    }
}

/// The text of a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// An item as users write it: from its type on, if it has one.
fn short(item: &str) -> &str {
    let names: Vec<&str> = item.split("::").collect();
    let first = names.iter().position(|name| name.starts_with(char::is_uppercase)).unwrap_or(names.len() - 1);
    let offset: usize = names[..first].iter().map(|name| name.len() + 2).sum();
    &item[offset..]
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn parity_page(data: &Data, items: &Items) -> String {
    let mut page = String::from(
        "# Parity with the peers\n\n\
         Every capability of CUDA Tile C++ 13.5, cuTile Python 1.7 and cutile-rs 0.3, what it is called there, and what it is\n\
         called here; a dash says that the peer has nothing of the kind. Each row names the test that shows it. This page is\n\
         made from `docs/parity.toml` by `tests/parity`, which fails if an item or a test does not exist.\n",
    );
    for section in &data.section {
        writeln!(page, "\n## {}\n", section.title).unwrap();
        page.push_str("| capability | C++ | Python | cutile-rs | cuda-tiles | tests | notes |\n|---|---|---|---|---|---|---|\n");
        for row in &section.row {
            let ours = joined(row.items.iter().map(|item| item_link(item, items)));
            let ours = if row.items.is_empty() { "–" } else { &ours };
            let tests = joined(row.tests.iter().map(|test| test_link(test)));
            let [capability, cpp, python, rs, note] =
                [&row.capability, &row.cpp, &row.python, &row.rs, &row.note].map(|text| cell(text));
            writeln!(page, "| {capability} | {cpp} | {python} | {rs} | {ours} | {tests} | {note} |").unwrap();
        }
    }
    page
}

fn semantics_page(data: &Data) -> String {
    let mut page = String::from(
        "# Semantics that are easy to get wrong\n\n\
         Where the peers differ from each other, leave something undefined, or surprise; what holds here, on GPU and CPU\n\
         alike; and the test that shows it. Made from `docs/parity.toml` by `tests/parity`.\n\n\
         | | detail | here | tests |\n|---|---|---|---|\n",
    );
    for Detail { number, detail, ours, tests, difference } in &data.detail {
        let mark = if *difference { "**Differs.** " } else { "" };
        let tests = joined(tests.iter().map(|test| test_link(test)));
        let (detail, ours) = (cell(detail), cell(ours));
        writeln!(page, "| {number} | {detail} | {mark}{ours} | {tests} |").unwrap();
    }
    page
}

#[test]
fn pages_say_what_the_data_say() {
    let data = data();
    let items = items();
    let named = data.section.iter().flat_map(|section| &section.row).flat_map(|row| &row.items);
    let unknown: Vec<&String> = named.filter(|item| items.file(item).is_none()).collect();
    assert!(unknown.is_empty(), "docs/parity.toml names items that do not exist: {unknown:#?}");
    for (name, text) in [("parity.md", parity_page(&data, items)), ("semantics.md", semantics_page(&data))] {
        let path = root().join(PAGES).join(name);
        if overwrites() {
            fs::write(&path, &text).unwrap();
        }
        assert!(
            fs::read_to_string(&path).is_ok_and(|page| page == text),
            "{PAGES}/{name} is out of date: PARITY=overwrite cargo test --test parity"
        );
    }
}

#[test]
fn every_row_has_items_and_tests_or_a_reason() {
    for row in data().section.iter().flat_map(|section| &section.row) {
        let capability = &row.capability;
        if row.items.is_empty() {
            assert!(!row.note.is_empty(), "{capability}: neither an item nor a reason why there is none");
        } else {
            assert!(!row.tests.is_empty(), "{capability}: no test");
        }
    }
}

#[test]
fn every_detail_has_a_test_or_is_a_difference() {
    let data = data();
    assert!(data.detail.iter().map(|detail| detail.number).eq(1..=54), "the details are numbered 1 to 54");
    for Detail { number, tests, difference, .. } in &data.detail {
        assert!(!tests.is_empty() || *difference, "detail {number}: neither a test nor a stated difference");
    }
}

#[test]
fn named_tests_exist() {
    let data = data();
    let missing: BTreeSet<&String> = all_tests(&data).filter(|test| !exists(test)).collect();
    assert!(missing.is_empty(), "docs/parity.toml names tests that do not exist: {missing:#?}");
}

/// Whether the file has a test function, or a file of compile-fail cases, of this name.
fn exists(test: &str) -> bool {
    let Some((file, function)) = test.split_once("::") else { return false };
    let Ok(text) = fs::read_to_string(root().join(file)) else { return false };
    let Some(at) = text.find(&format!("fn {function}(")) else { return false };
    file.starts_with("tests/compile_fail/")
        || text[..at].trim_end().ends_with(']') && text.contains("#[test]")
}

/// The sign by which users call an operator's method.
fn sign(method: &str) -> Option<&'static str> {
    let signs = [
        ("add", "+"),
        ("sub", "-"),
        ("mul", "*"),
        ("div", "/"),
        ("rem", "%"),
        ("neg", "-"),
        ("not", "!"),
        ("bitand", "&"),
        ("bitor", "|"),
        ("bitxor", "^"),
        ("shl", "<<"),
        ("shr", ">>"),
    ];
    signs.into_iter().find_map(|(name, sign)| (name == method).then_some(sign))
}

#[test]
fn named_tests_hold_their_items() {
    let data = data();
    let items = items();
    let mut reach = Reach::default();
    let mut problems = Vec::new();
    for row in data.section.iter().flat_map(|section| &section.row) {
        let mut names = BTreeSet::new();
        for test in &row.tests {
            let (file, function) = test.split_once("::").unwrap();
            names.extend(reach.of(&root().join(file), function));
        }
        for item in row.items.iter().filter(|item| items.is_written(item)) {
            let name = item.rsplit("::").next().unwrap().trim_end_matches('!');
            if !names.contains(name) && !sign(name).is_some_and(|sign| names.contains(sign)) {
                problems.push(format!("{}: none of its tests holds `{}`", row.capability, short(item)));
            }
        }
    }
    assert!(problems.is_empty(), "docs/parity.toml:\n{}", problems.join("\n"));
}

#[test]
fn neighbours_words_lead_to_our_items() {
    let (data, aliases) = (data(), aliases());
    let rows = || data.section.iter().flat_map(|section| &section.row);
    let name = |item: &String| searched(item.rsplit("::").next().unwrap().trim_end_matches('!'));
    let own: BTreeSet<String> = rows().flat_map(|row| &row.items).map(name).collect();
    let found: BTreeSet<String> = aliases.alias.values().flatten().map(|word| searched(word)).collect();
    let mut problems = Vec::new();
    let mut without = BTreeSet::new();
    for row in rows().filter(|row| !row.items.is_empty()) {
        for word in [&row.cpp, &row.python, &row.rs].into_iter().flat_map(|cell| words(cell)) {
            if aliases.without.contains_key(word) {
                without.insert(word);
            } else if !own.contains(&searched(word)) && !found.contains(&searched(word)) {
                problems.push(format!("{}: no item has the alias `{word}`", row.capability));
            }
        }
    }
    let said = |word: &&String| !without.contains(word.as_str());
    problems.extend(aliases.without.keys().filter(said).map(|word| format!("no row has `{word}`")));
    for (item, words) in &aliases.alias {
        let names: BTreeSet<String> = words.iter().map(|word| searched(word)).collect();
        if names.len() < words.len() || names.contains(&name(item)) {
            problems.push(format!("{item}: an alias is there twice, or is the item's own name"));
        }
    }
    assert!(problems.is_empty(), "docs/aliases.toml:\n{}", problems.join("\n"));
}

#[test]
fn sources_have_the_aliases() {
    let problems = aliases::differences(root(), &aliases(), items(), overwrites());
    assert!(
        problems.is_empty(),
        "PARITY=overwrite cargo test --test parity writes what is missing:\n{}",
        problems.join("\n")
    );
}

#[test]
fn tables_of_operations_have_every_method_once() {
    let problems: Vec<String> =
        tables::TYPES.iter().flat_map(|path| tables::problems(items(), path)).collect();
    assert!(problems.is_empty(), "tables of operations in the documentation:\n{}", problems.join("\n"));
}
