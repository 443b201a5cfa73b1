//! Requests to the Anthropic Messages API.

use std::sync::Arc;

use agcore_chat::{
    AllowedMode, AllowedTool, AssistantMessage, Block, CacheMark, ChatRequest, Content, ContentPart, CustomTool,
    FunctionCall, Marks, Message, Reasoning, ResponseFormat, TextBlock, Tool, ToolCall, ToolChoice, ToolDefinition,
    ToolMessage, UserMessage, VendorData,
};
use agcore_wire::{
    Chat, EncodeOptions, LlmError, LlmErrorKind, Wire, WireRequest,
    anthropic::{Anthropic, Thinking},
    operation::ListModels,
};
use insta::assert_json_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-5";

fn encode_with(wire: &Anthropic, request: &ChatRequest) -> Result<WireRequest, LlmError> {
    Wire::<Chat>::encode(wire, request, &EncodeOptions::new(MODEL))
}

fn body_with(wire: &Anthropic, request: &ChatRequest) -> Value {
    serde_json::from_slice(&encode_with(wire, request).unwrap().body).unwrap()
}

/// Returns a wire that places no cache marks, which have tests of their own.
fn unmarked() -> Anthropic {
    Anthropic::new().with_automatic_caching(false)
}

fn body(request: &ChatRequest) -> Value {
    body_with(&unmarked(), request)
}

fn messages(messages: impl IntoIterator<Item = Message>) -> Value {
    body(&ChatRequest::new(messages))["messages"].clone()
}

#[track_caller]
fn check_rejected(request: &ChatRequest, expected: &str) {
    let error = encode_with(&Anthropic::new(), request).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(expected), "{:?}", error.message());
}

fn hi() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn changed(mut request: ChatRequest, change: impl FnOnce(&mut ChatRequest)) -> ChatRequest {
    change(&mut request);
    request
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "A tool.", json!({"type": "object", "properties": {}}))
}

fn with_tools(tools: impl IntoIterator<Item = Tool>) -> ChatRequest {
    hi().with_tools(tools.into_iter().collect::<Arc<[_]>>())
}

fn vendor_data(data: Value) -> VendorData {
    VendorData::new("anthropic", data)
}

