//! [`Truncate`]: shortens results that are too long for a model's context window.

use agcore_chat::{
    Content, ContentPart,
    text::{floor_char_boundary, prefix},
};
use serde_json::Value;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, Size, ToolOutput, json_prefix, text_exceeds},
};

/// A layer that truncates the text of results at a character boundary and appends a note with the original size.
///
/// The limit includes the note: the text of a result never exceeds it, where the text of a result is that of all its
/// text parts together. A limit that is too small for the note, which needs about 70 bytes, truncates without one.
/// Images and files pass unchanged; [`Limit`](super::Limit) limits them.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("dump", "Dumps.", |_: NoArguments| async { Ok("0123456789".repeat(100)) }))?;
/// let executor = tools
///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
///     .with_max_result_bytes(100)
///     .build()?;
///
/// let call = ToolCall::function("call_1", "dump", "{}");
/// let ToolOutcome::Done(result) = executor.settle(ToolWork::new(call)).await.0 else { panic!() };
/// let text = result.content.text();
/// assert!(text.len() <= 100);
/// assert!(text.ends_with("[truncated: the first 35 of 1000 bytes; request less at a time]"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Truncate<S> {
    inner: S,
    max_bytes: usize,
}

impl<S> Truncate<S> {
    /// Wraps `inner` and limits the text of its results to `max_bytes` bytes.
    pub fn new(inner: S, max_bytes: usize) -> Self {
        Self { inner, max_bytes }
    }
}

impl<S: Invoke> Invoke for Truncate<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let mut output = self.inner.invoke(call).await?;
        truncate(&mut output.body, self.max_bytes);
        Ok(output)
    }
}

fn truncate(body: &mut OutputBody, max_bytes: usize) {
    match body {
        OutputBody::Value(value) if !text_exceeds(value, max_bytes) => {}
        OutputBody::Value(Value::String(text)) => truncate_text(text, max_bytes),
        OutputBody::Value(value) => {
            let (mut text, size) = json_prefix(value, max_bytes);
            append_note(&mut text, &Note::new(size, max_bytes));
            *value = text.into();
        }
        OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => truncate_content(content, max_bytes),
        OutputBody::Stream(_) | OutputBody::AwaitingInput(_) => {}
    }
}

fn truncate_content(content: &mut Content, max_bytes: usize) {
    match content {
        Content::Text(text) if text.len() <= max_bytes => {}
        Content::Text(text) => truncate_text(text, max_bytes),
        Content::Parts(parts) => truncate_parts(parts, max_bytes),
    }
}

/// Truncates a text that is too long.
fn truncate_text(text: &mut String, max_bytes: usize) {
    let note = Note::new(Size::exact(text.len()), max_bytes);
    append_note(text, &note);
}

/// Shortens a text to what fits beside the note, and appends the note.
fn append_note(text: &mut String, note: &Note) {
    text.truncate(prefix(text, note.text_bytes).len());
    text.shrink_to_fit();
    text.push_str(&note.after(text.len()));
}

/// Truncates text parts that are too long together. Text parts after the cut are removed.
fn truncate_parts(parts: &mut Vec<ContentPart>, max_bytes: usize) {
    let total = parts.iter().filter_map(ContentPart::as_text).map(str::len).sum();
    if total <= max_bytes {
        return;
    }
    let note = Note::new(Size::exact(total), max_bytes);
    let mut left = Some(note.text_bytes);
    parts.retain_mut(|part| {
        let ContentPart::Text(part) = part else {
            return true;
        };
        let Some(available) = left else {
            return false;
        };
        if part.text.len() <= available {
            left = Some(available - part.text.len());
            return true;
        }
        left = None;
        part.text.truncate(floor_char_boundary(&part.text, available));
        let shown = note.text_bytes - available + part.text.len();
        part.text.push_str(&note.after(shown));
        !part.text.is_empty()
    });
}

/// The note after a truncated text, and how much text fits beside it.
struct Note {
    total: Size,
    /// The number of bytes that are left for the text.
    text_bytes: usize,
    /// Whether the note fits into the limit.
    fits: bool,
}

