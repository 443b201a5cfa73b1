//! Scripts written as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::answer::{Answer, Finish};
use super::api_error::ApiError;
use super::call::ToolCall;
use super::chunking::Chunking;
use super::fault::Fault;
use super::reply::Reply;
use super::script::Script;
use super::usage::TokenUsage;

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptFileError {
    /// The text is no JSON, or not of the form of a script; the cause names line and column.
    #[error("the script cannot be read")]
    Form(#[source] serde_json::Error),
    /// A step holds none, or more than one, of an answer, an error and raw bytes.
    #[error("step {index} of the script must hold one of: an answer, an error, raw bytes")]
    Step {
        /// The step's place, from 0.
        index: usize,
    },
}

/// Reads a script.
///
/// # Errors
///
/// When the text is no script.
///
/// ```
/// use agcore_testkit::mock_server::read_script;
///
/// let script = read_script(
///     r#"{
///         "steps": [
///             {"tool_calls": [{"name": "weather", "arguments": {"city": "Lisbon"}}]},
///             {"reasoning": "Hm.", "text": "Sunny.", "usage": {"input": 9, "output": 3}, "pace_ms": 20},
///             {"error": {"status": 429, "retry_after": "2"}},
///             {"text": "never seen whole", "faults": [{"cut": {"at": {"after_events": 3}, "ending": "reset"}}]},
///             {"raw": {"status": 200, "headers": {"content-type": "text/html"}, "body": "<html>"}}
///         ],
///         "repeat": true
///     }"#,
/// )
/// .unwrap();
/// assert_eq!(script.unused(), 5);
/// ```
pub fn read_script(text: &str) -> Result<Script, ScriptFileError> {
    let written: Written = serde_json::from_str(text).map_err(ScriptFileError::Form)?;
    let replies: Vec<Reply> = written
        .steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| step.reply(index))
        .collect::<Result<_, _>>()?;
    let script = Script::new(replies);
    Ok(if written.repeat { script.repeating() } else { script })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    steps: Vec<Step>,
    #[serde(default)]
    repeat: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    /// A string is taken as the raw text, anything else is written as JSON.
    arguments: Value,
    #[serde(default)]
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
}

impl Step {
    fn reply(mut self, index: usize) -> Result<Reply, ScriptFileError> {
        let (error, raw) = (self.error.take(), self.raw.take());
        let bare = match (self.answer(), error, raw) {
            (Some(answer), None, None) => Reply::answer(answer),
            (None, Some(error), None) => Reply::error(error),
            (None, None, Some(raw)) => Reply::raw(raw.status, raw.headers, raw.body),
            _ => return Err(ScriptFileError::Step { index }),
        };
        let reply = bare
            .with_chunking(self.chunking)
            .with_pace(Duration::from_millis(self.pace_ms));
        let reply = self
            .headers
            .into_iter()
            .fold(reply, |reply, (name, value)| reply.with_header(name, value));
        Ok(self.faults.into_iter().fold(reply, Reply::with_fault))
    }

    /// The answer, if any of its members is given.
    fn answer(&mut self) -> Option<Answer> {
        let mut answer = Answer::new();
        answer = given(answer, self.reasoning.take(), Answer::with_reasoning);
        answer = given(answer, self.text.take(), Answer::with_text);
        answer = given(answer, self.refusal.take(), Answer::with_refusal);
        answer = self
            .tool_calls
            .drain(..)
            .map(Call::call)
            .fold(answer, Answer::with_call);
        answer = given(answer, self.finish.take(), Answer::with_finish);
        let speaks = answer != Answer::new();
        answer = given(answer, self.usage.take(), Answer::with_usage);
        answer = given(answer, self.model.take(), Answer::with_model);
        speaks.then_some(answer)
    }
}

/// The answer with `value` added, if there is one.
fn given<T>(answer: Answer, value: Option<T>, add: impl FnOnce(Answer, T) -> Answer) -> Answer {
    match value {
        Some(value) => add(answer, value),
        None => answer,
    }
}

impl Call {
    fn call(self) -> ToolCall {
        let call = match self.arguments {
            Value::String(text) => ToolCall::raw(self.name, text),
            value => ToolCall::new(self.name, &value),
        };
        call.with_id(self.id)
    }
}
