//! From the contents of agcore to those of the protocol.

use agcore_chat::{Content, ContentPart};
use rmcp::model::{ContentBlock, ResourceContents};

/// Converts the content of a message or a result.
pub(crate) fn blocks(content: Content) -> Vec<ContentBlock> {
    match content {
        Content::Text(text) => vec![ContentBlock::text(text)],
        Content::Parts(parts) => parts.into_iter().map(block).collect(),
    }
}

fn block(part: ContentPart) -> ContentBlock {
    match part {
        ContentPart::Text(part) => ContentBlock::text(part.text),
        ContentPart::ImageUrl(part) => match split_data_url(&part.image_url.url) {
            Some((mime, data)) => ContentBlock::image(data, mime),
            None => ContentBlock::text(part.image_url.url),
        },
        ContentPart::InputAudio(part) => {
            let mime = match &*part.input_audio.format {
                "mp3" => "audio/mpeg".to_owned(),
                format => format!("audio/{format}"),
            };
            ContentBlock::audio(part.input_audio.data, mime)
        }
        ContentPart::File(part) if part.file.file_data.is_some() => {
            let data = part.file.file_data.unwrap_or_default();
            let name = part.file.filename.unwrap_or_else(|| "file".to_owned());
            let (mime, data) = match split_data_url(&data) {
                Some((mime, data)) => (mime.to_owned(), data.to_owned()),
                None => ("application/octet-stream".to_owned(), data),
            };
            let contents = ResourceContents::blob(data, format!("attachment:///{}", escape(&name)));
            ContentBlock::resource(contents.with_mime_type(mime))
        }
        // A part that has the form of the protocol already, such as an embedded resource, is sent as it is.
        ContentPart::Other(raw) => match serde_json::from_value::<ContentBlock>(raw.clone()) {
            Ok(block) => block,
            Err(_) => ContentBlock::text(raw.to_string()),
        },
        other => ContentBlock::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// Splits `data:image/png;base64,…` into the media type and the data.
fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// Escapes the characters that a segment of a URI must not contain.
fn escape(name: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~') {
            escaped.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(part: ContentPart, expected: Value) {
        assert_eq!(serde_json::to_value(block(part)).unwrap(), expected);
    }

    #[test]
    fn parts_become_blocks() {
        check(ContentPart::text("a"), json!({"type": "text", "text": "a"}));
        check(
            ContentPart::image_url("data:image/png;base64,AA=="),
            json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
        );
        check(
            ContentPart::image_url("https://example.org/a.png"),
            json!({"type": "text", "text": "https://example.org/a.png"}),
        );
        check(
            ContentPart::input_audio("AA==", "mp3"),
            json!({"type": "audio", "data": "AA==", "mimeType": "audio/mpeg"}),
        );
        let resource = json!({"type": "resource", "resource": {"uri": "a://b", "text": "t"}});
        check(ContentPart::Other(resource.clone()), resource);
        check(
            ContentPart::Other(json!({"type": "x"})),
            json!({"type": "text", "text": r#"{"type":"x"}"#}),
        );
        let uri = "attachment:///a%20b.pdf";
        check(
            ContentPart::file_data("a b.pdf", "data:application/pdf;base64,AA=="),
            json!({"type": "resource", "resource": {"uri": uri, "mimeType": "application/pdf", "blob": "AA=="}}),
        );
    }
}
