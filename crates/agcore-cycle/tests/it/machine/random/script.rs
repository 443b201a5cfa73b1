//! [`Script`]: one random conversation, with every check after every step.

use agcore_chat::{
    Answer, FaultKind, FinishReason, Question, QuestionKind, SchemaViolation, ToolOutcome, ToolResult, UsageTracker,
};
use agcore_cycle::machine::{Cause, CompactReason, Failure, Outcome, Purpose, Reply, Verdict};
use fastrand::Rng;
use serde_json::json;

use super::{
    chance::{self, one, percent},
    counts::Counts,
    judge::Judge,
    misuse,
    model::{Overflow, Phase, Settled, State, runs},
};

/// More steps than any turn takes: geometric chances end each long before.
const MANY: u32 = 500;

#[derive(Debug)]
pub(super) struct Script {
    pub(super) rng: Rng,
    pub(super) judge: Judge,
    /// Calls that ran when the process died, not yet seen to.
    pub(super) orphans: Vec<String>,
    /// The number of the newest question.
    asked: u32,
    pub(super) counts: Counts,
}

impl Script {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let judge = Judge::new(chance::limits(&mut rng));
        Self {
            rng,
            judge,
            orphans: Vec::new(),
            asked: 0,
            counts: Counts::default(),
        }
    }

    /// Prints every outcome.
    pub(super) fn aloud(mut self) -> Self {
        self.judge.aloud = true;
        self
    }

    pub(super) fn play(mut self) -> Counts {
        for turn in 0..one(&mut self.rng, &[1, 1, 1, 2, 2, 3]) {
            self.state_error();
            if turn > 0 {
                self.between_turns();
            }
            self.begin();
            let ended = (0..MANY).any(|_| {
                self.step();
                !self.judge.model.is_open()
            });
            assert!(ended, "the turn does not end");
            self.counts.add("turn");
        }
        self.judge.replay();
        self.counts
    }

    fn begin(&mut self) {
        let begin = chance::begin(&mut self.rng, self.judge.machine.history().is_empty());
        let replaces = begin.replaces;
        let begin = match chance::expectation(&mut self.rng) {
            Some(expectation) => begin.with_expectation(expectation),
            None => begin,
        };
        self.judge.model.begin(begin.expectation.clone());
        self.judge.spent = UsageTracker::default();
        self.absorb(Outcome::TurnStarted(begin));
        if replaces {
            self.counts.add("replaced");
        }
    }

    fn step(&mut self) {
        self.counts.add("steps");
        match self.rng.u8(..100) {
            0..8 => self.state_error(),
            8..13 => self.die(),
            13..15 => self.stop(),
            _ if self.judge.model.summing.is_some() => self.end_summing(),
            _ if self.judge.model.overflow == Overflow::Due => self.rescue(),
            15..18 => self.tell_numbers(),
            18..21 => self.by_hand(),
            _ if self.judge.model.is_checking() => self.check(),
            21..24 => self.run_out(),
            _ if !self.orphans.is_empty() => self.see_to_an_orphan(),
            _ => match self.judge.model.phase {
                Phase::Calling(purpose) => self.call_the_model(purpose),
                _ => self.act(),
            },
        }
    }

    fn state_error(&mut self) {
        let (outcome, fits) = misuse::outcome(&mut self.rng, &self.judge.model);
        self.judge.refuse(&outcome, fits);
        self.counts.add("misuse");
    }

    fn die(&mut self) {
        self.judge.reload();
        self.orphans = self.judge.model.running();
        self.counts.add("death");
        if !self.orphans.is_empty() {
            self.counts.add("death while running");
        }
        if !self.judge.model.asking().is_empty() {
            self.counts.add("death in a question");
        }
    }

    fn stop(&mut self) {
        if let Some((reason, _)) = self.judge.model.summing.take() {
            self.counts.add("stopped summing");
            if reason == CompactReason::Asked {
                self.counts.add("stopped summing by hand");
                self.absorb(Outcome::Stop(Cause::cancelled()));
                return;
            }
        }
        let cause = if self.rng.bool() {
            Cause::abandoned()
        } else {
            chance::cause(&mut self.rng)
        };
        for (kind, holds) in [
            ("abandoned", cause == Cause::abandoned()),
            ("stopped calling", matches!(self.judge.model.phase, Phase::Calling(_))),
            ("stopped checking", self.judge.model.is_checking()),
            ("stopped ready", !self.judge.model.ready().is_empty()),
            ("stopped running", !self.judge.model.running().is_empty()),
            ("stopped asking", !self.judge.model.asking().is_empty()),
        ] {
            if holds {
                self.counts.add(kind);
            }
        }
        self.orphans.clear();
        self.judge.model.end("stopped");
        self.absorb(Outcome::Stop(cause));
    }

    fn call_the_model(&mut self, purpose: Purpose) {
        if percent(&mut self.rng, 15) && self.compact(CompactReason::Threshold) {
            self.counts.add("shortened at the threshold");
            return;
        }
        if purpose == Purpose::WrapUp {
            self.counts.add("wrap up");
        }
        if percent(&mut self.rng, 10) {
            self.fail();
            return;
        }
        if self.judge.model.typed.is_some() && percent(&mut self.rng, 5) {
            self.recast();
            return;
        }
        let mut reply = chance::reply(&mut self.rng);
        if let Some(tool) = self.judge.model.answering_tool() {
            chance::answer_by(&mut self.rng, &tool, &mut reply);
        }
        self.judge.spent.merge(&reply.lost);
        self.judge.spent.record(reply.usage.as_ref());
        if reply.lost.calls > 0 {
            self.counts.add("lost attempts");
        }
        self.count_reply(&reply);
        self.absorb(Outcome::Reply(reply));
        match (purpose, self.judge.model.phase) {
            (Purpose::WrapUp, Phase::Ended("answered")) => self.counts.add("wrapped up"),
            (_, Phase::Ended("answered")) => self.counts.add("answered"),
            (_, Phase::Ended("limit")) => self.counts.add("reached limit"),
            _ => {}
        }
    }

    /// The provider refuses the way of asking.
    fn recast(&mut self) {
        self.counts.add("recast");
        let mode = chance::mode(&mut self.rng);
        if let Some((expectation, _)) = &mut self.judge.model.typed {
            expectation.mode = mode;
        }
        self.absorb(Outcome::Recast(mode));
    }

    fn check(&mut self) {
        let is_text = self.judge.model.phase == Phase::Checking;
        let accepted = percent(&mut self.rng, 40);
        self.judge.model.verdict(accepted);
        self.counts.add(match (is_text, accepted, self.judge.model.phase) {
            (true, true, _) => "accepted text",
            (false, true, _) => "accepted call",
            (true, false, Phase::Ended(_)) => "text never fits",
            (false, false, Phase::Ended(_)) => "call never fits",
            (true, false, _) => "repaired text",
            (false, false, _) => "repaired call",
        });
        let verdict = if accepted {
            Verdict::Accepted
        } else {
            Verdict::Rejected(vec![SchemaViolation::new("$.days[1]", "expected a day, found `晴`")])
        };
        self.absorb(Outcome::Verdict(verdict));
    }

    fn fail(&mut self) {
        let lost = chance::lost(&mut self.rng);
        self.judge.spent.merge(&lost);
        let fault = chance::fault(&mut self.rng);
        let too_long = fault.kind == FaultKind::ContextLength;
        self.counts.add(match (too_long, self.judge.model.overflow) {
            (true, Overflow::None) => "too long",
            (true, _) => "too long twice",
            (false, _) => "failed call",
        });
        self.judge.model.fail(too_long);
        self.absorb(Outcome::Failed(Failure::new(fault).with_lost(lost)));
    }

    fn count_reply(&mut self, reply: &Reply) {
        let calls: Vec<_> = reply.message.tool_calls().collect();
        let finish = reply.finish.as_ref().map(FinishReason::as_str);
        for (kind, holds) in [
            ("parallel calls", calls.len() > 1),
            (
                "doubled id",
                calls.iter().any(|call| self.judge.model.settled.contains(&call.id)),
            ),
            ("bad arguments", calls.iter().any(|call| !runs(call))),
            (
                "cut reply",
                !calls.is_empty() && matches!(finish, Some("length" | "content_filter")),
            ),
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
                let call = self.judge.model.call(&id);
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
        let (ready, running, asking) = (
            self.judge.model.ready(),
            self.judge.model.running(),
            self.judge.model.asking(),
        );
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
            self.judge.model.call(id).state = State::Running;
        }
        self.absorb(Outcome::Started(ids.iter().map(|id| id.as_str().into()).collect()));
    }

    fn settle(&mut self, id: &str) {
        match self.rng.u8(..20) {
            0..12 => self.finish(id),
            12..17 => {
                self.counts.add(if self.judge.model.diverted {
                    "question after handoff"
                } else {
                    "question"
                });
                let kind = chance::question_kind(&mut self.rng);
                self.ask(id, kind);
            }
            17..19 => self.divert(id),
            _ => {
                self.counts.add("fatal");
                let fault = chance::fault(&mut self.rng);
                let told = ToolResult::error(fault.message.as_str());
                self.judge.model.call(id).state = State::Settled(Settled::As(told));
                self.judge.model.end("failed");
                self.tool(id, ToolOutcome::Fatal(fault));
            }
        }
    }

    fn finish(&mut self, id: &str) {
        self.counts.add("done");
        let result = chance::result(&mut self.rng);
        if result.content.text().len() > self.judge.model.limits.max_tool_result_bytes {
            self.counts.add("long result");
        }
        self.judge.model.call(id).state = State::Settled(Settled::As(result.clone()));
        self.tool(id, ToolOutcome::Done(result));
    }

    fn divert(&mut self, id: &str) {
        self.counts.add("diverted");
        let result = chance::result(&mut self.rng);
        let content = result.content;
        let plain = ToolResult::new(content.clone());
        self.judge.model.call(id).state = State::Settled(Settled::As(plain));
        self.judge.model.divert();
        if !self.judge.model.running().is_empty() {
            self.counts.add("other still runs");
        }
        self.tool(
            id,
            ToolOutcome::Divert {
                content,
                data: json!({"to": "billing"}),
            },
        );
    }

    fn ask(&mut self, id: &str, kind: QuestionKind) {
        self.asked += 1;
        let question = Question::new(id, self.asked, kind, "Well?").with_state(json!({"inner": [self.asked, 0.5]}));
        self.judge.model.ask(id, question.clone());
        self.tool(id, ToolOutcome::Ask(question));
    }

    fn answer(&mut self, id: &str) {
        let State::Asking(question) = self.judge.model.call(id).state.clone() else {
            panic!("{id} asks nothing")
        };
        let answer = chance::answer(&mut self.rng);
        self.counts.add(match answer {
            Answer::Approve { .. } => "answer approve",
            Answer::Deny { .. } => "answer deny",
            _ => "answer value",
        });
        if question.kind == QuestionKind::Uncertain && !matches!(answer, Answer::Approve { .. }) {
            self.counts.add("denied uncertain");
        }
        self.judge.model.answer(id, answer.clone());
        self.absorb(Outcome::Answer(question.id, answer));
    }

    fn tool(&mut self, id: &str, outcome: ToolOutcome) {
        self.orphans.retain(|orphan| orphan != id);
        let duration_us = self.rng.u64(..);
        self.absorb(Outcome::Tool {
            call: id.into(),
            outcome,
            duration_us,
        });
    }

    pub(super) fn absorb(&mut self, outcome: Outcome) {
        if self.judge.absorb(&outcome) {
            self.counts.add("round");
        }
        if matches!(self.judge.model.phase, Phase::Ended(_)) {
            self.orphans.clear();
        }
    }
}
