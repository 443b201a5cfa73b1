//! Starting tools: budgets, hooks, the executor.

use std::sync::Arc;

use agcore_chat::{Text, ToolOutcome, ToolWork};

use super::{context::Driver, hooks::stopped, settled::Settled, spending::Spending, tool_batch::Waiting};
use crate::{
    budget::BudgetShortage,
    error::CycleError,
    hooks::HookStop,
    machine::{Machine, MachineError, Outcome, Purpose},
};

impl Driver<'_> {
    /// Lets the calls of the reply that was staged last begin, if nothing comes between the two: no hook, no approval, no limit.
    /// One record is enough then. Otherwise, they begin in a record of their own.
    pub(super) fn stage_begin(&mut self) -> Result<(), MachineError> {
        let options = self.environment.options;
        let (Some(machine), Some(tools)) = (self.record.staged_machine(), &options.tools) else {
            return Ok(());
        };
        if !self.environment.hooks.is_empty() || options.must_stop() {
            return Ok(());
        }
        let work = machine.ready();
        if work.is_empty() || !tools.begins_at_once(&work) {
            return Ok(());
        }
        let Ok(spent) = self.model.spending.admit_tools(machine.account(), work.len()) else {
            // Reported when the calls are about to start.
            return Ok(());
        };
        if let Some(spent) = spent {
            self.record.stage(Outcome::Spent(spent))?;
        }
        self.record.stage(Outcome::Started(ids_of(&work)))?;
        self.tools.begin(work);
        Ok(())
    }

    /// Starts a batch: sets aside what its calls spend, and asks the hooks. A call begins after that, when its executor
    /// reports it, or with the whole batch if the executor does not report it.
    pub(super) async fn start_tools(&mut self, work: Vec<ToolWork>) -> Result<(), CycleError> {
        let (machine, spending) = (self.record.machine(), &self.model.spending);
        match reserve_tools(spending, machine, ids_of(&work), self.tools.waiting()) {
            Ok(waiting) => self.tools.wait_for(waiting),
            Err(shortage) => {
                let limit = shortage.limit;
                self.error = Some((*shortage).into());
                return self.record.absorb(Outcome::limit(limit)).await;
            }
        }
        self.execute(work).await
    }

    /// Asks the hooks about the calls, and hands them to the executor.
    pub(super) async fn execute(&mut self, mut work: Vec<ToolWork>) -> Result<(), CycleError> {
        if self.model.spending.is_shared() {
            // Tools may take long. What the call has left of its highest cost is for others meanwhile.
            Box::pin(self.model.spending.report(&self.environment.options.token)).await;
        }
        // The observer must know the calls before a tool or an approver shows anything of its own.
        self.record.events().drained().await;
        let guard = self.environment.guard(self.record.machine());
        let mut admitted = 0;
        while let Some(next) = work.get_mut(admitted) {
            let machine = self.record.machine();
            let left = self.model.spending.time_left(machine, Purpose::Reply);
            let call = Arc::clone(&next.call);
            match self.environment.admit_tool(machine, left, call).await {
                Ok(call) => {
                    if !Arc::ptr_eq(&call, &next.call) {
                        self.tools.change(Arc::clone(&call));
                    }
                    next.call = call;
                    next.guard.clone_from(&guard);
                    admitted += 1;
                }
                Err(HookStop::Blocked(reason)) => {
                    let blocked = work.remove(admitted);
                    self.tools.take_waiting(blocked.call.id.as_str());
                    let call = Text::from(blocked.call.id.as_str());
                    let blocked = Settled::at_once(call, ToolOutcome::error(reason));
                    self.record.stage_end(blocked)?;
                    self.record.commit().await?;
                }
                Err(stop) => return self.stop_tools(&stop).await,
            }
        }
        let options = self.environment.options;
        if let (Some(tools), false) = (&options.tools, work.is_empty()) {
            let (calls, reports_begin) = (ids_of(&work), tools.reports_begin());
            if !reports_begin {
                let machine = self.record.machine();
                let ready = calls.iter().filter(|call| machine.is_ready(*call)).cloned();
                self.begin_calls(ready.collect()).await?;
                self.record.events().drained().await;
            }
            self.tools.push(calls, tools.execute(work), reports_begin);
            self.model.spending.resume();
        }
        Ok(())
    }

    /// Cancels the running calls and reports the reason to the machine.
    pub(super) async fn stop_tools(&mut self, stop: &HookStop) -> Result<(), CycleError> {
        self.tools.clear();
        self.model.spending.resume();
        self.record.absorb(stopped(stop)).await
    }
}

fn ids_of(work: &[ToolWork]) -> Vec<Text> {
    work.iter().map(|work| Text::from(work.call.id.as_str())).collect()
}

/// Sets aside what calls spend of the budgets when they begin. `waiting` are those that have not started yet.
fn reserve_tools(
    spending: &Spending<'_>,
    machine: &Machine,
    calls: Vec<Text>,
    waiting: &[Waiting],
) -> Result<Vec<Waiting>, Box<BudgetShortage>> {
    let mut reserved = waiting.iter().filter(|waiting| waiting.counts).count();
    let reserve = |call: Text| {
        let counts = !machine.continues(&call);
        let reservation = if counts {
            reserved += 1;
            spending.reserve_tool(machine, reserved)?
        } else {
            None
        };
        Ok(Waiting {
            call,
            counts,
            reservation,
        })
    };
    calls.into_iter().map(reserve).collect()
}
