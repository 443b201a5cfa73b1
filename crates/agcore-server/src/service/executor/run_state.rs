//! [`RunState`]: the state of a thread for the agents of a run.

use std::sync::Arc;

use agcore_agent::{AgentError, SharedState, SharedStateError, StateChange, StateVersion};
use agcore_agui::{EventType, Snapshot, StateValue};
use agcore_chat::ToolDefinition;
use agcore_session::{Commit, DocumentChange, SessionDocument, SessionError, SessionErrorKind};
use async_trait::async_trait;

use crate::{
    log::{LogInput, RunLog},
    service::agents::ServedAgent,
};

/// The state of a thread for the agents of a run. Its changes are written under the lease of the run, together with the events that
/// report them.
struct RunState(Arc<RunLog>);

/// Returns an agent with access to the state of the thread of a run, and reports the
/// state to the client at the start of the run.
///
/// # Errors
/// When the store fails, or the agent has a tool with the name of that for the state.
pub(super) async fn share(
    agent: &ServedAgent,
    tools: &[ToolDefinition],
    log: &Arc<RunLog>,
) -> Result<ServedAgent, AgentError> {
    report(log).await?;
    agent.with_state(Arc::new(RunState(Arc::clone(log))), tools)
}

/// Reports the state at the start of a run.
pub(super) async fn report(log: &Arc<RunLog>) -> Result<(), SessionError> {
    if log.feed.has(EventType::StateSnapshot) {
        // The run continues after a restart.
        return Ok(());
    }
    if let Some(document) = document(log).await? {
        let state = StateValue::new(document.value).with_version(document.version);
        // At once: another attempt finds the event.
        let event = LogInput::Report(Box::new(Snapshot::State(state).into()));
        log.append(Vec::new(), vec![event]).await?;
    }
    Ok(())
}

async fn document(log: &RunLog) -> Result<Option<SessionDocument>, SessionError> {
    let (tenant, thread) = log.job.session();
    log.store.document(tenant, thread).await
}

#[async_trait]
impl SharedState for RunState {
    async fn read(&self) -> Result<StateVersion, SharedStateError> {
        let found = document(&self.0).await.map_err(unavailable)?;
        Ok(found.map_or_else(StateVersion::default, |document| {
            let version = StateVersion::new(document.version, document.value);
            document.change.into_iter().fold(version, StateVersion::with_change)
        }))
    }

    async fn write(&self, base: u64, change: StateChange) -> Result<u64, SharedStateError> {
        let mut document = DocumentChange::new(change.value.clone()).with_base(base);
        document.name = change.name;
        let state = StateValue::new(change.value).with_version(base + 1);
        let event = LogInput::Report(Box::new(Snapshot::StateChange(state).into()));
        let written = self.0.append_commit(Commit::new().with_document(document), vec![event]);
        written.await.map(|()| base + 1).map_err(|error| match error.kind() {
            SessionErrorKind::StaleDocument { found } => SharedStateError::Stale { found },
            SessionErrorKind::InvalidInput => SharedStateError::Invalid(error.message().to_owned()),
            _ => unavailable(error),
        })
    }
}

fn unavailable(error: SessionError) -> SharedStateError {
    SharedStateError::Unavailable(error.into())
}
