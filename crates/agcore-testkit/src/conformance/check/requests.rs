//! Requests reach the server unchanged.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, ChatRequest, Message, Tool, ToolCall, ToolDefinition};
use serde_json::{Value, json};

use crate::conformance::{
    answer::Answer,
    check_context::{CheckContext, Setup},
    check_error::{CheckError, ensure, ensure_equal},
    expectations::call_view,
    fixture::ReceivedRequest,
    scenario::Scenario,
};

pub(super) async fn configured_model(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = set_up(context).await?;
    let configured = setup.provider().info().model.to_string();
    if configured.is_empty() {
        return Err(CheckError::skip("the provider has no configured model"));
    }
    let received = send(&setup, hello()).await?;
    ensure_equal("model", &received.request.model, &configured)
}

pub(super) async fn requested_model(context: CheckContext<'_>) -> Result<(), CheckError> {
    let received = send(&set_up(context).await?, hello().with_model("another-model")).await?;
    ensure_equal("model", received.request.model.as_str(), "another-model")
}

pub(super) async fn history(context: CheckContext<'_>) -> Result<(), CheckError> {
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
    let received = views(&send(&set_up(context).await?, request.clone()).await?.request);
    let mut expected = views(&request);
    if received.iter().all(MessageView::has_no_ids) {
        number_calls(&mut expected);
    }
    ensure_equal("messages", &received, &expected)
}

pub(super) async fn tools_in_order(context: CheckContext<'_>) -> Result<(), CheckError> {
    let received = send(&set_up(context).await?, hello().with_tools(tools())).await?;
    let expected: Vec<_> = tools().iter().map(tool_view).collect();
    let found: Vec<_> = received.request.tools.iter().map(tool_view).collect();
    ensure_equal("tools", &found, &expected)
}

pub(super) async fn same_bytes(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = set_up(context).await?;
    let request = Arc::new(hello().with_tools(tools()));
    for _ in 0..2 {
        setup
            .ask(setup.call_with(Arc::clone(&request)))
            .await?
            .into_response()?;
    }
    let bodies = setup.requests()?.into_iter().map(|received| received.body);
    let Some(bodies) = bodies.collect::<Option<Vec<_>>>() else {
        return Err(CheckError::skip("requests are not sent as bytes"));
    };
    ensure(bodies.len() == 2 && bodies[0] == bodies[1], || {
        let texts: Vec<_> = bodies.iter().map(|body| String::from_utf8_lossy(body)).collect();
        format!("the bodies differ: {texts:?}")
    })
}

async fn set_up(context: CheckContext<'_>) -> Result<Setup, CheckError> {
    context.set_up(&Scenario::answer(Answer::text("Understood."))).await
}

/// Sends a request and returns it as received by the server.
async fn send(setup: &Setup, request: ChatRequest) -> Result<ReceivedRequest, CheckError> {
    setup.ask(setup.call_with(request)).await?.into_response()?;
    let mut requests = setup.requests()?;
    ensure_equal("number of requests", &requests.len(), &1)?;
    Ok(requests.remove(0))
}

fn hello() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

/// Returns tools in an order that sorting would change.
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

/// Returns the name, description and schema of a tool.
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

/// The parts of a message that every API transmits.
#[derive(Debug, PartialEq)]
struct MessageView {
    role: &'static str,
    text: String,
    calls: Vec<(String, String, Value)>,
    /// The id of the call that a tool message answers.
    tool_call_id: Option<String>,
}

/// The beginning of the ids that the mock server gives calls without one. Their numbers are their positions.
const NO_ID: char = '#';

impl MessageView {
    /// Returns whether a message was received without ids, which an API may not have for the calls of another vendor. Its
    /// results are then in the order of the calls.
    fn has_no_ids(&self) -> bool {
        let mut ids = self.calls.iter().map(|(id, ..)| id).chain(&self.tool_call_id);
        ids.all(|id| id.starts_with(NO_ID))
    }
}

/// Replaces the ids of calls and of their results by numbers.
fn number_calls(views: &mut [MessageView]) {
    let mut known: Vec<String> = Vec::new();
    for view in views {
        for (number, (id, ..)) in view.calls.iter_mut().enumerate() {
            known.truncate(number);
            known.push(std::mem::replace(id, format!("{NO_ID}{number}")));
        }
        let call = known.iter().position(|id| Some(id) == view.tool_call_id.as_ref());
        if let Some(number) = call {
            view.tool_call_id = Some(format!("{NO_ID}{number}"));
        }
    }
}

fn views(request: &ChatRequest) -> Vec<MessageView> {
    request.messages.iter().map(|message| view(message)).collect()
}

fn view(message: &Message) -> MessageView {
    let calls = message
        .as_assistant()
        .into_iter()
        .flat_map(AssistantMessage::tool_calls);
    MessageView {
        // APIs use two roles for instructions: `system` and `developer`.
        role: if message.is_instruction() {
            "instruction"
        } else {
            message.role().as_str()
        },
        text: message.text().into_owned(),
        calls: calls.map(call_view).collect(),
        tool_call_id: match message {
            Message::Tool(tool) => Some(tool.tool_call_id.clone()),
            _ => None,
        },
    }
}
