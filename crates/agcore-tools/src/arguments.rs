//! [`Arguments`]: what a call hands to its tool; always a JSON object.

use std::{fmt, ops::Deref, sync::LazyLock};

use agcore_chat::{RawArguments, SchemaViolation, ToolCall};
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{clip::clip, error::ToolError};

/// How much of a message about a value is shown, in bytes: it may quote the value.
pub(crate) const MESSAGE_BYTES: usize = 300;

/// The arguments of a call: one JSON object. Cheap to clone.
///
/// It derefs to the object, so `arguments.get("city")` and `arguments["city"]` work.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "Map<String, Value>")]
pub struct Arguments(RawArguments);

/// No object at all is shown as one.
static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl Arguments {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the arguments of a call. Empty and missing arguments are `{}`.
    ///
    /// # Errors
    /// [`InvalidArguments`](crate::ToolErrorKind::InvalidArguments) when they are not one JSON object.
    pub fn of(call: &ToolCall) -> Result<Self, ToolError> {
        match call.check_arguments() {
            Ok(raw) => Ok(Self(raw.clone())),
            Err(error) => Err(ToolError::invalid_arguments(
                &clip(&call.name, 128),
                vec![SchemaViolation::new("$", error.to_string())],
            )),
        }
    }

    /// The object as a JSON value.
    pub fn as_value(&self) -> &Value {
        self.0.as_value().unwrap_or(&Value::Null)
    }

    /// The object.
    pub fn into_map(self) -> Map<String, Value> {
        self.deref().clone()
    }

    /// Reads the arguments into a type of one's own.
    ///
    /// # Errors
    /// The first place that does not fit, with its JSON path and what was expected there.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, SchemaViolation> {
        self.0.read().or_else(|_| {
            // The second, slower pass only serves to find the place.
            serde_path_to_error::deserialize(self.as_value()).map_err(|error| {
                let path = json_path(error.path());
                SchemaViolation::new(path, clip(&error.into_inner().to_string(), MESSAGE_BYTES))
            })
        })
    }
}

impl Deref for Arguments {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        self.as_value().as_object().unwrap_or(&EMPTY)
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.as_value() == other.as_value()
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Arguments").field(self.as_value()).finish()
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_value().serialize(serializer)
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(map: Map<String, Value>) -> Self {
        Self(map.into())
    }
}

impl From<Arguments> for Map<String, Value> {
    fn from(arguments: Arguments) -> Self {
        arguments.into_map()
    }
}

/// Writes a path as `$.days[2].city`.
fn json_path(path: &serde_path_to_error::Path) -> String {
    use std::fmt::Write as _;

    use serde_path_to_error::Segment;

    let mut text = String::from("$");
    for segment in path {
        // Writing to a String cannot fail.
        let _ = match segment {
            Segment::Seq { index } => write!(text, "[{index}]"),
            Segment::Map { key } => write!(text, ".{key}"),
            Segment::Enum { variant } => write!(text, ".{variant}"),
            Segment::Unknown => Ok(()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Trip {
        #[expect(dead_code, reason = "only its reading is tested")]
        days: Vec<Day>,
    }

    #[derive(Debug, Deserialize)]
    struct Day {
        #[expect(dead_code, reason = "only its reading is tested")]
        city: String,
    }

    #[track_caller]
    fn check(arguments: Value, expected: &str) {
        let Value::Object(map) = arguments else {
            panic!("an object")
        };
        let violation = Arguments::from(map).read::<Trip>().expect_err("does not fit");
        assert_eq!(violation.to_string(), expected);
    }

    #[test]
    fn names_the_place_and_what_was_expected() {
        check(json!({}), "$: missing field `days`");
        check(
            json!({"days": [{"city": "A"}, {"city": 7}]}),
            "$.days[1].city: invalid type: integer `7`, expected a string",
        );
        check(
            json!({"days": 1}),
            "$.days: invalid type: integer `1`, expected a sequence",
        );
    }

    #[test]
    fn a_quoted_value_does_not_fill_the_message() {
        let map = json!({"days": "x".repeat(10_000)});
        let violation = Arguments::from(map.as_object().cloned().unwrap_or_default())
            .read::<Trip>()
            .unwrap_err();
        assert!(violation.message.len() < MESSAGE_BYTES + 4);
    }
}
