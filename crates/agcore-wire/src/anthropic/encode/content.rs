//! The content of user, tool and instruction messages as blocks.

use std::borrow::Cow;

use agcore_chat::{CacheMark, Content, ContentPart, Extra};
use serde_json::Value;

use super::{
    block::{BlockKind, EncodedBlock, Mark, Members},
    source::{self, Source},
};
use crate::anthropic::vendor::unsupported;

/// The kind of message that the content belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A user message.
    User,
    /// An instruction: text, and parts of unknown types.
    Instruction,
    /// A tool result.
    Tool,
}

/// Returns the blocks of a content. A cache mark of the whole message is put on the last block.
pub(super) fn blocks<'a>(
    content: &'a Content,
    cache: Option<&'a CacheMark>,
    owner: Owner,
) -> Result<Vec<EncodedBlock<'a>>, String> {
    let mut blocks: Vec<EncodedBlock<'a>> = match content {
        Content::Text(text) => EncodedBlock::text(text, Members::None).into_iter().collect(),
        Content::Parts(parts) => {
            let blocks: Result<Vec<_>, String> =
                parts.iter().filter_map(|part| block(part, owner).transpose()).collect();
            blocks?
        }
    };
    mark_last(&mut blocks, cache);
    Ok(blocks)
}

/// Puts a cache mark on the last block that accepts one.
pub(super) fn mark_last<'a>(blocks: &mut [EncodedBlock<'a>], cache: Option<&'a CacheMark>) {
    let last = blocks.iter_mut().rfind(|block| block.accepts_cache_mark());
    if let (Some(cache), Some(block)) = (cache, last) {
        block.mark.get_or_insert(Mark::Own(cache));
    }
}

fn block(part: &ContentPart, owner: Owner) -> Result<Option<EncodedBlock<'_>>, String> {
    if owner == Owner::Instruction && !matches!(part, ContentPart::Text(_) | ContentPart::Other(_)) {
        return Err(unsupported(
            "parts other than text in instructions",
            "send them in a user message",
        ));
    }
    let cache = part.marks().and_then(|marks| marks.cache.as_ref());
    let block = match part {
        ContentPart::Text(part) => EncodedBlock::text(&part.text, Members::Extra(&part.extra)),
        ContentPart::ImageUrl(part) => {
            let source = source::image(&part.image_url)?;
            Some(media("image", source, None, &part.extra))
        }
        ContentPart::File(part) => {
            let (kind, source) = source::file(&part.file)?;
            let title = source::title(&part.file).filter(|_| kind == "document");
            Some(media(kind, source, title, &part.extra))
        }
        ContentPart::InputAudio(_) => return Err(unsupported("audio", "send a transcript as text")),
        ContentPart::Refusal(_) => {
            return Err("a refusal is only allowed in an assistant message: send it as text".into());
        }
        ContentPart::Other(Value::Object(raw)) => Some(EncodedBlock::new(BlockKind::Raw(raw))),
        _ => return Err("a content part is not a JSON object: leave it out".into()),
    };
    Ok(block.map(|block| block.with_cache(cache)))
}

fn media<'a>(
    kind: &'static str,
    source: Source<'a>,
    title: Option<Cow<'a, str>>,
    extra: &'a Extra,
) -> EncodedBlock<'a> {
    EncodedBlock::new(BlockKind::Media {
        kind,
        source,
        title,
        members: Members::Extra(extra),
    })
}
