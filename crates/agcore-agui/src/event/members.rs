//! [`Members`]: the members of an event.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The members that most events have. A server keeps many events, most of them parts of texts.
const FEW: usize = 2;

/// The members of an event, in the order in which they were added. They are few, so that a list takes less memory and time than a
/// map.
#[derive(Debug, Clone, Default)]
pub(super) struct Members(Vec<(Cow<'static, str>, Value)>);

impl Members {
    /// Adds a member, or replaces its value.
    pub(super) fn insert(&mut self, name: impl Into<Cow<'static, str>>, value: Value) {
        let name = name.into();
        if let Some(known) = self.get_mut(&name) {
            *known = value;
            return;
        }
        if self.0.capacity() == 0 {
            self.0.reserve_exact(FEW);
        }
        self.0.push((name, value));
    }

    /// Removes a member. Returns whether there was one.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(known, _)| known != name);
        self.0.len() != before
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let found = self.0.iter_mut().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Cow<'static, str>, &Value)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Returns a copy as a JSON object.
    pub(super) fn to_map(&self) -> Map<String, Value> {
        let members = self.iter();
        members.map(|(name, value)| (name.to_string(), value.clone())).collect()
    }
}

/// The order does not matter.
impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::<String, Value>::deserialize(deserializer)?;
        let members = map.into_iter().map(|(name, value)| (Cow::Owned(name), value));
        Ok(Self(members.collect()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_replaced_removed_and_compared_by_name() {
        let mut members = Members::default();
        members.insert("a", json!(1));
        members.insert("b", json!(2));
        members.insert("a", json!(3));
        assert_eq!(serde_json::to_string(&members).unwrap(), r#"{"a":3,"b":2}"#);
        let other: Members = serde_json::from_str(r#"{"b":2,"a":3}"#).unwrap();
        assert_eq!(members, other);
        assert_eq!(other.to_map()["b"], 2);
        assert!(members.remove("b") && !members.remove("b"));
        assert_ne!(members, other);
        assert_eq!((members.get("a"), members.get("b")), (Some(&json!(3)), None));
    }
}
