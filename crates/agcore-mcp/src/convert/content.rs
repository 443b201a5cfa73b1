//! From the contents of the protocol to those of agcore.

use agcore_chat::{Content, ContentPart};
use agcore_tools::{ToolError, ToolOutput};
use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// The media type of PDF files.
const PDF: &str = "application/pdf";

/// The media type of contents of unknown type.
const UNKNOWN: &str = "application/octet-stream";

/// Converts the result of a call. A failure that the tool reports is an error with the server's text.
pub(crate) fn tool_output(result: CallToolResult) -> Result<ToolOutput, ToolError> {
    // This comes first: the text of a failure must not pass for a result.
    if result.is_error == Some(true) {
        let texts: Vec<String> = result.content.iter().filter_map(plain_text).collect();
        let text = match texts.join("\n") {
            text if text.trim().is_empty() => match &result.structured_content {
                Some(value) => value.to_string(),
                None => "the tool failed, and gave no reason".to_owned(),
            },
            text => text,
        };
        return Err(ToolError::failed(text));
    }
    let mut parts = parts(result.content);
    let metadata = result.meta.and_then(|meta| serde_json::to_value(meta).ok());
    let output = match (result.structured_content, parts.as_mut_slice()) {
        (Some(value), []) => ToolOutput::value(value),
        (Some(value), [ContentPart::Text(part)]) => {
            ToolOutput::content_and_value(Content::Text(std::mem::take(&mut part.text)), value)
        }
        (Some(value), _) => ToolOutput::content_and_value(parts, value),
        (None, []) => ToolOutput::text(""),
        (None, [ContentPart::Text(part)]) => ToolOutput::text(std::mem::take(&mut part.text)),
        (None, _) => ToolOutput::content(parts),
    };
    Ok(match metadata {
        Some(metadata) => output.with_metadata(metadata),
        None => output,
    })
}

/// Converts contents into parts of a message.
fn parts(content: Vec<ContentBlock>) -> Vec<ContentPart> {
    content.into_iter().map(part).collect()
}

pub(crate) fn part(block: ContentBlock) -> ContentPart {
    match block {
        ContentBlock::Text(text) => ContentPart::text(text.text),
        ContentBlock::Image(image) => blob("image", &image.mime_type, image.data),
        ContentBlock::Audio(audio) => blob("audio", &audio.mime_type, audio.data),
        ContentBlock::Resource(resource) => self::resource(resource.resource),
        ContentBlock::ResourceLink(link) => {
            let title = link.title.as_deref().unwrap_or(&link.name);
            let description = link.description.map(|text| format!(": {text}")).unwrap_or_default();
            ContentPart::text(format!("[{title}]({}){description}", link.uri))
        }
        // A content of a later revision of the protocol.
        other => ContentPart::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// Converts the contents of a resource.
fn resource(contents: ResourceContents) -> ContentPart {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => ContentPart::text(text),
        ResourceContents::BlobResourceContents {
            uri, mime_type, blob, ..
        } => self::blob(&file_name(&uri), mime_type.as_deref().unwrap_or(UNKNOWN), blob),
        other => ContentPart::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// Converts binary contents into what models can read: an image, a recording, a PDF file, or text. Any other content, which
/// vendors would refuse together with the whole conversation, is replaced by its name and size.
fn blob(name: &str, mime: &str, base64: String) -> ContentPart {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match &*kind {
        "image/svg+xml" => {}
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => {
            return ContentPart::input_audio(base64, "wav");
        }
        "audio/mpeg" | "audio/mp3" => return ContentPart::input_audio(base64, "mp3"),
        PDF => return ContentPart::file_data(name, data_url(PDF, &base64)),
        kind if kind.starts_with("image/") => return ContentPart::image_url(data_url(kind, &base64)),
        _ => {}
    }
    let Ok(bytes) = STANDARD.decode(&base64) else {
        return ContentPart::text(format!(
            "[`{name}` ({mime}) cannot be read: its content is not valid base64]"
        ));
    };
    if bytes.starts_with(b"%PDF-") {
        return ContentPart::file_data(name, data_url(PDF, &base64));
    }
    let size = bytes.len();
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ContentPart::text(text),
        _ => ContentPart::text(format!(
            "[`{name}` ({mime}, {size} bytes) is left out: models cannot read files of this kind]"
        )),
    }
}

fn data_url(mime: &str, base64: &str) -> String {
    format!("data:{mime};base64,{base64}")
}

/// Returns the last segment of a URI's path.
fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        "resource".to_owned()
    } else {
        name.to_owned()
    }
}

