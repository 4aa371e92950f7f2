//! NVIDIA's assembler, and what it reports about each kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_tiles_builder::{Arch, find_ptxas};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::wheel::ptxas_in;

/// The program `ptxas`.
#[derive(Clone, Debug)]
pub struct Assembler {
    program: PathBuf,
}

/// What the assembler says about a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// What each kernel takes, by the name of its entry.
    pub kernels: BTreeMap<String, Resources>,
    /// Errors and warnings. A warning is a kernel that runs slower than written, such as C7515: the tensor cores'
    /// asynchronous operations are serialised.
    pub complaints: Vec<String>,
    /// Whether there is no machine code.
    pub has_failed: bool,
}

/// What a kernel takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Registers of a thread, of 32 bits.
    pub registers: u32,
    /// Shared memory that the code declares, in bytes for a block.
    pub shared_bytes: u32,
    /// Arrays in local memory, in bytes for a thread.
    pub stack_bytes: u32,
    /// Stores of registers that did not fit, in bytes of all such instructions.
    pub spill_store_bytes: u32,
    /// Loads of them, in bytes of all such instructions.
    pub spill_load_bytes: u32,
}

impl Resources {
    /// Stack and spills together: 0 of a kernel that has all in registers and in shared memory.
    pub fn local_bytes(&self) -> u32 {
        self.stack_bytes + self.spill_store_bytes + self.spill_load_bytes
    }
}

impl Assembler {
    /// The assembler in that file.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// The assembler of this machine: where builds look for it, or in the folder that [`fetch_ptxas`](crate::fetch_ptxas) has filled.
    ///
    /// # Errors
    /// [`Error::NoAssembler`] if there is none.
    pub fn find(fetched: &Path) -> Result<Self> {
        find_ptxas().or_else(|| ptxas_in(fetched)).map(Self::new).ok_or(Error::NoAssembler)
    }

    /// Assembles a file of PTX. The machine code is thrown away.
    ///
    /// # Errors
    /// If the program does not start. What it refuses is among the [complaints](Assembled::complaints).
    pub fn assemble(&self, ptx: &Path, arch: Arch) -> Result<Assembled> {
        let output = Command::new(&self.program)
            .args(["--verbose", "--gpu-name", arch.name(), "--output-file", "/dev/null"])
            .arg(ptx)
            .output()
            .map_err(|source| Error::Start { program: self.program.display().to_string(), source })?;
        let text = String::from_utf8_lossy(&output.stderr);
        let mut assembled = Assembled::parse(&text);
        assembled.has_failed = !output.status.success();
        if assembled.has_failed && assembled.complaints.is_empty() {
            assembled.complaints.push(format!("it failed ({}): {}", output.status, text.trim()));
        }
        Ok(assembled)
    }

    /// Assembles the kernels of several architectures side by side: for a large module it takes long, on one core.
    ///
    /// # Errors
    /// As [`assemble`](Self::assemble).
    #[allow(clippy::missing_panics_doc, reason = "assembling does not panic")]
    pub fn assemble_all<'a>(
        &self,
        images: impl IntoIterator<Item = (&'a Path, Arch)>,
    ) -> Result<Vec<Assembled>> {
        std::thread::scope(|scope| {
            let assemble = |(ptx, arch)| scope.spawn(move || self.assemble(ptx, arch));
            let running: Vec<_> = images.into_iter().map(assemble).collect();
            running.into_iter().map(|assembling| assembling.join().expect("no thread panics")).collect()
        })
    }
}

impl Assembled {
    /// Reads what the assembler prints with `--verbose`.
    pub fn parse(text: &str) -> Self {
        let mut assembled = Self::default();
        let mut kernel: Option<String> = None;
        // Functions that kernels call have properties too, which come between those of kernels.
        let mut is_of_kernel = true;
        for line in text.lines() {
            let line = line.trim();
            if let Some((_, after)) = line.split_once("Compiling entry function '") {
                let name = after.split('\'').next().unwrap_or_default().to_owned();
                assembled.kernels.insert(name.clone(), Resources::default());
                (kernel, is_of_kernel) = (Some(name), true);
                continue;
            }
            if let Some((_, function)) = line.split_once("Function properties for ") {
                is_of_kernel = kernel.as_deref() == Some(function);
                continue;
            }
            let resources = kernel.as_ref().and_then(|kernel| assembled.kernels.get_mut(kernel));
            match resources {
                Some(resources) if is_of_kernel && line.contains("bytes stack frame") => {
                    resources.stack_bytes = number_before(line, "bytes stack frame");
                    resources.spill_store_bytes = number_before(line, "bytes spill stores");
                    resources.spill_load_bytes = number_before(line, "bytes spill loads");
                }
                Some(resources) if line.contains("Used ") && line.contains(" registers") => {
                    resources.registers = number_before(line, "registers");
                    resources.shared_bytes = number_before(line, "bytes smem");
                }
                _ if ["warning", "error", "fatal"].iter().any(|word| line.contains(word)) => {
                    assembled.complaints.push(line.to_owned());
                }
                // Since some version, advice such as C7515 comes as information.
                _ if line.contains("(C75") => assembled.complaints.push(line.to_owned()),
                _ => {}
            }
        }
        assembled
    }
}

/// The number in front of these words; 0 if they are not there.
fn number_before(line: &str, words: &str) -> u32 {
    let before = line.split_once(words).map(|(before, _)| before);
    let number = before.and_then(|before| before.split_whitespace().next_back()?.parse().ok());
    number.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'kernels$elements$vector_add' for 'sm_90a'
ptxas info    : Function properties for kernels$elements$vector_add
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 404 bytes cmem[0]
ptxas info    : Compile time = 5.123 ms
ptxas info    : Compiling entry function 'softmax' for 'sm_90a'
ptxas info    : Function properties for softmax
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 1024 bytes smem, 380 bytes cmem[0]
ptxas info    : Function properties for helper
    640 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn resources_are_read_for_each_kernel() {
        let assembled = Assembled::parse(PRINTED);
        assert_eq!(assembled.complaints, [""; 0]);
        let softmax = Resources {
            registers: 255,
            shared_bytes: 1024,
            stack_bytes: 16,
            spill_store_bytes: 4,
            spill_load_bytes: 8,
        };
        assert_eq!(softmax.local_bytes(), 28);
        let vector_add = Resources { registers: 32, ..Resources::default() };
        let expected =
            [("softmax".to_owned(), softmax), ("kernels$elements$vector_add".to_owned(), vector_add)];
        assert_eq!(assembled.kernels, expected.into());
    }

    #[test]
    fn errors_warnings_and_advice_are_complaints() {
        let serialised = "ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are \
                          serialized due to ill formed pipeline stage in the function 'gemm'";
        let failed = "ptxas kernels.ptx, line 12; error   : Unknown modifier '.v3'";
        let assembled = Assembled::parse(&format!("{PRINTED}{serialised}\n{failed}\n"));
        assert_eq!(assembled.complaints, [serialised, failed]);
    }
}
