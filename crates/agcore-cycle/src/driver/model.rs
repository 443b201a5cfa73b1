//! Calling the model: request, hooks, budgets, reply.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, FaultKind};
use agcore_llm::{LlmErrorKind, TimeoutStage};

use super::{
    call_log::CallLog,
    context::Driver,
    flight::Flight,
    hold::PlannedCall,
    hooks::{request_purpose, run_hooks},
    reading::{InFlight, Unread},
    spending::Refusal,
};
use crate::{
    budget::BudgetLimit,
    error::{CycleError, CycleErrorKind},
    hooks::{HookContext, HookStop},
    machine::{Cause, Failure, Lost, MediaRefusal, Outcome, Purpose, Reply},
    recorder::RecordedReply,
};

/// The reason there is no answer.
pub(super) enum Unanswered {
    /// A hook blocked the request.
    Blocked(String),
    /// A budget does not allow the call.
    Refused(Refusal),
    /// A budget ran out during the call.
    OutOfTime { limit: BudgetLimit, lost: Lost },
    /// The provider failed.
    Failed { error: CycleError, lost: Lost },
    /// The machine rejected an outcome: the run cannot continue.
    Invalid(CycleError),
}

/// A call that was answered.
pub(super) struct Asked {
    /// The usage of other attempts.
    pub(super) lost: Lost,
    /// The media that were left out of the request because the server had refused them.
    pub(super) media: Option<Box<MediaRefusal>>,
}

impl From<Lost> for Asked {
    fn from(lost: Lost) -> Self {
        Self { lost, media: None }
    }
}

