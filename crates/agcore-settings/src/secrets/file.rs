//! [`SecretFile`]: secrets, or only their names, in a file that only its owner can read.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{error::SecretError, place::Place};
use crate::{atomic_file, file_lock::FileLock};

/// The version of the file. A program with a lower one must not change it.
const VERSION: u32 = 1;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The secrets of a user by name.
pub(super) type Entries = BTreeMap<String, Entry>;

/// One secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// It is in the keyring.
    Keyring,
    /// It is here.
    Value(String),
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    #[serde(default)]
    secrets: Entries,
}

/// The part of every version.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The file with the secrets of a user.
#[derive(Debug, Clone)]
pub(super) struct SecretFile {
    /// `None` if there is no directory for the state: nothing is kept then.
    path: Option<PathBuf>,
}

impl SecretFile {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path }
    }

    /// Returns the file as a place of secrets.
    pub(super) fn place(&self) -> Place {
        Place::File(self.path.clone().unwrap_or_default())
    }

    /// Returns all entries, or none if the file does not exist.
    ///
    /// # Errors
    /// When the file cannot be read, others can read it, or it is damaged.
    pub(super) fn read(&self) -> Result<Entries, SecretError> {
        let Some(path) = &self.path else {
            return Ok(Entries::new());
        };
        let text = match read_private(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entries::new()),
            Err(error) => return Err(failed(path, "read", &error.to_string())),
        };
        let parsed = serde_json::from_str::<Version>(&text).and_then(|Version { version }| match version {
            VERSION => serde_json::from_str::<Document>(&text).map(Some),
            _ => Ok(None),
        });
        match parsed {
            Ok(Some(document)) => Ok(document.secrets),
            Ok(None) => Err(failed(path, "read", "it is of another version; update agcore")),
            // The reason could quote a secret.
            Err(_) => Err(failed(path, "read", "it is damaged; repair or delete it")),
        }
    }

    /// Changes the entries and writes the file, which is replaced as a whole.
    ///
    /// # Errors
    /// When the file cannot be read or written; it is then unchanged.
    pub(super) fn change(&self, change: impl FnOnce(&mut Entries)) -> Result<(), SecretError> {
        let Some(path) = &self.path else {
            return Err(SecretError(
                "there is no directory for secrets; set HOME or XDG_STATE_HOME".to_owned(),
            ));
        };
        let written = |error: io::Error| failed(path, "written", &error.to_string());
        // Another process may change another entry.
        let _lock = FileLock::of(path).map_err(written)?;
        let mut secrets = self.read()?;
        change(&mut secrets);
        let document = Document {
            version: VERSION,
            secrets,
        };
        let text = serde_json::to_string_pretty(&document).map_err(|error| written(error.into()))?;
        atomic_file::replace(path, &(text + "\n")).map_err(written)
    }
}

/// Shows where a secret is, and never the secret.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyring => "Keyring",
            Self::Value(_) => "Value(…)",
        })
    }
}

fn failed(path: &Path, what: &str, reason: &str) -> SecretError {
    SecretError(format!(
        "the file of secrets {} cannot be {what}: {reason}",
        path.display()
    ))
}

/// Reads a file of limited size, unless others can read it.
fn read_private(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    check_private(&file)?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_BYTES {
        true => Err(io::Error::other("it is too large")),
        false => Ok(text),
    }
}

/// Checks the open file, so that it cannot be replaced between the check and reading.
#[cfg(unix)]
fn check_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let metadata = file.metadata()?;
    if metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other(
            "other users can access it; run `chmod 600` on it, and replace the keys if others may have read them",
        ));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    Ok(())
}

/// Accepts every file: the directory of the state is private on these platforms.
#[cfg(not(unix))]
fn check_private(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file() -> (tempfile::TempDir, PathBuf, SecretFile) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state").join("secrets.json");
        let file = SecretFile::new(Some(path.clone()));
        (directory, path, file)
    }

    fn insert(entries: &mut Entries) {
        entries.insert("A".to_owned(), Entry::Value("sk-1".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_file_and_its_directory() {
        use std::os::unix::fs::PermissionsExt;

        let (_directory, path, file) = file();
        file.change(insert).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        for readable in [0o640, 0o604, 0o622] {
            fs::set_permissions(&path, fs::Permissions::from_mode(readable)).unwrap();
            let error = file.read().unwrap_err().to_string();
            assert!(error.contains("chmod 600") && !error.contains("sk-1"), "{error}");
            assert!(file.change(Entries::clear).is_err());
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(file.read().unwrap().len(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_an_error_and_stays_as_it_is() {
        let (_directory, path, file) = file();
        file.change(insert).unwrap();
        let private = fs::metadata(&path).unwrap().permissions();
        for (text, reason) in [
            (
                "{\"version\": 1, \"secrets\": {\"A\": {\"value\": \"sk-1\"",
                "it is damaged",
            ),
            (
                "{\"version\": 1, \"secrets\": {\"A\": {\"sealed\": \"sk-1\"}}}",
                "it is damaged",
            ),
            ("{\"version\": 2, \"secrets\": [\"sk-1\"]}", "of another version"),
            ("\"sk-1\"", "it is damaged"),
        ] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, private.clone()).unwrap();
            let error = file.change(insert).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("sk-1"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn without_a_directory_nothing_is_kept() {
        let file = SecretFile::new(None);
        assert!(file.read().unwrap().is_empty());
        let error = file.change(insert).unwrap_err().to_string();
        assert!(error.contains("XDG_STATE_HOME") && !error.contains("sk-1"), "{error}");
    }

    #[test]
    fn debug_output_contains_no_secret() {
        let mut entries = Entries::new();
        insert(&mut entries);
        assert!(!format!("{entries:?}").contains("sk-1"));
    }
}
