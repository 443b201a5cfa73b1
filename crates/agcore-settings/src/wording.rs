//! Values of settings in words that need no knowledge of Rust, and that never quote what may be a key.

use std::borrow::Cow;

use agcore_document::Expected;

/// The longest value that is quoted, in bytes. Keys are longer.
const MAX_VALUE: usize = 20;

/// Describes the value that is expected, with the range of a number if that is the problem.
pub fn expected(expected: &Expected, is_out_of_range: bool) -> Cow<'_, str> {
    match expected {
        Expected::Text => "text in quotation marks".into(),
        Expected::Whole { .. } if !is_out_of_range => "a whole number".into(),
        Expected::Whole { least: 0, most } if *most > u64::from(u32::MAX) => "a whole number, 0 or more".into(),
        other => other.to_string().into(),
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
    fn the_range_of_a_number_is_given_if_it_is_the_problem() {
        let whole = |most| Expected::Whole { least: 0, most };
        assert_eq!(expected(&whole(u64::MAX), false), "a whole number");
        assert_eq!(expected(&whole(u64::MAX), true), "a whole number, 0 or more");
        assert_eq!(
            expected(&whole(u32::MAX.into()), true),
            "a whole number from 0 to 4294967295"
        );
        assert_eq!(expected(&Expected::Text, false), "text in quotation marks");
        assert_eq!(expected(&Expected::Table, false), "a table");
    }

    #[test]
    fn quotes_only_what_cannot_be_a_key() {
        assert_eq!(text_in_words("three"), "the text \"three\"");
        for hidden in ["", "api_key = x", "sk-0123456789abcdef0123456789", "a\nb"] {
            assert_eq!(text_in_words(hidden), "a text", "{hidden}");
        }
    }
}
