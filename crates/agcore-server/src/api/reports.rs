//! Runs and questions over all threads, and the timeline of a run.

use agcore_session::{CostTotals, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::UsageTotals;

use crate::reports::{ListedQuestion, RunReport, Span, SpanKind, SpanStatus};

/// A page of runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunPage {
    /// The runs of all threads, the newest first.
    pub(crate) runs: Vec<ListedRunView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A run with what it has used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedRunView {
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The title of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The id of the run.
    pub(crate) run_id: String,
    /// The agent or flow.
    pub(crate) agent: String,
    /// `queued`, `running`, `interrupted`, `completed`, `failed` or `cancelled`.
    pub(crate) status: String,
    /// When the run was accepted, as an RFC 3339 time.
    pub(crate) created_at: String,
    /// When the run changed last.
    pub(crate) updated_at: String,
    /// The time from its acceptance to its end in milliseconds, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    /// The models that have answered.
    pub(crate) models: Vec<String>,
    /// The sum of its model calls.
    pub(crate) usage: UsageTotals,
    /// The error with which it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<RunErrorView>,
}

/// The error of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunErrorView {
    /// The stable name of the error.
    pub(crate) code: String,
    /// The message for people.
    pub(crate) message: String,
}

/// A page of open questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuestionPage {
    /// The questions of all threads that wait for a person, the oldest first.
    pub(crate) questions: Vec<ListedQuestionView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A question with its thread.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedQuestionView {
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The title of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The run that waits.
    pub(crate) run_id: String,
    /// The id, by which the question is answered.
    pub(crate) interrupt_id: String,
    /// The question: its text, the tool and the arguments.
    pub(crate) question: Value,
    /// When the question was asked.
    pub(crate) asked_at: String,
}

/// The spans of a run, in the order of a tree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimelineView {
    /// The run.
    pub(crate) run: ListedRunView,
    /// The number of all spans.
    pub(crate) total: usize,
    /// The number of events that were read for the spans.
    pub(crate) events: usize,
    /// Whether the run has more events, which are left out.
    pub(crate) is_cut: bool,
    /// A page of the spans, each after the one that contains it. The first one of all is the run.
    pub(crate) spans: Vec<SpanView>,
    /// The value of `from` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<usize>,
}

/// A part of a run with its time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpanView {
    /// The kind.
    pub(crate) kind: SpanKind,
    /// The name: that of a tool, a step, an agent or a model, or the text of a question.
    pub(crate) name: String,
    /// The state.
    pub(crate) status: SpanStatus,
    /// The number of spans that contain it.
    pub(crate) depth: usize,
    /// When it began, as an RFC 3339 time.
    pub(crate) started_at: String,
    /// When it ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<String>,
    /// The id of the tool call, the question or the message that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<String>,
    /// A sentence about it, such as an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// The model calls that it consists of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<UsageTotals>,
    /// The ids of the first 200 events that belong to it.
    pub(crate) events: Vec<u64>,
    /// The number of all events that belong to it.
    pub(crate) event_count: u64,
}

impl From<&CostTotals> for UsageTotals {
    fn from(totals: &CostTotals) -> Self {
        Self {
            model_calls: totals.calls,
            unpriced_calls: totals.unpriced_calls,
            incomplete_calls: totals.incomplete_calls,
            input_tokens: totals.input_tokens,
            output_tokens: totals.output_tokens,
            cached_input_tokens: totals.cached_tokens,
            costs: totals
                .costs()
                .map(|(currency, amount)| (currency.to_owned(), amount))
                .collect(),
        }
    }
}

impl From<RunReport> for ListedRunView {
    fn from(report: RunReport) -> Self {
        Self {
            duration_ms: report.duration_ms(),
            thread_id: report.thread,
            title: report.title,
            run_id: report.run.id,
            agent: report.agent,
            status: report.run.status.to_string(),
            created_at: report.run.created_at.to_string(),
            updated_at: report.run.updated_at.to_string(),
            models: report.models,
            usage: UsageTotals::from(&report.totals),
            error: report.error.map(|(code, message)| RunErrorView { code, message }),
        }
    }
}

impl From<ListedQuestion> for ListedQuestionView {
    fn from(ListedQuestion { title, approval }: ListedQuestion) -> Self {
        Self {
            thread_id: approval.session,
            title,
            run_id: approval.run,
            interrupt_id: approval.id,
            question: approval.question,
            asked_at: approval.asked_at.to_string(),
        }
    }
}

impl From<Span> for SpanView {
    fn from(span: Span) -> Self {
        let time = |millis: i64| Timestamp::from_millis(millis).to_string();
        Self {
            kind: span.kind,
            name: span.name,
            status: span.status,
            depth: span.depth,
            started_at: time(span.start),
            ended_at: span.end.map(time),
            about: span.about,
            note: span.note,
            usage: span.totals.as_ref().map(UsageTotals::from),
            events: span.events,
            event_count: span.event_count,
        }
    }
}
