//! The forms in which a text may contain a known secret: as it is, escaped as in JSON, percent-encoded, and in base64.

use std::fmt::Write;

use serde_json::Value;

use crate::credential::MIN_SECRET_BYTES;

/// The digits of base64 before the last two, which differ between the two alphabets.
const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The last two digits of the standard and of the URL-safe alphabet.
const LAST_DIGITS: [[u8; 2]; 2] = [*b"+/", *b"-_"];

/// Characters that percent-encoders may keep: those of RFC 3986, of paths, and of JavaScript's `encodeURIComponent`.
const KEPT: [&str; 3] = ["", "/", "!'()*"];

/// Returns the spellings of a secret. Secrets that are too short are placeholders, which have none.
pub(super) fn spellings(secret: &str) -> Vec<String> {
    if secret.len() < MIN_SECRET_BYTES {
        return Vec::new();
    }
    let json = Value::from(secret).to_string();
    let mut spellings = vec![secret.to_owned(), json[1..json.len() - 1].to_owned()];
    for kept in KEPT {
        let encoded = percent_encoded(secret, kept);
        spellings.push(lower_escapes(&encoded));
        spellings.push(encoded.replace("%20", "+"));
        spellings.push(encoded);
    }
    for last in LAST_DIGITS {
        spellings.extend((0..3).map(|offset| base64(secret.as_bytes(), offset, last)));
    }
    spellings.sort();
    spellings.dedup();
    spellings
}

fn percent_encoded(secret: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        let is_kept = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte);
        if is_kept {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Writes the hexadecimal digits of escapes in lower case.
fn lower_escapes(encoded: &str) -> String {
    let mut digits = 0_u8;
    let lower = |character: char| {
        let is_digit = digits > 0;
        digits = if character == '%' { 2 } else { digits.saturating_sub(1) };
        if is_digit {
            character.to_ascii_lowercase()
        } else {
            character
        }
    };
    encoded.chars().map(lower).collect()
}

/// Returns the base64 digits that a secret alone determines if `offset` other bytes precede it in its group of three:
/// those that also encode bits of its neighbors are left out.
fn base64(secret: &[u8], offset: usize, last: [u8; 2]) -> String {
    let unknown = (offset * 8).div_ceil(6);
    let known = (offset + secret.len()) * 8 / 6;
    let byte = |at: usize| {
        at.checked_sub(offset)
            .and_then(|at| secret.get(at))
            .copied()
            .unwrap_or(0)
    };
    let digit = |at: usize| {
        let bit = at * 6;
        let pair = u16::from_be_bytes([byte(bit / 8), byte(bit / 8 + 1)]);
        let value = usize::from(pair << (bit % 8) >> 10);
        let digit = DIGITS.get(value).or_else(|| last.get(value - DIGITS.len()));
        digit.map_or('=', |digit| char::from(*digit))
    };
    (unknown..known).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_in_base64_at_every_offset() {
        // `base64 <<< …` of "pass-?>~word", alone and after one and two other bytes.
        let check = |offset, last, expected: &str| assert_eq!(base64(b"pass-?>~word", offset, last), expected);
        check(0, *b"+/", "cGFzcy0/Pn53b3Jk");
        check(0, *b"-_", "cGFzcy0_Pn53b3Jk");
        // "xpass-?>~word" is eHBhc3MtPz5+d29yZA==
        check(1, *b"+/", "Bhc3MtPz5+d29yZ");
        // "xypass-?>~word" is eHlwYXNzLT8+fndvcmQ=
        check(2, *b"+/", "wYXNzLT8+fndvcm");
    }

    #[test]
    fn percent_encodes_like_common_encoders() {
        let found = spellings("p/a s*ß=1");
        for expected in [
            "p%2Fa%20s%2A%C3%9F%3D1",
            "p%2fa%20s%2a%c3%9f%3d1",
            "p%2Fa+s%2A%C3%9F%3D1",
            "p/a%20s%2A%C3%9F%3D1",
            "p%2Fa%20s*%C3%9F%3D1",
        ] {
            assert!(
                found.iter().any(|spelling| spelling == expected),
                "{expected}: {found:?}"
            );
        }
        assert!(spellings("ollama").is_empty());
    }
}
