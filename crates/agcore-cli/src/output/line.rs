//! [`Line`]: the lines of machine-readable output. Their JSON Schema is derived from these types.
//!
//! Members are never renamed and types never reused: readers depend on them. Values that are unknown are `null` or
//! missing, never 0.

use std::collections::BTreeMap;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;

use super::{
    failure::{ErrorInfo, Retry},
    flow::{FlowEnd, FlowQuestion, FlowStart, NodeData, NodeEnd, NodeRetry, NodeStart},
    init::Init,
    tokens::{Cost, Tokens, UsageTotals},
};

/// The version of the format. It changes only if readers that ignore unknown types and members would fail.
pub(super) const VERSION: u8 = 1;

/// A line of `--output-format stream-json`. Readers must ignore unknown types and members.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "A line of agcore's output")]
pub(crate) struct Line {
    /// The version of the format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub(super) v: u8,
    /// The number of the line, from 0, without gaps.
    pub(super) seq: u64,
    /// The time, RFC 3339 in UTC.
    #[schemars(extend("format" = "date-time"))]
    pub(super) ts: String,
    /// The session; null before there is one.
    pub(super) session_id: Option<String>,
    /// The turn; null outside of turns.
    pub(super) turn_id: Option<String>,
    #[serde(flatten)]
    pub(super) event: Event,
}

/// The contents of a line, by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The settings of the session. The first line, unless the settings are invalid.
    Init(Box<Init>),
    /// A turn started.
    TurnStart(TurnStart),
    /// A complete message.
    Message(Message),
    /// The complete reasoning of a reply.
    Reasoning(Text),
    /// The model requests a tool call. It may still be refused.
    ToolUse(ToolUse),
    /// The tool begins to run a call.
    ToolStart(ToolStart),
    /// A call ended.
    ToolResult(ToolResult),
    /// A person is asked whether a call may run.
    ApprovalRequest(ApprovalRequest),
    /// The question was answered.
    ApprovalResolved(ApprovalResolved),
    /// A model call failed and is repeated.
    Retry(Retry),
    /// The conversation was shortened to fit into the model's context window.
    Compaction(Compaction),
    /// The tokens of one model call.
    Usage(CallUsage),
    /// Something to know that is not a failure.
    Warning(Warning),
    /// A piece of a message that is not complete yet. Only with --include-partial-messages.
    MessageDelta(Text),
    /// A piece of reasoning that is not complete yet. Only with --include-partial-messages.
    ReasoningDelta(Text),
    /// Progress of a running call. Only with --include-partial-messages.
    ToolOutputDelta(ToolOutputDelta),
    /// A step of a plan started or ended.
    PlanStep(PlanStep),
    /// Another agent has the conversation from now on.
    Handoff(Handoff),
    /// A flow started, or continues.
    FlowStart(FlowStart),
    /// A node of a flow started.
    NodeStart(NodeStart),
    /// A node of a flow failed and is tried again.
    NodeRetry(NodeRetry),
    /// Data that a node of a flow sends while it works.
    NodeData(NodeData),
    /// A node of a flow ended, successfully or not.
    NodeEnd(Box<NodeEnd>),
    /// A node of a flow asks a person.
    FlowQuestion(FlowQuestion),
    /// The turn ended, successfully or not.
    TurnEnd(TurnEnd),
    /// The result. Always the last line.
    Result(Box<RunResult>),
}

/// The start of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TurnStart {
    /// The agent that answers.
    pub(crate) agent: String,
}

/// A complete message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Message {
    /// The author.
    pub(crate) role: Role,
    /// Its text.
    pub(crate) text: String,
    /// Whether this is the answer. At most one message of a turn is.
    pub(crate) r#final: bool,
    /// Whether the reply broke off, so that the rest of this message is missing.
    pub(crate) partial: bool,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Instructions for the model.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
}

/// A tool call that the model requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToolUse {
    /// The call's id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments as the model wrote them: an object, or a text that is not JSON.
    pub(crate) input: Value,
    /// The call within which this one was made; null for calls of the main agent.
    pub(crate) parent_id: Option<String>,
}

/// The start of a call. A call that continues after a question starts again. One that is refused never starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToolStart {
    /// The call's id.
    pub(crate) id: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToolResult {
    /// The call's id.
    pub(crate) id: String,
    /// The end of the call.
    pub(crate) status: ToolStatus,
    /// The text that the model receives; null if there is none.
    pub(crate) output: Option<String>,
    /// How long the call took; null if unknown.
    pub(crate) duration_ms: Option<u64>,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolStatus {
    /// The tool returned a result.
    Ok,
    /// The tool failed, does not exist, or got invalid arguments.
    Error,
    /// The call was not allowed and did not run.
    Denied,
    /// The call was cancelled.
    Interrupted,
}

/// A change of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PlanStep {
    /// The plan's id.
    pub(crate) plan: String,
    /// The position of the step, from 0.
    pub(crate) index: u32,
    /// The new status: `running`, `completed`, `failed` or `skipped`.
    pub(crate) status: String,
    /// The work to do.
    pub(crate) description: String,
}

