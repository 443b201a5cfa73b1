//! [`Lack`]: why a provider cannot take a request. Pure.

use std::fmt;

use agcore_chat::{ChatRequest, Content, ContentPart, Message, ResponseFormat, TokenEstimator};

use crate::provider::Capabilities;

/// What a provider lacks for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lack {
    /// It takes no pictures.
    Images,
    /// It knows no tools.
    Tools,
    /// It cannot hold itself to a JSON Schema.
    JsonSchema,
    /// It cannot promise JSON.
    JsonObject,
    /// Its window is too small.
    Window {
        /// The window, in tokens.
        limit: u64,
        /// What is needed at least, in tokens; partly estimated.
        needed: u64,
    },
}

impl Lack {
    /// The first thing that a provider lacks for a request, its window apart.
    pub fn of(request: &ChatRequest, capabilities: &Capabilities) -> Option<Self> {
        let format = request.response_format.as_ref();
        if !capabilities.tools && !request.tools.is_empty() {
            Some(Self::Tools)
        } else if !capabilities.json_schema && matches!(format, Some(ResponseFormat::JsonSchema(_))) {
            Some(Self::JsonSchema)
        } else if !capabilities.json_object && matches!(format, Some(ResponseFormat::JsonObject)) {
            Some(Self::JsonObject)
        } else if !capabilities.images && request.messages.iter().any(|message| has_image(message)) {
            Some(Self::Images)
        } else {
            None
        }
    }

    /// Whether a provider's window is too small for so many tokens.
    pub fn of_window(needed: u64, capabilities: &Capabilities) -> Option<Self> {
        let limit = capabilities.context_window.filter(|limit| needed > *limit)?;
        Some(Self::Window { limit, needed })
    }
}

/// The fewest tokens that a request needs: its prompt as estimated, less what estimates may be wrong by.
pub(super) fn least_tokens(request: &ChatRequest, estimator: &dyn TokenEstimator) -> u64 {
    let estimate = estimator.request(request);
    estimate - estimate / 100 * 15
}

fn has_image(message: &Message) -> bool {
    let content = match message {
        Message::User(message) => &message.content,
        Message::Tool(message) => &message.content,
        Message::Developer(message) | Message::System(message) => &message.content,
        _ => return false,
    };
    match content {
        Content::Text(_) => false,
        Content::Parts(parts) => parts.iter().any(|part| matches!(part, ContentPart::ImageUrl(_))),
    }
}

/// Goes after a name: `cannot take pictures`.
impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Images => f.write_str("cannot take pictures"),
            Self::Tools => f.write_str("cannot use tools"),
            Self::JsonSchema => f.write_str("cannot answer by a JSON Schema"),
            Self::JsonObject => f.write_str("cannot promise JSON"),
            Self::Window { limit, needed } => {
                write!(f, "has a window of {limit} tokens, too small for {needed}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{HeuristicEstimator, Tool, ToolDefinition};
    use serde_json::json;

    use super::*;

    fn check(request: ChatRequest, change: impl FnOnce(&mut Capabilities), expected: Option<Lack>) {
        let mut capabilities = Capabilities::default();
        assert_eq!(Lack::of(&request, &capabilities), None);
        change(&mut capabilities);
        assert_eq!(Lack::of(&request, &capabilities), expected);
    }

    #[test]
    fn each_need_is_seen() {
        let plain = || ChatRequest::new([Message::user("Hello")]);
        let tool = Tool::from(ToolDefinition::new("t", "A tool.", json!({"type": "object"})));
        check(plain().with_tools([tool]), |able| able.tools = false, Some(Lack::Tools));
        let picture = ContentPart::image_url("data:image/png;base64,AA==");
        let parts = vec![ContentPart::text("What is this?"), picture];
        let seen = ChatRequest::new([Message::user("Hello"), Message::user(parts)]);
        check(seen, |able| able.images = false, Some(Lack::Images));
        let schema = ResponseFormat::json_schema("x", json!({"type": "object"}));
        check(
            plain().with_response_format(schema),
            |able| able.json_schema = false,
            Some(Lack::JsonSchema),
        );
        let object = plain().with_response_format(ResponseFormat::JsonObject);
        check(object, |able| able.json_object = false, Some(Lack::JsonObject));
        check(
            plain(),
            |able| {
                able.tools = false;
                able.images = false;
                able.json_schema = false;
                able.json_object = false;
            },
            None,
        );
    }

    #[test]
    fn windows_are_compared_with_what_is_surely_needed() {
        let long = ChatRequest::new([Message::user("many words ".repeat(1000))]);
        let least = least_tokens(&long, &HeuristicEstimator::default());
        let window = |tokens| Lack::of_window(least, &Capabilities::default().with_context_window(tokens));
        assert_eq!(window(least), None);
        assert_eq!(
            window(100),
            Some(Lack::Window {
                limit: 100,
                needed: least
            })
        );
        assert_eq!(Lack::of_window(u64::MAX, &Capabilities::default()), None);
    }
}
