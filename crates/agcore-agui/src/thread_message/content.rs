//! The contents of messages.

use agcore_chat::{Content, ContentPart};
use serde_json::{Map, Value, json};

/// Reads a text, or an array of parts.
///
/// Parts that have no counterpart in [`ContentPart`], such as video and audio at a URL, are kept as they are.
pub(super) fn content_from(value: Value) -> Result<Content, &'static str> {
    match value {
        Value::String(text) => Ok(Content::Text(text)),
        Value::Array(parts) => parts
            .into_iter()
            .map(part_from)
            .collect::<Result<_, _>>()
            .map(Content::Parts),
        _ => Err("must be a text or an array of parts"),
    }
}

fn part_from(part: Value) -> Result<ContentPart, &'static str> {
    let Some(kind) = part.get("type").and_then(Value::as_str) else {
        return Err("must contain parts with a type");
    };
    let source = Source::of(&part);
    let known = match (kind, source) {
        ("text", _) => part.get("text").and_then(Value::as_str).map(ContentPart::text),
        ("image", Some(Source::Url(url))) => Some(ContentPart::image_url(url)),
        ("image", Some(Source::Data { mime, data })) => Some(ContentPart::image_url(data_url(mime, data))),
        ("audio", Some(Source::Data { mime, data })) => Some(ContentPart::input_audio(data, audio_format(mime))),
        ("document", Some(Source::Data { mime, data })) => {
            Some(ContentPart::file_data(name(&part), data_url(mime, data)))
        }
        ("document" | "image" | "audio", Some(Source::File(id))) => Some(ContentPart::file_id(id)),
        // The part of clients before 1.0.
        ("binary", _) => binary(&part),
        _ => None,
    };
    Ok(known.unwrap_or(ContentPart::Other(part)))
}

enum Source<'a> {
    Url(&'a str),
    Data { mime: &'a str, data: &'a str },
    File(&'a str),
}

impl<'a> Source<'a> {
    fn of(part: &'a Value) -> Option<Self> {
        let source = part.get("source")?;
        let member = |name: &str| source.get(name).and_then(Value::as_str);
        match member("type")? {
            "url" => Some(Self::Url(member("value")?)),
            "data" => Some(Self::Data {
                mime: member("mimeType")?,
                data: member("value")?,
            }),
            "file" => Some(Self::File(member("value")?)),
            _ => None,
        }
    }
}

fn binary(part: &Value) -> Option<ContentPart> {
    let member = |name: &str| part.get(name).and_then(Value::as_str);
    let mime = member("mimeType")?;
    let is_image = mime.starts_with("image/");
    if let Some(id) = member("id") {
        return Some(ContentPart::file_id(id));
    }
    match (member("data"), member("url")) {
        (Some(data), _) if is_image => Some(ContentPart::image_url(data_url(mime, data))),
        (Some(data), _) if mime.starts_with("audio/") => Some(ContentPart::input_audio(data, audio_format(mime))),
        (Some(data), _) => Some(ContentPart::file_data(name(part), data_url(mime, data))),
        (None, Some(url)) if is_image => Some(ContentPart::image_url(url)),
        _ => None,
    }
}

fn name(part: &Value) -> &str {
    let place = [part.get("filename"), part.pointer("/metadata/filename")];
    place
        .into_iter()
        .flatten()
        .find_map(Value::as_str)
        .unwrap_or("document")
}

fn data_url(mime: &str, data: &str) -> String {
    format!("data:{mime};base64,{data}")
}

/// Returns the name of the format in a MIME type: `audio/mpeg` is `mp3`.
fn audio_format(mime: &str) -> &str {
    match mime.strip_prefix("audio/").unwrap_or(mime) {
        "mpeg" => "mp3",
        "x-wav" | "wave" => "wav",
        other => other,
    }
}

/// Returns the content as AG-UI defines it. Parts that it cannot express are left out.
pub(super) fn content_to_value(content: &Content) -> Value {
    match content {
        Content::Text(text) => text.as_str().into(),
        Content::Parts(parts) => parts.iter().filter_map(part_value).collect(),
    }
}

fn part_value(part: &ContentPart) -> Option<Value> {
    match part {
        ContentPart::Text(text) => Some(json!({"type": "text", "text": text.text})),
        ContentPart::Refusal(refusal) => Some(json!({"type": "text", "text": refusal.refusal})),
        ContentPart::ImageUrl(image) => Some(json!({"type": "image", "source": source_of(&image.image_url.url)})),
        ContentPart::InputAudio(audio) => {
            let mime = format!("audio/{}", audio.input_audio.format);
            let source = json!({"type": "data", "value": audio.input_audio.data, "mimeType": mime});
            Some(json!({"type": "audio", "source": source}))
        }
        ContentPart::File(file) => {
            let source = match (&file.file.file_data, &file.file.file_id) {
                (Some(data), _) => source_of(data),
                (None, Some(id)) => json!({"type": "file", "value": id}),
                (None, None) => return None,
            };
            let mut part = Map::new();
            part.insert("type".to_owned(), "document".into());
            part.insert("source".to_owned(), source);
            if let Some(name) = &file.file.filename {
                part.insert("metadata".to_owned(), json!({"filename": name}));
            }
            Some(part.into())
        }
        // What a client sent, in the form of AG-UI.
        ContentPart::Other(part) => {
            let kind = part.get("type").and_then(Value::as_str);
            matches!(kind, Some("audio" | "video" | "document" | "image")).then(|| part.clone())
        }
        _ => None,
    }
}

fn source_of(url: &str) -> Value {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((mime, data)) => json!({"type": "data", "value": data, "mimeType": mime}),
        None => json!({"type": "url", "value": url}),
    }
}
