//! [`ModelsDecoder`]: the decoder of `GET /models`, and of Ollama's `GET /tags`.

use serde_json::{Map, Value};

use crate::{
    error::LlmError,
    failure::FailureReader,
    operation::{ListModels, ModelEntry},
    wire::{Close, Decoder, ReplyHead},
};

/// The paths of members that contain a model's context window. Where a list has several, the first is the one with which the model
/// is served, and later ones are what it was made for.
const WINDOW_MEMBERS: &[&[&str]] = &[
    &["max_model_len"],                  // vLLM
    &["meta", "n_ctx"],                  // llama.cpp
    &["top_provider", "context_length"], // OpenRouter
    &["context_length"],                 // OpenRouter, Moonshot
    &["context_window"],                 // Groq
    &["max_context_length"],             // Mistral
    &["details", "context_length"],      // Ollama
    &["meta", "n_ctx_train"],            // llama.cpp, older versions
];

/// A decoder for a list of models, which is not streamed.
#[derive(Debug)]
pub(crate) struct ModelsDecoder {
    failure: FailureReader,
    is_success: bool,
    body: Vec<u8>,
}

impl ModelsDecoder {
    pub(crate) fn new(head: &ReplyHead) -> Self {
        Self {
            failure: FailureReader::new(head),
            is_success: head.status.is_success(),
            body: Vec::new(),
        }
    }
}

impl Decoder<ListModels> for ModelsDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<ModelEntry>) -> Result<(), LlmError> {
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ModelEntry>) -> Result<(), LlmError> {
        let body = std::mem::take(&mut self.body);
        if !self.is_success {
            return Err(self.failure.read(&body));
        }
        match serde_json::from_slice::<Value>(&body) {
            Ok(reply) if reply.get("error").is_some_and(|error| !error.is_null()) => Err(self.failure.read(&body)),
            Ok(reply) => match models(reply) {
                Some(models) => {
                    items.extend(models.into_iter().filter_map(entry));
                    Ok(())
                }
                None => Err(self
                    .failure
                    .malformed("the reply is JSON, but not a list of models".into(), &body)),
            },
            Err(_) if close == Close::Reset => Err(self.failure.connection_lost()),
            Err(_) => Err(self.failure.malformed(
                match FailureReader::summary(&body) {
                    Some(_) => FailureReader::unexpected("list of models", &body),
                    None => "expected a list of models, but the reply is incomplete or empty".into(),
                },
                &body,
            )),
        }
    }
}

/// Returns the array of models: the member `data` or `models`, or the whole reply (Together).
fn models(reply: Value) -> Option<Vec<Value>> {
    match reply {
        Value::Array(models) => Some(models),
        Value::Object(mut members) => {
            match members.remove("data").or_else(|| members.remove("models")) {
                Some(Value::Array(models)) => Some(models),
                // Ollama without models sends `null`.
                Some(Value::Null) => Some(Vec::new()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn entry(model: Value) -> Option<ModelEntry> {
    let mut members = match model {
        Value::Object(members) => members,
        Value::String(id) => {
            return Some(ModelEntry {
                id,
                ..ModelEntry::default()
            });
        }
        _ => return None,
    };
    let id = take_text(&mut members, "id").or_else(|| take_text(&mut members, "model"));
    // Older versions of Ollama send only a name.
    let id = id.or_else(|| members.get("name").and_then(Value::as_str).map(str::to_owned))?;
    let window = WINDOW_MEMBERS.iter().find_map(|path| positive(&members, path));
    let mut entry = ModelEntry {
        id,
        name: take_text(&mut members, "name"),
        owned_by: take_text(&mut members, "owned_by"),
        created: members.shift_remove("created").and_then(|created| created.as_u64()),
        context_window: window,
        ..ModelEntry::default()
    };
    members.shift_remove("object");
    entry.extra = members.into();
    Some(entry)
}

/// Returns the number at a path. Zero stands for an unknown one.
fn positive<'m>(members: &'m Map<String, Value>, path: &[&str]) -> Option<u64> {
    let (last, parents) = path.split_last()?;
    let parent = |members: &'m Map<String, Value>, name: &&str| members.get(*name)?.as_object();
    let number = parents.iter().try_fold(members, parent)?.get(*last)?.as_u64();
    number.filter(|number| *number > 0)
}

fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
