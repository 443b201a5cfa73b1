//! [`Grants`]: the stored "always allow" answers.

mod prefix;
#[cfg(feature = "sqlite")]
mod user;

use std::sync::{Mutex, MutexGuard, PoisonError};

use agcore::{
    chat::text::visible,
    tools::{Actor, Grant, GrantCondition, GrantStore, GrantedArgument, ToolError, ToolErrorKind},
};
use agcore_settings::{SettingsError, grants_place::GrantsPlace};
use agcore_terminal::render::sanitized_line;
use async_trait::async_trait;

pub use self::prefix::prefix_grant;
#[cfg(feature = "sqlite")]
pub use self::user::{erase_grants_of, grants_of};

/// Grants stored in a file, which is created with the first grant. The file is read when the program starts and again
/// before each change, so grants added by another process are kept.
#[derive(Debug)]
pub struct Grants {
    place: GrantsPlace,
    known: Mutex<Vec<Grant>>,
    /// Updates that were not reported yet.
    updates: Mutex<Vec<GrantUpdate>>,
    /// Held while the file is updated.
    update_lock: tokio::sync::Mutex<()>,
}

/// Describes what a grant covers.
pub fn rule(grant: &Grant) -> String {
    let tool = sanitized_line(&grant.tool.to_string());
    if let [
        GrantedArgument {
            condition: GrantCondition::Test(test),
            ..
        },
    ] = grant.arguments.as_slice()
    {
        return format!("{tool} with {}", sanitized_line(&test.to_string()));
    }
    let paths: Vec<String> = grant
        .arguments
        .iter()
        .map(|argument| argument.path.to_string())
        .collect();
    match paths.as_slice() {
        [] => format!("{tool} with any arguments"),
        [all] if all == "$" => format!("{tool} with the same arguments"),
        paths => format!("{tool} with the same value of {}", sanitized_line(&paths.join(", "))),
    }
}

/// Describes what a grant covers, with the values of arguments.
pub fn full_rule(grant: &Grant) -> String {
    let tool = sanitized_line(&grant.tool.to_string());
    let values = |argument: &GrantedArgument| match &argument.condition {
        GrantCondition::Values(values) => {
            let values: Vec<String> = values
                .iter()
                .map(|value| visible(&value.to_string()).into_owned())
                .collect();
            let values = values.join(", ");
            match argument.path.to_string().as_str() {
                "$" => values,
                path => format!("{} = {values}", sanitized_line(path)),
            }
        }
        GrantCondition::Test(test) => visible(&test.to_string()).into_owned(),
        _ => "other conditions".to_owned(),
    };
    match grant.arguments.as_slice() {
        [] => format!("{tool} with any arguments"),
        arguments => format!(
            "{tool} with {}",
            arguments.iter().map(values).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The outcome of storing a grant, as a message for the user.
#[derive(Debug)]
pub enum GrantUpdate {
    /// The grant was saved to the file.
    Saved(String),
    /// The grant could not be saved and is valid for this session only.
    Failed(String),
}

impl Grants {
    /// Reads the file. A missing file holds no grants.
    ///
    /// # Errors
    /// When the file cannot be read, is corrupt, or comes from a newer version: grants are never guessed.
    pub fn open(place: GrantsPlace) -> Result<Self, SettingsError> {
        let known = place.read().map_err(SettingsError::new)?;
        Ok(Self {
            place,
            known: Mutex::new(known),
            updates: Mutex::default(),
            update_lock: tokio::sync::Mutex::default(),
        })
    }

    /// Returns where the grants are stored.
    pub fn place(&self) -> &GrantsPlace {
        &self.place
    }

    /// Returns whether a grant covers the tool with any arguments.
    pub fn has(&self, tool: &str) -> bool {
        lock(&self.known)
            .iter()
            .any(|grant| grant.tool.matches(tool) && grant.arguments.is_empty())
    }

    /// Takes the updates since the last call.
    pub fn take_updates(&self) -> Vec<GrantUpdate> {
        std::mem::take(&mut *lock(&self.updates))
    }

    /// Changes the file. Returns whether it was different before.
    async fn save(&self, change: impl FnOnce(&mut Vec<Grant>) + Send + 'static) -> Result<bool, String> {
        let _guard = self.update_lock.lock().await;
        let place = self.place.clone();
        let saved = tokio::task::spawn_blocking(move || place.update(change)).await;
        let (grants, changed) = saved.unwrap_or_else(|error| Err(error.to_string()))?;
        *lock(&self.known) = grants;
        Ok(changed)
    }
}

#[async_trait]
impl GrantStore for Grants {
    async fn list(&self, actor: &Actor) -> Result<Vec<Grant>, ToolError> {
        let known = lock(&self.known);
        Ok(known.iter().filter(|grant| grant.is_for(actor)).cloned().collect())
    }

    async fn add(&self, grant: Grant) -> Result<(), ToolError> {
        let rule = rule(&grant);
        let saved = self
            .save(|grants| {
                if !grants.contains(&grant) {
                    grants.push(grant);
                }
            })
            .await;
        let update = match &saved {
            Ok(_) => GrantUpdate::Saved(format!("{rule} is always allowed from now on ({}).", self.place)),
            Err(error) => GrantUpdate::Failed(format!("{rule} is allowed for this session only: {error}")),
        };
        lock(&self.updates).push(update);
        saved
            .map(drop)
            .map_err(|error| ToolError::new(ToolErrorKind::Io, error))
    }

    async fn revoke(&self, grant: &Grant) -> Result<bool, ToolError> {
        let grant = grant.clone();
        let saved = self.save(move |grants| grants.retain(|known| *known != grant)).await;
        saved.map_err(|error| ToolError::new(ToolErrorKind::Io, error))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn keeps_grants_added_by_another_process() {
        let directory = tempfile::tempdir().unwrap();
        let place = GrantsPlace::File(directory.path().join("grants.json"));
        let (one, other) = (
            Grants::open(place.clone()).unwrap(),
            Grants::open(place.clone()).unwrap(),
        );
        one.add(Grant::new("a")).await.unwrap();
        other.add(Grant::new("b")).await.unwrap();
        other.add(Grant::new("b")).await.unwrap();
        assert_eq!(place.read().unwrap(), [Grant::new("a"), Grant::new("b")]);
        assert!(
            other.has("a") && !one.has("b"),
            "the file is read at the start and before each change"
        );
        assert!(other.revoke(&Grant::new("b")).await.unwrap() && !other.revoke(&Grant::new("c")).await.unwrap());
        assert_eq!(place.read().unwrap(), [Grant::new("a")]);
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "temporary files were left behind");
    }

    #[tokio::test]
    async fn reports_a_grant_that_cannot_be_saved() {
        let directory = tempfile::tempdir().unwrap();
        let grants = Grants::open(GrantsPlace::File(directory.path().join("missing").join("grants.json"))).unwrap();
        assert!(grants.add(Grant::new("a")).await.is_err());
        assert!(matches!(&grants.take_updates()[..], [GrantUpdate::Failed(text)] if text.contains("cannot write")));
        assert!(grants.take_updates().is_empty() && !grants.has("a"));
    }
}
