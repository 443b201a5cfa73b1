//! [`Body`]: the whole body, member by member in a fixed order.
//!
//! The messages come near the end, after everything that a longer conversation shares with a shorter one.

use agcore_chat::Extra;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{message::Conversation, parameters::Parameters, tools::Tools};

/// The body of a request.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) parameters: Parameters<'a>,
    pub(super) tools: Tools<'a>,
    pub(super) conversation: &'a Conversation<'a>,
    pub(super) stream: bool,
    pub(super) extra: &'a Extra,
}

impl Body<'_> {
    /// Returns the first member of `extra` that another field sets as well.
    pub(super) fn clash(&self) -> Option<&'static str> {
        let system = (!self.conversation.system.is_empty()).then_some("system");
        let mut names = self.parameters.names().chain(system);
        names.find(|name| self.extra.get(name).is_some())
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("max_tokens", &self.parameters.max_tokens)?;
        if !self.conversation.system.is_empty() {
            map.serialize_entry("system", &self.conversation.system)?;
        }
        if !self.tools.list.is_empty() {
            map.serialize_entry("tools", &self.tools.list)?;
        }
        if let Some(choice) = &self.tools.choice {
            map.serialize_entry("tool_choice", choice)?;
        }
        self.parameters.write(&mut map)?;
        map.serialize_entry("messages", &self.conversation.messages)?;
        if self.stream {
            map.serialize_entry("stream", &true)?;
        }
        for (name, value) in self.extra.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
