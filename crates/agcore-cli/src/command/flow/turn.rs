//! [`Turn`]: a run of a flow in its session. A session has one run for each request.

use agcore::{
    chat::Actor,
    flow::Checkpoints,
    session::{MessageFilter, RunFilter, Visibility},
};

use super::file::failure;
use crate::{exit::Failure, sessions::Sessions};

/// The id of the first run of a session, and the beginning of the ids of the others.
const RUN: &str = "flow";

/// A run of a flow in its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn(u32);

impl Turn {
    /// Returns the run that was started last in a session.
    ///
    /// # Errors
    /// When the session has none, or the database cannot be read.
    pub(super) async fn last(sessions: &Sessions, session: &str) -> Result<Self, Failure> {
        let last = find(sessions, session).await?;
        last.ok_or_else(|| Failure::usage("no flow was run in this session\nBegin one: agcore flow run FILE PROMPT"))
    }

    /// Returns the run with which a request continues a session.
    ///
    /// # Errors
    /// When the run before it has not ended, or the database cannot be read.
    pub(super) async fn next(sessions: &Sessions, session: &str) -> Result<Self, Failure> {
        let Some(last) = find(sessions, session).await? else {
            return Ok(Self(1));
        };
        let checkpoints = last.checkpoints(sessions, session);
        // The process died before it began.
        if checkpoints.last().await.map_err(|error| failure(&error))? == 0 {
            return Ok(last);
        }
        if !checkpoints.has_ended().await.map_err(|error| failure(&error))? {
            let message = "the last run of this session has not ended\nContinue it first: leave the prompt out.";
            return Err(Failure::usage(message));
        }
        Ok(Self(last.0.saturating_add(1)))
    }

    /// Returns the id of the run.
    pub(super) fn id(self) -> String {
        match self.0 {
            1 => RUN.to_owned(),
            number => format!("{RUN}-{number}"),
        }
    }

    /// Returns the checkpoints of the run, which exists.
    pub(super) fn checkpoints(self, sessions: &Sessions, session: &str) -> Checkpoints {
        let tenant = Actor::local().tenant;
        Checkpoints::new(sessions.checkpoints(), tenant.as_str(), session, self.id())
    }
}

async fn find(sessions: &Sessions, session: &str) -> Result<Option<Turn>, Failure> {
    let tenant = Actor::local().tenant;
    let runs = sessions.store().runs(&tenant, session, &RunFilter::new()).await?;
    let numbers = runs.iter().filter_map(|run| match run.id.strip_prefix(RUN)? {
        "" => Some(1),
        rest => rest.strip_prefix('-')?.parse().ok(),
    });
    Ok(numbers.max().map(Turn))
}

/// Returns the ids of the messages of a session that are a part of the conversation.
///
/// # Errors
/// When the database cannot be read.
pub(super) async fn messages(sessions: &Sessions, session: &str) -> Result<Vec<String>, Failure> {
    let filter = MessageFilter::new().with_visibility(Visibility::CONTEXT);
    let tenant = Actor::local().tenant;
    let messages = sessions.store().messages(&tenant, session, &filter).await?;
    Ok(messages.into_iter().map(|message| message.id).collect())
}
