//! [`StoredProfiles`]: the profiles of users in the journal of a store.

use std::sync::Arc;

use agcore_chat::Clock;
use agcore_profile::{ProfileError, ProfileRecord, ProfileSettings, ProfileSource, Uuid};
use agcore_session::{Journal, SessionError, SessionErrorKind, id};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::Document;

/// The profiles of the users of a tenant, in the journal of a store.
///
/// Each profile has a version, so that of two writers who have read the same one only the first succeeds.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_session::InMemoryJournal;
/// use agcore_profile::{ProfileRecord, UserAgentContext, Uuid};
/// use agcore_server::StoredProfiles;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let journal = Arc::new(InMemoryJournal::new());
/// let profiles = StoredProfiles::new(journal, Arc::new(SystemClock::new()), "acme");
/// let ann = Uuid::from_u128(7);
/// let version = profiles.save(&ProfileRecord::new(ann, "ann"), 0).await?;
/// profiles.save(&ProfileRecord::new(ann, "Ann").with_bio("I like tea."), version).await?;
///
/// let context = UserAgentContext::load(&profiles, ann).await?;
/// assert_eq!((context.username(), context.bio()), ("Ann", Some("I like tea.")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct StoredProfiles {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    tenant: String,
}

/// A profile as it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    username: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bio: Option<String>,
    settings: Value,
}

impl StoredProfiles {
    /// Creates a source for the users of a tenant.
    pub fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>, tenant: impl Into<String>) -> Self {
        Self {
            journal,
            clock,
            tenant: tenant.into(),
        }
    }

    /// Returns a profile with its version, or `None` if there is none.
    ///
    /// # Errors
    /// When the journal fails or the profile cannot be read.
    pub async fn get(&self, user_id: Uuid) -> Result<Option<(u64, ProfileRecord)>, SessionError> {
        let document = self.document(user_id);
        let Some((version, record)) = document.read().await? else {
            return Ok(None);
        };
        let stored = serde_json::from_value(record.data);
        let stored: Stored = stored.map_err(|error| document.damaged(error))?;
        let mut profile = ProfileRecord::new(user_id, stored.username).with_settings(stored.settings);
        profile.bio = stored.bio;
        Ok(Some((version, profile)))
    }

    /// Saves a profile that was read with this version, 0 for a new one. Returns the new version.
    ///
    /// # Errors
    /// - [`Conflict`](SessionErrorKind::Conflict) if the profile has another version: read it again.
    /// - [`InvalidInput`](SessionErrorKind::InvalidInput) with all wrong fields of the settings.
    /// - Other errors when the journal fails.
    pub async fn save(&self, profile: &ProfileRecord, version: u64) -> Result<u64, SessionError> {
        ProfileSettings::from_value(&profile.settings).map_err(|error| {
            let message = format!("the profile is not valid: {error}");
            SessionError::with_source(SessionErrorKind::InvalidInput, message, error)
        })?;
        let document = self.document(profile.user_id);
        let stored = Stored {
            username: profile.username.clone(),
            bio: profile.bio.clone(),
            settings: profile.settings.clone(),
        };
        let data = serde_json::to_value(stored).map_err(|error| document.damaged(error))?;
        document.write(version, "profile", data).await
    }

    /// Deletes a profile, as a part of the erasure of a user. Returns whether it existed.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn delete(&self, user_id: Uuid) -> Result<bool, SessionError> {
        self.journal.delete(&self.document(user_id).stream).await
    }

    fn document(&self, user_id: Uuid) -> Document<'_> {
        Document {
            journal: &self.journal,
            clock: &self.clock,
            stream: id::join(["profile", &self.tenant, &user_id.to_string()]),
        }
    }
}

#[async_trait]
impl ProfileSource for StoredProfiles {
    async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
        match self.get(user_id).await {
            Ok(found) => Ok(found.map(|(_, profile)| profile)),
            Err(error) => Err(ProfileError::unavailable("the stored profile cannot be read", error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::SystemClock;
    use agcore_profile::{ProfileErrorKind, UserAgentContext};
    use agcore_session::{InMemoryJournal, Record, Timestamp};
    use serde_json::json;

    use super::*;

    const ANN: Uuid = Uuid::from_u128(7);

    fn profiles(journal: &Arc<InMemoryJournal>, tenant: &str) -> StoredProfiles {
        StoredProfiles::new(
            Arc::<InMemoryJournal>::clone(journal),
            Arc::new(SystemClock::new()),
            tenant,
        )
    }

    #[tokio::test]
    async fn of_two_writers_one_wins_and_only_the_last_version_is_kept() {
        let journal = Arc::new(InMemoryJournal::new());
        let acme = profiles(&journal, "acme");
        assert_eq!(acme.get(ANN).await.unwrap(), None);
        let first = acme.save(&ProfileRecord::new(ANN, "first"), 0).await.unwrap();
        let second = ProfileRecord::new(ANN, "second")
            .with_bio("bio")
            .with_settings(json!({"version": 1, "preferences": {"country": "DE"}}));
        let version = acme.save(&second, first).await.unwrap();
        let late = acme.save(&ProfileRecord::new(ANN, "late"), first).await.unwrap_err();
        assert_eq!(late.kind(), SessionErrorKind::Conflict { expected: 1, found: 2 });
        assert_eq!(acme.get(ANN).await.unwrap(), Some((version, second)));
        let stream = id::join(["profile", "acme", &ANN.to_string()]);
        assert_eq!(journal.read(&stream, 0).await.unwrap().len(), 1);

        assert_eq!(profiles(&journal, "other").get(ANN).await.unwrap(), None);
        assert!(acme.delete(ANN).await.unwrap() && !acme.delete(ANN).await.unwrap());
        let error = UserAgentContext::load(&acme, ANN).await.unwrap_err();
        assert_eq!(error.kind(), ProfileErrorKind::NotFound);
    }

    #[tokio::test]
    async fn invalid_settings_are_not_saved_and_damaged_profiles_are_reported() {
        let journal = Arc::new(InMemoryJournal::new());
        let acme = profiles(&journal, "acme");
        let invalid = ProfileRecord::new(ANN, "ann").with_settings(json!({"preferences": {"country": "zz"}}));
        let error = acme.save(&invalid, 0).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
        assert!(error.message().contains("country"), "{error}");
        assert_eq!(acme.get(ANN).await.unwrap(), None);

        let stream = id::join(["profile", "acme", &ANN.to_string()]);
        let damaged = Record::new("profile", 1, Timestamp::default(), json!([]));
        journal.append(&stream, 0, vec![damaged]).await.unwrap();
        assert_eq!(acme.get(ANN).await.unwrap_err().kind(), SessionErrorKind::Serialization);
        let error = UserAgentContext::load(&acme, ANN).await.unwrap_err();
        assert_eq!(error.kind(), ProfileErrorKind::Unavailable);
    }
}
