//! [`SpeechStream`]: speech while it is made.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use agcore_chat::{AnsweredBy, Usage};
use bytes::{Bytes, BytesMut};
use futures_core::Stream;

use super::{super::caller::Caller, super::carrier::is_web_url, call};
use crate::reply::{Notice, ReplyItem, ReplyStream};
use agcore_wire::{LlmError, LlmErrorKind, operation::SpeechItem};

/// The pieces of a speech, as they arrive. Dropping it closes the connection.
///
/// [`collect`](Self::collect) waits for the whole speech.
#[must_use = "nothing is sent before the stream is polled"]
pub struct SpeechStream {
    items: ReplyStream,
    caller: Caller,
    left: usize,
    max_bytes: usize,
    has_sound: bool,
    is_done: bool,
    url: Option<String>,
    usage: Option<Usage>,
    answered_by: Option<AnsweredBy>,
}

/// A whole speech. `Debug` shows neither the sound nor the URL, which may contain a signature.
#[derive(Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Speech {
    /// The bytes of the sound, in the format that was requested; empty if there is only a URL.
    pub audio: Bytes,
    /// The URL from which the sound can be downloaded for some time.
    pub url: Option<String>,
    /// The usage, if known.
    pub usage: Option<Usage>,
    /// The model and key that answered, if there are several.
    pub answered_by: Option<AnsweredBy>,
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speech")
            .field("audio", &format_args!("{} bytes", self.audio.len()))
            .field("has_url", &self.url.is_some())
            .field("usage", &self.usage)
            .field("answered_by", &self.answered_by)
            .finish()
    }
}

impl SpeechStream {
    pub(super) fn new(items: ReplyStream, max_bytes: usize, caller: Caller) -> Self {
        Self {
            items,
            caller,
            left: max_bytes,
            max_bytes,
            has_sound: false,
            is_done: false,
            url: None,
            usage: None,
            answered_by: None,
        }
    }

    /// Returns the next piece of the sound, or `None` at its end.
    ///
    /// Cancel safe: no piece is lost when the future is dropped.
    ///
    /// # Errors
    /// The last item is the error of a call that failed: `InvalidRequest` if the text is empty or the API has no such
    /// parameter, `Malformed` if the reply is invalid or larger than the limit, `Truncated` if a layer started the speech
    /// over, and any error of the server or the transport.
    pub async fn next(&mut self) -> Option<Result<Bytes, LlmError>> {
        poll_fn(|cx| self.poll_piece(cx)).await
    }

    /// Waits for the whole speech.
    ///
    /// Cancel safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// Those of [`next`](Self::next).
    pub async fn collect(mut self) -> Result<Speech, LlmError> {
        let mut audio = BytesMut::new();
        while let Some(piece) = self.next().await {
            audio.extend_from_slice(&piece?);
        }
        Ok(Speech {
            audio: audio.freeze(),
            url: self.url.take(),
            usage: self.usage.take(),
            answered_by: self.answered_by.take(),
        })
    }

    /// Returns the URL from which the sound can be downloaded for some time, once the stream has ended.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Returns the usage, if known, once the stream has ended.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, LlmError>>> {
        while !self.is_done {
            let item = ready!(Pin::new(&mut self.items).poll_next(cx));
            let step = match item.unwrap_or_else(|| ReplyItem::End(Err(LlmError::truncated()))) {
                ReplyItem::Delta(delta) => call::item(delta).map_or(Ok(None), |item| self.item(item)),
                ReplyItem::Notice(notice) => self.notice(notice).map(|()| None),
                ReplyItem::End(end) => {
                    self.is_done = true;
                    end.and_then(|()| self.check_end()).map(|()| None)
                }
            };
            match step {
                Ok(Some(piece)) => return Poll::Ready(Some(Ok(piece))),
                Ok(None) => {}
                Err(error) => {
                    self.is_done = true;
                    // Closes the connection.
                    self.items = ReplyStream::from_items([]);
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }

    fn item(&mut self, item: SpeechItem) -> Result<Option<Bytes>, LlmError> {
        match item {
            SpeechItem::Audio(bytes) => {
                let max = self.max_bytes;
                let left = self.left.checked_sub(bytes.len());
                self.left = left.ok_or_else(|| {
                    let message =
                        format!("the speech is larger than the limit of {max} bytes; raise it with `with_max_bytes`");
                    self.caller.malformed(message)
                })?;
                self.has_sound = true;
                Ok(Some(bytes))
            }
            SpeechItem::Url(url) if is_web_url(&url) => {
                self.url = Some(url);
                Ok(None)
            }
            SpeechItem::Url(_) => Err(self
                .caller
                .malformed("the URL of the sound is not an address on the web")),
            SpeechItem::Usage(usage) => {
                self.usage = Some(*usage);
                Ok(None)
            }
        }
    }

    /// Handles a notice. What was returned cannot be taken back, so another attempt after that is an error.
    fn notice(&mut self, notice: Notice) -> Result<(), LlmError> {
        match notice {
            Notice::Restarted { fault, .. } | Notice::RetryScheduled { fault, .. } if self.has_sound => {
                let message = format!(
                    "the speech started over after some of it had arrived: {}",
                    fault.message
                );
                Err(LlmError::new(LlmErrorKind::Truncated, message).with_provider(&*self.caller.info().name))
            }
            Notice::AnsweredBy(who) => {
                self.answered_by = Some(who);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_end(&self) -> Result<(), LlmError> {
        match self.has_sound || self.url.is_some() {
            true => Ok(()),
            false => Err(self.caller.malformed("the reply contains no sound")),
        }
    }
}

impl Stream for SpeechStream {
    type Item = Result<Bytes, LlmError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_piece(cx)
    }
}

impl fmt::Debug for SpeechStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpeechStream")
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}
