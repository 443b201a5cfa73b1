//! Checks that a value fits a type, and finds the path of the part that does not.

use std::{borrow::Cow, fmt::Write as _};

use agcore_chat::{
    SchemaViolation,
    schema::whole_numbers,
    text::{clip, prefix},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// The longest part of an error message that is shown, in bytes. Error messages may quote the value.
const MESSAGE: usize = 300;

/// The longest part of a value that is quoted, in bytes.
pub(super) const QUOTE: usize = 80;

/// Checks that a value can be deserialized into a type. The path of a violation starts with `root`.
///
/// Returns the value, with integers in place of [whole floats](whole_numbers) if it fits only so.
pub(super) fn fit<'v, T: DeserializeOwned>(value: &'v Value, root: &str) -> Result<Cow<'v, Value>, SchemaViolation> {
    if T::deserialize(value).is_ok() {
        return Ok(Cow::Borrowed(value));
    }
    let value = whole_numbers(value);
    let Err(error) = serde_path_to_error::deserialize::<_, T>(&*value) else {
        return Ok(value);
    };
    let (path, found) = follow(root, error.path(), &value);
    let mut message = prefix(&error.into_inner().to_string(), MESSAGE).to_owned();
    // Most messages contain the value that was found; those of untagged enums do not.
    if !message.contains('`') || message.starts_with("data did not match") || message.starts_with("no variant of") {
        let _ = write!(message, ", found `{}`", clip(&found.to_string(), QUOTE));
    }
    Err(SchemaViolation::new(path, message))
}

/// Returns the path in the form `$.days[2].city`, and the value at that path.
fn follow<'v>(root: &str, path: &Path, value: &'v Value) -> (String, &'v Value) {
    let (mut text, mut found) = (root.to_owned(), value);
    for segment in path {
        // Writing to a String cannot fail.
        let (_, next) = match segment {
            Segment::Seq { index } => (write!(text, "[{index}]"), found.get(index)),
            Segment::Map { key } | Segment::Enum { variant: key } => (write!(text, ".{key}"), found.get(key)),
            Segment::Unknown => (Ok(()), None),
        };
        found = next.unwrap_or(found);
    }
    (text, found)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only deserialization is tested")]
    struct Journey {
        days: Vec<Day>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only deserialization is tested")]
    struct Day {
        city: String,
        sky: Option<Color>,
        by: Option<Transport>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Color {
        Blue,
        Grey,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only deserialization is tested")]
    enum Transport {
        Foot(u32),
        Train { number: String },
    }

    #[track_caller]
    fn check(value: Value, expected: &str) {
        let violation = fit::<Journey>(&value, "$").expect_err("does not fit");
        assert_eq!(violation.to_string(), expected);
    }

    #[test]
    fn reports_the_path_the_found_value_and_the_expected_type() {
        let day = |day: Value| json!({"days": [{"city": "A"}, day]});
        check(json!({}), "$: missing field `days`");
        check(
            day(json!({"city": 7})),
            "$.days[1].city: invalid type: integer `7`, expected a string",
        );
        check(
            day(json!({"city": "B", "sky": "green"})),
            "$.days[1].sky: unknown variant `green`, expected `blue` or `grey`",
        );
        check(
            day(json!({"city": "B", "by": {"number": 7}})),
            "$.days[1].by: data did not match any variant of untagged enum Transport, found `{\"number\":7}`",
        );
        check(
            json!([]),
            "$: invalid length 0, expected struct Journey with 1 element, found `[]`",
        );
    }

    #[test]
    fn whole_floats_are_integers() {
        type Numbers = (u64, f64, i8);
        let fits = |value: Value, expected: Value| assert_eq!(*fit::<Numbers>(&value, "$").unwrap(), expected);
        fits(json!([2.0, 2.0, -1]), json!([2, 2, -1]));
        fits(json!([2, 2.0, -1]), json!([2, 2.0, -1]));
        let refused = |value: Value, expected: &str| {
            let violation = fit::<Numbers>(&value, "$").unwrap_err();
            assert_eq!(violation.to_string(), expected);
        };
        refused(
            json!([2.0, 1, 2.5]),
            "$[2]: invalid type: floating point `2.5`, expected i8",
        );
        refused(
            json!([9_007_199_254_740_992.0, 1, 1]),
            "$[0]: invalid type: floating point `9007199254740992.0`, expected u64",
        );
    }

    #[test]
    fn a_long_value_is_quoted_briefly() {
        let long = json!({"days": [{"city": "A", "by": "晴".repeat(10_000)}]});
        let violation = fit::<Journey>(&long, "$.value").unwrap_err();
        assert!(violation.message.len() < MESSAGE + QUOTE + 20, "{violation}");
        assert!(violation.path.starts_with("$.value.days[0]"));
    }
}
