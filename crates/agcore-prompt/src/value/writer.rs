//! [`Writer`]: the serde serializer that fills a [`Snapshot`].

use std::{collections::HashSet, fmt};

use serde::{
    Serialize, Serializer,
    ser::{self, SerializeMap},
};

use super::{
    convert::widen,
    snapshot::{Cell, Extent, Snapshot},
    tree::MAX_DEPTH,
};

/// The reason why a value could not be serialized.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct SerializeError(String);

impl ser::Error for SerializeError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

/// A serializer that appends one value to a snapshot.
pub(super) struct Writer<'s> {
    snapshot: &'s mut Snapshot,
    depth: usize,
}

impl<'s> Writer<'s> {
    pub(super) fn new(snapshot: &'s mut Snapshot) -> Self {
        Self { snapshot, depth: 0 }
    }

    fn push(self, cell: Cell) -> Result<(), SerializeError> {
        self.snapshot.cells.push(cell);
        Ok(())
    }

    fn text(self, text: &str) -> Result<(), SerializeError> {
        let start = to_u32(self.snapshot.text.len())?;
        self.snapshot.text.push_str(text);
        let len = to_u32(text.len())?;
        self.push(Cell::Text { start, len })
    }

    fn open(self, head: fn(Extent) -> Cell) -> Result<Container<'s>, SerializeError> {
        if self.depth == MAX_DEPTH {
            return Err(SerializeError(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let at = self.snapshot.cells.len();
        self.snapshot.cells.push(head(Extent::default()));
        Ok(Container {
            snapshot: self.snapshot,
            depth: self.depth + 1,
            at,
            head,
            parts: 0,
            wrapper: None,
            field: at,
            seen: None,
        })
    }

    /// Opens the content of an enum variant, in an object whose only field is named after the variant.
    fn open_variant(self, variant: &'static str, head: fn(Extent) -> Cell) -> Result<Container<'s>, SerializeError> {
        let wrapper = self.snapshot.cells.len();
        self.snapshot
            .cells
            .extend([Cell::Object(Extent::default()), Cell::Name(variant)]);
        let inner = Writer {
            snapshot: self.snapshot,
            depth: self.depth + 1,
        }
        .open(head)?;
        Ok(Container {
            wrapper: Some(wrapper),
            ..inner
        })
    }
}

/// A container that is being filled.
pub(super) struct Container<'s> {
    snapshot: &'s mut Snapshot,
    depth: usize,
    at: usize,
    head: fn(Extent) -> Cell,
    parts: usize,
    /// The cell of the object around an enum variant.
    wrapper: Option<usize>,
    /// The first cell of the latest field of a map.
    field: usize,
    /// The names so far, for a map that may repeat names.
    seen: Option<HashSet<Box<str>>>,
}

impl Container<'_> {
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.parts += 1;
        value.serialize(Writer {
            snapshot: self.snapshot,
            depth: self.depth,
        })
    }

    fn name(&mut self, name: &'static str) {
        self.snapshot.cells.push(Cell::Name(name));
    }

    fn close(self) -> Result<(), SerializeError> {
        let end = to_u32(self.snapshot.cells.len())?;
        self.snapshot.cells[self.at] = (self.head)(Extent {
            parts: to_u32(self.parts)?,
            end,
        });
        if let Some(wrapper) = self.wrapper {
            self.snapshot.cells[wrapper] = Cell::Object(Extent { parts: 1, end });
        }
        Ok(())
    }
}

/// Converts an index or a length to `u32`.
fn to_u32(value: usize) -> Result<u32, SerializeError> {
    u32::try_from(value).map_err(|_| SerializeError("larger than 4 GiB".to_owned()))
}

impl<'s> Serializer for Writer<'s> {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Container<'s>;
    type SerializeTuple = Container<'s>;
    type SerializeTupleStruct = Container<'s>;
    type SerializeTupleVariant = Container<'s>;
    type SerializeMap = Container<'s>;
    type SerializeStruct = Container<'s>;
    type SerializeStructVariant = Container<'s>;

    fn serialize_bool(self, flag: bool) -> Result<(), SerializeError> {
        self.push(Cell::Bool(flag))
    }

    fn serialize_i8(self, number: i8) -> Result<(), SerializeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i16(self, number: i16) -> Result<(), SerializeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i32(self, number: i32) -> Result<(), SerializeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_i64(self, number: i64) -> Result<(), SerializeError> {
        self.push(Cell::Integer(number))
    }

