//! [`ResponseReader`]: the events and whole replies of the API to deltas.

mod body;
mod call;
mod channel;
mod event;
mod finish;
mod item;
mod items;
mod json;
mod parts;
mod state;
mod teller;
mod usage;

use self::{body::ResponseBody, channel::Channel, event::WireEvent, state::State};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    wire::{
        event_reply::{Event, EventReader, WholeFault},
        failure::FailureReader,
        text_template::TextPlace,
    },
};

/// What ends a response, after `response.` in an event's name.
const ENDS: &[&str] = &["completed", "incomplete", "failed", "cancelled"];

/// Reads one reply of the Responses API.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    state: State,
    is_done: bool,
}

/// What an event leads to, beside its deltas.
enum Verdict {
    /// More events.
    GoOn,
    /// More events; this one told a piece of text, which may stand at an address of the input.
    Text(Option<usize>),
    /// The end of the reply.
    Done,
    /// A failure.
    Failed(Box<LlmError>),
}

impl EventReader for ResponseReader {
    const REPLY: &'static str = "response";

    fn event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextPlace>, LlmError> {
        // The end is an event of this API; gateways add the marker of another one.
        if event.data == b"[DONE]" {
            return Ok(None);
        }
        if event.name == b"error" {
            return Err(failure.read(event.data));
        }
        let begin = out.len();
        match self.read(event, failure, out) {
            Ok(verdict) => {
                self.state.tell_start(begin, out);
                match verdict {
                    Verdict::GoOn => Ok(None),
                    Verdict::Text(address) => Ok(address.and_then(|address| TextPlace::of(address, &out[begin..]))),
                    Verdict::Done => {
                        self.is_done = true;
                        Ok(None)
                    }
                    Verdict::Failed(error) => Err(*error),
                }
            }
            Err(error) => {
                out.truncate(begin);
                // The stream ended within this event: the cut is the fault, not the JSON.
                if event.unterminated {
                    return Ok(None);
                }
                let message = format!("an event of the stream is none of the Responses API: {error}");
                Err(failure.malformed(message, event.data))
            }
        }
    }

    fn whole(&mut self, body: &[u8], failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), WholeFault> {
        let begin = out.len();
        let response = ResponseBody::read(body).map_err(WholeFault::Unreadable)?;
        if response.is_failure() {
            return Err(failure.read(body).into());
        }
        if !response.is_response() {
            let message = "the reply is JSON, but no response: it has no output";
            return Err(failure.malformed(message.into(), body).into());
        }
        if response.is_pending() {
            self.state.begin(&response);
            self.state.tell_start(begin, out);
            let message = format!(
                "the response is not made yet (it is {}): ask for it later by its id",
                response.status
            );
            return Err(failure.malformed(message, body).into());
        }
        let error = self
            .end(&response, "completed", failure, out)
            .map_err(WholeFault::Unreadable)?;
        self.state.tell_start(begin, out);
        error.map_or(Ok(()), |error| Err(error.into()))
    }

    fn heard(&mut self, told: &ReplyDelta) {
        if let ReplyDelta::Text { text, .. } | ReplyDelta::Reasoning { text, .. } | ReplyDelta::Refusal { text, .. } =
            told
        {
            self.state.heard(text);
        }
    }

    fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.state.close_rest(out);
    }

    fn is_finished(&self) -> bool {
        self.is_done
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl ResponseReader {
    fn read(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Verdict> {
        let read = WireEvent::read(event.data)?;
        // Some servers name an event only in the framing, where `message` is no name.
        let kind = match &*read.kind.0 {
            "" if event.name == b"message" => "",
            "" => std::str::from_utf8(event.name).unwrap_or_default(),
            kind => kind,
        };
        let topic = kind.strip_prefix("response.");
        match topic.filter(|topic| read.error.is_none() || ENDS.contains(topic)) {
            Some(topic) => self.response_event(topic, &read, failure, out),
            None if read.is_failure(kind) => Ok(Verdict::Failed(Box::new(failure.read(event.data)))),
            None => Ok(Verdict::GoOn),
        }
    }

    /// An event of the API, by what stands after `response.` in its name. Others are progress of hosted tools, whose items
    /// tell all of it in the end, or not known yet.
    fn response_event(
        &mut self,
        topic: &str,
        event: &WireEvent<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Verdict> {
        let state = &mut self.state;
        if let Some(channel) = Channel::of_delta(topic) {
            state.text(channel, event, out);
            return Ok(Verdict::Text(event.delta.1));
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
            "output_text.annotation.added" => state.annotation(event)?,
            "output_item.added" => state.item_added(event, out)?,
            "output_item.done" => state.item_done(event, out)?,
            "created" | "in_progress" | "queued" => {
                if let Some(raw) = event.response {
                    state.begun(&ResponseBody::read(raw.get().as_bytes())?, out)?;
                }
            }
            _ if ENDS.contains(&topic) => {
                let body = event.response.map(|raw| ResponseBody::read(raw.get().as_bytes()));
                let mut body = body.transpose()?.unwrap_or_default();
                body.error = body.error.or(event.error);
                let error = self.end(&body, topic, failure, out)?;
                return Ok(error.map_or(Verdict::Done, |error| Verdict::Failed(Box::new(error))));
            }
            _ => {}
        }
        Ok(Verdict::GoOn)
    }

    /// Reads the response at its end; gives its failure, if it is one. `status` counts where it tells none.
    fn end(
        &mut self,
        body: &ResponseBody<'_>,
        status: &str,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<Option<LlmError>> {
        let is_failed = status == "failed" || body.status == "failed" || body.error.is_some();
        self.state.end(body, out)?;
        if !is_failed {
            let (reason, word) = body.finish(status);
            self.state.finish(reason, &word, out);
            return Ok(None);
        }
        Ok(Some(match body.error {
            Some(error) => failure.read(format!("{{\"error\":{}}}", error.get()).as_bytes()),
            None => {
                let message = "the server ended the response as failed, without saying why";
                failure.note(LlmError::new(LlmErrorKind::Server, message))
            }
        }))
    }
}
