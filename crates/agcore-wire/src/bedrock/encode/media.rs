//! Images, documents, audio and videos as blocks.

use std::{borrow::Cow, collections::HashSet};

use agcore_chat::{Extra, FileRef, ImageUrl, InputAudio};

use super::block::{BlockKind, Media, MediaKind, Source};
use crate::bedrock::vendor::unsupported;

/// The beginning of a PDF file in base64.
const PDF: &str = "JVBERi";

/// The maximum length of the name of a document.
const MAX_NAME: usize = 200;

/// The name of a document that has none.
const DOCUMENT: &str = "document";

/// Media types and ends of file names, with the formats of the API.
const FORMATS: &[(MediaKind, &str, &str, &str)] = &[
    (MediaKind::Image, "image/png", "png", "png"),
    (MediaKind::Image, "image/jpeg", "jpg", "jpeg"),
    (MediaKind::Image, "image/jpg", "jpeg", "jpeg"),
    (MediaKind::Image, "image/gif", "gif", "gif"),
    (MediaKind::Image, "image/webp", "webp", "webp"),
    (MediaKind::Document, "application/pdf", "pdf", "pdf"),
    (MediaKind::Document, "text/csv", "csv", "csv"),
    (MediaKind::Document, "text/html", "html", "html"),
    (MediaKind::Document, "text/markdown", "md", "md"),
    (MediaKind::Document, "text/plain", "txt", "txt"),
    (MediaKind::Document, "application/json", "json", "txt"),
    (MediaKind::Document, "application/msword", "doc", "doc"),
    (MediaKind::Document, "application/vnd.ms-excel", "xls", "xls"),
    (
        MediaKind::Document,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
        "docx",
    ),
    (
        MediaKind::Document,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
        "xlsx",
    ),
    (MediaKind::Audio, "audio/mpeg", "mp3", "mp3"),
    (MediaKind::Audio, "audio/wav", "wav", "wav"),
    (MediaKind::Audio, "audio/flac", "flac", "flac"),
    (MediaKind::Audio, "audio/ogg", "ogg", "ogg"),
    (MediaKind::Video, "video/mp4", "mp4", "mp4"),
    (MediaKind::Video, "video/quicktime", "mov", "mov"),
    (MediaKind::Video, "video/x-matroska", "mkv", "mkv"),
    (MediaKind::Video, "video/webm", "webm", "webm"),
    (MediaKind::Video, "video/x-flv", "flv", "flv"),
    (MediaKind::Video, "video/mpeg", "mpeg", "mpeg"),
    (MediaKind::Video, "video/x-ms-wmv", "wmv", "wmv"),
    (MediaKind::Video, "video/3gpp", "3gp", "three_gp"),
];

/// The names of the documents of a request. The API refuses a request in which two are alike, even in different messages.
#[derive(Debug, Default)]
pub(super) struct DocumentNames(HashSet<String>);

impl DocumentNames {
    /// Returns a name that the API accepts and that no other document has. The same conversation gets the same names.
    fn add(&mut self, name: Option<&str>) -> String {
        let name = accepted_name(name.unwrap_or_default());
        let numbered = (2_u32..).map(|number| {
            let number = format!(" {number}");
            let begin: String = name.chars().take(MAX_NAME - number.len()).collect();
            begin.trim_end().to_owned() + &number
        });
        let free = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !self.0.contains(name))
            .unwrap_or(name);
        self.0.insert(free.clone());
        free
    }
}

/// Returns a name with only what the API accepts: letters, digits, single blanks, hyphens, and round and square brackets.
fn accepted_name(name: &str) -> String {
    let is_accepted = |c: char| c.is_ascii_alphanumeric() || "-()[]".contains(c);
    let mut accepted = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if is_accepted(c) => accepted.push(c),
            c if c.is_whitespace() => {
                if !accepted.is_empty() && !accepted.ends_with(' ') {
                    accepted.push(' ');
                }
            }
            _ => accepted.push('-'),
        }
    }
    let accepted: String = accepted.chars().take(MAX_NAME).collect();
    match accepted.trim_end() {
        "" => DOCUMENT.to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the block of an image.
pub(super) fn image<'a>(image: &'a ImageUrl, extra: &'a Extra) -> Result<BlockKind<'a>, String> {
    if let Some(detail @ "low") = image.detail.as_deref() {
        return Err(unsupported(&format!("the image detail `{detail}`"), "leave it out"));
    }
    if let Some(name) = image.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in images"), "leave it out"));
    }
    let (kind, format, source) = located(&image.url, None)?;
    if kind != MediaKind::Image {
        return Err(format!(
            "invalid image: it has the format `{format}`, expected png, jpeg, gif or webp"
        ));
    }
    let name = None;
    Ok(BlockKind::Media(Media {
        kind,
        format,
        name,
        source,
        extra,
    }))
}

/// Returns the block of a recording.
pub(super) fn audio<'a>(audio: &'a InputAudio, extra: &'a Extra) -> Result<BlockKind<'a>, String> {
    if let Some(name) = audio.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in audio"), "leave it out"));
    }
    Ok(BlockKind::Media(Media {
        kind: MediaKind::Audio,
        format: audio.format.as_str().into(),
        name: None,
        source: Source::Bytes(&audio.data),
        extra,
    }))
}

