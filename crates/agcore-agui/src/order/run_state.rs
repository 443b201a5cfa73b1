//! [`RunState`]: the open messages, calls, steps and sub-agents of a run.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// The sub-agent that a message, a call or a step belongs to; `None` for the run itself.
type Owner = Option<String>;

/// Things of one kind that start and end: their owners, and which are open.
#[derive(Debug, Default)]
struct Spans {
    owners: HashMap<String, Owner>,
    open: HashSet<String>,
}

/// The things that are open in a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    pub(super) has_ended: bool,
    pub(super) has_failed: bool,
    ids: (String, String),
    texts: Spans,
    reasoning: Spans,
    reasoning_messages: Spans,
    calls: Spans,
    /// The owners of messages that contain calls.
    parents: HashMap<String, Owner>,
    results: HashSet<String>,
    /// The ids of the messages of results.
    result_messages: HashSet<String>,
    steps: HashSet<(Owner, String)>,
    subagents: HashSet<String>,
    ended_subagents: HashSet<String>,
}

impl RunState {
    pub(super) fn new(event: &Value) -> Result<Self, String> {
        Ok(Self {
            ids: (text(event, "threadId")?, text(event, "runId")?),
            ..Self::default()
        })
    }

    pub(super) fn failed() -> Self {
        Self {
            has_ended: true,
            has_failed: true,
            ..Self::default()
        }
    }

    pub(super) fn finish(&mut self, event: &Value) -> Result<(), String> {
        if (text(event, "threadId")?, text(event, "runId")?) != self.ids {
            return Err("the ids are not those of the run".to_owned());
        }
        let first = |open: &HashSet<String>| open.iter().min().cloned();
        let open = [
            ("text message", first(&self.texts.open)),
            ("tool call", first(&self.calls.open)),
            ("reasoning message", first(&self.reasoning_messages.open)),
            ("reasoning", first(&self.reasoning.open)),
            ("step", self.steps.iter().map(|(_, name)| name.clone()).min()),
            ("sub-agent", first(&self.subagents)),
        ];
        if let Some((what, Some(id))) = open.into_iter().find(|(_, id)| id.is_some()) {
            return Err(format!("the {what} {id} is open"));
        }
        self.has_ended = true;
        Ok(())
    }

