//! Detection of bodies that are not text.

/// The number of bytes at the beginning that are inspected.
const HEAD: usize = 512;

/// Describes a body that is not text, such as "compressed with gzip"; `None` for text.
pub(super) fn detect(body: &[u8]) -> Option<&'static str> {
    match body {
        [0x1f, 0x8b, ..] => Some("compressed with gzip"), // RFC 1952
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("compressed with zstd"), // RFC 8878
        _ if !is_garbled(body) => None,
        // RFC 1950: a window of 32 KiB, and a checksum.
        [0x78, flags, ..] if u16::from_be_bytes([0x78, *flags]).is_multiple_of(31) => Some("compressed with deflate"),
        _ => Some("not text: compressed, binary or in another character set"),
    }
}

/// Returns whether more than a quarter is control characters or invalid UTF-8.
fn is_garbled(body: &[u8]) -> bool {
    let head = &body[..body.len().min(HEAD)];
    let odd: usize = head
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len() + chunk.valid().bytes().filter(is_odd).count())
        .sum();
    odd * 4 > head.len()
}

/// Returns whether a byte is a control character other than line breaks, tabs and terminal escapes.
fn is_odd(byte: &u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c' | b'\x1b')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], expected: Option<&str>) {
        let found = detect(body);
        let is_expected = match (found, expected) {
            (Some(found), Some(expected)) => found.contains(expected),
            (found, expected) => found == expected,
        };
        assert!(is_expected, "{body:x?}: {found:?}");
    }

    #[test]
    fn detects_compressed_and_binary_bodies() {
        check(b"\x1f\x8b\x08\0\0\0\0\0", Some("gzip"));
        check(b"\x28\xb5\x2f\xfd\x04", Some("zstd"));
        check(b"\x78\x9c\xc5\x8e\x41\x0a\xc2\x30\x10\x45", Some("deflate"));
        check(b"\x8b\x02\x80hello\x03", Some("not text"));
        check(b"\0\0\0\x01a\0b\0", Some("not text"));
    }

    #[test]
    fn accepts_text() {
        check(b"", None);
        check(b"x^2 is no error", None);
        check("der Schlüssel fehlt, 余额不足".as_bytes(), None);
        check(b"cl\xe9 refus\xe9e par le serveur", None);
        check(b"\x1b[31mred\x1b[0m\r\n\tindented", None);
        check("é".repeat(HEAD).as_bytes(), None);
        check(&[b"x", "é".repeat(HEAD).as_bytes()].concat(), None);
    }
}
