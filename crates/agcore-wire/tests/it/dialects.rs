//! The bodies of one conversation in all dialects, and what each dialect refuses.

mod bodies;

use agcore_chat::{
    AllowedMode, AllowedTool, AssistantMessage, Block, CacheMark, ChatRequest, Content, ContentPart, CustomTool, Marks,
    Message, Reasoning, RefusalPart, ResponseFormat, TextPart, Tool, ToolCall, ToolChoice, ToolDefinition, UserMessage,
    VendorData,
};
use agcore_wire::{
    Chat, EncodeOptions, LlmError, LlmErrorKind, Wire, WireRequest,
    dialect::{self, Dialect},
    openai_chat::OpenAiChat,
};
use serde_json::{Value, json};

fn encode(dialect: Dialect, request: &ChatRequest, stream: bool) -> Result<WireRequest, LlmError> {
    let options = EncodeOptions::new("some-model").with_stream(stream);
    Wire::<Chat>::encode(&OpenAiChat::new(dialect), request, &options)
}

fn body(dialect: Dialect, request: &ChatRequest) -> Value {
    let wire = encode(dialect, request, false).unwrap();
    serde_json::from_slice(&wire.body).unwrap()
}

fn refused(dialect: fn() -> Dialect, request: &ChatRequest, expected: &str) {
    let name = dialect().name;
    let error = encode(dialect(), request, false).expect_err(&format!("{name} must refuse this: {expected}"));
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(expected), "{name}: {:?}", error.message());
    let is_named = error.message().contains(&*name);
    assert!(is_named, "{name} is not named: {:?}", error.message());
}

fn hi() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn set(mut request: ChatRequest, set: impl FnOnce(&mut ChatRequest)) -> ChatRequest {
    set(&mut request);
    request
}

fn tool() -> Tool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolDefinition::new("get_weather", "Tells the weather.", schema).into()
}

