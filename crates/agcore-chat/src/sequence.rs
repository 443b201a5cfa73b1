//! [`validate_messages`]: whether a history may be sent.

use std::borrow::Borrow;

use crate::message::{Message, Role};

/// A history may not be sent as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message {index}: {kind}")]
#[non_exhaustive]
pub struct SequenceError {
    /// The message at fault, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub kind: SequenceErrorKind,
}

/// What is wrong with a message's place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SequenceErrorKind {
    /// There are no messages.
    #[error("there are no messages; add at least one")]
    Empty,
    /// Two messages of one role in a row.
    #[error("a second {0} message in a row; join it with the one before")]
    Repeated(Role),
    /// A tool message without a call before it.
    #[error("a result for the call `{0}`, but the assistant message before it makes no such call")]
    UnknownCall(String),
    /// A call answered twice.
    #[error("a second result for the call `{0}`; each call is answered once")]
    AnsweredTwice(String),
    /// Calls without results; the index is the assistant message's.
    #[error("the call `{0}` has no result right after this message")]
    Unanswered(String),
    /// Two calls of one id in one message.
    #[error("two calls with the id `{0}`; ids are unique within a message")]
    DuplicateCall(String),
}

/// Checks that a history may be sent: it is not empty, each tool message answers a call of the assistant message before it,
/// each call is answered exactly once before anybody else speaks, and no two messages of one role follow each other (tool,
/// system and developer messages may).
///
/// ```
/// use agcore_chat::{Message, validate_messages};
/// assert!(validate_messages(&[Message::user("Hello"), Message::assistant("Hi")]).is_ok());
/// let error = validate_messages(&[Message::user("Hello"), Message::user("Hello?")]).unwrap_err();
/// assert_eq!(error.index, 1);
/// ```
///
/// # Errors
/// The first fault, with its index.
pub fn validate_messages<M: Borrow<Message>>(messages: &[M]) -> Result<(), SequenceError> {
    if messages.is_empty() {
        return Err(SequenceError {
            index: 0,
            kind: SequenceErrorKind::Empty,
        });
    }
    let mut open = OpenCalls::default();
    let mut last = None;
    for (index, message) in messages.iter().enumerate() {
        let message = message.borrow();
        let fault = |kind| SequenceError { index, kind };
        if let Message::Tool(result) = message {
            open.answer(&result.tool_call_id).map_err(fault)?;
        } else {
            open.close()?;
            let role = message.role();
            if last == Some(role) && !message.is_instruction() {
                return Err(fault(SequenceErrorKind::Repeated(role)));
            }
            if let Message::Assistant(reply) = message {
                open = OpenCalls::of(index, reply.tool_calls().map(|call| call.id.as_str())).map_err(fault)?;
            }
        }
        last = Some(message.role());
    }
    open.close()
}

/// The calls of the newest assistant message.
#[derive(Default)]
struct OpenCalls<'a> {
    index: usize,
    calls: Vec<(&'a str, bool)>,
}

impl<'a> OpenCalls<'a> {
    fn of(index: usize, ids: impl Iterator<Item = &'a str>) -> Result<Self, SequenceErrorKind> {
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
