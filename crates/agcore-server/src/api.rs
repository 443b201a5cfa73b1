//! The JSON forms of answers and requests.

mod agents;
mod costs;
mod hooks;
mod quotas;
mod reports;
mod schedules;
mod webhooks;
mod admin;

use agcore_session::{Run, Session, StoredMessage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::{
    admin::{
        DeadLetterDetails, DeadLetterPage, DeadLetterView, LeaseView, NewTokenBody, PauseBody, QuotaLimitsBody,
        ShareBody, TenantPage, TenantQuotaList, TenantQuotaView, TenantSchedulePage, TenantScheduleView, TenantView,
        TenantWebhookPage, TenantWebhookView, TokenPage, TokenView, TokenWithText, WorkerDetails, WorkerList,
        WorkerView,
    },
    agents::{AgentKind, AgentList, AgentView, ModelList, ModelView},
    costs::CostReportView,
    hooks::{DeliveryAnswer, DeliveryStatus},
    quotas::{QuotaList, QuotaView},
    reports::{ListedQuestionView, ListedRunView, QuestionPage, RunPage, SpanView, TimelineView},
    schedules::{NewScheduleBody, OccurrenceList, ScheduleChangeBody, SchedulePage, ScheduleView},
    webhooks::{
        DeliveryPage, DeliveryView, NewWebhookBody, WebhookChangeBody, WebhookPage, WebhookView, WebhookWithSecret,
    },
};
use crate::files::StoredFile;

/// A run that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedView {
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The id of the run.
    pub(crate) run_id: String,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    /// The id of the run.
    pub(crate) run_id: String,
    /// `queued`, `running`, `interrupted`, `completed`, `failed` or `cancelled`.
    pub(crate) status: String,
    /// When the run was accepted, as an RFC 3339 time.
    pub(crate) created_at: String,
    /// When the run changed last.
    pub(crate) updated_at: String,
}

/// A session: a thread with its state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The title, by default the beginning of the first message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// `pending`, `running`, `completed` or `failed`. A pending session waits for a person.
    pub(crate) status: String,
    /// The agent that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The tool call for which a pending session waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending_tool_call_id: Option<String>,
    /// The code of the error of a failed session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_id: Option<String>,
    /// When the session was created, as an RFC 3339 time.
    pub(crate) created_at: String,
    /// When the session changed last.
    pub(crate) updated_at: String,
}

/// A session with its runs and open questions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionDetails {
    /// The session.
    #[serde(flatten)]
    pub(crate) session: SessionView,
    /// The newest 200 runs, in the order in which they were accepted.
    pub(crate) runs: Vec<RunView>,
    /// The questions that wait for a person.
    pub(crate) questions: Vec<QuestionView>,
}

/// A question that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionView {
    /// The id, by which the question is answered.
    pub(crate) interrupt_id: String,
    /// The run that waits.
    pub(crate) run_id: String,
    /// The question: its text, the tool and the arguments.
    pub(crate) question: Value,
    /// When the question was asked.
    pub(crate) asked_at: String,
}

/// A page of sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionPage {
    /// The sessions, those changed last first.
    pub(crate) sessions: Vec<SessionView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// The change of a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionChange {
    /// The new title; `null` removes it.
    pub(crate) title: Option<String>,
}

/// The branch of a session to create: with all messages, or a part of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BranchBody {
    /// The id of the new session; by default one that the server chooses.
    pub(crate) thread_id: Option<String>,
    /// The id of the last message of the branch, which must be the last one of a turn.
    pub(crate) after: Option<String>,
    /// The id of the first message that the branch does not have, which must be the first one of a turn.
    pub(crate) before: Option<String>,
}

/// The state that a session shares with its client.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct StateView {
    /// The number of the version; 0 if there is no state.
    pub(crate) version: u64,
    /// The state, any JSON value; `null` if there is none.
    pub(crate) state: Value,
}

/// A change of the state: either a patch or the new state.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateBody {
    /// The version that is changed, 0 if there is no state yet.
    pub(crate) version: u64,
    /// The change as a JSON Patch (RFC 6902): an array of operations.
    pub(crate) patch: Option<Value>,
    /// The new state, any JSON value.
    #[serde(default)]
    pub(crate) state: Value,
}

