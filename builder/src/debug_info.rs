//! Debug information of kernels: which of it is asked for, and which of it PTX has.

use std::fmt;
use std::str::FromStr;

/// The variable by which a user asks for debug information, whatever the build script says.
pub(crate) const VARIABLE: &str = "CUDA_TILES_DEBUG";

/// How much tools learn about the source of kernels, see [`CudaBuilder::debug_info`](crate::CudaBuilder::debug_info).
///
/// Its names in the variable `CUDA_TILES_DEBUG` are `none`, `line` and `full`:
///
/// ```
/// use cuda_tiles_builder::DebugInfo;
///
/// assert_eq!("line".parse(), Ok(DebugInfo::LineTables));
/// assert_eq!(DebugInfo::default(), DebugInfo::None);
/// assert!("lines".parse::<DebugInfo>().unwrap_err().to_string().contains("`none`, `line` or `full`"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DebugInfo {
    /// Nothing. The program is the smallest.
    #[default]
    None,
    /// The file and line that each instruction comes from. The machine code is the same as without: this is for profilers, whose
    /// views of the source need it, and for the places that compute-sanitizer names.
    LineTables,
    /// Variables, types and scopes too, for debuggers. NVIDIA's assemblers optimise nothing then, so that kernels are several times
    /// slower; and all kernels of a crate are compiled at the first launch of one, as their tables cannot be divided.
    Full,
}

impl DebugInfo {
    /// Flags for rustc.
    pub(crate) fn compiler_flags(self) -> &'static [&'static str] {
        match self {
            Self::None => &["-Cdebuginfo=0"],
            Self::LineTables => &["-Cdebuginfo=line-directives-only"],
            // LLVM writes a table of addresses that is not PTX; it asks for none with rustc's own argument turned round.
            Self::Full => &["-Cdebuginfo=2", "-Cllvm-args=-generate-arange-section=false"],
        }
    }

    /// What a module has.
    pub(crate) fn of_module(ptx: &str) -> Self {
        let mut lines = ptx.lines().map(str::trim_start);
        let target = lines.by_ref().find(|line| line.starts_with(".target"));
        if target.is_some_and(|target| target.split(',').skip(1).any(|option| option.trim() == "debug")) {
            Self::Full
        } else if lines.any(|line| is_location(line.as_bytes())) {
            Self::LineTables
        } else {
            Self::None
        }
    }

    /// The flag for `ptxas` by which machine code keeps it.
    pub(crate) fn assembler_flag(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::LineTables => Some("--generate-line-info"),
            Self::Full => Some("--device-debug"),
        }
    }
}

/// Whether a line of PTX, without its indentation, says where in the source the code behind it comes from.
pub(crate) fn is_location(line: &[u8]) -> bool {
    line.strip_prefix(b".loc").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
}

impl fmt::Display for DebugInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::LineTables => "line",
            Self::Full => "full",
        })
    }
}

/// The text is not the name of a [`DebugInfo`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no amount of debug information: it is `none`, `line` or `full`")]
pub struct UnknownDebugInfo {
    name: String,
}

impl FromStr for DebugInfo {
    type Err = UnknownDebugInfo;

    fn from_str(name: &str) -> Result<Self, UnknownDebugInfo> {
        [Self::None, Self::LineTables, Self::Full]
            .into_iter()
            .find(|info| info.to_string() == name)
            .ok_or_else(|| UnknownDebugInfo { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_has_is_read_off_its_text() {
        let module = |target: &str, body: &str| {
            format!(".version 8.0\n.target sm_80{target}\n.entry k() {{\n{body}\n}}\n")
        };
        let of = |target, body| DebugInfo::of_module(&module(target, body));
        assert_eq!(of("", "ret; // .loc 1 2 3"), DebugInfo::None);
        assert_eq!(of("", ".local .b8 depot[4]; ret;"), DebugInfo::None);
        assert_eq!(of("", "\t.loc\t1 8 0\n\tret;"), DebugInfo::LineTables);
        assert_eq!(of(", debug", "\t.loc\t1 8 0\n\tret;"), DebugInfo::Full);
        assert_eq!(of(", texmode_unified", "ret;"), DebugInfo::None);
    }
}
