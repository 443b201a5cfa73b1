//! Comparing responses with the answers that a server gave.

use agcore_chat::{AssistantMessage, Block, ChatResponse, FinishReason, ToolCall};
use serde_json::Value;

use super::{
    answer::Answer,
    check_error::{CheckError, ensure, ensure_equal},
};

/// Fails unless the response matches the answer. Token usage is not compared.
pub(super) fn expect_answer(response: &ChatResponse, answer: &Answer) -> Result<(), CheckError> {
    ensure_equal("number of choices", &response.choices.len(), &1)?;
    let message = &response.choices[0].message;
    expect_message(message, &answer.message)?;
    expect_finish(response.finish_reason(), answer)
}

/// Fails unless two messages have the same content in the same order.
pub(super) fn expect_message(found: &AssistantMessage, expected: &AssistantMessage) -> Result<(), CheckError> {
    ensure_equal("text", &found.text(), &expected.text())?;
    ensure_equal("reasoning", &found.reasoning(), &expected.reasoning())?;
    ensure_equal("refusal", &found.refusal_text(), &expected.refusal_text())?;
    let calls = |message: &AssistantMessage| message.tool_calls().map(call_view).collect::<Vec<_>>();
    ensure_equal("calls", &calls(found), &calls(expected))?;
    ensure_equal("order", &order(found), &order(expected))
}

/// Returns the id, name and arguments of a call. Arguments are compared as values, because APIs that transmit them as
/// an object change their text.
pub(super) fn call_view(call: &ToolCall) -> (String, String, Value) {
    let raw = call.raw_input();
    let arguments = serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned()));
    (call.id.clone(), call.name.clone(), arguments)
}

/// Returns the kinds of content in order, with consecutive duplicates removed.
fn order(message: &AssistantMessage) -> Vec<&'static str> {
    let kinds = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => (!text.text.is_empty()).then_some("text"),
        Block::Reasoning(_) => Some("reasoning"),
        Block::Call(_) => Some("calls"),
        _ => None,
    });
    let mut kinds: Vec<_> = kinds.collect();
    kinds.dedup();
    kinds
}

/// Fails unless the finish reason matches the answer. Servers end a refusal with `stop` or with a separate reason.
fn expect_finish(found: Option<&FinishReason>, answer: &Answer) -> Result<(), CheckError> {
    let is_refusal = answer.message.refusal_text().is_some();
    let ends_refusal = matches!(found, Some(FinishReason::Stop | FinishReason::Refusal));
    ensure((is_refusal && ends_refusal) || found == Some(&answer.finish), || {
        format!("finish reason: found {found:?}, expected {}", answer.finish)
    })
}
