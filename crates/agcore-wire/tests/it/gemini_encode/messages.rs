//! Messages and their parts.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, Block, ChatRequest, ContentPart, ImagePart, ImageUrl, Marks, Message, Reasoning, TextBlock,
    ToolCall, ToolMessage, VendorData,
};
use agcore_wire::{Chat, Close, Fold, ReplyHead, Wire, gemini::Gemini};
use serde_json::{Value, json};

use super::{NEW, OLD, body, body_for, body_with, check_refused, check_rejected, hi};

const VENDOR: &str = "gemini-native";
const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

fn contents(messages: impl IntoIterator<Item = Message>) -> Value {
    body(&ChatRequest::new(messages))["contents"].clone()
}

fn user(parts: Value) -> Value {
    json!([{"role": "user", "parts": parts}])
}

fn result(id: &str, content: impl Into<agcore_chat::Content>, is_error: bool) -> Message {
    Message::Tool(ToolMessage {
        tool_call_id: id.into(),
        content: content.into(),
        marks: Marks::new().with_error(is_error),
        ..ToolMessage::default()
    })
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
    insta::assert_json_snapshot!(body(&request), @r#"
    {
      "systemInstruction": {
        "parts": [
          {
            "text": "Be brief."
          },
          {
            "text": "Be kind."
          }
        ]
      },
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "Hi"
            },
            {
              "text": "<system>\nNow be long.\n</system>"
            }
          ]
        },
        {
          "role": "model",
          "parts": [
            {
              "text": "Hello"
            }
          ]
        },
        {
          "role": "user",
          "parts": [
            {
              "text": "Go on"
            }
          ]
        }
      ]
    }
    "#);
    let gemma = body_for("gemma-3-27b-it", &request);
    assert_eq!(gemma.get("systemInstruction"), None);
    assert_eq!(gemma["contents"][0]["parts"][0]["text"], "Be brief.");
    check_rejected(&ChatRequest::new([Message::system("Alone.")]), "nothing to answer");
    check_rejected(&ChatRequest::new([Message::user("")]), "nothing to answer");
    let image = ChatRequest::new([Message::system(vec![ContentPart::image_url(PNG)]), Message::user("Hi")]);
    check_refused(NEW, &image, "messages", None, "parts other than text in instructions");
}

#[test]
fn media_are_sent_as_data_or_by_uri() {
    let parts = vec![
        ContentPart::text("Look:"),
        ContentPart::image_url(PNG),
        ContentPart::image_url("https://a.example/b.jpg"),
        ContentPart::input_audio("UklGRg==", "wav"),
        ContentPart::file_data("a.pdf", "JVBERi0xLjQ="),
        ContentPart::file_data("a.txt", "data:text/plain;base64,aGk="),
        ContentPart::file_id("https://generativelanguage.googleapis.com/v1beta/files/abc"),
        ContentPart::file_data("v.mp4", "gs://bucket/v"),
        ContentPart::Other(json!({"fileData": {"fileUri": "u"}, "videoMetadata": {"fps": 1}})),
    ];
    let inline = |kind: &str, data: &str| json!({"inlineData": {"mimeType": kind, "data": data}});
    let expected = json!([
        {"text": "Look:"},
        inline("image/png", "iVBORw0KGgo="),
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://a.example/b.jpg"}},
        inline("audio/wav", "UklGRg=="),
        inline("application/pdf", "JVBERi0xLjQ="),
        inline("text/plain", "aGk="),
        {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/abc"}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/v"}},
        {"fileData": {"fileUri": "u"}, "videoMetadata": {"fps": 1}},
    ]);
    assert_eq!(contents([Message::user(parts)]), user(expected));

    let mut image = ImagePart {
        image_url: ImageUrl {
            url: PNG.into(),
            ..ImageUrl::default()
        },
        ..ImagePart::default()
    };
    image
        .extra
        .insert("mediaResolution", json!({"level": "MEDIA_RESOLUTION_LOW"}));
    let sent = contents([Message::user(vec![ContentPart::ImageUrl(image)])]);
    assert_eq!(
        sent[0]["parts"][0]["mediaResolution"],
        json!({"level": "MEDIA_RESOLUTION_LOW"})
    );
}

