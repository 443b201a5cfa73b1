//! [`Members`]: the members of a table whose names are not known in advance.

use std::{fmt, marker::PhantomData, slice, vec};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use crate::field::Placed;

/// The members of a table whose names are not known in advance, in the order of the document and with the places of their names.
///
/// ```
/// use agcore_document::{Format, Members, Place};
///
/// let teas: Members<u8> = Format::Yaml.parse("sencha: 2\nassam: 4")?.read()?;
/// let names: Vec<_> = teas.iter().map(|(name, minutes)| (name.value.as_str(), name.place.line, *minutes)).collect();
/// assert_eq!(names, [("sencha", 1, 2), ("assam", 2, 4)]);
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Members<T>(pub Vec<(Placed<String>, T)>);

impl<T> Members<T> {
    /// Returns the members.
    pub fn iter(&self) -> slice::Iter<'_, (Placed<String>, T)> {
        self.0.iter()
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.value.as_str())
    }
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> IntoIterator for Members<T> {
    type Item = (Placed<String>, T);
    type IntoIter = vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'m, T> IntoIterator for &'m Members<T> {
    type Item = &'m (Placed<String>, T);
    type IntoIter = slice::Iter<'m, (Placed<String>, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
