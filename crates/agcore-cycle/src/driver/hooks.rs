//! Calling hooks: their context, what ends hooks that hang, and checks of calls by them.

use std::{pin::Pin, sync::Arc};

use agcore_chat::{ToolCall, ToolGuard, ToolOutcome};

use super::{environment::Environment, spending::TimeLeft};
use crate::{
    hooks::{HookBounds, HookContext, HookStop, RequestPurpose},
    machine::{Cause, Machine, Outcome, Purpose, Step},
};

impl<'a> Environment<'a> {
    /// Returns what hooks see of the turn.
    pub(super) fn context(&self, machine: &Machine) -> HookContext<'a> {
        HookContext {
            turn: machine.turn_index(),
            round: machine.round(),
            session: self.options.session_for_hooks().map(|session| &**session),
            ..HookContext::new(&self.settings.agent)
        }
    }

    /// Returns what ends hooks that hang.
    pub(super) fn bounds(&self, left: TimeLeft<'a>) -> HookBounds<'a> {
        HookBounds::new(&**self.clock, &self.options.token)
            .with_time_left(left.own)
            .with_pool(left.pool)
    }

    /// Asks the hooks whether a turn may start.
    pub(super) async fn ask_for_turn(&self, machine: &Machine, left: TimeLeft<'a>) -> Result<(), HookStop> {
        if self.hooks.is_empty() {
            return Ok(());
        }
        let input = match machine.next() {
            Step::Call(plan) => plan.pending,
            _ => &[],
        };
        run_hooks(async {
            let context = HookContext {
                input,
                ..self.context(machine)
            };
            self.hooks.turn_start(&context, &self.bounds(left)).await
        })
        .await
    }

    /// Runs the pre-tool hooks. Returns the call to run.
    pub(super) async fn admit_tool(
        &self,
        machine: &Machine,
        left: TimeLeft<'a>,
        call: Arc<ToolCall>,
    ) -> Result<Arc<ToolCall>, HookStop> {
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
            let bounds = self.bounds(left);
            self.hooks.pre_tool(&self.context(machine), &bounds, call).await
        })
        .await
    }

    /// Returns a check of calls whose arguments a person has edited after the hooks saw them.
    pub(super) fn guard(&self, machine: &Machine) -> Option<ToolGuard> {
        if self.hooks.is_empty() {
            return None;
        }
        let (hooks, clock, token) = (self.hooks.clone(), Arc::clone(self.clock), self.options.token.clone());
        let (agent, session) = (
            Arc::clone(&self.settings.agent),
            self.options.session_for_hooks().cloned(),
        );
        let (turn, round) = (machine.turn_index(), machine.round());
        Some(ToolGuard::new(move |call: Arc<ToolCall>| {
            let (hooks, clock, token) = (hooks.clone(), Arc::clone(&clock), token.clone());
            let (agent, session) = (Arc::clone(&agent), session.clone());
            async move {
                let context = HookContext {
                    turn,
                    round,
                    session: session.as_deref(),
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
}

/// Runs hooks in a future of their own: it is large, and every turn would carry it although few have hooks.
pub(super) fn run_hooks<'h, T>(
    hooks: impl Future<Output = T> + Send + 'h,
) -> Pin<Box<dyn Future<Output = T> + Send + 'h>> {
    Box::pin(hooks)
}

/// Converts the purpose of a request into the one that hooks see.
pub(super) fn request_purpose(purpose: Purpose) -> RequestPurpose {
    match purpose {
        Purpose::Summary => RequestPurpose::Summary,
        _ => RequestPurpose::Reply,
    }
}

/// Converts the reason why hooks stopped a turn into an outcome for the machine.
pub(super) fn stopped(stop: &HookStop) -> Outcome {
    match stop {
        HookStop::Blocked(reason) => Outcome::Stop(Cause::hook_blocked(reason.clone())),
        HookStop::Cancelled => Outcome::Stop(Cause::cancelled()),
        HookStop::OutOfTime(limit) => Outcome::limit(*limit),
    }
}
