//! The part of the table with the doors for other protocols than AG-UI.

use serde_json::{Value, json};

use crate::{
    openapi::{Answer, Content, Parameter},
    problem::ProblemCode as Code,
    routes::{
        doors::{openai, ui},
        endpoint::{Endpoint, get, post},
    },
};

/// Returns the routes. `start` are the problems of a start.
pub(super) fn routes(start: &[Code]) -> Vec<Endpoint> {
    let key = || Parameter::header("Idempotency-Key", "Requests of a user with the same key start one run");
    let model = || Answer::new("The agent", Content::json(|_| model()));
    let response = || Answer::new("The response", Content::json(|_| response()));
    let version = || {
        Parameter::query(
            "version",
            json!({"enum": ["5", "6", "7"]}),
            "The version of the package `ai`",
        )
    };
    vec![
        post("/api/v1/agent/ui", ui::chat)
            .about("Answers a chat of the Vercel AI SDK", ui_stream())
            .with_body(Content::json(|_| ui_request()).with_example(ui_example))
            .with([version()])
            .failing(start.iter().copied())
            .failing([Code::TooManyStreams]),
        get("/api/v1/agent/ui/{thread}/stream", ui::resume)
            .about("Streams the active run of a chat of the Vercel AI SDK", ui_stream())
            .also(Answer::empty("No run is active"))
            .with([version()])
            .failing([Code::InvalidRequest, Code::TooManyStreams]),
        post("/v1/chat/completions", openai::complete)
            .about("Answers a conversation (Chat Completions of OpenAI)", completion())
            .with_body(Content::json(|_| chat_request()).with_example(chat_example))
            .with([key()])
            .failing(start.iter().copied())
            .failing([Code::TooManyStreams]),
        post("/v1/responses", openai::create)
            .about("Answers an input (Responses of OpenAI)", response())
            .with_body(Content::json(|_| responses_request()).with_example(responses_example))
            .with([key()])
            .failing(start.iter().copied())
            .failing([Code::TooManyStreams]),
        get("/v1/responses/{response}", openai::retrieve)
            .about("Returns a response", response())
            .failing([Code::NotFound]),
        post("/v1/responses/{response}/cancel", openai::cancel)
            .about("Cancels a response", response())
            .failing([Code::NotFound, Code::SessionBusy]),
        get("/v1/models", openai::list).about(
            "Lists the agents as models",
            Answer::new(
                "The agents",
                Content::json(|_| {
                    json!({"type": "object", "required": ["object", "data"], "properties": {
                        "object": {"const": "list"}, "data": {"type": "array", "items": model_schema()},
                    }})
                }),
            ),
        ),
        get("/v1/models/{name}", openai::show)
            .about("Returns an agent as a model", model())
            .failing([Code::AgentNotFound]),
    ]
}

fn ui_stream() -> Answer {
    let parts = |_: &mut _| json!({"description": "Each event has a part of a UI message stream as its data."});
    Answer::new(
        "Server-sent events: a UI message stream",
        Content::new("text/event-stream", parts),
    )
}

fn ui_request() -> Value {
    let message = json!({
        "type": "object",
        "required": ["id", "role", "parts"],
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 128},
            "role": {"enum": ["system", "user", "assistant"]},
            "parts": {"type": "array", "items": {"type": "object"}},
        },
    });
    json!({
        "type": "object",
        "required": ["id", "messages"],
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 128, "description": "The id of the thread."},
            "messages": {"type": "array", "items": message},
            "trigger": {"enum": ["submit-message", "regenerate-message"]},
            "messageId": {"type": "string"},
            "agent": {"type": "string", "description": "The name of an agent or a flow."},
            "tools": {"type": "array", "maxItems": 128, "items": function()},
            "resume": {"type": "array", "items": {"type": "object"}},
        },
    })
}

fn ui_example() -> Value {
    let parts = json!([{"type": "text", "text": "Hello"}]);
    json!({"id": "chat-1", "trigger": "submit-message", "messages": [{"id": "message-1", "role": "user", "parts": parts}]})
}

fn model() -> Value {
    model_schema()
}

fn model_schema() -> Value {
    json!({
        "type": "object",
        "required": ["id", "object", "created", "owned_by"],
        "properties": {"id": {"type": "string"}, "object": {"const": "model"}},
    })
}

/// With `stream`, the answer is a stream of events whose last data is `[DONE]`, or an error if the run fails or is cancelled.
fn completion() -> Answer {
    Answer::new(
        "The answer; with `stream`, server-sent events with its chunks",
        Content::json(|_| {
            json!({
                "type": "object",
                "required": ["id", "object", "created", "model", "choices"],
                "properties": {"id": {"type": "string"}, "object": {"const": "chat.completion"}, "choices": {"type": "array"}},
            })
        }),
    )
}

fn response() -> Value {
    json!({
        "type": "object",
        "required": ["id", "object", "created_at", "status", "model", "output"],
        "properties": {
            "id": {"type": "string"},
            "object": {"const": "response"},
            "status": {"enum": ["completed", "failed", "in_progress", "cancelled", "incomplete"]},
            "output": {"type": "array"},
        },
    })
}

fn tools(item: &Value) -> Value {
    json!({"type": "array", "maxItems": 128, "items": item, "description": "Tools that the client offers and runs."})
}

fn metadata() -> Value {
    json!({"type": "object", "maxProperties": 16, "additionalProperties": {"type": "string", "maxLength": 512}})
}

fn function() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "parameters": {"type": "object"}},
    })
}

fn chat_request() -> Value {
    let message = json!({
        "type": "object",
        "required": ["role"],
        "properties": {"role": {"enum": ["system", "developer", "user", "assistant", "tool"]}, "content": {}},
    });
    let tool = json!({
        "type": "object",
        "required": ["type", "function"],
        "properties": {"type": {"const": "function"}, "function": function()},
    });
    json!({
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            "model": {"type": "string", "description": "The name of an agent or a flow."},
            "messages": {"type": "array", "minItems": 1, "items": message},
            "stream": {"type": "boolean"},
            "stream_options": {"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
            "tools": tools(&tool),
            "tool_choice": {"enum": ["auto", "none"]},
            "metadata": metadata(),
        },
    })
}

fn responses_request() -> Value {
    let mut tool = function();
    tool["required"] = json!(["type", "name"]);
    tool["properties"]["type"] = json!({"const": "function"});
    json!({
        "type": "object",
        "required": ["input"],
        "properties": {
            "model": {"type": "string", "description": "The name of an agent or a flow."},
            "input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]},
            "instructions": {"type": "string"},
            "previous_response_id": {"type": "string"},
            "stream": {"type": "boolean"},
            "background": {"type": "boolean"},
            "tools": tools(&tool),
            "tool_choice": {"enum": ["auto", "none"]},
            "metadata": metadata(),
        },
    })
}

fn chat_example() -> Value {
    json!({"model": "assistant", "messages": [{"role": "user", "content": "Hello"}]})
}

fn responses_example() -> Value {
    json!({"model": "assistant", "input": "Hello"})
}
