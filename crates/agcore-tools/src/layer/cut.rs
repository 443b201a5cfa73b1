//! [`Cut`]: cuts results that are too long for a model's window.

use agcore_chat::{Content, ContentPart};

use super::invoke::{Invoke, Layer, PreparedCall};
use crate::{
    clip::head,
    error::ToolError,
    output::{OutputBody, ToolOutput, text_len, text_of},
};

/// Adds a [`Cut`].
#[derive(Debug, Clone, Copy)]
pub struct CutLayer {
    bytes: usize,
}

impl CutLayer {
    /// Lets so many bytes of text pass.
    pub fn new(bytes: usize) -> Self {
        Self { bytes }
    }
}

impl<S: Invoke> Layer<S> for CutLayer {
    type Invoke = Cut<S>;

    fn layer(&self, inner: S) -> Cut<S> {
        Cut {
            inner,
            bytes: self.bytes,
        }
    }
}

/// Cuts the text of results on a character boundary and notes how long it was. Images and files pass as they are.
#[derive(Debug, Clone)]
pub struct Cut<S> {
    inner: S,
    bytes: usize,
}

impl<S: Invoke> Invoke for Cut<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let mut output = self.inner.invoke(call).await?;
        cut(&mut output.body, self.bytes);
        Ok(output)
    }
}

fn cut(body: &mut OutputBody, bytes: usize) {
    match body {
        OutputBody::Value(value) if text_len(value) <= bytes => {}
        OutputBody::Value(value) => {
            let mut text = text_of(value.take());
            cut_text(&mut text, bytes);
            *value = text.into();
        }
        OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => cut_content(content, bytes),
        OutputBody::Stream(_) | OutputBody::AwaitingInput(_) => {}
    }
}

fn cut_content(content: &mut Content, bytes: usize) {
    match content {
        Content::Text(text) if text.len() <= bytes => {}
        Content::Text(text) => cut_text(text, bytes),
        Content::Parts(parts) => cut_parts(parts, bytes),
    }
}

/// All text parts together may have so many bytes; those that begin behind the cut fall away.
fn cut_parts(parts: &mut Vec<ContentPart>, bytes: usize) {
    let all: usize = parts.iter().filter_map(ContentPart::as_text).map(str::len).sum();
    if all <= bytes {
        return;
    }
    let mut left = Some(bytes);
    parts.retain_mut(|part| {
        let ContentPart::Text(part) = part else {
            return true;
        };
        match left {
            Some(room) if part.text.len() <= room => left = Some(room - part.text.len()),
            Some(room) => {
                part.text.truncate(head(&part.text, room).len());
                part.text.push_str(&note(bytes, all));
                left = None;
            }
            None => return false,
        }
        true
    });
}

fn cut_text(text: &mut String, bytes: usize) {
    let all = text.len();
    text.truncate(head(text, bytes).len());
    text.shrink_to_fit();
    text.push_str(&note(bytes, all));
}

fn note(bytes: usize, all: usize) -> String {
    format!("\n[cut here: the first {bytes} of {all} bytes; ask for less at a time]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mut body: OutputBody, expected: &str) {
        cut(&mut body, 5);
        let text = ToolOutput::new(body).into_content().unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), expected);
    }

    #[test]
    fn cuts_on_a_character_boundary_and_says_so() {
        check(OutputBody::Value("12345".into()), r#""12345""#);
        check(
            OutputBody::Value("1234é".into()),
            r#""1234\n[cut here: the first 5 of 6 bytes; ask for less at a time]""#,
        );
        check(OutputBody::Value(json!([1, 2])), r#""[1,2]""#);
        check(
            OutputBody::Value(json!([1, 2, 3])),
            r#""[1,2,\n[cut here: the first 5 of 7 bytes; ask for less at a time]""#,
        );
    }

    #[test]
    fn parts_share_the_room() {
        let parts = vec![
            ContentPart::text("123"),
            ContentPart::image_url("data:image/png;base64,AAAAAAAAAAAA"),
            ContentPart::text("4567"),
            ContentPart::text("8"),
        ];
        let content = Content::Parts(parts);
        check(
            OutputBody::Rich {
                content,
                structured: None,
            },
            concat!(
                r#"[{"type":"text","text":"123"},"#,
                r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAAAAAAAAAA"}},"#,
                r#"{"type":"text","text":"45\n[cut here: the first 5 of 8 bytes; ask for less at a time]"}]"#
            ),
        );
    }
}
