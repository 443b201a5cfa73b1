//! [`WrittenBlock`]: one block of content as it is written.

use std::borrow::Cow;

use agcore_chat::{CacheMark, Extra};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use super::source::Source;

/// The member that marks the end of a prefix to be cached.
const CACHE_CONTROL: &str = "cache_control";

/// One block.
#[derive(Debug)]
pub(super) struct WrittenBlock<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) cache: Option<&'a CacheMark>,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    Text {
        text: Cow<'a, str>,
        members: Members<'a>,
    },
    /// A picture or a document.
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
        name: &'a str,
        input: Input<'a>,
        members: Members<'a>,
    },
    Result {
        id: Cow<'a, str>,
        content: Vec<WrittenBlock<'a>>,
        is_error: bool,
    },
    /// A block as the vendor has it.
    Raw(&'a Map<String, Value>),
}

/// Further members, as the vendor or the application has them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Members<'a> {
    None,
    Vendor(&'a Map<String, Value>),
    Extra(&'a Extra),
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) enum Input<'a> {
    /// An object, as the model wrote it.
    Raw(&'a RawValue),
    /// None, or what takes the place of arguments that are no object.
    Made(Value),
}

impl<'a> WrittenBlock<'a> {
    pub(super) fn new(kind: Kind<'a>) -> Self {
        Self { kind, cache: None }
    }

    /// A text, unless there is nothing in it: the API refuses blank ones.
    pub(super) fn text(text: impl Into<Cow<'a, str>>, members: Members<'a>) -> Option<Self> {
        let text = text.into();
        let is_blank = text.trim().is_empty();
        (!is_blank).then(|| Self::new(Kind::Text { text, members }))
    }

    pub(super) fn with_cache(mut self, cache: Option<&'a CacheMark>) -> Self {
        self.cache = cache;
        self
    }

    /// Whether it may be marked: everything but thinking.
    pub(super) fn takes_cache(&self) -> bool {
        !self.is_thinking()
    }

    /// Whether it is thinking, open or sealed.
    pub(super) fn is_thinking(&self) -> bool {
        match &self.kind {
            Kind::Thinking { .. } => true,
            Kind::Raw(block) => block.get("type").is_some_and(|kind| kind == "redacted_thinking"),
            _ => false,
        }
    }

    /// Whether it names a file that the vendor holds.
    pub(super) fn names_file(&self) -> bool {
        match &self.kind {
            Kind::Media { source, .. } => matches!(source, Source::File(_)),
            Kind::Result { content, .. } => content.iter().any(Self::names_file),
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

    fn has(self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Vendor(members) => members.contains_key(name),
            Self::Extra(extra) => extra.get(name).is_some(),
        }
    }
}

impl Serialize for WrittenBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let members = self.write(&mut map)?;
        for (name, value) in members.iter() {
            map.serialize_entry(name, value)?;
        }
        // A mark in the vendor's own words stands.
        write_cache(self.cache.filter(|_| !members.has(CACHE_CONTROL)), &mut map)?;
        map.end()
    }
}

impl<'a> WrittenBlock<'a> {
    /// Writes the block's own members and gives the further ones.
    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<Members<'a>, S::Error> {
        match &self.kind {
            Kind::Text { text, members } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                Ok(*members)
            }
            Kind::Media {
                kind,
                source,
                title,
                members,
            } => {
                map.serialize_entry("type", kind)?;
                map.serialize_entry("source", source)?;
                if let Some(title) = title.as_ref().filter(|_| !members.has("title")) {
                    map.serialize_entry("title", title)?;
                }
                Ok(*members)
            }
            Kind::Thinking { text, members } => {
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", text)?;
                Ok(*members)
            }
            Kind::Call {
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
                    Input::Made(value) => map.serialize_entry("input", value)?,
                }
                Ok(*members)
            }
            Kind::Result { id, content, is_error } => {
                write_result(id, content, *is_error, map)?;
                Ok(Members::None)
            }
            Kind::Raw(block) => Ok(Members::Vendor(block)),
        }
    }
}

fn write_result<S: SerializeMap>(
    id: &str,
    content: &[WrittenBlock<'_>],
    is_error: bool,
    map: &mut S,
) -> Result<(), S::Error> {
    map.serialize_entry("type", "tool_result")?;
    map.serialize_entry("tool_use_id", id)?;
    match content {
        [] => {}
        [
            WrittenBlock {
                kind:
                    Kind::Text {
                        text,
                        members: Members::None,
                    },
                cache: None,
            },
        ] => map.serialize_entry("content", text)?,
        blocks => map.serialize_entry("content", blocks)?,
    }
    if is_error {
        map.serialize_entry("is_error", &true)?;
    }
    Ok(())
}

/// Writes a mark.
pub(super) fn write_cache<S: SerializeMap>(cache: Option<&CacheMark>, map: &mut S) -> Result<(), S::Error> {
    #[derive(Serialize)]
    struct CacheControl<'a> {
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl: Option<&'a str>,
    }
    let Some(cache) = cache else { return Ok(()) };
    let control = CacheControl {
        r#type: "ephemeral",
        ttl: cache.ttl.as_deref(),
    };
    map.serialize_entry(CACHE_CONTROL, &control)
}
