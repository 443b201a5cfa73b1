//! [`Output`]: where results go.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use agcore::llm::wire_case::NeutralResult;

use crate::{exit::Failure, render::harmless_line};

/// A folder with a file for each result, or standard output with a line for each.
#[derive(Debug)]
pub(super) struct Output {
    folder: Option<PathBuf>,
    written: HashSet<String>,
}

impl Output {
    /// Makes the folder where there is none.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn new(folder: Option<&Path>) -> Result<Self, Failure> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::usage(format!("the folder {} cannot be made: {error}", folder.display())))?;
        }
        Ok(Self {
            folder: folder.map(Path::to_owned),
            written: HashSet::new(),
        })
    }

    /// Writes a result; or says why it has no place of its own.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) fn write(&mut self, result: &NeutralResult) -> Result<Result<(), String>, Failure> {
        let Some(folder) = &self.folder else {
            let line = serde_json::to_string(result).map_err(|error| Failure::task(error.to_string()))?;
            return writeln!(io::stdout(), "{line}")
                .map(Ok)
                .map_err(|error| Failure::output(&error));
        };
        let name = file_name(&result.id);
        if !self.written.insert(name.clone()) {
            return Ok(Err(format!(
                "another case has the id `{}`, too, and was written before",
                result.id
            )));
        }
        let path = folder.join(&name);
        let json = serde_json::to_string_pretty(result).map_err(|error| Failure::task(error.to_string()))?;
        let done = fs::write(&path, json + "\n");
        Ok(done.map_err(|error| format!("{} cannot be written: {error}", path.display())))
    }

    /// Names a case that could not be written.
    ///
    /// # Errors
    /// When standard error cannot be written.
    pub(super) fn complain(&self, what: &str) -> Result<(), Failure> {
        writeln!(io::stderr(), "{}", harmless_line(what)).map_err(|error| Failure::output(&error))
    }
}

/// `ID.json`, a name within the folder whatever the id: what may not stand in a file's name is written as `%2F`.
fn file_name(id: &str) -> String {
    let mut name = String::new();
    for c in id.chars() {
        if c.is_control() || "/\\:*?\"<>|".contains(c) {
            // Such characters take one byte, apart from a few control characters that take two.
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
    fn an_id_cannot_leave_the_folder() {
        let check = |id: &str, expected: &str| assert_eq!(file_name(id), expected);
        check("plain-case_1.2", "plain-case_1.2.json");
        check("../../etc/x", "..%2F..%2Fetc%2Fx.json");
        check("C:\\x\0", "C%3A%5Cx%00.json");
        check("..", "...json");
        check("答", "答.json");
    }
}
