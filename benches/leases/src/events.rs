//! [`Agenda`]: what happens next.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::worker::{Time, WorkerId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The lease of a run may have expired. Comes before everything else of the same time.
    Expire { run: u32, epoch: u64 },
    /// A tenant asks for a run.
    Arrive { tenant: usize },
    /// A worker claims runs, unless it was woken in the meantime.
    Claim { worker: WorkerId, round: u32 },
    /// A worker checks which leases it has to renew.
    Renew { worker: WorkerId },
    /// A worker does the next part of a run.
    Act { worker: WorkerId, run: u32, epoch: u64 },
    /// A session is deleted whose run is over.
    Delete { run: u32 },
    /// A worker is killed.
    Kill,
    /// A worker is stopped for a while.
    Stop,
    /// A worker that was killed starts again.
    Restart { place: usize },
}

/// The events to come, those of the same time in the order in which they were added.
#[derive(Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<(Time, bool, u64, Event)>>,
    count: u64,
}

impl Agenda {
    pub(crate) fn add(&mut self, time: Time, event: Event) {
        self.count += 1;
        let is_late = !matches!(event, Event::Expire { .. });
        self.heap.push(Reverse((time, is_late, self.count, event)));
    }

    pub(crate) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    /// Takes the next event of this time.
    pub(crate) fn take(&mut self, time: Time) -> Option<Event> {
        let is_due = self.next_time() == Some(time);
        is_due.then(|| self.heap.pop())?.map(|Reverse((.., event))| event)
    }
}
