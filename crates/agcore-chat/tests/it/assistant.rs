//! The JSON form of assistant messages: blocks in order, plain members that stay plain.

use agcore_chat::{
    AssistantMessage, Block, CacheMark, Marks, Message, Origin, Reasoning, RefusalPart, TextBlock, ToolCall, VendorData,
};
use serde_json::{Value, json};

fn read(message: Value) -> AssistantMessage {
    serde_json::from_str(&message.to_string()).unwrap()
}

/// Describes each block in a few words.
fn blocks(message: &AssistantMessage) -> Vec<String> {
    let block = |block: &Block| match block {
        Block::Text(text) => format!("text {}{}", text.text, vendor_note(text.vendor.as_ref())),
        Block::Refusal(part) => format!("refusal {}", part.refusal),
        Block::Reasoning(reasoning) => {
            format!("reasoning {}{}", reasoning.text, vendor_note(reasoning.vendor.as_ref()))
        }
        Block::Call(call) => format!("call {}{}", call.id, vendor_note(call.vendor.as_ref())),
        Block::Hosted(item) => format!("hosted {}", item.data),
        Block::Other(raw) => format!("other {raw}"),
        _ => "unknown".into(),
    };
    message.blocks.iter().map(block).collect()
}

fn vendor_note(vendor: Option<&VendorData>) -> String {
    vendor.map(|vendor| format!(" [{}]", vendor.data)).unwrap_or_default()
}

fn vendor(data: Value) -> VendorData {
    VendorData::new("anthropic", data)
}

fn call(id: &str) -> ToolCall {
    ToolCall::function(id, "look", "{}")
}

/// Regression test: replies with calls whose content is `null` or absent were not parsed.
#[test]
fn content_may_be_null_absent_text_or_parts() {
    let calls = json!([{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]);
    for message in [
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "assistant", "tool_calls": calls}),
        json!({"role": "assistant", "content": "", "tool_calls": calls}),
        json!({"role": "assistant", "content": [], "tool_calls": calls}),
        json!({"role": null, "content": null, "tool_calls": calls, "function_call": null, "refusal": null}),
    ] {
        let read = read(message);
        assert_eq!(blocks(&read), ["call a"]);
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(
            written,
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        );
    }
    let parts =
        json!([{"type": "text", "text": "a"}, {"type": "output_video", "id": 1}, {"type": "refusal", "refusal": "b"}]);
    let read = read(json!({"role": "assistant", "content": parts}));
    assert_eq!(
        blocks(&read),
        ["text a", r#"other {"type":"output_video","id":1}"#, "refusal b"]
    );
    assert_eq!(serde_json::to_value(&read).unwrap()["content"], parts);
    assert_eq!(read.refusal_text(), Some("b"));
}

#[test]
fn an_empty_message_has_empty_content() {
    assert_eq!(
        serde_json::to_value(AssistantMessage::new("")).unwrap(),
        json!({"role": "assistant", "content": ""})
    );
    for empty in [
        json!({}),
        json!({"role": "assistant"}),
        json!({"content": null}),
        json!({"content": []}),
    ] {
        let message = read(empty);
        assert!(message.is_empty() && message == AssistantMessage::default());
    }
}

#[test]
fn where_another_member_speaks_content_is_null() {
    for message in [
        json!({"role": "assistant", "content": null, "refusal": "no"}),
        json!({"role": "assistant", "content": null, "audio": {"id": "audio_1"}}),
        json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}),
    ] {
        assert_eq!(serde_json::to_value(read(message.clone())).unwrap(), message);
    }
}

