//! Lines about changes of the context, of steps and of the agent that answers.

use agcore_chat::{AgentEvent, CompactionMethod, ContextEvent};

use crate::{
    failure::ErrorInfo,
    line::Event,
    turn::{Compaction, Handoff, PlanStep},
};

/// Translates a change of a step or of the agent that answers.
pub(super) fn agent_change(event: &AgentEvent) -> Option<Event> {
    Some(match event {
        AgentEvent::PlanStep {
            plan,
            index,
            status,
            description,
        } => Event::PlanStep(PlanStep {
            plan: plan.to_string(),
            index: *index,
            status: status.to_string(),
            description: description.to_string(),
        }),
        AgentEvent::Handoff { from, to } => Event::Handoff(Handoff {
            from: from.to_string(),
            to: to.to_string(),
        }),
        _ => return None,
    })
}

/// Translates a compaction.
pub(super) fn compaction(event: &ContextEvent) -> Option<Event> {
    let compaction = match event {
        ContextEvent::Compacted {
            method,
            tokens_before,
            tokens_after,
        } => Compaction {
            method: Some(method_name(*method).to_owned()),
            tokens_before: Some(*tokens_before),
            tokens_after: Some(*tokens_after),
            error: None,
        },
        ContextEvent::CompactionFailed { fault } => Compaction {
            method: None,
            tokens_before: None,
            tokens_after: None,
            error: Some(ErrorInfo::from(fault)),
        },
        _ => return None,
    };
    Some(Event::Compaction(compaction))
}

fn method_name(method: CompactionMethod) -> &'static str {
    match method {
        CompactionMethod::Prune => "prune",
        CompactionMethod::Summary => "summary",
        _ => "other",
    }
}
