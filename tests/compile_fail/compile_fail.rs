//! Misuse does not compile, and the compiler says why in the words of the library.
//!
//! Each file in `types/` and `constants/` is one misuse, or a few of one kind. Its first lines are the sentences that its user
//! must read; the rest of what rustc says stands in the `.stderr` file of the same name. What the types forbid, `cargo check`
//! finds, in all files at once; assertions on constants fail when code is generated, in one file after the other.
//! To write those anew after a change of the library's texts:
//! `TRYBUILD=overwrite cargo test --test compile_fail`.
//!
//! rustc's own words change from release to release, so that the texts are those of one release; with another one the
//! comparison is skipped.

mod names;

use names::Names;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of rustc whose texts the `.stderr` files hold.
const RELEASE: &str = "1.95.";

/// How many misuses there are.
const MISUSES: usize = 237;

/// The directories of the cases, relative to the package, in which tests run.
const CASES: [&str; 2] = ["types", "constants"];

/// The misuses.
fn cases() -> Vec<PathBuf> {
    let of = |folder| fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    CASES
        .into_iter()
        .flat_map(of)
        .map(|entry| entry.expect("an entry of the directory").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The sentences that the user of a case must read.
fn sentences(case: &Path) -> Vec<String> {
    let text = read(case);
    let sentences: Vec<_> =
        text.lines().map_while(|line| line.strip_prefix("//! ")).map(str::to_owned).collect();
    assert!(!sentences.is_empty(), "{}: the first line is `//! ` and the sentence to expect", case.display());
    sentences
}

/// What rustc prints on its standard output when asked for `question`.
fn rustc(question: &[&str]) -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(rustc).args(question).output().expect("rustc runs");
    String::from_utf8_lossy(&answer.stdout).trim().to_owned()
}

#[test]
fn misuse_does_not_compile() {
    let version = rustc(&["--version"]);
    if !version.starts_with(&format!("rustc {RELEASE}")) {
        eprintln!("skipped: the expected texts are those of rustc {RELEASE}x, this is {version}");
        return;
    }
    // Some texts quote the standard library, if rustc finds its source.
    if !Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src/rust/library").is_dir() {
        eprintln!("skipped: the expected texts want `rustup component add rust-src`");
        return;
    }
    trybuild::TestCases::new().compile_fail("types/*.rs");
    let tests = trybuild::TestCases::new();
    // A case that compiles makes trybuild build instead of check: only then are constant assertions evaluated.
    tests.pass("correct/*.rs");
    tests.compile_fail("constants/*.rs");
}

/// What a line says besides code that it quotes: a line of source says nothing, the marks below one what follows them. The path of
/// a method begins with the modules of its `impl`, as nothing can change.
fn words_of_the_compiler(line: &str) -> Option<String> {
    let is_number = |character: char| character == ' ' || character.is_ascii_digit();
    let line = match line.trim_start_matches(is_number).strip_prefix('|') {
        Some(quoted) => {
            let marks = quoted.trim_start_matches([' ', '|', '_']);
            let is_marked = marks.starts_with('^') || marks.starts_with('-') && !marks.starts_with("->");
            is_marked.then_some(marks)?
        }
        None => line,
    };
    let is_path = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let parts: Vec<&str> = line.split("<impl ").collect();
    let (last, before) = parts.split_last().expect("a line has a part");
    let mut words: String = before.iter().map(|part| part.trim_end_matches(is_path)).collect();
    words.push_str(last);
    Some(words)
}

#[test]
fn messages_are_in_the_words_of_the_library() {
    let cases = cases();
    let names = Names::of_crates(["../../tiles/src/lib.rs", "../../host/src/lib.rs"].map(Path::new));
    assert_eq!(cases.len(), MISUSES, "a misuse is missing, or new: state their number");
    let mut problems = Vec::new();
    for case in &cases {
        let text = read(&case.with_extension("stderr"));
        let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).collect();
        for sentence in sentences(case) {
            if !errors.iter().any(|line| line.contains(&sentence)) {
                problems.push(format!("{}: no error says `{sentence}`: {errors:?}", case.display()));
            }
        }
        let place = format!(" --> {}:", case.display());
        if !text.contains(&place) {
            problems.push(format!("{}: no line of the user's is shown", case.display()));
        }
        // Who gives a trait of the library to a type of their own is told by rustc what seals it, which has no name for users.
        if sentences(case).iter().all(|sentence| sentence.ends_with("its traits are for no others")) {
            continue;
        }
        for line in text.lines().filter_map(words_of_the_compiler) {
            for name in names.unknown_in(&line) {
                problems.push(format!("{}: `{name}` is not for users: {line}", case.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
