//! A request reaches the server as it was made.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, ChatRequest, Message, Tool, ToolCall, ToolDefinition};
use serde_json::{Value, json};

use super::super::{
    answer::Answer,
    expected::call_view,
    halt::{Halt, ensure, same},
    scenario::Scenario,
    scene::{Scene, Trial},
    stage::SeenRequest,
};

pub(super) async fn configured_model(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = scene(trial).await?;
    let configured = scene.provider().info().model.to_string();
    if configured.is_empty() {
        return Err(Halt::skip("the provider has no model of its own"));
    }
    let seen = seen(&scene, hello()).await?;
    same("model", &seen.request.model, &configured)
}

pub(super) async fn requested_model(trial: Trial<'_>) -> Result<(), Halt> {
    let seen = seen(&scene(trial).await?, hello().with_model("another-model")).await?;
    same("model", seen.request.model.as_str(), "another-model")
}

pub(super) async fn history(trial: Trial<'_>) -> Result<(), Halt> {
    let calls = AssistantMessage::new("Let me look.")
        .with_call(ToolCall::function("callOne01", "weather", r#"{"city":"Lisbon"}"#))
        .with_call(ToolCall::function("callTwo02", "weather", r#"{"city":"Oslo"}"#));
    let request = ChatRequest::new([
        Message::system("Be brief."),
        Message::user("How is it in Lisbon and in Oslo?"),
        Message::from(calls),
        Message::tool("callOne01", "sunny"),
        Message::tool("callTwo02", "snow ❄"),
        Message::user("And which is warmer?"),
    ])
    .with_tools(tools());
    let seen = seen(&scene(trial).await?, request.clone()).await?;
    same("messages", &turns(&seen.request), &turns(&request))
}

pub(super) async fn tools_in_order(trial: Trial<'_>) -> Result<(), Halt> {
    let seen = seen(&scene(trial).await?, hello().with_tools(tools())).await?;
    let expected: Vec<_> = tools().iter().map(tool_view).collect();
    let found: Vec<_> = seen.request.tools.iter().map(tool_view).collect();
    same("tools", &found, &expected)
}

pub(super) async fn same_bytes(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = scene(trial).await?;
    let request = Arc::new(hello().with_tools(tools()));
    for _ in 0..2 {
        scene.hear(scene.call_of(Arc::clone(&request))).await?.answer()?;
    }
    let bodies = scene.requests()?.into_iter().map(|seen| seen.body);
    let Some(bodies) = bodies.collect::<Option<Vec<_>>>() else {
        return Err(Halt::skip("requests have no bodies here"));
    };
    ensure(bodies.len() == 2 && bodies[0] == bodies[1], || {
        let texts: Vec<_> = bodies.iter().map(|body| String::from_utf8_lossy(body)).collect();
        format!("the bodies differ: {texts:?}")
    })
}

async fn scene(trial: Trial<'_>) -> Result<Scene, Halt> {
    trial.scene(&Scenario::answer(Answer::text("Understood."))).await
}

/// The only request that the server saw when this one was made.
async fn seen(scene: &Scene, request: ChatRequest) -> Result<SeenRequest, Halt> {
    scene.hear(scene.call_of(request)).await?.answer()?;
    let mut seen = scene.requests()?;
    same("number of requests", &seen.len(), &1)?;
    Ok(seen.remove(0))
}

fn hello() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

/// In an order that sorting would change.
fn tools() -> Arc<[Tool]> {
    let schema = |name: &str| {
        let description = format!("What to look for, as a {name}.");
        json!({"type": "object", "properties": {name: {"type": "string", "description": description}}, "required": [name]})
    };
    let tool = |name, argument| {
        Tool::from(ToolDefinition::new(
            name,
            format!("Finds the {name}."),
            schema(argument),
        ))
    };
    [tool("weather", "city"), tool("map", "place"), tool("address", "name")].into()
}

/// Name, description and schema.
fn tool_view(tool: &Tool) -> (String, Option<String>, Option<Value>) {
    match tool {
        Tool::Function(definition) => (
            definition.name.clone(),
            definition.description.clone(),
            definition.parameters.clone(),
        ),
        other => (format!("{other:?}"), None, None),
    }
}

/// What counts of a message.
#[derive(Debug, PartialEq)]
struct TurnView {
    role: &'static str,
    text: String,
    calls: Vec<(String, String, Value)>,
    /// The call that a tool message answers.
    answers: Option<String>,
}

fn turns(request: &ChatRequest) -> Vec<TurnView> {
    request.messages.iter().map(|message| turn(message)).collect()
}

fn turn(message: &Message) -> TurnView {
    let calls = message
        .as_assistant()
        .into_iter()
        .flat_map(AssistantMessage::tool_calls);
    TurnView {
        // Instructions have two names.
        role: if message.is_instruction() {
            "instruction"
        } else {
            message.role().as_str()
        },
        text: message.text().into_owned(),
        calls: calls.map(call_view).collect(),
        answers: match message {
            Message::Tool(tool) => Some(tool.tool_call_id.clone()),
            _ => None,
        },
    }
}
