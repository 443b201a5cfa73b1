//! Recording and replaying exchanges.

mod format;
mod parsing;
mod recording;
mod replaying;
mod scrubbing;

use std::{future::poll_fn, sync::Arc, task::Poll};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    Call, LlmError, LlmProvider, Notice, ReplyDelta, ReplyItem, ReplyStream,
    cassette::{Cassette, CassetteBuffer, Exchange, RecordingProvider, Scrub},
};
use agcore_testkit::clock::ManualClock;
use futures_util::StreamExt;

fn hello() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

fn text(text: &str) -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Text {
        choice: 0,
        text: text.into(),
    })
}

fn ok() -> ReplyItem {
    ReplyItem::End(Ok(()))
}

/// A provider whose replies are created by a function that returns chunks of items.
struct ChunkProvider<F>(F);

impl<F> std::fmt::Debug for ChunkProvider<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChunkProvider")
    }
}

impl<F: Fn() -> Vec<Vec<ReplyItem>> + Send + Sync> LlmProvider for ChunkProvider<F> {
    fn open(&self, _: Call) -> ReplyStream {
        let chunks = (self.0)().into_iter().enumerate();
        let chunk = |(index, items): (usize, Vec<ReplyItem>)| async move {
            if index > 0 {
                tokio::task::yield_now().await;
            }
            futures_util::stream::iter(items)
        };
        ReplyStream::new(futures_util::stream::iter(chunks).then(chunk).flatten())
    }
}

/// Describes an item for comparisons, because items with errors are not comparable.
fn describe(item: &ReplyItem) -> String {
    match item {
        ReplyItem::Delta(delta) => format!("{delta:?}"),
        ReplyItem::Notice(Notice::AnsweredBy(answered_by)) => format!("by {}", answered_by.provider),
        ReplyItem::Notice(notice) => format!("{notice:?}"),
        ReplyItem::End(Ok(())) => "ok".to_owned(),
        ReplyItem::End(Err(error)) => describe_error(error),
        other => format!("{other:?}"),
    }
}

fn describe_error(error: &LlmError) -> String {
    format!(
        "{error:?} {} {} {:?} {:?} {:?} {:?} {}",
        error,
        error.is_retryable(),
        error.retry_after(),
        error.headers(),
        error.body_excerpt(),
        error.partial(),
        error.chain(),
    )
}

/// Returns descriptions of all items of a reply, in its chunks.
async fn chunks(provider: &dyn LlmProvider, call: Call) -> Vec<Vec<String>> {
    let mut reply = provider.open(call);
    let mut chunks = vec![Vec::new()];
    loop {
        let item = match poll_fn(|cx| Poll::Ready(reply.poll_next_unpin(cx))).await {
            Poll::Ready(item) => item,
            Poll::Pending => {
                if chunks.last().is_some_and(|chunk| !chunk.is_empty()) {
                    chunks.push(Vec::new());
                }
                tokio::task::yield_now().await;
                continue;
            }
        };
        let Some(item) = item else {
            return chunks;
        };
        chunks.last_mut().unwrap().push(describe(&item));
    }
}

/// Records a streamed call to its end.
async fn recorded(
    items: impl Fn() -> Vec<Vec<ReplyItem>> + Send + Sync,
    request: ChatRequest,
    scrub: Scrub,
) -> Exchange {
    let buffer = CassetteBuffer::new();
    let clock = Arc::new(ManualClock::jumping());
    let recorder = RecordingProvider::new(ChunkProvider(items), buffer.clone(), clock).with_scrub(scrub);
    let _ = chunks(&recorder, Call::new(request).with_stream(true)).await;
    assert_eq!(recorder.problems(), []);
    buffer.cassette().exchanges()[0].clone()
}

/// Returns the file of a cassette.
fn file(cassette: &Cassette) -> Vec<u8> {
    use agcore_llm::cassette::{CassetteSink, CassetteWriter};
    let writer = CassetteWriter::new(Vec::new());
    cassette
        .exchanges()
        .iter()
        .for_each(|exchange| writer.record(exchange).unwrap());
    writer.into_inner()
}
