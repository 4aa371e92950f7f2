//! The compiler's messages about the kernels, as the compiler prints them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::json::messages;

/// The compiler's messages, in its own words and order.
///
/// They name files by paths that the shell of whoever has started the build can open. What is said of several architectures
/// alike is there once.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// Rendered, each with an end of line, and an empty line behind it.
    messages: Vec<String>,
    has_errors: bool,
}

impl Diagnostics {
    /// Reads what cargo prints as JSON about a compilation in the folder `workspace`.
    pub(crate) fn read(stdout: &[u8], workspace: &Path) -> Self {
        let shell = shell_folder();
        let mut diagnostics = Self::default();
        for message in messages(stdout, "compiler-message") {
            let message = &message["message"];
            let text = |name: &str| message[name].as_str().unwrap_or_default();
            // A failure of the compiler itself is an "error: internal compiler error".
            let is_error = text("level").starts_with("error");
            // A count of errors; and warnings about no line of the source, but about the flags that this crate passes.
            let is_empty = message["spans"].as_array().is_none_or(Vec::is_empty);
            if is_empty && (!is_error || text("message").starts_with("aborting due to")) {
                continue;
            }
            let rendered = message["rendered"].as_str().unwrap_or_else(|| text("message"));
            diagnostics.messages.push(with_paths(rendered, workspace, shell.as_deref()));
            diagnostics.has_errors |= is_error;
        }
        diagnostics
    }

    /// Whether the compiler has refused something.
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }

    pub(crate) fn add_error(&mut self, text: String) {
        self.messages.push(text);
        self.has_errors = true;
    }

    /// Adds what others say that is not said yet.
    pub(crate) fn merge(&mut self, other: Self) {
        self.has_errors |= other.has_errors;
        for message in other.messages {
            if !self.messages.iter().any(|known| says_the_same(known, &message)) {
                self.messages.push(message);
            }
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.iter().try_for_each(|message| f.write_str(message))
    }
}

/// Whether two messages differ at most in the file to which rustc has written a type in full.
fn says_the_same(one: &str, other: &str) -> bool {
    let text =
        |message: &str| message.lines().filter(|line| !line.contains(".long-type-")).collect::<String>();
    text(one) == text(other)
}

/// The folder of the shell in which the build was started. A build script runs in the folder of its package, but with the shell's
/// variables.
fn shell_folder() -> Option<PathBuf> {
    std::env::var_os("PWD").map(PathBuf::from).filter(|folder| folder.is_absolute() && folder.is_dir())
}

/// A message whose files are named from the folder `shell`, where they lie below it, and by whole paths elsewhere, in place of from
/// `workspace`.
fn with_paths(rendered: &str, workspace: &Path, shell: Option<&Path>) -> String {
    let line = |line: &str| {
        let arrow = ["--> ", "::: "].into_iter().find(|arrow| line.trim_start().starts_with(arrow));
        let (arrow, file) = line.split_at(line.find(arrow?)? + 4);
        // Line and column stand behind the path.
        let (path, _) = file.trim_end().rsplit_once(':')?;
        let (path, _) = path.rsplit_once(':')?;
        let whole = workspace.join(path);
        let named = shell.and_then(|shell| whole.strip_prefix(shell).ok()).unwrap_or(&whole);
        whole.is_file().then(|| format!("{arrow}{}{}", named.display(), &file[path.len()..]))
    };
    rendered.split_inclusive('\n').map(|text| line(text).unwrap_or_else(|| text.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_shell() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("kernels/src")).unwrap();
        std::fs::write(root.join("kernels/src/lib.rs"), "").unwrap();
        let text = "error: no\n  --> src/lib.rs:3:9\n   |\n  ::: src/lib.rs:1:1\n note --> src/lib.rs:2:2\n  --> src/gone.rs:1:1\n";
        let named = |shell: Option<&Path>| with_paths(text, &root.join("kernels"), shell);
        let expected = |path: &str| {
            format!(
                "error: no\n  --> {path}:3:9\n   |\n  ::: {path}:1:1\n note --> src/lib.rs:2:2\n  --> src/gone.rs:1:1\n"
            )
        };
        let whole = root.join("kernels/src/lib.rs").display().to_string();
        assert_eq!(named(Some(root)), expected("kernels/src/lib.rs"));
        assert_eq!(named(Some(&root.join("kernels/src"))), expected("lib.rs"));
        assert_eq!(named(Some(&root.join("elsewhere"))), expected(&whole));
        assert_eq!(named(None), expected(&whole));
    }

    #[test]
    fn what_two_architectures_say_alike_is_said_once() {
        let of = |texts: &[&str]| {
            let mut diagnostics = Diagnostics::default();
            texts.iter().for_each(|text| diagnostics.add_error(format!("{text}\n")));
            diagnostics
        };
        let long = |arch| format!("second\n  = note: the full name is in '{arch}/deps/k.long-type-1.txt'");
        let mut all = of(&["first", &long("sm_80")]);
        all.merge(of(&[&long("sm_90a"), "third"]));
        assert_eq!(all.to_string(), format!("first\n{}\nthird\n", long("sm_80")));
    }
}
