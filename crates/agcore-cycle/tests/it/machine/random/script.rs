//! [`Script`]: one random conversation that is checked after every step.

use agcore_chat::{
    Answer, FaultKind, FinishReason, Question, QuestionKind, SchemaViolation, ToolOutcome, ToolResult, UsageTracker,
};
use agcore_cycle::machine::{CompactReason, Failure, Outcome, Purpose, Reply, Verdict};
use fastrand::Rng;
use serde_json::json;

use super::{
    checker::Checker,
    counts::Counts,
    generate::{self, one, percent},
    invalid_outcomes,
    model::{Overflow, Phase, Settled, State, can_run},
};

/// More steps than any turn needs, because the probabilities end each turn long before.
const MAX_STEPS: u32 = 500;

#[derive(Debug)]
pub(super) struct Script {
    pub(super) rng: Rng,
    pub(super) checker: Checker,
    /// Calls that were running when the process died and are not handled yet.
    pub(super) orphans: Vec<String>,
    /// The number of the newest question.
    asked: u32,
    pub(super) counts: Counts,
}

impl Script {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let checker = Checker::new(generate::limits(&mut rng));
        Self {
            rng,
            checker,
            orphans: Vec::new(),
            asked: 0,
            counts: Counts::default(),
        }
    }

    /// Prints every outcome.
    pub(super) fn verbose(mut self) -> Self {
        self.checker.verbose = true;
        self
    }

    pub(super) fn play(mut self) -> Counts {
        for turn in 0..one(&mut self.rng, &[1, 1, 1, 2, 2, 3]) {
            self.absorb_invalid();
            if turn > 0 {
                self.compact_between_turns();
            }
            self.begin();
            let ended = (0..MAX_STEPS).any(|_| {
                self.step();
                !self.checker.model.is_open()
            });
            assert!(ended, "the turn has not ended");
            self.counts.add("turn");
        }
        self.counts
    }

    fn begin(&mut self) {
        let begin = generate::begin(&mut self.rng, self.checker.machine.history().is_empty());
        let replaces = begin.replaces;
        let begin = match generate::expectation(&mut self.rng) {
            Some(expectation) => begin.with_expectation(expectation),
            None => begin,
        };
        self.checker.model.begin(begin.expectation.clone());
        self.checker.spent = UsageTracker::default();
        self.absorb(Outcome::TurnStarted(begin));
        if replaces {
            self.counts.add("replaced");
        }
    }

    fn step(&mut self) {
        self.counts.add("steps");
        match self.rng.u8(..100) {
            0..8 => self.absorb_invalid(),
            8..13 => self.crash(),
            13..15 => self.stop(),
            _ if self.checker.model.summing.is_some() => self.end_summing(),
            _ if self.checker.model.overflow == Overflow::Due => self.resolve_overflow(),
            15..18 => self.record_counters(),
            18..21 => self.compact_on_request(),
            _ if self.checker.model.is_checking() => self.check(),
            21..24 => self.exhaust_budget(),
            _ if !self.orphans.is_empty() => self.handle_orphan(),
            _ => match self.checker.model.phase {
                Phase::Calling(purpose) => self.call_the_model(purpose),
                _ => self.act(),
            },
        }
    }

    fn absorb_invalid(&mut self) {
        let (outcome, is_expected) = invalid_outcomes::outcome(&mut self.rng, &self.checker.model);
        self.checker.reject(&outcome, is_expected);
        self.counts.add("invalid outcome");
    }

    fn call_the_model(&mut self, purpose: Purpose) {
        if percent(&mut self.rng, 15) && self.compact(CompactReason::Threshold) {
            self.counts.add("compacted at the threshold");
            return;
        }
        if purpose == Purpose::WrapUp {
            self.counts.add("wrap up");
        }
        if percent(&mut self.rng, 10) {
            self.fail();
            return;
        }
        if self.checker.model.typed.is_some() && percent(&mut self.rng, 5) {
            self.recast();
            return;
        }
        let mut reply = generate::reply(&mut self.rng);
        if let Some(tool) = self.checker.model.answering_tool() {
            generate::add_answers(&mut self.rng, &tool, &mut reply);
        }
        self.checker.spent.record(reply.usage.as_ref());
        if let Some(lost) = reply.lost.get() {
            self.checker.spent.merge(lost);
            self.counts.add("lost attempts");
        }
        self.count_reply(&reply);
        let is_paused = reply.finish.as_ref().is_some_and(FinishReason::is_paused) && !reply.message.has_tool_calls();
        self.absorb(Outcome::Reply(reply));
        match (purpose, self.checker.model.phase) {
            _ if is_paused && !self.checker.model.is_open() => self.counts.add("paused too often"),
            _ if is_paused => self.counts.add("paused"),
            (Purpose::WrapUp, Phase::Ended("answered")) => self.counts.add("wrapped up"),
            (_, Phase::Ended("answered")) => self.counts.add("answered"),
            (_, Phase::Ended("limit")) => self.counts.add("reached limit"),
            _ => {}
        }
    }

    /// Changes the output mode, because the provider refused the current one.
    fn recast(&mut self) {
        self.counts.add("recast");
        let mode = generate::mode(&mut self.rng);
        if let Some((expectation, _)) = &mut self.checker.model.typed {
            expectation.mode = mode;
        }
        self.absorb(Outcome::Recast(mode));
    }

    fn check(&mut self) {
        let is_text = self.checker.model.phase == Phase::Checking;
        let accepted = percent(&mut self.rng, 40);
        self.checker.model.verdict(accepted);
        self.counts.add(match (is_text, accepted, self.checker.model.phase) {
            (true, true, _) => "accepted text",
            (false, true, _) => "accepted call",
            (true, false, Phase::Ended(_)) => "text rejected for good",
            (false, false, Phase::Ended(_)) => "call rejected for good",
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
        let lost = generate::lost(&mut self.rng);
        self.checker.spent.merge(&lost);
        let fault = generate::fault(&mut self.rng);
        let too_long = fault.kind == FaultKind::ContextLength;
        self.counts.add(match (too_long, self.checker.model.overflow) {
            (true, Overflow::None) => "overflow",
            (true, _) => "overflow twice",
            (false, _) => "failed call",
        });
        self.checker.model.fail(too_long);
        self.absorb(Outcome::Failed(Failure::new(fault).with_lost(lost)));
    }

    fn count_reply(&mut self, reply: &Reply) {
        let calls: Vec<_> = reply.message.tool_calls().collect();
        let finish = reply.finish.as_ref().map(FinishReason::as_str);
        for (kind, applies) in [
            ("parallel calls", calls.len() > 1),
            (
                "duplicate id",
                calls.iter().any(|call| self.checker.model.settled.contains(&call.id)),
            ),
            ("invalid arguments", calls.iter().any(|call| !can_run(call))),
            (
                "truncated reply",
                !calls.is_empty() && matches!(finish, Some("length" | "content_filter")),
            ),
        ] {
            if applies {
                self.counts.add(kind);
            }
        }
    }

    fn act(&mut self) {
        let (ready, running, asking) = (
            self.checker.model.ready(),
            self.checker.model.running(),
            self.checker.model.asking(),
        );
        let can: Vec<u8> = [&ready, &running, &asking]
            .iter()
            .zip(0..)
            .filter_map(|(ids, action)| (!ids.is_empty()).then_some(action))
            .collect();
        match one(&mut self.rng, &can) {
            // An executor that reports which calls begin may refuse one, or ask about it, before it runs.
            0 if percent(&mut self.rng, 20) => {
                self.counts.add("settled without running");
                let id = one(&mut self.rng, &ready);
                self.settle(&id);
            }
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

    /// Starts all ready calls, or some of them.
    fn start(&mut self, mut ids: Vec<String>) {
        if percent(&mut self.rng, 30) {
            self.rng.shuffle(&mut ids);
            ids.truncate(self.rng.usize(1..=ids.len()));
        }
        for id in &ids {
            self.checker.model.call(id).state = State::Running;
        }
        self.absorb(Outcome::Started(ids.iter().map(|id| id.as_str().into()).collect()));
    }

    fn settle(&mut self, id: &str) {
        match self.rng.u8(..20) {
            0..12 => self.finish(id),
            12..17 => {
                self.counts.add(if self.checker.model.diverted {
                    "question after handoff"
                } else {
                    "question"
                });
                let kind = generate::question_kind(&mut self.rng);
                self.ask(id, kind);
            }
            17..19 => self.divert(id),
            _ => {
                self.counts.add("fatal");
                let fault = generate::fault(&mut self.rng);
                let error = ToolResult::error(fault.message.as_str());
                self.checker.model.call(id).state = State::Settled(Settled::As(error));
                self.checker.model.end("failed");
                self.tool(id, ToolOutcome::Fatal(fault));
            }
        }
    }

    pub(super) fn finish(&mut self, id: &str) {
        self.counts.add("done");
        let result = generate::result(&mut self.rng);
        if result.content.text().len() > self.checker.model.limits.max_tool_result_bytes {
            self.counts.add("long result");
        }
        self.checker.model.call(id).state = State::Settled(Settled::As(result.clone()));
        self.tool(id, ToolOutcome::Done(result));
    }

    fn divert(&mut self, id: &str) {
        self.counts.add("diverted");
        let result = generate::result(&mut self.rng);
        let content = result.content;
        let plain = ToolResult::new(content.clone());
        self.checker.model.call(id).state = State::Settled(Settled::As(plain));
        self.checker.model.divert();
        if !self.checker.model.running().is_empty() {
            self.counts.add("other call still runs");
        }
        self.tool(
            id,
            ToolOutcome::Divert {
                content,
                data: json!({"to": "billing"}),
            },
        );
    }

    pub(super) fn ask(&mut self, id: &str, kind: QuestionKind) {
        self.asked += 1;
        let mut question = Question::new(id, self.asked, kind, "Well?");
        // Those about the call itself have no state.
        if kind != QuestionKind::Uncertain || self.asked.is_multiple_of(2) {
            question = question.with_state(json!({"inner": [self.asked, 0.5]}));
        }
        self.checker.model.ask(id, question.clone());
        self.tool(id, ToolOutcome::ask(question));
    }

    fn answer(&mut self, id: &str) {
        let State::Asking(question) = self.checker.model.call(id).state.clone() else {
            panic!("{id} has no open question")
        };
        let answer = generate::answer(&mut self.rng);
        self.counts.add(match answer {
            Answer::Approve { .. } => "answer approve",
            Answer::Deny { .. } => "answer deny",
            _ => "answer value",
        });
        if question.kind == QuestionKind::Uncertain
            && question.state.is_null()
            && !matches!(answer, Answer::Approve { .. })
        {
            self.counts.add("denied uncertain");
        }
        let question = self.checker.open_question(id);
        self.checker.model.answer(id, answer.clone());
        if let Some(answered) = self.checker.model.answered.last_mut() {
            answered.id = question.clone();
        }
        self.absorb(Outcome::Answer(question, answer));
    }

    fn tool(&mut self, id: &str, outcome: ToolOutcome) {
        self.orphans.retain(|orphan| orphan != id);
        let duration_us = self.rng.u64(..);
        self.absorb(Outcome::Tool {
            call: id.into(),
            outcome,
            duration_us,
            input: None,
        });
    }

    pub(super) fn absorb(&mut self, outcome: Outcome) {
        if self.checker.absorb(&outcome) {
            self.counts.add("round");
        }
        if matches!(self.checker.model.phase, Phase::Ended(_)) {
            self.orphans.clear();
        }
    }
}
