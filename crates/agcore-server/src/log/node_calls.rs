//! [`NodeCalls`]: the tool calls that nodes make themselves, and what clients have of them.

use std::collections::BTreeMap;

use agcore_chat::ToolEvent;

use super::pending::Pending;

/// The beginning of the names of calls among the sources of a run.
const PREFIX: &str = "call:";

/// The calls of nodes that have not finished. A node that runs again reports its calls again.
#[derive(Debug, Default)]
pub(super) struct NodeCalls(BTreeMap<String, u64>);

/// A report about a call: its request, its start or its end.
#[derive(Debug, PartialEq)]
pub(super) struct CallSource {
    name: String,
    id: String,
    part: u64,
}

impl NodeCalls {
    /// Returns the calls of a flow, from the place where its last run ended and the sources of this one.
    pub(super) fn new(place: &BTreeMap<String, u64>, sources: BTreeMap<String, u64>) -> Self {
        let own = sources.into_iter().filter(|(name, _)| name.starts_with(PREFIX));
        Self(place.clone().into_iter().chain(own).collect())
    }

    pub(super) fn known(&self) -> &BTreeMap<String, u64> {
        &self.0
    }

    /// Notes that an event of a call in a visit of a node is reported. Returns `None` if it was before, or is not reported.
    pub(super) fn advance(&mut self, visit: &str, event: &ToolEvent) -> Option<CallSource> {
        let (id, part) = match event {
            ToolEvent::Requested { call_id, .. } => (call_id, 1),
            ToolEvent::Started { call_id, .. } => (call_id, 2),
            ToolEvent::Completed { call_id, .. } => (call_id, 3),
            _ => return None,
        };
        let name = format!("{}{id}", start_of(visit));
        let known = self.0.entry(name.clone()).or_default();
        if part <= *known {
            return None;
        }
        *known = part;
        Some(CallSource {
            name,
            id: id.to_string(),
            part,
        })
    }

    /// Forgets the calls of a visit of a node that has finished, which will not run again.
    pub(super) fn forget(&mut self, visit: &str) {
        let start = start_of(visit);
        self.0.retain(|name, _| !name.starts_with(&start));
    }
}

impl CallSource {
    /// Returns the place of the event in the visit.
    pub(super) fn place(&self) -> String {
        format!("{}.{}", self.id, self.part)
    }
}

impl From<CallSource> for Pending {
    fn from(source: CallSource) -> Self {
        Self::source(source.name, source.part).needed()
    }
}

fn start_of(visit: &str) -> String {
    format!("{PREFIX}{visit}#")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(id: &str) -> ToolEvent {
        ToolEvent::Started {
            call_id: id.into(),
            name: "clock".into(),
        }
    }

    fn requested(id: &str) -> ToolEvent {
        ToolEvent::Requested {
            call_id: id.into(),
            name: "clock".into(),
            input: "{}".into(),
        }
    }

    #[test]
    fn what_was_reported_is_not_reported_again() {
        let mut calls = NodeCalls::default();
        assert_eq!(calls.advance("t/r/clock/1", &requested("a")).unwrap().place(), "a.1");
        assert_eq!(calls.advance("t/r/clock/1", &requested("a")), None);
        let source = calls.advance("t/r/clock/1", &started("a")).unwrap();
        assert_eq!(source.place(), "a.2");
        assert_eq!(calls.advance("t/r/clock/1", &started("a")), None);
        assert!(calls.advance("t/r/clock/1", &started("b")).is_some());
        assert!(calls.advance("t/r/clock/11", &started("a")).is_some());
        let sources = BTreeMap::from([("records".to_owned(), 3), (source.name, source.part)]);
        let mut continued = NodeCalls::new(calls.known(), sources);
        assert_eq!(continued.known(), calls.known());
        assert_eq!(continued.advance("t/r/clock/11", &started("a")), None);

        calls.forget("t/r/clock/1");
        assert_eq!(calls.known().len(), 1);
        assert!(calls.advance("t/r/clock/1", &started("a")).is_some());
    }
}
