//! [`ProfileSource`]: where profiles come from, as [`ProfileRecord`]s.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;
use uuid::Uuid;

use crate::error::ProfileError;

/// A profile as a source stores it. Its settings are checked when a [`UserAgentContext`](crate::UserAgentContext) is created.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProfileRecord {
    /// The id of the user.
    pub user_id: Uuid,
    /// The name that the user chose.
    pub username: String,
    /// The text that users write about themselves.
    pub bio: Option<String>,
    /// The settings, in any version.
    pub settings: Value,
}

impl ProfileRecord {
    /// Creates a record with empty settings, which means that every preference has its default.
    pub fn new(user_id: Uuid, username: impl Into<String>) -> Self {
        Self {
            user_id,
            username: username.into(),
            bio: None,
            settings: Value::Object(serde_json::Map::new()),
        }
    }

    /// Sets the text that users write about themselves.
    #[must_use]
    pub fn with_bio(mut self, bio: impl Into<String>) -> Self {
        self.bio = Some(bio.into());
        self
    }

    /// Sets the settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }
}

/// A place where profiles are stored: a document, a database, a service.
///
/// ```
/// use agcore_profile::{ProfileError, ProfileRecord, ProfileSource, UserAgentContext, Uuid};
///
/// /// Everyone is a guest.
/// #[derive(Debug)]
/// struct Guests;
///
/// #[async_trait::async_trait]
/// impl ProfileSource for Guests {
///     async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
///         Ok(Some(ProfileRecord::new(user_id, "guest")))
///     }
/// }
///
/// # futures_util::FutureExt::now_or_never(async {
/// let context = UserAgentContext::load(&Guests, Uuid::from_u128(7)).await?;
/// assert_eq!(context.username(), "guest");
/// # Ok::<(), ProfileError>(())
/// # }).unwrap().unwrap();
/// ```
#[async_trait]
pub trait ProfileSource: Send + Sync + fmt::Debug {
    /// Returns the profile of a user, or `None` if there is none.
    ///
    /// Cancel safe: dropping the future changes nothing.
    ///
    /// # Errors
    /// [`ProfileError::unavailable`] if the source cannot be read now.
    async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError>;
}
