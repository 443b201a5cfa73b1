//! [`Subject`]: what is put to the test, a kind of provider and a server for it.

use async_trait::async_trait;

use super::{behaviour::Behaviour, halt::Halt, scenario::Scenario, stage::Stage};

/// What is put to the test: a kind of provider, and a server that behaves as it is told.
#[async_trait]
pub trait Subject: Send + Sync {
    /// What it is called above its grid.
    fn name(&self) -> &str;

    /// A fresh provider on a fresh server that plays this scenario.
    ///
    /// # Errors
    /// `Skip` when the server cannot play it, `Fail` when it should and did not come up.
    async fn stage(&self, scenario: &Scenario) -> Result<Box<dyn Stage>, Halt>;

    /// Why a behaviour is not asked of this subject; the reason stands in the grid.
    fn skips(&self, behaviour: Behaviour) -> Option<String> {
        let _ = behaviour;
        None
    }
}
