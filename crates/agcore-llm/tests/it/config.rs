//! Providers built from settings, with the mock server, and invalid settings.

use agcore_chat::{AssistantMessage, ChatRequest, Message, ToolCall};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderConfig, ProviderRegistry, ProviderType,
    ReplyItem,
    credential::Credential,
    layer::retry::{Retry, RetryPolicy},
    transport::http::{Proxy, Timeouts},
};
use agcore_testkit::mock_server::{ApiError, MockOptions, MockServer, RecordedRequest, Reply, Script};
use futures_util::StreamExt;

const KEY: &str = "sk-test-0123456789";

fn provider_type(name: &str) -> ProviderType {
    name.parse().unwrap()
}

fn config(server: &MockServer) -> ProviderConfig {
    ProviderConfig::new(provider_type("openai"), "small")
        .with_base_url(server.base_url())
        .with_api_key(KEY)
}

fn hello() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

fn settings(json: &str) -> Result<ProviderConfig, serde_json::Error> {
    serde_json::from_str(json)
}

fn build_error(config: &ProviderConfig) -> LlmError {
    let error = config.build().unwrap_err();
    assert_eq!(error.provider(), Some(config.name()));
    assert!(!error.is_retryable());
    error
}

#[tokio::test]
async fn a_provider_from_settings_returns_complete_and_streamed_replies() {
    let options = MockOptions::new().with_key(KEY);
    let server = MockServer::start_with(
        options,
        Script::new([Reply::text("Good day."), Reply::text("Good night.")]),
    );
    let server = server.await.unwrap();
    let json = format!(
        r#"{{"type": "openai", "base_url": "{}/", "api_key": "{KEY}", "model": "small"}}"#,
        server.base_url()
    );
    let provider = settings(&json).unwrap().build().unwrap();
    assert_eq!((provider.model(), &*provider.info().name), ("small", "openai"));

    let response = provider.chat(hello()).await.unwrap();
    assert_eq!(response.text(), "Good day.");
    assert!(response.usage.is_some());

    let response = provider.chat_call(Call::new(hello()).with_stream(true)).await.unwrap();
    assert_eq!(response.text(), "Good night.");
    server.assert_done();
    assert_eq!(server.requests()[0].path(), "/v1/chat/completions");
    assert_eq!(server.requests()[1].json()["model"], "small");
}

/// Servers that imitate a vendor parse the arguments of calls in the history, and reject the whole request if they are not
/// JSON. The vendors themselves do not, and get them as the model wrote them.
#[tokio::test]
async fn invalid_arguments_are_wrapped_for_other_servers_than_the_vendors_own() {
    let call = ToolCall::function("call_1ab2", "weather", "{\"city\": \"Par");
    let history = [
        Message::user("Hello"),
        AssistantMessage::from_blocks([call.into()]).into(),
        Message::tool("call_1ab2", "invalid arguments"),
    ];
    for name in ["openai", "mistral", "xai", "openai-responses", "compatible", "deepseek"] {
        let server = MockServer::start(Script::new([Reply::text("Hi.")])).await.unwrap();
        let config = ProviderConfig::new(provider_type(name), "small")
            .with_base_url(server.base_url())
            .with_api_key(KEY);
        config
            .build()
            .unwrap()
            .chat(ChatRequest::new(history.clone()))
            .await
            .unwrap();
        let request = &server.requests()[0];
        let body = request.json();
        let arguments = [
            &body["messages"][1]["tool_calls"][0]["function"]["arguments"],
            &body["input"][1]["arguments"],
        ];
        let sent = arguments.into_iter().find_map(|value| value.as_str());
        assert_eq!(sent, Some(r#"{"invalid_json":"{\"city\": \"Par"}"#), "{name}: {body}");
    }
}

#[tokio::test]
async fn a_streamed_reply_has_several_deltas_and_one_end() {
    let server = MockServer::start(Script::new([Reply::text("one two three four")]))
        .await
        .unwrap();
    let items: Vec<ReplyItem> = config(&server).build().unwrap().chat_stream(hello()).collect().await;
    let deltas = items.iter().filter(|item| matches!(item, ReplyItem::Delta(_))).count();
    assert!(deltas > 4, "{items:?}");
    assert_eq!(deltas + 1, items.len());
    assert!(matches!(items.last(), Some(ReplyItem::End(Ok(())))));
}

#[tokio::test]
async fn reports_a_refused_key_without_quoting_it() {
    let refuse = |request: &RecordedRequest| {
        let key = request.header("authorization").unwrap().to_owned();
        Reply::error(ApiError::new(401).with_message(format!("Incorrect API key provided: {key}")))
    };
    let server = MockServer::start(refuse).await.unwrap();
    // Not a well-known pattern of keys, so it is only redacted because it is known.
    let key = "open sesame 1234";
    let config = config(&server).with_api_key(key);
    for stream in [false, true] {
        let provider = config.build().unwrap();
        let error = provider
            .chat_call(Call::new(hello()).with_stream(stream))
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.status()),
            (LlmErrorKind::Authentication, Some(401))
        );
        assert_eq!((error.provider(), error.model()), (Some("openai"), Some("small")));
        let all = format!(
            "{error:#?} {} {:?} {:?}",
            error.chain(),
            error.body_excerpt(),
            error.headers()
        );
        assert!(
            all.contains("Incorrect API key provided") && !all.contains(key),
            "{all}"
        );
    }
    assert!(!format!("{config:#?}").contains(key));
}

