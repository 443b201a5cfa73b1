//! Messages and their blocks.

use agcore_chat::{
    AssistantMessage, AudioPart, CacheMark, ChatRequest, Content, ContentPart, InputAudio, Marks, Message, TextPart,
    ToolCall, ToolMessage, UserMessage,
};
use agcore_wire::{Chat, EncodeOptions, Wire, bedrock::Bedrock};
use serde_json::{Value, json};

use super::{CLAUDE, LLAMA, MISTRAL, NOVA, body, body_for, check_refused, encode, hi};

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

fn messages_for(model: &str, messages: impl IntoIterator<Item = Message>) -> Value {
    body_for(model, &ChatRequest::new(messages))["messages"].clone()
}

fn messages(list: impl IntoIterator<Item = Message>) -> Value {
    messages_for(CLAUDE, list)
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn calls(ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| ToolCall::function(*id, "f", r#"{"a":1}"#));
    calls
        .fold(AssistantMessage::default(), AssistantMessage::with_call)
        .into()
}

fn result(id: &str, content: impl Into<Content>, is_error: bool) -> Message {
    Message::Tool(ToolMessage {
        tool_call_id: id.into(),
        content: content.into(),
        marks: Marks::new().with_error(is_error),
        ..ToolMessage::default()
    })
}

fn tool_use(id: &str) -> Value {
    json!({"toolUse": {"toolUseId": id, "name": "f", "input": {"a": 1}}})
}

fn tool_result(id: &str, text: &str) -> Value {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": text}], "status": "success"}})
}

fn file(name: &str, data: &str) -> ContentPart {
    ContentPart::file_data(name, data)
}

#[test]
fn instructions_at_the_start_have_a_member_and_later_ones_their_place() {
    let request = ChatRequest::new([
        Message::system("Be brief."),
        Message::developer("Be kind."),
        Message::user("Hi"),
        Message::system("Now be long."),
        Message::assistant("Hello"),
        Message::user("Go on"),
    ]);
    let sent = body(&request);
    assert_eq!(sent["system"], json!([{"text": "Be brief."}, {"text": "Be kind."}]));
    let first = user(json!([{"text": "Hi"}, {"text": "<system>\nNow be long.\n</system>"}]));
    let rest = [assistant(json!([{"text": "Hello"}])), user(json!([{"text": "Go on"}]))];
    assert_eq!(sent["messages"], json!([first, rest[0], rest[1]]));

    let old = body_for("amazon.titan-text-express-v1", &request);
    assert_eq!(old.get("system"), None);
    assert_eq!(old["messages"][0]["content"][0], json!({"text": "Be brief."}));
}

#[test]
fn messages_alternate_and_blank_texts_are_left_out() {
    let list = [
        Message::user("a"),
        Message::user(" \n"),
        Message::user("b"),
        Message::assistant("c"),
        Message::assistant(""),
        Message::assistant("d"),
        Message::user("e"),
    ];
    let expected = json!([
        user(json!([{"text": "a"}, {"text": "b"}])),
        assistant(json!([{"text": "c"}, {"text": "d"}])),
        user(json!([{"text": "e"}])),
    ]);
    assert_eq!(messages(list), expected);
    check_refused(
        CLAUDE,
        &ChatRequest::new([Message::system("x")]),
        "",
        None,
        "nothing to answer",
    );
    check_refused(
        CLAUDE,
        &ChatRequest::new([Message::user(" ")]),
        "",
        None,
        "nothing to answer",
    );
}

#[test]
fn most_models_need_a_user_message_first() {
    let list = || [Message::assistant("Hello"), Message::user("Hi")];
    let plain = json!([assistant(json!([{"text": "Hello"}])), user(json!([{"text": "Hi"}]))]);
    assert_eq!(messages(list()), plain);
    assert_eq!(messages_for("qwen.qwen3-32b-v1:0", list()), plain);
    let padded = json!([user(json!([{"text": "."}])), plain[0], plain[1]]);
    assert_eq!(messages_for(NOVA, list()), padded);
}

#[test]
fn results_stand_behind_their_calls_and_before_other_content() {
    let list = [
        Message::user("Hi"),
        calls(&["a", "b"]),
        result("b", "2", false),
        Message::user("And?"),
        result("a", "1", false),
    ];
    let expected = json!([
        user(json!([{"text": "Hi"}])),
        assistant(json!([tool_use("a"), tool_use("b")])),
        user(json!([tool_result("b", "2"), tool_result("a", "1"), {"text": "And?"}])),
    ]);
    assert_eq!(messages(list), expected);
}

#[test]
fn results_are_alone_where_the_model_wants_it() {
    let list = || {
        [
            Message::user("Hi"),
            calls(&["abcdefghi"]),
            result("abcdefghi", "1", false),
            Message::user("And?"),
        ]
    };
    let expected = json!([
        user(json!([{"text": "Hi"}])),
        assistant(json!([tool_use("abcdefghi")])),
        user(json!([tool_result("abcdefghi", "1")])),
        assistant(json!([{"text": "."}])),
        user(json!([{"text": "And?"}])),
    ]);
    assert_eq!(messages_for(LLAMA, list()), expected);
    assert_eq!(messages_for(MISTRAL, list()), expected);
    let [first, second, third, fourth] = list();
    assert_eq!(
        messages_for(LLAMA, [first, second, fourth, third]),
        expected,
        "in any order"
    );

    // Claude refuses only documents and videos there.
    let text = file("a.txt", "data:text/plain;base64,aGk=");
    let with_document: Content = vec![ContentPart::text("And this?"), text].into();
    let sent = messages([calls(&["a"]), result("a", "1", false), Message::user(with_document)]);
    assert_eq!(sent[1], user(json!([tool_result("a", "1")])));
    assert_eq!(sent[2], assistant(json!([{"text": "."}])));
    let with_image: Content = vec![ContentPart::image_url(PNG)].into();
    let sent = messages([calls(&["a"]), result("a", "1", false), Message::user(with_image)]);
    assert_eq!(sent.as_array().unwrap().len(), 2);
}

#[test]
fn results_without_a_call_and_second_ones_are_refused() {
    let words = "belongs to no call of the latest assistant message";
    for list in [
        vec![Message::user("Hi"), result("a", "1", false)],
        vec![calls(&["a"]), result("b", "1", false)],
        vec![calls(&["a"]), result("a", "1", false), result("a", "2", false)],
        vec![
            calls(&["a"]),
            result("a", "1", false),
            Message::assistant("x"),
            result("a", "2", false),
        ],
    ] {
        check_refused(CLAUDE, &ChatRequest::new(list), "", None, words);
    }
}

#[test]
fn results_have_a_status_and_never_an_empty_content() {
    let sent = messages([calls(&["a", "b"]), result("a", " ", true), result("b", "", false)]);
    let content = |id: &str, status: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": "(no output)"}], "status": status}});
    assert_eq!(
        sent[1]["content"],
        json!([content("a", "error"), content("b", "success")])
    );
    let writer = messages_for(
        "us.writer.palmyra-x5-v1:0",
        [Message::user("Hi"), calls(&["a"]), result("a", "1", true)],
    );
    assert_eq!(writer[2]["content"][0]["toolResult"].get("status"), None);

    let media: Content = vec![ContentPart::text("The screen:"), ContentPart::image_url(PNG)].into();
    let sent = messages([calls(&["a"]), result("a", media, false)]);
    let image = json!({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}});
    assert_eq!(
        sent[1]["content"][0]["toolResult"]["content"],
        json!([{"text": "The screen:"}, image])
    );
    let audio: Content = vec![audio("wav")].into();
    let request = ChatRequest::new([calls(&["a"]), result("a", audio, false)]);
    check_refused(CLAUDE, &request, "messages", None, "audio in tool results");
}

fn audio(format: &str) -> ContentPart {
    ContentPart::InputAudio(AudioPart {
        input_audio: InputAudio {
            data: "UklGRg==".into(),
            format: format.into(),
            ..InputAudio::default()
        },
        ..AudioPart::default()
    })
}

#[test]
fn ids_have_the_form_that_the_model_accepts() {
    let ids = |model: &str, id: &str| {
        let sent = messages_for(model, [Message::user("Hi"), calls(&[id]), result(id, "1", false)]);
        let of_call = sent[1]["content"][0]["toolUse"]["toolUseId"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            sent[2]["content"][0]["toolResult"]["toolUseId"],
            of_call.as_str(),
            "{model} {id}"
        );
        of_call
    };
    for id in ["tooluse_aB-3", "functions.f:0", &"x".repeat(64)] {
        assert_eq!(ids(CLAUDE, id), id);
    }
    for id in ["", "a b", "a/b", "ü", &"x".repeat(65)] {
        let sent = ids(CLAUDE, id);
        assert!(sent.starts_with("call_") && sent.len() == 21, "{id}: {sent}");
    }
    assert_eq!(ids(MISTRAL, "aB3dE6gH9"), "aB3dE6gH9");
    for id in ["tooluse_aB-3", "aB3dE6gH", "aB3dE6gH90", "aB3dE6g-9"] {
        let sent = ids(MISTRAL, id);
        assert!(
            sent.len() == 9 && sent.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{id}: {sent}"
        );
        assert_eq!(sent, ids(MISTRAL, id), "the same in every request");
    }
    // Two rounds with the same id: unique for the API, the same for Mistral.
    let round = || [calls(&["call_0"]), result("call_0", "1", false)];
    let sent = messages(std::iter::once(Message::user("Hi")).chain(round()).chain(round()));
    assert_ne!(
        sent[1]["content"][0]["toolUse"]["toolUseId"],
        sent[3]["content"][0]["toolUse"]["toolUseId"]
    );
}

#[test]
fn files_become_blocks_of_their_format() {
    let parts = vec![
        ContentPart::text("See:"),
        ContentPart::image_url(PNG),
        ContentPart::image_url("s3://bucket/a.JPG"),
        file("Report (1).pdf", "JVBERi0="),
        file("data.csv", "data:text/csv;base64,YSxi"),
        file("notes.py", "data:text/x-python;base64,YQ=="),
        file("clip.mp4", "data:video/mp4;base64,AAAA"),
        audio("mp3"),
        ContentPart::file_data("", "s3://bucket/path/plan.docx"),
        ContentPart::Other(json!({"guardContent": {"text": {"text": "x"}}})),
    ];
    let bytes = |kind: &str, format: &str, data: &str| json!({kind: {"format": format, "source": {"bytes": data}}});
    let document = |format: &str, name: &str, source: Value| json!({"document": {"format": format, "name": name, "source": source}});
    let sent = messages([Message::user(Content::from(parts))]);
    let s3 = |uri: &str| json!({"s3Location": {"uri": uri}});
    let expected = json!([
        {"text": "See:"},
        bytes("image", "png", "iVBORw0KGgo="),
        {"image": {"format": "jpeg", "source": s3("s3://bucket/a.JPG")}},
        document("pdf", "Report (1)", json!({"bytes": "JVBERi0="})),
        document("csv", "data", json!({"bytes": "YSxi"})),
        document("txt", "notes-py", json!({"bytes": "YQ=="})),
        bytes("video", "mp4", "AAAA"),
        bytes("audio", "mp3", "UklGRg=="),
        sent[0]["content"][8],
        {"guardContent": {"text": {"text": "x"}}},
    ]);
    assert_eq!(sent[0]["content"], expected);
    assert_eq!(
        sent[0]["content"][8]["document"]["source"],
        s3("s3://bucket/path/plan.docx")
    );

    for (part, words) in [
        (ContentPart::image_url("https://a.example/a.png"), "files by URL"),
        (ContentPart::image_url("data:image/tiff;base64,AA=="), "`image/tiff`"),
        (ContentPart::image_url("nonsense"), "expected an s3 address"),
        (file("a.zip", "data:application/zip;base64,AA=="), "`application/zip`"),
        (ContentPart::Other(json!({"type": "input_video"})), "`input_video`"),
        (ContentPart::file_id("file-1"), "the ids of files"),
    ] {
        let content: Content = vec![part].into();
        let error = encode(CLAUDE, &ChatRequest::new([Message::user(content)])).unwrap_err();
        assert!(error.message().contains(words), "{error}");
    }
}

/// The API refuses a request in which two documents have the same name, even in different messages.
#[test]
fn documents_have_names_of_their_own_and_a_text_beside_them() {
    let document = |name: &str| Message::user(Content::from(vec![file(name, "data:text/plain;base64,aGk=")]));
    let list = [
        document("a.txt"),
        Message::assistant("ok"),
        document("a.txt"),
        Message::assistant("ok"),
        document("a_2.txt"),
    ];
    let sent = messages(list);
    let names: Vec<&str> = [0, 2, 4]
        .iter()
        .map(|at| sent[*at]["content"][1]["document"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "a 2", "a-2"]);
    assert_eq!(sent[0]["content"][0], json!({"text": "Attached documents:"}));
}

fn marked(text: &str) -> Message {
    let mut part = TextPart {
        text: text.into(),
        ..TextPart::default()
    };
    part.marks.cache = Some(CacheMark::default());
    Message::User(UserMessage {
        content: vec![ContentPart::Text(part)].into(),
        ..UserMessage::default()
    })
}

#[test]
fn cache_marks_become_points_behind_the_marked_parts() {
    let list = || [marked("a"), Message::assistant("b"), Message::user("c")];
    let point = json!({"cachePoint": {"type": "default"}});
    assert_eq!(messages(list())[0]["content"], json!([{"text": "a"}, point]));
    assert_eq!(
        messages_for(LLAMA, list())[0]["content"],
        json!([{"text": "a"}]),
        "a model without a cache"
    );
    let mut hour = marked("a");
    if let Message::User(message) = &mut hour {
        message.content = "a".into();
        message.marks.cache = Some(CacheMark::new().with_ttl("1h"));
    }
    assert_eq!(
        messages([hour])[0]["content"][1],
        json!({"cachePoint": {"type": "default", "ttl": "1h"}})
    );
    let many = ["a", "b", "c", "d", "e"].map(marked);
    check_refused(CLAUDE, &ChatRequest::new(many), "", None, "accepts only 4 cache points");
}

#[test]
fn the_wire_places_points_by_itself_if_it_is_asked_to() {
    let wire = Bedrock::new().with_automatic_caching(true);
    let sent = |model: &str, request: &ChatRequest| -> String {
        let sent = Wire::<Chat>::encode(&wire, request, &EncodeOptions::new(model)).unwrap();
        String::from_utf8(sent.body.to_vec()).unwrap()
    };
    let request = ChatRequest::new([
        Message::system("s"),
        Message::user("a"),
        Message::assistant("b"),
        Message::user("c"),
    ]);
    let tool = agcore_chat::ToolDefinition::new("f", "d", json!({"type": "object"}));
    let request = request.with_tools([agcore_chat::Tool::from(tool)]);
    assert_eq!(sent(CLAUDE, &request).matches("cachePoint").count(), 4);
    assert_eq!(
        sent(NOVA, &request).matches("cachePoint").count(),
        3,
        "not behind tools"
    );
    assert_eq!(sent(LLAMA, &request).matches("cachePoint").count(), 0);
    assert_eq!(sent(CLAUDE, &hi()).matches("cachePoint").count(), 0, "nothing follows");
    let own = ChatRequest::new([marked("a"), Message::assistant("b"), Message::user("c")]);
    assert_eq!(sent(CLAUDE, &own).matches("cachePoint").count(), 1);
}

#[test]
fn what_the_api_cannot_express_is_refused() {
    let named = Message::User(UserMessage {
        content: "Hi".into(),
        name: Some("Ada".into()),
        ..UserMessage::default()
    });
    check_refused(
        CLAUDE,
        &ChatRequest::new([named]),
        "name",
        None,
        "the `name` of a participant",
    );
    let assistant = AssistantMessage {
        name: Some("Bot".into()),
        ..AssistantMessage::default()
    };
    check_refused(
        CLAUDE,
        &ChatRequest::new([Message::from(assistant)]),
        "name",
        None,
        "participant",
    );
    let image: Content = vec![ContentPart::image_url(PNG)].into();
    check_refused(
        CLAUDE,
        &ChatRequest::new([Message::system(image)]),
        "messages",
        None,
        "in instructions",
    );
}
