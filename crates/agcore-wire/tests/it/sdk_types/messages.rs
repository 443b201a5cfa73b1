//! Samples of messages and their parts.

use agcore_chat::{
    AssistantMessage, Block, CacheMark, ChatRequest, Content, ContentPart, FilePart, FileRef, FunctionCall,
    FunctionMessage, InstructionMessage, Marks, Message, Reasoning, RefusalPart, TextPart, ToolCall, ToolMessage,
    UserMessage, VendorData,
};
use serde_json::json;

use super::Sample;

/// An image of one pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn set_messages(request: &mut ChatRequest, messages: impl IntoIterator<Item = Message>) {
    request.messages = messages.into_iter().map(Into::into).collect();
}

/// Sets a user message with this part.
fn set_part(request: &mut ChatRequest, part: ContentPart) {
    set_messages(request, [Message::user(vec!["Look:".into(), part])]);
}

/// Sets a conversation in which this assistant message is followed by a user message.
fn set_reply(request: &mut ChatRequest, message: AssistantMessage) {
    set_messages(request, [Message::user("Hi"), message.into(), Message::user("Go on")]);
}

/// Sets a conversation in which the calls of this assistant message are followed by their results.
fn set_calls(request: &mut ChatRequest, message: AssistantMessage) {
    let ids: Vec<String> = message.tool_calls().map(|call| call.id.clone()).collect();
    let results = ids.into_iter().map(|id| {
        Message::Tool(ToolMessage {
            tool_call_id: id,
            content: "Sunny".into(),
            name: Some("get_weather".to_owned()),
            ..ToolMessage::default()
        })
    });
    let begin = [Message::user("Weather?"), message.into()];
    set_messages(request, begin.into_iter().chain(results));
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::function(id, "get_weather", arguments)
}

fn marks() -> Marks {
    Marks::new().with_cache(CacheMark::new().with_ttl("1h"))
}

fn marked(text: &str) -> ContentPart {
    ContentPart::Text(TextPart {
        text: text.to_owned(),
        marks: marks(),
        ..TextPart::default()
    })
}

