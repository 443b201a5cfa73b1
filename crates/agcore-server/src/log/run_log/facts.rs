//! Facts about a run that its events contain: whether and how it has ended, and from where they come.

use std::collections::BTreeMap;

use agcore_agui::EventType;

use super::{LogEvent, RunLog};

impl RunLog {
    /// Returns whether the run has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.items().iter().rev().any(|item| item.event.is_end())
    }

    /// Returns how the run has ended.
    pub(crate) fn outcome(&self) -> &'static str {
        let items = self.items();
        let Some(LogEvent::Agui(end)) = items.iter().rev().map(|item| &item.event).find(|event| event.is_end()) else {
            return "failed";
        };
        let outcome = end.member("outcome").and_then(|outcome| outcome["type"].as_str());
        match (end.event_type(), outcome) {
            (EventType::RunError, _) => "failed",
            (_, Some("interrupt")) => "interrupted",
            (_, Some("cancelled")) => "cancelled",
            _ => "completed",
        }
    }

    pub(crate) fn is_cancel_requested(&self) -> bool {
        self.items()
            .iter()
            .any(|item| matches!(item.event, LogEvent::CancelRequested))
    }

    /// Returns the sources from which the stored events come, with the number of the last event of each.
    pub(crate) fn sources(&self) -> BTreeMap<String, u64> {
        let items = self.items();
        let sources = items.iter().filter_map(|item| match &item.event {
            LogEvent::Source { name, seq } => Some((name.clone(), *seq)),
            _ => None,
        });
        sources.collect()
    }
}
