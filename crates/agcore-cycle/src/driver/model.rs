//! Calling the model: request, hooks, budgets, reply.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Fault, FaultKind, ModelEvent, UsageTracker};
use agcore_llm::{Call, Fold, LlmError, Notice, ReplyDelta, ReplyItem};

use super::{
    call_ids::CallIds,
    context::Driver,
    hooks::request_purpose,
    spending::{Hold, PlannedCall, Refusal, out_of_time},
    typed_turn::PartialValue,
};
use crate::{
    budget::BudgetLimit,
    error::{CycleError, CycleErrorKind},
    hooks::{HookContext, HookStop},
    machine::{Cause, Failure, Outcome, Purpose, Reply},
};

/// A call of the model that is in flight.
struct InFlight {
    request: Arc<ChatRequest>,
    purpose: Purpose,
    started: Duration,
    /// The number of the attempt, from 0.
    attempt: u32,
    /// Attempts that failed.
    lost: UsageTracker,
    /// The reservation for it.
    hold: Option<Hold>,
}

/// The reason there is no answer.
pub(super) enum Unanswered {
    /// A hook blocked the request.
    Blocked(String),
    /// A budget does not allow the call.
    Refused(Refusal),
    /// A budget ran out during the call.
    OutOfTime { limit: BudgetLimit, lost: UsageTracker },
    /// The provider failed.
    Failed { error: CycleError, lost: UsageTracker },
    /// The machine rejected an outcome: the run cannot continue.
    Invalid(CycleError),
}

/// The reason a reply was not read to its end.
enum Unread {
    Failed(LlmError),
    Limit(BudgetLimit),
}

