//! Reading a reply: its events, attempts that are lost on the way, and the time that it may take.

use std::pin::pin;

use agcore_chat::{Fault, FaultKind, ModelEvent, TextEvent};
use agcore_llm::{LlmError, Notice, ReplyDelta, ReplyItem};

use super::{InFlight, ModelCall, Unread, call_ids::CallIds};
use crate::{
    driver::{environment::Scene, typed_turn::PartialValue},
    machine::Purpose,
};

impl ModelCall<'_> {
    /// Sends the request and reads the reply, which becomes the last one.
    pub(super) async fn read_attempt(&mut self, scene: Scene<'_>, in_flight: &mut InFlight) -> Result<(), Unread> {
        let environment = scene.environment;
        let left = self.spending.time_left(scene.machine, in_flight.purpose);
        if environment.options.must_stop() {
            return Err(self.unread(LlmError::cancelled()));
        }
        let mut items = environment
            .provider_for(in_flight.purpose)
            .open(in_flight.call(environment, left.longest()));
        let mut ids = CallIds::default();
        let mut partial = partial_value(scene, in_flight.purpose);
        let mut timer = pin!(left.over(&**environment.clock));
        let mut cancelled = pin!(environment.options.token.cancelled());
        loop {
            self.flight.poll();
            let item = tokio::select! {
                biased;
                item = items.next() => item,
                limit = &mut timer => return Err(Unread::Limit(limit)),
                // Providers end the reply themselves; this is for those that ignore their token.
                () = &mut cancelled => return Err(self.unread(LlmError::cancelled())),
            };
            match item {
                Some(ReplyItem::Delta(delta @ (ReplyDelta::Start(_) | ReplyDelta::Usage(_)))) => {
                    self.flight.receive();
                    self.flight.fold.push_owned(delta);
                }
                Some(ReplyItem::Delta(delta)) => {
                    self.flight.receive();
                    let call = self.flight.fold.push(&delta);
                    let event = self.event_of(scene, delta, call, &mut ids, in_flight.purpose);
                    push_text(scene, event, call, partial.as_deref_mut());
                    scene.events.ready().await;
                }
                Some(ReplyItem::Notice(notice)) => {
                    if matches!(notice, Notice::RetryScheduled { .. } | Notice::Restarted { .. }) {
                        partial = partial_value(scene, in_flight.purpose);
                        ids.clear();
                    }
                    // Boxed because it is large and rarely needed.
                    Box::pin(self.handle_notice(scene, notice, in_flight)).await?;
                }
                Some(end @ ReplyItem::End(_)) => {
                    if let Some(rest) = partial.as_mut().and_then(|partial| partial.rest()) {
                        scene.events.push_current(scene.machine, rest);
                    }
                    scene.events.ready().await;
                    if self.end(end, &mut ids)? {
                        return Ok(());
                    }
                }
                // Kinds of items that this version does not know.
                Some(_) => {}
                None => return Err(self.unread(LlmError::truncated())),
            }
        }
    }

    /// Keeps the reply that ends with this item. Returns whether it is complete.
    fn end(&mut self, end: ReplyItem, ids: &mut CallIds) -> Result<bool, Unread> {
        match end {
            ReplyItem::End(Ok(())) => {
                let mut response = Box::new(self.flight.fold.take());
                ids.apply(&mut response);
                self.response = Some(response);
                Ok(true)
            }
            ReplyItem::End(Err(error)) => Err(self.unread(error)),
            other => {
                other.fold_into(&mut self.flight.fold);
                Ok(false)
            }
        }
    }

    /// Returns the failure of a reply that ends here, with the part that arrived.
    fn unread(&mut self, error: LlmError) -> Unread {
        Unread::Failed(self.flight.fold.fail(error))
    }

    /// Returns the event of a delta, if it has one and somebody receives it. `call` is the index of the tool call that it belongs
    /// to, whose id is decided here in any case.
    fn event_of(
        &self,
        scene: Scene<'_>,
        delta: ReplyDelta,
        call: Option<usize>,
        ids: &mut CallIds,
        purpose: Purpose,
    ) -> Option<TextEvent> {
        // A summary is not part of the conversation.
        if scene.events.is_observed() && purpose != Purpose::Summary {
            return ids.event(delta, call, &self.flight.fold, scene.machine);
        }
        ids.decide(&delta, call, &self.flight.fold, scene.machine);
        None
    }

    /// Passes a notice on to the observer and the hooks, and counts what a lost attempt used.
    async fn handle_notice(&mut self, scene: Scene<'_>, notice: Notice, call: &mut InFlight) -> Result<(), Unread> {
        match notice {
            Notice::RetryScheduled { attempt, delay, fault } => {
                // The server may have worked on an attempt that did not answer in time.
                if fault.kind == FaultKind::Timeout {
                    self.lose_attempt(scene, call.purpose, None).await?;
                }
                self.flight.fold.restart();
                self.hold_back(self.spending.now().saturating_add(delay));
                self.start_attempt(scene, call, attempt, &fault).await;
                scene.send(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
            }
            Notice::Restarted { fault, usage } => {
                self.lose_attempt(scene, call.purpose, usage.map(|usage| *usage))
                    .await?;
                self.flight.fold.restart();
                self.start_attempt(scene, call, call.attempt.saturating_add(1), &fault)
                    .await;
                scene.send(ModelEvent::StreamRestarted { fault }).await;
            }
            Notice::AnsweredBy(who) => {
                self.flight.fold.set_answered_by(who.clone());
                scene.send(ModelEvent::AnsweredBy(who)).await;
            }
            Notice::Waiting { limit, delay } => {
                self.hold_back(self.spending.now().saturating_add(delay));
                scene.send(ModelEvent::WaitingForLimit { delay, limit }).await;
            }
            // There is no event for kinds of notices that this version does not know.
            _ => {}
        }
        Ok(())
    }

    /// An attempt has failed and the next one follows: runs the hooks for both.
    pub(super) async fn start_attempt(&self, scene: Scene<'_>, call: &mut InFlight, next: u32, fault: &Fault) {
        let hooks = scene.environment.hooks;
        if !hooks.is_empty() {
            let left = self.spending.time_left(scene.machine, call.purpose);
            let bounds = scene.environment.bounds(left);
            let mut context = call.context(scene).with_error(fault);
            hooks.on_error(&context, &bounds).await;
            context.attempt = next;
            hooks.on_retry(&context, &bounds).await;
        }
        call.attempt = next;
    }
}

/// Returns a collector for the value that the model writes, if anybody watches.
fn partial_value(scene: Scene<'_>, purpose: Purpose) -> Option<Box<PartialValue<'_>>> {
    let is_wanted = scene.events.is_observed() && purpose != Purpose::Summary;
    let typed = scene.typed.filter(|_| is_wanted)?;
    scene
        .machine
        .expectation()
        .map(|expectation| typed.partial_value(expectation))
}

/// Queues an event, and the value that it completes.
fn push_text(scene: Scene<'_>, event: Option<TextEvent>, call: Option<usize>, partial: Option<&mut PartialValue<'_>>) {
    let Some(event) = event else { return };
    let part = partial.and_then(|partial| partial.push(&event, call));
    scene.events.push_current(scene.machine, event);
    if let Some(part) = part {
        scene.events.push_current(scene.machine, part);
    }
}
