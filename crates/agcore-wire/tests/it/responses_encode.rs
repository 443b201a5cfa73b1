//! Requests to the Responses API: every kind of message, tool and parameter, and rejected requests.

use std::sync::Arc;

use agcore_chat::{
    AllowedMode, AllowedTool, AssistantMessage, Block, CacheMark, ChatRequest, ContentPart, CustomTool,
    FunctionMessage, Marks, Message, Reasoning, ResponseFormat, StreamOptions, Tool, ToolCall, ToolChoice,
    ToolDefinition, ToolMessage, UserMessage, VendorData,
};
use agcore_wire::{
    Chat, EncodeOptions, LlmError, LlmErrorKind, Wire, WireRequest, openai_responses::OpenAiResponses,
    operation::ListModels,
};
use insta::assert_json_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

fn encode(request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
    Wire::<Chat>::encode(&OpenAiResponses::new(), request, options)
}

fn body(request: &ChatRequest) -> Value {
    serde_json::from_slice(&encode(request, &EncodeOptions::new("m")).unwrap().body).unwrap()
}

fn input(messages: impl IntoIterator<Item = Message>) -> Value {
    body(&ChatRequest::new(messages))["input"].clone()
}

fn hi() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn changed(change: impl FnOnce(&mut ChatRequest)) -> ChatRequest {
    let mut request = hi();
    change(&mut request);
    request
}

#[track_caller]
fn check_rejected(request: &ChatRequest, expected: &str) {
    let error = encode(request, &EncodeOptions::new("m")).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(expected), "{:?}", error.message());
}

#[test]
fn sends_a_post_with_json() {
    let request = hi().with_extra_header("X-A", "1");
    let wire = encode(&request, &EncodeOptions::new("m")).unwrap();
    assert_eq!((wire.method.as_str(), wire.path.as_str()), ("POST", "/responses"));
    assert_eq!(
        (&wire.headers["content-type"], &wire.headers["x-a"]),
        (&"application/json".parse().unwrap(), &"1".parse().unwrap())
    );
    assert_eq!(wire.body, r#"{"model":"m","input":[{"role":"user","content":"Hi"}]}"#);
    assert_eq!(body(&hi().with_model("other"))["model"], "other");
    assert!(
        encode(&hi(), &EncodeOptions::new(""))
            .unwrap_err()
            .message()
            .contains("no model is set")
    );
    check_rejected(&hi().with_extra_header("Host", "h"), "`host`");
    let listed = Wire::<ListModels>::encode(&OpenAiResponses::new(), &(), &EncodeOptions::new("")).unwrap();
    assert_eq!((listed.method.as_str(), listed.path.as_str()), ("GET", "/models"));
}

/// Returns a conversation with messages of every role.
fn conversation() -> [Message; 8] {
    let result = |id: &str, content: Vec<ContentPart>| Message::tool(id, content);
    let image = ContentPart::image_url("https://a/b.png");
    let reply = AssistantMessage::new("Let me look.")
        .with_call(ToolCall::function("call_1", "look", "{\"a\":1}"))
        .with_call(ToolCall::function("call_2", "look", "{\"a\""))
        .with_call(ToolCall::function("call_3", "", ""))
        .with_call(ToolCall::custom("call_4", "run", "free"));
    [
        Message::system("Be brief."),
        Message::developer("Be kind."),
        Message::user(vec![
            "Look:".into(),
            image.clone(),
            ContentPart::file_id("file_1"),
            ContentPart::file_data("a.pdf", "data:application/pdf;base64,AA"),
            ContentPart::Other(json!({"type": "input_new"})),
        ]),
        reply.into(),
        result("call_1", vec!["seen".into()]),
        result("call_2", vec!["one".into(), image]),
        Message::tool("call_3", "There is no such tool."),
        Message::tool("call_4", "ran"),
    ]
}

#[test]
fn encodes_messages_as_items() {
    assert_json_snapshot!(input(conversation()), @r#"
    [
      {
        "role": "system",
        "content": "Be brief."
      },
      {
        "role": "developer",
        "content": "Be kind."
      },
      {
        "role": "user",
        "content": [
          {
            "type": "input_text",
            "text": "Look:"
          },
          {
            "type": "input_image",
            "image_url": "https://a/b.png",
            "detail": "auto"
          },
          {
            "type": "input_file",
            "file_id": "file_1"
          },
          {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,AA"
          },
          {
            "type": "input_new"
          }
        ]
      },
      {
        "role": "assistant",
        "content": "Let me look."
      },
      {
        "type": "function_call",
        "call_id": "call_1",
        "name": "look",
        "arguments": "{\"a\":1}"
      },
      {
        "type": "function_call",
        "call_id": "call_2",
        "name": "look",
        "arguments": "{\"a\""
      },
      {
        "type": "function_call",
        "call_id": "call_3",
        "name": "unknown_tool",
        "arguments": "{}"
      },
      {
        "type": "custom_tool_call",
        "call_id": "call_4",
        "name": "run",
        "input": "free"
      },
      {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": "seen"
      },
      {
        "type": "function_call_output",
        "call_id": "call_2",
        "output": [
          {
            "type": "input_text",
            "text": "one"
          },
          {
            "type": "input_image",
            "image_url": "https://a/b.png",
            "detail": "auto"
          }
        ]
      },
      {
        "type": "function_call_output",
        "call_id": "call_3",
        "output": "There is no such tool."
      },
      {
        "type": "custom_tool_call_output",
        "call_id": "call_4",
        "output": "ran"
      }
    ]
    "#);
}

#[test]
fn omits_blocks_of_other_vendors() {
    let data = VendorData::new("anthropic", json!({"signature": "s", "id": "x"}));
    let reply = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("Thoughts.").with_vendor(data.clone())),
        Block::reasoning("More thoughts."),
        Block::Text(agcore_chat::TextBlock {
            text: "One ".into(),
            vendor: Some(data.clone()),
            ..Default::default()
        }),
        Block::text("two."),
        Block::Hosted(data.clone()),
        Block::Other(json!({"type": "odd"})),
        Block::from(ToolCall::function("c", "f", "{}").with_vendor(data)),
    ]);
    let expected = json!([
        {"role": "assistant", "content": "One two."},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ]);
    assert_eq!(input([reply.into()]), expected);
}

