//! [`ScalarOr`]: a value that is short or long.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};

/// The name by which a type asks the deserializer of a node whether it is a list or a table.
pub(crate) const SHAPE: &str = "$agcore_document::ScalarOr";

/// A value with a short form, which is a text, a number or a truth value, and a long one, which is a list or a table.
///
/// Unlike an untagged enum of serde, it knows from the value which of them is meant, so errors are about that one and have places.
/// It is read from a [`Node`](crate::Node) only.
///
/// ```
/// use agcore_document::{Format, ScalarOr};
///
/// type Names = ScalarOr<String, Vec<String>>;
///
/// assert_eq!(Format::Yaml.parse("a")?.read::<Names>()?, ScalarOr::Scalar("a".to_owned()));
/// let error = Format::Yaml.parse("[a, 7]")?.read::<Names>().unwrap_err();
/// assert_eq!(error.to_string(), "1:5: [1]: expected a text, found the number 7; quote it");
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScalarOr<S, T> {
    /// The short form.
    Scalar(S),
    /// The long form.
    Other(T),
}

impl<'de, S: Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for ScalarOr<S, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(SHAPE, &[], ShapeVisitor(PhantomData))
    }
}

struct ShapeVisitor<S, T>(PhantomData<(S, T)>);

impl<'de, S: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for ShapeVisitor<S, T> {
    type Value = ScalarOr<S, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        match access.next_key::<bool>()? {
            Some(true) => access.next_value().map(ScalarOr::Other),
            Some(false) => access.next_value().map(ScalarOr::Scalar),
            None => Err(de::Error::custom("only documents have shapes")),
        }
    }
}
