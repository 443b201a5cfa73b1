//! The keyring on macOS, its keychain, and on Windows, its credential manager.

use agcore::llm::credential::Secret;
use keyring::v1::{Entry, Error};

use super::error::KeyringError;

/// The name of the program in its entries.
const SERVICE: &str = "agcore";

pub(super) fn check() -> Result<(), KeyringError> {
    entry("check").map(drop)
}

pub(super) fn get(name: &str) -> Result<Option<Secret>, KeyringError> {
    match entry(name)?.get_password() {
        Ok(value) => Ok(Some(Secret::from(value))),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(converted(&error)),
    }
}

pub(super) fn set(name: &str, _label: &str, value: &Secret) -> Result<(), KeyringError> {
    let set = entry(name)?.set_password(value.expose());
    set.map_err(|error| converted(&error))
}

pub(super) fn delete(name: &str) -> Result<(), KeyringError> {
    match entry(name)?.delete_credential() {
        Ok(()) | Err(Error::NoEntry) => Ok(()),
        Err(error) => Err(converted(&error)),
    }
}

fn entry(name: &str) -> Result<Entry, KeyringError> {
    Entry::new(SERVICE, name).map_err(|error| converted(&error))
}

fn converted(error: &Error) -> KeyringError {
    match error {
        Error::NoDefaultStore => KeyringError::Unavailable("there is none in this session".to_owned()),
        Error::NoStorageAccess(_) => KeyringError::Locked,
        // Other errors may contain the secret: only their kind is shown.
        Error::TooLong(_, limit) => KeyringError::Failed(format!("it keeps at most {limit} characters")),
        Error::PlatformFailure(source) => KeyringError::Failed(source.to_string()),
        _ => KeyringError::Failed("it rejected the entry".to_owned()),
    }
}
