//! [`Steps`]: the steps of a run, with their names on the wire.

use std::collections::HashSet;

use agcore_chat::Text;
use serde_json::Value;

use super::scope::Scope;
use crate::event::{AguiEvent, EventType};

#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    /// The configured name and the name on the wire of each open step, in the order in which they started.
    open: Vec<(Text, Text)>,
    /// The names on the wire that were used.
    used: HashSet<Text>,
}

impl Steps {
    /// Returns the configured name of the open step that started last.
    pub(super) fn current(&self) -> Option<&Text> {
        self.open.last().map(|(name, _)| name)
    }

    pub(super) fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|(open, _)| *open == *name)
    }

    pub(super) fn start(&mut self, name: Text, scope: &Scope) -> AguiEvent {
        let mut wire = name.clone();
        let mut number = 1_u64;
        while !self.used.insert(wire.clone()) {
            number += 1;
            wire = Text::from(format!("{name}_{number}"));
        }
        let event = event(EventType::StepStarted, &name, &wire, scope);
        self.open.push((name, wire));
        event
    }

    /// Ends the step with this configured name that started last.
    pub(super) fn finish(&mut self, name: &str, scope: &Scope) -> Option<AguiEvent> {
        let index = self.open.iter().rposition(|(open, _)| *open == *name)?;
        let (name, wire) = self.open.remove(index);
        Some(event(EventType::StepFinished, &name, &wire, scope))
    }

    /// Ends all steps, the last one first.
    pub(super) fn finish_all(&mut self, scope: &Scope) -> impl Iterator<Item = AguiEvent> {
        let open = std::mem::take(&mut self.open).into_iter().rev();
        open.map(|(name, wire)| event(EventType::StepFinished, &name, &wire, scope))
    }

    /// Repeats an event of the log.
    pub(super) fn replay(&mut self, event: &AguiEvent) {
        let name = |value: Option<&Value>| value.and_then(Value::as_str).map(Text::from);
        let Some(wire) = name(event.member("stepName")) else {
            return;
        };
        if event.event_type() == EventType::StepStarted {
            self.used.insert(wire.clone());
            self.open
                .push((name(event.own_member("stage")).unwrap_or_else(|| wire.clone()), wire));
        } else {
            self.open.retain(|(_, open)| *open != wire);
        }
    }
}

fn event(kind: EventType, name: &Text, wire: &Text, scope: &Scope) -> AguiEvent {
    scope
        .mark(AguiEvent::new(kind).with("stepName", wire.as_str()))
        .with_own("stage", name.as_str())
}
