//! [`Changes`]: the state and the activities that a client knows, and the differences to them.

use std::{collections::HashMap, sync::Arc};

use agcore_chat::Text;
use serde_json::{Map, Value, json};

use crate::{
    event::{AguiEvent, EventType},
    input::{Activity, StateValue},
};

#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// The state that the client has, and its version. Shared, because encoders are cloned.
    state: Option<(Arc<Value>, Option<u64>)>,
    activities: HashMap<Text, Value>,
    /// The steps of each plan, as the content of its activity.
    plans: HashMap<Text, Map<String, Value>>,
}

impl Changes {
    /// Sends the whole state.
    pub(super) fn state(&mut self, state: StateValue) -> AguiEvent {
        let event = AguiEvent::new(EventType::StateSnapshot).with_any("snapshot", state.value.clone());
        self.state = Some((Arc::new(state.value), state.version));
        event.with_own("version", state.version)
    }

    /// Sends the difference to the last state, if there is one and it is shorter. A client may have got the versions in between
    /// elsewhere, so a difference over several versions would not fit what it has.
    pub(super) fn state_change(&mut self, state: StateValue) -> AguiEvent {
        let follows = |last: Option<u64>| match (last, state.version) {
            (Some(last), Some(new)) => last + 1 == new,
            (last, new) => last == new,
        };
        let last = self.state.as_ref().filter(|(_, version)| follows(*version));
        match last.and_then(|(last, _)| shorter_difference(last, &state.value)) {
            Some(delta) => {
                self.state = Some((Arc::new(state.value), state.version));
                let event = AguiEvent::new(EventType::StateDelta).with_any("delta", delta);
                event.with_own("version", state.version)
            }
            None => self.state(state),
        }
    }

    pub(super) fn activity(&mut self, activity: Activity) -> AguiEvent {
        let content = Value::Object(activity.content);
        let known = self.activities.get(&activity.id);
        let new = |kind| {
            AguiEvent::new(kind)
                .with("messageId", activity.id.as_str())
                .with("activityType", activity.kind.as_str())
        };
        let event = match known.and_then(|last| shorter_difference(last, &content)) {
            Some(patch) => new(EventType::ActivityDelta).with_any("patch", patch),
            None => new(EventType::ActivitySnapshot).with_any("content", content.clone()),
        };
        self.activities.insert(activity.id, content);
        event
    }

    /// Shows a plan as an activity with its steps.
    pub(super) fn plan_step(
        &mut self,
        id: &str,
        plan: &Text,
        index: u32,
        status: &str,
        description: &str,
    ) -> AguiEvent {
        let content = self.plans.entry(Text::from(id)).or_default();
        content.insert("plan".to_owned(), plan.as_str().into());
        let steps = content.entry("steps").or_insert_with(|| json!({}));
        if let Value::Object(steps) = steps {
            steps.insert(index.to_string(), json!({"status": status, "description": description}));
        }
        let content = content.clone();
        self.activity(Activity::new(id, "agcore.plan", content))
    }

    /// Repeats an event of the log.
    pub(super) fn replay(&mut self, event: &AguiEvent) {
        let id = || event.member("messageId").and_then(Value::as_str).map(Text::from);
        match event.event_type() {
            EventType::StateSnapshot => {
                let state = event.member("snapshot").cloned();
                self.state = state.map(|state| (Arc::new(state), version_of(event)));
            }
            EventType::StateDelta => {
                let last = self.state.take().map(|(last, _)| Arc::unwrap_or_clone(last));
                let state = last.and_then(|last| patched(last, event.member("delta")));
                self.state = state.map(|state| (Arc::new(state), version_of(event)));
            }
            EventType::ActivitySnapshot => {
                if let (Some(id), Some(content)) = (id(), event.member("content")) {
                    self.activities.insert(id.clone(), content.clone());
                    self.remember_plan(event, id);
                }
            }
            EventType::ActivityDelta => {
                let Some(id) = id() else {
                    return;
                };
                let last = self.activities.remove(&id);
                if let Some(content) = last.and_then(|last| patched(last, event.member("patch"))) {
                    self.activities.insert(id.clone(), content);
                    self.remember_plan(event, id);
                }
            }
            _ => {}
        }
    }

    fn remember_plan(&mut self, event: &AguiEvent, id: Text) {
        let is_plan = event.member("activityType").and_then(Value::as_str) == Some("agcore.plan");
        if let (true, Some(Value::Object(content))) = (is_plan, self.activities.get(&id)) {
            self.plans.insert(id, content.clone());
        }
    }
}

fn version_of(event: &AguiEvent) -> Option<u64> {
    event.own_member("version").and_then(Value::as_u64)
}

/// Returns the difference as a JSON Patch, if it is shorter than the new value.
fn shorter_difference(last: &Value, new: &Value) -> Option<Value> {
    let patch = serde_json::to_value(json_patch::diff(last, new)).ok()?;
    (patch.to_string().len() < new.to_string().len()).then_some(patch)
}

/// Returns the value after a JSON Patch; `None` if that does not fit.
fn patched(mut last: Value, patch: Option<&Value>) -> Option<Value> {
    let patch: json_patch::Patch = serde_json::from_value(patch?.clone()).ok()?;
    json_patch::patch(&mut last, &patch).ok()?;
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_form_is_sent() {
        let mut changes = Changes::default();
        let long = "x".repeat(200);
        let first = json!({"text": long, "n": 1});
        assert_eq!(
            changes.state_change(first.clone().into()).event_type(),
            EventType::StateSnapshot
        );
        let second = json!({"text": long, "n": 2});
        let delta = changes.state_change(second.clone().into());
        assert_eq!(
            delta.member("delta"),
            Some(&json!([{"op": "replace", "path": "/n", "value": 2}]))
        );
        assert_eq!(
            changes.state_change(json!(null).into()).event_type(),
            EventType::StateSnapshot
        );
        assert_eq!(patched(first, delta.member("delta")), Some(second));
    }

    #[test]
    fn versions_that_were_not_sent_are_not_skipped_by_a_difference() {
        let value = |n: u64| StateValue::new(json!({"text": "x".repeat(200), "n": n})).with_version(n);
        let mut changes = Changes::default();
        changes.state(value(3));
        let delta = changes.state_change(value(4));
        assert_eq!(delta.event_type(), EventType::StateDelta);
        // Version 5 was a change of the client itself.
        assert_eq!(changes.state_change(value(6)).event_type(), EventType::StateSnapshot);
        let mut replayed = Changes::default();
        for event in [changes.state(value(3)), delta] {
            replayed.replay(&event);
        }
        assert_eq!(replayed.state_change(value(6)).event_type(), EventType::StateSnapshot);
    }
}
