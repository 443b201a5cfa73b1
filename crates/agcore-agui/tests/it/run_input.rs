//! The requests of clients.

use agcore_agui::{
    InputLimits, Protocol, ResumeEntry, ResumeStatus, RunAgentInput, RunInputErrorKind, ThreadBody, ThreadMessage,
};
use agcore_chat::{Answer, ApprovalScope, ContentPart, Message, QuestionKind, ToolCall};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(value: Value) -> RunAgentInput {
    RunAgentInput::from_slice(value.to_string().as_bytes(), &InputLimits::default()).unwrap()
}

/// A request with these members in addition.
fn with(members: Value) -> Value {
    let mut input = json!({"threadId": "t", "runId": "r", "messages": []});
    for (name, value) in members.as_object().unwrap() {
        input[name] = value.clone();
    }
    input
}

#[test]
fn a_request_of_a_client_is_read() {
    let input = read(json!({
        "threadId": "t", "runId": "r", "protocolVersion": "1.0", "parentRunId": "p", "state": {"n": 1},
        "messages": [
            {"id": "1", "role": "system", "content": "Be kind"},
            {"id": "2", "role": "user", "content": [{"type": "text", "text": "Look"},
                {"type": "image", "source": {"type": "url", "value": "https://example.com/a.png"}}], "name": "Ann"},
            {"id": "3", "role": "reasoning", "content": "Hm"},
            {"id": "4", "role": "assistant", "toolCalls": [{"id": "c", "type": "function",
                "function": {"name": "weather", "arguments": "{\"city\":\"Rome\"}"}}]},
            {"id": "5", "role": "tool", "toolCallId": "c", "content": "offline", "error": "offline"},
            {"id": "6", "role": "activity", "activityType": "upload", "content": {"done": 1}},
            {"id": "7", "role": "user", "content": "And now?", "metadata": {"mine": 1}},
            {"id": "8", "role": "activity", "activityType": "upload", "content": {"done": 2}},
        ],
        "tools": [{"name": "open_page", "description": "Opens a page", "parameters": {"type": "object"}}],
        "context": [{"description": "page", "value": "home"}],
        "forwardedProps": {"agent": "helper", "none": null},
        "resume": [{"interruptId": "i", "status": "resolved", "payload": true}],
        "newMember": 7
    }));
    assert_eq!(
        (&*input.thread_id, &*input.run_id, input.parent_run_id.as_deref()),
        ("t", "r", Some("p"))
    );
    assert_eq!(
        (input.protocol(), input.state.clone()),
        (Protocol::V1, Some(json!({"n": 1})))
    );
    assert_eq!(input.newest_user_message().unwrap().id, "7");
    assert_eq!(
        input.newest_user_message().unwrap().extra["metadata"],
        json!({"mine": 1})
    );
    assert_eq!(
        (input.forwarded("agent"), input.forwarded("none")),
        (Some(&json!("helper")), None)
    );
    assert_eq!((&*input.tools[0].name, &*input.context[0].value), ("open_page", "home"));
    assert_eq!(input.resume, [ResumeEntry::resolved("i", json!(true))]);
    assert_eq!(input.extra["newMember"], 7);
    let Some(Message::Assistant(assistant)) = input.messages[3].message() else {
        panic!()
    };
    assert_eq!(assistant.tool_calls().next().unwrap().raw_input(), r#"{"city":"Rome"}"#);
    let Some(Message::Tool(tool)) = input.messages[4].message() else {
        panic!()
    };
    assert!(tool.marks.is_error);
}

#[test]
fn a_request_of_an_old_client_is_read() {
    let input = read(with(
        json!({"tools": null, "context": null, "state": null, "forwardedProps": null, "parentRunId": null}),
    ));
    assert_eq!(input.protocol(), Protocol::V0);
    assert!(input.state.is_none() && input.tools.is_empty() && input.newest_user_message().is_none());
    assert_eq!(input.extra.len(), 0);
}

#[test]
fn wrong_members_are_named() {
    let check = |value: Value, expected: &str| {
        let error = RunAgentInput::from_value(value, &InputLimits::default()).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (RunInputErrorKind::Invalid, expected)
        );
    };
    check(json!([]), "the body: an array is refused: it must be an object");
    check(json!({}), "threadId is missing; it must be a text");
    check(
        json!({"threadId": "t", "runId": null}),
        "runId is missing; it must be a text",
    );
    check(
        json!({"threadId": "", "runId": "r"}),
        "threadId: this text is refused: it must have 1 to 128 characters",
    );
    check(
        with(json!({"runId": "x".repeat(129)})),
        "runId: this text is refused: it must have 1 to 128 characters",
    );
    check(
        with(json!({"runId": "a\nb"})),
        "runId: this text is refused: it must not contain control characters",
    );
    check(
        json!({"threadId": "t", "runId": "r"}),
        "messages is missing; it must be an array",
    );
    check(
        with(json!({"messages": {}})),
        "messages: an object is refused: it must be an array",
    );
    check(
        with(json!({"messages": [1]})),
        "messages[0]: a number is refused: it must be an object",
    );
    let user = |content: Value| with(json!({"messages": [{"id": "1", "role": "user", "content": content}]}));
    check(
        user(json!(7)),
        "messages[0].content: a number is refused: it must be a text or an array of parts",
    );
    check(
        user(json!([7])),
        "messages[0].content: an array is refused: it must contain parts with a type",
    );
    check(
        user(json!(null)),
        "messages[0].content: null is refused: it must be a text or an array of parts",
    );
    check(
        with(json!({"messages": [{"id": "1", "role": "wizard"}]})),
        "messages[0].role: this text is refused: it must be user, assistant, system, developer, tool, reasoning or activity",
    );
    check(
        with(json!({"messages": [{"id": "", "role": "user", "content": ""}]})),
        "messages[0].id: this text is refused: it must have 1 to 128 characters",
    );
    check(
        with(json!({"tools": [{"name": "rm -rf", "description": ""}]})),
        "tools[0].name: this text is refused: it must have 1 to 128 letters, digits, `_`, `-`, `.` and `/`",
    );
    check(
        with(json!({"resume": [{"interruptId": "i", "status": "maybe"}]})),
        "resume[0].status: this text is refused: it must be resolved or cancelled",
    );
    check(
        with(json!({"context": [{"description": "x"}]})),
        "context[0].value is missing; it must be a text",
    );
}

