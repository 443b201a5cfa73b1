//! [`GrantsPlace`]: where "always allow" answers are stored.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use agcore::tools::{Grant, InMemoryGrants};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    atomic_file::replace,
    file_lock::FileLock,
    places::{abbreviated, state_directory},
};

/// The version of the file with the grants of all folders.
const VERSION: u32 = 1;

/// The file in which earlier versions stored grants. A cloned repository may contain one, so it is never used.
const FILE_IN_FOLDER: &str = ".agcore-grants.json";

/// Where grants are stored.
#[derive(Debug, Clone)]
pub enum GrantsPlace {
    /// In this file, which the user named.
    File(PathBuf),
    /// In the user's file for all folders, under the canonical path of the folder.
    Folder {
        /// The file.
        file: PathBuf,
        /// The folder.
        folder: String,
    },
    /// Nowhere, because no variable names a state directory or the folder has no path in UTF-8.
    Nowhere,
}

/// The grants of all folders. Those of other folders are kept as they are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    folders: BTreeMap<String, Value>,
}

impl GrantsPlace {
    /// The name of the user's file for all folders.
    pub const NAME: &str = "grants.json";

    /// Returns the place for a folder, whose path must be canonical.
    pub fn of_folder(folder: Option<&Path>) -> Self {
        match (state_directory(), folder.and_then(Path::to_str)) {
            (Some(directory), Some(folder)) => Self::Folder {
                file: directory.join(Self::NAME),
                folder: folder.to_owned(),
            },
            _ => Self::Nowhere,
        }
    }

    /// Returns the folders for which a file has grants.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or comes from a newer version.
    pub fn folders(file: &Path) -> Result<Vec<String>, String> {
        Ok(contents(file)?.folders.into_keys().collect())
    }

    /// Returns a message if the current directory contains a grants file that is not used.
    pub fn ignored_file(chosen: Option<&Path>) -> Option<String> {
        let file = Path::new(FILE_IN_FOLDER);
        let is_chosen = chosen.is_some_and(|chosen| chosen.canonicalize().ok() == file.canonicalize().ok());
        (file.exists() && !is_chosen).then(|| {
            format!(
                "{FILE_IN_FOLDER} is ignored: stored answers are kept outside of the folder. If the answers in it are \
                 yours, pass --grants {FILE_IN_FOLDER}."
            )
        })
    }

    /// Reads the grants. A missing file holds none.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or comes from a newer version: grants are never guessed.
    pub fn read(&self) -> Result<Vec<Grant>, String> {
        match self {
            Self::File(file) => match text_of(file)? {
                Some(text) => grants(file, &text),
                None => Ok(Vec::new()),
            },
            Self::Folder { file, folder } => match contents(file)?.folders.get(folder) {
                Some(stored) => grants(file, &stored.to_string()),
                None => Ok(Vec::new()),
            },
            Self::Nowhere => Ok(Vec::new()),
        }
    }

    /// Changes the stored grants. Returns them all, and whether they were different before.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn update(&self, change: impl FnOnce(&mut Vec<Grant>)) -> Result<(Vec<Grant>, bool), String> {
        // Another process may store an answer at the same time.
        let _lock = match self {
            Self::Folder { file, .. } => {
                Some(FileLock::of(file).map_err(|error| format!("cannot write {}: {error}", file.display()))?)
            }
            Self::File(_) | Self::Nowhere => None,
        };
        let before = self.read()?;
        let mut grants = before.clone();
        change(&mut grants);
        let changed = grants != before;
        if changed {
            self.write(&grants)?;
        }
        Ok((grants, changed))
    }

    fn write(&self, grants: &[Grant]) -> Result<(), String> {
        let text = InMemoryGrants::from_iter(grants.iter().cloned()).to_json();
        let (file, written) = match self {
            Self::File(file) => (file, replace(file, &(text + "\n"))),
            Self::Folder { file, folder } => {
                let mut content = contents(file)?;
                let value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
                content.folders.insert(folder.clone(), value);
                let text = serde_json::to_string_pretty(&content).map_err(|error| error.to_string())? + "\n";
                (file, replace(file, &text))
            }
            Self::Nowhere => {
                return Err(
                    "there is no directory in which to store it: set HOME or XDG_STATE_HOME, or pass --grants FILE"
                        .to_owned(),
                );
            }
        };
        written.map_err(|error| format!("cannot write {}: {error}", file.display()))
    }
}

impl fmt::Display for GrantsPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) | Self::Folder { file, .. } => f.write_str(&abbreviated(file)),
            Self::Nowhere => f.write_str("not stored"),
        }
    }
}

fn grants(file: &Path, text: &str) -> Result<Vec<Grant>, String> {
    match InMemoryGrants::from_json(text) {
        Ok(grants) => Ok(grants.all()),
        Err(error) => Err(refusal(file, error.message())),
    }
}

fn contents(file: &Path) -> Result<Content, String> {
    let Some(text) = text_of(file)? else {
        return Ok(Content {
            version: VERSION,
            folders: BTreeMap::new(),
        });
    };
    let damaged = |error: serde_json::Error| {
        refusal(
            file,
            &format!("cannot read the grants: {error}; restore or remove the file"),
        )
    };
    let value: Value = serde_json::from_str(&text).map_err(damaged)?;
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if version > u64::from(VERSION) => Err(refusal(
            file,
            &format!("the file has version {version}, but this program reads version {VERSION}; update the program"),
        )),
        _ => serde_json::from_value(value).map_err(damaged),
    }
}

fn text_of(file: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refusal(
            file,
            &format!("cannot read the grants: {error}; restore or remove the file"),
        )),
    }
}

fn refusal(file: &Path, reason: &str) -> String {
    format!("{}: {reason}\nTo use another file, pass --grants FILE.", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &Path, folder: &str) -> GrantsPlace {
        GrantsPlace::Folder {
            file: file.to_owned(),
            folder: folder.to_owned(),
        }
    }

    #[test]
    fn each_folder_has_its_own_grants() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("state").join("grants.json");
        let (one, other) = (place(&file, "/one"), place(&file, "/other"));
        one.update(|grants| grants.push(Grant::new("a"))).unwrap();
        assert!(other.read().unwrap().is_empty());
        other.update(|grants| grants.push(Grant::new("b"))).unwrap();
        assert_eq!(one.read().unwrap(), [Grant::new("a")]);
        assert_eq!(other.read().unwrap(), [Grant::new("b")]);
        assert!(!one.update(|_| {}).unwrap().1);
    }

    #[test]
    fn a_damaged_or_newer_file_is_rejected_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("grants.json");
        for (text, expected) in [
            ("", "cannot read the grants"),
            (r#"{"version": 1, "folder": {}}"#, "unknown field `folder`"),
            (
                r#"{"version": 2, "folders": {}}"#,
                "version 2, but this program reads version 1",
            ),
            (r#"{"version": 1, "folders": {"/one": []}}"#, "they have no version"),
        ] {
            fs::write(&file, text).unwrap();
            let error = place(&file, "/one").update(Vec::clear).unwrap_err();
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn without_a_place_a_grant_is_not_stored() {
        assert!(GrantsPlace::Nowhere.read().unwrap().is_empty());
        let error = GrantsPlace::Nowhere
            .update(|grants| grants.push(Grant::new("a")))
            .unwrap_err();
        assert!(error.contains("set HOME or XDG_STATE_HOME"), "{error}");
    }
}
