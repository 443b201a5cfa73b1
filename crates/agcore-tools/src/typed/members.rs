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

/// Returns the first member of the arguments that is not known. Does not build the arguments.
pub(super) fn unknown_member(known: &[String], arguments: &Arguments) -> Option<SchemaViolation> {
    let name = match arguments.built() {
        Some(object) => object.keys().find(|name| !known.contains(name)).cloned()?,
        None => unknown_name(known, arguments.as_str())?,
    };
    let message = unknown_member_message(&name, known);
    Some(SchemaViolation::new(format!("$.{name}"), message))
}

/// Returns the first name in the text of an object that is not known.
fn unknown_name(known: &[String], text: &str) -> Option<String> {
    let mut text = serde_json::Deserializer::from_str(text);
    // What is not an object has no members.
    text.deserialize_map(Members(known)).ok().flatten()
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
