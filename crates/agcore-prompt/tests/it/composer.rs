//! The composer: every role, every kind of content, and the errors of `build`.

use std::error::Error;

use agcore_chat::{AssistantMessage, Role, SequenceErrorKind};
use agcore_prompt::{
    Content, ContentPart, Message, PromptComposer, PromptError, PromptErrorKind, PromptTemplate, SequenceError,
    ToolCall, Value, validate_messages,
};
use serde_json::{Value as Json, json};

/// Checks the JSON of the messages that the composer builds.
#[track_caller]
fn check(composer: PromptComposer, expected: Json) {
    let messages = composer.build().unwrap();
    assert_eq!(serde_json::to_value(&messages).unwrap(), expected);
    validate_messages(&messages).unwrap();
}

/// Checks the error of `build` and `build_request`.
#[track_caller]
fn check_error(composer: PromptComposer, kind: &PromptErrorKind, message: &str) -> PromptError {
    let error = composer.clone().build().unwrap_err();
    assert_eq!(error.kind(), kind);
    assert_eq!(error.to_string(), message);
    assert_eq!(composer.build_request("m").unwrap_err().to_string(), message);
    error
}

#[test]
fn builds_text_messages_of_every_role() {
    let composer = PromptComposer::new()
        .with_system("s")
        .with_developer(String::from("d"))
        .with_user("u")
        .with_assistant_calls(
            "",
            [
                ToolCall::function("1", "clock", "{}"),
                ToolCall::function("2", "clock", "{}"),
            ],
        )
        .with_tool_result("2", "noon")
        .with_tool_result("1", "one")
        .with_assistant("a");
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
fn builds_messages_with_parts_for_every_role() {
    let one = || ContentPart::text("one");
    let two = || {
        vec![
            ContentPart::text("two"),
            ContentPart::image_url("https://example.com/x.png"),
        ]
    };
    let composer = PromptComposer::new()
        .with_system(one())
        .with_developer(two())
        .with_user(one())
        .with_assistant(two())
        .with_user(two());
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
fn assistant_messages_keep_their_content_parts() {
    let raw = json!({"type": "video", "video": 1});
    let parts: Vec<ContentPart> =
        serde_json::from_value(json!([{"type": "text", "text": "a"}, raw, {"type": "refusal", "refusal": "no"}]))
            .unwrap();
    let messages = PromptComposer::new().with_assistant(parts.clone()).build().unwrap();
    assert_eq!(messages[0].text(), "a");
    assert_eq!(messages[0].as_assistant().unwrap().refusal_text(), Some("no"));
    assert_eq!(
        serde_json::to_value(&messages[0]).unwrap()["content"],
        serde_json::to_value(&parts).unwrap()
    );
}

#[test]
fn renders_templates_for_every_role() {
    let template = PromptTemplate::compile("<{{x}}>").unwrap();
    let value = Value::from_serialize(&json!({"x": 5})).unwrap();
    let composer = PromptComposer::new()
        .with_system_template(&template, &json!({"x": 1}))
        .with_developer_template(
            &template,
            &[("x", 2)].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        )
        .with_user_template(&template, &json!({"x": 3}))
        .with_assistant_calls("calls", [ToolCall::function("id", "f", "")])
        .with_tool_result_template("id", &template, &json!({"x": 4}))
        .with_assistant_template(&template, &value);
    let texts: Vec<String> = composer
        .build()
        .unwrap()
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(texts, ["<1>", "<2>", "<3>", "calls", "<4>", "<5>"]);
}

#[test]
fn with_name_names_the_last_message() {
    let composer = PromptComposer::new()
        .with_system("s")
        .with_name("a")
        .with_developer("d")
        .with_name("b")
        .with_user("u")
        .with_name("c")
        .with_name("d");
    let composer = composer.with_assistant("x").with_name("e");
    let names: Vec<Json> = composer
        .build()
        .unwrap()
        .iter()
        .map(|message| serde_json::to_value(message).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b", "d", "e"]);
}

#[test]
fn rejects_a_name_for_a_message_without_a_name_field() {
    let call = || {
        PromptComposer::new()
            .with_assistant_calls("", [ToolCall::function("1", "f", "{}")])
            .with_tool_result("1", "x")
            .with_name("n")
    };
    let kind = PromptErrorKind::NoName { role: Some(Role::Tool) };
    check_error(
        call(),
        &kind,
        "a tool message cannot have a name: call `with_name` after a message of another role",
    );
    check_error(
        call().with_assistant("later"),
        &kind,
        "a tool message cannot have a name: call `with_name` after a message of another role",
    );
    let kind = PromptErrorKind::NoName { role: None };
    check_error(
        PromptComposer::new().with_name("n").with_user("u"),
        &kind,
        "no message to name: call `with_name` after adding a message",
    );
}

#[test]
fn build_returns_the_first_error_of_the_chain() {
    let template = PromptTemplate::compile("{{missing}}").unwrap();
    let composer = PromptComposer::new()
        .with_user_template(&template, &json!({}))
        .with_name("n")
        .with_assistant("a")
        .with_tool_result("x", "y")
        .with_name("n");
    let kind = PromptErrorKind::VariableNotFound {
        path: "missing".into(),
        near: vec![],
    };
    check_error(
        composer,
        &kind,
        "line 1, column 3: variable `missing` has no value in the context (near `{{missing}}`)",
    );
}

#[test]
fn rejects_invalid_message_sequences() {
    let sequence = |index| PromptErrorKind::InvalidSequence { index };
    let text = |index| format!("invalid message sequence at index {index}");
    let cause = |error: PromptError| {
        error
            .source()
            .unwrap()
            .downcast_ref::<SequenceError>()
            .unwrap()
            .kind
            .clone()
    };

    let error = check_error(PromptComposer::new(), &sequence(0), &text(0));
    assert_eq!(cause(error), SequenceErrorKind::Empty);
    let error = check_error(
        PromptComposer::new().with_system("s").with_user("a").with_user("b"),
        &sequence(2),
        &text(2),
    );
    assert_eq!(cause(error), SequenceErrorKind::Repeated(Role::User));
    let error = check_error(
        PromptComposer::new().with_user("a").with_tool_result("x", "y"),
        &sequence(1),
        &text(1),
    );
    assert_eq!(cause(error), SequenceErrorKind::UnknownCall("x".into()));
    let open = PromptComposer::new().with_assistant_calls("", [ToolCall::function("1", "f", "{}")]);
    assert_eq!(
        cause(check_error(open, &sequence(0), &text(0))),
        SequenceErrorKind::Unanswered("1".into())
    );
}

#[test]
fn continues_from_existing_messages() {
    let history = vec![Message::user("q"), Message::assistant("a")];
    let composer = PromptComposer::from_messages(history.clone())
        .with_user("q2")
        .with_messages([AssistantMessage::new("a2")])
        .with_message("q3");
    let messages = composer.build().unwrap();
    assert_eq!(messages[..2], history);
    assert_eq!(
        messages.iter().map(Message::role).collect::<Vec<_>>(),
        [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]
    );
}

#[test]
fn builds_a_request_for_a_model() {
    let request = PromptComposer::new()
        .with_system(Content::default())
        .with_user("hi")
        .build_request("gpt-5")
        .unwrap();
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({"model": "gpt-5", "messages": [{"role": "system", "content": ""}, {"role": "user", "content": "hi"}]})
    );
}

#[test]
fn errors_convert_into_faults() {
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
