//! Taking in how the conversation is made shorter.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, CompactionMethod, ContextEvent, Fault, FaultKind, FinishReason, Message, ModelEvent,
    UsageTracker, pruned_result, summarized,
};

use super::{
    changes::{Changes, MachineError},
    compact::{Compact, CompactReason, Summary},
    end::End,
    reply::Reply,
    state::Machine,
    step::Step,
};

impl Machine {
    pub(super) fn compact(&mut self, compact: Compact, changes: &mut Changes) -> Result<(), MachineError> {
        self.check(&compact)?;
        if compact.cut.is_some() {
            self.summing = Some(compact);
        } else {
            let changed = self.prune(&compact, changes);
            self.breaker.record(freed(&compact, changed));
            self.compacted(changed, changes);
        }
        Ok(())
    }

    /// Whether this compaction is waited for and fits.
    fn check(&self, compact: &Compact) -> Result<(), MachineError> {
        let next = self.next();
        let waits = self.summing.is_none()
            && match compact.reason {
                CompactReason::Threshold => matches!(next, Step::Call(_)),
                CompactReason::Overflow => matches!(next, Step::Shorten(_)),
                CompactReason::Asked => !matches!(next, Step::Shorten(_)),
            };
        if !waits {
            return Err(MachineError::NotWaitingFor("this compaction"));
        }
        let older = self.view().older;
        let prunable = |at: &usize| older.get(*at).is_some_and(|message| pruned_result(message).is_some());
        let goes_on = |cut: usize| matches!(older.get(cut).map(|message| &**message), Some(Message::Assistant(_)));
        let has_goal = |cut: usize| older[..cut].iter().any(|message| matches!(**message, Message::User(_)));
        if compact.is_empty() && compact.reason != CompactReason::Overflow {
            Err(MachineError::BadCompaction("it changes nothing"))
        } else if !compact.results.is_sorted_by(|a, b| a < b) || !compact.results.iter().all(prunable) {
            Err(MachineError::BadCompaction("there is no tool result in a place it names"))
        } else if compact.cut.is_some_and(|cut| !goes_on(cut) || !has_goal(cut)) {
            Err(MachineError::BadCompaction(
                "the cut is not before an assistant message behind the first user message",
            ))
        } else {
            Ok(())
        }
    }

    pub(super) fn summary(&mut self, summary: Summary, changes: &mut Changes) -> Result<(), MachineError> {
        let Some(compact) = self.summing.clone() else {
            return Err(MachineError::NotWaitingFor("a summary"));
        };
        let Summary { reply, tokens } = summary;
        let mut spent = UsageTracker::default();
        spent.record(reply.usage.as_ref());
        spent.merge(&reply.lost);
        self.count(&spent);
        changes.events.extend(
            reply
                .usage
                .clone()
                .map(|usage| ModelEvent::Usage(Box::new(usage)).into()),
        );
        if let Some(why) = unfit(&reply, tokens, compact.tokens_pruned) {
            self.fall_back(Fault::new(FaultKind::Malformed, why), changes);
            return Ok(());
        }
        self.put_summary(compact.cut.unwrap_or(0), &reply.message.text(), changes);
        changes.tell(ContextEvent::Compacted {
            method: CompactionMethod::Summary,
            tokens_before: compact.tokens_before,
            tokens_after: tokens,
        });
        self.breaker.record(compact.tokens_before.saturating_sub(tokens));
        self.compacted(true, changes);
        Ok(())
    }

    /// No summary came: what taking results out gives is all.
    pub(super) fn fall_back(&mut self, fault: Fault, changes: &mut Changes) {
        let Some(compact) = self.summing.take() else { return };
        changes.tell(ContextEvent::CompactionFailed { fault });
        let changed = self.prune(&compact, changes);
        self.breaker.record(0);
        self.compacted(changed, changes);
    }

    /// The compaction is over. One that was to help a call that did not fit, and changed nothing, ends the turn.
    fn compacted(&mut self, changed: bool, changes: &mut Changes) {
        self.summing = None;
        if let (Some(fault), false) = (self.take_overflow(), changed) {
            self.end(End::Failed(fault), changes);
        }
    }

    /// Takes results out; gives back whether there were any.
    fn prune(&mut self, compact: &Compact, changes: &mut Changes) -> bool {
        if compact.results.is_empty() {
            return false;
        }
        let mut older = self.view().older.to_vec();
        for at in &compact.results {
            if let Some(marker) = older.get(*at).and_then(|message| pruned_result(message)) {
                older[*at] = Arc::new(marker);
            }
        }
        changes.rewritten |= self.set_older(older);
        changes.tell(ContextEvent::Compacted {
            method: CompactionMethod::Prune,
            tokens_before: compact.tokens_before,
            tokens_after: compact.tokens_pruned,
        });
        true
    }

    fn put_summary(&mut self, cut: usize, summary: &str, changes: &mut Changes) {
        let view = self.view();
        let ids = view.older[..cut]
            .iter()
            .filter_map(|message| message.as_assistant())
            .flat_map(AssistantMessage::tool_calls)
            .map(|call| call.id.clone());
        let ids: Vec<String> = ids.collect();
        let mut older = summarized(&view.messages(), cut, summary.trim());
        older.truncate(older.len() - view.added.len());
        self.forgotten.extend(ids);
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

/// Why a summary is of no use.
fn unfit(reply: &Reply, tokens: u64, limit: u64) -> Option<&'static str> {
    if reply.message.has_tool_calls() {
        Some(
            "the model called tools instead of summing up; old tool results were taken out instead, where there were any",
        )
    } else if reply.finish == Some(FinishReason::Length) {
        Some("the summary was cut at its token limit; raise it, or take a model that reasons less")
    } else if reply.finish == Some(FinishReason::ContentFilter) {
        Some("the summary was cut by a content filter")
    } else if reply.message.text().trim().is_empty() {
        Some("the summary is empty")
    } else if tokens >= limit {
        Some("the summary is no shorter than what it would replace")
    } else {
        None
    }
}
