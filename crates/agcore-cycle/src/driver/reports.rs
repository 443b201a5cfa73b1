//! The reports of the executor: calls that begin, show progress and end.

use std::{future::poll_fn, task::Poll};

use agcore_chat::{Text, ToolCall, ToolEvent, ToolOutcome, ToolReport, ToolResult};
use tokio_util::sync::CancellationToken;

use super::{context::Driver, environment::Environment, settled::Settled, spending::TimeLeft, tool_batch::CallResult};
use crate::{
    error::CycleError,
    hooks::HookStop,
    machine::{Machine, Outcome, Purpose, UNKNOWN_OUTCOME},
};

impl Driver<'_> {
    /// Waits for one report of the running calls.
    pub(super) async fn await_tool(&mut self) -> Result<(), CycleError> {
        let environment = &self.environment;
        let left = self.model.spending.time_left(self.record.machine(), Purpose::Reply);
        let token = &environment.options.token;
        let report = tokio::select! {
            biased;
            // A cancellation comes before the reports that it causes. The loop has just checked the token, so the first poll does
            // not. Waiting for it is expensive, and done only if no report is ready.
            () = is_cancelled_later(token) => return self.stop_tools(&HookStop::Cancelled).await,
            report = self.tools.next() => report,
            limit = left.over(&**environment.clock) => return self.stop_tools(&HookStop::OutOfTime(limit)).await,
            () = token.cancelled() => return self.stop_tools(&HookStop::Cancelled).await,
        };
        if let Some(report) = &report {
            self.tools.record_waits(report);
            if !self.tools.is_only_waiting() {
                self.model.spending.resume();
            }
        }
        match self.take_report(report)? {
            Reported::Done => self.record.commit().await?,
            Reported::Began(calls) => self.begin_tools(calls).await?,
            // Boxed because few turns have hooks, and an executor that does not report is broken.
            Reported::Settled(result) => Box::pin(self.run_post_tool(*result)).await?,
            Reported::Ended => Box::pin(self.fail_unreported()).await?,
        }
        self.follow_waits().await
    }

    /// Handles the part of a report for which nothing has to be awaited: a report that was taken must not be lost, and the future
    /// should not store it, because it is large.
    fn take_report(&mut self, report: Option<ToolReport>) -> Result<Reported, CycleError> {
        let machine = self.record.machine();
        match report {
            Some(ToolReport::Began { calls }) => return Ok(Reported::Began(calls)),
            Some(ToolReport::Progress { call_id, progress }) => {
                let progress = Box::new(progress);
                let event = ToolEvent::Progress { call_id, progress };
                self.record.events().push_current(machine, event);
            }
            Some(ToolReport::Settled {
                call_id,
                outcome,
                duration,
                input,
            }) => {
                let settled = Settled {
                    call: call_id,
                    outcome,
                    duration,
                    input,
                };
                let Some(result) = self.tools.take_result(machine, settled) else {
                    return Ok(Reported::Done);
                };
                if !self.environment.hooks.is_empty() {
                    return Ok(Reported::Settled(Box::new(result)));
                }
                self.record.stage_end(result.settled)?;
            }
            Some(_) => {}
            None => return Ok(Reported::Ended),
        }
        Ok(Reported::Done)
    }

    /// Records that calls begin. Their executor runs them when it is polled again.
    async fn begin_tools(&mut self, mut new: Vec<Text>) -> Result<(), CycleError> {
        let machine = self.record.machine();
        new.retain(|call| !machine.is_running(call));
        new.sort_unstable();
        new.dedup();
        let may_begin = |call: &Text| self.tools.is_waiting(call) && machine.is_ready(call);
        if !new.iter().all(may_begin) {
            return self.cancel_batch().await;
        }
        if new.is_empty() {
            return Ok(());
        }
        self.begin_calls(new).await
    }

    /// Records that calls begin, and what they spend. None of them runs before that, so that a crash cannot make a call
    /// run twice unnoticed.
    pub(super) async fn begin_calls(&mut self, calls: Vec<Text>) -> Result<(), CycleError> {
        let (mut counted, mut reservations) = (0, Vec::new());
        for waiting in calls.iter().filter_map(|call| self.tools.take_waiting(call)) {
            counted += usize::from(waiting.counts);
            reservations.extend(waiting.reservation);
        }
        if let Some(spent) = self.model.spending.begin_tools(counted, reservations) {
            self.record.stage(Outcome::Spent(spent))?;
        }
        self.record.absorb(Outcome::Started(calls)).await
    }

    /// Cancels the batch that is about to run calls which the turn has given up. That also interrupts its running calls.
    async fn cancel_batch(&mut self) -> Result<(), CycleError> {
        for call in self.tools.cancel_last() {
            if self.record.machine().is_running(&call) {
                let interrupted = ToolOutcome::error(UNKNOWN_OUTCOME);
                self.record.stage(Outcome::tool(call, interrupted))?;
            }
        }
        self.record.commit().await?;
        self.follow_waits().await
    }

    /// Passes the result of a call on, after the post-tool hooks: they may replace its text before anything else sees it.
    async fn run_post_tool(&mut self, result: CallResult) -> Result<(), CycleError> {
        let CallResult { call, settled } = result;
        let machine = self.record.machine();
        let left = self.model.spending.time_left(machine, Purpose::Reply);
        match self.environment.replaced(machine, left, &call, settled.outcome).await {
            Ok(outcome) => {
                self.record.stage_end(Settled { outcome, ..settled })?;
                self.record.commit().await
            }
            Err(stop) => self.stop_tools(&stop).await,
        }
    }

    /// Converts calls that the executor left without a result into errors.
    async fn fail_unreported(&mut self) -> Result<(), CycleError> {
        let machine = self.record.machine();
        let started = machine.uncertain().map(|call| Text::from(call.id.as_str()));
        let waiting = self.tools.waiting().iter().map(|waiting| waiting.call.clone());
        let left = started.chain(waiting);
        let left: Vec<Text> = left.filter(|call| machine.pending_call(call).is_some()).collect();
        self.tools.clear();
        self.model.spending.resume();
        for call in left {
            let outcome = ToolOutcome::error("The tool ended without a result.");
            self.record.stage_end(Settled::at_once(call, outcome))?;
            self.record.commit().await?;
        }
        Ok(())
    }

    /// Stops the clock while all that runs waits for a person.
    async fn follow_waits(&mut self) -> Result<(), CycleError> {
        if self.tools.is_only_waiting() {
            self.record_time().await?;
            self.model.spending.pause();
        } else {
            self.model.spending.resume();
        }
        Ok(())
    }
}

