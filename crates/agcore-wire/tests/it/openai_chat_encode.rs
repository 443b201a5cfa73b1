//! Encoding of requests that does not depend on the dialect.

use agcore_chat::{AssistantMessage, ChatRequest, Marks, Message, Origin, StreamOptions, ToolCall, UserMessage};
use agcore_wire::{
    Chat, EncodeOptions, LlmError, LlmErrorKind, Wire, WireRequest,
    dialect::{self, InstructionRole, TokenLimit},
    openai_chat::OpenAiChat,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn encode(request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
    Wire::<Chat>::encode(&OpenAiChat::new(dialect::openai()), request, options)
}

fn body(request: &ChatRequest) -> Value {
    serde_json::from_slice(&encode(request, &EncodeOptions::new("m")).unwrap().body).unwrap()
}

fn hi() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn set(mut request: ChatRequest, set: impl FnOnce(&mut ChatRequest)) -> ChatRequest {
    set(&mut request);
    request
}

fn refused(request: &ChatRequest, expected: &str) {
    let error = encode(request, &EncodeOptions::new("m")).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(expected), "{:?}", error.message());
}

#[test]
fn a_request_is_a_post_of_json_to_the_path() {
    let wire = encode(&hi(), &EncodeOptions::new("m")).unwrap();
    assert_eq!(
        (wire.method.as_str(), wire.path.as_str()),
        ("POST", "/chat/completions")
    );
    assert_eq!(wire.headers["content-type"], "application/json");
    assert_eq!(
        wire.body,
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#
    );
    let older = OpenAiChat::new(dialect::azure()).with_query("api-version=2024-10-21");
    let wire = Wire::<Chat>::encode(&older, &hi(), &EncodeOptions::new("m")).unwrap();
    assert_eq!(wire.path, "/chat/completions?api-version=2024-10-21");
}

#[test]
fn the_model_of_the_request_overrides_the_default() {
    assert_eq!(body(&hi().with_model("other"))["model"], "other");
    let error = encode(&hi(), &EncodeOptions::new("")).unwrap_err();
    assert!(error.message().contains("no model is set"));
}

#[test]
fn streams_request_usage() {
    let options = EncodeOptions::new("m").with_stream(true);
    let body =
        |request: &ChatRequest| -> Value { serde_json::from_slice(&encode(request, &options).unwrap().body).unwrap() };
    assert_eq!(body(&hi())["stream_options"], json!({"include_usage": true}));
    let without_usage = StreamOptions {
        include_usage: Some(false),
        ..StreamOptions::default()
    };
    let request = set(hi(), |request| request.stream_options = Some(without_usage));
    assert_eq!(body(&request)["stream_options"], json!({"include_usage": false}));
    let whole = encode(&request, &EncodeOptions::new("m")).unwrap();
    assert!(
        !std::str::from_utf8(&whole.body).unwrap().contains("stream"),
        "OpenAI rejects the options without a stream"
    );
}

#[test]
fn marks_are_not_sent() {
    let marks = Marks::new().with_origin(Origin::Summary);
    let user = UserMessage {
        content: "Hi".into(),
        marks: marks.clone(),
        ..UserMessage::default()
    };
    let mut reply = AssistantMessage::new("Yes").with_call(ToolCall::function("c", "f", "{}"));
    reply.marks = marks;
    let request = ChatRequest::new([user.into(), Message::from(reply), Message::tool("c", "ok")]);
    let bytes = encode(&request, &EncodeOptions::new("m")).unwrap().body;
    assert!(!std::str::from_utf8(&bytes).unwrap().contains("agcore"));
}

#[test]
fn merges_extra_members_and_refuses_clashes() {
    assert_eq!(body(&hi().with_extra_body("top_k", 5))["top_k"], 5);
    refused(&hi().with_extra_body("temperature", 1), "`temperature`");
}

#[test]
fn sends_extra_headers() {
    let request = hi().with_extra_header("X-A", "1").with_extra_header("x-a", "2");
    let wire = encode(&request, &EncodeOptions::new("m")).unwrap();
    assert_eq!(wire.headers.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert!(!std::str::from_utf8(&wire.body).unwrap().contains("x-a"));
    refused(&hi().with_extra_header("a b", "1"), "`a b`");
    refused(&hi().with_extra_header("x", "a\nb"), "the value of `x`");
    refused(&hi().with_extra_header("Host", "h"), "`host`");
}

#[test]
fn the_token_limit_has_one_name() {
    let limit = |max_tokens, max_completion_tokens| {
        set(hi(), |request| {
            (request.max_tokens, request.max_completion_tokens) = (max_tokens, max_completion_tokens);
        })
    };
    assert_eq!(
        body(&limit(Some(5), None)),
        json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 5})
    );
    assert_eq!(body(&limit(Some(5), Some(5)))["max_completion_tokens"], 5);
    refused(&limit(Some(5), Some(6)), "differ");
}

#[test]
fn a_dialect_can_be_changed_for_one_model() {
    let mut changed = dialect::openai();
    (changed.instructions, changed.token_limit) = (InstructionRole::User, TokenLimit::MaxTokens);
    let request = ChatRequest::new([Message::system("Be brief.")]).with_max_tokens(9);
    let wire = Wire::<Chat>::encode(&OpenAiChat::new(changed), &request, &EncodeOptions::new("o1-mini")).unwrap();
    assert_eq!(
        wire.body,
        r#"{"model":"o1-mini","messages":[{"role":"user","content":"Be brief."}],"max_tokens":9}"#
    );
}

#[test]
fn a_call_without_a_name_gets_one() {
    let message = AssistantMessage::default().with_call(ToolCall::function("c", "", "{}"));
    let request = ChatRequest::new([
        Message::user("Hi"),
        message.into(),
        Message::tool("c", "There is no such tool."),
    ]);
    let call = body(&request)["messages"][1]["tool_calls"][0].clone();
    assert_eq!(
        call,
        json!({"id": "c", "type": "function", "function": {"name": "unknown_tool", "arguments": "{}"}})
    );
}

#[test]
fn empty_lists_are_never_sent() {
    let request = ChatRequest::new([Message::user("Hi"), Message::assistant("Hello"), "Bye".into()]);
    let text = String::from_utf8(encode(&request, &EncodeOptions::new("m")).unwrap().body.to_vec()).unwrap();
    assert!(!text.contains("tool"), "{text}");
}

proptest! {
    /// The same request always gives the same bytes, and a longer conversation begins with the bytes of the shorter one, so
    /// that prompt caches work.
    #[test]
    fn requests_are_byte_stable(texts in prop::collection::vec("\\PC{0,20}", 1..6), more in "\\PC{0,20}") {
        let messages: Vec<Message> = texts.into_iter().map(Message::from).collect();
        let request = ChatRequest::new(messages.clone());
        let bytes = |request: &ChatRequest| encode(request, &EncodeOptions::new("m")).unwrap().body;
        prop_assert_eq!(bytes(&request), bytes(&request.clone()));
        let longer = ChatRequest::new(messages.into_iter().chain([more.into()]));
        let shorter = bytes(&request);
        let shared = shorter.strip_suffix(b"]}").unwrap();
        prop_assert!(bytes(&longer).starts_with(shared));
    }
}
