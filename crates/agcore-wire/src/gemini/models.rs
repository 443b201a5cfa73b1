//! The list of models: `GET /models`.

use serde_json::{Map, Value};

use crate::{
    decode::document::Document,
    error::LlmError,
    operation::{ListModels, ModelEntry},
    wire::{Close, Decoder, ReplyHead},
};

/// The member with the token of the next page.
const NEXT_PAGE: &str = "nextPageToken";

/// The members that contain the list: that of AI Studio, and those of Vertex AI.
const LISTS: &[&str] = &["models", "publisherModels", "tunedModels"];

/// The prefixes of names that requests do not need.
const PREFIXES: &[&str] = &["models/", "publishers/google/models/"];

/// Decodes the list. When the server has more models on another page, the last entry's extra members contain `nextPageToken`.
#[derive(Debug)]
pub(super) struct ModelsDecoder(Document);

impl ModelsDecoder {
    pub(super) fn new(head: &ReplyHead) -> Self {
        Self(Document::new(head))
    }
}

impl Decoder<ListModels> for ModelsDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<ModelEntry>) -> Result<(), LlmError> {
        self.0.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ModelEntry>) -> Result<(), LlmError> {
        let models = match self.0.read(close, "list of models")? {
            Value::Object(reply) if reply.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(self.0.reported_error());
            }
            Value::Object(reply) => list(reply),
            _ => None,
        };
        let Some(models) = models else {
            let message = "the reply is JSON, but not a list of models: it has no `models`";
            return Err(self.0.malformed(message.to_owned()));
        };
        items.extend(models);
        Ok(())
    }
}

fn list(mut reply: Map<String, Value>) -> Option<Vec<ModelEntry>> {
    let list = LISTS.iter().find_map(|name| reply.shift_remove(*name));
    let next = reply.shift_remove(NEXT_PAGE);
    let models = match list {
        Some(Value::Array(models)) => models,
        // Empty lists are left out.
        None if reply.is_empty() => Vec::new(),
        _ => return None,
    };
    let mut models: Vec<ModelEntry> = models.into_iter().filter_map(entry).collect();
    if let (Some(token), Some(last)) = (next, models.last_mut()) {
        last.extra.insert(NEXT_PAGE, token);
    }
    Some(models)
}

fn entry(model: Value) -> Option<ModelEntry> {
    let Value::Object(mut members) = model else {
        return None;
    };
    let name = text(&mut members, "name")?;
    let id = PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(&name);
    let window = members.get("inputTokenLimit").and_then(Value::as_u64);
    let mut entry = ModelEntry {
        id: id.to_owned(),
        name: text(&mut members, "displayName"),
        context_window: window.filter(|tokens| *tokens > 0),
        ..ModelEntry::default()
    };
    entry.extra = members.into();
    Some(entry)
}

fn text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
