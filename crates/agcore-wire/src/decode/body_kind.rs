//! [`BodyKind`]: the kind of a body, detected from its first bytes. The content type only decides ambiguous cases.

use super::BYTE_ORDER_MARK;

/// The kind of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// An event stream.
    Events,
    /// A JSON document.
    Json,
    /// An HTML page or plain text, and so not a reply.
    Page,
}

/// The fields of the event stream format, and `error`, which llama.cpp added.
const FIELDS: &[&[u8]] = &[b"data", b"event", b"id", b"retry", b"error"];

/// The number of bytes after which a body that has only comments so far is taken for an event stream.
const MAX_LEADING_COMMENTS: usize = 8 << 10;

/// A bound on the length of field names. It applies to complete lines too, so that the result does not depend on where
/// reads end.
const MAX_FIELD_NAME: usize = 64;

impl BodyKind {
    /// Detects the kind of a body from its first bytes; `None` if more bytes are needed.
    ///
    /// `is_event_stream` states whether the content type is that of an event stream.
    pub(crate) fn detect(bytes: &[u8], is_event_stream: bool) -> Option<Self> {
        let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => rest,
            // The mark may be incomplete.
            None if BYTE_ORDER_MARK.starts_with(bytes) => return None,
            None => bytes,
        };
        // Some gateways send comments to keep the connection alive before they know what the reply will be.
        let Some(bytes) = skip_comments(bytes).filter(|rest| !rest.is_empty()) else {
            return (bytes.len() > MAX_LEADING_COMMENTS).then_some(Self::Events);
        };
        match bytes.first()? {
            b'{' | b'[' => return Some(Self::Json),
            b'<' => return Some(Self::Page),
            _ => {}
        }
        let end = bytes.iter().position(|byte| matches!(byte, b':' | b'\n' | b'\r'));
        let field = &bytes[..end.unwrap_or(bytes.len())];
        match end {
            None if FIELDS.iter().any(|known| known.starts_with(field)) => None,
            Some(_) if FIELDS.contains(&field) => Some(Self::Events),
            // An event stream may contain unknown fields, and a page may begin without a tag: wait for the end of the line.
            None if is_event_stream && field.len() < MAX_FIELD_NAME => None,
            Some(_) if is_event_stream && field.len() < MAX_FIELD_NAME && is_field_name(field) => Some(Self::Events),
            _ => Some(Self::Page),
        }
    }
}

/// Returns what follows the leading comments and blanks; `None` if the last comment is incomplete.
pub(crate) fn skip_comments(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.trim_ascii_start();
    while rest.starts_with(b":") {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        rest = rest[end..].trim_ascii_start();
    }
    Some(rest)
}

fn is_field_name(name: &[u8]) -> bool {
    name.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, is_event_stream: bool, expected: Option<BodyKind>) {
        assert_eq!(BodyKind::detect(body.as_bytes(), is_event_stream), expected, "{body:?}");
    }

    #[test]
    fn detects_the_kind_from_the_first_bytes() {
        check("data: x", false, Some(BodyKind::Events));
        check(": ping\n\ndata: x", false, Some(BodyKind::Events));
        check(": ping\r\n\r\n: ping\r\n\r\n{\"a\"", true, Some(BodyKind::Json));
        check("\n\n{\"a\"", true, Some(BodyKind::Json));
        check("\u{FEFF}[", true, Some(BodyKind::Json));
        check("<!DOCTYPE", true, Some(BodyKind::Page));
        check("upstream request failed", false, Some(BodyKind::Page));
        check("null", false, Some(BodyKind::Page));
        check("x-unknown: 1\n", true, Some(BodyKind::Events));
        check("no healthy upstream\n", true, Some(BodyKind::Page));
    }

    #[test]
    fn rejects_long_field_names_wherever_a_read_ends() {
        let name = "x".repeat(MAX_FIELD_NAME - 1);
        check(&name, true, None);
        check(&format!("{name}: 1"), true, Some(BodyKind::Events));
        check(&format!("{name}x"), true, Some(BodyKind::Page));
        check(&format!("{name}x: 1"), true, Some(BodyKind::Page));
    }

    #[test]
    fn waits_for_more_bytes_if_ambiguous() {
        check("", true, None);
        check(" \r\n", true, None);
        check("dat", false, None);
        check("upstre", true, None);
        check(": ping", true, None);
        check(": ping\n\n: ping\n", true, None);
        let comments = ": ping\n".repeat(MAX_LEADING_COMMENTS);
        check(&comments, true, Some(BodyKind::Events));
        assert_eq!(BodyKind::detect(b"\xEF\xBB", true), None);
    }
}
