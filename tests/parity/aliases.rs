//! The neighbours' words, as aliases that rustdoc's search knows.
//!
//! `docs/aliases.toml` says which words an item has. They stand in the sources, in lines of `#[doc(alias(...))]` above the
//! item's definition: rustdoc knows where that is. Many items come out of macros of ours that take each item's documentation
//! with its name; there the line stands above the name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::items::{Items, Place};

/// How a line with aliases begins.
const ALIASES: &str = "#[doc(alias(";

/// The greatest length of such a line without its indentation.
const WIDTH: usize = 90;

/// What `docs/aliases.toml` holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// By the items' paths.
    pub(crate) alias: BTreeMap<String, Vec<String>>,
    /// The words that are no name of an item, with the reasons.
    pub(crate) without: BTreeMap<String, String>,
}

/// The words of a cell of the table that are single identifiers: without prefix of the module, and neither abbreviated nor
/// with arguments.
pub(crate) fn words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2).filter_map(|quoted| {
        let word =
            ["@ct.", "ct.", "."].iter().find_map(|prefix| quoted.strip_prefix(prefix)).unwrap_or(quoted);
        let word = ["()", "!", "="].iter().find_map(|suffix| word.strip_suffix(suffix)).unwrap_or(word);
        let is_abbreviated = word.starts_with('_') && !word.starts_with("__") || word.ends_with("_*");
        let is_identifier = word.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
            && word.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
        (is_identifier && !is_abbreviated).then_some(word)
    })
}

/// A name as rustdoc's search compares it.
pub(crate) fn searched(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// What has to change in the sources, a description each; if `overwrite`, it is changed.
pub(crate) fn differences(root: &Path, words: &Words, items: &Items, overwrite: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut places = BTreeMap::<&str, BTreeMap<usize, &[String]>>::new();
    for (path, aliases) in &words.alias {
        let Some(place) = items.place(path) else {
            problems.push(format!("docs/aliases.toml: there is no {path}"));
            continue;
        };
        let text = fs::read_to_string(root.join(place.file)).unwrap();
        match line(&text, path, &place) {
            Some(line) => drop(places.entry(place.file).or_default().insert(line, aliases)),
            None => problems.push(format!("{path}: {} has no line that can take an alias", place.file)),
        }
    }
    for (file, lines) in places {
        let path = root.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let changed = with_aliases(&text, &lines);
        if changed == text {
            continue;
        }
        if overwrite {
            fs::write(&path, changed).unwrap();
        } else {
            let missing = lines.iter().filter(|(line, aliases)| {
                with_aliases(&text, &BTreeMap::from([(**line, **aliases)])) != text
            });
            problems
                .extend(missing.map(|(line, aliases)| format!("{file}:{}: no alias {aliases:?}", line + 1)));
        }
    }
    problems
}

/// The line, counted from 0, above which an item's aliases stand: that of its definition or, where a macro makes it, that of its
/// name below its documentation.
fn line(text: &str, path: &str, place: &Place<'_>) -> Option<usize> {
    let name = path.rsplit("::").next().unwrap_or(path).trim_end_matches('!');
    let lines: Vec<&str> = text.lines().collect();
    let [first, last] = place.lines.map(|line| line - 1);
    let is_name = |word: &str| word == name;
    let words = |line: &str| -> Vec<String> {
        let words = line.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let defining = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules", "mod"];
    let definition = words(lines.get(first)?);
    if definition.windows(2).any(|pair| defining.contains(&&*pair[0]) && is_name(&pair[1])) {
        return Some(first);
    }
    (first + 1..=last).find(|at| {
        let is_documented = |line: &str| line.starts_with("///") || line.starts_with("#[");
        words(lines[*at]).first().is_some_and(|word| is_name(word))
            && is_documented(lines[at - 1].trim_start())
    })
}

/// The text with these aliases above these lines, and no others there.
fn with_aliases(text: &str, places: &BTreeMap<usize, &[String]>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_alias = |line: &str| line.trim_start().starts_with(ALIASES);
    // Those that stand right above.
    let old: BTreeSet<usize> =
        places.keys().flat_map(|at| (0..*at).rev().take_while(|line| is_alias(lines[*line]))).collect();
    let mut result = String::with_capacity(text.len());
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| !old.contains(at)) {
        let indentation = &line[..line.len() - line.trim_start().len()];
        for attribute in places.get(&at).into_iter().flat_map(|aliases| attributes(aliases)) {
            result.extend([indentation, &attribute, "\n"]);
        }
        result.extend([*line, "\n"]);
    }
    result
}

/// The lines that state aliases.
fn attributes(aliases: &[String]) -> Vec<String> {
    let mut lists: Vec<String> = Vec::new();
    for alias in aliases {
        let quoted = format!("\"{alias}\"");
        match lists.last_mut() {
            Some(list) if ALIASES.len() + list.len() + quoted.len() + 5 <= WIDTH => {
                list.extend([", ", &quoted]);
            }
            _ => lists.push(quoted),
        }
    }
    lists.into_iter().map(|list| format!("{ALIASES}{list}))]")).collect()
}

#[test]
fn words_of_a_cell_are_identifiers() {
    let cell = "`ct.bid`, `@ct.kernel`, `.item()`, `_masked`, `__half`, `round_*`, `tile<E>`, `f(x)`, `p!`, words, `a b`";
    assert_eq!(words(cell).collect::<Vec<_>>(), ["bid", "kernel", "item", "__half", "p"]);
}

#[test]
fn aliases_stand_above_definitions_and_names_in_macros() {
    let text = "/// One.\n#[inline]\npub fn one() {}\nmake! {\n    /// `two`.\n    ///\n    two;\n    three: two;\n}\n";
    let place = |lines| Place { file: "", lines };
    assert_eq!(line(text, "a::one", &place([3, 3])), Some(2));
    assert_eq!(line(text, "a::two", &place([4, 9])), Some(6));
    // It has no documentation of its own, which is where an attribute may stand.
    assert_eq!(line(text, "a::three", &place([4, 9])), None);

    let (first, second) = (vec!["uno".to_owned(), "un".to_owned()], vec!["due".to_owned()]);
    let written = with_aliases(text, &BTreeMap::from([(2, &*first), (6, &*second)]));
    let expected = "/// One.\n#[inline]\n#[doc(alias(\"uno\", \"un\"))]\npub fn one() {}\nmake! {\n    /// `two`.\n    ///\n\
                    \x20   #[doc(alias(\"due\"))]\n    two;\n    three: two;\n}\n";
    assert_eq!(written, expected);
    assert_eq!(line(&written, "a::one", &place([4, 4])), Some(3));
    // They are replaced, and stay if they are right.
    let again = with_aliases(&written, &BTreeMap::from([(3, &*second), (8, &*second)]));
    assert_eq!(again, expected.replace("\"uno\", \"un\"", "\"due\""));
    assert_eq!(with_aliases(&written, &BTreeMap::from([(3, &*first), (8, &*second)])), written);
    assert_eq!(
        with_aliases(&written, &BTreeMap::from([(3, &[][..])])),
        expected.replace("#[doc(alias(\"uno\", \"un\"))]\n", "")
    );
}

#[test]
fn many_aliases_take_several_lines() {
    let aliases: Vec<String> = (0..9).map(|number| format!("a_rather_long_word_{number}")).collect();
    let lines = attributes(&aliases);
    assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with(ALIASES) && line.ends_with("\"))]")));
}
