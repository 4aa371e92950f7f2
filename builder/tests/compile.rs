//! Compiles small kernel crates with the toolchain of this machine. Where there is none, each test says so in a
//! line and passes.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_tiles_builder::ptx::Module;
use cuda_tiles_builder::{Arch, Built, CudaBuilder, DebugInfo, Error};

/// A kernel on rustc's own names, so that these tests test the builder and nothing else.
const KERNEL: &str = r#"
#![no_std]
#![cfg(target_arch = "nvptx64")]

core::arch::global_asm!("//@cuda-tiles entry double maxntid=256 minnctapersm=2 maxnreg=64");

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn double(data: *mut f32, map: [u64; 16], index: usize) {
    let factor = if cfg!(feature = "triple") { 3 } else { 2 } + map[index] * 0;
    unsafe { *data *= factor as f32 }
}
"#;

/// Two kernels of one name as `#[kernel]` makes them.
const TWO: &str = r#"
macro_rules! half {
    ($($module:ident $threads:literal;)*) => { $(
        mod $module {
            const _: () = {
                #[linkage = "external"]
                unsafe extern "ptx-kernel" fn entry(data: *mut f32) {
                    unsafe {
                        core::arch::asm!(
                            concat!("//@cuda-tiles entry ", module_path!(), "::half maxntid=", $threads, " fingerprint={} is fn half()"),
                            const u64::MAX,
                            options(nomem, nostack, preserves_flags)
                        );
                        *data *= 0.5;
                    }
                }
            };
        }
    )* };
}
half! { one 32; größe 64; }
"#;

/// A folder with a kernel crate and a place for the PTX. `core` is compiled once for all tests, and stays.
struct Crate {
    folder: tempfile::TempDir,
}

impl Crate {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifest = "[package]\nname = \"small-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                        [features]\ntriple = []\n\n[workspace]\n";
        std::fs::create_dir_all(folder.path().join("kernels/src")).unwrap();
        std::fs::write(folder.path().join("kernels/Cargo.toml"), manifest).unwrap();
        std::fs::write(folder.path().join("kernels/src/lib.rs"), source).unwrap();
        Self { folder }
    }

    fn builder(&self) -> CudaBuilder {
        CudaBuilder::new(self.folder.path().join("kernels")).out_dir(self.out_dir()).target_dir(target_dir())
    }

    fn out_dir(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn add_to_manifest(&self, text: &str) {
        let manifest = self.folder.path().join("kernels/Cargo.toml");
        let before = std::fs::read_to_string(&manifest).unwrap();
        std::fs::write(&manifest, before + text).unwrap();
    }
}

/// Writes a crate that kernels depend on.
fn write_dependency(folder: &Path, name: &str, source: &str) {
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/lib.rs"), format!("#![no_std]\n{source}")).unwrap();
}

/// The folder of the workspace's own kernels, which has `core` already.
fn target_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("cuda-tiles")
}

/// Whether a build was left without PTX, for lack of a toolchain.
fn is_skipped(built: &Built) -> bool {
    if let Some(missing) = &built.missing {
        println!("skipped: {missing}");
    }
    built.missing.is_some()
}

#[test]
fn a_kernel_becomes_ptx_with_launch_bounds_for_each_architecture() {
    let kernels = Crate::new(KERNEL);
    let folder = kernels.out_dir();
    let built = kernels.builder().arch(Arch::Sm80).arch(Arch::Sm90a).try_build().unwrap();
    if is_skipped(&built) {
        return;
    }
    assert_eq!(built.name, "small_kernels");
    assert_eq!(built.source, folder.join("small_kernels.rs"));
    assert_eq!(built.images.len(), 2);
    for image in &built.images {
        assert_eq!(image.path, folder.join(format!("small_kernels.{}.ptx", image.arch)));
        let text = std::fs::read_to_string(&image.path).unwrap();
        let module = Module::parse(&text).unwrap();
        assert_eq!((module.target(), module.version()), (image.arch.name(), image.arch.ptx_version()));
        let double = module.entry("double").unwrap();
        for directive in [".maxntid", ".minnctapersm", ".maxnreg"] {
            assert!(double.has_directive(directive), "{text}");
        }
        assert!(double.calls().is_empty(), "a panic must be a trap, not a call:\n{text}");
        assert_eq!(image.kernels.len(), 1);
        assert_eq!(image.kernels[0].threads, Some([256, 1, 1]));
    }
    let source = std::fs::read_to_string(&built.source).unwrap();
    assert!(source.contains("/small_kernels.sm_90a.ptx.packed"), "{source}");
}

