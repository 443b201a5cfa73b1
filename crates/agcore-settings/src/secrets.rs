//! [`SecretStore`]: keeps API keys and tokens, in the keyring of the system or in a file that only its owner can read.
//!
//! The file lists the names of all secrets, also of those in the keyring, so that a lookup of an unknown name asks no
//! keyring, which may have to be unlocked first.

mod place;
mod keyring;
mod error;
mod file;

use std::path::PathBuf;

use agcore::llm::credential::Secret;

use self::{
    file::{Entry, SecretFile},
    keyring::{Keyring, KeyringError, SystemKeyring},
};
use crate::places::state_directory;

pub(crate) use self::keyring::KEYRING;
pub use self::{
    error::SecretError,
    place::{Place, Preference, Saved},
};

/// The name of the file in the directory of the program's state.
const FILE: &str = "secrets.json";

/// The start of the names of the tokens of MCP servers; their URLs follow.
pub const TOKEN_PREFIX: &str = "mcp:";

/// Keeps secrets by name.
pub struct SecretStore {
    file: SecretFile,
    keyring: Box<dyn Keyring>,
}

impl SecretStore {
    /// Returns the store of the user.
    pub fn of_user() -> Self {
        Self::new(state_directory().map(|directory| directory.join(FILE)), SystemKeyring)
    }

    /// Returns a store in a file, which never uses a keyring.
    pub fn in_file(file: PathBuf) -> Self {
        Self::new(Some(file), keyring::NoKeyring)
    }

    fn new(file: Option<PathBuf>, keyring: impl Keyring + 'static) -> Self {
        Self {
            file: SecretFile::new(file),
            keyring: Box::new(keyring),
        }
    }

    /// Returns the names of all secrets and where they are kept, sorted by name. The keyring is not asked.
    ///
    /// # Errors
    /// When the file cannot be read, or others can read it.
    pub fn names(&self) -> Result<Vec<(String, Place)>, SecretError> {
        let entries = self.file.read()?.into_iter();
        Ok(entries
            .map(|(name, entry)| {
                let place = match entry {
                    Entry::Keyring => Place::Keyring,
                    Entry::Value(_) => self.file.place(),
                };
                (name, place)
            })
            .collect())
    }

    /// Returns a secret and where it is kept, or `None` if there is none with this name.
    ///
    /// # Errors
    /// When the file or the keyring cannot be read, or others can read the file.
    pub fn get(&self, name: &str) -> Result<Option<(Secret, Place)>, SecretError> {
        match self.file.read()?.remove(name) {
            None => Ok(None),
            Some(Entry::Value(value)) => Ok(Some((Secret::from(value), self.file.place()))),
            Some(Entry::Keyring) => match self.keyring.get(name) {
                Ok(Some(value)) => Ok(Some((value, Place::Keyring))),
                Ok(None) => Ok(None),
                Err(error) => Err(SecretError::keyring(&error)),
            },
        }
    }

    /// Keeps a secret, in place of an earlier one with the same name. People see the label in the keyring.
    ///
    /// # Errors
    /// When the secret cannot be written, or the keyring was not unlocked.
    pub fn set(&self, name: &str, label: &str, value: &Secret, preference: Preference) -> Result<Saved, SecretError> {
        // A file that cannot be used is reported before the keyring asks for anything.
        let before = self.file.read()?.remove(name);
        let in_keyring = match preference {
            Preference::File => Err(None),
            Preference::Any | Preference::Keyring => self.keyring.set(name, label, value).map_err(Some),
        };
        let (entry, place, reason) = match (in_keyring, preference) {
            (Ok(()), _) => (Entry::Keyring, Place::Keyring, None),
            (Err(Some(error)), Preference::Keyring) | (Err(Some(error @ KeyringError::Locked)), _) => {
                return Err(SecretError::keyring(&error));
            }
            (Err(reason), _) => {
                let entry = Entry::Value(value.expose().to_owned());
                (entry, self.file.place(), reason.map(|reason| reason.to_string()))
            }
        };
        let is_moved = matches!(before, Some(Entry::Keyring)) && entry != Entry::Keyring;
        self.file.change(|entries| {
            entries.insert(name.to_owned(), entry);
        })?;
        if is_moved {
            // The entry is no longer used. It can only stay if the keyring cannot be used, as its owner decided.
            let _ = self.keyring.delete(name);
        }
        Ok(Saved { place, reason })
    }

    /// Removes a secret. Returns whether there was one.
    ///
    /// # Errors
    /// When it cannot be removed; it is then still there.
    pub fn delete(&self, name: &str) -> Result<bool, SecretError> {
        let entry = self.file.read()?.remove(name);
        if let Some(Entry::Keyring) = entry {
            self.keyring
                .delete(name)
                .map_err(|error| SecretError::keyring(&error))?;
        }
        if entry.is_some() {
            self.file.change(|entries| {
                entries.remove(name);
            })?;
        }
        Ok(entry.is_some())
    }

    /// Returns why the keyring cannot be used, or `None` if it can. Nothing is written or unlocked.
    pub fn keyring_problem(&self) -> Option<String> {
        self.keyring.check().err().map(|error| error.to_string())
    }
}

