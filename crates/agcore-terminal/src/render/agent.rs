//! Lines about agents: steps of plans, and handoffs.

use agcore_chat::AgentEvent;

use super::text::sanitized;

/// Returns the line for an event. Steps are counted from 1, as people do.
pub(super) fn agent_line(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::PlanStep {
            index,
            status,
            description,
            ..
        } => {
            let mark = match &**status {
                "completed" => '✓',
                "failed" => '✗',
                "skipped" => '–',
                _ => '▸',
            };
            let number = index.saturating_add(1);
            Some(format!("{mark} step {number} {status}: {}", sanitized(description)))
        }
        AgentEvent::Handoff { from, to } => Some(format!("→ {} hands over to {}", sanitized(from), sanitized(to))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_from_one_and_cannot_control_the_terminal() {
        let step = |status: &str| AgentEvent::PlanStep {
            plan: "p".into(),
            index: 0,
            status: status.into(),
            description: "look\u{1b}[2J".into(),
        };
        let line = agent_line(&step("completed")).unwrap();
        assert!(
            line.starts_with("✓ step 1 completed: look") && !line.contains('\u{1b}'),
            "{line:?}"
        );
        assert!(agent_line(&step("running")).unwrap().starts_with("▸ step 1 running"));
        let handoff = AgentEvent::Handoff {
            from: "desk".into(),
            to: "billing".into(),
        };
        assert_eq!(agent_line(&handoff).unwrap(), "→ desk hands over to billing");
    }
}
