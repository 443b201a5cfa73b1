//! Starting tools: budgets, hooks, the executor.

use std::sync::Arc;

use agcore_chat::{Text, ToolCall, ToolGuard, ToolOutcome, ToolReports, ToolWork};

use super::{
    context::Driver,
    hooks::{run_hooks, stopped},
    reports::Settled,
    running::{RunningTools, Waiting},
};
use crate::{
    budget::BudgetShortage,
    error::CycleError,
    hooks::{HookBounds, HookContext, HookStop},
    machine::{Outcome, Purpose},
};

impl Driver<'_> {
    /// Starts a batch: sets aside what its calls spend, and asks the hooks. A call begins after that, when its executor
    /// reports it, or with the whole batch if the executor does not report it.
    pub(super) async fn start_tools(
        &mut self,
        work: Vec<ToolWork>,
        running: &mut RunningTools,
    ) -> Result<(), CycleError> {
        let calls = work.iter().map(|work| Text::from(work.call.id.as_str()));
        match self.reserve_tools(calls, running.waiting()) {
            Ok(waiting) => running.wait_for(waiting),
            Err(shortage) => return self.limit_tools(*shortage).await,
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
                    self.settle(Settled::at_once(call, ToolOutcome::error(reason)))?;
                    self.commit().await?;
                }
                Err(stop) => return self.stop_tools(&stop, running).await,
            }
        }
        if let (Some(tools), false) = (self.options.tools.as_ref(), work.is_empty()) {
            let calls: Vec<Text> = work.iter().map(|work| Text::from(work.call.id.as_str())).collect();
            if !tools.reports_begin() {
                let ready = calls.iter().filter(|call| self.machine.is_ready(*call)).cloned();
                self.begin_calls(ready.collect(), running).await?;
                running.waits.begin(calls.iter().cloned());
                self.events.drained().await;
            }
            let reports: ToolReports = tools.execute(work);
            running.push(calls, reports);
            self.spending.resume();
        }
        Ok(())
    }

    /// Cancels the running calls and reports the reason to the machine.
    pub(super) async fn stop_tools(&mut self, stop: &HookStop, running: &mut RunningTools) -> Result<(), CycleError> {
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
    pub(super) async fn follow_waits(&mut self, is_only_waiting: bool) -> Result<(), CycleError> {
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
        run_hooks(async {
            let bounds = self.bounds(Purpose::Reply);
            self.hooks.pre_tool(&self.context(), &bounds, call).await
        })
        .await
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
}
