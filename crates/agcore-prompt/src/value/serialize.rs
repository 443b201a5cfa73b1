//! serde's two sides: anything serializable to a [`Snapshot`], and a [`Value`] to anything.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{map::Map, snapshot::Snapshot, tree::Value, writer::Writer};
use crate::error::{PromptError, PromptErrorKind};

impl Value {
    /// The value as its `Serialize` tells it, in serde's JSON data model: structs and maps are objects, enum variants
    /// with content are objects of one field, bytes are an array.
    ///
    /// When a field comes twice, as `#[serde(flatten)]` may cause, the first stays.
    ///
    /// # Errors
    /// When the value's own `Serialize` fails, a map has keys that are not scalars, an integer fits neither `i64` nor
    /// `u64`, or the value is nested more than 128 levels deep.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, PromptError> {
        Ok(snapshot(value)?.root().to_value())
    }
}

/// Takes a snapshot of anything serializable.
pub(crate) fn snapshot<T: Serialize + ?Sized>(value: &T) -> Result<Snapshot, PromptError> {
    let mut taken = Snapshot::new();
    match value.serialize(Writer::new(&mut taken)) {
        Ok(()) => Ok(taken),
        Err(fault) => Err(PromptError::caused(PromptErrorKind::Context, fault)),
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(object) => object.serialize(serializer),
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