#[test]
fn parts_that_the_api_cannot_express_are_refused() {
    let check = |part: ContentPart, words: &str| check_rejected(&ChatRequest::new([Message::user(vec![part])]), words);
    let low = ImageUrl {
        url: PNG.into(),
        detail: Some("low".into()),
        ..ImageUrl::default()
    };
    check(
        ContentPart::ImageUrl(ImagePart {
            image_url: low,
            ..ImagePart::default()
        }),
        "the image detail `low`",
    );
    check(ContentPart::image_url("iVBORw0KGgo="), "invalid image URL");
    check(
        ContentPart::image_url("data:text/plain;base64,aGk="),
        "expected `image/…`",
    );
    check(ContentPart::file_id("files/abc"), "use the `uri` of the uploaded file");
    check(ContentPart::file_data("a", "aGk="), "invalid `file_data`");
    check(
        ContentPart::Other(json!({"type": "video_url"})),
        "content parts of the type `video_url`",
    );
    check(ContentPart::Other(json!(1)), "not a JSON object");
    let mut named = agcore_chat::UserMessage {
        content: "Hi".into(),
        ..agcore_chat::UserMessage::default()
    };
    named.name = Some("ada".into());
    check_refused(
        NEW,
        &ChatRequest::new([Message::User(named)]),
        "name",
        None,
        "the `name` of a participant",
    );
    let function = Message::Function(agcore_chat::FunctionMessage::default());
    check_refused(
        NEW,
        &ChatRequest::new([function]),
        "messages",
        None,
        "messages of the role `function`",
    );
}

/// Decodes a reply and returns its message.
fn reply(parts: Value) -> AssistantMessage {
    let body =
        json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}]}).to_string();
    let (mut decoder, mut deltas) = (Wire::<Chat>::decoder(&Gemini::new(), &ReplyHead::default()), Vec::new());
    decoder.feed(body.as_bytes(), &mut deltas).unwrap();
    decoder.finish(Close::Clean, &mut deltas).unwrap();
    let mut fold = Fold::new();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    fold.response().message().unwrap().clone()
}

#[test]
fn every_signature_goes_back_on_its_part() {
    let parts = json!([
        {"text": "Let me see. "},
        {"text": "First this.", "thoughtSignature": "c2ln MQ=="},
        {"text": "Then that."},
        {"executableCode": {"language": "PYTHON", "code": "1.0"}, "thoughtSignature": "c2lnMg=="},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1.0"}},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}, "thoughtSignature": "c2lnMw=="},
        {"functionCall": {"id": "fc_1", "name": "f", "args": {"a": 1.50}}, "thoughtSignature": "c2lnNA=="},
        {"functionCall": {"name": "f", "args": {}}},
        {"text": "", "thoughtSignature": "c2lnNQ=="},
    ]);
    let mut received = parts.as_array().unwrap().clone();
    received.insert(0, json!({"text": "Hm.", "thought": true}));
    let message = reply(received.into());
    assert_eq!(message.reasoning(), "Hm.");
    let calls: Vec<String> = message.tool_calls().map(|call| call.id.clone()).collect();
    let messages = [
        Message::user("Hi"),
        message.into(),
        // In another order than the calls, and with something in between.
        Message::tool(&*calls[1], "two"),
        Message::user("Hurry"),
        result(&calls[0], "one", true),
    ];
    let sent = contents(messages.clone());
    assert_eq!(sent[1], json!({"role": "model", "parts": parts}));
    let results = json!([
        {"functionResponse": {"id": "fc_1", "name": "f", "response": {"error": "one"}}},
        {"functionResponse": {"name": "f", "response": {"output": "two"}}},
    ]);
    assert_eq!(sent[2], json!({"role": "user", "parts": results}));
    assert_eq!(sent[3], json!({"role": "user", "parts": [{"text": "Hurry"}]}));
    // Two turns later, in the form in which histories are stored, the bytes are the same.
    let stored = serde_json::to_string(&messages).unwrap();
    let mut restored: Vec<Message> = serde_json::from_str(&stored).unwrap();
    restored.extend([Message::assistant("Done."), Message::user("Go on")]);
    assert_eq!(contents(restored)[1], sent[1]);
    // Another vendor's signatures are not sent.
    let other = body_with(&Gemini::new().with_vendor("vertex"), &ChatRequest::new(messages));
    let text = other.to_string();
    assert!(
        !text.contains("thoughtSignature") && !text.contains("fc_1") && !text.contains("executableCode"),
        "{text}"
    );
}

