//! Compaction in the loop: before requests, after an overflow, on request.

use std::sync::Arc;

use super::{
    compactor::RequestParts,
    context::Driver,
    flight::Flight,
    model::{Unanswered, reply_of},
    spending::Refusal,
    typed_turn::TypedTurn,
};
use crate::{
    compact::CompactionReport,
    error::{CycleError, CycleErrorKind},
    machine::{Cause, CompactReason, Failure, Lost, Machine, Outcome, Purpose, Step, Summary},
    options::{CycleSettings, TurnOptions},
};

impl Driver<'_> {
    /// Compacts the conversation if the next request reaches the threshold. Returns whether it did.
    pub(super) async fn compact_if_due(&mut self) -> Result<bool, CycleError> {
        if !self.compactor.is_armed() || self.machine.is_compaction_paused() {
            return Ok(false);
        }
        let compaction = self.compactor.at_threshold(
            &request_parts(self.settings, self.machine, self.options, self.typed.as_deref()),
            self.provider.info(),
        );
        let Some(compaction) = compaction else {
            return Ok(false);
        };
        self.absorb(compaction).await?;
        Ok(true)
    }

    /// Compacts the conversation after the model rejected it as too long.
    pub(super) async fn shorten(&mut self) -> Result<(), CycleError> {
        let compaction = self.compactor.after_overflow(
            &request_parts(self.settings, self.machine, self.options, self.typed.as_deref()),
            self.provider.info(),
        );
        self.absorb(compaction).await
    }

    /// Compacts the conversation as much as possible, whatever its length.
    pub(crate) async fn compact(mut self) -> Result<CompactionReport, CycleError> {
        self.absorb_unrecorded().await?;
        self.set_limits().await?;
        let tokens = self.request_tokens();
        self.compactor.start_report(tokens);
        if self.machine.pending_summary().is_none() {
            let compaction = self.compactor.on_request(
                &request_parts(self.settings, self.machine, self.options, self.typed.as_deref()),
                tokens,
                self.provider.info(),
            );
            let Some(compaction) = compaction else {
                return Ok(self.compactor.take_report());
            };
            self.absorb(compaction).await?;
        }
        if self.machine.pending_summary().is_some() {
            self.summarize().await?;
        }
        match self.error.take() {
            Some(error) if error.is_cancelled() => Err(error),
            _ => Ok(self.compactor.take_report()),
        }
    }

    /// Asks for the summary that the machine waits for.
    pub(super) async fn summarize(&mut self) -> Result<(), CycleError> {
        let Step::Call(plan) = self.machine.next() else {
            return Ok(());
        };
        let (older, cut) = (plan.history.to_vec(), plan.history.len());
        let request = Arc::new(self.compactor.summary_request(
            &older,
            self.provider.info(),
            self.provider_for(Purpose::Summary).info(),
            &self.settings.request,
        ));
        let tokens = self.settings.estimator.request(&request);
        // A summary is not part of the conversation.
        let last = self.response.take();
        let asked = self.ask(request, tokens, Purpose::Summary).await;
        let summary = std::mem::replace(&mut self.response, last);
        self.flight = Flight::default();
        let failure = match asked {
            Ok(lost) => {
                let reply = reply_of(summary.as_deref(), lost);
                let tokens = self.compactor.tokens_with_summary(
                    &request_parts(self.settings, self.machine, self.options, self.typed.as_deref()),
                    cut,
                    &reply.message,
                );
                return self.absorb(Outcome::Summary(Summary::new(reply, tokens))).await;
            }
            Err(Unanswered::Invalid(error)) => return Err(error),
            Err(Unanswered::Failed { error, lost }) if error.is_cancelled() => {
                return self.stop_summary(error, lost).await;
            }
            Err(Unanswered::Failed { error, lost }) => Failure::new(error.fault()).with_lost(lost),
            Err(Unanswered::Refused(refusal)) => refused(&refusal),
            Err(Unanswered::OutOfTime { limit, lost }) => refused(&Refusal::Limit(limit)).with_lost(lost),
            Err(Unanswered::Blocked(reason)) => {
                Failure::new(CycleError::new(CycleErrorKind::HookBlocked, reason).fault())
            }
        };
        self.absorb(Outcome::Failed(failure)).await
    }

    /// Handles a cancelled call: the turn that it was made for ends with it.
    async fn stop_summary(&mut self, error: CycleError, lost: Lost) -> Result<(), CycleError> {
        let is_requested = self.is_requested_summary();
        let failure = Failure::new(error.fault()).with_lost(lost);
        self.error = Some(error);
        self.absorb(Outcome::Failed(failure)).await?;
        if is_requested {
            return Ok(());
        }
        self.absorb(Outcome::Stop(Cause::cancelled())).await
    }

    /// Returns whether the machine waits for a summary that the caller requested, outside of a turn.
    pub(super) fn is_requested_summary(&self) -> bool {
        let summing = self.machine.pending_summary();
        summing.is_some_and(|compact| compact.reason == CompactReason::Asked)
    }

    /// Returns the estimated tokens of the next request.
    pub(super) fn request_tokens(&mut self) -> u64 {
        self.compactor.request_tokens(&request_parts(
            self.settings,
            self.machine,
            self.options,
            self.typed.as_deref(),
        ))
    }
}

/// Returns the parts of the next request. A function of the fields that it needs, so that the compactor stays free to be
/// borrowed.
fn request_parts<'r>(
    settings: &'r CycleSettings,
    machine: &'r Machine,
    options: &TurnOptions,
    typed: Option<&'r TypedTurn>,
) -> RequestParts<'r> {
    RequestParts {
        prelude: &settings.prelude,
        view: machine.view(),
        tools: options.tools.as_ref().map(|tools| tools.definitions()),
        output: match (typed, machine.expectation()) {
            (Some(typed), Some(_)) => typed.request_text(),
            _ => "",
        },
    }
}

fn refused(refusal: &Refusal) -> Failure {
    Failure::new(CycleError::new(CycleErrorKind::LimitReached, refusal.message()).fault())
}