#[test]
fn large_and_broken_bodies_are_refused() {
    let limits = InputLimits::new().with_max_bytes(100).with_max_messages(1);
    let kind = |body: &[u8]| RunAgentInput::from_slice(body, &limits).unwrap_err().kind();
    assert_eq!(kind(&[b' '; 101]), RunInputErrorKind::TooLarge);
    assert_eq!(kind(b"{"), RunInputErrorKind::Syntax);
    assert_eq!(kind(b"\xff\xfe"), RunInputErrorKind::Syntax);
    assert_eq!(kind("[".repeat(99).as_bytes()), RunInputErrorKind::Syntax);
    let two = br#"{"threadId":"t","runId":"r","messages":[{},{}]}"#;
    let error = RunAgentInput::from_slice(two, &limits).unwrap_err();
    assert_eq!(
        error.to_string(),
        "messages: 2 items are refused: 1 are allowed; send fewer"
    );
    assert_eq!((error.kind(), error.path()), (RunInputErrorKind::TooLarge, "messages"));
    let error = RunAgentInput::from_slice(b"{ \"secret", &limits).unwrap_err();
    assert!(!format!("{error} {:?}", std::error::Error::source(&error)).contains("secret"));
}

#[test]
fn messages_survive_the_way_to_a_client_and_back() {
    let check = |message: Message| {
        let sent = ThreadMessage::new("m", message).to_value();
        let input = read(with(json!({"messages": [sent]})));
        assert_eq!(input.messages[0].to_value(), sent);
        sent
    };
    check(Message::user("Good day"));
    check(Message::system("Be kind"));
    check(Message::tool("c", "18 degrees"));
    let mut assistant = agcore_chat::AssistantMessage::new("Let me see");
    assistant = assistant.with_call(ToolCall::function("c", "weather", "{}"));
    check(assistant.into());
    let parts = vec![
        ContentPart::text("Look"),
        ContentPart::image_url("https://example.com/a.png"),
        ContentPart::image_url("data:image/png;base64,AAAA"),
        ContentPart::input_audio("AAAA", "wav"),
        ContentPart::file_data("a.pdf", "data:application/pdf;base64,AAAA"),
        ContentPart::Other(json!({"type": "video", "source": {"type": "url", "value": "https://example.com/a.mp4"}})),
    ];
    let sent = check(Message::user(agcore_chat::Content::Parts(parts)));
    assert_eq!(sent["content"].as_array().unwrap().len(), 6);
    // What AG-UI cannot express is left out.
    let other = ContentPart::Other(json!({"type": "vendor_thing"}));
    let sent = ThreadMessage::new("m", Message::user(agcore_chat::Content::Parts(vec![other]))).to_value();
    assert_eq!(sent["content"], json!([]));
}

