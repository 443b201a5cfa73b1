//! The schemas and examples of bodies that are written by hand.

use serde_json::{Value, json};

/// Returns the schema of the members of a `RunAgentInput` that the server reads. AG-UI publishes the whole schema.
pub(super) fn run_input(required: &[&str]) -> Value {
    let id = json!({"type": "string", "minLength": 1, "maxLength": 128});
    json!({
        "type": "object",
        "description": "The RunAgentInput of AG-UI. `forwardedProps.agent` chooses an agent.",
        "required": required,
        "properties": {
            "threadId": id,
            "runId": id,
            "messages": {"type": "array", "items": {
                "type": "object",
                "required": ["id", "role"],
                "properties": {"id": {"type": "string"}, "role": {"type": "string"}, "content": {}},
            }},
            "tools": {
                "type": "array",
                "maxItems": 128,
                "description": "Tools that the client offers and runs. The next run has the results as its last messages.",
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {
                        "name": {"type": "string"},
                        "description": {"type": "string"},
                        "parameters": {"type": "object"},
                    },
                },
            },
            "context": {
                "type": "array",
                "maxItems": 128,
                "description": "Entries that the application adds beside the conversation. Agents get them as untrusted data.",
                "items": {
                    "type": "object",
                    "required": ["description", "value"],
                    "properties": {"description": {"type": "string"}, "value": {"type": "string"}},
                },
            },
            "resume": {"type": "array", "items": {"type": "object"}},
            "forwardedProps": {
                "description": "`agent` chooses an agent or a flow. For flows: `variables` of the flow, the ids of `files`, and `job` for a run without a user.",
                "properties": {"budget": budget()},
            },
        },
    })
}

/// Returns the schema of the most that a run may use.
fn budget() -> Value {
    let number = json!({"type": "integer", "minimum": 1});
    json!({
        "type": ["object", "null"],
        "description": "The most that the run may use, with its sub-agents, the nodes of a flow, and the runs that continue it with answers. A run fails with the code `limit` before it uses more.",
        "minProperties": 1,
        "properties": {
            "modelCalls": number,
            "tokens": number,
            "money": {"type": "string", "examples": ["0.50 USD"]},
        },
        "additionalProperties": false,
    })
}

/// Returns an example of the input of a run.
pub(super) fn message() -> Value {
    json!({"messages": [{"id": "message-1", "role": "user", "content": "Hello"}]})
}

/// Returns an example of a schedule.
pub(super) fn daily() -> Value {
    json!({
        "title": "News of the morning",
        "timing": {"cron": "0 7 * * 1-5", "zone": "Europe/Berlin"},
        "input": message(),
    })
}

/// Returns an example of a webhook.
pub(super) fn hook() -> Value {
    json!({"url": "https://example.com/hook", "events": ["run.completed", "run.failed"]})
}

/// Returns the schema of what other programs deliver.
pub(super) fn any_event() -> Value {
    json!({"description": "An event of another program, as JSON. A form with the JSON in its field `payload` is read as well."})
}