    pub(super) fn event(&mut self, kind: &str, event: &Value) -> Result<(), String> {
        let owner = event.get("subagentRunId").and_then(Value::as_str).map(str::to_owned);
        if let Some(ended) = owner.as_ref().filter(|owner| self.ended_subagents.contains(*owner)) {
            return Err(format!("the sub-agent {ended} has ended"));
        }
        match kind {
            "TEXT_MESSAGE_START" => {
                let id = text(event, "messageId")?;
                if self.texts.owners.contains_key(&id) {
                    return Err(format!("the id {id} was used for another text message"));
                }
                self.texts.start("text message", id, owner)
            }
            "TEXT_MESSAGE_CONTENT" => self.texts.go_on("text message", event, "messageId", &owner),
            "TEXT_MESSAGE_END" => self.texts.end("text message", event, "messageId", &owner),
            "REASONING_START" => self.reasoning.start("reasoning", text(event, "messageId")?, owner),
            "REASONING_END" => self.reasoning.end("reasoning", event, "messageId", &owner),
            "REASONING_MESSAGE_START" => {
                self.reasoning_messages
                    .start("reasoning message", text(event, "messageId")?, owner)
            }
            "REASONING_MESSAGE_CONTENT" => {
                self.reasoning_messages
                    .go_on("reasoning message", event, "messageId", &owner)
            }
            "REASONING_MESSAGE_END" => self
                .reasoning_messages
                .end("reasoning message", event, "messageId", &owner),
            "TOOL_CALL_START" => {
                let id = text(event, "toolCallId")?;
                if self.calls.owners.contains_key(&id) {
                    return Err(format!("the id {id} was used for another tool call"));
                }
                self.check_parent(event, &owner)?;
                self.calls.start("tool call", id, owner)
            }
            "TOOL_CALL_ARGS" => self.calls.go_on("tool call", event, "toolCallId", &owner),
            "TOOL_CALL_END" => self.calls.end("tool call", event, "toolCallId", &owner),
            "TOOL_CALL_RESULT" => self.result(event, &owner),
            "STEP_STARTED" | "STEP_FINISHED" => self.step(kind, event, owner),
            "SUBAGENT_STARTED" => self.subagent(event),
            "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => {
                let id = text(event, "subagentRunId")?;
                if !self.subagents.remove(&id) {
                    return Err(format!("the sub-agent {id} is not open"));
                }
                self.ended_subagents.insert(id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A call belongs to the agent of the message that contains it.
    fn check_parent(&mut self, event: &Value, owner: &Owner) -> Result<(), String> {
        let Some(parent) = event.get("parentMessageId").and_then(Value::as_str) else {
            return Ok(());
        };
        let texts = self.texts.owners.get(parent);
        let known = texts.or_else(|| self.parents.get(parent));
        if known.is_some_and(|known| known != owner) {
            return Err(format!("the message {parent} belongs to another agent"));
        }
        self.parents.insert(parent.to_owned(), owner.clone());
        Ok(())
    }

    fn step(&mut self, kind: &str, event: &Value, owner: Owner) -> Result<(), String> {
        let name = text(event, "stepName")?;
        let step = (owner, name.clone());
        if kind == "STEP_STARTED" {
            let is_new = self.steps.insert(step);
            return is_new.then_some(()).ok_or_else(|| format!("the step {name} is open"));
        }
        let was_open = self.steps.remove(&step);
        was_open
            .then_some(())
            .ok_or_else(|| format!("the step {name} is not open"))
    }

    fn result(&mut self, event: &Value, owner: &Owner) -> Result<(), String> {
        let (id, message) = (text(event, "toolCallId")?, text(event, "messageId")?);
        if self.calls.open.contains(&id) {
            return Err(format!("the tool call {id} is open"));
        }
        if self.texts.owners.contains_key(&message) || !self.result_messages.insert(message.clone()) {
            return Err(format!("the id {message} was used for another message"));
        }
        self.calls.check_owner("tool call", &id, owner)?;
        let is_first = self.results.insert(id.clone());
        is_first
            .then_some(())
            .ok_or_else(|| format!("the tool call {id} has a result"))
    }

    fn subagent(&mut self, event: &Value) -> Result<(), String> {
        let id = text(event, "subagentRunId")?;
        text(event, "name")?;
        if let Some(parent) = event.get("parentSubagentRunId").and_then(Value::as_str)
            && !self.subagents.contains(parent)
            && !self.ended_subagents.contains(parent)
        {
            return Err(format!("the sub-agent {parent} above was not started"));
        }
        let is_new = self.subagents.insert(id.clone());
        is_new
            .then_some(())
            .ok_or_else(|| format!("the sub-agent {id} is open"))
    }
}

impl Spans {
    fn start(&mut self, what: &str, id: String, owner: Owner) -> Result<(), String> {
        if self.open.contains(&id) {
            return Err(format!("the {what} {id} is open"));
        }
        if self.owners.contains_key(&id) {
            self.check_owner(what, &id, &owner)?;
        }
        self.owners.entry(id.clone()).or_insert(owner);
        self.open.insert(id);
        Ok(())
    }

    fn go_on(&self, what: &str, event: &Value, member: &str, owner: &Owner) -> Result<(), String> {
        let id = text(event, member)?;
        text(event, "delta")?;
        if !self.open.contains(&id) {
            return Err(format!("the {what} {id} is not open"));
        }
        self.check_owner(what, &id, owner)
    }

    fn end(&mut self, what: &str, event: &Value, member: &str, owner: &Owner) -> Result<(), String> {
        let id = text(event, member)?;
        self.check_owner(what, &id, owner)?;
        let was_open = self.open.remove(&id);
        was_open
            .then_some(())
            .ok_or_else(|| format!("the {what} {id} is not open"))
    }

    /// An event without a sub-agent may continue what a sub-agent started, but not the other way round.
    fn check_owner(&self, what: &str, id: &str, owner: &Owner) -> Result<(), String> {
        match self.owners.get(id) {
            Some(known) if owner.is_some() && known != owner => {
                Err(format!("the {what} {id} belongs to another agent"))
            }
            _ => Ok(()),
        }
    }
}

fn text(event: &Value, member: &str) -> Result<String, String> {
    let text = event.get(member).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| format!("the member {member} must be a text"))
}
