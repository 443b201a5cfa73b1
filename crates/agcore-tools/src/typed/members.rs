//! [`unknown_member`]: finds a member of the arguments that the schema does not name; and [`known_members`].

use std::fmt;

use agcore_chat::SchemaViolation;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::{arguments::Arguments, schema::unknown_member_message};

/// Returns the names of the members in a schema with `"additionalProperties": false`; `None` for other schemas.
pub(super) fn known_members(schema: &Value) -> Option<Vec<String>> {
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return None;
    }
    let known = schema.get("properties")?.as_object()?;
    Some(known.keys().cloned().collect())
}

/// Returns the first member of the arguments that is not known. Reads the text of the arguments without building them.
pub(super) fn unknown_member(known: &[String], arguments: &Arguments) -> Option<SchemaViolation> {
    let mut text = serde_json::Deserializer::from_str(arguments.as_str());
    // What is not an object has no members.
    let name = text.deserialize_map(Members(known)).ok().flatten()?;
    let message = unknown_member_message(&name, known);
    Some(SchemaViolation::new(format!("$.{name}"), message))
}

/// Reads an object and returns the first name that is not among these.
struct Members<'a>(&'a [String]);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
        let mut unknown = None;
        while let Some(name) = map.next_key_seed(Name(self.0))? {
            unknown = unknown.or(name);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(unknown)
    }
}

/// Reads a name and returns it if it is not among these.
#[derive(Clone, Copy)]
struct Name<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<String>, E> {
        let is_known = self.0.iter().any(|known| known == name);
        Ok((!is_known).then(|| name.to_owned()))
    }
}
