//! The native API of Gemini.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Content, ContentPart, Message, Tool, ToolCall, VendorData};
use agcore_wire::gemini::{Gemini, Thinking};
use serde_json::{Value, json};

use crate::sdk_types::{Sample, subject::Subject};

/// Returns the API with default settings, and with every setting that affects the body.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |wire| Subject {
        name: "gemini-native".to_owned(),
        cases: "gemini",
        dialect: None,
        samples: SAMPLES,
        wire: Box::new(wire),
    };
    vec![
        subject(Gemini::new()),
        subject(
            Gemini::new()
                .with_thinking(Thinking::Budget)
                .with_thoughts(false)
                .with_placeholder_signatures(true),
        ),
    ]
}

fn vendor_data(data: Value) -> VendorData {
    VendorData::new("gemini-native", data)
}

fn set_messages(request: &mut ChatRequest, messages: impl IntoIterator<Item = Message>) {
    request.messages = messages.into_iter().map(Arc::new).collect();
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "a call with its id and signature, and a result with an image",
        set: |request| {
            let data = vendor_data(json!({"id": "fc_1", "thoughtSignature": "c2ln"}));
            let call = ToolCall::function("fc_1", "screen", r#"{"a": 1}"#).with_vendor(data);
            let content: Content = vec![
                ContentPart::text("The screen:"),
                ContentPart::image_url("data:image/png;base64,iVBORw0KGgo="),
            ]
            .into();
            let reply = AssistantMessage::default().with_call(call);
            set_messages(
                request,
                [Message::user("Hi"), reply.into(), Message::tool("fc_1", content)],
            );
        },
    },
    Sample {
        name: "items of the vendor",
        set: |request| {
            let items = [
                json!({"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"}),
                json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}),
                json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}),
            ];
            let blocks = items.map(|item| Block::Hosted(vendor_data(item)));
            let message = AssistantMessage::from_blocks(blocks);
            set_messages(request, [Message::user("Hi"), message.into(), Message::user("Go on")]);
        },
    },
    Sample {
        name: "files by URI",
        set: |request| {
            let content: Content = vec![
                ContentPart::file_data("a.pdf", "gs://bucket/a.pdf"),
                ContentPart::Other(
                    json!({"fileData": {"fileUri": "https://a.example/v"}, "videoMetadata": {"fps": 1.0}}),
                ),
            ]
            .into();
            set_messages(request, [Message::user(content)]);
        },
    },
    Sample {
        name: "hosted tools",
        set: |request| {
            let tools = [
                json!({"googleSearch": {}}),
                json!({"codeExecution": {}}),
                json!({"urlContext": {}}),
            ];
            request.tools = tools.into_iter().map(Tool::Hosted).collect();
            let config = json!({"includeServerSideToolInvocations": true});
            request.extra_body.insert("toolConfig", config);
        },
    },
    Sample {
        name: "members of the API",
        set: |request| {
            let extra = &mut request.extra_body;
            extra.insert(
                "generationConfig",
                json!({"topK": 40, "mediaResolution": "MEDIA_RESOLUTION_LOW"}),
            );
            extra.insert("cachedContent", "cachedContents/1");
            let setting = json!({"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"});
            extra.insert("safetySettings", json!([setting]));
        },
    },
];
