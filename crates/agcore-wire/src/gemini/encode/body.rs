//! [`Body`]: the whole body, member by member in a fixed order.
//!
//! The contents come near the end, after everything that a longer conversation shares with a shorter one.

use std::collections::BTreeMap;

use agcore_chat::Extra;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::{message::Conversation, part::EncodedPart, tools::Tools};

/// The members of `extra_body` that are merged with what fields of the request set.
const GENERATION_CONFIG: &str = "generationConfig";
const TOOL_CONFIG: &str = "toolConfig";
const CALLING_CONFIG: &str = "functionCallingConfig";

/// The members that fields of the request set. The API accepts both spellings of each name.
const OWN: &[(&str, &str)] = &[
    ("contents", "messages"),
    ("systemInstruction", "messages"),
    ("system_instruction", "messages"),
    ("generation_config", "`generationConfig`"),
    ("tool_config", "`toolConfig`"),
    ("serviceTier", "service_tier"),
];

/// The handle of a prompt in the vendor's cache.
const CACHED_CONTENT: &str = "cachedContent";

/// The body of a request.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) conversation: Conversation<'a>,
    pub(super) tools: Tools<'a>,
    pub(super) tool_config: Map<String, Value>,
    pub(super) generation_config: Map<String, Value>,
    pub(super) service_tier: Option<&'static str>,
    pub(super) extra: &'a Extra,
}

impl Body<'_> {
    /// Adds the members of `extra_body` to those that the request's fields set. A member that both set is an error.
    pub(super) fn merge_extra(&mut self) -> Result<(), String> {
        for (name, instead) in OWN {
            if self.extra.get(name).is_some() {
                return Err(format!("extra_body must not contain `{name}`: set {instead} instead"));
            }
        }
        if let Some(config) = self.tools.config() {
            self.tool_config.insert(CALLING_CONFIG.to_owned(), config.clone());
        }
        merge(&mut self.tool_config, self.extra, TOOL_CONFIG)?;
        merge(&mut self.generation_config, self.extra, GENERATION_CONFIG)?;
        if self.extra.get(CACHED_CONTENT).is_some() {
            let parts = [
                ("instructions", !self.conversation.system.is_empty()),
                ("tools", !self.tools.is_empty()),
                ("`toolConfig`", !self.tool_config.is_empty()),
            ];
            if let Some((part, _)) = parts.into_iter().find(|(_, is_set)| *is_set) {
                return Err(format!(
                    "`cachedContent` in extra_body cannot be combined with {part}: put them into the cache, and leave them out"
                ));
            }
        }
        Ok(())
    }
}

/// Adds the members of an object in `extra_body`. Objects in both are merged as well: `thinkingConfig`.
fn merge(object: &mut Map<String, Value>, extra: &Extra, name: &str) -> Result<(), String> {
    match extra.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(members)) => merge_members(object, members, name),
        Some(_) => Err(format!("`{name}` in extra_body must be an object")),
    }
}

fn merge_members(object: &mut Map<String, Value>, members: &Map<String, Value>, path: &str) -> Result<(), String> {
    for (name, value) in members {
        match (object.get_mut(name), value) {
            (Some(Value::Object(own)), Value::Object(more)) => merge_members(own, more, &format!("{path}.{name}"))?,
            // A wish of the wire, not of the request.
            (Some(own), _) if name == "includeThoughts" => *own = value.clone(),
            (Some(_), _) => {
                return Err(format!(
                    "extra_body must not contain `{path}.{name}`: a field of the request already sets it"
                ));
            }
            (None, _) => drop(object.insert(name.clone(), value.clone())),
        }
    }
    Ok(())
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.conversation.system.is_empty() {
            let instruction: BTreeMap<&str, &[EncodedPart<'_>]> =
                BTreeMap::from([("parts", &self.conversation.system[..])]);
            map.serialize_entry("systemInstruction", &instruction)?;
        }
        if !self.tools.is_empty() {
            map.serialize_entry("tools", &self.tools)?;
        }
        if !self.tool_config.is_empty() {
            map.serialize_entry(TOOL_CONFIG, &self.tool_config)?;
        }
        if !self.generation_config.is_empty() {
            map.serialize_entry(GENERATION_CONFIG, &self.generation_config)?;
        }
        map.serialize_entry("contents", &self.conversation.contents)?;
        if let Some(tier) = self.service_tier {
            map.serialize_entry("serviceTier", tier)?;
        }
        let others = self
            .extra
            .iter()
            .filter(|(name, _)| ![GENERATION_CONFIG, TOOL_CONFIG].contains(&name.as_str()));
        for (name, value) in others {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
