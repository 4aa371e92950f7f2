use std::path::Path;

use super::*;

/// What is used in the folders of a crate with these files, by the folders' names.
fn crate_of(files: &[(&str, &str)]) -> Vec<(String, Folder)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let folders = Folder::all(&names::uses(&Sources::read(folder.path()).unwrap())).into_iter();
    folders.map(|(folder, uses)| (in_workspace("it", &folder), uses)).collect()
}

/// All uses between the parts of folders, as "folder: from line path to".
fn uses(files: &[(&str, &str)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (folder, uses) in crate_of(files) {
        for (from, to, found) in uses.edges() {
            lines.extend(found.iter().map(|one| format!("{folder}: {from}:{} {} {to}", one.line, one.path)));
        }
    }
    lines
}

fn problems(files: &[(&str, &str)], floors: &[&Floor]) -> Vec<String> {
    crate_of(files).iter().flat_map(|(folder, uses)| judged("it", folder, uses, floors)).collect()
}

#[test]
fn an_import_counts_for_the_file_that_defines() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\npub use b::Deep;"),
        ("a.rs", "use crate::Deep;\nuse crate::b::{self, Deep as Other};\nfn f() { b::inner::g() }"),
        ("b/mod.rs", "pub mod inner;\npub use inner::Deep;"),
        ("b/inner.rs", "pub struct Deep;\npub fn g() {}"),
    ];
    // Neither `b::{self}` nor a re-export is a use.
    let expected =
        ["it/src: a.rs:1 crate::Deep b", "it/src: a.rs:2 crate::b::Deep b", "it/src: a.rs:3 b::inner::g b"];
    assert_eq!(uses(&files), expected);
}

#[test]
fn a_re_export_is_a_use_where_the_name_is_said() {
    let child = ("a/child.rs", "pub struct Child;");
    let says =
        [("lib.rs", "mod a;"), ("a/mod.rs", "mod child;\npub use child::Child;\nfn f(_: Child) {}"), child];
    assert_eq!(uses(&says), ["it/src/a: mod.rs:2 child::Child child.rs"]);
    let passes = [("lib.rs", "mod a;"), ("a/mod.rs", "mod child;\npub use child::Child;"), child];
    assert_eq!(uses(&passes), [""; 0]);
}

#[test]
fn paths_in_macros_functions_and_globs_count() {
    let files = [
        ("lib.rs", "#[macro_use]\nmod a;\nmod b;\nmod c;"),
        (
            "a.rs",
            "macro_rules! m { () => { $crate::b::one() } }\nfn f() {\n use crate::b::{Two, three::Three};\n}",
        ),
        ("b.rs", "pub fn one() {}\npub struct Two;\npub mod three { pub struct Three; }"),
        ("c.rs", "use crate::b::*;\nmake! { Unknown }\nstruct Mine(Two);"),
    ];
    let expected = [
        "it/src: a.rs:1 crate::b::one b.rs",
        "it/src: a.rs:3 crate::b::Two b.rs",
        "it/src: a.rs:3 crate::b::three::Three b.rs",
        "it/src: c.rs:1 crate::b b.rs",
    ];
    assert_eq!(uses(&files), expected);
}

#[test]
fn exported_macros_are_where_they_stand() {
    let files = [
        ("lib.rs", "mod a;\nmod shape;"),
        ("a.rs", "use crate::shape;\nfn f() { shape!() }\nfn g() -> crate::shape::Shape { crate::shape!() }"),
        (
            "shape/mod.rs",
            "mod inner;\npub use inner::Shape;\n#[macro_export]\nmacro_rules! shape { () => {} }",
        ),
        ("shape/inner.rs", "pub struct Shape;"),
    ];
    // The last path goes on through the module, not through the macro.
    let expected = [
        "it/src: a.rs:1 crate::shape shape",
        "it/src: a.rs:2 shape shape",
        "it/src: a.rs:3 crate::shape::Shape shape",
        "it/src: a.rs:3 crate::shape shape",
    ];
    assert_eq!(uses(&files), expected);
}