impl std::fmt::Debug for SecretStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretStore")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        fs,
        sync::{Arc, Mutex},
    };

    use super::*;

    /// A keyring in memory that fails on request.
    #[derive(Clone, Default)]
    struct FakeKeyring {
        entries: Arc<Mutex<BTreeMap<String, String>>>,
        error: Arc<Mutex<Option<KeyringError>>>,
    }

    impl FakeKeyring {
        fn failing(error: KeyringError) -> Self {
            let keyring = Self::default();
            *keyring.error.lock().unwrap() = Some(error);
            keyring
        }
    }

    impl Keyring for FakeKeyring {
        fn check(&self) -> Result<(), KeyringError> {
            self.error.lock().unwrap().clone().map_or(Ok(()), Err)
        }

        fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
            self.check()?;
            Ok(self
                .entries
                .lock()
                .unwrap()
                .get(name)
                .map(|value| Secret::from(value.as_str())))
        }

        fn set(&self, name: &str, _label: &str, value: &Secret) -> Result<(), KeyringError> {
            self.check()?;
            self.entries
                .lock()
                .unwrap()
                .insert(name.to_owned(), value.expose().to_owned());
            Ok(())
        }

        fn delete(&self, name: &str) -> Result<(), KeyringError> {
            self.check()?;
            self.entries.lock().unwrap().remove(name);
            Ok(())
        }
    }

    struct Fixture {
        directory: tempfile::TempDir,
        keyring: FakeKeyring,
    }

    impl Fixture {
        fn new(keyring: FakeKeyring) -> Self {
            let directory = tempfile::tempdir().unwrap();
            Self { directory, keyring }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("state").join(FILE)
        }

        fn store(&self) -> SecretStore {
            SecretStore::new(Some(self.path()), self.keyring.clone())
        }

        fn set(&self, value: &str, preference: Preference) -> Result<Saved, SecretError> {
            self.store().set("A_KEY", "a key", &Secret::from(value), preference)
        }

        fn value(&self) -> Option<String> {
            self.store()
                .get("A_KEY")
                .unwrap()
                .map(|(value, _)| value.expose().to_owned())
        }
    }

    #[test]
    fn a_secret_in_the_keyring_is_not_in_the_file() {
        let fixture = Fixture::new(FakeKeyring::default());
        assert_eq!(fixture.value(), None);
        let saved = fixture.set("sk-1", Preference::Any).unwrap();
        assert_eq!(
            saved,
            Saved {
                place: Place::Keyring,
                reason: None
            }
        );
        assert_eq!(fixture.value().as_deref(), Some("sk-1"));
        assert!(!fs::read_to_string(fixture.path()).unwrap().contains("sk-1"));
        assert_eq!(fixture.store().names().unwrap(), [("A_KEY".to_owned(), Place::Keyring)]);
        assert!(fixture.store().delete("A_KEY").unwrap());
        assert!(!fixture.store().delete("A_KEY").unwrap());
        assert!(fixture.keyring.entries.lock().unwrap().is_empty());
        assert_eq!(fixture.value(), None);
    }

    #[test]
    fn without_a_keyring_the_file_is_used_and_the_reason_is_reported() {
        let reason = KeyringError::Unavailable("there is no session bus".to_owned());
        let fixture = Fixture::new(FakeKeyring::failing(reason));
        let saved = fixture.set("sk-1", Preference::Any).unwrap();
        assert_eq!(saved.place, Place::File(fixture.path()));
        assert!(saved.reason.unwrap().contains("no session bus"));
        assert_eq!(fixture.value().as_deref(), Some("sk-1"));
        let error = fixture.set("sk-2", Preference::Keyring).unwrap_err().to_string();
        assert!(error.contains("no session bus") && !error.contains("sk-"), "{error}");
        assert_eq!(fixture.value().as_deref(), Some("sk-1"));
    }

    #[test]
    fn a_keyring_that_stays_locked_is_not_bypassed() {
        let fixture = Fixture::new(FakeKeyring::failing(KeyringError::Locked));
        assert!(fixture.set("sk-1", Preference::Any).is_err());
        assert_eq!(fixture.store().names().unwrap(), []);
        assert!(fixture.set("sk-1", Preference::File).is_ok());
    }

    #[test]
    fn a_secret_is_in_one_place_only() {
        let fixture = Fixture::new(FakeKeyring::default());
        fixture.set("sk-1", Preference::Any).unwrap();
        fixture.set("sk-2", Preference::File).unwrap();
        assert!(fixture.keyring.entries.lock().unwrap().is_empty());
        assert_eq!(fixture.value().as_deref(), Some("sk-2"));
        fixture.set("sk-3", Preference::Any).unwrap();
        assert!(!fs::read_to_string(fixture.path()).unwrap().contains("sk-"));
        assert_eq!(fixture.value().as_deref(), Some("sk-3"));
    }

    #[test]
    fn a_secret_that_the_keyring_does_not_return_is_not_removed() {
        let fixture = Fixture::new(FakeKeyring::default());
        fixture.set("sk-1", Preference::Any).unwrap();
        *fixture.keyring.error.lock().unwrap() = Some(KeyringError::Locked);
        assert!(fixture.store().get("A_KEY").is_err());
        assert!(fixture.store().delete("A_KEY").is_err());
        assert_eq!(fixture.store().names().unwrap().len(), 1);
    }
}
