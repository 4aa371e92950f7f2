//! `book`: builds the book of `docs/book` with mdBook.

use std::path::PathBuf;
use std::process::Command;

use crate::error::{Error, Result};
use crate::process::{self, Outcome};
use crate::workspace;

/// Builds the book, and says where it is or what to type first.
pub(crate) fn run() -> Result {
    match build()? {
        Outcome::Done => eprintln!("the book: {}", pages().join("index.html").display()),
        Outcome::Skipped(reason) => eprintln!("the book is not built: {reason}"),
    }
    Ok(())
}

/// Builds the book. Whatever mdBook has to say is an error: a page that is not there, HTML that is not closed.
pub(crate) fn build() -> Result<Outcome> {
    if !is_installed() {
        let fix = "mdBook is not installed: type `cargo xtask setup --nightly`";
        return Ok(Outcome::Skipped(fix.to_owned()));
    }
    let book = workspace::root().join("docs/book");
    let mut command = Command::new("mdbook");
    command.arg("build").arg(&book).arg("--dest-dir").arg(pages()).env("MDBOOK_LOG", "warn");
    let messages = process::messages(&mut command)?;
    if messages.is_empty() {
        return Ok(Outcome::Done);
    }
    Err(Error::Content { path: book, reason: "mdBook warns, as printed above".to_owned() })
}

/// Whether there is an mdBook.
pub(crate) fn is_installed() -> bool {
    process::succeeds(Command::new("mdbook").arg("--version"))
}

/// The folder of the built pages, as deep as that of their sources, so that links to the repository's files work in both.
fn pages() -> PathBuf {
    workspace::target().join("book/html")
}
