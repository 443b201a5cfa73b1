//! Calling the model: request, hooks, items, reply.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Fault, Message, ModelEvent, Text, TextEvent, UsageTracker};
use futures_util::StreamExt;

use super::state::Driver;
use crate::{
    cycle::machine::{Cause, Failure, Outcome, Purpose, Reply},
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    fold::Fold,
    hooks::HookContext,
    provider::Call,
    reply::{Notice, ReplyItem},
};

/// One call of the model under way.
struct Asked {
    request: Arc<ChatRequest>,
    begun: Duration,
    /// From 0.
    attempt: u32,
    /// Attempts that came to nothing.
    lost: UsageTracker,
}

impl Driver<'_> {
    /// Asks the model and tells the machine what came of it.
    pub(super) async fn call_model(&mut self, purpose: Purpose, messages: Vec<Arc<Message>>) -> Result<(), LlmError> {
        let request = Arc::new(self.request(purpose, messages));
        let request = match self.hooks.pre_request(&self.context(), request).await {
            Ok(request) => request,
            Err(reason) => return self.absorb(Outcome::Stop(Cause::hook_blocked(reason))).await,
        };
        let mut asked = Asked {
            request,
            begun: self.clock.monotonic(),
            attempt: 0,
            lost: UsageTracker::default(),
        };
        let answer = self.read_reply(&mut asked).await;
        let context = self.attempt_context(&asked);
        let outcome = match answer {
            Ok(response) => {
                self.hooks
                    .post_request(&HookContext {
                        response: Some(&response),
                        ..context
                    })
                    .await;
                self.replied(response, asked.lost)
            }
            Err(error) => {
                let fault = error.fault();
                self.hooks
                    .on_error(&HookContext {
                        error: Some(&fault),
                        ..context
                    })
                    .await;
                self.failed(error, fault, asked.lost)
            }
        };
        self.absorb(outcome).await
    }

    fn attempt_context<'c>(&'c self, asked: &'c Asked) -> HookContext<'c> {
        HookContext {
            request: Some(&asked.request),
            attempt: asked.attempt,
            duration: Some(self.clock.monotonic().saturating_sub(asked.begun)),
            ..self.context()
        }
    }

    fn request(&self, purpose: Purpose, messages: Vec<Arc<Message>>) -> ChatRequest {
        let mut request = self.settings.request.clone();
        request.messages = self.settings.prelude.iter().cloned().chain(messages).collect();
        request.tools = match (&self.options.tools, purpose) {
            (Some(tools), Purpose::Reply) => tools.definitions(),
            _ => Arc::default(),
        };
        request
    }

    async fn read_reply(&mut self, asked: &mut Asked) -> Result<ChatResponse, LlmError> {
        let mut call = Call::new(Arc::clone(&asked.request))
            .with_stream(self.options.stream)
            .with_token(self.options.token.clone());
        call.trace.clone_from(&self.options.trace);
        let mut items = self.provider.open(call);
        let mut fold = Fold::new();
        while let Some(item) = items.next().await {
            match item {
                ReplyItem::Delta(delta @ (ReplyDelta::Start(_) | ReplyDelta::Usage(_))) => fold.take_in(delta),
                ReplyItem::Delta(delta) => {
                    let call = fold.push(&delta);
                    if let (true, Some(event)) = (self.observer.is_some(), text_event(delta, call, &fold)) {
                        self.tell(event).await;
                    }
                }
                ReplyItem::Notice(notice) => {
                    fold.notice(&notice);
                    self.note(notice, asked).await;
                }
                end @ ReplyItem::End(_) => {
                    if let Some(answer) = fold.absorb(end) {
                        return answer;
                    }
                }
            }
        }
        fold.cut()
    }

    /// Tells observers and hooks of a notice, and counts what a lost attempt used.
    async fn note(&mut self, notice: Notice, asked: &mut Asked) {
        match notice {
            Notice::RetryScheduled { attempt, delay, fault } => {
                self.retry(asked, attempt, &fault).await;
                self.tell(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
            }
            Notice::Restarted { fault, usage } => {
                asked.lost.record(usage.as_deref());
                self.retry(asked, asked.attempt.saturating_add(1), &fault).await;
                self.tell(ModelEvent::StreamRestarted { fault }).await;
            }
            Notice::AnsweredBy(who) => self.tell(ModelEvent::AnsweredBy(who)).await,
            Notice::Waiting { limit, delay } => self.tell(ModelEvent::WaitingForLimit { delay, limit }).await,
        }
    }

    /// An attempt has failed and the next one follows.
    async fn retry(&self, asked: &mut Asked, next: u32, fault: &Fault) {
        let context = HookContext {
            error: Some(fault),
            ..self.attempt_context(asked)
        };
        self.hooks.on_error(&context).await;
        self.hooks
            .on_retry(&HookContext {
                attempt: next,
                ..context
            })
            .await;
        asked.attempt = next;
    }

    /// The failure, as the machine takes it; the whole error is kept for the caller.
    fn failed(&mut self, error: LlmError, fault: Fault, mut lost: UsageTracker) -> Outcome {
        if let Some(partial) = error.partial() {
            lost.record(partial.usage.as_ref());
        }
        let cancelled = *error.kind() == LlmErrorKind::Cancelled;
        self.error = Some(error);
        if cancelled && lost.calls == 0 {
            Outcome::Stop(Cause::cancelled())
        } else {
            Outcome::Failed(Failure::new(fault).with_lost(lost))
        }
    }

    /// The first answer, as the machine takes it; the whole response is kept for the caller.
    fn replied(&mut self, response: ChatResponse, lost: UsageTracker) -> Outcome {
        let choice = response.choices.first();
        let reply = Reply::new(choice.map(|choice| choice.message.clone()).unwrap_or_default())
            .with_finish(choice.and_then(|choice| choice.finish_reason.clone()))
            .with_usage(response.usage.clone())
            .with_lost(lost);
        self.response = Some(response);
        Outcome::Reply(reply)
    }
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
