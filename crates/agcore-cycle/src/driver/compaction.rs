//! Compaction in the loop: before requests, after an overflow, on request.

use std::sync::Arc;

use super::{
    context::Driver,
    model::{Unanswered, reply_of},
    spending::Refusal,
};
use crate::{
    compact::CompactionReport,
    error::{CycleError, CycleErrorKind},
    machine::{Cause, CompactReason, Failure, Machine, Outcome, Purpose, Step, Summary},
};

impl Driver<'_> {
    /// Compacts the conversation if the next request reaches the threshold. Returns whether it did.
    pub(super) async fn compact_if_due(&mut self) -> Result<bool, CycleError> {
        if !self.compactor.is_armed() || self.record.machine().is_compaction_paused() {
            return Ok(false);
        }
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        let provider = self.environment.provider.info();
        let Some(compaction) = self.compactor.at_threshold(&scene.request_parts(), provider) else {
            return Ok(false);
        };
        self.record.absorb(compaction).await?;
        Ok(true)
    }

    /// Compacts the conversation as much as possible, whatever its length.
    pub(crate) async fn compact(mut self) -> Result<CompactionReport, CycleError> {
        self.record.absorb_unrecorded().await?;
        self.record.set_limits(&self.environment.settings.limits).await?;
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        let parts = scene.request_parts();
        let tokens = self.compactor.request_tokens(&parts);
        let provider = self.environment.provider.info();
        let is_pending = scene.machine.pending_summary().is_some();
        let compaction = (!is_pending).then(|| self.compactor.on_request(&parts, tokens, provider));
        self.record.start_report(tokens);
        match compaction {
            Some(Some(compaction)) => self.record.absorb(compaction).await?,
            Some(None) => return Ok(self.record.take_report()),
            None => {}
        }
        if self.record.machine().pending_summary().is_some() {
            self.summarize().await?;
        }
        match self.error.take() {
            Some(error) if error.is_cancelled() => Err(error),
            _ => Ok(self.record.take_report()),
        }
    }

    /// Asks for the summary that the machine waits for.
    pub(super) async fn summarize(&mut self) -> Result<(), CycleError> {
        let Step::Call(plan) = self.record.machine().next() else {
            return Ok(());
        };
        let (older, cut) = (plan.history.to_vec(), plan.history.len());
        let (environment, settings) = (&self.environment, self.environment.settings);
        let request = Arc::new(self.compactor.summary_request(
            &older,
            environment.provider.info(),
            environment.provider_for(Purpose::Summary).info(),
            &settings.request,
        ));
        let tokens = settings.estimator.request(&request);
        // A summary is not part of the conversation.
        let last = self.model.response.take();
        let asked = self.ask(request, tokens, Purpose::Summary).await;
        let summary = std::mem::replace(&mut self.model.response, last);
        self.model.forget();
        let failure = match asked {
            Ok(lost) => {
                let reply = reply_of(summary.as_deref(), lost);
                let scene = self.record.scene(&self.environment, self.typed.as_deref());
                let parts = scene.request_parts();
                let tokens = self.compactor.tokens_with_summary(&parts, cut, &reply.message);
                let summary = Outcome::Summary(Summary::new(reply, tokens));
                return self.record.absorb(summary).await;
            }
            Err(Unanswered::Invalid(error)) => return Err(error),
            Err(Unanswered::Failed { error, lost }) if error.is_cancelled() => {
                // The turn that the summary was made for ends with it.
                let is_requested = is_requested_summary(self.record.machine());
                let failure = Failure::new(error.fault()).with_lost(lost);
                self.error = Some(error);
                self.record.absorb(Outcome::Failed(failure)).await?;
                return match is_requested {
                    true => Ok(()),
                    false => self.record.absorb(Outcome::Stop(Cause::cancelled())).await,
                };
            }
            Err(Unanswered::Failed { error, lost }) => Failure::new(error.fault()).with_lost(lost),
            Err(Unanswered::Refused(refusal)) => refused(&refusal),
            Err(Unanswered::OutOfTime { limit, lost }) => refused(&Refusal::Limit(limit)).with_lost(lost),
            Err(Unanswered::Blocked(reason)) => {
                Failure::new(CycleError::new(CycleErrorKind::HookBlocked, reason).fault())
            }
        };
        self.record.absorb(Outcome::Failed(failure)).await
    }
}

/// Returns whether the machine waits for a summary that the caller requested, outside of a turn.
pub(super) fn is_requested_summary(machine: &Machine) -> bool {
    let summing = machine.pending_summary();
    summing.is_some_and(|compact| compact.reason == CompactReason::Asked)
}

fn refused(refusal: &Refusal) -> Failure {
    Failure::new(CycleError::new(CycleErrorKind::LimitReached, refusal.message()).fault())
}