impl<'a> Environment<'a> {
    /// Runs the post-tool hooks. Returns the outcome with what they have replaced.
    async fn replaced(
        &self,
        machine: &Machine,
        left: TimeLeft<'a>,
        call: &ToolCall,
        outcome: ToolOutcome,
    ) -> Result<ToolOutcome, HookStop> {
        let (context, bounds) = (self.context(machine), self.bounds(left));
        let ask = async |result| self.hooks.post_tool(&context, &bounds, call, result).await;
        Ok(match outcome {
            ToolOutcome::Done(result) => ToolOutcome::Done(ask(result).await?),
            ToolOutcome::Divert { content, data } => ToolOutcome::Divert {
                content: ask(ToolResult::new(content)).await?.content,
                data,
            },
            other => other,
        })
    }
}

/// Completes if the token is cancelled when this is polled again. Does not wake its task.
async fn is_cancelled_later(token: &CancellationToken) {
    let mut is_first = true;
    poll_fn(|_| match !std::mem::take(&mut is_first) && token.is_cancelled() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// The part of a report that has to be awaited.
enum Reported {
    /// Nothing but what was staged.
    Done,
    /// These calls begin.
    Began(Vec<Text>),
    /// A call ended, and the hooks have to know.
    Settled(Box<CallResult>),
    /// The executor reports nothing more.
    Ended,
}
