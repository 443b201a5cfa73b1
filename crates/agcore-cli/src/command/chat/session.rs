//! The session of a chat, as the settings tell it.

use std::sync::Arc;

use agcore::{AgentBuilder, AgentSession, AgentSpec, ToolRegistry, tools::Approver};

use crate::{
    args::ChatArgs,
    exit::Failure,
    sample_tools::{self, NotesFile},
    settings::Settings,
};

/// A new session.
///
/// # Errors
/// When the provider cannot be set up.
pub(super) fn session(
    args: &ChatArgs,
    settings: &Settings,
    approver: Option<Arc<dyn Approver>>,
) -> Result<AgentSession, Failure> {
    let tools = if args.no_tools {
        Ok(ToolRegistry::new())
    } else {
        sample_tools::registry()
    };
    let mut builder = AgentBuilder::new()
        .with_provider(settings.provider.build().map_err(Failure::setup)?)
        .with_tools(tools.map_err(|error| Failure::task(error.to_string()))?)
        .with_permissions(sample_tools::rules())
        .with_state(NotesFile::default());
    if let Some(approver) = approver {
        builder = builder.with_approver(approver);
    }
    let spec = AgentSpec::new("assistant", settings.system.as_str());
    Ok(builder.build()?.session("chat", Arc::new(spec)))
}
