//! [`RunJob`]: a run as the queue knows it, and [`RunInput`], what the run works on.

use agcore_chat::{Actor, Answer, Message, QuestionId};
use serde::{Deserialize, Serialize};

/// A run that waits or runs: plain data, so that a queue can keep it outside of the process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunJob {
    /// The owner of the thread.
    pub actor: Actor,
    /// The id of the thread: that of its session.
    pub thread: String,
    /// The id of the run, unique within the thread.
    pub run: String,
}

/// The input of a run, as it is stored with the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunInput {
    /// The name of the agent.
    pub(crate) agent: String,
    /// The message that starts a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Message>,
    /// The answers with which a suspended turn continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<GivenAnswer>,
}

/// An answer to a question of an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GivenAnswer {
    pub(crate) question: QuestionId,
    pub(crate) answer: Answer,
}

impl RunJob {
    /// Creates a job.
    pub fn new(actor: Actor, thread: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            actor,
            thread: thread.into(),
            run: run.into(),
        }
    }

    /// Returns the tenant and the thread, which identify the session.
    pub(crate) fn session(&self) -> (&str, &str) {
        (&self.actor.tenant, &self.thread)
    }
}
