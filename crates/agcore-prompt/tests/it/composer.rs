//! The composer: every role, every kind of content, and what `build` refuses.

use std::error::Error;

use agcore_chat::{AssistantMessage, Role, SequenceErrorKind};
use agcore_prompt::{
    Content, ContentPart, Message, PromptComposer, PromptError, PromptErrorKind, PromptTemplate, SequenceError,
    ToolCall, Value, validate_messages,
};
use serde_json::{Value as Json, json};

/// The composer builds messages of this JSON.
#[track_caller]
fn check(composer: PromptComposer, expected: Json) {
    let messages = composer.build().unwrap();
    assert_eq!(serde_json::to_value(&messages).unwrap(), expected);
    validate_messages(&messages).unwrap();
}

#[track_caller]
fn check_fault(composer: PromptComposer, kind: &PromptErrorKind, message: &str) -> PromptError {
    let error = composer.clone().build().unwrap_err();
    assert_eq!(error.kind(), kind);
    assert_eq!(error.to_string(), message);
    assert_eq!(composer.build_request("m").unwrap_err().to_string(), message);
    error
}

#[test]
fn text_of_every_role() {
    let composer = PromptComposer::new()
        .system("s")
        .developer(String::from("d"))
        .user("u")
        .assistant_with_calls(
            "",
            [
                ToolCall::function("1", "clock", "{}"),
                ToolCall::function("2", "clock", "{}"),
            ],
        )
        .tool("2", "noon")
        .tool("1", "one")
        .assistant("a");
    check(
        composer,
        json!([
            {"role": "system", "content": "s"},
            {"role": "developer", "content": "d"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
                {"id": "2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "2", "content": "noon"},
            {"role": "tool", "tool_call_id": "1", "content": "one"},
            {"role": "assistant", "content": "a"},
        ]),
    );
}

#[test]
fn parts_of_every_role() {
    let one = || ContentPart::text("one");
    let two = || {
        vec![
            ContentPart::text("two"),
            ContentPart::image_url("https://example.com/x.png"),
        ]
    };
    let composer = PromptComposer::new()
        .system(one())
        .developer(two())
        .user(one())
        .assistant(two())
        .user(two());
    let two = json!([{"type": "text", "text": "two"}, {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}]);
    let one = json!([{"type": "text", "text": "one"}]);
    let messages = composer.build().unwrap();
    let contents: Vec<Json> = messages
        .iter()
        .map(|message| serde_json::to_value(message).unwrap()["content"].clone())
        .collect();
    assert_eq!(contents, [one.clone(), two.clone(), one, two.clone(), two]);
}

#[test]
fn an_assistant_says_what_its_parts_say() {
    let raw = json!({"type": "video", "video": 1});
    let parts: Vec<ContentPart> =
        serde_json::from_value(json!([{"type": "text", "text": "a"}, raw, {"type": "refusal", "refusal": "no"}]))
            .unwrap();
    let messages = PromptComposer::new().assistant(parts.clone()).build().unwrap();
    assert_eq!(messages[0].text(), "a");
    assert_eq!(messages[0].as_assistant().unwrap().refusal_text(), Some("no"));
    assert_eq!(
        serde_json::to_value(&messages[0]).unwrap()["content"],
        serde_json::to_value(&parts).unwrap()
    );
}

#[test]
fn templates_of_every_role() {
    let template = PromptTemplate::compile("<{{x}}>").unwrap();
    let value = Value::from_serialize(&json!({"x": 5})).unwrap();
    let composer = PromptComposer::new()
        .system_template(&template, &json!({"x": 1}))
        .developer_template(
            &template,
            &[("x", 2)].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        )
        .user_template(&template, &json!({"x": 3}))
        .assistant_with_calls("calls", [ToolCall::function("id", "f", "")])
        .tool_template("id", &template, &json!({"x": 4}))
        .assistant_template(&template, &value);
    let texts: Vec<String> = composer
        .build()
        .unwrap()
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(texts, ["<1>", "<2>", "<3>", "calls", "<4>", "<5>"]);
}

#[test]
fn names_are_for_the_last_message() {
    let composer = PromptComposer::new()
        .system("s")
        .with_name("a")
        .developer("d")
        .with_name("b")
        .user("u")
        .with_name("c")
        .with_name("d");
    let composer = composer.assistant("x").with_name("e");
    let names: Vec<Json> = composer
        .build()
        .unwrap()
        .iter()
        .map(|message| serde_json::to_value(message).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b", "d", "e"]);
}

#[test]
fn a_message_without_a_name_refuses_one() {
    let call = || {
        PromptComposer::new()
            .assistant_with_calls("", [ToolCall::function("1", "f", "{}")])
            .tool("1", "x")
            .with_name("n")
    };
    let kind = PromptErrorKind::NoName { role: Some(Role::Tool) };
    check_fault(
        call(),
        &kind,
        "a tool message has no participant to name; call with_name after another message",
    );
    check_fault(
        call().assistant("later"),
        &kind,
        "a tool message has no participant to name; call with_name after another message",
    );
    let kind = PromptErrorKind::NoName { role: None };
    check_fault(
        PromptComposer::new().with_name("n").user("u"),
        &kind,
        "there is no message to name; call with_name after a message",
    );
}

#[test]
fn the_first_fault_of_the_chain_is_told() {
    let template = PromptTemplate::compile("{{missing}}").unwrap();
    let composer = PromptComposer::new()
        .user_template(&template, &json!({}))
        .with_name("n")
        .assistant("a")
        .tool("x", "y")
        .with_name("n");
    let kind = PromptErrorKind::VariableNotFound {
        path: "missing".into(),
        near: vec![],
    };
    check_fault(
        composer,
        &kind,
        "line 1, column 3: variable `missing` has no value in the context (near `{{missing}}`)",
    );
}

#[test]
fn messages_that_may_not_be_sent_are_refused() {
    let sequence = |index| PromptErrorKind::InvalidSequence { index };
    let text = |index| format!("the messages cannot be sent in this order: message {index} is out of place");
    let cause = |error: PromptError| {
        error
            .source()
            .unwrap()
            .downcast_ref::<SequenceError>()
            .unwrap()
            .kind
            .clone()
    };

    let error = check_fault(PromptComposer::new(), &sequence(0), &text(0));
    assert_eq!(cause(error), SequenceErrorKind::Empty);
    let error = check_fault(
        PromptComposer::new().system("s").user("a").user("b"),
        &sequence(2),
        &text(2),
    );
    assert_eq!(cause(error), SequenceErrorKind::Repeated(Role::User));
    let error = check_fault(PromptComposer::new().user("a").tool("x", "y"), &sequence(1), &text(1));
    assert_eq!(cause(error), SequenceErrorKind::UnknownCall("x".into()));
    let open = PromptComposer::new().assistant_with_calls("", [ToolCall::function("1", "f", "{}")]);
    assert_eq!(
        cause(check_fault(open, &sequence(0), &text(0))),
        SequenceErrorKind::Unanswered("1".into())
    );
}

#[test]
fn a_composer_goes_on_from_existing_messages() {
    let history = vec![Message::user("q"), Message::assistant("a")];
    let composer = PromptComposer::from_messages(history.clone())
        .user("q2")
        .messages([AssistantMessage::new("a2")])
        .message("q3");
    let messages = composer.build().unwrap();
    assert_eq!(messages[..2], history);
    assert_eq!(
        messages.iter().map(Message::role).collect::<Vec<_>>(),
        [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]
    );
}

#[test]
fn a_request_is_built_for_a_model() {
    let request = PromptComposer::new()
        .system(Content::default())
        .user("hi")
        .build_request("gpt-5")
        .unwrap();
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({"model": "gpt-5", "messages": [{"role": "system", "content": ""}, {"role": "user", "content": "hi"}]})
    );
}

#[test]
fn errors_have_a_face_as_data() {
    let check = |error: PromptError, kind: &str| {
        let fault = serde_json::to_value(error.fault()).unwrap();
        assert_eq!(fault["kind"], kind);
        assert_eq!(fault["message"], error.to_string());
        assert_eq!(fault["retryable"], false);
    };
    check(PromptTemplate::compile("{{").unwrap_err(), "invalid_request");
    check(PromptComposer::new().build().unwrap_err(), "invalid_request");
    check(
        agcore_prompt::PromptTemplateRegistry::new().get("x").unwrap_err(),
        "not_found",
    );
    check(PromptTemplate::compile("{{#if x}}".repeat(17)).unwrap_err(), "limit");
    check(
        agcore_prompt::PromptTemplateRegistry::new()
            .load_folder("/nonexistent", "x")
            .unwrap_err(),
        "storage",
    );
}