#[test]
fn sends_a_post_with_the_api_version() {
    let wire = encode_with(&unmarked(), &hi()).unwrap();
    assert_eq!((wire.method.as_str(), wire.path.as_str()), ("POST", "/messages"));
    assert_eq!(wire.headers["anthropic-version"], "2023-06-01");
    assert_eq!(wire.headers["content-type"], "application/json");
    assert_eq!(wire.headers.get("anthropic-beta"), None);
    assert_eq!(
        wire.body,
        r#"{"model":"claude-sonnet-5","max_tokens":20000,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}"#
    );
    let options = EncodeOptions::new(MODEL).with_stream(true);
    let wire = Wire::<Chat>::encode(&Anthropic::new(), &hi(), &options).unwrap();
    assert!(wire.body.ends_with(br#","stream":true}"#));
    assert_eq!(body(&hi().with_model("other"))["model"], "other");
    let error = Wire::<Chat>::encode(&Anthropic::new(), &hi(), &EncodeOptions::new("")).unwrap_err();
    assert!(error.message().contains("no model is set"));
}

#[test]
fn merges_beta_headers() {
    let wire = Anthropic::new().with_version("2024-01-01").with_beta("one");
    let request = hi()
        .with_extra_header("Anthropic-Beta", "two, one")
        .with_extra_header("x-a", "1");
    let headers = encode_with(&wire, &request).unwrap().headers;
    assert_eq!(headers["anthropic-version"], "2024-01-01");
    assert_eq!(
        headers.get_all("anthropic-beta").iter().collect::<Vec<_>>(),
        ["one,two"]
    );
    assert_eq!(headers["x-a"], "1");
    check_rejected(&hi().with_extra_header("host", "h"), "`host`");
    let error = encode_with(&Anthropic::new().with_beta("a\nb"), &hi()).unwrap_err();
    assert!(error.message().contains("`anthropic-beta`"), "{error}");
}

#[test]
fn sends_leading_instructions_as_system_blocks() {
    let request = ChatRequest::new([
        Message::system("One."),
        Message::developer(vec![ContentPart::text("Two."), ContentPart::text(" ")]),
        Message::user("Hi"),
    ]);
    assert_json_snapshot!(body(&request), @r#"
    {
      "model": "claude-sonnet-5",
      "max_tokens": 20000,
      "system": [
        {
          "type": "text",
          "text": "One."
        },
        {
          "type": "text",
          "text": "Two."
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "Hi"
            }
          ]
        }
      ]
    }
    "#);
    check_rejected(&ChatRequest::new([Message::system("One.")]), "nothing to answer");
    check_rejected(
        &ChatRequest::new([
            Message::system(vec![ContentPart::image_url("https://a.example/a.png")]),
            "Hi".into(),
        ]),
        "parts other than text in instructions",
    );
}

#[test]
fn later_instructions_keep_their_place() {
    let request = ChatRequest::new([
        Message::user("Hi"),
        Message::assistant("Hello"),
        Message::user("Go on"),
        Message::system("Be brief."),
    ]);
    assert_eq!(
        body(&request)["messages"][2],
        json!({"role": "user", "content": [
            {"type": "text", "text": "Go on"},
            {"type": "text", "text": "<system>\nBe brief.\n</system>"},
        ]})
    );
    let turns = body_with(&unmarked().with_system_turns(true), &request)["messages"].clone();
    assert_eq!(
        turns[3],
        json!({"role": "system", "content": [{"type": "text", "text": "Be brief."}]})
    );
}

#[test]
fn merges_consecutive_messages_and_puts_results_first() {
    let reply = AssistantMessage::new("Let me see.")
        .with_call(ToolCall::function("a", "f", r#"{"x": 1.50}"#))
        .with_call(ToolCall::function("b", "g", ""));
    let mut failed = ToolMessage {
        tool_call_id: "b".into(),
        content: "No.".into(),
        ..ToolMessage::default()
    };
    failed.marks = Marks::new().with_error(true);
    let turns = messages([
        Message::user("One"),
        Message::user("Two"),
        reply.into(),
        Message::tool("a", "ok"),
        Message::user("And?"),
        failed.into(),
    ]);
    assert_json_snapshot!(turns, @r#"
    [
      {
        "role": "user",
        "content": [
          {
            "type": "text",
            "text": "One"
          },
          {
            "type": "text",
            "text": "Two"
          }
        ]
      },
      {
        "role": "assistant",
        "content": [
          {
            "type": "text",
            "text": "Let me see."
          },
          {
            "type": "tool_use",
            "id": "a",
            "name": "f",
            "input": {
              "x": 1.5
            }
          },
          {
            "type": "tool_use",
            "id": "b",
            "name": "g",
            "input": {}
          }
        ]
      },
      {
        "role": "user",
        "content": [
          {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": "ok"
          },
          {
            "type": "tool_result",
            "tool_use_id": "b",
            "content": "No.",
            "is_error": true
          },
          {
            "type": "text",
            "text": "And?"
          }
        ]
      }
    ]
    "#);
}

#[test]
fn sends_arguments_as_the_model_wrote_them() {
    let written = |call: ToolCall| {
        let request = ChatRequest::new([Message::user("Hi"), AssistantMessage::default().with_call(call).into()]);
        let bytes = encode_with(&unmarked(), &request).unwrap().body;
        let text = std::str::from_utf8(&bytes).unwrap().to_owned();
        let (_, rest) = text.split_once(r#""input":"#).unwrap();
        rest.split_once("}]}").unwrap().0.to_owned()
    };
    let check = |raw: &str, expected: &str| assert_eq!(written(ToolCall::function("a", "f", raw)), expected);
    check(
        r#"{"b": 1.50, "a": 12345678901234567890123}"#,
        r#"{"b": 1.50, "a": 12345678901234567890123}"#,
    );
    check("null", "{}");
    check(r#"{"city": "Par"#, r#"{"invalid_json":"{\"city\": \"Par"}"#);
    check("[1]", r#"{"invalid_json":"[1]"}"#);
    assert_eq!(written(ToolCall::custom("a", "f", "free")), r#"{"input":"free"}"#);
}

#[test]
fn replaces_call_ids_that_the_api_rejects() {
    let round = |id: &str| {
        let reply = AssistantMessage::default().with_call(ToolCall::function(id, "f", "{}"));
        [reply.into(), Message::tool(id, "ok")]
    };
    let history: Vec<Message> = ["functions.f:0", "call_0", "call_0"]
        .into_iter()
        .flat_map(round)
        .collect();
    let turns = messages(std::iter::once(Message::user("Hi")).chain(history));
    let id = |turn: usize, name: &str| turns[turn]["content"][0][name].as_str().unwrap().to_owned();
    let ids: Vec<String> = (0..3).map(|round| id(2 * round + 1, "id")).collect();
    for (round, sent) in ids.iter().enumerate() {
        assert_eq!(*sent, id(2 * round + 2, "tool_use_id"));
        assert!(
            sent.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')),
            "{sent}"
        );
    }
    assert_eq!(ids[1..], ["call_0", "call_0_2"]);
}

#[test]
fn sends_vendor_data_back_unchanged() {
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let sealed = json!({"type": "redacted_thinking", "data": "ENC"});
    let citations = json!([{"type": "char_location", "cited_text": "x"}]);
    let cited = TextBlock {
        text: "Cited.".into(),
        vendor: Some(vendor_data(json!({"citations": citations}))),
        ..TextBlock::default()
    };
    let reply = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("Hm.").with_vendor(vendor_data(json!({"signature": "SIG"})))),
        Block::Reasoning(Reasoning::new("").with_vendor(vendor_data(json!({"signature": "EMPTY"})))),
        Block::Reasoning(Reasoning::new("").with_vendor(vendor_data(sealed.clone()))),
        Block::Hosted(vendor_data(search.clone())),
        Block::Hosted(vendor_data(found.clone())),
        Block::Text(cited),
        ToolCall::function("toolu_1", "f", "{}")
            .with_vendor(vendor_data(json!({"caller": {"type": "direct"}})))
            .into(),
    ]);
    let turns = messages([Message::user("Hi"), reply.into(), Message::tool("toolu_1", "ok")]);
    assert_eq!(
        turns[1]["content"],
        json!([
            {"type": "thinking", "thinking": "Hm.", "signature": "SIG"},
            {"type": "thinking", "thinking": "", "signature": "EMPTY"},
            sealed,
            search,
            found,
            {"type": "text", "text": "Cited.", "citations": citations},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}},
        ])
    );
}

#[test]
fn omits_vendor_data_of_other_vendors() {
    let other = |data: Value| VendorData::new("openai", data);
    let reply = AssistantMessage::from_blocks([
        Block::reasoning("Without a vendor."),
        Block::Reasoning(Reasoning::new("Of another vendor.").with_vendor(other(json!({"encrypted_content": "E"})))),
        Block::Hosted(other(json!({"type": "web_search_call"}))),
        Block::text("Yes."),
        ToolCall::function("a", "f", "{}")
            .with_vendor(other(json!({"extra_content": 1})))
            .into(),
    ]);
    let turns = messages([Message::user("Hi"), reply.into(), Message::tool("a", "ok")]);
    assert_eq!(
        turns[1]["content"],
        json!([{"type": "text", "text": "Yes."}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}])
    );
    let other_vendor = unmarked().with_vendor("deepseek");
    let reply = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("Hm.").with_vendor(vendor_data(json!({"signature": "S"})))),
        Block::text("Yes."),
    ]);
    let request = ChatRequest::new([Message::user("Hi"), reply.into()]);
    let turns = body_with(&other_vendor, &request)["messages"].clone();
    assert_eq!(turns[1]["content"], json!([{"type": "text", "text": "Yes."}]));
}

