//! `agcore man`: prints a manual page, or writes all of them.

use std::{fs, path::Path};

use agcore_args::Args;
use agcore_settings::places::abbreviated;
use agcore_terminal::render::sanitized_line;

use crate::{exit::Failure, stdout::print};

/// Prints the page of the program, or of a command.
///
/// # Errors
/// When there is no such command, or the output cannot be written.
pub(crate) fn show(command: &[String]) -> Result<(), Failure> {
    match Args::manual(command) {
        Some(page) => print(&page),
        None => Err(Failure::usage(format!(
            "there is no command `{}`; `agcore --help` lists the commands",
            sanitized_line(&command.join(" "))
        ))),
    }
}

/// Writes the pages of the program and of all commands to a directory, which is created if it is missing.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(directory: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::task(format!("cannot write to {}: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(failed)?;
    let pages = Args::manuals();
    for (name, page) in &pages {
        fs::write(directory.join(name), page).map_err(failed)?;
    }
    print(&format!(
        "{} pages are written to {}.\n",
        pages.len(),
        abbreviated(directory)
    ))
}