/// Returns a conversation with instructions, a question, reasoning and a call, its result, an answer and another message.
fn conversation() -> ChatRequest {
    let call = ToolCall::function("call_abc", "get_weather", r#"{"city":"Oslo"}"#);
    let thought = AssistantMessage::default()
        .with_reasoning(Reasoning::new("Hm."))
        .with_call(call);
    let mut result = Message::tool("call_abc", "Sunny");
    if let Message::Tool(result) = &mut result {
        result.name = Some("get_weather".into());
    }
    let messages = [
        Message::developer("Be brief."),
        Message::user("Weather?"),
        thought.into(),
        result,
        Message::assistant("Sunny."),
        "Thanks".into(),
    ];
    ChatRequest::new(messages)
        .with_tools([tool()])
        .with_max_tokens(100)
        .with_temperature(0.5)
        .with_tool_choice(ToolChoice::Auto)
}

#[test]
fn finds_dialects_by_name_and_alias() {
    for (name, expected) in [
        ("OpenAI", "openai"),
        ("azure_openai", "azure"),
        ("DashScope", "qwen"),
        ("google", "gemini"),
        ("grok", "xai"),
        ("Kimi", "moonshot"),
        ("z.ai", "zhipu"),
        ("llama.cpp", "llama.cpp"),
        ("llamacpp", "llama.cpp"),
        ("vLLM", "vllm"),
    ] {
        assert_eq!(dialect::by_name(name).unwrap().name, expected);
    }
    assert!(dialect::by_name("").is_none());
    for make in dialect::ALL {
        let found = dialect::by_name(&make().name).unwrap();
        assert_eq!(found, make(), "no alias is the name of another dialect");
    }
}

#[test]
fn refuses_or_renames_parameters() {
    let seed = set(hi(), |request| request.seed = Some(7));
    refused(dialect::deepseek, &seed, "the parameter `seed`");
    assert_eq!(body(dialect::mistral(), &seed)["random_seed"], 7);
    assert_eq!(body(dialect::openai(), &seed)["seed"], 7);
    let bias = set(hi(), |request| {
        request.logit_bias = Some([("1".to_owned(), 5.0)].into());
    });
    for refusing in [dialect::xai, dialect::gemini, dialect::groq, dialect::mistral] {
        refused(refusing, &bias, "the parameter `logit_bias`");
    }
    let user = set(hi(), |request| request.user = Some("u".into()));
    assert_eq!(body(dialect::zhipu(), &user)["user_id"], "u");
}

#[test]
fn translates_the_reasoning_effort() {
    let effort = |effort: &str| {
        set(hi(), |request| {
            request.reasoning_effort = Some(effort.into());
        })
    };
    assert_eq!(body(dialect::openai(), &effort("low"))["reasoning_effort"], "low");
    assert_eq!(
        body(dialect::openrouter(), &effort("low"))["reasoning"],
        json!({"effort": "low"})
    );
    assert_eq!(
        body(dialect::llama_cpp(), &effort("low"))["chat_template_kwargs"],
        json!({"reasoning_effort": "low"})
    );
    assert_eq!(
        body(dialect::deepseek(), &effort("none"))["thinking"],
        json!({"type": "disabled"})
    );
    assert_eq!(body(dialect::qwen(), &effort("none"))["enable_thinking"], false);
    refused(dialect::qwen, &effort("high"), "the reasoning effort `high`");
    refused(dialect::moonshot, &effort("high"), "the reasoning effort `high`");
    for level in ["low", "medium", "high", "xhigh", "max"] {
        assert_eq!(body(dialect::deepseek(), &effort(level))["reasoning_effort"], level);
        assert_eq!(body(dialect::zhipu(), &effort(level))["reasoning_effort"], level);
    }
    // Thinking can be switched on and tuned in one request.
    let thinking = effort("high").with_extra_body("thinking", json!({"type": "enabled"}));
    assert_eq!(body(dialect::deepseek(), &thinking)["reasoning_effort"], "high");
    for zero in [dialect::deepseek(), dialect::zhipu()] {
        assert_eq!(body(zero, &effort("none"))["thinking"], json!({"type": "disabled"}));
    }
    let both = effort("none").with_extra_body("thinking", json!({"type": "enabled"}));
    assert!(
        encode(dialect::deepseek(), &both, false)
            .unwrap_err()
            .message()
            .contains("`thinking`")
    );
}

#[test]
fn translates_or_refuses_tool_choices() {
    let choose = |choice| {
        hi().with_tools([
            tool(),
            ToolDefinition::new("other", "", json!({"type": "object"})).into(),
        ])
        .with_tool_choice(choice)
    };
    assert_eq!(
        body(dialect::openai(), &choose(ToolChoice::Required))["tool_choice"],
        "required"
    );
    assert_eq!(
        body(dialect::mistral(), &choose(ToolChoice::Required))["tool_choice"],
        "any"
    );
    assert_eq!(
        body(dialect::qwen(), &choose(ToolChoice::Required))["tool_choice"],
        "required"
    );
    let thinking = choose(ToolChoice::Required).with_extra_body("enable_thinking", true);
    refused(dialect::qwen, &thinking, "while the model is thinking");
    let not_thinking = thinking.with_extra_body("enable_thinking", false);
    assert_eq!(body(dialect::qwen(), &not_thinking)["tool_choice"], "required");
    refused(dialect::zhipu, &choose(ToolChoice::Required), "tool_choice: required");
    refused(
        dialect::llama_cpp,
        &choose(ToolChoice::Function("other".into())),
        "names one tool",
    );
    assert_eq!(
        body(dialect::ollama(), &choose(ToolChoice::None)).get("tools"),
        None,
        "the tools are left out instead"
    );
    assert_eq!(
        body(dialect::ollama(), &choose(ToolChoice::Auto)).get("tool_choice"),
        None
    );
    let allowed = |mode| {
        choose(ToolChoice::Allowed {
            mode,
            tools: vec![AllowedTool::Function("other".into())],
        })
    };
    assert_eq!(
        body(dialect::openai(), &allowed(AllowedMode::Auto))["tool_choice"]["type"],
        "allowed_tools"
    );
    let narrowed = body(dialect::groq(), &allowed(AllowedMode::Required));
    assert_eq!(
        (narrowed["tools"].as_array().unwrap().len(), &narrowed["tool_choice"]),
        (1, &json!("required"))
    );
    refused(dialect::zhipu, &allowed(AllowedMode::Required), "tool_choice: required");
}

#[test]
fn translates_or_refuses_parallel_tool_calls() {
    let parallel = |allowed| {
        set(hi().with_tools([tool()]), |request| {
            request.parallel_tool_calls = Some(allowed);
        })
    };
    assert_eq!(body(dialect::openai(), &parallel(false))["parallel_tool_calls"], false);
    assert_eq!(
        body(dialect::gemini(), &parallel(true)).get("parallel_tool_calls"),
        None
    );
    refused(dialect::gemini, &parallel(false), "parallel_tool_calls");
    let without_tools = set(hi(), |request| request.parallel_tool_calls = Some(false));
    assert_eq!(
        body(dialect::openai(), &without_tools.with_tool_choice(ToolChoice::Auto)),
        json!({"model": "some-model", "messages": [{"role": "user", "content": "Hi"}]})
    );
}

#[test]
fn only_openai_supports_custom_tools() {
    let custom = CustomTool {
        name: "run".into(),
        ..CustomTool::default()
    };
    let request = hi().with_tools([Tool::from(custom)]);
    assert_eq!(
        body(dialect::openai(), &request)["tools"],
        json!([{"type": "custom", "custom": {"name": "run"}}])
    );
    refused(dialect::groq, &request, "custom tools such as `run`");
    // A call of a custom tool in the history becomes a function call.
    let history = ChatRequest::new([
        Message::user("Hi"),
        AssistantMessage::default()
            .with_call(ToolCall::custom("c", "run", "a b"))
            .into(),
        Message::tool("c", "ok"),
    ]);
    let call = |dialect| body(dialect, &history)["messages"][1]["tool_calls"][0].clone();
    assert_eq!(
        call(dialect::openai()),
        json!({"id": "c", "type": "custom", "custom": {"name": "run", "input": "a b"}})
    );
    assert_eq!(
        call(dialect::groq())["function"],
        json!({"name": "run", "arguments": r#"{"input":"a b"}"#})
    );
}

#[test]
fn closes_or_refuses_strict_schemas() {
    let strict = |schema| hi().with_tools([Tool::from(ToolDefinition::new("t", "", schema).with_strict(true))]);
    let open = strict(json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}));
    let function = |dialect| body(dialect, &open)["tools"][0]["function"].clone();
    assert_eq!(function(dialect::openai())["parameters"]["additionalProperties"], false);
    assert_eq!(function(dialect::openai())["strict"], true);
    assert_eq!(
        function(dialect::vllm())["parameters"].get("additionalProperties"),
        None
    );
    refused(
        dialect::openai,
        &strict(json!({"type": "object", "properties": {"a": {}}})),
        "the property `a` is optional",
    );
    refused(dialect::gemini, &open, "`strict` (tool `t`)");
}

#[test]
fn converts_schemas_for_gemini() {
    let with = |schema| hi().with_tools([Tool::from(ToolDefinition::new("t", "", schema))]);
    let schema = json!({"$schema": "s", "type": "object", "properties": {"a": {"type": "array"}}, "additionalProperties": false});
    let parameters = body(dialect::gemini(), &with(schema))["tools"][0]["function"]["parameters"].clone();
    assert_eq!(
        parameters,
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {}}}})
    );
    refused(
        dialect::gemini,
        &with(
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}, "required": []})
                .as_object()
                .map(|map| {
                    let mut map = map.clone();
                    map.insert("properties".into(), json!({"x": {"type": "string"}}));
                    Value::Object(map)
                })
                .unwrap(),
        ),
        "at $.additionalProperties",
    );
    let none = body(dialect::gemini(), &with(json!({"type": "object", "properties": {}})));
    assert_eq!(
        none["tools"][0]["function"].get("parameters"),
        None,
        "a function without arguments has no schema"
    );
}

