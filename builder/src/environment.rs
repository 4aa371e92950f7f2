//! What the device compilation must not inherit from the build around it.
//!
//! A build script runs with the settings of the host build: a compiler wrapper such as clippy's, `RUSTFLAGS` for
//! an x86 processor, a profile, a target folder whose lock the outer cargo holds. None of them is meant for the
//! kernels, and the last one would be a dead lock.

use std::process::Command;

/// Variables that are removed by name.
const NAMES: [&str; 12] = [
    "CARGO_ENCODED_RUSTDOCFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "CLIPPY_ARGS",
    "HOST",
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "TARGET",
];

/// Variables that are removed by the beginning of their name.
const PREFIXES: [&str; 11] = [
    "CARGO_BUILD_",
    "CARGO_CFG_",
    "CARGO_FEATURE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "DEP_",
    "RUSTC_WRAPPER",
    "RUSTDOC",
];

/// Whether a variable is a setting of the build around, which the device compilation must not see.
fn belongs_to_the_host_build(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Takes the host build's settings out of the environment that `command` will run in.
pub(crate) fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(belongs_to_the_host_build) {
            command.env_remove(name);
        }
    }
    // An empty wrapper also overrides one set in a `.cargo/config.toml`.
    command.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_host_build_go_and_the_rest_stays() {
        for name in [
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTFLAGS",
            "RUSTDOCFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_TARGET_DIR",
            "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS",
            "CARGO_INCREMENTAL",
        ] {
            assert!(belongs_to_the_host_build(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "CARGO_MAKEFLAGS",
            "CARGO_NET_OFFLINE",
            "CARGO_HTTP_PROXY",
        ] {
            assert!(!belongs_to_the_host_build(name), "{name}");
        }
    }

    #[test]
    fn wrappers_are_switched_off_rather_than_left_to_a_configuration_file() {
        let mut command = Command::new("cargo");
        clean(&mut command);
        let value = |wanted: &str| {
            command
                .get_envs()
                .find(|(name, _)| *name == wanted)
                .and_then(|(_, value)| value.map(|v| v.to_owned()))
        };
        assert_eq!(value("RUSTC_WRAPPER").unwrap(), "");
        assert_eq!(value("RUSTC_WORKSPACE_WRAPPER").unwrap(), "");
    }
}
