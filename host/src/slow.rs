//! The note about kernels that are slow on the CPU because nothing is optimised.
//!
//! Tile code is generic and consists of small functions: without optimisation it takes 20 to 150 times as long. A library
//! cannot set the profile that it is built with, and the language does not tell it of the profile of the crate that has
//! the kernels. It does know its own, which by default is the same; and it knows when a launch has taken long. Only where
//! both speak for it is the note written, once a process.

use std::io::Write as _;
use std::sync::Once;
use std::time::{Duration, Instant};

/// The variable that switches notes off.
const VARIABLE: &str = "CUDA_TILES_NOTES";

/// A launch that takes at least so long is worth a note.
const LONG: Duration = Duration::from_secs(1);

/// Whether this crate is built without optimisation.
const UNOPTIMISED: bool = matches!(env!("CUDA_TILES_OPT_LEVEL").as_bytes(), b"0");

/// Runs a launch on the CPU, and writes the note if it is due.
pub(crate) fn watch<R>(kernel: &str, launch: impl FnOnce() -> R) -> R {
    if !UNOPTIMISED {
        return launch();
    }
    let start = Instant::now();
    let result = launch();
    if is_due(start.elapsed(), std::env::var(VARIABLE).ok().as_deref()) {
        static NOTE: Once = Once::new();
        NOTE.call_once(|| {
            // Who has closed the standard error does without.
            let _ = writeln!(std::io::stderr(), "{}", note(kernel, start.elapsed()));
        });
    }
    result
}

/// Whether a launch that took so long is worth the note, with this value of the variable.
fn is_due(time: Duration, setting: Option<&str>) -> bool {
    time >= LONG && setting != Some("off")
}

fn note(kernel: &str, time: Duration) -> String {
    format!(
        "note: kernel `{kernel}` took {:.1} s on the CPU, in a build without optimisation, in which kernels are 20 to 150 \
         times slower. In the workspace's Cargo.toml this helps tests and debug builds, with the name of the crate that has \
         the kernels as well:\n\n    [profile.dev.package.cuda-tiles]\n    opt-level = 2\n\n    \
         [profile.dev.package.cuda-tiles-host]\n    opt-level = 2\n\n{VARIABLE}=off switches this note off",
        time.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_launches_are_worth_a_note_unless_it_is_switched_off() {
        assert!(!is_due(LONG / 2, None));
        assert!(is_due(LONG, None) && is_due(LONG, Some("")) && is_due(LONG, Some("on")));
        assert!(!is_due(LONG, Some("off")));
    }

    #[test]
    fn the_note_says_what_was_slow_and_what_to_do() {
        let note = note("softmax", Duration::from_millis(3240));
        assert!(note.starts_with("note: kernel `softmax` took 3.2 s on the CPU"), "{note}");
        assert!(note.contains("[profile.dev.package.cuda-tiles]\n    opt-level = 2\n"), "{note}");
        assert!(note.ends_with("CUDA_TILES_NOTES=off switches this note off"), "{note}");
    }

    #[test]
    fn the_launch_runs_once_and_its_result_comes_back() {
        let mut runs = 0;
        assert_eq!(
            watch("count", || {
                runs += 1;
                runs
            }),
            1
        );
    }
}
