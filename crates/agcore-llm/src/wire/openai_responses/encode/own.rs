//! Items of this API as they go back: whole, but for what it sends and does not take.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Members that are not `null`, which servers write for nothing and do not always take back.
pub(super) struct Filled<'a>(pub(super) &'a Map<String, Value>);

impl Serialize for Filled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().filter(|(_, value)| !value.is_null()))
    }
}

/// An item of a hosted tool. A `null` in it mostly counts: `code`, `outputs` and `result` of others must be there.
pub(super) struct HostedItem<'a>(pub(super) &'a Map<String, Value>);

impl Serialize for HostedItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_search = self.0.get("type").is_some_and(|kind| kind == "web_search_call");
        serializer.collect_map(self.0.iter().map(|(name, value)| match value {
            // `sources` is null unless it was asked for, and then no list, which it must be.
            Value::Object(action) if is_search && name == "action" => (name, HostedMember::Action(Filled(action))),
            value => (name, HostedMember::Any(value)),
        }))
    }
}

/// A member of such an item.
#[derive(Serialize)]
#[serde(untagged)]
enum HostedMember<'a> {
    Action(Filled<'a>),
    Any(&'a Value),
}
