//! Repairs of JSON text that common encoders write although JSON does not allow it.

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// Returns JSON text without what parsers refuse.
///
/// Each unpaired surrogate becomes U+FFFD: JavaScript writes one when it cuts a text within a character, and Python for a
/// file name that is not UTF-8. The same holds for invalid UTF-8. `NaN`, `Infinity`, `-Infinity` and `undefined` become
/// `null`, control characters within strings are escaped, and colors of terminals around strings are left out.
pub(super) fn repair(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut repaired = String::with_capacity(text.len());
    let mut rest = &*text;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => {
                in_string = !in_string;
                1
            }
            '\\' if in_string => escape(rest, &mut repaired),
            control if in_string && control < ' ' => {
                repaired.push_str(&format!("\\u{:04x}", u32::from(control)));
                rest = &rest[1..];
                continue;
            }
            '\u{1b}' => {
                rest = &rest[sequence(rest)..];
                continue;
            }
            _ if !in_string => match word(rest) {
                Some(length) => {
                    repaired.push_str("null");
                    rest = &rest[length..];
                    continue;
                }
                None => first.len_utf8(),
            },
            _ => first.len_utf8(),
        };
        if first != '\\' || !in_string {
            repaired.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    repaired
}

/// Adds the escape at the beginning of `rest`, and returns its length.
fn escape(rest: &str, repaired: &mut String) -> usize {
    let bytes = rest.as_bytes();
    let second = bytes.get(ESCAPE..).and_then(unit);
    let (length, added) = match (unit(bytes), second) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (2 * ESCAPE, &rest[..2 * ESCAPE]),
        (Some(0xD800..=0xDFFF), _) => (ESCAPE, "\\ufffd"),
        (Some(_), _) => (ESCAPE, &rest[..ESCAPE]),
        (None, _) => match bytes.get(1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => (2, &rest[..2]),
            // Not an escape of JSON: the backslash is meant.
            _ => (1, "\\\\"),
        },
    };
    repaired.push_str(added);
    length
}

/// Returns the UTF-16 unit of the escape at the beginning.
fn unit(json: &[u8]) -> Option<u16> {
    let digits = json.get(..ESCAPE)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Returns the length of the sequence for terminals at the beginning, such as `ESC [ 32 m`.
fn sequence(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_parameter = |byte: &u8| !matches!(byte, 0x40..=0x7e);
    match bytes.get(1) {
        Some(b'[') => {
            let parameters = bytes[2..].iter().take_while(|byte| is_parameter(byte)).count();
            // Parameters and the end are ASCII in a sequence; other text is not swallowed.
            let end = (2 + parameters + 1).min(bytes.len());
            if bytes[1..end].is_ascii() { end } else { 1 }
        }
        _ => 1,
    }
}

/// Returns the length of a word at the beginning that stands for no value of JSON.
fn word(rest: &str) -> Option<usize> {
    const WORDS: &[&str] = &["NaN", "-NaN", "Infinity", "-Infinity", "undefined"];
    WORDS
        .iter()
        .find(|word| rest.starts_with(**word))
        .map(|word| word.len())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(text: &[u8], expected: Value) {
        assert!(serde_json::from_slice::<Value>(text).is_err(), "nothing to repair");
        let repaired = repair(text);
        assert_eq!(
            serde_json::from_str::<Value>(&repaired).ok(),
            Some(expected),
            "{repaired}"
        );
    }

    #[test]
    fn invalid_text_becomes_a_replacement_character() {
        check(br#""a\ud83d""#, json!("a\u{fffd}"));
        check(br#"["\uDE00b", 1]"#, json!(["\u{fffd}b", 1]));
        check(br#""\ud83d\ud83d\ude00""#, json!("\u{fffd}\u{1f600}"));
        check(br#""\\\udcff\\""#, json!("\\\u{fffd}\\"));
        check(b"\"a\xffb\"", json!("a\u{fffd}b"));
        check(b"\"\xed\xa0\xbd\"", json!("\u{fffd}\u{fffd}\u{fffd}"));
    }

    #[test]
    fn numbers_that_json_lacks_become_null() {
        check(
            br#"{"v": NaN, "w": [Infinity, -Infinity], "NaN": "NaN"}"#,
            json!({"v": null, "w": [null, null], "NaN": "NaN"}),
        );
        check(br#"[undefined,"undefined"]"#, json!([null, "undefined"]));
    }

    #[test]
    fn strings_may_contain_control_characters_and_backslashes() {
        check(b"\"a\tb\x01\"", json!("a\tb\u{1}"));
        check(br#""C:\dir \x41""#, json!("C:\\dir \\x41"));
    }

    #[test]
    fn colors_are_left_out() {
        check(
            b"\x1b[32m[\x1b[1;31m1\x1b[m, \"\x1b[1m\"]\x1b[0m",
            json!([1, "\u{1b}[1m"]),
        );
        for broken in ["\u{1b}", "\u{1b}[", "\u{1b}[1", "\u{1b}[é", "\u{1b}é"] {
            repair(broken.as_bytes());
        }
    }

    #[test]
    fn valid_json_is_unchanged() {
        for text in [
            r#"{"a": "\ud83d\ude00 \u00e9 \n", "b": [1, -2.5e3, null, true]}"#,
            r#""\\ud83d""#,
            "",
            "\"open \\",
        ] {
            assert!(text.ends_with('\\') || repair(text.as_bytes()) == text, "{text}");
        }
    }
}
