//! [`SpeechDecoder`]: sound, events with pieces of it, or a document with all of it.

use bytes::Bytes;
use http::header;
use serde_json::Value;

use super::super::encoded_bytes;
use crate::{
    decode::{
        document::Document,
        shape::{CheckedShape, read_usage},
    },
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    operation::{Speak, SpeechItem},
    sse::{SseDecoder, SseTooLong},
    wire::{Close, Decoder, ReplyHead},
};

/// The maximum size of an event, in bytes.
const MAX_EVENT_BYTES: usize = 8 << 20;

/// The decoder of a reply.
#[derive(Debug)]
pub(super) struct SpeechDecoder {
    shape: CheckedShape,
    failure: FailureReader,
    body: Body,
    /// Whether any sound or URL was found.
    has_sound: bool,
}

/// A body by its content type.
#[derive(Debug)]
enum Body {
    Sound,
    Events { decoder: SseDecoder, is_complete: bool },
    Document(Document),
}

impl SpeechDecoder {
    pub(super) fn new(shape: CheckedShape, head: &ReplyHead) -> Self {
        let content_type = head.headers.get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = content_type.trim().to_ascii_lowercase();
        let is = |prefix: &str| content_type.starts_with(prefix);
        let body = if !head.status.is_success() {
            Body::Document(Document::new(head))
        } else if is("audio/") || is("application/octet-stream") || content_type.is_empty() {
            Body::Sound
        } else if is("text/event-stream") {
            Body::Events {
                decoder: SseDecoder::new().with_limit(MAX_EVENT_BYTES),
                is_complete: false,
            }
        } else {
            Body::Document(Document::new(head))
        };
        Self {
            shape,
            failure: FailureReader::new(head),
            body,
            has_sound: false,
        }
    }

    /// Reads events, and passes the data of each to [`event`](Self::event).
    fn events(
        &mut self,
        read: impl FnOnce(&mut SseDecoder, &mut Vec<Vec<u8>>) -> Result<(), SseTooLong>,
        items: &mut Vec<SpeechItem>,
    ) -> Result<(), LlmError> {
        let Body::Events { decoder, .. } = &mut self.body else {
            return Ok(());
        };
        let mut events = Vec::new();
        let end = read(decoder, &mut events);
        for data in events {
            self.event(&data, items)?;
        }
        end.map_err(|error| self.malformed(error.to_string()))
    }

    fn event(&mut self, data: &[u8], items: &mut Vec<SpeechItem>) -> Result<(), LlmError> {
        if data.trim_ascii().is_empty() || data.starts_with(b":") {
            return Ok(());
        }
        if data.trim_ascii() == b"[DONE]" {
            self.complete();
            return Ok(());
        }
        let malformed = |_| self.malformed("an event of the stream is not JSON".to_owned());
        let event: Value = serde_json::from_slice(data).map_err(malformed)?;
        let found = self.sound(&event, items)?;
        let is_error = |members| event.get("error").is_some() || FailureReader::is_flat_error(members);
        if !found && event.as_object().is_some_and(is_error) {
            return Err(self.failure.read(data));
        }
        // The last event of OpenAI and that of DashScope.
        let is_last = event["type"] == "speech.audio.done" || event["output"]["finish_reason"] == "stop";
        if is_last {
            self.complete();
        }
        if is_last && let Some(usage) = read_usage(&event) {
            items.push(SpeechItem::Usage(Box::new(usage)));
        }
        Ok(())
    }

    /// Appends the sound and the URL in an event or a document. Returns whether there was any.
    fn sound(&mut self, value: &Value, items: &mut Vec<SpeechItem>) -> Result<bool, LlmError> {
        let text = |name: &str| self.shape.first(value, name).and_then(Value::as_str);
        let (audio, url) = (text("audio").filter(|text| !text.is_empty()), text("url"));
        let before = items.len();
        if let Some(audio) = audio {
            let bytes = encoded_bytes::decode(audio);
            let bytes = bytes.ok_or_else(|| self.malformed("the sound is not valid base64".to_owned()))?;
            items.push(SpeechItem::Audio(bytes));
        }
        items.extend(
            url.filter(|url| !url.is_empty())
                .map(|url| SpeechItem::Url(url.to_owned())),
        );
        self.has_sound |= items.len() > before;
        Ok(items.len() > before)
    }

    fn complete(&mut self) {
        if let Body::Events { is_complete, .. } = &mut self.body {
            *is_complete = true;
        }
    }

    /// Returns an error that quotes nothing, so that no sound reaches a log.
    fn malformed(&self, message: String) -> LlmError {
        self.failure.annotate(LlmError::new(LlmErrorKind::Malformed, message))
    }

    fn lost(&self, close: Close) -> LlmError {
        match close {
            Close::Reset => self.failure.connection_lost(),
            Close::Clean => self.failure.annotate(LlmError::truncated()),
        }
    }
}

impl Decoder<Speak> for SpeechDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<SpeechItem>) -> Result<(), LlmError> {
        match &mut self.body {
            Body::Sound if bytes.is_empty() => Ok(()),
            Body::Sound => {
                self.has_sound = true;
                items.push(SpeechItem::Audio(Bytes::copy_from_slice(bytes)));
                Ok(())
            }
            Body::Document(document) => document.feed(bytes),
            Body::Events { .. } => {
                let keep = |decoder: &mut SseDecoder, events: &mut Vec<Vec<u8>>| {
                    decoder.feed(bytes, |event| {
                        events.push(event.data.to_vec());
                        Ok(())
                    })
                };
                self.events(keep, items)
            }
        }
    }

    fn finish(&mut self, close: Close, items: &mut Vec<SpeechItem>) -> Result<(), LlmError> {
        match &mut self.body {
            // Nothing in the bytes marks their end.
            Body::Sound if close == Close::Reset => Err(self.lost(close)),
            Body::Sound if !self.has_sound => Err(self.malformed("the reply contains no sound".to_owned())),
            Body::Sound => Ok(()),
            Body::Events { .. } => {
                let keep = |decoder: &mut SseDecoder, events: &mut Vec<Vec<u8>>| {
                    decoder.finish(|event| {
                        // An event that was cut off is not JSON, which is not the server's fault.
                        let is_whole = !event.unterminated || serde_json::from_slice::<Value>(event.data).is_ok();
                        if is_whole {
                            events.push(event.data.to_vec());
                        }
                        Ok(())
                    })
                };
                self.events(keep, items)?;
                match &self.body {
                    Body::Events { is_complete: false, .. } => Err(self.lost(close)),
                    _ if !self.has_sound => Err(self.malformed("the stream contains no sound".to_owned())),
                    _ => Ok(()),
                }
            }
            Body::Document(document) => {
                let reply = document.read_reply(close, "speech")?;
                if self.sound(&reply, items)? {
                    items.extend(read_usage(&reply).map(|usage| SpeechItem::Usage(Box::new(usage))));
                    return Ok(());
                }
                let message = "the reply is JSON, but contains neither sound nor its URL".to_owned();
                match &self.body {
                    Body::Document(document) => Err(document.lacking(&reply, message)),
                    _ => Err(self.malformed(message)),
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.body, Body::Events { is_complete: true, .. })
    }
}
