//! [`EncodedBlock`]: a content block in the form of the API.

use std::borrow::Cow;

use agcore_chat::{CacheMark, Extra};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use super::source::Source;
use crate::anthropic::vendor::{CACHE_CONTROL, REDACTED_THINKING};

/// A content block in the form of the API.
#[derive(Debug)]
pub(super) struct EncodedBlock<'a> {
    pub(super) kind: BlockKind<'a>,
    pub(super) mark: Option<Mark<'a>>,
}

/// A cache mark: the vendor caches the prompt up to and including what has it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark<'a> {
    /// Placed by the application.
    Own(&'a CacheMark),
    /// Placed by the application, in the vendor's form.
    Raw(&'a Value),
    /// Placed by the wire.
    Automatic,
}

/// The kind of a block, with its content.
#[derive(Debug)]
pub(super) enum BlockKind<'a> {
    Text {
        text: Cow<'a, str>,
        members: Members<'a>,
    },
    /// An image or a document.
    Media {
        kind: &'static str,
        source: Source<'a>,
        title: Option<Cow<'a, str>>,
        members: Members<'a>,
    },
    Thinking {
        text: &'a str,
        members: Members<'a>,
    },
    Call {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Input<'a>,
        members: Members<'a>,
    },
    Result {
        id: Cow<'a, str>,
        content: Vec<EncodedBlock<'a>>,
        is_error: bool,
    },
    /// A block that is sent unchanged.
    Raw(&'a Map<String, Value>),
}

/// Further members of a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Members<'a> {
    None,
    /// Members that the vendor sent with the block.
    Vendor(&'a Map<String, Value>),
    /// Members that the application added.
    Extra(&'a Extra),
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) enum Input<'a> {
    /// An object, exactly as the model wrote it.
    Raw(&'a RawValue),
    /// An object that replaces missing or invalid arguments.
    Value(Value),
}

impl<'a> EncodedBlock<'a> {
    pub(super) fn new(kind: BlockKind<'a>) -> Self {
        Self { kind, mark: None }
    }

    /// Creates a text block, unless the text is blank: the API rejects blank texts.
    pub(super) fn text(text: impl Into<Cow<'a, str>>, members: Members<'a>) -> Option<Self> {
        let text = text.into();
        let is_blank = text.trim().is_empty();
        (!is_blank).then(|| Self::new(BlockKind::Text { text, members }))
    }

    pub(super) fn with_cache(mut self, cache: Option<&'a CacheMark>) -> Self {
        self.mark = cache.map(Mark::Own);
        self
    }

    /// Sets a mark in the vendor's form.
    pub(super) fn with_raw_cache(mut self, cache: Option<&'a Value>) -> Self {
        self.mark = cache.map(Mark::Raw);
        self
    }

    /// Returns whether the block or one within it is marked.
    pub(super) fn is_marked(&self) -> bool {
        let is_written = match &self.kind {
            BlockKind::Text { members, .. } | BlockKind::Media { members, .. } => members.contains(CACHE_CONTROL),
            BlockKind::Thinking { .. } | BlockKind::Call { .. } => false,
            BlockKind::Result { content, .. } => content.iter().any(Self::is_marked),
            BlockKind::Raw(block) => block.contains_key(CACHE_CONTROL),
        };
        self.mark.is_some() || is_written
    }

    /// Returns whether the wire may mark the block by itself. Blocks that are sent unchanged stay unchanged.
    pub(super) fn may_be_marked_by_wire(&self) -> bool {
        !matches!(self.kind, BlockKind::Thinking { .. } | BlockKind::Raw(_))
    }

    /// Returns whether the block may carry a cache mark, as all but thinking blocks may.
    pub(super) fn accepts_cache_mark(&self) -> bool {
        !self.is_thinking()
    }

    /// Returns whether this is a thinking block, readable or redacted.
    pub(super) fn is_thinking(&self) -> bool {
        match &self.kind {
            BlockKind::Thinking { .. } => true,
            BlockKind::Raw(block) => block.get("type").is_some_and(|kind| kind == REDACTED_THINKING),
            _ => false,
        }
    }

    /// Returns whether the block refers to a file that was uploaded to the vendor.
    pub(super) fn has_uploaded_file(&self) -> bool {
        match &self.kind {
            BlockKind::Media { source, .. } => matches!(source, Source::File(_)),
            BlockKind::Result { content, .. } => content.iter().any(Self::has_uploaded_file),
            _ => false,
        }
    }
}

impl<'a> Members<'a> {
    fn iter(self) -> Box<dyn Iterator<Item = (&'a String, &'a Value)> + 'a> {
        match self {
            Self::None => Box::new(std::iter::empty()),
            Self::Vendor(members) => Box::new(members.iter()),
            Self::Extra(extra) => Box::new(extra.iter()),
        }
    }

    fn contains(self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Vendor(members) => members.contains_key(name),
            Self::Extra(extra) => extra.get(name).is_some(),
        }
    }
}

