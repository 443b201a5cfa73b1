//! [`batch`]: runs calls side by side and streams their progress and results.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_chat::{Progress, Text, ToolWork};
use futures_core::Stream;

use super::{
    begin::StartLine,
    calls::Calls,
    engine::{Engine, Prepared, Settlement},
    queue::CallQueue,
    schedule::Exclusivity,
    unread::{CallReport, Unread},
};
use crate::context::CallObserver;

/// An item of the stream of a [`batch`].
#[derive(Debug)]
pub(crate) enum BatchItem {
    /// These calls run as soon as the stream is polled again.
    Began {
        calls: Vec<Text>,
    },
    /// A call starts or stops waiting for a person.
    Waiting {
        call_id: Text,
        waiting: bool,
    },
    Progress {
        call_id: Text,
        progress: Progress,
    },
    /// The call at this index of the batch has ended.
    Settled {
        index: usize,
        settlement: Settlement,
    },
}

/// The state that the calls of a batch share with its stream.
struct Shared {
    engine: Arc<Engine>,
    /// Shared with the contexts of the calls, which must not keep the engine alive.
    unread: Arc<Unread>,
    queue: CallQueue,
    line: StartLine,
}

impl CallObserver for Unread {
    fn progress(&self, call: &Text, progress: Progress) {
        self.push(call.clone(), CallReport::Progress(progress));
    }

    fn waiting(&self, call: &Text, waiting: bool) {
        self.push(call.clone(), CallReport::Waiting(waiting));
    }
}

/// Runs calls side by side. Dropping the stream cancels those that still run.
pub(crate) fn batch(
    engine: Arc<Engine>,
    work: impl IntoIterator<Item = ToolWork>,
) -> impl Stream<Item = BatchItem> + Send + Unpin {
    let shared = Arc::new(Shared {
        unread: Arc::default(),
        queue: CallQueue::new(engine.max_concurrency),
        line: StartLine::default(),
        engine,
    });
    let start = |(index, work)| {
        let shared = Arc::clone(&shared);
        async move {
            let engine = &*shared.engine;
            // Preparation includes approval, which may take long: calls wait for each other only after it.
            let observer: Arc<dyn CallObserver> = shared.unread.clone();
            let mut ready = match engine.prepare(engine.caller(), work, Some(observer)).await {
                Prepared::Settled(settlement) => return (index, *settlement),
                Prepared::Ready(ready) => ready,
            };
            let exclusivity = Exclusivity::from_annotations(ready.call.tool.annotations());
            shared.queue.wait(index, exclusivity).await;
            let settlement = match ready.acquire_key().await {
                Err(error) => engine.refuse(ready, error),
                Ok(()) => {
                    shared.line.wait(index, ready.call.context.call_id()).await;
                    engine.run(ready).await
                }
            };
            shared.queue.end(index);
            (index, settlement)
        }
    };
    let calls = work.into_iter().enumerate().map(start).collect();
    Batch {
        shared,
        calls,
        settled: VecDeque::new(),
    }
}

/// The stream of a batch. `F` is the future of one call.
struct Batch<F> {
    shared: Arc<Shared>,
    calls: Calls<F>,
    settled: VecDeque<(usize, Settlement)>,
}

impl<F: Future<Output = (usize, Settlement)>> Batch<F> {
    /// Returns the next item that is ready: progress first, so that it never follows the end of its call.
    fn next_item(&mut self) -> Option<BatchItem> {
        let calls = self.shared.line.report();
        if !calls.is_empty() {
            return Some(BatchItem::Began { calls });
        }
        if let Some((call_id, report)) = self.shared.unread.pop() {
            return Some(match report {
                CallReport::Waiting(waiting) => BatchItem::Waiting { call_id, waiting },
                CallReport::Progress(progress) => BatchItem::Progress { call_id, progress },
            });
        }
        let (index, settlement) = self.settled.pop_front()?;
        Some(BatchItem::Settled { index, settlement })
    }

    fn is_cancelled(&self) -> bool {
        self.shared.engine.context.cancellation().is_cancelled()
    }

    /// Polls all calls until none of them can make progress.
    fn advance(&mut self, cx: &mut Context<'_>) {
        loop {
            self.calls.poll(cx, |settled| self.settled.push_back(settled));
            // After a cancellation no call begins: they are released so that they can end.
            let line = &self.shared.line;
            let cancelled = !line.is_empty() && self.is_cancelled() && line.cancel(cx.waker());
            if !self.shared.queue.start(cx.waker()) && !cancelled {
                return;
            }
        }
    }
}

impl<F: Future<Output = (usize, Settlement)>> Stream for Batch<F> {
    type Item = BatchItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<BatchItem>> {
        // The reader has taken the report of these calls.
        self.shared.line.release(cx.waker());
        if let Some(item) = self.next_item() {
            return Poll::Ready(Some(item));
        }
        self.advance(cx);
        let item = self.next_item();
        if item.is_some() || self.calls.is_empty() {
            return Poll::Ready(item);
        }
        // A call that runs elsewhere may have reported something before the waker was set.
        self.shared.unread.register(cx.waker());
        self.next_item().map_or(Poll::Pending, |item| Poll::Ready(Some(item)))
    }
}
