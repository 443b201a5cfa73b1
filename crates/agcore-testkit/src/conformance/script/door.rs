//! [`Door`]: counts who comes to a provider, and who leaves before the end.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_llm::{
    Call, LlmErrorKind, LlmProvider, ProviderInfo,
    reply::{ReplyItem, ReplyStream},
};
use futures_util::{Stream, StreamExt};
use tokio::sync::watch;

/// Who came, and who left. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Visits(Arc<watch::Sender<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    count: usize,
    left: Vec<usize>,
}

impl Visits {
    /// Waits until so many calls have begun.
    pub(super) async fn arrived(&self, count: usize) {
        self.wait(|seen| seen.count >= count).await;
    }

    /// Waits until call `number` was left before its end.
    pub(super) async fn left(&self, number: usize) {
        self.wait(|seen| seen.left.contains(&number)).await;
    }

    async fn wait(&self, ready: impl Fn(&Seen) -> bool) {
        // `self` holds the sender, so the channel cannot close while we wait.
        let _ = self.0.subscribe().wait_for(|seen| ready(seen)).await;
    }
}

/// A provider that counts who comes to another one.
#[derive(Debug)]
pub(super) struct Door<P> {
    inner: P,
    visits: Visits,
}

impl<P> Door<P> {
    pub(super) fn new(inner: P, visits: Visits) -> Self {
        Self { inner, visits }
    }
}

impl<P: LlmProvider> LlmProvider for Door<P> {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(Visit {
            items: self.inner.open(call),
            visits: self.visits.clone(),
            state: State::Outside,
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }
}

struct Visit {
    items: ReplyStream,
    visits: Visits,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// Not polled yet.
    Outside,
    /// In the call of this number.
    Inside(usize),
    /// The reply was over.
    Served,
}

impl Visit {
    fn enter(&mut self) {
        if let State::Outside = self.state {
            self.visits.0.send_modify(|seen| {
                self.state = State::Inside(seen.count);
                seen.count += 1;
            });
        }
    }
}

impl Stream for Visit {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        self.enter();
        let item = std::task::ready!(self.items.poll_next_unpin(cx));
        // Who cancels leaves, although the reply says so itself.
        let cancelled =
            |item: &ReplyItem| matches!(item, ReplyItem::End(Err(error)) if *error.kind() == LlmErrorKind::Cancelled);
        if matches!(&item, Some(ReplyItem::End(_))) && !item.as_ref().is_some_and(cancelled) {
            self.state = State::Served;
        }
        Poll::Ready(item)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let State::Inside(number) = self.state {
            self.visits.0.send_modify(|seen| seen.left.push(number));
        }
    }
}
