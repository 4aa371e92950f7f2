//! Packs modules into one file that the program embeds: compressed, and yet one module can be had without the others.
//!
//! Modules resemble each other, so that they are compressed together, in blocks; a block is small enough to be decompressed in some
//! milliseconds. `cuda_tiles_host` reads the file. All numbers are of 32 bits, the least significant byte first:
//!
//! | part | contents |
//! |---|---|
//! | head | the bytes `CTP1`, the number of blocks, the number of modules |
//! | for each block | its length in the file |
//! | for each module | its block, its start and its length in the decompressed block |
//! | the blocks | each a stream of LZMA with its 13 bytes of head, as a file `.lzma` is |
//!
//! A module of length 0 is one that there is none of.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use lzma_rust2::{EncodeMode, LzmaOptions, LzmaWriter};

use crate::hash::name_of;
use crate::{Error, artifact, parallel};

/// What a file begins with.
const MAGIC: &[u8; 4] = b"CTP1";

/// A block holds so much, decompressed, unless one module alone is larger.
const BLOCK_BYTES: usize = 1 << 20;

/// How hard the compressor tries. Build scripts and what they use are compiled without optimisation: more than the greater effort takes
/// ten times as long for a tenth of the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Effort {
    /// For programs that are built often.
    Small,
    /// For programs that are built to stay: twice the time, four fifths of the size.
    Greater,
}

/// What is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Contents {
    /// PTX text.
    Text,
    /// Machine code, in instructions of 16 bytes.
    MachineCode,
}

/// Writes the file with these modules, unless an earlier build has: compression takes most of the time of a build script that runs again.
pub(crate) fn write_packed<M: AsRef<[u8]> + Sync>(
    path: &Path,
    modules: &[M],
    contents: Contents,
    effort: Effort,
) -> Result<(), Error> {
    let failed = |action, path: &Path, source| Error::File { path: path.to_owned(), action, source };
    // What the file is made of, and who makes it.
    let of_modules = parallel::map(modules, |module| name_of(&module.as_ref()));
    let made_of = name_of(&(MAGIC, env!("CARGO_PKG_VERSION"), contents, effort, of_modules));
    let name = path.with_extension("hash");
    if path.is_file() && fs::read_to_string(&name).is_ok_and(|before| before == made_of) {
        return Ok(());
    }
    // A file that a build has written in part has no hash.
    match fs::remove_file(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("removed", &name, error)),
        _ => {}
    }
    let packed = pack(modules, contents, effort).map_err(|error| failed("packed", path, error))?;
    artifact::write(path, packed)?;
    artifact::write(&name, made_of)
}

/// The file with these modules.
fn pack(modules: &[impl AsRef<[u8]>], contents: Contents, effort: Effort) -> io::Result<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let mut places = vec![[0; 3]; modules.len()];
    // Instances of one kernel have about the same length, and resemble each other most.
    let mut order: Vec<usize> = (0..modules.len()).collect();
    order.sort_by_key(|&module| modules[module].as_ref().len());
    for at in order {
        let module = modules[at].as_ref();
        if blocks.last().is_none_or(|block| !block.is_empty() && block.len() + module.len() > BLOCK_BYTES) {
            blocks.push(Vec::new());
        }
        let number = blocks.len() - 1;
        places[at] = [number, blocks[number].len(), module.len()];
        blocks[number].extend(module);
    }
    let packed = parallel::map(&blocks, |block| compressed(block, contents, effort));
    let packed = packed.into_iter().collect::<io::Result<Vec<_>>>()?;

    let mut file = MAGIC.to_vec();
    let lengths = packed.iter().map(Vec::len);
    for number in [packed.len(), modules.len()].into_iter().chain(lengths).chain(places.into_iter().flatten())
    {
        let number = u32::try_from(number).map_err(|_| io::Error::other("it has more than 4 GiB"))?;
        file.extend(number.to_le_bytes());
    }
    file.extend(packed.into_iter().flatten());
    Ok(file)
}

