//! Answers that were interrupted: what came so far is kept in the conversation.

use std::sync::Arc;

use agcore::{AgentError, AgentSession, Message};

/// The part of an unfinished turn that is in the conversation.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::command::chat) enum Kept {
    /// The part of the answer that arrived.
    Answer,
    /// Tool calls with their results, and nothing of the answer after them.
    Rounds,
    /// Nothing, not even the message.
    Nothing,
}

/// Adds what came of an answer to the conversation, with a note that it is not complete. `before` is the conversation from
/// before the turn, and `message` the one with which the turn began.
///
/// # Errors
/// When the conversation would be invalid, or cannot be stored.
pub(in crate::command::chat) async fn keep(
    session: &AgentSession,
    before: &[Arc<Message>],
    message: Option<Message>,
    partial: &str,
    is_cancelled: bool,
) -> Result<Kept, AgentError> {
    let mut messages = session.messages().await;
    let has_rounds = messages.last() != before.last();
    if partial.trim().is_empty() {
        return Ok(if has_rounds { Kept::Rounds } else { Kept::Nothing });
    }
    if let Some(message) = message.filter(|_| !has_rounds) {
        messages.push(Arc::new(message));
        session.set_messages(messages).await?;
    }
    let reason = match is_cancelled {
        true => "[interrupted by the user]",
        false => "[the answer broke off because of an error]",
    };
    let answer = format!("{}\n\n{reason}", partial.trim_end());
    session.add_message(Message::assistant(answer)).await?;
    Ok(Kept::Answer)
}