#[test]
fn sends_refusals_and_transcripts_as_text() {
    let refusal = AssistantMessage {
        refusal: Some("No.".into()),
        ..AssistantMessage::default()
    };
    let audio = AssistantMessage {
        audio: Some(json!({"id": "au", "transcript": "Aye."})),
        ..AssistantMessage::default()
    };
    let empty = AssistantMessage::default();
    let expected = json!([{"role": "assistant", "content": "No."}, {"role": "assistant", "content": "Aye."}]);
    assert_eq!(input([refusal.into(), audio.into(), empty.into()]), expected);
}

#[test]
fn replaces_call_ids_that_the_api_rejects() {
    let long = "x".repeat(65);
    let reply = AssistantMessage::new("")
        .with_call(ToolCall::function(&long, "f", "{}"))
        .with_call(ToolCall::function("y".repeat(64), "f", "{}"));
    let items = input([reply.clone().into(), Message::tool(&long, "ok")]);
    let mapped = items[0]["call_id"].as_str().unwrap();
    assert!(mapped.len() <= 64 && mapped.starts_with("call_"), "{mapped}");
    assert_eq!(items[2]["call_id"], mapped);
    assert_eq!(items[1]["call_id"], "y".repeat(64));
    let later = input([Message::user("Hi"), reply.into()]);
    assert_eq!(later[1]["call_id"], mapped, "the same in every request");
}

#[test]
fn never_sends_marks() {
    let marks = Marks::new().with_cache(CacheMark::new()).with_error(true);
    let user = UserMessage {
        content: "Hi".into(),
        marks: marks.clone(),
        ..UserMessage::default()
    };
    let reply = AssistantMessage {
        marks: marks.clone(),
        ..AssistantMessage::new("").with_call(ToolCall::function("c", "f", "{}"))
    };
    let result = ToolMessage {
        tool_call_id: "c".into(),
        name: Some("f".into()),
        marks,
        content: "no".into(),
        ..ToolMessage::default()
    };
    let items = input([user.into(), reply.into(), result.into()]);
    assert_eq!(items[0], json!({"role": "user", "content": "Hi"}));
    assert_eq!(
        items[2],
        json!({"type": "function_call_output", "call_id": "c", "output": "no"})
    );
}

