//! The GPU architectures that PTX can be built for.

use std::fmt;
use std::str::FromStr;

/// A GPU architecture: the target of one PTX image.
///
/// PTX for a plain architecture runs on that compute capability and on every later one. PTX for an architecture
/// that ends in `a` may use instructions of that chip alone (`wgmma` on [`Sm90a`](Arch::Sm90a)), and runs on
/// exactly that compute capability.
///
/// ```
/// use cuda_tiles_builder::Arch;
///
/// assert_eq!(Arch::Sm90a.name(), "sm_90a");
/// assert_eq!("sm_120".parse(), Ok(Arch::Sm120));
/// assert!(Arch::Sm80.runs_on((9, 0)));
/// assert!(!Arch::Sm90a.runs_on((10, 0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Arch {
    /// Ampere, data centre: A100, A30.
    Sm80,
    /// Ampere: A10, A40, GeForce RTX 30.
    Sm86,
    /// Ampere, embedded: Jetson Orin.
    Sm87,
    /// Ada: L4, L40, GeForce RTX 40.
    Sm89,
    /// Hopper, without the instructions that only Hopper has.
    Sm90,
    /// Hopper: H100, H200, with `wgmma` and `setmaxnreg`.
    Sm90a,
    /// Blackwell, data centre: B100, B200.
    Sm100,
    /// Blackwell, data centre, with the instructions of that chip alone.
    Sm100a,
    /// Blackwell Ultra: B300.
    Sm103,
    /// Blackwell Ultra, with the instructions of that chip alone.
    Sm103a,
    /// Blackwell, embedded: Jetson Thor.
    Sm110,
    /// Blackwell: GeForce RTX 50, RTX PRO.
    Sm120,
    /// Blackwell: GeForce RTX 50, RTX PRO, with the instructions of that chip alone.
    Sm120a,
    /// Blackwell: DGX Spark.
    Sm121,
}

impl Arch {
    /// All architectures, oldest first.
    pub const ALL: [Self; 14] = [
        Self::Sm80,
        Self::Sm86,
        Self::Sm87,
        Self::Sm89,
        Self::Sm90,
        Self::Sm90a,
        Self::Sm100,
        Self::Sm100a,
        Self::Sm103,
        Self::Sm103a,
        Self::Sm110,
        Self::Sm120,
        Self::Sm120a,
        Self::Sm121,
    ];

    /// The name that rustc, PTX and `ptxas` use, such as `sm_90a`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm80 => "sm_80",
            Self::Sm86 => "sm_86",
            Self::Sm87 => "sm_87",
            Self::Sm89 => "sm_89",
            Self::Sm90 => "sm_90",
            Self::Sm90a => "sm_90a",
            Self::Sm100 => "sm_100",
            Self::Sm100a => "sm_100a",
            Self::Sm103 => "sm_103",
            Self::Sm103a => "sm_103a",
            Self::Sm110 => "sm_110",
            Self::Sm120 => "sm_120",
            Self::Sm120a => "sm_120a",
            Self::Sm121 => "sm_121",
        }
    }

    /// The compute capability, as (major, minor): (9, 0) for `sm_90` and for `sm_90a`.
    pub const fn compute_capability(self) -> (u32, u32) {
        match self {
            Self::Sm80 => (8, 0),
            Self::Sm86 => (8, 6),
            Self::Sm87 => (8, 7),
            Self::Sm89 => (8, 9),
            Self::Sm90 | Self::Sm90a => (9, 0),
            Self::Sm100 | Self::Sm100a => (10, 0),
            Self::Sm103 | Self::Sm103a => (10, 3),
            Self::Sm110 => (11, 0),
            Self::Sm120 | Self::Sm120a => (12, 0),
            Self::Sm121 => (12, 1),
        }
    }

    /// Whether PTX for this architecture runs on exactly its compute capability, and on no later one.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Sm90a | Self::Sm100a | Self::Sm103a | Self::Sm120a)
    }

    /// Which of the sizes of shared memory that a marker states its code has.
    // As `Image::shared_class` in cuda-tiles-host, and `BUDGET_CLASS` in cuda-tiles.
    pub(crate) const fn shared_class(self) -> usize {
        match self {
            Self::Sm90a | Self::Sm100 | Self::Sm100a => 2,
            Self::Sm80 | Self::Sm87 => 1,
            _ => 0,
        }
    }

    /// Whether PTX for this architecture runs on a device of the given compute capability (major, minor).
    pub fn runs_on(self, device: (u32, u32)) -> bool {
        if self.is_exact() {
            device == self.compute_capability()
        } else {
            device >= self.compute_capability()
        }
    }

    /// The version of the PTX language that an image is written in, as (major, minor).
    ///
    /// It decides which driver can load the image, so it is the lowest one that has the architecture's
    /// instructions, and no lower than 8.0 (driver R525). `sm_89` takes 8.4 (R550): its tensor cores' FP8
    /// multiplication came with that version.
    pub const fn ptx_version(self) -> (u32, u32) {
        match self {
            Self::Sm80 | Self::Sm86 | Self::Sm87 | Self::Sm90 | Self::Sm90a => (8, 0),
            Self::Sm89 => (8, 4),
            Self::Sm100 | Self::Sm100a => (8, 6),
            Self::Sm120 | Self::Sm120a => (8, 7),
            Self::Sm103 | Self::Sm103a | Self::Sm121 => (8, 8),
            Self::Sm110 => (9, 0),
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is not the name of an [`Arch`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a GPU architecture known here; the known ones are {}", known())]
pub struct UnknownArch {
    name: String,
}

fn known() -> String {
    Arch::ALL.map(Arch::name).join(", ")
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(name: &str) -> Result<Self, UnknownArch> {
        Self::ALL
            .into_iter()
            .find(|arch| arch.name() == name)
            .ok_or_else(|| UnknownArch { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_spells_the_compute_capability() {
        for arch in Arch::ALL {
            let (major, minor) = arch.compute_capability();
            let suffix = if arch.is_exact() { "a" } else { "" };
            assert_eq!(arch.name(), format!("sm_{major}{minor}{suffix}"));
            assert_eq!(arch.name().parse(), Ok(arch));
        }
    }

    #[test]
    fn all_is_sorted_and_has_no_duplicate() {
        assert!(Arch::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn plain_ptx_runs_on_later_devices_and_never_on_earlier_ones() {
        assert!(Arch::Sm80.runs_on((8, 0)) && Arch::Sm80.runs_on((12, 0)));
        assert!(!Arch::Sm86.runs_on((8, 0)));
        assert!(Arch::Sm90a.runs_on((9, 0)));
        assert!(!Arch::Sm90a.runs_on((8, 0)) && !Arch::Sm90a.runs_on((12, 0)));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "sm_42".parse::<Arch>().unwrap_err().to_string();
        assert!(error.contains("`sm_42`") && error.contains("sm_80, sm_86"), "{error}");
    }
}
