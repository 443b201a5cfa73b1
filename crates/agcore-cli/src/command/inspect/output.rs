//! [`Output`]: the destination of results.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use agcore::llm::wire::wire_case::NeutralResult;
use agcore_terminal::render::sanitized_line;

use crate::exit::Failure;

/// A directory with one file for each result, or standard output with one line for each.
#[derive(Debug)]
pub(super) struct Output {
    directory: Option<PathBuf>,
    written: HashSet<String>,
}

impl Output {
    /// Creates the directory if it does not exist.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub(super) fn new(directory: Option<&Path>) -> Result<Self, Failure> {
        if let Some(directory) = directory {
            fs::create_dir_all(directory).map_err(|error| {
                Failure::usage(format!("cannot create the directory {}: {error}", directory.display()))
            })?;
        }
        Ok(Self {
            directory: directory.map(Path::to_owned),
            written: HashSet::new(),
        })
    }

    /// Writes a result. The inner error is specific to this result.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) fn write(&mut self, result: &NeutralResult) -> Result<Result<(), String>, Failure> {
        let Some(directory) = &self.directory else {
            let line = serde_json::to_string(result).map_err(|error| Failure::task(error.to_string()))?;
            return writeln!(io::stdout(), "{line}")
                .map(Ok)
                .map_err(|error| Failure::output(&error));
        };
        let name = file_name(&result.id);
        if !self.written.insert(name.clone()) {
            return Ok(Err(format!(
                "another case with the id `{}` has already been written",
                result.id
            )));
        }
        let path = directory.join(&name);
        let json = serde_json::to_string_pretty(result).map_err(|error| Failure::task(error.to_string()))?;
        let written = fs::write(&path, json + "\n");
        Ok(written.map_err(|error| format!("cannot write {}: {error}", path.display())))
    }

    /// Reports a case that could not be processed, on standard error.
    ///
    /// # Errors
    /// When standard error cannot be written.
    pub(super) fn report(&self, message: &str) -> Result<(), Failure> {
        writeln!(io::stderr(), "{}", sanitized_line(message)).map_err(|error| Failure::output(&error))
    }
}

/// Returns `ID.json`. Characters that file names must not contain are percent-encoded, so the file is in the directory.
fn file_name(id: &str) -> String {
    let mut name = String::new();
    for c in id.chars() {
        if c.is_control() || "/\\:*?\"<>|".contains(c) {
            // All of these are below U+0100, so two hexadecimal digits suffice.
            let _ = write!(name, "%{:02X}", u32::from(c));
        } else {
            name.push(c);
        }
    }
    name + ".json"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_leave_the_directory() {
        let check = |id: &str, expected: &str| assert_eq!(file_name(id), expected);
        check("plain-case_1.2", "plain-case_1.2.json");
        check("../../etc/x", "..%2F..%2Fetc%2Fx.json");
        check("C:\\x\0", "C%3A%5Cx%00.json");
        check("..", "...json");
        check("答", "答.json");
    }
}