#[test]
fn sends_cache_marks_if_the_request_sets_options_for_them() {
    let mark = || Marks::new().with_cache(CacheMark::new());
    let user = |content: agcore_chat::Content| UserMessage {
        content,
        marks: mark(),
        ..UserMessage::default()
    };
    let parts = vec![ContentPart::text("One").with_marks(mark()), ContentPart::text("Two")];
    let mut result = ToolMessage {
        tool_call_id: "c".into(),
        content: "ok".into(),
        ..ToolMessage::default()
    };
    result.marks = mark();
    let call = AssistantMessage::new("").with_call(ToolCall::function("c", "f", "{}"));
    let messages: [Message; 4] = [
        user("Hi".into()).into(),
        user(parts.into()).into(),
        call.into(),
        result.into(),
    ];
    let request = ChatRequest::new(messages);
    assert!(!body(&request).to_string().contains("prompt_cache_breakpoint"));
    let options = json!({"mode": "explicit", "ttl": "30m"});
    let sent = body(&request.with_extra_body("prompt_cache_options", options.clone()));
    let text =
        |text: &str| json!({"type": "input_text", "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}});
    assert_eq!(sent["prompt_cache_options"], options);
    assert_eq!(sent["input"][0]["content"], json!([text("Hi")]));
    assert_eq!(sent["input"][1]["content"], json!([text("One"), text("Two")]));
    assert_eq!(sent["input"][3]["output"], json!([text("ok")]));
}

fn tools() -> Arc<[Tool]> {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let grammar = json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a/"}});
    [
        Tool::from(ToolDefinition::new("look", "Looks.", schema.clone()).with_strict(true)),
        ToolDefinition {
            name: "now".into(),
            ..ToolDefinition::default()
        }
        .into(),
        ToolDefinition {
            name: "loose".into(),
            parameters: Some(schema),
            ..ToolDefinition::default()
        }
        .into(),
        CustomTool {
            name: "run".into(),
            description: Some("Runs.".into()),
            format: Some(grammar),
            ..CustomTool::default()
        }
        .into(),
        Tool::Hosted(json!({"type": "web_search", "search_context_size": "low"})),
    ]
    .into()
}

#[test]
fn encodes_tools() {
    assert_json_snapshot!(body(&hi().with_tools(tools()))["tools"], @r#"
    [
      {
        "type": "function",
        "name": "look",
        "description": "Looks.",
        "parameters": {
          "type": "object",
          "properties": {
            "a": {
              "type": "string"
            }
          },
          "required": [
            "a"
          ],
          "additionalProperties": false
        },
        "strict": true
      },
      {
        "type": "function",
        "name": "now",
        "parameters": {
          "type": "object",
          "properties": {}
        },
        "strict": false
      },
      {
        "type": "function",
        "name": "loose",
        "parameters": {
          "type": "object",
          "properties": {
            "a": {
              "type": "string"
            }
          },
          "required": [
            "a"
          ]
        },
        "strict": false
      },
      {
        "type": "custom",
        "name": "run",
        "description": "Runs.",
        "format": {
          "type": "grammar",
          "syntax": "lark",
          "definition": "start: /a/"
        }
      },
      {
        "type": "web_search",
        "search_context_size": "low"
      }
    ]
    "#);
    let open = ToolDefinition::new("f", "", json!({"type": "object", "properties": {"a": {}}})).with_strict(true);
    check_rejected(
        &hi().with_tools([Tool::from(open)]),
        "the parameters of the tool `f`: at $, the property `a` is optional",
    );
}

#[test]
fn encodes_tool_choices_only_with_tools() {
    let check = |choice: ToolChoice, expected: Value| {
        let request = hi().with_tools(tools()).with_tool_choice(choice.clone());
        assert_eq!(body(&request)["tool_choice"], expected);
        assert_eq!(body(&hi().with_tool_choice(choice)).get("tool_choice"), None);
    };
    check(ToolChoice::None, json!("none"));
    check(ToolChoice::Auto, json!("auto"));
    check(ToolChoice::Required, json!("required"));
    check(
        ToolChoice::Function("look".into()),
        json!({"type": "function", "name": "look"}),
    );
    check(
        ToolChoice::Custom("run".into()),
        json!({"type": "custom", "name": "run"}),
    );
    check(
        ToolChoice::Other(json!({"type": "web_search"})),
        json!({"type": "web_search"}),
    );
    let tools = vec![
        AllowedTool::Function("look".into()),
        AllowedTool::Custom("run".into()),
        AllowedTool::Hosted(json!({"type": "web_search"})),
    ];
    check(
        ToolChoice::Allowed {
            mode: AllowedMode::Required,
            tools,
        },
        json!({"type": "allowed_tools", "mode": "required", "tools": [
            {"type": "function", "name": "look"}, {"type": "custom", "name": "run"}, {"type": "web_search"}]}),
    );
    let one = changed(|request| request.parallel_tool_calls = Some(false));
    assert_eq!(body(&one).get("parallel_tool_calls"), None);
    assert_eq!(body(&one.with_tools(self::tools()))["parallel_tool_calls"], false);
}

#[test]
fn encodes_parameters() {
    let request = changed(|request| {
        request.max_tokens = Some(9);
        request.temperature = Some(0.5);
        request.top_p = Some(0.9);
        request.top_logprobs = Some(2);
        request.logprobs = Some(true);
        request.n = Some(1);
        request.modalities = vec!["text".into()];
        request.verbosity = Some("low".into());
        request.reasoning_effort = Some("high".into());
        request.service_tier = Some("flex".into());
        request.store = Some(false);
        request.metadata = Some([("a".to_owned(), "b".to_owned())].into());
        request.user = Some("u".into());
        request.safety_identifier = Some("s".into());
        request.prompt_cache_key = Some("k".into());
    })
    .with_response_format(ResponseFormat::json_schema(
        "answer",
        json!({"type": "object", "properties": {}}),
    ))
    .with_extra_body("truncation", "auto")
    .with_extra_body("reasoning", json!({"summary": "auto"}))
    .with_extra_body("instructions", "Be brief.");
    assert_json_snapshot!(body(&request), @r#"
    {
      "model": "m",
      "input": [
        {
          "role": "user",
          "content": "Hi"
        }
      ],
      "max_output_tokens": 9,
      "temperature": 0.5,
      "top_p": 0.9,
      "top_logprobs": 2,
      "text": {
        "format": {
          "type": "json_schema",
          "name": "answer",
          "schema": {
            "type": "object",
            "properties": {},
            "additionalProperties": false
          },
          "strict": true
        },
        "verbosity": "low"
      },
      "reasoning": {
        "effort": "high",
        "summary": "auto"
      },
      "service_tier": "flex",
      "store": false,
      "metadata": {
        "a": "b"
      },
      "user": "u",
      "safety_identifier": "s",
      "prompt_cache_key": "k",
      "include": [
        "reasoning.encrypted_content",
        "message.output_text.logprobs"
      ],
      "truncation": "auto",
      "instructions": "Be brief."
    }
    "#);
}

#[test]
fn encodes_response_formats() {
    let format = |format: ResponseFormat| body(&hi().with_response_format(format))["text"]["format"].clone();
    assert_eq!(format(ResponseFormat::Text), json!({"type": "text"}));
    assert_eq!(format(ResponseFormat::JsonObject), json!({"type": "json_object"}));
    assert_eq!(
        format(ResponseFormat::Other(json!({"type": "grammar"}))),
        json!({"type": "grammar"})
    );
    let bare = ResponseFormat::JsonSchema(agcore_chat::JsonSchemaFormat {
        name: "a".into(),
        ..Default::default()
    });
    check_rejected(&hi().with_response_format(bare), "without a schema");
    let open = ResponseFormat::json_schema("a", json!({"type": "object", "properties": {"x": {}}}));
    check_rejected(
        &hi().with_response_format(open),
        "the schema of the response format `a`",
    );
}

#[test]
fn requests_encrypted_reasoning_from_models_that_reason() {
    let include = |request: &ChatRequest, model: &str| -> Value {
        let wire = encode(request, &EncodeOptions::new(model)).unwrap();
        serde_json::from_slice::<Value>(&wire.body).unwrap()["include"].clone()
    };
    let encrypted = json!(["reasoning.encrypted_content"]);
    let effort = |effort: &str| changed(|request| request.reasoning_effort = Some(effort.into()));
    assert_eq!(include(&hi(), "gpt-5-mini"), encrypted);
    assert_eq!(include(&hi(), "gpt-4o"), Value::Null, "it would reject the request");
    assert_eq!(include(&effort("low"), "my-deployment"), encrypted);
    assert_eq!(include(&effort("none"), "gpt-5.1"), Value::Null);
    assert_eq!(include(&hi().with_extra_body("reasoning", json!({})), "m"), encrypted);
    assert_eq!(
        include(&hi().with_extra_body("include", json!([])), "gpt-5"),
        Value::Null,
        "the list of the caller takes precedence"
    );
    let listed = hi().with_extra_body("include", json!(["file_search_call.results"]));
    assert_eq!(include(&listed, "gpt-5"), json!(["file_search_call.results"]));
    check_rejected(&hi().with_extra_body("include", "x"), "must be a list");
}

#[test]
fn encodes_stream_options() {
    let options = EncodeOptions::new("m").with_stream(true);
    let stream =
        |request: &ChatRequest| -> Value { serde_json::from_slice(&encode(request, &options).unwrap().body).unwrap() };
    assert_eq!(stream(&hi())["stream"], true);
    let with = |include_usage, extra: Value| {
        let extra = extra.as_object().cloned().unwrap().into();
        changed(|request| request.stream_options = Some(StreamOptions { include_usage, extra }))
    };
    assert_eq!(stream(&with(Some(true), json!({}))).get("stream_options"), None);
    assert_eq!(
        stream(&with(None, json!({"include_obfuscation": false})))["stream_options"],
        json!({"include_obfuscation": false})
    );
    assert!(
        encode(&with(Some(false), json!({})), &options)
            .unwrap_err()
            .message()
            .contains("usage is always sent")
    );
    assert_eq!(
        body(&with(None, json!({"include_obfuscation": false}))).get("stream_options"),
        None
    );
}

#[test]
fn rejects_unsupported_parameters_and_messages() {
    check_rejected(
        &changed(|request| request.stop = Some("x".into())),
        "the parameter `stop`",
    );
    check_rejected(&changed(|request| request.seed = Some(1)), "the parameter `seed`");
    check_rejected(&changed(|request| request.n = Some(2)), "the parameter `n`");
    check_rejected(
        &changed(|request| request.presence_penalty = Some(0.0)),
        "`presence_penalty`",
    );
    check_rejected(
        &changed(|request| request.frequency_penalty = Some(0.0)),
        "`frequency_penalty`",
    );
    check_rejected(
        &changed(|request| request.logit_bias = Some([("1".to_owned(), 1.0)].into())),
        "`logit_bias`",
    );
    check_rejected(&changed(|request| request.prediction = Some(json!({}))), "`prediction`");
    check_rejected(&changed(|request| request.audio = Some(json!({}))), "`audio`");
    check_rejected(
        &changed(|request| request.modalities = vec!["text".into(), "audio".into()]),
        "`modalities`",
    );
    check_rejected(
        &changed(|request| request.web_search_options = Some(json!({}))),
        "the hosted tool `web_search`",
    );
    check_rejected(
        &changed(|request| (request.max_tokens, request.max_completion_tokens) = (Some(1), Some(2))),
        "differ",
    );
    let audio = Message::user(ContentPart::input_audio("AA", "wav"));
    check_rejected(&ChatRequest::new([audio]), "`input_audio`");
    check_rejected(
        &ChatRequest::new([Message::system(vec!["a".into(), ContentPart::image_url("x")])]),
        "in instructions",
    );
    let named = UserMessage {
        name: Some("Ann".into()),
        content: "Hi".into(),
        ..UserMessage::default()
    };
    check_rejected(&ChatRequest::new([Message::from(named)]), "the `name` of a participant");
    check_rejected(
        &ChatRequest::new([Message::Function(FunctionMessage::default())]),
        "messages of the role `function`",
    );
    let legacy = AssistantMessage {
        function_call: Some(agcore_chat::FunctionCall::default()),
        ..AssistantMessage::default()
    };
    check_rejected(&ChatRequest::new([Message::from(legacy)]), "legacy function calls");
}

#[test]
fn rejects_extra_members_that_a_field_sets() {
    check_rejected(&hi().with_extra_body("temperature", 1), "`temperature`");
    check_rejected(&hi().with_extra_body("input", json!([])), "`input`");
    check_rejected(&hi().with_extra_body("max_output_tokens", 1), "`max_output_tokens`");
    let effort = changed(|request| request.reasoning_effort = Some("low".into()));
    check_rejected(
        &effort.with_extra_body("reasoning", json!({"effort": "high"})),
        "`reasoning.effort` together with reasoning_effort",
    );
    let verbose = changed(|request| request.verbosity = Some("low".into()));
    check_rejected(
        &verbose.clone().with_extra_body("text", json!({"verbosity": "high"})),
        "`text.verbosity` together with verbosity",
    );
    check_rejected(&verbose.with_extra_body("text", "x"), "must be an object");
}

proptest! {
    /// Equal requests have equal bytes, and a longer conversation begins with the bytes of the shorter one, so that prompt
    /// caches hit.
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
