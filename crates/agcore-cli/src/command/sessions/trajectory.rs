//! Reads trajectories: of stored sessions, and from files.

use agcore::{
    AgentBuilder,
    agent::Trajectory,
    chat::text::error_chain,
    llm::{LlmError, LlmErrorKind, provider_fn},
    session::Session,
};

use crate::{exit::Failure, sessions::Sessions};

/// Returns everything that happened in a session.
///
/// # Errors
/// When the records of the session are damaged or of a newer version, or the database cannot be read.
pub(super) async fn trajectory(session: &Session, sessions: &Sessions) -> Result<Trajectory, Failure> {
    let bundle = AgentBuilder::new()
        .with_provider(provider_fn(|_| async { Err(no_model()) }))
        .with_session_store(sessions.store())
        .build()?;
    let stored = bundle.stored_sessions()?.with_actor(session.owner.clone());
    Ok(stored.trajectory(&session.id).await?)
}

/// Reads a trajectory from the text of a file.
///
/// # Errors
/// When the text is not a trajectory.
pub(super) fn read(name: &str, text: &str) -> Result<Trajectory, Failure> {
    Trajectory::from_json_lines(text)
        .map_err(|error| Failure::usage(format!("cannot read {name}: {}", error_chain(&error))))
}

/// Returns the error of a model that is never called.
pub(super) fn no_model() -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, "there is no model in a replay")
}
