//! [`Source`]: where a picture or a document is.

use std::borrow::Cow;

use agcore_chat::{FileRef, ImageUrl};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::base64;

/// How base64 text of a PDF begins.
const PDF: &str = "JVBERi";

/// Where the content is.
#[derive(Debug, PartialEq)]
pub(super) enum Source<'a> {
    /// In the request.
    Base64 { media_type: &'a str, data: &'a str },
    /// In the request, as plain text.
    Text(String),
    /// On the net.
    Url(&'a str),
    /// With the vendor, under this id.
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

/// Where a picture is.
pub(super) fn of_image(image: &ImageUrl) -> Result<Source<'_>, String> {
    // The API always looks closely.
    if let Some(detail @ "low") = image.detail.as_deref() {
        return Err(format!(
            "the API has no `detail` of pictures such as `{detail}`: leave it out"
        ));
    }
    if let Some(name) = image.extra.iter().next().map(|(name, _)| name) {
        return Err(format!("the API knows no member `{name}` of pictures: leave it out"));
    }
    if is_remote(&image.url) {
        return Ok(Source::Url(&image.url));
    }
    match DataUrl::parse(&image.url) {
        Some(DataUrl { media_type, data }) if media_type.starts_with("image/") => {
            Ok(Source::Base64 { media_type, data })
        }
        Some(DataUrl { media_type, .. }) => Err(format!("a picture must be one, but its data URL says `{media_type}`")),
        None => Err("a picture must be an http(s) URL or a data URL with a media type and base64 text".into()),
    }
}

/// Whether a file is a picture or a document, and where it is.
pub(super) fn of_file(file: &FileRef) -> Result<(&'static str, Source<'_>), String> {
    if let Some(name) = file.extra.iter().next().map(|(name, _)| name) {
        return Err(format!("the API knows no member `{name}` of files: leave it out"));
    }
    let data = match (file.file_id.as_deref(), file.file_data.as_deref()) {
        (Some(id), None) => return Ok(("document", Source::File(id))),
        (None, Some(data)) => data,
        (Some(_), Some(_)) => return Err("a file has both `file_id` and `file_data`: set one of them".into()),
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
            Err("a file must be a data URL with a media type and base64 text".into())
        };
    };
    match media_type {
        "application/pdf" => Ok(("document", Source::Base64 { media_type, data })),
        _ if media_type.starts_with("image/") => Ok(("image", Source::Base64 { media_type, data })),
        _ if is_text(media_type) => base64::decode(data)
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(|text| ("document", Source::Text(text)))
            .ok_or_else(|| format!("a file says that it is `{media_type}`, but holds no base64 text of UTF-8")),
        _ => Err(format!(
            "the API takes PDF, text and pictures, no files of the type `{media_type}`: hand over its text"
        )),
    }
}

fn is_remote(url: &str) -> bool {
    let begins = |scheme: &str| {
        url.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    begins("https://") || begins("http://")
}

/// Types that are text whatever they are of.
fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || matches!(
            media_type,
            "application/json" | "application/xml" | "application/yaml" | "application/toml"
        )
}

/// A `data:` URL (RFC 2397) of base64 text.
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

/// The name of a file as a title.
pub(super) fn title(file: &FileRef) -> Option<Cow<'_, str>> {
    file.filename
        .as_deref()
        .filter(|name| !name.is_empty())
        .map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_it_says() {
        let check = |data: &str, expected: Result<(&str, Source<'_>), &str>| {
            let file = FileRef {
                file_data: Some(data.to_owned()),
                ..FileRef::default()
            };
            match (of_file(&file), expected) {
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
        check("data:text/plain;base64,/w==", Err("no base64 text of UTF-8"));
        check("data:application/zip;base64,AA==", Err("`application/zip`"));
        check("data:text/plain,hi", Err("must be a data URL"));
        check("aGk=", Err("must be a data URL"));
    }
}
