//! Tells the crate how it is optimised itself, for the note about slow launches on the CPU.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rustc-env=CUDA_TILES_OPT_LEVEL={level}");
}