fn compressed(block: &[u8], contents: Contents, effort: Effort) -> io::Result<Vec<u8>> {
    let mut options = LzmaOptions::with_preset(3);
    if effort == Effort::Greater {
        // Looks for cheap encodings, but not for far matches.
        (options.mode, options.nice_len, options.depth_limit) = (EncodeMode::Normal, 32, 4);
    }
    options.dict_size = (block.len() as u32).next_power_of_two().max(4096);
    // How many of an address's last bits say something about the byte there.
    options.pb = match contents {
        Contents::Text => 0,
        Contents::MachineCode => 4,
    };
    if contents == Contents::MachineCode {
        options.lc = 0;
    }
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(block.len() as u64))?;
    writer.write_all(block)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lzma_rust2::LzmaReader;
    use proptest::prelude::*;
    use std::io::Read;

    /// The modules in a file, read as the head of this page says.
    fn unpacked(file: &[u8]) -> Vec<Vec<u8>> {
        assert_eq!(&file[..4], MAGIC);
        let number = |at: usize| u32::from_le_bytes(file[4 + 4 * at..][..4].try_into().unwrap()) as usize;
        let (blocks, modules) = (number(0), number(1));
        let mut start = 4 + 4 * (2 + blocks + 3 * modules);
        let blocks: Vec<Vec<u8>> = (0..blocks)
            .map(|block| {
                let stream = &file[start..start + number(2 + block)];
                start += number(2 + block);
                let mut bytes = Vec::new();
                LzmaReader::new_mem_limit(stream, u32::MAX, None).unwrap().read_to_end(&mut bytes).unwrap();
                bytes
            })
            .collect();
        assert_eq!(start, file.len());
        let place = |module: usize| [0, 1, 2].map(|i| number(2 + blocks.len() + 3 * module + i));
        (0..modules)
            .map(place)
            .map(|[block, start, length]| blocks[block][start..start + length].to_vec())
            .collect()
    }

    #[test]
    fn modules_that_resemble_each_other_take_little_room() {
        let text = include_str!("../../xtask/golden/ptx/softmax_1024.sm_90a.ptx");
        let modules: Vec<_> = (0..200).map(|i| text.replace("softmax", &format!("softmax_{i}"))).collect();
        let file = pack(&modules, Contents::Text, Effort::Small).unwrap();
        let bytes: usize = modules.iter().map(String::len).sum();
        assert!(bytes > 2 * BLOCK_BYTES && file.len() < bytes / 50, "{bytes} bytes became {}", file.len());
        assert!(unpacked(&file).iter().eq(modules.iter().map(String::as_bytes)));
    }

    #[test]
    fn no_module_and_empty_modules_are_packed() {
        assert_eq!(pack(&[""; 0], Contents::Text, Effort::Small).unwrap(), b"CTP1\0\0\0\0\0\0\0\0");
        let modules = [&b""[..], b"code", b""];
        assert_eq!(unpacked(&pack(&modules, Contents::MachineCode, Effort::Greater).unwrap()), modules);
        assert_eq!(unpacked(&pack(&[b""], Contents::Text, Effort::Small).unwrap()), [b""]);
    }

    #[test]
    fn a_file_is_packed_again_when_its_modules_change_or_it_is_not_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernels.sm_80.ptx.packed");
        let write = |modules: &[&str], effort| {
            write_packed(&path, modules, Contents::Text, effort).unwrap();
            fs::read(&path).unwrap()
        };
        let first = write(&["one", "two"], Effort::Small);
        assert_eq!(unpacked(&first), [b"one", b"two"]);
        // Not the contents of the file say whether it is what is wanted.
        fs::write(&path, b"kept").unwrap();
        assert_eq!(write(&["one", "two"], Effort::Small), b"kept");
        assert_eq!(write(&["one", "two"], Effort::Greater)[..4], *MAGIC);
        assert_eq!(unpacked(&write(&["onet", "wo"], Effort::Greater)), [&b"onet"[..], b"wo"]);
        assert_eq!(write(&["one", "two"], Effort::Small), first);
        fs::remove_file(&path).unwrap();
        assert_eq!(write(&["one", "two"], Effort::Small), first);
        fs::write(&path, b"half").unwrap();
        fs::remove_file(path.with_extension("hash")).unwrap();
        assert_eq!(write(&["one", "two"], Effort::Small), first);
    }

    proptest! {
        #![proptest_config(crate::ptx::cases(50))]

        #[test]
        fn what_is_packed_comes_back(
            modules in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
            is_text in any::<bool>(),
        ) {
            let contents = if is_text { Contents::Text } else { Contents::MachineCode };
            for effort in [Effort::Small, Effort::Greater] {
                prop_assert_eq!(&unpacked(&pack(&modules, contents, effort).unwrap()), &modules);
            }
        }
    }
}
