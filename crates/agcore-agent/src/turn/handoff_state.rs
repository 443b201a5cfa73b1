//! [`HandoffState`]: who has the conversation in an open turn, as part of the values that are saved with the turn.

use agcore_tools::RunState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the value.
const KEY: &str = "agcore.handoff";

/// The handoffs of an open turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HandoffState {
    /// The agent that has the conversation, if the turn started with another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The agents that had the conversation before.
    #[serde(default)]
    earlier: Vec<String>,
    /// The handoff that takes place before the next call of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<Next>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Next {
    to: String,
    /// The call that requested it.
    call: String,
}

impl HandoffState {
    pub(crate) fn of(run_state: &RunState) -> Self {
        run_state.get(KEY).as_ref().map(Self::read).unwrap_or_default()
    }

    /// Requests a handoff from one agent to another. The same call may repeat its request.
    ///
    /// # Errors
    /// Why the conversation cannot be handed over, for the model.
    pub(crate) fn request(run_state: &RunState, from: &str, to: &str, call: &str) -> Result<(), String> {
        run_state.update(KEY, |value| {
            let mut state = Self::read(value);
            if let Some(next) = &state.next {
                return match (next.to == to, next.call == call) {
                    (true, true) => Ok(()),
                    _ => Err(format!(
                        "the conversation is being handed over to `{}` already",
                        next.to
                    )),
                };
            }
            if from == to {
                return Err("this agent has the conversation already; answer yourself".to_owned());
            }
            if state.earlier.iter().any(|earlier| earlier == to) {
                return Err(format!(
                    "`{to}` had the conversation in this turn and handed it over; answer yourself, as well as you can"
                ));
            }
            state.next = Some(Next {
                to: to.to_owned(),
                call: call.to_owned(),
            });
            *value = serde_json::to_value(&state).unwrap_or_default();
            Ok(())
        })
    }

    /// Returns the agent to which the conversation goes next, if a handoff was requested.
    pub(crate) fn target(&self) -> Option<&str> {
        self.next.as_ref().map(|next| next.to.as_str())
    }

    /// Notes that the requested handoff took place. Returns the agent that has the conversation now.
    pub(crate) fn complete(run_state: &RunState, from: &str) -> Option<String> {
        run_state.update(KEY, |value| {
            let mut state = Self::read(value);
            let next = state.next.take()?;
            state.earlier.push(from.to_owned());
            state.agent = Some(next.to.clone());
            *value = serde_json::to_value(&state).unwrap_or_default();
            Some(next.to)
        })
    }

    fn read(value: &Value) -> Self {
        Self::deserialize(value).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_has_handed_over_does_not_get_the_conversation_back() {
        let values = RunState::new();
        assert_eq!(HandoffState::complete(&values, "a"), None);
        HandoffState::request(&values, "a", "b", "1").unwrap();
        HandoffState::request(&values, "a", "b", "1").unwrap();
        // Of two requests, the first one counts.
        HandoffState::request(&values, "a", "c", "2").unwrap_err();
        let values = RunState::restore(values.snapshot());
        assert_eq!(HandoffState::of(&values).target(), Some("b"));
        assert_eq!(HandoffState::complete(&values, "a").as_deref(), Some("b"));
        assert_eq!(HandoffState::of(&values).agent.as_deref(), Some("b"));
        HandoffState::request(&values, "b", "b", "3").unwrap_err();
        let circle = HandoffState::request(&values, "b", "a", "4").unwrap_err();
        assert!(circle.contains("answer yourself"), "{circle}");
        HandoffState::request(&values, "b", "c", "5").unwrap();
        // A value that is not ours counts as none.
        values.set(KEY, serde_json::json!({"earlier": 7}));
        assert_eq!(HandoffState::of(&values), HandoffState::default());
    }
}
