//! Scanning of strings and numbers.

/// The largest number of digits of an integer that surely fits into 64 bits.
const MAX_DIGITS: usize = 18;

/// Returns the number of bytes before the first quote, backslash or control character.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let (mut len, mut rest) = (0, bytes);
    while let Some((word, behind)) = rest.split_first_chunk::<8>() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return len + special.trailing_zeros() as usize / 8;
        }
        (len, rest) = (len + 8, behind);
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    len + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Sets the highest bit of the lowest byte that is a quote, a backslash or a control character. Bits above that have no
/// meaning; without such a byte, none is set.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH_BITS: u64 = ONES << 7;
    // A byte that is zero, or less than a space, borrows from its highest bit.
    let quote = (word ^ (ONES * u64::from(b'"'))).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * u64::from(b' '));
    (quote | backslash | control) & !word & HIGH_BITS
}

/// Returns the number that the bytes begin with, and its length, if it is a count without fraction or exponent that surely
/// fits into 64 bits.
#[inline]
pub(super) fn short_count(bytes: &[u8]) -> Option<(u64, usize)> {
    let (mut count, mut len) = (0, 0);
    while let Some(digit @ b'0'..=b'9') = bytes.get(len) {
        if len == MAX_DIGITS {
            return None;
        }
        count = count * 10 + u64::from(digit - b'0');
        len += 1;
    }
    let is_whole = !bytes.get(len).is_some_and(|byte| is_number_byte(*byte));
    let has_leading_zero = len > 1 && bytes.first() == Some(&b'0');
    (len > 0 && is_whole && !has_leading_zero).then_some((count, len))
}

/// Replaces the escapes in the contents of a string. Returns `None` if there are others than the usual single letters.
pub(super) fn unescape(contents: &str) -> Option<String> {
    let mut text = String::with_capacity(contents.len());
    let mut rest = contents;
    loop {
        let plain = plain_len(rest.as_bytes());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
        let unescaped = match rest.as_bytes() {
            [] => return Some(text),
            [b'\\', escape @ (b'"' | b'\\' | b'/'), ..] => char::from(*escape),
            [b'\\', b'n', ..] => '\n',
            [b'\\', b't', ..] => '\t',
            [b'\\', b'r', ..] => '\r',
            _ => return None,
        };
        text.push(unescaped);
        rest = &rest[2..];
    }
}

/// Returns whether a number may contain this byte.
pub(super) fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_special_byte_is_found_at_every_position() {
        for special in [b'"', b'\\', b'\n', 0, 0x1f] {
            for before in 0..20 {
                let mut bytes = [b' ', b'a', 0x7f, 0x80, 0xff, b'!', b'#', b'['].repeat(3)[..before].to_vec();
                bytes.push(special);
                // What follows must not matter.
                bytes.extend(b"\"\\\x01 \x00\"");
                assert_eq!(plain_len(&bytes), before, "{special} after {before} bytes");
            }
        }
        assert_eq!(plain_len("é字😀 plain text".as_bytes()), 20);
        assert_eq!(plain_len(b""), 0);
    }

    #[test]
    fn reads_short_counts_only() {
        let check =
            |text: &str, expected: Option<(u64, usize)>| assert_eq!(short_count(text.as_bytes()), expected, "{text}");
        check("0", Some((0, 1)));
        check("120,", Some((120, 3)));
        check("999999999999999999}", Some((999_999_999_999_999_999, 18)));
        for other in ["", "x", "-1", "01", "1.0", "1e3", "12E", "1234567890123456789"] {
            check(other, None);
        }
    }

    #[test]
    fn replaces_the_usual_escapes() {
        let check = |contents: &str, expected: Option<&str>| {
            assert_eq!(unescape(contents).as_deref(), expected, "{contents}");
        };
        check("plain", Some("plain"));
        check(r#"{\"a\": \"\\n\/\"}"#, Some(r#"{"a": "\n/"}"#));
        check(r"\n\t\r", Some("\n\t\r"));
        check(r"\u00e9", None);
        check(r"\b", None);
        check("\\é", None);
        check("\\", None);
    }
}
