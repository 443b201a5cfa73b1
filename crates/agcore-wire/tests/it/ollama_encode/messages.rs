//! Messages of all roles, and their content.

use agcore_chat::{
    AssistantMessage, Block, CacheMark, ChatRequest, ContentPart, Marks, Message, Reasoning, ToolCall, ToolMessage,
    UserMessage, VendorData,
};
use serde_json::{Value, json};

use super::{body, check_rejected, encode};

/// Returns the JSON of a message.
fn message(message: impl Into<Message>) -> Value {
    body(&ChatRequest::new([message.into()]))["messages"][0].clone()
}

#[test]
fn encodes_texts_and_images() {
    let image = |url: &str| ContentPart::image_url(url);
    let parts = vec![
        ContentPart::text("What "),
        image("data:image/png;base64,iVBORw0KGgo="),
        ContentPart::text("is this?"),
        image("data:image/jpeg;base64,/9j/4AAQ"),
    ];
    let expected = json!({"role": "user", "content": "What is this?", "images": ["iVBORw0KGgo=", "/9j/4AAQ"]});
    assert_eq!(message(Message::user(parts.clone())), expected);
    let result = message(Message::tool("c", parts));
    assert_eq!(result["images"], expected["images"]);
    let with_parts = |parts: Vec<ContentPart>| ChatRequest::new([Message::user(parts)]);
    check_rejected(
        &with_parts(vec![image("https://a.example/b.png")]),
        "download the image",
    );
    check_rejected(&with_parts(vec![image("data:image/png,x")]), "invalid image data URL");
    check_rejected(
        &with_parts(vec![ContentPart::input_audio("AA==", "wav")]),
        "`input_audio`",
    );
    check_rejected(&with_parts(vec![ContentPart::file_id("f")]), "`file`");
    check_rejected(
        &with_parts(vec![ContentPart::Other(json!({"type": "video_url"}))]),
        "`video_url`",
    );
    check_rejected(
        &ChatRequest::new([Message::system(vec![image("data:image/png;base64,AA==")])]),
        "in instructions",
    );
}

#[test]
fn encodes_roles_without_marks() {
    assert_eq!(
        message(Message::developer("Be brief.")),
        json!({"role": "system", "content": "Be brief."})
    );
    let marked = UserMessage {
        content: "Hi".into(),
        marks: Marks::new().with_cache(CacheMark::new()),
        ..UserMessage::default()
    };
    assert_eq!(message(marked), json!({"role": "user", "content": "Hi"}));
    let named = UserMessage {
        name: Some("Ann".into()),
        ..UserMessage::default()
    };
    check_rejected(&ChatRequest::new([Message::from(named)]), "`name`");
    check_rejected(
        &ChatRequest::new([Message::Function(agcore_chat::FunctionMessage::default())]),
        "function messages",
    );
}

#[test]
fn sends_assistant_messages_back() {
    let reply = AssistantMessage::from_blocks([
        Block::reasoning("I need "),
        Block::reasoning("the weather."),
        Block::text("Let me look."),
        Block::from(ToolCall::function("call_1", "weather", r#"{"z": 1.50, "a": [1e2]}"#)),
        Block::from(ToolCall::function("", "now", "")),
    ]);
    let expected = r#"{"role":"assistant","content":"Let me look.","thinking":"I need the weather.","tool_calls":[{"id":"call_1","function":{"index":0,"name":"weather","arguments":{"z": 1.50, "a": [1e2]}}},{"function":{"index":1,"name":"now","arguments":{}}}]}"#;
    let bytes = encode(&ChatRequest::new([Message::from(reply)])).unwrap().body;
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(text.contains(expected), "including the format of numbers: {text}");
}

#[test]
fn omits_reasoning_of_other_vendors() {
    let sealed = |vendor: &str| {
        let data = VendorData::new(vendor, json!({"signature": "s"}));
        let block = Block::Reasoning(Reasoning::new("Hm.").with_vendor(data.clone()));
        message(AssistantMessage::from_blocks([
            block,
            Block::Hosted(data),
            Block::text("Yes."),
        ]))
    };
    assert_eq!(sealed("anthropic"), json!({"role": "assistant", "content": "Yes."}));
    assert_eq!(sealed("ollama")["thinking"], "Hm.");
}

#[test]
fn sends_refusals_and_transcripts_as_text() {
    let refusal = AssistantMessage {
        refusal: Some("No.".into()),
        ..AssistantMessage::default()
    };
    assert_eq!(message(refusal)["content"], "No.");
    let audio = AssistantMessage {
        audio: Some(json!({"id": "a", "transcript": "Aloud."})),
        ..AssistantMessage::default()
    };
    assert_eq!(message(audio)["content"], "Aloud.");
    let legacy = AssistantMessage {
        function_call: Some(agcore_chat::FunctionCall::default()),
        ..AssistantMessage::default()
    };
    check_rejected(&ChatRequest::new([Message::from(legacy)]), "legacy function calls");
}

#[test]
fn arguments_are_always_objects() {
    let arguments = |call: ToolCall| {
        let reply = message(AssistantMessage::default().with_call(call));
        reply["tool_calls"][0]["function"].clone()
    };
    let check = |raw: &str, expected: Value| {
        assert_eq!(
            arguments(ToolCall::function("c", "f", raw))["arguments"],
            expected,
            "{raw}"
        );
    };
    check(" {\"a\": 1} ", json!({"a": 1}));
    check("", json!({}));
    check("null", json!({}));
    check("{\"a\": ", json!({"invalid_json": "{\"a\": "}));
    check("[1]", json!({"invalid_json": "[1]"}));
    assert_eq!(
        arguments(ToolCall::custom("c", "f", "free"))["arguments"],
        json!({"input": "free"})
    );
    assert_eq!(arguments(ToolCall::function("c", "", "{}"))["name"], "unknown_tool");
}

#[test]
fn a_result_contains_its_call_and_its_tool() {
    let reply = AssistantMessage::default()
        .with_call(ToolCall::function("a", "weather", "{}"))
        .with_call(ToolCall::function("b", "time", "{}"));
    let named = ToolMessage {
        tool_call_id: "c".into(),
        name: Some("lost".into()),
        content: "?".into(),
        marks: Marks::new().with_error(true),
        ..ToolMessage::default()
    };
    let request = ChatRequest::new([
        Message::from(reply),
        Message::tool("b", "noon"),
        Message::tool("a", "sunny"),
        named.into(),
        Message::tool("d", "!"),
    ]);
    assert_eq!(
        body(&request)["messages"].as_array().unwrap()[1..],
        [
            json!({"role": "tool", "content": "noon", "tool_name": "time", "tool_call_id": "b"}),
            json!({"role": "tool", "content": "sunny", "tool_name": "weather", "tool_call_id": "a"}),
            json!({"role": "tool", "content": "?", "tool_name": "lost", "tool_call_id": "c"}),
            json!({"role": "tool", "content": "!", "tool_call_id": "d"}),
        ]
    );
}
