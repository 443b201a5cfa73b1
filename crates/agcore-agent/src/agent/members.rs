//! [`Members`]: the agents of a bundle to which conversations can be handed over.

use std::{collections::BTreeMap, sync::Arc};

use agcore_tools::RegisteredTool;

use super::Agent;

/// The category of tools that need to know the turn in which they run.
pub(crate) const CATEGORY: &str = "agents";

/// The start of the tag that names the target of a handoff.
const HANDOFF_TAG: &str = "handoff:";

/// The agents of a bundle, by name.
#[derive(Clone, Default)]
pub(crate) struct Members(BTreeMap<String, Arc<dyn Agent>>);

impl Members {
    /// Adds an agent. Returns whether its name was new.
    pub(crate) fn add(&mut self, agent: Arc<dyn Agent>) -> bool {
        self.0.insert(agent.name().to_owned(), agent).is_none()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn Agent>> {
        self.0.get(name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<dyn Agent>> {
        self.0.values()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the tag of the tool that hands over to an agent.
pub(crate) fn handoff_tag(agent: &str) -> String {
    format!("{HANDOFF_TAG}{agent}")
}

/// Returns the agent to which a tool hands over, if it does.
pub(crate) fn handoff_target(tool: &RegisteredTool) -> Option<&str> {
    if tool.category() != Some(CATEGORY) {
        return None;
    }
    tool.tags().find_map(|tag| tag.strip_prefix(HANDOFF_TAG))
}