#[test]
fn omits_blank_texts_and_trailing_thinking() {
    let signed = || Block::Reasoning(Reasoning::new("Hm.").with_vendor(vendor_data(json!({"signature": "S"}))));
    let ends_thinking = AssistantMessage::from_blocks([signed(), Block::text("Yes."), Block::text("\n\n"), signed()]);
    let turns = messages([Message::user("Hi"), ends_thinking.into(), Message::user("And?")]);
    assert_eq!(
        turns[1]["content"],
        json!([{"type": "thinking", "thinking": "Hm.", "signature": "S"}, {"type": "text", "text": "Yes."}])
    );
    let only_thinks = AssistantMessage::from_blocks([signed()]);
    let turns = messages([Message::user("Hi"), only_thinks.into(), Message::user("And?")]);
    assert_eq!(turns.as_array().unwrap().len(), 1, "{turns}");
    check_rejected(&ChatRequest::new([Message::user(" ")]), "nothing to answer");
}

#[test]
fn the_explanation_of_a_refusal_is_not_sent_back_as_words_of_the_model() {
    let marker = vendor_data(json!({"stop_reason": "refusal"}));
    let refused = |marker: VendorData| AssistantMessage {
        blocks: vec![Block::Text(TextBlock {
            vendor: Some(marker),
            ..TextBlock::default()
        })],
        refusal: Some("This request was blocked by a policy.".into()),
        ..AssistantMessage::default()
    };
    let turns = |marker| messages([Message::user("Hi"), refused(marker).into(), Message::user("And?")]);
    let own = turns(marker.clone());
    assert_eq!(own.as_array().unwrap().len(), 1, "{own}");
    assert_eq!(own[0]["content"][1]["text"], "And?");
    let other = turns(VendorData::new("other", marker.data));
    assert_eq!(other[1]["content"][0]["text"], "This request was blocked by a policy.");
}