/// Returns a message with vendor data of several vendors, each in its own format.
fn with_vendor_data() -> AssistantMessage {
    let details = json!([
        {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.encrypted", "data": "AbCd", "id": "r-1", "index": 1},
    ]);
    let signature = json!({"extra_content": {"google": {"thought_signature": "sig"}}});
    AssistantMessage::default()
        .with_reasoning(
            Reasoning::new("Hm.").with_vendor(VendorData::new("openrouter", json!({"reasoning_details": details}))),
        )
        .with_call(call("call_1", "{}").with_vendor(VendorData::new("gemini", signature)))
}

pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        name: "instructions",
        set: |request| set_messages(request, [Message::system("Be brief."), Message::user("Hi")]),
    },
    Sample {
        name: "instructions of the developer",
        set: |request| set_messages(request, [Message::developer("Be brief."), Message::user("Hi")]),
    },
    Sample {
        name: "instructions in parts",
        set: |request| {
            set_messages(
                request,
                [
                    Message::system(vec!["Be".into(), " brief.".into()]),
                    Message::user("Hi"),
                ],
            );
        },
    },
    Sample {
        name: "names",
        set: |request| {
            let rules = InstructionMessage {
                content: "Be brief.".into(),
                name: Some("rules".to_owned()),
                ..InstructionMessage::default()
            };
            let ann = UserMessage {
                content: "Hi".into(),
                name: Some("ann".to_owned()),
                ..UserMessage::default()
            };
            let bot = AssistantMessage {
                name: Some("bot".to_owned()),
                ..AssistantMessage::new("Hello")
            };
            set_messages(
                request,
                [Message::System(rules), ann.into(), bot.into(), Message::user("Go on")],
            );
        },
    },
    Sample {
        name: "text in parts",
        set: |request| set_messages(request, [Message::user(vec!["One ".into(), "two".into()])]),
    },
    Sample {
        name: "part: image by URL",
        set: |request| set_part(request, ContentPart::image_url("https://example.org/a.png")),
    },
    Sample {
        name: "part: image",
        set: |request| {
            let mut part = ContentPart::image_url(PIXEL);
            if let ContentPart::ImageUrl(part) = &mut part {
                part.image_url.detail = Some("high".to_owned());
            }
            set_part(request, part);
        },
    },
    Sample {
        name: "part: audio",
        set: |request| set_part(request, ContentPart::input_audio("UklGRg==", "wav")),
    },
    Sample {
        name: "part: file",
        set: |request| {
            set_part(
                request,
                ContentPart::file_data("a.pdf", "data:application/pdf;base64,JVBERi0="),
            );
        },
    },
    Sample {
        name: "part: file by id",
        set: |request| {
            let file = FileRef {
                file_id: Some("file-1".to_owned()),
                ..FileRef::default()
            };
            set_part(
                request,
                ContentPart::File(FilePart {
                    file,
                    ..FilePart::default()
                }),
            );
        },
    },
    Sample {
        name: "cache mark on text",
        set: |request| {
            set_messages(
                request,
                [
                    Message::system(marked("Long.")),
                    Message::user(vec![marked("Longer."), "Hi".into()]),
                ],
            );
        },
    },
    Sample {
        name: "cache mark on a message",
        set: |request| {
            let user = UserMessage {
                content: Content::from("Hi"),
                marks: marks(),
                ..UserMessage::default()
            };
            set_messages(request, [user.into()]);
        },
    },
    Sample {
        name: "cache mark on an image",
        set: |request| set_part(request, ContentPart::image_url(PIXEL).with_marks(marks())),
    },
    Sample {
        name: "cache mark on a result",
        set: |request| {
            let result = ToolMessage {
                tool_call_id: "call_1".to_owned(),
                content: "Sunny".into(),
                marks: marks(),
                ..ToolMessage::default()
            };
            let message = AssistantMessage::default().with_call(call("call_1", "{}"));
            set_messages(
                request,
                [Message::user("Weather?"), message.into(), Message::Tool(result)],
            );
        },
    },
    Sample {
        name: "answer",
        set: |request| set_reply(request, AssistantMessage::new("Hello")),
    },
    Sample {
        name: "empty answer",
        set: |request| set_reply(request, AssistantMessage::default()),
    },
    Sample {
        name: "answer in blocks",
        set: |request| {
            set_reply(
                request,
                AssistantMessage::from_blocks([Block::text("One "), Block::text("two")]),
            );
        },
    },
    Sample {
        name: "answer to be continued",
        set: |request| {
            let mut beginning = AssistantMessage::new("Hel");
            beginning.extra.insert("prefix", true);
            beginning.extra.insert("partial", true);
            set_messages(request, [Message::user("Hi"), beginning.into()]);
        },
    },
    Sample {
        name: "annotations of an earlier reply",
        set: |request| {
            let mut answer = AssistantMessage::new("Hello");
            answer.annotations = Some(json!([]));
            answer.extra.insert("provider_note", "n");
            set_reply(request, answer);
        },
    },
    Sample {
        name: "refusal",
        set: |request| {
            let refusal = Some("No.".to_owned());
            set_reply(
                request,
                AssistantMessage {
                    refusal,
                    ..AssistantMessage::default()
                },
            );
        },
    },
    Sample {
        name: "refusal as a part",
        set: |request| {
            let part = RefusalPart {
                refusal: "No.".to_owned(),
                ..RefusalPart::default()
            };
            set_reply(request, AssistantMessage::from_blocks([Block::Refusal(part)]));
        },
    },
    Sample {
        name: "audio answer",
        set: |request| {
            let audio = Some(json!({"id": "audio_1", "data": "UklGRg==", "expires_at": 1, "transcript": "Hello"}));
            set_reply(
                request,
                AssistantMessage {
                    audio,
                    ..AssistantMessage::default()
                },
            );
        },
    },
    Sample {
        name: "reasoning",
        set: |request| {
            set_reply(
                request,
                AssistantMessage::from_blocks([Block::reasoning("Hm."), Block::text("Hello")]),
            );
        },
    },
    Sample {
        name: "reasoning before a call",
        set: |request| {
            let message = AssistantMessage::default().with_reasoning(Reasoning::new("Hm."));
            set_calls(request, message.with_call(call("call_1", r#"{"city":"Oslo"}"#)));
        },
    },
    Sample {
        name: "vendor data",
        set: |request| set_calls(request, with_vendor_data()),
    },
    Sample {
        name: "call",
        set: |request| {
            set_calls(
                request,
                AssistantMessage::default().with_call(call("call_1", r#"{"city":"Oslo"}"#)),
            );
        },
    },
    Sample {
        name: "text and call",
        set: |request| {
            set_calls(
                request,
                AssistantMessage::new("Let me see.").with_call(call("call_1", "{}")),
            );
        },
    },
    Sample {
        name: "parallel calls",
        set: |request| {
            set_calls(
                request,
                AssistantMessage::default()
                    .with_call(call("call_1", "{}"))
                    .with_call(call("call_2", "")),
            );
        },
    },
    Sample {
        name: "call with invalid arguments",
        set: |request| {
            set_calls(
                request,
                AssistantMessage::default().with_call(call("call_1", r#"{"city":"#)),
            );
        },
    },
    Sample {
        name: "call without a name",
        set: |request| {
            set_calls(
                request,
                AssistantMessage::default().with_call(ToolCall::function("call_1", "", "{}")),
            );
        },
    },
    Sample {
        name: "call of a custom tool",
        set: |request| {
            set_calls(
                request,
                AssistantMessage::default().with_call(ToolCall::custom("call_1", "run", "ls")),
            );
        },
    },
    Sample {
        name: "call in the legacy form",
        set: |request| {
            let legacy = FunctionCall {
                name: "get_weather".to_owned(),
                arguments: "{}".to_owned(),
                ..FunctionCall::default()
            };
            let message = AssistantMessage {
                function_call: Some(legacy),
                ..AssistantMessage::default()
            };
            let result = FunctionMessage {
                name: "get_weather".to_owned(),
                content: Some("Sunny".to_owned()),
                ..FunctionMessage::default()
            };
            set_messages(
                request,
                [Message::user("Weather?"), message.into(), Message::Function(result)],
            );
        },
    },
    Sample {
        name: "result in parts",
        set: |request| {
            let result = Message::tool("call_1", vec!["Sun".into(), "ny".into()]);
            let message = AssistantMessage::default().with_call(call("call_1", "{}"));
            set_messages(request, [Message::user("Weather?"), message.into(), result]);
        },
    },
    Sample {
        name: "result that failed",
        set: |request| {
            let mut failed = Marks::new();
            failed.is_error = true;
            let result = ToolMessage {
                tool_call_id: "call_1".to_owned(),
                content: "No such city.".into(),
                marks: failed,
                ..ToolMessage::default()
            };
            let message = AssistantMessage::default().with_call(call("call_1", "{}"));
            set_messages(
                request,
                [Message::user("Weather?"), message.into(), Message::Tool(result)],
            );
        },
    },
];