/// A change of the agent that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Handoff {
    /// The agent that had the conversation.
    pub(crate) from: String,
    /// The agent that has it from now on.
    pub(crate) to: String,
}

/// A question whether a call may run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ApprovalRequest {
    /// The call's id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments with which the call runs if it is approved.
    pub(crate) input: Value,
    /// The reason for the question.
    pub(crate) reason: String,
}

/// The answer to such a question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ApprovalResolved {
    /// The call's id.
    pub(crate) id: String,
    /// The answer.
    pub(crate) decision: Decision,
    /// How long an approval is valid: `once`, `session` or `always`; null for a denial.
    pub(crate) scope: Option<String>,
    /// Arguments that replace those of the model; null if they were not edited.
    pub(crate) input: Option<Value>,
    /// The reason for a denial, as the model receives it.
    pub(crate) message: Option<String>,
}

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run.
    Deny,
}

/// A shortened conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Compaction {
    /// `prune` if old tool results were removed, `summary` if the model summarized the older part; null after a failure.
    pub(crate) method: Option<String>,
    /// The estimated tokens of a request before.
    pub(crate) tokens_before: Option<u64>,
    /// The estimated tokens of a request after.
    pub(crate) tokens_after: Option<u64>,
    /// The reason that it failed; null if it did not.
    pub(crate) error: Option<ErrorInfo>,
}

/// The tokens of one model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CallUsage {
    /// The provider that answered.
    pub(crate) provider: String,
    /// The model that answered.
    pub(crate) model: String,
    #[serde(flatten)]
    pub(crate) tokens: Tokens,
}

/// Something to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Warning {
    /// The text.
    pub(crate) message: String,
}

/// Progress of a running call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToolOutputDelta {
    /// The call's id.
    pub(crate) id: String,
    /// The text.
    pub(crate) text: String,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TurnEnd {
    /// The number of model calls of the turn, including failed ones that returned a part of an answer.
    pub(crate) num_model_calls: u64,
}

/// The result of the run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RunResult {
    /// The end of the run.
    pub(crate) status: Status,
    /// The exit code of the process.
    pub(crate) exit_code: u8,
    /// The answer, or the part of it that arrived; null if there is none.
    pub(crate) text: Option<String>,
    /// The answer as JSON that matches the schema of `--schema`. Missing without `--schema`, or if there is no such answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    /// The reason that the model stopped, such as `stop`, `length` or `content_filter`; null if unknown.
    pub(crate) stop_reason: Option<String>,
    /// The error; null if there is none.
    pub(crate) error: Option<ErrorInfo>,
    /// The tokens.
    pub(crate) usage: RunUsage,
    /// The cost of the turn.
    pub(crate) cost: Cost,
    /// The calls that were not allowed.
    pub(crate) denials: Vec<Denial>,
    /// The end of a flow. Missing if the run is not that of a flow, or if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<FlowEnd>,
    /// The time from the start of the program.
    pub(crate) duration_ms: u64,
    /// The number of model calls of the turn, including failed ones that returned a part of an answer.
    pub(crate) num_model_calls: u64,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The model answered.
    Ok,
    /// The run failed.
    Error,
    /// A call was denied because no one could be asked.
    Denied,
    /// The limit of tool rounds was reached.
    MaxTurns,
    /// A budget was reached.
    MaxBudget,
    /// The turn waits for approvals, or the flow for answers, and continues with `--resume` when they are given.
    Suspended,
    /// The run was interrupted or terminated.
    Interrupted,
    /// The answer was cut off at the token limit, blocked by a content filter, or has no text.
    Incomplete,
}

/// The tokens of a run. They are null if no call reported them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RunUsage {
    /// The last model call.
    pub(crate) last_call: Option<Tokens>,
    /// All model calls of the turn.
    pub(crate) turn: Option<UsageTotals>,
    /// All model calls of the session.
    pub(crate) session: Option<UsageTotals>,
    /// The model calls of the turn that returned a whole reply, by model.
    pub(crate) by_model: BTreeMap<String, UsageTotals>,
}

/// A call that was not allowed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Denial {
    /// The call's id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments as the model wrote them.
    pub(crate) input: Value,
    /// The reason.
    pub(crate) reason: String,
}

/// Returns the JSON Schema (draft 2020-12) of a line, as text.
pub(crate) fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    format!("{:#}\n", generator.into_root_schema_for::<Line>().as_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_schema_is_up_to_date() {
        let stored = include_str!("../../../../docs/output-schema.json");
        assert!(
            schema() == stored.replace("\r\n", "\n"),
            "update it: cargo run -p agcore-cli -- schema > docs/output-schema.json"
        );
    }
}
