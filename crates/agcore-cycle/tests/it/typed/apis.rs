//! Typed output over HTTP: the requests and replies of each API.

use std::{collections::BTreeMap, sync::Arc};

use agcore_cycle::{LlmCycle, Output, OutputMode, TurnOptions, TypedOptions, TypedOutcome};
use agcore_llm::{LlmProvider, ProviderConfig};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{MockServer, Reply, Script, ToolCall},
};
use serde_json::{Value, json};

use super::support::{OSLO, Weather, oslo, question};

/// Returns a provider of this type that is connected to the server.
fn connect(kind: &str, server: &MockServer) -> Arc<dyn LlmProvider> {
    let url = match kind {
        "ollama-native" => format!("{}/api", server.root_url()),
        "gemini-native" | "bedrock" => server.root_url(),
        _ => server.base_url(),
    };
    let config = ProviderConfig::parse(&format!("{kind}:mock-model")).unwrap();
    config.with_base_url(url).build().unwrap()
}

fn reply(mode: OutputMode) -> Reply {
    match mode {
        OutputMode::Tool => Reply::tool_calls([ToolCall::raw("final_answer", OSLO).with_id("call_1")]),
        _ => Reply::text(OSLO),
    }
}

/// Runs a whole and a streamed turn in this mode. Returns the body of the first request.
async fn body(kind: &str, mode: OutputMode) -> Value {
    let server = MockServer::start(Script::new([reply(mode), reply(mode)]))
        .await
        .unwrap();
    let mut cycle = LlmCycle::new(connect(kind, &server), ManualClock::jumping());
    let output = Output::<Weather>::new(TypedOptions::new().with_mode(mode));
    let whole = cycle
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(output.clone())
        .await
        .unwrap();
    assert_eq!(whole.value(), Some(&oslo()), "{kind} {mode:?}");
    let mut next = cycle.clone();
    next.clear_messages().unwrap();
    let streamed = next
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(output)
        .stream()
        .finish()
        .await
        .unwrap();
    assert_eq!(streamed.value(), Some(&oslo()), "{kind} {mode:?}, streamed");
    server.assert_done();
    server.requests()[0].json().clone()
}

/// Returns the names of the properties in a schema.
fn names(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().expect("an object's schema");
    properties.keys().map(String::as_str).collect()
}

const NAMES: [&str; 3] = ["city", "degrees", "sky"];

#[tokio::test]
async fn openai_chat() {
    let native = body("openai", OutputMode::Native).await;
    let format = &native["response_format"]["json_schema"];
    assert_eq!(
        (names(&format["schema"]), &format["strict"]),
        (NAMES.to_vec(), &json!(true))
    );
    assert_eq!(format["schema"]["additionalProperties"], false);
    let tool = body("openai", OutputMode::Tool).await;
    assert_eq!(names(&tool["tools"][0]["function"]["parameters"]), NAMES);
    assert_eq!(
        tool["tool_choice"],
        json!({"type": "function", "function": {"name": "final_answer"}})
    );
    let prompt = body("openai", OutputMode::Prompt).await;
    assert_eq!(prompt["response_format"], json!({"type": "json_object"}));
}

#[tokio::test]
async fn anthropic() {
    let native = body("anthropic", OutputMode::Native).await;
    assert_eq!(names(&native["output_config"]["format"]["schema"]), NAMES);
    let tool = body("anthropic", OutputMode::Tool).await;
    assert_eq!(names(&tool["tools"][0]["input_schema"]), NAMES);
    assert_eq!(tool["tool_choice"]["name"], "final_answer");
    let prompt = body("anthropic", OutputMode::Prompt).await;
    assert!(prompt["system"].to_string().contains("JSON Schema"), "{prompt}");
}

#[tokio::test]
async fn openai_responses() {
    let native = body("openai-responses", OutputMode::Native).await;
    assert_eq!(names(&native["text"]["format"]["schema"]), NAMES);
    let tool = body("openai-responses", OutputMode::Tool).await;
    assert_eq!(names(&tool["tools"][0]["parameters"]), NAMES);
    body("openai-responses", OutputMode::Prompt).await;
}

#[tokio::test]
async fn ollama() {
    let native = body("ollama-native", OutputMode::Native).await;
    assert_eq!(names(&native["format"]), NAMES);
    let prompt = body("ollama-native", OutputMode::Prompt).await;
    assert_eq!(prompt["format"], "json");
}

#[tokio::test]
async fn gemini() {
    let native = body("gemini-native", OutputMode::Native).await;
    let config = &native["generationConfig"];
    assert_eq!(config["responseMimeType"], "application/json");
    assert_eq!(names(&config["responseJsonSchema"]), NAMES);
    let tool = body("gemini-native", OutputMode::Tool).await;
    let functions = &tool["tools"][0]["functionDeclarations"];
    assert_eq!(names(&functions[0]["parametersJsonSchema"]), NAMES);
    assert_eq!(
        tool["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"],
        json!(["final_answer"])
    );
    body("gemini-native", OutputMode::Prompt).await;
}

#[tokio::test]
async fn bedrock() {
    let native = body("bedrock", OutputMode::Native).await;
    let format = &native["outputConfig"]["textFormat"];
    let schema = format["structure"]["jsonSchema"]["schema"].as_str().unwrap();
    assert_eq!(names(&serde_json::from_str(schema).unwrap()), NAMES);
    let tool = body("bedrock", OutputMode::Tool).await;
    let spec = &tool["toolConfig"]["tools"][0]["toolSpec"];
    assert_eq!(names(&spec["inputSchema"]["json"]), NAMES);
    body("bedrock", OutputMode::Prompt).await;
}

/// A map has no closed form, so a vendor that accepts only closed objects is asked through a tool, without a failed request.
#[tokio::test]
async fn a_schema_that_an_api_cannot_encode_falls_back_to_a_tool() {
    let map = json!({"a": 1, "b": 2});
    for (kind, mode) in [("anthropic", OutputMode::Tool), ("openai", OutputMode::Native)] {
        let reply = match mode {
            OutputMode::Tool => Reply::tool_calls([ToolCall::new("final_answer", &map).with_id("call_1")]),
            _ => Reply::text(map.to_string()),
        };
        let server = MockServer::start(Script::new([reply])).await.unwrap();
        let mut cycle = LlmCycle::new(connect(kind, &server), ManualClock::jumping());
        let output = Output::<BTreeMap<String, u32>>::new(TypedOptions::new());
        let outcome = cycle
            .turn(question())
            .with_options(TurnOptions::new())
            .typed_as(output)
            .await;
        let typed = outcome.and_then(TypedOutcome::finished).unwrap();
        assert_eq!((typed.value["b"], typed.mode), (2, mode), "{kind}");
        assert_eq!(server.requests().len(), 1);
        if kind == "openai" {
            assert_eq!(
                server.requests()[0].json()["response_format"]["json_schema"]["strict"],
                false
            );
        }
    }
}
