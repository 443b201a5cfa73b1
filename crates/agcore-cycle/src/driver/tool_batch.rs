//! [`ToolBatch`]: the tool calls that executors work on.

mod waits;

use std::{future::poll_fn, sync::Arc, task::Poll};

use agcore_chat::{CallInput, Text, ToolCall, ToolReport, ToolReports, ToolWork};
use futures_util::StreamExt;

use self::waits::Waits;
use super::settled::Settled;
use crate::{budget::Reservation, machine::Machine};

/// The tool calls in flight. Dropping it cancels those that still run.
#[derive(Default)]
pub(super) struct ToolBatch {
    /// The calls whose begin was recorded with the reply that made them. They are executed next.
    started: Vec<ToolWork>,
    running: Vec<Running>,
    /// Calls that hooks have changed, in the form in which they run.
    changed: Vec<Arc<ToolCall>>,
    /// Calls that were handed to an executor and that it has not let run yet: they may wait for an approval.
    waiting: Vec<Waiting>,
    /// Which calls wait for a person.
    waits: Waits,
}

/// The calls that one executor works on.
struct Running {
    reports: ToolReports,
    calls: Vec<Text>,
}

/// The end of a call, and the call with the input with which it ran.
pub(super) struct CallResult {
    pub(super) call: Arc<ToolCall>,
    pub(super) settled: Settled,
}

/// A call that has not started.
pub(super) struct Waiting {
    pub(super) call: Text,
    /// Whether the call counts against budgets when it begins.
    pub(super) counts: bool,
    /// The reservation of a pool for it.
    pub(super) reservation: Option<Reservation>,
}

impl ToolBatch {
    /// Returns whether there are no calls.
    pub(super) fn is_empty(&self) -> bool {
        self.started.is_empty() && self.running.is_empty() && self.waiting.is_empty()
    }

    /// Cancels everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Keeps calls that have started until they are executed.
    pub(super) fn begin(&mut self, work: Vec<ToolWork>) {
        self.started = work;
    }

    /// Returns whether calls have started that are not executed yet.
    pub(super) fn has_started(&self) -> bool {
        !self.started.is_empty()
    }

    /// Takes the calls that have started.
    pub(super) fn take_started(&mut self) -> Vec<ToolWork> {
        std::mem::take(&mut self.started)
    }

    /// Adds calls that an executor works on. They work from now on, unless it `reports_begin`.
    pub(super) fn push(&mut self, calls: Vec<Text>, reports: ToolReports, reports_begin: bool) {
        if !reports_begin {
            self.waits.begin(calls.iter().cloned());
        }
        self.running.push(Running { reports, calls });
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
    fn changed(&self, call: &Text) -> Option<&Arc<ToolCall>> {
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

    /// Returns whether all work waits for a person: at least one call does, and none works.
    pub(super) fn is_only_waiting(&self) -> bool {
        self.waits.is_only_waiting()
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

    /// Takes a call that has ended, as its executor reports, with the input with which it ran. Returns `None` if it is not
    /// running.
    pub(super) fn take_result(&mut self, machine: &Machine, mut settled: Settled) -> Option<CallResult> {
        let waited = self.take_waiting(&settled.call).is_some();
        let known = machine.pending_call(&settled.call);
        let Some(known) = known.filter(|call| waited || machine.is_running(&call.id)) else {
            tracing::warn!(
                call = &*settled.call,
                "an executor reported on a call that is not running; the report is ignored"
            );
            return None;
        };
        let changed = self.changed(&settled.call);
        let mut call = Arc::clone(changed.unwrap_or(known));
        if let Some(input) = &settled.input {
            edit(&mut call, input);
        } else if changed.is_some() {
            settled.input = Some(Text::from(call.raw_input()));
        }
        Some(CallResult { call, settled })
    }

    /// Cancels the batch that has sent the last report. Returns its calls.
    pub(super) fn cancel_last(&mut self) -> Vec<Text> {
        let calls = self.running.pop().map(|batch| batch.calls).unwrap_or_default();
        self.waiting.retain(|waiting| !calls.contains(&waiting.call));
        calls.iter().for_each(|call| self.waits.remove(call));
        calls
    }

    /// Returns the next report of any batch, round-robin; `None` when all have ended. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<ToolReport> {
        poll_fn(|cx| {
            let mut at = 0;
            while let Some(batch) = self.running.get_mut(at) {
                match batch.reports.poll_next_unpin(cx) {
                    Poll::Ready(Some(report)) => {
                        self.running.rotate_left(at + 1);
                        return Poll::Ready(Some(report));
                    }
                    Poll::Ready(None) => drop(self.running.remove(at)),
                    Poll::Pending => at += 1,
                }
            }
            if self.running.is_empty() {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        })
        .await
    }
}

/// Gives a call the input with which it ran.
fn edit(call: &mut Arc<ToolCall>, input: &Text) {
    match &mut Arc::make_mut(call).input {
        CallInput::Text(text) => *text = input.to_string(),
        other => *other = CallInput::Arguments(input.to_string().into()),
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

    fn next(running: &mut ToolBatch) -> Option<Option<String>> {
        let report = running.next().now_or_never()?;
        Some(report.map(|report| match report {
            ToolReport::Progress { call_id, .. } => call_id.to_string(),
            other => format!("{other:?}"),
        }))
    }

    #[test]
    fn batches_are_polled_round_robin() {
        let mut running = ToolBatch::default();
        assert_eq!(next(&mut running), Some(None));
        let (first, second) = ([progress("a1"), progress("a2"), progress("a3")], [progress("b1")]);
        running.push(Vec::new(), stream::iter(first).boxed(), true);
        running.push(Vec::new(), stream::pending().boxed(), true);
        running.push(Vec::new(), stream::iter(second).boxed(), true);
        for expected in ["a1", "b1", "a2", "a3"] {
            assert_eq!(next(&mut running), Some(Some(expected.to_owned())));
        }
        // One batch is still in flight.
        assert_eq!(next(&mut running), None);
        assert_eq!(running.running.len(), 1);
    }
}
