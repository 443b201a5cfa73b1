//! Frames of server-sent events.

/// Returns an event of a stream of server-sent events: `id` and `event` if given, and `data`. Lines end with LF only, which AG-UI
/// clients require.
///
/// Line breaks and NUL in `id` and `event` are removed, so that no value can add a field or another event.
///
/// ```
/// use agcore_agui::sse_frame;
///
/// // For clients that post a run and read its answer.
/// assert_eq!(sse_frame(None, None, r#"{"type":"RUN_STARTED"}"#), "data: {\"type\":\"RUN_STARTED\"}\n\n");
/// // For clients that follow a run and can continue after the last id.
/// assert_eq!(sse_frame(Some("7"), Some("CUSTOM"), "{}"), "id: 7\nevent: CUSTOM\ndata: {}\n\n");
/// ```
pub fn sse_frame(id: Option<&str>, event: Option<&str>, data: &str) -> String {
    let mut frame = String::new();
    push_sse_frame(&mut frame, id, event, data);
    frame
}

/// Appends an event like that of [`sse_frame`] to others, without a copy.
///
/// ```
/// use agcore_agui::{push_sse_frame, sse_frame};
///
/// let mut frames = sse_frame(Some("7"), None, "{}");
/// push_sse_frame(&mut frames, Some("8"), None, "{}");
/// assert_eq!(frames, "id: 7\ndata: {}\n\nid: 8\ndata: {}\n\n");
/// ```
pub fn push_sse_frame(frames: &mut String, id: Option<&str>, event: Option<&str>, data: &str) {
    frames.reserve(data.len() + 64);
    for (field, value) in [("id: ", id), ("event: ", event)] {
        if let Some(value) = value {
            frames.push_str(field);
            value.split(['\r', '\n', '\0']).for_each(|part| frames.push_str(part));
            frames.push('\n');
        }
    }
    for line in lines(data) {
        frames.push_str("data: ");
        frames.push_str(line);
        frames.push('\n');
    }
    frames.push('\n');
}

/// Returns a comment of a stream of server-sent events. Clients ignore it; it keeps the connection open.
///
/// ```
/// assert_eq!(agcore_agui::sse_comment("keep-alive"), ": keep-alive\n\n");
/// ```
pub fn sse_comment(text: &str) -> String {
    let mut frame = String::with_capacity(text.len() + 4);
    for line in lines(text) {
        frame.push_str(": ");
        frame.push_str(line);
        frame.push('\n');
    }
    frame.push('\n');
    frame
}

/// Splits a text at CRLF, LF and CR: each of them ends a line of a stream.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_adds_a_field() {
        let check = |id, event, data, expected: &str| assert_eq!(sse_frame(id, event, data), expected);
        check(Some("1\ndata: x"), None, "{}", "id: 1data: x\ndata: {}\n\n");
        check(None, Some("A\r\nid: 9"), "{}", "event: Aid: 9\ndata: {}\n\n");
        check(None, None, "a\r\nb\rc\nd", "data: a\ndata: b\ndata: c\ndata: d\n\n");
        check(None, None, "", "data: \n\n");
        assert_eq!(sse_comment("a\n\ndata: {}"), ": a\n: \n: data: {}\n\n");
    }
}
