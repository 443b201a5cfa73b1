//! [`Limit`]: limits what a result contains beside its text.

use agcore_chat::{Content, ContentPart};
use serde_json::{Value, json};

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, Size, ToolOutput, json_exceeds},
};

/// The default limit for each JSON value beside the text of a result, in bytes of compact JSON: 1 MiB.
pub const MAX_TOOL_DATA_BYTES: usize = 1024 * 1024;

/// The default limit for the images and files of a result together, in bytes of their URLs and base64 texts: 20 MiB.
pub const MAX_TOOL_MEDIA_BYTES: usize = 20 * 1024 * 1024;

/// A layer that limits what a result contains beside its text, which [`Truncate`](super::Truncate) limits.
///
/// - Each of the structured value, the metadata and the hints for display is limited to `max_data_bytes` of compact JSON.
///   One that is longer is replaced by `{"omitted": "…"}` with its size.
/// - Images, audio and files are limited to `max_media_bytes` together. One that exceeds what is left is replaced by a text
///   with its size; smaller ones after it are kept.
/// - A question or handoff whose data is longer than `max_data_bytes` fails, because it would not work with less.
///
/// Sizes are counted up to 4 MiB; the note about a longer value contains "more than".
#[derive(Debug, Clone)]
pub struct Limit<S> {
    inner: S,
    max_data_bytes: usize,
    max_media_bytes: usize,
}

impl<S> Limit<S> {
    /// Wraps `inner` with the [default](MAX_TOOL_DATA_BYTES) [limits](MAX_TOOL_MEDIA_BYTES).
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            max_data_bytes: MAX_TOOL_DATA_BYTES,
            max_media_bytes: MAX_TOOL_MEDIA_BYTES,
        }
    }

    /// Sets the limit for each JSON value, in bytes of compact JSON.
    #[must_use]
    pub fn with_max_data_bytes(mut self, bytes: usize) -> Self {
        self.max_data_bytes = bytes;
        self
    }

    /// Sets the limit for images, audio and files together, in bytes of their URLs and base64 texts.
    #[must_use]
    pub fn with_max_media_bytes(mut self, bytes: usize) -> Self {
        self.max_media_bytes = bytes;
        self
    }

    fn limit(&self, output: &mut ToolOutput) -> Result<(), ToolError> {
        let max_bytes = self.max_data_bytes;
        match &mut output.body {
            OutputBody::Value(_) | OutputBody::Stream(_) => {}
            OutputBody::Rich { content, structured } => {
                limit_media(content, self.max_media_bytes);
                structured.iter_mut().for_each(|value| limit_data(value, max_bytes));
            }
            OutputBody::Divert { content, data } => {
                limit_media(content, self.max_media_bytes);
                if json_exceeds(data, max_bytes) {
                    return Err(ToolError::failed(format!(
                        "the tool made a handoff with data of more than {max_bytes} bytes"
                    )));
                }
            }
            OutputBody::AwaitingInput(request) => {
                let is_long = |value: &Value| json_exceeds(value, max_bytes);
                if request.prompt.len() > max_bytes
                    || is_long(&request.context)
                    || request.schema.as_ref().is_some_and(is_long)
                {
                    return Err(ToolError::failed(format!(
                        "the tool asked a question with data of more than {max_bytes} bytes, which cannot be saved"
                    )));
                }
            }
        }
        let data = output.ui_hints.iter_mut().chain(&mut output.metadata);
        data.for_each(|value| limit_data(value, max_bytes));
        Ok(())
    }
}

impl<S: Invoke> Invoke for Limit<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let mut output = self.inner.invoke(call).await?;
        self.limit(&mut output)?;
        Ok(output)
    }
}

/// Replaces a value that is too long by a note.
fn limit_data(value: &mut Value, max_bytes: usize) {
    if json_exceeds(value, max_bytes) {
        let size = Size::of_json(value);
        *value = json!({"omitted": format!("{size} bytes, which is more than the limit of {max_bytes}")});
    }
}

/// Replaces each image, recording and file that exceeds the rest of the limit with a note.
fn limit_media(content: &mut Content, max_bytes: usize) {
    let Content::Parts(parts) = content else {
        return;
    };
    let mut left = max_bytes;
    for part in parts {
        let Some((kind, bytes)) = media(part) else {
            continue;
        };
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => {
                *part = ContentPart::text(format!(
                    "[{kind} of {bytes} bytes was omitted: the images and files of a result are limited to {max_bytes} bytes]"
                ));
            }
        }
    }
}

/// Returns what a part is, and its size, unless it is text.
fn media(part: &ContentPart) -> Option<(&'static str, usize)> {
    match part {
        ContentPart::ImageUrl(part) => Some(("an image", part.image_url.url.len())),
        ContentPart::InputAudio(part) => Some(("a recording", part.input_audio.data.len())),
        ContentPart::File(part) => {
            let file = &part.file;
            let texts = [&file.file_data, &file.file_id, &file.filename];
            Some(("a file", texts.into_iter().flatten().map(String::len).sum()))
        }
        _ => None,
    }
}
