//! What users, tools and applications say, as blocks.

use std::borrow::Cow;

use agcore_chat::{CacheMark, Content, ContentPart, Extra};
use serde_json::Value;

use super::{
    block::{Kind, Members, WrittenBlock},
    source::{self, Source},
};

/// Whose content it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user's.
    User,
    /// Instructions: text only.
    Instruction,
    /// A tool's.
    Tool,
}

/// The blocks of a content; a mark of the whole message goes to the last of them.
pub(super) fn blocks<'a>(
    content: &'a Content,
    cache: Option<&'a CacheMark>,
    owner: Owner,
) -> Result<Vec<WrittenBlock<'a>>, String> {
    let mut blocks: Vec<WrittenBlock<'a>> = match content {
        Content::Text(text) => WrittenBlock::text(text, Members::None).into_iter().collect(),
        Content::Parts(parts) => {
            let blocks: Result<Vec<_>, String> =
                parts.iter().filter_map(|part| block(part, owner).transpose()).collect();
            blocks?
        }
    };
    mark_last(&mut blocks, cache);
    Ok(blocks)
}

/// Marks the last block that can be.
pub(super) fn mark_last<'a>(blocks: &mut [WrittenBlock<'a>], cache: Option<&'a CacheMark>) {
    let last = blocks.iter_mut().rfind(|block| block.takes_cache());
    if let (Some(cache), Some(block)) = (cache, last) {
        block.cache.get_or_insert(cache);
    }
}

fn block(part: &ContentPart, owner: Owner) -> Result<Option<WrittenBlock<'_>>, String> {
    if owner == Owner::Instruction && !matches!(part, ContentPart::Text(_)) {
        return Err("the API takes text only in instructions: send other parts in a user message".into());
    }
    let cache = part.marks().and_then(|marks| marks.cache.as_ref());
    let block = match part {
        ContentPart::Text(part) => WrittenBlock::text(&part.text, Members::Extra(&part.extra)),
        ContentPart::ImageUrl(part) => {
            let source = source::of_image(&part.image_url)?;
            Some(media("image", source, None, &part.extra))
        }
        ContentPart::File(part) => {
            let (kind, source) = source::of_file(&part.file)?;
            let title = source::title(&part.file).filter(|_| kind == "document");
            Some(media(kind, source, title, &part.extra))
        }
        ContentPart::InputAudio(_) => return Err("the API takes no sound: hand over what is said as text".into()),
        ContentPart::Refusal(_) => return Err("a refusal is the model's: it has no place in other messages".into()),
        ContentPart::Other(Value::Object(raw)) => Some(WrittenBlock::new(Kind::Raw(raw))),
        _ => return Err("a part of the content is no object: leave it out".into()),
    };
    Ok(block.map(|block| block.with_cache(cache)))
}

fn media<'a>(
    kind: &'static str,
    source: Source<'a>,
    title: Option<Cow<'a, str>>,
    extra: &'a Extra,
) -> WrittenBlock<'a> {
    WrittenBlock::new(Kind::Media {
        kind,
        source,
        title,
        members: Members::Extra(extra),
    })
}
