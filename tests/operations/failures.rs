//! Collects the differences of a test, so that one run shows all of them.

use crate::test_values::Value;
use cuda_tiles_host::Device;
use std::fmt::Debug;

/// Differences that are printed for one row of results.
const PRINTED: usize = 4;

/// The differences found so far. Dropped with any, it fails the test.
pub(crate) struct Failures {
    kernel: String,
    lines: Vec<String>,
}

impl Failures {
    /// For one kernel and element type.
    pub(crate) fn new<T>(kernel: &str) -> Self {
        Self { kernel: format!("{kernel}<{}>", std::any::type_name::<T>()), lines: Vec::new() }
    }

    /// Demands that element `i` of the result is `expected(i)`, to the bit; NaN stands for any NaN.
    pub(crate) fn exact<T: Value>(
        &mut self,
        device: &Device,
        operation: &str,
        got: &[T],
        expected: impl Fn(usize) -> T,
    ) {
        self.verify(device, operation, got, |i, value| {
            let expected = expected(i);
            if value.same(expected) { None } else { Some(format!("{expected:?}")) }
        });
    }

    /// Demands that `wrong(i, value)` finds nothing to expect instead of each element.
    pub(crate) fn verify<T: Copy + Debug>(
        &mut self,
        device: &Device,
        operation: &str,
        got: &[T],
        wrong: impl Fn(usize, T) -> Option<String>,
    ) {
        let mut found = 0;
        for (i, &value) in got.iter().enumerate() {
            if let Some(expected) = wrong(i, value) {
                found += 1;
                if found <= PRINTED {
                    self.add(device, operation, i, &value, &expected);
                }
            }
        }
        if found > PRINTED {
            self.lines.push(format!("  and {} more of {} elements", found - PRINTED, got.len()));
        }
    }

    /// Adds a line. It is the same function for all tests, of which there are instances by the hundred.
    fn add(&mut self, device: &Device, operation: &str, i: usize, value: &dyn Debug, expected: &str) {
        self.lines.push(format!(
            "{} on {}: {operation}, element {i}: got {value:?}, expected {expected}",
            self.kernel,
            if device.is_gpu() { "the GPU" } else { "the CPU" },
        ));
    }
}

impl Drop for Failures {
    fn drop(&mut self) {
        if !self.lines.is_empty() && !std::thread::panicking() {
            panic!("\n{}", self.lines.join("\n"));
        }
    }
}
