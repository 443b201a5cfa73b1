//! [`Span`]: a part of a run with its time.

use agcore_session::CostTotals;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of events that a span keeps.
pub(super) const MAX_EVENTS: usize = 200;

/// A part of a run with its time.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) kind: SpanKind,
    pub(crate) name: String,
    pub(crate) status: SpanStatus,
    /// The number of spans that contain it.
    pub(crate) depth: usize,
    /// When it began, in milliseconds since 1970.
    pub(crate) start: i64,
    /// When it ended, if it has.
    pub(crate) end: Option<i64>,
    /// The id of the tool call, the question or the message that it is about.
    pub(crate) about: Option<String>,
    /// A sentence about it, such as an error.
    pub(crate) note: Option<String>,
    /// The model calls that it consists of.
    pub(crate) totals: Option<CostTotals>,
    /// The numbers of the first events that belong to it.
    pub(crate) events: Vec<u64>,
    /// The number of all events that belong to it.
    pub(crate) event_count: u64,
    /// The place of the span that contains it, before the spans are in order.
    pub(super) parent: Option<usize>,
}

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpanKind {
    /// The whole run.
    Run,
    /// A step of a flow.
    Step,
    /// The work of a sub-agent.
    Subagent,
    /// The calls of a model for one reply.
    Model,
    /// A tool call.
    Tool,
    /// A question to a person.
    Question,
    /// A pause before a call of a model: for another attempt, or for a limit.
    Wait,
    /// A notable moment, such as a compaction.
    Note,
}

/// The state of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpanStatus {
    /// It has ended without an error.
    Ok,
    /// It has failed.
    Failed,
    /// It has not ended.
    Running,
    /// It waits for a person.
    Waiting,
    /// It was cancelled.
    Cancelled,
}

impl Span {
    pub(super) fn new(kind: SpanKind, name: impl Into<String>, start: i64) -> Self {
        Self {
            kind,
            name: name.into(),
            status: SpanStatus::Running,
            depth: 0,
            start,
            end: None,
            about: None,
            note: None,
            totals: None,
            events: Vec::new(),
            event_count: 0,
            parent: None,
        }
    }

    pub(super) fn about(mut self, id: impl Into<String>) -> Self {
        self.about = Some(id.into());
        self
    }

    /// Ends the span, not before it began.
    pub(super) fn finish(&mut self, status: SpanStatus, at: i64) {
        self.status = status;
        self.end = Some(at.max(self.start));
    }

    /// Adds an event that belongs to the span.
    pub(super) fn add(&mut self, seq: u64) {
        self.event_count += 1;
        if self.events.len() < MAX_EVENTS {
            self.events.push(seq);
        }
    }
}
