//! Unpaired surrogates, which servers send when they split a text between the two UTF-16 units of a character.
//!
//! The grammar of JSON allows an escape of an unpaired surrogate (RFC 8259, section 8.2), but it is not valid text.

/// Returns the JSON with U+FFFD in place of each unpaired surrogate, or `None` if it has none.
pub(super) fn replace_unpaired(json: &[u8]) -> Option<Vec<u8>> {
    let mut replaced = json.to_vec();
    let (mut at, mut is_changed) = (0, false);
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        at += found;
        match (unit(&json[at..]), unit(json.get(at + ESCAPE..).unwrap_or_default())) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 2 * ESCAPE,
            (Some(0xD800..=0xDFFF), _) => {
                replaced[at..at + ESCAPE].copy_from_slice(b"\\uFFFD");
                is_changed = true;
                at += ESCAPE;
            }
            (Some(_), _) => at += ESCAPE,
            // Another escape, such as an escaped backslash.
            (None, _) => at = json.len().min(at + 2),
        }
    }
    is_changed.then_some(replaced)
}

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// Returns the UTF-16 unit of the escape at the beginning.
fn unit(json: &[u8]) -> Option<u16> {
    let digits = json.get(..ESCAPE)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<&str>) {
        let found = replace_unpaired(json.as_bytes()).map(|json| String::from_utf8(json).unwrap());
        assert_eq!(found.as_deref(), expected, "{json}");
    }

    #[test]
    fn replaces_unpaired_surrogates() {
        check(r#""a\ud83d""#, Some(r#""a\uFFFD""#));
        check(r#""\uDE00b""#, Some(r#""\uFFFDb""#));
        check(r#""\ud83d\ud83d\ude00""#, Some(r#""\uFFFD\ud83d\ude00""#));
        check(r#""\ude00\ud83d""#, Some(r#""\uFFFD\uFFFD""#));
        check(r#""\ud83d\n""#, Some(r#""\uFFFD\n""#));
    }

    #[test]
    fn keeps_everything_else() {
        check(r#""\ud83d\ude00 \u00e9 \n""#, None);
        check(r#""\\ud83d""#, None);
        check(r#""\ud83""#, None);
        check(r"\", None);
        check("", None);
    }
}
