//! [`InboxView`]: the open questions as their page shows them.

use serde_json::Value;

use crate::format::encoded;

/// The open questions.
#[derive(Debug, Clone, Default)]
pub struct InboxView {
    /// The questions, the oldest first.
    pub questions: Vec<QuestionCard>,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
    /// The outcome of the last answer.
    pub notice: Option<Notice>,
    /// The outcomes of answers that were given together.
    pub report: Vec<BulkLine>,
}

/// The outcome of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The run continues.
    Answered,
    /// Somebody has answered before, or the run has ended: by whom and when, if that is known.
    Elsewhere(String, String),
    /// The answer does not fit the question.
    Refused(String),
    /// No question was selected.
    NothingSelected,
}

/// A question to a person.
#[derive(Debug, Clone)]
pub struct QuestionCard {
    /// The id of the thread.
    pub thread: String,
    /// The run that waits.
    pub run: String,
    /// The id.
    pub id: String,
    /// The title of the thread.
    pub title: Option<String>,
    /// The kind of answer that is needed.
    pub kind: QuestionKind,
    /// The text of the question.
    pub prompt: String,
    /// The tool that would run.
    pub tool: String,
    /// The arguments with which it would run, exactly.
    pub arguments: Value,
    /// Why the question is asked.
    pub reason: String,
    /// The schema of the answer.
    pub schema: Option<Value>,
    /// Whether the tool only reads.
    pub read_only: bool,
    /// Whether the tool may destroy data.
    pub destructive: bool,
    /// Whether the tool reaches the internet.
    pub open_world: bool,
    /// When it was asked, in milliseconds since 1970.
    pub asked: i64,
    /// The input of the user, if it was not accepted.
    pub draft: Option<Draft>,
}

impl QuestionCard {
    /// Returns the id of the element with the question, which no other question of the page has.
    pub(super) fn element(&self, part: &str) -> String {
        format!("{part}-{}-{}", encoded(&self.thread), encoded(&self.id))
    }
}

/// The kind of answer that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// Yes or no.
    Approval,
    /// Any value.
    Input,
    /// The result of a call that the client runs.
    Client,
}

/// The input of a user for a question, with the reason why it was not accepted. Nothing of it is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The edited arguments, if there are some.
    pub arguments: Option<String>,
    /// The answer.
    pub value: String,
    /// The reason of a denial.
    pub reason: String,
    /// Why it was not accepted.
    pub error: String,
}

/// The outcome of one of several answers that were given together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkLine {
    /// The tool, or the text of the question.
    pub question: String,
    /// The title of the thread.
    pub title: Option<String>,
    /// The outcome.
    pub outcome: BulkOutcome,
}

/// The outcome of an answer that was given with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkOutcome {
    /// The call runs.
    Allowed,
    /// The call does not run.
    Denied,
    /// Somebody has answered before, or the run has ended: by whom and when, if that is known.
    Elsewhere(String, String),
    /// The answer was not accepted.
    Refused(String),
}
