//! The end of a stream.

use agcore_agui::{AguiEvent, EventType};
use serde_json::{Map, Value, json};

use super::{UiStream, UiVersion, member, part, text};

impl UiStream {
    /// Writes the end of a run: what it waits for, its usage, and how it has ended.
    pub(super) fn end(&self, event: &AguiEvent, out: &mut String) {
        let outcome = event.member("outcome");
        let questions = outcome.and_then(|outcome| outcome["interrupts"].as_array());
        for question in questions.into_iter().flatten() {
            self.question(question, out);
        }
        let is_pending = outcome.is_some_and(|outcome| outcome["pendingToolCallIds"].is_array());
        let cut_off = event.own_member("finishReason").and_then(Value::as_str);
        let reason = match (event.event_type(), outcome.and_then(|outcome| outcome["type"].as_str())) {
            (EventType::RunError, _) => {
                part(&json!({"type": "error", "errorText": member(event, "message")}), out);
                "error"
            }
            (_, Some("cancelled")) => {
                part(&json!({"type": "abort"}), out);
                out.push_str("data: [DONE]\n\n");
                return;
            }
            (_, Some("interrupt")) => "tool-calls",
            _ if is_pending => "tool-calls",
            _ => match cut_off {
                Some("length") => "length",
                Some("content_filter") => "content-filter",
                _ => "stop",
            },
        };
        part(&json!({"type": "finish-step"}), out);
        part(
            &json!({"type": "finish", "finishReason": reason, "messageMetadata": metadata(event)}),
            out,
        );
        out.push_str("data: [DONE]\n\n");
    }

    /// Writes a question: as the approval of a call, if the page knows these, and always as data.
    fn question(&self, question: &Value, out: &mut String) {
        let (id, call) = (&question["id"], &question["toolCallId"]);
        let reason = question["reason"].as_str().unwrap_or_default();
        let is_approval = matches!(reason, "approval" | "uncertain") && self.calls.contains(&text(call));
        if is_approval && self.version != UiVersion::V5 {
            part(
                &json!({"type": "tool-approval-request", "approvalId": id, "toolCallId": call}),
                out,
            );
        }
        part(
            &json!({"type": "data-agcore-question", "id": id, "data": question}),
            out,
        );
    }
}

/// Returns what a page may show about the run: the tokens, and the cost if the server shows it.
fn metadata(event: &AguiEvent) -> Value {
    let mut metadata = Map::new();
    if let Some(usage) = event.kept_member("usage") {
        let mut tokens = Map::new();
        let counters = [
            ("inputTokens", "/prompt_tokens"),
            ("outputTokens", "/completion_tokens"),
            ("totalTokens", "/total_tokens"),
            ("reasoningTokens", "/completion_tokens_details/reasoning_tokens"),
            ("cachedInputTokens", "/prompt_tokens_details/cached_tokens"),
        ];
        for (name, pointer) in counters {
            if let Some(count) = usage.pointer(pointer).filter(|count| count.is_u64()) {
                tokens.insert(name.to_owned(), count.clone());
            }
        }
        if !tokens.is_empty() {
            metadata.insert("usage".to_owned(), Value::Object(tokens));
        }
    }
    if let Some(cost) = event.own_member("cost") {
        metadata.insert("cost".to_owned(), cost.clone());
    }
    Value::Object(metadata)
}
