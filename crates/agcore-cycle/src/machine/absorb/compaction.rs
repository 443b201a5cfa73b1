//! Absorbs compactions and summaries.

use std::sync::Arc;

use agcore_chat::{
    CompactionMethod, ContextEvent, Fault, FaultKind, FinishReason, Message, ModelEvent, Text, pruned_result,
    summarized,
};

use crate::machine::{
    changes::{Changes, MachineError},
    end::End,
    history::ids,
    outcome::{
        compact::{Compact, CompactReason, Summary},
        reply::Reply,
    },
    state::Machine,
    step::Step,
    turn::Turn,
};

impl Machine {
    pub(in crate::machine) fn compact(&mut self, compact: Compact, changes: &mut Changes) -> Result<(), MachineError> {
        self.history.make_whole();
        self.check(&compact)?;
        if compact.cut.is_some() {
            self.summing = Some(Box::new(compact));
        } else {
            let changed = self.prune(&compact, changes);
            self.breaker.record(freed(&compact, changed));
            self.compacted(changed, changes);
        }
        Ok(())
    }

    /// Checks that the machine waits for this compaction, and that it fits the conversation.
    fn check(&self, compact: &Compact) -> Result<(), MachineError> {
        let next = self.next();
        let is_expected = self.summing.is_none()
            && match compact.reason {
                CompactReason::Threshold => matches!(next, Step::Call(_)),
                CompactReason::Overflow => matches!(next, Step::Shorten(_)),
                CompactReason::Asked => !matches!(next, Step::Shorten(_)),
            };
        if !is_expected {
            return Err(MachineError::NotWaitingFor("this compaction"));
        }
        let older = self.view().older;
        let prunable = |at: &usize| older.get(*at).is_some_and(|message| pruned_result(message).is_some());
        let is_assistant = |cut: usize| matches!(older.get(cut).map(|message| &**message), Some(Message::Assistant(_)));
        let has_goal = |cut: usize| older[..cut].iter().any(|message| matches!(**message, Message::User(_)));
        if compact.is_empty() && compact.reason != CompactReason::Overflow {
            Err(MachineError::InvalidCompaction("it changes nothing"))
        } else if !compact.results.is_sorted_by(|a, b| a < b) || !compact.results.iter().all(prunable) {
            Err(MachineError::InvalidCompaction(
                "it names a message that is not a tool result",
            ))
        } else if compact.cut.is_some_and(|cut| !is_assistant(cut) || !has_goal(cut)) {
            Err(MachineError::InvalidCompaction(
                "the cut must be before an assistant message and after the first user message",
            ))
        } else {
            Ok(())
        }
    }

    pub(in crate::machine) fn summary(&mut self, summary: Summary, changes: &mut Changes) -> Result<(), MachineError> {
        let Some(compact) = self.summing.clone() else {
            return Err(MachineError::NotWaitingFor("a summary"));
        };
        let Summary { reply, tokens } = summary;
        self.count_call(reply.usage.as_ref());
        self.count_lost(&reply.lost);
        if let Some(usage) = &reply.usage {
            changes.emit(|| ModelEvent::Usage(Box::new(usage.clone())));
        }
        if let Some(reason) = rejection(&reply, tokens, compact.tokens_pruned) {
            self.fall_back(Fault::new(FaultKind::Malformed, reason), changes);
            return Ok(());
        }
        self.put_summary(compact.cut.unwrap_or(0), &reply.message.text(), changes);
        changes.push(ContextEvent::Compacted {
            method: CompactionMethod::Summary,
            tokens_before: compact.tokens_before,
            tokens_after: tokens,
        });
        self.breaker.record(compact.tokens_before.saturating_sub(tokens));
        self.compacted(true, changes);
        Ok(())
    }

    /// There is no usable summary: only the tool results are removed.
    pub(in crate::machine) fn fall_back(&mut self, fault: Fault, changes: &mut Changes) {
        let Some(compact) = self.summing.take() else { return };
        changes.push(ContextEvent::CompactionFailed { fault });
        let changed = self.prune(&compact, changes);
        self.breaker.record(0);
        self.compacted(changed, changes);
    }

    /// Ends the compaction. If it was to resolve an overflow but changed nothing, the turn ends.
    fn compacted(&mut self, changed: bool, changes: &mut Changes) {
        self.summing = None;
        if let (Some(fault), false) = (self.turn.as_deref_mut().and_then(Turn::take_overflow), changed) {
            self.end(End::Failed(fault), changes);
        }
    }

    /// Replaces tool results by markers. Returns whether there were any.
    fn prune(&mut self, compact: &Compact, changes: &mut Changes) -> bool {
        if compact.results.is_empty() {
            return false;
        }
        self.history.make_whole();
        let mut older = self.view().older.to_vec();
        for at in &compact.results {
            if let Some(marker) = older.get(*at).and_then(|message| pruned_result(message)) {
                older[*at] = Arc::new(marker);
            }
        }
        changes.rewritten |= self.set_older(older);
        changes.push(ContextEvent::Compacted {
            method: CompactionMethod::Prune,
            tokens_before: compact.tokens_before,
            tokens_after: compact.tokens_pruned,
        });
        true
    }

    fn put_summary(&mut self, cut: usize, summary: &str, changes: &mut Changes) {
        self.history.make_whole();
        let view = self.view();
        let removed: Vec<Text> = ids(&view.older[..cut]).map(Text::from).collect();
        let mut older = summarized(&view.messages(), cut, summary.trim());
        older.truncate(older.len() - view.added.len());
        self.forgotten.extend(removed);
        changes.rewritten |= self.set_older(older);
    }
}

fn freed(compact: &Compact, changed: bool) -> u64 {
    if changed {
        compact.tokens_before.saturating_sub(compact.tokens_pruned)
    } else {
        0
    }
}

/// Returns the reason why a summary cannot be used, if there is one.
fn rejection(reply: &Reply, tokens: u64, limit: u64) -> Option<&'static str> {
    if reply.message.has_tool_calls() {
        Some(
            "the model called tools instead of writing a summary; old tool results were removed instead, if there were any",
        )
    } else if reply.finish == Some(FinishReason::Length) {
        Some("the summary was cut off at its token limit; raise the limit, or use a model that reasons less")
    } else if reply.finish == Some(FinishReason::ContentFilter) {
        Some("the summary was cut off by a content filter")
    } else if reply.message.text().trim().is_empty() {
        Some("the summary is empty")
    } else if tokens >= limit {
        Some("the summary is not shorter than what it would replace")
    } else {
        None
    }
}
