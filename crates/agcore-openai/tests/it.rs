//! Requests and answers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

use agcore_chat::{Content, Message, Origin};
use agcore_openai::{
    ApiError, CallId, ChatAnswer, ChatCompletionRequest, ChatStream, Ending, ReplyEvent, RequestLimits, ResponseFacts,
    ResponseId, ResponseStream, ResponsesRequest, RunReader,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn chat(body: &Value) -> Result<ChatCompletionRequest, ApiError> {
    ChatCompletionRequest::from_slice(body.to_string().as_bytes(), &RequestLimits::new())
}

fn responses(body: &Value) -> Result<ResponsesRequest, ApiError> {
    ResponsesRequest::from_slice(body.to_string().as_bytes(), &RequestLimits::new())
}

fn start(id: &str) -> ReplyEvent {
    ReplyEvent::TextStart {
        id: id.to_owned(),
        is_refusal: false,
    }
}

fn delta(id: &str, delta: &str) -> ReplyEvent {
    ReplyEvent::Text {
        id: id.to_owned(),
        delta: delta.to_owned(),
    }
}

fn end(id: &str, is_discarded: bool) -> ReplyEvent {
    ReplyEvent::TextEnd {
        id: id.to_owned(),
        is_discarded,
    }
}

/// Returns the text of the chunks, and that of the whole answer.
fn texts(events: &[ReplyEvent]) -> (String, Value) {
    let (mut stream, mut answer) = (ChatStream::new("id", "ada", "t"), ChatAnswer::new("id", "ada", "t"));
    let mut text = String::new();
    for event in events {
        answer.push(event);
        for frame in stream
            .push(event)
            .split("\n\n")
            .filter_map(|frame| frame.strip_prefix("data: "))
        {
            let chunk: Value = serde_json::from_str(frame).unwrap();
            text.push_str(chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
        }
    }
    (text, answer.to_value()["choices"][0]["message"]["content"].clone())
}

#[test]
fn several_texts_are_paragraphs() {
    let events = [
        start("a"),
        delta("a", "Let me "),
        delta("a", "look."),
        end("a", false),
        start("b"),
        delta("b", "Done."),
        end("b", false),
    ];
    let (streamed, whole) = texts(&events);
    assert_eq!(
        (streamed.as_str(), &whole),
        ("Let me look.\n\nDone.", &json!("Let me look.\n\nDone."))
    );
}

#[test]
fn a_replaced_text_is_continued_if_the_new_one_repeats_it() {
    let cut = [start("a"), delta("a", "Good "), end("a", true), start("b")];
    let with = |rest: &[&str]| {
        let mut events = cut.to_vec();
        events.extend(rest.iter().map(|part| delta("b", part)));
        events.push(end("b", false));
        texts(&events)
    };
    assert_eq!(with(&["Go", "od day"]), ("Good day".to_owned(), json!("Good day")));
    assert_eq!(with(&["Good day"]), ("Good day".to_owned(), json!("Good day")));
    // What was sent cannot be taken back.
    assert_eq!(with(&["Go", "ne."]), ("Good \n\nGone.".to_owned(), json!("Gone.")));
}

#[test]
fn a_discarded_text_leaves_no_text_in_a_response() {
    let mut stream = ResponseStream::new(ResponseFacts::new(ResponseId::new("t", "r"), "ada"));
    for event in [
        start("a"),
        delta("a", "Bad"),
        end("a", true),
        start("b"),
        delta("b", "Good"),
        end("b", false),
    ] {
        stream.push(&event);
    }
    let output = &stream.response()["output"];
    assert_eq!(
        (&output[0]["status"], &output[0]["content"]),
        (&json!("incomplete"), &json!([]))
    );
    assert_eq!(output[1]["content"][0]["text"], "Good");
}

#[test]
fn instructions_of_a_client_become_context_of_the_user() {
    let messages = json!([
        {"role": "system", "content": [{"type": "text", "text": "Obey."}]},
        {"role": "developer", "content": "Always."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Now"},
    ]);
    let request = chat(&json!({"model": "ada", "messages": messages})).unwrap();
    let [Message::User(first), Message::Assistant(_)] = &request.conversation.history[..] else {
        panic!()
    };
    assert_eq!(first.content.own_text(), "Hello");
    let Content::Parts(parts) = &first.content else {
        panic!()
    };
    assert_eq!(parts[0].marks().unwrap().origin, Some(Origin::Context));
    assert!(parts[0].as_text().unwrap().contains("Obey.\n\nAlways."));
    let request = responses(&json!({"model": "ada", "input": "Hello", "instructions": "Obey."})).unwrap();
    let Ending::Message(message) = request.conversation.end else {
        panic!()
    };
    assert!(message.text().contains("Obey.") && message.own_text() == "Hello");
}

#[test]
fn a_replaced_text_may_break_off_while_it_repeats() {
    let events = [
        start("a"),
        delta("a", "Good "),
        end("a", true),
        start("b"),
        delta("b", "Go"),
        end("b", true),
        start("c"),
        delta("c", "Good day"),
        end("c", false),
    ];
    assert_eq!(texts(&events), ("Good day".to_owned(), json!("Good day")));
}

#[test]
fn a_cancelled_run_does_not_look_complete() {
    let mut encoder = agcore_agui::Encoder::new("t", "r");
    let mut log = encoder.push(agcore_agui::Run::started().into()).unwrap();
    log.extend(encoder.push(agcore_agui::Run::cancelled().into()).unwrap());
    let (mut reader, mut stream) = (RunReader::new(), ChatStream::new("id", "ada", "t"));
    let parts = log.iter().flat_map(|event| reader.push(event));
    let frames: String = parts.map(|part| stream.push(&part)).collect();
    assert!(frames.contains(r#""code":"run_canceled""#), "{frames}");
    assert!(
        !frames.contains("[DONE]") && !frames.contains(r#""finish_reason":"stop""#),
        "{frames}"
    );
}

#[test]
fn conversations_that_clients_leave_open_are_settled() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "pay", "arguments": "{}"}});
    let messages = json!([
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": "paid"},
        {"role": "user", "content": "Stop."},
        {"role": "user", "content": [{"type": "text", "text": "Now."}]},
    ]);
    let request = chat(&json!({"model": "ada", "messages": messages})).unwrap();
    let [_, _, Message::Tool(paid), Message::Tool(missing)] = &request.conversation.history[..] else {
        panic!("{:?}", request.conversation.history)
    };
    assert_eq!((&*paid.tool_call_id, &*missing.tool_call_id), ("c2", "c1"));
    assert!(missing.content.text().contains("not run") && missing.marks.is_error && !paid.marks.is_error);
    let Ending::Message(message) = request.conversation.end else {
        panic!()
    };
    assert_eq!(message.text(), "Stop.\n\nNow.");
}

#[test]
fn earlier_calls_have_short_ids() {
    let id = |thread: &str| CallId::new(thread, "c1").encode();
    let round = |id: &str| {
        let call = json!({"id": id, "type": "function", "function": {"name": "pay", "arguments": "{}"}});
        [
            json!({"role": "user", "content": "Pay."}),
            json!({"role": "assistant", "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": "paid"}),
            json!({"role": "assistant", "content": "Paid."}),
        ]
    };
    let rounds = [id("t1"), id("t2"), "c1_2".to_owned()];
    let mut messages: Vec<Value> = rounds.iter().flat_map(|id| round(id)).collect();
    messages.push(json!({"role": "user", "content": "Thanks."}));
    let request = chat(&json!({"model": "ada", "messages": messages})).unwrap();
    let mut ids = Vec::new();
    for message in &request.conversation.history {
        match message {
            Message::Assistant(reply) => ids.extend(reply.tool_calls().map(|call| call.id.clone())),
            Message::Tool(result) => ids.push(result.tool_call_id.clone()),
            _ => {}
        }
    }
    assert_eq!(ids, ["c1", "c1", "c1_3", "c1_3", "c1_2", "c1_2"]);
    // The results at the end name the thread.
    let results = chat(&json!({"model": "ada", "messages": round(&id("t1"))[..3]})).unwrap();
    let Ending::Results(results) = results.conversation.end else {
        panic!()
    };
    assert_eq!(results[0].tool_call_id, id("t1"));
}

#[test]
fn limits_hold() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let limits = RequestLimits::new().with_max_bytes(200).with_max_messages(2);
    let read = |body: Value| ChatCompletionRequest::from_slice(body.to_string().as_bytes(), &limits).map(drop);
    let many = read(json!({"model": "ada", "messages": [user("a"), user("b"), user("c")]})).unwrap_err();
    assert_eq!((many.status(), many.param()), (413, Some("messages")));
    let long = read(json!({"model": "ada", "messages": [user(&"x".repeat(300))]})).unwrap_err();
    assert_eq!((long.status(), long.param()), (413, None));
    let system = json!({"role": "system", "content": "x".repeat(40_000)});
    let long = chat(&json!({"model": "ada", "messages": [system, system, user("Hello")]})).unwrap_err();
    assert_eq!((long.status(), long.param()), (413, Some("messages[1].content")));
    let metadata = |name: &str| chat(&json!({"model": "ada", "messages": [user("a")], "metadata": {name: "x"}})).err();
    assert_eq!(metadata(&"x".repeat(64)), None);
    assert_eq!(metadata(&"x".repeat(65)).unwrap().param(), Some("metadata"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "user",
        "assistant",
        "tool",
        "system",
        "text",
        "function",
        "message",
        "function_call",
        "function_call_output",
        "ada",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let names = [
        "model",
        "messages",
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "tool_call_id",
        "tools",
        "input",
        "call_id",
        "output",
        "stream",
        "stream_options",
        "metadata",
        "image_url",
        "url",
        "previous_response_id",
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        let name = proptest::sample::select(names.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..8).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_panics(body in any_json(), bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for error in [chat(&body).err(), responses(&body).err()].into_iter().flatten() {
            prop_assert!(!error.to_string().is_empty() && (400..500).contains(&error.status()));
        }
        prop_assert!(ChatCompletionRequest::from_slice(&bytes, &RequestLimits::new()).is_err());
    }
}
