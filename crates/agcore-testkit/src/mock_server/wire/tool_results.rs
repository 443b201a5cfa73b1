//! [`validate_tool_results`]: the pairing rule for tool calls and results that all vendors share.

use crate::mock_server::{
    reply::ApiError,
    wire::prompt::{Prompt, Role, Turn},
};

/// Rejects a prompt in which a result does not answer a call of the preceding assistant turn, or in which a call is not
/// answered exactly once before the next turn.
pub(crate) fn validate_tool_results(prompt: &Prompt) -> Result<(), ApiError> {
    let mut open: Vec<&str> = Vec::new();
    for (index, turn) in prompt.turns.iter().enumerate() {
        if turn.role == Role::Tool {
            remove_answered(&mut open, turn, index)?;
            continue;
        }
        expect_all_answered(&open, index)?;
        open = turn.calls.iter().map(|call| call.id.as_str()).collect();
    }
    expect_all_answered(&open, prompt.turns.len())
}

fn remove_answered(open: &mut Vec<&str>, turn: &Turn, index: usize) -> Result<(), ApiError> {
    let id = turn.tool_call_id.as_deref().unwrap_or_default();
    let Some(position) = open.iter().position(|call| *call == id) else {
        return reject(
            index,
            format!("the tool result '{id}' does not match an unanswered tool call of the preceding message"),
        );
    };
    open.remove(position);
    Ok(())
}

fn expect_all_answered(open: &[&str], index: usize) -> Result<(), ApiError> {
    if open.is_empty() {
        return Ok(());
    }
    reject(
        index,
        format!(
            "tool calls must be followed by their results; missing results for: {}",
            open.join(", ")
        ),
    )
}

fn reject(index: usize, message: String) -> Result<(), ApiError> {
    Err(ApiError::new(400).with_message(format!("turn {index}: {message}")))
}
