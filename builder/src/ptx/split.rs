//! Divides a module into modules that stand by themselves, as small as they can be: a program launches few of a crate's kernels, and
//! the driver should compile those alone.
//!
//! Each entry becomes a module, with the functions and variables that it names, directly or through these. Entries that share a
//! variable which one of them may write stay in one module: two modules would have a variable each.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::code::functions;
use super::statics::{is_static, written_statics};
use super::{Module, closing, find_word, leading_space, without_comments};
use crate::debug_info::is_location;
use crate::parallel;

/// A module that stands by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The text of the module.
    pub(crate) text: String,
    /// The entries in it, at least one.
    pub(crate) entries: Vec<String>,
}

/// What stands at the top of a module.
pub(super) struct Item<'a> {
    /// Where it lies in the text.
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    /// What it is called; a declaration may have several names.
    pub(super) names: Vec<&'a str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `.version` and the like, which every module needs.
    Head,
    /// A source file with its number, for modules that have code of it.
    SourceFile(u32),
    Variable,
    Function,
    Entry,
}

/// The module in parts, which together have all its entries, in their order. A module with more than variables, functions and entries,
/// such as tables for debuggers, is one part.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let code = without_comments(text);
    let Some(items) = items(&code) else {
        let entries = Module::parse(text)
            .map(|module| module.entries().iter().map(|entry| entry.name().to_owned()).collect());
        return vec![Part { text: text.to_owned(), entries: entries.unwrap_or_default() }];
    };
    let needs = needs(&code, &items);
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    let shared = shared_variables(&code, &items);
    for (at, _) in items.iter().enumerate().filter(|(_, item)| item.kind == Kind::Entry) {
        let reached = reached(at, &needs);
        let meets =
            |group: &BTreeSet<usize>| shared.iter().any(|at| reached.contains(at) && group.contains(at));
        // One that meets several groups joins them.
        let (mut joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        groups = others;
        match joined.is_empty() {
            true => groups.push(reached),
            false => {
                let mut first = joined.remove(0);
                joined.into_iter().for_each(|other| first.extend(other));
                first.extend(reached);
                groups.push(first);
            }
        }
    }
    let first_entry =
        |group: &BTreeSet<usize>| group.iter().copied().find(|&at| items[at].kind == Kind::Entry);
    groups.sort_by_key(first_entry);
    parallel::map(&groups, |group| part(text, &items, group))
}

