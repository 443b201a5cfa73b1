//! [`Said`]: what a delta or message says, before it is told.

use agcore_chat::Text;
use serde_json::Value;

use super::{call::Fragments, content::Content};
use crate::delta::CallFragment;

/// What a delta or message says.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) content: Content,
    pub(super) refusal: Option<Text>,
    /// `reasoning_content`.
    pub(super) reasoning_content: Option<Text>,
    /// `reasoning`.
    pub(super) reasoning: Option<Text>,
    pub(super) details: Vec<Value>,
    pub(super) calls: Fragments,
    /// The legacy form of a call.
    pub(super) function_call: Option<Box<CallFragment>>,
    pub(super) audio: Option<Value>,
    /// Members that are kept for the response.
    pub(super) members: Vec<(Box<str>, Value)>,
}

impl Said {
    pub(super) fn says_nothing(&self) -> bool {
        let Self {
            content,
            refusal: None,
            reasoning_content: None,
            reasoning: None,
            details,
            calls,
            function_call: None,
            audio: None,
            members,
        } = self
        else {
            return false;
        };
        content.is_empty() && details.is_empty() && calls.is_empty() && members.is_empty()
    }

    /// The address of the text, when it stands in the input as it is and there is nothing else.
    pub(super) fn only_text(&self) -> Option<usize> {
        let Self {
            content: Content::Text(_, Some(address)),
            refusal: None,
            reasoning_content: None,
            reasoning: None,
            details,
            calls,
            function_call: None,
            audio: None,
            members,
        } = self
        else {
            return None;
        };
        let is_only = details.is_empty() && calls.is_empty() && members.is_empty();
        is_only.then_some(*address)
    }
}
