//! The names of files as tools print and accept them: a name that a line of text cannot show exactly is quoted, as git does it.

use std::{
    ffi::OsString,
    fmt::Write as _,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};

/// Returns a path as text on one line, with slashes between its components. If it contains line breaks, other control characters,
/// quotation marks, backslashes or bytes that are not text, it is in quotation marks and these are escaped; [`unquoted`] reads
/// that.
pub(super) fn shown(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(&mut name, c));
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(name, "\\x{byte:02x}");
        }
    }
    match name.contains('\\') {
        true => format!("\"{name}\""),
        false => name,
    }
}

fn push(name: &mut String, c: char) {
    match c {
        '\\' if MAIN_SEPARATOR == '\\' => name.push('/'),
        '"' | '\\' => name.extend(['\\', c]),
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => name.extend(c.escape_default()),
        c => name.push(c),
    }
}

/// Reads a path that [`shown`] has quoted. Returns `None` for any other text.
pub(super) fn unquoted(text: &str) -> Option<PathBuf> {
    let mut rest = text
        .strip_prefix('"')?
        .strip_suffix('"')
        .filter(|rest| !rest.is_empty())?;
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some(start) = rest.find(['\\', '"']) {
        bytes.extend_from_slice(&rest.as_bytes()[..start]);
        rest = escape(rest[start..].strip_prefix('\\')?, &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    path(bytes)
}

/// Reads what follows a backslash. Returns the text after it.
fn escape<'t>(text: &'t str, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let letter = text.chars().next()?;
    let rest = &text[letter.len_utf8()..];
    let byte = match letter {
        '"' | '\\' => u8::try_from(letter).ok()?,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'x' => {
            bytes.push(u8::try_from(hexadecimal(rest.get(..2)?)?).ok()?);
            return rest.get(2..);
        }
        'u' => {
            let (code, rest) = rest.strip_prefix('{')?.split_once('}')?;
            let c = char::from_u32(hexadecimal(code)?)?;
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
        _ => return None,
    };
    bytes.push(byte);
    Some(rest)
}

fn hexadecimal(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;

    Some(OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(|name| OsString::from(name).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_as_they_are() {
        for name in ["src/a b.rs", "文件.txt", "it's", "a:1", "e\u{301}"] {
            assert_eq!(shown(Path::new(name)), name);
            assert_eq!(unquoted(name), None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn other_names_are_quoted_and_can_be_read() {
        for (name, expected) in [
            ("a\nb.txt", r#""a\nb.txt""#),
            ("\r\t\u{1b}", r#""\r\t\u{1b}""#),
            ("a\\nb", r#""a\\nb""#),
            ("\"a\"", r#""\"a\"""#),
            ("x\u{2028}文", r#""x\u{2028}文""#),
            ("\"a\\nb\"", r#""\"a\\nb\"""#),
        ] {
            assert_eq!(shown(Path::new(name)), expected);
            assert_eq!(unquoted(expected).as_deref(), Some(Path::new(name)), "{expected}");
        }
        let bytes = path(b"a\xffb\xc3".to_vec()).unwrap();
        assert_eq!(shown(&bytes), r#""a\xffb\xc3""#);
        assert_eq!(unquoted(&shown(&bytes)), Some(bytes));
    }

    #[test]
    fn what_is_not_quoted_properly_is_no_quoted_name() {
        for text in [
            "",
            "\"",
            "\"\"",
            "\"a",
            "a\"",
            r#""a"b""#,
            r#""a\""#,
            r#""a\q""#,
            r#""\x4""#,
            r#""\x+1""#,
            r#""\xé""#,
            r#""\u{d800}""#,
            r#""\u41""#,
        ] {
            assert_eq!(unquoted(text), None, "{text}");
        }
    }
}