#[test]
fn each_kernel_becomes_machine_code_where_there_is_an_assembler() {
    let kernels = Crate::new(&format!("{KERNEL}{TWO}"));
    let builder = || kernels.builder().arch(Arch::Sm80);
    let built = match builder().machine_code(true).try_build() {
        Err(error) => {
            assert!(error.to_string().contains("no `ptxas`"), "{error}");
            println!("skipped: {error}");
            return;
        }
        Ok(built) if is_skipped(&built) => return,
        Ok(built) => built,
    };
    assert_eq!(built.images[0].without_machine_code, None);
    let source = std::fs::read_to_string(&built.source).unwrap();
    assert!(
        source.contains(
            "Ok(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/small_kernels.sm_80.cubin.packed\")))"
        ),
        "{source}"
    );
    assert_eq!(
        (0..3).filter(|module| source.contains(&format!("module: {module} }}"))).count(),
        2,
        "{source}"
    );
    let packed = kernels.out_dir().join("small_kernels.sm_80.cubin.packed");
    assert_eq!(std::fs::read(packed).unwrap()[..4], *b"CTP1");

    let without = builder().machine_code(false).try_build().unwrap();
    assert!(without.images[0].without_machine_code.is_some());
    assert!(
        std::fs::read_to_string(&without.source)
            .unwrap()
            .contains("Err(\"`CudaBuilder::machine_code(false)`")
    );
}

#[test]
fn debug_information_is_there_if_it_is_wanted_and_assembles() {
    let kernels = Crate::new(&format!("{KERNEL}{TWO}"));
    for (wanted, modules) in [(DebugInfo::None, 2), (DebugInfo::LineTables, 2), (DebugInfo::Full, 1)] {
        let builder = kernels.builder().arch(Arch::Sm80).debug_info(wanted);
        let built = match builder.clone().machine_code(true).try_build() {
            Err(Error::Assembler { .. }) => builder.try_build().unwrap(),
            built => built.unwrap(),
        };
        if is_skipped(&built) {
            return;
        }
        let text = std::fs::read_to_string(&built.images[0].path).unwrap();
        assert_eq!(text.contains("\t.loc\t"), wanted != DebugInfo::None, "{wanted}");
        assert_eq!(text.contains("kernels/src/lib.rs\""), wanted != DebugInfo::None, "{wanted}");
        assert_eq!(text.contains(".debug_info"), wanted == DebugInfo::Full, "{wanted}");
        let source = std::fs::read_to_string(&built.source).unwrap();
        let count = (0..3).filter(|module| source.contains(&format!("module: {module} }}"))).count();
        assert_eq!(count, modules, "{wanted}: {source}");
        if let Some(reason) = &built.images[0].without_machine_code {
            assert!(reason.contains("without optimisation"), "{wanted}: {reason}");
        }
    }
}

#[test]
fn features_and_the_name_are_passed_on_and_not_mixed_up_by_reuse() {
    let kernels = Crate::new(KERNEL);
    let text = |builder: CudaBuilder| {
        let built = builder.arch(Arch::Sm80).try_build().unwrap();
        (!is_skipped(&built)).then(|| std::fs::read_to_string(&built.images[0].path).unwrap())
    };
    let Some(plain) = text(kernels.builder()) else { return };
    let triple = text(kernels.builder().features(["triple"]).name("tripled")).unwrap();
    assert_ne!(plain, triple);
    assert_eq!(text(kernels.builder()).unwrap(), plain);
    assert!(kernels.out_dir().join("tripled.sm_80.ptx").is_file());
}

