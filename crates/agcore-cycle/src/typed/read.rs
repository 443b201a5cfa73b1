//! Reading a value into a type, with the place of what does not fit.

use std::fmt::Write as _;

use agcore_chat::{SchemaViolation, text::floor_char_boundary};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// How much of a fault's words is shown, in bytes: they may quote the value.
const WORDS: usize = 300;

/// How much of a value is quoted, in bytes.
const QUOTE: usize = 80;

/// Reads a value into a type; the fault's path begins with `root`.
pub(super) fn read<T: DeserializeOwned>(value: &Value, root: &str) -> Result<T, SchemaViolation> {
    T::deserialize(value).or_else(|_| {
        // The second, slower pass only serves to find the place.
        serde_path_to_error::deserialize(value).map_err(|error| {
            let (path, found) = follow(root, error.path(), value);
            let mut words = error.into_inner().to_string();
            words.truncate(floor_char_boundary(&words, WORDS));
            // Most messages name what was found; those of types with several forms do not.
            if !words.contains('`') || words.starts_with("data did not match") || words.starts_with("no variant of") {
                let _ = write!(words, ", found `{}`", quote(&found.to_string()));
            }
            SchemaViolation::new(path, words)
        })
    })
}

/// The beginning of a text, for a quotation.
pub(super) fn quote(text: &str) -> String {
    let end = floor_char_boundary(text, QUOTE);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", &text[..end])
}

/// The path as `$.days[2].city`, and what is there.
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
    #[expect(dead_code, reason = "only its reading is tested")]
    struct Trip {
        days: Vec<Day>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its reading is tested")]
    struct Day {
        city: String,
        sky: Option<Sky>,
        by: Option<Way>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Sky {
        Blue,
        Grey,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its reading is tested")]
    enum Way {
        Foot(u32),
        Train { number: String },
    }

    #[track_caller]
    fn check(value: Value, expected: &str) {
        let violation = read::<Trip>(&value, "$").expect_err("does not fit");
        assert_eq!(violation.to_string(), expected);
    }

    #[test]
    fn names_the_place_what_was_found_and_what_was_expected() {
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
            "$.days[1].by: data did not match any variant of untagged enum Way, found `{\"number\":7}`",
        );
        check(
            json!([]),
            "$: invalid length 0, expected struct Trip with 1 element, found `[]`",
        );
    }

    #[test]
    fn a_quoted_value_does_not_fill_the_words() {
        let long = json!({"days": [{"city": "A", "by": "晴".repeat(10_000)}]});
        let violation = read::<Trip>(&long, "$.value").unwrap_err();
        assert!(violation.message.len() < WORDS + QUOTE + 20, "{violation}");
        assert!(violation.path.starts_with("$.value.days[0]"));
    }
}
