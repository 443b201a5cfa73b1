//! [`restart_dead_letter`]: starting a run again that has ended its workers.

use agcore_session::{
    Commit, Hold, Run, RunFilter, RunStatus, SessionError, SessionErrorKind, SessionState, SessionStatus, SessionStore,
    id,
};

use super::event::LogEvent;

/// The number of times the note of a restart is written again because the session has changed in the meantime.
const ATTEMPTS: u32 = 50;

/// Why a dead letter was not started again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestartError {
    /// There is no such run.
    #[error("the thread has no such run; check the ids")]
    NotFound,
    /// The run is not a dead letter.
    #[error("the run is not a dead letter, perhaps because it was started again already")]
    NotDead,
    /// The conversation would continue in the past.
    #[error("the thread has continued with other runs since then; discard the dead letter, and start another run")]
    Continued,
    /// Another process changes the runs of the thread, or stores the end of the run.
    #[error("another process changes the thread at this moment; try again")]
    Busy,
    /// The store failed.
    #[error("the run was not started again: {0}")]
    Store(#[source] SessionError),
}

/// Queues a [dead letter](agcore_session::DeadLetter) of a server again: it continues where its workers have left it. Of several
/// requests, only the first one does.
///
/// The events of a run that has failed have its end. This notes in them that the run starts again, which
/// [`revive`](agcore_session::RunLeases::revive) alone does not. Servers that share the store take the run at once, and one that
/// has it alone within 30 s.
///
/// # Errors
/// When there is no such run, it is not a dead letter, its thread has continued without it, or the store fails.
///
/// # Cancel safety
/// Dropping the future leaves open whether the run is queued. Calling it again is harmless.
pub async fn restart_dead_letter(
    store: &dyn SessionStore,
    (tenant, thread, run): (&str, &str, &str),
) -> Result<(), RestartError> {
    let _admission = hold(store, &id::join(["admission", tenant, thread])).await?;
    restart(store, (tenant, thread, run)).await
}

/// Does the same for a caller that alone changes the runs of the thread.
pub(crate) async fn restart(
    store: &dyn SessionStore,
    (tenant, thread, run): (&str, &str, &str),
) -> Result<(), RestartError> {
    let runs = store.runs(tenant, thread, &RunFilter::new()).await?;
    let place = runs
        .iter()
        .position(|known| known.id == run)
        .ok_or(RestartError::NotFound)?;
    if runs[place].lease.dead_at.is_none() {
        return Err(RestartError::NotDead);
    }
    let has_waited = |run: &Run| run.status == RunStatus::Queued;
    if !runs[place + 1..].iter().all(has_waited) {
        return Err(RestartError::Continued);
    }
    // A process that stores the end of the run has to be faster, or to find that the run is alive.
    let _end = hold(store, &id::join(["end", tenant, thread])).await?;
    // Before the run can be claimed: a run whose end is stored would not start again.
    note(store, (tenant, thread, run)).await?;
    Ok(store.revive(tenant, thread, run).await?)
}

/// Notes in the events of a run that it starts again, and has its session run again, if that has failed with it: a turn that
/// continues expects this.
async fn note(store: &dyn SessionStore, (tenant, thread, run): (&str, &str, &str)) -> Result<(), RestartError> {
    let mut attempt = 1;
    loop {
        let session = store.get_session(tenant, thread).await?.ok_or(RestartError::NotFound)?;
        let mut commit = Commit::new();
        commit.events = vec![LogEvent::Restarted.to_new_event(&run.into())?];
        if session.status == SessionStatus::Failed {
            commit.state = Some(SessionState::running());
        }
        match store.commit(tenant, thread, session.end, commit).await {
            Err(error) if matches!(error.kind(), SessionErrorKind::Conflict { .. }) && attempt < ATTEMPTS => {
                attempt += 1;
            }
            written => return Ok(written.map(drop)?),
        }
    }
}

async fn hold(store: &dyn SessionStore, name: &str) -> Result<Hold, RestartError> {
    match store.hold(name).await {
        Err(error) if error.kind() == SessionErrorKind::Held => Err(RestartError::Busy),
        hold => Ok(hold?),
    }
}

impl From<SessionError> for RestartError {
    fn from(error: SessionError) -> Self {
        match error.kind() {
            SessionErrorKind::NotFound => Self::NotFound,
            SessionErrorKind::InvalidState => Self::NotDead,
            _ => Self::Store(error),
        }
    }
}
