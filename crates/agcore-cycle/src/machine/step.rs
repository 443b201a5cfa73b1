//! [`Step`]: what is to be done.

use std::sync::Arc;

use agcore_chat::{Message, Question, ToolWork};
use serde::{Deserialize, Serialize};

use super::{end::End, expectation::Draft};

/// What is to be done.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// No turn has begun yet.
    Idle,
    /// Call the model. Answered by a reply, a failure or a stop; a call for a summary by that.
    Call(CallPlan<'a>),
    /// Start these calls and wait for any that runs; without any, wait for those that run.
    Run(Vec<ToolWork>),
    /// Check the answer of a typed turn. Answered by a verdict.
    Check(Draft<'a>),
    /// Nothing can go on before one of these is answered: save the state, or ask now.
    Wait(Vec<&'a Question>),
    /// The model says that the conversation is too long for it: make it shorter. Answered by a compaction; one that changes
    /// nothing ends the turn.
    Shorten(View<'a>),
    /// The turn is over.
    End(&'a End),
}

/// The conversation as a compaction sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct View<'a> {
    /// What may be changed.
    pub older: &'a [Arc<Message>],
    /// What the turn adds; it stays as it is.
    pub added: &'a [Arc<Message>],
}

impl View<'_> {
    /// All of it.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.older.iter().chain(self.added).cloned().collect()
    }
}

/// One call of the model.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct CallPlan<'a> {
    /// What for.
    pub purpose: Purpose,
    /// The conversation so far.
    pub history: &'a [Arc<Message>],
    /// What the turn adds to it, after the history.
    pub pending: &'a [Arc<Message>],
}

impl CallPlan<'_> {
    /// The messages to send.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.history.iter().chain(self.pending).cloned().collect()
    }
}

/// What a call of the model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// The next reply, with tools.
    Reply,
    /// The last reply, without tools.
    WrapUp,
    /// A summary of these messages, without tools. It is no part of the conversation.
    Summary,
}