#[test]
fn functions_of_dependencies_are_compiled_into_the_module_and_so_are_statics() {
    let kernels = Crate::new(&KERNEL.replace("2 } +", "table::squared(index) as u64 } +"));
    let folder = kernels.folder.path().join("kernels/table");
    kernels.add_to_manifest("[dependencies]\ntable = { path = \"table\" }\n");
    // A function that is not generic; then one that needs a static, of which metadata has no more than the name.
    let function = "#[inline(never)]\npub fn squared(index: usize) -> usize { index * index }";
    let with_static = "static SQUARES: [usize; 64] = { let mut all = [0; 64]; let mut i = 0; while i < 64 { all[i] = i * i; i += 1 } all };\n\
                       #[inline(never)]\npub fn squared(index: usize) -> usize { SQUARES[index] }";
    for source in [function, with_static] {
        write_dependency(&folder, "table", source);
        let built = kernels.builder().arch(Arch::Sm80).try_build().unwrap();
        if is_skipped(&built) {
            return;
        }
        let text = std::fs::read_to_string(&built.images[0].path).unwrap();
        assert!(!text.contains(".extern"), "{text}");
        assert_eq!(text.contains("SQUARES"), source.contains("SQUARES"), "{text}");
        assert!(text.contains("table7squared("), "it is not to be inlined:\n{text}");
    }
}

/// The number of files of such names that the compiler has written, of all crates that these tests have compiled.
fn compiled_files(is_meant: impl Fn(&str) -> bool) -> usize {
    let folder = target_dir().join("sm_80/nvptx64-nvidia-cuda/debug/deps");
    let names = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.filter(|name| is_meant(&name.to_string_lossy())).count()
}

/// Files of codegen units.
fn unit_files() -> usize {
    compiled_files(|name| name.ends_with(".rcgu.s"))
}

#[test]
fn codegen_units_become_one_module_even_if_they_share_a_static() {
    // rustc makes a unit of a module that is not small.
    let module = |name: &str, factor: &str| {
        let statements = (0..2000).map(|n| format!("*data.add({n}) = *data.add({n} + index) * {factor};\n"));
        let body = statements.collect::<String>();
        format!(
            "mod {name} {{\n#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn {name}(data: *mut f32, index: usize) \
             {{ unsafe {{\n{body}}} }}\n}}\n"
        )
    };
    let number = "index as f32";
    let shared = "super::SQUARES[index]";
    for (factor, has_static) in [(number, false), (shared, true)] {
        let squares = "static SQUARES: [f32; 4] = [0.0, 1.0, 4.0, 9.0];\n";
        let kernels =
            Crate::new(&format!("{KERNEL}{squares}{}{}", module("one", factor), module("two", factor)));
        let before = unit_files();
        let built = kernels.builder().arch(Arch::Sm80).try_build().unwrap();
        if is_skipped(&built) {
            return;
        }
        assert!(unit_files() > before, "the crate was not divided: this test shows nothing");
        let text = std::fs::read_to_string(&built.images[0].path).unwrap();
        let module = Module::parse(&text).unwrap();
        let mut entries: Vec<_> = module.entries().iter().map(|entry| entry.name()).collect();
        entries.sort_unstable();
        assert_eq!(entries, ["double", "one", "two"]);
        assert!(entries.iter().all(|&name| module.entry(name).unwrap().body().contains("ret;")));
        assert!(!text.contains(".extern"), "a variable is not defined");
        assert_eq!(text.contains("SQUARES"), has_static);
        // A second call takes what the first one wrote.
        let again = kernels.builder().arch(Arch::Sm80).try_build().unwrap();
        assert_eq!(std::fs::read_to_string(&again.images[0].path).unwrap(), text);
    }
}

#[test]
fn profiles_of_the_kernel_crate_do_not_reach_the_kernels() {
    let kernels = Crate::new(KERNEL);
    let text = || {
        let built = kernels.builder().arch(Arch::Sm80).try_build().unwrap();
        (!is_skipped(&built)).then(|| std::fs::read_to_string(&built.images[0].path).unwrap())
    };
    let Some(before) = text() else { return };
    let profiles = "[profile.dev]\ndebug = true\noverflow-checks = true\n\n\
                    [profile.dev.package.small-kernels]\nopt-level = 0\ndebug-assertions = true\ncodegen-units = 8\n";
    kernels.add_to_manifest(profiles);
    assert_eq!(text().unwrap(), before);
}

