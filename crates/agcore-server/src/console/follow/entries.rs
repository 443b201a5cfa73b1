//! [`Entries`]: from the events of a run to changes of the page.

use std::collections::HashMap;

use agcore_agui::{AguiEvent, EventType};
use agcore_console::{Call, Entry, Fragment, Shell, entry_fragment, running_entry_id};
use serde_json::Value;

use crate::{log::LogEvent, service::OwnedRun};

/// The entries of a run so far.
pub(super) struct Entries {
    shell: Shell,
    run: OwnedRun,
    /// The texts that are being written, by the ids of their messages.
    texts: HashMap<String, String>,
    /// The calls without a result, with their arguments as text.
    calls: HashMap<String, (Call, String)>,
    is_over: bool,
}

impl Entries {
    pub(super) fn new(shell: Shell, run: OwnedRun) -> Self {
        Self {
            shell,
            run,
            texts: HashMap::new(),
            calls: HashMap::new(),
            is_over: false,
        }
    }

    pub(super) fn shell(&self) -> &Shell {
        &self.shell
    }

    /// Returns whether the run has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the changes for an event.
    pub(super) fn push(&mut self, event: &LogEvent) -> Vec<Fragment> {
        let LogEvent::Agui(event) = event else {
            return Vec::new();
        };
        self.is_over |= event.is_terminal();
        // The work of sub-agents is on the page of the run.
        if event.subagent().is_some() {
            return Vec::new();
        }
        match event.event_type() {
            EventType::TextMessageStart | EventType::TextMessageContent | EventType::TextMessageEnd => self.text(event),
            EventType::ReasoningMessageStart | EventType::ReasoningMessageContent => self.reasoning(event),
            EventType::ToolCallStart | EventType::ToolCallArgs | EventType::ToolCallEnd | EventType::ToolCallResult => {
                self.call(event)
            }
            EventType::RunError => {
                let entry = Entry::Failed(self.run.run.clone(), member(event, "message"));
                vec![self.element(&entry)]
            }
            EventType::RunFinished
                if event
                    .member("outcome")
                    .is_some_and(|outcome| outcome["type"] == "cancelled") =>
            {
                vec![self.element(&Entry::Cancelled(self.run.run.clone()))]
            }
            _ => Vec::new(),
        }
    }

    fn text(&mut self, event: &AguiEvent) -> Vec<Fragment> {
        let id = member(event, "messageId");
        match event.event_type() {
            EventType::TextMessageStart => {
                self.texts.insert(id.clone(), String::new());
                vec![self.element(&Entry::Writing(id, String::new()))]
            }
            EventType::TextMessageContent => {
                let delta = member(event, "delta");
                self.texts.entry(id.clone()).or_default().push_str(&delta);
                let element = running_entry_id(&Entry::Writing(id, String::new()));
                vec![Fragment::Text(element, delta)]
            }
            _ => {
                let text = self.texts.remove(&id).unwrap_or_default();
                let entry = Entry::Answer(id, text, Some(self.run.run.clone()));
                match event
                    .own_member("discarded")
                    .is_some_and(|discarded| *discarded == true)
                {
                    true => vec![Fragment::Remove(entry.element())],
                    false => vec![self.element(&entry)],
                }
            }
        }
    }

    fn reasoning(&mut self, event: &AguiEvent) -> Vec<Fragment> {
        let entry = Entry::Reasoning(member(event, "messageId"), String::new());
        match event.event_type() {
            EventType::ReasoningMessageStart => vec![self.element(&entry)],
            _ => vec![Fragment::Text(running_entry_id(&entry), member(event, "delta"))],
        }
    }

    fn call(&mut self, event: &AguiEvent) -> Vec<Fragment> {
        let id = member(event, "toolCallId");
        let new = Call {
            id: format!("{}/{id}", self.run.run),
            tool: member(event, "toolCallName"),
            arguments: Value::Null,
            result: None,
        };
        let (call, arguments) = self.calls.entry(id.clone()).or_insert((new, String::new()));
        match event.event_type() {
            EventType::ToolCallArgs => {
                arguments.push_str(&member(event, "delta"));
                return Vec::new();
            }
            EventType::ToolCallEnd => {
                let parsed = serde_json::from_str(arguments);
                call.arguments = parsed.unwrap_or_else(|_| Value::String(arguments.clone()));
            }
            EventType::ToolCallResult => {
                let own = |name: &str| event.own_member(name);
                if let (true, Some(tool)) = (call.tool.is_empty(), own("tool_name").and_then(Value::as_str)) {
                    // The call was announced by an earlier run, which waited for a person.
                    tool.clone_into(&mut call.tool);
                    call.arguments = own("tool_call_args").cloned().unwrap_or_default();
                }
                call.result = Some((member(event, "content"), own("error").is_some()));
            }
            _ => {}
        }
        let entry = Entry::Call(call.clone());
        if event.event_type() == EventType::ToolCallResult {
            self.calls.remove(&id);
        }
        vec![self.element(&entry)]
    }

    fn element(&self, entry: &Entry) -> Fragment {
        Fragment::Element(entry_fragment(&self.shell, &self.run.thread, entry))
    }
}

fn member(event: &AguiEvent, name: &str) -> String {
    event
        .member(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
