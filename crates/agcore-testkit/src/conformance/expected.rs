//! What a response must hold when a server gave an answer.

use agcore_chat::{AssistantMessage, Block, ChatResponse, FinishReason, ToolCall};
use serde_json::Value;

use super::{
    answer::Answer,
    halt::{Halt, ensure, same},
};

/// Fails unless the response says what the answer says; tokens are looked at apart.
pub(super) fn expect_answer(response: &ChatResponse, answer: &Answer) -> Result<(), Halt> {
    same("number of choices", &response.choices.len(), &1)?;
    let message = &response.choices[0].message;
    expect_message(message, &answer.message)?;
    expect_finish(response.finish_reason(), answer)
}

/// Fails unless two messages say the same, in the same order.
pub(super) fn expect_message(found: &AssistantMessage, expected: &AssistantMessage) -> Result<(), Halt> {
    same("text", &found.text(), &expected.text())?;
    same("reasoning", &found.reasoning(), &expected.reasoning())?;
    same("refusal", &found.refusal_text(), &expected.refusal_text())?;
    let calls = |message: &AssistantMessage| message.tool_calls().map(call_view).collect::<Vec<_>>();
    same("calls", &calls(found), &calls(expected))?;
    same("order", &order(found), &order(expected))
}

/// Id, name and arguments. APIs that carry arguments as an object write their text anew, so the values count.
pub(super) fn call_view(call: &ToolCall) -> (String, String, Value) {
    let raw = call.raw_input();
    let arguments = serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned()));
    (call.id.clone(), call.name.clone(), arguments)
}

/// The kinds of content in order; several of one kind in a row count once.
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

/// Servers end a refusal with `stop` or with a word of their own.
fn expect_finish(found: Option<&FinishReason>, answer: &Answer) -> Result<(), Halt> {
    let is_refusal = answer.message.refusal_text().is_some();
    let refused = matches!(found, Some(FinishReason::Stop | FinishReason::Refusal));
    ensure((is_refusal && refused) || found == Some(&answer.finish), || {
        format!("finish reason: found {found:?}, expected {}", answer.finish)
    })
}
