//! [`Line`]: the lines of machine-readable output. Their JSON Schema is derived from these types.
//!
//! Members are never renamed and types never reused: readers depend on them. Values that are unknown are `null` or
//! missing, never 0.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    call::{ApprovalRequest, ApprovalResolved, ToolOutputDelta, ToolResult, ToolStart, ToolUse},
    failure::Retry,
    flow::{FlowQuestion, FlowStart, NodeData, NodeEnd, NodeRetry, NodeStart},
    init::Init,
    result::RunResult,
    turn::{CallUsage, Compaction, Handoff, Message, PlanStep, Text, TurnEnd, TurnStart, Warning},
};

/// The version of the format. It changes only if readers that ignore unknown types and members would fail.
pub const VERSION: u8 = 1;

/// A line of `--output-format stream-json`. Readers must ignore unknown types and members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
#[cfg_attr(feature = "schema", schemars(title = "A line of agcore's output"))]
pub struct Line {
    /// The version of the format: 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    pub v: u8,
    /// The number of the line, from 0, without gaps.
    pub seq: u64,
    /// The time, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub ts: String,
    /// The session; null before there is one.
    pub session_id: Option<String>,
    /// The turn; null outside of turns.
    pub turn_id: Option<String>,
    /// The contents.
    #[serde(flatten)]
    pub event: Event,
}

/// The contents of a line, by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
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
    /// A message for the user that is not a failure.
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
    /// A type that only later versions know. It is read and never written.
    #[serde(other, skip_serializing)]
    Unknown,
}

impl Line {
    /// Parses a line.
    ///
    /// # Errors
    /// [`LineError`] for a text that is not a line of this version.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let Version { v } = serde_json::from_str(text).map_err(LineError::Invalid)?;
        match v == u64::from(VERSION) {
            true => serde_json::from_str(text).map_err(LineError::Invalid),
            false => Err(LineError::Version(v)),
        }
    }

    /// Returns the line as JSON, without a line break. `type` comes first, for people who read the lines.
    ///
    /// # Errors
    /// When the line has no JSON form, as [`Event::Unknown`].
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut line = serde_json::to_value(self)?;
        if let Value::Object(members) = &mut line
            && let Some(kind) = members.shift_remove("type")
        {
            members.shift_insert(0, "type".to_owned(), kind);
        }
        Ok(line.to_string())
    }
}

/// The only member of a line that means the same in all versions.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

/// A text that is not a line of the output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The text is not a line at all.
    #[error(
        "not a line of agcore's output; start agcore with `--output-format stream-json`, and read standard output only"
    )]
    Invalid(#[source] serde_json::Error),
    /// The line has another version of the format.
    #[error("the line has version {0} of the format, and only version {VERSION} is known; update agcore-stream-json")]
    Version(u64),
}

/// Returns the JSON Schema (draft 2020-12) of a line, as text.
#[cfg(feature = "schema")]
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    format!("{:#}\n", generator.into_root_schema_for::<Line>().as_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "schema")]
    #[test]
    fn the_stored_schema_is_up_to_date() {
        let stored = include_str!("../../../docs/output-schema.json");
        assert!(
            schema() == stored.replace("\r\n", "\n"),
            "update it: cargo run -p agcore-cli -- schema > docs/output-schema.json"
        );
    }

    const TURN_END: &str = r#"{"type":"turn_end","v":1,"seq":7,"ts":"2026-01-31T08:09:10Z","session_id":"s","turn_id":null,"num_model_calls":2}"#;

    #[test]
    fn a_line_is_read_and_written_unchanged() {
        let line = Line::parse(TURN_END).unwrap();
        assert_eq!((line.seq, line.session_id.as_deref()), (7, Some("s")));
        let Event::TurnEnd(end) = &line.event else {
            panic!("{line:?}")
        };
        assert_eq!(end.num_model_calls, 2);
        assert_eq!(line.to_json().unwrap(), TURN_END);
    }

    #[test]
    fn unknown_members_and_types_are_ignored() {
        let more = TURN_END.replace("\"v\"", "\"new\":[{}],\"v\"");
        assert_eq!(Line::parse(&more).unwrap(), Line::parse(TURN_END).unwrap());
        let unknown = Line::parse(&TURN_END.replace("turn_end", "unheard_of")).unwrap();
        assert_eq!((&unknown.event, unknown.seq), (&Event::Unknown, 7));
        assert!(unknown.to_json().is_err());
    }

    #[test]
    fn other_texts_and_versions_are_errors() {
        let check = |text: &str, expected: &str| {
            let error = Line::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("warning: no key", "read standard output only");
        check("{}", "not a line of agcore's output");
        check(&TURN_END.replace("\"num_model_calls\":2", "\"a\":1"), "not a line");
        check(&TURN_END.replace("\"v\":1", "\"v\":2"), "version 2 of the format");
        check("{\"v\":300,\"all\":\"new\"}", "update agcore-stream-json");
    }
}
