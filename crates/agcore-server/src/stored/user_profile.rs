//! [`UserProfile`]: the profile of the user for whom a run was started.

use std::sync::Arc;

use agcore_profile::{ProfileError, ProfileRecord, ProfileSource, UserAgentContext, Uuid, build_global_system_prompt};
use async_trait::async_trait;

/// The profile of the user for whom a run was started, as it was when the run began or continued.
///
/// It is a [`ProfileSource`] that knows this user only, for planner flows.
#[derive(Debug, Clone)]
pub struct UserProfile {
    record: Arc<ProfileRecord>,
    context: Arc<UserAgentContext>,
    prompt: Arc<str>,
}

impl UserProfile {
    /// Checks a profile.
    ///
    /// # Errors
    /// When its settings are not valid: all wrong fields, for the log.
    pub(crate) async fn new(record: ProfileRecord) -> Result<Self, String> {
        let context = UserAgentContext::load(&Only(&record), record.user_id).await;
        let context = context.map_err(|error| error.to_string())?;
        let prompt = build_global_system_prompt(&context).map_err(|error| error.to_string())?;
        Ok(Self {
            record: Arc::new(record),
            context: Arc::new(context),
            prompt: prompt.into(),
        })
    }

    /// Returns the user as agents know them.
    pub fn context(&self) -> &UserAgentContext {
        &self.context
    }

    /// Returns a system prompt that begins with the description of the user.
    pub fn before(&self, system_prompt: &str) -> String {
        format!("{}\n\n{system_prompt}", self.prompt).trim_end().to_owned()
    }
}

#[async_trait]
impl ProfileSource for UserProfile {
    async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
        Only(&self.record).profile(user_id).await
    }
}

/// The source that has one profile.
#[derive(Debug)]
struct Only<'a>(&'a ProfileRecord);

#[async_trait]
impl ProfileSource for Only<'_> {
    async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
        Ok(Some(self.0).filter(|record| record.user_id == user_id).cloned())
    }
}
