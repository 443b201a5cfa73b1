//! The serializer of single values, and the beginnings of those with parts.

use serde::{Serialize, Serializer};
use serde_json::{Error, Map, Value};

use super::{
    Delta, compare,
    compound::{Built, List, Members, StructBuilder, TupleBuilder},
};

use crate::progress::TAKEN;

/// The beginning of the names that serde_json uses for structures that represent other values.
const PRIVATE: &str = "$serde_json::private::";

macro_rules! numbers {
    ($($name:ident: $kind:ty),*) => {
        $(fn $name(self, new: $kind) -> Result<(), Error> {
            self.value(Value::from(new));
            Ok(())
        })*
    };
}

impl<'a, 'o, 'p> Serializer for Delta<'a, 'o, 'p> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = List<'a, 'o, 'p>;
    type SerializeTuple = List<'a, 'o, 'p>;
    type SerializeTupleStruct = List<'a, 'o, 'p>;
    type SerializeTupleVariant = Built<'a, 'o, 'p, TupleBuilder>;
    type SerializeMap = Members<'a, 'o, 'p>;
    type SerializeStruct = Members<'a, 'o, 'p>;
    type SerializeStructVariant = Built<'a, 'o, 'p, StructBuilder>;

    // Numbers and booleans are values that cost nothing to build.
    numbers!(
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_f64: f64
    );

    fn serialize_i128(self, new: i128) -> Result<(), Error> {
        self.value(serde_json::to_value(new)?);
        Ok(())
    }

    fn serialize_u128(self, new: u128) -> Result<(), Error> {
        self.value(serde_json::to_value(new)?);
        Ok(())
    }

    fn serialize_char(self, new: char) -> Result<(), Error> {
        self.serialize_str(new.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, new: &str) -> Result<(), Error> {
        if self.old.as_str() != Some(new) {
            self.replace(Value::from(new));
        }
        Ok(())
    }

    fn serialize_bytes(self, new: &[u8]) -> Result<(), Error> {
        self.collect_seq(new)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, new: &T) -> Result<(), Error> {
        new.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.value(Value::Null);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, new: &T) -> Result<(), Error> {
        match name {
            // A node has the state, so it is as it was.
            TAKEN => Ok(()),
            _ => new.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        new: &T,
    ) -> Result<(), Error> {
        match self.old.as_object() {
            Some(members) if members.len() == 1 && members.contains_key(variant) => {
                compare(self.operations, self.place.member(variant), members.get(variant), new)
            }
            _ => {
                let members = Map::from_iter([(variant.to_owned(), serde_json::to_value(new)?)]);
                self.replace(Value::Object(members));
                Ok(())
            }
        }
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        List::new(self, length)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, Error> {
        List::new(self, Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Self::SerializeTupleStruct, Error> {
        List::new(self, Some(length))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        let builder = serde_json::value::Serializer.serialize_tuple_variant(name, index, variant, length)?;
        Ok(Built::new(self, builder))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, Error> {
        Members::of_map(self, length)
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, Error> {
        if name.starts_with(PRIVATE) {
            return Members::of_private(self, name, length);
        }
        Members::of_struct(self, length)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        let builder = serde_json::value::Serializer.serialize_struct_variant(name, index, variant, length)?;
        Ok(Built::new(self, builder))
    }
}
