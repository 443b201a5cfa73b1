//! The keyring on Linux: a Secret Service such as GNOME Keyring, KWallet or KeePassXC.

use std::{collections::HashMap, future::Future, thread, time::Duration};

use agcore::llm::credential::Secret;
use agcore_terminal::process::os_variable;
use secret_service::{EncryptionType, Error, Item, SecretService};
use tokio::{runtime, time::timeout};

use super::error::KeyringError;

/// The time that the service has to answer without a question to the user.
const LIMIT: Duration = Duration::from_secs(10);

/// The time that a person has to unlock the keyring.
const UNLOCK_LIMIT: Duration = Duration::from_secs(120);

/// The name of the program in the attributes of its items.
const APPLICATION: &str = "agcore";

/// The form of the attributes, which some services show.
const SCHEMA: &str = "org.freedesktop.Secret.Generic";

pub(super) fn check() -> Result<(), KeyringError> {
    on_thread(async |service| {
        service.get_default_collection().await?;
        Ok(())
    })
}

pub(super) fn get(name: &str) -> Result<Option<Secret>, KeyringError> {
    on_thread(async |service| {
        let found = service.search_items(attributes(name)).await?;
        let Some(item) = found.unlocked.first().or(found.locked.first()) else {
            return Ok(None);
        };
        item.unlock().await?;
        let bytes = item.get_secret().await?;
        // What is not text was not written by this program.
        Ok(String::from_utf8(bytes).ok().map(Secret::from))
    })
}

pub(super) fn set(name: &str, label: &str, value: &Secret) -> Result<(), KeyringError> {
    on_thread(async |service| {
        let collection = service.get_default_collection().await?;
        if collection.is_locked().await? {
            collection.unlock().await?;
        }
        let value = value.expose().as_bytes();
        let label = format!("{APPLICATION}: {label}");
        let created = collection.create_item(&label, attributes(name), value, true, "text/plain");
        created.await.map(drop)
    })
}

pub(super) fn delete(name: &str) -> Result<(), KeyringError> {
    on_thread(async |service| {
        let found = service.search_items(attributes(name)).await?;
        let items: Vec<Item<'_>> = found.unlocked.into_iter().chain(found.locked).collect();
        for item in items {
            item.unlock().await?;
            item.delete().await?;
        }
        Ok(())
    })
}

fn attributes(name: &str) -> HashMap<&str, &str> {
    HashMap::from([("application", APPLICATION), ("name", name), ("xdg:schema", SCHEMA)])
}

/// Runs work with the service on a thread with a runtime of its own, because the caller may be a task of another one, and
/// waits for it.
fn on_thread<T: Send>(
    work: impl AsyncFnOnce(&SecretService<'_>) -> Result<T, Error> + Send,
) -> Result<T, KeyringError> {
    check_session()?;
    let run = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| KeyringError::Failed(error.to_string()))?;
        runtime.block_on(async {
            let service = within(LIMIT, SecretService::connect(EncryptionType::Dh)).await?;
            within(UNLOCK_LIMIT, work(&service)).await
        })
    };
    let failed = || KeyringError::Failed("its thread ended early".to_owned());
    thread::scope(|scope| scope.spawn(run).join().unwrap_or_else(|_| Err(failed())))
}

/// Checks that the program runs in a session of a user. Without these variables, the library would look for a bus that
/// may belong to another session, such as that of a service.
fn check_session() -> Result<(), KeyringError> {
    let variables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];
    match variables.into_iter().any(|name| os_variable(name).is_some()) {
        true => Ok(()),
        false => Err(KeyringError::Unavailable(
            "there is no session bus (DBUS_SESSION_BUS_ADDRESS)".to_owned(),
        )),
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, KeyringError> {
    match timeout(limit, work).await {
        Ok(result) => result.map_err(|error| converted(&error)),
        // A person who does not answer the question has not unlocked it.
        Err(_) if limit == UNLOCK_LIMIT => Err(KeyringError::Locked),
        Err(_) => Err(KeyringError::Unavailable(format!(
            "it did not answer within {} s",
            limit.as_secs()
        ))),
    }
}

fn converted(error: &Error) -> KeyringError {
    match error {
        Error::Locked | Error::Prompt | Error::PromptDisconnected => KeyringError::Locked,
        Error::Unavailable => KeyringError::Unavailable("no Secret Service is running".to_owned()),
        Error::NoResult => KeyringError::Unavailable("the Secret Service has no default collection".to_owned()),
        // A bus that cannot be reached, or a service that it cannot start.
        Error::Zbus(error) => KeyringError::Unavailable(error.to_string()),
        error => KeyringError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dismissed_question_is_not_a_missing_keyring() {
        assert_eq!(converted(&Error::Prompt), KeyringError::Locked);
        assert!(matches!(converted(&Error::Unavailable), KeyringError::Unavailable(_)));
        assert!(matches!(converted(&Error::NoResult), KeyringError::Unavailable(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_does_not_answer_is_not_waited_for() {
        let silent = || std::future::pending::<Result<(), Error>>();
        let error = within(LIMIT, silent()).await.unwrap_err();
        assert!(matches!(error, KeyringError::Unavailable(reason) if reason.contains("10 s")));
        assert_eq!(within(UNLOCK_LIMIT, silent()).await, Err(KeyringError::Locked));
    }
}