/// Returns the block of a file.
pub(super) fn file<'a>(
    file: &'a FileRef,
    extra: &'a Extra,
    names: &mut DocumentNames,
) -> Result<BlockKind<'a>, String> {
    if let Some(name) = file.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in files"), "leave it out"));
    }
    let data = match (file.file_id.as_deref(), file.file_data.as_deref()) {
        (Some(id), None) if is_s3(id) => id,
        (Some(_), None) => {
            return Err(unsupported(
                "the ids of files",
                "use the address of a file in a bucket as its id (s3://…), or send its content",
            ));
        }
        (None, Some(data)) => data,
        (Some(_), Some(_)) => return Err("a file has both `file_id` and `file_data`: set only one of them".into()),
        (None, None) => return Err("a file has neither `file_id` nor `file_data`: set one of them".into()),
    };
    let (kind, format, source) = located(data, file.filename.as_deref())?;
    let own_name = match &source {
        Source::S3(uri) => uri.rsplit('/').next(),
        Source::Bytes(_) => None,
    };
    let name = file.filename.as_deref().or(own_name);
    let name = (kind == MediaKind::Document).then(|| names.add(name.map(without_end)));
    Ok(BlockKind::Media(Media {
        kind,
        format,
        name,
        source,
        extra,
    }))
}

/// Returns the kind, the format and the location of a file.
fn located<'a>(data: &'a str, filename: Option<&str>) -> Result<(MediaKind, Cow<'a, str>, Source<'a>), String> {
    if is_s3(data) {
        let found = filename.and_then(by_end).or_else(|| by_end(data));
        let (kind, format) = found.ok_or_else(|| {
            unsupported(
                "files without a known end of their name",
                "name the file, such as `report.pdf`",
            )
        })?;
        return Ok((kind, format.into(), Source::S3(data)));
    }
    if data.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http")) && data.contains("://") {
        return Err(unsupported(
            "files by URL",
            "send the content as a data URL, or put the file into a bucket (s3://…)",
        ));
    }
    match data_url(data) {
        Some((media_type, data)) => {
            let found = by_media_type(media_type).or_else(|| filename.and_then(by_end));
            let (kind, format) = found.ok_or_else(|| {
                let advice = "send an image (png, jpeg, gif, webp), a document (pdf, text, csv, html, md, doc, docx, xls, xlsx), \
                              audio or a video";
                unsupported(&format!("files of the type `{media_type}`"), advice)
            })?;
            Ok((kind, format.into(), Source::Bytes(data)))
        }
        None if data.starts_with(PDF) => Ok((MediaKind::Document, "pdf".into(), Source::Bytes(data))),
        None => Err("invalid file or image: expected an s3 address or a base64 data URL with a media type".into()),
    }
}

fn by_media_type(media_type: &str) -> Option<(MediaKind, &'static str)> {
    let media_type = media_type.to_ascii_lowercase();
    let listed = FORMATS.iter().find(|(_, known, ..)| *known == media_type);
    let listed = listed.map(|(kind, _, _, format)| (*kind, *format));
    listed.or_else(|| media_type.starts_with("text/").then_some((MediaKind::Document, "txt")))
}

fn by_end(name: &str) -> Option<(MediaKind, &'static str)> {
    let (_, end) = name.rsplit_once('.')?;
    let listed = FORMATS.iter().find(|(_, _, known, _)| known.eq_ignore_ascii_case(end));
    listed.map(|(kind, _, _, format)| (*kind, *format))
}

/// Returns the name of a file without the end that shows its format, which the API refuses because of the dot.
fn without_end(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((begin, end))
            if !begin.is_empty() && FORMATS.iter().any(|(_, _, known, _)| known.eq_ignore_ascii_case(end)) =>
        {
            begin
        }
        _ => name,
    }
}

fn is_s3(text: &str) -> bool {
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("s3://"))
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
    fn names_have_only_accepted_characters() {
        let check = |name: &str, expected: &str| assert_eq!(accepted_name(name), expected, "{name:?}");
        check("Report (1) [a]", "Report (1) [a]");
        check("  a \t\n b  ", "a b");
        check("a_b.c/d:e", "a-b-c-d-e");
        check("", "document");
        check(" ", "document");
        check("über", "-ber");
        assert_eq!(accepted_name(&"x".repeat(300)).len(), MAX_NAME);
    }

    #[test]
    fn no_two_names_are_alike() {
        let mut names = DocumentNames::default();
        let mut add = |name: &str| names.add(Some(name));
        assert_eq!([add("a"), add("a"), add("a 2"), add("a")], ["a", "a 2", "a 2 2", "a 3"]);
        let long = "y".repeat(MAX_NAME);
        assert_eq!(add(&long).len(), MAX_NAME);
        let second = add(&long);
        assert_eq!((second.len(), second.ends_with(" 2")), (MAX_NAME, true));
        assert_eq!(DocumentNames::default().add(None), "document");
    }
}