#[test]
fn sends_parts_of_unknown_types_in_instructions() {
    let addition = json!({"type": "tool_addition", "tool": {"type": "tool_reference", "name": "look"}});
    let request = ChatRequest::new([
        Message::user("Hi"),
        Message::system(vec![ContentPart::Other(addition.clone())]),
    ]);
    let body = body_with(&unmarked().with_system_turns(true), &request);
    assert_eq!(body["messages"][1], json!({"role": "system", "content": [addition]}));
    check_rejected(&request, "`with_system_turns`");
    let image = ContentPart::image_url("https://a.example/a.png");
    check_rejected(
        &ChatRequest::new([Message::system(vec![image]), Message::user("Hi")]),
        "parts other than text",
    );
}

#[test]
fn sends_refusals_and_transcripts_as_text() {
    let declined = AssistantMessage {
        refusal: Some("I cannot.".into()),
        ..AssistantMessage::default()
    };
    let audio = AssistantMessage {
        audio: Some(json!({"id": "au_1", "transcript": "Said."})),
        ..AssistantMessage::default()
    };
    let turns = messages([
        Message::user("Hi"),
        declined.into(),
        Message::user("And?"),
        audio.into(),
    ]);
    assert_eq!(turns[1]["content"], json!([{"type": "text", "text": "I cannot."}]));
    assert_eq!(turns[3]["content"], json!([{"type": "text", "text": "Said."}]));
}

#[test]
fn encodes_images_and_documents() {
    let content = vec![
        ContentPart::image_url("https://a.example/a.png"),
        ContentPart::image_url("data:image/png;base64,iVBO"),
        ContentPart::file_data("a.pdf", "data:application/pdf;base64,JVBERi0="),
        ContentPart::file_data("a.txt", "data:text/plain;base64,aGk="),
        ContentPart::Other(json!({"type": "search_result", "source": "s"})),
    ];
    let turns = messages([Message::user(content)]);
    assert_eq!(
        turns[0]["content"],
        json!([
            {"type": "image", "source": {"type": "url", "url": "https://a.example/a.png"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            {"type": "document", "title": "a.pdf",
             "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
            {"type": "document", "title": "a.txt",
             "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
            {"type": "search_result", "source": "s"},
        ])
    );
    let rejects =
        |part: ContentPart, expected: &str| check_rejected(&ChatRequest::new([Message::user(vec![part])]), expected);
    rejects(ContentPart::input_audio("AA", "wav"), "does not support audio");
    rejects(ContentPart::image_url("ftp://a.example"), "http(s) URL");
    rejects(
        ContentPart::file_data("a.zip", "data:application/zip;base64,AA=="),
        "`application/zip`",
    );
    let mut low = agcore_chat::ImagePart::default();
    low.image_url.url = "https://a.example/a.png".into();
    low.image_url.detail = Some("low".into());
    rejects(ContentPart::ImageUrl(low), "image detail `low`");
}

#[test]
fn adds_the_beta_header_for_uploaded_files() {
    let request = ChatRequest::new([Message::user(vec![ContentPart::file_id("file_1"), "What?".into()])]);
    let wire = encode_with(&unmarked(), &request).unwrap();
    assert_eq!(wire.headers["anthropic-beta"], "files-api-2025-04-14");
    assert_eq!(
        body(&request)["messages"][0]["content"][0],
        json!({"type": "document", "source": {"type": "file", "file_id": "file_1"}})
    );
}

#[test]
fn results_may_contain_images() {
    let shot = vec![
        ContentPart::text("Seen:"),
        ContentPart::image_url("data:image/png;base64,iVBO"),
    ];
    let reply = AssistantMessage::default().with_call(ToolCall::function("a", "f", "{}"));
    let turns = messages([
        Message::user("Hi"),
        reply.into(),
        Message::tool("a", Content::Parts(shot)),
    ]);
    assert_eq!(
        turns[2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "a", "content": [
            {"type": "text", "text": "Seen:"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
        ]})
    );
    let reply = AssistantMessage::default().with_call(ToolCall::function("a", "f", "{}"));
    let turns = messages([Message::user("Hi"), reply.into(), Message::tool("a", "")]);
    assert_eq!(
        turns[2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "a"})
    );
}

#[test]
fn encodes_cache_marks() {
    let mark = || Marks::new().with_cache(CacheMark::new());
    let long = || Marks::new().with_cache(CacheMark::new().with_ttl("1h"));
    let system = agcore_chat::InstructionMessage {
        content: vec![ContentPart::text("One.").with_marks(long()), ContentPart::text("Two.")].into(),
        marks: mark(),
        ..agcore_chat::InstructionMessage::default()
    };
    let user = UserMessage {
        content: "Hi".into(),
        marks: mark(),
        ..UserMessage::default()
    };
    let mut reply = AssistantMessage::from_blocks([Block::text("Yes."), ToolCall::function("a", "f", "{}").into()]);
    reply.marks = mark();
    let mut result = ToolMessage {
        tool_call_id: "a".into(),
        content: "ok".into(),
        ..ToolMessage::default()
    };
    result.marks = long();
    let request = ChatRequest::new([Message::System(system), user.into(), reply.into(), result.into()])
        .with_tools([Tool::from(tool("f").with_marks(mark()))]);
    let body = body(&request);
    let (short, long) = (json!({"type": "ephemeral"}), json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(body["system"][0]["cache_control"], long);
    assert_eq!(body["system"][1]["cache_control"], short);
    assert_eq!(body["tools"][0]["cache_control"], short);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], short);
    assert_eq!(body["messages"][1]["content"][0].get("cache_control"), None);
    assert_eq!(body["messages"][1]["content"][1]["cache_control"], short);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], long);
    assert!(!body.to_string().contains("agcore"));
}

