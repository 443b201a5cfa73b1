//! [`Logs`]: the logs of the processes of a test.

use std::{
    fs::{self, File},
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::support::Agcore;

/// The number of lines of each log that are printed.
const LINES: usize = 20;

/// The logs of processes. Their last lines are printed if the test fails.
pub(super) struct Logs {
    folder: PathBuf,
    count: AtomicUsize,
}

impl Logs {
    pub(super) fn new(agcore: &Agcore) -> Self {
        let folder = agcore.home.path().join("logs");
        fs::create_dir(&folder).unwrap();
        Self {
            folder,
            count: AtomicUsize::new(0),
        }
    }

    /// Creates the log of the next process.
    pub(super) fn create(&self, kind: &str) -> File {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        File::create(self.path(number, kind)).unwrap()
    }

    /// Returns the logs of the processes of a kind.
    pub(super) fn all(&self, kind: &str) -> Vec<String> {
        let files = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        let of_kind = files.filter(|path| path.to_str().is_some_and(|path| path.ends_with(kind)));
        of_kind.map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    fn path(&self, number: usize, kind: &str) -> PathBuf {
        self.folder.join(format!("{number:03}-{kind}"))
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let mut paths: Vec<PathBuf> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let log = fs::read_to_string(&path).unwrap_or_default();
            let skipped = log.lines().count().saturating_sub(LINES);
            let last: Vec<&str> = log.lines().skip(skipped).collect();
            println!("--- {}, after {skipped} lines\n{}", path.display(), last.join("\n"));
        }
    }
}