#[test]
fn plain_messages_stay_plain() {
    let check = |blocks: Vec<Block>, expected: Value| {
        let message = AssistantMessage::from_blocks(blocks);
        assert_eq!(serde_json::to_value(&message).unwrap(), expected);
        assert_eq!(read(expected), message);
    };
    check(vec![Block::text("Hi")], json!({"role": "assistant", "content": "Hi"}));
    check(
        vec![
            Block::reasoning("Hm."),
            Block::text("Hi"),
            call("a").into(),
            call("b").into(),
        ],
        json!({"role": "assistant", "content": "Hi", "reasoning_content": "Hm.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
        ]}),
    );
    check(
        vec![Block::text("a"), Block::text("b")],
        json!({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
    );
}

#[test]
fn the_extension_member_stores_order_and_vendor_data() {
    let message = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("先想").with_vendor(vendor(json!({"signature": "s1"})))),
        Block::Text(TextBlock {
            text: "Let me see.".into(),
            vendor: Some(vendor(json!(1))),
            ..TextBlock::default()
        }),
        Block::from(call("a").with_vendor(vendor(json!({"sig": "s2"})))),
        Block::Reasoning(Reasoning {
            text: String::new(),
            vendor: Some(vendor(json!({"redacted": "xyz"}))),
        }),
        Block::Hosted(vendor(json!({"type": "web_search_call"}))),
        Block::reasoning("再想"),
        Block::text("Done."),
        call("b").into(),
    ]);
    let written = serde_json::to_value(&message).unwrap();
    assert_eq!(read(written.clone()), message);
    assert_eq!(
        serde_json::from_value::<Message>(written.clone()).unwrap(),
        Message::Assistant(message.clone())
    );
    assert_eq!(written["reasoning_content"], "先想再想");
    assert_eq!(message.text(), "Let me see.Done.");
    // Without the extension member, the message is a plain one.
    let mut plain = written.as_object().unwrap().clone();
    let extension = plain.shift_remove("agcore").unwrap();
    assert!(
        !extension.to_string().contains("Done") && !extension.to_string().contains("先想"),
        "the extension member must not repeat any text"
    );
    let expected = [
        "reasoning 先想再想",
        "text Let me see.",
        "text Done.",
        r#"call a [{"sig":"s2"}]"#,
        "call b",
    ];
    assert_eq!(blocks(&read(plain.into())), expected);
}

#[test]
fn ignores_an_order_that_does_not_match_edited_members() {
    let message = AssistantMessage::from_blocks([
        call("a").into(),
        Block::Reasoning(Reasoning::new("想").with_vendor(vendor(json!("sig")))),
        Block::text("Hi"),
        Block::reasoning("!"),
    ]);
    let written = serde_json::to_value(&message).unwrap();
    let check = |name: &str, value: Value, expected: &[&str]| {
        let mut edited = written.clone();
        edited[name] = value;
        assert_eq!(blocks(&read(edited)), expected, "{name}");
    };
    check(
        "content",
        json!("Ho"),
        &["call a", r#"reasoning 想 ["sig"]"#, "text Ho", "reasoning !"],
    );
    check("content", json!(null), &["reasoning 想!", "call a"]);
    check(
        "content",
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        &["reasoning 想!", "text a", "text b", "call a"],
    );
    check(
        "reasoning_content",
        json!("longer than before"),
        &["reasoning longer than before", "text Hi", "call a"],
    );
    check("reasoning_content", json!("想"), &["reasoning 想", "text Hi", "call a"]);
    check(
        "reasoning_content",
        json!("!想"),
        &["reasoning !想", "text Hi", "call a"],
    );
    check("tool_calls", json!([]), &["reasoning 想!", "text Hi"]);
    let huge =
        json!({"blocks": [{"reasoning": {"bytes": u64::MAX}}, {"reasoning": {"bytes": 2}}, {"content": {}}, "call"]});
    check("agcore", huge, &["reasoning 想!", "text Hi", "call a"]);
    check("agcore", json!(null), &["reasoning 想!", "text Hi", "call a"]);
}

#[test]
fn keeps_marks_and_unknown_members() {
    let mut message = AssistantMessage::new("Hi");
    message.marks = Marks::new()
        .with_cache(CacheMark::new().with_ttl("1h"))
        .with_origin(Origin::Summary);
    message.extra.insert("reasoning", "of another server");
    message.refusal = Some(String::new());
    let written = serde_json::to_value(&message).unwrap();
    assert_eq!(written["agcore"], json!({"cache": {"ttl": "1h"}, "origin": "summary"}));
    assert_eq!(written["reasoning"], "of another server");
    assert_eq!(read(written), message);
    assert_eq!(message.refusal_text(), None);
}

#[test]
fn text_with_marks_is_written_as_a_part() {
    let block = TextBlock {
        text: "Hi".into(),
        marks: Marks::new().with_cache(CacheMark::new()),
        ..TextBlock::default()
    };
    let message = AssistantMessage::from_blocks([Block::Text(block)]);
    let written = serde_json::to_value(&message).unwrap();
    assert_eq!(
        written["content"],
        json!([{"type": "text", "text": "Hi", "agcore": {"cache": {}}}])
    );
    assert_eq!(read(written), message);
}

#[test]
fn a_refusal_block_is_written_as_a_part() {
    let part = RefusalPart {
        refusal: "no".into(),
        ..RefusalPart::default()
    };
    let message = AssistantMessage::from_blocks([Block::Refusal(part)]);
    let written = serde_json::to_value(&message).unwrap();
    assert_eq!(written["content"], json!([{"type": "refusal", "refusal": "no"}]));
    assert_eq!(read(written), message);
}
