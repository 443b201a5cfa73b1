//! Calling hooks: their context, what ends hooks that hang, and turns that hooks stop.

use std::pin::Pin;

use agcore_chat::FaultKind;

use super::{
    context::Driver,
    spending::{Refusal, TimeLeft},
};
use crate::{
    error::CycleError,
    hooks::{HookBounds, HookContext, HookStop, RequestPurpose},
    machine::{Cause, Outcome, Purpose, Step},
};

impl<'a> Driver<'a> {
    pub(super) fn context(&self) -> HookContext<'a> {
        HookContext {
            turn: self.machine.turn_index(),
            round: self.machine.round(),
            ..HookContext::new(&self.settings.agent)
        }
    }

    /// Returns what ends hooks that hang.
    pub(super) fn bounds(&self, purpose: Purpose) -> HookBounds<'_> {
        let left = self.spending.time_left(self.machine, purpose);
        self.bounds_with(left)
    }

    fn bounds_with(&self, left: TimeLeft<'a>) -> HookBounds<'_> {
        HookBounds::new(self.clock, &self.options.token)
            .with_time_left(left.own)
            .with_pool(left.pool)
    }

    /// Asks the hooks whether the turn may start, and ends it if not.
    pub(super) async fn ask_for_turn(&mut self) -> Result<(), CycleError> {
        if self.hooks.is_empty() {
            return Ok(());
        }
        let input = match self.machine.next() {
            Step::Call(plan) => plan.pending,
            _ => &[],
        };
        let asked = run_hooks(async {
            let context = HookContext {
                input,
                ..self.context()
            };
            self.hooks.turn_start(&context, &self.bounds(Purpose::Reply)).await
        })
        .await;
        let Err(stop) = asked else { return Ok(()) };
        self.absorb(stopped(&stop)).await?;
        // The machine may let the model wrap up, but not in a turn that was not allowed to start.
        match stop {
            HookStop::OutOfTime(limit) if self.machine.is_open() => {
                let cause = Cause::new(FaultKind::Limit, Refusal::Limit(limit).message());
                self.absorb(Outcome::Stop(cause)).await
            }
            _ => Ok(()),
        }
    }

    /// Notifies the hooks that the turn has ended, unless they know.
    pub(super) async fn notify_turn_end(&mut self) {
        if !std::mem::take(self.turn_end_pending) || self.hooks.is_empty() {
            return;
        }
        run_hooks(async {
            let fault = match self.machine.next() {
                Step::End(end) => end.fault(),
                _ => None,
            };
            let context = HookContext {
                error: fault.as_ref(),
                response: self.response.as_deref(),
                ..self.context()
            };
            let left = self.spending.time_left_of_turn(self.machine);
            let bounds = self.bounds_with(left);
            self.hooks.turn_end(&context, &bounds).await;
        })
        .await;
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
