//! The Anthropic Messages API.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Message, Reasoning, Tool, ToolCall, VendorData};
use agcore_wire::anthropic::{Anthropic, Thinking};
use serde_json::{Value, json};

use crate::sdk_types::{Sample, subject::Subject};

/// Returns the API with default settings, and with every setting that affects the body.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |wire| Subject {
        name: "anthropic".to_owned(),
        cases: "anthropic",
        dialect: None,
        samples: SAMPLES,
        wire: Box::new(wire),
    };
    vec![
        subject(Anthropic::new()),
        subject(
            Anthropic::new()
                .with_thinking(Thinking::Budget)
                .with_default_max_tokens(8192),
        ),
        subject(
            Anthropic::new()
                .with_thinking(Thinking::Adaptive)
                .with_system_turns(true),
        ),
    ]
}

fn vendor_data(data: Value) -> VendorData {
    VendorData::new("anthropic", data)
}

fn set_reply(request: &mut ChatRequest, blocks: impl IntoIterator<Item = Block>) {
    let message = AssistantMessage::from_blocks(blocks);
    let messages = [Message::user("Hi"), message.into(), Message::user("Go on")];
    request.messages = messages.into_iter().map(Arc::new).collect();
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "signed thinking",
        set: |request| {
            let thought = Reasoning::new("Hm.").with_vendor(vendor_data(json!({"signature": "sig"})));
            set_reply(request, [Block::Reasoning(thought), Block::text("Hello")]);
        },
    },
    Sample {
        name: "redacted thinking",
        set: |request| {
            let sealed =
                Reasoning::default().with_vendor(vendor_data(json!({"type": "redacted_thinking", "data": "AbCd"})));
            set_reply(request, [Block::Reasoning(sealed), Block::text("Hello")]);
        },
    },
    Sample {
        name: "thinking before a call",
        set: |request| {
            let thought = Reasoning::new("Hm.").with_vendor(vendor_data(json!({"signature": "sig"})));
            let call = ToolCall::function("toolu_1", "get_weather", r#"{"city":"Oslo"}"#);
            let message = AssistantMessage::default().with_reasoning(thought).with_call(call);
            let messages = [Message::user("Hi"), message.into(), Message::tool("toolu_1", "Sunny")];
            request.messages = messages.into_iter().map(Arc::new).collect();
        },
    },
    Sample {
        name: "hosted search",
        set: |request| {
            let query = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"}});
            let found = json!({"type": "web_search_result", "url": "https://example.org", "title": "Oslo", "encrypted_content": "AbCd"});
            let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]});
            set_reply(
                request,
                [
                    Block::Hosted(vendor_data(query)),
                    Block::Hosted(vendor_data(result)),
                    Block::text("Sunny."),
                ],
            );
            let tool = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3});
            request.tools = [Tool::Hosted(tool)].into();
        },
    },
    Sample {
        name: "later instructions",
        set: |request| {
            let messages = [
                Message::system("Be brief."),
                Message::user("Hi"),
                Message::assistant("Hello"),
                Message::user("Go on"),
                Message::system("Be briefer."),
            ];
            request.messages = messages.into_iter().map(Arc::new).collect();
        },
    },
];
