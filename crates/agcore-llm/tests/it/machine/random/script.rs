//! [`Script`]: one random conversation, with every check after every step.

use std::sync::Arc;

use agcore_chat::{
    Answer, EventKind, Message, Question, QuestionKind, TextEvent, ToolOutcome, ToolResult, UsageTracker, validate_messages,
};
use agcore_llm::cycle::machine::{Cause, Changes, Failure, Machine, Outcome, Purpose, Reply};
use fastrand::Rng;
use serde_json::json;

use super::{
    chance::{self, one, percent},
    counts::Counts,
    misuse,
    model::{Call, Model, Phase, Settled, State, says},
    told::Told,
};

/// More steps than any turn takes: geometric chances end each long before.
const MANY: u32 = 500;

#[derive(Debug)]
pub(super) struct Script {
    rng: Rng,
    machine: Machine,
    model: Model,
    told: Told,
    /// The outcomes so far, as a journal keeps them.
    journal: Vec<String>,
    /// Calls that ran when the process died, not yet seen to.
    orphans: Vec<String>,
    spent: UsageTracker,
    /// The number of the newest question.
    asked: u32,
    counts: Counts,
    aloud: bool,
}

impl Script {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let limits = chance::limits(&mut rng);
        Self {
            machine: Machine::new(limits.clone()),
            model: Model::new(limits),
            rng,
            told: Told::default(),
            journal: Vec::new(),
            orphans: Vec::new(),
            spent: UsageTracker::default(),
            asked: 0,
            counts: Counts::default(),
            aloud: false,
        }
    }

    /// Prints every outcome.
    pub(super) fn aloud(mut self) -> Self {
        self.aloud = true;
        self
    }

    pub(super) fn play(mut self) -> Counts {
        for _ in 0..one(&mut self.rng, &[1, 1, 1, 2, 2, 3]) {
            self.misuse();
            self.begin();
            let ended = (0..MANY).any(|_| {
                self.step();
                !self.model.is_open()
            });
            assert!(ended, "the turn does not end");
            assert!(self.told.is_complete());
            self.counts.add("turn");
        }
        self.replay();
        self.counts
    }

    /// A fresh machine that absorbs the journal is in the same state.
    fn replay(&self) {
        let mut fresh = Machine::new(self.model.limits.clone());
        for record in &self.journal {
            fresh.absorb(serde_json::from_str(record).expect("a record reads back")).expect("a record fits again");
        }
        assert_eq!(fresh, self.machine, "the state is the fold of its outcomes");
    }

    fn begin(&mut self) {
        let begin = chance::begin(&mut self.rng, self.machine.history().is_empty());
        let replaces = begin.replaces;
        self.model.begin();
        self.spent = UsageTracker::default();
        self.absorb(Outcome::Begun(begin));
        if replaces {
            self.counts.add("replaced");
        }
    }

    fn step(&mut self) {
        self.counts.add("steps");
        match self.rng.u8(..100) {
            0..8 => self.misuse(),
            8..13 => self.die(),
            13..15 => self.stop(),
            _ if !self.orphans.is_empty() => self.see_to_an_orphan(),
            _ => match self.model.phase {
                Phase::Calling(purpose) => self.call_the_model(purpose),
                _ => self.act(),
            },
        }
    }

    fn misuse(&mut self) {
        let (outcome, fits) = misuse::outcome(&mut self.rng, &self.model);
        let before = self.machine.clone();
        let misuse = self.machine.absorb(outcome.clone()).expect_err("nothing waits for this");
        assert!(fits(&misuse), "{outcome:?}: {misuse:?}");
        assert_eq!(self.machine, before, "a misuse changes nothing: {outcome:?}");
        self.counts.add("misuse");
    }

    fn die(&mut self) {
        let json = serde_json::to_string(&self.machine).unwrap();
        self.machine = serde_json::from_str(&json).unwrap();
        self.orphans = self.model.running();
        self.counts.add("death");
        if !self.orphans.is_empty() {
            self.counts.add("death while running");
        }
        if !self.model.asking().is_empty() {
            self.counts.add("death in a question");
        }
        self.model.agree(&self.machine);
    }

    fn stop(&mut self) {
        let cause = if self.rng.bool() { Cause::abandoned() } else { chance::cause(&mut self.rng) };
        for (kind, holds) in [
            ("abandoned", cause == Cause::abandoned()),
            ("stopped calling", matches!(self.model.phase, Phase::Calling(_))),
            ("stopped ready", !self.model.ready().is_empty()),
            ("stopped running", !self.model.running().is_empty()),
            ("stopped asking", !self.model.asking().is_empty()),
        ] {
            if holds {
                self.counts.add(kind);
            }
        }
        self.orphans.clear();
        self.model.end("stopped");
        self.absorb(Outcome::Stop(cause));
    }

    fn call_the_model(&mut self, purpose: Purpose) {
        if purpose == Purpose::WrapUp {
            self.counts.add("wrap up");
        }
        if percent(&mut self.rng, 10) {
            let lost = chance::lost(&mut self.rng);
            self.spent.merge(&lost);
            self.model.end("failed");
            self.counts.add("failed call");
            let fault = chance::fault(&mut self.rng);
            self.absorb(Outcome::Failed(Failure::new(fault).with_lost(lost)));
            return;
        }
        let reply = chance::reply(&mut self.rng);
        self.spent.merge(&reply.lost);
        self.spent.record(reply.usage.as_ref());
        if reply.lost.calls > 0 {
            self.counts.add("lost attempts");
        }
        self.count_reply(&reply);
        self.absorb(Outcome::Reply(reply));
        match (purpose, self.model.phase) {
            (Purpose::WrapUp, Phase::Ended("answered")) => self.counts.add("wrapped up"),
            (_, Phase::Ended("answered")) => self.counts.add("answered"),
            (_, Phase::Ended("limit")) => self.counts.add("reached limit"),
            _ => {}
        }
    }

    fn count_reply(&mut self, reply: &Reply) {
        let calls: Vec<_> = reply.message.tool_calls().collect();
        let finish = reply.finish.as_ref().map(|finish| finish.as_str());
        for (kind, holds) in [
            ("parallel calls", calls.len() > 1),
            ("doubled id", calls.iter().any(|call| self.model.settled.contains(&call.id))),
            ("bad arguments", calls.iter().any(|call| !super::model::runs(call))),
            ("cut reply", !calls.is_empty() && matches!(finish, Some("length" | "content_filter"))),
        ] {
            if holds {
                self.counts.add(kind);
            }
        }
    }

    /// A call that ran when the process died is run again, asked about, or its result was found after all.
    fn see_to_an_orphan(&mut self) {
        let id = self.orphans.swap_remove(self.rng.usize(..self.orphans.len()));
        match self.rng.u8(..10) {
            0..5 => {
                self.counts.add("redo");
                let call = self.model.call(&id);
                (call.state, call.interrupted) = (State::Ready, true);
                if call.resumed.is_some() {
                    self.counts.add("resumed again");
                }
                self.absorb(Outcome::Redo(id.as_str().into()));
            }
            5..9 => {
                self.counts.add("question uncertain");
                self.ask(&id, QuestionKind::Uncertain);
            }
            _ => self.finish(&id),
        }
    }

    fn act(&mut self) {
        let (ready, running, asking) = (self.model.ready(), self.model.running(), self.model.asking());
        let can: Vec<u8> = [&ready, &running, &asking]
            .iter()
            .zip(0..)
            .filter_map(|(ids, action)| (!ids.is_empty()).then_some(action))
            .collect();
        match one(&mut self.rng, &can) {
            0 => self.start(ready),
            1 => {
                let id = one(&mut self.rng, &running);
                self.settle(&id);
            }
            _ => {
                let id = one(&mut self.rng, &asking);
                if asking.len() > 1 || !running.is_empty() {
                    self.counts.add("partial answer");
                }
                self.answer(&id);
            }
        }
    }

    /// Starts all that are ready, or some of them.
    fn start(&mut self, mut ids: Vec<String>) {
        if percent(&mut self.rng, 30) {
            self.rng.shuffle(&mut ids);
            ids.truncate(self.rng.usize(1..=ids.len()));
        }
        for id in &ids {
            self.model.call(id).state = State::Running;
        }
        self.absorb(Outcome::Started(ids.iter().map(|id| id.as_str().into()).collect()));
    }

    fn settle(&mut self, id: &str) {
        match self.rng.u8(..20) {
            0..12 => self.finish(id),
            12..17 => {
                self.counts.add(if self.model.diverted { "question after handoff" } else { "question" });
                let kind = chance::question_kind(&mut self.rng);
                self.ask(id, kind);
            }
            17..19 => self.divert(id),
            _ => {
                self.counts.add("fatal");
                let fault = chance::fault(&mut self.rng);
                let told = ToolResult::error(fault.message.as_str());
                self.model.call(id).state = State::Settled(Settled::As(told));
                self.model.end("failed");
                self.tool(id, ToolOutcome::Fatal(fault));
            }
        }
    }

    fn finish(&mut self, id: &str) {
        self.counts.add("done");
        let result = chance::result(&mut self.rng);
        if result.content.text().len() > self.model.limits.max_tool_result_bytes {
            self.counts.add("long result");
        }
        self.model.call(id).state = State::Settled(Settled::As(result.clone()));
        self.tool(id, ToolOutcome::Done(result));
    }

    fn divert(&mut self, id: &str) {
        self.counts.add("diverted");
        let result = chance::result(&mut self.rng);
        let content = result.content;
        let plain = ToolResult::new(content.clone());
        self.model.call(id).state = State::Settled(Settled::As(plain));
        self.model.divert();
        if !self.model.running().is_empty() {
            self.counts.add("other still runs");
        }
        self.tool(id, ToolOutcome::Divert { content, data: json!({"to": "billing"}) });
    }

    fn ask(&mut self, id: &str, kind: QuestionKind) {
        self.asked += 1;
        let question = Question::new(id, self.asked, kind, "Well?").with_state(json!({"inner": [self.asked, 0.5]}));
        self.model.ask(id, question.clone());
        self.tool(id, ToolOutcome::Ask(question));
    }

    fn answer(&mut self, id: &str) {
        let State::Asking(question) = self.model.call(id).state.clone() else { panic!("{id} asks nothing") };
        let answer = chance::answer(&mut self.rng);
        self.counts.add(match answer {
            Answer::Approve { .. } => "answer approve",
            Answer::Deny { .. } => "answer deny",
            _ => "answer value",
        });
        if question.kind == QuestionKind::Uncertain && !matches!(answer, Answer::Approve { .. }) {
            self.counts.add("denied uncertain");
        }
        self.model.answer(id, answer.clone());
        self.absorb(Outcome::Answer(question.id, answer));
    }

    fn tool(&mut self, id: &str, outcome: ToolOutcome) {
        self.orphans.retain(|orphan| orphan != id);
        let duration_us = self.rng.u64(..);
        self.absorb(Outcome::Tool { call: id.into(), outcome, duration_us });
    }

    fn absorb(&mut self, outcome: Outcome) {
        let record = serde_json::to_string(&outcome).unwrap();
        if self.aloud {
            print_line(&record);
        }
        let before = self.machine.history().to_vec();
        let changes = self.machine.absorb(outcome.clone()).expect("this was waited for");
        self.journal.push(record);
        if changes.replaced {
            self.model.settled.clear();
        }
        if let Outcome::Reply(reply) = &outcome {
            let message = changes.events.iter().find_map(|event| match event {
                EventKind::Text(TextEvent::MessageComplete(message)) => Some(message),
                _ => None,
            });
            self.model.reply(message.expect("a reply is told"), reply.finish.as_ref());
        }
        let round = self.model.close_round();
        if matches!(self.model.phase, Phase::Ended(_)) {
            self.orphans.clear();
        }
        self.check(&outcome, &before, &changes, round);
    }

    /// What must hold after every outcome.
    fn check(&mut self, outcome: &Outcome, before: &[Arc<Message>], changes: &Changes, round: Option<Vec<Call>>) {
        let history = self.machine.history();
        let kept = if changes.replaced { &[] } else { before };
        assert!(history.starts_with(kept), "history only grows");
        assert_eq!(history.len(), kept.len() + changes.appended);
        if !history.is_empty() {
            validate_messages(history).expect("the history is valid");
        }
        if let Some(calls) = &round {
            self.counts.add("round");
            let results = &history[history.len() - calls.len()..];
            for (call, message) in calls.iter().zip(results) {
                let State::Settled(settled) = &call.state else { panic!("{call:?}") };
                let limit = self.model.limits.max_tool_result_bytes;
                assert!(says(message, settled, limit), "{message:?} is not the result of {call:?}");
                assert!(matches!(&**message, Message::Tool(result) if result.tool_call_id == call.id));
            }
        } else if !matches!(outcome, Outcome::Reply(_)) {
            assert_eq!(changes.appended, 0, "a round enters at once, input with the reply");
        }
        changes.events.iter().for_each(|event| self.told.event(event));
        assert_eq!(self.told.is_complete(), !self.machine.is_open());
        assert_eq!(self.machine.turn_usage(), Some(&self.spent));
        self.model.agree(&self.machine);
        let json = serde_json::to_string(&self.machine).unwrap();
        let back: Machine = serde_json::from_str(&json).unwrap();
        assert_eq!(back, self.machine, "a JSON round trip changes nothing");
        assert_eq!(back.next(), self.machine.next());
    }
}

#[expect(clippy::print_stdout, reason = "asked for, to see one script")]
fn print_line(line: &str) {
    println!("{line}");
}
