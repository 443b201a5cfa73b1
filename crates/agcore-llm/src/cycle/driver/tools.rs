//! Running tools: hooks, the executor's reports, results.

use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};

use agcore_chat::{Text, ToolCall, ToolEvent, ToolOutcome, ToolReport, ToolReports, ToolResult, ToolWork};
use futures_util::StreamExt;

use super::{hooks::stopped, spending::out_of_time, state::Driver};
use crate::{
    cycle::machine::{Outcome, Purpose},
    error::LlmError,
    hooks::HookStop,
};

/// The batches under way. Dropping it cancels what still runs.
#[derive(Default)]
pub(super) struct RunningTools {
    batches: Vec<ToolReports>,
    /// Calls that hooks changed, as they run.
    changed: Vec<Arc<ToolCall>>,
}

impl RunningTools {
    /// The next report of any batch, each in its turn; none when all have ended. Cancel safe.
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
    /// Starts a batch: told to the machine in one record before anything runs.
    pub(super) async fn start_tools(
        &mut self,
        work: Vec<ToolWork>,
        running: &mut RunningTools,
    ) -> Result<(), LlmError> {
        // A call that goes on after its question was counted when it began.
        let begun = work.iter().filter(|work| work.resumed.is_none()).count();
        if let Err(limit) = self.spend_tools(begun).await? {
            return self.absorb(Outcome::limit(limit)).await;
        }
        let calls = work.iter().map(|work| Text::from(work.call.id.as_str())).collect();
        self.absorb(Outcome::Started(calls)).await?;
        // Whoever watches learns of the calls before a tool or an approver shows anything of its own.
        if let Some(observer) = self.observer {
            observer.drained().await;
        }
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

    /// Ends what runs and tells the machine why.
    async fn stop_tools(&mut self, stop: &HookStop, running: &mut RunningTools) -> Result<(), LlmError> {
        *running = RunningTools::default();
        self.absorb(stopped(stop)).await
    }

    /// The call as the hooks let it pass.
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

    /// Waits for one report of those that run.
    pub(super) async fn await_tool(&mut self, running: &mut RunningTools) -> Result<(), LlmError> {
        let left = self.time_left(Purpose::Reply);
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
                self.tell(ToolEvent::Progress { call_id, progress }).await;
                Ok(())
            }
            Some(ToolReport::Settled {
                call_id,
                outcome,
                duration,
            }) => match self.look_at(&call_id, outcome, &running.changed).await {
                Ok(Some(outcome)) => self.settle(call_id, outcome, duration).await,
                Ok(None) => Ok(()),
                Err(stop) => self.stop_tools(&stop, running).await,
            },
            Some(_) => Ok(()),
            None => self.give_up_waiting().await,
        }
    }

    /// A call has ended: hooks may replace a result's text before anybody sees it. Nothing for a call that does not run.
    async fn look_at(
        &self,
        call: &Text,
        outcome: ToolOutcome,
        changed: &[Arc<ToolCall>],
    ) -> Result<Option<ToolOutcome>, HookStop> {
        let Some(known) = self.machine.uncertain().find(|known| *call == *known.id) else {
            tracing::warn!(
                call = &**call,
                "an executor reported on a call that does not run; it was passed over"
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
            ToolOutcome::Done(result) => ToolOutcome::Done(self.look_at_result(call, result).await?),
            ToolOutcome::Divert { content, data } => ToolOutcome::Divert {
                content: self.look_at_result(call, ToolResult::new(content)).await?.content,
                data,
            },
            other => other,
        }))
    }

    async fn look_at_result(&self, call: &ToolCall, result: ToolResult) -> Result<ToolResult, HookStop> {
        let bounds = self.bounds(Purpose::Reply);
        self.hooks.post_tool(&self.context(), &bounds, call, result).await
    }

    /// An outcome that the machine refuses becomes an error result: each call must end.
    async fn settle(&mut self, call: Text, outcome: ToolOutcome, duration: Duration) -> Result<(), LlmError> {
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let Err(refused) = self
            .try_absorb(Outcome::Tool {
                call: call.clone(),
                outcome,
                duration_us,
            })
            .await
        else {
            return Ok(());
        };
        let outcome = ToolOutcome::error(format!("The tool ended in a way that cannot be used: {refused}."));
        self.absorb(Outcome::Tool {
            call,
            outcome,
            duration_us,
        })
        .await
    }

    /// The executor has ended and left calls without a result.
    async fn give_up_waiting(&mut self) -> Result<(), LlmError> {
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

    fn of(call: &str) -> ToolReport {
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
    fn batches_take_turns_and_none_is_left_out() {
        let mut running = RunningTools::default();
        assert_eq!(next(&mut running), Some(None));
        let (first, second) = ([of("a1"), of("a2"), of("a3")], [of("b1")]);
        running.batches.push(stream::iter(first).boxed());
        running.batches.push(stream::pending().boxed());
        running.batches.push(stream::iter(second).boxed());
        for expected in ["a1", "b1", "a2", "a3"] {
            assert_eq!(next(&mut running), Some(Some(expected.to_owned())));
        }
        // One is still under way.
        assert_eq!(next(&mut running), None);
        assert_eq!(running.batches.len(), 1);
    }
}