fn part(text: &str, items: &[Item<'_>], group: &BTreeSet<usize>) -> Part {
    let mut part = Part { text: String::new(), entries: Vec::new() };
    let sources: BTreeSet<u32> =
        group.iter().flat_map(|&at| source_files(&text[items[at].range.clone()])).collect();
    for (at, item) in items.iter().enumerate() {
        let belongs = match item.kind {
            Kind::Head => true,
            Kind::SourceFile(number) => sources.contains(&number),
            Kind::Variable | Kind::Function | Kind::Entry => group.contains(&at),
        };
        if !belongs {
            continue;
        }
        if item.kind == Kind::Entry {
            part.entries.extend(item.names.iter().map(|&name| name.to_owned()));
        }
        part.text += &bare(&text[item.range.clone()]);
    }
    part
}

/// The numbers of the source files that code says it comes from.
fn source_files(text: &str) -> impl Iterator<Item = u32> {
    let locations = text.lines().map(str::trim_start).filter(|line| is_location(line.as_bytes()));
    locations.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
}

/// The text without lines of comments and without indentation, which are a fifth of it.
fn bare(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A comment that began further up may end in such a line.
    let lines = lines.filter(|line| !line.starts_with("//") || line.contains("*/"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The items of a module without comments; `None` if there are some whose meaning depends on the rest of the module.
pub(super) fn items(code: &str) -> Option<Vec<Item<'_>>> {
    let mut items = Vec::new();
    let mut at = 0;
    loop {
        at += leading_space(&code[at..]);
        if at == code.len() {
            return Some(items);
        }
        let rest = &code[at..];
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        let (length, kind) = match word {
            ".version" | ".target" | ".address_size" => (line_length(rest), Kind::Head),
            ".file" => {
                let number = rest.split_whitespace().nth(1)?.parse().ok()?;
                (line_length(rest), Kind::SourceFile(number))
            }
            ".section" => {
                // Behind line tables the compiler leaves one that is empty. What is in others refers to all of the module.
                let open = rest.find('{')?;
                let end = closing(rest, open, '{', '}')?;
                if !rest[open + 1..end].trim().is_empty() {
                    return None;
                }
                at += end + 1;
                continue;
            }
            _ => statement(rest)?,
        };
        let names = match kind {
            Kind::Head | Kind::SourceFile(_) => Vec::new(),
            Kind::Variable => variable_names(&rest[..length]),
            Kind::Function | Kind::Entry => vec![function_name(&rest[..length], kind)?],
        };
        items.push(Item { range: at..at + length, kind, names });
        at += length;
    }
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length of the declaration or definition that the code begins with, and what it is.
fn statement(code: &str) -> Option<(usize, Kind)> {
    let mut depth = 0_usize;
    let mut kind = None;
    for (index, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => {
                kind = kind.or_else(|| kind_of(&code[..index]));
                if byte == b'{' && depth == 0 && matches!(kind, Some(Kind::Function | Kind::Entry)) {
                    return Some((closing(code, index, '{', '}')? + 1, kind?));
                }
                depth += 1;
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b';' if depth == 0 => return Some((index + 1, kind.or_else(|| kind_of(&code[..index]))?)),
            _ => {}
        }
    }
    None
}

/// What begins like this.
fn kind_of(head: &str) -> Option<Kind> {
    head.split_whitespace().find_map(|word| match word {
        ".entry" => Some(Kind::Entry),
        ".func" => Some(Kind::Function),
        ".global" | ".const" | ".shared" => Some(Kind::Variable),
        _ => None,
    })
}

/// The names that a declaration of variables gives.
fn variable_names(statement: &str) -> Vec<&str> {
    let declared = statement.split('=').next().unwrap_or_default();
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c));
    words(declared).filter(is_name).collect()
}

fn function_name(definition: &str, kind: Kind) -> Option<&str> {
    let word = if kind == Kind::Entry { ".entry" } else { ".func" };
    let after = definition[find_word(definition, word, 0)? + word.len()..].trim_start();
    // What a function returns stands in front of its name.
    let after = match after.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => after,
    };
    let end = after.find(|c: char| c.is_whitespace() || "({;".contains(c))?;
    Some(&after[..end])
}

/// The words of PTX that may be names: of variables, functions, directives and numbers.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || "_$%.".contains(c))).filter(|word| !word.is_empty())
}

/// Which items each item names.
fn needs(code: &str, items: &[Item<'_>]) -> Vec<Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        item.names.iter().for_each(|&name| places.entry(name).or_default().push(at));
    }
    let of = |&(at, item): &(usize, &Item<'_>)| {
        let mut needs = BTreeSet::new();
        if !matches!(item.kind, Kind::Head | Kind::SourceFile(_)) {
            for word in words(&code[item.range.clone()]) {
                // Most words are registers and directives.
                if !word.starts_with(['%', '.'])
                    && let Some(places) = places.get(word)
                {
                    needs.extend(places.iter().copied().filter(|&place| place != at));
                }
            }
        }
        needs.into_iter().collect()
    };
    parallel::map(&items.iter().enumerate().collect::<Vec<_>>(), of)
}

/// An item and all that it needs, directly or through others.
fn reached(from: usize, needs: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut to_visit = vec![from];
    while let Some(at) = to_visit.pop() {
        if reached.insert(at) {
            to_visit.extend(&needs[at]);
        }
    }
    reached
}

