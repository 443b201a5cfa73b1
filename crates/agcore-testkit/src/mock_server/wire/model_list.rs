//! [`model_list`]: the list of models in each vendor's format.

use serde_json::{Value, json};

use crate::mock_server::wire::api::Api;

/// Renders the response to a request that lists models.
pub(crate) fn model_list(api: Api, models: &[String]) -> Value {
    let entries = |entry: fn(&String) -> Value| models.iter().map(entry).collect::<Vec<_>>();
    match api {
        Api::OpenAiChat | Api::OpenAiResponses => json!({ "object": "list", "data": entries(openai) }),
        Api::Anthropic => json!({
            "data": entries(anthropic), "has_more": false, "first_id": models.first(), "last_id": models.last(),
        }),
        Api::Ollama => json!({ "models": entries(ollama) }),
        Api::Gemini => json!({ "models": entries(gemini) }),
        // The list is on another server.
        Api::Bedrock => json!({}),
    }
}

fn openai(model: &String) -> Value {
    json!({ "id": model, "object": "model", "created": 1_704_067_200, "owned_by": "agcore-mock" })
}

fn anthropic(model: &String) -> Value {
    json!({ "type": "model", "id": model, "display_name": model, "created_at": "2024-01-01T00:00:00Z" })
}

fn ollama(model: &String) -> Value {
    json!({ "name": model, "model": model, "modified_at": "2024-01-01T00:00:00Z", "size": 0, "details": {} })
}

fn gemini(model: &String) -> Value {
    let methods = ["generateContent", "batchEmbedContents"];
    json!({ "name": format!("models/{model}"), "displayName": model, "supportedGenerationMethods": methods })
}
