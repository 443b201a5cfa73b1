//! [`ChatReply`]: the exchange of a chat as the items of a reply.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use agcore_chat::{Fault, FaultKind, ResponseMetadata};
use futures_core::Stream;

use crate::reply::{Notice, ReplyItem};
use agcore_wire::{Chat, LlmError, ReplyDelta, ReplyStart};

use super::exchange::{Exchange, Step};

/// The exchange of a chat as the items of a reply: with the metadata of the HTTP head, and with context in errors.
pub(super) struct ChatReply<F> {
    exchange: Exchange<Chat>,
    /// Adds the context to an error.
    add_context: F,
    metadata: Option<ResponseMetadata>,
    /// Whether the current reply has got the metadata, if there are any.
    has_metadata: bool,
    /// The delta before which the metadata was inserted.
    pending: Option<ReplyDelta>,
}

impl<F: Fn(LlmError) -> LlmError + Unpin> ChatReply<F> {
    pub(super) fn new(exchange: Exchange<Chat>, add_context: F) -> Self {
        Self {
            exchange,
            add_context,
            metadata: None,
            has_metadata: true,
            pending: None,
        }
    }

    /// Adds the metadata to the start of the reply, or inserts a start before the first delta.
    fn with_metadata(&mut self, delta: ReplyDelta) -> ReplyDelta {
        self.has_metadata = true;
        let metadata = self.metadata.clone();
        match delta {
            ReplyDelta::Start(mut start) => {
                start.metadata = metadata;
                ReplyDelta::Start(start)
            }
            delta => {
                self.pending = Some(delta);
                ReplyDelta::Start(Box::new(ReplyStart {
                    metadata,
                    ..ReplyStart::default()
                }))
            }
        }
    }
}

impl<F: Fn(LlmError) -> LlmError + Unpin> Stream for ChatReply<F> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        if let Some(delta) = this.pending.take() {
            return Poll::Ready(Some(ReplyItem::Delta(delta)));
        }
        loop {
            let Some(step) = ready!(Pin::new(&mut this.exchange).poll_next(cx)) else {
                return Poll::Ready(None);
            };
            return Poll::Ready(Some(match step {
                Step::Head(metadata) => {
                    (this.metadata, this.has_metadata) = (Some(metadata), false);
                    continue;
                }
                Step::Item(ReplyDelta::Restart) => {
                    this.has_metadata = this.metadata.is_none();
                    ReplyItem::Notice(restarted())
                }
                Step::Item(delta) if this.has_metadata => ReplyItem::Delta(delta),
                Step::Item(delta) => ReplyItem::Delta(this.with_metadata(delta)),
                Step::End(end) => ReplyItem::End(end.map_err(&this.add_context)),
            }));
        }
    }
}

/// Returns the notice for a reply that the server itself started over.
fn restarted() -> Notice {
    let message = "the server started another reply in the middle of this one; discard what came before it";
    Notice::Restarted {
        fault: Fault::new(FaultKind::Server, message).with_retryable(true),
        usage: None,
    }
}
