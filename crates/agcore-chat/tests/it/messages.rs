//! Messages of the other roles, their content parts, and unknown members.

use agcore_chat::{CacheMark, Content, ContentPart, Extra, FileRef, Marks, Message, Origin, Role, ToolMessage};
use serde_json::{Value, json};

#[track_caller]
fn check_round_trip(message: Value) -> Message {
    let read: Message = serde_json::from_str(&message.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), message);
    read
}

#[test]
fn text_stays_a_string_and_parts_stay_an_array() {
    for role in ["developer", "system", "user"] {
        let text = check_round_trip(json!({"role": role, "content": "Hi"}));
        assert_eq!((text.role().as_str(), &*text.text()), (role, "Hi"));
        let parts = check_round_trip(
            json!({"role": role, "content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]}),
        );
        assert_eq!(parts.text(), "Hi");
    }
    check_round_trip(json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "one"}]}));
    assert_eq!(
        serde_json::to_value(Message::user("Hi")).unwrap(),
        json!({"role": "user", "content": "Hi"})
    );
}

/// Regression test: images were tagged `image`.
#[test]
fn images_are_tagged_image_url() {
    let part = serde_json::to_value(ContentPart::image_url("https://example.com/a.png")).unwrap();
    assert_eq!(
        part,
        json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})
    );
    let image: ContentPart = serde_json::from_value(json!({"type": "image", "source": {"data": "x"}})).unwrap();
    assert!(
        matches!(image, ContentPart::Other(_)),
        "parts of other APIs are kept as raw JSON"
    );
}

/// Regression test: `file_data` was required.
#[test]
fn a_file_has_content_or_an_id() {
    let check = |part: &ContentPart, expected: Value| {
        assert_eq!(serde_json::to_value(part).unwrap(), expected);
        assert_eq!(serde_json::from_value::<ContentPart>(expected).unwrap(), *part);
    };
    check(
        &ContentPart::file_id("file-1"),
        json!({"type": "file", "file": {"file_id": "file-1"}}),
    );
    let data = json!({"type": "file", "file": {"file_data": "JVBE", "filename": "a.pdf"}});
    check(&ContentPart::file_data("a.pdf", "JVBE"), data);
    check(
        &ContentPart::input_audio("UklG", "wav"),
        json!({"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}),
    );
    let empty: FileRef = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, FileRef::default());
}

#[test]
fn keeps_unknown_parts_regardless_of_the_position_of_their_tag() {
    for part in [
        json!({"type": "video_url", "video_url": {"url": "x", "deep": [1, null, {"a": 0.5}]}}),
        json!({"video_url": {"url": "x"}, "type": "video_url", "fps": 2}),
        json!({"no": "type"}),
        json!({}),
    ] {
        let text = json!({"role": "user", "content": [part]}).to_string();
        let message: Message = serde_json::from_str(&text).unwrap();
        let Message::User(user) = &message else {
            panic!("{message:?}")
        };
        let Content::Parts(parts) = &user.content else {
            panic!("{user:?}")
        };
        assert_eq!(parts, &[ContentPart::Other(part.clone())]);
        let written: Value = serde_json::from_str(&serde_json::to_string(&message).unwrap()).unwrap();
        assert_eq!(written["content"][0], part);
    }
}

#[test]
fn the_position_of_a_tag_does_not_matter() {
    let first: Message =
        serde_json::from_str(r#"{"role": "user", "content": [{"type": "text", "text": "Hi"}], "x": 1}"#).unwrap();
    let late: Message =
        serde_json::from_str(r#"{"x": 1, "content": [{"text": "Hi", "type": "text"}], "role": "user"}"#).unwrap();
    assert_eq!(first, late);
    let result: Message = serde_json::from_str(r#"{"content": "ok", "tool_call_id": "a", "role": "tool"}"#).unwrap();
    assert_eq!(result, Message::tool("a", "ok"));
}

/// Regression test: the tool's name was sent as the call's id.
#[test]
fn a_tool_message_has_the_id_of_the_call_and_optionally_the_tools_name() {
    let message = Message::Tool(ToolMessage {
        tool_call_id: "call_1".into(),
        content: "ok".into(),
        name: Some("look".into()),
        marks: Marks::new().with_error(true),
        ..ToolMessage::default()
    });
    let written = serde_json::to_value(&message).unwrap();
    let expected = json!({"role": "tool", "tool_call_id": "call_1", "content": "ok", "name": "look", "agcore": {"is_error": true}});
    assert_eq!(written, expected);
    assert_eq!(serde_json::from_value::<Message>(written).unwrap(), message);
}

#[test]
fn marks_of_parts_are_in_the_extension_member() {
    for origin in [
        Origin::Summary,
        Origin::Context,
        Origin::Handoff,
        Origin::Pruned,
        Origin::Hint,
        Origin::Other("mine".into()),
    ] {
        let marks = Marks::new()
            .with_cache(CacheMark::new().with_ttl("5m"))
            .with_origin(origin.clone());
        let part = ContentPart::text("Hi").with_marks(marks.clone());
        assert_eq!(part.marks(), Some(&marks));
        let written = serde_json::to_value(&part).unwrap();
        assert_eq!(written["agcore"], serde_json::to_value(&marks).unwrap());
        assert_eq!(serde_json::from_value::<ContentPart>(written).unwrap(), part);
    }
    let unmarked = ContentPart::Other(json!({"type": "x"})).with_marks(Marks::new().with_error(true));
    assert_eq!(unmarked, ContentPart::Other(json!({"type": "x"})));
}

#[test]
fn null_counts_as_absent() {
    let message: Message = serde_json::from_str(
        r#"{"role": "user", "name": null, "content": [{"type": "image_url", "image_url": {"url": "u", "detail": null}, "agcore": null}]}"#,
    )
    .unwrap();
    assert_eq!(message, Message::user(ContentPart::image_url("u")));
    let message: Message = serde_json::from_str(r#"{"role": "function", "name": "f", "content": null}"#).unwrap();
    assert_eq!((message.role(), &*message.text()), (Role::Function, ""));
}

#[test]
fn extra_members_keep_order_and_equality() {
    let mut extra: Extra = serde_json::from_value(json!({"z": 1, "a": null})).unwrap();
    assert_eq!(
        extra.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["z", "a"]
    );
    assert_eq!(serde_json::to_string(&extra).unwrap(), r#"{"z":1,"a":null}"#);
    assert_eq!(extra.insert("z", 2), Some(json!(1)));
    assert_eq!((extra.get("z"), extra.get("b")), (Some(&json!(2)), None));
    assert_eq!(extra.remove("b"), None);
    assert_eq!(
        (extra.remove("z"), extra.remove("a")),
        (Some(json!(2)), Some(Value::Null))
    );
    assert!(extra.is_empty());
    assert_eq!(extra, Extra::new(), "a set that was emptied equals a new one");
    assert_eq!(serde_json::from_str::<Extra>("{}").unwrap(), Extra::new());
    assert_eq!(format!("{:?}", Extra::from_iter([("a", 1)])), r#"{"a": Number(1)}"#);
}