impl Driver<'_> {
    /// Calls the model and reports the outcome to the machine.
    pub(super) async fn call_model(&mut self, purpose: Purpose) -> Result<(), CycleError> {
        // Clear an earlier failure that a compaction may have resolved.
        self.error = None;
        let tokens = if self.spending.is_active() {
            self.request_tokens()
        } else {
            0
        };
        let request = self.request(purpose);
        let outcome = match self.ask(request, tokens, purpose).await {
            Ok((response, lost)) => {
                let reply = reply_of(&response, lost);
                self.response = Some(response);
                self.compactor.accepted();
                Outcome::Reply(reply)
            }
            Err(Unanswered::Invalid(error)) => return Err(error),
            Err(Unanswered::Blocked(reason)) => Outcome::Stop(Cause::hook_blocked(reason)),
            Err(Unanswered::Refused(Refusal::Limit(limit))) => Outcome::limit(limit),
            Err(Unanswered::Refused(Refusal::Price(error))) => {
                let message = error.to_string();
                self.error = Some(CycleError::new(CycleErrorKind::LimitReached, message.as_str()).with_source(error));
                Outcome::Stop(Cause::new(FaultKind::Limit, message))
            }
            Err(Unanswered::OutOfTime { limit, lost }) => Outcome::Limit { limit, lost },
            Err(Unanswered::Failed { error, lost }) => self.failed(error, lost),
        };
        // The next request may be compacted again.
        self.compactor.rearm();
        self.absorb(outcome).await
    }

    /// Makes one call: hooks, budgets, the provider, hooks. `tokens` is the estimated size of the request.
    pub(super) async fn ask(
        &mut self,
        request: Arc<ChatRequest>,
        tokens: u64,
        purpose: Purpose,
    ) -> Result<(ChatResponse, UsageTracker), Unanswered> {
        let sent = self.run_pre_request(&request, purpose).await?;
        let input = if Arc::ptr_eq(&request, &sent) || !self.spending.is_active() {
            tokens
        } else {
            self.settings.estimator.request(&sent)
        };
        let planned = PlannedCall {
            request: &sent,
            input,
            purpose,
            provider: self.provider_for(purpose).info(),
            default_output: self.settings.compaction.window.reserved_tokens,
        };
        let hold = self.spending.reserve(self.machine, planned);
        let mut call = InFlight {
            hold: hold.map_err(Unanswered::Refused)?,
            request: sent,
            purpose,
            started: self.clock.monotonic(),
            attempt: 0,
            lost: UsageTracker::default(),
        };
        let answer = self.read_reply(&mut call).await;
        let partial = match &answer {
            Ok(response) => Some(response),
            Err(Unread::Failed(error)) => error.partial(),
            Err(Unread::Limit(_)) => None,
        };
        if let Some(hold) = call.hold.take() {
            let spent = self.spending.settle(hold, partial, &call.lost);
            // Recorded with what becomes of the call, so that neither can be lost alone.
            let staged = self.stage(Outcome::Spent(spent));
            staged.map_err(|error| Unanswered::Invalid(error.into()))?;
        }
        self.run_post_request(&call, answer.as_ref().map_err(Unread::fault))
            .await;
        let mut lost = call.lost;
        match answer {
            Ok(response) => Ok((response, lost)),
            Err(Unread::Limit(limit)) => Err(Unanswered::OutOfTime { limit, lost }),
            Err(Unread::Failed(error)) => {
                if let Some(partial) = error.partial() {
                    lost.record(partial.usage.as_ref());
                }
                Err(Unanswered::Failed {
                    error: error.into(),
                    lost,
                })
            }
        }
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
        let context = HookContext {
            purpose: Some(request_purpose(purpose)),
            ..self.context()
        };
        self.hooks.pre_request(&context, &self.bounds(purpose), request).await
    }

    /// Runs the post-request hooks, or the error hooks: exactly one of the two ends an attempt.
    async fn run_post_request(&self, call: &InFlight, answer: Result<&ChatResponse, Fault>) {
        if self.hooks.is_empty() {
            return;
        }
        let (mut context, bounds) = (self.attempt_context(call), self.bounds(call.purpose));
        match &answer {
            Ok(response) => {
                context.response = Some(response);
                self.hooks.post_request(&context, &bounds).await;
            }
            Err(fault) => {
                context.error = Some(fault);
                self.hooks.on_error(&context, &bounds).await;
            }
        }
    }

    fn attempt_context<'c>(&'c self, call: &'c InFlight) -> HookContext<'c> {
        HookContext {
            purpose: Some(request_purpose(call.purpose)),
            request: Some(&call.request),
            attempt: call.attempt,
            duration: Some(self.clock.monotonic().saturating_sub(call.started)),
            ..self.context()
        }
    }

    async fn read_reply(&mut self, in_flight: &mut InFlight) -> Result<ChatResponse, Unread> {
        let left = self.spending.time_left(self.machine, in_flight.purpose);
        let mut call = Call::cancellable(Arc::clone(&in_flight.request), self.options.token.clone());
        call.stream = self.options.stream;
        call.deadline = left.map(|(left, _)| left);
        call.trace.clone_from(&self.options.trace);
        call.actor.clone_from(&self.options.actor);
        let mut items = self.provider_for(in_flight.purpose).open(call);
        let mut fold = Fold::new();
        let mut ids = CallIds::default();
        let mut partial = self.partial_value(in_flight.purpose);
        let mut timer = pin!(out_of_time(self.clock, left));
        loop {
            let item = tokio::select! {
                biased;
                item = items.next() => item,
                limit = &mut timer => {
                    if fold.has_content() {
                        in_flight.lost.record(fold.usage());
                    }
                    return Err(Unread::Limit(limit));
                }
            };
            match item {
                Some(ReplyItem::Delta(delta @ (ReplyDelta::Start(_) | ReplyDelta::Usage(_)))) => fold.push_owned(delta),
                Some(ReplyItem::Delta(delta)) => {
                    let call = fold.push(&delta);
                    // A summary is not part of the conversation.
                    let is_sent = self.events.is_observed() && in_flight.purpose != Purpose::Summary;
                    if let (true, Some(event)) = (is_sent, ids.event(delta, call, &fold, self.machine)) {
                        let part = partial.as_mut().and_then(|partial| partial.push(&event, call));
                        self.send(event).await;
                        self.send_partial(part).await;
                    }
                }
                Some(ReplyItem::Notice(notice)) => {
                    notice.fold_into(&mut fold);
                    if matches!(notice, Notice::RetryScheduled { .. } | Notice::Restarted { .. }) {
                        partial = self.partial_value(in_flight.purpose);
                        ids.clear();
                    }
                    // Boxed because it is large and rarely needed.
                    let handled = Box::pin(self.handle_notice(notice, in_flight));
                    handled.await.map_err(Unread::Limit)?;
                }
                Some(end @ ReplyItem::End(_)) => {
                    self.send_partial(partial.as_mut().and_then(PartialValue::rest)).await;
                    if let Some(mut answer) = end.fold_into(&mut fold) {
                        answer.iter_mut().for_each(|response| ids.apply(response));
                        return answer.map_err(Unread::Failed);
                    }
                }
                // Kinds of items that this version does not know.
                Some(_) => {}
                None => return Err(Unread::Failed(fold.fail(LlmError::truncated()))),
            }
        }
    }

    /// Passes a notice on to the observer and the hooks, and counts what a lost attempt used.
    async fn handle_notice(&mut self, notice: Notice, call: &mut InFlight) -> Result<(), BudgetLimit> {
        match notice {
            Notice::RetryScheduled { attempt, delay, fault } => {
                self.start_attempt(call, attempt, &fault).await;
                self.send(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
            }
            Notice::Restarted { fault, usage } => {
                call.lost.record(usage.as_deref());
                if let Some(hold) = &mut call.hold {
                    self.spending.reserve_again(self.machine, hold)?;
                }
                self.start_attempt(call, call.attempt.saturating_add(1), &fault).await;
                self.send(ModelEvent::StreamRestarted { fault }).await;
            }
            Notice::AnsweredBy(who) => self.send(ModelEvent::AnsweredBy(who)).await,
            Notice::Waiting { limit, delay } => self.send(ModelEvent::WaitingForLimit { delay, limit }).await,
            // There is no event for kinds of notices that this version does not know.
            _ => {}
        }
        Ok(())
    }

    /// An attempt has failed and the next one follows: runs the hooks for both.
    async fn start_attempt(&self, call: &mut InFlight, next: u32, fault: &Fault) {
        if !self.hooks.is_empty() {
            let bounds = self.bounds(call.purpose);
            let mut context = self.attempt_context(call).with_error(fault);
            self.hooks.on_error(&context, &bounds).await;
            context.attempt = next;
            self.hooks.on_retry(&context, &bounds).await;
        }
        call.attempt = next;
    }

    /// Converts a failure into an outcome for the machine, and keeps the whole error for the caller.
    fn failed(&mut self, error: CycleError, lost: UsageTracker) -> Outcome {
        if lost.calls == 0 {
            if let Some(mode) = self.fallback_mode(&error) {
                return Outcome::Recast(mode);
            }
            if error.is_cancelled() {
                self.error = Some(error);
                return Outcome::Stop(Cause::cancelled());
            }
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
        let lost = UsageTracker::default();
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

impl Unread {
    fn fault(&self) -> Fault {
        match self {
            Self::Failed(error) => error.fault(),
            Self::Limit(limit) => Fault::new(FaultKind::Limit, Refusal::Limit(*limit).message()),
        }
    }
}

/// Converts the first choice of a response into a reply for the machine.
pub(super) fn reply_of(response: &ChatResponse, lost: UsageTracker) -> Reply {
    let choice = response.choices.first();
    Reply::new(Arc::new(
        choice.map(|choice| choice.message.clone()).unwrap_or_default(),
    ))
    .with_finish(choice.and_then(|choice| choice.finish_reason.clone()))
    .with_usage(response.usage.clone())
    .with_lost(lost)
}
