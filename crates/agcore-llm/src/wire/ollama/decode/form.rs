//! [`Form`]: what a body is, told by its first bytes.

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines of JSON, or one.
    Json,
    /// A page or a text: no answer.
    Page,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The form of a body that begins with these bytes; `None` while they do not tell.
pub(super) fn of(bytes: &[u8]) -> Option<Form> {
    // A mark that may still be cut tells nothing.
    let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest,
        None if BYTE_ORDER_MARK.starts_with(bytes) => return None,
        None => bytes,
    };
    Some(match bytes.trim_ascii_start().first()? {
        b'{' | b'[' => Form::Json,
        _ => Form::Page,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_told_by_the_first_bytes() {
        let check = |body: &[u8], expected| assert_eq!(of(body), expected, "{body:?}");
        check(b"{\"model\"", Some(Form::Json));
        check(b"\r\n [", Some(Form::Json));
        check(b"\xEF\xBB\xBF{", Some(Form::Json));
        check(b"<html>", Some(Form::Page));
        check(b"404 page not found", Some(Form::Page));
        check(b"data: {", Some(Form::Page));
        check(b"", None);
        check(b" \n", None);
        check(b"\xEF\xBB", None);
        check(b"\xEF\xBB{", Some(Form::Page));
    }
}
