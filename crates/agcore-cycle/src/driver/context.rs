//! [`Driver`]: the state of one run of a turn.

use std::sync::Arc;

use agcore_chat::{ChatResponse, Clock, EventKind, ToolWork};
use agcore_llm::LlmProvider;
use serde_json::Value;

use super::{
    compactor::Compactor, events::EventSender, flight::Flight, spending::Spending, staged::Staged,
    typed_turn::TypedTurn,
};
use crate::{
    compact::Gauge,
    error::CycleError,
    hooks::Hooks,
    machine::{Changes, Machine, Purpose},
    observer::Observer,
    options::{CycleSettings, TurnOptions},
    recorder::{OutcomeRecorder, RecordedReply, Unrecorded},
    typed::Form,
};

/// The parts of the loop that a driver borrows.
pub(crate) struct DriverContext<'a> {
    pub(crate) provider: &'a dyn LlmProvider,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) hooks: &'a Hooks,
    pub(crate) settings: &'a CycleSettings,
    pub(crate) machine: &'a mut Machine,
    /// Whether the hooks saw the start of a turn but not yet its end.
    pub(crate) turn_end_pending: &'a mut bool,
    pub(crate) seq: &'a mut u64,
    pub(crate) gauge: &'a mut Gauge,
    pub(crate) unrecorded: &'a mut Unrecorded,
}

/// Runs a turn: executes the steps of the machine and reports their outcomes to it.
pub(crate) struct Driver<'a> {
    pub(super) provider: &'a dyn LlmProvider,
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) hooks: &'a Hooks,
    pub(super) settings: &'a CycleSettings,
    pub(super) machine: &'a mut Machine,
    /// Whether the hooks saw the start of the turn but not yet its end.
    pub(super) turn_end_pending: &'a mut bool,
    pub(super) options: &'a TurnOptions,
    pub(super) events: EventSender<'a>,
    pub(super) spending: Spending<'a>,
    /// The call in flight.
    pub(super) flight: Flight,
    pub(super) compactor: Compactor<'a>,
    pub(super) typed: Option<Box<TypedTurn>>,
    /// The last reply. Boxed because it is large and not there while the first one arrives.
    pub(super) response: Option<Box<ChatResponse>>,
    /// The full error behind the fault that the machine knows.
    pub(super) error: Option<CycleError>,
    /// Reused by every step, so that its buffer is allocated once.
    pub(super) changes: Changes,
    /// The recorder of this turn.
    pub(super) recorder: Option<Arc<dyn OutcomeRecorder>>,
    /// The outcomes that it must keep before the machine absorbs them.
    pub(super) unrecorded: &'a mut Unrecorded,
    /// The state with outcomes that are not recorded yet.
    pub(super) staged: Option<Box<Staged>>,
    /// The calls whose begin was recorded with the reply that made them. They are executed next.
    pub(super) started: Vec<ToolWork>,
    /// The number of replies with calls although no tools were offered.
    pub(super) replies_with_invented_calls: u32,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        context: DriverContext<'a>,
        options: &'a TurnOptions,
        observer: Option<&'a Observer>,
        form: Option<Box<Form>>,
    ) -> Self {
        let settings = context.settings;
        let recorder = options.recorder.as_ref().or(settings.recorder.as_ref()).cloned();
        Self {
            provider: context.provider,
            clock: context.clock,
            hooks: context.hooks,
            settings,
            machine: context.machine,
            turn_end_pending: context.turn_end_pending,
            options,
            events: EventSender::new(observer, &settings.agent, context.seq),
            spending: Spending::new(&settings.budgets, &*settings.estimator, context.clock),
            flight: Flight::default(),
            compactor: Compactor::new(settings, context.gauge),
            typed: form.map(|form| Box::new(TypedTurn::new(form))),
            response: None,
            error: None,
            changes: Changes::new(observer.is_none() && recorder.is_none()),
            recorder,
            unrecorded: context.unrecorded,
            staged: None,
            started: Vec::new(),
            replies_with_invented_calls: 0,
        }
    }

    /// Returns the accepted value of a typed turn.
    pub(crate) fn take_value(&mut self) -> Option<Value> {
        self.typed.as_mut().and_then(|typed| typed.take_value())
    }

    /// Sends an event and waits while the queue is full. It is queued at once, not when the future is polled: otherwise the
    /// future would store the event, which is large.
    pub(super) fn send(&mut self, event: impl Into<EventKind>) -> impl Future<Output = ()> {
        self.events.push_current(self.machine, event);
        self.events.ready()
    }

    /// Gives the events that follow the id under which a reply is recorded.
    pub(super) fn name_reply(&mut self, reply: RecordedReply) {
        if self.events.is_observed()
            && let Some(recorder) = &self.recorder
        {
            self.events.set_message(recorder.reply_id(reply));
        }
    }

    /// Returns the provider for a call: summaries may have one of their own.
    pub(super) fn provider_for(&self, purpose: Purpose) -> &'a dyn LlmProvider {
        match &self.settings.compaction.provider {
            Some(provider) if purpose == Purpose::Summary => &**provider,
            _ => self.provider,
        }
    }
}
