//! Reading and writing of JSON objects: every member is optional, `null` counts as absent, unknown members are kept.
//!
//! serde's `flatten`, `tag` and `untagged` would buffer each object, lose the location of errors and fail on `null`.
//! The [`object!`] macro generates a plain visitor instead.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

/// The members of a JSON object that have no field of their own, unchanged and in their original order.
///
/// Takes one word of memory while empty.
///
/// ```
/// use agcore_chat::{ChatResponse, Extra};
///
/// let response: ChatResponse = serde_json::from_str(r#"{"id": "r-1", "region": "eu"}"#)?;
/// assert_eq!(response.extra.get("region"), Some(&"eu".into()));
/// assert_eq!(response.extra, Extra::from_iter([("region", "eu")]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Extra(Option<Box<Map<String, Value>>>);

impl Extra {
    /// Creates an empty set of members.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|members| members.is_empty())
    }

    /// Returns the value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Sets a member and returns the value it had before.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.get_or_insert_default().insert(name.into(), value.into())
    }

    /// Removes a member and returns its value. The other members keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let removed = self.0.as_mut()?.shift_remove(name);
        // The empty set needs a unique representation, so that the derived `PartialEq` is correct.
        self.0.take_if(|members| members.is_empty());
        removed
    }

    /// Returns all members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().flat_map(|members| members.iter())
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl From<Map<String, Value>> for Extra {
    fn from(members: Map<String, Value>) -> Self {
        Self((!members.is_empty()).then(|| Box::new(members)))
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Extra {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        members
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect::<Map<_, _>>()
            .into()
    }
}

impl Serialize for Extra {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

/// A field's type, which decides whether a value is written at all.
pub(crate) trait Member {
    /// Returns whether the value is left out of the written object.
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Member for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Member for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Member for std::sync::Arc<[T]> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Member for Extra {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Member for String {}
impl Member for Value {
    fn is_absent(&self) -> bool {
        self.is_null()
    }
}
impl Member for bool {
    fn is_absent(&self) -> bool {
        !self
    }
}
impl Member for u32 {}
impl Member for u64 {}

/// The name of a member, borrowed from the input if possible.
pub(crate) struct Name<'de>(Cow<'de, str>);

impl Name<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> de::Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member")
            }
            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
            fn visit_string<E: de::Error>(self, name: String) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name)))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Reads the value of a member; `null` is read as the default.
pub(crate) fn value<'de, A: MapAccess<'de>, T: Deserialize<'de> + Default>(map: &mut A) -> Result<T, A::Error> {
    Ok(map.next_value::<Option<T>>()?.unwrap_or_default())
}

/// Writes a member unless its value is absent.
pub(crate) fn entry<S: SerializeMap, T: Member + Serialize>(
    map: &mut S,
    name: &str,
    value: &T,
) -> Result<(), S::Error> {
    if value.is_absent() {
        Ok(())
    } else {
        map.serialize_entry(name, value)
    }
}

/// Writes the members that have no field of their own.
pub(crate) fn extra<S: SerializeMap>(map: &mut S, extra: &Extra) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// An object with a fixed set of fields. Reading can start at any member, for example after a tag.
pub(crate) trait Object: Default {
    /// Reads all remaining members.
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error>;
    /// Writes all members.
    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error>;
}

/// A visitor for a complete [`Object`].
pub(crate) struct ObjectVisitor<T>(pub(crate) &'static str, pub(crate) PhantomData<T>);

impl<'de, T: Object> de::Visitor<'de> for ObjectVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        T::read(&mut map)
    }
}

/// An object whose shape is determined by one of its members, the tag.
pub(crate) trait Tagged: Sized {
    /// The name of the tag.
    const TAG: &'static str;
    /// A description of the expected value, for error messages.
    const EXPECTED: &'static str;
    /// Reads the remaining members of an object with this tag.
    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error>;
    /// Converts an object without a tag.
    fn untagged<E: de::Error>(members: Map<String, Value>) -> Result<Self, E>;
}

/// Reads members that came before their tag. Not generic, so that only this crate contains the code for them: with a default in
/// [`Tagged`], each crate that reads a message would compile it again.
pub(crate) trait Buffered: Tagged {
    /// Reads the other members of an object with this tag.
    fn read_buffered(tag: &str, members: Map<String, Value>) -> Result<Self, serde_json::Error>;
}

