//! The content of messages: one text, and a list of images.

use agcore_chat::{Content, ContentPart};
use serde::ser::{Error, SerializeMap};

use crate::ollama::vendor::unsupported;

/// Writes `content` and `images`. The API has one member for each, so all texts are joined.
pub(super) fn write<S: SerializeMap>(content: &Content, map: &mut S) -> Result<(), S::Error> {
    map.serialize_entry("content", &content.text())?;
    let Content::Parts(parts) = content else {
        return Ok(());
    };
    let mut images = Vec::new();
    for part in parts {
        match part {
            ContentPart::Text(_) => {}
            ContentPart::ImageUrl(part) => images.push(image_base64(&part.image_url.url)?),
            other => {
                return Err(unsupported(
                    &format!("content parts of the type `{}`", kind(other)),
                    "leave them out, or send their content as text",
                ));
            }
        }
    }
    if images.is_empty() {
        Ok(())
    } else {
        map.serialize_entry("images", &images)
    }
}

/// Returns the base64 text of an image's data URL, which is the form that the API expects.
fn image_base64<E: Error>(url: &str) -> Result<&str, E> {
    let data_url = url
        .split_once(':')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("data"));
    let Some((_, rest)) = data_url else {
        return Err(unsupported(
            "image URLs",
            "download the image and send it as a base64 data URL",
        ));
    };
    let is_base64 = |kind: &str| {
        let (_, last) = kind.rsplit_once(';').unwrap_or_default();
        last.trim().eq_ignore_ascii_case("base64")
    };
    match rest.split_once(',') {
        Some((kind, data)) if is_base64(kind) && !data.is_empty() => Ok(data),
        _ => Err(E::custom("invalid image data URL: expected `data:image/png;base64,…`")),
    }
}

fn kind(part: &ContentPart) -> &str {
    match part {
        ContentPart::InputAudio(_) => "input_audio",
        ContentPart::File(_) => "file",
        ContentPart::Refusal(_) => "refusal",
        ContentPart::Other(raw) => raw.get("type").and_then(|kind| kind.as_str()).unwrap_or("unknown"),
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_the_base64_text_of_its_data_url() {
        let check = |url: &str, expected: Option<&str>| {
            let found: Result<&str, serde_json::Error> = image_base64(url);
            assert_eq!(found.ok(), expected, "{url}");
        };
        check("data:image/png;base64,iVBOR", Some("iVBOR"));
        check("DATA:image/png;charset=x;BASE64,iVBOR==", Some("iVBOR=="));
        check("data:;base64,iVBOR", Some("iVBOR"));
        check("data:image/png,iVBOR", None);
        check("data:image/png;base64,", None);
        check("data:image/png;base64", None);
        check("https://a.example/b.png", None);
        check("iVBOR", None);
    }
}
