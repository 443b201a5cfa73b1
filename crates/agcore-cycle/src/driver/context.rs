//! [`Driver`]: the state of one run of a turn.

use std::sync::Arc;

use agcore_chat::Clock;
use agcore_llm::LlmProvider;
use serde_json::Value;

use super::{
    compactor::Compactor, environment::Environment, events::EventSender, invented_calls::InventedCalls,
    model_call::ModelCall, record::Record, spending::Spending, tool_batch::ToolBatch, typed_turn::TypedTurn,
};
use crate::{
    compact::Gauge,
    error::CycleError,
    hooks::Hooks,
    machine::Machine,
    observer::Observer,
    options::{CycleSettings, TurnOptions},
    recorder::Unrecorded,
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
    pub(super) environment: Environment<'a>,
    /// The machine, and the way of outcomes to it.
    pub(super) record: Record<'a>,
    pub(super) model: ModelCall<'a>,
    pub(super) tools: ToolBatch,
    pub(super) compactor: Compactor<'a>,
    pub(super) typed: Option<Box<TypedTurn>>,
    pub(super) invented_calls: InventedCalls,
    /// The full error behind the fault that the machine knows.
    pub(super) error: Option<CycleError>,
    /// Whether the hooks saw the start of the turn but not yet its end.
    pub(super) turn_end_pending: &'a mut bool,
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
        let events = EventSender::new(observer, &settings.agent, context.seq);
        let shared = options.shared_budget.as_ref();
        let spending = Spending::new(&settings.budgets, shared, &*settings.estimator, context.clock);
        Self {
            environment: Environment {
                provider: context.provider,
                clock: context.clock,
                hooks: context.hooks,
                settings,
                options,
            },
            record: Record::new(context.machine, events, recorder, context.unrecorded),
            model: ModelCall::new(spending),
            tools: ToolBatch::default(),
            compactor: Compactor::new(settings, context.gauge),
            typed: form.map(|form| Box::new(TypedTurn::new(form))),
            invented_calls: InventedCalls::default(),
            error: None,
            turn_end_pending: context.turn_end_pending,
        }
    }

    /// Returns the accepted value of a typed turn.
    pub(crate) fn take_value(&mut self) -> Option<Value> {
        self.typed.as_mut().and_then(|typed| typed.take_value())
    }
}

/// Dropping the future of a turn cancels it, but what was sent is paid: counts the call in flight and the time.
impl Drop for Driver<'_> {
    fn drop(&mut self) {
        // Calls that still run end first: what they have reserved of a pool returns to it.
        if !self.tools.is_empty() {
            self.tools.clear();
        }
        if self.model.is_settled() {
            self.record.absorb_dropped(std::iter::empty());
        } else {
            self.record.absorb_dropped(self.model.take_dropped());
        }
    }
}
