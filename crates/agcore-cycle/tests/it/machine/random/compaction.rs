//! The parts of a script in which conversations are compacted and budgets are exhausted.

use agcore_chat::{AssistantMessage, Fault, FaultKind, FinishReason, Message, ToolCall, pruned_result};
use agcore_cycle::{
    Spent,
    budget::{BudgetLimit, Resource, Scope},
    machine::{Compact, CompactReason, Failure, Outcome, Reply, Summary},
};

use super::{
    generate::{self, one, percent},
    model::{Overflow, Phase},
    script::Script,
};

/// The tokens before a compaction. Only the order of such numbers matters here.
const BEFORE: u64 = 1_000;

impl Script {
    /// Compacts the conversation between turns.
    pub(super) fn compact_between_turns(&mut self) {
        if !percent(&mut self.rng, 30) || !self.compact(CompactReason::Asked) {
            return;
        }
        self.counts.add("requested between turns");
        // Sometimes the caller abandons the compaction.
        if self.checker.model.summing.is_some() && percent(&mut self.rng, 80) {
            self.end_summing();
        }
    }

    pub(super) fn compact_on_request(&mut self) {
        if self.compact(CompactReason::Asked) {
            self.counts.add("requested");
        }
    }

    /// Applies a random plan. Returns whether there was one.
    pub(super) fn compact(&mut self, reason: CompactReason) -> bool {
        let plan = self.plan(reason);
        if plan.is_empty() && reason != CompactReason::Overflow {
            return false;
        }
        self.counts.add("compacted");
        let (prunes, summarizes) = (!plan.results.is_empty(), plan.cut.is_some());
        if summarizes {
            self.checker.model.summing = Some((reason, prunes));
        } else {
            if prunes {
                self.counts.add("pruned");
            }
            self.count_overflow(prunes);
            self.checker.model.compacted(prunes);
        }
        self.absorb(Outcome::Compact(plan));
        true
    }

    fn plan(&mut self, reason: CompactReason) -> Compact {
        let older = self.checker.machine.view().older.to_vec();
        let indices = |fits: &dyn Fn(usize, &Message) -> bool| -> Vec<usize> {
            let matching = older.iter().enumerate().filter(|(at, message)| fits(*at, message));
            matching.map(|(at, _)| at).collect()
        };
        let goal = older.iter().position(|message| matches!(**message, Message::User(_)));
        let mut results = indices(&|_, message| pruned_result(message).is_some());
        results.retain(|_| percent(&mut self.rng, 50));
        let cuts = indices(&|at, message| message.as_assistant().is_some() && goal.is_some_and(|goal| goal < at));
        let cut = (!cuts.is_empty() && self.rng.bool()).then(|| one(&mut self.rng, &cuts));
        let pruned = BEFORE - 10 * results.len() as u64;
        Compact::new(reason, BEFORE).with_results(results, pruned).with_cut(cut)
    }

    /// Ends the compaction with a summary, a failure or a cancellation.
    pub(super) fn end_summing(&mut self) {
        let (_, prunes) = self.checker.model.summing.expect("the machine waits for a summary");
        let lost = generate::lost(&mut self.rng);
        self.checker.spent.merge(&lost);
        if percent(&mut self.rng, 5) {
            self.counts.add("summary cancelled");
            self.checker.model.summing = None;
            let fault = Fault::new(FaultKind::Cancelled, "enough");
            self.absorb(Outcome::Failed(Failure::new(fault).with_lost(lost)));
            return;
        }
        let outcome = if percent(&mut self.rng, 30) {
            self.counts.add("summary failed");
            let fault = Fault::new(FaultKind::ContextLength, "too long to summarize");
            Outcome::Failed(Failure::new(fault).with_lost(lost))
        } else {
            let (reply, tokens, fits) = self.summary();
            self.counts.add(if fits { "summary" } else { "summary unusable" });
            self.checker.spent.record(reply.usage.as_ref());
            Outcome::Summary(Summary::new(reply.with_lost(lost), tokens))
        };
        let fits = matches!(&outcome, Outcome::Summary(summary) if summary.tokens < 500);
        if !fits && prunes {
            self.counts.add("fell back");
        }
        self.count_overflow(fits || prunes);
        self.checker.model.compacted(fits || prunes);
        self.absorb(outcome);
    }

    /// Returns a summary, its tokens (below 500 if it is usable), and whether it is usable.
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
                reply("So far, 天気 was discussed.").with_finish(Some(FinishReason::Stop)),
                400,
            ),
        };
        (reply.with_usage(usage), tokens, tokens < 500)
    }

    /// Compacts a conversation that the model rejected as too long.
    pub(super) fn resolve_overflow(&mut self) {
        self.compact(CompactReason::Overflow);
    }

    fn count_overflow(&mut self, changed: bool) {
        if self.checker.model.overflow == Overflow::Due {
            self.counts.add(if changed {
                "overflow resolved"
            } else {
                "overflow not resolved"
            });
        }
    }

    /// Records the counters that a driver keeps in the machine.
    pub(super) fn record_counters(&mut self) {
        if self.rng.bool() {
            self.counts.add("events sent");
            let events = self.rng.u64(..100);
            self.absorb(Outcome::EventsSent(events));
            assert_eq!(self.checker.machine.events_sent(), events);
            return;
        }
        self.counts.add("spent");
        let spent = Spent::new().with_tokens(self.rng.u64(..9)).with_tool_calls(1);
        let mut expected = self.checker.machine.spent().clone();
        expected.add(&spent);
        self.absorb(Outcome::Spent(spent));
        assert_eq!(self.checker.machine.spent(), &expected);
    }

    /// Exhausts a budget.
    pub(super) fn exhaust_budget(&mut self) {
        let resource = one(&mut self.rng, &[Resource::Tokens, Resource::ToolCalls, Resource::Time]);
        let limit = BudgetLimit::new(one(&mut self.rng, &[Scope::Turn, Scope::Cycle, Scope::Pool]), resource);
        let is_time = resource == Resource::Time;
        let acts = self.checker.model.phase == Phase::Acting;
        if acts && !is_time && self.checker.model.ready().is_empty() {
            return;
        }
        self.counts.add(if acts { "limit tools" } else { "limit calling" });
        if is_time {
            self.counts.add("out of time");
            self.orphans.clear();
        }
        self.checker.model.limit(is_time);
        if self.checker.model.wraps_up {
            self.counts.add("limit wraps up");
        }
        self.absorb(Outcome::limit(limit));
    }
}
