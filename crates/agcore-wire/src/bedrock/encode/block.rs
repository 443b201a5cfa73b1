//! [`EncodedBlock`]: a content block in the form of the API, with the cache point behind it.

use std::borrow::Cow;

use agcore_chat::{CacheMark, Extra};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json, value::RawValue};

use crate::bedrock::vendor::REDACTED;

/// A content block in the form of the API: an object with one member, whose name is its kind.
#[derive(Debug)]
pub(super) struct EncodedBlock<'a> {
    pub(super) kind: BlockKind<'a>,
    pub(super) mark: Option<Mark<'a>>,
}

/// A cache point: the vendor caches the prompt in front of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark<'a> {
    /// Placed by the application.
    Own(&'a CacheMark),
    /// Placed by the wire.
    Automatic,
}

/// The kind of a block, with its content.
#[derive(Debug)]
pub(super) enum BlockKind<'a> {
    Text(Cow<'a, str>),
    Media(Media<'a>),
    Reasoning {
        text: &'a str,
        signature: &'a Value,
    },
    /// Reasoning whose text is encrypted.
    Redacted(&'a Value),
    Call {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Input<'a>,
    },
    Result {
        id: Cow<'a, str>,
        content: Vec<EncodedBlock<'a>>,
        /// `None` for models that do not accept a status.
        is_error: Option<bool>,
    },
    /// A block that is sent unchanged.
    Raw(&'a Map<String, Value>),
}

/// An image, a document, audio or a video.
#[derive(Debug)]
pub(super) struct Media<'a> {
    pub(super) kind: MediaKind,
    pub(super) format: Cow<'a, str>,
    /// The name of a document.
    pub(super) name: Option<String>,
    pub(super) source: Source<'a>,
    /// Members that the application added.
    pub(super) extra: &'a Extra,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaKind {
    Image,
    Document,
    Audio,
    Video,
}

/// The location of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// In the request, in base64.
    Bytes(&'a str),
    /// In a bucket of Amazon S3.
    S3(&'a str),
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
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Option<Self> {
        let text = text.into();
        let is_blank = text.trim().is_empty();
        (!is_blank).then(|| Self::new(BlockKind::Text(text)))
    }

    pub(super) fn with_cache(mut self, cache: Option<&'a CacheMark>) -> Self {
        self.mark = cache.map(Mark::Own);
        self
    }

    /// Returns whether this is reasoning, readable or encrypted.
    pub(super) fn is_reasoning(&self) -> bool {
        matches!(self.kind, BlockKind::Reasoning { .. } | BlockKind::Redacted(_))
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self.kind, BlockKind::Result { .. })
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, BlockKind::Text(_))
    }

    pub(super) fn is_media(&self, kind: MediaKind) -> bool {
        matches!(&self.kind, BlockKind::Media(media) if media.kind == kind)
    }

    /// Returns whether this is a cache point that the application wrote in the form of the API.
    pub(super) fn is_cache_point(&self) -> bool {
        matches!(self.kind, BlockKind::Raw(raw) if raw.contains_key(CACHE_POINT))
    }
}

/// The name of the member of a cache point.
pub(super) const CACHE_POINT: &str = "cachePoint";

/// Returns a cache point in the form of the API.
pub(super) fn cache_point(mark: Mark<'_>) -> Value {
    let mut point = json!({"type": "default"});
    if let Mark::Own(CacheMark { ttl: Some(ttl), .. }) = mark {
        point["ttl"] = ttl.as_str().into();
    }
    json!({ CACHE_POINT: point })
}

/// Serializes blocks, each with the cache point behind it.
pub(super) fn write_list<S: Serializer>(blocks: &[EncodedBlock<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Entry<'a> {
        Block(&'a EncodedBlock<'a>),
        Point(Value),
    }
    serializer.collect_seq(blocks.iter().flat_map(|block| {
        let point = block.mark.map(|mark| Entry::Point(cache_point(mark)));
        std::iter::once(Entry::Block(block)).chain(point)
    }))
}

/// A list of blocks, for serialization.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Blocks<'a>(#[serde(serialize_with = "write_slice")] pub(super) &'a [EncodedBlock<'a>]);

fn write_slice<S: Serializer>(blocks: &&[EncodedBlock<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    write_list(blocks, serializer)
}

impl Serialize for EncodedBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.kind {
            BlockKind::Text(text) => map.serialize_entry("text", text)?,
            BlockKind::Media(media) => map.serialize_entry(media.kind.name(), media)?,
            BlockKind::Reasoning { text, signature } => {
                let text = ReasoningText { text, signature };
                map.serialize_entry("reasoningContent", &ReasoningContent { reasoning_text: text })?;
            }
            BlockKind::Redacted(data) => map.serialize_entry("reasoningContent", &json!({ REDACTED: data }))?,
            BlockKind::Call { id, name, input } => map.serialize_entry("toolUse", &ToolUse { id, name, input })?,
            BlockKind::Result { id, content, is_error } => {
                let status = is_error.map(|is_error| if is_error { "error" } else { "success" });
                let content = Blocks(content);
                map.serialize_entry("toolResult", &ToolResult { id, content, status })?;
            }
            BlockKind::Raw(raw) => {
                for (name, value) in *raw {
                    map.serialize_entry(name, value)?;
                }
            }
        }
        map.end()
    }
}

impl MediaKind {
    fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Audio => "audio",
            Self::Video => "video",
        }
    }
}

impl Serialize for Media<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", &self.format)?;
        if let Some(name) = &self.name {
            map.serialize_entry("name", name)?;
        }
        match self.source {
            Source::Bytes(bytes) => map.serialize_entry("source", &Bytes { bytes })?,
            Source::S3(uri) => map.serialize_entry("source", &json!({"s3Location": {"uri": uri}}))?,
        }
        for (name, value) in self.extra.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Raw(raw) => raw.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct Bytes<'a> {
    bytes: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReasoningContent<'a> {
    reasoning_text: ReasoningText<'a>,
}

#[derive(Serialize)]
struct ReasoningText<'a> {
    text: &'a str,
    signature: &'a Value,
}

#[derive(Serialize)]
struct ToolUse<'a> {
    #[serde(rename = "toolUseId")]
    id: &'a str,
    name: &'a str,
    input: &'a Input<'a>,
}

#[derive(Serialize)]
struct ToolResult<'a> {
    #[serde(rename = "toolUseId")]
    id: &'a str,
    content: Blocks<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}
