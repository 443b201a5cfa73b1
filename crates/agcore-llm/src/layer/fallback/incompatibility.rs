//! [`Incompatibility`]: why a provider cannot serve a request. Pure.

use std::fmt;

use agcore_chat::{ChatRequest, Content, ContentPart, Message, ResponseFormat, TokenEstimator, Tool};

use crate::provider::Capabilities;

/// The reason that a provider cannot serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incompatibility {
    /// The request contains images.
    Images,
    /// The request contains audio.
    Audio,
    /// The request contains files.
    Files,
    /// The request offers tools.
    Tools,
    /// The request offers custom tools, whose input is free text.
    CustomTools,
    /// The request offers hosted tools, which the server runs.
    HostedTools,
    /// The request asks for an answer that matches a JSON Schema.
    JsonSchema,
    /// The request asks for an answer in JSON.
    JsonObject,
    /// The request is longer than the context window.
    ContextWindow {
        /// The context window in tokens.
        limit: u64,
        /// The tokens that the request needs at least; partly estimated.
        needed: u64,
    },
}

impl Incompatibility {
    /// Returns the first reason that a provider with these capabilities cannot serve the request, regardless of its context
    /// window.
    pub fn check(request: &ChatRequest, capabilities: &Capabilities) -> Option<Self> {
        let format = request.response_format.as_ref();
        if let Some(tools) = Self::of_tools(&request.tools, capabilities) {
            Some(tools)
        } else if !capabilities.json_schema && matches!(format, Some(ResponseFormat::JsonSchema(_))) {
            Some(Self::JsonSchema)
        } else if !capabilities.json_object && matches!(format, Some(ResponseFormat::JsonObject)) {
            Some(Self::JsonObject)
        } else {
            Self::of_parts(request, capabilities)
        }
    }

    fn of_tools(tools: &[Tool], capabilities: &Capabilities) -> Option<Self> {
        let has_custom = || tools.iter().any(|tool| matches!(tool, Tool::Custom(_)));
        let has_hosted = || tools.iter().any(|tool| matches!(tool, Tool::Hosted(_)));
        if !capabilities.tools && !tools.is_empty() {
            Some(Self::Tools)
        } else if !capabilities.custom_tools && has_custom() {
            Some(Self::CustomTools)
        } else if !capabilities.hosted_tools && has_hosted() {
            Some(Self::HostedTools)
        } else {
            None
        }
    }

    fn of_parts(request: &ChatRequest, capabilities: &Capabilities) -> Option<Self> {
        if capabilities.images && capabilities.audio && capabilities.files {
            return None;
        }
        let parts = request.messages.iter().flat_map(|message| parts(message));
        parts.into_iter().find_map(|part| match part {
            ContentPart::ImageUrl(_) if !capabilities.images => Some(Self::Images),
            ContentPart::InputAudio(_) if !capabilities.audio => Some(Self::Audio),
            ContentPart::File(_) if !capabilities.files => Some(Self::Files),
            _ => None,
        })
    }

    /// Compares the context window of a provider with the tokens that a request needs.
    pub fn check_window(needed: u64, capabilities: &Capabilities) -> Option<Self> {
        let limit = capabilities.context_window.filter(|limit| needed > *limit)?;
        Some(Self::ContextWindow { limit, needed })
    }
}

/// Returns a lower bound for the tokens of a request: the estimate less the possible error of estimates.
pub(super) fn min_tokens(request: &ChatRequest, estimator: &dyn TokenEstimator) -> u64 {
    let estimate = estimator.request(request);
    estimate - estimate / 100 * 15
}

/// Returns the parts of the content that a message sends to the model.
fn parts(message: &Message) -> &[ContentPart] {
    let content = match message {
        Message::User(message) => &message.content,
        Message::Tool(message) => &message.content,
        Message::Developer(message) | Message::System(message) => &message.content,
        _ => return &[],
    };
    match content {
        Content::Text(_) => &[],
        Content::Parts(parts) => parts,
    }
}

