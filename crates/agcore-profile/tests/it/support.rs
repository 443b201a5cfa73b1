//! Sources and contexts for several modules.

use agcore_profile::{ProfileError, ProfileRecord, ProfileSource, UserAgentContext, Uuid};
use async_trait::async_trait;
use futures_util::FutureExt;

/// The user of the tests.
pub(crate) const USER: Uuid = Uuid::from_u128(0x6f1c9d0e_6f0a_4d7e_9a52_0d6b1f2a3c4d);

/// A source that always returns the same record.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) Option<ProfileRecord>);

#[async_trait]
impl ProfileSource for Fixed {
    async fn profile(&self, _: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
        Ok(self.0.clone())
    }
}

/// Loads the context of [`USER`]. No source of the tests waits.
pub(crate) fn load(source: &dyn ProfileSource) -> Result<UserAgentContext, ProfileError> {
    UserAgentContext::load(source, USER).now_or_never().unwrap()
}

/// Returns the context of a record.
pub(crate) fn context(record: ProfileRecord) -> UserAgentContext {
    load(&Fixed(Some(record))).unwrap()
}
