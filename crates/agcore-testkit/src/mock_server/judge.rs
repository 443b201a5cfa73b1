//! The rule on calls and results that all vendors with call ids share.

use super::api_error::ApiError;
use super::prompt::{Prompt, Role, Turn};

/// Refuses a prompt in which a result answers no call of the assistant turn before it, or in which a call is not
/// answered exactly once before the conversation goes on.
pub(crate) fn judge_pairs(prompt: &Prompt) -> Result<(), ApiError> {
    let mut open: Vec<&str> = Vec::new();
    for (index, turn) in prompt.turns.iter().enumerate() {
        if turn.role == Role::Tool {
            close(&mut open, turn, index)?;
            continue;
        }
        none_left(&open, index)?;
        open = turn.calls.iter().map(|call| call.id.as_str()).collect();
    }
    none_left(&open, prompt.turns.len())
}

fn close(open: &mut Vec<&str>, turn: &Turn, index: usize) -> Result<(), ApiError> {
    let id = turn.answers.as_deref().unwrap_or_default();
    let Some(place) = open.iter().position(|call| *call == id) else {
        return refuse(
            index,
            format!("the tool result '{id}' does not answer an open tool call of the message before it"),
        );
    };
    open.remove(place);
    Ok(())
}

fn none_left(open: &[&str], index: usize) -> Result<(), ApiError> {
    if open.is_empty() {
        return Ok(());
    }
    refuse(
        index,
        format!(
            "tool calls must be followed by their results; these have none: {}",
            open.join(", ")
        ),
    )
}

fn refuse(index: usize, message: String) -> Result<(), ApiError> {
    Err(ApiError::new(400).with_message(format!("turn {index}: {message}")))
}
