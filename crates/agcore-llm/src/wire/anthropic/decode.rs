//! [`MessageReader`]: the events and whole replies of the API to deltas.

mod block;
mod delta;
mod event;
mod finish;
mod message;
mod nothing;
mod open;
mod state;
mod usage;

use std::borrow::Cow;

use self::{
    event::{Kind, MessageEvent},
    message::Message,
    state::State,
};
use crate::{
    delta::ReplyDelta,
    error::LlmError,
    wire::{
        event_reply::{Event, EventReader, WholeFault},
        failure::FailureReader,
        text_template::TextPlace,
    },
};

/// Reads one reply of the Messages API.
#[derive(Debug)]
pub(super) struct MessageReader {
    state: State,
    is_done: bool,
}

impl MessageReader {
    /// A reader at the beginning of a reply; what the vendor wants back is kept under the name `vendor`.
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            state: State::new(vendor),
            is_done: false,
        }
    }

    /// Tells an event; gives the place of its text, when that is all it told.
    fn tell(&mut self, event: MessageEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<Option<TextPlace>> {
        let (state, begin) = (&mut self.state, out.len());
        match event.kind {
            Kind::MessageStart => self.begin(event.message()?, out),
            Kind::BlockStart => state.open(event.index, event.block()?, out),
            Kind::BlockDelta => {
                let only_text = event.delta.only_text();
                state.extend(event.index, event.delta, out);
                return Ok(only_text.and_then(|address| TextPlace::of(address, &out[begin..])));
            }
            Kind::BlockStop => state.close(event.index, out),
            Kind::MessageDelta => state.message_delta(event.delta, event.usage, event.members, out),
            Kind::MessageStop => self.end(out),
            Kind::Other => {}
        }
        Ok(None)
    }

    /// A message begins, perhaps not the first one: some gateways send the start twice, and some begin anew behind our
    /// back, so that what they sent before is void.
    fn begin(&mut self, message: Message, out: &mut Vec<ReplyDelta>) {
        if !self.state.is_started() {
            self.state.message(message, out);
        } else if self.state.is_same(&message) {
        } else if self.state.is_finished() {
            self.end(out);
        } else {
            self.state.restart();
            out.push(ReplyDelta::Restart);
            self.state.message(message, out);
        }
    }

    fn end(&mut self, out: &mut Vec<ReplyDelta>) {
        self.is_done = true;
        self.state.end(false, out);
    }
}

impl EventReader for MessageReader {
    const REPLY: &'static str = "message";

    fn event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextPlace>, LlmError> {
        // The end is an event of this API; gateways add the marker of another one, or send it instead.
        if event.data == b"[DONE]" {
            self.end(out);
            return Ok(None);
        }
        if event.name == b"error" {
            return Err(failure.read(event.data));
        }
        if let Some(error) = listed_error(failure, event.data) {
            return Err(error);
        }
        let read = match event::read(event.data, event.name) {
            Ok(read) if read.is_error() => return Err(failure.read(event.data)),
            Ok(read) => self.tell(read, out),
            Err(error) => Err(error),
        };
        match read {
            Ok(text) => Ok(text),
            // The stream ended within this event: the cut is the fault, not the JSON.
            Err(_) if event.unterminated => Ok(None),
            Err(error) => {
                let message = format!("an event of the stream is none of a message: {error}");
                Err(failure.malformed(message, event.data))
            }
        }
    }

    /// A whole reply is the message with which a stream begins, but with everything in it.
    fn whole(&mut self, body: &[u8], failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), WholeFault> {
        if let Some(error) = listed_error(failure, body) {
            return Err(error.into());
        }
        let message: Message = serde_json::from_slice(body).map_err(WholeFault::Unreadable)?;
        if message.is_error {
            return Err(failure.read(body).into());
        }
        if !message.has_content {
            let message = "the reply is JSON, but no message: it has no content";
            return Err(failure.malformed(message.into(), body).into());
        }
        self.state.message(message, out);
        self.state.end(true, out);
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.state.flush(out);
    }

    fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// The error in a list of one, as gateways to Gemini tell it.
fn listed_error(failure: &FailureReader, data: &[u8]) -> Option<LlmError> {
    if !data.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let items: Vec<serde_json::Value> = serde_json::from_slice(data).ok()?;
    items.first()?.is_object().then(|| failure.read(data))
}
