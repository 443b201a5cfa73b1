//! The spans of a turn: names, attributes and nesting, following OpenTelemetry's conventions for generative AI.

use std::{future::pending, sync::Arc};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSpec};
use agcore_chat::{
    AnsweredBy, AssistantMessage, ChatRequest, ChatResponse, Fault, FaultKind, FinishReason, Message, ResponseFormat,
    StopSequence, ToolCall, Usage,
};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, Notice, ProviderInfo, ReplyDelta, ReplyItem,
    ReplyStream, layer::trace::Trace, provider_fn,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
    spans::{RecordedSpan, SpanLog},
};
use agcore_tools::{
    NoArguments, Permission, PermissionRules, Rule, RuleState, SuspendingApprover, ToolError, ToolRegistry, typed,
};
use futures_util::{StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Notify;

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// One.
    a: i64,
    /// Other.
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Look {
    /// One.
    a: usize,
    /// A text.
    note: String,
}

fn tools() -> ToolRegistry {
    let tools = ToolRegistry::new();
    let add = typed("add", "Adds.", |add: Add| async move {
        let sum = add.a.checked_add(add.b).ok_or_else(|| ToolError::failed("too large"))?;
        Ok(sum.to_string())
    });
    tools.register(add).unwrap();
    tools
}

#[track_caller]
fn check(span: &RecordedSpan, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(span.field(name), Some(*value), "{name} of {span:?}");
    }
}

#[track_caller]
fn absent(span: &RecordedSpan, names: &[&str]) {
    for name in names {
        assert_eq!(span.field(name), None, "{name} of {span:?}");
    }
}