/// Writes a phrase that follows the name of the provider: `does not support images`.
impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Images => f.write_str("does not support images"),
            Self::Audio => f.write_str("does not support audio"),
            Self::Files => f.write_str("does not support files"),
            Self::Tools => f.write_str("does not support tools"),
            Self::CustomTools => f.write_str("does not support custom tools"),
            Self::HostedTools => f.write_str("does not support hosted tools"),
            Self::JsonSchema => f.write_str("does not support answers that match a JSON Schema"),
            Self::JsonObject => f.write_str("does not support answers in JSON"),
            Self::ContextWindow { limit, needed } => {
                write!(f, "has a context window of {limit} tokens, too small for {needed}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{HeuristicEstimator, ToolDefinition};
    use serde_json::json;

    use super::*;

    fn check(request: ChatRequest, change: impl FnOnce(&mut Capabilities), expected: Option<Incompatibility>) {
        let mut capabilities = Capabilities::default();
        assert_eq!(Incompatibility::check(&request, &capabilities), None);
        change(&mut capabilities);
        assert_eq!(Incompatibility::check(&request, &capabilities), expected);
    }

    #[test]
    fn finds_each_unsupported_feature() {
        let plain = || ChatRequest::new([Message::user("Hello")]);
        let tool = Tool::from(ToolDefinition::new("t", "A tool.", json!({"type": "object"})));
        check(
            plain().with_tools([tool]),
            |capabilities| capabilities.tools = false,
            Some(Incompatibility::Tools),
        );
        let image = ContentPart::image_url("data:image/png;base64,AA==");
        let parts = vec![ContentPart::text("What is this?"), image];
        check(
            ChatRequest::new([Message::user("Hello"), Message::user(parts)]),
            |capabilities| capabilities.images = false,
            Some(Incompatibility::Images),
        );
        let custom: Tool = serde_json::from_value(json!({"type": "custom", "custom": {"name": "free"}})).unwrap();
        check(
            plain().with_tools([custom]),
            |capabilities| capabilities.custom_tools = false,
            Some(Incompatibility::CustomTools),
        );
        check(
            plain().with_tools([Tool::Hosted(json!({"type": "web_search"}))]),
            |capabilities| capabilities.hosted_tools = false,
            Some(Incompatibility::HostedTools),
        );
        let part =
            |part: serde_json::Value| ChatRequest::new([Message::user(vec![serde_json::from_value(part).unwrap()])]);
        check(
            part(json!({"type": "file", "file": {"file_id": "file-1"}})),
            |capabilities| capabilities.files = false,
            Some(Incompatibility::Files),
        );
        check(
            part(json!({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}})),
            |capabilities| capabilities.audio = false,
            Some(Incompatibility::Audio),
        );
        let schema = ResponseFormat::json_schema("x", json!({"type": "object"}));
        check(
            plain().with_response_format(schema),
            |capabilities| capabilities.json_schema = false,
            Some(Incompatibility::JsonSchema),
        );
        check(
            plain().with_response_format(ResponseFormat::JsonObject),
            |capabilities| capabilities.json_object = false,
            Some(Incompatibility::JsonObject),
        );
        check(
            plain(),
            |capabilities| {
                capabilities.tools = false;
                capabilities.images = false;
                capabilities.json_schema = false;
                capabilities.json_object = false;
            },
            None,
        );
    }

    #[test]
    fn compares_windows_with_the_lower_bound_of_the_tokens() {
        let long = ChatRequest::new([Message::user("many words ".repeat(1000))]);
        let needed = min_tokens(&long, &HeuristicEstimator::default());
        let check = |window| {
            let capabilities = Capabilities::default().with_context_window(window);
            Incompatibility::check_window(needed, &capabilities)
        };
        assert_eq!(check(needed), None);
        assert_eq!(check(100), Some(Incompatibility::ContextWindow { limit: 100, needed }));
        assert_eq!(Incompatibility::check_window(u64::MAX, &Capabilities::default()), None);
    }
}
