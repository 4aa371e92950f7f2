//! The tables of operations in the documentation of types: each public method and constant of the type has its place in one.

use std::collections::BTreeMap;

use crate::items::Items;

/// The types whose documentation has a table of all operations.
pub(crate) const TYPES: [&str; 7] = [
    "cuda_tiles::tile::Tile",
    "cuda_tiles::context::Cx",
    "cuda_tiles::span::TensorSpan",
    "cuda_tiles::view::TiledView",
    "cuda_tiles::view::GatherScatterView",
    "cuda_tiles::view::ScheduledTiles",
    "cuda_tiles::view::ScheduledTile",
];

/// What is wrong with the table of this type.
pub(crate) fn problems(items: &Items, path: &str) -> Vec<String> {
    let documentation = items.documentation(path).unwrap_or_else(|| panic!("{path} is not documented"));
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for row in documentation.lines().filter(|line| line.starts_with('|')) {
        for link in row.split("](Self::").skip(1) {
            let (name, _) = link.split_once(')').expect("a link ends");
            *places.entry(name).or_default() += 1;
        }
    }
    let members = items.members(path);
    assert!(!members.is_empty(), "{path} has no methods");
    let missing = members.iter().filter(|member| !places.contains_key(member.as_str()));
    let mut problems: Vec<String> =
        missing.map(|member| format!("{path}: `{member}` is not in the table of operations")).collect();
    for (name, count) in places {
        if !members.contains(name) {
            problems.push(format!("{path}: the table has `{name}`, which is no public method"));
        } else if count > 1 {
            problems.push(format!("{path}: `{name}` is in the table {count} times"));
        }
    }
    problems
}
