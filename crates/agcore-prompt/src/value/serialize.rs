//! Serialization of any value into a [`Snapshot`], and of a [`Value`] into any format.

use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap, SerializeSeq},
};

use super::{
    map::Map,
    snapshot::Snapshot,
    tree::{MAX_DEPTH, Value},
    writer::Writer,
};
use crate::error::{PromptError, PromptErrorKind};

impl Value {
    /// Converts any serializable value.
    ///
    /// The conversion follows serde's JSON data model: structs and maps become objects, enum variants with content become
    /// objects with one field, and bytes become an array. If a field occurs twice, which `#[serde(flatten)]` may cause,
    /// the first one is kept.
    ///
    /// ```
    /// use agcore_prompt::{PromptTemplate, Value};
    ///
    /// #[derive(serde::Serialize)]
    /// struct User {
    ///     name: &'static str,
    ///     age: u8,
    /// }
    ///
    /// let user = Value::from_serialize(&User { name: "Ada", age: 36 })?;
    /// assert_eq!(user.get("age"), Some(&Value::Integer(36)));
    /// assert_eq!(PromptTemplate::compile("{{name}} ({{age}})")?.render(&user)?, "Ada (36)");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the `Serialize` implementation fails, a map has keys that are not scalars, an integer fits neither `i64`
    /// nor `u64`, or the value is nested more than 128 levels deep.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, PromptError> {
        Ok(snapshot(value)?.root().to_value())
    }
}

/// Takes a snapshot of any serializable value.
pub(crate) fn snapshot<T: Serialize + ?Sized>(value: &T) -> Result<Snapshot, PromptError> {
    let mut snapshot = Snapshot::new();
    match value.serialize(Writer::new(&mut snapshot)) {
        Ok(()) => Ok(snapshot),
        Err(error) => Err(PromptError::with_source(PromptErrorKind::Context, error)),
    }
}

/// Serializing fails if the value is nested more than 128 levels deep.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested { value: self, depth: 0 }.serialize(serializer)
    }
}

/// A value with the number of containers around it.
struct Nested<'v> {
    value: &'v Value,
    depth: usize,
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let depth = self.depth;
        match self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Unsigned(number) => serializer.serialize_u64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => Err(S::Error::custom(format_args!(
                "nested more than {MAX_DEPTH} levels deep"
            ))),
            Value::Array(elements) => {
                let mut seq = serializer.serialize_seq(Some(elements.len()))?;
                for value in elements {
                    seq.serialize_element(&Nested {
                        value,
                        depth: depth + 1,
                    })?;
                }
                seq.end()
            }
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (name, value) in object.iter() {
                    map.serialize_entry(
                        name,
                        &Nested {
                            value,
                            depth: depth + 1,
                        },
                    )?;
                }
                map.end()
            }
        }
    }
}

impl<V: Serialize> Serialize for Map<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
