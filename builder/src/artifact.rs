//! Writes what the launching crate includes: the PTX files and the Rust source that embeds them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{Arch, Error};

/// The name of the PTX file for an architecture.
pub(crate) fn ptx_file(name: &str, arch: Arch) -> String {
    format!("{name}.{arch}.ptx")
}

/// Creates a folder and those above it.
pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|source| Error::File {
        path: path.to_owned(),
        action: "created",
        source,
    })
}

/// Writes a text file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::File {
        path: path.to_owned(),
        action: "written",
        source,
    })
}

/// Writes `<name>.rs` into `folder`: the item that `cuda_tiles_host::include_kernels!` expects there.
pub(crate) fn write_source(
    folder: &Path,
    name: &str,
    archs: &[Arch],
    missing: Option<&str>,
) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{name}.rs"));
    write(&path, &source(name, archs, missing))?;
    Ok(path)
}

fn source(name: &str, archs: &[Arch], missing: Option<&str>) -> String {
    let mut text = format!(
        "/// The kernels of `{name}` as PTX, written by cuda-tiles-builder.\n\
         // SAFETY: the images are compiled from the kernels' own functions.\n\
         pub static KERNELS: ::cuda_tiles_host::Artifact =\n    unsafe {{ ::cuda_tiles_host::Artifact::new({name:?}, &[\n"
    );
    for &arch in archs {
        let (major, minor) = arch.compute_capability();
        let _ = writeln!(
            text,
            "        ::cuda_tiles_host::Image {{ arch: {:?}, major: {major}, minor: {minor}, exact: {}, \
             ptx: include_str!(concat!(env!(\"OUT_DIR\"), {:?})) }},",
            arch.name(),
            arch.is_exact(),
            format!("/{}", ptx_file(name, arch)),
        );
    }
    let _ = writeln!(text, "    ], {missing:?}) }};");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_embeds_each_image() {
        let text = source("kernels", &[Arch::Sm80, Arch::Sm90a], None);
        assert!(text.contains("pub static KERNELS: ::cuda_tiles_host::Artifact"), "{text}");
        assert!(
            text.contains(
                r#"::cuda_tiles_host::Image { arch: "sm_90a", major: 9, minor: 0, exact: true, ptx: include_str!(concat!(env!("OUT_DIR"), "/kernels.sm_90a.ptx")) },"#
            ),
            "{text}"
        );
        assert!(text.contains(r#"arch: "sm_80", major: 8, minor: 0, exact: false"#), "{text}");
        assert!(text.contains("], None) };"), "{text}");
    }

    #[test]
    fn the_source_without_images_says_why() {
        let text = source("kernels", &[], Some("no `rust-src`; type \"this\""));
        assert!(
            text.contains(
                r#"&[
    ], Some("no `rust-src`; type \"this\"")) };"#
            ),
            "{text}"
        );
    }
}
