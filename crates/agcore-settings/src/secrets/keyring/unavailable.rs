//! Stands in for the keyring in builds without one.

use agcore::llm::credential::Secret;

use super::error::KeyringError;

fn unavailable() -> KeyringError {
    KeyringError::Unavailable("this program was built without support for it".to_owned())
}

pub(super) fn check() -> Result<(), KeyringError> {
    Err(unavailable())
}

pub(super) fn get(_: &str) -> Result<Option<Secret>, KeyringError> {
    Err(unavailable())
}

pub(super) fn set(_: &str, _: &str, _: &Secret) -> Result<(), KeyringError> {
    Err(unavailable())
}

pub(super) fn delete(_: &str) -> Result<(), KeyringError> {
    Err(unavailable())
}
