//! The sample application in `fixtures/sample-app`: events and history in both modes and both dialects.

use std::{fs, path::PathBuf};

use agcore_agent::{AgentBuilder, Skills};
use agcore_agui::ToolNames;
use agcore_chat::{AssistantMessage, FinishReason, ToolAnnotations, ToolCall};
use agcore_flow_files::{FileFlow, FileFlowBuilder, FlowFile};
use agcore_server::Server;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{Arguments, BaseTool, SuspendingApprover, ToolContext, ToolError, ToolOutput};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::support::{FlowStore, InStore, Running, flow_store, input};

/// A tool of the sample application, which returns what `tools.json` contains.
#[derive(Debug, Clone, Deserialize)]
struct SampleTool {
    name: String,
    description: String,
    result: Option<Value>,
    error: Option<String>,
    ui_hints: Option<Value>,
    metadata: Option<Value>,
    #[serde(skip)]
    parameters: Value,
}

/// A conversation with the model.
#[derive(Debug, Deserialize)]
struct Script {
    request: String,
    job: Option<Value>,
    replies: Vec<Reply>,
}

#[derive(Debug, Deserialize)]
struct Reply {
    json: Option<Value>,
    text: Option<String>,
    #[serde(default)]
    calls: Vec<Call>,
}

#[derive(Debug, Deserialize)]
struct Call {
    id: String,
    name: String,
    arguments: Value,
}

#[async_trait]
impl BaseTool for SampleTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn annotations(&self) -> ToolAnnotations {
        let mut annotations = ToolAnnotations::default();
        annotations.stable_display = true;
        annotations
    }

    async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let called = arguments.as_value();
        let names = ["module", "method"].map(|name| called[name].as_str().unwrap_or_default().to_owned());
        assert_eq!(names.join("."), self.name);
        assert!(called["input"].is_object(), "{called}");
        if let Some(error) = &self.error {
            return Err(ToolError::failed(error.as_str()));
        }
        let mut output = ToolOutput::value(self.result.clone().unwrap());
        output.ui_hints = self.ui_hints.clone().map(Box::new);
        output.metadata = self.metadata.clone().map(Box::new);
        Ok(output)
    }
}

impl Reply {
    fn into_step(self) -> ScriptStep {
        let text = self.json.map(|json| json.to_string()).or(self.text).unwrap_or_default();
        let mut message = AssistantMessage::new(text);
        let finish = match self.calls.is_empty() {
            true => FinishReason::Stop,
            false => FinishReason::ToolCalls,
        };
        for Call { id, name, arguments } in self.calls {
            message = message.with_call(ToolCall::function(id, name, arguments.to_string()));
        }
        ScriptStep::message(message, finish)
    }
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sample-app"))
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn tools() -> Vec<SampleTool> {
    let tools: Vec<SampleTool> = serde_json::from_str(&read("tools.json")).unwrap();
    let parameters = json!({
        "type": "object",
        "properties": {"module": {"type": "string"}, "method": {"type": "string"}, "input": {"type": "object"}},
        "required": ["module", "method", "input"],
    });
    let with = |tool| SampleTool {
        parameters: parameters.clone(),
        ..tool
    };
    tools.into_iter().map(with).collect()
}

fn script(name: &str) -> Script {
    let mut scripts: Map<String, Value> = serde_json::from_str(&read("script.json")).unwrap();
    serde_json::from_value(scripts.remove(name).unwrap()).unwrap()
}

fn flow(provider: &ScriptedProvider) -> FileFlowBuilder {
    let load = |name: &str| fs::read_to_string(folder().join(name)).map_err(|error| error.to_string());
    let file = FlowFile::parse("assistant.flow.yaml", &read("assistant.flow.yaml"), load).unwrap();
    let mut builder = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_approver(SuspendingApprover);
    for tool in tools() {
        builder = builder.with_tool(tool);
    }
    let skills = Skills::read(folder().join("skills")).unwrap();
    FileFlow::builder(file, builder.build().unwrap()).with_skills(skills)
}

/// Lets the server answer the request of a script. Returns the events in both dialects, the history, and what the router saw.
async fn serve(name: &str) -> (Vec<Value>, Vec<Value>, Value, Vec<String>) {
    let script = script(name);
    let request = script.request;
    let provider = ScriptedProvider::new(script.replies.into_iter().map(Reply::into_step));
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let server = Server::builder()
        .with_flow("assistant", flow(&provider))
        .in_store(&store)
        .with_checkpoints(checkpoints);
    let server = Running::start(server).await;
    let mut body = input("t", "r", &request);
    if let Some(job) = script.job {
        body["forwardedProps"] = json!({ "job": job });
    }
    let standard = server.run(&body).await;
    provider.assert_done();
    let path = "/api/v1/agent/runs/t/events?runId=r&dialect=superset";
    let superset = server.stream(http::Method::GET, path, &[], None).await.rest().await;
    let superset: Vec<Value> = superset.into_iter().map(|event| event.data).collect();
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    let requests = provider.requests();
    let seen = requests[0].messages.iter().map(|message| message.text().into_owned());
    let seen = seen.collect();
    server.stop().await;
    for events in [&standard, &superset] {
        agcore_agui::check_order(events.iter().cloned()).unwrap();
        assert!(events.iter().all(has_no_null), "{events:#?}");
    }
    (standard, superset, history, seen)
}

fn has_no_null(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(members) => members.values().all(has_no_null),
        Value::Array(items) => items.iter().all(has_no_null),
        _ => true,
    }
}