#[test]
fn encodes_tools() {
    let mut extra = tool("f");
    extra.extra.insert("defer_loading", true);
    let search = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3});
    let request = with_tools([
        Tool::from(extra.with_strict(true)),
        Tool::Hosted(search.clone()),
        Tool::from(ToolDefinition {
            name: "bare".into(),
            ..ToolDefinition::default()
        }),
    ]);
    assert_eq!(
        body(&request)["tools"],
        json!([
            {"name": "f", "description": "A tool.",
             "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
             "strict": true, "defer_loading": true},
            search,
            {"name": "bare", "input_schema": {"type": "object", "properties": {}}},
        ])
    );
    assert_eq!(body(&request).get("tool_choice"), None);
    let custom = CustomTool {
        name: "c".into(),
        ..CustomTool::default()
    };
    check_rejected(&with_tools([Tool::Custom(custom)]), "custom tools such as `c`");
    let text = ToolDefinition::new("t", "", json!({"type": "string"}));
    check_rejected(&with_tools([text.into()]), "tool `t`");
}

#[test]
fn encodes_tool_choices() {
    let two = || with_tools([tool("f").into(), tool("g").into()]);
    let chosen = |choice: Option<ToolChoice>, parallel: Option<bool>| {
        let request = changed(two(), |request| {
            request.tool_choice = choice;
            request.parallel_tool_calls = parallel;
        });
        body(&request)["tool_choice"].clone()
    };
    assert_eq!(chosen(None, Some(true)), Value::Null);
    assert_eq!(
        chosen(None, Some(false)),
        json!({"type": "auto", "disable_parallel_tool_use": true})
    );
    assert_eq!(chosen(Some(ToolChoice::Auto), None), json!({"type": "auto"}));
    assert_eq!(chosen(Some(ToolChoice::None), Some(false)), json!({"type": "none"}));
    assert_eq!(
        chosen(Some(ToolChoice::Required), Some(false)),
        json!({"type": "any", "disable_parallel_tool_use": true})
    );
    assert_eq!(
        chosen(Some(ToolChoice::Function("f".into())), None),
        json!({"type": "tool", "name": "f"})
    );
    let allowed = ToolChoice::Allowed {
        mode: AllowedMode::Required,
        tools: vec![AllowedTool::Function("g".into())],
    };
    let request = two().with_tool_choice(allowed);
    assert_eq!(body(&request)["tool_choice"], json!({"type": "any"}));
    assert_eq!(body(&request)["tools"].as_array().unwrap().len(), 1);
    check_rejected(&two().with_tool_choice(ToolChoice::Other("odd".into())), "odd");
    assert_eq!(
        body(&hi().with_tool_choice(ToolChoice::Required)).get("tool_choice"),
        None
    );
}

