//! Texts in other encodings than UTF-8.

use crate::support::document;

#[track_caller]
fn check(content: &[u8], expected: &str) {
    assert_eq!(document("text.txt", content).text(), expected);
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(bytes).collect()
}

#[test]
fn marks_decide() {
    check("\u{feff}größer".as_bytes(), "größer");
    check(&utf16("größer 😀", u16::to_le_bytes), "größer 😀");
    check(&utf16("größer 😀", u16::to_be_bytes), "größer 😀");
}

#[test]
fn legacy_encodings_are_guessed() {
    // GB18030.
    check(
        b"\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xd6\xd0\xce\xc4\xce\xc4\xb5\xb5\xa3\xac\xd3\xc3\xc0\xb4\xb2\xe2\xca\xd4\xa1\xa3",
        "这是一个中文文档，用来测试。",
    );
    // Latin 1.
    check(
        b"Die Stra\xdfe ist gr\xf6\xdfer als der H\xfcgel.",
        "Die Straße ist größer als der Hügel.",
    );
    // Shift_JIS.
    check(
        b"\x93\xfa\x96{\x8c\xea\x82\xcc\x95\xb6\x8f\x91\x82\xc5\x82\xb7\x81B",
        "日本語の文書です。",
    );
}

#[test]
fn what_cannot_be_decoded_is_replaced() {
    check(b"\xff\xfea\0\x00\xd8b\0", "a\u{fffd}b");
    check(b"\xff\xfea\0b", "a\u{fffd}");
}
