//! Trajectories in the form of ShareGPT.

use std::{collections::VecDeque, sync::Arc};

use agcore_chat::{AssistantMessage, Block, Message, ToolCall, ToolMessage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Trajectory, TrajectoryError};

/// A conversation.
#[derive(Serialize, Deserialize)]
struct Conversation {
    #[serde(default)]
    id: Value,
    conversations: Vec<Part>,
}

/// A part of a conversation, from one side.
#[derive(Serialize, Deserialize)]
struct Part {
    from: String,
    value: String,
}

/// A call of a tool.
#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Trajectory {
    /// Writes the conversation in the form of ShareGPT, which programs for training read: one line of JSON with the `id` of the
    /// session and `conversations`, a list of parts with `from` and `value`.
    ///
    /// `from` is `system`, `human`, `gpt`, `function_call` (the value is a JSON object with `name` and `arguments`, or a list of
    /// them for calls in one reply) or `observation` (the result of one call, in the order of the calls). Images, reasoning, usage
    /// and times are left out, and so is the system prompt of the agent, which is not part of a session.
    ///
    /// ```
    /// use agcore_agent::Trajectory;
    /// use agcore_chat::Message;
    ///
    /// let trajectory = Trajectory::from_messages("s-1", [Message::user("Hello"), Message::assistant("Good day.")])?;
    /// assert_eq!(
    ///     trajectory.to_share_gpt(),
    ///     r#"{"id":"s-1","conversations":[{"from":"human","value":"Hello"},{"from":"gpt","value":"Good day."}]}"#
    /// );
    /// # Ok::<(), agcore_agent::TrajectoryError>(())
    /// ```
    pub fn to_share_gpt(&self) -> String {
        let mut parts = Vec::new();
        for message in in_order_of_calls(self.messages()) {
            add_parts(&message, &mut parts);
        }
        let conversation = Conversation {
            id: self.session().into(),
            conversations: parts,
        };
        json!(conversation).to_string()
    }

    /// Reads a conversation in the form of ShareGPT. Calls of tools get new ids, because the form has none.
    ///
    /// # Errors
    /// When the text is not one such conversation, a part has an unknown `from`, an observation has no call, or the conversation
    /// is not one that a model can be sent.
    pub fn from_share_gpt(text: &str) -> Result<Self, TrajectoryError> {
        let conversation: Conversation = serde_json::from_str(text.trim()).map_err(|error| {
            let problem =
                "this is not a conversation in the form of ShareGPT; a file with several has one on each line";
            TrajectoryError::new(problem).with_source(error)
        })?;
        let id = match &conversation.id {
            Value::String(id) => id.clone(),
            Value::Null => "imported".to_owned(),
            other => other.to_string(),
        };
        let mut reader = Reader::default();
        for (index, part) in conversation.conversations.into_iter().enumerate() {
            let problem =
                |problem: String| TrajectoryError::new(format!("part {} of the conversation {problem}", index + 1));
            reader.read(part).map_err(problem)?;
        }
        Self::from_messages(id, reader.messages)
    }
}

/// Puts the results of each reply into the order of its calls.
fn in_order_of_calls(messages: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let mut calls: Vec<String> = Vec::new();
    let mut sorted: Vec<Arc<Message>> = Vec::new();
    let mut results: Vec<Arc<Message>> = Vec::new();
    for message in messages {
        if matches!(&*message, Message::Tool(_)) {
            results.push(message);
            continue;
        }
        sort_results(&mut results, &calls, &mut sorted);
        if let Some(reply) = message.as_assistant() {
            calls = reply.tool_calls().map(|call| call.id.clone()).collect();
        }
        sorted.push(message);
    }
    sort_results(&mut results, &calls, &mut sorted);
    sorted
}

fn sort_results(results: &mut Vec<Arc<Message>>, calls: &[String], sorted: &mut Vec<Arc<Message>>) {
    results.sort_by_key(|message| match &**message {
        Message::Tool(result) => calls.iter().position(|call| *call == result.tool_call_id),
        _ => None,
    });
    sorted.append(results);
}

fn add_parts(message: &Message, parts: &mut Vec<Part>) {
    let mut add = |from: &str, value: String| {
        parts.push(Part {
            from: from.to_owned(),
            value,
        });
    };
    match message {
        Message::System(_) | Message::Developer(_) => add("system", message.text().into_owned()),
        Message::User(_) => add("human", message.text().into_owned()),
        Message::Tool(_) | Message::Function(_) => add("observation", message.text().into_owned()),
        Message::Assistant(reply) => {
            let text = reply.text();
            if !text.is_empty() || !reply.has_tool_calls() {
                add("gpt", text.into_owned());
            }
            let mut calls: Vec<Value> = reply.tool_calls().map(call_value).collect();
            match calls.len() {
                0 => {}
                1 => add("function_call", calls.remove(0).to_string()),
                _ => add("function_call", Value::Array(calls).to_string()),
            }
        }
        other => add(other.role().as_str(), other.text().into_owned()),
    }
}

fn call_value(call: &ToolCall) -> Value {
    let input = call.raw_input();
    let arguments: Value = serde_json::from_str(input).unwrap_or_else(|_| input.into());
    json!({"name": call.name, "arguments": arguments})
}

/// Reads parts into messages.
#[derive(Default)]
struct Reader {
    messages: Vec<Message>,
    /// The calls without a result.
    open: VecDeque<(String, String)>,
    calls: usize,
}

impl Reader {
    fn read(&mut self, part: Part) -> Result<(), String> {
        match part.from.as_str() {
            "system" => self.messages.push(Message::system(part.value)),
            "human" | "user" => self.messages.push(Message::user(part.value)),
            "gpt" | "assistant" | "chatgpt" => self.messages.push(Message::assistant(part.value)),
            "function_call" => self.read_calls(&part.value)?,
            "observation" | "tool" => {
                let (id, name) = self.open.pop_front().ok_or("is a result without a call")?;
                let mut result = ToolMessage {
                    tool_call_id: id,
                    content: part.value.into(),
                    ..ToolMessage::default()
                };
                result.name = Some(name);
                self.messages.push(Message::Tool(result));
            }
            other => {
                return Err(format!(
                    "is from {other:?}; expected system, human, gpt, function_call or observation"
                ));
            }
        }
        Ok(())
    }

    /// Adds calls: to the text before them, if there is one, which belongs to the same reply.
    fn read_calls(&mut self, value: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(value).map_err(|error| format!("is not a call in JSON: {error}"))?;
        let list = match value {
            Value::Array(list) => list,
            one => vec![one],
        };
        let mut blocks = Vec::new();
        for call in list {
            let call: Call =
                serde_json::from_value(call).map_err(|error| format!("is not a call with a name: {error}"))?;
            self.calls += 1;
            let id = format!("call_{}", self.calls);
            let arguments = match call.arguments {
                Value::Null => "{}".to_owned(),
                Value::String(text) => text,
                other => other.to_string(),
            };
            self.open.push_back((id.clone(), call.name.clone()));
            blocks.push(Block::from(ToolCall::function(id, call.name, arguments)));
        }
        let before = match self.messages.last() {
            Some(Message::Assistant(reply)) if !reply.has_tool_calls() => self.messages.pop(),
            _ => None,
        };
        let mut reply = match before {
            Some(Message::Assistant(reply)) => reply,
            _ => AssistantMessage::from_blocks([]),
        };
        reply.blocks.extend(blocks);
        self.messages.push(Message::Assistant(reply));
        Ok(())
    }
}
