//! Writes what the launching crate includes: the PTX files and the Rust source that embeds them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{Arch, Error, KernelMetadata};

/// The PTX for one architecture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltImage {
    /// The architecture.
    pub arch: Arch,
    /// The file.
    pub path: PathBuf,
    /// What the kernels state about their launch. Entries without a marker are not among them.
    pub kernels: Vec<KernelMetadata>,
}

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
    images: &[BuiltImage],
    missing: Option<&str>,
) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{name}.rs"));
    write(&path, &source(name, images, missing))?;
    Ok(path)
}

fn source(name: &str, images: &[BuiltImage], missing: Option<&str>) -> String {
    let mut text = format!(
        "/// The kernels of `{name}` as PTX, written by cuda-tiles-builder.\n\
         pub static KERNELS: ::cuda_tiles_host::Artifact = ::cuda_tiles_host::Artifact::new({name:?}, &[\n"
    );
    for &BuiltImage { arch, ref kernels, .. } in images {
        let (major, minor) = arch.compute_capability();
        let _ = writeln!(
            text,
            "    // SAFETY: the PTX was compiled from the kernels' own functions, and has these entries.\n    \
             unsafe {{ ::cuda_tiles_host::Image::new({:?}, ({major}, {minor}), {}, \
             include_str!(concat!(env!(\"OUT_DIR\"), {:?})), &[",
            arch.name(),
            arch.is_exact(),
            format!("/{}", ptx_file(name, arch)),
        );
        for kernel in kernels {
            // An entry that was written by hand has none: no kernel of Rust is it.
            let Some(fingerprint) = kernel.fingerprint else { continue };
            let _ = writeln!(
                text,
                "        ::cuda_tiles_host::Entry {{ path: {:?}, symbol: {:?}, fingerprint: {fingerprint:#018x}, declaration: {:?} }},",
                kernel.name, kernel.entry, kernel.declaration
            );
        }
        text += "    ]) },\n";
    }
    let _ = writeln!(text, "], {missing:?});");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(arch: Arch, kernels: Vec<KernelMetadata>) -> BuiltImage {
        BuiltImage { arch, path: PathBuf::new(), kernels }
    }

    #[test]
    fn the_source_embeds_each_image() {
        let text = source("kernels", &[image(Arch::Sm80, vec![]), image(Arch::Sm90a, vec![])], None);
        assert!(text.contains("pub static KERNELS: ::cuda_tiles_host::Artifact"), "{text}");
        assert!(
            text.contains(
                r#"::cuda_tiles_host::Image::new("sm_90a", (9, 0), true, include_str!(concat!(env!("OUT_DIR"), "/kernels.sm_90a.ptx")), &["#
            ),
            "{text}"
        );
        assert!(text.contains(r#"Image::new("sm_80", (8, 0), false"#), "{text}");
        assert!(text.ends_with("], None);\n"), "{text}");
    }

    #[test]
    fn the_source_lists_the_kernels_of_each_image() {
        let kernel = |fingerprint| KernelMetadata {
            name: "kernels::a::scale".to_owned(),
            entry: "kernels$a$scale".to_owned(),
            fingerprint,
            declaration: "fn scale(x: f32)".to_owned(),
            ..KernelMetadata::default()
        };
        let text = source("kernels", &[image(Arch::Sm80, vec![kernel(Some(0x12)), kernel(None)])], None);
        let entry = r#"::cuda_tiles_host::Entry { path: "kernels::a::scale", symbol: "kernels$a$scale", fingerprint: 0x0000000000000012, declaration: "fn scale(x: f32)" },"#;
        assert!(text.contains(entry), "{text}");
        assert_eq!(text.matches("Entry {").count(), 1);
    }

    #[test]
    fn the_source_without_images_says_why() {
        let text = source("kernels", &[], Some("no `rust-src`; type \"this\""));
        let expected = r#"&[
], Some("no `rust-src`; type \"this\""));"#;
        assert!(text.contains(expected), "{text}");
    }
}