#[tokio::test]
async fn reports_the_title_of_a_page_instead_of_a_reply() {
    let page = "<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head><body></body></html>";
    for stream in [false, true] {
        let server = MockServer::start(Script::new([Reply::html(200, page)])).await.unwrap();
        let provider = config(&server).build().unwrap();
        let error = provider
            .chat_call(Call::new(hello()).with_stream(stream))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Malformed, "{error:?}");
        assert_eq!(
            error.to_string(),
            "openai: the address answered with a web page (Welcome to nginx!) instead of a chat completion; check the base URL"
        );
    }
}

/// Sends a message to a server that gives these replies in turn, with retries. Returns the answer and the number of requests.
async fn retried(replies: [Reply; 2]) -> (Result<String, LlmError>, usize) {
    let server = MockServer::start(Script::new(replies)).await.unwrap();
    let clock = std::sync::Arc::new(agcore_testkit::clock::ManualClock::jumping());
    let provider = config(&server).build().unwrap();
    let provider = Retry::new(provider, RetryPolicy::new(), clock, std::sync::Arc::new(|| 0.5));
    let answer = provider.chat(hello()).await.map(|response| response.text().to_string());
    (answer, server.requests().len())
}

#[tokio::test]
async fn a_web_site_is_not_asked_again() {
    let page = "<html><head><title>Please wait</title></head></html>";
    for status in [200, 404, 405] {
        let (answer, requests) = retried([Reply::html(status, page), Reply::text("Good day.")]).await;
        let error = answer.unwrap_err();
        assert!(
            error.message().contains("a web page (Please wait)"),
            "{status}: {error}"
        );
        assert_eq!(requests, 1, "{status}");
    }
}

#[tokio::test]
async fn a_gateway_that_is_not_ready_is_asked_again() {
    let page = "<html><head><title>Bad gateway</title></head></html>";
    let text = || Reply::raw(200, [("content-type", "text/plain")], "upstream is starting");
    for reply in [Reply::html(502, page), Reply::html(503, page), text()] {
        let (answer, requests) = retried([reply, Reply::text("Good day.")]).await;
        assert_eq!((answer.unwrap().as_str(), requests), ("Good day.", 2));
    }
}

#[tokio::test]
async fn lists_models() {
    let options = MockOptions::new().with_key(KEY).with_models(["small", "large"]);
    let server = MockServer::start_with(options, Script::new([])).await.unwrap();
    let ids: Vec<_> = config(&server)
        .list_models()
        .await
        .unwrap()
        .expect("the server lists its models")
        .into_iter()
        .map(|model| model.id)
        .collect();
    assert_eq!(ids, ["small", "large"]);

    let error = config(&server)
        .with_api_key("sk-another-key-12345")
        .list_models()
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.provider()),
        (LlmErrorKind::Authentication, Some("openai"))
    );
}

