//! The OpenAI Responses API.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Message, Reasoning, Tool, ToolCall, VendorData};
use agcore_wire::openai_responses::OpenAiResponses;
use serde_json::{Value, json};

use crate::sdk_types::{Sample, subject::Subject};

pub(super) fn subjects() -> Vec<Subject> {
    vec![Subject {
        name: "openai-responses".to_owned(),
        cases: "openai-responses",
        dialect: None,
        samples: SAMPLES,
        wire: Box::new(OpenAiResponses::new()),
    }]
}

fn vendor_data(data: Value) -> VendorData {
    VendorData::new("openai-responses", data)
}

fn set_messages(request: &mut ChatRequest, messages: impl IntoIterator<Item = Message>) {
    request.messages = messages.into_iter().map(Arc::new).collect();
}

/// Returns a conversation with reasoning and a call.
fn reasoning_and_call(encrypted: Value) -> [Message; 3] {
    let summary = json!([{"type": "summary_text", "text": "Hm."}]);
    let item =
        json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": encrypted, "status": null});
    let call = ToolCall::function("call_1", "get_weather", "{}")
        .with_vendor(vendor_data(json!({"id": "fc_1", "status": "completed"})));
    let message = AssistantMessage::default()
        .with_reasoning(Reasoning::new("Hm.").with_vendor(vendor_data(item)))
        .with_call(call);
    [Message::user("Hi"), message.into(), Message::tool("call_1", "Sunny")]
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "reasoning item",
        set: |request| set_messages(request, reasoning_and_call(json!(null))),
    },
    Sample {
        name: "encrypted reasoning without storage",
        set: |request| {
            set_messages(request, reasoning_and_call(json!("AbCd")));
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
            let message = AssistantMessage::from_blocks([Block::Hosted(vendor_data(item)), Block::text("Sunny.")]);
            set_messages(request, [Message::user("Hi"), message.into(), Message::user("Go on")]);
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
