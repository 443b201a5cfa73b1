//! Calling the model: request, hooks, items, reply.

use std::sync::Arc;

use agcore_chat::{ChatRequest, ChatResponse, Message, ModelEvent, Text, TextEvent, UsageTracker};
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

impl Driver<'_> {
    /// Asks the model and tells the machine what came of it.
    pub(super) async fn call_model(&mut self, purpose: Purpose, messages: Vec<Arc<Message>>) -> Result<(), LlmError> {
        let request = Arc::new(self.request(purpose, messages));
        let request = match self.hooks.pre_request(&self.context(), request).await {
            Ok(request) => request,
            Err(reason) => return self.absorb(Outcome::Stop(Cause::hook_blocked(reason))).await,
        };
        let begun = self.clock.monotonic();
        let mut lost = UsageTracker::default();
        let answer = self.read_reply(&request, &mut lost).await;
        let context = HookContext {
            request: Some(&request),
            duration: Some(self.clock.monotonic().saturating_sub(begun)),
            ..self.context()
        };
        let outcome = match answer {
            Ok(response) => {
                self.hooks
                    .post_request(&HookContext {
                        response: Some(&response),
                        ..context
                    })
                    .await;
                self.replied(response, lost)
            }
            Err(error) => {
                let fault = error.fault();
                self.hooks
                    .on_error(&HookContext {
                        error: Some(&fault),
                        ..context
                    })
                    .await;
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
        };
        self.absorb(outcome).await
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

    async fn read_reply(
        &mut self,
        request: &Arc<ChatRequest>,
        lost: &mut UsageTracker,
    ) -> Result<ChatResponse, LlmError> {
        let mut call = Call::new(Arc::clone(request))
            .with_stream(self.options.stream)
            .with_token(self.options.token.clone());
        call.trace.clone_from(&self.options.trace);
        let mut items = self.provider.open(call);
        let mut fold = Fold::new();
        while let Some(item) = items.next().await {
            match item {
                ReplyItem::Delta(delta) => {
                    let call = fold.push(&delta);
                    if let (true, Some(event)) = (self.observer.is_some(), text_event(delta, call, &fold)) {
                        self.tell(event).await;
                    }
                }
                ReplyItem::Notice(notice) => {
                    fold.notice(&notice);
                    self.note(notice, request, lost).await;
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
    async fn note(&mut self, notice: Notice, request: &Arc<ChatRequest>, lost: &mut UsageTracker) {
        let context = HookContext {
            request: Some(request),
            ..self.context()
        };
        match notice {
            Notice::RetryScheduled { attempt, delay, fault } => {
                self.hooks
                    .on_error(&HookContext {
                        error: Some(&fault),
                        attempt: attempt - 1,
                        ..context
                    })
                    .await;
                self.hooks
                    .on_retry(&HookContext {
                        error: Some(&fault),
                        attempt,
                        ..context
                    })
                    .await;
                self.tell(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
            }
            Notice::Restarted { fault, usage } => {
                lost.record(usage.as_deref());
                self.hooks
                    .on_error(&HookContext {
                        error: Some(&fault),
                        ..context
                    })
                    .await;
                self.hooks
                    .on_retry(&HookContext {
                        error: Some(&fault),
                        ..context
                    })
                    .await;
                self.tell(ModelEvent::StreamRestarted { fault }).await;
            }
            Notice::AnsweredBy(who) => self.tell(ModelEvent::AnsweredBy(who)).await,
            Notice::Waiting { limit, delay } => self.tell(ModelEvent::WaitingForLimit { delay, limit }).await,
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
