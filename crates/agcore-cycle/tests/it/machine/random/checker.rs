//! [`Checker`]: the machine next to its model. Each outcome goes to both, and then the invariants are checked.

use std::{collections::HashSet, sync::Arc};

use agcore_chat::{EventKind, Message, Origin, PersonEvent, QuestionId, TextEvent, UsageTracker, validate_messages};
use agcore_cycle::machine::{Changes, Limits, Machine, MachineError, Outcome, Record};

use super::{
    event_order::EventOrder,
    model::{Call, Model, State, contains_result},
};

#[derive(Debug)]
pub(super) struct Checker {
    pub(super) machine: Machine,
    /// Receives every outcome except replies before the machine does, so that it cannot depend on the machine.
    pub(super) model: Model,
    /// The usage that the turn must have counted.
    pub(super) spent: UsageTracker,
    event_order: EventOrder,
    /// A machine that has read all outcomes so far from a journal.
    replica: Machine,
    /// The ids of all calls and questions so far.
    ids: HashSet<String>,
    /// Whether outcomes are printed.
    pub(super) verbose: bool,
}

impl Checker {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            machine: Machine::new(limits.clone()),
            model: Model::new(limits.clone()),
            spent: UsageTracker::default(),
            event_order: EventOrder::default(),
            replica: Machine::new(limits.clone()),
            ids: HashSet::new(),
            verbose: false,
        }
    }

    /// Absorbs a valid outcome. Returns whether it closed a round.
    pub(super) fn absorb(&mut self, outcome: &Outcome) -> bool {
        let record = serde_json::to_string(&Record::new(std::slice::from_ref(outcome))).unwrap();
        if self.verbose {
            print_line(&record);
        }
        let before = self.machine.history().to_vec();
        let changes = self.machine.absorb(outcome.clone()).expect("the outcome is valid");
        let record: Record<'_> = serde_json::from_str(&record).expect("a record can be read back");
        record.replay(&mut self.replica).expect("a record is valid again");
        assert_eq!(self.replica, self.machine, "the state is the fold of its outcomes");
        self.check_ids(&changes);
        if changes.replaced {
            self.model.settled.clear();
        }
        if let Outcome::Reply(reply) = outcome {
            let message = changes.events.iter().find_map(|event| match event {
                EventKind::Text(TextEvent::MessageComplete(message)) => Some(message),
                _ => None,
            });
            self.model
                .reply(message.expect("the reply is reported"), reply.finish.as_ref());
        }
        let round = self.model.close_round();
        self.check_history(outcome, &before, &changes, round.as_deref());
        changes.events.iter().for_each(|event| self.event_order.check(event));
        assert_eq!(self.event_order.is_complete(), !self.machine.is_open());
        assert_eq!(self.machine.turn_usage(), Some(&self.spent));
        self.model.check(&self.machine);
        self.check_round_trip();
        round.is_some()
    }

    /// Checks that the history is valid and only grows: by a whole round, or by input together with its reply.
    fn check_history(&self, outcome: &Outcome, before: &[Arc<Message>], changes: &Changes, round: Option<&[Call]>) {
        let history = self.machine.history();
        if changes.rewritten {
            assert_eq!(changes.appended, 0);
            check_compacted(before, history);
            return;
        }
        let kept = if changes.replaced { &[] } else { before };
        assert!(history.starts_with(kept), "the history only grows");
        assert_eq!(history.len(), kept.len() + changes.appended);
        if !history.is_empty() {
            validate_messages(history).expect("the history is valid");
        }
        let Some(calls) = round else {
            assert!(
                match outcome {
                    Outcome::Reply(_) => true,
                    // A text that was checked, or that will never be checked.
                    Outcome::Verdict(_) | Outcome::Stop(_) => changes.appended <= 1,
                    // The paused reply of a turn that could not continue.
                    _ if self.model.is_paused && !self.machine.is_open() => changes.appended <= 1,
                    _ => changes.appended == 0,
                },
                "a round enters at once"
            );
            return;
        };
        for (call, message) in calls.iter().zip(&history[history.len() - calls.len()..]) {
            let State::Settled(settled) = &call.state else {
                panic!("{call:?}")
            };
            let limit = self.model.limits.max_tool_result_bytes;
            assert!(
                contains_result(message, settled, limit),
                "{message:?} is not the result of {call:?}"
            );
            assert!(matches!(&**message, Message::Tool(result) if result.tool_call_id == call.id));
        }
    }

    fn check_round_trip(&self) {
        let json = serde_json::to_string(&self.machine).unwrap();
        let back: Machine = serde_json::from_str(&json).unwrap();
        assert_eq!(back, self.machine, "a JSON round trip changes nothing");
        assert_eq!(back.next(), self.machine.next());
    }

    /// Absorbs an invalid outcome: it must cause the expected error and change nothing.
    pub(super) fn reject(&mut self, outcome: &Outcome, is_expected: fn(&MachineError) -> bool) {
        let before = self.machine.clone();
        let error = self
            .machine
            .absorb(outcome.clone())
            .expect_err("the outcome is invalid");
        assert!(is_expected(&error), "{outcome:?}: {error:?}");
        assert_eq!(self.machine, before, "an invalid outcome changes nothing: {outcome:?}");
    }

    /// Checks that no call and no question gets the id of an earlier one, even if that is no longer in the history.
    fn check_ids(&mut self, changes: &Changes) {
        for event in &changes.events {
            match event {
                EventKind::Text(TextEvent::MessageComplete(reply)) => {
                    for call in reply.tool_calls() {
                        assert!(self.ids.insert(call.id.clone()), "{} was used before", call.id);
                    }
                }
                EventKind::Person(PersonEvent::Asked(question)) => {
                    assert!(
                        self.ids.insert(question.id.to_string()),
                        "{} was used before",
                        question.id
                    );
                }
                _ => {}
            }
        }
    }

    /// Returns the id of the open question of a call.
    pub(super) fn open_question(&self, call: &str) -> QuestionId {
        let mut questions = self.machine.questions();
        let question = questions.find(|question| *question.call_id == *call);
        question.expect("the call has an open question").id.clone()
    }

    /// Saves and restores the state, as if the process had died.
    pub(super) fn reload(&mut self) {
        let json = serde_json::to_string(&self.machine).unwrap();
        self.machine = serde_json::from_str(&json).unwrap();
        self.model.check(&self.machine);
    }
}

