//! [`Subagents`]: the sub-agents of a run.

use std::sync::Arc;

use agcore_chat::Text;
use serde_json::{Value, json};

use super::{calls::Calls, ids::Ids, scope::Scope};
use crate::event::{AguiEvent, EventType};

#[derive(Debug, Clone)]
struct Subagent {
    /// The call that asked, as the agent above names it.
    call: Arc<str>,
    /// The id on the wire.
    id: Text,
    /// The sub-agent above.
    parent: Option<Text>,
    /// Why it failed.
    failure: Option<(String, String)>,
}

/// The reason for which a sub-agent ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum SubagentEnd<'a> {
    /// The run ended.
    Done,
    /// The run waits for these interrupts.
    Suspended(&'a [Value]),
    /// The run was cancelled or failed.
    Failed { code: &'a str, message: &'a str },
}

#[derive(Debug, Clone, Default)]
pub(super) struct Subagents {
    open: Vec<Subagent>,
    ids: Ids,
}

impl Subagents {
    /// Returns the id of the sub-agent whose events name this call, and starts it if this is its first event.
    pub(super) fn enter(
        &mut self,
        call: &Arc<str>,
        agent: &str,
        calls: &Calls,
        scope: &Scope,
        out: &mut Vec<AguiEvent>,
    ) -> Text {
        if let Some(open) = self.open.iter().rev().find(|open| open.call == *call) {
            return open.id.clone();
        }
        let asked = calls.last_open(call);
        let id = self.ids.unique(asked.map_or(call, |asked| &asked.id));
        let parent = asked.and_then(|asked| asked.owner.clone());
        let mut event = AguiEvent::new(EventType::SubagentStarted)
            .with("name", agent)
            .in_subagent(Some(&id));
        if let Some(parent) = &parent {
            event = event.with("parentSubagentRunId", parent.as_str());
        }
        if let Some(asked) = asked {
            event = event
                .with("parentToolCallId", asked.id.as_str())
                .with("parentMessageId", asked.message.as_deref());
        }
        out.push(scope.mark(event));
        self.open.push(Subagent {
            call: call.clone(),
            id: id.clone(),
            parent,
            failure: None,
        });
        id
    }

    /// Notes that the turn of a sub-agent failed.
    pub(super) fn fail(&mut self, id: &str, code: &str, message: &str) {
        if let Some(open) = self.open.iter_mut().find(|open| *open.id == *id) {
            open.failure = Some((code.to_owned(), message.to_owned()));
        }
    }

    /// Returns the ids of the sub-agent that this call of `owner` asked, and of those below it, the deepest first.
    pub(super) fn asked_by(&self, owner: Option<&Text>, call: &str) -> Vec<Text> {
        let asked = self
            .open
            .iter()
            .rev()
            .find(|open| *open.call == *call && open.parent.as_ref() == owner);
        let mut ids: Vec<Text> = asked.map(|open| open.id.clone()).into_iter().collect();
        let mut at = 0;
        while let Some(above) = ids.get(at).cloned() {
            let below = self.open.iter().filter(|open| open.parent.as_ref() == Some(&above));
            ids.extend(below.map(|open| open.id.clone()));
            at += 1;
        }
        ids.reverse();
        ids
    }

    /// Ends a sub-agent.
    pub(super) fn leave(&mut self, id: &str, end: SubagentEnd<'_>, scope: &Scope, out: &mut Vec<AguiEvent>) {
        let Some(index) = self.open.iter().position(|open| *open.id == *id) else {
            return;
        };
        let left = self.open.remove(index);
        let failed = |code: &str, message: &str| {
            AguiEvent::new(EventType::SubagentError)
                .with("message", message)
                .with("code", code)
        };
        let event = match (end, &left.failure) {
            (SubagentEnd::Failed { code, message }, _) => failed(code, message),
            (SubagentEnd::Done, Some((code, message))) => failed(code, message),
            (SubagentEnd::Done, None) => AguiEvent::new(EventType::SubagentFinished),
            (SubagentEnd::Suspended(interrupts), _) => AguiEvent::new(EventType::SubagentFinished)
                .with("outcome", json!({"type": "suspended", "interruptIds": interrupts})),
        };
        out.push(scope.mark(event.in_subagent(Some(&left.id))));
    }

    /// Ends all sub-agents, the ones that started last first.
    pub(super) fn leave_all(&mut self, end: SubagentEnd<'_>, scope: &Scope, out: &mut Vec<AguiEvent>) {
        while let Some(last) = self.open.last() {
            let id = last.id.clone();
            self.leave(&id, end, scope, out);
        }
    }

    /// Repeats an event of the log.
    pub(super) fn replay(&mut self, event: &AguiEvent, calls: &Calls) {
        let Some(id) = event.subagent() else {
            return;
        };
        self.ids.insert(id);
        let text = |name: &str| event.member(name).and_then(Value::as_str);
        if event.event_type() == EventType::SubagentStarted {
            self.open.push(Subagent {
                call: text("parentToolCallId").map_or_else(|| Arc::from(id), |call| calls.known_as(call)),
                id: Text::from(id),
                parent: text("parentSubagentRunId").map(Text::from),
                failure: None,
            });
        } else {
            self.open.retain(|open| *open.id != *id);
        }
    }
}
