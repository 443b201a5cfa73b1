//! [`Judge`]: the machine beside its model; every outcome goes to both, and what must hold is checked each time.

use std::sync::Arc;

use agcore_chat::{EventKind, Message, Origin, TextEvent, UsageTracker, validate_messages};
use agcore_cycle::machine::{Changes, Limits, Machine, MachineError, Outcome};

use super::{
    model::{Call, Model, State, says},
    told::Told,
};

#[derive(Debug)]
pub(super) struct Judge {
    pub(super) machine: Machine,
    /// Told of everything but replies before the machine is: it decides by the rules alone.
    pub(super) model: Model,
    /// Usage that the turn must have counted.
    pub(super) spent: UsageTracker,
    told: Told,
    /// The outcomes so far, as a journal keeps them.
    journal: Vec<String>,
    /// Whether outcomes are printed.
    pub(super) aloud: bool,
}

impl Judge {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            machine: Machine::new(limits.clone()),
            model: Model::new(limits),
            spent: UsageTracker::default(),
            told: Told::default(),
            journal: Vec::new(),
            aloud: false,
        }
    }

    /// Takes in what was waited for; gives back whether a round was closed.
    pub(super) fn absorb(&mut self, outcome: &Outcome) -> bool {
        let record = serde_json::to_string(outcome).unwrap();
        if self.aloud {
            print_line(&record);
        }
        let before = self.machine.history().to_vec();
        let changes = self.machine.absorb(outcome.clone()).expect("this was waited for");
        self.journal.push(record);
        if changes.replaced {
            self.model.settled.clear();
        }
        if let Outcome::Reply(reply) = outcome {
            let message = changes.events.iter().find_map(|event| match event {
                EventKind::Text(TextEvent::MessageComplete(message)) => Some(message),
                _ => None,
            });
            self.model
                .reply(message.expect("a reply is told"), reply.finish.as_ref());
        }
        let round = self.model.close_round();
        self.check_history(outcome, &before, &changes, round.as_deref());
        changes.events.iter().for_each(|event| self.told.event(event));
        assert_eq!(self.told.is_complete(), !self.machine.is_open());
        assert_eq!(self.machine.turn_usage(), Some(&self.spent));
        self.model.agree(&self.machine);
        self.check_round_trip();
        round.is_some()
    }

    /// History is valid and only grows: by a whole round, or by input with its reply.
    fn check_history(&self, outcome: &Outcome, before: &[Arc<Message>], changes: &Changes, round: Option<&[Call]>) {
        let history = self.machine.history();
        if changes.rewritten {
            assert_eq!(changes.appended, 0);
            compacted(before, history);
            return;
        }
        let kept = if changes.replaced { &[] } else { before };
        assert!(history.starts_with(kept), "history only grows");
        assert_eq!(history.len(), kept.len() + changes.appended);
        if !history.is_empty() {
            validate_messages(history).expect("the history is valid");
        }
        let Some(calls) = round else {
            assert!(
                match outcome {
                    Outcome::Reply(_) => true,
                    // A text that was checked, or never will be.
                    Outcome::Verdict(_) | Outcome::Stop(_) => changes.appended <= 1,
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
                says(message, settled, limit),
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

    /// Takes in what nothing waits for: the right misuse, and nothing changes.
    pub(super) fn refuse(&mut self, outcome: &Outcome, fits: fn(&MachineError) -> bool) {
        let before = self.machine.clone();
        let misuse = self
            .machine
            .absorb(outcome.clone())
            .expect_err("nothing waits for this");
        assert!(fits(&misuse), "{outcome:?}: {misuse:?}");
        assert_eq!(self.machine, before, "a misuse changes nothing: {outcome:?}");
    }

    /// Death and a new process: all that is left is the saved state.
    pub(super) fn reload(&mut self) {
        let json = serde_json::to_string(&self.machine).unwrap();
        self.machine = serde_json::from_str(&json).unwrap();
        self.model.agree(&self.machine);
    }

    /// A fresh machine that absorbs the journal is in the same state.
    pub(super) fn replay(&self) {
        let mut fresh = Machine::new(self.model.limits.clone());
        for record in &self.journal {
            let outcome = serde_json::from_str(record).expect("a record reads back");
            fresh.absorb(outcome).expect("a record fits again");
        }
        assert_eq!(fresh, self.machine, "the state is the fold of its outcomes");
    }
}

/// A compaction left what it must: instructions, the goal, the end, results that are whole or marked.
fn compacted(before: &[Arc<Message>], after: &[Arc<Message>]) {
    validate_messages(after).expect("a compacted history is valid");
    let was_there = |message: &Arc<Message>| before.iter().any(|other| Arc::ptr_eq(message, other));
    let is_there = |message: &&Arc<Message>| after.iter().any(|other| Arc::ptr_eq(message, other));
    let instructions = before.iter().filter(|message| message.is_instruction());
    assert!(instructions.clone().all(|message| is_there(&message)));
    assert!(after.len() <= before.len(), "it never grows");
    let goal = |messages: &[Arc<Message>]| {
        messages
            .iter()
            .position(|message| matches!(**message, Message::User(_)))
    };
    let (old, new) = (goal(before).unwrap(), goal(after).unwrap());
    let first_words = |message: &Message| match message {
        Message::User(user) => user.content.clone().into_parts().first().cloned(),
        _ => None,
    };
    assert_eq!(first_words(&before[old]), first_words(&after[new]), "the goal is kept");
    assert!(
        before[..old]
            .iter()
            .zip(after)
            .all(|(before, after)| Arc::ptr_eq(before, after))
    );
    for (at, message) in after.iter().enumerate().filter(|(_, message)| !was_there(message)) {
        let pruned = matches!(&**message, Message::Tool(tool) if tool.marks.origin == Some(Origin::Pruned));
        assert!(
            at == new || pruned,
            "{message:?} is neither old, nor the goal, nor a marker"
        );
    }
    // What is kept whole is the end.
    let tail = after.iter().rev().zip(before.iter().rev());
    let same = tail.take_while(|(after, before)| Arc::ptr_eq(after, before)).count();
    if after.len() < before.len() {
        let first = &after[after.len() - same.max(1)];
        assert!(
            first.as_assistant().is_some() || first.is_instruction(),
            "the tail begins with the assistant"
        );
    }
}

#[expect(clippy::print_stdout, reason = "asked for, to see one script")]
fn print_line(line: &str) {
    println!("{line}");
}
