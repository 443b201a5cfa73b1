//! [`Writer`]: the serde serializer that fills a [`Snapshot`].

use std::{collections::HashSet, fmt};

use serde::{
    Serialize, Serializer,
    ser::{self, SerializeMap},
};

use super::{
    convert::widen,
    snapshot::{Cell, Extent, Snapshot},
};

/// Levels of nesting that are read; deeper values are almost surely endless.
const MAX_DEPTH: usize = 128;

/// Why a value could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Fault(String);

impl ser::Error for Fault {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

/// Appends one value to a snapshot.
pub(super) struct Writer<'s> {
    into: &'s mut Snapshot,
    depth: usize,
}

impl<'s> Writer<'s> {
    pub(super) fn new(into: &'s mut Snapshot) -> Self {
        Self { into, depth: 0 }
    }

    fn push(self, cell: Cell) -> Result<(), Fault> {
        self.into.cells.push(cell);
        Ok(())
    }

    fn text(self, text: &str) -> Result<(), Fault> {
        let start = position(self.into.text.len())?;
        self.into.text.push_str(text);
        let len = position(text.len())?;
        self.push(Cell::Text { start, len })
    }

    fn open(self, head: fn(Extent) -> Cell) -> Result<Container<'s>, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let at = self.into.cells.len();
        self.into.cells.push(head(Extent::default()));
        Ok(Container {
            into: self.into,
            depth: self.depth + 1,
            at,
            head,
            parts: 0,
            wrapper: None,
            field: at,
            seen: None,
        })
    }

    /// Opens the content of an enum's variant: an object with the variant's name for its only field.
    fn open_variant(self, variant: &'static str, head: fn(Extent) -> Cell) -> Result<Container<'s>, Fault> {
        let wrapper = self.into.cells.len();
        self.into
            .cells
            .extend([Cell::Object(Extent::default()), Cell::Name(variant)]);
        let inner = Writer {
            into: self.into,
            depth: self.depth + 1,
        }
        .open(head)?;
        Ok(Container {
            wrapper: Some(wrapper),
            ..inner
        })
    }
}

/// A container being filled.
pub(super) struct Container<'s> {
    into: &'s mut Snapshot,
    depth: usize,
    at: usize,
    head: fn(Extent) -> Cell,
    parts: usize,
    /// The object around an enum's variant.
    wrapper: Option<usize>,
    /// Where the latest field of a map begins.
    field: usize,
    /// The names so far, in a map that may repeat them.
    seen: Option<HashSet<Box<str>>>,
}

impl Container<'_> {
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.parts += 1;
        value.serialize(Writer {
            into: self.into,
            depth: self.depth,
        })
    }

    fn name(&mut self, name: &'static str) {
        self.into.cells.push(Cell::Name(name));
    }

    fn close(self) -> Result<(), Fault> {
        let end = position(self.into.cells.len())?;
        self.into.cells[self.at] = (self.head)(Extent {
            parts: position(self.parts)?,
            end,
        });
        if let Some(wrapper) = self.wrapper {
            self.into.cells[wrapper] = Cell::Object(Extent { parts: 1, end });
        }
        Ok(())
    }
}

fn position(at: usize) -> Result<u32, Fault> {
    u32::try_from(at).map_err(|_| Fault("larger than 4 GiB".to_owned()))
}

