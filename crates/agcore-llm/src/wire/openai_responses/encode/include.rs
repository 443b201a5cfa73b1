//! `include`: what shall come beside the usual.

use agcore_chat::ChatRequest;
use serde::ser::{Error, SerializeMap};
use serde_json::Value;

const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
const LOGPROBS: &str = "message.output_text.logprobs";

/// How the names of models that reason begin.
const REASONING_MODELS: &[&str] = &["o1", "o3", "o4", "gpt-5", "gpt-oss", "codex"];

/// Writes the caller's own list, and what else the request needs.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, model: &str, map: &mut S) -> Result<(), S::Error> {
    let told = request.extra_body.get("include");
    let mut list: Vec<&str> = match told {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(Error::custom("`include` in extra_body must be a list of names")),
    };
    let mut need = |name| {
        if !list.contains(&name) {
            list.push(name);
        }
    };
    // A list of the caller's own says all about reasoning; an empty one keeps it away.
    if told.is_none() && needs_reasoning(request, model) {
        need(ENCRYPTED_REASONING);
    }
    if request.logprobs == Some(true) {
        need(LOGPROBS);
    }
    if list.is_empty() {
        return Ok(());
    }
    map.serialize_entry("include", &list)
}

/// Encrypted reasoning is asked for where the model reasons: it then goes back whether the server stores replies or not.
/// A model that does not reason refuses it, so that the request or the model's name must show that it does.
fn needs_reasoning(request: &ChatRequest, model: &str) -> bool {
    match request.reasoning_effort.as_deref() {
        Some(effort) => effort != "none",
        None => request.extra_body.get("reasoning").is_some() || reasons(model),
    }
}

/// Whether a model's name, without the router's prefix, says that it reasons.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    REASONING_MODELS.iter().any(|begin| name.starts_with(begin)) && !name.contains("-chat")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_which_models_reason() {
        for model in [
            "gpt-5-mini",
            "o3",
            "o4-mini-2025-04-16",
            "openai/gpt-5.1",
            "gpt-oss:20b",
            "ft:o4-mini:org",
        ] {
            assert!(reasons(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-5-chat-latest", "my-deployment", "qwen3", ""] {
            assert!(!reasons(model), "{model}");
        }
    }
}
