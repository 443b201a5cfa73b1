//! Calling the model: request, hooks, budgets, reply.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, FaultKind, ModelEvent};

use super::{
    context::Driver,
    environment::Scene,
    invented_calls::InventedCalls,
    model_call::{InFlight, Unread},
    spending::Refusal,
};
use crate::{
    budget::{BudgetLimit, DrawError},
    error::{CycleError, CycleErrorKind},
    hooks::HookStop,
    machine::{Cause, Failure, Lost, MachineError, MediaRefusal, Outcome, Purpose, Reply},
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
struct Asked {
    /// The usage of other attempts.
    lost: Lost,
    /// The media that were left out of the request because the server had refused them.
    media: Option<Box<MediaRefusal>>,
}

impl Driver<'_> {
    /// Calls the model and reports the outcome to the machine.
    pub(super) async fn call_model(&mut self, purpose: Purpose) -> Result<(), CycleError> {
        // Clear an earlier failure that a compaction may have resolved.
        self.error = None;
        self.record.name_reply(RecordedReply::Next);
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        let tokens = if self.model.spending.is_active() {
            self.compactor.request_tokens(&scene.request_parts())
        } else {
            0
        };
        let request = scene.request(&mut self.compactor, purpose);
        let asked = match self.ask(request, tokens, purpose).await {
            Ok(lost) => Ok(Asked { lost, media: None }),
            // Boxed because it is rarely needed.
            Err(failed @ Unanswered::Failed { .. }) => Box::pin(self.ask_without_media(purpose, tokens, failed)).await,
            Err(unanswered) => Err(unanswered),
        };
        let outcome = self.outcome_of(asked)?;
        self.model.forget();
        // The next request may be compacted again.
        self.compactor.rearm();
        let is_reply = matches!(outcome, Outcome::Reply(_));
        let mut invented = None;
        if is_reply {
            let scene = self.record.scene(&self.environment, self.typed.as_deref());
            invented = self
                .invented_calls
                .count(scene, self.model.response.as_deref(), purpose);
        }
        self.record.stage(outcome)?;
        if is_reply && self.record.recorder().is_some() && invented.is_none() {
            self.stage_begin()?;
        }
        self.record.commit().await?;
        match invented {
            Some(tool) if self.record.machine().is_open() => {
                let (error, cause) = InventedCalls::end(&tool, self.typed.is_some());
                self.error = Some(error);
                Box::pin(self.record.absorb(Outcome::Stop(cause))).await
            }
            _ => Ok(()),
        }
    }

    /// Converts what became of a call into an outcome for the machine, and keeps the whole error for the caller.
    fn outcome_of(&mut self, asked: Result<Asked, Unanswered>) -> Result<Outcome, CycleError> {
        Ok(match asked {
            Ok(Asked { lost, media }) => {
                self.compactor.accepted();
                if let Some(refusal) = media {
                    self.record.stage(Outcome::MediaRefused(refusal))?;
                }
                Outcome::Reply(reply_of(self.model.response.as_deref(), lost))
            }
            Err(Unanswered::Invalid(error)) => return Err(error),
            Err(Unanswered::Blocked(reason)) => Outcome::Stop(Cause::hook_blocked(reason)),
            Err(Unanswered::Refused(Refusal::Limit(limit))) => Outcome::limit(limit),
            Err(Unanswered::Refused(Refusal::Shortage(shortage))) => {
                let limit = shortage.limit;
                self.error = Some((*shortage).into());
                let (lost, reason) = (self.model.lost(), None);
                Outcome::Limit { limit, lost, reason }
            }
            Err(Unanswered::Refused(Refusal::Draw(error))) => {
                let Some(limit) = error.limit() else {
                    return Err(error.into());
                };
                let reason = Some(error.to_string());
                self.error = Some(error.into());
                let lost = self.model.lost();
                Outcome::Limit { limit, lost, reason }
            }
            Err(Unanswered::Refused(Refusal::Price(error))) => {
                let message = error.to_string();
                self.error = Some(CycleError::new(CycleErrorKind::LimitReached, message.as_str()).with_source(error));
                Outcome::Stop(Cause::new(FaultKind::Limit, message))
            }
            Err(Unanswered::OutOfTime { limit, lost }) => Outcome::Limit {
                limit,
                lost,
                reason: None,
            },
            Err(Unanswered::Failed { error, lost }) if error.is_cancelled() => {
                self.error = Some(error);
                if let Some(lost) = lost.into_tracker() {
                    self.model.forget();
                    self.record.stage(Outcome::Lost(Box::new(lost)))?;
                }
                Outcome::Stop(Cause::cancelled())
            }
            Err(Unanswered::Failed { error, lost }) => {
                let scene = self.record.scene(&self.environment, self.typed.as_deref());
                if let (None, Some(mode)) = (lost.get(), scene.fallback_mode(&error)) {
                    return Ok(Outcome::Recast(mode));
                }
                let failure = Failure::new(error.fault()).with_lost(lost);
                self.error = Some(error);
                Outcome::Failed(failure)
            }
        })
    }

    /// Makes one call: hooks, budgets, the provider, hooks. `tokens` is the estimated size of the request. The reply becomes the
    /// last one. Returns what other attempts have used.
    pub(super) async fn ask(
        &mut self,
        request: Arc<ChatRequest>,
        tokens: u64,
        purpose: Purpose,
    ) -> Result<Lost, Unanswered> {
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        let sent = self.model.run_pre_request(scene, &request, purpose).await?;
        let input = if Arc::ptr_eq(&request, &sent) || !self.model.spending.is_active() {
            tokens
        } else {
            self.environment.settings.estimator.request(&sent)
        };
        drop(request);
        let mut call = InFlight::new(&self.environment, sent, purpose);
        let is_logged = self.record.recorder().is_some_and(|recorder| recorder.records_calls());
        let reserved = self.model.reserve(scene, &mut call, input, is_logged).await;
        reserved.map_err(Unanswered::from)?;
        let mut answer = self.model.read_reply(scene, &mut call).await;
        let limit = self.model.time_limit_behind(&answer, scene.machine, purpose);
        // Recorded with what becomes of the call, so that neither can be lost alone.
        let spent = self.model.settle(&answer);
        for call in self.model.take_calls() {
            self.record.stage(Outcome::Called(Box::new(call)))?;
        }
        if let Some(spent) = spent {
            self.record.stage(Outcome::Spent(spent))?;
        }
        if let Some(limit) = limit {
            answer = Err(Unread::Limit(limit));
        }
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        self.model.run_post_request(scene, &call, answer.as_ref().err()).await;
        let lost = self.model.lost();
        match answer {
            Ok(()) => Ok(lost),
            Err(Unread::Limit(limit)) => Err(Unanswered::OutOfTime { limit, lost }),
            Err(Unread::Shortage(shortage)) => Err(Unanswered::Refused(Refusal::Shortage(shortage))),
            Err(Unread::Draw(error)) => Err(Refusal::Draw(error).into()),
            Err(Unread::Failed(error)) => Err(Unanswered::Failed {
                error: error.into(),
                lost,
            }),
        }
    }

    /// Makes a call again if it may have failed because of media of the conversation, with notes in their place. What the server
    /// then answers decides: the notes stay in the conversation only if they have helped.
    async fn ask_without_media(
        &mut self,
        purpose: Purpose,
        tokens: u64,
        unanswered: Unanswered,
    ) -> Result<Asked, Unanswered> {
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        let refusal = match &unanswered {
            Unanswered::Failed { error, lost } if lost.get().is_none() => {
                error.llm_error().and_then(|error| scene.refused_media(error, purpose))
            }
            _ => None,
        };
        let Some(refusal) = refusal else {
            return Err(unanswered);
        };
        let mut request = scene.request(&mut self.compactor, purpose);
        scene.leave_out_refused(Arc::make_mut(&mut request), &refusal);
        let (attempt, delay, fault) = (1, Duration::ZERO, refusal.fault.clone());
        scene.send(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
        match self.ask(request, tokens, purpose).await {
            Ok(lost) => {
                tracing::warn!(reason = %refusal.fault.message, "media that the server refused were replaced by notes");
                let media = Some(Box::new(refusal));
                Ok(Asked { lost, media })
            }
            Err(invalid @ Unanswered::Invalid(_)) => Err(invalid),
            Err(Unanswered::Failed { error, lost }) if error.is_cancelled() => Err(Unanswered::Failed { error, lost }),
            Err(_) => Err(unanswered),
        }
    }
}

impl Scene<'_> {
    /// Returns another way to ask for typed output, if the provider refused the current one.
    fn fallback_mode(&self, error: &CycleError) -> Option<crate::typed::OutputMode> {
        let (typed, expectation) = (self.typed?, self.machine.expectation()?);
        typed.fallback_mode(expectation, self.environment.provider, error.llm_error()?)
    }
}

impl From<MachineError> for Unanswered {
    fn from(error: MachineError) -> Self {
        Self::Invalid(error.into())
    }
}

impl From<Refusal> for Unanswered {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            // The turn stays open until the budget can be used again.
            Refusal::Draw(error @ DrawError::Failed(_)) => Self::Invalid(error.into()),
            refusal => Self::Refused(refusal),
        }
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
