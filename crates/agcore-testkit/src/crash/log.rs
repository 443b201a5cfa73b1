//! [`Log`]: what the processes of a trial did.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::PathBuf,
};

/// A file in which the processes of a trial, and the test, write what they did. Clones write to the same file.
#[derive(Debug, Clone)]
pub struct Log(PathBuf);

impl Log {
    pub(super) fn new(file: PathBuf) -> Self {
        Self(file)
    }

    /// Adds a line. It survives the death of the process.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn add(&self, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.expect("the log can be written");
    }

    /// Returns all lines. There are none before the first.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn text(&self) -> String {
        match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.expect("the log can be read"),
        }
    }

    /// Returns whether a line was added.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn has(&self, line: &str) -> bool {
        self.text().lines().any(|known| known == line)
    }
}
