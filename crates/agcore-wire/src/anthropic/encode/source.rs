//! [`Source`]: the location of an image or a document.

use std::borrow::Cow;

use agcore_chat::{FileRef, ImageUrl};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::anthropic::vendor::unsupported;

/// The first characters of every PDF in base64.
const PDF: &str = "JVBERi";

/// The location of an image or a document.
#[derive(Debug, PartialEq)]
pub(super) enum Source<'a> {
    /// In the request.
    Base64 { media_type: &'a str, data: &'a str },
    /// In the request, as plain text.
    Text(String),
    /// At an address.
    Url(&'a str),
    /// Uploaded to the vendor, with this id.
    File(&'a str),
}

impl Serialize for Source<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Base64 { media_type, data } => {
                map.serialize_entry("type", "base64")?;
                map.serialize_entry("media_type", media_type)?;
                map.serialize_entry("data", data)?;
            }
            Self::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("media_type", "text/plain")?;
                map.serialize_entry("data", text)?;
            }
            Self::Url(url) => {
                map.serialize_entry("type", "url")?;
                map.serialize_entry("url", url)?;
            }
            Self::File(id) => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry("file_id", id)?;
            }
        }
        map.end()
    }
}

/// Returns the source of an image.
pub(super) fn image(image: &ImageUrl) -> Result<Source<'_>, String> {
    // The API always processes images in full detail.
    if let Some(detail @ "low") = image.detail.as_deref() {
        return Err(unsupported(&format!("the image detail `{detail}`"), "leave it out"));
    }
    if let Some(name) = image.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in images"), "leave it out"));
    }
    if is_remote(&image.url) {
        return Ok(Source::Url(&image.url));
    }
    match DataUrl::parse(&image.url) {
        Some(DataUrl { media_type, data }) if media_type.starts_with("image/") => {
            Ok(Source::Base64 { media_type, data })
        }
        Some(DataUrl { media_type, .. }) => Err(format!(
            "invalid image: its data URL has the media type `{media_type}`, expected `image/…`"
        )),
        None => Err("invalid image URL: expected an http(s) URL or a base64 data URL with a media type".into()),
    }
}

/// Returns the block type (`image` or `document`) and the source of a file.
pub(super) fn file(file: &FileRef) -> Result<(&'static str, Source<'_>), String> {
    if let Some(name) = file.extra.iter().next().map(|(name, _)| name) {
        return Err(unsupported(&format!("the member `{name}` in files"), "leave it out"));
    }
    let data = match (file.file_id.as_deref(), file.file_data.as_deref()) {
        (Some(id), None) => return Ok(("document", Source::File(id))),
        (None, Some(data)) => data,
        (Some(_), Some(_)) => return Err("a file has both `file_id` and `file_data`: set only one of them".into()),
        (None, None) => return Err("a file has neither `file_id` nor `file_data`: set one of them".into()),
    };
    if is_remote(data) {
        return Ok(("document", Source::Url(data)));
    }
    let Some(DataUrl { media_type, data }) = DataUrl::parse(data) else {
        let media_type = "application/pdf";
        return if data.starts_with(PDF) {
            Ok(("document", Source::Base64 { media_type, data }))
        } else {
            Err("invalid `file_data`: expected a base64 data URL with a media type".into())
        };
    };
    match media_type {
        "application/pdf" => Ok(("document", Source::Base64 { media_type, data })),
        _ if media_type.starts_with("image/") => Ok(("image", Source::Base64 { media_type, data })),
        _ if is_text(media_type) => decode_base64(data)
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(|text| ("document", Source::Text(text)))
            .ok_or_else(|| format!("invalid file of the type `{media_type}`: expected UTF-8 text in base64")),
        _ => Err(unsupported(
            &format!("files of the type `{media_type}`"),
            "send a PDF, an image or text",
        )),
    }
}

/// Returns the name of a file as the title of its document.
pub(super) fn title(file: &FileRef) -> Option<Cow<'_, str>> {
    file.filename
        .as_deref()
        .filter(|name| !name.is_empty())
        .map(Cow::Borrowed)
}

fn is_remote(url: &str) -> bool {
    let has_scheme = |scheme: &str| {
        url.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    has_scheme("https://") || has_scheme("http://")
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || matches!(
            media_type,
            "application/json" | "application/xml" | "application/yaml" | "application/toml"
        )
}

/// A `data:` URL (RFC 2397) with base64 data.
struct DataUrl<'a> {
    media_type: &'a str,
    data: &'a str,
}

impl<'a> DataUrl<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
        let (head, data) = url[scheme.len()..].split_once(',')?;
        let mut parts = head.split(';').map(str::trim);
        let media_type = parts.next().filter(|name| !name.is_empty())?;
        let is_base64 = parts
            .next_back()
            .is_some_and(|last| last.eq_ignore_ascii_case("base64"));
        is_base64.then_some(Self { media_type, data })
    }
}

/// Decodes base64 (RFC 4648, section 4). Line breaks are skipped, and padding may be missing.
///
/// Only text documents need this, because the API accepts them as plain text only; it does not justify a dependency.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let mut padded = false;
    for letter in letters {
        if letter == b'=' {
            padded = true;
            continue;
        }
        if padded {
            return None;
        }
        bits = bits << 6 | u32::from(base64_value(letter)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // A single letter is less than a byte, and unused bits must be zero.
    (count < 6 && bits == 0).then_some(bytes)
}

fn base64_value(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_decides_how_a_file_is_sent() {
        let check = |data: &str, expected: Result<(&str, Source<'_>), &str>| {
            let reference = FileRef {
                file_data: Some(data.to_owned()),
                ..FileRef::default()
            };
            match (file(&reference), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{data}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{data}: {found}"),
                (found, _) => panic!("{data}: {found:?}"),
            }
        };
        let pdf = |data| Source::Base64 {
            media_type: "application/pdf",
            data,
        };
        check(
            "data:application/pdf;base64,JVBERi0=",
            Ok(("document", pdf("JVBERi0="))),
        );
        check("JVBERi0=", Ok(("document", pdf("JVBERi0="))));
        check(
            "https://a.example/a.pdf",
            Ok(("document", Source::Url("https://a.example/a.pdf"))),
        );
        check(
            "data:text/plain;charset=utf-8;base64,aGk=",
            Ok(("document", Source::Text("hi".into()))),
        );
        check(
            "DATA:image/png;BASE64,AA==",
            Ok((
                "image",
                Source::Base64 {
                    media_type: "image/png",
                    data: "AA==",
                },
            )),
        );
        check("data:text/plain;base64,/w==", Err("expected UTF-8 text in base64"));
        check("data:application/zip;base64,AA==", Err("`application/zip`"));
        check("data:text/plain,hi", Err("expected a base64 data URL"));
        check("aGk=", Err("expected a base64 data URL"));
    }

    #[test]
    fn decodes_the_base64_vectors_of_the_rfc() {
        let check = |text: &str, expected: &str| {
            assert_eq!(decode_base64(text).as_deref(), Some(expected.as_bytes()), "{text}");
        };
        check("", "");
        check("Zg==", "f");
        check("Zm8=", "fo");
        check("Zm9v", "foo");
        check("Zm9vYg==", "foob");
        check("Zm9v\r\nYmE", "fooba");
        check("Zm9vYmFy", "foobar");
    }

    #[test]
    fn rejects_invalid_base64() {
        for text in ["Z", "Zm9v!", "Zg==Zg", "Zh==", "\u{e9}"] {
            assert_eq!(decode_base64(text), None, "{text}");
        }
    }
}
