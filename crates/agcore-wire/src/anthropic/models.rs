//! The list of models: `GET /models`.

use serde_json::{Map, Value};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    decode::document::Document,
    error::LlmError,
    operation::{ListModels, ModelEntry},
    wire::{Close, Decoder, ReplyHead},
};

/// Decodes the list. When the server has more models on another page, the last entry's extra members contain `has_more`.
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
            Value::Object(reply) if is_error(&reply) => return Err(self.0.reported_error()),
            Value::Object(reply) => list(reply),
            _ => None,
        };
        let Some(models) = models else {
            let message = "the reply is JSON, but not a list of models: it has no `data`";
            return Err(self.0.malformed(message.to_owned()));
        };
        items.extend(models);
        Ok(())
    }
}

fn is_error(reply: &Map<String, Value>) -> bool {
    reply.get("error").is_some_and(|error| !error.is_null()) || reply.get("type").is_some_and(|kind| kind == "error")
}

fn list(mut reply: Map<String, Value>) -> Option<Vec<ModelEntry>> {
    let Some(Value::Array(models)) = reply.remove("data") else {
        return None;
    };
    let mut models: Vec<ModelEntry> = models.into_iter().filter_map(entry).collect();
    if reply.get("has_more").is_some_and(|more| more == true)
        && let Some(last) = models.last_mut()
    {
        last.extra.insert("has_more", true);
    }
    Some(models)
}

fn entry(model: Value) -> Option<ModelEntry> {
    let Value::Object(mut members) = model else {
        return None;
    };
    let id = text(&mut members, "id")?;
    let released = text(&mut members, "created_at").and_then(|date| OffsetDateTime::parse(&date, &Rfc3339).ok());
    // The API reports an unknown date as the beginning of the epoch.
    let created = released.and_then(|date| u64::try_from(date.unix_timestamp()).ok());
    members.shift_remove("type");
    Some(ModelEntry {
        id,
        name: text(&mut members, "display_name"),
        created: created.filter(|seconds| *seconds > 0),
        context_window: members.get("max_input_tokens").and_then(Value::as_u64),
        extra: members.into(),
        ..ModelEntry::default()
    })
}

fn text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
