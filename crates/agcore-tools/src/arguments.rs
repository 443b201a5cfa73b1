//! [`Arguments`]: the arguments of a tool call, always a JSON object.

use std::{fmt, ops::Deref, sync::LazyLock};

use agcore_chat::{RawArguments, SchemaViolation, ToolCall, schema::whole_numbers, text::clip};
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::{NAME_BYTES, ToolError};

/// The longest message about a value, in bytes. The message may quote the value, which can be arbitrarily long.
pub(crate) const MESSAGE_BYTES: usize = 300;

/// The arguments of a tool call: one JSON object.
///
/// Dereferences to the object, so `arguments.get("city")` and `arguments["city"]` work. Cheap to clone.
///
/// ```
/// use agcore_chat::ToolCall;
/// use agcore_tools::Arguments;
///
/// let call = ToolCall::function("call_1", "forecast", r#"{"city": "Rome", "days": [1, "two"]}"#);
/// let arguments = Arguments::from_call(&call)?;
/// assert_eq!(arguments["city"], "Rome");
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Forecast {
///     days: Vec<u8>,
/// }
/// let violation = arguments.read::<Forecast>().unwrap_err();
/// assert_eq!(violation.path, "$.days[1]");
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(from = "Map<String, Value>")]
pub struct Arguments(RawArguments);

/// The object that arguments without a value dereference to.
static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl Arguments {
    /// Creates an empty object.
    pub fn new() -> Self {
        Self::default()
    }

    /// Extracts the arguments from a call. Empty and missing arguments are `{}`.
    ///
    /// # Errors
    /// [`InvalidArguments`](crate::ToolErrorKind::InvalidArguments) when the arguments are not one JSON object.
    pub fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        match call.check_arguments() {
            Ok(raw) => Ok(Self(raw.clone())),
            Err(error) => Err(ToolError::invalid_arguments(
                &clip(&call.name, NAME_BYTES),
                vec![SchemaViolation::new("$", error.to_string())],
            )),
        }
    }

    /// Returns the object as a JSON value.
    pub fn as_value(&self) -> &Value {
        self.0.as_value().unwrap_or(&Value::Null)
    }

    /// Returns the object if it was already built.
    pub(crate) fn built(&self) -> Option<&Map<String, Value>> {
        self.0.built()
    }

    /// Returns the object as JSON text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Converts the arguments into a map.
    pub fn into_map(self) -> Map<String, Value> {
        self.deref().clone()
    }

    /// Deserializes the arguments into `T`. [Whole floats](whole_numbers) such as `2.0` are accepted as integers.
    ///
    /// # Errors
    /// The first member that does not match, with its JSON path and what was expected there.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, SchemaViolation> {
        self.0.read().or_else(|_| {
            // Slower, but accepts whole floats as integers and reports the path of the error.
            serde_path_to_error::deserialize(&*whole_numbers(self.as_value())).map_err(|error| {
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

/// Formats a path as `$.days[2].city`.
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
    struct Itinerary {
        #[expect(dead_code, reason = "only its deserialization is tested")]
        days: Vec<Day>,
    }

    #[derive(Debug, Deserialize)]
    struct Day {
        #[expect(dead_code, reason = "only its deserialization is tested")]
        city: String,
    }

    #[track_caller]
    fn check(arguments: Value, expected: &str) {
        let Value::Object(map) = arguments else {
            panic!("the arguments are not an object")
        };
        let violation = Arguments::from(map)
            .read::<Itinerary>()
            .expect_err("the arguments are valid");
        assert_eq!(violation.to_string(), expected);
    }

    #[test]
    fn reports_the_path_and_what_was_expected() {
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
    fn quotes_long_values_only_in_part() {
        let map = json!({"days": "x".repeat(10_000)});
        let violation = Arguments::from(map.as_object().cloned().unwrap_or_default())
            .read::<Itinerary>()
            .unwrap_err();
        assert!(violation.message.len() < MESSAGE_BYTES + 4);
    }
}