#[test]
fn kernel_crates_of_two_workspaces_share_dependencies_whatever_levels_they_state() {
    let dependency = tempfile::tempdir().unwrap();
    write_dependency(
        dependency.path(),
        "shared-table",
        "pub fn squared(index: usize) -> usize { index * index }",
    );
    let compiled = || compiled_files(|name| name.starts_with("libshared_table-"));
    let before = compiled();
    let build = |profile: &str| {
        let kernels = Crate::new(&KERNEL.replace("2 } +", "shared_table::squared(index) as u64 } +"));
        let path = dependency.path().display();
        kernels.add_to_manifest(&format!("{profile}[dependencies]\nshared-table = {{ path = '{path}' }}\n"));
        kernels.builder().arch(Arch::Sm80).try_build().unwrap()
    };
    let level_of = |package: &str| format!("[profile.dev.package.{package}]\nopt-level = 2\n");
    for profile in [String::new(), level_of("shared-table"), level_of("\"*\"")] {
        if is_skipped(&build(&profile)) {
            return;
        }
        assert_eq!(compiled() - before, 1, "{profile}");
    }
    // Cargo refuses a second level beside one for a version: such a package keeps its own, and is compiled again.
    build(&level_of("\"shared-table@0.0.0\""));
    assert_eq!(compiled() - before, 2);
}

#[test]
fn kernels_of_one_name_are_entries_named_after_their_modules() {
    let kernels = Crate::new(&format!("{KERNEL}{TWO}"));
    let built = kernels.builder().arch(Arch::Sm80).try_build().unwrap();
    if is_skipped(&built) {
        return;
    }
    let text = std::fs::read_to_string(&built.images[0].path).unwrap();
    let module = Module::parse(&text).unwrap();
    for (name, threads) in [("one", ".maxntid 32, 1, 1"), ("größe", ".maxntid 64, 1, 1")] {
        let kernel =
            built.images[0].kernels.iter().find(|kernel| kernel.name.ends_with(&format!("{name}::half")));
        let kernel = kernel.unwrap_or_else(|| panic!("no kernel of `{name}` in\n{text}"));
        assert_eq!(kernel.name, format!("small_kernels::{name}::half"));
        assert_eq!(kernel.fingerprint, Some(u64::MAX));
        assert_eq!(module.entry(&kernel.entry).unwrap().directives().trim(), threads, "{text}");
    }
    let source = std::fs::read_to_string(&built.source).unwrap();
    assert!(
        source.contains(r#"symbol: "small_kernels$one$half", fingerprint: 0xffffffffffffffff"#),
        "{source}"
    );
}

/// What a build script of cargo's writes whose kernels do not compile.
#[test]
fn a_build_script_that_fails_shows_rustcs_own_text() {
    let broken = Crate::new(&KERNEL.replace("*data *= factor as f32", "*data *= factro as f32"));
    if is_skipped(&Crate::new(KERNEL).builder().arch(Arch::Sm80).try_build().unwrap()) {
        return;
    }
    let folder = broken.folder.path();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "in_a_process_of_its_own::is_broken", "--ignored", "--nocapture"])
        .envs([("OUT_DIR", &*broken.out_dir()), ("CARGO_MANIFEST_DIR", folder), ("PWD", folder)])
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with(
            "error[E0425]: cannot find value `factro` in this scope\n  --> kernels/src/lib.rs:15:"
        ),
        "{stderr}"
    );
    assert!(folder.join("kernels/src/lib.rs").is_file());
    assert!(stderr.contains("\n15 |     unsafe { *data *= factro as f32 }\n"), "{stderr}");
    assert!(
        stderr.ends_with("\n\nerror: the kernels of `small-kernels` do not compile for sm_80, sm_90a\n"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("error").count(), 2, "two architectures say the same once:\n{stderr}");
    for noise in ["panicked", "unwrap", "backtrace", "CudaBuilder", "aborting"] {
        assert!(!stderr.contains(noise), "{stderr}");
    }
    assert!(!stdout.contains("cargo::"), "cargo shows what a script that fails has printed:\n{stdout}");
}

