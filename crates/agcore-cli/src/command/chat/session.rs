//! Creates the session of a chat from the settings.

use std::sync::Arc;

use agcore::{AgentBuilder, AgentSession, AgentSpec, ToolRegistry, agent::AgentConfig, tools::Approver};

use crate::{
    args::ChatArgs,
    exit::Failure,
    policy::Policy,
    sample_tools::{self, NotesFile},
    settings::Settings,
};

/// Creates a session and its policy.
///
/// # Errors
/// When the provider cannot be built, a rule names an unknown tool, or the grants cannot be read.
pub(super) fn session(
    args: &ChatArgs,
    settings: &Settings,
    approver: Option<Arc<dyn Approver>>,
) -> Result<(AgentSession, Policy), Failure> {
    let tools = sample_tools::registry().map_err(|error| Failure::task(error.to_string()))?;
    let policy = Policy::new(&tools, &settings.tools)?;
    let offered = if args.no_tools { ToolRegistry::new() } else { tools };
    let bundle = AgentBuilder::new()
        .with_provider(settings.provider.build().map_err(Failure::setup)?)
        .with_config(AgentConfig::new().with_trace_content(settings.trace_content))
        .with_tools(offered)
        .with_policy(policy.with_approver(approver))
        .with_state(NotesFile::default())
        .build()?;
    Ok((bundle.session("chat", agent(settings)), policy))
}

/// Returns the agent that answers.
pub(super) fn agent(settings: &Settings) -> AgentSpec {
    AgentSpec::new("assistant", settings.system.as_str())
}
