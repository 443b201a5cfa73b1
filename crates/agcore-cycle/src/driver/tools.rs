//! Running tools: hooks, the reports of the executor, results.

use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};

use agcore_chat::{Text, ToolCall, ToolEvent, ToolOutcome, ToolReport, ToolReports, ToolResult, ToolWork};
use futures_util::StreamExt;

use super::{context::Driver, hooks::stopped, spending::out_of_time};
use crate::{
    error::CycleError,
    hooks::HookStop,
    machine::{Outcome, Purpose},
};

/// The batches in flight. Dropping it cancels the calls that still run.
#[derive(Default)]
pub(super) struct RunningTools {
    batches: Vec<ToolReports>,
    /// Calls that hooks have changed, in the form in which they run.
    changed: Vec<Arc<ToolCall>>,
}

impl RunningTools {
    /// Returns the next report of any batch, round-robin; `None` when all have ended. Cancel safe.
    async fn next(&mut self) -> Option<ToolReport> {
        poll_fn(|cx| {
            let mut at = 0;
            while let Some(batch) = self.batches.get_mut(at) {
                match batch.poll_next_unpin(cx) {
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

impl Driver<'_> {
    /// Starts a batch. The machine records the whole batch before any call runs.
    pub(super) async fn start_tools(
        &mut self,
        work: Vec<ToolWork>,
        running: &mut RunningTools,
    ) -> Result<(), CycleError> {
        // A call that continues after its question was counted when it started.
        let started = work.iter().filter(|work| work.resumed.is_none()).count();
        match self.spending.admit_tools(self.machine, started) {
            Ok(Some(spent)) => self.absorb(Outcome::Spent(spent)).await?,
            Ok(None) => {}
            Err(limit) => return self.absorb(Outcome::limit(limit)).await,
        }
        let calls = work.iter().map(|work| Text::from(work.call.id.as_str())).collect();
        self.absorb(Outcome::Started(calls)).await?;
        // The observer must know the calls before a tool or an approver shows anything of its own.
        self.events.drained().await;
        let mut admitted = Vec::with_capacity(work.len());
        for mut work in work {
            let id = Text::from(work.call.id.as_str());
            match self.admit(Arc::clone(&work.call)).await {
                Ok(call) => {
                    if !Arc::ptr_eq(&call, &work.call) {
                        running.changed.push(Arc::clone(&call));
                    }
                    work.call = call;
                    admitted.push(work);
                }
                Err(HookStop::Blocked(reason)) => {
                    let refusal = ToolOutcome::error(reason);
                    self.settle(id, refusal, Duration::ZERO).await?;
                }
                Err(stop) => return self.stop_tools(&stop, running).await,
            }
        }
        if let (Some(tools), false) = (&self.options.tools, admitted.is_empty()) {
            running.batches.push(tools.execute(admitted));
        }
        Ok(())
    }

    /// Cancels the running calls and reports the reason to the machine.
    async fn stop_tools(&mut self, stop: &HookStop, running: &mut RunningTools) -> Result<(), CycleError> {
        *running = RunningTools::default();
        self.absorb(stopped(stop)).await
    }

    /// Runs the pre-tool hooks. Returns the call to run.
    async fn admit(&self, call: Arc<ToolCall>) -> Result<Arc<ToolCall>, HookStop> {
        if self.options.tools.is_none() {
            let message = format!(
                "There is no tool named `{}`: no tools are available in this turn.",
                call.name
            );
            return Err(HookStop::Blocked(message));
        }
        if self.hooks.is_empty() {
            return Ok(call);
        }
        let bounds = self.bounds(Purpose::Reply);
        self.hooks.pre_tool(&self.context(), &bounds, call).await
    }

    /// Waits for one report of the running calls.
    pub(super) async fn await_tool(&mut self, running: &mut RunningTools) -> Result<(), CycleError> {
        let left = self.spending.time_left(self.machine, Purpose::Reply);
        let report = tokio::select! {
            biased;
            () = self.options.token.cancelled() => {
                return self.stop_tools(&HookStop::Cancelled, running).await;
            }
            report = running.next() => report,
            limit = out_of_time(self.clock, left) => {
                return self.stop_tools(&HookStop::OutOfTime(limit), running).await;
            }
        };
        match report {
            Some(ToolReport::Progress { call_id, progress }) => {
                let progress = Box::new(progress);
                self.send(ToolEvent::Progress { call_id, progress }).await;
                Ok(())
            }
            Some(ToolReport::Settled {
                call_id,
                outcome,
                duration,
                ..
            }) => match self.run_post_tool(&call_id, outcome, &running.changed).await {
                Ok(Some(outcome)) => self.settle(call_id, outcome, duration).await,
                Ok(None) => Ok(()),
                Err(stop) => self.stop_tools(&stop, running).await,
            },
            Some(_) => Ok(()),
            None => self.fail_unreported().await,
        }
    }

    /// Runs the post-tool hooks, which may replace the text of a result before anything else sees it. Returns `None` if the
    /// call is not running.
    async fn run_post_tool(
        &self,
        call: &Text,
        outcome: ToolOutcome,
        changed: &[Arc<ToolCall>],
    ) -> Result<Option<ToolOutcome>, HookStop> {
        let Some(known) = self.machine.uncertain().find(|known| *call == *known.id) else {
            tracing::warn!(
                call = &**call,
                "an executor reported on a call that is not running; the report is ignored"
            );
            return Ok(None);
        };
        if self.hooks.is_empty() {
            return Ok(Some(outcome));
        }
        // A call that was resumed may have been changed twice.
        let changed = changed.iter().rfind(|changed| *call == *changed.id);
        let call = changed.map_or(known, |changed| changed);
        Ok(Some(match outcome {
            ToolOutcome::Done(result) => ToolOutcome::Done(self.replaced(call, result).await?),
            ToolOutcome::Divert { content, data } => ToolOutcome::Divert {
                content: self.replaced(call, ToolResult::new(content)).await?.content,
                data,
            },
            other => other,
        }))
    }

    async fn replaced(&self, call: &ToolCall, result: ToolResult) -> Result<ToolResult, HookStop> {
        let bounds = self.bounds(Purpose::Reply);
        self.hooks.post_tool(&self.context(), &bounds, call, result).await
    }

    /// Reports the outcome of a call. An outcome that the machine rejects becomes an error result: every call must end.
    async fn settle(&mut self, call: Text, outcome: ToolOutcome, duration: Duration) -> Result<(), CycleError> {
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let Err(rejected) = self
            .try_absorb(Outcome::Tool {
                call: call.clone(),
                outcome,
                duration_us,
            })
            .await
        else {
            return Ok(());
        };
        let outcome = ToolOutcome::error(format!("The tool ended in a way that cannot be used: {rejected}."));
        self.absorb(Outcome::Tool {
            call,
            outcome,
            duration_us,
        })
        .await
    }

    /// Converts calls that the executor left without a result into errors.
    async fn fail_unreported(&mut self) -> Result<(), CycleError> {
        let left: Vec<Text> = self
            .machine
            .uncertain()
            .map(|call| Text::from(call.id.as_str()))
            .collect();
        for call in left {
            let outcome = ToolOutcome::error("The tool ended without a result.");
            self.settle(call, outcome, Duration::ZERO).await?;
        }
        Ok(())
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
        running.batches.push(stream::iter(first).boxed());
        running.batches.push(stream::pending().boxed());
        running.batches.push(stream::iter(second).boxed());
        for expected in ["a1", "b1", "a2", "a3"] {
            assert_eq!(next(&mut running), Some(Some(expected.to_owned())));
        }
        // One batch is still in flight.
        assert_eq!(next(&mut running), None);
        assert_eq!(running.batches.len(), 1);
    }
}