    fn serialize_i128(self, number: i128) -> Result<(), SerializeError> {
        match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => self.serialize_i64(number),
            (_, Ok(number)) => self.serialize_u64(number),
            _ => Err(SerializeError(format!("integer {number} is out of range"))),
        }
    }

    fn serialize_u8(self, number: u8) -> Result<(), SerializeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_u16(self, number: u16) -> Result<(), SerializeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_u32(self, number: u32) -> Result<(), SerializeError> {
        self.serialize_i64(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result<(), SerializeError> {
        self.push(i64::try_from(number).map_or(Cell::Unsigned(number), Cell::Integer))
    }

    fn serialize_u128(self, number: u128) -> Result<(), SerializeError> {
        match u64::try_from(number) {
            Ok(number) => self.serialize_u64(number),
            Err(_) => Err(SerializeError(format!("integer {number} is out of range"))),
        }
    }

    fn serialize_f32(self, number: f32) -> Result<(), SerializeError> {
        self.serialize_f64(widen(number))
    }

    fn serialize_f64(self, number: f64) -> Result<(), SerializeError> {
        self.push(Cell::Float(number))
    }

    fn serialize_char(self, character: char) -> Result<(), SerializeError> {
        self.text(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), SerializeError> {
        self.text(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), SerializeError> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<(), SerializeError> {
        self.push(Cell::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SerializeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), SerializeError> {
        self.push(Cell::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerializeError> {
        self.push(Cell::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), SerializeError> {
        self.push(Cell::Name(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), SerializeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        let mut object = self.open(Cell::Object)?;
        object.name(variant);
        object.part(value)?;
        object.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Container<'s>, SerializeError> {
        self.open(Cell::Array)
    }

    fn serialize_tuple(self, _: usize) -> Result<Container<'s>, SerializeError> {
        self.open(Cell::Array)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Container<'s>, SerializeError> {
        self.open(Cell::Array)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'s>, SerializeError> {
        self.open_variant(variant, Cell::Array)
    }

    /// Standard maps know their length and never repeat a name. Maps created by `#[serde(flatten)]` have no length and may
    /// repeat names.
    fn serialize_map(self, len: Option<usize>) -> Result<Container<'s>, SerializeError> {
        let map = self.open(Cell::Object)?;
        Ok(Container {
            seen: len.is_none().then(HashSet::new),
            ..map
        })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Container<'s>, SerializeError> {
        self.open(Cell::Object)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'s>, SerializeError> {
        self.open_variant(variant, Cell::Object)
    }
}

impl SerializeMap for Container<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerializeError> {
        self.field = self.snapshot.cells.len();
        key.serialize(Writer {
            snapshot: self.snapshot,
            depth: self.depth,
        })?;
        let name = match self.snapshot.cells[self.field] {
            Cell::Text { .. } | Cell::Name(_) => return Ok(()),
            Cell::Integer(number) => number.to_string(),
            Cell::Unsigned(number) => number.to_string(),
            Cell::Bool(flag) => flag.to_string(),
            _ => {
                return Err(SerializeError(
                    "map key must be a string, an integer or a boolean".to_owned(),
                ));
            }
        };
        self.snapshot.cells.truncate(self.field);
        Writer {
            snapshot: self.snapshot,
            depth: self.depth,
        }
        .text(&name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.part(value)?;
        let name = self.snapshot.name(self.field);
        if self.seen.as_mut().is_some_and(|seen| !seen.insert(name.into())) {
            self.snapshot.cells.truncate(self.field);
            self.parts -= 1;
        }
        Ok(())
    }

    fn end(self) -> Result<(), SerializeError> {
        self.close()
    }
}

macro_rules! elements {
    ($($kind:ident :: $method:ident)*) => {$(
        impl ser::$kind for Container<'_> {
            type Ok = ();
            type Error = SerializeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
                self.part(value)
            }

            fn end(self) -> Result<(), SerializeError> {
                self.close()
            }
        }
    )*};
}

elements!(SerializeSeq::serialize_element SerializeTuple::serialize_element);
elements!(SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field);

macro_rules! fields {
    ($($kind:ident)*) => {$(
        impl ser::$kind for Container<'_> {
            type Ok = ();
            type Error = SerializeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), SerializeError> {
                self.name(name);
                self.part(value)
            }

            fn end(self) -> Result<(), SerializeError> {
                self.close()
            }
        }
    )*};
}

fields!(SerializeStruct SerializeStructVariant);