/// A visitor for a complete [`Tagged`] object. A tag in first place, where every known server writes it, costs nothing;
/// if it comes later, the members before it are buffered and read twice.
pub(crate) struct TaggedVisitor<T>(pub(crate) PhantomData<T>);

impl<'de, T: Buffered> de::Visitor<'de> for TaggedVisitor<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut before = Map::new();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            if name.as_str() != T::TAG {
                before.insert(name.into_owned(), map.next_value()?);
                continue;
            }
            let tag: Name<'de> = map.next_value()?;
            if before.is_empty() {
                return T::read(tag.as_str(), &mut map);
            }
            while let Some((name, value)) = map.next_entry::<String, Value>()? {
                before.insert(name, value);
            }
            return T::read_buffered(tag.as_str(), before).map_err(de::Error::custom);
        }
        T::untagged(before)
    }
}

/// A visitor for the members of a [`Tagged`] object after its tag.
pub(crate) struct MembersVisitor<'t, T>(pub(crate) &'t str, pub(crate) PhantomData<T>);

impl<'de, T: Tagged> de::Visitor<'de> for MembersVisitor<'_, T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        T::read(self.0, &mut map)
    }
}

/// Implements `Object`, `Serialize` and `Deserialize` for a struct. The struct needs `Default` and a field
/// `extra: Extra`; a field marked `[always]` is written even if it is empty. `@serde` implements only the traits of serde, for
/// a struct with an `Object` of its own.
macro_rules! object {
    ($type:ident: $expected:literal { $($name:literal => $field:ident $([$always:ident])?),+ $(,)? }) => {
        impl $crate::object::Object for $type {
            fn read<'de, A: serde::de::MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
                let mut object = Self::default();
                while let Some(name) = map.next_key::<$crate::object::Name<'de>>()? {
                    match name.as_str() {
                        $($name => object.$field = $crate::object::value(map)?,)+
                        _ => {
                            object.extra.insert(name.into_owned(), map.next_value::<serde_json::Value>()?);
                        }
                    }
                }
                Ok(object)
            }

            fn write<S: serde::ser::SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
                $(object!(@write map $name self.$field $($always)?);)+
                $crate::object::extra(map, &self.extra)
            }
        }

        object!(@serde $type: $expected);
    };
    (@serde $type:ident: $expected:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $crate::object::Object::write(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::object::ObjectVisitor($expected, std::marker::PhantomData))
            }
        }
    };
    (@write $map:ident $name:literal $self:ident.$field:ident) => {
        $crate::object::entry($map, $name, &$self.$field)?
    };
    (@write $map:ident $name:literal $self:ident.$field:ident always) => {
        serde::ser::SerializeMap::serialize_entry($map, $name, &$self.$field)?
    };
}

/// Implements [`Buffered`] and `Deserialize` for a [`Tagged`] enum. `@buffered` implements only the former.
macro_rules! tagged {
    (@buffered $type:ident) => {
        impl $crate::object::Buffered for $type {
            fn read_buffered(
                tag: &str,
                members: serde_json::Map<String, serde_json::Value>,
            ) -> Result<Self, serde_json::Error> {
                let visitor = $crate::object::MembersVisitor(tag, std::marker::PhantomData);
                serde::Deserializer::deserialize_map(members, visitor)
            }
        }
    };
    ($type:ident) => {
        tagged!(@buffered $type);

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::object::TaggedVisitor(std::marker::PhantomData))
            }
        }
    };
}

/// Writes an object: the tag, then the members.
pub(crate) fn write_tagged<S: serde::Serializer>(
    serializer: S,
    tag: &str,
    value: &str,
    object: &impl Object,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(tag, value)?;
    object.write(&mut map)?;
    map.end()
}

/// Converts an object to raw JSON with its tag first: for a known shape with members that its type cannot store.
pub(crate) fn raw_tagged<E: de::Error>(tag: &str, value: &str, object: &impl Object) -> Result<Value, E> {
    write_tagged(serde_json::value::Serializer, tag, value, object).map_err(E::custom)
}

/// Reads the remaining members of an object of unknown shape into raw JSON, with its tag first.
pub(crate) fn read_raw<'de, A: MapAccess<'de>>(tag: &str, value: &str, map: &mut A) -> Result<Value, A::Error> {
    let mut members = Map::new();
    members.insert(tag.to_owned(), value.into());
    while let Some((name, value)) = map.next_entry::<String, Value>()? {
        members.insert(name, value);
    }
    Ok(Value::Object(members))
}

pub(crate) use {object, tagged};