impl Serialize for EncodedBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let members = self.write(&mut map)?;
        for (name, value) in members.iter() {
            map.serialize_entry(name, value)?;
        }
        // A mark that the application wrote in the vendor's form takes precedence.
        write_cache(self.mark.filter(|_| !members.contains(CACHE_CONTROL)), &mut map)?;
        map.end()
    }
}

impl<'a> EncodedBlock<'a> {
    /// Writes the members that belong to the kind of block, and returns the further ones.
    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<Members<'a>, S::Error> {
        match &self.kind {
            BlockKind::Text { text, members } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                Ok(*members)
            }
            BlockKind::Media {
                kind,
                source,
                title,
                members,
            } => {
                map.serialize_entry("type", kind)?;
                map.serialize_entry("source", source)?;
                if let Some(title) = title.as_ref().filter(|_| !members.contains("title")) {
                    map.serialize_entry("title", title)?;
                }
                Ok(*members)
            }
            BlockKind::Thinking { text, members } => {
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", text)?;
                Ok(*members)
            }
            BlockKind::Call {
                id,
                name,
                input,
                members,
            } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                match input {
                    Input::Raw(raw) => map.serialize_entry("input", raw)?,
                    Input::Value(value) => map.serialize_entry("input", value)?,
                }
                Ok(*members)
            }
            BlockKind::Result { id, content, is_error } => {
                write_result(id, content, *is_error, map)?;
                Ok(Members::None)
            }
            BlockKind::Raw(block) => Ok(Members::Vendor(block)),
        }
    }
}

fn write_result<S: SerializeMap>(
    id: &str,
    content: &[EncodedBlock<'_>],
    is_error: bool,
    map: &mut S,
) -> Result<(), S::Error> {
    map.serialize_entry("type", "tool_result")?;
    map.serialize_entry("tool_use_id", id)?;
    match content {
        [] => {}
        [
            EncodedBlock {
                kind:
                    BlockKind::Text {
                        text,
                        members: Members::None,
                    },
                mark: None,
            },
        ] => map.serialize_entry("content", text)?,
        blocks => map.serialize_entry("content", blocks)?,
    }
    if is_error {
        map.serialize_entry("is_error", &true)?;
    }
    Ok(())
}

/// Writes a cache mark.
pub(super) fn write_cache<S: SerializeMap>(mark: Option<Mark<'_>>, map: &mut S) -> Result<(), S::Error> {
    #[derive(Serialize)]
    struct CacheControl<'a> {
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl: Option<&'a str>,
    }
    let ttl = match mark {
        None => return Ok(()),
        Some(Mark::Raw(raw)) => return map.serialize_entry(CACHE_CONTROL, raw),
        Some(Mark::Own(cache)) => cache.ttl.as_deref(),
        Some(Mark::Automatic) => None,
    };
    let control = CacheControl {
        r#type: "ephemeral",
        ttl,
    };
    map.serialize_entry(CACHE_CONTROL, &control)
}