#[test]
fn always_sends_a_token_limit() {
    let limit = |wire: &Anthropic, request: ChatRequest| body_with(wire, &request)["max_tokens"].clone();
    let wire = Anthropic::new();
    assert_eq!(limit(&wire, hi()), 20_000);
    assert_eq!(limit(&wire, hi().with_model("claude-3-haiku-20240307")), 4096);
    assert_eq!(limit(&wire, hi().with_max_tokens(7)), 7);
    assert_eq!(limit(&wire, changed(hi(), |request| request.max_tokens = Some(8))), 8);
    assert_eq!(limit(&Anthropic::new().with_default_max_tokens(9), hi()), 9);
    let both = changed(hi().with_max_tokens(1), |request| request.max_tokens = Some(2));
    check_rejected(&both, "differ");
}

#[test]
fn encodes_parameters() {
    let request = changed(hi().with_temperature(0.5).with_extra_body("top_k", 5), |request| {
        request.top_p = Some(0.9);
        request.stop = Some("END".into());
        request.user = Some("u".into());
        request.safety_identifier = Some("u".into());
        request.service_tier = Some("default".into());
        request.n = Some(1);
        request.logprobs = Some(false);
        request.store = Some(false);
        request.modalities = vec!["text".into()];
    });
    assert_json_snapshot!(body(&request), @r#"
    {
      "model": "claude-sonnet-5",
      "max_tokens": 20000,
      "temperature": 0.5,
      "top_p": 0.9,
      "stop_sequences": [
        "END"
      ],
      "metadata": {
        "user_id": "u"
      },
      "service_tier": "standard_only",
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "Hi"
            }
          ]
        }
      ],
      "top_k": 5
    }
    "#);
}

#[test]
fn rejects_unsupported_parameters() {
    let check = |change: fn(&mut ChatRequest), expected: &str| check_rejected(&changed(hi(), change), expected);
    check(|request| request.temperature = Some(1.5), "invalid `temperature` 1.5");
    check(|request| request.top_p = Some(-0.1), "`top_p`");
    check(|request| request.n = Some(2), "`n`");
    check(|request| request.presence_penalty = Some(0.1), "`presence_penalty`");
    check(|request| request.frequency_penalty = Some(0.1), "`frequency_penalty`");
    check(
        |request| request.logit_bias = Some([("1".to_owned(), 1.0)].into()),
        "`logit_bias`",
    );
    check(|request| request.logprobs = Some(true), "`logprobs`");
    check(|request| request.top_logprobs = Some(1), "`top_logprobs`");
    check(|request| request.seed = Some(1), "`seed`");
    check(|request| request.verbosity = Some("low".into()), "`verbosity`");
    check(|request| request.modalities = vec!["audio".into()], "`modalities`");
    check(|request| request.audio = Some(json!({})), "`audio`");
    check(|request| request.prediction = Some(json!({})), "`prediction`");
    check(
        |request| request.web_search_options = Some(json!({})),
        "`web_search_options`",
    );
    check(|request| request.store = Some(true), "`store`");
    check(
        |request| request.prompt_cache_key = Some("k".into()),
        "`prompt_cache_key`",
    );
    check(
        |request| request.prompt_cache_retention = Some("24h".into()),
        "`prompt_cache_retention`",
    );
    check(|request| request.service_tier = Some("flex".into()), "`flex`");
    check(
        |request| request.metadata = Some([("a".to_owned(), "b".to_owned())].into()),
        "not `a`",
    );
    check(
        |request| {
            request.user = Some("a".into());
            request.safety_identifier = Some("b".into());
        },
        "differ",
    );
    check(
        |request| request.response_format = Some(ResponseFormat::JsonObject),
        "`json_object`",
    );
    check(|request| request.reasoning_effort = Some("minimal".into()), "`minimal`");
}

