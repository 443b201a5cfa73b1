//! Parsing scripts from JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::mock_server::reply::{Answer, ApiError, Chunking, Fault, Finish, Reply, TokenUsage, ToolCall};

/// An error that occurs while parsing a script.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptParseError {
    /// The text is not valid JSON or does not match the script format; the source reports the line and column.
    #[error("cannot parse the script")]
    Json(#[source] serde_json::Error),
    /// A step contains none, or more than one, of an answer, an error and raw bytes.
    #[error("step {index} of the script must contain exactly one of an answer, `error` or `raw`")]
    Step {
        /// The index of the step, starting at 0.
        index: usize,
    },
}

/// Parses a script from JSON. Called by [`Script::from_json`](super::Script::from_json).
pub(super) fn parse(text: &str) -> Result<(Vec<Reply>, bool), ScriptParseError> {
    let script: JsonScript = serde_json::from_str(text).map_err(ScriptParseError::Json)?;
    let replies = script
        .steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| step.into_reply(index))
        .collect::<Result<_, _>>()?;
    Ok((replies, script.repeat))
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a script, as in {\"steps\": [{\"text\": \"Hello\"}]}"
)]
struct JsonScript {
    steps: Vec<Step>,
    #[serde(default)]
    repeat: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step, as in {\"text\": \"Hello\"}")]
struct Step {
    reasoning: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
    finish: Option<Finish>,
    usage: Option<TokenUsage>,
    model: Option<String>,
    error: Option<ApiError>,
    raw: Option<Raw>,
    #[serde(default)]
    chunking: Chunking,
    #[serde(default)]
    pace_ms: u64,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a call, as in {\"name\": \"weather\", \"arguments\": {}}"
)]
struct Call {
    name: String,
    /// A string is used verbatim; any other value is serialized to JSON.
    arguments: Value,
    #[serde(default)]
    id: String,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a response, as in {\"status\": 200, \"body\": \"\"}"
)]
struct Raw {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
}

impl Step {
    fn into_reply(mut self, index: usize) -> Result<Reply, ScriptParseError> {
        let (error, raw) = (self.error.take(), self.raw.take());
        let reply = match (self.take_answer(), error, raw) {
            (Some(answer), None, None) => Reply::answer(answer),
            (None, Some(error), None) => Reply::error(error),
            (None, None, Some(raw)) => Reply::raw(raw.status, raw.headers, raw.body),
            _ => return Err(ScriptParseError::Step { index }),
        };
        let reply = reply
            .with_chunking(self.chunking)
            .with_pace(Duration::from_millis(self.pace_ms));
        let reply = self
            .headers
            .into_iter()
            .fold(reply, |reply, (name, value)| reply.with_header(name, value));
        Ok(self.faults.into_iter().fold(reply, Reply::with_fault))
    }

    /// Takes the members of an answer. Returns `None` if the step has no content and no finish reason.
    fn take_answer(&mut self) -> Option<Answer> {
        let mut answer = Answer::new();
        answer = with_optional(answer, self.reasoning.take(), Answer::with_reasoning);
        answer = with_optional(answer, self.text.take(), Answer::with_text);
        answer = with_optional(answer, self.refusal.take(), Answer::with_refusal);
        answer = self
            .tool_calls
            .drain(..)
            .map(Call::into_tool_call)
            .fold(answer, Answer::with_call);
        answer = with_optional(answer, self.finish.take(), Answer::with_finish);
        let is_answer = answer != Answer::new();
        answer = with_optional(answer, self.usage.take(), Answer::with_usage);
        answer = with_optional(answer, self.model.take(), Answer::with_model);
        is_answer.then_some(answer)
    }
}

/// Adds `value` to the answer, if there is one.
fn with_optional<T>(answer: Answer, value: Option<T>, add: impl FnOnce(Answer, T) -> Answer) -> Answer {
    match value {
        Some(value) => add(answer, value),
        None => answer,
    }
}

impl Call {
    fn into_tool_call(self) -> ToolCall {
        let call = match self.arguments {
            Value::String(text) => ToolCall::raw(self.name, text),
            value => ToolCall::new(self.name, &value),
        };
        call.with_id(self.id)
    }
}
