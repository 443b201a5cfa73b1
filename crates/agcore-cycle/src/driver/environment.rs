//! [`Environment`]: what a turn works with and does not change. [`Scene`]: this, with the state of the turn at a moment.

use std::sync::Arc;

use agcore_chat::{Clock, EventKind};
use agcore_llm::LlmProvider;

use super::{events::EventSender, typed_turn::TypedTurn};
use crate::{
    budget::Learnt,
    hooks::Hooks,
    machine::{Machine, Purpose},
    options::{CycleSettings, PauseFlag, TurnOptions},
};

/// The parts that a turn uses and does not change.
pub(super) struct Environment<'a> {
    pub(super) provider: &'a dyn LlmProvider,
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) hooks: &'a Hooks,
    pub(super) settings: &'a CycleSettings,
    pub(super) options: &'a TurnOptions,
}

/// The turn at a moment, to be read: its environment, its state, what it asks for, and the sender of its events.
#[derive(Clone, Copy)]
pub(super) struct Scene<'s> {
    pub(super) environment: &'s Environment<'s>,
    pub(super) machine: &'s Machine,
    pub(super) events: &'s EventSender<'s>,
    pub(super) typed: Option<&'s TypedTurn>,
}

impl<'a> Environment<'a> {
    /// Returns the provider for a call: summaries may have one of their own.
    pub(super) fn provider_for(&self, purpose: Purpose) -> &'a dyn LlmProvider {
        self.settings.provider_for(purpose, self.provider)
    }

    /// Returns the names of the provider and the model that a call goes to first.
    pub(super) fn asked<'m>(&'m self, purpose: Purpose, model: &'m str) -> (&'m str, &'m str) {
        let info = self.provider_for(purpose).info();
        (&info.name, if model.is_empty() { &info.model } else { model })
    }

    /// Returns the limits that the server of a call's model has reported.
    pub(super) fn learnt(&self, purpose: Purpose, model: &str) -> Learnt {
        let (provider, model) = self.asked(purpose, model);
        self.settings.learnt.get(provider, model)
    }

    pub(super) fn is_pause_requested(&self) -> bool {
        self.options.pause.as_ref().is_some_and(PauseFlag::is_requested)
    }
}

impl Scene<'_> {
    /// Sends an event of the current round and waits while the queue is full. It is queued at once, not when the future is
    /// polled: otherwise the future would store the event, which is large.
    pub(super) fn send(&self, event: impl Into<EventKind>) -> impl Future<Output = ()> {
        self.events.push_current(self.machine, event);
        self.events.ready()
    }
}
