//! The content of user, tool and instruction messages as parts.

use agcore_chat::{Content, ContentPart, Extra};
use serde_json::{Map, Value};

use super::{
    media,
    part::{EncodedPart, Members, PartKind},
};
use crate::gemini::vendor::unsupported;

/// Returns the parts of a content.
pub(super) fn parts(content: &Content) -> Result<Vec<EncodedPart<'_>>, String> {
    match content {
        Content::Text(text) => Ok(EncodedPart::text(text, Members::None).into_iter().collect()),
        Content::Parts(parts) => parts.iter().filter_map(|part| encode(part).transpose()).collect(),
    }
}

/// Returns the texts of instructions.
pub(super) fn instructions(content: &Content) -> Result<Vec<EncodedPart<'_>>, String> {
    let is_text = |part: &ContentPart| matches!(part, ContentPart::Text(_) | ContentPart::Other(_));
    match content {
        Content::Parts(parts) if !parts.iter().all(is_text) => Err(unsupported(
            "parts other than text in instructions",
            "send them in a user message",
        )),
        content => parts(content),
    }
}

fn encode(part: &ContentPart) -> Result<Option<EncodedPart<'_>>, String> {
    let kind = match part {
        ContentPart::Text(part) => return Ok(EncodedPart::text(&part.text, members(&part.extra))),
        ContentPart::ImageUrl(part) => media::image(&part.image_url)?,
        ContentPart::InputAudio(part) => media::audio(&part.input_audio)?,
        ContentPart::File(part) => media::file(&part.file)?,
        ContentPart::Refusal(_) => {
            return Err("a refusal is only allowed in an assistant message: send it as text".into());
        }
        ContentPart::Other(Value::Object(raw)) => PartKind::Raw(own_form(raw)?),
        _ => return Err("a content part is not a JSON object: leave it out".into()),
    };
    let extra = match part {
        ContentPart::ImageUrl(part) => members(&part.extra),
        ContentPart::InputAudio(part) => members(&part.extra),
        ContentPart::File(part) => members(&part.extra),
        _ => Members::None,
    };
    Ok(Some(EncodedPart::new(kind).with(extra)))
}

/// Returns members that the application added to a part, such as `mediaResolution` and `videoMetadata`.
fn members(extra: &Extra) -> Members<'_> {
    if extra.is_empty() {
        Members::None
    } else {
        Members::Extra(extra)
    }
}

/// Returns a part in the form of this API, which has no `type`.
fn own_form(raw: &Map<String, Value>) -> Result<&Map<String, Value>, String> {
    match raw.get("type") {
        None => Ok(raw),
        Some(kind) => {
            let what = format!("content parts of the type `{}`", kind.as_str().unwrap_or("unknown"));
            Err(unsupported(&what, "write them in the form of the API, without `type`"))
        }
    }
}
