//! Conversion of JSON into a [`Value`], without recursion.

use std::{sync::Arc, vec};

use serde_json::{Map as JsonMap, Value as Json, map};

use super::tree::{Object, Value};

/// The elements of a JSON container that are not yet converted.
enum Rest {
    Array(vec::IntoIter<Json>),
    Object(map::IntoIter),
}

/// A container that is being converted.
struct Converting {
    /// The name of the field whose value this is.
    name: Option<Arc<str>>,
    rest: Rest,
    value: Value,
}

impl Converting {
    /// Converts a value, or starts to convert a container.
    fn new(name: Option<Arc<str>>, json: Json) -> Self {
        let (value, rest) = match json {
            Json::Array(elements) => (
                Value::Array(Vec::with_capacity(elements.len())),
                Rest::Array(elements.into_iter()),
            ),
            Json::Object(fields) => (
                Value::Object(Object::with_capacity(fields.len())),
                Rest::Object(fields.into_iter()),
            ),
            Json::Null => (Value::Null, Rest::Array(vec::IntoIter::default())),
            Json::Bool(flag) => (Value::Bool(flag), Rest::Array(vec::IntoIter::default())),
            Json::Number(number) => (Value::from(&number), Rest::Array(vec::IntoIter::default())),
            Json::String(text) => (Value::String(text), Rest::Array(vec::IntoIter::default())),
        };
        Self { name, rest, value }
    }

    /// Takes the next element, with its name if it is a field.
    fn next(&mut self) -> Option<Self> {
        match &mut self.rest {
            Rest::Array(elements) => elements.next().map(|json| Self::new(None, json)),
            Rest::Object(fields) => fields.next().map(|(name, json)| Self::new(Some(name.into()), json)),
        }
    }

    /// Appends a converted element.
    fn push(&mut self, name: Option<Arc<str>>, element: Value) {
        match (&mut self.value, name) {
            (Value::Object(object), Some(name)) => {
                object.insert(name, element);
            }
            (Value::Array(elements), _) => elements.push(element),
            _ => {}
        }
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        let mut outer = Vec::new();
        let mut current = Converting::new(None, json);
        loop {
            if let Some(element) = current.next() {
                outer.push(std::mem::replace(&mut current, element));
                continue;
            }
            let Some(mut container) = outer.pop() else {
                return current.value;
            };
            container.push(current.name, current.value);
            current = container;
        }
    }
}

impl From<JsonMap<String, Json>> for Value {
    fn from(fields: JsonMap<String, Json>) -> Self {
        Self::from(Json::Object(fields))
    }
}