/// A message of the history.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageView {
    /// The number of the message in the session.
    pub(crate) seq: i64,
    /// The id.
    pub(crate) id: String,
    /// `user`, `assistant`, `system` or `tool`.
    pub(crate) role: String,
    /// The text.
    pub(crate) content: String,
    /// The kind of the message, such as a tool call with its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Value>,
    /// The run in which it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// When it was written.
    pub(crate) created_at: String,
}

/// A page of the history.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistoryPage {
    /// The messages in their order.
    pub(crate) messages: Vec<MessageView>,
    /// The value of `before` for the page before this one; absent on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}

/// Answers to questions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "only its schema is used: the members are read like those of a run"
)]
pub(crate) struct AnswersBody {
    /// The id of the run that continues; by default a new one.
    pub(crate) run_id: Option<String>,
    /// The answers, to some or all open questions.
    pub(crate) answers: Vec<AnswerBody>,
}

/// An answer to a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "only its schema is used: the members are read like those of a run"
)]
pub(crate) struct AnswerBody {
    /// The id of the question.
    pub(crate) interrupt_id: String,
    /// `resolved` or `cancelled`.
    pub(crate) status: String,
    /// The answer: `{"approved": true}`, or what the question asks for.
    pub(crate) payload: Option<Value>,
}

/// The files of a user.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileList {
    /// The files, the oldest first.
    pub(crate) files: Vec<FileView>,
}

/// A file that a user has uploaded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileView {
    /// The id, by which runs of flows name the file in `forwardedProps.files`.
    pub(crate) file_id: String,
    /// The name, as the user knows it.
    pub(crate) name: String,
    /// The kind, which was detected: `text`, `markdown`, `html`, `json`, `csv`, `tsv`, `xlsx`, `pdf`, `docx` or `other`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The size in bytes.
    pub(crate) size: u64,
    /// When it was uploaded, as an RFC 3339 time.
    pub(crate) created_at: String,
}

/// The usage of sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageReport {
    /// The sum of all entries.
    pub(crate) total: UsageTotals,
    /// The sessions, those changed last first.
    pub(crate) sessions: Vec<SessionUsage>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// The usage of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionUsage {
    /// The id of the thread.
    pub(crate) thread_id: String,
    /// The sum of its messages.
    #[serde(flatten)]
    pub(crate) totals: UsageTotals,
}

/// Sums of model calls.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsageTotals {
    /// The calls of models, also those for summaries, repairs and searches.
    pub(crate) model_calls: u64,
    /// The calls whose cost is unknown. They are not contained in the costs.
    pub(crate) unpriced_calls: u64,
    /// The calls whose usage is unknown, because their answer broke off or the server was killed. They may have been charged.
    pub(crate) incomplete_calls: u64,
    /// All tokens of requests.
    pub(crate) input_tokens: u64,
    /// All tokens of replies.
    pub(crate) output_tokens: u64,
    /// The tokens of requests that were read from a cache.
    pub(crate) cached_input_tokens: u64,
    /// The costs by currency, as decimal numbers.
    pub(crate) costs: std::collections::BTreeMap<String, String>,
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        Self {
            run_id: run.id,
            status: run.status.to_string(),
            created_at: run.created_at.to_string(),
            updated_at: run.updated_at.to_string(),
        }
    }
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        Self {
            agent: crate::service::agent_of(&session).map(str::to_owned),
            thread_id: session.id,
            title: session.title,
            status: session.status.to_string(),
            pending_tool_call_id: session.pending_tool_call_id,
            error_id: session.error_id,
            created_at: session.created_at.to_string(),
            updated_at: session.updated_at.to_string(),
        }
    }
}

impl From<StoredFile> for FileView {
    fn from(file: StoredFile) -> Self {
        Self {
            file_id: file.id,
            name: file.name,
            kind: file.kind.to_string(),
            size: file.size,
            created_at: file.created_at.to_string(),
        }
    }
}

impl From<StoredMessage> for MessageView {
    fn from(message: StoredMessage) -> Self {
        Self {
            seq: message.seq,
            id: message.id,
            role: message.role.as_str().to_owned(),
            content: message.content,
            metadata: message
                .metadata
                .and_then(|metadata| serde_json::to_value(metadata).ok()),
            run_id: message.run,
            created_at: message.created_at.to_string(),
        }
    }
}
