//! Reading a reply: its events, attempts that are lost on the way, and the time that it may take.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Fault, FaultKind, ModelEvent, TextEvent, Usage};
use agcore_llm::{Call, LlmError, Notice, ReplyDelta, ReplyItem};

use super::{call_ids::CallIds, context::Driver, spending::Refusal, typed_turn::PartialValue};
use crate::{
    budget::{BudgetLimit, BudgetShortage},
    machine::Purpose,
};

/// A call of the model that is in flight.
pub(super) struct InFlight {
    pub(super) request: Arc<ChatRequest>,
    pub(super) purpose: Purpose,
    /// When it began, if there are hooks.
    pub(super) started: Duration,
    /// The number of the attempt, from 0.
    pub(super) attempt: u32,
    /// Whether the application set the token limit of the request.
    pub(super) has_own_limit: bool,
}

/// The reason a reply was not read to its end.
pub(super) enum Unread {
    Failed(LlmError),
    /// The time is over.
    Limit(BudgetLimit),
    /// A budget has too little left for another attempt.
    Shortage(Box<BudgetShortage>),
}

impl Unread {
    pub(super) fn fault(&self) -> Fault {
        match self {
            Self::Failed(error) => error.fault(),
            Self::Limit(limit) => Fault::new(FaultKind::Limit, Refusal::Limit(*limit).message()),
            Self::Shortage(shortage) => Fault::new(FaultKind::Limit, shortage.to_string()),
        }
    }
}

