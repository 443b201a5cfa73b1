//! [`ResponseReader`]: decodes the events and whole replies of the API.

mod json;
mod part;
mod usage;
mod finish;
mod call;
mod event;
mod hosted;
mod item;
mod message;
mod emitter;
mod state;

use agcore_chat::FinishReason;

use self::{event::ResponseEvent, message::ResponseBody, part::Channel, state::State};
use crate::{
    decode::{
        reply_decoder::{Event, EventReader, WholeReplyError, no_answer},
        text_template::TextRange,
    },
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
};

/// The events that end a response, without the prefix `response.` of their names.
const TERMINAL: &[&str] = &["completed", "incomplete", "failed", "cancelled"];

/// Reads one reply of the Responses API.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    state: State,
    is_done: bool,
}

/// The result of an event, besides its deltas.
enum Outcome<'a> {
    /// More events follow.
    Continue,
    /// More events follow. This one contains only a piece of text, given as it is in the event if it has no escapes.
    Text(Option<&'a str>),
    /// The reply has ended.
    Done,
    /// The reply has failed.
    Failed(Box<LlmError>),
}

impl EventReader for ResponseReader {
    const REPLY: &'static str = "response";

    fn read_event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextRange>, LlmError> {
        // This API ends with an event. Some gateways add the end marker of another API.
        if event.data == b"[DONE]" {
            return Ok(None);
        }
        if event.name == b"error" {
            return Err(failure.read(event.data));
        }
        let start = out.len();
        match self.read(event, failure, out) {
            Ok(outcome) => {
                self.state.push_start(start, out);
                match outcome {
                    Outcome::Continue => Ok(None),
                    Outcome::Text(text) => Ok(text.and_then(|text| TextRange::new(event.data, text, &out[start..]))),
                    Outcome::Done => {
                        self.is_done = true;
                        Ok(None)
                    }
                    Outcome::Failed(error) => Err(*error),
                }
            }
            Err(error) => {
                out.truncate(start);
                // The stream ended within this event, so report the truncation instead of invalid JSON.
                if event.unterminated {
                    return Ok(None);
                }
                let message = format!("an event of the stream is not a valid Responses API event: {error}");
                Err(failure.malformed(message, event.data))
            }
        }
    }

    fn read_whole(
        &mut self,
        body: &[u8],
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), WholeReplyError> {
        let start = out.len();
        let response = ResponseBody::read(body).map_err(WholeReplyError::Unreadable)?;
        if response.is_failure() {
            return Err(failure.read(body).into());
        }
        if !response.is_response() {
            let message = "the reply is JSON, but not a response: it has no `output`";
            return Err(failure.malformed(message.into(), body).into());
        }
        if response.is_pending() {
            self.state.update_start(&response);
            self.state.push_start(start, out);
            let message = format!(
                "the response is not complete yet (its status is `{}`): retrieve it later by its id",
                response.status
            );
            return Err(failure.malformed(message, body).into());
        }
        let error = self
            .end(&response, "completed", failure, out)
            .map_err(WholeReplyError::Unreadable)?;
        self.state.push_start(start, out);
        error.map_or(Ok(()), |error| Err(error.into()))
    }

    fn observe(&mut self, delta: &ReplyDelta) {
        if let ReplyDelta::Text { text, .. } | ReplyDelta::Reasoning { text, .. } | ReplyDelta::Refusal { text, .. } =
            delta
        {
            self.state.observe(text);
        }
    }

    fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.state.flush(out);
    }

    fn is_finished(&self) -> bool {
        self.is_done
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl ResponseReader {
    fn read<'a>(
        &mut self,
        event: &Event<'a>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Outcome<'a>> {
        let read = ResponseEvent::read(event.data)?;
        // Some servers name an event only in its `event` field, where `message` is the default and not a name.
        let kind = match &*read.kind.0 {
            "" if event.name == b"message" => "",
            "" => std::str::from_utf8(event.name).unwrap_or_default(),
            kind => kind,
        };
        let topic = kind.strip_prefix("response.");
        match topic.filter(|topic| read.error.is_none() || TERMINAL.contains(topic)) {
            Some(topic) => self.handle(topic, &read, failure, out),
            None if read.is_failure(kind) => Ok(Outcome::Failed(Box::new(failure.read(event.data)))),
            None => Ok(Outcome::Continue),
        }
    }

    /// Handles an event by its name without the prefix `response.`. Other events are ignored: they report the progress of
    /// hosted tools, whose items contain everything in the end, or they are unknown.
    fn handle<'a>(
        &mut self,
        topic: &str,
        event: &ResponseEvent<'a>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Outcome<'a>> {
        let state = &mut self.state;
        if let Some(channel) = Channel::from_delta_event(topic) {
            state.text(channel, event, out);
            return Ok(Outcome::Text(event.delta.source));
        }
        match topic {
            "function_call_arguments.delta" => state.input(false, event, out),
            "custom_tool_call_input.delta" => state.input(true, event, out),
            "output_text.done" => state.whole_text(Channel::Text, event, out)?,
            "refusal.done" => state.whole_text(Channel::Refusal, event, out)?,
            "reasoning_summary_text.done" => state.whole_text(Channel::Summary, event, out)?,
            "reasoning_text.done" => state.whole_text(Channel::Reasoning, event, out)?,
            "function_call_arguments.done" => state.whole_input(false, event, out)?,
            "custom_tool_call_input.done" => state.whole_input(true, event, out)?,
            "content_part.added" | "reasoning_summary_part.added" => state.part_added(event, out)?,
            "content_part.done" | "reasoning_summary_part.done" => state.part_done(event, out)?,
            "output_text.annotation.added" => state.annotation_added(event)?,
            "output_item.added" => state.item_added(event, out)?,
            "output_item.done" => state.item_done(event, out)?,
            "created" | "in_progress" | "queued" => {
                if let Some(raw) = event.response {
                    state.response_started(&ResponseBody::read(raw.get().as_bytes())?, out)?;
                }
            }
            _ if TERMINAL.contains(&topic) => {
                let body = event.response.map(|raw| ResponseBody::read(raw.get().as_bytes()));
                let mut body = body.transpose()?.unwrap_or_default();
                body.error = body.error.or(event.error);
                let error = self.end(&body, topic, failure, out)?;
                return Ok(error.map_or(Outcome::Done, |error| Outcome::Failed(Box::new(error))));
            }
            _ => {}
        }
        Ok(Outcome::Continue)
    }

    /// Reads the response at its end. Returns its error if it has failed. `status` is the fallback for a
    /// response without a status.
    fn end(
        &mut self,
        body: &ResponseBody<'_>,
        status: &str,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Option<LlmError>> {
        if status == "completed" && body.is_blank() && self.state.is_empty() {
            return Ok(Some(no_answer(failure)));
        }
        let is_failed = status == "failed" || body.status == "failed" || body.error.is_some();
        let (reason, native) = body.finish(status);
        self.state.end(body, !is_failed && reason == FinishReason::Stop, out)?;
        if !is_failed {
            self.state.finish(reason, &native, out);
            return Ok(None);
        }
        Ok(Some(match body.error {
            Some(error) => failure.read(format!("{{\"error\":{}}}", error.get()).as_bytes()),
            None => {
                let message = "the response failed, and the server gave no reason";
                failure.annotate(LlmError::new(LlmErrorKind::Server, message))
            }
        }))
    }
}
