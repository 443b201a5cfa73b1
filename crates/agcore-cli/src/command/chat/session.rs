//! Creates the session of a chat from the settings.

use std::sync::Arc;

use agcore::{
    AgentBuilder, AgentSession, AgentSpec, ToolRegistry,
    agent::AgentConfig,
    tools::{Approver, AuditSink},
};

use crate::{
    args::{ChatArgs, PermissionMode},
    exit::Failure,
    permission_mode::PlanModeNotice,
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
    audited_session(args, settings, approver, None)
}

/// Creates a session and its policy, and passes decisions about calls to a sink.
///
/// # Errors
/// When the provider cannot be built, a rule names an unknown tool, or the grants cannot be read.
pub(super) fn audited_session(
    args: &ChatArgs,
    settings: &Settings,
    approver: Option<Arc<dyn Approver>>,
    audit: Option<Arc<dyn AuditSink>>,
) -> Result<(AgentSession, Policy), Failure> {
    let mode = args.permission_mode();
    let tools = sample_tools::registry().map_err(|error| Failure::task(error.to_string()))?;
    let policy = Policy::for_mode(&tools, &settings.tools, mode)?;
    let offered = if args.no_tools { ToolRegistry::new() } else { tools };
    let plan_notice = (mode == PermissionMode::Plan).then(|| PlanModeNotice::new(&offered));
    let provider = settings.provider.build();
    let mut builder = AgentBuilder::new()
        .with_provider(provider.map_err(|error| settings.setup_failure(error))?)
        .with_config(AgentConfig::new().with_trace_content(settings.trace_content))
        .with_tools(offered)
        .with_policy(policy.with_approver(approver))
        .with_state(NotesFile::default());
    if let Some(audit) = audit {
        builder = builder.with_audit(audit);
    }
    if let Some(notice) = plan_notice {
        builder = builder.with_hook(notice);
    }
    Ok((builder.build()?.session("chat", agent(settings)), policy))
}

/// Returns the agent that answers.
pub(super) fn agent(settings: &Settings) -> AgentSpec {
    AgentSpec::new("assistant", settings.system.as_str())
}
