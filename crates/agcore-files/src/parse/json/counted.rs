//! [`Counted`]: reads JSON values and counts them.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::{problem::FileProblem, work::Work};

/// Reads a value like `Value` does, but fails as soon as there are more values than the limit of cells. A value needs many times
/// the memory of its text.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) work: &'a Work<'a>,
    /// Receives the problem: the error of a deserializer cannot contain it.
    pub(super) problem: &'a Cell<Option<FileProblem>>,
}

impl Counted<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        let result = self.work.check().and_then(|()| self.work.count_cells(1));
        result.map_err(|problem| {
            self.problem.set(Some(problem));
            E::custom("stopped")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            map.insert(name, members.next_value_seed(self)?);
        }
        Ok(map.into())
    }
}
