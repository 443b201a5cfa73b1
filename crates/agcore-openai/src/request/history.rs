//! [`settle_messages`]: conversations of clients in a form that can be sent to a model.

use std::collections::{HashMap, HashSet};

use agcore_chat::{Block, Content, ContentPart, Marks, Message};

use crate::ids::CallId;

/// The result of a call that the client has not run.
const NOT_RUN: &str = "the call was not run: the conversation has continued without its result";

/// Returns messages in a form that models accept: messages of the user that follow each other become one, and so do replies; calls
/// without a result get one that explains this. Results without a call stay, and models refuse them.
///
/// ```
/// use agcore_chat::{AssistantMessage, Message, ToolCall, validate_messages};
/// use agcore_openai::settle_messages;
///
/// let reply = AssistantMessage::default().with_call(ToolCall::function("c", "pay", "{}"));
/// let messages = vec![Message::user("Pay."), reply.into(), Message::user("Stop."), Message::user("Now.")];
/// assert!(validate_messages(&messages).is_err());
/// let settled = settle_messages(messages);
/// assert!(validate_messages(&settled).is_ok());
/// assert_eq!(settled[3].text(), "Stop.\n\nNow.");
/// ```
pub fn settle_messages(messages: Vec<Message>) -> Vec<Message> {
    let mut settled: Vec<Message> = Vec::with_capacity(messages.len());
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if let Message::Tool(result) = &message {
            open.retain(|call| *call != result.tool_call_id);
            settled.push(message);
            continue;
        }
        settled.extend(open.drain(..).map(not_run));
        if let Message::Assistant(reply) = &message {
            open.extend(reply.tool_calls().map(|call| call.id.clone()));
        }
        match (settled.last_mut(), message) {
            (Some(Message::User(last)), Message::User(next)) => {
                last.content = joined(std::mem::take(&mut last.content), next.content);
            }
            (Some(Message::Assistant(last)), Message::Assistant(next)) => last.blocks.extend(next.blocks),
            (_, message) => settled.push(message),
        }
    }
    settled.extend(open.drain(..).map(not_run));
    settled
}

fn not_run(call: String) -> Message {
    let mut result = Message::tool(call, NOT_RUN);
    if let Message::Tool(result) = &mut result {
        result.marks = Marks::new().with_error(true);
    }
    result
}

fn joined(first: Content, second: Content) -> Content {
    match (first, second) {
        (Content::Text(first), Content::Text(second)) => Content::Text(format!("{first}\n\n{second}")),
        (first, second) => {
            let mut parts = first.into_parts();
            parts.push(ContentPart::text("\n\n"));
            parts.extend(second.into_parts());
            Content::Parts(parts)
        }
    }
}

/// Replaces the [ids](CallId) that clients see by those that the threads know: model servers refuse long ones. Calls of several
/// threads that have the same id there get different ones.
pub(super) fn plain_ids(messages: &mut [Message]) {
    let mut names = Names::of(messages);
    for message in messages {
        match message {
            Message::Assistant(reply) => {
                for block in &mut reply.blocks {
                    if let Block::Call(call) = block
                        && let Some(name) = names.of_call(&call.id)
                    {
                        std::sync::Arc::make_mut(call).id = name;
                    }
                }
            }
            Message::Tool(result) => {
                if let Some(name) = names.of_call(&result.tool_call_id) {
                    result.tool_call_id = name;
                }
            }
            _ => {}
        }
    }
}

/// The new names of calls.
struct Names {
    known: HashMap<String, String>,
    used: HashSet<String>,
}

impl Names {
    /// Reserves the ids that stay.
    fn of(messages: &[Message]) -> Self {
        let replies = messages.iter().filter_map(|message| match message {
            Message::Assistant(reply) => Some(reply),
            _ => None,
        });
        let ids = replies.flat_map(|reply| reply.tool_calls().map(|call| &call.id));
        let used = ids.filter(|id| CallId::decode(id).is_none()).cloned().collect();
        Self {
            known: HashMap::new(),
            used,
        }
    }

    /// Returns the new name of a call; `None` if it keeps its own.
    fn of_call(&mut self, id: &str) -> Option<String> {
        if let Some(name) = self.known.get(id) {
            return Some(name.clone());
        }
        let call = CallId::decode(id)?.call;
        let mut name = call.clone();
        let mut number = 1_usize;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{call}_{number}");
        }
        self.known.insert(id.to_owned(), name.clone());
        Some(name)
    }
}