#[test]
fn a_safe_kernel_that_cuts_too_late_is_an_error() {
    let marks = "unsafe { core::arch::asm!(\"//@cuda-tiles reveals index\"); core::arch::asm!(\"//@cuda-tiles cuts\") };";
    let late = Crate::new(&KERNEL.replace("let factor", &format!("{marks}\n    let factor")));
    match late.builder().arch(Arch::Sm80).try_build() {
        Ok(built) => assert!(is_skipped(&built), "the kernel must be refused"),
        Err(error) => {
            let message = error.to_string();
            assert!(
                message.contains("kernel `double` cuts a writable tensor into tiles after it has read its"),
                "{message}"
            );
        }
    }
}

#[test]
fn a_safe_kernel_that_writes_a_static_is_an_error() {
    let flag = "static FLAG: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);\n\n#[unsafe(no_mangle)]";
    // It is read as well, or the compiler would leave it out.
    let count = "FLAG.fetch_add(1, core::sync::atomic::Ordering::Relaxed) as u64 + map[index] * 0";
    let source = KERNEL.replace("#[unsafe(no_mangle)]", flag).replace("map[index] * 0", count);
    match Crate::new(&source).builder().arch(Arch::Sm80).try_build() {
        Ok(built) => assert!(is_skipped(&built), "the kernel must be refused"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("kernel `double`") && message.contains("FLAG"), "{message}");
        }
    }
    // Its author vouches for one that is an `unsafe fn`.
    let vouched = source.replace("maxntid=256", "maxntid=256 contract=unsafe");
    let built = Crate::new(&vouched).builder().arch(Arch::Sm80).try_build().unwrap();
    assert!(is_skipped(&built) || built.images.len() == 1);
}

#[test]
fn a_marker_without_its_kernel_is_an_error() {
    let stray = Crate::new(&KERNEL.replace("entry double", "entry triple"));
    match stray.builder().arch(Arch::Sm80).try_build() {
        Ok(built) => assert!(is_skipped(&built), "the marker must be refused"),
        Err(error) => {
            assert!(error.to_string().contains("kernel `triple` has a marker but no entry"), "{error}")
        }
    }
}

/// Runs one of the ignored tests below in a process of its own, with these variables set.
fn run_with(test: &str, variables: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[test]
fn settings_of_the_host_build_do_not_reach_the_kernels() {
    run_with(
        "in_a_process_of_its_own::builds",
        &[
            ("RUSTFLAGS", "-Ctarget-cpu=no-such-processor"),
            ("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-cpu=no-such-processor"),
            ("RUSTC_WRAPPER", "/no/such/wrapper"),
            ("RUSTC_WORKSPACE_WRAPPER", "/no/such/wrapper"),
            ("CARGO_BUILD_TARGET", "no-such-target"),
            ("CARGO_TARGET_DIR", "/dev/null/no-such-folder"),
            ("CARGO_PROFILE_RELEASE_LTO", "off"),
            ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
            ("CARGO_INCREMENTAL", "1"),
        ],
    );
}

#[test]
fn a_toolchain_named_and_not_found_is_an_error_that_says_so() {
    run_with("in_a_process_of_its_own::has_no_toolchain", &[("CUDA_TILES_TOOLCHAIN", "/no/such/toolchain")]);
}

#[test]
fn the_gpu_can_be_switched_off() {
    run_with("in_a_process_of_its_own::is_switched_off", &[("CUDA_TILES_TOOLCHAIN", "none")]);
}

#[test]
fn docs_rs_gets_an_artifact_without_ptx() {
    run_with("in_a_process_of_its_own::is_documented", &[("DOCS_RS", "1")]);
}

#[test]
fn ptx_of_an_earlier_build_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n//@cuda-tiles entry ready maxntid=32\n\
                .visible .entry ready()\n{\n\tret;\n}\n";
    std::fs::write(folder.path().join("small_kernels.sm_80.ptx"), text).unwrap();
    run_with(
        "in_a_process_of_its_own::takes_prebuilt_ptx",
        &[("CUDA_TILES_PREBUILT_PTX", folder.path().to_str().unwrap())],
    );
}

