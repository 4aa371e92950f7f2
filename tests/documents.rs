//! The documents say what is so: code that they quote from files is in those files, and their links lead somewhere.
//!
//! A quotation is a fenced block after a comment with the file's name: `<!-- file: build.rs -->`. All Rust code of the
//! README and of the chapter on tensor cores is quoted from files that are compiled and run; the book's other pages have
//! programs, which run as documentation tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folder of the book's pages.
fn pages_folder() -> PathBuf {
    root().join("docs/book/src")
}

/// The files of a folder with this ending, and of those below it if that is asked for.
fn files(folder: &Path, ending: &str, below: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if below && path.is_dir() { files(&path, ending, below) } else { vec![path] };
    paths.flat_map(of).filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// The pages of the book, by their paths in its folder, with their texts.
fn pages() -> BTreeMap<String, String> {
    let folder = pages_folder();
    let name = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
    let mut pages: BTreeMap<_, _> =
        files(&folder, "md", true).iter().map(|path| (name(path), read(path))).collect();
    pages.remove("SUMMARY.md").expect("the book has a summary");
    pages
}

/// The Markdown files at the root and of the ready-made kernels, and the pages of the book.
fn documents() -> Vec<PathBuf> {
    let mut documents = files(root(), "md", false);
    documents.extend(files(&root().join("kernels"), "md", false));
    documents.extend(files(&pages_folder(), "md", true));
    assert!(documents.len() >= 30, "{documents:?}");
    documents
}

/// The targets of a document's links that are files: neither elsewhere nor within the document. Code has none.
fn links(document: &str) -> impl Iterator<Item = &str> {
    let paragraphs = document.split("\n```").step_by(2).flat_map(|text| text.split("\n\n"));
    let prose = paragraphs.flat_map(|paragraph| paragraph.split('`').step_by(2));
    let targets =
        prose.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|link| !link.is_empty() && !link.contains("://"))
}

/// The quotations of a document: the file's name and the quoted text.
fn quotations(document: &str) -> Vec<(&str, &str)> {
    document
        .split("<!-- file: ")
        .skip(1)
        .map(|part| {
            let (file, rest) = part.split_once(" -->\n```").expect("a fenced block follows the file's name");
            let (_language, rest) = rest.split_once('\n').unwrap();
            (file, rest.split_once("```").expect("the fenced block ends").0)
        })
        .collect()
}

#[test]
fn quoted_code_is_in_its_file() {
    let mut count = 0;
    for document in documents() {
        for (file, quoted) in quotations(&read(&document)) {
            assert!(
                read(&root().join(file)).contains(quoted),
                "{} quotes from {file} what is not there (any more):\n{quoted}",
                document.display()
            );
            count += 1;
        }
    }
    assert!(count >= 4, "only {count} quotations were found");
}