#[test]
fn parts_of_old_clients_are_read() {
    let part = |part: Value| {
        let input = read(with(
            json!({"messages": [{"id": "1", "role": "user", "content": [part]}]}),
        ));
        let Some(Message::User(user)) = input.messages[0].message() else {
            panic!()
        };
        user.content.clone().into_parts().remove(0)
    };
    let binary = |members: Value| {
        let mut value = json!({"type": "binary", "mimeType": "application/pdf"});
        for (name, member) in members.as_object().unwrap() {
            value[name] = member.clone();
        }
        value
    };
    let image = json!({"mimeType": "image/png", "data": "AAAA"});
    assert_eq!(
        part(binary(image)),
        ContentPart::image_url("data:image/png;base64,AAAA")
    );
    let audio = json!({"mimeType": "audio/mpeg", "data": "AAAA"});
    assert_eq!(part(binary(audio)), ContentPart::input_audio("AAAA", "mp3"));
    let file = json!({"data": "AAAA", "filename": "a.pdf"});
    assert_eq!(
        part(binary(file)),
        ContentPart::file_data("a.pdf", "data:application/pdf;base64,AAAA")
    );
    assert_eq!(part(binary(json!({"id": "file_1"}))), ContentPart::file_id("file_1"));
    let unknown = binary(json!({"url": "https://example.com/a.pdf"}));
    assert_eq!(part(unknown.clone()), ContentPart::Other(unknown));
}

#[test]
fn nothing_is_approved_without_a_yes() {
    let answer = |payload: Value, kind| ResumeEntry::resolved("i", payload).to_answer(kind);
    let approval = |payload| answer(payload, QuestionKind::Approval);
    assert_eq!(approval(json!(true)).unwrap(), Answer::approve());
    assert_eq!(
        approval(json!({"approved": true, "scope": null})).unwrap(),
        Answer::approve()
    );
    assert_eq!(
        approval(json!({"approved": true, "scope": "session", "editedArgs": {"a": 1}})).unwrap(),
        Answer::edited(json!({"a": 1}).as_object().unwrap().clone()).with_scope(ApprovalScope::Session)
    );
    assert_eq!(
        approval(json!({"approved": false, "message": "no"})).unwrap(),
        Answer::deny("no")
    );
    assert!(matches!(approval(json!(false)).unwrap(), Answer::Deny { .. }));
    for wrong in [
        json!("yes"),
        json!(1),
        json!({}),
        json!({"approved": "true"}),
        json!({"approved": null}),
        json!([true]),
        json!({"approved": true, "scope": "forever"}),
        json!({"approved": true, "scope": 1}),
        json!({"approved": true, "arguments": "x"}),
    ] {
        let error = approval(wrong.clone()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the answer to the interrupt \"i\" is refused: it must have"),
            "{wrong}"
        );
    }
    let cancelled = ResumeEntry::cancelled("i");
    assert_eq!(cancelled.status, ResumeStatus::Cancelled);
    for kind in [QuestionKind::Approval, QuestionKind::Input, QuestionKind::Uncertain] {
        assert!(matches!(cancelled.to_answer(kind).unwrap(), Answer::Deny { .. }));
    }
    assert_eq!(
        answer(json!("Ann"), QuestionKind::Input).unwrap(),
        Answer::Value(json!("Ann"))
    );
    let empty = read(with(json!({"resume": [{"interruptId": "i", "status": "resolved"}]})));
    assert!(empty.resume[0].to_answer(QuestionKind::Input).is_err());
    assert!(empty.resume[0].to_answer(QuestionKind::Approval).is_err());
}

#[test]
fn bodies_for_display_are_no_messages() {
    let input = read(with(
        json!({"messages": [{"id": "1", "role": "reasoning", "content": "Hm"}]}),
    ));
    assert_eq!(input.messages[0].body, ThreadBody::Reasoning("Hm".to_owned()));
    assert!(input.messages[0].message().is_none());
}

proptest! {
    #[test]
    fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = RunAgentInput::from_slice(&body, &InputLimits::default());
    }

    #[test]
    fn broken_requests_do_not_panic(at in 0..400_usize, byte in any::<u8>()) {
        let mut body = with(json!({
            "messages": [{"id": "1", "role": "assistant", "toolCalls": [{"id": "c", "function": {"name": "n"}}]}],
            "tools": [{"name": "n", "parameters": {}}], "resume": [{"interruptId": "i", "status": "resolved", "payload": {}}],
        })).to_string().into_bytes();
        let index = at % body.len();
        body[index] = byte;
        let _ = RunAgentInput::from_slice(&body, &InputLimits::default());
    }
}
