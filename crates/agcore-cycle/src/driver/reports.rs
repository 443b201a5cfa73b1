//! The reports of the executor: calls that begin, show progress and end.

use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};

use agcore_chat::{CallInput, Text, ToolCall, ToolEvent, ToolOutcome, ToolReport, ToolResult};

use tokio_util::sync::CancellationToken;

use super::{context::Driver, running::RunningTools};
use crate::{
    error::CycleError,
    hooks::HookStop,
    machine::{MachineError, Outcome, Purpose, UNKNOWN_OUTCOME},
};

impl Driver<'_> {
    /// Waits for one report of the running calls.
    pub(super) async fn await_tool(&mut self, running: &mut RunningTools) -> Result<(), CycleError> {
        let left = self.spending.time_left(self.machine, Purpose::Reply);
        let token = &self.options.token;
        let report = tokio::select! {
            biased;
            // A cancellation comes before the reports that it causes. The loop has just checked the token, so the first poll does not.
            // Waiting for it is expensive, and done only if no report is ready.
            () = is_cancelled_later(token) => return self.stop_tools(&HookStop::Cancelled, running).await,
            report = running.next() => report,
            limit = left.over(&**self.clock) => {
                return self.stop_tools(&HookStop::OutOfTime(limit), running).await;
            }
            () = token.cancelled() => return self.stop_tools(&HookStop::Cancelled, running).await,
        };
        if let Some(report) = &report {
            running.record_waits(report);
            if !running.waits.is_only_waiting() {
                self.spending.resume();
            }
        }
        match self.take_report(report, running)? {
            Reported::Done => self.commit().await?,
            Reported::Began(calls) => self.begin_tools(calls, running).await?,
            // Boxed because few turns have hooks, and an executor that does not report is broken.
            Reported::Settled(result) => Box::pin(self.run_post_tool(*result, running)).await?,
            Reported::Ended => Box::pin(self.fail_unreported(running)).await?,
        }
        self.follow_waits(running.waits.is_only_waiting()).await
    }

    /// Handles the part of a report for which nothing has to be awaited: a report that was taken must not be lost, and the future
    /// should not store it, because it is large.
    fn take_report(&mut self, report: Option<ToolReport>, running: &mut RunningTools) -> Result<Reported, CycleError> {
        match report {
            Some(ToolReport::Began { calls }) => return Ok(Reported::Began(calls)),
            Some(ToolReport::Progress { call_id, progress }) => {
                let progress = Box::new(progress);
                self.events
                    .push_current(self.machine, ToolEvent::Progress { call_id, progress });
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
                let Some(result) = self.result_of(settled, running) else {
                    return Ok(Reported::Done);
                };
                if !self.hooks.is_empty() {
                    return Ok(Reported::Settled(Box::new(result)));
                }
                self.settle(result.settled)?;
            }
            Some(_) => {}
            None => return Ok(Reported::Ended),
        }
        Ok(Reported::Done)
    }

    /// Records that calls begin. Their executor runs them when it is polled again.
    async fn begin_tools(&mut self, mut new: Vec<Text>, running: &mut RunningTools) -> Result<(), CycleError> {
        new.retain(|call| !self.machine.is_running(call));
        new.sort_unstable();
        new.dedup();
        let may_begin = |call: &Text| running.is_waiting(call) && self.machine.is_ready(call);
        if !new.iter().all(may_begin) {
            return self.cancel_batch(running).await;
        }
        if new.is_empty() {
            return Ok(());
        }
        self.begin_calls(new, running).await
    }

    /// Records that calls begin, and what they spend. None of them runs before that, so that a crash cannot make a call
    /// run twice unnoticed.
    pub(super) async fn begin_calls(&mut self, calls: Vec<Text>, running: &mut RunningTools) -> Result<(), CycleError> {
        let (mut counted, mut reservations) = (0, Vec::new());
        for waiting in calls.iter().filter_map(|call| running.take_waiting(call)) {
            counted += usize::from(waiting.counts);
            reservations.extend(waiting.reservation);
        }
        if let Some(spent) = self.spending.begin_tools(counted, reservations) {
            self.stage(Outcome::Spent(spent))?;
        }
        self.absorb(Outcome::Started(calls)).await
    }

    /// Cancels the batch that is about to run calls which the turn has given up. That also interrupts its running calls.
    async fn cancel_batch(&mut self, running: &mut RunningTools) -> Result<(), CycleError> {
        for call in running.cancel_last() {
            if self.machine.is_running(&call) {
                let interrupted = ToolOutcome::error(UNKNOWN_OUTCOME);
                self.stage(Outcome::tool(call, interrupted))?;
            }
        }
        self.commit().await?;
        self.follow_waits(running.waits.is_only_waiting()).await
    }

    /// Returns what ended, and the call with the input with which it ran. `None` if that call is not running.
    fn result_of(&self, mut settled: Settled, running: &mut RunningTools) -> Option<CallResult> {
        let waited = running.take_waiting(&settled.call).is_some();
        let known = self.machine.pending_call(&settled.call);
        let Some(known) = known.filter(|call| waited || self.machine.is_running(&call.id)) else {
            tracing::warn!(
                call = &*settled.call,
                "an executor reported on a call that is not running; the report is ignored"
            );
            return None;
        };
        let changed = running.changed(&settled.call);
        let mut call = Arc::clone(changed.unwrap_or(known));
        if let Some(input) = &settled.input {
            edit(&mut call, input);
        } else if changed.is_some() {
            settled.input = Some(Text::from(call.raw_input()));
        }
        Some(CallResult { call, settled })
    }

    /// Passes the result of a call on, after the post-tool hooks: they may replace its text before anything else sees it.
    async fn run_post_tool(&mut self, result: CallResult, running: &mut RunningTools) -> Result<(), CycleError> {
        let CallResult { call, settled } = result;
        match self.ask_post_tool(&call, settled.outcome).await {
            Ok(outcome) => {
                self.settle(Settled { outcome, ..settled })?;
                self.commit().await
            }
            Err(stop) => self.stop_tools(&stop, running).await,
        }
    }

    async fn ask_post_tool(&self, call: &ToolCall, outcome: ToolOutcome) -> Result<ToolOutcome, HookStop> {
        Ok(match outcome {
            ToolOutcome::Done(result) => ToolOutcome::Done(self.replaced(call, result).await?),
            ToolOutcome::Divert { content, data } => ToolOutcome::Divert {
                content: self.replaced(call, ToolResult::new(content)).await?.content,
                data,
            },
            other => other,
        })
    }

    async fn replaced(&self, call: &ToolCall, result: ToolResult) -> Result<ToolResult, HookStop> {
        let bounds = self.bounds(Purpose::Reply);
        self.hooks.post_tool(&self.context(), &bounds, call, result).await
    }

    /// Stages the outcome of a call. An outcome that the machine rejects becomes an error result: every call must end.
    pub(super) fn settle(&mut self, settled: Settled) -> Result<(), MachineError> {
        let duration_us = u64::try_from(settled.duration.as_micros()).unwrap_or(u64::MAX);
        let outcome = |outcome| Outcome::Tool {
            call: settled.call.clone(),
            outcome,
            duration_us,
            input: settled.input.clone(),
        };
        if let Err(rejected) = self.stage(outcome(settled.outcome)) {
            let message = format!("The tool ended in a way that cannot be used: {rejected}.");
            self.stage(outcome(ToolOutcome::error(message)))?;
        }
        Ok(())
    }

    /// Converts calls that the executor left without a result into errors.
    async fn fail_unreported(&mut self, running: &mut RunningTools) -> Result<(), CycleError> {
        let started = self.machine.uncertain().map(|call| Text::from(call.id.as_str()));
        let waiting = running.waiting().iter().map(|waiting| waiting.call.clone());
        let left: Vec<Text> = started.chain(waiting).collect();
        running.clear();
        self.spending.resume();
        for call in left
            .into_iter()
            .filter(|call| self.machine.pending_call(call).is_some())
            .collect::<Vec<_>>()
        {
            let outcome = ToolOutcome::error("The tool ended without a result.");
            self.settle(Settled::at_once(call, outcome))?;
            self.commit().await?;
        }
        Ok(())
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

/// The end of a call, and the call with the input with which it ran.
struct CallResult {
    call: Arc<ToolCall>,
    settled: Settled,
}

/// The end of a call.
pub(super) struct Settled {
    call: Text,
    outcome: ToolOutcome,
    duration: Duration,
    /// The input with which it ran, if that is not the one of the model.
    input: Option<Text>,
}

impl Settled {
    pub(super) fn at_once(call: Text, outcome: ToolOutcome) -> Self {
        Self {
            call,
            outcome,
            duration: Duration::ZERO,
            input: None,
        }
    }
}

/// Gives a call the input with which it ran.
fn edit(call: &mut Arc<ToolCall>, input: &Text) {
    match &mut Arc::make_mut(call).input {
        CallInput::Text(text) => *text = input.to_string(),
        other => *other = CallInput::Arguments(input.to_string().into()),
    }
}
