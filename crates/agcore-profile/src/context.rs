//! [`UserAgentContext`]: the user for whom an agent works.

use uuid::Uuid;

use crate::{
    error::ProfileError,
    settings::ProfileSettings,
    source::{ProfileRecord, ProfileSource},
};

/// The user for whom an agent works. It is immutable: load it again to see changes of the profile.
///
/// ```
/// # #[derive(Debug)]
/// # struct Guests;
/// # #[async_trait::async_trait]
/// # impl agcore_profile::ProfileSource for Guests {
/// #     async fn profile(
/// #         &self,
/// #         user_id: agcore_profile::Uuid,
/// #     ) -> Result<Option<agcore_profile::ProfileRecord>, agcore_profile::ProfileError> {
/// #         Ok((user_id.as_u128() == 7).then(|| agcore_profile::ProfileRecord::new(user_id, "guest")))
/// #     }
/// # }
/// use agcore_profile::{ProfileErrorKind, UserAgentContext, Uuid};
///
/// # futures_util::FutureExt::now_or_never(async {
/// # let source = Guests;
/// let context = UserAgentContext::load(&source, Uuid::from_u128(7)).await?;
/// assert_eq!(context.username(), "guest");
/// assert_eq!(context.settings().preferences().timezone().as_str(), "Asia/Shanghai");
///
/// let error = UserAgentContext::load(&source, Uuid::from_u128(8)).await.unwrap_err();
/// assert_eq!(error.kind(), ProfileErrorKind::NotFound);
/// # Ok::<(), agcore_profile::ProfileError>(())
/// # }).unwrap().unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UserAgentContext {
    user_id: Uuid,
    username: String,
    bio: Option<String>,
    settings: ProfileSettings,
}

impl UserAgentContext {
    /// Loads the profile of a user and checks its settings.
    ///
    /// Cancel safe: dropping the future changes nothing.
    ///
    /// # Errors
    /// `NotFound` if the source has no profile of this user, `Invalid` with all wrong fields of the settings, and the errors
    /// of the source. A profile of another user than the one asked for is `Invalid`.
    pub async fn load(source: &dyn ProfileSource, user_id: Uuid) -> Result<Self, ProfileError> {
        let record = source
            .profile(user_id)
            .await?
            .ok_or_else(|| ProfileError::not_found(user_id))?;
        if record.user_id != user_id {
            let rule = format!("the profile of {user_id} was asked for; repair the source, which returned another one");
            return Err(crate::FieldError::text("user_id", &record.user_id.to_string(), rule).into());
        }
        let ProfileRecord {
            username,
            bio,
            settings,
            ..
        } = record;
        Ok(Self {
            user_id,
            username,
            bio,
            settings: ProfileSettings::from_value(&settings)?,
        })
    }

    /// Returns the id of the user.
    pub fn user_id(&self) -> Uuid {
        self.user_id
    }

    /// Returns the name that the user chose. It may contain anything.
    pub fn username(&self) -> &str {
        &self.username
    }

    /// Returns what users write about themselves. It may contain anything.
    pub fn bio(&self) -> Option<&str> {
        self.bio.as_deref()
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ProfileSettings {
        &self.settings
    }
}
