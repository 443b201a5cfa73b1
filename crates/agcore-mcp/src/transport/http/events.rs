//! Streams of events with the messages of a server.

use std::{fmt, io};

use futures_util::{
    Stream, StreamExt as _,
    stream::{BoxStream, unfold},
};
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::transport::message::{Message, read};

/// A stream of events.
pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// An event is longer than the limit, in bytes.
#[derive(Debug)]
struct TooLong(usize);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event is longer than the limit of {} bytes", self.0)
    }
}

impl std::error::Error for TooLong {}

/// Returns the events of a body, each with a limit for its length, and with messages that the library can decode.
///
/// `asked` is the request that the body answers.
pub(super) fn events(response: reqwest::Response, asked: Option<RequestId>, limit: usize) -> Events {
    let mut length = Length::default();
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        match length.grows_to(&chunk) > limit {
            true => Err(io::Error::other(TooLong(limit))),
            false => Ok(chunk),
        }
    });
    // Nothing is read after an error: the rest of a long event would pass for events.
    let bytes = bytes.scan(false, |has_failed, chunk| {
        let next = (!*has_failed).then_some(chunk);
        *has_failed = matches!(&next, Some(Err(_)));
        std::future::ready(next)
    });
    repaired(SseStream::from_bytes_stream(bytes), asked)
}

/// Replaces the messages that the library cannot decode.
pub(super) fn repaired(
    events: impl Stream<Item = Result<Sse, SseError>> + Send + 'static,
    asked: Option<RequestId>,
) -> Events {
    events
        .map(move |event| event.map(|event| repaired_event(event, asked.as_ref())))
        .boxed()
}

fn repaired_event(mut event: Sse, asked: Option<&RequestId>) -> Sse {
    let Some(data) = event
        .data
        .as_deref()
        .filter(|data| is_message(&event) && !data.trim().is_empty())
    else {
        return event;
    };
    if serde_json::from_str::<Message>(data).is_ok_and(|message| !matches!(message, JsonRpcMessage::Error(_))) {
        return event;
    }
    let message = match read(data.as_bytes(), asked) {
        // One event is one message for the library; only the answer matters here.
        Ok(messages) => messages.into_iter().next_back(),
        Err(unreadable) => {
            let id = unreadable
                .id
                .clone()
                .or_else(|| asked.filter(|_| unreadable.is_answer).cloned());
            id.map(|id| unreadable.as_answer(id, data.as_bytes()))
        }
    };
    if let Some(message) = message.and_then(|message| serde_json::to_string(&message).ok()) {
        event.data = Some(message);
    }
    event
}

fn is_message(event: &Sse) -> bool {
    matches!(event.event.as_deref(), None | Some("" | "message"))
}

/// A stream that must bring the answer to a request.
struct Awaited {
    events: Events,
    asked: RequestId,
    is_answered: bool,
    /// Whether the library resumes the stream when it ends.
    can_resume: bool,
}

/// Adds an error for a request to a stream that ends without an answer and cannot be resumed.
pub(super) fn answered(events: Events, asked: RequestId) -> Events {
    let awaited = Awaited {
        events,
        asked,
        is_answered: false,
        can_resume: false,
    };
    unfold(awaited, |mut awaited| async move {
        match awaited.events.next().await {
            Some(event) => {
                if let Ok(event) = &event {
                    awaited.can_resume |= event.id.is_some();
                    awaited.is_answered |= answer_in(event).is_some();
                }
                Some((event, awaited))
            }
            None if awaited.is_answered || awaited.can_resume => None,
            None => {
                awaited.is_answered = true;
                let error = ErrorData::internal_error("the stream of events ended before the response", None);
                let error: Message = JsonRpcMessage::error(error, Some(awaited.asked.clone()));
                let data = serde_json::to_string(&error).unwrap_or_default();
                Some((Ok(Sse::default().data(data)), awaited))
            }
        }
    })
    .boxed()
}

/// Returns the answer that an event is.
fn answer_in(event: &Sse) -> Option<Message> {
    let data = event.data.as_deref().filter(|_| is_message(event))?;
    // Most other messages are recognized without parsing them.
    if !data.contains("\"result\"") && !data.contains("\"error\"") {
        return None;
    }
    let message = serde_json::from_str::<Message>(data).ok()?;
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)).then_some(message)
}

/// Returns the first answer of a stream, or `None` if it ends without one.
pub(super) async fn first_answer(events: &mut Events) -> Result<Option<Message>, SseError> {
    while let Some(event) = events.next().await {
        if let Some(answer) = answer_in(&event?) {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// The length of the current event, without its comments.
#[derive(Debug, Default)]
struct Length {
    event: usize,
    line: usize,
    is_comment: bool,
}

impl Length {
    /// Counts a chunk, and returns the largest length of an event in it.
    fn grows_to(&mut self, chunk: &[u8]) -> usize {
        let mut largest = self.event;
        for byte in chunk {
            match byte {
                b'\n' | b'\r' => {
                    if self.line == 0 && *byte == b'\n' {
                        self.event = 0;
                    }
                    self.line = 0;
                }
                _ => {
                    self.is_comment = if self.line == 0 { *byte == b':' } else { self.is_comment };
                    self.line += 1;
                    self.event += usize::from(!self.is_comment);
                    largest = largest.max(self.event);
                }
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(data: &str, expected: Option<Value>) {
        let event = Sse::default().data(data);
        let repaired = repaired_event(event.clone(), Some(&RequestId::Number(5)));
        match expected {
            Some(expected) => {
                let data = repaired.data.unwrap();
                assert_eq!(serde_json::from_str::<Value>(&data).unwrap(), expected);
            }
            None => assert_eq!(repaired, event),
        }
    }

    #[test]
    fn messages_are_repaired() {
        let answer = json!({"jsonrpc": "2.0", "id": 5, "result": {"a": "\u{fffd}"}});
        check(r#"{"jsonrpc":"2.0","id":5,"result":{"a":"\udc00"}}"#, Some(answer));
        let error = json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32603, "message": "no"}});
        check(
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}"#,
            Some(error),
        );
        for kept in [
            "",
            "ping",
            r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        ] {
            check(kept, None);
        }
    }

    #[test]
    fn events_have_a_length() {
        let mut length = Length::default();
        assert_eq!(length.grows_to(b"data: 1\r\n\r\n"), 7);
        assert_eq!(length.grows_to(b": ping\n\n: ping\n"), 0);
        assert_eq!(length.grows_to(b"data"), 4);
        assert_eq!(length.grows_to(b": 12\nid: 1\n\n"), 13);
        assert_eq!(length.grows_to(b"data: 1"), 7);
    }
}
