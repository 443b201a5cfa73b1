//! Base64 text to bytes (RFC 4648, section 4), for the few documents that the API takes as text only.

/// The bytes; none when it is no base64. Line breaks are passed over, and padding may be missing.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let mut padded = false;
    for letter in letters {
        if letter == b'=' {
            padded = true;
            continue;
        }
        if padded {
            return None;
        }
        bits = bits << 6 | u32::from(value(letter)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // A single letter is no byte, and what is left over says nothing.
    (count < 6 && bits == 0).then_some(bytes)
}

fn value(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn reads_the_vectors_of_the_rfc() {
        let check =
            |text: &str, expected: &str| assert_eq!(decode(text).as_deref(), Some(expected.as_bytes()), "{text}");
        check("", "");
        check("Zg==", "f");
        check("Zm8=", "fo");
        check("Zm9v", "foo");
        check("Zm9vYg==", "foob");
        check("Zm9v\r\nYmE", "fooba");
        check("Zm9vYmFy", "foobar");
    }

    #[test]
    fn refuses_what_is_none() {
        for text in ["Z", "Zm9v!", "Zg==Zg", "Zh==", "\u{e9}"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