impl Note {
    /// Plans the truncation of `total` bytes to `max_bytes`, note included.
    fn new(total: Size, max_bytes: usize) -> Self {
        // The number of bytes shown is smaller than the limit, so its note is not longer than this one.
        let text_bytes = max_bytes.checked_sub(note(max_bytes, total).len());
        Self {
            total,
            text_bytes: text_bytes.unwrap_or(max_bytes),
            fits: text_bytes.is_some(),
        }
    }

    /// Returns the note for a text that is cut to `shown` bytes.
    fn after(&self, shown: usize) -> String {
        if self.fits {
            note(shown, self.total)
        } else {
            String::new()
        }
    }
}

fn note(shown: usize, total: Size) -> String {
    format!("\n[truncated: the first {shown} of {total} bytes; request less at a time]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn truncated(mut body: OutputBody, max_bytes: usize) -> Content {
        truncate(&mut body, max_bytes);
        ToolOutput::new(body).into_content().unwrap()
    }

    #[track_caller]
    fn check(value: Value, max_bytes: usize, expected: &str) {
        let content = truncated(OutputBody::Value(value), max_bytes);
        assert_eq!(content.text(), expected);
        assert!(content.text().len() <= max_bytes, "{}", content.text().len());
    }

    #[test]
    fn truncates_at_a_character_boundary_and_appends_a_note() {
        check("x".repeat(100).into(), 100, &"x".repeat(100));
        let shown = "x".repeat(20);
        let note = "\n[truncated: the first 20 of 200 bytes; request less at a time]";
        check("x".repeat(200).into(), 20 + note.len(), &format!("{shown}{note}"));
        // One byte more is only half of a character.
        check(
            "é".repeat(100).into(),
            21 + note.len(),
            &format!("{}{note}", "é".repeat(10)),
        );
    }

    #[test]
    fn truncates_the_json_text_of_a_value() {
        let numbers: Vec<u32> = (100..200).collect();
        let note = "\n[truncated: the first 11 of 401 bytes; request less at a time]";
        check(json!(numbers[..3]), 13, "[100,101,102]");
        check(json!(numbers), 11 + note.len(), &format!("[100,101,10{note}"));
    }

    #[test]
    fn omits_the_note_where_it_does_not_fit() {
        check("1234é".into(), 5, "1234");
        check("123456".into(), 5, "12345");
        check("1".into(), 0, "");
    }

    #[test]
    fn no_result_exceeds_the_limit() {
        for max_bytes in 0..300 {
            for total in [1, 9, 10, 99, 100, 250, 1_000, 100_000] {
                let content = truncated(OutputBody::Value("é".repeat(total).into()), max_bytes);
                assert!(content.text().len() <= max_bytes, "{max_bytes} {total}");
                let parts = vec![
                    ContentPart::text("é".repeat(total)),
                    ContentPart::text("y".repeat(total)),
                ];
                let body = OutputBody::Rich {
                    content: Content::Parts(parts),
                    structured: None,
                };
                let Content::Parts(parts) = truncated(body, max_bytes) else {
                    panic!("the content is no longer in parts")
                };
                let length: usize = parts.iter().filter_map(ContentPart::as_text).map(str::len).sum();
                assert!(length <= max_bytes, "{max_bytes} {total}: {length}");
            }
        }
    }

    #[test]
    fn text_parts_share_the_limit() {
        let image = ContentPart::image_url("data:image/png;base64,AAAAAAAAAAAA");
        let parts = vec![
            ContentPart::text("x".repeat(15)),
            image.clone(),
            ContentPart::text("y".repeat(150)),
            ContentPart::text("z"),
        ];
        let body = OutputBody::Rich {
            content: Content::Parts(parts),
            structured: None,
        };
        let note = "\n[truncated: the first 20 of 166 bytes; request less at a time]";
        let expected = vec![
            ContentPart::text("x".repeat(15)),
            image,
            ContentPart::text(format!("yyyyy{note}")),
        ];
        assert_eq!(truncated(body, 20 + note.len()), Content::Parts(expected));
    }
}
