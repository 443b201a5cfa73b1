//! [`KeyDeserializer`]: the name of a member.

use serde::{
    Deserializer,
    de::{IntoDeserializer, Visitor, value::StrDeserializer},
    forward_to_deserialize_any,
};

use crate::{
    field::PLACED,
    node::Member,
    read::{failure::Failure, place::PlacedAccess},
};

/// The name of a member.
pub(super) struct KeyDeserializer<'d>(pub(super) &'d Member);

impl<'d> KeyDeserializer<'d> {
    fn name(&self) -> StrDeserializer<'d, Failure> {
        self.0.name.as_str().into_deserializer()
    }
}

impl<'de> Deserializer<'de> for KeyDeserializer<'_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_str(&self.0.name)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.name().deserialize_enum(name, variants, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match name {
            PLACED => visitor.visit_map(PlacedAccess::new(self.0.place, self.name())),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}