#[tokio::test]
async fn a_turn_with_a_tool_is_a_tree_of_spans() {
    let script = [
        ScriptStep::calls([ToolCall::function("c1", "add", r#"{"a":1,"b":2}"#)]),
        ScriptStep::text("3"),
    ];
    let provider = ScriptedProvider::new(script);
    let bundle = AgentBuilder::new().with_provider(provider).with_tools(tools());
    let bundle = bundle.with_clock(ManualClock::jumping()).build().unwrap();
    let session = bundle.session("s-1", AgentSpec::new("ada", "Be Ada."));
    let log = SpanLog::new();
    {
        let _listening = log.listen();
        session.turn("1 + 2?").await.unwrap();
    }

    let turn = log.only("invoke_agent");
    check(
        &turn,
        &[
            ("otel.name", "invoke_agent ada"),
            ("otel.kind", "internal"),
            ("gen_ai.operation.name", "invoke_agent"),
            ("gen_ai.agent.name", "ada"),
            ("gen_ai.conversation.id", "s-1"),
            ("gen_ai.request.model", "script-1"),
            ("gen_ai.usage.input_tokens", "20"),
            ("gen_ai.usage.output_tokens", "10"),
        ],
    );
    absent(&turn, &["error.type", "otel.status_code"]);

    let calls = log.named("chat");
    let reasons: Vec<_> = calls
        .iter()
        .map(|span| span.field("gen_ai.response.finish_reasons"))
        .collect();
    assert_eq!(reasons, [Some(r#"["tool_calls"]"#), Some(r#"["stop"]"#)]);
    for call in &calls {
        assert_eq!(call.parent.as_deref(), Some("invoke_agent"));
        check(
            call,
            &[
                ("otel.kind", "client"),
                ("gen_ai.operation.name", "chat"),
                ("gen_ai.conversation.id", "s-1"),
                ("gen_ai.request.stream", "false"),
                ("agcore.attempts", "1"),
            ],
        );
        absent(call, &["error.type", "gen_ai.input.messages", "gen_ai.output.messages"]);
    }

    let tool = log.only("execute_tool");
    assert_eq!(tool.parent.as_deref(), Some("invoke_agent"));
    check(
        &tool,
        &[
            ("otel.name", "execute_tool add"),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "add"),
            ("gen_ai.tool.type", "function"),
            ("gen_ai.tool.call.id", "c1"),
        ],
    );
    absent(&tool, &["error.type"]);
    assert!(log.spans().iter().all(|span| span.closed));
}

#[tokio::test]
async fn a_suspended_turn_is_not_marked_as_failed() {
    let script = [ScriptStep::calls([ToolCall::function("c1", "add", r#"{"a":1,"b":2}"#)])];
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "add"));
    let bundle = AgentBuilder::new()
        .with_provider(ScriptedProvider::new(script))
        .with_tools(tools())
        .with_permissions(rules)
        .with_approver(SuspendingApprover)
        .with_clock(ManualClock::jumping())
        .build()
        .unwrap();
    let session = bundle.session("s-1", AgentSpec::new("ada", "Be Ada."));
    let log = SpanLog::new();
    {
        let _listening = log.listen();
        assert_eq!(session.turn("1 + 2?").await.unwrap().questions().len(), 1);
    }
    absent(&log.only("invoke_agent"), &["error.type", "otel.status_code"]);
    assert!(log.named("execute_tool").is_empty(), "nothing ran");
}

#[tokio::test]
async fn marks_failures() {
    let script = [
        ScriptStep::calls([ToolCall::function("c1", "add", r#"{"a":9223372036854775807,"b":2}"#)]),
        ScriptStep::error(LlmError::new(LlmErrorKind::Authentication, "no")),
    ];
    let provider = ScriptedProvider::new(script);
    let bundle = AgentBuilder::new().with_provider(provider).with_tools(tools());
    let bundle = bundle.with_clock(ManualClock::jumping()).build().unwrap();
    let session = bundle.session("s-1", AgentSpec::new("ada", "Be Ada."));
    let log = SpanLog::new();
    {
        let _listening = log.listen();
        session.turn("Go").await.unwrap_err();
    }
    check(
        &log.only("execute_tool"),
        &[("error.type", "tool"), ("otel.status_code", "ERROR")],
    );
    let [_, failed] = log.named("chat").try_into().unwrap();
    check(&failed, &[("error.type", "auth"), ("otel.status_code", "ERROR")]);
    check(
        &log.only("invoke_agent"),
        &[("error.type", "auth"), ("otel.status_code", "ERROR")],
    );
}

fn traced(inner: impl LlmProvider + 'static) -> Trace<impl LlmProvider> {
    Trace::new(inner, Arc::new(ManualClock::jumping()))
}

fn request() -> ChatRequest {
    let mut request = ChatRequest::new([Message::system("Short."), Message::user("Hello")]);
    request.model = "small-1".into();
    request.temperature = Some(0.5);
    request.seed = Some(7);
    request.with_max_tokens(64)
}

#[tokio::test]
async fn records_requests_and_replies() {
    let answer = || {
        let mut response = ChatResponse::from_text("Hi");
        response.id = Some("r-1".into());
        response.model = Some("small-1-0815".into());
        response.choices[0].finish_reason = Some(FinishReason::Length);
        let mut usage = Usage::new(100, 20);
        usage.prompt_tokens_details.cached_tokens = Some(80);
        usage.completion_tokens_details.reasoning_tokens = Some(15);
        response.usage = Some(usage);
        response
    };
    let log = SpanLog::new();
    let provider = traced(provider_fn(move |_| async move { Ok(answer()) }));
    {
        let _listening = log.listen();
        provider.chat(request()).await.unwrap();
    }
    check(
        &log.only("chat"),
        &[
            ("otel.name", "chat small-1"),
            ("gen_ai.provider.name", "custom"),
            ("gen_ai.request.model", "small-1"),
            ("gen_ai.request.max_tokens", "64"),
            ("gen_ai.request.temperature", "0.5"),
            ("gen_ai.request.seed", "7"),
            ("gen_ai.response.id", "r-1"),
            ("gen_ai.response.model", "small-1-0815"),
            ("gen_ai.response.finish_reasons", r#"["length"]"#),
            ("gen_ai.response.time_to_first_chunk", "0.0"),
            ("gen_ai.usage.input_tokens", "100"),
            ("gen_ai.usage.output_tokens", "20"),
            ("gen_ai.usage.cache_read.input_tokens", "80"),
            ("gen_ai.usage.reasoning.output_tokens", "15"),
        ],
    );
    absent(
        &log.only("chat"),
        &["gen_ai.usage.cache_creation.input_tokens", "gen_ai.request.top_p"],
    );
}

#[tokio::test]
async fn one_span_covers_all_attempts() {
    let script = [
        ScriptStep::error(LlmError::new(LlmErrorKind::Overloaded, "later")),
        ScriptStep::text("now"),
    ];
    let bundle = AgentBuilder::new().with_provider(ScriptedProvider::new(script));
    let bundle = bundle.with_clock(ManualClock::jumping()).build().unwrap();
    let session = bundle.session("s-1", AgentSpec::new("ada", "Be Ada."));
    let log = SpanLog::new();
    {
        let _listening = log.listen();
        session.turn("Go").await.unwrap();
    }
    check(
        &log.only("chat"),
        &[
            ("agcore.attempts", "2"),
            ("gen_ai.response.finish_reasons", r#"["stop"]"#),
        ],
    );
    absent(&log.only("chat"), &["error.type"]);
}

#[tokio::test]
async fn records_content_on_request() {
    let log = SpanLog::new();
    let bundle = AgentBuilder::new().with_provider(ScriptedProvider::new([ScriptStep::text("Hi")]));
    let config = AgentConfig::new().with_base_prompt("Short.").with_trace_content(true);
    let bundle = bundle
        .with_config(config)
        .with_clock(ManualClock::jumping())
        .build()
        .unwrap();
    {
        let _listening = log.listen();
        bundle
            .session("s-1", AgentSpec::new("ada", ""))
            .turn("Hello")
            .await
            .unwrap();
    }
    let span = log.only("chat");
    let json = |name: &str| serde_json::from_str::<serde_json::Value>(span.field(name).unwrap()).unwrap();
    assert_eq!(
        json("gen_ai.system_instructions"),
        serde_json::json!([{"type": "text", "content": "Short."}])
    );
    assert_eq!(
        json("gen_ai.input.messages"),
        serde_json::json!([{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}])
    );
    assert_eq!(
        json("gen_ai.output.messages"),
        serde_json::json!([{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}], "finish_reason": "stop"}])
    );
}

#[tokio::test]
async fn content_of_tools_is_recorded_without_keys() {
    const KEY: &str = "sk-0123456789abcdefghijkl";
    let arguments = format!(r#"{{"a": 1, "note": "{KEY}"}}"#);
    let steps = || {
        let call = ToolCall::function("c1", "look", arguments.clone());
        ScriptedProvider::new([ScriptStep::calls([call]), ScriptStep::text("Done")])
    };
    for content in [true, false] {
        let log = SpanLog::new();
        let tools = ToolRegistry::new();
        let look = |look: Look| async move { Ok(format!("found {KEY} {}", look.a + look.note.len())) };
        tools.register(typed("look", "Looks.", look)).unwrap();
        let bundle = AgentBuilder::new()
            .with_provider(steps())
            .with_tools(tools)
            .with_config(AgentConfig::new().with_trace_content(content))
            .with_clock(ManualClock::jumping())
            .build()
            .unwrap();
        {
            let _listening = log.listen();
            let session = bundle.session("s-1", AgentSpec::new("ada", ""));
            session.turn("Look").await.unwrap();
        }
        let tool = log.only("execute_tool");
        let names = ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"];
        if !content {
            absent(&tool, &names);
            continue;
        }
        assert_eq!(tool.field(names[0]), Some(r#"{"a":1,"note":"[redacted]"}"#));
        assert_eq!(tool.field(names[1]), Some(r#""found [redacted] 26""#));
        let calls = log.named("chat");
        let definitions = calls[0].field("gen_ai.tool.definitions").unwrap();
        let definitions: serde_json::Value = serde_json::from_str(definitions).unwrap();
        assert_eq!(
            (&definitions[0]["type"], &definitions[0]["name"]),
            (&"function".into(), &"look".into())
        );
        let shown = calls.iter().flat_map(|call| call.fields.values());
        assert!(shown.clone().any(|value| value.contains("[redacted]")));
        assert!(!shown.into_iter().any(|value| value.contains(KEY)));
    }
}

#[tokio::test]
async fn the_result_in_a_span_is_the_one_that_the_model_gets() {
    let tools = ToolRegistry::new();
    let escape = typed("escape", "Escapes.", |_: NoArguments| async { Ok("a\u{1b}b") });
    let long = typed("long", "Is long.", |_: NoArguments| async { Ok("x".repeat(300_000)) });
    let fail = typed("fail", "Fails.", |_: NoArguments| async {
        Err::<String, _>(ToolError::failed("no sk-0123456789abcdefghijkl"))
    });
    tools.register(escape).unwrap();
    tools.register(long).unwrap();
    tools.register(fail).unwrap();
    let calls = ["escape", "long", "fail"].map(|name| ToolCall::function(name, name, "{}"));
    let bundle = AgentBuilder::new()
        .with_provider(ScriptedProvider::new([
            ScriptStep::calls(calls),
            ScriptStep::text("Done"),
        ]))
        .with_tools(tools)
        .with_config(AgentConfig::new().with_trace_content(true))
        .with_clock(ManualClock::jumping())
        .build()
        .unwrap();
    let log = SpanLog::new();
    {
        let _listening = log.listen();
        bundle
            .session("s-1", AgentSpec::new("ada", ""))
            .turn("Go")
            .await
            .unwrap();
    }
    let spans = log.named("execute_tool");
    let result = |name: &str| {
        let span = spans
            .iter()
            .find(|span| span.field("gen_ai.tool.name") == Some(name))
            .unwrap();
        span.field("gen_ai.tool.call.result").unwrap()
    };
    assert_eq!(result("escape"), r#""a\\u{1b}b""#);
    assert!(result("long").len() <= 64 * 1024, "{}", result("long").len());
    assert!(result("long").contains("[truncated"));
    assert_eq!(result("fail"), r#""no [redacted]""#);
}

#[tokio::test]
async fn a_turn_that_is_dropped_is_no_success() {
    let started = Arc::new(Notify::new());
    let starting = Arc::clone(&started);
    let tools = ToolRegistry::new();
    let wait = typed("wait", "Waits.", move |_: NoArguments| {
        starting.notify_one();
        pending::<Result<String, ToolError>>()
    });
    tools.register(wait).unwrap();
    let call = ToolCall::function("c1", "wait", "{}");
    let bundle = AgentBuilder::new()
        .with_provider(ScriptedProvider::new([ScriptStep::calls([call])]))
        .with_tools(tools)
        .with_clock(ManualClock::new())
        .build()
        .unwrap();
    let log = SpanLog::new();
    {
        let _listening = log.listen();
        let session = bundle.session("s-1", AgentSpec::new("ada", ""));
        tokio::select! {
            _ = session.turn("Go").into_future() => unreachable!("the tool does not end"),
            () = started.notified() => {}
        }
    }
    for name in ["invoke_agent", "execute_tool"] {
        check(
            &log.only(name),
            &[("error.type", "cancelled"), ("otel.status_code", "ERROR")],
        );
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let log = SpanLog::new();
    let provider = traced(ScriptedProvider::new([ScriptStep::text("a long answer")]));
    {
        let _listening = log.listen();
        let mut reply = provider.chat_stream(request());
        reply.next().await.unwrap();
    }
    check(
        &log.only("chat"),
        &[
            ("gen_ai.request.stream", "true"),
            ("error.type", "cancelled"),
            ("otel.status_code", "ERROR"),
        ],
    );
    assert!(log.only("chat").closed);
}

#[tokio::test]
async fn works_without_a_subscriber() {
    let provider = traced(ScriptedProvider::new([ScriptStep::text("Hi")])).with_content(true);
    assert_eq!(provider.chat(request()).await.unwrap().text(), "Hi");
}

/// A provider that replies with these items, and opens a span when it is called and when its reply is read.
#[derive(Debug)]
struct Items(ProviderInfo, fn() -> Vec<ReplyItem>);

impl LlmProvider for Items {
    fn open(&self, _: Call) -> ReplyStream {
        drop(tracing::info_span!("open"));
        let items = stream::iter((self.1)());
        ReplyStream::new(items.inspect(|_| drop(tracing::info_span!("poll"))))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0
    }
}

fn delta(delta: ReplyDelta) -> ReplyItem {
    ReplyItem::Delta(delta)
}

fn text(text: &str) -> ReplyItem {
    let text = text.into();
    delta(ReplyDelta::Text { choice: 0, text })
}

fn finish(choice: u32, reason: FinishReason) -> ReplyItem {
    delta(ReplyDelta::Finish { choice, reason })
}

fn restarted() -> ReplyItem {
    let fault = Fault::new(FaultKind::Server, "it broke");
    ReplyItem::Notice(Notice::Restarted { fault, usage: None })
}

#[tokio::test]
async fn records_all_parameters_and_all_parts_of_a_reply() {
    let items = || {
        let mut who = AnsweredBy::new("gemini", "large-1");
        who.key = Some("team".into());
        let mut usage = Usage::new(100, 20);
        usage.prompt_tokens_details.cache_write_tokens = Some(40);
        vec![
            ReplyItem::Notice(Notice::AnsweredBy(who)),
            finish(1, FinishReason::Stop),
            finish(0, FinishReason::Length),
            finish(0, FinishReason::Stop),
            delta(ReplyDelta::Usage(Box::new(usage))),
            ReplyItem::End(Ok(())),
        ]
    };
    let mut request = request();
    request.model = "".into();
    (request.top_p, request.frequency_penalty, request.presence_penalty) = (Some(0.25), Some(0.5), Some(0.75));
    request.n = Some(2);
    request.stop = Some(StopSequence::Many(vec!["END".into(), "STOP".into()]));
    request.response_format = Some(ResponseFormat::JsonObject);
    let log = SpanLog::new();
    let provider = traced(Items(ProviderInfo::new("gemini", "large-1"), items));
    {
        let _listening = log.listen();
        let _ = provider.chat(request.clone()).await;
        request.n = Some(1);
        let _ = provider.chat(request).await;
    }
    let [two, one] = log.named("chat").try_into().unwrap();
    check(
        &two,
        &[
            ("otel.name", "chat large-1"),
            ("gen_ai.provider.name", "gcp.gemini"),
            ("gen_ai.request.model", "large-1"),
            ("gen_ai.request.top_p", "0.25"),
            ("gen_ai.request.frequency_penalty", "0.5"),
            ("gen_ai.request.presence_penalty", "0.75"),
            ("gen_ai.request.choice.count", "2"),
            ("gen_ai.request.stop_sequences", r#"["END", "STOP"]"#),
            ("gen_ai.output.type", "json"),
            ("gen_ai.response.finish_reasons", r#"["length", "stop"]"#),
            ("gen_ai.usage.cache_creation.input_tokens", "40"),
            ("agcore.answered_by", "gemini:large-1 (team)"),
        ],
    );
    absent(&two, &["error.type", "otel.status_code"]);
    absent(&one, &["gen_ai.request.choice.count"]);
    for inner in ["open", "poll"].into_iter().flat_map(|name| log.named(name)) {
        assert_eq!(inner.parent.as_deref(), Some("chat"), "{}", inner.name);
    }
}

#[tokio::test]
async fn discards_what_a_failed_attempt_recorded() {
    let items = || {
        vec![
            text("lost"),
            finish(0, FinishReason::Length),
            delta(ReplyDelta::Usage(Box::new(Usage::new(1, 2)))),
            restarted(),
            text("kept"),
            ReplyItem::End(Ok(())),
        ]
    };
    let log = SpanLog::new();
    let provider = traced(Items(ProviderInfo::new("p", "m"), items)).with_content(true);
    {
        let _listening = log.listen();
        let _ = provider.chat(request()).await;
    }
    let span = log.only("chat");
    // Its tokens are paid nevertheless.
    check(&span, &[("agcore.attempts", "2"), ("gen_ai.usage.input_tokens", "1")]);
    absent(&span, &["gen_ai.response.finish_reasons"]);
    let messages = span.field("gen_ai.output.messages").unwrap();
    assert!(messages.contains("kept") && !messages.contains("lost"), "{messages}");
}

#[tokio::test]
async fn records_reasoning_calls_and_results_as_parts() {
    let items = || {
        vec![
            delta(ReplyDelta::Reasoning {
                choice: 0,
                text: "Hm.".into(),
            }),
            text("Well."),
            ReplyItem::End(Ok(())),
        ]
    };
    let history = [
        Message::user("1 + 2?"),
        Message::Assistant(AssistantMessage::new("").with_call(ToolCall::function("c1", "add", r#"{"a":1}"#))),
        Message::tool("c1", "3"),
    ];
    let log = SpanLog::new();
    let provider = traced(Items(ProviderInfo::new("p", "m"), items)).with_content(true);
    {
        let _listening = log.listen();
        let _ = provider.chat(ChatRequest::new(history)).await;
    }
    let span = log.only("chat");
    let json = |name: &str| serde_json::from_str::<serde_json::Value>(span.field(name).unwrap()).unwrap();
    let asked = json("gen_ai.input.messages");
    let call = serde_json::json!({"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 1}});
    assert_eq!(asked[1]["parts"].as_array().unwrap().last(), Some(&call));
    assert_eq!(
        asked[2],
        serde_json::json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "3"}]})
    );
    assert_eq!(
        json("gen_ai.output.messages")[0]["parts"],
        serde_json::json!([{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "Well."}])
    );
}

#[tokio::test]
async fn a_denial_without_an_approver_is_a_warning_that_names_the_way_out() {
    let erase = || typed("erase", "Erases.", |_: Add| async { Ok("erased") }).with_permissions([Permission::Write]);
    let call = ToolCall::function("c1", "erase", r#"{"a":1,"b":271828}"#);
    let warnings = |builder: fn(AgentBuilder) -> AgentBuilder| {
        let provider = ScriptedProvider::new([ScriptStep::calls([call.clone()]), ScriptStep::text("Sorry.")]);
        let session = builder(AgentBuilder::new().with_provider(provider).with_tool(erase())).session();
        async move {
            let log = SpanLog::new();
            let _listening = log.listen();
            session.unwrap().turn("Erase it").await.unwrap();
            log.warnings()
        }
    };
    let found = warnings(|builder| builder).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["tool"], "erase");
    assert_eq!(
        found[0]["reason"],
        "it needs write, which is not among the allowed permissions"
    );
    let message = &found[0]["message"];
    assert!(
        message.contains("there is no approver: set one with `with_approver`"),
        "{message}"
    );
    assert!(!format!("{found:?}").contains("271828"), "{found:?}");

    // Who has decided needs no advice.
    let denied = |builder: AgentBuilder| {
        builder.with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "erase")))
    };
    assert_eq!(warnings(denied).await, []);
    assert_eq!(warnings(|builder| builder.with_approver(SuspendingApprover)).await, []);
}
