//! Names of tools that vendors do not accept: sent in their portable form, and restored in replies.

use agcore_chat::{
    AllowedMode, AllowedTool, AssistantMessage, ChatRequest, CustomTool, Message, Tool, ToolCall, ToolChoice,
    ToolDefinition, tool_name::is_portable,
};
use agcore_wire::{APIS, Chat, Close, EncodeOptions, Fold, ReplyHead, Wire, dialect, openai_chat::OpenAiChat};
use serde_json::{Value, json};

fn tool(name: &str) -> Tool {
    ToolDefinition::new(name, "", json!({"type": "object", "properties": {}})).into()
}

/// A conversation in which tools with dots and long names were called, and are offered again.
fn request() -> ChatRequest {
    let call = |id: &str, name: &str| ToolCall::function(id, name, "{}");
    let mut result = Message::tool("call_a", "ok");
    if let Message::Tool(result) = &mut result {
        result.name = Some("fs.read".into());
    }
    ChatRequest::new([
        Message::user("Hi"),
        AssistantMessage::default()
            .with_call(call("call_a", "fs.read"))
            .with_call(call("call_b", &long()))
            .into(),
        result,
        Message::tool("call_b", "ok"),
    ])
    .with_tools([tool("fs.read"), tool(&long()), tool("plain")])
}

fn long() -> String {
    format!("{}.run", "server".repeat(15))
}

fn body(wire: &dyn Wire<Chat>, request: &ChatRequest) -> Value {
    let encoded = wire.encode(request, &EncodeOptions::new("m")).unwrap();
    serde_json::from_slice(&encoded.body).unwrap()
}

/// Collects the values of all members with one of these names, except in schemas.
fn names<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "name" || name == "tool_name" => found.push(text),
                    value => names(value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_wire_sends_portable_names_everywhere() {
    for api in APIS {
        let body = body(&*api.wire(), &request());
        let mut found = Vec::new();
        names(&body, &mut found);
        assert!(found.len() >= 5, "{}: {found:?}", api.name);
        assert!(found.iter().all(|name| is_portable(name)), "{}: {found:?}", api.name);
        assert_eq!(found.iter().filter(|name| **name == "plain").count(), 1, "{}", api.name);
    }
    // With the names on results.
    let body = body(&OpenAiChat::new(dialect::mistral()), &request());
    assert_eq!(body["messages"][2]["name"], "fs_read");
}

#[test]
fn choices_and_custom_tools_have_portable_names() {
    let wire = OpenAiChat::new(dialect::openai());
    let custom = CustomTool {
        name: "db.sql".into(),
        ..CustomTool::default()
    };
    let request = request().with_tools([tool("fs.read"), Tool::from(custom)]);
    let choose = |choice| body(&wire, &request.clone().with_tool_choice(choice))["tool_choice"].clone();
    assert_eq!(
        choose(ToolChoice::Function("fs.read".into()))["function"]["name"],
        "fs_read"
    );
    assert_eq!(choose(ToolChoice::Custom("db.sql".into()))["custom"]["name"], "db_sql");
    let allowed = choose(ToolChoice::Allowed {
        mode: AllowedMode::Auto,
        tools: vec![
            AllowedTool::Function("fs.read".into()),
            AllowedTool::Custom("db.sql".into()),
        ],
    });
    let mut found = Vec::new();
    names(&allowed, &mut found);
    assert_eq!(found, ["fs_read", "db_sql"]);
    assert_eq!(body(&wire, &request)["tools"][1]["custom"]["name"], "db_sql");
}

#[test]
fn legacy_functions_have_portable_names() {
    let messages: Vec<Message> = serde_json::from_value(json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": null, "function_call": {"name": "fs.read", "arguments": "{}"}},
        {"role": "function", "name": "fs.read", "content": "ok"},
    ]))
    .unwrap();
    let body = body(&OpenAiChat::new(dialect::openai()), &ChatRequest::new(messages));
    assert_eq!(body["messages"][1]["function_call"]["name"], "fs_read");
    assert_eq!(body["messages"][2]["name"], "fs_read");
}