fn plain_text(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use agcore_tools::ToolErrorKind;
    use serde_json::{Value, json};

    use super::*;

    fn convert(result: Value) -> Result<ToolOutput, ToolError> {
        tool_output(serde_json::from_value(result).unwrap())
    }

    #[track_caller]
    fn check(result: Value, expected: Value, structured: Option<Value>) {
        let output = convert(result).unwrap();
        let value = output.as_value().cloned();
        let content = serde_json::to_value(output.into_content().unwrap()).unwrap();
        assert_eq!((content, value), (expected, structured));
    }

    #[test]
    fn contents_become_parts() {
        let text = json!({"type": "text", "text": "hi"});
        check(json!({"content": [text]}), json!("hi"), Some(json!("hi")));
        check(
            json!({"content": [text], "structuredContent": {"a": 1}}),
            json!("hi"),
            Some(json!({"a": 1})),
        );
        check(
            json!({"content": [], "structuredContent": [1]}),
            json!("[1]"),
            Some(json!([1])),
        );
        check(json!({"content": []}), json!(""), Some(json!("")));
        let blob = json!({"uri": "file:///a/b.pdf?x", "mimeType": "application/pdf", "blob": "AA=="});
        check(
            json!({"content": [
                {"type": "image", "mimeType": "image/png", "data": "AA=="},
                {"type": "audio", "mimeType": "audio/wav", "data": "AA=="},
                {"type": "resource", "resource": {"uri": "a://b", "text": "t"}},
                {"type": "resource", "resource": blob},
                {"type": "resource_link", "uri": "a://c", "name": "c"},
            ]}),
            json!([
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
                {"type": "text", "text": "t"},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA==", "filename": "b.pdf"}},
                {"type": "text", "text": "[c](a://c)"},
            ]),
            None,
        );
    }

    #[test]
    fn files_that_models_cannot_read_become_text_or_a_note() {
        let file = |mime: Option<&str>, bytes: &[u8]| {
            let mut resource = json!({"uri": "file:///a/b.bin", "blob": STANDARD.encode(bytes)});
            if let Some(mime) = mime {
                resource["mimeType"] = mime.into();
            }
            let output = convert(json!({"content": [{"type": "resource", "resource": resource}]})).unwrap();
            serde_json::to_value(output.into_content().unwrap()).unwrap()
        };
        let zip = b"PK\x03\x04\0\0";
        let note = |mime: &str| {
            json!(format!(
                "[`b.bin` ({mime}, 6 bytes) is left out: models cannot read files of this kind]"
            ))
        };
        assert_eq!(file(None, zip), note("application/octet-stream"));
        assert_eq!(file(Some("application/zip"), zip), note("application/zip"));
        assert_eq!(file(Some("video/mp4"), zip), note("video/mp4"));
        assert_eq!(file(Some("audio/ogg"), zip), note("audio/ogg"));
        for mime in [
            None,
            Some("text/csv; charset=utf-8"),
            Some("application/json"),
            Some("application/octet-stream"),
        ] {
            assert_eq!(file(mime, "a,ü\n".as_bytes()), json!("a,ü\n"), "{mime:?}");
        }
        assert_eq!(file(Some("image/svg+xml"), b"<svg/>"), json!("<svg/>"));
        assert_eq!(file(None, b"%PDF-1.7 \0")[0]["type"], json!("file"));
        assert_eq!(
            file(Some("Image/PNG"), zip)[0]["image_url"]["url"],
            json!("data:image/png;base64,UEsDBAAA")
        );
        let damaged = json!({"content": [{"type": "audio", "mimeType": "audio/ogg", "data": "?"}]});
        let text = convert(damaged).unwrap().into_content().unwrap();
        assert!(text.text().contains("not valid base64"), "{text:?}");
    }

    #[track_caller]
    fn check_error(result: Value, expected: &str) {
        let error = convert(result).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ToolErrorKind::ExecutionFailed, expected)
        );
    }

    #[test]
    fn failures_are_errors_with_the_text_of_the_server() {
        check_error(
            json!({"isError": true, "content": [{"type": "text", "text": "disk full"}]}),
            "disk full",
        );
        check_error(
            json!({"isError": true, "content": []}),
            "the tool failed, and gave no reason",
        );
        check_error(
            json!({"isError": true, "structuredContent": {"code": 5}}),
            r#"{"code":5}"#,
        );
    }
}