impl Driver<'_> {
    /// Calls the model and reports the outcome to the machine.
    pub(super) async fn call_model(&mut self, purpose: Purpose) -> Result<(), CycleError> {
        // Clear an earlier failure that a compaction may have resolved.
        self.error = None;
        self.name_reply(RecordedReply::Next);
        let tokens = if self.spending.is_active() {
            self.request_tokens()
        } else {
            0
        };
        let request = self.request(purpose);
        let outcome = match self.ask_patiently(request, tokens, purpose).await {
            Ok(Asked { lost, media }) => {
                self.compactor.accepted();
                if let Some(refusal) = media {
                    self.stage(Outcome::MediaRefused(refusal))?;
                }
                Outcome::Reply(reply_of(self.response.as_deref(), lost))
            }
            Err(Unanswered::Invalid(error)) => return Err(error),
            Err(Unanswered::Blocked(reason)) => Outcome::Stop(Cause::hook_blocked(reason)),
            Err(Unanswered::Refused(Refusal::Limit(limit))) => Outcome::limit(limit),
            Err(Unanswered::Refused(Refusal::Shortage(shortage))) => {
                let limit = shortage.limit;
                self.error = Some((*shortage).into());
                Outcome::Limit {
                    limit,
                    lost: self.flight.lost.clone(),
                }
            }
            Err(Unanswered::Refused(Refusal::Price(error))) => {
                let message = error.to_string();
                self.error = Some(CycleError::new(CycleErrorKind::LimitReached, message.as_str()).with_source(error));
                Outcome::Stop(Cause::new(FaultKind::Limit, message))
            }
            Err(Unanswered::OutOfTime { limit, lost }) => Outcome::Limit { limit, lost },
            Err(Unanswered::Failed { error, lost }) if error.is_cancelled() => {
                self.error = Some(error);
                if let Some(lost) = lost.into_tracker() {
                    self.flight = Flight::default();
                    self.stage(Outcome::Lost(Box::new(lost)))?;
                }
                Outcome::Stop(Cause::cancelled())
            }
            Err(Unanswered::Failed { error, lost }) => self.failed(error, lost),
        };
        self.flight = Flight::default();
        // The next request may be compacted again.
        self.compactor.rearm();
        let is_reply = matches!(outcome, Outcome::Reply(_));
        let invented = if is_reply { self.invented_tool(purpose) } else { None };
        self.stage(outcome)?;
        if is_reply && self.recorder.is_some() && invented.is_none() {
            self.stage_begin()?;
        }
        self.commit().await?;
        match invented {
            Some(tool) if self.machine.is_open() => Box::pin(self.stop_inventing(&tool)).await,
            _ => Ok(()),
        }
    }

    /// Makes one call like [`ask`](Self::ask), and another one if the server may have refused media.
    async fn ask_patiently(
        &mut self,
        request: Arc<ChatRequest>,
        tokens: u64,
        purpose: Purpose,
    ) -> Result<Asked, Unanswered> {
        match self.ask(request, tokens, purpose).await {
            Ok(lost) => Ok(lost.into()),
            // Boxed because it is rarely needed.
            Err(failed @ Unanswered::Failed { .. }) => Box::pin(self.ask_without_media(purpose, tokens, failed)).await,
            Err(unanswered) => Err(unanswered),
        }
    }

    /// Makes one call: hooks, budgets, the provider, hooks. `tokens` is the estimated size of the request. The reply becomes the
    /// last one. Returns what other attempts have used.
    pub(super) async fn ask(
        &mut self,
        request: Arc<ChatRequest>,
        tokens: u64,
        purpose: Purpose,
    ) -> Result<Lost, Unanswered> {
        let sent = self.run_pre_request(&request, purpose).await?;
        let input = if Arc::ptr_eq(&request, &sent) || !self.spending.is_active() {
            tokens
        } else {
            self.settings.estimator.request(&sent)
        };
        drop(request);
        // Only hooks need the time.
        let started = if self.hooks.is_empty() {
            Duration::ZERO
        } else {
            self.clock.monotonic()
        };
        let mut call = InFlight {
            request: sent,
            purpose,
            started,
            attempt: 0,
            has_own_limit: false,
        };
        call.has_own_limit = call.request.token_limit().is_some();
        self.reserve(&mut call, input).map_err(Unanswered::Refused)?;
        let mut answer = self.read_reply(&mut call).await;
        let limit = self.time_limit_behind(&answer, purpose);
        let response = self.response.as_deref().filter(|_| answer.is_ok());
        let spent = match (&answer, response) {
            (Ok(()), Some(response)) => self.flight.answered(&mut self.spending, response),
            (Err(Unread::Failed(error)), _) => self.flight.failed(&mut self.spending, error),
            _ => self.flight.given_up(&mut self.spending),
        };
        if let Some(limit) = limit {
            answer = Err(Unread::Limit(limit));
        }
        let lost = self.flight.lost.clone();
        // Recorded with what becomes of the call, so that neither can be lost alone.
        let calls = self.flight.take_calls().into_iter();
        let calls = calls.map(|call| Outcome::Called(Box::new(call)));
        for outcome in calls.chain(spent.map(Outcome::Spent)) {
            let staged = self.stage(outcome);
            staged.map_err(|error| Unanswered::Invalid(error.into()))?;
        }
        self.run_post_request(&call, answer.as_ref().err()).await;
        match answer {
            Ok(()) => Ok(lost),
            Err(Unread::Limit(limit)) => Err(Unanswered::OutOfTime { limit, lost }),
            Err(Unread::Shortage(shortage)) => Err(Unanswered::Refused(Refusal::Shortage(shortage))),
            Err(Unread::Failed(error)) => Err(Unanswered::Failed {
                error: error.into(),
                lost,
            }),
        }
    }

    /// Returns the budget behind a timeout: the provider knows how much time is left, and may notice its end first.
    fn time_limit_behind(&self, answer: &Result<(), Unread>, purpose: Purpose) -> Option<BudgetLimit> {
        match answer {
            Err(Unread::Failed(error)) if *error.kind() == LlmErrorKind::Timeout(TimeoutStage::Total) => {
                self.spending.time_left(self.machine, purpose).exhausted()
            }
            _ => None,
        }
    }

    /// Reserves what a call may cost, and limits its reply to that.
    fn reserve(&mut self, call: &mut InFlight, input: u64) -> Result<(), Refusal> {
        let records_calls = self.recorder.as_ref().is_some_and(|recorder| recorder.records_calls());
        if !records_calls && !self.spending.is_active() {
            self.flight = Flight::new(None, None);
            self.limit_reply(call);
            return Ok(());
        }
        let planned = PlannedCall {
            request: &call.request,
            input,
            purpose: call.purpose,
            provider: self.provider_for(call.purpose),
            default_output: self.settings.compaction.window.reserved_tokens,
            learnt: self.learnt(call),
            at: self.clock.now(),
        };
        let log = records_calls.then(|| Box::new(CallLog::new(&planned, self.clock.monotonic())));
        let hold = self.spending.reserve(self.machine, planned)?;
        match hold.as_ref().and_then(|hold| hold.token_limit) {
            Some(limit) => Arc::make_mut(&mut call.request).max_completion_tokens = Some(limit),
            None => self.limit_reply(call),
        }
        self.flight = Flight::new(hold, log);
        Ok(())
    }

    /// Runs the pre-request hooks. Returns the request to send.
    async fn run_pre_request(
        &self,
        request: &Arc<ChatRequest>,
        purpose: Purpose,
    ) -> Result<Arc<ChatRequest>, HookStop> {
        let request = Arc::clone(request);
        if self.hooks.is_empty() {
            return Ok(request);
        }
        run_hooks(async {
            let context = HookContext {
                purpose: Some(request_purpose(purpose)),
                ..self.context()
            };
            self.hooks.pre_request(&context, &self.bounds(purpose), request).await
        })
        .await
    }

    /// Runs the post-request hooks, or the error hooks: exactly one of the two ends an attempt.
    async fn run_post_request(&self, call: &InFlight, failure: Option<&Unread>) {
        if self.hooks.is_empty() {
            return;
        }
        run_hooks(async {
            let (mut context, bounds) = (self.attempt_context(call), self.bounds(call.purpose));
            let fault = failure.map(Unread::fault);
            if fault.is_some() {
                context.error = fault.as_ref();
                self.hooks.on_error(&context, &bounds).await;
            } else {
                context.response = self.response.as_deref();
                self.hooks.post_request(&context, &bounds).await;
            }
        })
        .await;
    }

    pub(super) fn attempt_context<'c>(&'c self, call: &'c InFlight) -> HookContext<'c> {
        HookContext {
            purpose: Some(request_purpose(call.purpose)),
            request: Some(&call.request),
            attempt: call.attempt,
            duration: Some(self.clock.monotonic().saturating_sub(call.started)),
            ..self.context()
        }
    }

    /// Converts a failure into an outcome for the machine, and keeps the whole error for the caller.
    fn failed(&mut self, error: CycleError, lost: Lost) -> Outcome {
        if lost.get().is_none()
            && let Some(mode) = self.fallback_mode(&error)
        {
            return Outcome::Recast(mode);
        }
        let failure = Failure::new(error.fault()).with_lost(lost);
        self.error = Some(error);
        Outcome::Failed(failure)
    }

    /// Returns another way to ask for typed output, if the provider refused the current one.
    fn fallback_mode(&self, error: &CycleError) -> Option<crate::typed::OutputMode> {
        let (typed, expectation) = (self.typed.as_ref()?, self.machine.expectation()?);
        typed.fallback_mode(expectation, self.provider, error.llm_error()?)
    }
}

impl From<HookStop> for Unanswered {
    fn from(stop: HookStop) -> Self {
        let lost = Lost::default();
        match stop {
            HookStop::Blocked(reason) => Self::Blocked(reason),
            HookStop::Cancelled => Self::Failed {
                error: CycleError::cancelled(),
                lost,
            },
            HookStop::OutOfTime(limit) => Self::OutOfTime { limit, lost },
        }
    }
}

/// Converts the first choice of a response into a reply for the machine.
pub(super) fn reply_of(response: Option<&ChatResponse>, lost: Lost) -> Reply {
    let choice = response.and_then(|response| response.choices.first());
    Reply::new(Arc::new(
        choice.map(|choice| choice.message.clone()).unwrap_or_default(),
    ))
    .with_finish(choice.and_then(|choice| choice.finish_reason.clone()))
    .with_usage(response.and_then(|response| response.usage.clone()))
    .with_lost(lost)
}
