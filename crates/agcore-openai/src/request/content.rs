//! The contents of messages. Only members that are known are taken: a client must not mark parts as those of the server.

use agcore_chat::{Content, ContentPart};
use serde_json::Value;

use super::fields::Fields;
use crate::error::ApiError;

/// Reads the content of a message of the user, or the result of a call: a text, or parts of either API.
///
/// # Errors
/// When a part has a wrong form, or a type that is not known.
pub(super) fn content(value: Value, path: &str) -> Result<Content, ApiError> {
    match value {
        Value::String(text) => Ok(Content::Text(text)),
        Value::Array(parts) => {
            let parts = parts.into_iter().enumerate();
            let parts = parts.map(|(index, value)| part(value, format!("{path}[{index}]")));
            parts.collect::<Result<_, _>>().map(Content::Parts)
        }
        _ => Err(ApiError::invalid(path, "must be a text or an array of parts")),
    }
}

/// Reads a content that may only be text.
///
/// # Errors
/// When it has other parts.
pub(super) fn text(value: Value, path: &str) -> Result<String, ApiError> {
    let content = content(value, path)?;
    let is_text = match &content {
        Content::Text(_) => true,
        Content::Parts(parts) => parts.iter().all(|part| part.as_text().is_some()),
    };
    match is_text {
        true => Ok(content.text().into_owned()),
        false => Err(ApiError::invalid(path, "may only have parts of text here")),
    }
}

fn part(value: Value, path: String) -> Result<ContentPart, ApiError> {
    let mut fields = Fields::of(value, path)?;
    let kind = fields.text("type")?;
    match kind.as_str() {
        "text" | "input_text" | "output_text" => Ok(ContentPart::text(fields.text("text")?)),
        "refusal" => Ok(ContentPart::text(fields.text("refusal")?)),
        "image_url" => {
            let image = fields.object("image_url")?;
            let mut image = image.ok_or_else(|| fields.invalid("image_url", "is missing; it must be an object"))?;
            let url = image.text("url")?;
            Ok(with_detail(url, image.optional_text("detail")?))
        }
        "input_image" => match fields.optional_text("file_id")? {
            Some(id) => Ok(ContentPart::file_id(id)),
            None => {
                let url = fields.text("image_url")?;
                Ok(with_detail(url, fields.optional_text("detail")?))
            }
        },
        "input_audio" => {
            let audio = fields.object("input_audio")?;
            let mut audio = audio.ok_or_else(|| fields.invalid("input_audio", "is missing; it must be an object"))?;
            Ok(ContentPart::input_audio(audio.text("data")?, audio.text("format")?))
        }
        "file" => {
            let file = fields.object("file")?;
            file_part(file.ok_or_else(|| fields.invalid("file", "is missing; it must be an object"))?)
        }
        "input_file" => file_part(fields),
        _ => Err(fields.invalid("type", "is not the type of a part that is known here")),
    }
}

fn with_detail(url: String, detail: Option<String>) -> ContentPart {
    let mut part = ContentPart::image_url(url);
    if let ContentPart::ImageUrl(image) = &mut part {
        image.image_url.detail = detail;
    }
    part
}

fn file_part(mut fields: Fields) -> Result<ContentPart, ApiError> {
    if let Some(id) = fields.optional_text("file_id")? {
        return Ok(ContentPart::file_id(id));
    }
    let name = fields.optional_text("filename")?;
    let name = name.unwrap_or_else(|| "document".to_owned());
    if let Some(url) = fields.optional_text("file_url")? {
        return Ok(ContentPart::file_data(name, url));
    }
    Ok(ContentPart::file_data(name, fields.text("file_data")?))
}
