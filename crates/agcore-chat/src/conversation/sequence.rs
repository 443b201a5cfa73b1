//! [`validate_messages`]: the rules for the order of messages.

use std::borrow::Borrow;

use crate::conversation::message::{Message, Role};

/// The reason a history is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message {index}: {kind}")]
#[non_exhaustive]
pub struct SequenceError {
    /// The index of the invalid message, from 0.
    pub index: usize,
    /// The problem with this message.
    pub kind: SequenceErrorKind,
}

/// The problem with a message in a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SequenceErrorKind {
    /// There are no messages.
    #[error("there are no messages; add at least one")]
    Empty,
    /// Two consecutive messages have the same role.
    #[error("two consecutive {0} messages; merge them into one")]
    Repeated(Role),
    /// A tool message does not answer any call of the assistant message before it.
    #[error("result for the call `{0}`, but the preceding assistant message does not make this call")]
    UnknownCall(String),
    /// A call has two results.
    #[error("second result for the call `{0}`; each call must have exactly one")]
    AnsweredTwice(String),
    /// A call has no result; the index is that of the assistant message.
    #[error("the call `{0}` has no result directly after this message")]
    Unanswered(String),
    /// Two calls of a message have the same id.
    #[error("two calls with the id `{0}`; ids must be unique within a message")]
    DuplicateCall(String),
}

/// Checks that a history can be sent to a model.
///
/// A valid history is not empty. Each tool message answers a call of the assistant message before it, and each call has
/// exactly one result before any other message. No two consecutive messages have the same role, except tool, system and
/// developer messages.
///
/// ```
/// use agcore_chat::{Message, validate_messages};
///
/// assert!(validate_messages(&[Message::user("Hello"), Message::assistant("Hi")]).is_ok());
/// let error = validate_messages(&[Message::user("Hello"), Message::user("Hello?")]).unwrap_err();
/// assert_eq!(error.index, 1);
/// ```
///
/// # Errors
/// The first problem, with the index of its message.
pub fn validate_messages<M: Borrow<Message>>(messages: &[M]) -> Result<(), SequenceError> {
    check(messages.iter().map(Borrow::borrow).enumerate(), None)
}

/// Checks that messages can follow a history, which is empty or was [checked](validate_messages) before and is not checked
/// again: the result is that of [`validate_messages`] for both together.
///
/// ```
/// use agcore_chat::{Message, validate_appended};
///
/// let history = [Message::user("Hello"), Message::assistant("Hi")];
/// assert!(validate_appended(&history, &[Message::user("How are you?")]).is_ok());
/// let error = validate_appended(&history, &[Message::assistant("Hi?")]).unwrap_err();
/// assert_eq!(error.index, 2);
/// ```
///
/// # Errors
/// The first problem, with the index of its message, which counts those of the history.
pub fn validate_appended<M: Borrow<Message>, N: Borrow<Message>>(
    history: &[M],
    appended: &[N],
) -> Result<(), SequenceError> {
    // If the history ends with a round of tools, the next messages depend on all of it.
    let from_end = history.iter().map(Borrow::borrow).rev();
    let results = from_end
        .take_while(|message| matches!(message, Message::Tool(_)))
        .count();
    let start = history.len().saturating_sub(if results == 0 { 0 } else { results + 1 });
    let (before, round) = history.split_at(start);
    let messages = round
        .iter()
        .map(Borrow::borrow)
        .chain(appended.iter().map(Borrow::borrow));
    check(
        (start..).zip(messages),
        before.last().map(|message| message.borrow().role()),
    )
}

/// Checks messages with their indices that follow a message with the role `last`, all of whose calls have results.
fn check<'m, I>(messages: I, mut last: Option<Role>) -> Result<(), SequenceError>
where
    I: Iterator<Item = (usize, &'m Message)>,
{
    let mut open = OpenCalls::default();
    for (index, message) in messages {
        let error = |kind| SequenceError { index, kind };
        if let Message::Tool(result) = message {
            open.answer(&result.tool_call_id).map_err(error)?;
        } else {
            open.close()?;
            let role = message.role();
            if last == Some(role) && !message.is_instruction() {
                return Err(error(SequenceErrorKind::Repeated(role)));
            }
            if let Message::Assistant(reply) = message {
                open = OpenCalls::new(index, reply.tool_calls().map(|call| call.id.as_str())).map_err(error)?;
            }
        }
        last = Some(message.role());
    }
    if last.is_none() {
        return Err(SequenceError {
            index: 0,
            kind: SequenceErrorKind::Empty,
        });
    }
    open.close()
}

/// The calls of the latest assistant message, and whether each is answered.
#[derive(Default)]
struct OpenCalls<'a> {
    index: usize,
    calls: Vec<(&'a str, bool)>,
}

impl<'a> OpenCalls<'a> {
    fn new(index: usize, ids: impl Iterator<Item = &'a str>) -> Result<Self, SequenceErrorKind> {
        let mut open = Self {
            index,
            calls: Vec::new(),
        };
        for id in ids {
            if open.calls.iter().any(|(other, _)| *other == id) {
                return Err(SequenceErrorKind::DuplicateCall(id.to_owned()));
            }
            open.calls.push((id, false));
        }
        Ok(open)
    }

    fn answer(&mut self, id: &str) -> Result<(), SequenceErrorKind> {
        match self.calls.iter_mut().find(|(call, _)| *call == id) {
            None => Err(SequenceErrorKind::UnknownCall(id.to_owned())),
            Some((_, true)) => Err(SequenceErrorKind::AnsweredTwice(id.to_owned())),
            Some((_, answered)) => {
                *answered = true;
                Ok(())
            }
        }
    }

    fn close(&mut self) -> Result<(), SequenceError> {
        let calls = std::mem::take(&mut self.calls);
        match calls.into_iter().find(|(_, answered)| !answered) {
            None => Ok(()),
            Some((id, _)) => Err(SequenceError {
                index: self.index,
                kind: SequenceErrorKind::Unanswered(id.to_owned()),
            }),
        }
    }
}
