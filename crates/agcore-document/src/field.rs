//! [`Placed`] and [`Field`]: values that know their places.

use std::{cmp::Ordering, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};

use crate::place::Place;

/// The names by which a type asks the deserializer of a node for its place. Other deserializers do not know them.
pub(crate) const PLACED: &str = "$agcore_document::Placed";
pub(crate) const FIELD: &str = "$agcore_document::Field";

/// A value and its place. Two of them are equal, and in order, if their values are.
///
/// ```
/// use agcore_document::{Format, Place, Placed};
///
/// #[derive(serde::Deserialize)]
/// struct Tea {
///     name: Placed<String>,
/// }
///
/// let tea: Tea = Format::Yaml.parse("name: Sencha")?.read()?;
/// assert_eq!((tea.name.value.as_str(), tea.name.place), ("Sencha", Place::new(1, 7)));
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
///
/// It is read from a [`Node`](crate::Node) only. From anything else, its place is unknown.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Placed<T> {
    /// The place at which the value begins.
    pub place: Place,
    /// The value.
    pub value: T,
}

/// A value and its place. The value is `None` if it is wrong in the document: the problem is among those that
/// [`read_all`](crate::Node::read_all) returns, and the rest of the document is read nevertheless.
///
/// ```
/// use agcore_document::{Field, Format};
///
/// #[derive(Debug, serde::Deserialize)]
/// #[expect(dead_code)]
/// struct Tea {
///     name: Field<String>,
///     minutes: Field<u8>,
/// }
///
/// let (tea, problems) = Format::Yaml.parse("name: 7")?.read_all::<Tea>();
/// let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
/// assert_eq!(problems, [
///     "1:1: the member `minutes` is missing; add it",
///     "1:7: name: expected a text, found the number 7; quote it",
/// ]);
/// assert!(tea.is_some());
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Field<T> {
    /// The place at which the value begins. That of a missing member is the place of its table.
    pub place: Place,
    /// The value.
    pub value: Option<T>,
}

impl<T> Placed<T> {
    /// Creates a value with a place.
    pub fn new(place: Place, value: T) -> Self {
        Self { place, value }
    }
}

impl<T> Field<T> {
    /// Returns the value with its place.
    pub fn placed(self) -> Option<Placed<T>> {
        let place = self.place;
        self.value.map(|value| Placed { place, value })
    }
}

/// Creates a field without a value, whose place is unknown.
impl<T> Default for Field<T> {
    fn default() -> Self {
        let (place, value) = (Place::default(), None);
        Self { place, value }
    }
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Placed<T> {}

impl<T: PartialOrd> PartialOrd for Placed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Ord> Ord for Placed<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(PLACED, &[], PlacedVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(FIELD, &[], FieldVisitor(PhantomData))
    }
}

struct PlacedVisitor<T>(PhantomData<T>);
struct FieldVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PlacedVisitor<T> {
    type Value = Placed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let place = place(&mut access)?;
        let value = access.next_value()?;
        Ok(Placed { place, value })
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let place = place(&mut access)?;
        loop {
            // The access collects the errors, and ends unless another attempt will find more of them.
            match access.next_value() {
                Ok(value) => {
                    let value = Some(value);
                    return Ok(Field { place, value });
                }
                Err(_) if access.next_key::<()>()?.is_some() => {}
                Err(_) => return Ok(Field { place, value: None }),
            }
        }
    }
}

/// Reads the line and the column, which come first.
fn place<'de, A: MapAccess<'de>>(access: &mut A) -> Result<Place, A::Error> {
    let place = access.next_key::<(usize, usize)>()?;
    let (line, column) = place.ok_or_else(|| de::Error::custom("only documents have places"))?;
    Ok(Place::new(line, column))
}
