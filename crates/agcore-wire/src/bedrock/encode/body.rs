//! [`Body`]: the whole body, member by member in a fixed order.
//!
//! The messages come near the end, after everything that a longer conversation shares with a shorter one.

use agcore_chat::Extra;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::{block::Blocks, message::Conversation, parameters::Parameters, tools::Tools};

/// The members of `extra_body` that are merged with what fields of the request set.
const INFERENCE: &str = "inferenceConfig";
const OUTPUT: &str = "outputConfig";
const ADDITIONAL: &str = "additionalModelRequestFields";
const METADATA: &str = "requestMetadata";

/// The members that fields of the request set.
const OWN: &[(&str, &str)] = &[
    ("modelId", "`model`"),
    ("system", "`messages`"),
    ("toolConfig", "`tools` and `tool_choice`"),
    ("serviceTier", "`service_tier`"),
];

/// The body of a request.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) conversation: &'a Conversation<'a>,
    pub(super) tools: &'a Tools<'a>,
    pub(super) parameters: Parameters,
    pub(super) extra: &'a Extra,
}

/// Adds the members of `extra_body` to the parameters of a request. A member that a field sets as well is an error.
pub(super) fn merge_extra(parameters: &mut Parameters, extra: &Extra) -> Result<(), String> {
    for (name, instead) in OWN {
        if extra.get(name).is_some() {
            return Err(format!("extra_body must not contain `{name}`: set {instead} instead"));
        }
    }
    merge(&mut parameters.inference, extra, INFERENCE)?;
    merge(&mut parameters.output, extra, OUTPUT)?;
    merge(&mut parameters.additional, extra, ADDITIONAL)?;
    merge(&mut parameters.metadata, extra, METADATA)
}

/// Adds the members of an object in `extra_body`. Objects in both are merged as well: `output_config`.
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
            map.serialize_entry("system", &Blocks(&self.conversation.system))?;
        }
        if !self.tools.list.is_empty() {
            let (tools, tool_choice) = (self.tools, self.tools.choice.as_ref());
            map.serialize_entry("toolConfig", &ToolConfig { tools, tool_choice })?;
        }
        let parameters = &self.parameters;
        let objects = [
            (INFERENCE, &parameters.inference),
            (OUTPUT, &parameters.output),
            (ADDITIONAL, &parameters.additional),
            (METADATA, &parameters.metadata),
        ];
        for (name, object) in objects.iter().filter(|(_, object)| !object.is_empty()) {
            map.serialize_entry(name, object)?;
        }
        if let Some(tier) = parameters.service_tier {
            map.serialize_entry("serviceTier", &ServiceTier { r#type: tier })?;
        }
        let is_merged = |name: &str| objects.iter().any(|(merged, _)| *merged == name);
        for (name, value) in self.extra.iter().filter(|(name, _)| !is_merged(name)) {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("messages", &self.conversation.messages)?;
        map.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    tools: &'a Tools<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'a Value>,
}

#[derive(Serialize)]
struct ServiceTier {
    r#type: &'static str,
}
