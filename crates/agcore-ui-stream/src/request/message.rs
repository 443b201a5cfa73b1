//! Messages of the AI SDK as messages of AG-UI.

use serde_json::{Map, Value, json};

/// The messages of a request in the form of AG-UI.
pub(super) struct Translated {
    pub(super) messages: Vec<Value>,
    /// The answers to approvals of the last message.
    pub(super) answers: Vec<Value>,
}

/// Translates messages of users and replies. Of others, nothing but the role is left, so that they are refused where messages are
/// read: a page must not bring messages in the form of AG-UI past this translation.
pub(super) fn translated(all: &[Value]) -> Translated {
    let (mut messages, mut answers) = (Vec::new(), Vec::new());
    for (index, message) in all.iter().enumerate() {
        match (message["role"].as_str(), message["parts"].as_array()) {
            (Some("user"), Some(parts)) => {
                let parts: Vec<Value> = parts.iter().filter_map(user_part).collect();
                messages.push(json!({"id": message["id"], "role": "user", "content": parts}));
            }
            (Some("assistant"), Some(parts)) => {
                messages.extend(Reply::new(message["id"].as_str().unwrap_or_default()).read(parts));
                if index + 1 == all.len() {
                    answers.extend(parts.iter().filter_map(approval));
                }
            }
            // Instructions of a page are not those of the agent.
            (Some("system" | "developer"), _) => {}
            _ if message.is_object() => messages.push(json!({"id": message["id"], "role": message["role"]})),
            _ => messages.push(message.clone()),
        }
    }
    Translated { messages, answers }
}

/// Returns a part of a message of the user. Those that are only for display have none.
fn user_part(part: &Value) -> Option<Value> {
    match part["type"].as_str()? {
        "text" => Some(json!({"type": "text", "text": part["text"]})),
        "file" => {
            let (url, kind) = (
                part["url"].as_str().unwrap_or_default(),
                part["mediaType"].as_str().unwrap_or_default(),
            );
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            let source = match data {
                Some((_, data)) => json!({"type": "data", "value": data, "mimeType": kind}),
                None => json!({"type": "url", "value": url}),
            };
            let class = kind
                .split('/')
                .next()
                .filter(|class| matches!(*class, "image" | "audio"));
            let kind = class.unwrap_or("document");
            Some(json!({"type": kind, "source": source, "metadata": {"filename": part["filename"]}}))
        }
        _ => None,
    }
}

/// Returns the answer to an approval that a part has.
fn approval(part: &Value) -> Option<Value> {
    if part["state"] != "approval-responded" {
        return None;
    }
    let approval = &part["approval"];
    let mut payload = json!({"approved": approval["approved"]});
    if let Some(reason) = approval["reason"].as_str() {
        payload["message"] = reason.into();
    }
    Some(json!({"interruptId": approval["id"], "status": "resolved", "payload": payload}))
}

/// A reply with its calls and results: one message of the AI SDK may be several of AG-UI.
struct Reply {
    id: String,
    count: usize,
    text: String,
    calls: Vec<Value>,
    results: Vec<Value>,
    messages: Vec<Value>,
}

impl Reply {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            count: 0,
            text: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
            messages: Vec::new(),
        }
    }

    fn read(mut self, parts: &[Value]) -> Vec<Value> {
        for part in parts {
            match part["type"].as_str() {
                Some("text") => {
                    if !self.calls.is_empty() {
                        self.flush();
                    }
                    self.text.push_str(part["text"].as_str().unwrap_or_default());
                }
                Some("dynamic-tool") => {
                    let name = part["toolName"].as_str().unwrap_or_default().to_owned();
                    self.call(&name, part);
                }
                Some(kind) => {
                    if let Some(name) = kind.strip_prefix("tool-") {
                        self.call(name, part);
                    }
                }
                None => {}
            }
        }
        self.flush();
        self.messages
    }

    fn call(&mut self, name: &str, part: &Value) {
        let id = part["toolCallId"].as_str().unwrap_or_default();
        let input = match &part["input"] {
            Value::Null => Value::Object(Map::new()),
            input => input.clone(),
        };
        let function = json!({"name": name, "arguments": input.to_string()});
        self.calls
            .push(json!({"id": id, "type": "function", "function": function}));
        let mut result = json!({"id": format!("{id}:result"), "role": "tool", "toolCallId": id});
        match part["state"].as_str() {
            Some("output-available") => {
                result["content"] = match &part["output"] {
                    Value::String(text) => text.as_str().into(),
                    output => output.to_string().into(),
                };
            }
            Some("output-error" | "output-denied") => {
                let error = part["errorText"].as_str().unwrap_or("the call was refused");
                result["content"] = error.into();
                result["error"] = error.into();
            }
            _ => return,
        }
        self.results.push(result);
    }

    fn flush(&mut self) {
        if self.text.is_empty() && self.calls.is_empty() {
            return;
        }
        let id = match self.count {
            0 => self.id.clone(),
            count => format!("{}:{count}", self.id),
        };
        self.count += 1;
        let text = std::mem::take(&mut self.text);
        let calls = std::mem::take(&mut self.calls);
        self.messages
            .push(json!({"id": id, "role": "assistant", "content": text, "toolCalls": calls}));
        self.messages.append(&mut self.results);
    }
}
