//! Calling the model: request, hooks, budgets, items, reply.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Fault, FaultKind, ModelEvent, Text, TextEvent, UsageTracker};
use futures_util::StreamExt;

use super::{
    hooks::request_purpose,
    spending::{Hold, Refusal, out_of_time},
    state::Driver,
    typed::Writing,
};
use crate::{
    budget::BudgetLimit,
    cycle::machine::{Cause, Failure, Outcome, Purpose, Reply},
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    fold::Fold,
    hooks::{HookContext, HookStop},
    provider::Call,
    reply::{Notice, ReplyItem},
};

/// One call of the model under way.
struct Asked {
    request: Arc<ChatRequest>,
    purpose: Purpose,
    begun: Duration,
    /// From 0.
    attempt: u32,
    /// Attempts that came to nothing.
    lost: UsageTracker,
    /// What is set aside for it.
    hold: Option<Hold>,
}

/// Why there is no answer.
pub(super) enum Unanswered {
    /// A hook said no.
    Blocked(String),
    /// A budget did.
    Refused(Refusal),
    /// A budget ran out in the middle.
    OutOfTime { limit: BudgetLimit, lost: UsageTracker },
    /// The provider failed.
    Failed { error: LlmError, lost: UsageTracker },
}

/// Why the reading of a reply ended without one.
enum Unread {
    Failed(LlmError),
    Limit(BudgetLimit),
}

