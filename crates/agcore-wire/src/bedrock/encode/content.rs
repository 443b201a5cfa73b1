//! The content of user, tool and instruction messages as blocks.

use agcore_chat::{CacheMark, Content, ContentPart, Extra};
use serde_json::{Map, Value};

use super::{
    block::{BlockKind, EncodedBlock, Mark},
    media::{self, DocumentNames},
};
use crate::bedrock::vendor::unsupported;

/// Returns the blocks of a content. A cache mark of the whole message is put on the last block.
pub(super) fn blocks<'a>(
    content: &'a Content,
    cache: Option<&'a CacheMark>,
    names: &mut DocumentNames,
) -> Result<Vec<EncodedBlock<'a>>, String> {
    let mut blocks: Vec<EncodedBlock<'a>> = match content {
        Content::Text(text) => EncodedBlock::text(text).into_iter().collect(),
        Content::Parts(parts) => {
            let blocks = parts.iter().filter_map(|part| block(part, names).transpose());
            blocks.collect::<Result<_, String>>()?
        }
    };
    mark_last(&mut blocks, cache);
    Ok(blocks)
}

/// Returns the texts of instructions.
pub(super) fn instructions<'a>(
    content: &'a Content,
    cache: Option<&'a CacheMark>,
) -> Result<Vec<EncodedBlock<'a>>, String> {
    let is_text = |part: &ContentPart| matches!(part, ContentPart::Text(_) | ContentPart::Other(_));
    match content {
        Content::Parts(parts) if !parts.iter().all(is_text) => Err(unsupported(
            "parts other than text in instructions",
            "send them in a user message",
        )),
        content => blocks(content, cache, &mut DocumentNames::default()),
    }
}

/// Puts a cache mark on the last block that accepts one.
pub(super) fn mark_last<'a>(blocks: &mut [EncodedBlock<'a>], cache: Option<&'a CacheMark>) {
    let last = blocks.iter_mut().rfind(|block| !block.is_reasoning());
    if let (Some(cache), Some(block)) = (cache, last) {
        block.mark.get_or_insert(Mark::Own(cache));
    }
}

fn block<'a>(part: &'a ContentPart, names: &mut DocumentNames) -> Result<Option<EncodedBlock<'a>>, String> {
    let cache = part.marks().and_then(|marks| marks.cache.as_ref());
    let kind = match part {
        ContentPart::Text(part) => {
            no_members(&part.extra)?;
            return Ok(EncodedBlock::text(&part.text).map(|block| block.with_cache(cache)));
        }
        ContentPart::ImageUrl(part) => media::image(&part.image_url, &part.extra)?,
        ContentPart::InputAudio(part) => media::audio(&part.input_audio, &part.extra)?,
        ContentPart::File(part) => media::file(&part.file, &part.extra, names)?,
        ContentPart::Refusal(_) => {
            return Err("a refusal is only allowed in an assistant message: send it as text".into());
        }
        ContentPart::Other(Value::Object(raw)) => BlockKind::Raw(own_form(raw)?),
        _ => return Err("a content part is not a JSON object: leave it out".into()),
    };
    Ok(Some(EncodedBlock::new(kind).with_cache(cache)))
}

fn no_members(extra: &Extra) -> Result<(), String> {
    match extra.iter().next() {
        Some((name, _)) => Err(unsupported(&format!("the member `{name}` in texts"), "leave it out")),
        None => Ok(()),
    }
}

/// Returns a block in the form of this API, which has no `type`: `{"guardContent": {…}}`.
fn own_form(raw: &Map<String, Value>) -> Result<&Map<String, Value>, String> {
    match raw.get("type") {
        None => Ok(raw),
        Some(kind) => {
            let what = format!("content parts of the type `{}`", kind.as_str().unwrap_or("unknown"));
            Err(unsupported(
                &what,
                "write them in the form of the API: `{\"guardContent\": {…}}`",
            ))
        }
    }
}
