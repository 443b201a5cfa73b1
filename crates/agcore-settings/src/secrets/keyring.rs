//! [`Keyring`]: the keyring of the system.

mod error;
#[cfg(all(feature = "keyring", target_os = "linux"))]
mod secret_service;
#[cfg(all(feature = "keyring", any(target_os = "macos", windows)))]
mod native;
#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos", windows))))]
mod unavailable;

use agcore::llm::credential::Secret;
use agcore_terminal::process::variable;

pub(super) use self::error::KeyringError;

#[cfg(all(feature = "keyring", any(target_os = "macos", windows)))]
use self::native as backend;
#[cfg(all(feature = "keyring", target_os = "linux"))]
use self::secret_service as backend;
#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos", windows))))]
use self::unavailable as backend;

/// The variable that turns the keyring off.
pub(crate) const KEYRING: &str = "AGCORE_KEYRING";

/// Keeps secrets by name. All functions may block until a person has unlocked the keyring.
pub(super) trait Keyring: Send + Sync {
    /// Checks that there is a keyring, without unlocking it.
    fn check(&self) -> Result<(), KeyringError>;

    /// Returns a secret, or `None` if there is none with this name.
    fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError>;

    /// Keeps a secret, in place of an earlier one with the same name. People see the label.
    fn set(&self, name: &str, label: &str, value: &Secret) -> Result<(), KeyringError>;

    /// Removes a secret, if there is one.
    fn delete(&self, name: &str) -> Result<(), KeyringError>;
}

/// The keyring of the system.
#[derive(Debug, Clone, Copy)]
pub(super) struct SystemKeyring;

impl Keyring for SystemKeyring {
    fn check(&self) -> Result<(), KeyringError> {
        check_enabled()?;
        backend::check()
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        check_enabled()?;
        backend::get(name)
    }

    fn set(&self, name: &str, label: &str, value: &Secret) -> Result<(), KeyringError> {
        check_enabled()?;
        backend::set(name, label, value)
    }

    fn delete(&self, name: &str) -> Result<(), KeyringError> {
        check_enabled()?;
        backend::delete(name)
    }
}

/// A keyring that is never there.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoKeyring;

impl Keyring for NoKeyring {
    fn check(&self) -> Result<(), KeyringError> {
        Err(KeyringError::Unavailable("only the file is used".to_owned()))
    }

    fn get(&self, _: &str) -> Result<Option<Secret>, KeyringError> {
        self.check().map(|()| None)
    }

    fn set(&self, _: &str, _: &str, _: &Secret) -> Result<(), KeyringError> {
        self.check()
    }

    fn delete(&self, _: &str) -> Result<(), KeyringError> {
        self.check()
    }
}

/// Checks that the user has not turned the keyring off.
fn check_enabled() -> Result<(), KeyringError> {
    let is_off = variable(KEYRING).is_some_and(|value| is_off(&value));
    match is_off {
        true => Err(KeyringError::Unavailable(format!("{KEYRING} turns it off"))),
        false => Ok(()),
    }
}

fn is_off(value: &str) -> bool {
    ["off", "no", "false", "0"].contains(&value.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_turns_the_keyring_off() {
        for value in ["off", "OFF", "0", "false", "no"] {
            assert!(is_off(value), "{value}");
        }
        for value in ["on", "1", "true", "offline"] {
            assert!(!is_off(value), "{value}");
        }
    }

    #[test]
    fn errors_say_what_happened() {
        let error = KeyringError::Unavailable("no bus".to_owned()).to_string();
        assert_eq!(error, "the keyring of the system cannot be used: no bus");
    }
}
