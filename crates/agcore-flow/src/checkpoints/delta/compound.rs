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

use json_patch::PatchOperation;

use super::{Delta, Place, compare, remove};

type JsonSeq = <value::Serializer as Serializer>::SerializeSeq;
type JsonMap = <value::Serializer as Serializer>::SerializeMap;
type JsonStruct = <value::Serializer as Serializer>::SerializeStruct;
pub(super) type TupleBuilder = <value::Serializer as Serializer>::SerializeTupleVariant;
pub(super) type StructBuilder = <value::Serializer as Serializer>::SerializeStructVariant;

/// A value that is built, because what was there has another form, and compared at its end.
pub(super) struct Built<'a, 'o, 'p, B> {
    at: Delta<'a, 'o, 'p>,
    builder: B,
}

impl<'a, 'o, 'p, B> Built<'a, 'o, 'p, B> {
    pub(super) fn new(at: Delta<'a, 'o, 'p>, builder: B) -> Self {
        Self { at, builder }
    }
}

/// A list, compared item by item with a list.
pub(super) enum List<'a, 'o, 'p> {
    Same {
        operations: &'a mut Vec<PatchOperation>,
        place: Place<'p>,
        old: &'o [Value],
        next: usize,
    },
    Other(Built<'a, 'o, 'p, JsonSeq>),
}

impl<'a, 'o, 'p> List<'a, 'o, 'p> {
    pub(super) fn new(at: Delta<'a, 'o, 'p>, length: Option<usize>) -> Result<Self, Error> {
        Ok(match at.old {
            Value::Array(old) => Self::Same {
                operations: at.operations,
                place: at.place,
                old,
                next: 0,
            },
            _ => Self::Other(Built::new(at, value::Serializer.serialize_seq(length)?)),
        })
    }

    fn item<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        match self {
            Self::Same {
                operations,
                place,
                old,
                next,
            } => {
                let index = *next;
                *next += 1;
                compare(operations, place.item(index), old.get(index), new)
            }
            Self::Other(built) => SerializeSeq::serialize_element(&mut built.builder, new),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            // The last items first: each removal moves those behind it.
            Self::Same {
                operations,
                place,
                old,
                next,
            } => {
                for index in (next..old.len()).rev() {
                    remove(operations, place.item(index));
                }
            }
            Self::Other(Built { at, builder }) => at.value(SerializeSeq::end(builder)?),
        }
        Ok(())
    }
}

/// The members of a map or a structure, compared with those of an object.
pub(super) enum Members<'a, 'o, 'p> {
    Same {
        operations: &'a mut Vec<PatchOperation>,
        place: Place<'p>,
        old: &'o Map<String, Value>,
        /// The names that were serialized and are in the old object.
        known: HashSet<&'o str>,
        key: Option<String>,
    },
    OtherMap(Built<'a, 'o, 'p, JsonMap>),
    OtherStruct(Built<'a, 'o, 'p, JsonStruct>),
}

impl<'a, 'o, 'p> Members<'a, 'o, 'p> {
    pub(super) fn of_map(at: Delta<'a, 'o, 'p>, length: Option<usize>) -> Result<Self, Error> {
        match at.old {
            Value::Object(old) => Ok(Self::same(at.operations, at.place, old)),
            _ => Ok(Self::OtherMap(Built::new(at, value::Serializer.serialize_map(length)?))),
        }
    }

    pub(super) fn of_struct(at: Delta<'a, 'o, 'p>, length: usize) -> Result<Self, Error> {
        match at.old {
            Value::Object(old) => Ok(Self::same(at.operations, at.place, old)),
            _ => Self::of_private(at, "", length),
        }
    }

    /// A structure that only serde_json can turn into a value.
    pub(super) fn of_private(at: Delta<'a, 'o, 'p>, name: &'static str, length: usize) -> Result<Self, Error> {
        let builder = value::Serializer.serialize_struct(name, length)?;
        Ok(Self::OtherStruct(Built::new(at, builder)))
    }

    fn same(operations: &'a mut Vec<PatchOperation>, place: Place<'p>, old: &'o Map<String, Value>) -> Self {
        Self::Same {
            operations,
            place,
            old,
            known: HashSet::with_capacity(old.len()),
            key: None,
        }
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, new: &T) -> Result<(), Error> {
        let Self::Same {
            operations,
            place,
            old,
            known,
            ..
        } = self
        else {
            return Ok(());
        };
        let found = old.get_key_value(name);
        if let Some((known_name, _)) = found {
            known.insert(known_name);
        }
        compare(operations, place.member(name), found.map(|(_, value)| value), new)
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Self::Same {
                operations,
                place,
                old,
                known,
                ..
            } => {
                if known.len() < old.len() {
                    for name in old.keys().filter(|name| !known.contains(name.as_str())) {
                        remove(operations, place.member(name));
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

impl SerializeMap for Members<'_, '_, '_> {
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

impl SerializeStruct for Members<'_, '_, '_> {
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

impl SerializeSeq for List<'_, '_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.item(new)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeTuple for List<'_, '_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.item(new)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeTupleStruct for List<'_, '_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, new: &T) -> Result<(), Error> {
        self.item(new)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

impl SerializeTupleVariant for Built<'_, '_, '_, TupleBuilder> {
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

impl SerializeStructVariant for Built<'_, '_, '_, StructBuilder> {
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
