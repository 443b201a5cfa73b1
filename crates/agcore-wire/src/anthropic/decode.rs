//! [`MessageReader`]: decodes the events and whole replies of the API.

/// For visitors of objects: accepts numbers, booleans, arrays and `null` as the default value, because the members of
/// unknown events can be of any type.
macro_rules! or_default {
    () => {
        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

mod usage;
mod delta;
mod block;
mod message;
mod event;
mod call;
mod finish;
mod state;

use std::borrow::Cow;

use self::{
    event::{EventKind, MessageEvent},
    message::Message,
    state::State,
};
use crate::{
    decode::{
        is_error_list,
        reply_decoder::{Event, EventReader, WholeReplyError, no_answer},
        text_template::TextRange,
    },
    delta::ReplyDelta,
    error::LlmError,
    failure::FailureReader,
};

/// Reads one reply of the Messages API.
#[derive(Debug)]
pub(super) struct MessageReader {
    state: State,
    is_done: bool,
}

impl MessageReader {
    /// Creates a reader for one reply. Vendor data of the reply is stored under the name `vendor`.
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            state: State::new(vendor),
            is_done: false,
        }
    }

    /// Handles an event. Returns its text if the event contains nothing else.
    fn handle<'a>(
        &mut self,
        event: MessageEvent<'a>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Option<&'a str>> {
        let state = &mut self.state;
        match event.kind {
            EventKind::MessageStart => self.start_message(event.message()?, out),
            EventKind::BlockStart => state.start_block(event.index, event.block()?, out),
            EventKind::BlockDelta => {
                let only_text = event.delta.only_text();
                state.append(event.index, event.delta, out);
                return Ok(only_text);
            }
            EventKind::BlockStop => state.close_block(event.index, out),
            EventKind::MessageDelta => state.update_message(event.delta, event.usage, event.members, out),
            EventKind::MessageStop | EventKind::Other => {}
        }
        Ok(None)
    }

    /// Starts a message, which need not be the first one: some gateways send the start twice, and some retry a request
    /// without notice, so that everything they sent before becomes void.
    fn start_message(&mut self, message: Message, out: &mut Vec<ReplyDelta>) {
        if !self.state.has_message() {
            self.state.push_message(message, out);
        } else if self.state.is_same(&message) {
        } else if self.state.is_finished() {
            self.end(out);
        } else {
            self.state.restart();
            out.push(ReplyDelta::Restart);
            self.state.push_message(message, out);
        }
    }

    /// Ends the reply, unless there is nothing in it.
    fn end_checked(&mut self, failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if self.state.is_empty() {
            return Err(no_answer(failure));
        }
        self.end(out);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ReplyDelta>) {
        self.is_done = true;
        self.state.end(false, out);
    }
}

impl EventReader for MessageReader {
    const REPLY: &'static str = "message";

    fn read_event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextRange>, LlmError> {
        // This API ends with an event. Some gateways add the end marker of another API, or send it instead.
        if event.data == b"[DONE]" {
            return self.end_checked(failure, out).map(|()| None);
        }
        if event.name == b"error" || is_error_list(event.data) {
            return Err(failure.read(event.data));
        }
        let start = out.len();
        let read = match event::read(event.data, event.name) {
            Ok(read) if read.is_error() => return Err(failure.read(event.data)),
            Ok(read) if read.kind == EventKind::MessageStop => return self.end_checked(failure, out).map(|()| None),
            Ok(read) => self.handle(read, out),
            Err(error) => Err(error),
        };
        match read {
            Ok(text) => Ok(text.and_then(|text| TextRange::new(event.data, text, &out[start..]))),
            // The stream ended within this event, so report the truncation instead of invalid JSON.
            Err(_) if event.unterminated => Ok(None),
            Err(error) => {
                let message = format!("an event of the stream is not a valid Messages API event: {error}");
                Err(failure.malformed(message, event.data))
            }
        }
    }

    /// Reads a whole reply, which is the message that starts a stream, but complete.
    fn read_whole(
        &mut self,
        body: &[u8],
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), WholeReplyError> {
        if is_error_list(body) {
            return Err(failure.read(body).into());
        }
        let message = Message::read(body).map_err(WholeReplyError::Unreadable)?;
        if message.is_error {
            return Err(failure.read(body).into());
        }
        if !message.has_content {
            let message = "the reply is JSON, but not a message: it has no `content`";
            return Err(failure.malformed(message.into(), body).into());
        }
        if message.is_empty() {
            return Err(no_answer(failure).into());
        }
        self.state.push_message(message, out);
        self.state.end(true, out);
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.state.interrupt(out);
    }

    fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
