//! Misuse does not compile, and the compiler says why in the words of the library.
//!
//! Each file in `compile_fail` is one misuse, or a few of one kind. Its first lines are the sentences that its user must read;
//! the rest of what rustc says stands in the `.stderr` file of the same name. To write those anew after a change of the library's texts:
//! `TRYBUILD=overwrite cargo test --test compile_fail`.
//!
//! rustc's own words change from release to release, so that the texts are those of one release; with another one the
//! comparison is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of rustc whose texts the `.stderr` files hold.
const RELEASE: &str = "1.95.";

/// Names that nobody who writes kernels has typed or read about.
const INTERNAL_NAMES: [&str; 19] = [
    "UInt<",
    "UTerm",
    "B0",
    "B1",
    "typenum",
    "Const<",
    "ToUInt",
    "PInt",
    "LinearMap",
    "BitMap",
    "PowerOfTwo",
    "Spread",
    "Transport",
    "Conversion",
    "Prepared",
    "Fetch",
    "__kernel_",
    "__instances",
    "Launching",
];

/// The directory of the cases, relative to the package, in which tests run.
const CASES: &str = "tests/compile_fail";

/// The misuses, in the order of their names.
fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(CASES)
        .unwrap_or_else(|error| panic!("{CASES}: {error}"))
        .map(|entry| entry.expect("an entry of the directory").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    cases.sort();
    cases
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
    let tests = trybuild::TestCases::new();
    // A case that compiles makes trybuild build instead of check: only then are constant assertions evaluated.
    tests.pass("tests/compile_fail/correct/*.rs");
    tests.compile_fail("tests/compile_fail/*.rs");
}

#[test]
fn messages_are_in_the_words_of_the_library() {
    let cases = cases();
    assert!(cases.len() >= 24, "only {} cases", cases.len());
    let mut problems = Vec::new();
    for case in &cases {
        let text = read(&case.with_extension("stderr"));
        let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).collect();
        for sentence in sentences(case) {
            if !errors.iter().any(|line| line.contains(&sentence)) {
                problems.push(format!("{}: no error says `{sentence}`: {errors:?}", case.display()));
            }
        }
        for name in INTERNAL_NAMES.iter().filter(|name| text.contains(**name)) {
            problems.push(format!("{}: `{name}` is not for users", case.display()));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
