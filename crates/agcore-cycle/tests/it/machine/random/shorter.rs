//! The parts of a script in which conversations are made shorter, and budgets run out.

use agcore_chat::{AssistantMessage, Fault, FaultKind, FinishReason, Message, ToolCall, pruned_result};
use agcore_cycle::{
    Spent,
    budget::{BudgetLimit, Resource, Scope},
    machine::{Compact, CompactReason, Failure, Outcome, Reply, Summary},
};

use super::{
    chance::{self, one, percent},
    model::{Overflow, Phase},
    script::Script,
};

/// Tokens as a plan tells them; what they are does not matter here, only which are more.
const BEFORE: u64 = 1_000;

impl Script {
    /// Compactions that belong to no turn.
    pub(super) fn between_turns(&mut self) {
        if !percent(&mut self.rng, 30) || !self.compact(CompactReason::Asked) {
            return;
        }
        self.counts.add("by hand between turns");
        // Sometimes nobody waits for the end of it.
        if self.judge.model.summing.is_some() && percent(&mut self.rng, 80) {
            self.end_summing();
        }
    }

    pub(super) fn by_hand(&mut self) {
        if self.compact(CompactReason::Asked) {
            self.counts.add("by hand");
        }
    }

    /// Hands in a random plan; says whether there was any.
    pub(super) fn compact(&mut self, reason: CompactReason) -> bool {
        let plan = self.plan(reason);
        if plan.is_empty() && reason != CompactReason::Overflow {
            return false;
        }
        self.counts.add("compacted");
        let (prunes, sums) = (!plan.results.is_empty(), plan.cut.is_some());
        if sums {
            self.judge.model.summing = Some((reason, prunes));
        } else {
            if prunes {
                self.counts.add("pruned");
            }
            self.count_rescue(prunes);
            self.judge.model.compacted(prunes);
        }
        self.absorb(Outcome::Compact(plan));
        true
    }

    fn plan(&mut self, reason: CompactReason) -> Compact {
        let older = self.judge.machine.view().older.to_vec();
        let places = |fits: &dyn Fn(usize, &Message) -> bool| -> Vec<usize> {
            let places = older.iter().enumerate().filter(|(at, message)| fits(*at, message));
            places.map(|(at, _)| at).collect()
        };
        let goal = older.iter().position(|message| matches!(**message, Message::User(_)));
        let mut results = places(&|_, message| pruned_result(message).is_some());
        results.retain(|_| percent(&mut self.rng, 50));
        let cuts = places(&|at, message| message.as_assistant().is_some() && goal.is_some_and(|goal| goal < at));
        let cut = (!cuts.is_empty() && self.rng.bool()).then(|| one(&mut self.rng, &cuts));
        let pruned = BEFORE - 10 * results.len() as u64;
        Compact::new(reason, BEFORE).with_results(results, pruned).with_cut(cut)
    }

    /// A summary comes, or not.
    pub(super) fn end_summing(&mut self) {
        let (_, prunes) = self.judge.model.summing.expect("a summary is waited for");
        let lost = chance::lost(&mut self.rng);
        self.judge.spent.merge(&lost);
        if percent(&mut self.rng, 5) {
            self.counts.add("summary cancelled");
            self.judge.model.summing = None;
            let fault = Fault::new(FaultKind::Cancelled, "enough");
            self.absorb(Outcome::Failed(Failure::new(fault).with_lost(lost)));
            return;
        }
        let outcome = if percent(&mut self.rng, 30) {
            self.counts.add("summary failed");
            let fault = Fault::new(FaultKind::ContextLength, "too long to sum up");
            Outcome::Failed(Failure::new(fault).with_lost(lost))
        } else {
            let (reply, tokens, fits) = self.summary();
            self.counts.add(if fits { "summary" } else { "summary unfit" });
            self.judge.spent.record(reply.usage.as_ref());
            Outcome::Summary(Summary::new(reply.with_lost(lost), tokens))
        };
        let fits = matches!(&outcome, Outcome::Summary(summary) if summary.tokens < 500);
        if !fits && prunes {
            self.counts.add("fell back");
        }
        self.count_rescue(fits || prunes);
        self.judge.model.compacted(fits || prunes);
        self.absorb(outcome);
    }

    /// A reply, its tokens (below 500 when all is well), and whether it is of use.
    fn summary(&mut self) -> (Reply, u64, bool) {
        let reply = |text: &str| Reply::new(AssistantMessage::new(text));
        let usage = Some(agcore_chat::Usage::new(self.rng.u64(..100), 5));
        let call = AssistantMessage::new("So far").with_call(ToolCall::function("call_0", "look", "{}"));
        let (reply, tokens) = match self.rng.u8(..10) {
            0 => (reply(" \n"), 500),
            1 => (reply("So far").with_finish(Some(FinishReason::Length)), 500),
            2 => (reply("So far").with_finish(Some(FinishReason::ContentFilter)), 500),
            3 => (reply("So much"), BEFORE + 1),
            4 => (Reply::new(call), 500),
            _ => (
                reply("So far, 天気 was looked at.").with_finish(Some(FinishReason::Stop)),
                400,
            ),
        };
        (reply.with_usage(usage), tokens, tokens < 500)
    }

    /// The model said that the conversation is too long.
    pub(super) fn rescue(&mut self) {
        self.compact(CompactReason::Overflow);
    }

    fn count_rescue(&mut self, changed: bool) {
        if self.judge.model.overflow == Overflow::Due {
            self.counts.add(if changed { "rescued" } else { "rescue in vain" });
        }
    }

    /// What a driver tells beside what happens.
    pub(super) fn tell_numbers(&mut self) {
        if self.rng.bool() {
            self.counts.add("told");
            let events = self.rng.u64(..100);
            self.absorb(Outcome::EventsSent(events));
            assert_eq!(self.judge.machine.events_sent(), events);
            return;
        }
        self.counts.add("spent");
        let spent = Spent::new().with_tokens(self.rng.u64(..9)).with_tool_calls(1);
        let mut expected = self.judge.machine.spent().clone();
        expected.add(&spent);
        self.absorb(Outcome::Spent(spent));
        assert_eq!(self.judge.machine.spent(), &expected);
    }

    /// A budget has too little left.
    pub(super) fn run_out(&mut self) {
        let resource = one(&mut self.rng, &[Resource::Tokens, Resource::ToolCalls, Resource::Time]);
        let limit = BudgetLimit::new(one(&mut self.rng, &[Scope::Turn, Scope::Cycle, Scope::Pool]), resource);
        let time = resource == Resource::Time;
        let acts = self.judge.model.phase == Phase::Acting;
        if acts && !time && self.judge.model.ready().is_empty() {
            return;
        }
        self.counts.add(if acts { "limit tools" } else { "limit calling" });
        if time {
            self.counts.add("out of time");
            self.orphans.clear();
        }
        self.judge.model.limit(time);
        if self.judge.model.wraps_up {
            self.counts.add("limit wraps up");
        }
        self.absorb(Outcome::limit(limit));
    }
}
