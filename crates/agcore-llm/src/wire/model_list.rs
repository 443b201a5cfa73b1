//! The list of models: `GET /models`, and Ollama's `GET /tags`.

use serde_json::{Map, Value};

use crate::{
    error::LlmError,
    wire::{
        Close, Decoder, ReplyHead,
        failure::FailureReader,
        models::{ListModels, ModelEntry},
    },
};

/// Where servers tell a model's window: vLLM, OpenRouter and Moonshot, Groq, Mistral.
const WINDOW: &[&str] = &[
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
];

/// Reads the list, which comes whole.
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
            Ok(reply) => match list(reply) {
                Some(models) => {
                    items.extend(models.into_iter().filter_map(entry));
                    Ok(())
                }
                None => Err(self
                    .failure
                    .malformed("the reply is JSON, but no list of models".into(), &body)),
            },
            Err(_) if close == Close::Reset => Err(self.failure.broken()),
            Err(_) => {
                let words = FailureReader::words_of(&body).unwrap_or_else(|| "it is cut or empty".into());
                Err(self
                    .failure
                    .malformed(format!("the server answered with no list of models: {words}"), &body))
            }
        }
    }
}

/// The list itself: under `data`, under `models`, or bare (Together).
fn list(reply: Value) -> Option<Vec<Value>> {
    match reply {
        Value::Array(models) => Some(models),
        Value::Object(mut members) => {
            match members.remove("data").or_else(|| members.remove("models")) {
                Some(Value::Array(models)) => Some(models),
                // A server without models (Ollama) says `null`.
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
    let id = text(&mut members, "id").or_else(|| text(&mut members, "model"));
    // Older servers of Ollama have nothing but a name.
    let id = id.or_else(|| members.get("name").and_then(Value::as_str).map(str::to_owned))?;
    let window = WINDOW
        .iter()
        .find_map(|name| members.get(*name).and_then(Value::as_u64))
        // Ollama.
        .or_else(|| members.get("details")?.get("context_length")?.as_u64());
    let mut entry = ModelEntry {
        id,
        name: text(&mut members, "name"),
        owned_by: text(&mut members, "owned_by"),
        created: members.shift_remove("created").and_then(|created| created.as_u64()),
        context_window: window,
        ..ModelEntry::default()
    };
    members.shift_remove("object");
    entry.extra = members.into();
    Some(entry)
}

fn text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
