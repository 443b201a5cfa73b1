//! [`Subject`]: the subject under test, a kind of provider together with a server for it.

use async_trait::async_trait;

use super::{behavior::Behavior, check_error::CheckError, fixture::Fixture, scenario::Scenario};

/// The subject under test: a kind of provider, together with a server that can play scenarios.
#[async_trait]
pub trait Subject: Send + Sync {
    /// Returns the name to print above the grid.
    fn name(&self) -> &str;

    /// Creates a new provider connected to a new server that plays this scenario.
    ///
    /// # Errors
    ///
    /// Returns [`CheckError::Skip`] if the server cannot play the scenario, and [`CheckError::Fail`] if the provider or
    /// the server failed to start.
    async fn set_up(&self, scenario: &Scenario) -> Result<Box<dyn Fixture>, CheckError>;

    /// Returns why a behavior is not checked on this subject, or `None` if it is. The grid reports the reason.
    fn skip_reason(&self, behavior: Behavior) -> Option<String> {
        let _ = behavior;
        None
    }
}

/// Behaviors that are not checked on a subject, each with its reason.
#[cfg(any(feature = "mock-server", feature = "scripted"))]
#[derive(Debug, Clone, Default)]
pub(super) struct Skips(Vec<(Behavior, String)>);

#[cfg(any(feature = "mock-server", feature = "scripted"))]
impl Skips {
    pub(super) fn add(&mut self, behavior: Behavior, reason: impl Into<String>) {
        self.0.push((behavior, reason.into()));
    }

    pub(super) fn reason(&self, behavior: Behavior) -> Option<String> {
        let skip = self.0.iter().find(|(skipped, _)| *skipped == behavior);
        skip.map(|(_, reason)| reason.clone())
    }
}
