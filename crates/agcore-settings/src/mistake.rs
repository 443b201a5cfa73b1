//! [`Mistake`]: an error about a value, in words that need no knowledge of Rust.

use std::borrow::Cow;

/// The longest value that is quoted, in bytes. Keys are longer.
const MAX_VALUE: usize = 20;

/// A mistake in a value, as a message of serde describes it.
#[derive(Debug, PartialEq, Eq)]
pub enum Mistake<'m> {
    /// The value has another type, or is out of range.
    Value {
        /// The type or the range that is expected.
        expected: Cow<'m, str>,
    },
    /// The value is a text, but none of the known ones.
    Choice {
        /// The text.
        given: &'m str,
        /// The known ones.
        known: Vec<&'m str>,
    },
    /// There is no member with this name.
    Name {
        /// The name.
        given: &'m str,
        /// The names that exist.
        known: Vec<&'m str>,
    },
    /// The member with this name is missing.
    Missing(&'m str),
    /// Anything else. The message is one of our own.
    Other(&'m str),
}

impl<'m> Mistake<'m> {
    /// Recognizes the mistake in a message.
    pub fn of(message: &'m str) -> Self {
        if let Some(rest) = message.strip_prefix("invalid type: ") {
            // The value in the message may be any text, also one with this word.
            let expected = rest.rsplit_once(", expected ").map(|(_, expected)| of_type(expected));
            return expected.map_or(Self::Other(message), |expected| Self::Value { expected });
        }
        if let Some(rest) = message.strip_prefix("invalid value: ") {
            let expected = rest.rsplit_once(", expected ").map(|(_, expected)| in_range(expected));
            return expected.map_or(Self::Other(message), |expected| Self::Value { expected });
        }
        if message == "wanted string or table" {
            let expected = of_type("a string");
            return Self::Value { expected };
        }
        if let Some(expected) = message.strip_prefix("expected ") {
            let expected = Cow::Borrowed(expected);
            return Self::Value { expected };
        }
        if message == "invalid IP address syntax" {
            let expected = Cow::Borrowed("an IP address such as 10.0.0.7");
            return Self::Value { expected };
        }
        if let Some((given, known)) = message.strip_prefix("unknown variant `").and_then(names) {
            return Self::Choice { given, known };
        }
        if let Some((given, known)) = message.strip_prefix("unknown field `").and_then(names) {
            return Self::Name { given, known };
        }
        let missing = message.strip_prefix("missing field `");
        missing
            .and_then(|rest| rest.strip_suffix('`'))
            .map_or(Self::Other(message), Self::Missing)
    }
}

/// Splits ``idel`, expected `connect` or `idle` `` into the name and those that are known.
fn names(text: &str) -> Option<(&str, Vec<&str>)> {
    let (given, rest) = text
        .rsplit_once("`, expected ")
        .or_else(|| text.rsplit_once("`, there are no "))?;
    Some((given, rest.split('`').skip(1).step_by(2).collect()))
}

/// Returns the type that serde names as it is written in a file.
fn of_type(expected: &str) -> Cow<'_, str> {
    Cow::Borrowed(match expected {
        "a string" | "string" => "text in quotation marks",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        expected if expected.starts_with("struct ") => "a table",
        expected => expected,
    })
}

/// Like [`of_type`], with the range of a number.
fn in_range(expected: &str) -> Cow<'_, str> {
    match expected {
        "u8" => Cow::Owned(format!("a whole number from 0 to {}", u8::MAX)),
        "u16" => Cow::Owned(format!("a whole number from 0 to {}", u16::MAX)),
        "u32" => Cow::Owned(format!("a whole number from 0 to {}", u32::MAX)),
        "u64" | "usize" => Cow::Borrowed("a whole number, 0 or more"),
        expected => of_type(expected),
    }
}

/// Describes a text: ` the text "three"`, but only `a text` if it could be a key.
pub fn text_in_words(text: &str) -> String {
    match is_word(text, MAX_VALUE) {
        true => format!("the text \"{text}\""),
        false => "a text".to_owned(),
    }
}

/// Returns whether a text is a short word, which may be quoted. With misplaced quotation marks, any other text may be a key.
pub fn is_word(text: &str, max: usize) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && text.len() <= max && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_types_without_the_words_of_rust() {
        let check = |message: &str, words: &str| {
            let expected = Cow::Borrowed(words);
            assert_eq!(Mistake::of(message), Mistake::Value { expected }, "{message}");
        };
        check("invalid type: string \"three\", expected u32", "a whole number");
        check("invalid type: string \"a, expected b\", expected f64", "a number");
        check("invalid type: integer `1`, expected struct PriceEntry", "a table");
        check("invalid type: string \"shell\", expected a sequence", "a list");
        check(
            "invalid value: integer `-1`, expected u32",
            "a whole number from 0 to 4294967295",
        );
        check("invalid value: integer `-1`, expected u64", "a whole number, 0 or more");
        check(
            "invalid type: boolean `true`, expected a price such as 0.25",
            "a price such as 0.25",
        );
        check("expected a time such as 90s", "a time such as 90s");
        check("invalid IP address syntax", "an IP address such as 10.0.0.7");
    }

    #[test]
    fn recognizes_names() {
        let (given, known) = ("idel", vec!["connect", "idle"]);
        assert_eq!(
            Mistake::of("unknown field `idel`, expected `connect` or `idle`"),
            Mistake::Name { given, known }
        );
        let (given, known) = ("a` b", vec!["x", "y", "z"]);
        assert_eq!(
            Mistake::of("unknown variant `a` b`, expected one of `x`, `y`, `z`"),
            Mistake::Choice { given, known }
        );
        assert_eq!(Mistake::of("missing field `output`"), Mistake::Missing("output"));
        assert_eq!(Mistake::of("the entry is empty"), Mistake::Other("the entry is empty"));
    }

    #[test]
    fn quotes_only_what_cannot_be_a_key() {
        assert_eq!(text_in_words("three"), "the text \"three\"");
        for hidden in ["", "api_key = x", "sk-0123456789abcdef0123456789", "a\nb"] {
            assert_eq!(text_in_words(hidden), "a text", "{hidden}");
        }
    }
}
