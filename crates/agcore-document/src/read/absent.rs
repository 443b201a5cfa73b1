//! [`AbsentDeserializer`]: the placeholder of a member that a table lacks.

use serde::{Deserializer, de::Visitor, forward_to_deserialize_any};

use crate::{
    error::ErrorKind,
    field::FIELD,
    place::Place,
    read::{failure::Failure, place::AbsentAccess},
};

/// The placeholder of a member that a table lacks: an [`Option`] and a [`Field`](crate::Field) are empty, and other types fail.
pub(super) struct AbsentDeserializer {
    /// The place of the table.
    place: Place,
    name: String,
}

impl AbsentDeserializer {
    pub(super) fn new(place: Place, name: String) -> Self {
        Self { place, name }
    }
}

impl<'de> Deserializer<'de> for AbsentDeserializer {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Failure> {
        Err(Failure::new(ErrorKind::MissingField(self.name)))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_none()
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match name {
            FIELD => visitor.visit_map(AbsentAccess::new(self.place)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}
