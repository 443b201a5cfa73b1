//! [`Agents`]: the parts that the agents of a flow share.

use std::sync::Arc;

use agcore_agent::RuntimeBundle;
use agcore_chat::Actor;
use agcore_flow::FlowError;

use crate::file::FlowFile;

/// The parts that the agents of a flow share: the bundle, and the beginning of their system prompts.
#[derive(Debug, Clone)]
pub(crate) struct Agents {
    pub(crate) bundle: RuntimeBundle,
    pub(crate) system_prompt: Arc<str>,
    /// The owner of the sessions in which the agents work.
    pub(crate) actor: Arc<Actor>,
    pub(super) max_repairs: Option<u32>,
}

impl Agents {
    pub(crate) fn new(bundle: RuntimeBundle, file: &FlowFile) -> Self {
        Self {
            bundle,
            system_prompt: Arc::from(""),
            actor: Arc::default(),
            max_repairs: file.limits.max_repairs,
        }
    }

    /// Checks that the bundle has all tools that an agent names.
    pub(crate) fn check_tools(&self, agent: &str, tools: &[String]) -> Result<(), FlowError> {
        let known = self.bundle.tools().snapshot();
        let missing = tools.iter().find(|tool| known.get(tool).is_none());
        missing.map_or(Ok(()), |missing| {
            let message = format!("the agent `{agent}` needs the tool `{missing}`, which is not registered");
            Err(FlowError::invalid_input(message))
        })
    }

    /// Checks the tools of all agents of a file.
    pub(crate) fn check_all_tools(&self, file: &FlowFile) -> Result<(), FlowError> {
        let mut agents = file.agents.iter();
        agents.try_for_each(|(name, agent)| self.check_tools(name, &agent.tools))
    }
}