#[tokio::test]
async fn sends_the_key_in_the_header_of_the_dialect() {
    let server = MockServer::start_with(MockOptions::new().with_key(KEY), Script::new([Reply::text("Yes.")]));
    let server = server.await.unwrap();
    let config = ProviderConfig::new(provider_type("azure"), "small")
        .with_base_url(server.base_url())
        .with_api_key(KEY);
    assert_eq!(config.build().unwrap().chat(hello()).await.unwrap().text(), "Yes.");
    assert_eq!(server.requests()[0].header("api-key"), Some(KEY));
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn adds_the_query_of_the_base_url_to_requests() {
    let server = MockServer::start(Script::new([Reply::text("Yes.")])).await.unwrap();
    let url = format!("{}/chat/completions?api-version=2024-10-21", server.base_url());
    let provider = config(&server).with_base_url(url).build().unwrap();
    provider.chat(hello()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(
        (request.path(), request.query()),
        ("/v1/chat/completions", Some("api-version=2024-10-21"))
    );
}

#[tokio::test]
async fn a_custom_base_url_needs_no_key() {
    let server = MockServer::start(Script::new([Reply::text("Yes.")])).await.unwrap();
    for name in ["vllm", "compatible", "openai"] {
        let config = ProviderConfig::new(provider_type(name), "small").with_base_url(server.base_url());
        config.build().unwrap();
    }
    let config = ProviderConfig::new(provider_type("vllm"), "small").with_base_url(server.base_url());
    assert_eq!(config.build().unwrap().chat(hello()).await.unwrap().text(), "Yes.");
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn parses_settings() {
    let config = settings(
        r#"{"type": "Kimi", "name": "mine", "base_url": "http://localhost:1/v1", "api_key": "sk-1", "model": "m",
            "timeouts": {"connect": 1, "total": 0}, "headers": {"x-a": "b"}, "proxy": "environment",
            "context_window": 1000, "max_output_tokens": 100}"#,
    )
    .unwrap();
    assert_eq!((config.provider_type.name(), config.name()), ("moonshot", "mine"));
    assert!(matches!(&config.credential, Credential::Key(key) if key.expose() == "sk-1"));
    assert_eq!(config.timeouts.connect, Some(std::time::Duration::from_secs(1)));
    assert_eq!(
        (config.timeouts.total, config.timeouts.idle),
        (None, Timeouts::new().idle)
    );
    assert_eq!(
        (config.headers["x-a"].expose(), &config.proxy),
        ("b", &Proxy::Environment)
    );
    let provider = config.build().unwrap();
    let capabilities = provider.capabilities();
    assert_eq!(
        (capabilities.context_window, capabilities.max_output_tokens),
        (Some(1000), Some(100))
    );

    let config = settings(r#"{"type": "ollama", "api_key": null}"#).unwrap();
    assert!(config.credential.is_none() && config.model.is_empty() && config.name() == "ollama");
}

#[test]
fn reports_invalid_settings_with_their_position() {
    let check = |json: &str, position: &str, part: &str| {
        let error = settings(json).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(position), "{error}");
        assert!(!error.contains("sk-secret"), "{error}");
    };
    check("{\n\"model\": \"m\"}", "line 2 column 13", "missing field `type`");
    check(
        "{\"type\": \"openai\",\n  \"modle\": \"m\"}",
        "line 2 column 9",
        "unknown field `modle`, expected one of `type`",
    );
    check("{\n\"type\": \"opnai\"}", "line 2 column 15", "did you mean `openai`?");
    check("{\"type\": 7}", "line 1 column 10", "the name of a provider type");
    check(
        "{\"type\": \"openai\", \"api_key\": \"\"}",
        "line 1 column 32",
        "the key is empty",
    );
    check(
        "{\"type\": \"openai\", \"api_key\": [\"sk-secret\"]}",
        "line 1 column 30",
        "a key as a string",
    );
    check(
        "{\"type\": \"openai\", \"timeouts\": {\"idle\": -1}}",
        "line 1 column 43",
        "number of seconds",
    );
    check(
        "{\"type\": \"openai\", \"proxy\": \"sk-secret\"}",
        "line 1 column 39",
        "invalid proxy: expected `none`",
    );
}

#[test]
fn rejects_invalid_settings_before_sending() {
    let check = |config: ProviderConfig, kind: LlmErrorKind, part: &str| {
        let error = build_error(&config);
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(part), "{error}");
        assert!(!format!("{error:?} {}", error.chain()).contains("hunter2"), "{error:?}");
    };
    let openai = || ProviderConfig::new(provider_type("openai"), "m").with_api_key("sk-1");
    let invalid = LlmErrorKind::InvalidRequest;
    let without_key = ProviderConfig::new(provider_type("openai"), "m");
    check(
        without_key,
        LlmErrorKind::Authentication,
        "provide one, usually from the environment variable OPENAI_API_KEY",
    );
    for (key, part) in [
        (
            "",
            "the API key is empty: provide one, usually from the environment variable OPENAI_API_KEY",
        ),
        (" \r\n", "the API key is empty"),
        ("\"hunter2\"", "the key is in quotes"),
        ("Bearer hunter2", "the key starts with `Bearer `"),
        ("sk-1\nx: hunter2", "line break"),
    ] {
        check(openai().with_api_key(key), LlmErrorKind::Authentication, part);
    }
    check(
        openai().with_base_url("http://localhost:1").with_api_key(" "),
        LlmErrorKind::Authentication,
        "the key is empty; set it, or omit it if the server needs none",
    );
    check(openai().with_base_url("not a url"), invalid, "invalid base URL: ");
    check(
        openai().with_base_url("localhost:1/v1"),
        invalid,
        "did you mean http://localhost:1/v1?",
    );
    check(
        openai().with_base_url("http://me:hunter2@h/v1"),
        invalid,
        "user name or password",
    );
    check(
        openai().with_header("x-a", "b\r\nx-admin: hunter2"),
        invalid,
        "invalid header \"x-a\": the value contains a line break",
    );
    check(
        openai().with_header("Authorization", "Bearer hunter2"),
        invalid,
        "it contains the credential already",
    );
    check(
        ProviderConfig::new(provider_type("azure"), "m").with_api_key("k"),
        invalid,
        "set `base_url`",
    );
    check(
        ProviderConfig::parse("compatible:my-model").unwrap(),
        invalid,
        "no default address: set `base_url` (`ProviderConfig::with_base_url` in code, or the option `--base-url`)",
    );
}

#[test]
fn a_registry_builds_providers_from_settings() {
    let registry = ProviderRegistry::new();
    let local = settings(r#"{"type": "ollama", "model": "llama3.2"}"#).unwrap();
    assert!(registry.register_config(&local).unwrap().is_none());
    assert_eq!(registry.get("ollama").unwrap().model(), "llama3.2");
    assert!(
        registry
            .register_config(&ProviderConfig::new(provider_type("openai"), "m"))
            .is_err()
    );
    assert_eq!(registry.names(), ["ollama"]);
}

#[cfg(feature = "anthropic")]
#[tokio::test]
async fn automatic_caching_can_be_switched_off() {
    for (setting, expected) in [("", true), (r#", "automatic_caching": false"#, false)] {
        let server = MockServer::start(Script::new([Reply::text("Yes.")])).await.unwrap();
        let json = format!(
            r#"{{"type": "anthropic", "base_url": "{}", "api_key": "{KEY}", "model": "small"{setting}}}"#,
            server.base_url()
        );
        let provider = settings(&json).unwrap().build().unwrap();
        let conversation = [
            Message::user("Hello"),
            Message::assistant("Hi."),
            Message::user("Ready?"),
        ];
        provider.chat(ChatRequest::new(conversation)).await.unwrap();
        let body = server.requests()[0].json().to_string();
        assert_eq!(body.contains("cache_control"), expected, "{body}");
    }
}
