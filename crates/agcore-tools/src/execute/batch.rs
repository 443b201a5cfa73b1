//! [`Batch`]: calls that run side by side, as a stream of what they tell and how they end.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agcore_chat::{Progress, Text, ToolWork};
use futures_core::Stream;
use futures_util::{StreamExt, stream::FuturesUnordered};

use super::{
    engine::{Engine, Prepared, ReadyCall, Settlement},
    lanes::{Lanes, Need},
    told::Told,
};

/// Calls that run side by side. Dropping it gives up all that still run.
pub(crate) struct Batch {
    engine: Arc<Engine>,
    told: Arc<Told>,
    /// Calls on their way to the gate and through it; nothing waits for their neighbours here.
    preparing: FuturesUnordered<Future<Prepared>>,
    /// Calls that wait for their turn.
    ready: BTreeMap<usize, Box<ReadyCall>>,
    lanes: Lanes,
    running: FuturesUnordered<Future<Box<Settlement>>>,
    settled: VecDeque<(usize, Box<Settlement>)>,
}

type Future<T> = Pin<Box<dyn std::future::Future<Output = (usize, T)> + Send>>;

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

impl Batch {
    pub(crate) fn new(engine: Arc<Engine>, work: impl IntoIterator<Item = ToolWork>) -> Self {
        let told = Arc::new(Told::default());
        let progress = told.sender();
        let preparing = FuturesUnordered::new();
        for (place, work) in work.into_iter().enumerate() {
            let (engine, progress) = (Arc::clone(&engine), Arc::clone(&progress));
            let prepare = async move { (place, engine.prepare(work, Some(progress)).await) };
            preparing.push(Box::pin(prepare) as Future<Prepared>);
        }
        Self {
            lanes: Lanes::new(engine.most_at_a_time),
            engine,
            told,
            preparing,
            ready: BTreeMap::new(),
            running: FuturesUnordered::new(),
            settled: VecDeque::new(),
        }
    }

    /// What can be told at once: progress first, so that it never comes after its call's end.
    fn next_item(&mut self) -> Option<BatchItem> {
        if let Some((call_id, progress)) = self.told.next() {
            return Some(BatchItem::Progress { call_id, progress });
        }
        let (place, settlement) = self.settled.pop_front()?;
        Some(BatchItem::Settled { place, settlement })
    }

    /// Moves every call as far as it gets now. False when none moved.
    fn advance(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        while let Poll::Ready(Some((place, prepared))) = self.preparing.poll_next_unpin(cx) {
            moved = true;
            match prepared {
                Prepared::Settled(settlement) => self.settled.push_back((place, settlement)),
                Prepared::Ready(ready) => {
                    self.lanes.wait(place, Need::of(ready.call.tool.annotations()));
                    self.ready.insert(place, ready);
                }
            }
        }
        while let Some(ready) = self.lanes.begin().and_then(|place| self.ready.remove_entry(&place)) {
            moved = true;
            self.start(ready);
        }
        while let Poll::Ready(Some((place, settlement))) = self.running.poll_next_unpin(cx) {
            moved = true;
            self.lanes.end(place);
            self.settled.push_back((place, settlement));
        }
        moved
    }

    fn start(&self, (place, ready): (usize, Box<ReadyCall>)) {
        let engine = Arc::clone(&self.engine);
        self.running
            .push(Box::pin(async move { (place, engine.run(ready).await) }));
    }

    fn is_over(&self) -> bool {
        self.preparing.is_empty() && self.ready.is_empty() && self.running.is_empty()
    }
}

impl Stream for Batch {
    type Item = BatchItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<BatchItem>> {
        loop {
            self.told.register(cx.waker());
            if let Some(item) = self.next_item() {
                return Poll::Ready(Some(item));
            }
            if self.is_over() {
                return Poll::Ready(None);
            }
            if !self.advance(cx) {
                // A call may have told something without moving on.
                return self.next_item().map_or(Poll::Pending, |item| Poll::Ready(Some(item)));
            }
        }
    }
}
