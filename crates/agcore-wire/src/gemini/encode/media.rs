//! Images, audio and files as parts: in base64, or by their URI.

use std::borrow::Cow;

use agcore_chat::{FileRef, ImageUrl, InputAudio};

use super::part::PartKind;
use crate::gemini::vendor::unsupported;

/// The beginning of a PDF file in base64.
const PDF: &str = "JVBERi0";

/// The media types of file names, for URIs. The server finds out others.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("md", "text/markdown"),
    ("html", "text/html"),
    ("mp3", "audio/mp3"),
    ("wav", "audio/wav"),
    ("flac", "audio/flac"),
    ("ogg", "audio/ogg"),
    ("aac", "audio/aac"),
    ("mp4", "video/mp4"),
    ("mov", "video/quicktime"),
    ("webm", "video/webm"),
    ("mpeg", "video/mpeg"),
];

/// Returns the part of an image.
pub(super) fn image(image: &ImageUrl) -> Result<PartKind<'_>, String> {
    if let Some(detail @ "low") = image.detail.as_deref() {
        let advice = "set `mediaResolution` in the members of the part, or in `generationConfig`";
        return Err(unsupported(&format!("the image detail `{detail}`"), advice));
    }
    if let Some(name) = image.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in images"), "leave it out"));
    }
    if is_uri(&image.url) {
        return Ok(by_uri(&image.url, None));
    }
    match data_url(&image.url) {
        Some((media_type, data)) if media_type.starts_with("image/") => Ok(inline(media_type, data)),
        Some((media_type, _)) => Err(format!(
            "invalid image: its data URL has the media type `{media_type}`, expected `image/…`"
        )),
        None => Err("invalid image URL: expected an http(s) or gs URL, or a base64 data URL with a media type".into()),
    }
}

/// Returns the part of a recording.
pub(super) fn audio(audio: &InputAudio) -> Result<PartKind<'_>, String> {
    if let Some(name) = audio.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in audio"), "leave it out"));
    }
    Ok(PartKind::Inline {
        media_type: format!("audio/{}", audio.format).into(),
        data: &audio.data,
    })
}

/// Returns the part of a file.
pub(super) fn file(file: &FileRef) -> Result<PartKind<'_>, String> {
    if let Some(name) = file.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in files"), "leave it out"));
    }
    let data = match (file.file_id.as_deref(), file.file_data.as_deref()) {
        (Some(id), None) if is_uri(id) => return Ok(by_uri(id, file.filename.as_deref())),
        (Some(_), None) => {
            return Err(unsupported(
                "the id of a file",
                "use the `uri` of the uploaded file as its id",
            ));
        }
        (None, Some(data)) => data,
        (Some(_), Some(_)) => return Err("a file has both `file_id` and `file_data`: set only one of them".into()),
        (None, None) => return Err("a file has neither `file_id` nor `file_data`: set one of them".into()),
    };
    if is_uri(data) {
        return Ok(by_uri(data, file.filename.as_deref()));
    }
    match data_url(data) {
        Some((media_type, data)) => Ok(inline(media_type, data)),
        None if data.starts_with(PDF) => Ok(inline("application/pdf", data)),
        None => Err("invalid `file_data`: expected a base64 data URL with a media type".into()),
    }
}

fn inline<'a>(media_type: &'a str, data: &'a str) -> PartKind<'a> {
    PartKind::Inline {
        media_type: media_type.into(),
        data,
    }
}

fn by_uri<'a>(uri: &'a str, name: Option<&str>) -> PartKind<'a> {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let media_type = name.and_then(media_type).or_else(|| media_type(path));
    PartKind::File {
        media_type: media_type.map(Cow::Borrowed),
        uri,
    }
}

/// Returns the media type that the end of a file name stands for.
fn media_type(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    let known = MEDIA_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(end));
    known.map(|(_, media_type)| *media_type)
}

fn is_uri(text: &str) -> bool {
    let has_scheme = |scheme: &&str| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    ["https://", "http://", "gs://"].iter().any(has_scheme)
}

/// Returns the media type and the base64 text of a `data:` URL (RFC 2397).
fn data_url(url: &str) -> Option<(&str, &str)> {
    let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (head, data) = url[scheme.len()..].split_once(',')?;
    let mut parts = head.split(';').map(str::trim);
    let media_type = parts.next().filter(|name| !name.is_empty())?;
    let is_base64 = parts
        .next_back()
        .is_some_and(|last| last.eq_ignore_ascii_case("base64"));
    is_base64.then_some((media_type, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_gets_the_media_type_of_its_name() {
        let check = |uri: &str, name: Option<&str>, expected: Option<&str>| match by_uri(uri, name) {
            PartKind::File { media_type, .. } => assert_eq!(media_type.as_deref(), expected, "{uri}"),
            other => panic!("{other:?}"),
        };
        check("https://a.example/b.PNG?c=d.pdf", None, Some("image/png"));
        check("https://a.example/files/1", Some("a.pdf"), Some("application/pdf"));
        check("gs://bucket/video", None, None);
    }
}