#[test]
fn histories_of_other_vendors_go_without_signatures() {
    let foreign = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("Hm.").with_vendor(VendorData::new("anthropic", json!({"signature": "x"})))),
        Block::text("Let me look."),
        Block::Text(TextBlock {
            text: "Signed.".into(),
            vendor: Some(VendorData::new("other", json!({"thoughtSignature": "x"}))),
            ..TextBlock::default()
        }),
        Block::Hosted(VendorData::new("anthropic", json!({"type": "server_tool_use"}))),
        Block::Other(json!({"type": "reference"})),
        ToolCall::function("toolu_1", "f", r#"{"a": 1}"#).into(),
        ToolCall::function("toolu_2", "", "not json").into(),
    ]);
    let request = ChatRequest::new([
        Message::user("Hi"),
        foreign.into(),
        Message::tool("toolu_1", "one"),
        Message::tool("toolu_2", "two"),
    ]);
    let expected = json!([
        {"text": "Let me look."},
        {"text": "Signed."},
        {"functionCall": {"name": "f", "args": {"a": 1}}},
        {"functionCall": {"name": "unknown_tool", "args": {"invalid_json": "not json"}}},
    ]);
    assert_eq!(body(&request)["contents"][1]["parts"], expected);
    let placeholder = body_with(&Gemini::new().with_placeholder_signatures(true), &request);
    let parts = &placeholder["contents"][1]["parts"];
    assert_eq!(
        parts[2]["thoughtSignature"],
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
    );
    assert_eq!(
        parts[3].get("thoughtSignature"),
        None,
        "only the first call of a message needs one"
    );
    // A signature of the vendor itself is never replaced.
    let own =
        ToolCall::function("c", "f", "{}").with_vendor(VendorData::new(VENDOR, json!({"thoughtSignature": "own"})));
    let request = ChatRequest::new([Message::user("Hi"), AssistantMessage::default().with_call(own).into()]);
    let sent = body_with(&Gemini::new().with_placeholder_signatures(true), &request);
    assert_eq!(sent["contents"][1]["parts"][0]["thoughtSignature"], "own");
}

#[test]
fn a_signed_thought_goes_back_and_others_do_not() {
    let message = reply(json!([
        {"text": "One.", "thought": true, "thoughtSignature": "c2ln"},
        {"text": "Two.", "thought": true},
        {"text": "Hi"},
    ]));
    let sent = contents([Message::user("Hi"), message.into()]);
    let expected = json!([{"text": "One.", "thought": true, "thoughtSignature": "c2ln"}, {"text": "Hi"}]);
    assert_eq!(sent[1]["parts"], expected);
}

#[test]
fn files_in_results_depend_on_the_model() {
    let call = AssistantMessage::default().with_call(ToolCall::function("c", "screen", "{}"));
    let content = vec![
        ContentPart::text("The "),
        ContentPart::text("screen:"),
        ContentPart::image_url(PNG),
    ];
    let request = |content: Vec<ContentPart>| {
        ChatRequest::new([
            Message::user("Hi"),
            call.clone().into(),
            result("c", content, false),
            Message::user("What now?"),
        ])
    };
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}});
    let response = json!({"output": "The screen:"});
    let new = &body(&request(content.clone()))["contents"];
    assert_eq!(
        new[2]["parts"],
        json!([{"functionResponse": {"name": "screen", "response": response, "parts": [image]}}])
    );
    let old = &body_for(OLD, &request(content))["contents"];
    assert_eq!(
        old[2]["parts"],
        json!([{"functionResponse": {"name": "screen", "response": response}}])
    );
    assert_eq!(
        old[3]["parts"],
        json!([{"text": "Files in the result of `screen`:"}, image])
    );
    assert_eq!(old[4]["parts"], json!([{"text": "What now?"}]));
    let audio = request(vec![ContentPart::input_audio("UklGRg==", "wav")]);
    check_refused(
        NEW,
        &audio,
        "messages",
        None,
        "files of the type `audio/wav` in tool results",
    );
    let by_url = request(vec![ContentPart::image_url("https://a.example/b.png")]);
    check_refused(NEW, &by_url, "messages", None, "files by URL in tool results");
}

#[test]
fn results_of_equal_ids_belong_to_the_latest_call() {
    let round = |name: &str, result: &str| {
        let call = ToolCall::function("call_0", name, "{}");
        [
            Message::from(AssistantMessage::default().with_call(call)),
            Message::tool("call_0", result),
        ]
    };
    let messages = [Message::user("Hi")]
        .into_iter()
        .chain(round("f", "1"))
        .chain(round("g", "2"));
    let sent = contents(messages);
    assert_eq!(sent[2]["parts"][0]["functionResponse"]["name"], "f");
    assert_eq!(sent[4]["parts"][0]["functionResponse"]["name"], "g");
    // A result without a call still has a name.
    let alone = contents([Message::user("Hi"), Message::tool("nothing", "x")]);
    assert_eq!(alone[1]["parts"][0]["functionResponse"]["name"], "unknown_tool");
}

#[test]
fn equal_requests_have_equal_bytes_and_longer_ones_begin_alike() {
    let short = hi();
    let mut long = hi();
    long.messages.push(Arc::new(Message::assistant("Hello")));
    let bytes = |request: &ChatRequest| super::encode(NEW, request).unwrap().body;
    assert_eq!(bytes(&short), bytes(&short.clone()));
    let shared = br#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}"#;
    assert!(bytes(&short).starts_with(shared) && bytes(&long).starts_with(shared));
}
