//! [`RunView`]: a run as its page shows it.

use serde_json::Value;

use crate::{
    format::duration,
    parts::{Status, Usage},
    runs::RunRow,
    texts::Texts,
};

/// A run with a part of its timeline.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The run.
    pub run: RunRow,
    /// The rows that are shown.
    pub spans: Vec<SpanRow>,
    /// The number of rows before them.
    pub from: usize,
    /// The number of all rows.
    pub total: usize,
    /// The largest number of rows that are shown at once.
    pub page: usize,
    /// The time of the whole run in milliseconds since 1970, from its beginning to its end or the present.
    pub range: (i64, i64),
    /// The number of events that were read, if the run has more.
    pub cut_at: Option<usize>,
    /// The number of the row that is selected.
    pub selected: Option<usize>,
    /// The details of that row.
    pub inspector: Option<Inspector>,
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// The whole run.
    Run,
    /// A step of a flow.
    Step,
    /// The work of a sub-agent.
    Subagent,
    /// Calls of a model.
    Model,
    /// A tool call.
    Tool,
    /// A question to a person.
    Question,
    /// A pause.
    Wait,
    /// A moment.
    Note,
}

/// A row of a timeline.
#[derive(Debug, Clone)]
pub struct SpanRow {
    /// The number of the row.
    pub row: usize,
    /// The kind.
    pub kind: SpanKind,
    /// The name.
    pub name: String,
    /// The status.
    pub status: Status,
    /// The number of rows that contain it.
    pub depth: usize,
    /// When it began, in milliseconds since 1970.
    pub start: i64,
    /// When it ended, if it has.
    pub end: Option<i64>,
    /// A sentence about it.
    pub note: Option<String>,
    /// The usage of its model calls.
    pub usage: Option<Usage>,
}

impl SpanKind {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Run => "k-run",
            Self::Step => "k-step",
            Self::Subagent => "k-subagent",
            Self::Model => "k-model",
            Self::Tool => "k-tool",
            Self::Question => "k-question",
            Self::Wait => "k-wait",
            Self::Note => "k-note",
        }
    }

    pub(super) const fn label(self, texts: &Texts) -> &'static str {
        match self {
            Self::Run => texts.span_run,
            Self::Step => texts.span_step,
            Self::Subagent => texts.span_subagent,
            Self::Model => texts.span_model,
            Self::Tool => texts.span_tool,
            Self::Question => texts.span_question,
            Self::Wait => texts.span_wait,
            Self::Note => texts.span_note,
        }
    }
}

impl SpanRow {
    pub(super) fn took(&self, now: i64) -> String {
        duration(self.end.unwrap_or(now).saturating_sub(self.start))
    }
}

/// The details of a row.
#[derive(Debug, Clone)]
pub struct Inspector {
    /// The number of the row.
    pub row: usize,
    /// The row itself, which may be on another page.
    pub span: SpanRow,
    /// The arguments of a call, or of a question.
    pub arguments: Option<Value>,
    /// The result of a call, or the text of a message.
    pub result: Option<String>,
    /// The first events of the row.
    pub events: Vec<RawEvent>,
    /// The number of events that are not among them.
    pub more_events: u64,
}

/// An event as it is stored.
#[derive(Debug, Clone)]
pub struct RawEvent {
    /// The number of the event.
    pub seq: u64,
    /// The type.
    pub kind: String,
    /// The event.
    pub data: Value,
    /// The size of the event as JSON, in bytes.
    pub bytes: usize,
}
