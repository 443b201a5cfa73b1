//! [`Skips`]: behaviours that are not asked of a subject, each with its reason.

use super::behaviour::Behaviour;

/// Behaviours that are not asked of a subject, each with its reason.
#[derive(Debug, Clone, Default)]
pub(super) struct Skips(Vec<(Behaviour, String)>);

impl Skips {
    pub(super) fn add(&mut self, behaviour: Behaviour, reason: impl Into<String>) {
        self.0.push((behaviour, reason.into()));
    }

    pub(super) fn reason(&self, behaviour: Behaviour) -> Option<String> {
        let skip = self.0.iter().find(|(skipped, _)| *skipped == behaviour);
        skip.map(|(_, reason)| reason.clone())
    }
}
