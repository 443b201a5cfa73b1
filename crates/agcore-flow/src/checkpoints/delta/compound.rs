//! Values with parts: lists, members, and those that are built before they are compared.

use std::collections::HashSet;

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
        SerializeTupleVariant,
    },
};
use serde_json::{Error, Map, Value, value};

use super::{Changes, Delta};

type JsonSeq = <value::Serializer as Serializer>::SerializeSeq;
type JsonMap = <value::Serializer as Serializer>::SerializeMap;
type JsonStruct = <value::Serializer as Serializer>::SerializeStruct;
pub(super) type TupleBuilder = <value::Serializer as Serializer>::SerializeTupleVariant;
pub(super) type StructBuilder = <value::Serializer as Serializer>::SerializeStructVariant;

/// A value that is built, because what was there has another form, and compared at its end.
pub(super) struct Built<'a, 'o, B> {
    at: Delta<'a, 'o>,
    builder: B,
}

impl<'a, 'o, B> Built<'a, 'o, B> {
    pub(super) fn new(at: Delta<'a, 'o>, builder: B) -> Self {
        Self { at, builder }
    }
}

/// A list, compared item by item with a list.
pub(super) enum List<'a, 'o> {
    Same {
        changes: &'a mut Changes,
        old: &'o [Value],
        next: usize,
    },
    Other(Built<'a, 'o, JsonSeq>),
}

impl<'a, 'o> List<'a, 'o> {
    pub(super) fn new(at: Delta<'a, 'o>, length: Option<usize>) -> Result<Self, Error> {
        Ok(match at.old {
            Value::Array(old) => Self::Same {
                changes: at.changes,
                old,
                next: 0,
            },
            _ => Self::Other(Built::new(at, value::Serializer.serialize_seq(length)?)),
        })
    }

    fn item<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        match self {
            Self::Same { changes, old, next } => {
                let (index, place) = (*next, old.get(*next));
                *next += 1;
                changes.compare(number(index, &mut [0; 20]), place, new)
            }
            Self::Other(built) => SerializeSeq::serialize_element(&mut built.builder, new),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            // The last items first: each removal moves those behind it.
            Self::Same { changes, old, next } => {
                for index in (next..old.len()).rev() {
                    changes.remove(number(index, &mut [0; 20]));
                }
            }
            Self::Other(Built { at, builder }) => at.value(SerializeSeq::end(builder)?),
        }
        Ok(())
    }
}

/// Writes a number without an allocation, as there may be many items.
fn number(mut number: usize, digits: &mut [u8; 20]) -> &str {
    let mut first = digits.len();
    loop {
        first -= 1;
        // A remainder of ten is a digit.
        digits[first] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    str::from_utf8(&digits[first..]).unwrap_or_default()
}

/// The members of a map or a structure, compared with those of an object.
pub(super) enum Members<'a, 'o> {
    Same {
        changes: &'a mut Changes,
        old: &'o Map<String, Value>,
        /// The names that were serialized and are in the old object.
        known: HashSet<&'o str>,
        key: Option<String>,
    },
    OtherMap(Built<'a, 'o, JsonMap>),
    OtherStruct(Built<'a, 'o, JsonStruct>),
}

impl<'a, 'o> Members<'a, 'o> {
    pub(super) fn of_map(at: Delta<'a, 'o>, length: Option<usize>) -> Result<Self, Error> {
        match at.old {
            Value::Object(old) => Ok(Self::same(at.changes, old)),
            _ => Ok(Self::OtherMap(Built::new(at, value::Serializer.serialize_map(length)?))),
        }
    }

    pub(super) fn of_struct(at: Delta<'a, 'o>, length: usize) -> Result<Self, Error> {
        match at.old {
            Value::Object(old) => Ok(Self::same(at.changes, old)),
            _ => Self::of_private(at, "", length),
        }
    }

    /// A structure that only serde_json can turn into a value.
    pub(super) fn of_private(at: Delta<'a, 'o>, name: &'static str, length: usize) -> Result<Self, Error> {
        let builder = value::Serializer.serialize_struct(name, length)?;
        Ok(Self::OtherStruct(Built::new(at, builder)))
    }

    fn same(changes: &'a mut Changes, old: &'o Map<String, Value>) -> Self {
        Self::Same {
            changes,
            old,
            known: HashSet::with_capacity(old.len()),
            key: None,
        }
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, new: &T) -> Result<(), Error> {
        let Self::Same {
            changes, old, known, ..
        } = self
        else {
            return Ok(());
        };
        let found = old.get_key_value(name);
        if let Some((name, _)) = found {
            known.insert(name);
        }
        changes.compare(name, found.map(|(_, value)| value), new)
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Self::Same {
                changes, old, known, ..
            } => {
                if known.len() < old.len() {
                    for name in old.keys().filter(|name| !known.contains(name.as_str())) {
                        changes.remove(name);
                    }
                }
            }
            Self::OtherMap(Built { at, builder }) => at.value(SerializeMap::end(builder)?),
            Self::OtherStruct(Built { at, builder }) => at.value(SerializeStruct::end(builder)?),
        }
        Ok(())
    }
}

/// A map with one key, to find out how serde_json writes the key.
struct OneKey<'k, K: ?Sized>(&'k K);

impl<K: Serialize + ?Sized> Serialize for OneKey<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, ())])
    }
}

fn key_text<K: Serialize + ?Sized>(key: &K) -> Result<String, Error> {
    let Value::Object(members) = serde_json::to_value(OneKey(key))? else {
        return Ok(String::new());
    };
    Ok(members.into_iter().next().map(|(name, _)| name).unwrap_or_default())
}

impl SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        match self {
            Self::Same { key, .. } => *key = Some(key_text(new)?),
            Self::OtherMap(built) => built.builder.serialize_key(new)?,
            Self::OtherStruct(_) => {}
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        match self {
            Self::Same { key, .. } => {
                let name = key.take().unwrap_or_default();
                self.member(&name, new)
            }
            Self::OtherMap(built) => built.builder.serialize_value(new),
            Self::OtherStruct(_) => Ok(()),
        }
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeStruct for Members<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, new: &T) -> Result<(), Error> {
        match self {
            Self::OtherStruct(built) => built.builder.serialize_field(name, new),
            _ => self.member(name, new),
        }
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeSeq for List<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.item(new)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeTuple for List<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.item(new)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeTupleStruct for List<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.item(new)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeTupleVariant for Built<'_, '_, TupleBuilder> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.builder.serialize_field(new)
    }

    fn end(self) -> Result<(), Error> {
        self.at.value(self.builder.end()?);
        Ok(())
    }
}

impl SerializeStructVariant for Built<'_, '_, StructBuilder> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, new: &T) -> Result<(), Error> {
        self.builder.serialize_field(name, new)
    }

    fn end(self) -> Result<(), Error> {
        self.at.value(self.builder.end()?);
        Ok(())
    }
}
