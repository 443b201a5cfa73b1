//! [`Step`]: what to do next.

use std::sync::Arc;

use agcore_chat::{Message, Question, ToolWork};
use serde::{Deserialize, Serialize};

use super::{end::End, outcome::expectation::Draft};

/// The next thing to do.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// No turn has started yet.
    Idle,
    /// Call the model. The outcome is a reply, a failure or a stop, or a summary if that was asked for.
    Call(CallPlan<'a>),
    /// Start these calls, then wait for a running one. If there are none to start, only wait.
    Run(Vec<ToolWork>),
    /// Check the answer of a typed turn. The outcome is a verdict.
    Check(Draft<'a>),
    /// Wait for an answer to one of these questions: save the state, or ask now.
    Wait(Vec<&'a Question>),
    /// Compact the conversation, because the model rejected it as too long. The outcome is a compaction; one that changes
    /// nothing ends the turn.
    Shorten(View<'a>),
    /// The turn is over.
    End(&'a End),
}

/// The conversation as a compaction sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct View<'a> {
    /// The messages that may be changed.
    pub older: &'a [Arc<Message>],
    /// The messages that the turn adds. They stay as they are.
    pub added: &'a [Arc<Message>],
}

impl View<'_> {
    /// Returns all messages.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.older.iter().chain(self.added).cloned().collect()
    }
}

/// One call of the model.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct CallPlan<'a> {
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The conversation so far.
    pub history: &'a [Arc<Message>],
    /// The messages that the turn adds after the history.
    pub pending: &'a [Arc<Message>],
}

impl CallPlan<'_> {
    /// Returns the messages to send.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.history.iter().chain(self.pending).cloned().collect()
    }
}

/// The purpose of a call of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// The next reply, with tools.
    Reply,
    /// The last reply, in which no tools can be called.
    WrapUp,
    /// A summary of these messages, without tools. It is not part of the conversation.
    Summary,
}
