//! [`RunningTools`]: the batches of calls that executors work on.

use std::{future::poll_fn, sync::Arc, task::Poll};

use agcore_chat::{Text, ToolCall, ToolReport, ToolReports};
use futures_util::StreamExt;

use super::waits::Waits;
use crate::budget::Reservation;

/// The batches in flight. Dropping it cancels the calls that still run.
#[derive(Default)]
pub(super) struct RunningTools {
    batches: Vec<Batch>,
    /// Calls that hooks have changed, in the form in which they run.
    changed: Vec<Arc<ToolCall>>,
    /// Calls that were handed to an executor and that it has not let run yet: they may wait for an approval.
    waiting: Vec<Waiting>,
    /// Which calls wait for a person.
    pub(super) waits: Waits,
}

struct Batch {
    reports: ToolReports,
    calls: Vec<Text>,
}

/// A call that has not started.
pub(super) struct Waiting {
    pub(super) call: Text,
    /// Whether the call counts against budgets when it begins.
    pub(super) counts: bool,
    /// The reservation of a pool for it.
    pub(super) reservation: Option<Reservation>,
}

impl RunningTools {
    /// Cancels everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a batch.
    pub(super) fn push(&mut self, calls: Vec<Text>, reports: ToolReports) {
        self.batches.push(Batch { reports, calls });
    }

    /// Adds calls that wait until their executor lets them run.
    pub(super) fn wait_for(&mut self, mut calls: Vec<Waiting>) {
        if self.waiting.is_empty() {
            self.waiting = calls;
        } else {
            self.waiting.append(&mut calls);
        }
    }

    /// Adds a call that hooks have changed.
    pub(super) fn change(&mut self, call: Arc<ToolCall>) {
        self.changed.push(call);
    }

    /// Returns a call in the form in which it runs, if hooks have changed it.
    pub(super) fn changed(&self, call: &Text) -> Option<&Arc<ToolCall>> {
        // A call that was resumed may have been changed twice.
        self.changed.iter().rfind(|changed| *call == *changed.id)
    }

    /// Returns whether a call waits until its executor lets it run.
    pub(super) fn is_waiting<T: ?Sized>(&self, call: &T) -> bool
    where
        Text: PartialEq<T>,
    {
        self.waiting.iter().any(|waiting| waiting.call == *call)
    }

    /// Records which calls wait for a person. A call that was approved but has not started is not working yet.
    pub(super) fn record_waits(&mut self, report: &ToolReport) {
        match report {
            ToolReport::Waiting {
                call_id,
                waiting: false,
            } if self.is_waiting(call_id) => self.waits.remove(call_id),
            report => self.waits.record(report),
        }
    }

    /// Returns the calls that have not started.
    pub(super) fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// Takes a call that has not started.
    pub(super) fn take_waiting<T: ?Sized>(&mut self, call: &T) -> Option<Waiting>
    where
        Text: PartialEq<T>,
    {
        let at = self.waiting.iter().position(|waiting| waiting.call == *call)?;
        Some(self.waiting.swap_remove(at))
    }

    /// Cancels the batch that has sent the last report. Returns its calls.
    pub(super) fn cancel_last(&mut self) -> Vec<Text> {
        let calls = self.batches.pop().map(|batch| batch.calls).unwrap_or_default();
        self.waiting.retain(|waiting| !calls.contains(&waiting.call));
        calls.iter().for_each(|call| self.waits.remove(call));
        calls
    }

    /// Returns the next report of any batch, round-robin; `None` when all have ended. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<ToolReport> {
        poll_fn(|cx| {
            let mut at = 0;
            while let Some(batch) = self.batches.get_mut(at) {
                match batch.reports.poll_next_unpin(cx) {
                    Poll::Ready(Some(report)) => {
                        self.batches.rotate_left(at + 1);
                        return Poll::Ready(Some(report));
                    }
                    Poll::Ready(None) => drop(self.batches.remove(at)),
                    Poll::Pending => at += 1,
                }
            }
            if self.batches.is_empty() {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::Progress;
    use futures_util::{FutureExt, stream};

    use super::*;

    fn progress(call: &str) -> ToolReport {
        ToolReport::Progress {
            call_id: call.into(),
            progress: Progress::default(),
        }
    }

    fn next(running: &mut RunningTools) -> Option<Option<String>> {
        let report = running.next().now_or_never()?;
        Some(report.map(|report| match report {
            ToolReport::Progress { call_id, .. } => call_id.to_string(),
            other => format!("{other:?}"),
        }))
    }

    #[test]
    fn batches_are_polled_round_robin() {
        let mut running = RunningTools::default();
        assert_eq!(next(&mut running), Some(None));
        let (first, second) = ([progress("a1"), progress("a2"), progress("a3")], [progress("b1")]);
        running.push(Vec::new(), stream::iter(first).boxed());
        running.push(Vec::new(), stream::pending().boxed());
        running.push(Vec::new(), stream::iter(second).boxed());
        for expected in ["a1", "b1", "a2", "a3"] {
            assert_eq!(next(&mut running), Some(Some(expected.to_owned())));
        }
        // One batch is still in flight.
        assert_eq!(next(&mut running), None);
        assert_eq!(running.batches.len(), 1);
    }
}