#[test]
fn sends_or_refuses_response_formats() {
    let schema = json!({"type": "object", "properties": {}, "required": []});
    let request = hi().with_response_format(ResponseFormat::json_schema("f", schema));
    let format = body(dialect::openai(), &request)["response_format"].clone();
    assert_eq!(format["json_schema"]["schema"]["additionalProperties"], false);
    assert_eq!(format["json_schema"]["name"], "f");
    refused(dialect::deepseek, &request, "the response format `json_schema`");
    let object = hi().with_response_format(ResponseFormat::JsonObject);
    assert_eq!(
        body(dialect::deepseek(), &object)["response_format"],
        json!({"type": "json_object"})
    );
}

#[test]
fn sends_vendor_data_only_to_its_vendor() {
    let signature = VendorData::new(
        "gemini",
        json!({"extra_content": {"google": {"thought_signature": "ts"}}}),
    );
    let call = ToolCall::function("c", "f", "{}").with_vendor(signature);
    let details = json!([{"type": "reasoning.text", "text": "Hm", "signature": "s"}]);
    let sealed = Reasoning::new("Hm").with_vendor(VendorData::new("openrouter", json!({"reasoning_details": details})));
    let message = AssistantMessage::default().with_reasoning(sealed).with_call(call);
    let request = ChatRequest::new([Message::user("Hi"), message.into(), Message::tool("c", "ok")]);
    let sent = |dialect| body(dialect, &request)["messages"][1].clone();
    let at_gemini = sent(dialect::gemini());
    assert_eq!(
        at_gemini["tool_calls"][0]["extra_content"],
        json!({"google": {"thought_signature": "ts"}})
    );
    assert_eq!(at_gemini.get("reasoning_details"), None);
    let at_openrouter = sent(dialect::openrouter());
    assert_eq!(
        (&at_openrouter["reasoning"], &at_openrouter["reasoning_details"]),
        (&json!("Hm"), &details)
    );
    assert_eq!(at_openrouter["tool_calls"][0].get("extra_content"), None);
    let at_deepseek = sent(dialect::deepseek());
    assert_eq!(at_deepseek.get("reasoning_details"), None);
    // The conversation contains reasoning, so a message with calls must have the member, but without another vendor's text.
    assert_eq!(at_deepseek["reasoning_content"], "");
}