/// Checks that a compaction has kept what it must: instructions, the goal, the tail, and results that are complete or marked.
fn check_compacted(before: &[Arc<Message>], after: &[Arc<Message>]) {
    validate_messages(after).expect("a compacted history is valid");
    let is_old = |message: &Arc<Message>| before.iter().any(|other| Arc::ptr_eq(message, other));
    let is_kept = |message: &&Arc<Message>| after.iter().any(|other| Arc::ptr_eq(message, other));
    let instructions = before.iter().filter(|message| message.is_instruction());
    assert!(instructions.clone().all(|message| is_kept(&message)));
    assert!(after.len() <= before.len(), "a compaction never adds messages");
    let goal = |messages: &[Arc<Message>]| {
        messages
            .iter()
            .position(|message| matches!(**message, Message::User(_)))
    };
    let (old, new) = (goal(before).unwrap(), goal(after).unwrap());
    let first_part = |message: &Message| match message {
        Message::User(user) => user.content.clone().into_parts().first().cloned(),
        _ => None,
    };
    assert_eq!(first_part(&before[old]), first_part(&after[new]), "the goal is kept");
    assert!(
        before[..old]
            .iter()
            .zip(after)
            .all(|(before, after)| Arc::ptr_eq(before, after))
    );
    for (at, message) in after.iter().enumerate().filter(|(_, message)| !is_old(message)) {
        let pruned = matches!(&**message, Message::Tool(tool) if tool.marks.origin == Some(Origin::Pruned));
        assert!(
            at == new || pruned,
            "{message:?} is neither old, nor the goal, nor a marker"
        );
    }
    // The part that is kept unchanged is the tail.
    let tail = after.iter().rev().zip(before.iter().rev());
    let same = tail.take_while(|(after, before)| Arc::ptr_eq(after, before)).count();
    if after.len() < before.len() {
        let first = &after[after.len() - same.max(1)];
        assert!(
            first.as_assistant().is_some() || first.is_instruction(),
            "the tail starts with an assistant message"
        );
    }
}

#[expect(clippy::print_stdout, reason = "requested with AGCORE_SEED, to debug one script")]
fn print_line(line: &str) {
    println!("{line}");
}
