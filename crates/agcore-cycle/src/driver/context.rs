//! [`Driver`]: the state of one run of a turn.

use agcore_chat::{ChatResponse, Clock, EventKind};
use agcore_llm::LlmProvider;
use serde_json::Value;

use super::{compactor::Compactor, events::EventSender, spending::Spending, typed_turn::TypedTurn};
use crate::{
    compact::Gauge,
    error::CycleError,
    hooks::Hooks,
    machine::{Changes, Machine, MachineError, Outcome, Purpose},
    observer::Observer,
    options::{CycleSettings, TurnOptions},
    typed::Form,
};

/// The parts of the loop that a driver borrows.
pub(crate) struct DriverContext<'a> {
    pub(crate) provider: &'a dyn LlmProvider,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) hooks: &'a Hooks,
    pub(crate) settings: &'a CycleSettings,
    pub(crate) machine: &'a mut Machine,
    /// Whether the hooks saw the start of a turn but not yet its end.
    pub(crate) turn_end_pending: &'a mut bool,
    pub(crate) seq: &'a mut u64,
    pub(crate) gauge: &'a mut Gauge,
}

/// Runs a turn: executes the steps of the machine and reports their outcomes to it.
pub(crate) struct Driver<'a> {
    pub(super) provider: &'a dyn LlmProvider,
    pub(super) clock: &'a dyn Clock,
    pub(super) hooks: &'a Hooks,
    pub(super) settings: &'a CycleSettings,
    pub(super) machine: &'a mut Machine,
    /// Whether the hooks saw the start of the turn but not yet its end.
    pub(super) turn_end_pending: &'a mut bool,
    pub(super) options: TurnOptions,
    pub(super) events: EventSender<'a>,
    pub(super) spending: Spending<'a>,
    pub(super) compactor: Compactor<'a>,
    pub(super) typed: Option<TypedTurn>,
    /// The last reply.
    pub(super) response: Option<ChatResponse>,
    /// The full error behind the fault that the machine knows.
    pub(super) error: Option<CycleError>,
    /// Reused by every step, so that its buffer is allocated once.
    changes: Changes,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        context: DriverContext<'a>,
        options: TurnOptions,
        observer: Option<&'a Observer>,
        form: Option<Form>,
    ) -> Self {
        let settings = context.settings;
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
            compactor: Compactor::new(&settings.compaction, &*settings.estimator, context.gauge),
            typed: form.map(TypedTurn::new),
            response: None,
            error: None,
            changes: Changes::default(),
        }
    }

    /// Returns the accepted value of a typed turn.
    pub(crate) fn take_value(&mut self) -> Option<Value> {
        self.typed.as_mut().and_then(TypedTurn::take_value)
    }

    /// Reports an outcome to the machine, and what it changed to the observer. The machine absorbs the outcome at once, not
    /// when the future is polled: otherwise the future would store the outcome, which is large.
    pub(super) fn absorb(&mut self, outcome: Outcome) -> impl Future<Output = Result<(), CycleError>> {
        let absorbed = self.apply(outcome);
        async {
            absorbed?;
            self.events.ready().await;
            Ok(())
        }
    }

    /// Like [`absorb`](Self::absorb), for outcomes that the machine may reject.
    pub(super) fn try_absorb(&mut self, outcome: Outcome) -> impl Future<Output = Result<(), MachineError>> {
        let absorbed = self.apply(outcome);
        async {
            absorbed?;
            self.events.ready().await;
            Ok(())
        }
    }

    fn apply(&mut self, outcome: Outcome) -> Result<(), MachineError> {
        // Events of a round belong to the round in which they happened, not to the next one.
        let (turn, round) = (self.machine.turn_index(), self.machine.round());
        let starts_turn = matches!(outcome, Outcome::TurnStarted(_));
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        self.machine.absorb_into(outcome, &mut changes)?;
        let (turn, round) = if starts_turn {
            (self.machine.turn_index(), 0)
        } else {
            (turn, round)
        };
        for event in changes.events.drain(..) {
            if let EventKind::Context(event) = &event {
                self.compactor.record(event);
            }
            self.events.push(turn, round, event);
        }
        self.changes = changes;
        Ok(())
    }

    pub(super) async fn send(&mut self, event: impl Into<EventKind>) {
        self.events.send(self.machine, event).await;
    }

    /// Returns the provider for a call: summaries may have one of their own.
    pub(super) fn provider_for(&self, purpose: Purpose) -> &'a dyn LlmProvider {
        match &self.settings.compaction.provider {
            Some(provider) if purpose == Purpose::Summary => &**provider,
            _ => self.provider,
        }
    }
}
