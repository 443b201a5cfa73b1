//! Reading a saved state: its version, the migration of older ones, and the check that its parts fit together.

use std::collections::HashSet;

use agcore_chat::{AssistantMessage, Message, validate_messages};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    slot::{Slot, SlotState},
    state::Machine,
    turn::{Overflow, Phase, Turn},
    version::VERSION,
};

impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Machine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut machine = Self::deserialize(deserializer)?;
        machine.migrate();
        match machine.flaw() {
            Some(flaw) => Err(D::Error::custom(format_args!("this state is damaged: {flaw}"))),
            None => Ok(machine),
        }
    }
}

impl Machine {
    fn migrate(&mut self) {
        if self.version < 2 {
            let slots = self.turn.as_deref_mut().map(Turn::slots_mut).unwrap_or_default();
            for slot in slots {
                slot.started = slot.resumed.is_some() || slot.is_running() || slot.question().is_some();
            }
        }
        self.version = VERSION;
    }

    /// Returns the flaw of a state that was read, if it has one.
    fn flaw(&self) -> Option<String> {
        if !self.history.is_empty()
            && let Err(error) = validate_messages(self.history.as_slice())
        {
            return Some(format!("its history cannot be sent: {error}"));
        }
        let Some(turn) = &self.turn else {
            return self.flaw_of_summary();
        };
        if self.turns == 0 {
            return Some("it has a turn, but counts none".to_owned());
        }
        let phase = match &turn.phase {
            Phase::Calling(_) => self.flaw_of_call(turn),
            Phase::Checking { .. } if turn.typed.is_none() => {
                Some("it checks an answer of a turn that is not typed".to_owned())
            }
            Phase::Checking { .. } => None,
            Phase::Acting { reply, slots } => self.flaw_of_round(turn, reply, slots),
            Phase::Ended(_) if !turn.pending.is_empty() => {
                Some("its turn has ended, but still adds messages".to_owned())
            }
            Phase::Ended(_) => None,
        };
        let is_calling = matches!(turn.phase, Phase::Calling(_));
        if turn.overflow != Overflow::None && !is_calling {
            return Some("it resolves an overflow, but no call of the model is due".to_owned());
        }
        phase.or_else(|| self.flaw_of_summary())
    }

    /// Checks that the next request is valid, and has a message that the model can answer.
    fn flaw_of_call(&self, turn: &Turn) -> Option<String> {
        let messages = self.view().messages();
        if let Err(error) = validate_messages(&messages) {
            return Some(format!("the messages of its turn cannot be sent: {error}"));
        }
        // A reply that the server paused is answered by its continuation.
        let is_paused = turn.pending.last().is_some_and(|last| last.as_assistant().is_some());
        let is_answered = messages.last().is_some_and(|last| last.as_assistant().is_some());
        (is_answered && !is_paused).then(|| "the model has nothing to answer".to_owned())
    }

    /// Each call of the reply must have one slot, with an id that no other call has, and questions of its own.
    fn flaw_of_round(&self, turn: &Turn, reply: &AssistantMessage, slots: &[Slot]) -> Option<String> {
        if !reply.tool_calls().eq(slots.iter().map(|slot| &*slot.call)) {
            return Some("its open calls are not those of the reply".to_owned());
        }
        if slots.iter().all(Slot::is_settled) {
            return Some("no call of its round is open".to_owned());
        }
        if slots
            .iter()
            .filter(|slot| matches!(slot.state, SlotState::Checking { .. }))
            .count()
            > usize::from(turn.typed.is_some())
        {
            return Some("it checks more answers than its turn asks for".to_owned());
        }
        let before: HashSet<&str> = self.history.call_ids().chain(self.forgotten.iter()).collect();
        let (mut calls, mut questions) = (HashSet::new(), HashSet::new());
        for slot in slots {
            let id = slot.call.id.as_str();
            if id.is_empty() || before.contains(id) || !calls.insert(id) {
                return Some(format!("the id `{id}` does not name one call only"));
            }
            let asked = slot.question();
            let resumed = slot.resumed.as_deref().map(|(question, _)| question);
            if let Some(question) = asked
                .into_iter()
                .chain(resumed)
                .find(|question| *question.call_id != *id)
            {
                return Some(format!(
                    "the question `{}` belongs to another call than `{id}`",
                    question.id
                ));
            }
            if let Some(question) = asked
                && (self.answer_of(&question.id).is_some() || !questions.insert(&question.id))
            {
                return Some(format!("the id `{}` does not name one question only", question.id));
            }
        }
        let asked = u64::try_from(questions.len()).unwrap_or(u64::MAX);
        // Questions of the first version were not counted.
        let is_counted = slots.iter().any(Slot::has_counted_question);
        (is_counted && self.asked < asked).then(|| "it counts fewer questions than are open".to_owned())
    }

    /// A compaction that waits for its summary must fit the conversation.
    fn flaw_of_summary(&self) -> Option<String> {
        let compact = self.summing.as_ref()?;
        let older = self.view().older;
        let is_reply = |cut: usize| older.get(cut).is_some_and(|message| message.as_assistant().is_some());
        let is_result = |at: &usize| {
            older
                .get(*at)
                .is_some_and(|message| matches!(**message, Message::Tool(_)))
        };
        if !compact.cut.is_some_and(is_reply) || !compact.results.iter().all(is_result) {
            return Some("the compaction in progress does not fit the conversation".to_owned());
        }
        None
    }
}
