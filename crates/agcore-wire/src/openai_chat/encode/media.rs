//! Images, audio and files in tool results, for vendors whose results contain text only: they are moved into a user message
//! after all results of the round, because nothing may come between a call and its results.

use agcore_chat::{ChatRequest, Content, Extra, Message, Role, ToolMessage};
use serde::{Serialize, Serializer, ser::SerializeSeq};

use super::{
    content::{EncodedPart, EncodedText, is_text},
    context::Context,
    message::EncodedMessage,
};
use crate::dialect::ToolMediaRule;

/// Returns whether parts of tool results are moved in this request.
pub(super) fn is_moved(context: &Context<'_>, request: &ChatRequest) -> bool {
    context.dialect.content.tool_media == ToolMediaRule::UserMessage
        && request.messages.iter().any(|message| media(message).is_some())
}

/// Writes the messages of a request, and a user message after each round of results with parts that are moved.
pub(super) fn write<S: Serializer>(
    context: &Context<'_>,
    request: &ChatRequest,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    let mut results: Vec<&ToolMessage> = Vec::new();
    for message in &request.messages {
        if !matches!(&**message, Message::Tool(_)) {
            write_moved(context, &mut results, &mut list)?;
        }
        list.serialize_element(&EncodedMessage { context, message })?;
        results.extend(media(message));
    }
    write_moved(context, &mut results, &mut list)?;
    list.end()
}

/// Returns a tool result that has parts other than text.
fn media(message: &Message) -> Option<&ToolMessage> {
    match message {
        Message::Tool(result) => match &result.content {
            Content::Parts(parts) if !parts.iter().all(is_text) => Some(result),
            _ => None,
        },
        _ => None,
    }
}

fn write_moved<S: SerializeSeq>(
    context: &Context<'_>,
    results: &mut Vec<&ToolMessage>,
    list: &mut S,
) -> Result<(), S::Error> {
    if results.is_empty() {
        return Ok(());
    }
    let results = std::mem::take(results);
    list.serialize_element(&MovedParts { context, results })
}

/// The user message with the parts that were moved out of results.
struct MovedParts<'a> {
    context: &'a Context<'a>,
    results: Vec<&'a ToolMessage>,
}

impl Serialize for MovedParts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct UserMessage<T> {
            role: Role,
            content: Vec<T>,
        }
        let context = self.context;
        let content = self.results.iter().flat_map(|result| {
            let id = context.call_ids.get(&result.tool_call_id);
            let label = match result.name.as_deref().filter(|name| !name.is_empty()) {
                Some(name) => format!("From the result of the tool `{name}` (call {id}):"),
                None => format!("From the result of the call {id}:"),
            };
            let parts = match &result.content {
                Content::Parts(parts) => &parts[..],
                Content::Text(_) => &[],
            };
            let parts = parts.iter().filter(|part| !is_text(part)).map(move |part| {
                MovedPart::Part(EncodedPart {
                    context,
                    part,
                    cache: None,
                })
            });
            std::iter::once(MovedPart::Label(label)).chain(parts)
        });
        UserMessage {
            role: Role::User,
            content: content.collect(),
        }
        .serialize(serializer)
    }
}

enum MovedPart<'a> {
    /// A text that names the call that the next parts belong to.
    Label(String),
    Part(EncodedPart<'a>),
}

impl Serialize for MovedPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Label(text) => EncodedText {
                text,
                extra: &Extra::new(),
                cache: None,
            }
            .serialize(serializer),
            Self::Part(part) => part.serialize(serializer),
        }
    }
}