impl<'s> Serializer for Writer<'s> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Container<'s>;
    type SerializeTuple = Container<'s>;
    type SerializeTupleStruct = Container<'s>;
    type SerializeTupleVariant = Container<'s>;
    type SerializeMap = Container<'s>;
    type SerializeStruct = Container<'s>;
    type SerializeStructVariant = Container<'s>;

    fn serialize_bool(self, flag: bool) -> Result<(), Fault> {
        self.push(Cell::Bool(flag))
    }

    fn serialize_i8(self, number: i8) -> Result<(), Fault> {
        self.serialize_i64(number.into())
    }

    fn serialize_i16(self, number: i16) -> Result<(), Fault> {
        self.serialize_i64(number.into())
    }

    fn serialize_i32(self, number: i32) -> Result<(), Fault> {
        self.serialize_i64(number.into())
    }

    fn serialize_i64(self, number: i64) -> Result<(), Fault> {
        self.push(Cell::Integer(number))
    }

    fn serialize_i128(self, number: i128) -> Result<(), Fault> {
        match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => self.serialize_i64(number),
            (_, Ok(number)) => self.serialize_u64(number),
            _ => Err(Fault(format!("the integer {number} is out of range"))),
        }
    }

    fn serialize_u8(self, number: u8) -> Result<(), Fault> {
        self.serialize_i64(number.into())
    }

    fn serialize_u16(self, number: u16) -> Result<(), Fault> {
        self.serialize_i64(number.into())
    }

    fn serialize_u32(self, number: u32) -> Result<(), Fault> {
        self.serialize_i64(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result<(), Fault> {
        self.push(i64::try_from(number).map_or(Cell::Unsigned(number), Cell::Integer))
    }

    fn serialize_u128(self, number: u128) -> Result<(), Fault> {
        match u64::try_from(number) {
            Ok(number) => self.serialize_u64(number),
            Err(_) => Err(Fault(format!("the integer {number} is out of range"))),
        }
    }

    fn serialize_f32(self, number: f32) -> Result<(), Fault> {
        self.serialize_f64(widen(number))
    }

    fn serialize_f64(self, number: f64) -> Result<(), Fault> {
        self.push(Cell::Float(number))
    }

    fn serialize_char(self, character: char) -> Result<(), Fault> {
        self.text(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Fault> {
        self.text(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Fault> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.push(Cell::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        self.push(Cell::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Fault> {
        self.push(Cell::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Fault> {
        self.push(Cell::Name(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        let mut object = self.open(Cell::Object)?;
        object.name(variant);
        object.part(value)?;
        object.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Container<'s>, Fault> {
        self.open(Cell::Array)
    }

    fn serialize_tuple(self, _: usize) -> Result<Container<'s>, Fault> {
        self.open(Cell::Array)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Container<'s>, Fault> {
        self.open(Cell::Array)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'s>, Fault> {
        self.open_variant(variant, Cell::Array)
    }

    /// Maps of the standard library know their length and repeat no name; what serde's `flatten` makes does neither.
    fn serialize_map(self, len: Option<usize>) -> Result<Container<'s>, Fault> {
        let map = self.open(Cell::Object)?;
        Ok(Container {
            seen: len.is_none().then(HashSet::new),
            ..map
        })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Container<'s>, Fault> {
        self.open(Cell::Object)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'s>, Fault> {
        self.open_variant(variant, Cell::Object)
    }
}

impl SerializeMap for Container<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.field = self.into.cells.len();
        key.serialize(Writer {
            into: self.into,
            depth: self.depth,
        })?;
        let name = match self.into.cells[self.field] {
            Cell::Text { .. } | Cell::Name(_) => return Ok(()),
            Cell::Integer(number) => number.to_string(),
            Cell::Unsigned(number) => number.to_string(),
            Cell::Bool(flag) => flag.to_string(),
            _ => {
                return Err(Fault(
                    "a map's key is neither text, an integer nor a boolean".to_owned(),
                ));
            }
        };
        self.into.cells.truncate(self.field);
        Writer {
            into: self.into,
            depth: self.depth,
        }
        .text(&name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.part(value)?;
        let name = self.into.name(self.field);
        if self.seen.as_mut().is_some_and(|seen| !seen.insert(name.into())) {
            self.into.cells.truncate(self.field);
            self.parts -= 1;
        }
        Ok(())
    }

    fn end(self) -> Result<(), Fault> {
        self.close()
    }
}

macro_rules! elements {
    ($($kind:ident :: $method:ident)*) => {$(
        impl ser::$kind for Container<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.part(value)
            }

            fn end(self) -> Result<(), Fault> {
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
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
                self.name(name);
                self.part(value)
            }

            fn end(self) -> Result<(), Fault> {
                self.close()
            }
        }
    )*};
}

fields!(SerializeStruct SerializeStructVariant);
