//! What a driver tells hooks, what ends hooks that hang, and what becomes of a turn that hooks stop.

use agcore_chat::FaultKind;

use super::{spending::Refusal, state::Driver};
use crate::{
    cycle::machine::{Cause, Outcome, Purpose, Step},
    error::LlmError,
    hooks::{HookBounds, HookContext, HookStop, RequestPurpose},
};

impl<'a> Driver<'a> {
    pub(super) fn context(&self) -> HookContext<'a> {
        HookContext {
            turn: self.machine.turn_index(),
            round: self.machine.round(),
            ..HookContext::new(&self.settings.agent)
        }
    }

    /// What ends hooks that hang.
    pub(super) fn bounds(&self, purpose: Purpose) -> HookBounds<'_> {
        HookBounds::new(self.clock, &self.options.token).with_time_left(self.time_left(purpose))
    }

    /// Asks hooks whether the turn may begin; ends it where it may not.
    pub(super) async fn ask_for_turn(&mut self) -> Result<(), LlmError> {
        if self.hooks.is_empty() {
            return Ok(());
        }
        let input = match self.machine.next() {
            Step::Call(plan) => plan.pending,
            _ => &[],
        };
        let context = HookContext {
            input,
            ..self.context()
        };
        let asked = self.hooks.turn_start(&context, &self.bounds(Purpose::Reply)).await;
        let Err(stop) = asked else { return Ok(()) };
        self.absorb(stopped(&stop)).await?;
        // The machine may let the model wrap up, but not in a turn that hooks did not let begin.
        match stop {
            HookStop::OutOfTime(limit) if self.machine.is_open() => {
                let cause = Cause::new(FaultKind::Limit, Refusal::Limit(limit).fault().message);
                self.absorb(Outcome::Stop(cause)).await
            }
            _ => Ok(()),
        }
    }

    /// Tells hooks that the turn has ended, if they do not know.
    pub(super) async fn tell_turn_end(&mut self) {
        if !std::mem::take(self.turn_end_owed) || self.hooks.is_empty() {
            return;
        }
        let fault = match self.machine.next() {
            Step::End(end) => end.fault(),
            _ => None,
        };
        let context = HookContext {
            error: fault.as_ref(),
            response: self.response.as_ref(),
            ..self.context()
        };
        let bounds = HookBounds::new(self.clock, &self.options.token).with_time_left(self.time_left_of_turn());
        self.hooks.turn_end(&context, &bounds).await;
    }
}

/// What a request is for, as hooks see it.
pub(super) fn request_purpose(purpose: Purpose) -> RequestPurpose {
    match purpose {
        Purpose::Summary => RequestPurpose::Summary,
        _ => RequestPurpose::Reply,
    }
}

/// What hooks did to a turn, as the machine takes it.
pub(super) fn stopped(stop: &HookStop) -> Outcome {
    match stop {
        HookStop::Blocked(reason) => Outcome::Stop(Cause::hook_blocked(reason.clone())),
        HookStop::Cancelled => Outcome::Stop(Cause::cancelled()),
        HookStop::OutOfTime(limit) => Outcome::limit(*limit),
    }
}
