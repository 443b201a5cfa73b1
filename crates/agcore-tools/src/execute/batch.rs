//! [`batch`]: runs calls side by side and streams their progress and results.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_chat::{Progress, Text, ToolWork};
use futures_core::Stream;
use futures_util::{StreamExt, stream::FuturesUnordered};

use super::{
    engine::{Engine, Prepared, Settlement},
    progress::ProgressBuffer,
    queue::CallQueue,
    schedule::Exclusivity,
};

/// An item of the stream of a [`batch`].
#[derive(Debug)]
pub(crate) enum BatchItem {
    Progress {
        call_id: Text,
        progress: Progress,
    },
    /// The call at this index of the batch has ended.
    Settled {
        index: usize,
        settlement: Box<Settlement>,
    },
}

/// Runs calls side by side. Dropping the stream cancels those that still run.
pub(crate) fn batch(
    engine: Arc<Engine>,
    work: impl IntoIterator<Item = ToolWork>,
) -> impl Stream<Item = BatchItem> + Send + Unpin {
    let progress = Arc::new(ProgressBuffer::default());
    let queue = Arc::new(CallQueue::new(engine.max_concurrency));
    let sender = progress.sender();
    let start = |(index, mut work)| {
        let (engine, queue, sender) = (Arc::clone(&engine), Arc::clone(&queue), Arc::clone(&sender));
        async move {
            // Preparation includes approval, which may take long: calls wait for each other only after it.
            let ready = match engine.prepare(&mut work, Some(sender)).await {
                Prepared::Settled(settlement) => return (index, settlement),
                Prepared::Ready(ready) => ready,
            };
            let exclusivity = Exclusivity::from_annotations(ready.call.tool.annotations());
            queue.wait(index, exclusivity).await;
            let settlement = engine.run(ready).await;
            queue.end(index);
            (index, settlement)
        }
    };
    let calls = work.into_iter().enumerate().map(start).collect();
    Batch {
        progress,
        queue,
        calls,
        settled: VecDeque::new(),
    }
}

/// The stream of a batch. `F` is the future of one call.
struct Batch<F> {
    progress: Arc<ProgressBuffer>,
    queue: Arc<CallQueue>,
    calls: FuturesUnordered<F>,
    settled: VecDeque<(usize, Box<Settlement>)>,
}

impl<F: Future<Output = (usize, Box<Settlement>)>> Batch<F> {
    /// Returns the next item that is ready: progress first, so that it never follows the end of its call.
    fn next_item(&mut self) -> Option<BatchItem> {
        if let Some((call_id, progress)) = self.progress.pop() {
            return Some(BatchItem::Progress { call_id, progress });
        }
        let (index, settlement) = self.settled.pop_front()?;
        Some(BatchItem::Settled { index, settlement })
    }

    /// Polls all calls until none of them can make progress.
    fn advance(&mut self, cx: &mut Context<'_>) {
        loop {
            while let Poll::Ready(Some(settled)) = self.calls.poll_next_unpin(cx) {
                self.settled.push_back(settled);
            }
            if !self.queue.start() {
                return;
            }
        }
    }
}

impl<F: Future<Output = (usize, Box<Settlement>)>> Stream for Batch<F> {
    type Item = BatchItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<BatchItem>> {
        self.progress.register(cx.waker());
        if let Some(item) = self.next_item() {
            return Poll::Ready(Some(item));
        }
        self.advance(cx);
        match self.next_item() {
            None if !self.calls.is_empty() => Poll::Pending,
            item => Poll::Ready(item),
        }
    }
}