#[test]
fn tools_whose_names_become_the_same_are_refused() {
    for api in APIS {
        let request = ChatRequest::new([Message::user("Hi")]).with_tools([tool("fs_read"), tool("fs.read")]);
        let error = api.wire().encode(&request, &EncodeOptions::new("m")).unwrap_err();
        assert!(
            error.message().contains("`fs.read`") && error.message().contains("`fs_read`"),
            "{error}"
        );
        assert!(!error.is_unsupported(), "no other vendor takes them");
    }
}

/// Decodes a reply to the request, and returns the names of its calls.
fn called(wire: &dyn Wire<Chat>, body: &str, piece: usize) -> Vec<String> {
    let mut decoder = wire.decoder_for(&ReplyHead::default(), &request());
    let (mut deltas, mut fold) = (Vec::new(), Fold::new());
    for bytes in body.as_bytes().chunks(piece) {
        decoder.feed(bytes, &mut deltas).unwrap();
    }
    decoder.finish(Close::Clean, &mut deltas).unwrap();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    let response = fold.response();
    let message = response.message().unwrap();
    message.tool_calls().map(|call| call.name.clone()).collect()
}

#[test]
fn replies_have_the_names_of_the_request() {
    let long_portable = agcore_chat::tool_name::portable(&long()).into_owned();
    let call = |name: &str| json!({"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let calls = [call("fs_read"), call(&long_portable), call("plain"), call("other.name")];
    let whole = json!({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}).to_string();
    let wire = OpenAiChat::new(dialect::openai());
    let expected = ["fs.read".to_owned(), long(), "plain".into(), "other.name".into()];
    for piece in [1, 7, 10_000] {
        assert_eq!(called(&wire, &whole, piece), expected);
    }
}

#[test]
fn a_streamed_name_is_restored_even_in_pieces() {
    let event = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
    let call = |call: Value| event(json!({"tool_calls": [call]}));
    let end = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let wire = OpenAiChat::new(dialect::openai());
    let check = |events: &[String], expected: &[&str]| {
        let body = events.concat() + end;
        for piece in [1, 10_000] {
            assert_eq!(called(&wire, &body, piece), expected);
        }
    };
    let first = |name: &str| call(json!({"index": 0, "id": "c", "function": {"name": name}}));
    let name = |name: &str| call(json!({"index": 0, "function": {"name": name}}));
    let arguments = call(json!({"index": 0, "function": {"arguments": "{}"}}));
    check(&[first("fs_read"), arguments.clone()], &["fs.read"]);
    check(&[first("fs_"), name("read"), arguments.clone()], &["fs.read"]);
    // The beginning of the name is the whole name of another tool.
    check(&[first("fs_"), arguments.clone()], &["fs_"]);
    check(&[first("fs"), event(json!({"content": "x"}))], &["fs"]);
    check(
        &[
            first("fs"),
            call(json!({"index": 1, "id": "d", "function": {"name": "plain", "arguments": "{}"}})),
        ],
        &["fs", "plain"],
    );
}

#[test]
fn a_request_without_such_names_is_decoded_directly() {
    let wire = OpenAiChat::new(dialect::openai());
    let request = ChatRequest::new([Message::user("Hi")]).with_tools([tool("plain")]);
    let mut decoder = Wire::<Chat>::decoder_for(&wire, &ReplyHead::default(), &request);
    let (mut restored, mut plain) = (Vec::new(), Vec::new());
    let body = br#"{"choices": [{"message": {"tool_calls": [{"function": {"name": "fs_read"}}]}}]}"#;
    decoder.feed(body, &mut restored).unwrap();
    decoder.finish(Close::Clean, &mut restored).unwrap();
    let mut decoder = Wire::<Chat>::decoder(&wire, &ReplyHead::default());
    decoder.feed(body, &mut plain).unwrap();
    decoder.finish(Close::Clean, &mut plain).unwrap();
    assert_eq!(restored, plain);
}