#[test]
fn an_unknown_amount_of_debug_information_is_an_error() {
    run_with("in_a_process_of_its_own::asks_for_much", &[("CUDA_TILES_DEBUG", "much")]);
}

/// What [`run_with`] runs: these expect its variables.
mod in_a_process_of_its_own {
    use super::*;

    #[test]
    #[ignore = "run by `settings_of_the_host_build_do_not_reach_the_kernels`"]
    fn builds() {
        let built = Crate::new(KERNEL).builder().arch(Arch::Sm80).try_build().unwrap();
        assert!(is_skipped(&built) || built.images.len() == 1);
    }

    #[test]
    #[ignore = "run by `a_build_script_that_fails_shows_rustcs_own_text`"]
    fn is_broken() {
        CudaBuilder::new("kernels").target_dir(target_dir()).arch(Arch::Sm80).arch(Arch::Sm90a).build();
    }

    #[test]
    #[ignore = "run by `a_toolchain_named_and_not_found_is_an_error_that_says_so`"]
    fn has_no_toolchain() {
        let error = Crate::new(KERNEL).builder().try_build().unwrap_err().to_string();
        assert!(
            error.contains("CUDA_TILES_TOOLCHAIN=/no/such/toolchain: there is no `rustc` in it"),
            "{error}"
        );
    }

    #[test]
    #[ignore = "run by `the_gpu_can_be_switched_off`"]
    fn is_switched_off() {
        let kernels = Crate::new(KERNEL);
        let built = kernels.builder().try_build().unwrap();
        assert!(built.images.is_empty());
        assert!(built.missing.unwrap().contains("type `unset CUDA_TILES_TOOLCHAIN`"));
        assert!(kernels.builder().required(true).try_build().is_err());
    }

    #[test]
    #[ignore = "run by `docs_rs_gets_an_artifact_without_ptx`"]
    fn is_documented() {
        let kernels = Crate::new(KERNEL);
        let copy = kernels.folder.path().join("copy.ptx");
        let built = kernels.builder().required(true).copy_to(&copy).try_build().unwrap();
        assert!(built.images.is_empty());
        assert!(built.missing.unwrap().contains("docs.rs"));
        let copied = std::fs::read_to_string(copy).unwrap();
        assert_eq!(copied, "// There is no PTX:\n// docs.rs compiles nothing for the GPU\n");
        assert!(std::fs::read_to_string(&built.source).unwrap().contains("], Some(\"docs.rs"));
    }

    #[test]
    #[ignore = "run by `an_unknown_amount_of_debug_information_is_an_error`"]
    fn asks_for_much() {
        let error = Crate::new(KERNEL).builder().debug_info(DebugInfo::Full).try_build().unwrap_err();
        assert_eq!(
            error.to_string(),
            "CUDA_TILES_DEBUG: `much` is no amount of debug information: it is `none`, `line` or `full`"
        );
    }

    #[test]
    #[ignore = "run by `ptx_of_an_earlier_build_is_taken_over`"]
    fn takes_prebuilt_ptx() {
        let kernels = Crate::new(KERNEL);
        let copy = kernels.folder.path().join("copy.ptx");
        let built = kernels.builder().arch(Arch::Sm80).copy_to(&copy).try_build().unwrap();
        assert_eq!(built.images[0].kernels[0].name, "ready");
        let text = std::fs::read_to_string(&built.images[0].path).unwrap();
        assert_eq!(std::fs::read_to_string(copy).unwrap(), text);
        assert!(text.contains(".entry ready()\n.maxntid 32, 1, 1\n"), "{text}");

        let error = kernels.builder().arch(Arch::Sm90a).try_build().unwrap_err().to_string();
        assert!(error.contains("small_kernels.sm_90a.ptx"), "{error}");
    }
}
