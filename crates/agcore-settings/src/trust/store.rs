//! [`TrustStore`]: the file that remembers which folders are trusted.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use agcore::session::Timestamp;
use serde::{Deserialize, Serialize};

use super::{decision::Trust, snapshot::Snapshot};
use crate::{atomic_file::replace, file_lock::FileLock, places::state_directory};

/// The version of the file.
const VERSION: u32 = 1;

/// Remembers trusted folders in `trust.json` in the state directory.
#[derive(Debug)]
pub struct TrustStore {
    /// The directory of the file, or `None` if there is no place for it.
    directory: Option<PathBuf>,
}

/// A trusted folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedFolder {
    /// When the user trusted it.
    pub trusted_at: String,
    /// The SHA-256 hash of each file at that time. Files that were not used have none.
    pub files: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    folders: BTreeMap<String, TrustedFolder>,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl TrustStore {
    /// Returns the store of the user. Nothing is read or created yet.
    pub fn of_user() -> Self {
        Self {
            directory: state_directory(),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join("trust.json"))
    }

    /// Returns all trusted folders. Without a file there are none.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or comes from a newer version.
    pub fn folders(&self) -> Result<BTreeMap<String, TrustedFolder>, String> {
        self.path().map_or_else(|| Ok(BTreeMap::new()), |path| read(&path))
    }

    /// Returns whether a folder is trusted with exactly these files.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or comes from a newer version.
    pub fn trust(&self, snapshot: &Snapshot) -> Result<Trust, String> {
        let Ok(folder) = key(snapshot.folder.as_deref()) else {
            return Ok(Trust::Unknown);
        };
        let Some(trusted) = self.folders()?.remove(&folder) else {
            return Ok(Trust::Unknown);
        };
        let changes = changes(&trusted.files, &snapshot.hashes());
        Ok(match changes.is_empty() {
            true => Trust::Remembered,
            false => Trust::Changed(changes),
        })
    }

    /// Remembers that the folder is trusted with these files.
    ///
    /// # Errors
    /// When there is no place for the file, or it cannot be read or written.
    pub fn add(&self, snapshot: &Snapshot, now: SystemTime) -> Result<(), String> {
        let folder = key(snapshot.folder.as_deref())?;
        let trusted = TrustedFolder {
            trusted_at: Timestamp::from(now).to_text_in_seconds(),
            files: snapshot.hashes(),
        };
        self.update(|folders| folders.insert(folder, trusted)).map(drop)
    }

    /// Forgets a folder. Returns whether it was trusted.
    ///
    /// # Errors
    /// When there is no place for the file, or it cannot be read or written.
    pub fn remove(&self, folder: &Path) -> Result<bool, String> {
        let folder = key(Some(folder))?;
        if !self.folders()?.contains_key(&folder) {
            return Ok(false);
        }
        self.update(|folders| folders.remove(&folder))
            .map(|found| found.is_some())
    }

    fn update<T>(&self, change: impl FnOnce(&mut BTreeMap<String, TrustedFolder>) -> T) -> Result<T, String> {
        let Some(path) = self.path() else {
            return Err("there is no directory in which to remember it: set HOME or XDG_STATE_HOME".to_owned());
        };
        let cannot = |error: io::Error| format!("cannot write {}: {error}", path.display());
        // Another process may remember a folder at the same time.
        let _lock = FileLock::of(&path).map_err(cannot)?;
        let mut folders = read(&path)?;
        let result = change(&mut folders);
        let content = Content {
            version: VERSION,
            folders,
        };
        let text = serde_json::to_string_pretty(&content).map_err(|error| error.to_string())? + "\n";
        replace(&path, &text).map_err(cannot)?;
        Ok(result)
    }
}

/// Returns the name of a folder in the file.
fn key(folder: Option<&Path>) -> Result<String, String> {
    let folder = folder.ok_or("the current directory no longer exists")?;
    let name = folder.to_str().map(str::to_owned);
    name.ok_or_else(|| format!("the path {} is not valid UTF-8", folder.display()))
}

fn read(path: &Path) -> Result<BTreeMap<String, TrustedFolder>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse(text: &str) -> Result<BTreeMap<String, TrustedFolder>, String> {
    let damaged = |error: serde_json::Error| format!("the file is damaged ({error}); restore or remove it");
    let Version { version } = serde_json::from_str(text).map_err(damaged)?;
    if version > VERSION {
        return Err(format!(
            "the file has version {version}, but this program reads version {VERSION}; update the program"
        ));
    }
    let content: Content = serde_json::from_str(text).map_err(damaged)?;
    Ok(content.folders)
}

/// Describes how the files differ from those that were trusted.
fn changes(before: &BTreeMap<String, Option<String>>, now: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let of_present = now.iter().filter_map(|(name, hash)| match before.get(name) {
        None => Some(format!("{name} is new")),
        Some(known) if known != hash => Some(format!("{name} was changed")),
        Some(_) => None,
    });
    let removed = before.keys().filter(|name| !now.contains_key(*name));
    of_present
        .chain(removed.map(|name| format!("{name} was removed")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(directory: &Path) -> TrustStore {
        TrustStore {
            directory: Some(directory.join("state")),
        }
    }

    #[test]
    fn any_change_ends_the_trust() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("project");
        fs::create_dir(&folder).unwrap();
        let store = store(directory.path());
        let trust = || store.trust(&Snapshot::read(&folder)).unwrap();
        let changed = |changes: &[&str]| Trust::Changed(changes.iter().map(|change| (*change).to_owned()).collect());
        assert_eq!(trust(), Trust::Unknown);
        fs::write(folder.join(".env"), "A=1").unwrap();
        store.add(&Snapshot::read(&folder), SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(trust(), Trust::Remembered);
        fs::write(folder.join("agcore.toml"), "").unwrap();
        assert_eq!(trust(), changed(&["agcore.toml is new"]));
        fs::remove_file(folder.join("agcore.toml")).unwrap();
        assert_eq!(trust(), Trust::Remembered);
        fs::write(folder.join(".env"), "A=2").unwrap();
        assert_eq!(trust(), changed(&[".env was changed"]));
        fs::remove_file(folder.join(".env")).unwrap();
        assert_eq!(trust(), changed(&[".env was removed"]));
        let canonical = folder.canonicalize().unwrap();
        assert!(store.remove(&canonical).unwrap() && !store.remove(&canonical).unwrap());
        assert_eq!(trust(), Trust::Unknown);
    }

    #[test]
    fn a_damaged_or_newer_file_is_never_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let path = store.path().unwrap();
        fs::create_dir(path.parent().unwrap()).unwrap();
        for (text, expected) in [
            ("{", "the file is damaged"),
            (r#"{"version": 1}"#, "the file is damaged"),
            (
                r#"{"version": 2, "folders": {}}"#,
                "version 2, but this program reads version 1",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let snapshot = Snapshot::read(directory.path());
            for error in [
                store.trust(&snapshot).unwrap_err(),
                store.add(&snapshot, SystemTime::UNIX_EPOCH).unwrap_err(),
                store.remove(directory.path()).unwrap_err(),
            ] {
                assert!(error.contains(expected), "{error}");
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn without_a_place_nothing_is_remembered() {
        let store = TrustStore { directory: None };
        let directory = tempfile::tempdir().unwrap();
        let snapshot = Snapshot::read(directory.path());
        assert_eq!(store.trust(&snapshot), Ok(Trust::Unknown));
        let error = store.add(&snapshot, SystemTime::UNIX_EPOCH).unwrap_err();
        assert!(error.contains("set HOME or XDG_STATE_HOME"), "{error}");
    }
}
