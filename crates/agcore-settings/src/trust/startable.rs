//! [`Startable`]: checks that what a command runs is what was trusted.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    decision::Trust,
    scripts::{hashes, named_files},
    snapshot::Snapshot,
    store::TrustStore,
};

/// The files of the folder that the commands of hooks and MCP servers run, as they were when the program read the settings.
#[derive(Debug, Clone, Default)]
pub struct Startable(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The canonical path of the folder, or `None` if there is none.
    folder: Option<PathBuf>,
    /// The files that the commands name.
    named: BTreeSet<PathBuf>,
    /// The hashes of all files that may run with them.
    hashes: BTreeMap<PathBuf, Option<String>>,
}

impl Startable {
    /// Reads the files that these commands run.
    pub fn new(folder: Option<&Path>, commands: &[String]) -> Self {
        let Some(folder) = folder else {
            return Self::default();
        };
        let named = commands.iter().flat_map(|line| named_files(folder, line)).collect();
        Self(Arc::new(Known {
            folder: Some(folder.to_owned()),
            hashes: hashes(folder, &named),
            named,
        }))
    }

    /// Returns the files that the commands name, relative to the folder.
    pub fn named(&self) -> &BTreeSet<PathBuf> {
        &self.0.named
    }

    /// Returns whether a command runs files of the folder.
    pub fn runs_files(&self, command: &str) -> bool {
        let folder = self.0.folder.as_ref();
        folder.is_some_and(|folder| !self.files_of(folder, command).is_empty())
    }

    /// Checks a command that is about to run. It may run if its files are as they were at the start, or as they were when the user
    /// trusted the folder again.
    ///
    /// # Errors
    /// Which files have changed, and what to do.
    pub fn check(&self, command: &str) -> Result<(), String> {
        let Some(folder) = &self.0.folder else {
            return Ok(());
        };
        let now = hashes(folder, &self.files_of(folder, command));
        let is_changed = |(path, hash): &(&PathBuf, &Option<String>)| self.0.hashes.get(*path) != Some(*hash);
        let changed: Vec<String> = now
            .iter()
            .filter(is_changed)
            .map(|(path, _)| path.display().to_string())
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        match TrustStore::of_user().trust(&Snapshot::read(folder)) {
            Ok(Trust::Remembered) => Ok(()),
            _ => Err(format!(
                "{} changed since this folder was trusted; check the files, and run `agcore trust` to trust them again",
                changed.join(", ")
            )),
        }
    }

    /// Returns the files that a command names now, and those that it named at the start and that are gone.
    fn files_of(&self, folder: &Path, command: &str) -> BTreeSet<PathBuf> {
        let mut files = named_files(folder, command);
        let is_mentioned = |path: &&PathBuf| {
            path.file_name()
                .is_some_and(|name| command.contains(&*name.to_string_lossy()))
        };
        files.extend(self.0.named.iter().filter(is_mentioned).cloned());
        files
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_command_whose_files_have_changed_does_not_run() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".agcore/hooks")).unwrap();
        fs::create_dir_all(root.join(".agcore/skills/a")).unwrap();
        for file in [".agcore/hooks/check.sh", ".agcore/hooks/lib.sh", "tool.py", "other.py"] {
            fs::write(root.join(file), "1").unwrap();
        }
        let lines = ["sh .agcore/hooks/check.sh".to_owned(), "python3 tool.py".to_owned()];
        let startable = Startable::new(Some(&root), &lines);
        let check = |line: usize, changed: Option<&str>| {
            let found = startable.check(&lines[line]).err();
            assert_eq!(
                found.as_deref().map(|text| text.split(' ').next().unwrap()),
                changed,
                "{found:?}"
            );
        };
        check(0, None);
        check(1, None);
        fs::write(root.join("other.py"), "2").unwrap();
        fs::write(root.join(".agcore/skills/a/SKILL.md"), "2").unwrap();
        check(0, None);
        check(1, None);
        // A script may read another one beside it.
        fs::write(root.join(".agcore/hooks/lib.sh"), "2").unwrap();
        check(0, Some(".agcore/hooks/lib.sh"));
        check(1, None);
        fs::write(root.join("tool.py"), "2").unwrap();
        check(1, Some("tool.py"));
        fs::write(root.join("tool.py"), "1").unwrap();
        check(1, None);
        fs::remove_file(root.join("tool.py")).unwrap();
        check(1, Some("tool.py"));
        assert!(Startable::default().check("tool.py").is_ok());
    }
}