impl Driver<'_> {
    /// Asks the model and tells the machine what came of it.
    pub(super) async fn call_model(&mut self, purpose: Purpose) -> Result<(), LlmError> {
        // An earlier failure that a compaction may have helped against.
        self.error = None;
        let tokens = self.measured_tokens();
        let request = self.request(purpose);
        let outcome = match self.ask(request, tokens, purpose).await? {
            Ok((response, lost)) => {
                let reply = reply_of(&response, lost);
                (self.response, self.too_long) = (Some(response), None);
                Outcome::Reply(reply)
            }
            Err(Unanswered::Blocked(reason)) => Outcome::Stop(Cause::hook_blocked(reason)),
            Err(Unanswered::Refused(Refusal::Limit(limit))) => Outcome::limit(limit),
            Err(Unanswered::Refused(Refusal::Price(error))) => {
                let cause = Cause::new(FaultKind::Limit, error.to_string());
                self.error = Some(LlmError::new(LlmErrorKind::LimitReached, error.to_string()).with_source(error));
                Outcome::Stop(cause)
            }
            Err(Unanswered::OutOfTime { limit, lost }) => Outcome::Limit { limit, lost },
            Err(Unanswered::Failed { error, lost }) => match self.other_mode(&error).filter(|_| lost.calls == 0) {
                Some(mode) => Outcome::Recast(mode),
                None => self.failed(error, lost),
            },
        };
        // The next request may be compacted again.
        self.compacted = false;
        self.absorb(outcome).await
    }

    /// Makes one call: hooks, budgets, the provider, hooks. `tokens` are those of the request, estimated.
    pub(super) async fn ask(
        &mut self,
        request: Arc<ChatRequest>,
        tokens: u64,
        purpose: Purpose,
    ) -> Result<Result<(ChatResponse, UsageTracker), Unanswered>, LlmError> {
        let sent = match self.let_pass(&request, purpose).await {
            Ok(sent) => sent,
            Err(stop) => return Ok(Err(stop.into())),
        };
        let tokens = if Arc::ptr_eq(&request, &sent) || !self.settings.budgets.is_active() {
            tokens
        } else {
            self.settings.estimator.request(&sent)
        };
        let hold = match self.reserve(&sent, tokens, purpose) {
            Ok(hold) => hold,
            Err(refusal) => return Ok(Err(Unanswered::Refused(refusal))),
        };
        let mut asked = Asked {
            request: sent,
            purpose,
            begun: self.clock.monotonic(),
            attempt: 0,
            lost: UsageTracker::default(),
            hold,
        };
        let answer = self.read_reply(&mut asked).await;
        let partial = match &answer {
            Ok(response) => Some(response),
            Err(Unread::Failed(error)) => error.partial(),
            Err(Unread::Limit(_)) => None,
        };
        self.settle_call(asked.hold.take(), partial, &asked.lost).await?;
        self.tell_hooks(&asked, answer.as_ref().map_err(Unread::fault)).await;
        let mut lost = asked.lost;
        Ok(match answer {
            Ok(response) => Ok((response, lost)),
            Err(Unread::Limit(limit)) => Err(Unanswered::OutOfTime { limit, lost }),
            Err(Unread::Failed(error)) => {
                if let Some(partial) = error.partial() {
                    lost.record(partial.usage.as_ref());
                }
                Err(Unanswered::Failed { error, lost })
            }
        })
    }

    /// The request as the hooks let it pass.
    async fn let_pass(&self, request: &Arc<ChatRequest>, purpose: Purpose) -> Result<Arc<ChatRequest>, HookStop> {
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

    /// Exactly one of the two ends an attempt.
    async fn tell_hooks(&self, asked: &Asked, answer: Result<&ChatResponse, Fault>) {
        if self.hooks.is_empty() {
            return;
        }
        let (mut context, bounds) = (self.attempt_context(asked), self.bounds(asked.purpose));
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

    fn attempt_context<'c>(&'c self, asked: &'c Asked) -> HookContext<'c> {
        HookContext {
            purpose: Some(request_purpose(asked.purpose)),
            request: Some(&asked.request),
            attempt: asked.attempt,
            duration: Some(self.clock.monotonic().saturating_sub(asked.begun)),
            ..self.context()
        }
    }

    fn request(&self, purpose: Purpose) -> Arc<ChatRequest> {
        let view = self.machine.view();
        let messages = self.settings.prelude.iter().chain(view.older).chain(view.added);
        let messages = messages.cloned().collect();
        let mut shared = Arc::new(self.settings.request.clone());
        let request = Arc::make_mut(&mut shared);
        request.messages = messages;
        request.tools = match (&self.options.tools, purpose) {
            (Some(tools), Purpose::Reply) => tools.definitions(),
            _ => Arc::default(),
        };
        self.ask_for_output(request);
        shared
    }

    /// Tokens of the request that comes next; 0 where nobody needs them.
    fn measured_tokens(&mut self) -> u64 {
        if self.settings.budgets.is_active() {
            self.request_tokens()
        } else {
            0
        }
    }

    async fn read_reply(&mut self, asked: &mut Asked) -> Result<ChatResponse, Unread> {
        let left = self.time_left(asked.purpose);
        let mut items = self.provider_for(asked.purpose).open(Call {
            request: Arc::clone(&asked.request),
            stream: self.options.stream,
            token: self.options.token.clone(),
            deadline: left.map(|(left, _)| left),
            attempt: 0,
            trace: self.options.trace.clone(),
        });
        let mut fold = Fold::new();
        let mut writing = self.writing(asked.purpose);
        let mut timer = pin!(out_of_time(self.clock, left));
        loop {
            let item = tokio::select! {
                biased;
                item = items.next() => item,
                limit = &mut timer => {
                    if fold.has_content() {
                        asked.lost.record(fold.usage());
                    }
                    return Err(Unread::Limit(limit));
                }
            };
            match item {
                Some(ReplyItem::Delta(delta @ (ReplyDelta::Start(_) | ReplyDelta::Usage(_)))) => fold.take_in(delta),
                Some(ReplyItem::Delta(delta)) => {
                    let call = fold.push(&delta);
                    // A summary is no part of the conversation.
                    let told = self.observer.is_some() && asked.purpose != Purpose::Summary;
                    if let (true, Some(event)) = (told, text_event(delta, call, &fold)) {
                        let part = writing.as_mut().and_then(|writing| writing.push(&event, call));
                        self.tell(event).await;
                        self.tell_part(part).await;
                    }
                }
                Some(ReplyItem::Notice(notice)) => {
                    fold.notice(&notice);
                    if matches!(notice, Notice::RetryScheduled { .. } | Notice::Restarted { .. }) {
                        writing = self.writing(asked.purpose);
                    }
                    // Rare, and its future is large.
                    let noted = Box::pin(self.note(notice, asked));
                    noted.await.map_err(Unread::Limit)?;
                }
                Some(end @ ReplyItem::End(_)) => {
                    self.tell_part(writing.as_mut().and_then(Writing::rest)).await;
                    if let Some(answer) = fold.absorb(end) {
                        return answer.map_err(Unread::Failed);
                    }
                }
                None => return fold.cut().map_err(Unread::Failed),
            }
        }
    }

    /// Tells observers and hooks of a notice, and counts what a lost attempt used.
    async fn note(&mut self, notice: Notice, asked: &mut Asked) -> Result<(), BudgetLimit> {
        match notice {
            Notice::RetryScheduled { attempt, delay, fault } => {
                self.retry(asked, attempt, &fault).await;
                self.tell(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
            }
            Notice::Restarted { fault, usage } => {
                asked.lost.record(usage.as_deref());
                if let Some(hold) = &mut asked.hold {
                    self.reserve_again(hold)?;
                }
                self.retry(asked, asked.attempt.saturating_add(1), &fault).await;
                self.tell(ModelEvent::StreamRestarted { fault }).await;
            }
            Notice::AnsweredBy(who) => self.tell(ModelEvent::AnsweredBy(who)).await,
            Notice::Waiting { limit, delay } => self.tell(ModelEvent::WaitingForLimit { delay, limit }).await,
        }
        Ok(())
    }

    /// An attempt has failed and the next one follows.
    async fn retry(&self, asked: &mut Asked, next: u32, fault: &Fault) {
        if !self.hooks.is_empty() {
            let bounds = self.bounds(asked.purpose);
            let mut context = self.attempt_context(asked).with_error(fault);
            self.hooks.on_error(&context, &bounds).await;
            context.attempt = next;
            self.hooks.on_retry(&context, &bounds).await;
        }
        asked.attempt = next;
    }

    /// The failure, as the machine takes it; the whole error is kept for the caller.
    fn failed(&mut self, error: LlmError, lost: UsageTracker) -> Outcome {
        let (fault, cancelled) = (error.fault(), *error.kind() == LlmErrorKind::Cancelled);
        self.error = Some(error);
        if cancelled && lost.calls == 0 {
            Outcome::Stop(Cause::cancelled())
        } else {
            Outcome::Failed(Failure::new(fault).with_lost(lost))
        }
    }
}

impl From<HookStop> for Unanswered {
    fn from(stop: HookStop) -> Self {
        let lost = UsageTracker::default();
        match stop {
            HookStop::Blocked(reason) => Self::Blocked(reason),
            HookStop::Cancelled => Self::Failed {
                error: LlmError::cancelled(),
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
            Self::Limit(limit) => Refusal::Limit(*limit).fault(),
        }
    }
}

/// The first answer, as the machine takes it.
pub(super) fn reply_of(response: &ChatResponse, lost: UsageTracker) -> Reply {
    let choice = response.choices.first();
    Reply::new(Arc::new(
        choice.map(|choice| choice.message.clone()).unwrap_or_default(),
    ))
    .with_finish(choice.and_then(|choice| choice.finish_reason.clone()))
    .with_usage(response.usage.clone())
    .with_lost(lost)
}

/// What observers are told of a delta; `call` is the place of the tool call that it belongs to.
fn text_event(delta: ReplyDelta, call: Option<usize>, fold: &Fold) -> Option<TextEvent> {
    match delta {
        ReplyDelta::Text { choice: 0, text } => Some(TextEvent::Text(text)),
        ReplyDelta::Reasoning { choice: 0, text } => Some(TextEvent::Reasoning(text)),
        ReplyDelta::Refusal { choice: 0, text } => Some(TextEvent::Refusal(text)),
        ReplyDelta::Call { choice: 0, fragment } => {
            let call = call?;
            let (id, name) = fold.call(0, call)?;
            Some(TextEvent::ToolArguments {
                index: u32::try_from(call).unwrap_or(u32::MAX),
                call_id: Text::from(id),
                name: Text::from(name),
                arguments: fragment.input.unwrap_or_default(),
            })
        }
        _ => None,
    }
}
