//! [`LoggingProvider`]: counts the calls of a provider and records which ones are abandoned.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_llm::{Call, LlmErrorKind, LlmProvider, ProviderInfo, ProviderRoute, ReplyItem, ReplyStream};
use futures_util::{Stream, StreamExt};
use tokio::sync::watch;

/// The calls started and abandoned so far. Clones share the same log.
#[derive(Debug, Clone, Default)]
pub(super) struct CallLog(Arc<watch::Sender<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    started: usize,
    abandoned: Vec<usize>,
}

impl CallLog {
    /// Waits until at least `count` calls have started.
    pub(super) async fn wait_for_started(&self, count: usize) {
        self.wait(|calls| calls.started >= count).await;
    }

    /// Waits until call `number` has been abandoned before its end.
    pub(super) async fn wait_for_abandoned(&self, number: usize) {
        self.wait(|calls| calls.abandoned.contains(&number)).await;
    }

    async fn wait(&self, is_ready: impl Fn(&Calls) -> bool) {
        // `self` owns the sender, so the channel cannot close during the wait.
        let _ = self.0.subscribe().wait_for(|calls| is_ready(calls)).await;
    }
}

/// A provider that logs the calls of another one.
#[derive(Debug)]
pub(super) struct LoggingProvider<P> {
    inner: P,
    log: CallLog,
}

impl<P> LoggingProvider<P> {
    pub(super) fn new(inner: P, log: CallLog) -> Self {
        Self { inner, log }
    }
}

impl<P: LlmProvider> LlmProvider for LoggingProvider<P> {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(LoggedReply {
            items: self.inner.open(call),
            log: self.log.clone(),
            state: State::NotPolled,
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.inner.visit_routes(model, visit);
    }
}

struct LoggedReply {
    items: ReplyStream,
    log: CallLog,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    NotPolled,
    /// The call has started; its number is given.
    Started(usize),
    /// The reply has ended.
    Ended,
}

impl LoggedReply {
    fn start(&mut self) {
        if let State::NotPolled = self.state {
            self.log.0.send_modify(|calls| {
                self.state = State::Started(calls.started);
                calls.started += 1;
            });
        }
    }
}

impl Stream for LoggedReply {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        self.start();
        let item = std::task::ready!(self.items.poll_next_unpin(cx));
        // A cancelled call counts as abandoned, although its reply has an end.
        let is_cancelled =
            |item: &ReplyItem| matches!(item, ReplyItem::End(Err(error)) if error.kind() == LlmErrorKind::Cancelled);
        if matches!(&item, Some(ReplyItem::End(_))) && !item.as_ref().is_some_and(is_cancelled) {
            self.state = State::Ended;
        }
        Poll::Ready(item)
    }
}

impl Drop for LoggedReply {
    fn drop(&mut self) {
        if let State::Started(number) = self.state {
            self.log.0.send_modify(|calls| calls.abandoned.push(number));
        }
    }
}