#[test]
fn all_rust_code_of_the_readme_and_of_the_chapter_is_quoted() {
    for name in ["README.md", "docs/book/src/tensor-cores.md"] {
        let text = read(&root().join(name));
        let (all, quoted) = (text.matches("```rust").count(), text.matches(" -->\n```rust").count());
        assert!(all >= 3, "{name} has {all} blocks of Rust code");
        assert_eq!(all, quoted, "{name} has Rust code without a file");
    }
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    for document in documents() {
        for link in links(&read(&document)) {
            let target = document.parent().unwrap().join(link);
            assert!(target.exists(), "{} links to {link}, which is not there", document.display());
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} links were found");
}

/// mdBook makes a link to a page out of every link to Markdown.
#[test]
fn pages_link_to_no_markdown_outside_of_the_book() {
    let folder = fs::canonicalize(pages_folder()).unwrap();
    for (name, text) in pages() {
        for link in links(&text).filter(|link| link.ends_with(".md")) {
            let target = folder.join(&name).parent().unwrap().join(link);
            let outside = fs::canonicalize(&target).is_ok_and(|target| !target.starts_with(&folder));
            assert!(!outside, "{name} links to {link}: name a document that is no page in code font");
        }
    }
}

#[test]
fn the_summary_lists_every_page_once() {
    let summary = read(&pages_folder().join("SUMMARY.md"));
    let mut listed = BTreeSet::new();
    for link in links(&summary) {
        assert!(listed.insert(link.to_owned()), "SUMMARY.md lists {link} twice");
    }
    let written: BTreeSet<String> = pages().into_keys().collect();
    let (missing, forgotten) = (&listed - &written, &written - &listed);
    assert!(missing.is_empty(), "SUMMARY.md lists pages that are not there: {missing:?}");
    assert!(forgotten.is_empty(), "SUMMARY.md does not list these pages: {forgotten:?}");
}

/// Whether a page has a program that documentation tests would run, unlike what it quotes from files.
fn has_programs(page: &str) -> bool {
    page.matches("\n```rust\n").count() > page.matches(" -->\n```rust\n").count()
}

/// Programs run as documentation tests of the pages that `tests/support/lib.rs` lists.
#[test]
fn pages_with_programs_run_and_no_other_ones() {
    let list = read(&root().join("tests/support/lib.rs"));
    let listed: BTreeSet<&str> = list.split('"').filter(|word| word.ends_with(".md")).collect();
    let pages = pages();
    let with_programs: BTreeSet<&str> =
        pages.iter().filter(|(_, text)| has_programs(text)).map(|(name, _)| &**name).collect();
    let (forgotten, without) = (&with_programs - &listed, &listed - &with_programs);
    assert!(
        forgotten.is_empty(),
        "tests/support/lib.rs does not list these pages, which have programs: {forgotten:?}"
    );
    assert!(without.is_empty(), "tests/support/lib.rs lists these pages, which have no program: {without:?}");
    assert!(with_programs.len() >= 20, "only {with_programs:?} have programs");
}

/// Code that nothing runs is code of a file. On a page with programs a quotation has to say so to documentation tests.
#[test]
fn code_that_does_not_run_is_quoted() {
    for (name, text) in pages() {
        for fence in ["\n```rs\n", "\n```rust,ignore\n"] {
            let is_quoted = |(at, _)| text[..at].ends_with(" -->");
            assert!(
                text.match_indices(fence).all(is_quoted),
                "{name} has a block of {fence:?} without a file"
            );
        }
        let runs_quotations = has_programs(&text) && text.contains(" -->\n```rust\n");
        assert!(!runs_quotations, "{name} has programs; its quotations are blocks of `rs`");
    }
}

#[test]
fn every_page_of_the_cookbook_is_in_its_index_and_has_a_program() {
    let mut pages = pages();
    let index = pages.remove("cookbook/README.md").expect("the cook-book has an index");
    let mut count = 0;
    for (name, text) in pages.iter().filter_map(|(name, text)| Some((name.strip_prefix("cookbook/")?, text)))
    {
        let title = text.lines().next().unwrap().strip_prefix("# ").expect("a page begins with its question");
        assert!(index.contains(&format!("[{title}]({name})")), "{name} is not in the cook-book's index");
        assert!(has_programs(text), "{name} has no program that runs");
        count += 1;
    }
    assert!(count >= 16, "only {count} pages were found");
}

/// A call names the parameters that cannot be inferred, and nothing else.
#[test]
fn no_call_of_the_library_has_an_underscore_between_angle_brackets() {
    let mut programs = documents();
    programs.extend(files(&root().join("examples"), "rs", true));
    programs.extend(files(&root().join("kernels/src"), "rs", true));
    let mut calls = 0;
    for path in programs {
        for line in read(&path).lines() {
            for (call, rest) in line.match_indices("::<").map(|(at, found)| line.split_at(at + found.len())) {
                let Some((parameters, _)) = rest.split_once(">(") else { continue };
                let collects = call.ends_with("collect::<");
                let inferred = parameters.split([',', '<', '>']).any(|parameter| parameter.trim() == "_");
                assert!(!inferred || collects, "{}: {line}", path.display());
                calls += 1;
            }
        }
    }
    assert!(calls >= 500, "only {calls} calls were found");
}

/// What kernels are made of is inlined always on the device alone: on the CPU each call would be compiled anew.
#[test]
fn only_functions_for_the_device_are_inlined_always() {
    let folders = ["tiles/src", "kernels/src", "tests/kernels/src", "tests/streams/src"];
    let sources = folders.into_iter().flat_map(|folder| files(&root().join(folder), "rs", true));
    let mut inlined = 0;
    for path in sources {
        let text = read(&path);
        inlined += text.matches("#[inline_on_device]").count();
        let is_for_the_device = path.starts_with(root().join("tiles/src/arch/ptx"));
        assert!(
            is_for_the_device || !text.lines().any(|line| line.trim() == "#[inline(always)]"),
            "{}: `#[inline_on_device]` is meant",
            path.display()
        );
    }
    assert!(inlined >= 1000, "only {inlined} functions were found");
}