#[test]
fn rejects_unsupported_messages() {
    let named = UserMessage {
        content: "Hi".into(),
        name: Some("Ann".into()),
        ..UserMessage::default()
    };
    check_rejected(&ChatRequest::new([Message::from(named)]), "`name`");
    let mut extra = UserMessage {
        content: "Hi".into(),
        ..UserMessage::default()
    };
    extra.extra.insert("odd", 1);
    check_rejected(&ChatRequest::new([Message::from(extra)]), "`odd`");
    let legacy = AssistantMessage {
        function_call: Some(FunctionCall::default()),
        ..AssistantMessage::default()
    };
    check_rejected(
        &ChatRequest::new([Message::user("Hi"), legacy.into()]),
        "`function_call`",
    );
    let function = agcore_chat::FunctionMessage::default();
    check_rejected(&ChatRequest::new([Message::Function(function)]), "`function`");
}

#[test]
fn encodes_effort_by_model() {
    let with = |effort: &str, model: &str| {
        let request = changed(hi().with_model(model).with_max_tokens(10_000), |request| {
            request.reasoning_effort = Some(effort.into());
        });
        let body = body(&request);
        (body["thinking"].clone(), body["output_config"].clone())
    };
    assert_eq!(
        with("high", "claude-opus-4-8"),
        (json!({"type": "adaptive"}), json!({"effort": "high"}))
    );
    assert_eq!(
        with("low", "claude-sonnet-4-5"),
        (json!({"type": "enabled", "budget_tokens": 2000}), Value::Null)
    );
    assert_eq!(
        with("none", "claude-opus-4-8"),
        (json!({"type": "disabled"}), Value::Null)
    );
    let request = changed(hi().with_max_tokens(4000), |request| {
        request.reasoning_effort = Some("medium".into());
    });
    let forced = body_with(&unmarked().with_thinking(Thinking::Budget), &request);
    assert_eq!(forced["thinking"]["budget_tokens"], 2000);
    let clash = request.clone().with_extra_body("thinking", json!({"type": "disabled"}));
    check_rejected(&clash, "`thinking`");
    let alone = hi().with_extra_body("thinking", json!({"type": "adaptive", "display": "omitted"}));
    assert_eq!(body(&alone)["thinking"]["display"], "omitted");
    check_rejected(&hi().with_extra_body("max_tokens", 1), "`max_tokens`");
}

#[test]
fn encodes_schemas_of_response_formats() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
    let request = changed(
        hi().with_response_format(ResponseFormat::json_schema("a", schema)),
        |request| request.reasoning_effort = Some("low".into()),
    );
    assert_eq!(
        body(&request)["output_config"],
        json!({"effort": "low", "format": {"type": "json_schema", "schema": {
            "type": "object",
            "properties": {"n": {"type": "integer", "description": "minimum: 1"}},
            "additionalProperties": false,
        }}})
    );
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    check_rejected(
        &hi().with_response_format(ResponseFormat::json_schema("a", open)),
        "the response format `a`: at $, the object accepts members of any name",
    );
    assert_eq!(
        body(&hi().with_response_format(ResponseFormat::Text)).get("output_config"),
        None
    );
}

#[test]
fn requests_the_largest_page_of_models() {
    let wire = Wire::<ListModels>::encode(&Anthropic::new().with_beta("b"), &(), &EncodeOptions::new("")).unwrap();
    assert_eq!(
        (wire.method.as_str(), wire.path.as_str()),
        ("GET", "/models?limit=1000")
    );
    assert_eq!(wire.headers["anthropic-version"], "2023-06-01");
    assert_eq!(wire.headers["anthropic-beta"], "b");
}

proptest! {
    /// Equal requests have equal bytes, and a longer conversation begins with the bytes of the shorter one, so that prompt
    /// caches hit.
    #[test]
    fn requests_are_byte_stable(texts in prop::collection::vec("\\PC{1,20}", 1..6), more in "[a-z]{1,20}") {
        let alternating = |(at, text): (usize, String)| if at % 2 == 0 { Message::user(text + ".") } else { Message::assistant(text + ".") };
        let messages: Vec<Message> = texts.into_iter().enumerate().map(alternating).collect();
        let bytes = |messages: Vec<Message>| encode_with(&unmarked(), &ChatRequest::new(messages)).unwrap().body;
        let shorter = bytes(messages.clone());
        prop_assert_eq!(&shorter, &bytes(messages.clone()));
        let longer = bytes(messages.into_iter().chain([more.into()]).collect());
        let shared = shorter.strip_suffix(b"]}]}").unwrap();
        prop_assert!(longer.starts_with(shared));
    }
}
