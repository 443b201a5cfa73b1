//! [`Said`]: what a message says, before it is told.

use agcore_chat::Text;
use serde_json::Value;

use crate::delta::CallFragment;

/// What a message says, before it is told.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) thinking: Option<Text>,
    pub(super) content: Option<Text>,
    pub(super) calls: Vec<CallFragment>,
    /// Members that are kept for the response.
    pub(super) members: Vec<(Box<str>, Value)>,
    /// Whether there is a message object at all.
    pub(super) is_there: bool,
    /// Whether a plain text stands in its place, as in the errors of gateways.
    pub(super) is_words: bool,
}
