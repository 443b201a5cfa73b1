//! The budget that all sub-agents of a turn share, and what they have spent of it before the turn continues.

use agcore_cycle::{BudgetPool, Spent};
use agcore_tools::RunState;
use serde_json::{Map, Value};

use super::{
    live::{Conversation, LiveSession},
    segment::Segment,
};
use crate::error::AgentError;

/// The name under which a session without a store saves with its turn what each sub-agent has spent, by the path of its calls.
const NAME: &str = "agcore.team_spent";

impl Segment<'_> {
    /// Prepares the budget of the sub-agents of a turn that starts or continues. What they have spent before a turn was suspended
    /// or interrupted counts: it is in their records or, without a store, in the values that are saved with the turn.
    pub(super) async fn open_team(&self, conversation: &mut Conversation) -> Result<(), AgentError> {
        let budget = self.session.bundle.config().team.budget.clone();
        let Some(budget) = budget.filter(|_| self.session.lineage.depth == 0 && conversation.team.is_none()) else {
            return Ok(());
        };
        let spent = match self.starts {
            true => Spent::new(),
            false => {
                let turn = conversation.cycle.machine().turn_index();
                self.session.team_spent(turn, conversation.run_state.as_ref()).await?
            }
        };
        conversation.team = Some(BudgetPool::with_spent(budget, spent));
        Ok(())
    }
}

impl LiveSession {
    /// Returns what the sub-agents of the newest turn, which has this number and these values, have spent so far.
    async fn team_spent(&self, turn: u32, run_state: Option<&RunState>) -> Result<Spent, AgentError> {
        match &self.recorder {
            Some(recorder) => recorder.nested_spent(&self.lineage.start_of_children(turn)).await,
            None => Ok(noted(run_state)),
        }
    }

    /// Returns what the newest turn has spent so far, with its sub-agents.
    pub(crate) async fn turn_spent(&self) -> Result<Spent, AgentError> {
        let read = |conversation: &Conversation| {
            let machine = conversation.cycle.machine();
            let own = machine.turn_spent().cloned();
            own.map(|own| (own, machine.turn_index(), conversation.run_state.clone()))
        };
        let Some((mut spent, turn, run_state)) = self.conversation.read(read).await else {
            return Ok(Spent::new());
        };
        spent.add(&self.team_spent(turn, run_state.as_ref()).await?);
        Ok(spent)
    }
}

/// Notes what a sub-agent of a turn has spent so far.
pub(crate) fn note(run_state: &RunState, path: &str, spent: &Spent) {
    let Ok(spent) = serde_json::to_value(spent) else { return };
    run_state.update(NAME, |noted| match noted {
        Value::Object(all) => drop(all.insert(path.to_owned(), spent)),
        _ => *noted = Value::Object(Map::from_iter([(path.to_owned(), spent)])),
    });
}

/// Returns the sum of what was noted. Notes that cannot be read count as nothing.
fn noted(run_state: Option<&RunState>) -> Spent {
    let all = run_state.and_then(|run_state| run_state.get(NAME));
    let mut sum = Spent::new();
    for one in all
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::values)
    {
        if let Ok(spent) = serde_json::from_value(one.clone()) {
            sum.add(&spent);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_note_of_each_sub_agent_counts() {
        let state = RunState::new();
        assert!(noted(None).is_zero() && noted(Some(&state)).is_zero());
        note(&state, "0.a", &Spent::new().with_tokens(10));
        note(&state, "0.a", &Spent::new().with_tokens(30));
        note(&state, "0.a/0.b", &Spent::new().with_tokens(5).with_model_calls(1));
        let state = RunState::restore(state.snapshot());
        assert_eq!(noted(Some(&state)), Spent::new().with_tokens(35).with_model_calls(1));
        // Changed by hand.
        state.set(NAME, json!({"0.a": 7, "0.b": {"tokens": 2}}));
        assert_eq!(noted(Some(&state)).tokens, 2);
        state.set(NAME, json!("x"));
        note(&state, "0.a", &Spent::new().with_tokens(1));
        assert_eq!(noted(Some(&state)).tokens, 1);
    }
}