/// The variables that one kernel may leave something in for another one.
fn shared_variables(code: &str, items: &[Item<'_>]) -> Vec<usize> {
    let declares_static =
        |item: &Item<'_>| item.kind == Kind::Variable && is_static(&code[item.range.clone()]);
    if !items.iter().any(declares_static) {
        return Vec::new();
    }
    let (functions, between) = functions(code);
    let written = written_statics(&functions, &between);
    let is_written = |item: &Item<'_>| item.names.iter().any(|name| written.contains(name));
    items.iter().enumerate().filter(|(_, item)| is_written(item)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().map(|part| &*part.text).collect()
    }

    #[test]
    fn an_entry_takes_along_what_it_names_and_nothing_else() {
        let text = format!(
            "//\n// Generated\n//\n{HEAD}\n.visible .global .align 8 .u64 cuda_tiles_messages[2];\n\
             .extern .shared .align 16 .b8 dynamic[];\n.global .align 1 .b8 name[4] = {{108, 111, 97, 100}}; // text\n\
             .global .u64 pointer = generic(name);\n.func (.param .b32 r) helper(.param .b32 x) {{ call deeper; ret; }}\n\
             .func deeper() {{ mov.u64 %rd1, pointer; ret; }}\n\
             \t// .globl first\n.visible .entry first(\n\t.param .u64 first_param_0\n)\n.maxntid 64, 1, 1\n{{\n\t// name\n\tcall (r), helper, (x);\n\tret;\n}}\n\
             .visible .entry second()\n{{\n\tld.shared.b32 %r1, [dynamic+4];\n\tmov.u64 %rd1, cuda_tiles_messages;\n\tret;\n}}\n\
             .entry third() {{ ret; }}\n"
        );
        let parts = parts(&text);
        let entries: Vec<_> = parts.iter().map(|part| &part.entries[..]).collect();
        assert_eq!(entries, [["first"], ["second"], ["third"]]);
        let has = |part: &Part| {
            ["cuda_tiles_messages", "dynamic[", "name[4]", "pointer =", ".func (.param", ".func deeper"]
                .map(|declared| part.text.contains(declared))
        };
        assert_eq!(has(&parts[0]), [false, false, true, true, true, true], "{}", parts[0].text);
        assert_eq!(has(&parts[1]), [true, true, false, false, false, false], "{}", parts[1].text);
        assert_eq!(has(&parts[2]), [false; 6], "{}", parts[2].text);
        for part in &parts {
            assert!(part.text.starts_with(HEAD), "{}", part.text);
            let module = Module::parse(&part.text).unwrap();
            assert_eq!(module.entries().len(), 1);
            // The order of declarations stays: PTX has names before their use.
            let whole = Module::parse(&text).unwrap();
            assert_eq!(
                module.entries()[0].body().trim(),
                bare(whole.entry(&part.entries[0]).unwrap().body()).trim()
            );
        }
    }

    #[test]
    fn entries_that_share_a_variable_which_is_written_stay_together() {
        let text = |access: &str| {
            format!(
                "{HEAD}.global .u32 counter;\n.global .u32 table[2] = {{1, 2}};\n\
                 .entry reads() {{ ld.global.u32 %r1, [counter]; ld.global.u32 %r1, [table]; ret; }}\n\
                 .entry alone() {{ ld.global.u32 %r1, [table]; ret; }}\n\
                 .entry writes() {{ {access} ret; }}\n"
            )
        };
        let entries =
            |access| parts(&text(access)).into_iter().map(|part| part.entries.join(" ")).collect::<Vec<_>>();
        assert_eq!(entries("st.global.u32 [counter], 1;"), ["reads writes", "alone"]);
        assert_eq!(entries("atom.global.add.u32 %r1, [counter], 1;"), ["reads writes", "alone"]);
        assert_eq!(
            entries("mov.u64 %rd1, counter; ld.global.u32 %r1, [%rd1];"),
            ["reads", "alone", "writes"]
        );
        assert_eq!(entries("ret;"), ["reads", "alone", "writes"]);
    }

    #[test]
    fn an_entry_joins_the_groups_that_it_meets() {
        let text = format!(
            "{HEAD}.global .u32 a;\n.global .u32 b;\n.entry one() {{ st.global.u32 [a], 1; ret; }}\n\
             .entry other() {{ st.global.u32 [b], 1; ret; }}\n.entry none() {{ ret; }}\n\
             .entry both() {{ st.global.u32 [a], 1; st.global.u32 [b], 1; ret; }}\n"
        );
        let parts = parts(&text);
        assert_eq!(parts.iter().map(|part| part.entries.len()).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(parts[0].entries, ["one", "other", "both"]);
    }

    #[test]
    fn modules_name_the_source_files_of_their_own_code() {
        let text = format!(
            "{HEAD}.entry k() {{\n$L__func_begin0:\n\t.loc\t1 8 0\n\n\tadd.s32 %r1, %r2, 1;\n$L__tmp0:\n\t.loc\t3 9 1\n\tret;\n\n}}\n\
             .entry l() {{\n\t.loc\t12 1 0\n\tret;\n}}\n\
             \t.section\t.debug_macinfo\t{{\t}}\n\t.file\t1 \"/a/lib.rs\"\n\t.file\t3 \"/b {{ c.rs\"\n\t.file\t12 \"/d.rs\"\n"
        );
        let parts = parts(&text);
        assert_eq!(parts.len(), 2);
        let end = "}\n.file\t1 \"/a/lib.rs\"\n.file\t3 \"/b { c.rs\"\n";
        assert!(parts[0].text.ends_with(end), "{}", parts[0].text);
        assert!(parts[0].text.contains("$L__tmp0:\n.loc\t3 9 1\nret;"), "{}", parts[0].text);
        assert!(parts[1].text.ends_with("}\n.file\t12 \"/d.rs\"\n"), "{}", parts[1].text);
        let module = Module::parse(&parts[0].text).unwrap();
        let operations: Vec<_> =
            module.entries()[0].instructions().into_iter().map(|instruction| instruction.operation).collect();
        assert_eq!(operations, ["add.s32", "ret"]);
    }

    #[test]
    fn what_cannot_be_divided_stays_whole() {
        let text = format!(
            "{HEAD}.entry k() {{ ret; }}\n.entry l() {{ ret; }}\n.func f() {{ ret; }}\n.section .debug_info\n{{\n.b32 9\n}}\n"
        );
        let parts = parts(&text);
        assert_eq!(texts(&parts), [&*text]);
        assert_eq!(parts[0].entries, ["k", "l"]);
        let cut = format!("{HEAD}.entry k() {{ ret;");
        assert_eq!(texts(&super::parts(&cut)), [&*cut]);
    }

    #[test]
    fn comments_and_indentation_are_left_out() {
        let text = "\t// begin inline asm\n\tadd.s32 %r1, %r2, 1; // more\n\n/* a\n// b */\n\tret;\n";
        assert_eq!(bare(text), "add.s32 %r1, %r2, 1; // more\n/* a\n// b */\nret;\n");
    }

    #[test]
    fn a_prototype_and_its_function_go_together() {
        let text = format!(
            "{HEAD}.func (.param .b32 r) f(.param .b32 x);\n.extern .func g();\n.func (.param .b32 r) f(.param .b32 x) {{ ret; }}\n\
             .entry k() {{ call f; ret; }}\n.entry l() {{ call g; ret; }}\n"
        );
        let parts = parts(&text);
        assert_eq!(parts[0].text.matches(" f(").count(), 2);
        assert!(!parts[0].text.contains("g()") && parts[1].text.contains(".extern .func g();"));
    }
}
