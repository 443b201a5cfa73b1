//! [`Form`]: what a body is, told by its first bytes; the content type decides only where they do not.

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An event stream.
    Events,
    /// JSON.
    Json,
    /// A page or a text: no answer.
    Page,
}

/// Fields of the event stream format, and the one llama.cpp made up.
const FIELDS: &[&[u8]] = &[b"data", b"event", b"id", b"retry", b"error"];

/// The form of a body that begins with these bytes; `None` while they do not tell. With `is_events` the content type
/// says that it is an event stream.
pub(crate) fn of(bytes: &[u8], is_events: bool) -> Option<Form> {
    // A mark that may still be cut tells nothing.
    let bytes = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => rest,
        None if b"\xEF\xBB\xBF".starts_with(bytes) => return None,
        None => bytes,
    };
    // Some gateways keep a connection alive with comments before they know what they will answer.
    let Some(bytes) = after_comments(bytes).filter(|rest| !rest.is_empty()) else {
        return (bytes.len() > MOST_COMMENTS).then_some(Form::Events);
    };
    match bytes.first()? {
        b'{' | b'[' => return Some(Form::Json),
        b'<' => return Some(Form::Page),
        _ => {}
    }
    let end = bytes.iter().position(|byte| matches!(byte, b':' | b'\n' | b'\r'));
    let field = &bytes[..end.unwrap_or(bytes.len())];
    match end {
        None if FIELDS.iter().any(|known| known.starts_with(field)) => None,
        Some(_) if FIELDS.contains(&field) => Some(Form::Events),
        // Unknown fields are legal in an event stream, and pages without tags exist: wait for the line's end.
        None if is_events && field.len() < LONGEST_FIELD => None,
        Some(_) if is_events && field.len() < LONGEST_FIELD && is_field(field) => Some(Form::Events),
        _ => Some(Form::Page),
    }
}

/// So many bytes of comments are waited for the end of.
const MOST_COMMENTS: usize = 8 << 10;

/// What follows comments and blanks; none while the last comment has no end.
pub(crate) fn after_comments(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.trim_ascii_start();
    while rest.starts_with(b":") {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        rest = rest[end..].trim_ascii_start();
    }
    Some(rest)
}

/// All names of fields are shorter, also where the line's end is already there: slicing must not matter.
const LONGEST_FIELD: usize = 64;

fn is_field(name: &[u8]) -> bool {
    name.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, is_events: bool, expected: Option<Form>) {
        assert_eq!(of(body.as_bytes(), is_events), expected, "{body:?}");
    }

    #[test]
    fn is_told_by_the_first_bytes() {
        check("data: x", false, Some(Form::Events));
        check(": ping\n\ndata: x", false, Some(Form::Events));
        check(": ping\r\n\r\n: ping\r\n\r\n{\"a\"", true, Some(Form::Json));
        check("\n\n{\"a\"", true, Some(Form::Json));
        check("\u{FEFF}[", true, Some(Form::Json));
        check("<!DOCTYPE", true, Some(Form::Page));
        check("upstream request failed", false, Some(Form::Page));
        check("null", false, Some(Form::Page));
        check("x-unknown: 1\n", true, Some(Form::Events));
        check("no healthy upstream\n", true, Some(Form::Page));
    }

    #[test]
    fn long_names_are_no_fields_however_they_are_cut() {
        let name = "x".repeat(LONGEST_FIELD - 1);
        check(&name, true, None);
        check(&format!("{name}: 1"), true, Some(Form::Events));
        check(&format!("{name}x"), true, Some(Form::Page));
        check(&format!("{name}x: 1"), true, Some(Form::Page));
    }

    #[test]
    fn waits_while_it_cannot_tell() {
        check("", true, None);
        check(" \r\n", true, None);
        check("dat", false, None);
        check("upstre", true, None);
        check(": ping", true, None);
        check(": ping\n\n: ping\n", true, None);
        let many = ": ping\n".repeat(MOST_COMMENTS);
        assert!(of(many.as_bytes(), true) == Some(Form::Events), "comments without end");
        assert_eq!(of(b"\xEF\xBB", true), None);
    }
}
