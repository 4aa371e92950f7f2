//! Writes what the launching crate includes: the PTX files and the Rust source that embeds them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{Arch, Error, KernelMetadata};

/// The code for one architecture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltImage {
    /// The architecture.
    pub arch: Arch,
    /// The file with the PTX of all kernels. The program embeds it divided and compressed.
    pub path: PathBuf,
    /// Why there is no machine code, if there is none.
    pub without_machine_code: Option<String>,
    /// For each of `kernels`, the number of the module that it is in, in the embedded files.
    pub(crate) modules: Vec<usize>,
    /// What the kernels state about their launch. Entries without a marker are not among them.
    pub kernels: Vec<KernelMetadata>,
}

/// The name of the PTX file for an architecture.
pub(crate) fn ptx_file(name: &str, arch: Arch) -> String {
    format!("{name}.{arch}.ptx")
}

/// The name of the file that embeds the PTX.
pub(crate) fn packed_ptx_file(name: &str, arch: Arch) -> String {
    format!("{name}.{arch}.ptx.packed")
}

/// The name of the file that embeds the machine code.
pub(crate) fn packed_machine_code_file(name: &str, arch: Arch) -> String {
    format!("{name}.{arch}.cubin.packed")
}

/// Creates a folder and those above it.
pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|source| Error::File {
        path: path.to_owned(),
        action: "created",
        source,
    })
}

/// Writes a file.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    std::fs::write(path, contents).map_err(|source| Error::File {
        path: path.to_owned(),
        action: "written",
        source,
    })
}

/// Writes the PTX of an image to another file, or why there is none.
pub(crate) fn write_copy(file: &Path, image: Option<&BuiltImage>, missing: &str) -> Result<(), Error> {
    let Some(image) = image else {
        let reason: String = missing.lines().flat_map(|line| ["// ", line, "\n"]).collect();
        return write(file, format!("// There is no PTX:\n{reason}"));
    };
    let copied = std::fs::copy(&image.path, file);
    copied.map(drop).map_err(|source| Error::File { path: file.to_owned(), action: "written", source })
}

/// Writes `<name>.rs` into `folder`: the item that `cuda_tiles_host::include_kernels!` expects there.
pub(crate) fn write_source(
    folder: &Path,
    name: &str,
    images: &[BuiltImage],
    missing: Option<&str>,
) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{name}.rs"));
    write(&path, source(name, images, missing))?;
    Ok(path)
}

fn source(name: &str, images: &[BuiltImage], missing: Option<&str>) -> String {
    let mut text = format!(
        "/// The kernels of `{name}`, written by cuda-tiles-builder.\n\
         pub static KERNELS: ::cuda_tiles_host::Artifact = ::cuda_tiles_host::Artifact::new({name:?}, &[\n"
    );
    for &BuiltImage { arch, ref kernels, ref modules, ref without_machine_code, .. } in images {
        let (major, minor) = arch.compute_capability();
        let embedded =
            |file: String| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), {:?}))", format!("/{file}"));
        let machine_code = match without_machine_code {
            None => format!("Ok({})", embedded(packed_machine_code_file(name, arch))),
            Some(reason) => format!("Err({reason:?})"),
        };
        let _ = writeln!(
            text,
            "    // SAFETY: the code was compiled from the kernels' own functions, and its modules have these entries.\n    \
             unsafe {{ ::cuda_tiles_host::Image::packed({:?}, ({major}, {minor}), {}, {}, {machine_code}, &[",
            arch.name(),
            arch.is_exact(),
            embedded(packed_ptx_file(name, arch)),
        );
        for (kernel, module) in kernels.iter().zip(modules) {
            // An entry that was written by hand has none: no kernel of Rust is it.
            let Some(fingerprint) = kernel.fingerprint else { continue };
            let _ = writeln!(
                text,
                "        ::cuda_tiles_host::Entry {{ path: {:?}, symbol: {:?}, fingerprint: {fingerprint:#018x}, declaration: {:?}, \
                 module: {module} }},",
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
        let modules = (0..kernels.len()).collect();
        BuiltImage {
            arch,
            path: PathBuf::new(),
            kernels,
            modules,
            without_machine_code: Some("no \"ptxas\"".to_owned()),
        }
    }

    #[test]
    fn the_source_embeds_each_image() {
        let text = source("kernels", &[image(Arch::Sm80, vec![]), image(Arch::Sm90a, vec![])], None);
        assert!(text.contains("pub static KERNELS: ::cuda_tiles_host::Artifact"), "{text}");
        assert!(
            text.contains(
                r#"::cuda_tiles_host::Image::packed("sm_90a", (9, 0), true, include_bytes!(concat!(env!("OUT_DIR"), "/kernels.sm_90a.ptx.packed")), Err("no \"ptxas\""), &["#
            ),
            "{text}"
        );
        assert!(text.contains(r#"Image::packed("sm_80", (8, 0), false"#), "{text}");
        assert!(text.ends_with("], None);\n"), "{text}");
    }

    #[test]
    fn the_source_embeds_machine_code_where_there_is_some() {
        let with = BuiltImage { without_machine_code: None, ..image(Arch::Sm80, vec![]) };
        let text = source("kernels", &[with], None);
        let embedded = r#"Ok(include_bytes!(concat!(env!("OUT_DIR"), "/kernels.sm_80.cubin.packed"))), &["#;
        assert!(text.contains(embedded), "{text}");
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
        let entry = r#"::cuda_tiles_host::Entry { path: "kernels::a::scale", symbol: "kernels$a$scale", fingerprint: 0x0000000000000012, declaration: "fn scale(x: f32)", module: 0 },"#;
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
