//! Running tools: hooks, the reports of the executor, results.

use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};

use agcore_chat::{
    CallInput, Text, ToolCall, ToolEvent, ToolGuard, ToolOutcome, ToolReport, ToolReports, ToolResult, ToolWork,
};
use tokio_util::sync::CancellationToken;

use super::{
    context::Driver,
    hooks::stopped,
    running::{RunningTools, Waiting},
};
use crate::{
    budget::BudgetShortage,
    error::CycleError,
    hooks::{HookBounds, HookContext, HookStop},
    machine::{Outcome, Purpose, UNKNOWN_OUTCOME},
};

impl Driver<'_> {
    /// Starts a batch. The machine records which calls begin before any of them runs: the whole batch, unless the executor
    /// reports when they do.
    pub(super) async fn start_tools(
        &mut self,
        work: Vec<ToolWork>,
        running: &mut RunningTools,
    ) -> Result<(), CycleError> {
        let calls = work.iter().map(|work| Text::from(work.call.id.as_str()));
        if self.options.tools.as_ref().is_some_and(|tools| tools.reports_begin()) {
            match self.reserve_tools(calls, running.waiting()) {
                Ok(waiting) => running.wait_for(waiting),
                Err(shortage) => return self.limit_tools(*shortage).await,
            }
        } else {
            // A call that continues after its question was counted when it began.
            let counted = work
                .iter()
                .filter(|work| !self.machine.continues(&work.call.id))
                .count();
            match self.spending.admit_tools(self.machine, counted) {
                Ok(Some(spent)) => self.stage(Outcome::Spent(spent))?,
                Ok(None) => {}
                Err(shortage) => return self.limit_tools(*shortage).await,
            }
            self.absorb(Outcome::Started(calls.collect())).await?;
        }
        // The observer must know the calls before a tool or an approver shows anything of its own.
        self.events.drained().await;
        self.execute(work, running).await
    }

    /// Asks the hooks about the calls, and hands them to the executor.
    pub(super) async fn execute(
        &mut self,
        mut work: Vec<ToolWork>,
        running: &mut RunningTools,
    ) -> Result<(), CycleError> {
        let guard = self.guard();
        let mut admitted = 0;
        while let Some(next) = work.get_mut(admitted) {
            match self.admit(Arc::clone(&next.call)).await {
                Ok(call) => {
                    if !Arc::ptr_eq(&call, &next.call) {
                        running.change(Arc::clone(&call));
                    }
                    next.call = call;
                    next.guard.clone_from(&guard);
                    admitted += 1;
                }
                Err(HookStop::Blocked(reason)) => {
                    let blocked = work.remove(admitted);
                    running.take_waiting(blocked.call.id.as_str());
                    let call = Text::from(blocked.call.id.as_str());
                    self.settle(Settled::at_once(call, ToolOutcome::error(reason))).await?;
                }
                Err(stop) => return self.stop_tools(&stop, running).await,
            }
        }
        if let (Some(tools), false) = (&self.options.tools, work.is_empty()) {
            let calls: Vec<Text> = work.iter().map(|work| Text::from(work.call.id.as_str())).collect();
            if !tools.reports_begin() {
                running.waits.begin(calls.iter().cloned());
            }
            let reports: ToolReports = tools.execute(work);
            running.push(calls, reports);
            self.spending.resume();
        }
        Ok(())
    }

    /// Cancels the running calls and reports the reason to the machine.
    async fn stop_tools(&mut self, stop: &HookStop, running: &mut RunningTools) -> Result<(), CycleError> {
        running.clear();
        self.spending.resume();
        self.absorb(stopped(stop)).await
    }

    /// Reports that a budget has too little left for tool calls.
    async fn limit_tools(&mut self, shortage: BudgetShortage) -> Result<(), CycleError> {
        let limit = shortage.limit;
        self.error = Some(shortage.into());
        self.absorb(Outcome::limit(limit)).await
    }

    /// Stops the clock while all that runs waits for a person.
    async fn follow_waits(&mut self, is_only_waiting: bool) -> Result<(), CycleError> {
        if is_only_waiting {
            self.record_time().await?;
            self.spending.pause();
        } else {
            self.spending.resume();
        }
        Ok(())
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

    /// Returns a check of calls whose arguments a person has edited after the hooks saw them.
    fn guard(&self) -> Option<ToolGuard> {
        if self.hooks.is_empty() {
            return None;
        }
        let (hooks, clock, token) = (self.hooks.clone(), Arc::clone(self.clock), self.options.token.clone());
        let agent = Arc::clone(&self.settings.agent);
        let (turn, round) = (self.machine.turn_index(), self.machine.round());
        Some(ToolGuard::new(move |call: Arc<ToolCall>| {
            let (hooks, clock, token, agent) = (hooks.clone(), Arc::clone(&clock), token.clone(), Arc::clone(&agent));
            async move {
                let context = HookContext {
                    turn,
                    round,
                    ..HookContext::new(&agent)
                };
                // Time budgets end the whole batch, and the check with it.
                let bounds = HookBounds::new(&*clock, &token);
                let refused = match hooks.pre_tool(&context, &bounds, Arc::clone(&call)).await {
                    Ok(checked) if checked.input == call.input => return Ok(()),
                    Ok(_) => {
                        "This call was not run: a check wanted to change the arguments after a person had edited them."
                            .to_owned()
                    }
                    Err(HookStop::Blocked(reason)) => reason,
                    Err(_) => "This call was not run: the turn ended while its arguments were checked.".to_owned(),
                };
                Err(ToolOutcome::error(refused))
            }
        }))
    }

    /// Waits for one report of the running calls.
    pub(super) async fn await_tool(&mut self, running: &mut RunningTools) -> Result<(), CycleError> {
        let left = self.spending.time_left(self.machine, Purpose::Reply);
        let token = &self.options.token;
        let report = tokio::select! {
            biased;
            // A cancellation comes first, but is only waited for if no report is ready: that is dearer.
            () = is_cancelled(token) => return self.stop_tools(&HookStop::Cancelled, running).await,
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
        // Handled before anything else is awaited: a report that was taken must not be lost.
        self.handle_report(report, running).await?;
        self.follow_waits(running.waits.is_only_waiting()).await
    }

    async fn handle_report(
        &mut self,
        report: Option<ToolReport>,
        running: &mut RunningTools,
    ) -> Result<(), CycleError> {
        match report {
            Some(ToolReport::Began { calls }) => self.begin_tools(calls, running).await,
            Some(ToolReport::Progress { call_id, progress }) => {
                let progress = Box::new(progress);
                self.send(ToolEvent::Progress { call_id, progress }).await;
                Ok(())
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
                self.tool_settled(settled, running).await
            }
            Some(_) => Ok(()),
            None => self.fail_unreported(running).await,
        }
    }

    /// Sets aside what calls spend of the budgets when they begin. `waiting` are those that have not started yet.
    fn reserve_tools(
        &self,
        calls: impl Iterator<Item = Text>,
        waiting: &[Waiting],
    ) -> Result<Vec<Waiting>, Box<BudgetShortage>> {
        let mut reserved = waiting.iter().filter(|waiting| waiting.counts).count();
        let mut reserve = |call: Text| {
            let counts = !self.machine.continues(&call);
            let reservation = if counts {
                reserved += 1;
                self.spending.reserve_tool(self.machine, reserved)?
            } else {
                None
            };
            Ok(Waiting {
                call,
                counts,
                reservation,
            })
        };
        calls.map(&mut reserve).collect()
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
        let (mut counted, mut reservations) = (0, Vec::new());
        for waiting in new.iter().filter_map(|call| running.take_waiting(call)) {
            counted += usize::from(waiting.counts);
            reservations.extend(waiting.reservation);
        }
        if let Some(spent) = self.spending.begin_tools(counted, reservations) {
            self.stage(Outcome::Spent(spent))?;
        }
        self.absorb(Outcome::Started(new)).await
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

    /// Passes the result of a call on, after the post-tool hooks: they may replace its text before anything else sees it.
    async fn tool_settled(&mut self, mut settled: Settled, running: &mut RunningTools) -> Result<(), CycleError> {
        let waited = running.take_waiting(&settled.call).is_some();
        let known = self.machine.pending_call(&settled.call);
        let Some(known) = known.filter(|call| waited || self.machine.is_running(&call.id)) else {
            tracing::warn!(
                call = &*settled.call,
                "an executor reported on a call that is not running; the report is ignored"
            );
            return Ok(());
        };
        let changed = running.changed(&settled.call);
        let mut call = Arc::clone(changed.unwrap_or(known));
        if let Some(input) = &settled.input {
            edit(&mut call, input);
        } else if changed.is_some() {
            settled.input = Some(Text::from(call.raw_input()));
        }
        match self.run_post_tool(&call, settled.outcome).await {
            Ok(outcome) => self.settle(Settled { outcome, ..settled }).await,
            Err(stop) => self.stop_tools(&stop, running).await,
        }
    }

    async fn run_post_tool(&self, call: &ToolCall, outcome: ToolOutcome) -> Result<ToolOutcome, HookStop> {
        if self.hooks.is_empty() {
            return Ok(outcome);
        }
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

    /// Reports the outcome of a call. An outcome that the machine rejects becomes an error result: every call must end.
    async fn settle(&mut self, settled: Settled) -> Result<(), CycleError> {
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
        self.commit().await
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
            self.settle(Settled::at_once(call, outcome)).await?;
        }
        Ok(())
    }
}

/// Completes if the token is cancelled when this is polled. Does not wake its task.
async fn is_cancelled(token: &CancellationToken) {
    poll_fn(|_| match token.is_cancelled() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// The end of a call.
struct Settled {
    call: Text,
    outcome: ToolOutcome,
    duration: Duration,
    /// The input with which it ran, if that is not the one of the model.
    input: Option<Text>,
}

impl Settled {
    fn at_once(call: Text, outcome: ToolOutcome) -> Self {
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
