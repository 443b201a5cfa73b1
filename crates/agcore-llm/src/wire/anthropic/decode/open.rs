//! [`OpenBlock`]: a block of content between its start and its end.

use serde_json::{Map, Value};

use super::delta::Delta;

/// A block that may go on.
#[derive(Debug)]
pub(super) struct OpenBlock {
    /// Its place, as the server counts.
    pub(super) index: u32,
    pub(super) kind: OpenKind,
    /// What the vendor wants back with a text or with thinking; all of an item that is kept as it is.
    pub(super) data: Map<String, Value>,
    /// Arguments that came in pieces, of an item that is kept as it is.
    partial: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenKind {
    Text,
    Thinking,
    Call {
        /// Whether the arguments stood in the start: pieces that follow take their place.
        has_input: bool,
    },
    /// An item of a tool that the vendor runs, or a block nobody here knows.
    Raw,
}

impl OpenBlock {
    pub(super) fn new(index: u32, kind: OpenKind, data: Map<String, Value>) -> Self {
        Self {
            index,
            kind,
            data,
            partial: String::new(),
        }
    }

    /// A block that goes on without having begun.
    pub(super) fn implied(index: u32, delta: &Delta) -> Option<Self> {
        let kind = if !delta.text.is_empty() {
            OpenKind::Text
        } else if !delta.thinking.is_empty() || !delta.signature.is_empty() {
            OpenKind::Thinking
        } else if !delta.partial_json.is_empty() {
            OpenKind::Call { has_input: false }
        } else {
            return None;
        };
        Some(Self::new(index, kind, Map::new()))
    }

    /// Whether a piece of arguments takes the place of those in the start: only the first one does.
    pub(super) fn replaces_input(&mut self) -> bool {
        match &mut self.kind {
            OpenKind::Call { has_input } => std::mem::take(has_input),
            _ => false,
        }
    }

    pub(super) fn cite(&mut self, citation: Value) {
        let list = self.data.entry("citations").or_insert_with(|| Value::Array(Vec::new()));
        match list {
            Value::Array(list) => list.push(citation),
            other => *other = Value::Array(vec![citation]),
        }
    }

    /// Takes a delta into an item that is kept as it is: text goes on, anything else is set.
    pub(super) fn merge(&mut self, delta: Delta) {
        self.partial.push_str(&delta.partial_json);
        let texts = [
            ("text", delta.text),
            ("thinking", delta.thinking),
            ("signature", delta.signature),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(name, text)| (name.into(), Value::from(text.as_str())));
        for (name, value) in texts.chain(delta.members) {
            match (self.data.get_mut(&*name), value) {
                (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
                (_, value) => {
                    self.data.insert(name.into(), value);
                }
            }
        }
        if let Some(citation) = delta.citation {
            self.cite(citation);
        }
    }

    /// The whole item.
    pub(super) fn into_raw(mut self) -> Map<String, Value> {
        if !self.partial.trim().is_empty() {
            let input = serde_json::from_str(&self.partial).ok().filter(Value::is_object);
            let input = input.unwrap_or_else(|| serde_json::json!({ "invalid_json": self.partial }));
            self.data.insert("input".into(), input);
        }
        self.data
    }
}