#[test]
fn tests_and_documentation_do_not_count() {
    let files = [
        ("lib.rs", "mod a;\nmod b;"),
        (
            "a.rs",
            "//! [`crate::b::B`]\n#[cfg(test)]\nuse crate::b::B;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
        ),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(uses(&files), [""; 0]);
}

#[test]
fn of_modules_for_different_targets_each_means_itself() {
    let files = [
        ("lib.rs", "mod arch;\nmod user;"),
        (
            "arch/mod.rs",
            "#[path = \"cpu/mod.rs\"]\nmod back;\n#[path = \"gpu/mod.rs\"]\nmod back;\npub use back::*;",
        ),
        ("arch/cpu/mod.rs", "pub fn f() {}\npub fn g() { crate::arch::f() }"),
        ("arch/gpu/mod.rs", "pub fn f() {}\npub fn g() { crate::arch::f() }"),
        ("user.rs", "use crate::arch::f;"),
    ];
    // One use of either file, which are one part here.
    assert_eq!(uses(&files), ["it/src: user.rs:1 crate::arch::f arch"; 2]);
}

#[test]
fn a_circle_is_told_by_files_and_lines() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b/mod.rs", "pub struct B;\nfn f() -> crate::c::C {}"),
        ("c.rs", "\nuse super::a::A;\npub struct C;"),
        ("d.rs", "use crate::a::A;"),
    ];
    let expected = "it/src: these use one another in a circle:\n\
                    \x20 a.rs uses b:\n    it/src/a.rs:1: crate::b::B\n\
                    \x20 b uses c.rs:\n    it/src/b/mod.rs:2: crate::c::C\n\
                    \x20 c.rs uses a.rs:\n    it/src/c.rs:2: super::a::A\n";
    assert_eq!(problems(&files, &[]), [expected]);
}

#[test]
fn a_file_and_the_folder_of_its_name_are_one_part() {
    let files = [
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "mod child;\nuse child::Child;\npub struct Parent;"),
        ("a/child.rs", "use super::Parent;\npub struct Child;"),
        ("b.rs", "use crate::a::Parent;"),
    ];
    let problems = problems(&files, &[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("it/src/a: these use"), "{}", problems[0]);
}

#[test]
fn a_floor_allows_its_circle_and_no_other_one() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "use crate::a::A;\npub struct B;"),
        ("c.rs", "use crate::a::A;\npub struct C;"),
    ];
    let floor = Floor { folder: "it/src", parts: &["a.rs", "b.rs"], name: "the floor" };
    assert_eq!(problems(&files, &[&floor]), [""; 0]);

    let mut through_another = files;
    through_another[2].1 = "use crate::a::A;\nuse crate::c::C;\npub struct B;";
    let problems_of_three = problems(&through_another, &[&floor]);
    assert_eq!(problems_of_three.len(), 1, "{problems_of_three:?}");
    assert!(problems_of_three[0].contains("  the floor uses c.rs:\n    it/src/b.rs:2: crate::c::C\n"));

    let mut without = files;
    without[2].1 = "pub struct B;";
    let stale = problems(&without, &[&floor]);
    assert_eq!(stale.len(), 1, "{stale:?}");
    assert!(stale[0].contains("the floor \"the floor\""), "{}", stale[0]);
}

#[test]
fn what_is_no_rust_is_told_by_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lib.rs"), "\n\nstruct;").unwrap();
    let error = Sources::read(folder.path()).err().unwrap().to_string();
    assert!(error.contains("lib.rs: line 3"), "{error}");
    std::fs::write(folder.path().join("lib.rs"), "mod missing;").unwrap();
    let error = Sources::read(Path::new(folder.path())).err().unwrap().to_string();
    assert!(error.contains("missing"), "{error}");
}
