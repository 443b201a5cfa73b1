//! [`batch`]: calls that run side by side, as a stream of what they tell and how they end.

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
    lanes::Need,
    told::Told,
    turns::Turns,
};

/// What a batch tells.
#[derive(Debug)]
pub(crate) enum BatchItem {
    Progress {
        call_id: Text,
        progress: Progress,
    },
    /// A call, by its place in the batch, has ended.
    Settled {
        place: usize,
        settlement: Box<Settlement>,
    },
}

/// Calls that run side by side. Dropping the stream gives up all that still run.
pub(crate) fn batch(
    engine: Arc<Engine>,
    work: impl IntoIterator<Item = ToolWork>,
) -> impl Stream<Item = BatchItem> + Send + Unpin {
    let told = Arc::new(Told::default());
    let turns = Arc::new(Turns::new(engine.most_at_a_time));
    let progress = told.sender();
    let begin = |(place, mut work)| {
        let (engine, turns, progress) = (Arc::clone(&engine), Arc::clone(&turns), Arc::clone(&progress));
        async move {
            // Nothing waits for its neighbours on the way to the gate and through it.
            let ready = match engine.prepare(&mut work, Some(progress)).await {
                Prepared::Settled(settlement) => return (place, settlement),
                Prepared::Ready(ready) => ready,
            };
            turns.wait(place, Need::of(ready.call.tool.annotations())).await;
            let settlement = engine.run(ready).await;
            turns.end(place);
            (place, settlement)
        }
    };
    let calls = work.into_iter().enumerate().map(begin).collect();
    Batch {
        told,
        turns,
        calls,
        settled: VecDeque::new(),
    }
}

/// The calls of a batch, `F` being one of them on its way.
struct Batch<F> {
    told: Arc<Told>,
    turns: Arc<Turns>,
    calls: FuturesUnordered<F>,
    settled: VecDeque<(usize, Box<Settlement>)>,
}

impl<F: Future<Output = (usize, Box<Settlement>)>> Batch<F> {
    /// What can be told at once: progress first, so that it never comes after its call's end.
    fn next_item(&mut self) -> Option<BatchItem> {
        if let Some((call_id, progress)) = self.told.next() {
            return Some(BatchItem::Progress { call_id, progress });
        }
        let (place, settlement) = self.settled.pop_front()?;
        Some(BatchItem::Settled { place, settlement })
    }

    /// Moves every call as far as it gets now.
    fn advance(&mut self, cx: &mut Context<'_>) {
        loop {
            while let Poll::Ready(Some(settled)) = self.calls.poll_next_unpin(cx) {
                self.settled.push_back(settled);
            }
            if !self.turns.begin() {
                return;
            }
        }
    }
}

impl<F: Future<Output = (usize, Box<Settlement>)>> Stream for Batch<F> {
    type Item = BatchItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<BatchItem>> {
        self.told.register(cx.waker());
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
