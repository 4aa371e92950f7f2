//! NVIDIA's assembler, and what it reports about each kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_tiles_builder::Arch;

use super::kernel_name;
use crate::error::{Error, Result};

/// The program `ptxas`.
pub(super) struct Assembler {
    program: PathBuf,
}

/// What the assembler says about a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// What each kernel takes, by its name.
    pub(super) kernels: BTreeMap<String, Resources>,
    /// Errors and warnings. A warning is a kernel that runs slower than written, such as C7515: the tensor cores'
    /// asynchronous operations are serialised.
    pub(super) complaints: Vec<String>,
}

/// What a kernel takes for each thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Resources {
    /// Registers of 32 bits.
    pub(super) registers: u32,
    /// Local memory in bytes: the stack, and registers that did not fit.
    pub(super) local_bytes: u32,
}

impl Assembler {
    pub(super) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Assembles a file of PTX. The machine code is thrown away.
    pub(super) fn assemble(&self, ptx: &Path, arch: Arch) -> Result<Report> {
        let output = Command::new(&self.program)
            .args(["--verbose", "--gpu-name", arch.name(), "--output-file", "/dev/null"])
            .arg(ptx)
            .output()
            .map_err(|source| Error::Start { program: self.program.display().to_string(), source })?;
        let text = String::from_utf8_lossy(&output.stderr);
        let mut report = Report::parse(&text);
        if !output.status.success() && report.complaints.is_empty() {
            report.complaints.push(format!("it failed ({}): {}", output.status, text.trim()));
        }
        Ok(report)
    }
}

impl Report {
    /// Reads what the assembler prints with `--verbose`.
    fn parse(text: &str) -> Self {
        let mut report = Self::default();
        let mut kernel = None;
        for line in text.lines() {
            let line = line.trim();
            if let Some((_, after)) = line.split_once("Compiling entry function '") {
                let name = kernel_name(after.split('\'').next().unwrap_or_default()).to_owned();
                report.kernels.insert(name.clone(), Resources::default());
                kernel = Some(name);
                continue;
            }
            let resources = kernel.as_ref().and_then(|kernel| report.kernels.get_mut(kernel));
            match resources {
                Some(resources) if line.contains("bytes stack frame") => {
                    // The stack frame and, in bytes of instructions, what is spilled: any of them is too much.
                    resources.local_bytes = line.split(',').filter_map(first_number).sum();
                }
                Some(resources) if line.contains("Used ") && line.contains(" registers") => {
                    let after = line.split_once("Used ").map(|(_, after)| after);
                    resources.registers = after.and_then(first_number).unwrap_or_default();
                }
                _ if line.contains("warning") || line.contains("error") || line.contains("fatal") => {
                    report.complaints.push(line.to_owned());
                }
                // Since some version, advice such as C7515 comes as information.
                _ if line.contains("(C75") => report.complaints.push(line.to_owned()),
                _ => {}
            }
        }
        report
    }
}

/// The number that a text begins with.
fn first_number(text: &str) -> Option<u32> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'kernels$elements$vector_add' for 'sm_90a'
ptxas info    : Function properties for vector_add
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 404 bytes cmem[0]
ptxas info    : Compile time = 5.123 ms
ptxas info    : Compiling entry function 'softmax' for 'sm_90a'
ptxas info    : Function properties for softmax
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers
";

    #[test]
    fn resources_are_read_for_each_kernel() {
        let report = Report::parse(REPORT);
        assert_eq!(report.complaints, [""; 0]);
        let expected = [
            ("softmax".to_owned(), Resources { registers: 255, local_bytes: 28 }),
            ("vector_add".to_owned(), Resources { registers: 32, local_bytes: 0 }),
        ];
        assert_eq!(report.kernels, expected.into());
    }

    #[test]
    fn errors_warnings_and_advice_are_complaints() {
        let serialised = "ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are \
                          serialized due to ill formed pipeline stage in the function 'gemm'";
        let failed = "ptxas kernels.ptx, line 12; error   : Unknown modifier '.v3'";
        let report = Report::parse(&format!("{REPORT}{serialised}\n{failed}\n"));
        assert_eq!(report.complaints, [serialised, failed]);
    }
}
