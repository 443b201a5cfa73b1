//! [`Arguments`]: what a call hands to its tool; always a JSON object.

use std::{ops::Deref, sync::LazyLock};

use agcore_chat::{SchemaViolation, ToolCall};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{clip::clip, error::ToolError};

/// How much of a message about a value is shown, in bytes: it may quote the value.
pub(crate) const MESSAGE_BYTES: usize = 300;

/// The arguments of a call: one JSON object.
///
/// It derefs to the object, so `arguments.get("city")` and `arguments["city"]` work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Arguments(Value);

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
        call.arguments().map(Self::from).map_err(|error| {
            ToolError::invalid_arguments(
                &clip(&call.name, 128),
                vec![SchemaViolation::new("$", error.to_string())],
            )
        })
    }

    /// The object as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// The object.
    pub fn into_map(self) -> Map<String, Value> {
        match self.0 {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// Reads the arguments into a type of one's own.
    ///
    /// # Errors
    /// The first place that does not fit, with its JSON path and what was expected there.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, SchemaViolation> {
        T::deserialize(&self.0).or_else(|_| {
            // The second, slower pass only serves to find the place.
            serde_path_to_error::deserialize(&self.0).map_err(|error| {
                let path = json_path(error.path());
                SchemaViolation::new(path, clip(&error.into_inner().to_string(), MESSAGE_BYTES))
            })
        })
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self(Value::Object(Map::new()))
    }
}

impl Deref for Arguments {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        self.0.as_object().unwrap_or(&EMPTY)
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(map: Map<String, Value>) -> Self {
        Self(Value::Object(map))
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
