//! The OpenAI Responses API.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Message, Reasoning, Tool, ToolCall, VendorData};
use agcore_llm::wire::openai_responses::OpenAiResponses;
use serde_json::{Value, json};

use super::super::{Sample, subject::Subject};

pub(super) fn subjects() -> Vec<Subject> {
    vec![Subject {
        name: "openai-responses".to_owned(),
        cases: "openai-responses",
        dialect: None,
        own: SAMPLES,
        wire: Box::new(OpenAiResponses::new()),
    }]
}

fn own(data: Value) -> VendorData {
    VendorData::new("openai-responses", data)
}

fn converse(request: &mut ChatRequest, messages: impl IntoIterator<Item = Message>) {
    request.messages = messages.into_iter().map(Arc::new).collect();
}

/// Reasoning, and the call that it led to.
fn called(encrypted: Value) -> [Message; 3] {
    let summary = json!([{"type": "summary_text", "text": "Hm."}]);
    let item =
        json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": encrypted, "status": null});
    let call = ToolCall::function("call_1", "get_weather", "{}")
        .with_vendor(own(json!({"id": "fc_1", "status": "completed"})));
    let said = AssistantMessage::default()
        .with_reasoning(Reasoning::new("Hm.").with_vendor(own(item)))
        .with_call(call);
    [Message::user("Hi"), said.into(), Message::tool("call_1", "Sunny")]
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "reasoning item",
        set: |request| converse(request, called(json!(null))),
    },
    Sample {
        name: "encrypted reasoning, nothing stored",
        set: |request| {
            converse(request, called(json!("AbCd")));
            request.store = Some(false);
            request.reasoning_effort = Some("low".to_owned());
            request.extra_body.insert("reasoning", json!({"summary": "auto"}));
        },
    },
    Sample {
        name: "hosted search",
        set: |request| {
            let action = json!({"type": "search", "query": "Oslo"});
            let item = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action});
            let said = AssistantMessage::from_blocks([Block::Hosted(own(item)), Block::text("Sunny.")]);
            converse(request, [Message::user("Hi"), said.into(), Message::user("Go on")]);
            request.tools = [Tool::Hosted(
                json!({"type": "web_search", "search_context_size": "low"}),
            )]
            .into();
        },
    },
    Sample {
        name: "members without a field",
        set: |request| {
            request.extra_body.insert("truncation", "auto");
            request.extra_body.insert("previous_response_id", "resp_1");
        },
    },
];