#[test]
fn a_thinking_deepseek_model_gets_reasoning_even_if_empty() {
    let message = || Message::from(AssistantMessage::default().with_call(ToolCall::function("c", "f", "{}")));
    let history = || ChatRequest::new([Message::user("Hi"), message(), Message::tool("c", "ok")]);
    let member = |request: &ChatRequest| {
        body(dialect::deepseek(), request)["messages"][1]
            .get("reasoning_content")
            .cloned()
    };
    assert_eq!(member(&history()), None, "a model that does not think has none");
    assert_eq!(member(&history().with_model("deepseek-reasoner")), Some(json!("")));
    assert_eq!(
        member(&history().with_extra_body("thinking", json!({"type": "enabled"}))),
        Some(json!(""))
    );
}

#[test]
fn mistral_gets_ids_of_nine_characters_and_reasoning_as_parts() {
    let request = conversation();
    let body = body(dialect::mistral(), &request);
    let id = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(
        id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{id}"
    );
    assert_eq!(body["messages"][3]["tool_call_id"], id);
    let thinking = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]);
    assert_eq!(body["messages"][2]["content"], thinking);
}

#[test]
fn sends_invalid_arguments_unchanged_or_wrapped() {
    let message = |raw: &str| Message::from(AssistantMessage::default().with_call(ToolCall::function("c", "f", raw)));
    let arguments = |dialect, raw: &str| {
        let request = ChatRequest::new([Message::user("Hi"), message(raw), Message::tool("c", "bad")]);
        body(dialect, &request)["messages"][1]["tool_calls"][0]["function"]["arguments"].clone()
    };
    assert_eq!(arguments(dialect::openai(), "{\"a\":"), "{\"a\":");
    assert_eq!(arguments(dialect::vllm(), "{\"a\":"), r#"{"invalid_json":"{\"a\":"}"#);
    assert_eq!(arguments(dialect::openai(), ""), "{}");
    assert_eq!(
        arguments(dialect::vllm(), " {\"a\": 1}"),
        " {\"a\": 1}",
        "valid arguments are sent unchanged"
    );
}

#[test]
fn sends_cache_marks_where_they_are_supported() {
    let mark = Marks::new().with_cache(CacheMark::new().with_ttl("1h"));
    let part = ContentPart::Text(TextPart {
        text: "long".into(),
        marks: mark.clone(),
        ..TextPart::default()
    });
    let user = UserMessage {
        content: Content::from("whole"),
        marks: mark,
        ..UserMessage::default()
    };
    let request = ChatRequest::new([Message::system(part), user.into()]);
    let control = json!([{"type": "text", "text": "long", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]);
    let at_openrouter = body(dialect::openrouter(), &request);
    assert_eq!(at_openrouter["messages"][0]["content"], control);
    assert_eq!(at_openrouter["messages"][1]["content"][0]["cache_control"]["ttl"], "1h");
    let plain = json!([{"role": "system", "content": "long"}, {"role": "user", "content": "whole"}]);
    assert_eq!(body(dialect::openai(), &request)["messages"], plain);
}

#[test]
fn joins_sends_or_refuses_parts() {
    let image = ContentPart::image_url("https://example.org/a.png");
    let user = ChatRequest::new([Message::user(vec!["See".into(), image.clone()])]);
    let parts = json!([{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]);
    assert_eq!(body(dialect::openai(), &user)["messages"][0]["content"], parts);
    refused(dialect::deepseek, &user, "parts of the type `image_url`");
    refused(
        dialect::openai,
        &ChatRequest::new([Message::system(image)]),
        "parts other than text in instructions",
    );
    let system = ChatRequest::new([Message::system(vec![ContentPart::from("a"), "b".into()])]);
    assert_eq!(body(dialect::groq(), &system)["messages"][0]["content"], "ab");
    assert_eq!(
        body(dialect::openai(), &system)["messages"][0]["content"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let one = ChatRequest::new([Message::user(ContentPart::from("only"))]);
    assert_eq!(body(dialect::openai(), &one)["messages"][0]["content"], "only");
    let raw = ContentPart::Other(json!({"type": "video_url", "video_url": {"url": "v"}}));
    assert_eq!(
        body(dialect::qwen(), &ChatRequest::new([Message::user(raw)]))["messages"][0]["content"][0]["type"],
        "video_url"
    );
}

#[test]
fn sends_a_refusal_as_a_member_or_as_text() {
    let message = AssistantMessage {
        refusal: Some("No.".into()),
        ..AssistantMessage::default()
    };
    let request = ChatRequest::new([Message::user("Hi"), message.into(), "Why?".into()]);
    assert_eq!(
        body(dialect::openai(), &request)["messages"][1],
        json!({"role": "assistant", "content": null, "refusal": "No."})
    );
    assert_eq!(
        body(dialect::qwen(), &request)["messages"][1],
        json!({"role": "assistant", "content": "No."})
    );
}

#[test]
fn omits_annotations_of_a_reply_and_sends_members_for_the_vendor() {
    let mut message = AssistantMessage::from_blocks([Block::text("Once")]);
    message.annotations = Some(json!([1]));
    message.audio = Some(json!({"id": "au", "data": "AAAA", "transcript": "Once"}));
    message.extra.insert("provider_specific_fields", json!({}));
    message.extra.insert("prefix", true);
    let request = ChatRequest::new([Message::user("Begin"), message.into()]);
    assert_eq!(
        body(dialect::openai(), &request)["messages"][1],
        json!({"role": "assistant", "content": "Once", "audio": {"id": "au"}})
    );
    assert_eq!(
        body(dialect::mistral(), &request)["messages"][1],
        json!({"role": "assistant", "content": "Once", "prefix": true})
    );
}

/// Requests that vendors answered are not refused.
#[test]
fn sends_what_vendors_accepted() {
    let root = json!({"name": "square_root", "description": "Root.", "parameters": {"type": "object",
        "properties": {"number": {"type": "number"}}, "required": ["number"]}});
    let required = json!({"model": "qwen3-vl-flash", "messages": [{"role": "user", "content": "Root of 132413?"}],
        "tools": [{"type": "function", "function": root}], "tool_choice": "required", "enable_thinking": false});
    let open = json!({"type": "object", "properties": {"thought": {"type": "string"},
        "tool_input": {"type": ["object", "null"], "additionalProperties": {"type": "string"}}},
        "required": ["thought", "tool_input"], "additionalProperties": false});
    let format = json!({"type": "json_schema", "json_schema": {"name": "o", "strict": true, "schema": open}});
    let strict = json!({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Search."}],
        "response_format": format});
    for (make, sent) in [(dialect::qwen as fn() -> Dialect, required), (dialect::openai, strict)] {
        let request: ChatRequest = serde_json::from_value(sent.clone()).unwrap();
        let encoded = body(make(), &request);
        for (name, value) in sent.as_object().unwrap() {
            assert_eq!(encoded[name], *value, "{name}");
        }
    }
}

#[test]
fn qwen_always_streams() {
    let request = hi();
    let whole = body(dialect::qwen(), &request);
    assert_eq!(
        (&whole["stream"], &whole["stream_options"]),
        (&json!(true), &json!({"include_usage": true}))
    );
    assert_eq!(body(dialect::openai(), &request).get("stream"), None);
}

#[test]
fn writes_whole_biases_as_integers() {
    let request = set(hi(), |request| {
        request.logit_bias = Some([("1".to_owned(), -100.0), ("2".to_owned(), 0.5)].into());
    });
    let wire = encode(dialect::openai(), &request, false).unwrap();
    let text = String::from_utf8(wire.body.to_vec()).unwrap();
    assert!(text.contains(r#""logit_bias":{"1":-100,"2":0.5}"#), "{text}");
}

#[test]
fn writes_audio_in_the_format_of_the_vendor() {
    let request = ChatRequest::new([Message::user(ContentPart::input_audio("UklGRg==", "wav"))]);
    let part = |dialect| body(dialect, &request)["messages"][0]["content"][0]["input_audio"].clone();
    assert_eq!(part(dialect::openai()), json!({"data": "UklGRg==", "format": "wav"}));
    assert_eq!(part(dialect::mistral()), "UklGRg==");
    refused(dialect::groq, &request, "parts of the type `input_audio`");
}

#[test]
fn sends_cache_marks_only_with_text() {
    let mark = || Marks::new().with_cache(CacheMark::new());
    let image = ContentPart::image_url("https://example.org/a.png").with_marks(mark());
    let user = UserMessage {
        content: vec![ContentPart::text("See").with_marks(mark()), image].into(),
        marks: mark(),
        ..UserMessage::default()
    };
    let content =
        body(dialect::openrouter(), &ChatRequest::new([Message::from(user)]))["messages"][0]["content"].clone();
    assert_eq!(content[0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(content[1].get("cache_control"), None);
}

#[test]
fn sends_a_refusal_block_as_a_part_or_as_text() {
    let part = RefusalPart {
        refusal: "No.".into(),
        ..RefusalPart::default()
    };
    let message = AssistantMessage::from_blocks([Block::text("Well. "), Block::Refusal(part)]);
    let request = ChatRequest::new([Message::user("Hi"), message.into(), "Why?".into()]);
    let content = |dialect| body(dialect, &request)["messages"][1]["content"].clone();
    assert_eq!(
        content(dialect::openai())[1],
        json!({"type": "refusal", "refusal": "No."})
    );
    let texts = json!([{"type": "text", "text": "Well. "}, {"type": "text", "text": "No."}]);
    assert_eq!(content(dialect::mistral()), texts);
    assert_eq!(content(dialect::deepseek()), "Well. No.");
}

#[test]
fn openrouter_refuses_parameters_that_the_server_ignores() {
    for parameter in [
        |request: &mut ChatRequest| request.n = Some(2),
        |request: &mut ChatRequest| request.store = Some(true),
    ] {
        refused(dialect::openrouter, &set(hi(), parameter), "the parameter `");
    }
}

#[test]
fn one_answer_is_what_every_vendor_gives() {
    let answers = |n| set(hi(), |request| request.n = Some(n));
    for dialect in [dialect::openrouter, dialect::deepseek, dialect::zhipu, dialect::ollama] {
        assert_eq!(body(dialect(), &answers(1)).get("n"), None);
        refused(dialect, &answers(2), "the parameter `n`");
    }
    assert_eq!(body(dialect::openai(), &answers(1))["n"], 1);
}

#[test]
fn deepseek_refuses_what_its_server_would_ignore() {
    let request = set(hi().with_tools([tool()]), |request| {
        request.parallel_tool_calls = Some(false);
    });
    refused(dialect::deepseek, &request, "the parameter `parallel_tool_calls`");
}

#[test]
fn zhipu_accepts_a_named_tool() {
    let request = hi()
        .with_tools([tool()])
        .with_tool_choice(ToolChoice::Function("get_weather".into()));
    let expected = json!({"type": "function", "function": {"name": "get_weather"}});
    assert_eq!(body(dialect::zhipu(), &request)["tool_choice"], expected);
}

#[test]
fn dialects_state_whether_a_schema_may_be_sent_with_tools() {
    let accepts = |dialect: &fn() -> Dialect| dialect().formats.json_schema_with_tools;
    let names: Vec<_> = dialect::ALL
        .iter()
        .filter(|dialect| accepts(dialect))
        .map(|dialect| dialect().name)
        .collect();
    assert_eq!(
        names,
        ["openai", "azure", "qwen", "mistral", "xai", "moonshot", "openrouter"]
    );
    assert!(!dialect::compatible("any").formats.json_schema_with_tools);
}
