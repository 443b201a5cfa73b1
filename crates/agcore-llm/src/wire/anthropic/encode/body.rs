//! [`Body`]: the whole body, member by member in a fixed order.
//!
//! Messages stand near the end: what a longer conversation changes comes after all that it shares with the shorter one.

use agcore_chat::Extra;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{parameters::Parameters, purpose::Purpose, tools::Tools, turns::Conversation};

/// Members that a request for a count does not take (`MessageCountTokensParams` of the vendor's SDK).
const ANSWER_ONLY: &[&str] = &["top_k", "container", "inference_geo"];

/// The body of a request.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) purpose: Purpose,
    pub(super) model: &'a str,
    pub(super) parameters: Parameters<'a>,
    pub(super) tools: Tools<'a>,
    pub(super) conversation: &'a Conversation<'a>,
    pub(super) stream: bool,
    pub(super) extra: &'a Extra,
}

impl Body<'_> {
    /// The first further member that is written already.
    pub(super) fn clash(&self) -> Option<&'static str> {
        let system = (!self.conversation.system.is_empty()).then_some("system");
        let mut names = self.parameters.names().chain(system);
        names.find(|name| self.extra.get(name).is_some())
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_answer = self.purpose == Purpose::Answer;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        if is_answer {
            map.serialize_entry("max_tokens", &self.parameters.max_tokens)?;
        }
        if !self.conversation.system.is_empty() {
            map.serialize_entry("system", &self.conversation.system)?;
        }
        if !self.tools.list.is_empty() {
            map.serialize_entry("tools", &self.tools.list)?;
        }
        if let Some(choice) = &self.tools.choice {
            map.serialize_entry("tool_choice", choice)?;
        }
        self.parameters.write_shared(&mut map)?;
        if is_answer {
            self.parameters.write_answer(&mut map)?;
        }
        map.serialize_entry("messages", &self.conversation.turns)?;
        if is_answer && self.stream {
            map.serialize_entry("stream", &true)?;
        }
        let extra = self.extra.iter();
        for (name, value) in extra.filter(|(name, _)| is_answer || !ANSWER_ONLY.contains(&name.as_str())) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
