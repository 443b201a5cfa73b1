//! [`MessageParts`]: the contents of the `delta` of a chunk or the `message` of a whole reply.

use agcore_chat::Text;
use serde_json::Value;

use super::{call::Fragments, content::Content};
use crate::{
    delta::CallFragment,
    openai_chat::vendor::{REASONING, REASONING_CONTENT},
};

/// The contents of a delta or message.
#[derive(Debug, Default)]
pub(super) struct MessageParts<'de> {
    pub(super) content: Content<'de>,
    pub(super) refusal: Option<Text>,
    /// `reasoning_content`.
    pub(super) reasoning_content: Option<Text>,
    /// `reasoning`.
    pub(super) reasoning: Option<Text>,
    /// `reasoning_details`.
    pub(super) details: Vec<Value>,
    /// `thinking_blocks`.
    pub(super) thinking: Vec<Value>,
    pub(super) calls: Fragments,
    /// The legacy form of a call.
    pub(super) function_call: Option<Box<CallFragment>>,
    pub(super) audio: Option<Value>,
    /// Other members, which are kept in the response.
    pub(super) members: Vec<(Box<str>, Value)>,
}

/// The reasoning in a delta or message.
#[derive(Debug)]
pub(super) struct ReasoningParts {
    /// The readable text in a member of its own, and the name of the member.
    pub(super) plain: Option<(&'static str, Text)>,
    /// `reasoning_details`.
    pub(super) details: Vec<Value>,
    /// `thinking_blocks`.
    pub(super) thinking: Vec<Value>,
}

impl<'de> MessageParts<'de> {
    /// Takes the reasoning out of its members.
    pub(super) fn take_reasoning(&mut self) -> ReasoningParts {
        let plain = match (self.reasoning_content.take(), self.reasoning.take()) {
            // Gateways send the same text under both names.
            (Some(text), _) => Some((REASONING_CONTENT, text)),
            (None, Some(text)) => Some((REASONING, text)),
            (None, None) => None,
        };
        ReasoningParts {
            plain,
            details: std::mem::take(&mut self.details),
            thinking: std::mem::take(&mut self.thinking),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.has_no_other_parts()
    }

    /// Returns the text as it is in the input, if there is nothing else and it has no escapes.
    pub(super) fn only_text(&self) -> Option<&'de str> {
        match self.content {
            Content::Text(_, source) if self.has_no_other_parts() => source,
            _ => None,
        }
    }

    fn has_no_other_parts(&self) -> bool {
        let Self {
            content: _,
            refusal: None,
            reasoning_content: None,
            reasoning: None,
            details,
            thinking,
            calls,
            function_call: None,
            audio: None,
            members,
        } = self
        else {
            return false;
        };
        details.is_empty() && thinking.is_empty() && calls.is_empty() && members.is_empty()
    }
}
