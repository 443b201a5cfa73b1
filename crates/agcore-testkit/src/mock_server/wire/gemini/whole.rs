//! Rendering a reply as a single body.

use serde_json::{Map, Value, json};

use crate::mock_server::{
    reply::{Answer, Block, Finish, TokenUsage, ToolCall},
    wire::contract::ReplyMetadata,
};

pub(super) fn whole(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    let mut seal = None;
    for block in &answer.blocks {
        let mut part = match block {
            Block::Text(text) | Block::Refusal(text) => json!({ "text": text }),
            Block::Reasoning { text, signature } => {
                seal = signature.clone();
                json!({ "text": text, "thought": true })
            }
            Block::Redacted(_) => continue,
            Block::Call(tool_call) => call(tool_call),
        };
        // The signature of thoughts is on the part to which they led.
        if part["thought"] != true
            && let Some(seal) = seal.take()
        {
            part["thoughtSignature"] = json!(seal);
        }
        parts.push(part);
    }
    let finish = Some(finish_reason(&answer.finish()));
    chunk(
        answer,
        metadata,
        &parts,
        finish.as_deref(),
        metadata.usage.as_ref().map(usage),
    )
}

/// Renders a whole reply or a chunk of a stream, which have the same form.
pub(super) fn chunk(
    answer: &Answer,
    metadata: &ReplyMetadata,
    parts: &[Value],
    finish: Option<&str>,
    usage: Option<Value>,
) -> Value {
    let mut content = Map::from_iter([("role".to_owned(), json!("model"))]);
    if !parts.is_empty() {
        content.insert("parts".into(), json!(parts));
    }
    let mut candidate = json!({ "content": content, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let mut body = Map::new();
    body.insert("candidates".into(), json!([candidate]));
    if let Some(usage) = usage {
        body.insert("usageMetadata".into(), usage);
    }
    body.insert("modelVersion".into(), json!(metadata.model));
    body.insert("responseId".into(), json!(metadata.id("")));
    body.extend(answer.extra.iter().cloned());
    Value::Object(body)
}

/// Renders a call. Malformed arguments become a string, which Gemini would never send.
pub(super) fn call(call: &ToolCall) -> Value {
    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
    let mut body = Map::new();
    if !call.id.is_empty() {
        body.insert("id".into(), json!(call.id));
    }
    body.insert("name".into(), json!(call.name));
    body.insert("args".into(), arguments);
    json!({ "functionCall": body })
}

/// Returns Gemini's finish reason, which is `STOP` even for calls.
pub(super) fn finish_reason(finish: &Finish) -> String {
    match finish {
        Finish::Stop | Finish::ToolCalls | Finish::Refusal => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::ContentFilter => "SAFETY",
        Finish::Other(reason) => reason,
    }
    .to_owned()
}

/// Renders the token counts. Cached tokens are part of the prompt, and thoughts are not part of the candidates. Counts of zero
/// are left out.
pub(super) fn usage(usage: &TokenUsage) -> Value {
    let thoughts = usage.reasoning.unwrap_or(0);
    let counts = [
        ("promptTokenCount", usage.input),
        ("candidatesTokenCount", usage.output.saturating_sub(thoughts)),
        ("thoughtsTokenCount", thoughts),
        ("cachedContentTokenCount", usage.cached.unwrap_or(0)),
        ("totalTokenCount", usage.input + usage.output),
    ];
    let known = counts.into_iter().filter(|(_, count)| *count > 0);
    Value::Object(known.map(|(name, count)| (name.to_owned(), json!(count))).collect())
}
