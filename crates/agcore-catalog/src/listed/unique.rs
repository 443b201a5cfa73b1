//! [`Unique`]: the members of a JSON object, in which no name occurs twice.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

/// The members of a JSON object in their order. An object with two members of the same name is refused, because
/// readers would disagree about the value.
#[derive(Debug, Clone)]
pub(super) struct Unique<V>(pub(super) Vec<(String, V)>);

impl<V> Default for Unique<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Unique<V> {
    /// Returns the value of a member.
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        let mut members = self.0.iter();
        members.find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

struct Members<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
    type Value = Unique<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, V)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((name, value)) = map.next_entry::<String, V>()? {
            if !seen.insert(name.clone()) {
                let name: String = name.chars().take(64).collect();
                return Err(A::Error::custom(format_args!("the name {name:?} occurs twice")));
            }
            members.push((name, value));
        }
        Ok(Unique(members))
    }
}
