//! Typed output with and without tools, for every type of provider: the requests that are sent, and what follows when a
//! vendor refuses one.

use std::sync::Arc;

use agcore_cycle::{LlmCycle, Output, OutputMode, TypedOptions};
use agcore_llm::{LlmProvider, ProviderConfig};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, MockServer, Reply, Script, ToolCall},
};
use serde_json::Value;

use super::support::{OSLO, Weather, oslo, question};
use crate::support::FnExecutor;

/// Every type of provider: the mode without tools and with tools, and the `tool_choice` with which the answering tool is
/// asked for, alone and beside others.
const PROVIDERS: &[(&str, OutputMode, OutputMode, Choice, Choice)] = &[
    ("openai", Native, Native, Named, Required),
    ("azure", Native, Native, Named, Required),
    ("deepseek", Tool, Tool, Named, Required),
    ("qwen", Native, Native, Named, Free),
    ("gemini", Native, Tool, Named, Required),
    ("mistral", Native, Native, Named, Required),
    ("groq", Native, Tool, Named, Required),
    ("xai", Native, Native, Named, Required),
    ("moonshot", Native, Native, Free, Free),
    ("zhipu", Tool, Tool, Named, Free),
    ("openrouter", Native, Native, Named, Required),
    ("ollama", Native, Tool, Free, Free),
    ("vllm", Native, Tool, Named, Required),
    ("llamacpp", Native, Tool, Required, Required),
    ("compatible", Native, Tool, Named, Required),
    ("anthropic", Native, Native, Named, Required),
    ("openai-responses", Native, Native, Named, Required),
    ("ollama-native", Native, Tool, Free, Free),
    ("gemini-native", Native, Tool, Named, Required),
    ("bedrock", Tool, Tool, Free, Free),
];

use Choice::{Free, Named, Required};
use OutputMode::{Native, Tool};

/// The `tool_choice` of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// The answering tool by name.
    Named,
    /// Any tool.
    Required,
    /// None: the model is free to answer without a tool.
    Free,
}

fn connect(kind: &str, server: &MockServer) -> Arc<dyn LlmProvider> {
    let url = match kind {
        "ollama-native" => format!("{}/api", server.root_url()),
        "gemini-native" | "bedrock" => server.root_url(),
        _ => server.base_url(),
    };
    let config = ProviderConfig::parse(&format!("{kind}:mock-model")).unwrap();
    config.with_base_url(url).build().unwrap()
}

fn answer(mode: OutputMode) -> Reply {
    match mode {
        Tool => Reply::tool_calls([ToolCall::raw("final_answer", OSLO).with_id("call_9")]),
        _ => Reply::text(OSLO),
    }
}

fn choice_of(body: &Value) -> Choice {
    let gemini = &body["toolConfig"]["functionCallingConfig"];
    if gemini["mode"] == "ANY" {
        return if gemini["allowedFunctionNames"].is_null() {
            Required
        } else {
            Named
        };
    }
    match &body["tool_choice"] {
        Value::Null => Free,
        Value::String(word) if word == "auto" => Free,
        Value::String(word) if word == "required" || word == "any" => Required,
        Value::Object(choice) if choice.get("type").is_some_and(|kind| kind == "any") => Required,
        choice if choice.to_string().contains("final_answer") => Named,
        other => panic!("{other}"),
    }
}

/// Returns the mode that a request asks in, by its members.
fn mode_of(body: &Value) -> OutputMode {
    let schema = |value: &Value| value.to_string().contains("degrees");
    let formats = ["response_format", "output_config", "text", "format", "generationConfig"];
    if formats.iter().any(|format| schema(&body[*format])) {
        Native
    } else if [&body["tools"], &body["toolConfig"]]
        .iter()
        .any(|tools| tools.to_string().contains("final_answer"))
    {
        Tool
    } else {
        OutputMode::Prompt
    }
}

fn tool_count(body: &Value) -> usize {
    let tools = match &body["tools"][0]["functionDeclarations"] {
        Value::Null if body["toolConfig"]["tools"].is_array() => &body["toolConfig"]["tools"],
        Value::Null => &body["tools"],
        functions => functions,
    };
    let tools = tools.as_array().into_iter().flatten();
    // Bedrock has cache points among the tools.
    tools.filter(|tool| tool.get("cachePoint").is_none()).count()
}

/// Runs a turn with a tool that the model calls first. Returns the mode and the bodies of the requests.
async fn run(
    kind: &str,
    with_tools: bool,
    options: TypedOptions,
    script: impl IntoIterator<Item = Reply>,
) -> (OutputMode, Vec<Value>) {
    let server = MockServer::start(Script::new(script)).await.unwrap();
    let mut cycle = LlmCycle::new(connect(kind, &server), ManualClock::jumping());
    let mut turn = cycle.turn(question());
    if with_tools {
        turn = turn.with_tools(FnExecutor::echo(&["look"]));
    }
    let outcome = turn.typed_as(Output::<Weather>::new(options)).await;
    let typed = outcome
        .unwrap_or_else(|error| panic!("{kind}: {error}"))
        .finished()
        .unwrap();
    assert_eq!(typed.value, oslo(), "{kind}");
    server.assert_done();
    let requests = server.requests();
    (
        typed.mode,
        requests.iter().map(|request| request.json().clone()).collect(),
    )
}

