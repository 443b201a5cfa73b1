//! [`Choice`]: an enum, as the name of a variant or as a table with the name and its content.

use serde::{
    Deserializer,
    de::{DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor, value::StrDeserializer},
};

use crate::{
    error::{ErrorKind, Expected, Found},
    read::failure::Failure,
};

/// The name of a variant, and its content.
pub(super) struct Choice<'d, D> {
    name: &'d str,
    content: Option<D>,
}

impl<'d, D> Choice<'d, D> {
    pub(super) fn new(name: &'d str, content: Option<D>) -> Self {
        Self { name, content }
    }

    fn content(self) -> Result<D, Failure> {
        let Self { name, content } = self;
        content.ok_or_else(|| {
            Failure::new(ErrorKind::WrongType {
                expected: Expected::Other(format!("a table with the member `{name}`")),
                found: Found::Text(name.to_owned()),
            })
        })
    }
}

impl<'d, 'de, D: Deserializer<'de, Error = Failure>> EnumAccess<'de> for Choice<'d, D> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Failure> {
        let name: StrDeserializer<'d, Failure> = self.name.into_deserializer();
        seed.deserialize(name).map(|variant| (variant, self))
    }
}

impl<'de, D: Deserializer<'de, Error = Failure>> VariantAccess<'de> for Choice<'_, D> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(Failure::new(ErrorKind::WrongType {
                expected: Expected::Other(format!("the text `{}`", self.name)),
                found: Found::Table,
            })),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Failure> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Failure> {
        self.content()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Failure> {
        self.content()?.deserialize_struct("", fields, visitor)
    }
}
