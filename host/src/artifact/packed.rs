//! Reads the files of modules that `cuda_tiles_builder` packs; its `pack.rs` says what is in them.

use std::io::Read;

use lzma_rust2::LzmaReader;

/// What a file begins with.
const MAGIC: &[u8] = b"CTP1";

/// The most memory that decompressing a block may take, in KiB.
const MOST_KIB: u32 = 1 << 18;

/// A file of compressed modules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed(pub(super) &'static [u8]);

/// The file is not as the builder writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damaged(String);

impl std::fmt::Display for Damaged {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn damaged(what: impl ToString) -> Damaged {
    Damaged(what.to_string())
}

impl Packed {
    /// The module of this number; `None` if its place is empty.
    pub(super) fn module(self, number: usize) -> Result<Option<Vec<u8>>, Damaged> {
        let table = self.0.strip_prefix(MAGIC).ok_or_else(|| damaged("it does not begin as such a file"))?;
        let word = |at: usize| -> Result<usize, Damaged> {
            let bytes = at.checked_mul(4).and_then(|at| table.get(at..)?.first_chunk());
            Ok(u32::from_le_bytes(*bytes.ok_or_else(|| damaged("it is cut off"))?) as usize)
        };
        let (blocks, modules) = (word(0)?, word(1)?);
        if number >= modules {
            return Err(damaged(format_args!("it has {modules} modules, and none of the number {number}")));
        }
        let place = |i| word(2 + blocks + 3 * number + i);
        let (block, start, length) = (place(0)?, place(1)?, place(2)?);
        if length == 0 {
            return Ok(None);
        }
        if block >= blocks {
            return Err(damaged("a module lies in no block"));
        }
        let mut from = 4 * (2 + blocks + 3 * modules);
        for earlier in 0..block {
            from = from.saturating_add(word(2 + earlier)?);
        }
        let stream = table.get(from..).and_then(|rest| rest.get(..word(2 + block).ok()?));
        let end = start.checked_add(length).ok_or_else(|| damaged("a module ends nowhere"))?;
        let mut bytes = decompressed(stream.ok_or_else(|| damaged("it is cut off"))?, end)?;
        bytes.drain(..start);
        Ok(Some(bytes))
    }
}

/// The first bytes of a block.
fn decompressed(stream: &[u8], length: usize) -> Result<Vec<u8>, Damaged> {
    let mut reader = LzmaReader::new_mem_limit(stream, MOST_KIB, None).map_err(damaged)?;
    let mut bytes = Vec::new();
    // Never more than there is: the length is only read.
    reader.by_ref().take(length as u64).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() < length { Err(damaged("a module ends behind its block")) } else { Ok(bytes) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lzma_rust2::{LzmaOptions, LzmaWriter};
    use proptest::prelude::*;
    use std::io::Write;

    /// A file with these blocks of modules.
    pub(crate) fn file(blocks: &[&[&str]]) -> Vec<u8> {
        let mut words = vec![blocks.len(), blocks.iter().map(|block| block.len()).sum()];
        let packed: Vec<Vec<u8>> = blocks
            .iter()
            .map(|block| {
                let bytes = block.concat();
                let mut options = LzmaOptions::with_preset(0);
                options.dict_size = 4096;
                let mut writer =
                    LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64)).unwrap();
                writer.write_all(bytes.as_bytes()).unwrap();
                writer.finish().unwrap()
            })
            .collect();
        words.extend(packed.iter().map(Vec::len));
        for (number, block) in blocks.iter().enumerate() {
            let mut start = 0;
            for module in *block {
                words.extend([number, start, module.len()]);
                start += module.len();
            }
        }
        let mut file = MAGIC.to_vec();
        file.extend(words.into_iter().flat_map(|word| (word as u32).to_le_bytes()));
        file.extend(packed.concat());
        file
    }

    fn module(file: &[u8], number: usize) -> Result<Option<Vec<u8>>, Damaged> {
        Packed(Box::leak(file.into())).module(number)
    }

    #[test]
    fn each_module_is_found_in_its_block() {
        let file = file(&[&["one", "", "three"], &["four"]]);
        let text = |number| module(&file, number).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(
            [0, 1, 2, 3].map(text),
            [Some("one"), None, Some("three"), Some("four")].map(|t| t.map(str::to_owned))
        );
        assert_eq!(module(&file, 4).unwrap_err().to_string(), "it has 4 modules, and none of the number 4");
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let whole = file(&[&["a module of some length", "another module"], &["a third one"]]);
        for end in 0..whole.len() {
            assert!(module(&whole[..end], 2).is_err(), "{end}");
        }
        assert!(module(b"another file", 0).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn any_change_is_refused_or_read(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            number in 0_usize..6,
        ) {
            let mut bytes = file(&[&["one module", "another"], &["a third", "and a fourth"]]);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let _ = module(&bytes, number);
        }

        #[test]
        fn any_bytes_are_refused_or_read(mut bytes in prop::collection::vec(any::<u8>(), 0..200), number in 0_usize..6) {
            let _ = module(&bytes, number);
            bytes.splice(..0, MAGIC.iter().copied());
            let _ = module(&bytes, number);
        }
    }
}
