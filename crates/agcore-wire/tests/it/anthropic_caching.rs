//! Cache marks that the wire of the Anthropic Messages API places by itself.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, Block, CacheMark, ChatRequest, ContentPart, Marks, Message, Reasoning, TextPart, Tool, ToolCall,
    ToolChoice, ToolDefinition, UserMessage, VendorData,
};
use agcore_wire::{Chat, EncodeOptions, Wire, anthropic::Anthropic};
use serde_json::{Value, json};

fn bytes_with(wire: &Anthropic, request: &ChatRequest) -> String {
    let encoded = Wire::<Chat>::encode(wire, request, &EncodeOptions::new("claude-sonnet-5")).unwrap();
    String::from_utf8(encoded.body.to_vec()).unwrap()
}

/// Returns the places of all marks in a body, as JSON pointers.
fn marks(request: &ChatRequest) -> Vec<String> {
    let body: Value = serde_json::from_str(&bytes_with(&Anthropic::new(), request)).unwrap();
    let mut found = Vec::new();
    collect(&body, "", &mut found);
    found
}

fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.contains_key("cache_control") {
                found.push(path.to_owned());
            }
            members
                .iter()
                .for_each(|(name, value)| collect(value, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, value)| collect(value, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "A tool.", json!({"type": "object", "properties": {}}))
}

fn tools(tools: impl IntoIterator<Item = Tool>) -> Arc<[Tool]> {
    tools.into_iter().collect()
}

fn call(number: usize) -> AssistantMessage {
    AssistantMessage::from_blocks([Block::from(ToolCall::function(format!("c{number}"), "look", "{}"))])
}

/// Returns the request of a tool loop before its reply in the round with this number, from 0.
fn round(number: usize) -> ChatRequest {
    let mut messages = vec![Message::system("Be brief."), Message::user("Look around.")];
    for at in 0..number {
        messages.push(call(at).into());
        messages.push(Message::tool(format!("c{at}"), format!("Result {at}.")));
    }
    ChatRequest::new(messages).with_tools(tools([tool("walk").into(), tool("look").into()]))
}

#[test]
fn marks_tools_instructions_and_both_ends_of_the_conversation() {
    assert_eq!(
        marks(&round(0)),
        ["/system/0", "/tools/1", "/messages/0/content/0"],
        "there was no previous request"
    );
    assert_eq!(
        marks(&round(1)),
        [
            "/system/0",
            "/tools/1",
            "/messages/0/content/0",
            "/messages/2/content/0"
        ]
    );
    assert_eq!(
        marks(&round(9)),
        [
            "/system/0",
            "/tools/1",
            "/messages/16/content/0",
            "/messages/18/content/0"
        ]
    );
}

#[test]
fn moving_a_mark_changes_nothing_else() {
    let without_marks = |body: &str| body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let plain = Anthropic::new().with_automatic_caching(false);
    for number in 0..20 {
        let marked = bytes_with(&Anthropic::new(), &round(number));
        assert_eq!(without_marks(&marked), bytes_with(&plain, &round(number)));
        let longer = without_marks(&bytes_with(&Anthropic::new(), &round(number + 1)));
        assert!(longer.starts_with(without_marks(&marked).strip_suffix("]}").unwrap()));
    }
}

#[test]
fn a_request_that_is_unlikely_to_be_continued_is_not_marked() {
    let hi = || ChatRequest::new([Message::system("Be brief."), Message::user("Hi")]);
    let with_tool = || hi().with_tools(tools([tool("look").into()]));
    assert!(marks(&hi()).is_empty());
    for choice in [ToolChoice::None, ToolChoice::Function("look".into())] {
        assert!(marks(&with_tool().with_tool_choice(choice)).is_empty());
    }
    for choice in [ToolChoice::Auto, ToolChoice::Required] {
        assert_eq!(marks(&with_tool().with_tool_choice(choice)).len(), 3);
    }
    assert_eq!(marks(&round(2).with_tool_choice(ToolChoice::None)).len(), 4);
}

#[test]
fn marks_of_the_application_are_the_only_ones() {
    let check = |change: fn(&mut ChatRequest), expected: &[&str]| {
        let mut request = round(1);
        change(&mut request);
        assert_eq!(marks(&request), expected);
    };
    check(
        |request| {
            request.messages[1] = Arc::new(Message::from(UserMessage {
                content: "Look around.".into(),
                marks: Marks::new().with_cache(CacheMark::new()),
                ..UserMessage::default()
            }));
        },
        &["/messages/0/content/0"],
    );
    check(
        |request| request.extra_body = [("cache_control", json!({"type": "ephemeral"}))].into_iter().collect(),
        &[""],
    );
    check(
        |request| {
            let mut raw = tool("look");
            raw.outer.insert("cache_control", json!({"type": "ephemeral"}));
            request.tools = tools([raw.into()]);
        },
        &["/tools/0"],
    );
    check(
        |request| {
            let mut part = TextPart {
                text: "Look around.".into(),
                ..TextPart::default()
            };
            part.extra.insert("cache_control", json!({"type": "ephemeral"}));
            request.messages[1] = Arc::new(Message::user(vec![ContentPart::Text(part)]));
        },
        &["/messages/0/content/0"],
    );
    check(
        |request| {
            let mut call = ToolCall::function("c0", "look", "{}");
            call.extra
                .insert("cache_control", json!({"type": "ephemeral", "ttl": "1h"}));
            request.messages[2] = Arc::new(AssistantMessage::from_blocks([Block::from(call)]).into());
        },
        &["/messages/1/content/0"],
    );
}

#[test]
fn marks_only_what_the_api_allows() {
    let mut deferred = tool("rare");
    deferred.outer.insert("defer_loading", true);
    let search = Tool::Hosted(json!({"type": "web_search_20250305", "name": "web_search"}));
    let data = VendorData::new("anthropic", json!({"signature": "s"}));
    let thought = Reasoning::new("Hm.").with_vendor(data);
    let reply = AssistantMessage::from_blocks([
        Block::Reasoning(thought),
        Block::Hosted(VendorData::new(
            "anthropic",
            json!({"type": "server_tool_use", "id": "s1"}),
        )),
    ]);
    let raw = ContentPart::Other(json!({"type": "container_upload", "file_id": "f"}));
    let request = ChatRequest::new([
        Message::user("Hi"),
        reply.into(),
        Message::user(vec![ContentPart::text("Go on."), ContentPart::text(" "), raw]),
    ])
    .with_tools(tools([tool("look").into(), deferred.into(), search]));
    assert_eq!(
        marks(&request),
        ["/tools/0", "/messages/0/content/0", "/messages/2/content/0"]
    );
}