/// Returns one event or message per line, without times.
fn lines(values: &[Value]) -> String {
    let line = |value: &Value| {
        let mut value = value.clone();
        if let Value::Object(members) = &mut value {
            members.remove("timestamp");
            members.remove("createdAt");
        }
        value.to_string()
    };
    values.iter().map(line).collect::<Vec<_>>().join("\n")
}

async fn check(name: &str) -> (Vec<Value>, Value, Vec<String>) {
    let (standard, superset, history, seen) = serve(name).await;
    insta::assert_snapshot!(format!("{name}_standard"), lines(&standard));
    insta::assert_snapshot!(format!("{name}_superset"), lines(&superset));
    insta::assert_snapshot!(
        format!("{name}_history"),
        lines(history["messages"].as_array().unwrap())
    );
    (standard, history, seen)
}

#[tokio::test]
async fn a_chat_with_tools_and_memory() {
    let (events, _, seen) = check("chat").await;
    // The request is in the context, so it is not repeated.
    assert_eq!(seen.iter().filter(|text| text.contains("评审会")).count(), 1);
    let steps: Vec<&Value> = events.iter().filter(|event| event["type"] == "STEP_STARTED").collect();
    let names: Vec<&str> = steps.iter().map(|step| step["stepName"].as_str().unwrap()).collect();
    assert_eq!(names, ["router", "worker", "memory"]);
}

#[tokio::test]
async fn a_job_without_a_user() {
    let (_, history, seen) = check("automation").await;
    // Not in the context, so it is added at the end of what the router sees.
    assert!(seen.last().unwrap().contains("整理今天的日程"), "{seen:?}");
    let messages = history["messages"].as_array().unwrap();
    assert!(messages.iter().all(|message| message["role"] != "user"), "{history}");
}

#[tokio::test]
async fn a_request_that_the_router_answers() {
    let (events, history, _) = check("short_cut").await;
    let messages = history["messages"].as_array().unwrap();
    let texts: Vec<&str> = messages
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["你好！", "你好！我可以帮你管理日程。"]);
    assert!(events.iter().all(|event| event["type"] != "TOOL_CALL_START"));
}

#[test]
fn every_tool_is_called_and_has_a_chinese_name() {
    let names: Map<String, Value> = serde_json::from_str(&read("tool-names.zh.json")).unwrap();
    let table = ToolNames::sample_zh();
    let tools = tools();
    assert_eq!((names.len(), table.len(), tools.len()), (9, 9, 9));
    let mut called: Vec<String> = Vec::new();
    for script in ["chat", "automation", "short_cut"].map(script) {
        let calls = script.replies.into_iter().flat_map(|reply| reply.calls);
        called.extend(calls.map(|call| call.name));
    }
    for tool in tools {
        assert_eq!(table.display(&tool.name), names[&tool.name], "{}", tool.name);
        assert_eq!(table.display(&tool.name.replace('.', "_")), names[&tool.name]);
        assert!(called.contains(&tool.name), "{}", tool.name);
    }
}
