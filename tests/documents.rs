//! The documents say what is so: code that they quote from files is in those files, and their links lead somewhere.
//!
//! A quotation is a fenced block after a comment with the file's name: `<!-- file: build.rs -->`. All Rust code of the
//! README and of the chapter on tensor cores is quoted from files that are compiled and run.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files at the root, in `docs/` and in `docs/cookbook/`.
fn documents() -> Vec<PathBuf> {
    let files: Vec<PathBuf> = [root().to_owned(), root().join("docs"), root().join("docs/cookbook")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    assert!(files.len() >= 5, "{files:?}");
    files
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
    for name in ["README.md", "docs/tensor-cores.md"] {
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
        let text = read(&document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let target = document.parent().unwrap().join(link);
            assert!(target.exists(), "{} links to {link}, which is not there", document.display());
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} links were found");
}

/// The programs of the cook-book run as documentation tests of the pages that `tests/support/lib.rs` lists.
#[test]
fn every_page_of_the_cookbook_is_in_its_index_and_runs() {
    let (index, list) = (read(&root().join("docs/cookbook.md")), read(&root().join("tests/support/lib.rs")));
    let mut count = 0;
    for entry in fs::read_dir(root().join("docs/cookbook")).unwrap() {
        let page = entry.unwrap().path();
        let name = page.file_stem().unwrap().to_str().unwrap();
        let text = read(&page);
        let title = text.lines().next().unwrap().strip_prefix("# ").expect("a page begins with its question");
        assert!(
            index.contains(&format!("[{title}](cookbook/{name}.md)")),
            "{name} is not in docs/cookbook.md"
        );
        assert!(list.split_whitespace().any(|word| word == name), "{name} is not in tests/support/lib.rs");
        assert!(text.contains("\n```rust\n"), "{name} has no program that runs");
        count += 1;
    }
    assert!(count >= 16, "only {count} pages were found");
}
