//! The command itself, on a package whose build script leaves PTX, with an assembler that says what the test wants.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

/// Leaves what `cuda-tiles-builder` leaves, for two architectures, of which it embeds the newer.
const BUILD_SCRIPT: &str = r#"
fn main() {
    let folder = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    for arch in ["sm_80", "sm_90a"] {
        let ptx = format!(
            ".version 8.0\n.target {arch}\n.address_size 64\n.visible .entry k$scale()\n.maxntid 256, 1, 1\n{{\n\
             //@cuda-tiles entry k::scale maxntid=256 line=3 fingerprint=7 is fn scale()\nret;\n}}\n"
        );
        std::fs::write(folder.join(format!("k.{arch}.ptx")), ptx).unwrap();
    }
    std::fs::write(folder.join("k.rs"), "include_bytes!(\"/k.sm_90a.ptx.packed\")").unwrap();
}
"#;

/// A package with a build script, and an assembler.
struct Package {
    folder: tempfile::TempDir,
}

impl Package {
    /// The assembler says that the kernel spills so many bytes.
    fn new(build_script: &str, spilled: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "Cargo.toml",
            "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        write("build.rs", build_script);
        std::fs::create_dir(folder.path().join("src")).unwrap();
        write("src/lib.rs", "");
        write(
            "ptxas",
            &format!(
                "#!/bin/sh\ncat >&2 <<'END'\nptxas info    : Compiling entry function 'k$scale' for 'sm_90a'\n\
                 ptxas info    : Function properties for k$scale\n\
                 0 bytes stack frame, {spilled} bytes spill stores, {spilled} bytes spill loads\n\
                 ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem\nEND\n"
            ),
        );
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path().join("ptxas"), executable).unwrap();
        Self { folder }
    }

    fn report(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-cuda-tiles"));
        command.args(["cuda-tiles", "report"]).args(arguments).current_dir(self.folder.path());
        command.env("CUDA_TILES_PTXAS", self.folder.path().join("ptxas"));
        command.env("CARGO_TARGET_DIR", self.folder.path().join("target")).output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_kernels_of_a_build_script_are_reported() {
    let package = Package::new(BUILD_SCRIPT, 0);
    let output = package.report(&["--deny-spills"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let expected = "\
kernel    for     threads  registers    shared  stack  spills  blocks  occupancy  limit
k::scale  sm_90a      256         40  1024 + 0      0   0 / 0       6       75 %  registers
";
    assert_eq!(text(&output.stdout), expected);

    let manifest = package.folder.path().join("Cargo.toml");
    let json = package.report(&["--json", "--arch", "sm_90a", "--manifest-path", manifest.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rows"][0]["kernel"], "k::scale");

    let none = package.report(&["--arch", "sm_120"]);
    assert!(!none.status.success() && text(&none.stderr).contains("there is PTX, and none for sm_120"));
}

#[test]
fn spills_fail_where_they_are_denied() {
    let package = Package::new(BUILD_SCRIPT, 8);
    let [allowed, denied] = [&[][..], &["--deny-spills"]].map(|arguments| package.report(arguments));
    assert!(allowed.status.success() && text(&allowed.stdout).contains("  8 / 8  "));
    assert_eq!(denied.status.code(), Some(1));
    let error = text(&denied.stderr);
    assert!(error.contains("error: 1 of 1 kernels spill registers or have a stack"), "{error}");
}

#[test]
fn a_package_without_kernels_is_told_what_to_do() {
    let output = Package::new("fn main() {}", 0).report(&[]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains("no build script has left PTX") && error.contains("--kernels FOLDER"), "{error}");
}