impl Driver<'_> {
    /// Sends the request and reads the reply, which becomes the last one.
    pub(super) async fn read_attempt(&mut self, in_flight: &mut InFlight) -> Result<(), Unread> {
        let left = self.spending.time_left(self.machine, in_flight.purpose);
        let call = self.call(in_flight, left.longest());
        // A call that is cancelled before it is polled is not sent.
        let mut is_live = !self.options.token.is_cancelled();
        let mut items = self.provider_for(in_flight.purpose).open(call);
        let mut ids = CallIds::default();
        let mut partial = self.partial_value(in_flight.purpose);
        let mut timer = pin!(left.over(&**self.clock));
        let mut cancelled = pin!(self.options.token.cancelled());
        loop {
            if std::mem::replace(&mut is_live, true) {
                self.flight.poll();
            }
            let item = tokio::select! {
                biased;
                item = items.next() => item,
                limit = &mut timer => return Err(Unread::Limit(limit)),
                // Providers end the reply themselves; this is for those that ignore their token.
                () = &mut cancelled => {
                    return Err(Unread::Failed(self.flight.fold.fail(LlmError::cancelled())));
                }
            };
            match item {
                Some(ReplyItem::Delta(delta @ (ReplyDelta::Start(_) | ReplyDelta::Usage(_)))) => {
                    self.flight.receive();
                    self.flight.fold.push_owned(delta);
                }
                Some(ReplyItem::Delta(delta)) => {
                    self.flight.receive();
                    let call = self.flight.fold.push(&delta);
                    let event = self.event_of(delta, call, &mut ids, in_flight.purpose);
                    self.push_text(event, call, partial.as_deref_mut());
                    self.events.ready().await;
                }
                Some(ReplyItem::Notice(notice)) => {
                    if matches!(notice, Notice::RetryScheduled { .. } | Notice::Restarted { .. }) {
                        partial = self.partial_value(in_flight.purpose);
                        ids.clear();
                    }
                    // Boxed because it is large and rarely needed.
                    Box::pin(self.handle_notice(notice, in_flight)).await?;
                }
                Some(end @ ReplyItem::End(_)) => {
                    self.push_partial(partial.as_mut().and_then(|partial| partial.rest()));
                    self.events.ready().await;
                    if let Some(answer) = end.fold_into(&mut self.flight.fold) {
                        let mut response = Box::new(answer.map_err(Unread::Failed)?);
                        ids.apply(&mut response);
                        self.response = Some(response);
                        return Ok(());
                    }
                }
                // Kinds of items that this version does not know.
                Some(_) => {}
                None => return Err(Unread::Failed(self.flight.fold.fail(LlmError::truncated()))),
            }
        }
    }

    /// Returns the event of a delta, if it has one and somebody receives it. `call` is the index of the tool call that it belongs
    /// to, whose id is decided here in any case.
    fn event_of(
        &self,
        delta: ReplyDelta,
        call: Option<usize>,
        ids: &mut CallIds,
        purpose: Purpose,
    ) -> Option<TextEvent> {
        // A summary is not part of the conversation.
        if self.events.is_observed() && purpose != Purpose::Summary {
            return ids.event(delta, call, &self.flight.fold, self.machine);
        }
        ids.decide(&delta, call, &self.flight.fold, self.machine);
        None
    }

    /// Queues an event, and the value that it completes.
    fn push_text(&mut self, event: Option<TextEvent>, call: Option<usize>, partial: Option<&mut PartialValue>) {
        let Some(event) = event else { return };
        let part = partial.and_then(|partial| partial.push(&event, call));
        self.events.push_current(self.machine, event);
        self.push_partial(part);
    }

    /// Returns the call for the provider.
    fn call(&self, in_flight: &InFlight, deadline: Option<Duration>) -> Call {
        let mut call = Call::cancellable(Arc::clone(&in_flight.request), self.options.token.clone());
        call.stream = self.options.stream;
        call.deadline = deadline;
        call.trace.clone_from(&self.options.trace);
        call.actor.clone_from(&self.options.actor);
        call
    }

    /// Passes a notice on to the observer and the hooks, and counts what a lost attempt used.
    async fn handle_notice(&mut self, notice: Notice, call: &mut InFlight) -> Result<(), Unread> {
        match notice {
            Notice::RetryScheduled { attempt, delay, fault } => {
                // The server may have worked on an attempt that did not answer in time.
                if fault.kind == FaultKind::Timeout {
                    self.lose_attempt(None).map_err(Unread::Shortage)?;
                }
                self.flight.fold.restart();
                self.flight.hold_back(self.clock.monotonic().saturating_add(delay));
                self.start_attempt(call, attempt, &fault).await;
                self.send(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
            }
            Notice::Restarted { fault, usage } => {
                self.lose_attempt(usage.map(|usage| *usage)).map_err(Unread::Shortage)?;
                self.flight.fold.restart();
                self.start_attempt(call, call.attempt.saturating_add(1), &fault).await;
                self.send(ModelEvent::StreamRestarted { fault }).await;
            }
            Notice::AnsweredBy(who) => {
                self.flight.fold.set_answered_by(who.clone());
                self.send(ModelEvent::AnsweredBy(who)).await;
            }
            Notice::Waiting { limit, delay } => {
                self.flight.hold_back(self.clock.monotonic().saturating_add(delay));
                self.send(ModelEvent::WaitingForLimit { delay, limit }).await;
            }
            // There is no event for kinds of notices that this version does not know.
            _ => {}
        }
        Ok(())
    }

    /// Counts an attempt that was lost, and reserves the next one.
    fn lose_attempt(&mut self, usage: Option<Usage>) -> Result<(), Box<BudgetShortage>> {
        self.flight.lose_attempt(&self.spending, usage);
        self.flight.rest();
        match &mut self.flight.hold {
            Some(hold) => self.spending.reserve_again(self.machine, hold),
            None => Ok(()),
        }
    }

    /// An attempt has failed and the next one follows: runs the hooks for both.
    pub(super) async fn start_attempt(&self, call: &mut InFlight, next: u32, fault: &Fault) {
        if !self.hooks.is_empty() {
            let bounds = self.bounds(call.purpose);
            let mut context = self.attempt_context(call).with_error(fault);
            self.hooks.on_error(&context, &bounds).await;
            context.attempt = next;
            self.hooks.on_retry(&context, &bounds).await;
        }
        call.attempt = next;
    }
}