fn look() -> Reply {
    Reply::tool_calls([ToolCall::raw("look", "{}").with_id("call_1")])
}

#[tokio::test]
async fn without_tools() {
    for (kind, mode, _, alone, _) in PROVIDERS {
        let (used, bodies) = run(kind, false, TypedOptions::new(), [answer(*mode)]).await;
        assert_eq!((used, mode_of(&bodies[0])), (*mode, *mode), "{kind}");
        assert_eq!(tool_count(&bodies[0]), usize::from(*mode == Tool), "{kind}");
        if *mode == Tool {
            assert_eq!(choice_of(&bodies[0]), *alone, "{kind}");
        }
    }
}

#[tokio::test]
async fn with_tools_the_model_can_call_them_first() {
    for (kind, _, mode, _, beside) in PROVIDERS {
        let (used, bodies) = run(kind, true, TypedOptions::new(), [look(), answer(*mode)]).await;
        assert_eq!(used, *mode, "{kind}");
        for body in &bodies {
            assert_eq!(mode_of(body), *mode, "{kind}");
            assert_eq!(tool_count(body), 1 + usize::from(*mode == Tool), "{kind}");
            let expected = if *mode == Tool { *beside } else { Free };
            assert_eq!(choice_of(body), expected, "{kind}");
        }
    }
}

/// The mode that a caller insists on works wherever tools do, whether or not the API can force one.
#[tokio::test]
async fn the_tool_mode_works_everywhere() {
    for (kind, .., alone, beside) in PROVIDERS {
        let options = || TypedOptions::new().with_mode(Tool);
        let (_, bodies) = run(kind, false, options(), [answer(Tool)]).await;
        assert_eq!(choice_of(&bodies[0]), *alone, "{kind}");
        let (_, bodies) = run(kind, true, options(), [look(), answer(Tool)]).await;
        assert_eq!(choice_of(&bodies[1]), *beside, "{kind}");
    }
}

/// Refusals as vendors word them: of a schema beside tools, of the response format, of a forced tool.
const REFUSALS: &[(&str, &str, bool)] = &[
    ("groq", "json mode cannot be combined with tool/function calling", true),
    (
        "gemini",
        "Function calling with a response mime type: 'application/json' is unsupported",
        true,
    ),
    (
        "openai",
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        false,
    ),
    ("deepseek", "This response_format type is unavailable now", false),
    (
        "qwen",
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        false,
    ),
    ("vllm", "Invalid json_schema: unsupported keyword", false),
    ("anthropic", "output_config.format.schema: unsupported", false),
    (
        "openai-responses",
        "Invalid schema for response_format 'Weather'",
        false,
    ),
    ("moonshot", "tool_choice 'required' is not supported", true),
];

#[tokio::test]
async fn a_refusal_of_the_vendor_leads_to_the_next_mode() {
    for (kind, sentence, with_tools) in REFUSALS {
        // A server that is less able than its type, such as an older version: the first mode is the native one.
        let kind = match *kind {
            "groq" | "gemini" | "moonshot" => "openai",
            kind => kind,
        };
        let first = PROVIDERS.iter().find(|row| row.0 == kind).unwrap();
        let first = if *with_tools { first.2 } else { first.1 };
        let next = if first == Native { Tool } else { OutputMode::Prompt };
        let refused = Reply::error(ApiError::new(400).with_message(*sentence));
        let (used, bodies) = run(kind, *with_tools, TypedOptions::new(), [refused, answer(next)]).await;
        assert_eq!(used, next, "{kind}: {sentence}");
        assert_eq!(
            (mode_of(&bodies[0]), mode_of(&bodies[1])),
            (first, next),
            "{kind}: {sentence}"
        );
    }
}

#[tokio::test]
async fn the_answer_is_forced_when_no_rounds_are_left() {
    let mut script: Vec<Reply> = (0..10)
        .map(|at| Reply::tool_calls([ToolCall::raw("look", "{}").with_id(format!("call_{at}"))]))
        .collect();
    script.push(Reply::tool_calls([
        ToolCall::raw("final_answer", OSLO).with_id("call_a")
    ]));
    let (_, bodies) = run("deepseek", true, TypedOptions::new(), script).await;
    let choices: Vec<Choice> = bodies.iter().map(choice_of).collect();
    assert_eq!(choices[..10], [Required; 10]);
    assert_eq!(choices[10], Named);
}
